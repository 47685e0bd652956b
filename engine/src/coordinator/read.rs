//! Reading partitions by key.
//!
//! ```text
//! one replica is enough     it answers live rows: no digest, no merge (the direct path)
//! QUORUM, RF 3, through n1  n1: data    n2: digest    equal: n1's data is the answer
//!                                                     differ: data from n1 and n2, merge, repair the stale one, answer
//! ```
//!
//! The closest living replicas are asked, as many as the level needs, the coordinator's own first (contracts.md 12).
//! A statement with several keys is one read after another, in the order given, until the limit is met.
//! A repair is awaited before the answer goes out, so that a later QUORUM read cannot see older data; a table with
//! `read_repair = 'NONE'` merges and repairs nothing.
//!
//! Not here: how differing replicas are merged ([`super::reconcile`]), and reads over many partitions ([`super::range`]).

use super::reconcile;
use super::{Coordinator, Gather, Nodes, Tally, range};
use crate::error::Error;
use crate::lsm::ReplicaRead;
use crate::node::{Message, Placed, Reply, Want, replica};
use crate::ring::{Consistency, NodeId, Token};
use crate::row::query::{Keys, Limits, PartitionRows, Partitions, Resume};
use crate::row::{DecoratedKey, ReadCommand, ReadResult, merge};
use crate::sim::network::Lost;
use crate::trace::Trace;
use std::sync::Arc;

/// Reads at the level. Gives also the lines that the replicas wrote for a trace, in the order in which they answered.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::ReadTimeout`], or a replica's own failure.
pub async fn read(
    coordinator: &Coordinator<'_>,
    command: ReadCommand,
    level: Consistency,
) -> Result<(ReadResult, Trace), Error> {
    let mut tally = Tally::default();
    let placed = coordinator.placed(&command.table.keyspace)?;
    let found = match &command.partitions {
        Partitions::Keys(keys) if keys.len() == 1 => {
            let token = keys[0].token;
            match keys_to_read(keys, &command.limits) {
                [] => Found::default(),
                _ => by_key(coordinator, command, token, placed, level, &mut tally).await?,
            }
        }
        Partitions::Keys(keys) => {
            let keys = keys_to_read(keys, &command.limits);
            by_keys(coordinator, &command, keys, placed, level, &mut tally).await?
        }
        Partitions::Range(_) => {
            range::read(coordinator, &command, placed, level, &mut tally).await?
        }
    };
    let trace = std::mem::take(&mut tally.trace);
    let result = ReadResult {
        partitions: found.partitions,
        limited: found.limited,
        cost: tally.into_cost(),
        ..ReadResult::default()
    };
    Ok((result, trace))
}

/// What a part of a read found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) partitions: Vec<PartitionRows>,
    pub(super) limited: bool,
}

impl Found {
    /// Rows found: a partition with statics alone counts as one.
    pub(super) fn row_count(&self) -> u64 {
        self.partitions.iter().map(|p| p.rows.len().max(1) as u64).sum()
    }
}

/// The keys still to be read after the place where the page before ended.
fn keys_to_read<'k>(keys: &'k [DecoratedKey], limits: &Limits) -> &'k [DecoratedKey] {
    let Some(resume) = &limits.resume else { return keys };
    let Some(place) = keys.iter().position(|key| *key == resume.key) else { return keys };
    let is_done = resume.position.is_none() || resume.remaining_in_partition == 0;
    &keys[place + usize::from(is_done)..]
}

async fn by_keys(
    coordinator: &Coordinator<'_>,
    command: &ReadCommand,
    keys: &[DecoratedKey],
    placed: &Placed,
    level: Consistency,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let mut all = Found::default();
    let mut rows_left = command.limits.rows;
    for key in keys {
        if rows_left == 0 {
            all.limited = true;
            break;
        }
        let is_resumed = |resume: &Resume| resume.key == *key;
        let one = ReadCommand {
            partitions: Partitions::Keys(Keys::from_buf([key.clone()])),
            limits: Limits {
                rows: rows_left,
                per_partition: command.limits.per_partition,
                resume: command.limits.resume.clone().filter(is_resumed),
            },
            ..command.clone()
        };
        let found = by_key(coordinator, one, key.token, placed, level, tally).await?;
        rows_left = rows_left.saturating_sub(found.row_count());
        all.limited = found.limited;
        all.partitions.extend(found.partitions);
    }
    Ok(all)
}

