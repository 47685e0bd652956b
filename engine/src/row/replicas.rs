//! Answers of several replicas made into one, what each of them lacks, and digests (sheet D.7).
//!
//! ```text
//! node 1   row 1 a=1@10            row 3          merged  row 1 a=2@20   row 3
//! node 2   row 1 a=2@20   (limit)                 to node 1: row 1 a=2@20
//! ```
//!
//! An answer that a limit cut says nothing of what lies behind its last row. So the merge ends at the nearest
//! such *horizon*; if too few rows remain by then the read was short ([`MergedRead::short`]), and the coordinator
//! asks again for more.

use super::clustering::Bound;
use super::collect::{Collector, Kept};
use super::data::Row;
use super::deletion::DeletionTime;
use super::key::DecoratedKey;
use super::merge::{ListSource, Merge, Run, before};
use super::mutation::{Mutation, RangeDeletion};
use super::query::{Partitions, ReadCommand, ReadResult};
use super::reconcile::{merge_rows, missing};
use super::thresholds::ReadThresholds;
use super::unfiltered::{PartitionData, Unfiltered};
use crate::metrics::Cost;
use std::collections::BTreeMap;

/// What replicas' answers come to.
#[derive(Debug)]
pub struct MergedRead {
    /// The live data. Its cost counts only the rows that the filter looked at here.
    pub result: ReadResult,
    /// For each answer, what its replica lacks.
    pub repairs: Vec<Vec<Mutation>>,
    /// Answers cut by a limit left fewer rows than the limit once merged: there may be more, ask with a greater
    /// limit (Cassandra's short read protection).
    pub short: bool,
}

/// Merges the answers of replicas to one command.
/// Requires: each answer's partitions and rows are in the order of the command.
pub fn merge_replicas(command: &ReadCommand, replies: Vec<Vec<PartitionData>>) -> MergedRead {
    let horizons: Vec<Horizons> =
        replies.iter().map(|reply| Horizons::of(command, reply)).collect();
    let mut collector = Collector::new(command, Kept::Live(Vec::new()), ReadThresholds::NONE);
    let mut repairs: Vec<Vec<Mutation>> = replies.iter().map(|_| Vec::new()).collect();
    let mut short = false;
    for (key, indexes) in in_order(command, &replies) {
        if collector.is_full() {
            break;
        }
        let versions: Vec<Option<&PartitionData>> =
            indexes.iter().zip(&replies).map(|(index, reply)| index.map(|i| &reply[i])).collect();
        let cuts = horizons.iter().filter_map(|h| h.partitions.get(&key));
        let cut = cuts.reduce(|a, b| if before(a, b, command.reversed) { a } else { b });
        let merged = merge_versions(command, &key, &versions, cut);
        for (repair, version) in repairs.iter_mut().zip(&versions) {
            let version = version.map(|v| until(v, cut, command.reversed));
            let mutation = difference(command, &merged, version.as_ref());
            if !mutation.is_empty() {
                repair.push(mutation);
            }
        }
        let mut stream = stream_of(command, &merged);
        let ended = collector
            .partition(&key, merged.static_row.clone(), &mut stream)
            .expect("memory cannot fail to be read");
        let last_read = horizons.iter().any(|h| h.last.as_ref() == Some(&key));
        if cut.is_some() && !ended.by_limit {
            // Rows behind the horizon were not all sent, and what was sent did not fill the limit (a partition of
            // statics alone does not either: there may be rows).
            short = true;
            break;
        }
        if last_read && !collector.is_full() {
            short = true;
            break;
        }
    }
    let limited = collector.is_full();
    let cost = Cost { rows_filtered: collector.counts.filtered, ..Cost::default() };
    let Kept::Live(partitions) = collector.kept else { unreachable!("live rows are kept here") };
    let result = ReadResult { partitions, limited, cost };
    MergedRead { result, repairs, short }
}

/// Where an answer was cut by limits.
struct Horizons {
    /// The last position of each partition that a limit cut.
    partitions: BTreeMap<DecoratedKey, Vec<u8>>,
    /// The partition in which the row limit was used up.
    last: Option<DecoratedKey>,
}

impl Horizons {
    fn of(command: &ReadCommand, reply: &[PartitionData]) -> Horizons {
        let mut counter = Collector::new(command, Kept::Nothing, ReadThresholds::NONE);
        let mut horizons = Horizons { partitions: BTreeMap::new(), last: None };
        for partition in reply {
            let mut stream = stream_of(command, partition);
            let ended = counter
                .partition(&partition.key, partition.static_row.clone(), &mut stream)
                .expect("memory cannot fail to be read");
            if ended.by_limit
                && let Some(last) = partition.unfiltereds.last()
            {
                horizons.partitions.insert(partition.key.clone(), last.position().to_vec());
            }
            if counter.is_full() {
                horizons.last = Some(partition.key.clone());
                break;
            }
        }
        horizons
    }
}

