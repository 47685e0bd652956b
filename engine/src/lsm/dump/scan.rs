//! What can only be known of an SSTable by reading all of it: `sstablemetadata -s`.
//!
//! Sizes are Cassandra's `dataSize` of each piece, so that they are those of the same data there.

use crate::error::Error;
use crate::lsm::sstable::SsTable;
use crate::lsm::sstable::walk::{Content, Walk};
use crate::row::DecoratedKey;
use crate::row::cell::CellRef;
use crate::row::clustering::values;
use crate::row::data::Row;
use crate::schema::{ColumnId, Table};
use std::collections::BTreeSet;

/// Partitions that a list of leaders has at most.
const LEADERS: usize = 5;

/// Counts over a whole SSTable.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) partitions: u64,
    /// Static rows too.
    pub(super) rows: u64,
    /// Deletions of partitions and of cells of rows, and ends of ranges.
    pub(super) tombstones: u64,
    /// Cells of rows that are not static.
    pub(super) cells: u64,
    /// Columns with a cell or a deletion.
    pub(super) columns: BTreeSet<ColumnId>,
    pub(super) widest: Leaders,
    pub(super) largest: Leaders,
    pub(super) most_tombstones: Leaders,
}

/// The partitions with the greatest numbers.
#[derive(Debug, Default)]
pub(super) struct Leaders {
    held: Vec<(u64, DecoratedKey)>,
}

impl Leaders {
    fn offer(&mut self, number: u64, key: &DecoratedKey) {
        // Among equals the first stay in front.
        let at = self.held.partition_point(|(held, _)| *held >= number);
        if at < LEADERS {
            self.held.insert(at, (number, key.clone()));
            self.held.truncate(LEADERS);
        }
    }

    /// Greatest first.
    pub(super) fn sorted(&self) -> Vec<(u64, &DecoratedKey)> {
        self.held.iter().map(|(number, key)| (*number, key)).collect()
    }
}

/// The partition at hand.
#[derive(Debug, Default)]
struct Partition {
    rows: u64,
    bytes: u64,
    tombstones: u64,
}

impl Scan {
    /// Reads all of the SSTable.
    pub(super) fn of(sstable: &SsTable, table: &Table) -> Result<Scan, Error> {
        let mut scan = Scan::default();
        let mut walk = Walk::new(sstable);
        let mut open: Option<(DecoratedKey, Partition)> = None;
        while let Some(step) = walk.next()? {
            match (step.content, &mut open) {
                (Content::Partition { key, deletion, static_row }, _) => {
                    scan.end(open.take());
                    let mut partition = Partition::default();
                    if let Some(row) = static_row {
                        partition.rows += 1;
                        partition.bytes += row_bytes(&row, table);
                        scan.see_columns(&row);
                    }
                    partition.tombstones += u64::from(!deletion.is_live());
                    open = Some((key, partition));
                }
                (Content::Row(row), Some((_, partition))) => {
                    partition.rows += 1;
                    partition.bytes += row_bytes(&row, table);
                    partition.tombstones +=
                        row.cells().filter(|cell| cell.is_tombstone()).count() as u64;
                    scan.cells += row.cells().count() as u64;
                    scan.see_columns(&row);
                }
                (Content::Marker(_), Some((_, partition))) => partition.tombstones += 1,
                (Content::Row(_) | Content::Marker(_), None) => {}
            }
        }
        scan.end(open);
        Ok(scan)
    }

    fn see_columns(&mut self, row: &Row) {
        for id in row.cells().map(|c| c.column).chain(row.complex_deletions().map(|(id, _)| id)) {
            self.columns.insert(id);
        }
    }

    fn end(&mut self, partition: Option<(DecoratedKey, Partition)>) {
        let Some((key, Partition { rows, bytes, tombstones })) = partition else { return };
        self.partitions += 1;
        self.rows += rows;
        self.tombstones += tombstones;
        self.widest.offer(rows, &key);
        self.largest.offer(bytes, &key);
        self.most_tombstones.offer(tombstones, &key);
    }
}

/// A deletion's timestamp and second.
const DELETION_BYTES: u64 = 12;

/// Cassandra's `Row.dataSize`.
fn row_bytes(row: &Row, table: &Table) -> u64 {
    let clustering: u64 = match row.is_static() {
        true => 0,
        false => values(table, row.position(), row.raw_clustering())
            .iter()
            .map(|value| value.len() as u64)
            .sum(),
    };
    let expires = row.marker().is_some_and(|marker| marker.ttl_seconds != 0);
    let marker = if expires { 8 + 4 + 8 } else { 8 };
    // With a flag that says whether the deletion can be shadowed.
    let deletion = DELETION_BYTES + 1;
    let mut columns = BTreeSet::new();
    let mut cells = 0;
    for cell in row.cells() {
        if cell.path.is_some() {
            columns.insert(cell.column);
        }
        cells += cell_bytes(&cell);
    }
    columns.extend(row.complex_deletions().map(|(id, _)| id));
    clustering + marker + deletion + cells + DELETION_BYTES * columns.len() as u64
}

/// Timestamp, TTL, deletion time, value and path.
fn cell_bytes(cell: &CellRef<'_>) -> u64 {
    let path = cell.path.map_or(0, |path| path.value.len());
    (8 + 4 + 8 + cell.value.len() + path) as u64
}
