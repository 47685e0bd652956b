//! One relation of WHERE against the table: names looked up, types checked, values prepared (sheet A.2).
//!
//! The order of the checks decides which refusal a relation with two faults gets; it is that of Cassandra's
//! `SingleColumnRelation`, `MultiColumnRelation` and `TokenRelation`.

use super::StatementKind;
use super::merge::{Alternatives, End, Kind, Restriction, Value};
use super::print;
use crate::analysis::terms::{self, Term};
use crate::analysis::{Context, Receiver};
use crate::ast::{self, Comparison, InValues, Name, Relation, RelationKind, Span, TermKind};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use crate::error::term::TermError;
use cassling_engine::schema::{Column, ColumnKind, Table};
use cassling_engine::types::{CqlType, MarshalError, quote_name};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A relation, typed.
pub(super) enum Typed {
    /// On columns.
    Columns(Restriction),
    /// On the token of the partition key.
    Token(Restriction),
    /// `expr(index, value)`: looked at when all relations are through.
    Expression,
}

/// Types relations of one statement.
pub(super) struct Typing<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) table: &'a Table,
    pub(super) kind: StatementKind,
}

/// `keyspace.table` as messages name it.
pub(super) fn table_name(table: &Table) -> String {
    format!("{}.{}", quote_name(&table.keyspace), quote_name(&table.name))
}

