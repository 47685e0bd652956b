//! The face for users: a session runs statements on a cluster.
//!
//! ```
//! use cassling::Cluster;
//!
//! let cluster = Cluster::builder().nodes(3).build()?;
//! let session = cluster.connect();
//! session.execute(
//!     "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
//!     (),
//! )?;
//! session.execute("USE shop", ())?;
//! session.execute("CREATE TABLE item (id int PRIMARY KEY, name text)", ())?;
//! let insert = session.prepare("INSERT INTO item (id, name) VALUES (?, ?)")?;
//! session.execute(&insert, (7, "lamp"))?;
//!
//! let result = session.execute("SELECT id, name FROM item WHERE id = ?", (7,))?;
//! assert_eq!(result.rows::<(i32, String)>()?, [(7, "lamp".to_string())]);
//! assert_eq!(result.cost.nodes, 1);
//! # Ok::<(), cassling::Error>(())
//! ```
//!
//! [`Session::execute`] blocks and drives the cluster until its own answer; [`Session::start`] gives a [`Pending`] that
//! is a future as well. [`values`] and [`rows`] lead from Rust types to wire bytes and back.

pub mod pending;
pub mod rows;
pub mod statement;
pub mod values;

pub use pending::Pending;
pub use rows::{FromCql, FromRow, QueryResult};
pub use statement::{Batch, Prepared, Query, Statement};
pub use values::{BindValues, ToCql, Unset};

use crate::analysis::terms::BindValue;
use crate::analysis::{self, Context, ddl};
use crate::cluster::Cluster;
use crate::error::session::SessionError;
use crate::error::{Error, ErrorKind};
use crate::exec::{self, Request};
use crate::outcome::{Outcome, OutcomeKind};
use crate::parser;
use crate::plan::{Plan, PlanKind};
use arc_swap::Guard;
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::schema::{Schema, is_system_keyspace};
use parking_lot::Mutex;
use std::sync::Arc;

/// Bind markers of one statement: more do not fit the protocol's 16 bits.
const MARKERS_MAX: usize = 65_535;

/// A session: a coordinator, the keyspace of USE, defaults for its statements. Cheap to clone; clones share the keyspace.
#[derive(Clone, Debug)]
pub struct Session {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    cluster: Cluster,
    settings: Mutex<Settings>,
}

/// What a session's statements start from.
#[derive(Clone, Debug)]
struct Settings {
    keyspace: Option<String>,
    coordinator: NodeId,
    consistency: Consistency,
}

/// A planned statement: the plan and the schema it was made for.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    schema: Arc<Schema>,
}

impl Session {
    pub(crate) fn new(cluster: Cluster) -> Session {
        let settings =
            Settings { keyspace: None, coordinator: NodeId(1), consistency: Consistency::LocalOne };
        Session { inner: Arc::new(Inner { cluster, settings: Mutex::new(settings) }) }
    }

    /// The cluster that the session belongs to.
    pub fn cluster(&self) -> &Cluster {
        &self.inner.cluster
    }

    /// The keyspace of the last USE.
    pub fn keyspace(&self) -> Option<String> {
        self.inner.settings.lock().keyspace.clone()
    }

    /// The node that coordinates.
    pub fn coordinator(&self) -> NodeId {
        self.inner.settings.lock().coordinator
    }

    /// Makes another node the coordinator of what follows. Nodes count from 1.
    pub fn set_coordinator(&self, node: NodeId) {
        self.inner.settings.lock().coordinator = node;
    }

    /// The level of statements that name none; LOCAL_ONE at first.
    pub fn set_consistency(&self, consistency: Consistency) {
        self.inner.settings.lock().consistency = consistency;
    }

