//! Two histograms that Cassandra keeps for an SSTable, with its own buckets, so that its estimates come out equal.
//!
//! [`EstimatedHistogram`] counts sizes in buckets a fifth wider each time: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17 ...
//! A value falls into the first bucket that is not smaller, and is known only as that bucket from then on.
//!
//! [`DropTimes`] counts when deletions and expiring data end. It holds at most 100 moments, each a whole minute; with
//! one more, the two nearest become one at their weighted mean (Ben-Haim and Tom-Tov, "A streaming parallel decision
//! tree algorithm"). How many ended before a moment is then estimated by taking the line between two moments:
//!
//! ```text
//! count   24 ------\
//!                   \______ 2        before x: all left of it, and the area between the last moment and x
//!         12:00    x      09:59
//! ```
//!
//! Not here: when they are updated ([`super::statistics`]) and what compaction makes of them.

use crate::row::varint::{Reader, put};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Buckets of partition sizes: up to about 3.5 TB.
pub const SIZE_BUCKETS: usize = 155;
/// Buckets of cells in a partition: up to about four thousand million.
pub const CELL_BUCKETS: usize = 118;

/// As many as any histogram has.
pub const OFFSETS_MAX: usize = 165;

/// The upper ends of the buckets: every histogram has the first so many.
static OFFSETS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut offsets = vec![1_u64];
    while offsets.len() < OFFSETS_MAX {
        let last = offsets[offsets.len() - 1];
        // Java's Math.round: half up.
        let next = (last as f64 * 1.2 + 0.5).floor() as u64;
        offsets.push(next.max(last + 1));
    }
    offsets
});

/// Counts of values in Cassandra's buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimatedHistogram {
    /// One for each offset, and one for what is greater than the last.
    buckets: Vec<u64>,
}

impl EstimatedHistogram {
    /// An empty one with so many buckets, at most 165.
    pub fn new(bucket_count: usize) -> EstimatedHistogram {
        EstimatedHistogram { buckets: vec![0; bucket_count.min(OFFSETS_MAX) + 1] }
    }

