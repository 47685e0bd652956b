//! Whether a single SSTable is worth a compaction for its tombstones alone (sheet C.4).
//!
//! ```text
//! old enough? - enough of it droppable? - unchecked?                         -> yes
//!                                       - nothing overlaps, or all expired?  -> yes
//!                                       - enough even in the parts that do not overlap? -> yes
//! ```

use super::candidate::{Candidate, Layout, Moment};
use super::expired::fully_expired;
use super::options::CompactionOptions;
use crate::ring::Token;

/// Those of `files` that are worth it.
pub(super) fn worth_dropping<'c>(
    files: &[&'c Candidate],
    layout: &Layout,
    moment: &Moment,
    options: &CompactionOptions,
) -> Vec<&'c Candidate> {
    if options.tombstone_compactions_disabled {
        return Vec::new();
    }
    files.iter().copied().filter(|file| is_worth(file, layout, moment, options)).collect()
}

fn is_worth(
    file: &Candidate,
    layout: &Layout,
    moment: &Moment,
    options: &CompactionOptions,
) -> bool {
    let old_enough = file.created_seconds.saturating_add(options.tombstone_interval_seconds)
        <= moment.now_seconds();
    if !old_enough || file.droppable_ratio <= options.tombstone_threshold {
        return false;
    }
    if options.unchecked_tombstone_compaction {
        return true;
    }
    let overlapping = layout.overlapping(&[file.id]);
    overlapping.is_empty()
        || !fully_expired(layout, &[file.id], moment, false).is_empty()
        || part_outside(file, &overlapping) * file.droppable_ratio > options.tombstone_threshold
}

/// Fewer partitions than these say nothing about where they lie: Cassandra asks an index summary, which has one entry
/// for 128 of them.
const PARTITIONS_MIN: u64 = 256;

/// Which part of the partitions lies where no other file has any, taking them to be spread evenly over its tokens.
fn part_outside(file: &Candidate, overlapping: &[&Candidate]) -> f64 {
    if file.partitions < PARTITIONS_MIN {
        return 0.0;
    }
    let mut covered: Vec<(Token, Token)> = overlapping
        .iter()
        .map(|c| (c.first.token.max(file.first.token), c.last.token.min(file.last.token)))
        .collect();
    covered.sort();
    let width = |from: Token, to: Token| (i128::from(to.0) - i128::from(from.0)) as f64;
    let whole = width(file.first.token, file.last.token);
    if whole <= 0.0 {
        return 0.0;
    }
    let (mut free, mut at) = (0.0, file.first.token);
    for (from, to) in covered {
        if from > at {
            free += width(at, from);
        }
        at = at.max(to);
    }
    (free + width(at, file.last.token)) / whole
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{file, key, layout, moment};
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn age_ratio_and_overlap_decide() {
        let mut options = CompactionOptions::read(&BTreeMap::new());
        let mut one = file(1, 100, 5);
        (one.droppable_ratio, one.created_seconds) = (0.5, 1_000);
        let mut table = layout(vec![one]);
        let worth = |table: &_, now, options: &_| {
            let Layout { sstables, .. } = table;
            !worth_dropping(&[&sstables[0]], table, &moment(now, 0), options).is_empty()
        };
        assert!(!worth(&table, 1_000 + 86_399, &options));
        assert!(worth(&table, 1_000 + 86_400, &options));
        options.tombstone_threshold = 0.5;
        assert!(!worth(&table, 100_000, &options), "the ratio must be above");
        options.tombstone_threshold = 0.2;
        table.sstables.push(file(2, 100, 9));
        assert!(!worth(&table, 100_000, &options), "another file overlaps");
        options.unchecked_tombstone_compaction = true;
        assert!(worth(&table, 100_000, &options));
        options.tombstone_compactions_disabled = true;
        assert!(!worth(&table, 100_000, &options));
    }

    #[test]
    fn the_part_that_overlaps_nothing() {
        let mut wide = file(1, 100, 5);
        (wide.first, wide.last, wide.partitions) = (key(0), key(100), 1_000);
        let with = |from, to| {
            let mut other = file(2, 100, 5);
            (other.first, other.last) = (key(from), key(to));
            other
        };
        assert_eq!(part_outside(&wide, &[&with(0, 25)]), 0.75);
        assert_eq!(part_outside(&wide, &[&with(-50, 25), &with(20, 50), &with(90, 900)]), 0.4);
        wide.partitions = 255;
        assert_eq!(part_outside(&wide, &[&with(0, 25)]), 0.0);
    }
}
