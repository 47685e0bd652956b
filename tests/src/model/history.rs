//! Histories: running one against a cluster and the model at once, and making a failing one short.

use super::answer::{Answer, answer};
use super::statement::{Change, Cql, Keys, Read, Relation, Schema, Select, Target, Using, Write};
use super::store::Store;
use super::value::{Term, Type};
use cassling::{Cluster, Consistency, Error, Query, Session};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// One step of a history.
#[derive(Clone, Debug)]
pub enum Step {
    /// A write, or several in a batch; `timestamp` is the client's (microseconds), for those that name none.
    Write {
        /// The statements.
        writes: Vec<Write>,
        /// Whether they are sent as a batch.
        batch: bool,
        /// Client timestamp, microseconds.
        timestamp: Option<i64>,
        /// Whether values are bound to markers.
        prepared: bool,
    },
    /// A read, compared with the model's answer.
    Read {
        /// What is read.
        read: Read,
        /// Whether values are bound to markers.
        prepared: bool,
    },
    /// All memtables become SSTables.
    Flush,
    /// The clock moves, seconds.
    Advance(u64),
    /// A node stops; no other is stopped.
    Stop(usize),
    /// All nodes are up again.
    Start,
}

/// A schema and what happens to it.
#[derive(Clone, Debug)]
pub struct History {
    /// What it was drawn from.
    pub seed: u64,
    /// The table.
    pub schema: Schema,
    /// Nodes of the cluster, all of them replicas.
    pub nodes: usize,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Timestamps that the cluster gives, as the model counts them: later than any small one.
const SERVER_MICROS: i64 = 1 << 60;

impl Step {
    fn cql(&self, schema: &Schema) -> Option<Cql> {
        match self {
            Step::Write { writes, batch, prepared, .. } => {
                let mut cql = Cql::new(*prepared);
                for (n, write) in writes.iter().enumerate() {
                    cql.text.push_str(match (*batch, n) {
                        (false, _) => "",
                        (true, 0) => "BEGIN BATCH ",
                        (true, _) => "; ",
                    });
                    cql.write(schema, write);
                }
                if *batch {
                    cql.text.push_str("; APPLY BATCH");
                }
                Some(cql)
            }
            Step::Read { read, prepared } => {
                let mut cql = Cql::new(*prepared);
                cql.read(schema, read);
                Some(cql)
            }
            Step::Flush | Step::Advance(_) | Step::Stop(_) | Step::Start => None,
        }
    }

