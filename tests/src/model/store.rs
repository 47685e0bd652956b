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

use super::statement::{Change, Relation, Schema, Target, Using, Write};
use super::value::{Term, Type, V, collection, sized};
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

    fn is_live(&self, now_seconds: i64) -> bool {
        self.value.is_some() && self.expires_seconds.is_none_or(|end| now_seconds < end)
    }
}

/// A row, or the static row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Row markers, as cells with an empty value.
    markers: Vec<Cell>,
    /// Deletions of whole columns: column, timestamp.
    column_deletions: Vec<(usize, i64)>,
    cells: BTreeMap<(usize, Path), Vec<Cell>>,
}

/// A partition.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// Rows that are deleted (`None`: all, statics too), and by which timestamp.
    deletions: Vec<(Option<Vec<Relation>>, i64)>,
    statics: Row,
    /// By clustering values.
    pub rows: BTreeMap<Vec<V>, Row>,
}

fn winner(cells: &[Cell], deleted: i64) -> Option<&Cell> {
    cells.iter().filter(|cell| cell.timestamp_micros > deleted).max_by_key(|cell| cell.rank())
}

impl Row {
    /// The live cells of a column, in order of path.
    fn live(&self, column: usize, deleted: i64, now_seconds: i64) -> Vec<(&Path, &Cell)> {
        let own = self.column_deletions.iter().filter(|(of, _)| *of == column).map(|(_, t)| *t);
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
    /// The last deletion of a row (`None`: of statics).
    fn deleted(&self, clustering: Option<&[V]>) -> i64 {
        let covering = self.deletions.iter().filter(|(rows, _)| match (rows, clustering) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rows), Some(clustering)) => rows.iter().all(|r| r.holds(clustering)),
        });
        covering.map(|(_, timestamp)| *timestamp).max().unwrap_or(i64::MIN)
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
    places: i64,
}

/// The times of one write.
#[derive(Clone, Copy, Debug)]
struct Times {
    timestamp_micros: i64,
    expires_seconds: Option<i64>,
}

impl Times {
    fn cell(self, value: Option<Vec<u8>>) -> Cell {
        let expires_seconds = self.expires_seconds.filter(|_| value.is_some());
        Cell { timestamp_micros: self.timestamp_micros, expires_seconds, value }
    }
}

impl Store {
    /// An empty table.
    pub fn new(schema: Schema, now_seconds: i64) -> Store {
        Store { schema, partitions: BTreeMap::new(), now_seconds, places: 0 }
    }

    fn times(&self, using: &Using, timestamp_micros: i64) -> Times {
        let ttl = using.ttl_seconds.unwrap_or(self.schema.default_ttl_seconds);
        Times {
            timestamp_micros: using.timestamp_micros.unwrap_or(timestamp_micros),
            expires_seconds: (ttl > 0).then(|| self.now_seconds + i64::from(ttl)),
        }
    }

    /// Applies a write whose statement names no timestamp of its own, or Cassandra's refusal.
    ///
    /// # Errors
    /// Its text: list indexes that do not fit.
    pub fn write(&mut self, write: &Write, timestamp_micros: i64) -> Result<(), String> {
        match write {
            Write::Insert { key, clustering, values, using } => {
                let times = self.times(using, timestamp_micros);
                if !clustering.is_empty() || self.schema.clustering.is_empty() {
                    self.row(key, Some(clustering)).markers.push(times.cell(Some(Vec::new())));
                }
                for (column, term) in values {
                    self.assign(key, clustering, *column, term, times);
                }
            }
            Write::Update { key, clustering, changes, using } => {
                let times = self.times(using, timestamp_micros);
                // All lists are read before anything is written.
                let before = self.clone();
                for change in changes {
                    self.change(&before, key, clustering, change, times)?;
                }
            }
            Write::Delete { key, rows, targets, using } => {
                let times =
                    self.times(&Using { ttl_seconds: Some(0), ..using.clone() }, timestamp_micros);
                if targets.is_empty() {
                    let rows = (!rows.is_empty()).then(|| rows.clone());
                    let partition = self.partitions.entry(key.clone()).or_default();
                    partition.deletions.push((rows, times.timestamp_micros));
                }
                let clustering: Vec<V> = rows
                    .iter()
                    .filter_map(|r| match r {
                        Relation::Eq(_, v) => Some(v.clone()),
                        _ => None,
                    })
                    .collect();
                for target in targets {
                    self.delete(key, &clustering, target, times)?;
                }
            }
        }
        Ok(())
    }

    fn row(&mut self, key: &[V], clustering: Option<&[V]>) -> &mut Row {
        let partition = self.partitions.entry(key.to_vec()).or_default();
        match clustering {
            None => &mut partition.statics,
            Some(clustering) => partition.rows.entry(clustering.to_vec()).or_default(),
        }
    }

    /// The row where a column of a statement's row lies.
    fn home(&mut self, key: &[V], clustering: &[V], column: usize) -> &mut Row {
        let is_static = self.schema.columns[column].is_static;
        self.row(key, (!is_static).then_some(clustering))
    }

    fn put(&mut self, key: &[V], clustering: &[V], column: usize, path: Path, cell: Cell) {
        let row = self.home(key, clustering, column);
        row.cells.entry((column, path)).or_default().push(cell);
    }

