//! What a table counts while it works: reads, writes, and how large each read was.
//!
//! ```text
//! thread 1 -> shard 1   reads 10, rows: 1 x 8, 20 x 2 ...      a thread keeps to its shard, so threads
//! thread 2 -> shard 2   reads 7 ...                            do not fight for a cache line
//!                \--> summed when somebody asks
//! ```
//!
//! Histograms have Cassandra's buckets ([`EstimatedHistogram`]) and one for zero. They are of the table's whole life on
//! this node: a clock that stands until it is told to move gives no "last five minutes". Latency is measured by the
//! node's clock, so that a virtual one gives 0.
//!
//! Not here: what files say of themselves ([`super::sstable::statistics`]) and how numbers are put together
//! ([`super::stats`]).

use super::sstable::histogram::{EstimatedHistogram, OFFSETS_MAX};
use crate::row::Mutation;
use crate::sim::clock::Clock;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Shards of a table's counters: more than the threads of most loads.
const SHARDS: usize = 8;

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = THREADS.fetch_add(1, Relaxed) % SHARDS;
}

/// The counters of a table.
#[derive(Debug, Default)]
pub struct TableMetrics {
    shards: [Shard; SHARDS],
    /// Operations of all writes when the memtable in front began.
    operations_at_switch: AtomicU64,
    switches: AtomicU64,
}

/// Counters of the threads that keep to it, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    reads: AtomicU64,
    read_micros: AtomicU64,
    writes: AtomicU64,
    write_micros: AtomicU64,
    operations: AtomicU64,
    user_bytes: AtomicU64,
    read_bytes: AtomicU64,
    returned_bytes: AtomicU64,
    filter_false: AtomicU64,
    filter_true: AtomicU64,
    histograms: OnceLock<Box<Histograms>>,
}

#[derive(Debug, Default)]
struct Histograms {
    sstables: Buckets,
    rows: Buckets,
    tombstones: Buckets,
    read_micros: Buckets,
    write_micros: Buckets,
}

/// A histogram that threads count into: zero, Cassandra's buckets, and what is beyond them.
#[derive(Debug)]
struct Buckets([AtomicU64; OFFSETS_MAX + 2]);

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Buckets {
    fn add(&self, value: u64) {
        // The first buckets are the numbers themselves.
        let index = match value {
            0..=8 => usize::try_from(value).unwrap_or(0),
            _ => EstimatedHistogram::bucket_of(value) + 1,
        };
        self.0[index].fetch_add(1, Relaxed);
    }
}

/// Counts of values, with a bucket for zero beside Cassandra's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// How often the value was 0.
    pub zeros: u64,
    /// All other values.
    pub others: EstimatedHistogram,
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution { zeros: 0, others: EstimatedHistogram::new(OFFSETS_MAX) }
    }
}

impl Distribution {
    fn take_in(&mut self, buckets: &Buckets) {
        self.zeros += buckets.0[0].load(Relaxed);
        for (index, bucket) in buckets.0[1..].iter().enumerate() {
            self.others.add_to_bucket(index, bucket.load(Relaxed));
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.zeros + self.others.count()
    }

    /// The bucket of the value at that part (0 to 1) of all; `None` if a value was beyond the buckets.
    pub fn percentile(&self, part: f64) -> Option<u64> {
        if self.others.is_overflowed() {
            return None;
        }
        let wanted = (self.count() as f64 * part).ceil() as u64;
        if wanted <= self.zeros {
            return Some(0);
        }
        let mut passed = self.zeros;
        let buckets = self.others.offsets().iter().zip(self.others.buckets());
        for (offset, count) in buckets {
            passed += count;
            if passed >= wanted {
                return Some(*offset);
            }
        }
        Some(0)
    }

    /// The smallest value that may have been counted; 0 if there is none.
    pub fn min(&self) -> u64 {
        match (self.zeros, self.others.min()) {
            (0, 0) if self.others.count() > 0 => 1,
            (0, min) => min,
            _ => 0,
        }
    }

    /// The bucket of the greatest value.
    pub fn max(&self) -> u64 {
        self.others.max()
    }

    /// As a histogram without a bucket for zero counts: zeros as ones.
    pub fn zeros_as_ones(&self) -> EstimatedHistogram {
        let mut all = self.others.clone();
        all.add_times(1, self.zeros);
        all
    }
}

/// All counters of a table at one moment, summed over threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Reads of single partitions.
    pub reads: u64,
    /// Time that they took. Microseconds.
    pub read_micros: u64,
    /// Mutations applied.
    pub writes: u64,
    /// Time that they took. Microseconds.
    pub write_micros: u64,
    /// Rows and deletions written since the memtable in front began (Cassandra's `Memtable cell count`).
    pub memtable_operations: u64,
    /// Memtables that were put aside to be flushed.
    pub memtable_switches: u64,
    /// Bytes of keys and rows that users wrote.
    pub user_bytes: u64,
    /// Bytes of blocks that reads took from files.
    pub read_bytes: u64,
    /// Bytes of the rows that reads gave back.
    pub returned_bytes: u64,
    /// Look-ups that a filter let pass and that found nothing.
    pub filter_false_positives: u64,
    /// Look-ups that a filter let pass and that found the partition.
    pub filter_true_positives: u64,
    /// SSTables of each read of a partition.
    pub sstables_per_read: Distribution,
    /// Live rows of each read, ranges included.
    pub live_rows_per_slice: Distribution,
    /// Tombstones of each read, ranges included.
    pub tombstones_per_slice: Distribution,
    /// Time of each read of a partition. Microseconds.
    pub read_latency_micros: Distribution,
    /// Time of each write. Microseconds.
    pub write_latency_micros: Distribution,
}

