//! L: flush, files, and what they take on disk.

use super::Bound::{AtLeast, AtMost};
use super::Source::Limits;
use super::clock::seconds;
use super::fixture::{filled, flush, sstables};
use super::{Goal, Probe, ours};
use crate::Bench;

const ROWS: u64 = 1_000_000;

/// Bytes of a row as the user counts them.
const RAW_BYTES: f64 = 150.0;

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "L5",
        what: "flush of a memtable, raw MB/s",
        on: "",
        ours: ours(FLUSH, ROWS, 0),
        baseline: Limits("codec.lz4_16K.compress"),
        floor: AtLeast(0.2),
        goal: AtLeast(0.45),
    },
    Goal {
        id: "L8",
        what: "size of an SSTable on disk over raw",
        on: "",
        ours: ours(FLUSH, ROWS, 1),
        baseline: Limits("codec.lz4_16K.size_of_raw"),
        floor: AtMost(1.35),
        goal: AtMost(1.15),
    },
];

/// Raw megabytes a second of a flush, and the size of what it wrote over raw.
const FLUSH: Probe = Probe {
    name: "flush",
    run: |run| {
        let (bench, rows) = filled(run);
        let (taken, ()) = seconds(|| flush(&bench.session));
        let raw = rows.count as f64 * RAW_BYTES;
        vec![raw / taken / 1e6, bytes(&bench) / raw]
    },
};

/// Bytes of the SSTables of the bench's table.
fn bytes(bench: &Bench) -> f64 {
    sstables(bench).iter().map(|sstable| sstable.size_bytes() as f64).sum()
}
