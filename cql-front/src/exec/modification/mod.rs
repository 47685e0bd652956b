//! INSERT, UPDATE, DELETE, BATCH: plan and values to mutations.
//!
//! A statement makes one [`Mutation`] for each partition; statements of a batch on one partition share it. Times are taken once:
//! all of a statement, or of a batch without timestamps of its own, is written at one microsecond.
//!
//! [`operation`] writes one column, [`using`] reads TIMESTAMP and TTL, [`batch`] joins statements and measures them.

mod batch;
mod operation;
mod using;

pub use batch::run_batch;

use super::Request;
use crate::analysis::modification::{ModificationPlan, Operation};
use crate::analysis::restrictions::{StatementKind, Target};
use crate::analysis::terms::Env;
use crate::error::Error;
use crate::error::modification::ModificationError as E;
use crate::error::session::SessionError;
use crate::outcome::{Outcome, OutcomeKind};
use cassling_engine::error::WriteKind;
use cassling_engine::ring::Consistency;
use cassling_engine::row::cell::Liveness;
use cassling_engine::row::clustering::ClusteringKey;
use cassling_engine::row::mutation::{Mutations, RangeDeletion};
use cassling_engine::row::query::{
    Limits, Partitions, ReadReport, RowSelection, Shown, ShownLimits,
};
use cassling_engine::row::{DecoratedKey, DeletionTime, Mutation, ReadCommand, Row, RowBuilder};
use cassling_engine::schema::ColumnId;
use cassling_engine::types::quote_name;
use operation::Writer;
use smallvec::SmallVec;
use std::sync::Arc;
use using::Times;

/// Runs an INSERT, UPDATE or DELETE.
///
/// # Errors
/// Bad values, and what the engine answers.
pub async fn run(plan: &ModificationPlan, request: &Request<'_>) -> Result<Outcome, Error> {
    if matches!(request.consistency, Consistency::Serial | Consistency::LocalSerial) {
        return Err(SessionError::SerialWrite.into());
    }
    let mut outcome = Outcome::default();
    let ran = run_one(plan, request, &mut outcome).await;
    finish(ran, outcome)
}

async fn run_one(
    plan: &ModificationPlan,
    request: &Request<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let default_timestamp = default_timestamp(request);
    let mutations = mutations(plan, request, default_timestamp, outcome).await?;
    let kind = if mutations.len() > 1 { WriteKind::UnloggedBatch } else { WriteKind::Simple };
    write(request, mutations, kind, request.consistency, outcome).await
}

/// The outcome, or the error with what had been warned of and spent.
fn finish(ran: Result<(), Error>, outcome: Outcome) -> Result<Outcome, Error> {
    match ran {
        Ok(()) => Ok(outcome),
        Err(mut error) => {
            error.warnings.splice(0..0, outcome.warnings);
            Err(error.with_spent(outcome.cost, outcome.trace))
        }
    }
}

/// The timestamp of what gives none: the client's, or the cluster's next.
fn default_timestamp(request: &Request<'_>) -> i64 {
    request.timestamp_micros.unwrap_or_else(|| request.cluster.next_timestamp_micros())
}

async fn write(
    request: &Request<'_>,
    mutations: Mutations,
    kind: WriteKind,
    consistency: Consistency,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    outcome.kind = OutcomeKind::Void;
    if !mutations.is_empty() {
        let cost = request.cluster.write(request.node, mutations, consistency, kind).await?;
        outcome.cost += &cost;
    }
    Ok(())
}

/// The mutations of one statement; `outcome` takes what reading lists first has cost and warned of.
async fn mutations(
    plan: &ModificationPlan,
    request: &Request<'_>,
    default_timestamp: i64,
    outcome: &mut Outcome,
) -> Result<Mutations, Error> {
    let env = Env { values: request.values, cluster: request.cluster };
    let keys = plan.restrictions.partition_keys(&env)?;
    let target = plan.restrictions.target(&env)?;
    let times = Times::of(plan, &env, default_timestamp)?;
    let reads_lists = plan.operations.iter().any(Operation::reads_first);
    let mut mutations = Mutations::with_capacity(keys.len());
    for key in keys {
        let lists = match reads_lists {
            true => Box::pin(read_lists(plan, request, &key, &target, outcome)).await?,
            false => Lists::default(),
        };
        let mut mutation = Mutation::new(Arc::clone(&plan.table), key);
        let writer = Writer { env: &env, times: &times, lists: &lists };
        fill(plan, &target, &writer, &mut mutation)?;
        if !mutation.is_empty() {
            mutations.push(mutation);
        }
    }
    Ok(mutations)
}

