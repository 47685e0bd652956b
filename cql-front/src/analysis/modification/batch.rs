//! BATCH: what may stand together (sheet A.8).

use super::{ModificationPlan, prepare};
use crate::analysis::terms::{self, Term};
use crate::analysis::{Context, Receiver};
use crate::ast::{self, BatchKind, Feature};
use crate::error::modification::ModificationError as E;
use crate::error::{Error, ErrorKind};
use cassling_engine::types::CqlType;

/// A checked BATCH.
#[derive(Debug)]
pub struct BatchPlan {
    /// Kind.
    pub kind: BatchKind,
    /// USING TIMESTAMP of the batch.
    pub timestamp: Option<Term>,
    /// Its statements.
    pub members: Vec<ModificationPlan>,
}

/// Checks a BATCH.
///
/// # Errors
/// The refusals of its members, then those of sheet A.8.
pub fn analyse_batch(cx: &Context<'_>, batch: &ast::Batch) -> Result<BatchPlan, Error> {
    let members: Vec<ModificationPlan> =
        batch.statements.iter().map(|member| prepare(cx, member)).collect::<Result<_, _>>()?;
    let timestamp = timestamp(cx, batch, &members)?;
    for member in &members {
        member.check_using()?;
    }
    check_together(batch, &members)?;
    if members.iter().any(|member| member.is_conditional) {
        return Err(ErrorKind::Unsupported(Feature::LightweightTransactions).into_error());
    }
    for member in &members {
        member.check_supported()?;
    }
    Ok(BatchPlan { kind: batch.kind, timestamp, members })
}

fn timestamp(
    cx: &Context<'_>,
    batch: &ast::Batch,
    members: &[ModificationPlan],
) -> Result<Option<Term>, Error> {
    let (keyspace, table) = members
        .first()
        .map(|member| (member.table.keyspace.clone(), member.table.name.clone()))
        .unwrap_or_default();
    let receiver =
        Receiver { keyspace, table, name: "[timestamp]".to_string(), ty: CqlType::Bigint };
    let raw = batch.attributes.timestamp.as_ref();
    raw.map(|raw| terms::prepare(cx, raw, &receiver)).transpose()
}

/// The checks of Cassandra's `BatchStatement.validate`, in its order.
fn check_together(batch: &ast::Batch, members: &[ModificationPlan]) -> Result<(), Error> {
    let refuse = |error: E| Err(Error::new(error));
    let has_timestamp = batch.attributes.timestamp.is_some();
    let counters = members.iter().filter(|member| member.table.is_counter).count();
    let has_conditions = members.iter().any(|member| member.is_conditional);
    if batch.attributes.ttl.is_some() {
        return refuse(E::BatchTtl);
    }
    if has_timestamp && has_conditions {
        return refuse(E::BatchConditionalTimestamp);
    }
    if has_timestamp && batch.kind == BatchKind::Counter {
        return refuse(E::CounterBatchTimestamp);
    }
    if has_timestamp && members.iter().any(|member| member.timestamp.is_some()) {
        return refuse(E::BatchAndStatementTimestamp);
    }
    if has_timestamp && counters > 0 {
        return refuse(E::BatchTimestampWithCounters);
    }
    if batch.kind == BatchKind::Counter && counters < members.len() {
        return refuse(E::NonCounterInCounterBatch);
    }
    if counters > 0 && counters < members.len() {
        return refuse(E::CounterAndNonCounterInBatch);
    }
    if batch.kind == BatchKind::Logged && counters > 0 {
        return refuse(E::CounterInLoggedBatch);
    }
    let tables = |member: &ModificationPlan| member.table.id;
    if has_conditions && members.windows(2).any(|pair| tables(&pair[0]) != tables(&pair[1])) {
        return refuse(E::ConditionalBatchOfTables);
    }
    Ok(())
}
