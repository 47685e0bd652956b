//! `ALLOW FILTERING`: conditions that a replica evaluates on each row it has read
//! (Cassandra's `RowFilter`).

use super::cell::CellRef;
use super::clustering;
use super::data::Row;
use super::key::DecoratedKey;
use crate::schema::{ColumnId, ColumnKind, Table};
use crate::types::{CqlType, codec, order};
use std::cmp::Ordering;

/// How a stored value is compared with the value asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Eq,
    /// `<`
    Lt,
    /// `<=`
    Lte,
    /// `>`
    Gt,
    /// `>=`
    Gte,
    /// `IN`
    In,
    /// `CONTAINS`
    Contains,
    /// `CONTAINS KEY`
    ContainsKey,
}

/// One condition on one column: key, static or regular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Column.
    pub column: ColumnId,
    /// Comparison.
    pub operator: Operator,
    /// `m[key] = value`: the key's bytes.
    pub map_key: Option<Vec<u8>>,
    /// The value's bytes; for [`Operator::In`] each alternative (null ones match nothing and are left out).
    pub values: Vec<Vec<u8>>,
}

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// In the order written.
    pub conditions: Vec<Condition>,
}

impl RowFilter {
    /// Whether a row passes: all conditions hold for the partition key, the static row and the row as they are at
    /// `now_seconds`. Null never matches. Without a row (`None`), conditions on clustering and regular columns fail.
    pub fn matches(
        &self,
        table: &Table,
        key: &DecoratedKey,
        static_row: Option<&Row>,
        row: Option<&Row>,
        now_seconds: i64,
    ) -> bool {
        let of_row = |row| self.matches_row(table, key, static_row, row, now_seconds);
        self.matches_partition(table, key, static_row, now_seconds)
            && row.map_or(!self.has_row_conditions(table), of_row)
    }

    /// Whether any condition is on a clustering or regular column.
    pub fn has_row_conditions(&self, table: &Table) -> bool {
        self.conditions.iter().any(|condition| !is_of_partition(table, condition))
    }

    /// Whether the conditions on partition key and static columns hold.
    pub fn matches_partition(
        &self,
        table: &Table,
        key: &DecoratedKey,
        static_row: Option<&Row>,
        now_seconds: i64,
    ) -> bool {
        let mut conditions = self.conditions.iter().filter(|c| is_of_partition(table, c));
        conditions.all(|c| holds(table, c, key, static_row, None, now_seconds))
    }

    /// Whether the conditions on clustering and regular columns hold.
    pub fn matches_row(
        &self,
        table: &Table,
        key: &DecoratedKey,
        static_row: Option<&Row>,
        row: &Row,
        now_seconds: i64,
    ) -> bool {
        let mut conditions = self.conditions.iter().filter(|c| !is_of_partition(table, c));
        conditions.all(|c| holds(table, c, key, static_row, Some(row), now_seconds))
    }
}

fn is_of_partition(table: &Table, condition: &Condition) -> bool {
    table
        .column_by_id(condition.column)
        .is_some_and(|c| matches!(c.kind, ColumnKind::PartitionKey | ColumnKind::Static))
}

fn holds(
    table: &Table,
    condition: &Condition,
    key: &DecoratedKey,
    static_row: Option<&Row>,
    row: Option<&Row>,
    now_seconds: i64,
) -> bool {
    let Some(column) = table.column_by_id(condition.column) else { return false };
    let row = match column.kind {
        ColumnKind::PartitionKey => {
            let components = key.components(table.partition_key().len());
            let component = components.get(column.position);
            return component.is_some_and(|value| value_holds(&column.ty, condition, value));
        }
        ColumnKind::Clustering => {
            let Some(row) = row else { return false };
            let values = clustering::values(table, row.position(), row.raw_clustering());
            return value_holds(&column.ty, condition, &values[column.position]);
        }
        ColumnKind::Static => static_row,
        ColumnKind::Regular => row,
    };
    let Some(row) = row else { return false };
    if column.ty.is_multi_cell() {
        let cells = row.complex_cells(column.id).filter(|cell| cell.is_live(now_seconds));
        return cells_hold(&column.ty, condition, cells);
    }
    row.cell(column.id)
        .filter(|cell| cell.is_live(now_seconds))
        .is_some_and(|cell| value_holds(&column.ty, condition, cell.value))
}

