//! What a statement does to one column (Cassandra's `Operation`).

use crate::analysis::terms::{self, Term, print};
use crate::analysis::{Context, Receiver};
use crate::ast::{self, AssignmentKind, DeletePart};
use crate::error::Error;
use crate::error::modification::ModificationError as E;
use cassling_engine::schema::{Column, ColumnId, ColumnKind, Table};
use cassling_engine::types::{CqlType, UserType, quote_name};
use std::sync::Arc;

/// A checked operation.
#[derive(Debug)]
pub struct Operation {
    /// Column.
    pub column: ColumnId,
    /// Its type.
    pub ty: CqlType,
    /// Whether the column is static.
    pub is_static: bool,
    /// What is done.
    pub kind: OperationKind,
}

/// Kinds of [`Operation`].
#[derive(Debug)]
pub enum OperationKind {
    /// The whole column is written; a multi-cell one is deleted first, a moment earlier.
    Set(Term),
    /// Elements are added: to a set, to a map, at a list's end.
    Add(Term),
    /// Elements are added at a list's front.
    Prepend(Term),
    /// Elements of a set or keys of a map are removed; the value is a set.
    Remove(Term),
    /// All elements of these values are removed from a list, which is read first.
    RemoveValues(Term),
    /// The value of a map's key.
    SetKey {
        /// Key.
        key: Term,
        /// Value.
        value: Term,
    },
    /// The element of a list, which is read first.
    SetIndex {
        /// Index.
        index: Term,
        /// Value.
        value: Term,
    },
    /// A field of a user-defined type.
    SetField {
        /// Place of the field.
        field: u16,
        /// Value.
        value: Term,
    },
    /// The whole column is deleted.
    Delete,
    /// An element of a set or a key of a map is deleted.
    DeleteKey(Term),
    /// An element of a list is deleted; the list is read first.
    DeleteIndex(Term),
    /// A field is deleted.
    DeleteField(u16),
}

/// Checks operations on one column of one statement.
struct Check<'c, 'a> {
    cx: &'c Context<'a>,
    table: &'c Table,
    column: &'c Column,
    span: ast::Span,
}

impl Operation {
    /// `column = value`.
    pub(super) fn set(
        cx: &Context<'_>,
        table: &Table,
        column: Column,
        value: &ast::Term,
    ) -> Result<Operation, Error> {
        let kind = Check { cx, table, column: &column, span: value.span }.set(value)?;
        Ok(Operation::new(column, kind))
    }

    /// An assignment of UPDATE.
    pub(super) fn assignment(
        cx: &Context<'_>,
        table: &Table,
        column: Column,
        assignment: &ast::Assignment,
    ) -> Result<Operation, Error> {
        let check = Check { cx, table, column: &column, span: assignment.span };
        let kind = match &assignment.operation {
            AssignmentKind::Set(value) => check.set(value),
            AssignmentKind::Add(value) => check.add(value),
            AssignmentKind::Subtract(value) => check.subtract(value),
            AssignmentKind::Prepend(value) => check.prepend(value),
            AssignmentKind::SetElement { key, value } => check.set_element(key, value),
            AssignmentKind::SetField { field, value } => check.set_field(field, value),
        }?;
        Ok(Operation::new(column, kind))
    }

    /// A target of DELETE.
    pub(super) fn deletion(
        cx: &Context<'_>,
        table: &Table,
        column: Column,
        target: &ast::DeleteTarget,
    ) -> Result<Operation, Error> {
        let check = Check { cx, table, column: &column, span: target.span };
        let kind = match &target.part {
            DeletePart::Whole => Ok(OperationKind::Delete),
            DeletePart::Element(key) => check.delete_element(key),
            DeletePart::Field(field) => check.delete_field(field),
        }?;
        Ok(Operation::new(column, kind))
    }

    fn new(column: Column, kind: OperationKind) -> Operation {
        let is_static = column.kind == ColumnKind::Static;
        Operation { column: column.id, ty: column.ty, is_static, kind }
    }

