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
use super::{Coordinator, Gather, Nodes, Tally, range, summary};
use crate::error::{Error, FailureReason};
use crate::lsm::ReplicaRead;
use crate::node::{Message, Placed, Reply, Want, replica};
use crate::ring::{Consistency, NodeId, Token};
use crate::row::query::{Keys, Limits, PartitionRows, Partitions, ReadReport, Resume};
use crate::row::thresholds::Notices;
use crate::row::{DecoratedKey, ReadCommand, ReadResult, merge};
use crate::sim::network::Lost;
use std::sync::Arc;

/// Reads at the level. `report` gets what there is to tell, whether the read succeeds or not.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::ReadTimeout`], [`Error::ReadFailure`], or a replica's own failure.
pub async fn read(
    coordinator: &Coordinator<'_>,
    command: ReadCommand,
    level: Consistency,
    report: &mut ReadReport,
) -> Result<ReadResult, Error> {
    let mut tally = Tally::default();
    let found = find(coordinator, command, level, &mut tally).await;
    let cost = tally.into_report(report);
    found.map(|Found { partitions, limited }| ReadResult { partitions, limited, cost })
}

/// The direct path as a plain function: a read of one partition for which the coordinator's own replica is enough. `None`
/// where it takes others, or more partitions, or where the read fails before it asks anybody: [`read`] sees to those.
pub fn read_own(
    coordinator: &Coordinator<'_>,
    command: &ReadCommand,
    level: Consistency,
    report: &mut ReadReport,
) -> Option<Result<ReadResult, Error>> {
    let Partitions::Keys(keys) = &command.partitions else { return None };
    let ([key], [_]) = (&keys[..], keys_to_read(keys, &command.limits)) else { return None };
    let placed = coordinator.placed(&command.table.keyspace).ok()?;
    let alive = coordinator.alive_replicas(placed, coordinator.topology.owner_index(key.token));
    coordinator.check_available(placed, level, &alive).ok()?;
    let contacts = contacts(coordinator, placed, level, alive);
    if contacts[..] != [coordinator.own.id()] {
        return None;
    }
    let mut tally = Tally::default();
    let read = Contacted { coordinator, level, contacts: &contacts }.own_rows(command, &mut tally);
    let cost = tally.into_report(report);
    Some(read.map(|Found { partitions, limited }| ReadResult { partitions, limited, cost }))
}

