//! Runs scripts: statements and directives in order, on one cluster and one session.

use super::answer::Answer;
use super::directive::Directive;
use super::expect;
use super::split::{Item, Script, ScriptError, Statement};
use crate::analysis::terms::BindValue;
use crate::ast;
use crate::cluster::{Cluster, ClusterBuilder};
use crate::error::Error;
use crate::error::session::SessionError;
use crate::outcome::{ColumnSpec, OutcomeKind};
use crate::parser;
use crate::session::{Prepared, Query, QueryResult, Session};
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::types::CqlType;
use std::fmt::Write as _;

/// Rows of a page when a script does not say otherwise, as the drivers have it.
const PAGE_SIZE: u32 = 5000;

/// What one item of a script came to.
#[derive(Debug)]
pub enum Event<'s> {
    /// A statement's answer.
    Answered(&'s Statement, Box<Answer>),
    /// Something a directive prints.
    Said(String),
    /// `@sstables`: the number of a table's SSTables, on the node that coordinates.
    SsTables {
        /// Table.
        table: String,
        /// Number.
        count: usize,
    },
}

/// Runs scripts one after another on the same cluster and session. Directives end with their script.
#[derive(Debug)]
pub struct Runner {
    session: Session,
    state: State,
    /// Statements between two reopenings of the cluster, and those since the last.
    reopening: Option<(usize, usize)>,
}

/// What directives have set.
#[derive(Debug, Default)]
struct State {
    consistency: Option<Consistency>,
    page: Option<u32>,
    all_pages: bool,
    prepare: bool,
    volatile: Option<Vec<String>>,
    trace: bool,
    bind: Option<Vec<BindValue<'static>>>,
    repeat: Option<u64>,
}

/// The `@nodes` that scripts ask for, if any: the cluster of a run is built from it.
///
/// # Errors
/// If two scripts ask for different ones.
pub fn nodes_wanted(scripts: &[Script]) -> Result<Option<(usize, Vec<String>)>, ScriptError> {
    let mut wanted: Option<(usize, Vec<String>)> = None;
    for script in scripts {
        for item in &script.items {
            if let Item::Directive(Directive::Nodes { nodes, datacenters }, line) = item {
                let this = (*nodes, datacenters.clone());
                if wanted.as_ref().is_some_and(|other| *other != this) {
                    let reason =
                        "the scripts of one run share a cluster: @nodes differs".to_string();
                    return Err(ScriptError { name: script.name.clone(), line: *line, reason });
                }
                wanted = Some(this);
            }
        }
    }
    Ok(wanted)
}

/// Makes `builder` build the nodes that `@nodes` asks for.
pub fn with_nodes(builder: ClusterBuilder, wanted: &(usize, Vec<String>)) -> ClusterBuilder {
    let (nodes, datacenters) = wanted;
    if datacenters.is_empty() {
        return builder.nodes(*nodes);
    }
    datacenters.iter().fold(builder, |builder, name| builder.datacenter(name, *nodes, 1))
}

impl Runner {
    /// A runner with a session of its own.
    pub fn new(cluster: &Cluster) -> Runner {
        Runner { session: cluster.connect(), state: State::default(), reopening: None }
    }

    /// The same, but after every so many statements the cluster is closed and built again from its data directory: no answer
    /// may change by it. Settings, keyspace and coordinator of the session stay.
    pub fn reopening_every(mut self, statements: usize) -> Runner {
        self.reopening = Some((statements.max(1), 0));
        self
    }

    /// Goes on with the cluster built again, if it is time.
    fn reopen_if_due(&mut self) -> Result<(), Error> {
        let Some((every, since)) = &mut self.reopening else { return Ok(()) };
        *since += 1;
        if *since < *every {
            return Ok(());
        }
        *since = 0;
        let before = self.session.cluster().clone();
        let cluster = before.reopen()?;
        cluster.engine().restore_settings(before.engine().settings());
        let session = cluster.connect();
        session.set_coordinator(self.session.coordinator());
        if let Some(keyspace) = self.session.keyspace() {
            // One that was dropped meanwhile cannot be used again; the statements that need it will say so.
            let again = format!("USE \"{}\"", keyspace.replace('"', "\"\""));
            let _ = session.execute(again.as_str(), ());
        }
        self.session = session;
        Ok(())
    }

