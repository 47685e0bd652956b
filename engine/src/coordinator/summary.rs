//! What a coordinator says of thresholds that its replicas passed (`read_thresholds_enabled`, sheet E.2).
//!
//! Each replica sends numbers ([`Notices`]); the coordinator says how many replicas passed a threshold and the greatest number,
//! once a read, whichever replicas they were. Without that setting each replica words its own warning, which only the clients
//! of that node see.

use crate::ring::Token;
use crate::row::ReadCommand;
use crate::row::query::Partitions;
use crate::row::thresholds::{Notices, Passed};

/// How many replicas passed a threshold, and how far the farthest went.
#[derive(Clone, Copy, Default)]
struct Sum {
    nodes: usize,
    greatest: u64,
}

impl Sum {
    fn add(&mut self, value: u64) {
        self.nodes += 1;
        self.greatest = self.greatest.max(value);
    }

    fn met(self) -> Option<Sum> {
        (self.nodes > 0).then_some(self)
    }
}

/// Those that warned and those that gave up.
fn sums(said: &[Notices], of: impl Fn(&Notices) -> Option<Passed>) -> (Option<Sum>, Option<Sum>) {
    let (mut warned, mut failed) = (Sum::default(), Sum::default());
    for passed in said.iter().filter_map(of) {
        match passed {
            Passed::Warn(value) => warned.add(value),
            Passed::Fail(value) => failed.add(value),
        }
    }
    (warned.met(), failed.met())
}

fn tombstone_failure(sum: Sum, query: &str) -> String {
    let Sum { nodes, greatest } = sum;
    format!(
        "{nodes} nodes scanned over {greatest} tombstones and aborted the query {query} (see tombstone_failure_threshold)"
    )
}

fn size_failure(sum: Sum, query: &str) -> String {
    let Sum { nodes, greatest } = sum;
    format!(
        "{nodes} nodes loaded over {greatest} bytes and aborted the query {query} (see local_read_size_fail_threshold)"
    )
}

/// Warnings for the client.
pub(super) fn warnings(command: &ReadCommand, said: &[Notices]) -> Vec<String> {
    let query = command.cql();
    let mut texts = Vec::new();
    let (warned, failed) = sums(said, |notices| notices.tombstones);
    texts.extend(failed.map(|sum| tombstone_failure(sum, &query)));
    texts.extend(warned.map(|Sum { nodes, greatest }| {
        format!(
            "{nodes} nodes scanned up to {greatest} tombstones and issued tombstone warnings for query {query} (see tombstone_warn_threshold)"
        )
    }));
    let (warned, failed) = sums(said, |notices| notices.bytes);
    texts.extend(failed.map(|sum| size_failure(sum, &query)));
    texts.extend(warned.map(|Sum { nodes, greatest }| {
        format!(
            "{nodes} nodes loaded over {greatest} bytes and issued local read size warnings for query {query} (see local_read_size_warn_threshold)"
        )
    }));
    texts.into_iter().map(|text| format!("{text} with {}", tokens(command))).collect()
}

/// What the client's error says in place of counts.
pub(super) fn failure(command: &ReadCommand, said: &[Notices]) -> Option<String> {
    let of_tombstones = sums(said, |notices| notices.tombstones).1;
    let of_sizes = sums(said, |notices| notices.bytes).1;
    match (of_tombstones, of_sizes) {
        (Some(sum), _) => Some(tombstone_failure(sum, &command.cql())),
        (_, Some(sum)) => Some(size_failure(sum, &command.cql())),
        (None, None) => None,
    }
}

/// The tokens read, as Cassandra adds them for whoever looks for the nodes.
fn tokens(command: &ReadCommand) -> String {
    match &command.partitions {
        Partitions::Keys(keys) => {
            let tokens: Vec<String> = keys.iter().map(|key| key.token.0.to_string()).collect();
            format!("token={}", tokens.join(", "))
        }
        Partitions::Range(range) => {
            let place = |edge: Option<(Token, bool)>| edge.map_or(i64::MIN, |(token, _)| token.0);
            let from = if range.start.is_some_and(|(_, included)| included) { '[' } else { '(' };
            let to = if range.end.is_some_and(|(_, included)| !included) { ')' } else { ']' };
            format!("token range: {from}{}, {}{to}", place(range.start), place(range.end))
        }
    }
}
