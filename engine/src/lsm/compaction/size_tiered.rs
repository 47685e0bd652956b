//! SizeTieredCompactionStrategy: files of like size are merged (sheet C.5).
//!
//! ```text
//! sizes    10 11 12 13   100   1000 1100
//! buckets  [.........]   [.]   [.......]      min_threshold 4: the first is compacted
//! ```

use super::candidate::{Candidate, ids};
use super::options::{CompactionOptions, SizeTiered};

/// The files of the bucket that is most worth a compaction; none if no bucket has `min_threshold`.
pub(super) fn pick(
    free: &[&Candidate],
    options: &CompactionOptions,
    sizes: &SizeTiered,
) -> Vec<u64> {
    bucket_to_compact(free, sizes, options.min_threshold, options.max_threshold)
}

/// As [`pick`], with thresholds of the caller's.
pub(super) fn bucket_to_compact(
    free: &[&Candidate],
    sizes: &SizeTiered,
    min_threshold: usize,
    max_threshold: usize,
) -> Vec<u64> {
    let mut best: Option<(u64, Vec<u64>)> = None;
    for bucket in buckets(free, sizes) {
        // Cassandra takes the hottest by reads; nothing is hotter here, so the smallest files stay if there are too many.
        let kept = &bucket[..bucket.len().min(max_threshold)];
        if kept.len() < min_threshold {
            continue;
        }
        let average = kept.iter().map(|c| c.size_bytes).sum::<u64>() / kept.len().max(1) as u64;
        // Of equally hot buckets the one of larger files is taken.
        if best.as_ref().is_none_or(|(largest, _)| average > *largest) {
            best = Some((average, ids(kept.iter().copied())));
        }
    }
    best.map(|(_, files)| files).unwrap_or_default()
}

/// Groups files by size, smallest first.
fn buckets<'c>(free: &[&'c Candidate], sizes: &SizeTiered) -> Vec<Vec<&'c Candidate>> {
    let mut sorted = free.to_vec();
    sorted.sort_by_key(|c| (c.size_bytes, c.id));
    let mut buckets: Vec<(u64, Vec<&Candidate>)> = Vec::new();
    for file in sorted {
        let size = file.size_bytes;
        let fits = |average: u64| {
            let (size, average) = (size as f64, average as f64);
            (size > average * sizes.bucket_low && size < average * sizes.bucket_high)
                || (size < sizes.min_sstable_bytes as f64
                    && average < sizes.min_sstable_bytes as f64)
        };
        match buckets.iter_mut().find(|(average, _)| fits(*average)) {
            Some((average, files)) => {
                *average = (*average * files.len() as u64 + size) / (files.len() as u64 + 1);
                files.push(file);
            }
            None => buckets.push((size, vec![file])),
        }
    }
    buckets.into_iter().map(|(_, files)| files).collect()
}

/// Compactions that are waiting: of each bucket that is full enough, as many as it takes.
pub(super) fn pending(
    free: &[&Candidate],
    options: &CompactionOptions,
    sizes: &SizeTiered,
) -> usize {
    let counts = buckets(free, sizes).into_iter().map(|files| files.len());
    let full = counts.filter(|&files| files >= options.min_threshold);
    full.map(|files| files.div_ceil(options.max_threshold.max(1))).sum()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::file;
    use super::*;
    use std::collections::BTreeMap;

    fn picked(sizes: &[u64], min_sstable_bytes: u64, thresholds: (usize, usize)) -> Vec<u64> {
        let files: Vec<Candidate> =
            sizes.iter().enumerate().map(|(i, size)| file(i as u64 + 1, *size, 0)).collect();
        let files: Vec<&Candidate> = files.iter().collect();
        let mut options = CompactionOptions::read(&BTreeMap::new());
        (options.min_threshold, options.max_threshold) = thresholds;
        let sizes = SizeTiered { min_sstable_bytes, bucket_low: 0.5, bucket_high: 1.5 };
        pick(&files, &options, &sizes)
    }

    #[test]
    fn buckets_and_thresholds() {
        // Three alike are too few; a fourth of another size changes nothing; four are picked.
        assert_eq!(picked(&[10, 10, 10, 300], 0, (4, 32)), [0; 0]);
        assert_eq!(picked(&[10, 10, 10, 300, 11], 0, (4, 32)), [1, 2, 3, 5]);
        // Below min_sstable_size all are alike.
        assert_eq!(picked(&[10, 10, 10, 300], 301, (4, 32)), [1, 2, 3, 4]);
        assert_eq!(picked(&[10, 10, 10, 300], 300, (4, 32)), [0; 0]);
        // The borders of a bucket are not part of it: 5 and 15 around 10.
        assert_eq!(picked(&[10, 15], 0, (2, 32)), [0; 0]);
        assert_eq!(picked(&[10, 14], 0, (2, 32)), [1, 2]);
        // The smallest of more than max_threshold; of two full buckets the larger files.
        assert_eq!(picked(&[12, 11, 10, 13], 0, (2, 3)), [3, 2, 1]);
        assert_eq!(picked(&[10, 10, 1000, 1000], 0, (2, 32)), [3, 4]);
    }
}
