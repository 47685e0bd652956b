//! Claim 32 by measurement: a partition that grows for eleven months, and the same scans in buckets of a day.

use cassling_tests::eleven_months::{DAYS, SCANS_PER_DAY, tell};

/// One scan of a thousand: 40 a day.
const SCALE: u32 = 1000;

#[test]
fn buckets_bound_partition_read_and_disk() {
    let scans = u64::from(SCANS_PER_DAY / SCALE);
    let months = tell(SCALE, |_| {}).unwrap();
    let (first, last) = (&months[0], &months[months.len() - 1]);
    assert_eq!(last.days, DAYS);
    for month in &months {
        let of_life = scans * u64::from(month.days);
        // Newest first: 100 rows, however old the route is; a day of the new table has fewer.
        assert_eq!(month.before.latest.rows_read, 100);
        assert_eq!(month.after.latest.rows_read, scans);
        // A day is a slice here and a partition there.
        assert_eq!(month.before.day.rows_returned, scans);
        assert_eq!(month.after.day.rows_returned, scans);
        // A facility's day: the day of every route there is, filtered, against the rows of the answer.
        assert_eq!(month.before.facility.rows_read, scans);
        assert!(month.before.facility.rows_returned < scans);
        assert_eq!(month.after.facility.rows_read, month.after.facility.rows_returned);
        assert_eq!(month.before.facility.rows_returned, month.after.facility.rows_returned);
        // Without a bound the whole life comes in one answer.
        assert_eq!(month.before.unbounded.rows_returned, of_life);
        assert_eq!(month.after.unbounded.rows_returned, scans);
    }
    // The largest partition grows with time, or stays a day's.
    assert!(last.before.largest_partition_bytes > 3 * first.before.largest_partition_bytes);
    assert_eq!(last.after.largest_partition_bytes, first.after.largest_partition_bytes);
    // 180 days of TTL and 10 of gc_grace: from then on a file is dropped for each that is written. Each table has one a day; at
    // midnight that of 190 days ago goes, whose last scan was a step before midnight.
    assert_eq!(months[5].after.dropped, 0);
    let expired = u64::from(DAYS - 180 - 10);
    assert_eq!(last.after.dropped, 2 * expired);
    assert_eq!(last.after.rewritten_bytes, 0);
    // What was one file for each day is written again and again.
    assert!(last.before.rewritten_bytes > 2 * last.before.flushed_bytes);
    let growth = |from: u64, to: u64| to * 100 / from;
    let at = |days| months.iter().find(|month| month.days == days).unwrap();
    assert!(growth(at(210).before.disk_bytes, at(330).before.disk_bytes) > 140);
    assert!(growth(at(210).after.disk_bytes, at(330).after.disk_bytes) < 105);
}