async fn find(
    coordinator: &Coordinator<'_>,
    command: ReadCommand,
    level: Consistency,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let placed = coordinator.placed(&command.table.keyspace)?;
    match &command.partitions {
        Partitions::Keys(keys) if keys.len() == 1 => {
            let token = keys[0].token;
            match keys_to_read(keys, &command.limits) {
                [] => Ok(Found::default()),
                _ => by_key(coordinator, command, token, placed, level, tally).await,
            }
        }
        Partitions::Keys(keys) => {
            let keys = keys_to_read(keys, &command.limits);
            Box::pin(by_keys(coordinator, &command, keys, placed, level, tally)).await
        }
        Partitions::Range(_) => {
            Box::pin(range::read(coordinator, &command, placed, level, tally)).await
        }
    }
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

    /// Keeps so many rows of the one partition there may be.
    fn cut(&mut self, rows: u64) {
        if self.row_count() > rows {
            self.limited = true;
            match (rows, self.partitions.last_mut()) {
                (0, _) | (_, None) => self.partitions.clear(),
                (rows, Some(partition)) => {
                    partition.rows.truncate(usize::try_from(rows).unwrap_or(usize::MAX));
                }
            }
        }
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
    let every_key = command.every_key;
    let mut rows_left = command.limits.rows;
    let mut failed = None;
    for key in keys {
        if rows_left == 0 {
            all.limited = true;
            if !every_key {
                break;
            }
        }
        let is_resumed = |resume: &Resume| resume.key == *key;
        let one = ReadCommand {
            partitions: Partitions::Keys(Keys::from_buf([key.clone()])),
            limits: Limits {
                rows: if every_key { command.limits.rows } else { rows_left },
                per_partition: command.limits.per_partition,
                resume: command.limits.resume.clone().filter(is_resumed),
            },
            ..command.clone()
        };
        let mut found = match by_key(coordinator, one, key.token, placed, level, tally).await {
            Ok(found) => found,
            // The others are under way: they are read, and their warnings told, all the same.
            Err(error @ Error::ReadFailure { .. }) if every_key => {
                failed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        found.cut(rows_left);
        rows_left = rows_left.saturating_sub(found.row_count());
        all.limited |= found.limited;
        all.partitions.extend(found.partitions);
    }
    failed.map_or(Ok(all), Err)
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
        [] => return Err(read.timeout(0, false)),
        [one] if one == coordinator.own.id() => return read.own_rows(&command, tally),
        _ => {}
    }
    let command = Arc::new(command);
    let found = match contacts[..] {
        [_] => Box::pin(read.rows_of_one(&command, tally)).await,
        _ => Box::pin(read.data_and_digests(&command, tally)).await,
    };
    tally.sum_up(&command);
    found
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

/// A read of one partition or one piece of the ring, and the replicas that it asks.
#[derive(Clone, Copy)]
pub(super) struct Contacted<'a> {
    pub(super) coordinator: &'a Coordinator<'a>,
    pub(super) level: Consistency,
    pub(super) contacts: &'a [NodeId],
}

impl Contacted<'_> {
    /// The direct path: the coordinator's own replica is enough.
    pub(super) fn own_rows(
        &self,
        command: &ReadCommand,
        tally: &mut Tally,
    ) -> Result<Found, Error> {
        let own = self.coordinator.own.id();
        let read = replica::read_rows(self.coordinator.own, command)?;
        tally.arrived(own, own);
        let abort = read.notices.as_ref().and_then(|notices| notices.abort());
        tally.add(&read.cost, read.trace, read.notices, true);
        let failure = abort.map(|reason| self.failure(own, reason, 0, false, command, tally));
        tally.sum_up(command);
        match failure {
            Some(error) => Err(error),
            None => Ok(Found { partitions: read.partitions, limited: read.limited }),
        }
    }

    /// The failure that a client gets when `from` gave up after `received` replicas had answered.
    fn failure(
        &self,
        from: NodeId,
        reason: FailureReason,
        received: usize,
        data_present: bool,
        command: &ReadCommand,
        tally: &Tally,
    ) -> Error {
        let node = self.coordinator.topology.node(from);
        let address = node.expect("replicas are nodes of the topology").address;
        Error::ReadFailure {
            consistency: self.level,
            received,
            required: self.contacts.len(),
            failures: vec![(address, reason)],
            summary: summary::failure(command, &tally.said),
            data_present,
        }
    }

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
        command: &Arc<ReadCommand>,
        tally: &mut Tally,
    ) -> Result<Found, Error> {
        let mut answers = self.ask(self.contacts, command, Want::Rows, tally);
        let Some((from, reply)) = answers.next().await else { return Err(self.timeout(0, false)) };
        match self.accept(from, reply, tally)? {
            Some(Reply::Rows(read)) => {
                let abort = read.notices.as_ref().and_then(|notices| notices.abort());
                tally.add(&read.cost, read.trace, read.notices, false);
                match abort {
                    Some(reason) => Err(self.failure(from, reason, 0, false, command, tally)),
                    None => Ok(Found { partitions: read.partitions, limited: read.limited }),
                }
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
        let mut aborts = Aborts::default();
        while let Some((from, reply)) = answers.next().await {
            match self.accept(from, reply, tally)? {
                Some(Reply::Data(mut read)) => {
                    self.hear(from, &mut read, &mut aborts, tally);
                    data.push((from, read));
                }
                None => {}
                Some(_) => unreachable!("data was asked for"),
            }
        }
        let own_answered = data.iter().any(|(id, _)| *id == self.coordinator.own.id());
        if let Some(error) = self.aborted(&aborts, own_answered, command, tally) {
            return Err(error);
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
        command: &Arc<ReadCommand>,
        tally: &mut Tally,
    ) -> Result<Found, Error> {
        let (closest, others) = self.contacts.split_first().expect("several are contacted");
        let mut answers = self.ask(others, command, Want::Digest, tally);
        answers.add(self.ask(std::slice::from_ref(closest), command, Want::Data, tally));
        let (mut data, mut digests) = (None, Vec::with_capacity(others.len()));
        let mut aborts = Aborts::default();
        while let Some((from, reply)) = answers.next().await {
            match self.accept(from, reply, tally)? {
                Some(Reply::Digest { digest, cost, trace, notices }) => {
                    let is_own = from == self.coordinator.own.id();
                    aborts.note(from, notices.as_deref());
                    tally.add(&cost, trace, notices, is_own);
                    digests.push(digest);
                }
                Some(Reply::Data(mut read)) => {
                    self.hear(from, &mut read, &mut aborts, tally);
                    data = Some(read);
                }
                None => {}
                Some(_) => unreachable!("data and digests were asked for"),
            }
        }
        let own_answered = data.is_some() && *closest == self.coordinator.own.id();
        if let Some(error) = self.aborted(&aborts, own_answered, command, tally) {
            return Err(error);
        }
        let received = digests.len() + usize::from(data.is_some());
        let Some(data) = data.filter(|_| received == self.contacts.len()) else {
            return Err(self.timeout(received, received > digests.len()));
        };
        let expected = merge::digest(&data.partitions);
        let all_agree = digests.iter().all(|digest| *digest == expected);
        if all_agree {
            let merged = merge::merge_replicas(command, vec![data.partitions]);
            tally.cost += &merged.result.cost;
            return Ok(Found {
                partitions: merged.result.partitions,
                limited: merged.result.limited || data.limited,
            });
        }
        tally.cost.digest_mismatches += 1;
        let sources = self.full_data(self.contacts, command, tally).await?;
        reconcile::reconcile(self, command, sources, tally).await
    }

    /// Takes in what a replica says beside its data.
    fn hear(&self, from: NodeId, read: &mut ReplicaRead, aborts: &mut Aborts, tally: &mut Tally) {
        let notices = read.notices.take();
        aborts.note(from, notices.as_deref());
        let is_own = from == self.coordinator.own.id();
        tally.add(&read.cost, std::mem::take(&mut read.trace), notices, is_own);
    }

    /// The first abort fails the read: all that are asked are needed. The coordinator's own replica answers before any message
    /// comes back.
    fn aborted(
        &self,
        aborts: &Aborts,
        own_answered: bool,
        command: &ReadCommand,
        tally: &Tally,
    ) -> Option<Error> {
        let own = self.coordinator.own.id();
        let first = aborts.0.iter().find(|(from, _)| *from == own).or(aborts.0.first());
        let &(from, reason) = first?;
        let before = usize::from(own_answered && from != own);
        Some(self.failure(from, reason, before, before > 0, command, tally))
    }
}

/// Replicas that gave up, in the order in which they answered.
#[derive(Default)]
struct Aborts(Vec<(NodeId, FailureReason)>);

impl Aborts {
    fn note(&mut self, from: NodeId, notices: Option<&Notices>) {
        self.0.extend(notices.and_then(Notices::abort).map(|reason| (from, reason)));
    }
}
