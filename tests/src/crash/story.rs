//! What a cluster does until the power fails: a seeded list of statements and storage work.
//!
//! Timestamps are the cluster's own, so each operation replaces what was there before, and a table after n operations
//! is one plain map. Every value is written once only: what is found tells which write it came from.

use cassling_engine::sim::rng::Rng;
use std::collections::BTreeMap;

/// Rows of a table: key and clustering, then value and text.
pub type Rows = BTreeMap<(i32, i32), (Option<i32>, Option<String>)>;

/// What `system_schema` shows of the tables of keyspace `k`: comment and names of columns.
pub type Shape = BTreeMap<String, (String, Vec<String>)>;

/// A change of the rows of one table.
#[derive(Clone, Debug)]
pub enum Change {
    /// A row is written; `update`: only its value.
    Put {
        /// Key and clustering.
        place: (i32, i32),
        /// Value, different in each.
        value: i32,
        /// Text; `None`: not written.
        text: Option<String>,
    },
    /// A partition, or its rows from a clustering to below another.
    Delete(i32, Option<(i32, i32)>),
    /// All rows.
    Truncate,
}

/// One operation of a story.
#[derive(Clone, Debug)]
pub enum Op {
    /// Writes to tables, by name; several are one batch.
    Write(Vec<(String, Change)>),
    /// Memtables become SSTables: of a table or of all.
    Flush(Option<String>),
    /// All SSTables of each table are merged.
    Compact,
    /// The clock moves, seconds.
    Advance(u64),
    /// A change of the schema, and the shape that it leaves.
    Schema(String, Shape),
}

/// A seeded list of operations.
#[derive(Clone, Debug)]
pub struct Story {
    /// What it was drawn from.
    pub seed: u64,
    /// Its operations; the first make a keyspace and two tables.
    pub ops: Vec<Op>,
}

impl Change {
    /// Applies it.
    pub fn apply(&self, rows: &mut Rows) {
        match self {
            Change::Put { place, value, text } => {
                let row = rows.entry(*place).or_default();
                row.0 = Some(*value);
                if text.is_some() {
                    row.1.clone_from(text);
                }
            }
            Change::Delete(key, None) => rows.retain(|(k, _), _| k != key),
            Change::Delete(key, Some((from, below))) => {
                rows.retain(|(k, c), _| k != key || c < from || c >= below);
            }
            Change::Truncate => rows.clear(),
        }
    }

    fn cql(&self, table: &str) -> String {
        match self {
            Change::Put { place: (k, c), value, text: Some(text) } => {
                format!("INSERT INTO k.{table} (k, c, v, w) VALUES ({k}, {c}, {value}, '{text}')")
            }
            Change::Put { place: (k, c), value, text: None } => {
                format!("UPDATE k.{table} SET v = {value} WHERE k = {k} AND c = {c}")
            }
            Change::Delete(k, None) => format!("DELETE FROM k.{table} WHERE k = {k}"),
            Change::Delete(k, Some((from, below))) if below - from == 1 => {
                format!("DELETE FROM k.{table} WHERE k = {k} AND c = {from}")
            }
            Change::Delete(k, Some((from, below))) => {
                format!("DELETE FROM k.{table} WHERE k = {k} AND c >= {from} AND c < {below}")
            }
            Change::Truncate => format!("TRUNCATE k.{table}"),
        }
    }
}

impl Op {
    /// The statement, if it is one.
    pub fn cql(&self) -> Option<String> {
        match self {
            Op::Write(writes) => match writes.as_slice() {
                [(table, change)] => Some(change.cql(table)),
                many => {
                    let texts: Vec<String> = many.iter().map(|(t, c)| c.cql(t)).collect();
                    Some(format!("BEGIN UNLOGGED BATCH {}; APPLY BATCH", texts.join("; ")))
                }
            },
            Op::Schema(text, _) => Some(text.clone()),
            Op::Flush(_) | Op::Compact | Op::Advance(_) => None,
        }
    }
}

