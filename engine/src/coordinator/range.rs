//! Reading partitions by token range: piece after piece of the ring, in token order.
//!
//! ```text
//! ring          10 (n1)      20 (n2)      30 (n1)
//! pieces   ( .. 10]   (10, 20]   (20, 30]   (30, .. )        the last belongs to n1, round the end of the ring
//! RF 1     n1         n2         n1         n1               the last two are asked as one
//! ```
//!
//! Neighbouring pieces are read as one while the replicas that both have are enough for the level, as in Cassandra; with as many replicas as nodes
//! the whole ring is one piece. Each piece is a read of its own: its replicas, Unavailable if too few live, data from as many as the level needs,
//! merged. There are no digests. A piece is looked at only when the ones before it left room under the limit, so a dead replica behind
//! the limit refuses nothing.

use super::read::{Contacted, Found, contacts};
use super::reconcile;
use super::{Coordinator, Nodes, Tally};
use crate::error::Error;
use crate::node::Placed;
use crate::ring::{Consistency, NodeId, Token, Topology};
use crate::row::ReadCommand;
use crate::row::query::{KeyRange, Limits, Partitions, Resume};
use crate::schema::Replication;
use std::collections::VecDeque;
use std::sync::Arc;

/// Reads a command over [`Partitions::Range`].
pub(super) async fn read(
    coordinator: &Coordinator<'_>,
    command: &ReadCommand,
    placed: &Placed,
    level: Consistency,
    tally: &mut Tally,
) -> Result<Found, Error> {
    let Partitions::Range(wanted) = &command.partitions else {
        unreachable!("reads by key have a path of their own")
    };
    let resume = command.limits.resume.as_ref();
    let wanted = narrowed(wanted, resume);
    let pieces = match placed.replication {
        Replication::Local => vec![Piece { range: wanted, index: 0 }],
        _ if placed.placement.is_everywhere(coordinator.topology) => {
            vec![Piece { range: wanted, index: 0 }]
        }
        _ => pieces(coordinator.topology, &wanted),
    };
    let mut planned = PlannedPieces { coordinator, placed, level, pieces: pieces.into() };
    let mut all = Found::default();
    let mut rows_left = command.limits.rows;
    while rows_left > 0 {
        let Some(piece) = planned.next_merged()? else { return Ok(all) };
        let part = ReadCommand {
            limits: Limits {
                rows: rows_left,
                per_partition: command.limits.per_partition,
                resume: resume.filter(|r| contains(&piece.range, r.key.token)).cloned(),
            },
            partitions: Partitions::Range(piece.range),
            ..command.clone()
        };
        let found = read_piece(coordinator, part, level, &piece.contacts, tally).await?;
        rows_left = rows_left.saturating_sub(found.row_count());
        all.limited = found.limited;
        all.partitions.extend(found.partitions);
    }
    all.limited |= !planned.is_done();
    Ok(all)
}

async fn read_piece(
    coordinator: &Coordinator<'_>,
    command: ReadCommand,
    level: Consistency,
    contacts: &[NodeId],
    tally: &mut Tally,
) -> Result<Found, Error> {
    let read = Contacted { coordinator, level, contacts };
    match *contacts {
        [] => return Err(read.timeout(0, false)),
        [one] if one == coordinator.own.id() => return read.own_rows(&command, tally),
        _ => {}
    }
    let command = Arc::new(command);
    let found = match *contacts {
        [_] => read.rows_of_one(&command, tally).await,
        _ => match read.full_data(contacts, &command, tally).await {
            Ok(data) => reconcile::reconcile(&read, &command, data, tally).await,
            Err(error) => Err(error),
        },
    };
    tally.sum_up(&command);
    found
}

/// A part of the ring between two tokens that has one list of replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its tokens.
    pub range: KeyRange,
    /// Place on the ring of the token that owns it.
    pub index: usize,
}

/// Cuts a range at the tokens of the ring, in token order. Parts in which no token lies are left out.
pub fn pieces(topology: &Topology, wanted: &KeyRange) -> Vec<Piece> {
    let ring = &topology.ring;
    let first = wanted.start.map_or(0, |(token, _)| ring.partition_point(|&(t, _)| t < token));
    let mut pieces = Vec::new();
    for index in first..=ring.len() {
        let start = index.checked_sub(1).map(|before| (ring[before].0, false));
        let end = ring.get(index).map(|&(token, _)| (token, true));
        let range = KeyRange { start: later(start, wanted.start), end: earlier(end, wanted.end) };
        if has_tokens(&range) {
            pieces.push(Piece { range, index: index % ring.len() });
        }
        if let (Some((end, _)), Some((last, _))) = (wanted.end, ring.get(index))
            && end <= *last
        {
            break;
        }
    }
    pieces
}

