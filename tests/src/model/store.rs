//! The model's table: everything ever written is kept, and a read works out what holds.
//!
//! ```text
//! partition (1)   deletions: everything @5; c0 < 3 @7
//!                 row (2):   marker @6          column v0: 10 @8, tombstone @8, 20 @9 until second 40
//! ```
//!
//! A read at second 30 sees v0 = 20: of the cells later than every deletion that covers them, the greatest
//! by (timestamp, plain < expiring < tombstone, end, value). At second 40 it sees null, and no row: the marker is
//! older than the deletion of `c0 < 3`. Nothing is ever merged or dropped, so there is little to get wrong.

use super::statement::{Relation, Schema};
use super::value::{Type, V, collection, sized};
use std::collections::BTreeMap;

/// Where a cell lies in its column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// The one cell of a column.
    Only,
    /// Set element or map key.
    Key(V),
    /// Place in a list: later appends are greater, later prepends smaller.
    Place(i64),
    /// Field of a user type.
    Field(usize),
}

/// A cell; without value it is a tombstone.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Microseconds.
    pub timestamp_micros: i64,
    /// The second from which it is gone; only with TTL.
    pub expires_seconds: Option<i64>,
    /// Wire bytes.
    pub value: Option<Vec<u8>>,
    /// The second it was written in: what gc_grace counts from.
    pub(super) written_seconds: i64,
    /// It may be gone from the files, and what it hid with it (see [`super::admit`]).
    pub(super) forgotten: bool,
}

impl Cell {
    /// What decides between two cells (sheet B.2): the greater wins.
    fn rank(&self) -> (i64, u8, Option<i64>, &Option<Vec<u8>>) {
        let class = match (&self.value, self.expires_seconds) {
            (None, _) => 2,
            (Some(_), Some(_)) => 1,
            (Some(_), None) => 0,
        };
        (self.timestamp_micros, class, self.expires_seconds, &self.value)
    }

    pub(super) fn is_live(&self, now_seconds: i64) -> bool {
        self.value.is_some() && self.expires_seconds.is_none_or(|end| now_seconds < end)
    }
}

/// A deletion of more than one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deletion {
    pub(super) timestamp_micros: i64,
    pub(super) written_seconds: i64,
    /// As [`Cell::forgotten`].
    pub(super) forgotten: bool,
}

/// A row, or the static row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Row markers, as cells with an empty value.
    pub(super) markers: Vec<Cell>,
    /// Deletions of whole columns.
    pub(super) column_deletions: Vec<(usize, Deletion)>,
    pub(super) cells: BTreeMap<(usize, Path), Vec<Cell>>,
}

/// A partition.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// Rows that are deleted (`None`: all, statics too), and when.
    pub(super) deletions: Vec<(Option<Vec<Relation>>, Deletion)>,
    pub(super) statics: Row,
    /// By clustering values.
    pub rows: BTreeMap<Vec<V>, Row>,
}

fn winner(cells: &[Cell], deleted: i64) -> Option<&Cell> {
    cells.iter().filter(|cell| cell.timestamp_micros > deleted).max_by_key(|cell| cell.rank())
}

impl Row {
    /// The live cells of a column, in order of path.
    pub(super) fn live(
        &self,
        column: usize,
        deleted: i64,
        now_seconds: i64,
    ) -> Vec<(&Path, &Cell)> {
        let own = self.column_deletions.iter().filter(|(of, _)| *of == column);
        let own = own.map(|(_, deletion)| deletion.timestamp_micros);
        let deleted = own.fold(deleted, i64::max);
        let cells = self.cells.iter().filter(|((of, _), _)| *of == column);
        let winners = cells.filter_map(|((_, p), cells)| Some((p, winner(cells, deleted)?)));
        winners.filter(|(_, cell)| cell.is_live(now_seconds)).collect()
    }

    fn exists(&self, columns: usize, deleted: i64, now_seconds: i64) -> bool {
        winner(&self.markers, deleted).is_some_and(|marker| marker.is_live(now_seconds))
            || (0..columns).any(|column| !self.live(column, deleted, now_seconds).is_empty())
    }
}

/// A row as a read sees it.
#[derive(Clone, Debug)]
pub struct Seen<'p> {
    /// Clustering; `None` for statics without a row.
    pub clustering: Option<&'p Vec<V>>,
    partition: &'p Partition,
    row: Option<&'p Row>,
    deleted: i64,
}

