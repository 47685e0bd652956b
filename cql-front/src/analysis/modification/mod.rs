//! INSERT, UPDATE, DELETE, BATCH (sheet A.6, A.8, A.10).
//!
//! All three statements come to the same: which partitions and rows ([`Restrictions`]), what is done to their columns
//! ([`Operation`]), and the USING clause. What differs is told by [`ModificationPlan::kind`]:
//!
//! | | row marker | without operation |
//! |---|---|---|
//! | INSERT | written | the marker alone |
//! | UPDATE | none | cannot be |
//! | DELETE | none | the rows, ranges or partition go |
//!
//! [`operation`] checks what is done to a column, [`batch`] what may stand together. Not here: values
//! ([`crate::exec::modification`]).

pub mod batch;
pub mod operation;

pub use batch::{BatchPlan, analyse_batch};
pub use operation::{Operation, OperationKind};

use super::restrictions::{self, Restrictions, Setting, StatementKind};
use super::terms::{self, Term};
use super::{Context, Receiver};
use crate::ast::{self, Attributes, Name};
use crate::error::modification::ModificationError as E;
use crate::error::session::SessionError;
use crate::error::{Error, ErrorKind};
use cassling_engine::schema::{Column, ColumnKind, Table, is_system_keyspace};
use cassling_engine::types::{CqlType, quote_name};
use std::sync::Arc;

/// A checked INSERT, UPDATE or DELETE.
#[derive(Debug)]
pub struct ModificationPlan {
    /// Table.
    pub table: Arc<Table>,
    /// Which statement it is.
    pub kind: StatementKind,
    /// Partitions and rows.
    pub restrictions: Restrictions,
    /// What is done to columns, statics and regulars, in the order written.
    pub operations: Vec<Operation>,
    /// USING TIMESTAMP.
    pub timestamp: Option<Term>,
    /// USING TTL.
    pub ttl: Option<Term>,
    /// Whether rows are written, not only the static row.
    pub updates_rows: bool,
    /// It has an IF clause.
    is_conditional: bool,
}

/// Checks an INSERT, UPDATE or DELETE.
///
/// # Errors
/// The refusals of sheet A.6, in Cassandra's order.
pub fn analyse(cx: &Context<'_>, statement: &ast::Statement) -> Result<ModificationPlan, Error> {
    let plan = prepare(cx, statement)?;
    plan.check_using()?;
    plan.check_supported()?;
    Ok(plan)
}

/// What Cassandra checks when it prepares the statement, alone or as a member of a batch.
fn prepare(cx: &Context<'_>, statement: &ast::Statement) -> Result<ModificationPlan, Error> {
    match statement {
        ast::Statement::Insert(insert) => prepare_insert(cx, insert),
        ast::Statement::Update(update) => prepare_update(cx, update),
        ast::Statement::Delete(delete) => prepare_delete(cx, delete),
        other => unreachable!("{other:?} modifies no rows"),
    }
}

/// Parts of a plan that the statements share.
struct Parts<'c, 'a> {
    cx: &'c Context<'a>,
    table: Arc<Table>,
    timestamp: Option<Term>,
    ttl: Option<Term>,
}

impl<'c, 'a> Parts<'c, 'a> {
    fn new(
        cx: &'c Context<'a>,
        name: &ast::QualifiedName,
        attributes: &Attributes,
    ) -> Result<Parts<'c, 'a>, Error> {
        let table = cx.table_of(name)?;
        let term = |raw: &Option<ast::Term>, name: &str, ty: CqlType| {
            let receiver = Receiver {
                keyspace: table.keyspace.clone(),
                table: table.name.clone(),
                name: name.to_string(),
                ty,
            };
            raw.as_ref().map(|raw| terms::prepare(cx, raw, &receiver)).transpose()
        };
        let timestamp = term(&attributes.timestamp, "[timestamp]", CqlType::Bigint)?;
        let ttl = term(&attributes.ttl, "[ttl]", CqlType::Int)?;
        Ok(Parts { cx, table, timestamp, ttl })
    }

    fn column(&self, name: &Name) -> Result<Column, Error> {
        self.table.column(&name.text).cloned().ok_or_else(|| {
            let table = &self.table;
            let (keyspace, name_of_table) = (quote_name(&table.keyspace), quote_name(&table.name));
            let error = E::UndefinedColumn {
                column: quote_name(&name.text),
                table: format!("{keyspace}.{name_of_table}"),
            };
            Error::at(error, name.span)
        })
    }

    fn plan(
        self,
        kind: StatementKind,
        restrictions: Restrictions,
        operations: Vec<Operation>,
        condition: &Option<ast::Conditional>,
    ) -> ModificationPlan {
        let updates_rows =
            self.table.clustering().is_empty() || restrictions.has_clustering_restrictions();
        ModificationPlan {
            table: self.table,
            kind,
            restrictions,
            operations,
            timestamp: self.timestamp,
            ttl: self.ttl,
            updates_rows,
            is_conditional: condition.is_some(),
        }
    }
}

