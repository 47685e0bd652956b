//! A write of one partition of one table.

use super::clustering::Bound;
use super::data::Row;
use super::deletion::DeletionTime;
use super::key::DecoratedKey;
use crate::schema::{Table, TableId};
use smallvec::SmallVec;
use std::sync::Arc;

/// All that one statement (or several of a batch) writes to one partition of one table; applied whole.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Table, as the statement saw it.
    pub table: Arc<Table>,
    /// Partition.
    pub key: DecoratedKey,
    /// Deletion of the partition; [`DeletionTime::LIVE`] if none.
    pub deletion: DeletionTime,
    /// Static cells.
    pub static_row: Option<Row>,
    /// Rows in any order; several of one position are merged.
    pub rows: SmallVec<[Row; 1]>,
    /// Range deletions in any order.
    pub ranges: Vec<RangeDeletion>,
}

/// What a statement writes: one mutation for nearly all.
pub type Mutations = SmallVec<[Mutation; 1]>;

/// A deletion of all rows between two bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDeletion {
    /// Where it begins.
    pub start: Bound,
    /// Where it ends.
    pub end: Bound,
    /// What it deletes.
    pub deletion: DeletionTime,
}

impl Mutation {
    /// A mutation that does nothing yet.
    pub fn new(table: Arc<Table>, key: DecoratedKey) -> Mutation {
        Mutation {
            table,
            key,
            deletion: DeletionTime::LIVE,
            static_row: None,
            rows: SmallVec::new(),
            ranges: Vec::new(),
        }
    }

    /// Identity of the table.
    pub fn table_id(&self) -> TableId {
        self.table.id
    }

    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.deletion.is_live()
            && self.static_row.is_none()
            && self.rows.is_empty()
            && self.ranges.is_empty()
    }
}