impl Partition {
    /// The deletions that cover a row (`None`: the statics).
    pub(super) fn covering(&self, clustering: Option<&[V]>) -> impl Iterator<Item = &Deletion> {
        let covering = self.deletions.iter().filter(move |(rows, _)| match (rows, clustering) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rows), Some(clustering)) => rows.iter().all(|r| r.holds(clustering)),
        });
        covering.map(|(_, deletion)| deletion)
    }

    /// The last deletion of a row (`None`: of statics).
    pub(super) fn deleted(&self, clustering: Option<&[V]>) -> i64 {
        self.covering(clustering).map(|d| d.timestamp_micros).max().unwrap_or(i64::MIN)
    }

    /// The rows that exist, in order of clustering values.
    pub fn existing(&self, schema: &Schema, now_seconds: i64) -> Vec<Seen<'_>> {
        let seen = self.rows.iter().map(|(clustering, row)| Seen {
            clustering: Some(clustering),
            partition: self,
            row: Some(row),
            deleted: self.deleted(Some(clustering)),
        });
        let columns = schema.columns.len();
        seen.filter(|s| s.row.is_some_and(|row| row.exists(columns, s.deleted, now_seconds)))
            .collect()
    }

    /// The static row alone, if any static has a value.
    pub fn statics(&self, schema: &Schema, now_seconds: i64) -> Option<Seen<'_>> {
        let alive = self.statics.exists(schema.columns.len(), self.deleted(None), now_seconds);
        alive.then_some(Seen { clustering: None, partition: self, row: None, deleted: i64::MIN })
    }
}

impl Seen<'_> {
    fn live(&self, schema: &Schema, column: usize, now_seconds: i64) -> Vec<(&Path, &Cell)> {
        if schema.columns[column].is_static {
            let deleted = self.partition.deleted(None);
            return self.partition.statics.live(column, deleted, now_seconds);
        }
        self.row.map_or(Vec::new(), |row| row.live(column, self.deleted, now_seconds))
    }

    /// Wire bytes of a column.
    pub fn value(&self, schema: &Schema, column: usize, now_seconds: i64) -> Option<Vec<u8>> {
        let cells = self.live(schema, column, now_seconds);
        if cells.is_empty() {
            return None;
        }
        let key = |path: &Path| match path {
            Path::Key(v) => v.bytes(),
            Path::Only | Path::Place(_) | Path::Field(_) => Vec::new(),
        };
        let value = |cell: &Cell| cell.value.clone().expect("live cells have values");
        let encode =
            |elements: Vec<Vec<u8>>| collection(cells.len(), elements.iter().map(Vec::as_slice));
        Some(match schema.columns[column].ty {
            Type::Int | Type::Text | Type::Frozen => value(cells[0].1),
            Type::Set => encode(cells.iter().map(|(p, _)| key(p)).collect()),
            Type::List => encode(cells.iter().map(|(_, c)| value(c)).collect()),
            Type::Map => encode(cells.iter().flat_map(|(p, c)| [key(p), value(c)]).collect()),
            Type::Udt => {
                let field = |n: usize| cells.iter().find(|(p, _)| **p == Path::Field(n));
                let sized = |n| sized(field(n).and_then(|(_, c)| c.value.as_deref()));
                [sized(0), sized(1)].concat()
            }
        })
    }

    /// The cell of a column of one cell.
    pub fn cell(&self, schema: &Schema, column: usize, now_seconds: i64) -> Option<Cell> {
        self.live(schema, column, now_seconds).first().map(|(_, cell)| (*cell).clone())
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Store {
    /// What it is a table of.
    pub schema: Schema,
    /// Partitions by key.
    pub partitions: BTreeMap<Vec<V>, Partition>,
    /// The clock, seconds.
    pub now_seconds: i64,
    /// Files are merged, so that what nothing needs any more goes (see [`super::admit`]).
    pub compacts: bool,
    /// A write came that [`super::admit`] does not admit.
    pub(super) beyond_the_model: bool,
    pub(super) places: i64,
}

impl Store {
    /// An empty table.
    pub fn new(schema: Schema, now_seconds: i64, compacts: bool) -> Store {
        let partitions = BTreeMap::new();
        Store { schema, partitions, now_seconds, compacts, beyond_the_model: false, places: 0 }
    }
}