/// When something began, by a clock that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer(Option<i64>);

impl Timer {
    /// Starts to measure; a virtual clock stands meanwhile and is not asked.
    #[inline]
    pub(super) fn start(clock: &Clock) -> Timer {
        Timer((!clock.is_virtual()).then(|| clock.now_micros()))
    }

    fn micros(self, clock: &Clock) -> u64 {
        self.0.map_or(0, |start| clock.now_micros().saturating_sub(start).max(0).unsigned_abs())
    }
}

impl TableMetrics {
    fn shard<T>(&self, with: impl FnOnce(&Shard) -> T) -> T {
        // A thread that is ending has no place of its own any more.
        let index = SHARD.try_with(|index| *index).unwrap_or(0);
        with(&self.shards[index])
    }

    pub(super) fn wrote(&self, mutation: &Mutation, timer: Timer, clock: &Clock) {
        let rows = mutation.rows.iter().chain(&mutation.static_row);
        let bytes: usize = rows.map(|row| row.size_bytes()).sum();
        let deletions = mutation.ranges.len() + usize::from(!mutation.deletion.is_live());
        let operations =
            mutation.rows.len() + usize::from(mutation.static_row.is_some()) + deletions;
        self.shard(|shard| {
            shard.writes.fetch_add(1, Relaxed);
            shard.operations.fetch_add(operations as u64, Relaxed);
            shard.user_bytes.fetch_add((mutation.key.bytes.len() + bytes) as u64, Relaxed);
            if timer.0.is_some() {
                let micros = timer.micros(clock);
                shard.write_micros.fetch_add(micros, Relaxed);
                shard.histograms.get_or_init(Box::default).write_micros.add(micros);
            }
        });
    }

    /// A read of one partition has ended. `sstables`: in how many the partition was found, if that was looked for.
    pub(super) fn read_partition(&self, sstables: Option<usize>, rows: u64, tombstones: u64) {
        self.shard(|shard| {
            shard.reads.fetch_add(1, Relaxed);
            let histograms = shard.histograms.get_or_init(Box::default);
            if let Some(sstables) = sstables {
                histograms.sstables.add(sstables as u64);
            }
            histograms.rows.add(rows);
            histograms.tombstones.add(tombstones);
        });
    }

    pub(super) fn read_range(&self, rows: u64, tombstones: u64) {
        self.shard(|shard| {
            let histograms = shard.histograms.get_or_init(Box::default);
            histograms.rows.add(rows);
            histograms.tombstones.add(tombstones);
        });
    }

    /// Filters let so many look-ups pass that found the partition, and so many that did not.
    pub(super) fn filtered(&self, found: u64, missed: u64) {
        if found + missed > 0 {
            self.shard(|shard| {
                shard.filter_true.fetch_add(found, Relaxed);
                shard.filter_false.fetch_add(missed, Relaxed);
            });
        }
    }