fn whole_run(reversed: bool) -> Run {
    let (start, end) = (Bound::start().0, Bound::end().0);
    if reversed { (end, start) } else { (start, end) }
}

fn stream_of<'a>(command: &ReadCommand, partition: &'a PartitionData) -> Merge<ListSource<'a>> {
    let source = ListSource::new(&partition.unfiltereds, partition.deletion, command.reversed);
    Merge::new(vec![source], vec![whole_run(command.reversed)], command.reversed)
}

/// Each partition of the answers once, in the order of the command, with its index in each answer.
fn in_order(
    command: &ReadCommand,
    replies: &[Vec<PartitionData>],
) -> Vec<(DecoratedKey, Vec<Option<usize>>)> {
    let mut places: BTreeMap<&DecoratedKey, Vec<Option<usize>>> = BTreeMap::new();
    for (reply_index, reply) in replies.iter().enumerate() {
        for (index, partition) in reply.iter().enumerate() {
            let indexes = places.entry(&partition.key).or_insert_with(|| vec![None; replies.len()]);
            indexes[reply_index] = Some(index);
        }
    }
    match &command.partitions {
        Partitions::Range(_) => places.into_iter().map(|(key, i)| (key.clone(), i)).collect(),
        Partitions::Keys(keys) => {
            keys.iter().filter_map(|key| places.remove(key).map(|i| (key.clone(), i))).collect()
        }
    }
}

/// The part of a partition up to and with the position `cut`; a deletion open there is closed.
fn until(partition: &PartitionData, cut: Option<&Vec<u8>>, reversed: bool) -> PartitionData {
    let Some(cut) = cut else { return partition.clone() };
    let mut part = partition.clone();
    let kept = part.unfiltereds.partition_point(|item| !before(cut, item.position(), reversed));
    part.unfiltereds.truncate(kept);
    let open = part.unfiltereds.iter().rev().find_map(|item| match item {
        Unfiltered::Marker(marker) => Some(marker.opens),
        Unfiltered::Row(_) => None,
    });
    if let Some(open) = open.filter(|open| !open.is_live()) {
        let last = part.unfiltereds.last_mut().expect("the marker that opened it");
        match last {
            // Opened at the very cut: nothing of it is left.
            Unfiltered::Marker(marker) if marker.position == *cut && marker.closes.is_live() => {
                part.unfiltereds.pop();
            }
            Unfiltered::Marker(marker) if marker.position == *cut => {
                marker.opens = DeletionTime::LIVE
            }
            _ => part.unfiltereds.push(Unfiltered::Marker(super::unfiltered::Marker {
                position: closing_bound(cut, reversed),
                closes: open,
                opens: DeletionTime::LIVE,
            })),
        }
    }
    part
}

/// A bound at `cut`, which is that of a row or a bound already.
fn closing_bound(cut: &[u8], reversed: bool) -> Vec<u8> {
    if cut.last() == Some(&super::clustering::ROW) {
        super::collect::beyond(cut, reversed)
    } else {
        cut.to_vec()
    }
}

fn merge_versions(
    command: &ReadCommand,
    key: &DecoratedKey,
    versions: &[Option<&PartitionData>],
    cut: Option<&Vec<u8>>,
) -> PartitionData {
    let present: Vec<PartitionData> =
        versions.iter().flatten().map(|v| until(v, cut, command.reversed)).collect();
    let sources = present
        .iter()
        .map(|p| ListSource::new(&p.unfiltereds, p.deletion, command.reversed))
        .collect();
    let mut stream = Merge::new(sources, vec![whole_run(command.reversed)], command.reversed);
    let mut merged = PartitionData::new(key.clone());
    merged.deletion = stream.partition_deletion();
    let statics: Vec<&Row> = present.iter().filter_map(|p| p.static_row.as_ref()).collect();
    if !statics.is_empty() {
        merged.static_row = merge_rows(&statics, merged.deletion).row(&statics);
    }
    while let Some(item) = stream.next().expect("memory cannot fail to be read") {
        merged.unfiltereds.push(item.to_unfiltered());
    }
    merged
}

/// What a replica that answered `have` lacks of `merged`.
fn difference(
    command: &ReadCommand,
    merged: &PartitionData,
    have: Option<&PartitionData>,
) -> Mutation {
    let mut mutation = Mutation::new(command.table.clone(), merged.key.clone());
    let nothing = PartitionData::new(merged.key.clone());
    let have = have.unwrap_or(&nothing);
    if merged.deletion.supersedes(&have.deletion) {
        mutation.deletion = merged.deletion;
    }
    // A read by names may have left other columns out, here or there.
    let whole = !command.by_names();
    let queried = |column| whole || command.columns.contains(&column);
    let held_static = have.static_row.as_ref();
    mutation.static_row =
        merged.static_row.as_ref().and_then(|row| missing(row, held_static, queried));
    let rows = |data: &PartitionData| {
        let rows = data.unfiltereds.iter().filter_map(|item| match item {
            Unfiltered::Row(row) => Some(row.clone()),
            Unfiltered::Marker(_) => None,
        });
        rows.collect::<Vec<Row>>()
    };
    let held: BTreeMap<Vec<u8>, Row> =
        rows(have).into_iter().map(|row| (row.position().to_vec(), row)).collect();
    for row in rows(merged) {
        if let Some(lacking) = missing(&row, held.get(row.position()), queried) {
            mutation.rows.push(lacking);
        }
    }
    mutation.ranges = lacking_ranges(command.reversed, merged, have);
    mutation
}

