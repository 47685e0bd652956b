//! Histories: running one against a cluster and the model at once, and making a failing one short.

use super::answer::{Answer, answer};
use super::statement::{Cql, Read, Schema, Write};
use super::store::Store;
use super::work::Work;
use super::world::World;
use cassling::{Error, Query, QueryResult, Session};
use std::fmt;

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
    /// Something that changes files and no answer.
    Work(Work),
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
    /// Whether its files are merged ([`super::admit`]).
    pub compacts: bool,
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
            Step::Work(_) | Step::Advance(_) | Step::Stop(_) | Step::Start => None,
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

/// Runs a history. Statements that no model could answer ([`super::admit`]) are left out; their number is given.
///
/// # Errors
/// The first difference between cluster and model.
pub fn run(history: &History) -> Result<usize, String> {
    watch(history, &mut |_, _| {})
}

/// What is seen of a run: after each step the world, and the answers it gave in this step.
pub type Watcher<'w> = &'w mut dyn FnMut(&World, &[QueryResult]);

/// As [`run`], watched.
///
/// # Errors
/// Those of [`run`].
pub fn watch(history: &History, watcher: Watcher<'_>) -> Result<usize, String> {
    let mut world = World::start(history).map_err(|e| format!("cannot start: {e}"))?;
    let mut store =
        Store::new(history.schema.clone(), world.clock().now_seconds(), history.compacts);
    let mut left_out = 0;
    for (number, step) in history.steps.iter().enumerate() {
        let at = |what: String| format!("step {number}: {}\n{what}", step.show(&history.schema));
        let mut answers = Vec::new();
        match step {
            Step::Work(work) => {
                world.work(work).map_err(|e| at(format!("  {e}")))?;
                if let Work::GcGrace(seconds) = work {
                    store.set_gc_grace(*seconds);
                }
            }
            Step::Advance(seconds) => {
                world.advance(*seconds);
                store.advance(i64::try_from(*seconds).expect("few"));
            }
            Step::Stop(node) => world.stop(*node),
            Step::Start => world.start_all().map_err(|e| at(format!("  {e}")))?,
            Step::Write { .. } => {
                let admitted = write(world.session(), &mut store, step, number, &mut answers);
                left_out += usize::from(!admitted.map_err(at)?);
            }
            Step::Read { read, .. } => {
                let wanted = answer(&store, read);
                let cql = step.cql(&history.schema).expect("a read has a text");
                let got = pages(world.session(), &cql, read.page, &mut answers);
                let got = got.map_err(|e| at(format!("  {e}")))?;
                if got != wanted {
                    let (wanted, got) = (show(&wanted), show(&got));
                    return Err(at(format!("  model   {wanted}\n  cluster {got}")));
                }
            }
        }
        watcher(&world, &answers);
    }
    Ok(left_out)
}

/// Writes to both; `false` if the model cannot say what comes of it.
fn write(
    session: &Session,
    store: &mut Store,
    step: &Step,
    number: usize,
    answers: &mut Vec<QueryResult>,
) -> Result<bool, String> {
    let Step::Write { writes, timestamp, .. } = step else { return Ok(true) };
    let given = timestamp.unwrap_or(SERVER_MICROS + i64::try_from(number).expect("few"));
    let mut after = store.clone();
    let wanted = writes.iter().try_for_each(|write| after.write(write, given));
    if !after.is_answerable() {
        return Ok(false);
    }
    let cql = step.cql(&store.schema).expect("a write has a text");
    // A refused statement leaves nothing behind.
    if wanted.is_ok() {
        *store = after;
    }
    let mut query = Query::new("");
    if let Some(timestamp) = timestamp {
        query = query.timestamp_micros(*timestamp);
    }
    let got = send(session, &cql, query).map(|answer| answers.push(answer));
    let got = got.map_err(|e| e.to_string());
    match got == wanted {
        true => Ok(true),
        false => Err(format!("  model   {wanted:?}\n  cluster {got:?}")),
    }
}

fn send(session: &Session, cql: &Cql, query: Query) -> Result<QueryResult, Error> {
    match &cql.values {
        Some(values) => {
            session.execute(&session.prepare(&cql.text)?.with(query), values.as_slice())
        }
        None => session.execute(&session.prepare(&cql.text)?.with(query), ()),
    }
}

/// All rows, page by page if so wished.
fn pages(
    session: &Session,
    cql: &Cql,
    page: Option<u32>,
    answers: &mut Vec<QueryResult>,
) -> Result<Vec<Answer>, String> {
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
            (_, next) => state = next.map(<[u8]>::to_vec),
        }
        answers.push(result);
        if state.is_none() {
            return Ok(rows);
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