    /// Upper ends of the buckets; what is greater than the last is counted in one bucket more.
    pub fn offsets(&self) -> &'static [u64] {
        &OFFSETS[..self.buckets.len() - 1]
    }

    /// Counts, one for each offset and one for what is greater than the last.
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts a value so many times.
    pub fn add_times(&mut self, value: u64, times: u64) {
        let index = self.offsets().partition_point(|offset| *offset < value);
        self.buckets[index] += times;
    }

    /// The number of the bucket that holds a value, were there as many as any histogram has.
    pub(in crate::lsm) fn bucket_of(value: u64) -> usize {
        OFFSETS.partition_point(|offset| *offset < value)
    }

    /// Counts so many values of a bucket. Requires: there is such a bucket.
    pub(in crate::lsm) fn add_to_bucket(&mut self, index: usize, times: u64) {
        self.buckets[index] += times;
    }

    /// Counts all that the other has counted. Requires: both have as many buckets.
    pub fn merge(&mut self, other: &EstimatedHistogram) {
        assert_eq!(self.buckets.len(), other.buckets.len(), "histograms of one kind are merged");
        for (here, there) in self.buckets.iter_mut().zip(&other.buckets) {
            *here += there;
        }
    }

    /// Number of values counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// A value was greater than the last offset: mean and percentiles are not known.
    pub fn is_overflowed(&self) -> bool {
        self.buckets.last().is_some_and(|count| *count > 0)
    }

    /// The smallest value that may have been counted; 0 if there is none.
    pub fn min(&self) -> u64 {
        match self.buckets.iter().position(|count| *count > 0) {
            None | Some(0) => 0,
            Some(index) => 1 + OFFSETS[index - 1],
        }
    }

    /// The greatest value that may have been counted: 0 if there is none, the greatest number if it overflowed.
    pub fn max(&self) -> u64 {
        match self.buckets.iter().rposition(|count| *count > 0) {
            None => 0,
            Some(_) if self.is_overflowed() => i64::MAX as u64,
            Some(index) => OFFSETS[index],
        }
    }

    /// The bucket that holds the value at that part (0 to 1) of all; `None` if it overflowed.
    pub fn percentile(&self, part: f64) -> Option<u64> {
        if self.is_overflowed() {
            return None;
        }
        let wanted = (self.count() as f64 * part).ceil() as u64;
        if wanted == 0 {
            return Some(0);
        }
        let mut passed = 0;
        let found = self.buckets.iter().position(|count| {
            passed += count;
            passed >= wanted
        });
        Some(found.map_or(0, |index| OFFSETS[index]))
    }

    /// Mean of the buckets' offsets, not rounded; `None` if nothing was counted or it overflowed.
    pub fn raw_mean(&self) -> Option<f64> {
        let count = self.count();
        if count == 0 || self.is_overflowed() {
            return None;
        }
        let sum = self.buckets.iter().zip(self.offsets()).map(|(n, at)| *n as f64 * *at as f64);
        Some(sum.sum::<f64>() / count as f64)
    }

    /// Mean of the buckets' offsets, rounded up; 0 where [`EstimatedHistogram::raw_mean`] is `None`.
    pub fn mean(&self) -> u64 {
        self.raw_mean().map_or(0, |mean| mean.ceil() as u64)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let filled = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        put(out, filled.clone().count() as u64);
        for (index, count) in filled {
            put(out, index as u64);
            put(out, *count);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>, bucket_count: usize) -> Option<EstimatedHistogram> {
        let mut histogram = EstimatedHistogram::new(bucket_count);
        for _ in 0..reader.u64()? {
            let index = usize::try_from(reader.u64()?).ok()?;
            *histogram.buckets.get_mut(index)? = reader.u64()?;
        }
        Some(histogram)
    }
}

/// Moments that a [`DropTimes`] holds at most.
const BINS: usize = 100;
/// Moments that are gathered before they are put into bins: Cassandra's spool.
const SPOOL: usize = 1 << 17;
/// Moments are whole minutes.
const ROUND_SECONDS: i64 = 60;
/// Cassandra's greatest second of a deletion.
const MAX_SECONDS: i64 = u32::MAX as i64 - 2;

/// When deletions were made and expiring data ends, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DropTimes {
    bins: Vec<(i64, u64)>,
}

impl DropTimes {
    /// Moments (whole minutes, as seconds since the Unix epoch) and how many end there, in order.
    pub fn bins(&self) -> &[(i64, u64)] {
        &self.bins
    }

    /// Estimated number of those that end at or before a second.
    pub fn sum(&self, seconds: i64) -> f64 {
        let mut sum = 0.0;
        for (index, &(point, count)) in self.bins.iter().enumerate() {
            if point <= seconds {
                sum += count as f64;
                continue;
            }
            let Some((before, held)) = index.checked_sub(1).map(|i| self.bins[i]) else {
                return 0.0;
            };
            let (count, held) = (count as f64, held as f64);
            let weight = (seconds - before) as f64 / (point - before) as f64;
            let here = held + (count - held) * weight;
            return sum - held + (held + here) * weight / 2.0 + held / 2.0;
        }
        sum
    }

    fn add(&mut self, point: i64, count: u64) {
        match self.bins.binary_search_by_key(&point, |(held, _)| *held) {
            Ok(index) => self.bins[index].1 += count,
            Err(index) => self.bins.insert(index, (point, count)),
        }
        if self.bins.len() > BINS {
            self.merge_nearest();
        }
    }

