//! How often each kind of statement and of storage work was drawn: printed, and none may be rare.

use super::history::{History, Step};
use super::statement::{Change, Keys, Read, Relation, Schema, Select, Target, Using, Write};
use super::value::{Term, Type};
use std::collections::BTreeMap;
use std::fmt;

/// Counts what kinds of statements and steps there were.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Statements of each kind; a statement may be of several.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Statements.
    pub statements: u64,
    /// Storage work of each kind.
    pub works: BTreeMap<&'static str, u64>,
    /// Steps of all kinds of histories with storage work.
    pub steps: u64,
    /// Writes left out because no model could answer them.
    pub left_out: u64,
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} statements, {} left out", self.statements, self.left_out)?;
        list(f, &self.kinds, self.statements)?;
        writeln!(f, "{} steps of histories with storage work", self.steps)?;
        list(f, &self.works, self.steps)
    }
}

fn list(f: &mut fmt::Formatter<'_>, kinds: &BTreeMap<&'static str, u64>, all: u64) -> fmt::Result {
    for (kind, count) in kinds {
        let share = 10_000 * count / all.max(1);
        writeln!(f, "{kind:22} {count:8} {:3}.{:02} %", share / 100, share % 100)?;
    }
    Ok(())
}

impl Shares {
    /// A kind with less than 1 % of its statements or steps, if there is one.
    pub fn rare(&self) -> Option<&'static str> {
        let rare = |kinds: &BTreeMap<&'static str, u64>, all: u64| {
            kinds.iter().find(|(_, count)| *count * 100 < all).map(|(kind, _)| *kind)
        };
        rare(&self.kinds, self.statements).or_else(|| rare(&self.works, self.steps))
    }

    fn add(&mut self, kind: &'static str, is: bool) {
        *self.kinds.entry(kind).or_default() += u64::from(is);
    }

    /// Counts a history in.
    pub fn count(&mut self, history: &History) {
        let mut given: Vec<i64> = Vec::new();
        if history.compacts {
            self.steps += history.steps.len() as u64;
        }
        for step in &history.steps {
            match step {
                Step::Read { read, prepared } => {
                    self.statements += 1;
                    self.add("prepared", *prepared);
                    self.read(read);
                }
                Step::Write { writes, batch, timestamp, prepared } => {
                    self.statements += 1;
                    self.add("prepared", *prepared);
                    self.add("batch", *batch);
                    let mut times = Vec::new();
                    for write in writes {
                        let using = self.write(&history.schema, write);
                        times.extend(using.timestamp_micros.or(*timestamp));
                    }
                    self.add("equal timestamp", times.iter().any(|t| given.contains(t)));
                    let older = |t: &i64| given.iter().any(|other| other > t);
                    self.add("older timestamp", times.iter().any(older));
                    given.extend(times);
                }
                Step::Work(work) if history.compacts => {
                    *self.works.entry(work.kind()).or_default() += 1;
                }
                Step::Advance(_) if history.compacts => {
                    *self.works.entry("clock moved").or_default() += 1;
                }
                Step::Work(_) | Step::Advance(_) | Step::Stop(_) | Step::Start => {}
            }
        }
    }

    fn read(&mut self, read: &Read) {
        let any = |is: fn(&Relation) -> bool| read.relations.iter().any(is);
        self.add("paging", read.page.is_some());
        self.add("reversed", read.order == Some(true));
        self.add("limit", read.limit.is_some());
        self.add("per partition limit", read.per_partition.is_some());
        self.add("partition IN", matches!(read.keys, Keys::In(_)));
        self.add("scan", matches!(read.keys, Keys::All | Keys::Token(..)));
        self.add("distinct", matches!(read.select, Select::Distinct(_)));
        self.add("writetime or ttl", matches!(read.select, Select::Items(_)));
        self.add("slice", any(|r| matches!(r, Relation::Slice(..) | Relation::Tuple(..))));
        self.add("clustering IN", any(|r| matches!(r, Relation::In(..))));
        self.add("filter", any(|r| matches!(r, Relation::Value(..))));
    }

    fn write<'w>(&mut self, schema: &Schema, write: &'w Write) -> &'w Using {
        let (using, columns, null): (&Using, Vec<usize>, bool) = match write {
            Write::Insert { values, using, .. } => {
                let columns = values.iter().map(|(n, _)| *n).collect();
                (using, columns, values.iter().any(|(_, term)| *term == Term::Null))
            }
            Write::Update { changes, using, .. } => {
                let columns = changes.iter().map(changed).collect();
                let null = |change: &Change| match change {
                    Change::Set(_, term) => *term == Term::Null,
                    Change::Put(_, _, v) | Change::Field(_, _, v) => v.is_none(),
                    _ => false,
                };
                (using, columns, changes.iter().any(null))
            }
            Write::Delete { rows, targets, using, .. } => {
                let eq = rows.iter().filter(|r| matches!(r, Relation::Eq(..))).count();
                let whole = targets.is_empty();
                let row = eq == schema.clustering.len();
                self.add("partition deletion", whole && rows.is_empty());
                self.add("row deletion", whole && row && !rows.is_empty());
                self.add("range deletion", whole && !row && !rows.is_empty());
                self.add("cell deletion", !whole);
                let column = |target: &Target| match target {
                    Target::Column(n)
                    | Target::Element(n, _)
                    | Target::Index(n, _)
                    | Target::Field(n, _) => *n,
                };
                (using, targets.iter().map(column).collect(), false)
            }
        };
        let ty = |n: &usize| schema.columns[*n].ty;
        self.add("null", null);
        self.add("ttl", using.ttl_seconds.is_some());
        self.add("static", columns.iter().any(|n| schema.columns[*n].is_static));
        self.add("set", columns.iter().any(|n| ty(n) == Type::Set));
        self.add("map", columns.iter().any(|n| ty(n) == Type::Map));
        self.add("list", columns.iter().any(|n| ty(n) == Type::List));
        self.add("user type", columns.iter().any(|n| ty(n) == Type::Udt));
        using
    }
}

fn changed(change: &Change) -> usize {
    match change {
        Change::Set(n, _)
        | Change::Add(n, _)
        | Change::Prepend(n, _)
        | Change::Remove(n, _)
        | Change::Put(n, _, _)
        | Change::Index(n, _, _)
        | Change::Field(n, _, _) => *n,
    }
}
