//! Writing: each mutation to all its living replicas, until as many have it as the level asks for.
//!
//! ```text
//! RF 3, node 3 down, QUORUM through node 1
//!   n1 applies itself       ack 1
//!   n2 <- MUTATION_REQ      ack 2: the level is met, the client is answered
//!   n3 is down              left out; it misses the write until a read repairs it
//! ```
//!
//! Hints will go where a dead replica is left out. Until then a write at ANY whose replicas are all down is
//! acknowledged and lost, as in a Cassandra with hinted handoff switched off. Nothing is ever rolled back.

use super::{Coordinator, Gather, Nodes, Tally};
use crate::error::{Error, WriteKind};
use crate::metrics::Cost;
use crate::node::{Message, Placed, Reply, replica};
use crate::ring::{Consistency, NodeId};
use crate::row::Mutation;
use crate::row::mutation::Mutations;
use crate::schema::Table;
use crate::types::{CqlType, display};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Largest mutation, bytes, unless `max_mutation_size` says otherwise: half a commit log segment of 32 MiB (Cassandra's `max_mutation_size`), so that one always fits.
pub const MUTATION_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Where a mutation goes.
struct Planned<'p> {
    placed: &'p Placed,
    alive: Nodes,
}

/// Writes every mutation at the level.
///
/// # Errors
/// [`Error::Oversized`] and [`Error::Unavailable`] before anything is written; then [`Error::WriteTimeout`], or a
/// replica's own failure if the level cannot be met any more.
pub async fn write(
    coordinator: &Coordinator<'_>,
    mutations: Mutations,
    level: Consistency,
    kind: WriteKind,
) -> Result<Cost, Error> {
    check_batch_log(coordinator, &mutations, level, kind)?;
    let planned = mutations
        .iter()
        .map(|mutation| plan(coordinator, mutation, level))
        .collect::<Result<SmallVec<[Planned<'_>; 1]>, Error>>()?;
    if let ([mutation], [planned]) = (&mutations[..], &planned[..])
        && planned.alive[..] == [coordinator.own.id()]
    {
        return own_write(coordinator, mutation);
    }
    Box::pin(to_replicas(coordinator, mutations, &planned, level, kind)).await
}

/// Each mutation to its living replicas.
async fn to_replicas(
    coordinator: &Coordinator<'_>,
    mutations: Mutations,
    planned: &[Planned<'_>],
    level: Consistency,
    kind: WriteKind,
) -> Result<Cost, Error> {
    let mut tally = Tally::default();
    let mut under_way = Vec::with_capacity(planned.len());
    for (mutation, planned) in mutations.into_iter().zip(planned) {
        let message = Message::Mutation(Arc::new(mutation));
        let send = |&to: &NodeId| {
            tally.sent(coordinator.own.id(), to);
            (to, coordinator.send(to, &message))
        };
        under_way.push(Gather::new(planned.alive.iter().map(send).collect()));
        tally.cost.mutations += 1;
    }
    for (planned, answers) in planned.iter().zip(under_way) {
        await_level(coordinator, planned, answers, level, kind, &mut tally).await?;
    }
    Ok(tally.into_cost())
}

/// The direct path: the coordinator's own replica is the only one alive, and was found to be enough.
fn own_write(coordinator: &Coordinator<'_>, mutation: &Mutation) -> Result<Cost, Error> {
    replica::apply(coordinator.own, mutation)?;
    Ok(Cost { mutations: 1, acks: 1, nodes: 1, ..Cost::default() })
}

fn plan<'p>(
    coordinator: &'p Coordinator<'_>,
    mutation: &Mutation,
    level: Consistency,
) -> Result<Planned<'p>, Error> {
    let limit = coordinator.view.settings.max_mutation_size;
    let limit = limit.and_then(|bytes| usize::try_from(bytes).ok());
    let limit_bytes = limit.unwrap_or(MUTATION_BYTES_MAX);
    if let Some(size_bytes) = mutation.over(limit_bytes) {
        return Err(oversized(mutation, size_bytes, limit_bytes));
    }
    let placed = coordinator.placed(&mutation.table.keyspace)?;
    let place = coordinator.topology.owner_index(mutation.key.token);
    let alive = coordinator.alive_replicas(placed, place);
    coordinator.check_available(placed, level, &alive)?;
    Ok(Planned { placed, alive })
}