fn prepare_insert(cx: &Context<'_>, insert: &ast::Insert) -> Result<ModificationPlan, Error> {
    let parts = Parts::new(cx, &insert.table, &insert.attributes)?;
    if parts.table.is_counter {
        return Err(Error::new(E::CounterInsert));
    }
    let (columns, values) = match &insert.source {
        ast::InsertSource::Values { columns, values } => (columns, values),
        ast::InsertSource::Json { .. } => {
            return Err(ErrorKind::Unsupported(ast::Feature::Json).into_error());
        }
    };
    if columns.len() != values.len() {
        return Err(Error::new(E::UnmatchedValues));
    }
    let repeated = columns
        .iter()
        .enumerate()
        .find(|(i, name)| columns[..*i].iter().any(|n| n.text == name.text));
    if let Some((_, name)) = repeated {
        return Err(Error::at(E::DuplicateColumns, name.span));
    }
    let mut operations = Vec::new();
    let mut key = Vec::new();
    for (name, value) in columns.iter().zip(values) {
        let column = parts.column(name)?;
        if column.is_primary_key() {
            key.push((name.clone(), value.clone()));
        } else {
            operations.push(Operation::set(cx, &parts.table, column, value)?);
        }
    }
    let has_clustering = key.iter().any(|(name, _)| {
        parts.table.column(&name.text).is_some_and(|c| c.kind == ColumnKind::Clustering)
    });
    let setting = Setting {
        kind: StatementKind::Insert,
        allow_filtering: false,
        only_statics: !has_clustering && only_statics(&operations),
        updates_regulars: updates_regulars(&operations),
        distinct: false,
    };
    let restrictions = restrictions::analyse_insert(cx, &parts.table, &key, setting)?;
    Ok(parts.plan(StatementKind::Insert, restrictions, operations, &insert.condition))
}

fn prepare_update(cx: &Context<'_>, update: &ast::Update) -> Result<ModificationPlan, Error> {
    let parts = Parts::new(cx, &update.table, &update.attributes)?;
    let mut operations = Vec::new();
    for assignment in &update.assignments {
        let column = parts.column(&assignment.column)?;
        if column.is_primary_key() {
            return Err(Error::at(E::KeyInSet(column.name), assignment.column.span));
        }
        operations.push(Operation::assignment(cx, &parts.table, column, assignment)?);
    }
    let restrictions = where_of(&parts, StatementKind::Update, &update.relations, &operations)?;
    Ok(parts.plan(StatementKind::Update, restrictions, operations, &update.condition))
}

fn prepare_delete(cx: &Context<'_>, delete: &ast::Delete) -> Result<ModificationPlan, Error> {
    let attributes = Attributes { timestamp: delete.timestamp.clone(), ttl: None };
    let parts = Parts::new(cx, &delete.table, &attributes)?;
    let mut operations = Vec::new();
    for target in &delete.targets {
        let column = parts.column(&target.column)?;
        if column.is_primary_key() {
            return Err(Error::at(E::KeyInDelete(column.name), target.column.span));
        }
        operations.push(Operation::deletion(cx, &parts.table, column, target)?);
    }
    let restrictions = where_of(&parts, StatementKind::Delete, &delete.relations, &operations)?;
    Ok(parts.plan(StatementKind::Delete, restrictions, operations, &delete.condition))
}

fn where_of(
    parts: &Parts<'_, '_>,
    kind: StatementKind,
    relations: &[ast::Relation],
    operations: &[Operation],
) -> Result<Restrictions, Error> {
    let setting = Setting {
        kind,
        allow_filtering: false,
        only_statics: only_statics(operations),
        updates_regulars: updates_regulars(operations),
        distinct: false,
    };
    restrictions::analyse(parts.cx, &parts.table, relations, setting)
}

fn only_statics(operations: &[Operation]) -> bool {
    !operations.is_empty() && !updates_regulars(operations)
}

fn updates_regulars(operations: &[Operation]) -> bool {
    operations.iter().any(|operation| !operation.is_static)
}

impl ModificationPlan {
    /// Whether a USING clause is where none may be.
    fn check_using(&self) -> Result<(), Error> {
        if self.is_conditional && self.timestamp.is_some() {
            return Err(Error::new(E::ConditionalTimestamp));
        }
        if self.table.is_counter && self.timestamp.is_some() {
            return Err(Error::new(E::CounterTimestamp));
        }
        if self.table.is_counter && self.ttl.is_some() {
            return Err(Error::new(E::CounterTtl));
        }
        Ok(())
    }

    /// What Cassandra would do and we do not.
    fn check_supported(&self) -> Result<(), Error> {
        if is_system_keyspace(&self.table.keyspace) || self.table.is_virtual {
            return Err(SessionError::SystemWrite(self.table.keyspace.clone()).into());
        }
        if self.is_conditional {
            return Err(ErrorKind::Unsupported(ast::Feature::LightweightTransactions).into_error());
        }
        if self.table.is_counter
            && !self.operations.is_empty()
            && self.kind != StatementKind::Delete
        {
            return Err(ErrorKind::Unsupported(ast::Feature::Counters).into_error());
        }
        Ok(())
    }
}