/// A condition on one value: of a key or simple column, frozen collections included.
fn value_holds(ty: &CqlType, condition: &Condition, value: &[u8]) -> bool {
    match (condition.operator, ty, &condition.map_key) {
        (operator, CqlType::Map { key, value: ty, .. }, Some(wanted)) => {
            let Ok(entries) = codec::entries(value) else { return false };
            entries.iter().any(|entry| match entry {
                (Some(k), Some(v)) => {
                    order::compare(key, k, wanted).is_eq()
                        && compares(ty, operator, v, &condition.values)
                }
                _ => false,
            })
        }
        (Operator::Contains, CqlType::List { element, .. } | CqlType::Set { element, .. }, _) => {
            let Ok(elements) = codec::elements(value) else { return false };
            elements.iter().flatten().any(|e| compares(element, Operator::Eq, e, &condition.values))
        }
        (Operator::Contains, CqlType::Map { value: ty, .. }, _) => {
            let Ok(entries) = codec::entries(value) else { return false };
            let mut values = entries.iter().filter_map(|(_, v)| *v);
            values.any(|v| compares(ty, Operator::Eq, v, &condition.values))
        }
        (Operator::ContainsKey, CqlType::Map { key, .. }, _) => {
            let Ok(entries) = codec::entries(value) else { return false };
            let mut keys = entries.iter().filter_map(|(k, _)| *k);
            keys.any(|k| compares(key, Operator::Eq, k, &condition.values))
        }
        (operator, _, _) => compares(ty, operator, value, &condition.values),
    }
}

/// A condition on a column with a cell for each element.
fn cells_hold<'a>(
    ty: &CqlType,
    condition: &Condition,
    cells: impl Iterator<Item = CellRef<'a>>,
) -> bool {
    let mut cells = cells.filter_map(|cell| cell.path.map(|path| (path.value, cell.value)));
    match (condition.operator, ty, &condition.map_key) {
        (operator, CqlType::Map { key, value: ty, .. }, Some(wanted)) => cells.any(|(k, v)| {
            order::compare(key, k, wanted).is_eq() && compares(ty, operator, v, &condition.values)
        }),
        (Operator::Contains, CqlType::Set { element, .. }, _) => {
            cells.any(|(e, _)| compares(element, Operator::Eq, e, &condition.values))
        }
        (
            Operator::Contains,
            CqlType::List { element, .. } | CqlType::Map { value: element, .. },
            _,
        ) => cells.any(|(_, v)| compares(element, Operator::Eq, v, &condition.values)),
        (Operator::ContainsKey, CqlType::Map { key, .. }, _) => {
            cells.any(|(k, _)| compares(key, Operator::Eq, k, &condition.values))
        }
        (operator, _, _) => whole(ty, cells)
            .is_some_and(|value| compares(&ty.freeze(), operator, &value, &condition.values)),
    }
}

/// The bytes of a collection or UDT made of its cells; `None` if it has none (it is null).
fn whole<'a>(ty: &CqlType, cells: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Option<Vec<u8>> {
    let cells: Vec<_> = cells.collect();
    if cells.is_empty() {
        return None;
    }
    Some(match ty {
        CqlType::List { .. } => codec::write_elements(cells.iter().map(|(_, v)| *v)),
        CqlType::Set { .. } => codec::write_elements(cells.iter().map(|(k, _)| *k)),
        CqlType::Map { .. } => codec::write_entries(cells.iter().copied()),
        CqlType::Udt { definition, .. } => {
            let field = |index: usize| {
                let wanted = u16::try_from(index).ok()?.to_be_bytes();
                cells.iter().find(|(path, _)| *path == wanted).map(|(_, v)| *v)
            };
            codec::write_components((0..definition.fields.len()).map(field))
        }
        _ => return None,
    })
}

fn compares(ty: &CqlType, operator: Operator, value: &[u8], wanted: &[Vec<u8>]) -> bool {
    let is = |accept: fn(Ordering) -> bool| {
        wanted.first().is_some_and(|wanted| accept(order::compare(ty, value, wanted)))
    };
    match operator {
        Operator::Eq | Operator::Contains | Operator::ContainsKey => is(Ordering::is_eq),
        Operator::Lt => is(Ordering::is_lt),
        Operator::Lte => is(Ordering::is_le),
        Operator::Gt => is(Ordering::is_gt),
        Operator::Gte => is(Ordering::is_ge),
        Operator::In => wanted.iter().any(|wanted| order::compare(ty, value, wanted).is_eq()),
    }
}
