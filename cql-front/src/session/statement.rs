//! What a session runs: texts with settings, prepared statements, batches.

use super::Planned;
use super::values::BindValues;
use crate::analysis::terms::BindValue;
use crate::ast::BatchKind;
use crate::error::Error;
use crate::outcome::ColumnSpec;
use cassling_engine::ring::Consistency;
use parking_lot::Mutex;
use std::sync::Arc;

/// A text with settings of its own.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(crate) text: String,
    pub(crate) consistency: Option<Consistency>,
    pub(crate) page_size: Option<u32>,
    pub(crate) paging_state: Option<Vec<u8>>,
    pub(crate) timestamp_micros: Option<i64>,
}

impl Query {
    /// A statement's text, with the session's settings.
    pub fn new(text: impl Into<String>) -> Query {
        Query { text: text.into(), ..Query::default() }
    }

    /// Sets the consistency level.
    pub fn consistency(mut self, level: Consistency) -> Query {
        self.consistency = Some(level);
        self
    }

    /// Asks for pages of this many rows; without it all rows come at once.
    pub fn page_size(mut self, rows: u32) -> Query {
        self.page_size = Some(rows);
        self
    }

    /// Resumes after the page that gave this state.
    pub fn paging_state(mut self, state: impl Into<Vec<u8>>) -> Query {
        self.paging_state = Some(state.into());
        self
    }

    /// A client's timestamp, microseconds; USING TIMESTAMP goes before it.
    pub fn timestamp_micros(mut self, timestamp: i64) -> Query {
        self.timestamp_micros = Some(timestamp);
        self
    }
}

/// A prepared statement. Cheap to clone. After a schema change it is planned anew when it next runs.
#[derive(Clone, Debug)]
pub struct Prepared {
    inner: Arc<PreparedInner>,
    query: Query,
}

#[derive(Debug)]
struct PreparedInner {
    text: String,
    keyspace: Option<String>,
    planned: Mutex<Arc<Planned>>,
}

impl Prepared {
    pub(super) fn new(text: String, keyspace: Option<String>, planned: Arc<Planned>) -> Prepared {
        let inner = PreparedInner { text, keyspace, planned: Mutex::new(planned) };
        Prepared { inner: Arc::new(inner), query: Query::default() }
    }

    /// The statement's text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Its markers: name and type of what each receives.
    pub fn markers(&self) -> Vec<ColumnSpec> {
        self.inner.planned.lock().plan.markers.clone()
    }

    /// The same statement with other settings (the text of `query` is not used).
    pub fn with(&self, query: Query) -> Prepared {
        Prepared { inner: Arc::clone(&self.inner), query }
    }

    /// The plan in force, found or made by `check` from the text, its keyspace and the last plan.
    pub(super) fn current(
        &self,
        check: impl Fn(&str, Option<&str>, &Arc<Planned>) -> Result<Arc<Planned>, Error>,
    ) -> Result<Arc<Planned>, Error> {
        let last = Arc::clone(&self.inner.planned.lock());
        let now = check(&self.inner.text, self.inner.keyspace.as_deref(), &last)?;
        if !Arc::ptr_eq(&last, &now) {
            *self.inner.planned.lock() = Arc::clone(&now);
        }
        Ok(now)
    }
}

/// What [`super::Session::execute`] takes: made from a text, a [`Query`] or a [`Prepared`].
#[derive(Clone, Debug)]
pub struct Statement {
    pub(super) query: Query,
    pub(super) prepared: Option<Prepared>,
}

impl Statement {
    pub(super) fn with_page(&self, rows: u32, state: Option<Vec<u8>>) -> Statement {
        let query = Query { page_size: Some(rows), paging_state: state, ..self.query.clone() };
        Statement { query, prepared: self.prepared.clone() }
    }
}

impl From<&str> for Statement {
    fn from(text: &str) -> Statement {
        Query::new(text).into()
    }
}

impl From<String> for Statement {
    fn from(text: String) -> Statement {
        Query::new(text).into()
    }
}

impl From<Query> for Statement {
    fn from(query: Query) -> Statement {
        Statement { query, prepared: None }
    }
}

impl From<&Prepared> for Statement {
    fn from(prepared: &Prepared) -> Statement {
        Statement { query: prepared.query.clone(), prepared: Some(prepared.clone()) }
    }
}

/// Several INSERT, UPDATE and DELETE statements that are run as one.
#[derive(Clone, Debug)]
pub struct Batch {
    kind: BatchKind,
    statements: Vec<(String, Vec<BindValue>)>,
}

impl Batch {
    /// A logged batch: all or nothing, eventually.
    pub fn logged() -> Batch {
        Batch { kind: BatchKind::Logged, statements: Vec::new() }
    }

    /// A batch without log.
    pub fn unlogged() -> Batch {
        Batch { kind: BatchKind::Unlogged, ..Batch::logged() }
    }

    /// Adds a statement with its values.
    ///
    /// # Errors
    /// If the values do not fit the statement's markers.
    pub fn add(
        &mut self,
        session: &super::Session,
        text: &str,
        values: impl BindValues,
    ) -> Result<(), Error> {
        let prepared = session.prepare(text)?;
        let values = values.bind(&prepared.inner.planned.lock().plan)?;
        self.statements.push((text.trim().trim_end_matches(';').to_string(), values));
        Ok(())
    }

    /// One text with all statements, and the values of all in order.
    pub(super) fn compose(&self) -> (String, Vec<BindValue>) {
        let kind = match self.kind {
            BatchKind::Logged => "",
            BatchKind::Unlogged => "UNLOGGED ",
            BatchKind::Counter => "COUNTER ",
        };
        let mut text = format!("BEGIN {kind}BATCH ");
        let mut values = Vec::new();
        for (statement, bound) in &self.statements {
            text.push_str(statement);
            text.push_str("; ");
            values.extend_from_slice(bound);
        }
        text.push_str("APPLY BATCH");
        (text, values)
    }
}
