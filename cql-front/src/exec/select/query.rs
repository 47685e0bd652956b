//! One SELECT with its values bound: what to read, and reads of parts of it.

use super::paging::PagingState;
use super::size::SizeLimit;
use crate::analysis::select::SelectPlan;
use crate::analysis::terms::Env;
use crate::error::restriction::RestrictionError;
use crate::error::session::SessionError;
use crate::error::{Error, ErrorKind};
use crate::exec::Request;
use cassling_engine::cluster::Cluster;
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::row::query::{
    Limits, Partitions, ReadCommand, ReadReport, Resume, RowSelection, Shown, ShownLimits,
};
use cassling_engine::row::{DecoratedKey, PartitionRows};
use smallvec::SmallVec;

/// A SELECT with bound values.
pub(super) struct Query<'q> {
    cluster: &'q Cluster,
    node: NodeId,
    /// The level to read at.
    pub(super) consistency: Consistency,
    /// All of it, without limits.
    command: ReadCommand,
    /// How many partitions are named; `None` for a range.
    pub(super) key_count: Option<usize>,
    /// Where it ends.
    pub(super) ends: Ends,
    /// Nothing can be found: IN of nothing, or a slice that ends before it begins.
    pub(super) is_empty: bool,
}

/// What is known beforehand of the end of a SELECT.
pub(super) struct Ends {
    /// The last partition named; `None` for a range, and where nobody pages.
    last_key: Option<DecoratedKey>,
    /// The table has no clustering columns, so that a partition has one row at most.
    single_rows: bool,
}

fn is_of_whole_key(error: &Error) -> bool {
    use RestrictionError::{EmptyKey, KeyTooLong};
    matches!(error.kind.as_ref(), ErrorKind::Restriction(EmptyKey | KeyTooLong(_)))
}

impl<'q> Query<'q> {
    /// Binds WHERE.
    pub(super) fn new(
        plan: &SelectPlan,
        request: &Request<'q>,
        env: &Env<'_>,
        now_seconds: i64,
    ) -> Result<Query<'q>, Error> {
        let filter = plan.restrictions.filter(env)?;
        let partitions = match plan.restrictions.partitions(env) {
            Err(error) if !is_of_whole_key(&error) => return Err(error),
            partitions => partitions,
        };
        // Clustering values are not looked at where no key is asked for.
        let asks_nothing = matches!(&partitions, Ok(Partitions::Keys(keys)) if keys.is_empty());
        let rows = if asks_nothing {
            RowSelection::Names(SmallVec::new())
        } else {
            plan.restrictions.rows(env)?
        };
        let no_rows = match &rows {
            RowSelection::Slices(slices) => slices.iter().all(|slice| slice.is_empty()),
            RowSelection::Names(names) => names.is_empty(),
        };
        // A key as a whole is checked only once there are rows to read.
        let partitions = match partitions {
            Err(_) if no_rows => Partitions::Keys(SmallVec::new()),
            partitions => partitions?,
        };
        let aggregates = plan.grouping.is_some() || plan.selection.is_aggregate;
        let ends_pages = request.page_size.is_some() || aggregates;
        let (key_count, last_key) = match &partitions {
            Partitions::Keys(keys) => {
                (Some(keys.len()), keys.last().filter(|_| ends_pages).cloned())
            }
            Partitions::Range(_) => (None, None),
        };
        let command = ReadCommand {
            table: plan.table.clone(),
            partitions,
            rows,
            reversed: plan.reversed,
            columns: plan.columns.clone(),
            filter,
            limits: Limits::NONE,
            static_only_counts: plan.restrictions.restricts_only_key_or_static(),
            distinct: plan.distinct,
            now_seconds,
            every_key: false,
            only_columns: false,
            shown: Shown {
                select: plan.shown.text(&plan.selection, env),
                limits: ShownLimits::AsRead,
            },
        };
        Ok(Query {
            cluster: request.cluster,
            node: request.node,
            consistency: request.consistency,
            command,
            is_empty: key_count == Some(0) || no_rows,
            key_count,
            ends: Ends { last_key, single_rows: plan.table.clustering().is_empty() },
        })
    }

    /// Checks that a paging state belongs to this read: its key must be among those asked for.
    pub(super) fn resume(&self, state: PagingState) -> Result<PagingState, Error> {
        let known = match &self.command.partitions {
            Partitions::Keys(keys) => keys.contains(&state.key),
            Partitions::Range(_) => true,
        };
        if known { Ok(state) } else { Err(SessionError::InvalidPagingState.into()) }
    }

    /// Reads up to `rows` rows from where `resume` says.
    pub(super) async fn read(
        &self,
        reads: &mut ReadReport,
        rows: u64,
        per_partition: u64,
        resume: Option<Resume>,
    ) -> Result<Vec<PartitionRows>, Error> {
        let limits = Limits { rows, per_partition, resume };
        if self.finds_nothing(&limits) {
            return Ok(Vec::new());
        }
        let command = ReadCommand { limits, ..self.command.clone() };
        let read = self.cluster.read_reported(self.node, command, self.consistency, reads);
        Ok(read.await?.partitions)
    }

    /// How messages show the limits of its reads, from here on.
    pub(super) fn show_limits(&mut self, limits: ShownLimits) {
        self.command.shown.limits = limits;
    }

    /// What the answer is held to, if a threshold is set.
    pub(super) fn size_limit(&self, request: &Request<'_>) -> Option<SizeLimit> {
        SizeLimit::of(request, &self.command)
    }

    /// Each key is read up to the row limit, as Cassandra does without pages.
    pub(super) fn read_every_key(&mut self) {
        self.command.every_key = true;
    }

    /// Sets the limits of the only read there is.
    pub(super) fn limit_to(&mut self, limits: Limits) {
        self.command.limits = limits;
    }

    /// The only read there is, without a future, if the coordinator's own replica is enough for it.
    pub(super) fn read_own(
        &self,
        reads: &mut ReadReport,
    ) -> Option<Result<Vec<PartitionRows>, Error>> {
        if self.finds_nothing(&self.command.limits) {
            return Some(Ok(Vec::new()));
        }
        let read = self.cluster.read_own(self.node, &self.command, self.consistency, reads)?;
        Some(read.map(|read| read.partitions).map_err(Error::from))
    }

    /// The only read there is: what was bound goes to the engine uncopied. Gives also what says whether more follows.
    pub(super) async fn read_once(
        self,
        reads: &mut ReadReport,
    ) -> Result<(Vec<PartitionRows>, Ends), Error> {
        let nothing = self.finds_nothing(&self.command.limits);
        let Query { cluster, node, consistency, command, ends, .. } = self;
        if nothing {
            return Ok((Vec::new(), ends));
        }
        let read = cluster.read_reported(node, command, consistency, reads).await?;
        Ok((read.partitions, ends))
    }

    fn finds_nothing(&self, limits: &Limits) -> bool {
        self.is_empty || limits.rows == 0
    }
}

impl Ends {
    /// The state after a full page; `None` if Cassandra knows that nothing can follow.
    ///
    /// It knows when LIMIT is used up, and when the last named partition is: by PER PARTITION LIMIT, because its one
    /// row was that of its statics, or because the table has one row a partition. Of a range it knows no end.
    pub(super) fn more(&self, mut state: PagingState) -> Option<PagingState> {
        if state.remaining == 0 {
            return None;
        }
        if state.position.is_none() || self.single_rows {
            state.remaining_in_partition = 0;
        }
        let is_last = self.last_key.as_ref() == Some(&state.key);
        (!is_last || state.remaining_in_partition > 0).then_some(state)
    }
}
