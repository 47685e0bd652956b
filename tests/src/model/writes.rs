//! Applying writes to the model: each statement becomes cells and deletions that are added, never merged.

use super::statement::{Change, Relation, Target, Using, Write};
use super::store::{Cell, Deletion, Path, Row, Store};
use super::value::{Term, Type, V};

/// The times of one write.
#[derive(Clone, Copy, Debug)]
struct Times {
    timestamp_micros: i64,
    written_seconds: i64,
    expires_seconds: Option<i64>,
}

impl Times {
    fn cell(self, value: Option<Vec<u8>>) -> Cell {
        let Times { timestamp_micros, written_seconds, expires_seconds } = self;
        let expires_seconds = expires_seconds.filter(|_| value.is_some());
        Cell { timestamp_micros, expires_seconds, value, written_seconds, forgotten: false }
    }

    /// A deletion of what is not younger than so many microseconds before the write.
    fn deletion(self, before_micros: i64) -> Deletion {
        Deletion {
            timestamp_micros: self.timestamp_micros - before_micros,
            written_seconds: self.written_seconds,
            forgotten: false,
        }
    }
}

impl Store {
    fn times(&self, using: &Using, timestamp_micros: i64) -> Times {
        let ttl = using.ttl_seconds.unwrap_or(self.schema.default_ttl_seconds);
        Times {
            timestamp_micros: using.timestamp_micros.unwrap_or(timestamp_micros),
            written_seconds: self.now_seconds,
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
                    self.mark(key, clustering, times.cell(Some(Vec::new())));
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
                    partition.deletions.push((rows, times.deletion(0)));
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

    fn mark(&mut self, key: &[V], clustering: &[V], marker: Cell) {
        self.beyond_the_model |= self.marker_is_beyond(key, clustering, &marker);
        self.row(key, Some(clustering)).markers.push(marker);
    }

    fn put(&mut self, key: &[V], clustering: &[V], column: usize, path: Path, cell: Cell) {
        self.beyond_the_model |= self.is_beyond(key, clustering, column, &path, &cell);
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
        let deletion = (column, times.deletion(1));
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
                let deletion = (*column, times.deletion(0));
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