type Edge = Option<(Token, bool)>;

/// The stricter of two starts.
fn later(a: Edge, b: Edge) -> Edge {
    match (a, b) {
        (Some(a), Some(b)) if a.0 == b.0 => Some((a.0, a.1 && b.1)),
        (Some(a), Some(b)) => Some(if a.0 > b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// The stricter of two ends.
fn earlier(a: Edge, b: Edge) -> Edge {
    match (a, b) {
        (Some(a), Some(b)) if a.0 == b.0 => Some((a.0, a.1 && b.1)),
        (Some(a), Some(b)) => Some(if a.0 < b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

fn has_tokens(range: &KeyRange) -> bool {
    match (range.start, range.end) {
        (Some((start, from)), Some((end, to))) => {
            let is_gap = start < end && start.0 + 1 == end.0 && !from && !to;
            (start < end && !is_gap) || (start == end && from && to)
        }
        _ => true,
    }
}

fn contains(range: &KeyRange, token: Token) -> bool {
    let after_start =
        range.start.is_none_or(|(start, own)| start < token || (own && start == token));
    let before_end = range.end.is_none_or(|(end, own)| token < end || (own && end == token));
    after_start && before_end
}

/// What is left of a range after the place where the page before ended.
fn narrowed(wanted: &KeyRange, resume: Option<&Resume>) -> KeyRange {
    let start = resume.map(|resume| (resume.key.token, true));
    KeyRange { start: later(start, wanted.start), end: wanted.end }
}

/// Pieces with the replicas to ask, neighbours joined.
struct PlannedPieces<'a> {
    coordinator: &'a Coordinator<'a>,
    placed: &'a Placed,
    level: Consistency,
    pieces: VecDeque<Piece>,
}

struct PlannedPiece {
    range: KeyRange,
    alive: Nodes,
    contacts: Nodes,
}

impl PlannedPieces<'_> {
    fn is_done(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The next run of pieces that the same replicas can answer.
    fn next_merged(&mut self) -> Result<Option<PlannedPiece>, Error> {
        let Some(mut joined) = self.take_one()? else { return Ok(None) };
        while !self.pieces.is_empty() {
            // Too few alive behind this run refuses the read only if the read gets there.
            let place = self.pieces.front().expect("just looked at").clone();
            let Ok(next) = self.plan(&place) else { break };
            let Some(both) = self.join(&joined, &next) else { break };
            self.pieces.pop_front();
            joined = both;
        }
        Ok(Some(joined))
    }

    fn take_one(&mut self) -> Result<Option<PlannedPiece>, Error> {
        match self.pieces.pop_front() {
            Some(piece) => self.plan(&piece).map(Some),
            None => Ok(None),
        }
    }

    fn plan(&self, piece: &Piece) -> Result<PlannedPiece, Error> {
        let alive = self.coordinator.alive_replicas(self.placed, piece.index);
        self.coordinator.check_available(self.placed, self.level, &alive)?;
        let contacts = contacts(self.coordinator, self.placed, self.level, alive.clone());
        Ok(PlannedPiece { range: piece.range.clone(), alive, contacts })
    }

    /// Both as one, if the replicas that they share are enough, and no remote or foreign replica has to stand in for a
    /// closer one.
    fn join(&self, a: &PlannedPiece, b: &PlannedPiece) -> Option<PlannedPiece> {
        let alive: Nodes = a.alive.iter().copied().filter(|id| b.alive.contains(id)).collect();
        self.coordinator.check_available(self.placed, self.level, &alive).ok()?;
        let contacts = contacts(self.coordinator, self.placed, self.level, alive.clone());
        let own = self.coordinator.own.id();
        let loses_own =
            (a.contacts.contains(&own) || b.contacts.contains(&own)) && !contacts.contains(&own);
        let local = self.coordinator.local_datacenter();
        let is_remote = |&id: &NodeId| self.coordinator.datacenter_of(id) != local;
        let has_remote = |ids: &[NodeId]| ids.iter().any(is_remote);
        let goes_remote =
            has_remote(&contacts) && !has_remote(&a.contacts) && !has_remote(&b.contacts);
        if loses_own || goes_remote {
            return None;
        }
        let range = KeyRange { start: a.range.start, end: b.range.end };
        Some(PlannedPiece { range, alive, contacts })
    }
}