/// A logged batch of several partitions is first stored on two other nodes of the data centre, or on one
/// if only one lives; none is Unavailable at level TWO with 0 alive, whatever was asked, unless ANY was
/// (cluster-answers.md 2). A data centre of one node logs on itself.
fn check_batch_log(
    coordinator: &Coordinator<'_>,
    mutations: &[Mutation],
    level: Consistency,
    kind: WriteKind,
) -> Result<(), Error> {
    let partition = |m: &Mutation| (m.table.keyspace.clone(), m.key.clone());
    let is_logged = kind == WriteKind::Batch && level != Consistency::Any;
    if !is_logged || mutations.iter().map(partition).collect::<BTreeSet<_>>().len() < 2 {
        return Ok(());
    }
    let local = coordinator.local_datacenter();
    let own = coordinator.own.id();
    let mut others = coordinator
        .topology
        .nodes
        .iter()
        .filter(|n| n.datacenter == local && n.id != own)
        .peekable();
    if others.peek().is_none() || others.any(|n| coordinator.is_alive(n.id)) {
        return Ok(());
    }
    Err(Error::Unavailable {
        consistency: Consistency::Two,
        required: 2,
        alive: 0,
        datacenter: None,
    })
}

/// Waits until one mutation has as many acknowledgements as the level asks for.
async fn await_level(
    coordinator: &Coordinator<'_>,
    planned: &Planned<'_>,
    mut answers: Gather,
    level: Consistency,
    kind: WriteKind,
    tally: &mut Tally,
) -> Result<(), Error> {
    let mut needed = Needed::new(coordinator, planned.placed, level);
    let mut failure = None;
    while !needed.is_met() {
        let Some((from, answer)) = answers.next().await else { break };
        let Ok(reply) = answer else { continue };
        tally.arrived(coordinator.own.id(), from);
        match reply {
            Reply::Applied => {
                tally.cost.acks += u64::from(needed.acknowledged(coordinator, from));
            }
            Reply::Failed(error) => failure = Some(error),
            Reply::Rows(_) | Reply::Data(_) | Reply::Digest { .. } => {
                unreachable!("a mutation is answered by Applied or Failed")
            }
        }
    }
    // Replies that have come meanwhile are not waited for, but their nodes did work.
    for (from, _) in answers.waiting.iter().filter(|(_, sending)| sending.has_reply()) {
        tally.arrived(coordinator.own.id(), *from);
    }
    if needed.is_met() || (level == Consistency::Any && failure.is_none()) {
        return Ok(());
    }
    Err(failure.unwrap_or(Error::WriteTimeout {
        consistency: level,
        received: needed.received,
        required: needed.required,
        kind,
    }))
}

/// Acknowledgements that a level still needs.
struct Needed<'a> {
    required: usize,
    received: usize,
    /// Only replicas of this data centre count.
    only: Option<&'a str>,
    /// Each of these data centres has to give that many more.
    by_datacenter: Option<BTreeMap<&'a str, usize>>,
}

impl<'a> Needed<'a> {
    fn new(coordinator: &'a Coordinator<'_>, placed: &'a Placed, level: Consistency) -> Needed<'a> {
        let local = coordinator.local_datacenter();
        Needed {
            required: level.block_for(&placed.replication, local),
            received: 0,
            only: level.is_local().then_some(local),
            by_datacenter: level.per_datacenter(&placed.replication),
        }
    }

    /// Nobody is enough only for nobody: replication factor 0 at ALL times out, as in Cassandra.
    fn is_met(&self) -> bool {
        match &self.by_datacenter {
            Some(missing) => missing.values().all(|&n| n == 0),
            None => self.received >= self.required.max(1),
        }
    }

    /// Counts an acknowledgement; whether it counts toward the level.
    fn acknowledged(&mut self, coordinator: &Coordinator<'_>, from: NodeId) -> bool {
        let datacenter = coordinator.datacenter_of(from);
        if self.only.is_some_and(|only| only != datacenter) {
            return false;
        }
        if let Some(missing) = &mut self.by_datacenter {
            match missing.get_mut(datacenter) {
                Some(missing) if *missing > 0 => *missing -= 1,
                _ => return false,
            }
        }
        self.received += 1;
        true
    }
}

fn oversized(mutation: &Mutation, size_bytes: usize, limit_bytes: usize) -> Error {
    Error::Oversized {
        size_bytes,
        limit_bytes,
        keyspace: mutation.table.keyspace.clone(),
        top_keys: format!("{}.{}", mutation.table.name, key_text(&mutation.table, mutation)),
    }
}

/// The key as this message shows it: the components as text without quotes, blobs without `0x`, joined by colons.
fn key_text(table: &Table, mutation: &Mutation) -> String {
    let columns = table.partition_key();
    let values = mutation.key.components(columns.len());
    let text = |ty: &CqlType, value: &[u8]| match ty {
        CqlType::Text | CqlType::Ascii => String::from_utf8_lossy(value).into_owned(),
        CqlType::Blob => value.iter().map(|byte| format!("{byte:02x}")).collect(),
        other => display::literal(other, Some(value)).trim_matches('\'').to_string(),
    };
    let texts: Vec<String> = columns.iter().zip(&values).map(|(c, v)| text(&c.ty, v)).collect();
    texts.join(":")
}