    /// The session that the statements run on.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Runs a script; `on` gets each answer as it comes. An error of a statement does not stop the run.
    ///
    /// # Errors
    /// A directive that cannot be carried out (no such node, table or keyspace).
    pub fn run<'s>(
        &mut self,
        script: &'s Script,
        mut on: impl FnMut(Event<'s>),
    ) -> Result<(), ScriptError> {
        self.state = State::default();
        let before = self.session.cluster().engine().settings();
        let ran = self.items(script, &mut on);
        self.session.set_coordinator(NodeId(1));
        self.session.cluster().engine().restore_settings(before);
        ran
    }

    fn items<'s>(
        &mut self,
        script: &'s Script,
        on: &mut impl FnMut(Event<'s>),
    ) -> Result<(), ScriptError> {
        for item in &script.items {
            match item {
                Item::Directive(directive, line) => {
                    let said = self.steer(directive).map_err(|reason| ScriptError {
                        name: script.name.clone(),
                        line: *line,
                        reason,
                    })?;
                    if let Some(said) = said {
                        on(said);
                    }
                }
                Item::Statement(statement) => {
                    let answer = self.answer(statement);
                    on(Event::Answered(statement, Box::new(answer)));
                    self.reopen_if_due().map_err(|error| ScriptError {
                        name: script.name.clone(),
                        line: statement.line,
                        reason: error.to_string(),
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Carries out a directive; gives what it prints.
    fn steer<'s>(&mut self, directive: &'s Directive) -> Result<Option<Event<'s>>, String> {
        let cluster = self.session.cluster().clone();
        let node_of = |number: usize| {
            cluster.node(number).ok_or_else(|| format!("there is no node {number}"))
        };
        match directive {
            Directive::Volatile(names) => self.state.volatile = Some(names.clone()),
            Directive::Trace => self.state.trace = true,
            Directive::Bind(values) => self.state.bind = Some(values.clone()),
            Directive::Repeat(times) => self.state.repeat = Some(*times),
            Directive::Consistency(level) => self.state.consistency = *level,
            // Conditional statements are not supported yet: nothing is coordinated at a serial level.
            Directive::Serial(_) => {}
            Directive::Page(rows) => self.state.page = *rows,
            Directive::AllPages(on) => self.state.all_pages = *on,
            Directive::Prepare(on) => self.state.prepare = *on,
            Directive::Flush(table) => {
                let keyspace = self.session.keyspace();
                cluster.flush(keyspace.as_deref(), table.as_deref()).map_err(|e| e.to_string())?;
            }
            Directive::Nodetool(command) => {
                let said = command.run(&cluster).map_err(|e| e.to_string())?;
                let text = command.text(&node_of(self.session.coordinator().0)?)?;
                return Ok(said.or(text).map(Event::Said));
            }
            Directive::Compact(table) => {
                let keyspace = self.session.keyspace();
                let compacted = cluster.compact(keyspace.as_deref(), table.as_deref());
                compacted.map_err(|e| e.to_string())?;
            }
            Directive::CompactFiles { table, places } => {
                let keyspace = self.session.keyspace().ok_or("@compact-files needs a keyspace")?;
                let compacted = cluster.compact_files(&keyspace, table, places);
                compacted.map_err(|e| e.to_string())?;
            }
            Directive::SsTables(table) => {
                let keyspace = self.session.keyspace().ok_or("@sstables needs a keyspace")?;
                let node = self.session.coordinator();
                let count = cluster.sstables(node, &keyspace, table).map_err(|e| e.to_string())?;
                return Ok(Some(Event::SsTables { table: table.clone(), count }));
            }
            Directive::Advance(by) => cluster.clock().advance(*by),
            // Read by `nodes_wanted` before the cluster was built.
            Directive::Nodes { .. } => {}
            Directive::Node { node, up } => {
                let node = node_of(*node)?;
                if *up { node.start().map_err(|e| e.to_string())? } else { node.stop() }
            }
            Directive::Coordinator(number) => self.session.set_coordinator(node_of(*number)?.id()),
            Directive::Set { key, value } => cluster.set(key, value).map_err(|e| e.to_string())?,
            // There are no hints yet, so both settings mean the same.
            Directive::Hints(_) => {}
            Directive::Replicas { table, key } => {
                return self.replicas(table, key).map(|text| Some(Event::Said(text)));
            }
        }
        Ok(None)
    }

    fn replicas(&self, table: &str, key: &[String]) -> Result<String, String> {
        let cluster = self.session.cluster();
        let (keyspace, name) = match table.split_once('.') {
            Some((keyspace, name)) => (keyspace.to_string(), name),
            None => (self.session.keyspace().ok_or("@replicas needs a keyspace: USE one")?, table),
        };
        let nodes = cluster.replicas(&keyspace, name, key).map_err(|e| e.to_string())?;
        let mut text = format!("replicas of {table} {}:", key.join(" "));
        for node in nodes {
            let _ = write!(text, " {}", node.0);
        }
        Ok(text)
    }

    /// Runs one statement under the directives in force.
    fn answer(&mut self, statement: &Statement) -> Answer {
        let mut answer = Answer { cql: statement.text.clone(), ..Answer::default() };
        answer.volatile = self.state.volatile.take();
        let traced = std::mem::take(&mut self.state.trace);
        let bind = self.state.bind.take();
        let repeat = self.state.repeat.take();
        let ran = if let Some(times) = repeat {
            self.repeated(statement, times)
        } else if bind.is_some() || self.state.prepare {
            self.prepared(statement, bind.unwrap_or_default(), &mut answer)
        } else {
            self.paged(|query| {
                self.session.execute(Query { text: statement.text.clone(), ..query }, ())
            })
        };
        match ran {
            Ok(result) => note(&mut answer, result, traced),
            Err(error) => {
                answer.warnings = error.warnings.clone();
                let spent = error.spent.as_deref().cloned().unwrap_or_default();
                answer.cost = spent.cost;
                answer.trace =
                    traced.then(|| spent.trace.iter().map(ToString::to_string).collect());
                answer.error = Some(error);
            }
        }
        if statement.expectations.iter().any(|(expectation, _)| expectation.of_table()) {
            answer.table_state = self.table_state(&statement.text).unwrap_or_default();
        }
        answer
    }

    /// The counters of the table that a statement reads or writes, over all nodes; `None` if there is no such table.
    fn table_state(&self, text: &str) -> Option<Vec<(&'static str, u64)>> {
        let parsed = parser::parse(text).ok()?;
        let name = match &parsed.statement {
            ast::Statement::Select(select) => &select.table,
            ast::Statement::Insert(insert) => &insert.table,
            ast::Statement::Update(update) => &update.table,
            ast::Statement::Delete(delete) => &delete.table,
            ast::Statement::Truncate(table) => table,
            _ => return None,
        };
        let keyspace = match &name.keyspace {
            Some(keyspace) => keyspace.text.clone(),
            None => self.session.keyspace()?.to_string(),
        };
        let cluster = self.session.cluster();
        cluster.engine().wait_for_workers();
        let mut counted = [0; expect::TABLE_COUNTERS.len()];
        for node in cluster.nodes() {
            let stats = node.table_stats(&keyspace, &name.name.text).ok()?;
            let here = [stats.sstables.len() as u64, stats.space_used_bytes, stats.memtable_bytes];
            counted.iter_mut().zip(here).for_each(|(all, here)| *all += here);
        }
        Some(expect::TABLE_COUNTERS.into_iter().zip(counted).collect())
    }

    fn prepared(
        &self,
        statement: &Statement,
        values: Vec<BindValue<'static>>,
        answer: &mut Answer,
    ) -> Result<QueryResult, Error> {
        let prepared = self.session.prepare(&statement.text)?;
        answer.bound = Some(specs(&prepared.markers()));
        self.paged(|query| self.session.execute(&prepared.with(query), values.as_slice()))
    }

    /// `@repeat`: the marker `:i` (or the only `?`) is the number of the turn, from 0.
    fn repeated(&self, statement: &Statement, times: u64) -> Result<QueryResult, Error> {
        let prepared = self.session.prepare(&statement.text)?;
        let markers = prepared.markers();
        let mut last = self.turn(&prepared, &markers, 0)?;
        for turn in 1..times {
            last = self.turn(&prepared, &markers, turn)?;
        }
        Ok(last)
    }

    fn turn(
        &self,
        prepared: &Prepared,
        markers: &[ColumnSpec],
        turn: u64,
    ) -> Result<QueryResult, Error> {
        let values =
            markers.iter().map(|marker| turn_value(marker, turn)).collect::<Result<Vec<_>, _>>()?;
        self.session.execute(&prepared.with(self.query()), values.as_slice())
    }

    fn query(&self) -> Query {
        let page = self.state.page.unwrap_or(PAGE_SIZE);
        let consistency = Some(self.state.consistency.unwrap_or(Consistency::LocalOne));
        let page_size = (page > 0).then_some(page);
        Query { consistency, page_size, ..Query::default() }
    }

    /// Runs a statement; with `@all-pages` to its last page, rows joined.
    fn paged(
        &self,
        run: impl Fn(Query) -> Result<QueryResult, Error>,
    ) -> Result<QueryResult, Error> {
        let mut result = run(self.query())?;
        if !self.state.all_pages {
            return Ok(result);
        }
        while let Some(state) = result.paging_state().map(<[u8]>::to_vec) {
            let next = run(Query { paging_state: Some(state), ..self.query() })?;
            result.cost += &next.cost;
            // Those of the last page are shown, as the recorder of answers does.
            result.warnings = next.warnings;
            let (OutcomeKind::Rows(all), OutcomeKind::Rows(page)) = (&mut result.kind, next.kind)
            else {
                break;
            };
            all.append(&page);
            all.paging_state = page.paging_state;
        }
        Ok(result)
    }
}

fn specs(columns: &[ColumnSpec]) -> Vec<(String, CqlType)> {
    columns.iter().map(|column| (column.name.clone(), column.ty.clone())).collect()
}

fn turn_value(marker: &ColumnSpec, turn: u64) -> Result<BindValue<'static>, Error> {
    let bytes = cassling_engine::types::text::parse(&marker.ty, &turn.to_string(), 0);
    let bytes = match (&marker.ty, bytes) {
        (CqlType::Text | CqlType::Ascii, _) => Ok(turn.to_string().into_bytes()),
        (_, bytes) => bytes,
    };
    bytes.map(|bytes| BindValue::Bytes(bytes.into())).map_err(|e| {
        let (marker, ty) = (marker.name.clone(), marker.ty.to_string());
        Error::new(SessionError::ValueType { marker, ty, reason: e.to_string() })
    })
}

fn note(answer: &mut Answer, result: QueryResult, traced: bool) {
    answer.warnings = result.warnings;
    answer.cost = result.cost;
    answer.trace = traced.then(|| result.trace.iter().map(ToString::to_string).collect());
    if let OutcomeKind::Rows(rows) = result.kind {
        answer.columns = Some(specs(&rows.columns));
        answer.more = rows.paging_state.is_some();
        answer.rows = rows.to_vec();
    }
}
