//! What compactions say of themselves: while they run, and afterwards.
//!
//! ```text
//! running   Progress { done 3 MiB of 12 MiB, cancel? }
//! ended     CompactionRecord: when, inputs -> outputs, bytes in and out, of how many files each partition was made
//! all time  CompactionTotals: bytes flushed and rewritten (write amplification)
//! ```

use super::Reason;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use uuid::Uuid;

/// A compaction that runs. Any thread may look at it and cancel it.
#[derive(Debug)]
pub struct Progress {
    /// Its number, from the cluster's seed.
    pub id: Uuid,
    /// Keyspace.
    pub keyspace: String,
    /// Table.
    pub table: String,
    /// Why it runs.
    pub reason: Reason,
    /// Bytes of all inputs.
    pub total_bytes: u64,
    done_bytes: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    pub(super) fn new(
        id: Uuid,
        keyspace: &str,
        table: &str,
        reason: Reason,
        total: u64,
    ) -> Progress {
        Progress {
            id,
            keyspace: keyspace.to_string(),
            table: table.to_string(),
            reason,
            total_bytes: total,
            done_bytes: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
        }
    }

    /// Bytes read so far.
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Relaxed)
    }

    pub(super) fn set_done_bytes(&self, bytes: u64) {
        self.done_bytes.store(bytes, Relaxed);
    }

    /// Stops it at the next partition; its inputs stay as they are.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether it is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}

/// A compaction that has ended (`nodetool compactionhistory`).
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionRecord {
    /// Its number, from the cluster's seed.
    pub id: Uuid,
    /// Keyspace.
    pub keyspace: String,
    /// Table.
    pub table: String,
    /// Why it was done.
    pub reason: Reason,
    /// When it ended, milliseconds since the Unix epoch.
    pub compacted_at_millis: i64,
    /// Names of the files that went in.
    pub inputs: Vec<String>,
    /// Those of them that were dropped without being read.
    pub expired: Vec<String>,
    /// Names of the files that came out.
    pub outputs: Vec<String>,
    /// Bytes of the inputs.
    pub bytes_in: u64,
    /// Bytes of the outputs.
    pub bytes_out: u64,
    /// Bytes of data blocks that were read.
    pub bytes_read: u64,
    /// How many partitions were made of one input, of two, and so on.
    pub rows_merged: Vec<u64>,
    /// Deletions and expired data that were thrown away.
    pub purged: Purged,
}

/// What was thrown away, and how old it was then: the second of the compaction less that of the deletion or, for
/// what expired, of the expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Deletions, tombstones, expired cells and markers.
    pub count: u64,
    /// Age of the youngest, seconds.
    pub age_min_seconds: i64,
    /// Age of the oldest, seconds.
    pub age_max_seconds: i64,
    /// Sum of all ages, for the mean. Seconds.
    pub age_sum_seconds: i64,
}

impl Purged {
    /// Takes in what another compaction threw away.
    pub fn add(&mut self, other: &Purged) {
        if self.count == 0 || other.count == 0 {
            *self = if self.count == 0 { *other } else { *self };
            return;
        }
        self.count += other.count;
        self.age_min_seconds = self.age_min_seconds.min(other.age_min_seconds);
        self.age_max_seconds = self.age_max_seconds.max(other.age_max_seconds);
        self.age_sum_seconds = self.age_sum_seconds.saturating_add(other.age_sum_seconds);
    }

    pub(super) fn see(&mut self, age_seconds: i64) {
        let first = self.count == 0;
        self.age_min_seconds =
            if first { age_seconds } else { self.age_min_seconds.min(age_seconds) };
        self.age_max_seconds =
            if first { age_seconds } else { self.age_max_seconds.max(age_seconds) };
        self.age_sum_seconds = self.age_sum_seconds.saturating_add(age_seconds);
        self.count += 1;
    }
}

/// What a table's disk was asked to do since its node was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionTotals {
    /// Compactions that have ended.
    pub compactions: u64,
    /// Bytes of SSTables that flushes wrote.
    pub bytes_flushed: u64,
    /// Bytes of data blocks that compactions read.
    pub bytes_read: u64,
    /// Bytes of SSTables that compactions wrote.
    pub bytes_written: u64,
    /// SSTables dropped without being read.
    pub expired_dropped: u64,
}

impl CompactionTotals {
    /// Bytes written for each byte flushed: 1 without compaction. `None` before the first flush.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.bytes_flushed + self.bytes_written;
        (self.bytes_flushed > 0).then(|| written as f64 / self.bytes_flushed as f64)
    }
}