    /// Runs a statement and waits for its answer.
    ///
    /// # Errors
    /// Cassandra's refusal of the statement or of its values, or what the engine answers.
    pub fn execute<'s>(
        &self,
        statement: impl Into<Statement<'s>>,
        values: impl BindValues,
    ) -> Result<QueryResult, Error> {
        let statement = statement.into();
        let planned = self.planned(&statement)?;
        let values = values.bind(&planned.plan)?;
        let answer = self.run(&planned, &values, &statement.query);
        self.inner.cluster.engine().block_on(answer).map(QueryResult::new)
    }

    /// Queues a statement; the answer comes when the [`Pending`] is waited for or polled.
    pub fn start<'s>(
        &self,
        statement: impl Into<Statement<'s>>,
        values: impl BindValues,
    ) -> Pending {
        let statement = statement.into();
        let bound = self
            .planned(&statement)
            .and_then(|planned| bind_owned(&values, &planned).map(|values| (planned, values)));
        let query = statement.query.into_owned();
        let (planned, values) = match bound {
            Ok(bound) => bound,
            Err(error) => return Pending::refused(error),
        };
        let session = self.clone();
        let answer = async move { session.run(&planned, &values, &query).await };
        let answer = async move { answer.await.map(QueryResult::new) };
        Pending::queued(self.inner.cluster.engine().start(answer))
    }

    /// Plans a statement once, to be run many times.
    ///
    /// # Errors
    /// Cassandra's refusal when it prepares the statement.
    pub fn prepare(&self, text: &str) -> Result<Prepared, Error> {
        let keyspace = self.keyspace();
        let planned = self.plan(text, keyspace.as_deref())?;
        Ok(Prepared::new(text.to_string(), keyspace, planned))
    }

    /// Runs several statements as one batch.
    ///
    /// # Errors
    /// As [`Session::execute`].
    pub fn batch(&self, batch: &Batch) -> Result<QueryResult, Error> {
        let (text, values) = batch.compose();
        self.execute(Query::new(text), values.as_slice())
    }

    /// The pages of a query, one after another, `rows` rows each.
    pub fn pages<'s>(
        &'s self,
        statement: impl Into<Statement<'s>>,
        values: impl BindValues,
        rows: u32,
    ) -> Pages<'s> {
        let statement = statement.into();
        let values = self.planned(&statement).and_then(|planned| bind_owned(&values, &planned));
        Pages { session: self, next: Some(statement.with_page(rows, None)), values, rows }
    }

    /// The plan of a statement: a prepared one's own as long as the schema it was made for is in force, else a new one.
    fn planned(&self, statement: &Statement<'_>) -> Result<Guard<Arc<Planned>>, Error> {
        let Some(prepared) = &statement.prepared else {
            let planned = self.plan(&statement.query.text, self.keyspace().as_deref())?;
            return Ok(Guard::from_inner(planned));
        };
        let engine = self.inner.cluster.engine();
        let node = self.inner.settings.lock().coordinator;
        prepared.current(
            |planned| engine.sees_schema(node, &planned.schema),
            |text, keyspace| self.plan(text, keyspace),
        )
    }

    fn plan(&self, text: &str, keyspace: Option<&str>) -> Result<Arc<Planned>, Error> {
        let parsed = parser::parse(text)?;
        let markers = parsed.markers.len();
        if markers > MARKERS_MAX {
            return Err(Error::new(SessionError::TooManyMarkers { markers, limit: MARKERS_MAX }));
        }
        let cluster = &self.inner.cluster;
        let schema = cluster.engine().schema(self.inner.settings.lock().coordinator);
        let now_millis = cluster.engine().clock().now_micros().div_euclid(1000);
        let cx = Context::new(&schema, keyspace, now_millis, cluster.datacenters(), markers);
        let plan = analysis::plan(cx, &parsed)?;
        Ok(Arc::new(Planned { plan, schema }))
    }

    /// Runs a plan with its values bound.
    async fn run(
        &self,
        planned: &Planned,
        values: &[BindValue<'_>],
        query: &Query,
    ) -> Result<Outcome, Error> {
        let cluster = &self.inner.cluster;
        let (coordinator, default_consistency) = {
            let settings = self.inner.settings.lock();
            (settings.coordinator, settings.consistency)
        };
        let request = Request {
            cluster: cluster.engine(),
            node: coordinator,
            values,
            consistency: query.consistency.unwrap_or(default_consistency),
            page_size: query.page_size,
            paging_state: query.paging_state.as_deref(),
            timestamp_micros: query.timestamp_micros,
        };
        match &planned.plan.kind {
            PlanKind::Select(plan) => exec::select::run(plan, &request).await,
            PlanKind::Modification(plan) => exec::modification::run(plan, &request).await,
            PlanKind::Batch(plan) => Box::pin(exec::modification::run_batch(plan, &request)).await,
            PlanKind::Use(name) => self.use_keyspace(name, &request),
            PlanKind::Schema(plan) => self.change_schema(plan, &request),
            PlanKind::Truncate(table) => {
                if is_system_keyspace(&table.keyspace) {
                    return Err(SessionError::SystemWrite(table.keyspace.clone()).into());
                }
                Box::pin(request.cluster.truncate(request.node, table.id)).await?;
                Ok(Outcome::default())
            }
        }
    }

    fn use_keyspace(&self, name: &str, request: &Request<'_>) -> Result<Outcome, Error> {
        if request.cluster.schema(request.node).keyspace(name).is_none() {
            return Err(match analysis::unknown_keyspace(name) {
                unsupported @ ErrorKind::Unsupported(_) => Error::new(unsupported),
                _ => SessionError::UseUnknownKeyspace(name.to_string()).into(),
            });
        }
        self.inner.settings.lock().keyspace = Some(name.to_string());
        Ok(Outcome { kind: OutcomeKind::SetKeyspace(name.to_string()), ..Outcome::default() })
    }

    fn change_schema(
        &self,
        plan: &ddl::SchemaPlan,
        request: &Request<'_>,
    ) -> Result<Outcome, Error> {
        let schema = request.cluster.schema(request.node);
        let now_micros = request.cluster.clock().now_micros();
        let datacenters = self.inner.cluster.datacenters();
        let keyspace = self.keyspace();
        let cx = Context::new(&schema, keyspace.as_deref(), now_micros / 1000, datacenters, 0);
        let decision = ddl::decide(&cx, plan, now_micros, &|| request.cluster.random_uuid())?;
        let kind = match decision.change {
            None => OutcomeKind::Void,
            Some((changes, event)) => {
                for change in changes {
                    request.cluster.change_schema(request.node, change)?;
                }
                OutcomeKind::SchemaChange(event)
            }
        };
        Ok(Outcome { kind, warnings: decision.warnings, ..Outcome::default() })
    }
}

/// Values for a request that outlives the caller's.
fn bind_owned(
    values: &impl BindValues,
    planned: &Planned,
) -> Result<Vec<BindValue<'static>>, Error> {
    Ok(values.bind(&planned.plan)?.into_iter().map(BindValue::into_owned).collect())
}

/// Iterator over the pages of a query: see [`Session::pages`].
#[derive(Debug)]
pub struct Pages<'s> {
    session: &'s Session,
    next: Option<Statement<'s>>,
    values: Result<Vec<BindValue<'static>>, Error>,
    rows: u32,
}

impl Iterator for Pages<'_> {
    type Item = Result<QueryResult, Error>;

    fn next(&mut self) -> Option<Result<QueryResult, Error>> {
        let statement = self.next.take()?;
        let page = match &self.values {
            Err(error) => Err(error.clone()),
            Ok(values) => self.session.execute(statement.clone(), values.as_slice()),
        };
        if let Ok(result) = &page {
            self.next = result
                .paging_state()
                .map(|state| statement.with_page(self.rows, Some(state.to_vec())));
        }
        Some(page)
    }
}
