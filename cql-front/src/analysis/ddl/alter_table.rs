//! ALTER TABLE.
//!
//! A dropped column is remembered with its id and the time of its drop. Added again it takes its id back, so the cells
//! that are still in SSTables are its own, and those at or before the drop stay hidden:
//!
//! ```text
//! v int, id 3     cells at 10, 20      ALTER TABLE t DROP v USING TIMESTAMP 15
//! ADD v int   ->  v, id 3, dropped_at 15: the cell at 20 shows, the one at 10 does not
//! ```

use super::properties::Properties;
use super::{Given, SchemaDecision, options, tables};
use crate::analysis::{Context, type_names};
use crate::ast::{AlterTable, AlterTableKind, ColumnDefinition, Name, Property, Term, TermKind};
use crate::error::Error;
use crate::error::schema::TableError;
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, DroppedColumn, SchemaChange, Table, TableOptions,
};
use cassling_engine::types::{CqlType, quote_name};
use std::collections::BTreeMap;
use std::sync::Arc;

/// ALTER TABLE.
pub(super) fn alter(
    cx: &Context<'_>,
    given: &Given<'_>,
    alter: &AlterTable,
) -> Result<SchemaDecision, Error> {
    let (keyspace, name) = (given.keyspace, &alter.name.name.text);
    if let AlterTableKind::With(properties) = &alter.change {
        options::read(Properties(properties), &TableOptions::default())?;
    }
    let Some(old) = cx.schema.table(keyspace, name) else {
        return match alter.if_exists {
            true => Ok(SchemaDecision::default()),
            false => {
                let (keyspace, table) = (keyspace.to_string(), name.clone());
                let e = TableError::Missing { keyspace, table };
                Err(Error::from(e).or_at(alter.name.name.span))
            }
        };
    };
    let mut parts = Parts::of(old);
    match &alter.change {
        AlterTableKind::AlterType { column, .. } => {
            return Err(Error::from(TableError::AlterColumnType {}).or_at(column.span));
        }
        AlterTableKind::Add { if_not_exists, columns } => {
            for column in columns {
                parts.add(cx, old, column, *if_not_exists)?;
            }
            parts.check_counters(old)?;
        }
        AlterTableKind::Drop { if_exists, columns, timestamp } => {
            let at_micros = drop_time(timestamp.as_ref(), given.now_micros);
            for column in columns {
                parts.drop(old, column, *if_exists, at_micros)?;
            }
        }
        AlterTableKind::Rename { renames, .. } => {
            for (from, to) in renames {
                parts.rename(old, from, to)?;
            }
        }
        AlterTableKind::With(properties) => parts.options = with(old, properties)?,
        AlterTableKind::DropCompactStorage => return Err(TableError::NotCompact {}.into()),
        AlterTableKind::Mask => return Err(TableError::Masking {}.into()),
    }
    let Some(new) = parts.changed(old) else { return Ok(SchemaDecision::default()) };
    let change = SchemaChange::PutTable(Arc::new(new));
    Ok(SchemaDecision::one(change, "UPDATED", "TABLE", keyspace, Some(name)))
}

/// USING TIMESTAMP, an integer, or the time of the statement.
fn drop_time(timestamp: Option<&Term>, now_micros: i64) -> i64 {
    match timestamp.map(|term| &term.kind) {
        Some(TermKind::Literal { text, .. }) => text.parse().unwrap_or(now_micros),
        _ => now_micros,
    }
}

/// ALTER TABLE WITH: the table's options with the properties on top.
fn with(old: &Table, written: &[Property]) -> Result<TableOptions, Error> {
    let properties = Properties(written);
    properties.check_known(options::KNOWN)?;
    options::check_bounds(properties)?;
    if let Some(text) = properties.string("id")? {
        return Err(match uuid::Uuid::parse_str(text) {
            Ok(_) => TableError::AlterId {}.into(),
            Err(_) => TableError::InvalidId {}.into(),
        });
    }
    let new = options::read(properties, &old.options)?.finish();
    if old.is_counter && new.default_time_to_live_seconds > 0 {
        return Err(TableError::CounterTtl {}.into());
    }
    Ok(new)
}

/// A table taken apart while it is altered.
struct Parts {
    columns: Vec<Column>,
    dropped: BTreeMap<String, DroppedColumn>,
    options: TableOptions,
}

impl Parts {
    fn of(table: &Table) -> Parts {
        Parts {
            columns: table.columns().to_vec(),
            dropped: table.dropped.clone(),
            options: table.options.clone(),
        }
    }