    /// Whether a list is read before it is written.
    pub fn reads_first(&self) -> bool {
        matches!(
            self.kind,
            OperationKind::SetIndex { .. }
                | OperationKind::DeleteIndex(_)
                | OperationKind::RemoveValues(_)
        )
    }
}

impl Check<'_, '_> {
    fn receiver(&self, name: String, ty: CqlType) -> Receiver {
        let (keyspace, table) = (self.table.keyspace.clone(), self.table.name.clone());
        Receiver { keyspace, table, name, ty }
    }

    /// A term for the column itself.
    fn whole(&self, value: &ast::Term) -> Result<Term, Error> {
        let receiver = self.receiver(self.column.name.clone(), self.column.ty.clone());
        terms::prepare(self.cx, value, &receiver)
    }

    /// A term for a part of the column: `value(l)`, `key(m)`, `idx(l)`.
    fn part(&self, part: &str, ty: &CqlType, value: &ast::Term) -> Result<Term, Error> {
        let receiver = self.receiver(format!("{part}({})", self.column.name), ty.clone());
        terms::prepare(self.cx, value, &receiver)
    }

    fn print(&self, term: &ast::Term) -> String {
        print::term(term, &self.table.keyspace)
    }

    fn refuse<T>(&self, error: E) -> Result<T, Error> {
        Err(Error::at(error, self.span))
    }

    fn no_operation<T>(&self, operation: String, kind: &'static str) -> Result<T, Error> {
        self.refuse(E::Operation { operation, kind, column: self.column.name.clone() })
    }

    fn is_frozen(&self) -> bool {
        !self.column.ty.is_multi_cell()
    }

    fn set(&self, value: &ast::Term) -> Result<OperationKind, Error> {
        let term = self.whole(value)?;
        if self.column.ty == CqlType::Counter {
            return self.refuse(E::CounterSet(self.column.name.clone()));
        }
        Ok(OperationKind::Set(term))
    }

    /// `c + value` or `c - value` where the column is no collection: only counters count.
    fn scalar(&self, operation: String, value: &ast::Term) -> Result<OperationKind, Error> {
        match &self.column.ty {
            CqlType::Tuple(_) | CqlType::Udt { .. } => self.no_operation(operation, "tuple"),
            // The statement is refused as a whole once Cassandra's own checks are through.
            CqlType::Counter => self.whole(value).map(OperationKind::Add),
            _ => self.no_operation(operation, "non counter"),
        }
    }

    fn add(&self, value: &ast::Term) -> Result<OperationKind, Error> {
        let name = quote_name(&self.column.name);
        let operation = || format!("{name} = {name} + {}", self.print(value));
        if !self.column.ty.is_collection() {
            return self.scalar(operation(), value);
        }
        if self.is_frozen() {
            return self.no_operation(operation(), "frozen collection");
        }
        let term = self.whole(value);
        match (&self.column.ty, term) {
            (CqlType::Map { .. }, Err(_)) => self.refuse(E::MapAddition(self.print(value))),
            (_, term) => term.map(OperationKind::Add),
        }
    }

    fn subtract(&self, value: &ast::Term) -> Result<OperationKind, Error> {
        let name = quote_name(&self.column.name);
        let operation = || format!("{name} = {name} - {}", self.print(value));
        if !self.column.ty.is_collection() {
            return self.scalar(operation(), value);
        }
        if self.is_frozen() {
            return self.no_operation(operation(), "frozen collection");
        }
        match &self.column.ty {
            CqlType::List { .. } => self.whole(value).map(OperationKind::RemoveValues),
            CqlType::Map { key, .. } => {
                let keys = CqlType::Set { element: Arc::clone(key), frozen: false };
                let receiver = self.receiver(self.column.name.clone(), keys);
                match terms::prepare(self.cx, value, &receiver) {
                    Ok(term) => Ok(OperationKind::Remove(term)),
                    Err(_) => self.refuse(E::MapSubtraction(self.print(value))),
                }
            }
            _ => self.whole(value).map(OperationKind::Remove),
        }
    }

