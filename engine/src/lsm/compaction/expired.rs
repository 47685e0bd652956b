//! Files that can be dropped whole, without being read (sheet C.9).
//!
//! ```text
//! file 1   all expired, newest timestamp 50      dropped
//! file 2   all expired, newest timestamp 70      stays: file 3 might hold something older than 70
//! file 3   lives,       oldest timestamp 60      the blocker
//! ```
//!
//! A file goes if all of it is past its end and past gc_grace, and everything in it is older than every piece of
//! data that may live: in overlapping SSTables, in the other files of the compaction, in a memtable. Whole-file
//! numbers are compared, so one live cell with an old timestamp blocks every newer expired file.

use super::candidate::{Candidate, Layout, Moment};
use crate::sim::faults::{Fault, planted};

/// Numbers of those of `compacting` that can be dropped. `ignore_overlaps`
/// (`unsafe_aggressive_sstable_expiration`) asks nothing but their age.
pub fn fully_expired(
    layout: &Layout,
    compacting: &[u64],
    moment: &Moment,
    ignore_overlaps: bool,
) -> Vec<u64> {
    let inside = || layout.sstables.iter().filter(|c| compacting.contains(&c.id));
    let expired = inside().filter(|c| c.is_past_gc_grace(moment));
    if ignore_overlaps || planted(Fault::ExpiredDroppedWithoutOverlapCheck) {
        return expired.map(|c| c.id).collect();
    }
    let least = oldest_live(layout, compacting, moment);
    expired.filter(|c| c.max_timestamp_micros < least).map(|c| c.id).collect()
}

/// The smallest timestamp that something living may have.
fn oldest_live(layout: &Layout, compacting: &[u64], moment: &Moment) -> i64 {
    let inside = layout.sstables.iter().filter(|c| compacting.contains(&c.id));
    layout
        .overlapping(compacting)
        .into_iter()
        .chain(inside)
        .filter(|c| !c.is_past_gc_grace(moment))
        .map(|c| c.min_timestamp_micros)
        .fold(moment.memtables_min_timestamp_micros, i64::min)
}

/// A file that keeps expired ones from being dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocker {
    /// The file that may hold something alive.
    pub blocker: Candidate,
    /// Numbers of the expired files that are not older than its oldest timestamp.
    pub blocked: Vec<u64>,
}

/// Which files keep which expired ones from being dropped (the tool `sstableexpiredblockers`).
pub fn blockers(layout: &Layout, moment: &Moment) -> Vec<Blocker> {
    let (expired, living): (Vec<&Candidate>, Vec<&Candidate>) =
        layout.sstables.iter().partition(|c| c.is_past_gc_grace(moment));
    let blocked = living.into_iter().map(|living| {
        let blocked = expired
            .iter()
            .filter(|e| e.max_timestamp_micros >= living.min_timestamp_micros)
            .map(|e| e.id);
        Blocker { blocker: living.clone(), blocked: blocked.collect() }
    });
    blocked.filter(|blocker| !blocker.blocked.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{file, key, layout, moment};
    use super::*;

    fn ended(id: u64, timestamp: i64, ends: i64) -> Candidate {
        Candidate { max_local_deletion_seconds: ends, ..file(id, 100, timestamp) }
    }

    #[test]
    fn a_file_goes_when_all_that_lives_is_newer() {
        let table = layout(vec![ended(1, 50, 99), ended(2, 70, 99), file(3, 100, 60)]);
        let now = moment(200, 100);
        assert_eq!(fully_expired(&table, &[1, 2, 3], &now, false), [1]);
        assert_eq!(fully_expired(&table, &[1, 2, 3], &now, true), [1, 2]);
        // Also as a file outside of the compaction, if it overlaps.
        assert_eq!(fully_expired(&table, &[1, 2], &now, false), [1]);
        let found = blockers(&table, &now);
        assert_eq!((found[0].blocker.id, &found[0].blocked[..]), (3, &[2][..]));
    }

    #[test]
    fn another_partition_blocks_only_inside_the_compaction() {
        let mut far = file(3, 100, 1);
        (far.first, far.last) = (key(9), key(9));
        let table = layout(vec![ended(1, 50, 99), far]);
        let now = moment(200, 100);
        assert_eq!(fully_expired(&table, &[1], &now, false), [1]);
        assert_eq!(fully_expired(&table, &[1, 3], &now, false), [0; 0]);
    }

    #[test]
    fn the_second_of_gc_grace_and_memtables_count() {
        let table = layout(vec![ended(1, 50, 100)]);
        assert_eq!(fully_expired(&table, &[1], &moment(200, 100), false), [0; 0]);
        assert_eq!(fully_expired(&table, &[1], &moment(200, 101), false), [1]);
        let written = Moment { memtables_min_timestamp_micros: 50, ..moment(200, 101) };
        assert_eq!(fully_expired(&table, &[1], &written, false), [0; 0]);
    }
}