    /// A whole request has been answered. `partitions`: how many it read, 0 for a range.
    pub(super) fn answered(
        &self,
        partitions: u64,
        read_bytes: u64,
        returned_bytes: u64,
        timer: Timer,
        clock: &Clock,
    ) {
        self.shard(|shard| {
            shard.read_bytes.fetch_add(read_bytes, Relaxed);
            shard.returned_bytes.fetch_add(returned_bytes, Relaxed);
            if timer.0.is_some() && partitions > 0 {
                let micros = timer.micros(clock);
                shard.read_micros.fetch_add(micros, Relaxed);
                let histograms = shard.histograms.get_or_init(Box::default);
                (0..partitions).for_each(|_| histograms.read_micros.add(micros / partitions));
            }
        });
    }

    pub(super) fn switched(&self) {
        self.switches.fetch_add(1, Relaxed);
        self.operations_at_switch.store(self.operations(), Relaxed);
    }

    fn operations(&self) -> u64 {
        self.shards.iter().map(|shard| shard.operations.load(Relaxed)).sum()
    }

    /// All counters now.
    pub fn counted(&self) -> Counted {
        let began = self.operations_at_switch.load(Relaxed);
        let mut all = Counted {
            memtable_operations: self.operations().saturating_sub(began),
            memtable_switches: self.switches.load(Relaxed),
            ..Counted::default()
        };
        for shard in &self.shards {
            all.take_in(shard);
        }
        // What was done while the clock stood took no time.
        for (latency, count) in
            [(&mut all.read_latency_micros, all.reads), (&mut all.write_latency_micros, all.writes)]
        {
            latency.zeros += count.saturating_sub(latency.count());
        }
        all
    }
}

impl Counted {
    fn take_in(&mut self, shard: &Shard) {
        self.reads += shard.reads.load(Relaxed);
        self.read_micros += shard.read_micros.load(Relaxed);
        self.writes += shard.writes.load(Relaxed);
        self.write_micros += shard.write_micros.load(Relaxed);
        self.user_bytes += shard.user_bytes.load(Relaxed);
        self.read_bytes += shard.read_bytes.load(Relaxed);
        self.returned_bytes += shard.returned_bytes.load(Relaxed);
        self.filter_false_positives += shard.filter_false.load(Relaxed);
        self.filter_true_positives += shard.filter_true.load(Relaxed);
        if let Some(histograms) = shard.histograms.get() {
            self.sstables_per_read.take_in(&histograms.sstables);
            self.live_rows_per_slice.take_in(&histograms.rows);
            self.tombstones_per_slice.take_in(&histograms.tombstones);
            self.read_latency_micros.take_in(&histograms.read_micros);
            self.write_latency_micros.take_in(&histograms.write_micros);
        }
    }

    /// Bytes read from files for each byte of rows given back; `None` before anything was.
    pub fn read_amplification(&self) -> Option<f64> {
        (self.returned_bytes > 0).then(|| self.read_bytes as f64 / self.returned_bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_side_by_side_and_nothing_is_lost() {
        let metrics = TableMetrics::default();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| (0..1000).for_each(|n| metrics.read_partition(Some(2), n % 10, 0)));
            }
        });
        let counted = metrics.counted();
        assert_eq!(counted.reads, 20_000);
        assert_eq!(counted.sstables_per_read.percentile(0.5), Some(2));
        assert_eq!((counted.sstables_per_read.min(), counted.sstables_per_read.max()), (2, 2));
        assert_eq!(counted.live_rows_per_slice.zeros, 2000);
        // 9 falls into the bucket that ends at 10.
        assert_eq!(counted.live_rows_per_slice.max(), 10);
        assert_eq!(counted.tombstones_per_slice.zeros, 20_000);
        assert_eq!(counted.read_latency_micros.zeros, 20_000);
    }

    #[test]
    fn percentiles_are_those_nodetool_printed() {
        // Reads of 2, 2, 1 and 1 SSTables, and of 0, 0 and 1: asked of a running 5.0.2.
        let of = |values: &[u64]| {
            let buckets = Buckets::default();
            values.iter().for_each(|value| buckets.add(*value));
            let mut distribution = Distribution::default();
            distribution.take_in(&buckets);
            let at = |part| distribution.percentile(part).unwrap();
            (at(0.5), at(0.75), at(0.95), distribution.min(), distribution.max())
        };
        assert_eq!(of(&[2, 2, 1, 1]), (1, 2, 2, 1, 2));
        assert_eq!(of(&[0, 0, 1]), (0, 1, 1, 0, 1));
        assert_eq!(of(&[]), (0, 0, 0, 0, 0));
    }
}
