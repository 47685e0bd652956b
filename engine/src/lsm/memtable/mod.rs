//! Writes not yet flushed: a sorted map of partitions.
//!
//! ```text
//! SkipMap  (token, key) -> Mutex<State>         lock-free to search and to add a partition
//!                            State::Empty | One(row) | Many(tree of rows, ranges, statics, deletion)
//! ```
//!
//! The lock of a partition is held to write it, or by a reader just long enough to take its root
//! ([`partition`]). Partitions are never taken out: a flushed memtable is dropped whole.

pub(crate) mod partition;
pub(crate) mod ranges;
pub(crate) mod rows;
pub(crate) mod source;

use crate::commitlog::{FirstSegment, LogPosition};
use crate::row::DecoratedKey;
use crate::row::deletion::NO_DELETION_TIME;
use crate::row::mutation::Mutation;
use crate::row::times::Times;
use crate::sim::reclaim;
use bytes::Bytes;
use crossbeam_skiplist::SkipMap;
use crossbeam_skiplist::map::{Entry, Range};
use parking_lot::Mutex;
use partition::State;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicIsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The writes of one table since its last flush. Any thread may read and write.
pub struct Memtable {
    partitions: SkipMap<DecoratedKey, Partition>,
    bytes: AtomicIsize,
    /// Shared with the other memtables of a node.
    pool: Arc<Pool>,
    /// Whether its bytes count in the pool.
    pooled: AtomicBool,
    /// What it needs of the commit log: the segment of its first record, 0 for none.
    first_segment: FirstSegment,
    /// Where the log stood when it was switched out: all its records are before.
    log_end: OnceLock<LogPosition>,
    min_timestamp_micros: AtomicI64,
    min_local_deletion_seconds: AtomicI64,
    max_local_deletion_seconds: AtomicI64,
}

/// A partition behind its lock.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    state: Mutex<State>,
}

impl Partition {
    /// What is there now; later writes do not change it.
    pub(crate) fn snapshot(&self) -> State {
        self.state.lock().clone()
    }
}

/// Bytes that a partition takes beside its rows: the node of the skip list, its key's allocation.
const PARTITION_BYTES: isize = 136;

/// Bytes that the memtables of one node take together, those that are not yet flushed.
#[derive(Debug, Default)]
pub struct Pool {
    bytes: AtomicIsize,
}

impl Pool {
    /// Bytes now.
    pub fn size_bytes(&self) -> usize {
        self.bytes.load(Relaxed).max(0).cast_unsigned()
    }
}

impl Default for Memtable {
    fn default() -> Memtable {
        Memtable::new(Arc::default())
    }
}

impl Drop for Memtable {
    fn drop(&mut self) {
        self.leave_pool();
        if self.size_bytes() >= RECLAIM_BYTES {
            reclaim::later(std::mem::take(&mut self.partitions));
        }
    }
}

/// A memtable of this size is not freed by the thread that drops it: that would take milliseconds.
const RECLAIM_BYTES: usize = 1 << 20;

impl Memtable {
    /// An empty one that counts in `pool`.
    pub fn new(pool: Arc<Pool>) -> Memtable {
        Memtable {
            partitions: SkipMap::new(),
            bytes: AtomicIsize::new(0),
            pool,
            pooled: AtomicBool::new(true),
            first_segment: FirstSegment::new(0),
            log_end: OnceLock::new(),
            min_timestamp_micros: AtomicI64::new(i64::MAX),
            min_local_deletion_seconds: AtomicI64::new(NO_DELETION_TIME),
            max_local_deletion_seconds: AtomicI64::new(i64::MIN),
        }
    }
}

impl std::fmt::Debug for Memtable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memtable").field("bytes", &self.size_bytes()).finish_non_exhaustive()
    }
}

impl Memtable {
    /// Applies a write; readers of the partition see all of it or nothing.
    pub fn apply(&self, mutation: &Mutation) {
        let times = Times::of(mutation);
        self.widen(&times);
        let entry = match self.partitions.get(&mutation.key) {
            Some(entry) => entry,
            None => {
                // A key of its own, so that no frame or batch stays alive through it.
                let bytes = Bytes::copy_from_slice(&mutation.key.bytes);
                let key = DecoratedKey { token: mutation.key.token, bytes };
                self.grow(PARTITION_BYTES + key.bytes.len() as isize);
                self.partitions.get_or_insert(key, Partition::default())
            }
        };
        let grown = entry.value().state.lock().apply(mutation, &times);
        self.grow(grown);
    }

    fn grow(&self, bytes: isize) {
        self.bytes.fetch_add(bytes, Relaxed);
        self.pool.bytes.fetch_add(bytes, Relaxed);
    }

    /// Its bytes no longer count: it is flushed, and only readers that began before still hold it.
    /// Requires: nothing is written to it any more.
    pub(crate) fn leave_pool(&self) {
        if self.pooled.swap(false, Relaxed) {
            self.pool.bytes.fetch_sub(self.bytes.load(Relaxed), Relaxed);
        }
    }

    /// What it needs of the commit log.
    pub(crate) fn first_segment(&self) -> &FirstSegment {
        &self.first_segment
    }

    /// Where the log stood when it was switched out.
    pub(crate) fn log_end(&self) -> &OnceLock<LogPosition> {
        &self.log_end
    }

    /// Looks before it writes: the bounds seldom change, and threads share their cache line.
    fn widen(&self, times: &Times) {
        if times.min_timestamp_micros < self.min_timestamp_micros.load(Relaxed) {
            self.min_timestamp_micros.fetch_min(times.min_timestamp_micros, Relaxed);
        }
        let (least, greatest) =
            (times.min_local_deletion_seconds, times.max_local_deletion_seconds);
        if least < self.min_local_deletion_seconds.load(Relaxed) {
            self.min_local_deletion_seconds.fetch_min(least, Relaxed);
        }
        if greatest > self.max_local_deletion_seconds.load(Relaxed) {
            self.max_local_deletion_seconds.fetch_max(greatest, Relaxed);
        }
    }

    /// Memory in use, estimated from the shapes of what is held.
    pub fn size_bytes(&self) -> usize {
        self.bytes.load(Relaxed).max(0).cast_unsigned()
    }

    /// No timestamp here is smaller; `i64::MAX` if there is none. Microseconds.
    pub fn min_timestamp_micros(&self) -> i64 {
        self.min_timestamp_micros.load(Relaxed)
    }

    /// The first second in which something here is deleted or expires; none: the greatest number.
    pub fn min_local_deletion_seconds(&self) -> i64 {
        self.min_local_deletion_seconds.load(Relaxed)
    }

    /// The last such second; the greatest number if anything here neither ends nor is deleted.
    pub fn max_local_deletion_seconds(&self) -> i64 {
        self.max_local_deletion_seconds.load(Relaxed)
    }

    /// Whether nothing was ever written to it.
    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// What the partition is now.
    pub(crate) fn get(&self, key: &DecoratedKey) -> Option<State> {
        self.partitions.get(key).map(|entry| entry.value().snapshot())
    }

    /// Partitions from `range`, by token and key.
    pub(crate) fn range<R: RangeBounds<DecoratedKey>>(
        &self,
        range: R,
    ) -> Range<'_, DecoratedKey, R, DecoratedKey, Partition> {
        self.partitions.range(range)
    }

    /// All partitions, by token and key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'_, DecoratedKey, Partition>> {
        self.partitions.iter()
    }
}