/// Writes what the statement does to one partition.
fn fill(
    plan: &ModificationPlan,
    target: &Target,
    writer: &Writer<'_, '_>,
    mutation: &mut Mutation,
) -> Result<(), Error> {
    let is_delete = plan.kind == StatementKind::Delete;
    let no_clustering = plan.table.clustering().is_empty();
    let deletion = writer.times.deletion();
    match target {
        Target::Partition | Target::Rows(_)
            if is_delete
                && plan.operations.is_empty()
                && (no_clustering || matches!(target, Target::Partition)) =>
        {
            mutation.deletion = deletion;
            return Ok(());
        }
        Target::Partition if !no_clustering && regulars(plan).next().is_some() => {
            return Err(Error::new(E::RangeDeletionOfColumns));
        }
        Target::Ranges(slices) if !slices.is_empty() && !plan.operations.is_empty() => {
            return Err(Error::new(E::RangeDeletionOfColumns));
        }
        Target::Ranges(slices) => {
            mutation.ranges.extend(slices.iter().map(|slice| RangeDeletion {
                start: slice.start.clone(),
                end: slice.end.clone(),
                deletion,
            }));
            return Ok(());
        }
        Target::Rows(rows) => {
            for clustering in rows {
                let row = row(plan, clustering, writer)?;
                mutation.rows.extend(row);
            }
        }
        Target::Static | Target::Partition => {}
    }
    if plan.operations.iter().any(|operation| operation.is_static) {
        let mut row = RowBuilder::new_static();
        for operation in plan.operations.iter().filter(|operation| operation.is_static) {
            writer.write(operation, None, &mut row)?;
        }
        if !row.is_empty() {
            mutation.static_row = Some(row.build());
        }
    }
    Ok(())
}

fn regulars(plan: &ModificationPlan) -> impl Iterator<Item = &Operation> {
    plan.operations.iter().filter(|operation| !operation.is_static)
}

/// What the statement writes at one clustering; `None` if it is nothing.
fn row(
    plan: &ModificationPlan,
    clustering: &ClusteringKey,
    writer: &Writer<'_, '_>,
) -> Result<Option<Row>, Error> {
    let mut row = RowBuilder::at(clustering);
    match plan.kind {
        StatementKind::Insert => {
            let times = writer.times;
            row.marker(Liveness {
                timestamp_micros: times.timestamp_micros,
                ttl_seconds: times.ttl_seconds,
                expires_seconds: times.expires_seconds(),
            });
        }
        StatementKind::Delete if plan.operations.is_empty() => row.delete(writer.times.deletion()),
        StatementKind::Delete | StatementKind::Update | StatementKind::Select => {}
    }
    for operation in regulars(plan) {
        writer.write(operation, Some(&clustering.position), &mut row)?;
    }
    Ok(if row.is_empty() { None } else { Some(row.build()) })
}

/// Lists as they are, for operations that must know them: the rows of a partition, and its static row.
#[derive(Debug, Default)]
struct Lists {
    static_row: Option<Row>,
    rows: Vec<Row>,
}

impl Lists {
    /// The row at a position; `None` stands for the static row.
    fn row(&self, position: Option<&[u8]>) -> Option<&Row> {
        match position {
            None => self.static_row.as_ref(),
            Some(position) => self.rows.iter().find(|row| row.position() == position),
        }
    }
}

/// Reads the lists that operations of the statement look at, at the level of the write.
async fn read_lists(
    plan: &ModificationPlan,
    request: &Request<'_>,
    key: &DecoratedKey,
    target: &Target,
    outcome: &mut Outcome,
) -> Result<Lists, Error> {
    let mut columns: Vec<_> =
        plan.operations.iter().filter(|o| o.reads_first()).map(|o| o.column).collect();
    columns.sort_unstable();
    columns.dedup();
    if request.consistency == Consistency::Any {
        return Err(Error::new(E::ReadLevel(request.consistency.to_string())));
    }
    let rows = match target {
        Target::Rows(rows) => RowSelection::Names(rows.clone()),
        Target::Static | Target::Ranges(_) | Target::Partition => {
            RowSelection::Slices(SmallVec::new())
        }
    };
    let command = ReadCommand {
        table: Arc::clone(&plan.table),
        partitions: Partitions::Keys(SmallVec::from_buf([key.clone()])),
        rows,
        reversed: false,
        shown: Shown { select: shown_columns(plan, &columns), limits: ShownLimits::AsRead },
        every_key: false,
        only_columns: true,
        columns: Arc::from(columns),
        filter: Default::default(),
        limits: Limits::NONE,
        static_only_counts: true,
        distinct: false,
        now_seconds: request.cluster.clock().now_seconds(),
    };
    let mut report = ReadReport::default();
    let read =
        request.cluster.read_reported(request.node, command, request.consistency, &mut report);
    let result = read.await;
    outcome.cost += &report.cost;
    outcome.warnings.append(&mut report.warnings);
    outcome.trace.append(&mut report.trace);
    let result = result?;
    let partition = result.partitions.into_iter().next();
    Ok(partition.map_or_else(Lists::default, |partition| Lists {
        static_row: partition.static_row,
        rows: partition.rows,
    }))
}

/// The lists that are read, as messages show them.
fn shown_columns(plan: &ModificationPlan, columns: &[ColumnId]) -> Arc<str> {
    let wanted = plan.table.columns().iter().filter(|column| columns.contains(&column.id));
    let names: Vec<String> = wanted.map(|column| quote_name(&column.name)).collect();
    Arc::from(names.join(", "))
}

impl Times {
    /// A deletion at the statement's time.
    fn deletion(&self) -> DeletionTime {
        DeletionTime { timestamp_micros: self.timestamp_micros, local_seconds: self.now_seconds }
    }
}