async fn by_key(
    coordinator: &Coordinator<'_>,
    command: ReadCommand,
    token: Token,
    placed: &Placed,
    level: Consistency,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let place = coordinator.topology.owner_index(token);
    let alive = coordinator.alive_replicas(placed, place);
    coordinator.check_available(placed, level, &alive)?;
    let contacts = contacts(coordinator, placed, level, alive);
    let read = Contacted { coordinator, level, contacts: &contacts };
    match contacts[..] {
        // Replication factor 0 at ALL: nobody is needed and nobody can answer. Cassandra fails here too (0x0000).
        [] => Err(read.timeout(0, false)),
        [one] if one == coordinator.own.id() => own_rows(coordinator, &command, tally),
        [_] => read.rows_of_one(command, tally).await,
        _ => read.data_and_digests(command, tally).await,
    }
}

/// The living replicas that a read asks: the closest, as many as the level needs; for EACH_QUORUM a quorum of each
/// data centre.
/// Requires: enough are alive.
pub(super) fn contacts(
    coordinator: &Coordinator<'_>,
    placed: &Placed,
    level: Consistency,
    alive: Nodes,
) -> Nodes {
    let mut closest = coordinator.by_distance(alive);
    let local = coordinator.local_datacenter();
    if let Some(mut missing) = level.per_datacenter(&placed.replication) {
        closest.retain(|&mut id| match missing.get_mut(coordinator.datacenter_of(id)) {
            Some(missing) if *missing > 0 => {
                *missing -= 1;
                true
            }
            _ => false,
        });
        return closest;
    }
    if level.is_local() {
        closest.retain(|&mut id| coordinator.datacenter_of(id) == local);
    }
    closest.truncate(level.block_for(&placed.replication, local));
    closest
}

/// The direct path: the coordinator's own replica is enough.
pub(super) fn own_rows(
    coordinator: &Coordinator<'_>,
    command: &ReadCommand,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let own = coordinator.own.id();
    let read = replica::read_rows(coordinator.own, command)?;
    tally.arrived(own, own);
    tally.add(&read.cost, read.trace);
    Ok(Found { partitions: read.partitions, limited: read.limited })
}

/// A read of one partition or one piece of the ring, and the replicas that it asks.
#[derive(Clone, Copy)]
pub(super) struct Contacted<'a> {
    pub(super) coordinator: &'a Coordinator<'a>,
    pub(super) level: Consistency,
    pub(super) contacts: &'a [NodeId],
}