struct Draw {
    rng: Rng,
    next: i32,
    shape: Shape,
}

/// The story of a seed: some forty operations.
pub fn story(seed: u64) -> Story {
    let mut draw = Draw { rng: Rng::new(seed).fork("story"), next: 0, shape: Shape::default() };
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    let mut ops = vec![Op::Schema(keyspace.to_string(), Shape::default())];
    ops.push(draw.create("t0"));
    ops.push(draw.create("t1"));
    for _ in 0..40 {
        let op = draw.op();
        ops.push(op);
    }
    Story { seed, ops }
}

impl Draw {
    fn below(&mut self, bound: u64) -> i32 {
        i32::try_from(self.rng.below(bound)).expect("small")
    }

    fn fresh(&mut self) -> i32 {
        self.next += 1;
        self.next
    }

    fn op(&mut self) -> Op {
        match self.below(100) {
            0..58 => {
                let count = if self.below(10) == 0 { 2 } else { 1 };
                Op::Write((0..count).map(|_| (self.table(), self.change())).collect())
            }
            58..60 => Op::Write(vec![(self.table(), Change::Truncate)]),
            60..66 => Op::Flush(None),
            66..72 => Op::Flush(Some(self.table())),
            72..79 => Op::Compact,
            79..86 => Op::Advance([1, 4, 11, 30][usize::try_from(self.below(4)).expect("small")]),
            _ => self.schema(),
        }
    }

    fn table(&mut self) -> String {
        let names: Vec<&String> = self.shape.keys().collect();
        let drawn = self.rng.below(names.len() as u64);
        names[usize::try_from(drawn).expect("small")].clone()
    }

    fn change(&mut self) -> Change {
        let (k, c) = (self.below(3), self.below(6));
        match self.below(10) {
            0..5 => {
                let value = self.fresh();
                // Most are short, some fill a good part of a segment of the log.
                let times = if self.below(6) == 0 { 40 + 10 * self.below(30) } else { 1 };
                let text = format!("{value}.").repeat(usize::try_from(times).expect("small"));
                Change::Put { place: (k, c), value, text: Some(text) }
            }
            5..7 => Change::Put { place: (k, c), value: self.fresh(), text: None },
            7 => Change::Delete(k, None),
            8 => Change::Delete(k, Some((c, c + 1))),
            _ => Change::Delete(k, Some((c, c + 2 + self.below(3)))),
        }
    }

    fn create(&mut self, name: &str) -> Op {
        let comment = format!("made {}", self.fresh());
        let columns = ["c", "k", "v", "w"].map(str::to_string).to_vec();
        self.shape.insert(name.to_string(), (comment.clone(), columns));
        let grace = [0, 5, 864_000][usize::try_from(self.below(3)).expect("small")];
        let text = format!(
            "CREATE TABLE k.{name} (k int, c int, v int, w text, PRIMARY KEY (k, c)) \
             WITH gc_grace_seconds = {grace} AND comment = '{comment}'"
        );
        Op::Schema(text, self.shape.clone())
    }

    fn schema(&mut self) -> Op {
        // t0 stays, t1 and t2 come and go, so that a name means several tables in turn.
        let name = format!("t{}", 1 + self.below(2));
        if !self.shape.contains_key(&name) {
            return self.create(&name);
        }
        let number = self.fresh();
        let text = match self.below(3) {
            0 => {
                self.shape.remove(&name);
                format!("DROP TABLE k.{name}")
            }
            1 => {
                let columns = &mut self.shape.get_mut(&name).expect("it is there").1;
                columns.push(format!("x{number}"));
                columns.sort();
                format!("ALTER TABLE k.{name} ADD x{number} int")
            }
            _ => {
                let comment = format!("altered {number}");
                self.shape.get_mut(&name).expect("it is there").0.clone_from(&comment);
                format!("ALTER TABLE k.{name} WITH comment = '{comment}'")
            }
        };
        Op::Schema(text, self.shape.clone())
    }
}
