//! What may be found after a crash: what was promised, and how far what was not promised may reach.
//!
//! ```text
//! operations of t0     w1  w2  w3 | w4  w5 | w6            | promised: the table holds at least these
//!                            acknowledged^   ^in flight    found: the rows after 3, 4, 5 or 6 of them, nothing else
//! ```
//!
//! A table's writes lie in the commit log in their order, and the log loses its end only; so what is found of a table
//! is what it was after some number of its operations: not less than promised, not more than were tried. Tables are
//! apart, since one may have been flushed and another not. So is the schema, which is promised with its
//! acknowledgement in every mode. A table that was dropped and made again is another one.

use super::story::{Change, Op, Rows, Shape};
use std::collections::BTreeMap;

/// What has been done so far.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Tables by name, the last that bore it at the end.
    tables: BTreeMap<String, Vec<TableLedger>>,
    /// Shapes of the schema from the first on.
    shapes: Vec<Shape>,
    /// Changes of the schema that were acknowledged.
    shapes_promised: usize,
}

#[derive(Clone, Debug, Default)]
struct TableLedger {
    /// Which shape has it first.
    made_by: usize,
    /// Changes that were tried, and the second each was acknowledged in.
    changes: Vec<(Change, Option<i64>)>,
    /// So many of them survive everything.
    promised: usize,
}

impl Default for Ledger {
    /// Before anything was done: there is a schema, without tables.
    fn default() -> Ledger {
        Ledger { tables: BTreeMap::new(), shapes: vec![Shape::default()], shapes_promised: 0 }
    }
}

impl Ledger {
    /// Notes an operation and, if it was acknowledged, the second of the cluster's clock.
    pub fn note(&mut self, op: &Op, acknowledged: Option<i64>) {
        match op {
            Op::Write(writes) => {
                for (name, change) in writes {
                    let table = self.last(name);
                    table.changes.push((change.clone(), acknowledged));
                    // Rows are taken away on disk, whatever the log's mode.
                    if matches!(change, Change::Truncate) && acknowledged.is_some() {
                        table.promised = table.changes.len();
                    }
                }
            }
            Op::Flush(which) if acknowledged.is_some() => {
                for (name, tables) in &mut self.tables {
                    let Some(table) = tables.last_mut() else { continue };
                    if which.as_ref().is_none_or(|which| which == name) {
                        table.promised = table.changes.len();
                    }
                }
            }
            Op::Schema(_, shape) => self.reshape(shape, acknowledged.is_some()),
            Op::Flush(_) | Op::Compact | Op::Advance(_) => {}
        }
    }

    fn last(&mut self, name: &str) -> &mut TableLedger {
        let tables = self.tables.get_mut(name).and_then(|tables| tables.last_mut());
        tables.expect("a story writes to tables that it made")
    }

    fn reshape(&mut self, shape: &Shape, acknowledged: bool) {
        let before = self.shapes.last().cloned().unwrap_or_default();
        for name in shape.keys().filter(|name| !before.contains_key(*name)) {
            let made_by = self.shapes.len();
            let table = TableLedger { made_by, ..TableLedger::default() };
            self.tables.entry(name.clone()).or_default().push(table);
        }
        self.shapes.push(shape.clone());
        if acknowledged {
            self.shapes_promised = self.shapes.len() - 1;
        }
    }

    /// Everything acknowledged is promised: the process was killed, or each write is synced.
    pub fn promise_all(&mut self) {
        self.promise_until(i64::MAX);
    }

    /// What was acknowledged in this second of the cluster's clock, or before, is promised.
    pub fn promise_until(&mut self, second: i64) {
        for table in self.tables.values_mut().flatten() {
            let kept = |(_, at): &(Change, Option<i64>)| at.is_some_and(|at| at <= second);
            let last = table.changes.iter().rposition(kept).map_or(0, |last| last + 1);
            table.promised = table.promised.max(last);
        }
    }

    /// The same of which nothing survives for sure but the schema.
    pub fn with_nothing_promised(&self) -> Ledger {
        let mut ledger = self.clone();
        ledger.tables.values_mut().flatten().for_each(|table| table.promised = 0);
        ledger
    }

    /// Holds what was found against it. From now on what was found is what was done.
    ///
    /// # Errors
    /// What is missing or was never written.
    pub fn settle(
        &mut self,
        shape: &Shape,
        mut rows: impl FnMut(&str) -> Result<Rows, String>,
        now_seconds: i64,
    ) -> Result<(), String> {
        self.settle_some(shape, |table| rows(table).map(Some), now_seconds)
    }

    /// The same where tables that cannot be read (`None`) are passed over.
    ///
    /// # Errors
    /// Those of [`Ledger::settle`].
    pub fn settle_some(
        &mut self,
        shape: &Shape,
        mut rows: impl FnMut(&str) -> Result<Option<Rows>, String>,
        now_seconds: i64,
    ) -> Result<(), String> {
        let from = self.shapes_promised;
        let candidates = self.shapes.iter().enumerate().skip(from);
        let at = candidates.filter(|(_, s)| *s == shape).map(|(n, _)| n).next_back().ok_or_else(
            || format!("the schema is none from {from} on: {shape:?}\n{:#?}", &self.shapes[from..]),
        )?;
        for name in shape.keys() {
            let tables = self.tables.get_mut(name).expect("a shape's tables are known");
            tables.retain(|table| table.made_by <= at);
            let table = tables.last_mut().expect("a shape's tables are known");
            if let Some(rows) = rows(name)? {
                table.settle(name, &rows, now_seconds)?;
            }
        }
        self.tables.retain(|name, _| shape.contains_key(name));
        self.shapes = vec![Shape::default(), shape.clone()];
        self.shapes_promised = 1;
        self.tables.values_mut().flatten().for_each(|table| table.made_by = 1);
        Ok(())
    }
}

impl TableLedger {
    fn settle(&mut self, name: &str, found: &Rows, now_seconds: i64) -> Result<(), String> {
        let mut rows = Rows::default();
        let mut states = vec![rows.clone()];
        for (change, _) in &self.changes {
            change.apply(&mut rows);
            states.push(rows.clone());
        }
        // The latest that fits: a later delete of nothing leaves the same rows.
        let fits = states.iter().rposition(|state| state == found).filter(|n| *n >= self.promised);
        let Some(count) = fits else {
            let promised = &states[self.promised];
            return Err(format!(
                "{name}: promised {} of {} changes\n  found    {found:?}\n  promised {promised:?}\n  changes {:#?}",
                self.promised,
                self.changes.len(),
                &self.changes[self.promised.min(self.changes.len())..]
            ));
        };
        self.changes.truncate(count);
        // What was read once is as good as acknowledged: it must not go later.
        self.changes.iter_mut().for_each(|(_, at)| *at = at.or(Some(now_seconds)));
        self.promised = count;
        Ok(())
    }
}