    fn merge_nearest(&mut self) {
        let distance = |index: &usize| self.bins[index + 1].0 - self.bins[*index].0;
        let Some(index) = (0..self.bins.len() - 1).min_by_key(distance) else { return };
        let ((a, m), (b, n)) = (self.bins[index], self.bins[index + 1]);
        let weighted = i128::from(a) * i128::from(m) + i128::from(b) * i128::from(n);
        let mean = i64::try_from(weighted / i128::from(m + n)).unwrap_or(MAX_SECONDS);
        self.bins[index] = (rounded(mean), m + n);
        self.bins.remove(index + 1);
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put(out, self.bins.len() as u64);
        for (point, count) in &self.bins {
            put(out, *point as u64);
            put(out, *count);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<DropTimes> {
        let mut bins = Vec::new();
        for _ in 0..reader.u64()? {
            bins.push((i64::try_from(reader.u64()?).ok()?, reader.u64()?));
        }
        bins.is_sorted_by_key(|(point, _)| *point).then_some(DropTimes { bins })
    }
}

/// Up to the next whole minute.
fn rounded(seconds: i64) -> i64 {
    let seconds = seconds.clamp(0, MAX_SECONDS);
    let over = seconds % ROUND_SECONDS;
    let up = if over == 0 { 0 } else { ROUND_SECONDS - over };
    (seconds + up).min(MAX_SECONDS)
}

/// Gathers moments of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct DropTimesBuilder {
    times: DropTimes,
    spool: BTreeMap<i64, u64>,
    /// The moment that came last and how often since: data written together ends together.
    last: (i64, u64),
}

impl DropTimesBuilder {
    #[inline]
    pub(super) fn add(&mut self, seconds: i64) {
        let point = rounded(seconds);
        if point == self.last.0 {
            self.last.1 += 1;
        } else {
            self.spool_last();
            self.last = (point, 1);
        }
    }

    fn spool_last(&mut self) {
        let (point, count) = self.last;
        if count > 0 {
            *self.spool.entry(point).or_default() += count;
        }
        if self.spool.len() >= SPOOL {
            self.drain();
        }
    }

    /// In the order of Cassandra's hash table: with more moments than bins it decides what is merged.
    fn drain(&mut self) {
        let mut spooled: Vec<(i64, u64)> = std::mem::take(&mut self.spool).into_iter().collect();
        spooled.sort_by_key(|(point, _)| point.wrapping_mul(948_701_839) & (SPOOL as i64 - 1));
        for (point, count) in spooled {
            self.times.add(point, count);
        }
    }

    pub(super) fn build(mut self) -> DropTimes {
        self.spool_last();
        self.drain();
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cassandras() {
        let histogram = EstimatedHistogram::new(CELL_BUCKETS);
        let first: Vec<u64> = vec![1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50];
        assert_eq!(histogram.offsets()[..18], first[..]);
        assert!(histogram.offsets().contains(&535), "seen in answers/sstablemetadata.txt");
    }

    #[test]
    fn the_ratio_of_the_recorded_file_comes_out() {
        // answers/sstablemetadata.txt: taken 25 seconds after the first of these minutes.
        let mut builder = DropTimesBuilder::default();
        for (seconds, count) in [(1_796_069_496, 24), (1_797_069_496, 2), (1_798_069_496, 1)] {
            (0..count).for_each(|_| builder.add(seconds));
        }
        let times = builder.build();
        assert_eq!(times.bins(), [(1_796_069_520, 24), (1_797_069_540, 2), (1_798_069_500, 1)]);
        assert_eq!(times.sum(1_796_069_519), 0.0);
        let ratio = (0..120).map(|s| times.sum(1_796_069_520 + s) / 20.0);
        assert!(ratio.into_iter().any(|ratio| ratio == 0.600_021_599_389_815_7));
    }

    #[test]
    fn a_hundred_moments_at_most_and_none_is_lost() {
        let mut builder = DropTimesBuilder::default();
        (0..1000).for_each(|minute| builder.add(minute * 60));
        let times = builder.build();
        assert_eq!(times.bins().len(), 100);
        assert_eq!(times.bins().iter().map(|(_, count)| count).sum::<u64>(), 1000);
        assert_eq!(times.sum(i64::MAX), 1000.0);
    }
}