    fn show(&self, schema: &Schema) -> String {
        let plain = match self.clone() {
            Step::Write { writes, batch, timestamp, .. } => {
                Step::Write { writes, batch, timestamp, prepared: false }
            }
            Step::Read { read, .. } => Step::Read { read, prepared: false },
            other => other,
        };
        let text = plain.cql(schema).map(|cql| cql.text);
        match (self, text) {
            (Step::Write { timestamp, prepared, .. }, Some(text)) => {
                let how = if *prepared { "prepared, " } else { "" };
                format!("{text};  -- {how}client timestamp {timestamp:?}")
            }
            (Step::Read { read, prepared }, Some(text)) => {
                let how = if *prepared { "prepared, " } else { "" };
                format!("{text};  -- {how}page {:?}", read.page)
            }
            _ => format!("-- {self:?}"),
        }
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "-- seed {}, {} node(s)", self.seed, self.nodes)?;
        writeln!(f, "{};", self.schema.cql())?;
        for step in &self.steps {
            let line = step.show(&self.schema);
            // Wide texts say no more at full length.
            let line = line.replace(&"x".repeat(500), "x~").replace(&"y".repeat(500), "y~");
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

fn start(history: &History) -> Result<(Cluster, Session), Error> {
    let cluster = Cluster::builder().nodes(history.nodes).seed(history.seed).build()?;
    let session = cluster.connect();
    let replication =
        format!("{{'class': 'SimpleStrategy', 'replication_factor': {}}}", history.nodes);
    session.execute(format!("CREATE KEYSPACE m WITH replication = {replication}"), ())?;
    session.execute("USE m", ())?;
    session.execute("CREATE TYPE pair (a int, b text)", ())?;
    session.execute(history.schema.cql(), ())?;
    session.set_consistency(Consistency::Quorum);
    Ok((cluster, session))
}

/// Runs a history.
///
/// # Errors
/// The first difference between cluster and model.
pub fn run(history: &History) -> Result<(), String> {
    let (cluster, session) = start(history).map_err(|e| format!("cannot start: {e}"))?;
    let mut store = Store::new(history.schema.clone(), cluster.clock().now_seconds());
    for (number, step) in history.steps.iter().enumerate() {
        let at = |what: String| format!("step {number}: {}\n{what}", step.show(&history.schema));
        match step {
            Step::Flush => cluster.flush(None, None).map_err(|e| at(e.to_string()))?,
            Step::Advance(seconds) => {
                cluster.clock().advance(Duration::from_secs(*seconds));
                store.now_seconds += i64::try_from(*seconds).expect("few");
            }
            Step::Stop(node) => cluster.node(*node).expect("it exists").stop(),
            Step::Start => {
                cluster.nodes().for_each(|node| node.start().expect("a node starts again"))
            }
            Step::Write { writes, timestamp, .. } => {
                let given =
                    timestamp.unwrap_or(SERVER_MICROS + i64::try_from(number).expect("few"));
                // A refused statement leaves nothing behind.
                let mut after = store.clone();
                let wanted = writes.iter().try_for_each(|write| after.write(write, given));
                if wanted.is_ok() {
                    store = after;
                }
                let cql = step.cql(&history.schema).expect("a write has a text");
                let mut query = Query::new("");
                if let Some(timestamp) = timestamp {
                    query = query.timestamp_micros(*timestamp);
                }
                let got = send(&session, &cql, query).map(|_| ()).map_err(|e| e.to_string());
                if got != wanted {
                    return Err(at(format!("  model   {wanted:?}\n  cluster {got:?}")));
                }
            }
            Step::Read { read, .. } => {
                let wanted = answer(&store, read);
                let cql = step.cql(&history.schema).expect("a read has a text");
                let got = pages(&session, &cql, read.page).map_err(|e| at(format!("  {e}")))?;
                if got != wanted {
                    return Err(at(format!(
                        "  model   {}\n  cluster {}",
                        show(&wanted),
                        show(&got)
                    )));
                }
            }
        }
    }
    Ok(())
}

fn send(session: &Session, cql: &Cql, query: Query) -> Result<cassling::QueryResult, Error> {
    match &cql.values {
        Some(values) => {
            session.execute(&session.prepare(&cql.text)?.with(query), values.as_slice())
        }
        None => session.execute(&session.prepare(&cql.text)?.with(query), ()),
    }
}

/// All rows, page by page if so wished.
fn pages(session: &Session, cql: &Cql, page: Option<u32>) -> Result<Vec<Answer>, String> {
    let mut rows = Vec::new();
    let mut state: Option<Vec<u8>> = None;
    loop {
        let mut query = Query::new("");
        if let Some(size) = page {
            query = query.page_size(size);
        }
        if let Some(state) = state.take() {
            query = query.paging_state(state);
        }
        let result = send(session, cql, query).map_err(|e| e.to_string())?;
        let count = result.row_count();
        if page.is_some_and(|size| count > size as usize) {
            return Err(format!("a page of {count} rows"));
        }
        rows.extend(result.raw().ok_or("no rows")?.to_vec());
        match (page, result.paging_state()) {
            (None, Some(_)) => return Err("an unpaged answer goes on".to_string()),
            (_, None) => return Ok(rows),
            (Some(_), Some(next)) => state = Some(next.to_vec()),
        }
        if rows.len() > 10_000 {
            return Err("pages without end".to_string());
        }
    }
}

fn show(rows: &[Answer]) -> String {
    let value = |v: &Option<Vec<u8>>| match v {
        None => "null".to_string(),
        Some(bytes) if bytes.len() > 40 => format!("{} bytes of {:02x}", bytes.len(), bytes[0]),
        Some(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    };
    let row = |row: &Answer| row.iter().map(value).collect::<Vec<_>>().join(", ");
    let rows: Vec<String> = rows.iter().map(|r| format!("({})", row(r))).collect();
    format!("{} rows: {}", rows.len(), rows.join(" "))
}

/// The shortest failing history that is found by leaving out steps, and its difference.
pub fn shrink(mut history: History, mut difference: String) -> (History, String) {
    loop {
        let before = history.steps.len();
        for place in (0..history.steps.len()).rev() {
            let mut shorter = history.clone();
            shorter.steps.remove(place);
            if let Err(found) = run(&shorter) {
                (history, difference) = (shorter, found);
            }
        }
        if history.steps.len() == before {
            return (history, difference);
        }
    }
}

/// Counts what kinds of statements there were.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Statements of each kind; a statement may be of several.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Statements.
    pub statements: u64,
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} statements", self.statements)?;
        for (kind, count) in &self.kinds {
            let share = 10_000 * count / self.statements.max(1);
            writeln!(f, "{kind:22} {count:8} {:3}.{:02} %", share / 100, share % 100)?;
        }
        Ok(())
    }
}

impl Shares {
    fn add(&mut self, kind: &'static str, is: bool) {
        *self.kinds.entry(kind).or_default() += u64::from(is);
    }

    /// Counts a history in.
    pub fn count(&mut self, history: &History) {
        let mut given: Vec<i64> = Vec::new();
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
                Step::Flush | Step::Advance(_) | Step::Stop(_) | Step::Start => {}
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