impl Typing<'_> {
    /// Types one relation.
    pub(super) fn relation(&self, relation: &Relation) -> Result<Typed, Error> {
        self.checked(relation).map_err(|e| e.or_at(relation.span))
    }

    fn checked(&self, relation: &Relation) -> Result<Typed, Error> {
        let span = relation.span;
        match &relation.kind {
            RelationKind::CustomExpression { .. } => return Ok(Typed::Expression),
            RelationKind::Contains { key, .. } if self.kind != StatementKind::Select => {
                let operator = if *key { "CONTAINS KEY" } else { "CONTAINS" };
                let statement = self.kind.to_string();
                return Err(RestrictionError::ContainsInModification { statement, operator }.into());
            }
            RelationKind::IsNotNull(_) => {
                return Err(RestrictionError::IsNotNull(self.print(relation)).into());
            }
            RelationKind::Column { operator: Comparison::Neq, .. }
            | RelationKind::Element { operator: Comparison::Neq, .. }
            | RelationKind::Tuple { operator: Comparison::Neq, .. }
            | RelationKind::Token { operator: Comparison::Neq, .. } => {
                return Err(RestrictionError::NotEqual(self.print(relation)).into());
            }
            _ => {}
        }
        let (columns, is_tuple, kind) = match &relation.kind {
            RelationKind::Column { column, operator, value } => {
                let column = self.column(column)?;
                (vec![column.clone()], false, self.compare(column, *operator, value)?)
            }
            RelationKind::In { column, values } => {
                let column = self.column(column)?;
                (vec![column.clone()], false, self.among(column, values)?)
            }
            RelationKind::Contains { column, key, value } => {
                let column = self.column(column)?;
                (vec![column.clone()], false, self.contains(column, *key, value)?)
            }
            RelationKind::Element { column, key, operator, value } => {
                let column = self.column(column)?;
                (vec![column.clone()], false, self.element(column, key, *operator, value)?)
            }
            RelationKind::Like { column, value } => {
                let column = self.column(column)?;
                check_comparable(column, "LIKE")?;
                terms::prepare(self.cx, value, &self.receiver(&column.name, &column.ty))?;
                return Err(RestrictionError::Like(self.print(relation)).into());
            }
            RelationKind::Tuple { columns, operator, value } => {
                let columns = self.tuple_columns(columns, relation)?;
                let kind = compared(*operator, self.tuple_value(&columns, value)?);
                (columns, true, kind)
            }
            RelationKind::TupleIn { columns, values } => {
                let columns = self.tuple_columns(columns, relation)?;
                let kind = self.tuple_among(&columns, values)?;
                (columns, true, kind)
            }
            RelationKind::Token { columns, operator, value } => {
                return self.token(columns, *operator, value, span).map(Typed::Token);
            }
            RelationKind::IsNotNull(_) | RelationKind::CustomExpression { .. } => {
                return Ok(Typed::Expression);
            }
        };
        Ok(Typed::Columns(Restriction { columns, is_tuple, kind, span }))
    }

    fn print(&self, relation: &Relation) -> String {
        print::relation(relation, &self.table.keyspace)
    }

    fn column(&self, name: &Name) -> Result<&Column, Error> {
        self.table.column(&name.text).ok_or_else(|| {
            let column = quote_name(&name.text);
            let table = table_name(self.table);
            Error::at(RestrictionError::UndefinedColumn { column, table }, name.span)
        })
    }

    fn receiver(&self, name: &str, ty: &CqlType) -> Receiver {
        Receiver {
            keyspace: self.table.keyspace.clone(),
            table: self.table.name.clone(),
            name: name.to_string(),
            ty: ty.clone(),
        }
    }

    fn value(&self, column: &Column, raw: &ast::Term) -> Result<Value, Error> {
        Ok(Value::One(self.prepare(column, raw)?))
    }

    /// A term for a column. Cassandra does not recognise the type of a descending column behind its reversed order
    /// where a literal is one of a user-defined type, a vector, or an empty map.
    fn prepare(&self, column: &Column, raw: &ast::Term) -> Result<Term, Error> {
        let shape = match (&raw.kind, &column.ty) {
            (TermKind::Udt(_), CqlType::Udt { .. }) => Some("user type"),
            (TermKind::List(_), CqlType::Vector { .. }) => Some("vector"),
            (TermKind::Set(items), CqlType::Map { .. })
                if column.descending && items.is_empty() =>
            {
                let text = "an empty map literal for a descending column";
                return Err(Error::at(TermError::Value(MarshalError::server(text)), raw.span));
            }
            _ => None,
        };
        if let (Some(shape), true) = (shape, column.descending) {
            let (name, ty) = (column.name.clone(), terms::print::cql_type(&column.ty));
            return Err(Error::at(TermError::Shape { shape, name, ty }, raw.span));
        }
        terms::prepare(self.cx, raw, &self.receiver(&column.name, &column.ty))
    }

    fn compare(
        &self,
        column: &Column,
        operator: Comparison,
        value: &ast::Term,
    ) -> Result<Kind, Error> {
        if operator != Comparison::Eq {
            check_sliceable(&column.ty)?;
        }
        check_comparable(column, &operator.to_string())?;
        Ok(compared(operator, self.value(column, value)?))
    }

    fn among(&self, column: &Column, values: &InValues) -> Result<Kind, Error> {
        check_comparable(column, "IN")?;
        match values {
            InValues::List(list) => {
                let values: Result<Vec<_>, _> =
                    list.iter().map(|raw| self.value(column, raw)).collect();
                Ok(one_of(values?))
            }
            InValues::Marker(raw) => {
                let name = format!("in({})", column.name);
                self.marker_of_all(raw, name, column.ty.clone())
            }
        }
    }

    /// `IN ?`. Its list may hold nulls, which no other list may, so it is not evaluated as a term.
    fn marker_of_all(
        &self,
        raw: &ast::Term,
        name: String,
        element: CqlType,
    ) -> Result<Kind, Error> {
        let receiver = self.receiver(&name, &CqlType::list(element.clone()));
        terms::prepare(self.cx, raw, &receiver)?;
        match &raw.kind {
            TermKind::Marker(ast::Marker { index, .. }) => {
                Ok(Kind::In(Alternatives::Marker { index: *index, element, name }))
            }
            // The grammar has nothing else.
            _ => Err(TermError::NoValue.into()),
        }
    }

    fn contains(&self, column: &Column, key: bool, value: &ast::Term) -> Result<Kind, Error> {
        let name = column.name.clone();
        let receiver = match (&column.ty, key) {
            (CqlType::Map { key, .. }, true) => self.receiver(&format!("key({name})"), key),
            (_, true) => return Err(RestrictionError::ContainsKeyOnNonMap(name).into()),
            (CqlType::List { element, .. } | CqlType::Set { element, .. }, false) => {
                self.receiver(&format!("value({name})"), element)
            }
            (CqlType::Map { value, .. }, false) => self.receiver(&format!("value({name})"), value),
            (_, false) => return Err(RestrictionError::ContainsOnNonCollection(name).into()),
        };
        let term = terms::prepare(self.cx, value, &receiver)?;
        let (values, keys) = if key { (vec![], vec![term]) } else { (vec![term], vec![]) };
        Ok(Kind::Contains { values, keys, entries: vec![] })
    }

    fn element(
        &self,
        column: &Column,
        key: &ast::Term,
        operator: Comparison,
        value: &ast::Term,
    ) -> Result<Kind, Error> {
        if operator != Comparison::Eq {
            check_sliceable(&column.ty)?;
        }
        let name = column.name.clone();
        let (key_type, value_type) = match &column.ty {
            CqlType::List { .. } => return Err(RestrictionError::ListEntry(name).into()),
            CqlType::Map { frozen: true, .. } => {
                return Err(RestrictionError::FrozenMapEntry(name).into());
            }
            CqlType::Map { key, value, .. } => (Arc::clone(key), Arc::clone(value)),
            _ => return Err(RestrictionError::NotAMap(name).into()),
        };
        if operator != Comparison::Eq {
            return Err(RestrictionError::MapEntryOnlyEqual.into());
        }
        let key_receiver = self.receiver(&format!("key({name})"), &key_type);
        let value_receiver = self.receiver(&format!("value({name})"), &value_type);
        let key = terms::prepare(self.cx, key, &key_receiver)?;
        let value = terms::prepare(self.cx, value, &value_receiver)?;
        Ok(Kind::Contains { values: vec![], keys: vec![], entries: vec![(key, value)] })
    }

    fn tuple_columns(&self, names: &[Name], relation: &Relation) -> Result<Vec<Column>, Error> {
        let mut columns: Vec<Column> = Vec::with_capacity(names.len());
        for name in names {
            let column = self.column(name)?;
            let refuse = |e| Err(Error::at(e, name.span));
            if column.kind != ColumnKind::Clustering {
                return refuse(RestrictionError::TupleOfNonClustering(column.name.clone()));
            }
            if columns.iter().any(|c| c.id == column.id) {
                let (column, relation) = (column.name.clone(), self.print(relation));
                return refuse(RestrictionError::TupleColumnTwice { column, relation });
            }
            if columns.last().is_some_and(|before| column.position != before.position + 1) {
                return refuse(RestrictionError::TupleOrder(self.print(relation)));
            }
            columns.push(column.clone());
        }
        Ok(columns)
    }

    fn tuple_value(&self, columns: &[Column], raw: &ast::Term) -> Result<Value, Error> {
        let TermKind::Tuple(elements) = &raw.kind else {
            let name = tuple_name(columns);
            let receiver = self.receiver(&name, &tuple_type(columns));
            return Ok(Value::TupleMarker { term: terms::prepare(self.cx, raw, &receiver)?, name });
        };
        if elements.len() != columns.len() {
            let (expected, given) = (columns.len(), elements.len());
            let literal = terms::print::term(raw, &self.table.keyspace);
            let error = RestrictionError::TupleSize { expected, given, literal };
            return Err(Error::at(error, raw.span));
        }
        let prepared: Result<Vec<Term>, Error> =
            columns.iter().zip(elements).map(|(column, raw)| self.prepare(column, raw)).collect();
        Ok(Value::Tuple(prepared?))
    }

    fn tuple_among(&self, columns: &[Column], values: &InValues) -> Result<Kind, Error> {
        match values {
            InValues::List(list) => {
                let values: Result<Vec<_>, _> =
                    list.iter().map(|raw| self.tuple_value(columns, raw)).collect();
                Ok(one_of(values?))
            }
            InValues::Marker(raw) => {
                let name = format!("in{}", tuple_name(columns));
                self.marker_of_all(raw, name, tuple_type(columns))
            }
        }
    }

    fn token(
        &self,
        names: &[Name],
        operator: Comparison,
        value: &ast::Term,
        span: Span,
    ) -> Result<Restriction, Error> {
        let columns: Result<Vec<&Column>, Error> = names.iter().map(|n| self.column(n)).collect();
        let columns = columns?;
        let key = self.table.partition_key();
        if !columns.iter().map(|c| c.id).eq(key.iter().map(|c| c.id)) {
            return Err(self.wrong_token_columns(&columns).into());
        }
        let receiver = self.receiver("partition key token", &CqlType::Bigint);
        let term = terms::prepare(self.cx, value, &receiver)?;
        let kind = compared(operator, Value::One(term));
        Ok(Restriction { columns: key.to_vec(), is_tuple: false, kind, span })
    }

    fn wrong_token_columns(&self, columns: &[&Column]) -> RestrictionError {
        let key = self.table.partition_key();
        let given: BTreeSet<_> = columns.iter().map(|c| c.id).collect();
        if !key.iter().all(|c| given.contains(&c.id)) {
            RestrictionError::TokenOfSome
        } else if given.len() != columns.len() {
            RestrictionError::TokenTwice
        } else if columns.iter().any(|c| c.kind != ColumnKind::PartitionKey) {
            RestrictionError::TokenOfOthers
        } else {
            let names: Vec<&str> = key.iter().map(|c| c.name.as_str()).collect();
            RestrictionError::TokenOrder(names.join(", "))
        }
    }
}