/// The ranges in which `merged` deletes more than `have` does.
fn lacking_ranges(
    reversed: bool,
    merged: &PartitionData,
    have: &PartitionData,
) -> Vec<RangeDeletion> {
    let opens = |data: &PartitionData| {
        let markers = data.unfiltereds.iter().filter_map(|item| match item {
            Unfiltered::Marker(marker) => Some((marker.position.clone(), marker.opens)),
            Unfiltered::Row(_) => None,
        });
        markers.collect::<BTreeMap<Vec<u8>, DeletionTime>>()
    };
    let (wanted, held) = (opens(merged), opens(have));
    let mut places: Vec<&Vec<u8>> = wanted.keys().chain(held.keys()).collect();
    places.sort();
    places.dedup();
    if reversed {
        places.reverse();
    }
    let (mut want, mut hold) = (DeletionTime::LIVE, DeletionTime::LIVE);
    let mut ranges: Vec<RangeDeletion> = Vec::new();
    for pair in places.windows(2) {
        want = wanted.get(pair[0]).copied().unwrap_or(want);
        hold = held.get(pair[0]).copied().unwrap_or(hold);
        if want.is_live() || !want.supersedes(&hold.max(have.deletion)) {
            continue;
        }
        let (start, end) = if reversed { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
        ranges.push(RangeDeletion {
            start: Bound(start.clone()),
            end: Bound(end.clone()),
            deletion: want,
        });
    }
    ranges
}

/// A fingerprint of answers: equal for replicas that hold the same values, timestamps and TTLs, whatever the seconds
/// in which their deletions were written (sheet D.7). Not a defence against forgery.
pub fn digest(partitions: &[PartitionData]) -> [u8; 16] {
    let mut hash = Digest { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 };
    for partition in partitions {
        hash.bytes(&partition.key.bytes);
        hash.word(partition.deletion.timestamp_micros as u64);
        if let Some(row) = &partition.static_row {
            hash.row(row);
        }
        for item in &partition.unfiltereds {
            match item {
                Unfiltered::Row(row) => hash.row(row),
                // A bound between two ranges of one deletion says nothing.
                Unfiltered::Marker(marker) if marker.closes == marker.opens => {}
                Unfiltered::Marker(marker) => {
                    hash.bytes(&marker.position);
                    hash.word(marker.closes.timestamp_micros as u64);
                    hash.word(marker.opens.timestamp_micros as u64);
                }
            }
        }
    }
    let mut out = [0; 16];
    let (a, b) = (hash.a ^ hash.b.rotate_left(17), hash.b.wrapping_mul(PRIME_A) ^ hash.a);
    out[..8].copy_from_slice(&a.to_le_bytes());
    out[8..].copy_from_slice(&b.to_le_bytes());
    out
}

const PRIME_A: u64 = 0x9e37_79b9_7f4a_7c15;
const PRIME_B: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Two lanes, eight bytes a step.
struct Digest {
    a: u64,
    b: u64,
}

impl Digest {
    fn word(&mut self, word: u64) {
        self.a = (self.a ^ word).wrapping_mul(PRIME_A).rotate_left(29);
        self.b = (self.b.wrapping_add(word)).wrapping_mul(PRIME_B).rotate_left(31) ^ self.a;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    fn row(&mut self, row: &Row) {
        self.bytes(row.position());
        if let Some(marker) = row.marker() {
            self.word(marker.timestamp_micros as u64);
            if marker.ttl_seconds != 0 {
                self.word(u64::from(marker.ttl_seconds));
                self.word(marker.expires_seconds as u64);
            }
        }
        self.word(row.deletion().timestamp_micros as u64);
        for (column, deletion) in row.complex_deletions() {
            self.word(u64::from(column.0));
            self.word(deletion.timestamp_micros as u64);
        }
        for cell in row.cells() {
            self.word(u64::from(cell.column.0) | u64::from(cell.ttl_seconds) << 16);
            self.word(cell.timestamp_micros as u64);
            if let Some(path) = cell.path {
                self.bytes(path.value);
            }
            // A live empty value and a tombstone differ.
            self.word(u64::from(cell.is_tombstone()));
            self.bytes(cell.value);
        }
    }
}