impl Contacted<'_> {
    /// Sends a read to each of `to` at once.
    pub(super) fn ask(
        &self,
        to: &[NodeId],
        command: &Arc<ReadCommand>,
        want: Want,
        tally: &mut Tally,
    ) -> Gather {
        let message = Message::Read { command: Arc::clone(command), want };
        let own = self.coordinator.own.id();
        let send = |&to: &NodeId| {
            tally.sent(own, to);
            (to, self.coordinator.send(to, &message))
        };
        Gather::new(to.iter().map(send).collect())
    }

    /// Takes a reply apart into what it holds, or says that it is lost.
    fn accept(
        &self,
        from: NodeId,
        reply: Result<Reply, Lost>,
        tally: &mut Tally,
    ) -> Result<Option<Reply>, Error> {
        match reply {
            Err(Lost) => Ok(None),
            Ok(reply) => {
                tally.arrived(self.coordinator.own.id(), from);
                match reply {
                    Reply::Failed(error) => Err(error),
                    other => Ok(Some(other)),
                }
            }
        }
    }

    /// The time-out that a client gets when only `received` replicas have answered.
    pub(super) fn timeout(&self, received: usize, data_present: bool) -> Error {
        Error::ReadTimeout {
            consistency: self.level,
            received,
            required: self.contacts.len(),
            data_present,
        }
    }

    /// A single other replica is enough: its live rows are the answer.
    pub(super) async fn rows_of_one(
        &self,
        command: ReadCommand,
        tally: &mut Tally,
    ) -> Result<Found, Error> {
        let mut answers = self.ask(self.contacts, &Arc::new(command), Want::Rows, tally);
        let Some((from, reply)) = answers.next().await else { return Err(self.timeout(0, false)) };
        match self.accept(from, reply, tally)? {
            Some(Reply::Rows(read)) => {
                tally.add(&read.cost, read.trace);
                Ok(Found { partitions: read.partitions, limited: read.limited })
            }
            None => Err(self.timeout(0, false)),
            Some(_) => unreachable!("rows were asked for"),
        }
    }

    /// Full data from every one of `from`.
    pub(super) async fn full_data(
        &self,
        from: &[NodeId],
        command: &Arc<ReadCommand>,
        tally: &mut Tally,
    ) -> Result<Vec<(NodeId, ReplicaRead)>, Error> {
        let mut answers = self.ask(from, command, Want::Data, tally);
        let mut data: Vec<(NodeId, ReplicaRead)> = Vec::with_capacity(from.len());
        while let Some((from, reply)) = answers.next().await {
            match self.accept(from, reply, tally)? {
                Some(Reply::Data(mut read)) => {
                    tally.add(&read.cost, std::mem::take(&mut read.trace));
                    data.push((from, read));
                }
                None => {}
                Some(_) => unreachable!("data was asked for"),
            }
        }
        if data.len() < from.len() {
            return Err(self.timeout(data.len(), !data.is_empty()));
        }
        // Merging prefers the earlier of equal sources, so their order must not depend on who was faster.
        data.sort_by_key(|(id, _)| from.iter().position(|from| from == id));
        Ok(data)
    }

    /// Data from the closest replica, digests from the others; if they differ, all of it from all.
    async fn data_and_digests(
        &self,
        command: ReadCommand,
        tally: &mut Tally,
    ) -> Result<Found, Error> {
        let command = Arc::new(command);
        let (closest, others) = self.contacts.split_first().expect("several are contacted");
        let mut answers = self.ask(others, &command, Want::Digest, tally);
        answers.add(self.ask(std::slice::from_ref(closest), &command, Want::Data, tally));
        let (mut data, mut digests) = (None, Vec::with_capacity(others.len()));
        while let Some((from, reply)) = answers.next().await {
            match self.accept(from, reply, tally)? {
                Some(Reply::Digest { digest, cost, trace }) => {
                    tally.add(&cost, trace);
                    digests.push(digest);
                }
                Some(Reply::Data(mut read)) => {
                    tally.add(&read.cost, std::mem::take(&mut read.trace));
                    data = Some(read);
                }
                None => {}
                Some(_) => unreachable!("data and digests were asked for"),
            }
        }
        let received = digests.len() + usize::from(data.is_some());
        let Some(data) = data.filter(|_| received == self.contacts.len()) else {
            return Err(self.timeout(received, received > digests.len()));
        };
        let expected = merge::digest(&data.partitions);
        let all_agree = digests.iter().all(|digest| *digest == expected);
        if all_agree {
            let merged = merge::merge_replicas(&command, vec![data.partitions]);
            tally.cost += &merged.result.cost;
            return Ok(Found {
                partitions: merged.result.partitions,
                limited: merged.result.limited || data.limited,
            });
        }
        tally.cost.digest_mismatches += 1;
        let sources = self.full_data(self.contacts, &command, tally).await?;
        reconcile::reconcile(self, &command, sources, tally).await
    }
}