fn compared(operator: Comparison, value: Value) -> Kind {
    let end = |inclusive| End { value: value.clone(), inclusive };
    match operator {
        Comparison::Gt => Kind::Slice { start: Some(end(false)), end: None },
        Comparison::Gte => Kind::Slice { start: Some(end(true)), end: None },
        Comparison::Lt => Kind::Slice { start: None, end: Some(end(false)) },
        Comparison::Lte => Kind::Slice { start: None, end: Some(end(true)) },
        // != was refused before its value was looked at.
        Comparison::Eq | Comparison::Neq => Kind::Equal(value),
    }
}

/// IN of one written value is an equality, also for all later rules.
fn one_of(mut values: Vec<Value>) -> Kind {
    match (values.len(), values.pop()) {
        (1, Some(only)) => Kind::Equal(only),
        (_, last) => {
            values.extend(last);
            Kind::In(Alternatives::List(values))
        }
    }
}

fn tuple_name(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    format!("({})", names.join(","))
}

fn tuple_type(columns: &[Column]) -> CqlType {
    CqlType::Tuple(columns.iter().map(|c| c.ty.clone()).collect())
}

/// Whole values that have a cell for each part cannot be compared.
fn check_comparable(column: &Column, operator: &str) -> Result<(), RestrictionError> {
    if !column.ty.is_multi_cell() {
        return Ok(());
    }
    let (name, ty) = (column.name.clone(), column.ty.to_string());
    Err(match column.ty {
        CqlType::Udt { .. } => RestrictionError::NonFrozenUdt { column: name, ty },
        _ => RestrictionError::NonFrozenCollection {
            column: name,
            ty,
            operator: operator.to_string(),
        },
    })
}

/// Durations have no order.
fn check_sliceable(ty: &CqlType) -> Result<(), RestrictionError> {
    if !holds_duration(ty) {
        return Ok(());
    }
    Err(RestrictionError::DurationSlice(match ty {
        CqlType::Udt { .. } => "UDTs containing durations",
        CqlType::Tuple(_) => "tuples containing durations",
        _ if ty.is_collection() => "collections containing durations",
        _ => "duration columns",
    }))
}

/// Cassandra's `AbstractType.referencesDuration`, which looks neither into sets nor into vectors.
fn holds_duration(ty: &CqlType) -> bool {
    match ty {
        CqlType::Duration => true,
        CqlType::List { element, .. } => holds_duration(element),
        CqlType::Map { value, .. } => holds_duration(value),
        CqlType::Tuple(parts) => parts.iter().any(holds_duration),
        CqlType::Udt { definition, .. } => {
            definition.fields.iter().any(|(_, ty)| holds_duration(ty))
        }
        _ => false,
    }
}
