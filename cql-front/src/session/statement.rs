//! What a session runs: texts with settings, prepared statements, batches.

use super::Planned;
use super::values::BindValues;
use crate::analysis::terms::BindValue;
use crate::ast::BatchKind;
use crate::error::Error;
use crate::outcome::ColumnSpec;
use arc_swap::{ArcSwap, Guard};
use cassling_engine::ring::Consistency;
use std::borrow::Cow;
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
    planned: ArcSwap<Planned>,
}

impl Prepared {
    pub(super) fn new(text: String, keyspace: Option<String>, planned: Arc<Planned>) -> Prepared {
        let inner = PreparedInner { text, keyspace, planned: ArcSwap::new(planned) };
        Prepared { inner: Arc::new(inner), query: Query::default() }
    }

    /// The statement's text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Its markers: name and type of what each receives.
    pub fn markers(&self) -> Vec<ColumnSpec> {
        self.inner.planned.load().plan.markers.clone()
    }

    /// The same statement with other settings (the text of `query` is not used).
    pub fn with(&self, query: Query) -> Prepared {
        Prepared { inner: Arc::clone(&self.inner), query }
    }

    /// The plan in force: the last one, or one that `plan` makes from the text and its keyspace.
    pub(super) fn current(
        &self,
        is_current: impl Fn(&Planned) -> bool,
        plan: impl Fn(&str, Option<&str>) -> Result<Arc<Planned>, Error>,
    ) -> Result<Guard<Arc<Planned>>, Error> {
        let last = self.inner.planned.load();
        if is_current(&last) {
            return Ok(last);
        }
        let planned = plan(&self.inner.text, self.inner.keyspace.as_deref())?;
        self.inner.planned.store(Arc::clone(&planned));
        Ok(Guard::from_inner(planned))
    }
}

/// What [`super::Session::execute`] takes: made from a text, a [`Query`] or a [`Prepared`], which is borrowed.
#[derive(Clone, Debug)]
pub struct Statement<'s> {
    pub(super) query: Cow<'s, Query>,
    pub(super) prepared: Option<&'s Prepared>,
}

impl<'s> Statement<'s> {
    pub(super) fn with_page(&self, rows: u32, state: Option<Vec<u8>>) -> Statement<'s> {
        let query = Query::clone(&self.query);
        let query = Query { page_size: Some(rows), paging_state: state, ..query };
        Statement { query: Cow::Owned(query), prepared: self.prepared }
    }
}

impl From<&str> for Statement<'_> {
    fn from(text: &str) -> Self {
        Query::new(text).into()
    }
}

impl From<String> for Statement<'_> {
    fn from(text: String) -> Self {
        Query::new(text).into()
    }
}

impl From<Query> for Statement<'_> {
    fn from(query: Query) -> Self {
        Statement { query: Cow::Owned(query), prepared: None }
    }
}

impl<'s> From<&'s Prepared> for Statement<'s> {
    fn from(prepared: &'s Prepared) -> Self {
        Statement { query: Cow::Borrowed(&prepared.query), prepared: Some(prepared) }
    }
}

/// Several INSERT, UPDATE and DELETE statements that are run as one.
#[derive(Clone, Debug)]
pub struct Batch {
    kind: BatchKind,
    statements: Vec<(String, Vec<BindValue<'static>>)>,
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
        let values = values.bind(&prepared.inner.planned.load().plan)?;
        let values = values.into_iter().map(BindValue::into_owned).collect();
        self.statements.push((text.trim().trim_end_matches(';').to_string(), values));
        Ok(())
    }

    /// One text with all statements, and the values of all in order.
    pub(super) fn compose(&self) -> (String, Vec<BindValue<'static>>) {
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