    /// The new table, if anything differs.
    fn changed(self, old: &Table) -> Option<Table> {
        let same = self.columns == old.columns()
            && self.dropped == old.dropped
            && self.options == old.options;
        if same {
            return None;
        }
        let mut new =
            Table::new(old.id, &old.keyspace, &old.name, self.columns, self.dropped, self.options);
        // A counter table stays one when its last counter is dropped.
        new.is_counter = old.is_counter;
        new.is_virtual = old.is_virtual;
        Some(new)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// An id that no column has or had; the last one is kept free.
    fn next_id(&self) -> Result<ColumnId, TableError> {
        let live = self.columns.iter().map(|c| c.id.0);
        let dropped = self.dropped.values().map(|d| d.column.id.0);
        match live.chain(dropped).max() {
            None => Ok(ColumnId(0)),
            Some(last) if last < u16::MAX - 1 => Ok(ColumnId(last + 1)),
            Some(_) => Err(TableError::TooManyColumns {}),
        }
    }

    fn add(
        &mut self,
        cx: &Context<'_>,
        old: &Table,
        definition: &ColumnDefinition,
        if_not_exists: bool,
    ) -> Result<(), Error> {
        let refuse = |e: TableError| Err(Error::from(e).or_at(definition.name.span));
        let name = definition.name.text.clone();
        let ty = type_names::resolve(cx, &old.keyspace, &definition.ty)?;
        if self.position(&name).is_some() {
            return match if_not_exists {
                true => Ok(()),
                false => refuse(TableError::ColumnExists { column: name }),
            };
        }
        if definition.is_static && old.clustering().is_empty() {
            return refuse(TableError::StaticWithoutClustering {});
        }
        if tables::has_nested_multi_cell(&ty) {
            return refuse(TableError::NestedMultiCellColumn { column: name });
        }
        let kind = if definition.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        let before = self.dropped.get(&name);
        if let Some(before) = before
            && let Err(e) = re_add(&name, &ty, kind, &before.column, old.is_counter)
        {
            return refuse(e);
        }
        let id = match before {
            Some(before) => before.column.id,
            None => self.next_id()?,
        };
        self.columns.push(Column {
            id,
            name,
            ty,
            kind,
            position: 0,
            descending: false,
            dropped_at_micros: before.map(|d| d.dropped_at_micros),
        });
        Ok(())
    }

    /// What Cassandra checks of the finished table: no column of the other kind.
    fn check_counters(&self, old: &Table) -> Result<(), Error> {
        let wrong = self
            .columns
            .iter()
            .filter(|c| !c.is_primary_key())
            .find(|c| (c.ty == CqlType::Counter) != old.is_counter);
        let Some(column) = wrong else { return Ok(()) };
        let table = format!("{}.{}", old.keyspace, old.name);
        let column = column.name.clone();
        Err(match old.is_counter {
            true => TableError::NonCounterColumn { table, column }.into(),
            false => TableError::CounterColumn { table, column }.into(),
        })
    }

    fn drop(
        &mut self,
        old: &Table,
        name: &Name,
        if_exists: bool,
        at_micros: i64,
    ) -> Result<(), Error> {
        let refuse = |e: TableError| Err(Error::from(e).or_at(name.span));
        let column_name = name.text.clone();
        let Some(place) = self.position(&name.text) else {
            let table = old.cql_name();
            return match if_exists {
                true => Ok(()),
                false => refuse(TableError::NoSuchColumn { column: column_name, table }),
            };
        };
        let column = &self.columns[place];
        if column.is_primary_key() {
            return refuse(TableError::DropKeyColumn { column: column_name });
        }
        if matches!(column.ty, CqlType::Udt { frozen: false, .. }) {
            let ty = column.ty.to_string();
            return refuse(TableError::DropMultiCellUserType { column: column_name, ty });
        }
        let mut column = self.columns.remove(place);
        column.ty = without_user_types(&column.ty);
        self.dropped.insert(column_name, DroppedColumn { column, dropped_at_micros: at_micros });
        Ok(())
    }

    fn rename(&mut self, old: &Table, from: &Name, to: &Name) -> Result<(), Error> {
        let refuse = |e: TableError| Err(Error::from(e).or_at(from.span));
        let Some(place) = self.position(&from.text) else {
            let (column, table) = (quote_name(&from.text), old.cql_name());
            return refuse(TableError::UndefinedColumn { column, table });
        };
        if !self.columns[place].is_primary_key() {
            return refuse(TableError::RenameNonKey { column: from.text.clone() });
        }
        // Names of before the statement count too: `a TO b AND b TO a` is refused.
        if self.position(&to.text).is_some() || old.column(&to.text).is_some() {
            let (from, to, table) = (from.text.clone(), to.text.clone(), old.cql_name());
            return refuse(TableError::RenameTaken { from, to, table });
        }
        self.columns[place].name = to.text.clone();
        Ok(())
    }
}

/// Whether a dropped column may come back as this.
fn re_add(
    name: &str,
    ty: &CqlType,
    kind: ColumnKind,
    before: &Column,
    is_counter: bool,
) -> Result<(), TableError> {
    let column = name.to_string();
    if !can_read(ty, &before.ty) || ty.is_multi_cell() != before.ty.is_multi_cell() {
        let (ty, was) = (ty.to_string(), before.ty.to_string());
        return Err(TableError::ReAddedType { column, ty, was });
    }
    if kind != before.kind {
        let text = |kind| if kind == ColumnKind::Static { "STATIC" } else { "REGULAR" };
        let (kind, was) = (text(kind), text(before.kind));
        return Err(TableError::ReAddedKind { column, kind, was });
    }
    if is_counter {
        return Err(TableError::ReAddedCounter { column });
    }
    Ok(())
}

/// Whether stored values of `old` are valid values of `new` (Cassandra's `isSerializationCompatibleWith`).
fn can_read(new: &CqlType, old: &CqlType) -> bool {
    match (new, old) {
        _ if new == old => true,
        (CqlType::Text, CqlType::Ascii) => true,
        (CqlType::Uuid, CqlType::Timeuuid) => true,
        (CqlType::Bigint, CqlType::Timestamp) | (CqlType::Timestamp, CqlType::Bigint) => true,
        // Every value is bytes, but only where the storage gives the length too.
        (CqlType::Blob, old) => !old.is_multi_cell() && !has_fixed_length(old),
        (CqlType::List { element: new, .. }, CqlType::List { element: old, .. }) => {
            can_read_part(new, old)
        }
        (CqlType::Set { element: new, .. }, CqlType::Set { element: old, .. }) => {
            sorts_alike(new, old)
        }
        (
            CqlType::Map { key: new_key, value: new, .. },
            CqlType::Map { key: old_key, value: old, .. },
        ) => sorts_alike(new_key, old_key) && can_read_part(new, old),
        (CqlType::Tuple(new), CqlType::Tuple(old)) => {
            new.len() >= old.len() && new.iter().zip(old.iter()).all(|(n, o)| can_read_part(n, o))
        }
        _ => false,
    }
}

/// Inside a collection or tuple every part has its length, so fixed lengths do not matter.
fn can_read_part(new: &CqlType, old: &CqlType) -> bool {
    match (new, old) {
        (CqlType::Blob, old) => !old.is_multi_cell(),
        (CqlType::Varint, CqlType::Int | CqlType::Bigint | CqlType::Timestamp) => true,
        (CqlType::Date, CqlType::Int) | (CqlType::Time, CqlType::Bigint) => true,
        _ => can_read(new, old),
    }
}

/// Keys and set elements must also keep their order.
fn sorts_alike(new: &CqlType, old: &CqlType) -> bool {
    match (new, old) {
        (CqlType::Blob, CqlType::Text | CqlType::Ascii) | (CqlType::Text, CqlType::Ascii) => true,
        // A user-defined type equals the tuple that was kept in its place, though it does not read one.
        _ => without_user_types(new) == *old,
    }
}

/// Types whose values all have one length in Cassandra's storage.
fn has_fixed_length(ty: &CqlType) -> bool {
    match ty {
        CqlType::Bigint
        | CqlType::Boolean
        | CqlType::Double
        | CqlType::Float
        | CqlType::Int
        | CqlType::Timestamp
        | CqlType::Timeuuid
        | CqlType::Uuid => true,
        CqlType::Vector { element, .. } => has_fixed_length(element),
        _ => false,
    }
}

/// The type with each user-defined type replaced by a tuple: what is kept of a dropped column, so that its type can
/// be dropped in turn.
fn without_user_types(ty: &CqlType) -> CqlType {
    let within = |ty: &CqlType| Arc::new(without_user_types(ty));
    match ty {
        CqlType::List { element, frozen } => {
            CqlType::List { element: within(element), frozen: *frozen }
        }
        CqlType::Set { element, frozen } => {
            CqlType::Set { element: within(element), frozen: *frozen }
        }
        CqlType::Map { key, value, frozen } => {
            CqlType::Map { key: within(key), value: within(value), frozen: *frozen }
        }
        CqlType::Tuple(parts) => CqlType::Tuple(parts.iter().map(without_user_types).collect()),
        CqlType::Udt { definition, .. } => {
            CqlType::Tuple(definition.fields.iter().map(|(_, f)| without_user_types(f)).collect())
        }
        // A vector keeps them (Cassandra's `VectorType` has no `expandUserTypes`).
        _ => ty.clone(),
    }
}
