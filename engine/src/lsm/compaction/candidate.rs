//! What picking knows of a table: plain facts of its SSTables, and the moment.
//!
//! A strategy never sees a file. It gets a [`Layout`] and a [`Moment`], and gives a task or none, so that a test can
//! write down a table of a hundred files in ten lines.

use crate::row::DecoratedKey;
use std::collections::BTreeSet;

/// The facts of one SSTable.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Number of its file: later files have greater ones.
    pub id: u64,
    /// Length of the file.
    pub size_bytes: u64,
    /// Level, 0 unless leveled compaction moved it up.
    pub level: u32,
    /// Smallest timestamp, microseconds.
    pub min_timestamp_micros: i64,
    /// Greatest timestamp, microseconds.
    pub max_timestamp_micros: i64,
    /// Last second of a deletion or expiry; the greatest number if anything neither ends nor is deleted.
    pub max_local_deletion_seconds: i64,
    /// When it was made, seconds.
    pub created_seconds: i64,
    /// First partition.
    pub first: DecoratedKey,
    /// Last partition.
    pub last: DecoratedKey,
    /// Number of partitions.
    pub partitions: u64,
    /// Cells and deletions that are past gc_grace, to all cells (sheet C.3).
    pub droppable_ratio: f64,
}

impl Candidate {
    /// Whether both may hold the same partition.
    pub fn overlaps(&self, other: &Candidate) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether everything in it is past its end and past gc_grace.
    pub(super) fn is_past_gc_grace(&self, moment: &Moment) -> bool {
        self.max_local_deletion_seconds < moment.gc_before_seconds
    }
}

/// When a pick is made, and what the memtables hold then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the Unix epoch.
    pub now_millis: i64,
    /// Deletions of an earlier second are past gc_grace. Seconds.
    pub gc_before_seconds: i64,
    /// Smallest timestamp in a memtable; the greatest number if they are empty. Microseconds.
    pub memtables_min_timestamp_micros: i64,
    /// The first pick since compaction looked at the table: a check that is due "after 0 seconds" is due.
    pub first_look: bool,
}

impl Moment {
    /// Seconds since the Unix epoch.
    pub fn now_seconds(&self) -> i64 {
        self.now_millis.div_euclid(1_000)
    }

    /// Whether a check is due that was last made at `last_millis` and is made every `every_millis`.
    pub(super) fn is_due(&self, last_millis: Option<i64>, every_millis: i64) -> bool {
        let Some(last) = last_millis else { return true };
        let passed = self.now_millis.saturating_sub(last);
        passed > every_millis || (self.first_look && passed == every_millis)
    }
}

/// The SSTables of a table, oldest file first, and which of them are being compacted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// By number.
    pub sstables: Vec<Candidate>,
    /// Numbers of those in a running compaction.
    pub compacting: BTreeSet<u64>,
}

impl Layout {
    /// Those that no compaction has.
    pub fn free(&self) -> Vec<&Candidate> {
        self.sstables.iter().filter(|c| !self.compacting.contains(&c.id)).collect()
    }

    /// Those outside of `ids` that may hold a partition of one of them.
    pub fn overlapping(&self, ids: &[u64]) -> Vec<&Candidate> {
        let (inside, outside): (Vec<&Candidate>, Vec<&Candidate>) =
            self.sstables.iter().partition(|c| ids.contains(&c.id));
        outside.into_iter().filter(|c| inside.iter().any(|i| i.overlaps(c))).collect()
    }
}

/// Numbers of candidates.
pub(super) fn ids<'c>(candidates: impl IntoIterator<Item = &'c Candidate>) -> Vec<u64> {
    candidates.into_iter().map(|c| c.id).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ring::Token;

    /// A file of so many bytes with one partition, whose timestamps are all `timestamp`.
    pub(crate) fn file(id: u64, size_bytes: u64, timestamp_micros: i64) -> Candidate {
        Candidate {
            id,
            size_bytes,
            level: 0,
            min_timestamp_micros: timestamp_micros,
            max_timestamp_micros: timestamp_micros,
            max_local_deletion_seconds: i64::MAX,
            created_seconds: 0,
            first: key(0),
            last: key(0),
            partitions: 1,
            droppable_ratio: 0.0,
        }
    }

    /// The first key of a token.
    pub(crate) fn key(token: i64) -> DecoratedKey {
        DecoratedKey { token: Token(token), bytes: bytes::Bytes::new() }
    }

    /// A table of these files.
    pub(crate) fn layout(sstables: Vec<Candidate>) -> Layout {
        Layout { sstables, compacting: BTreeSet::new() }
    }

    /// A moment with empty memtables.
    pub(crate) fn moment(now_seconds: i64, gc_before_seconds: i64) -> Moment {
        Moment {
            now_millis: now_seconds * 1_000,
            gc_before_seconds,
            memtables_min_timestamp_micros: i64::MAX,
            first_look: true,
        }
    }

    #[test]
    fn a_check_of_every_zero_seconds_is_made_once_a_look() {
        let now = moment(100, 0);
        let again = Moment { first_look: false, ..now };
        assert!(now.is_due(None, 0) && now.is_due(Some(100_000), 0));
        assert!(!again.is_due(Some(100_000), 0));
        assert!(!now.is_due(Some(99_000), 2_000) && now.is_due(Some(98_000), 2_000));
    }
}