    fn prepend(&self, value: &ast::Term) -> Result<OperationKind, Error> {
        let name = quote_name(&self.column.name);
        let term = self.whole(value)?;
        // Cassandra prints a minus here.
        let operation = || format!("{name} = {} - {name}", self.print(value));
        match &self.column.ty {
            CqlType::List { frozen: false, .. } => Ok(OperationKind::Prepend(term)),
            CqlType::List { frozen: true, .. } => self.no_operation(operation(), "frozen list"),
            _ => self.no_operation(operation(), "non list"),
        }
    }

    fn set_element(&self, key: &ast::Term, value: &ast::Term) -> Result<OperationKind, Error> {
        let name = quote_name(&self.column.name);
        let operation = || format!("{name}[{}] = {}", self.print(key), self.print(value));
        if !self.column.ty.is_collection() {
            return self.no_operation(operation(), "non collection");
        }
        if self.is_frozen() {
            return self.no_operation(operation(), "frozen collection");
        }
        match &self.column.ty {
            CqlType::List { element, .. } => Ok(OperationKind::SetIndex {
                index: self.part("idx", &CqlType::Int, key)?,
                value: self.part("value", element, value)?,
            }),
            CqlType::Map { key: key_type, value: value_type, .. } => Ok(OperationKind::SetKey {
                key: self.part("key", key_type, key)?,
                value: self.part("value", value_type, value)?,
            }),
            _ => self.no_operation(operation(), "set"),
        }
    }

    fn set_field(&self, field: &ast::Name, value: &ast::Term) -> Result<OperationKind, Error> {
        let column = &self.column.name;
        let name = quote_name(column);
        let no_operation = |kind| {
            let operation = format!("{name}.{} = {}", quote_name(&field.text), self.print(value));
            self.refuse(E::FieldOperation { operation, kind, column: column.clone() })
        };
        match &self.column.ty {
            CqlType::Udt { frozen: true, .. } => no_operation("frozen UDT"),
            CqlType::Udt { definition, .. } => {
                let place = self.field(definition, field)?;
                let ty = definition.fields[usize::from(place)].1.clone();
                let receiver = self.receiver(format!("{column}.{}", field.text), ty);
                let value = terms::prepare(self.cx, value, &receiver)?;
                Ok(OperationKind::SetField { field: place, value })
            }
            _ => no_operation("non-UDT"),
        }
    }

    fn field(&self, definition: &UserType, field: &ast::Name) -> Result<u16, Error> {
        let place = definition.fields.iter().position(|(name, _)| *name == field.text);
        match place.and_then(|place| u16::try_from(place).ok()) {
            Some(place) => Ok(place),
            None => self.refuse(E::UnknownField {
                column: self.column.name.clone(),
                field: field.text.clone(),
            }),
        }
    }

    fn delete_element(&self, key: &ast::Term) -> Result<OperationKind, Error> {
        let column = self.column.name.clone();
        if !self.column.ty.is_collection() {
            return self.refuse(E::ElementDeletion { kind: "non", column });
        }
        if self.is_frozen() {
            return self.refuse(E::ElementDeletion { kind: "frozen", column });
        }
        match &self.column.ty {
            CqlType::List { .. } => {
                self.part("idx", &CqlType::Int, key).map(OperationKind::DeleteIndex)
            }
            CqlType::Map { key: ty, .. } => self.part("key", ty, key).map(OperationKind::DeleteKey),
            CqlType::Set { element, .. } => {
                self.part("value", element, key).map(OperationKind::DeleteKey)
            }
            other => unreachable!("{other} is no collection"),
        }
    }

    fn delete_field(&self, field: &ast::Name) -> Result<OperationKind, Error> {
        match &self.column.ty {
            CqlType::Udt { frozen: true, .. } => {
                self.refuse(E::FrozenFieldDeletion(self.column.name.clone()))
            }
            CqlType::Udt { definition, .. } => {
                self.field(definition, field).map(OperationKind::DeleteField)
            }
            _ => self.refuse(E::FieldDeletion(self.column.name.clone())),
        }
    }
}
