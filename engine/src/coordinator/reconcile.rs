//! Replicas that differ: merge what they hold, mend the stale ones, answer.
//!
//! ```text
//! n1  a=1 @10   b=2 @10                    merged   a=3 @12   b=2 @10     the answer
//! n2  a=3 @12                              repairs  n1 <- a=3 @12         n2 <- b=2 @10
//! ```
//!
//! **Short reads.** With LIMIT 2 a replica sends its first two rows and stops. If another one has deleted them, two rows are
//! missing from the answer although the first replica holds more:
//!
//! ```text
//! n1   r1  r2 | r3 r4        sends r1 r2: cut by the limit
//! n2   xx  xx | r3 r4        sends xx xx r3 r4
//! merged: nothing up to r2, and what n1 holds behind it is not known: the read was short
//! ```
//!
//! Where a merge may trust its sources is [`merge_replicas`]' business. When it says that a read was short, all are asked again
//! with twice the limits, until it was not; the answer is then cut to the limits of the statement. (Cassandra asks the one
//! replica for the rows after its last; the rows that the client sees are the same, the counters are not.)

use super::read::{Contacted, Found};
use super::{Gather, Tally};
use crate::error::Error;
use crate::lsm::ReplicaRead;
use crate::node::{Message, Reply};
use crate::ring::NodeId;
use crate::row::merge::merge_replicas;
use crate::row::query::Limits;
use crate::row::{Mutation, ReadCommand, ReadResult};
use crate::sim::network::Lost;
use std::sync::Arc;

/// Merges what the contacted replicas sent for `command`, asking again while that was too short, then repairs.
pub(super) async fn reconcile(
    read: &Contacted<'_>,
    command: &Arc<ReadCommand>,
    mut sources: Vec<(NodeId, ReplicaRead)>,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let mut asked = Arc::clone(command);
    loop {
        let replicas: Vec<NodeId> = sources.iter().map(|(id, _)| *id).collect();
        let data = sources.into_iter().map(|(_, read)| read.partitions).collect();
        let merged = merge_replicas(&asked, data);
        tally.cost += &merged.result.cost;
        if !merged.short {
            if command.table.options.read_repair != "NONE" {
                repair(read, &replicas, merged.repairs, tally).await?;
            }
            return Ok(cut(command, merged.result));
        }
        asked = Arc::new(widened(&asked));
        sources = read.full_data(&replicas, &asked, tally).await?;
    }
}

/// The same read with twice the limits. DISTINCT stops at each partition's first row, which may be the one that is deleted
/// elsewhere: all rows are read instead.
fn widened(command: &ReadCommand) -> ReadCommand {
    let twice = |limit: u64| limit.saturating_mul(2);
    let mut wider = command.clone();
    wider.distinct = false;
    wider.limits.rows = twice(wider.limits.rows);
    wider.limits.per_partition = twice(wider.limits.per_partition);
    if let Some(resume) = &mut wider.limits.resume {
        resume.remaining_in_partition = twice(resume.remaining_in_partition);
    }
    wider
}

/// Cuts a result that was read with wider limits to those of the statement.
fn cut(command: &ReadCommand, result: ReadResult) -> Found {
    let Limits { rows: mut rows_left, per_partition, ref resume } = command.limits;
    let mut found = Found { partitions: Vec::new(), limited: result.limited };
    for mut partition in result.partitions {
        if rows_left == 0 {
            found.limited = true;
            break;
        }
        let allowed = match resume {
            Some(resume) if resume.key == partition.key => resume.remaining_in_partition,
            _ if command.distinct => 1,
            _ => per_partition,
        };
        let take = usize::try_from(allowed.min(rows_left)).unwrap_or(usize::MAX);
        found.limited |= partition.rows.len() as u64 > rows_left && allowed > rows_left;
        partition.rows.truncate(take);
        rows_left -= (partition.rows.len() as u64).max(1);
        found.partitions.push(partition);
    }
    found
}

/// Sends each stale replica what it lacks and waits for all of them. The stale node gets its repair as a message even when
/// it is the coordinator (cluster-answers.md 6).
async fn repair(
    read: &Contacted<'_>,
    replicas: &[NodeId],
    repairs: Vec<Vec<Mutation>>,
    tally: &mut Tally,
) -> Result<(), Error> {
    let own = read.coordinator.own.id();
    let mut under_way = Vec::new();
    for (&replica, mutations) in replicas.iter().zip(repairs) {
        for mutation in mutations {
            let message = Message::ReadRepair(Arc::new(mutation));
            tally.sent(own, replica);
            tally.cost.read_repairs += 1;
            under_way.push((replica, read.coordinator.send(replica, &message)));
        }
    }
    let mut answers = Gather::new(under_way);
    let mut missing = 0;
    while let Some((from, reply)) = answers.next().await {
        match reply {
            Ok(reply) => {
                tally.arrived(own, from);
                if let Reply::Failed(error) = reply {
                    return Err(error);
                }
            }
            Err(Lost) => missing += 1,
        }
    }
    if missing > 0 {
        return Err(read.timeout(read.contacts.len().saturating_sub(missing), true));
    }
    Ok(())
}