    fn assign(&mut self, key: &[V], clustering: &[V], column: usize, term: &Term, times: Times) {
        if *term == Term::Unset {
            return;
        }
        if !self.schema.columns[column].ty.multi_cell() {
            return self.put(key, clustering, column, Path::Only, times.cell(term.bytes()));
        }
        // Everything older goes, one microsecond before what is written.
        let deletion = (column, times.timestamp_micros - 1);
        self.home(key, clustering, column).column_deletions.push(deletion);
        self.add(key, clustering, column, term, times);
    }

    fn add(&mut self, key: &[V], clustering: &[V], column: usize, term: &Term, times: Times) {
        let cells: Vec<(Path, Vec<u8>)> = match term {
            Term::Null | Term::Unset | Term::One(_) => Vec::new(),
            Term::Set(s) => s.iter().map(|v| (Path::Key(v.clone()), Vec::new())).collect(),
            Term::Map(m) => m.iter().map(|(k, v)| (Path::Key(k.clone()), v.bytes())).collect(),
            Term::List(l) => {
                let appended = l.iter().map(|v| {
                    self.places += 1;
                    (Path::Place(self.places), v.bytes())
                });
                appended.collect()
            }
            Term::Udt(fields) => {
                let set = fields.iter().enumerate().filter_map(|(n, v)| Some((n, v.as_ref()?)));
                set.map(|(n, v)| (Path::Field(n), v.bytes())).collect()
            }
        };
        for (path, value) in cells {
            self.put(key, clustering, column, path, times.cell(Some(value)));
        }
    }

    /// The elements of a list as it was: their places and bytes.
    fn list(&self, key: &[V], clustering: &[V], column: usize) -> Vec<(Path, Option<Vec<u8>>)> {
        let Some(partition) = self.partitions.get(key) else { return Vec::new() };
        let (row, deleted) = if self.schema.columns[column].is_static {
            (Some(&partition.statics), partition.deleted(None))
        } else {
            (partition.rows.get(clustering), partition.deleted(Some(clustering)))
        };
        let cells = row.map_or(Vec::new(), |row| row.live(column, deleted, self.now_seconds));
        cells.into_iter().map(|(path, cell)| (path.clone(), cell.value.clone())).collect()
    }

    fn place(
        &self,
        key: &[V],
        clustering: &[V],
        column: usize,
        index: usize,
        wish: &str,
    ) -> Result<Path, String> {
        let list = self.list(key, clustering, column);
        match list.get(index) {
            Some((path, _)) => Ok(path.clone()),
            None if list.is_empty() => Err(format!("Attempted to {wish} a list which is null")),
            None => Err(format!("List index {index} out of bound, list has size {}", list.len())),
        }
    }

    fn change(
        &mut self,
        before: &Store,
        key: &[V],
        clustering: &[V],
        change: &Change,
        times: Times,
    ) -> Result<(), String> {
        match change {
            Change::Set(column, term) => self.assign(key, clustering, *column, term, times),
            Change::Add(column, term) => self.add(key, clustering, *column, term, times),
            Change::Prepend(column, values) => {
                for v in values.iter().rev() {
                    self.places += 1;
                    let (path, cell) = (Path::Place(-self.places), times.cell(Some(v.bytes())));
                    self.put(key, clustering, *column, path, cell);
                }
            }
            Change::Remove(column, values) if self.schema.columns[*column].ty == Type::List => {
                let values: Vec<_> = values.iter().map(|v| Some(v.bytes())).collect();
                for (path, value) in before.list(key, clustering, *column) {
                    if values.contains(&value) {
                        self.put(key, clustering, *column, path, times.cell(None));
                    }
                }
            }
            Change::Remove(column, values) => {
                for v in values {
                    self.put(key, clustering, *column, Path::Key(v.clone()), times.cell(None));
                }
            }
            Change::Put(column, k, v) => {
                let cell = times.cell(v.as_ref().map(V::bytes));
                self.put(key, clustering, *column, Path::Key(k.clone()), cell);
            }
            Change::Index(column, index, v) => {
                let path = before.place(key, clustering, *column, *index, "set an element on")?;
                self.put(key, clustering, *column, path, times.cell(Some(v.bytes())));
            }
            Change::Field(column, field, v) => {
                let cell = times.cell(v.as_ref().map(V::bytes));
                self.put(key, clustering, *column, Path::Field(*field), cell);
            }
        }
        Ok(())
    }

    fn delete(
        &mut self,
        key: &[V],
        clustering: &[V],
        target: &Target,
        times: Times,
    ) -> Result<(), String> {
        match target {
            Target::Column(column) if self.schema.columns[*column].ty.multi_cell() => {
                let deletion = (*column, times.timestamp_micros);
                self.home(key, clustering, *column).column_deletions.push(deletion);
            }
            Target::Column(column) => {
                self.put(key, clustering, *column, Path::Only, times.cell(None));
            }
            Target::Element(column, v) => {
                self.put(key, clustering, *column, Path::Key(v.clone()), times.cell(None));
            }
            Target::Index(column, index) => {
                let wish = "delete an element from";
                let path = self.place(key, clustering, *column, *index, wish)?;
                self.put(key, clustering, *column, path, times.cell(None));
            }
            Target::Field(column, field) => {
                self.put(key, clustering, *column, Path::Field(*field), times.cell(None));
            }
        }
        Ok(())
    }
}
