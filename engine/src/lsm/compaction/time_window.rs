//! TimeWindowCompactionStrategy: files of one window of time are merged, those of different windows never (sheet C.7).
//!
//! ```text
//! window    08:00      09:00      10:00 (current)
//! files     a b        c          d e f
//! picked    a + b      -          only if there are min_threshold of like size
//! ```
//!
//! The window of a file is that of its *newest* timestamp, so a late write makes its file one of the newest window.
//! The current window is the newest that this strategy has ever seen, not the wall clock's. Expired files
//! ([`super::expired`]) are looked for now and then and go along with whatever else is done.

use super::candidate::{Candidate, Layout, Moment, ids};
use super::options::{CompactionOptions, TimeWindow};
use super::{Memory, Task, expired, size_tiered, tombstone};
use std::collections::BTreeMap;

/// The next task.
pub(super) fn pick(
    layout: &Layout,
    moment: &Moment,
    options: &CompactionOptions,
    window: &TimeWindow,
    memory: &mut Memory,
) -> Option<Task> {
    if layout.sstables.is_empty() {
        return None;
    }
    let free = layout.free();
    let mut gone = Vec::new();
    if moment.is_due(memory.last_expired_check_millis, window.expired_check_millis) {
        memory.last_expired_check_millis = Some(moment.now_millis);
        if !options.only_purge_repaired_tombstones {
            let all = ids(free.iter().copied());
            gone = expired::fully_expired(layout, &all, moment, window.ignore_overlaps);
        }
    }
    let rest: Vec<&Candidate> = free.into_iter().filter(|c| !gone.contains(&c.id)).collect();
    let mut inputs = files(&rest, options, window, memory);
    let mut for_tombstones = false;
    if inputs.is_empty() {
        let worth = tombstone::worth_dropping(&rest, layout, moment, options);
        inputs = worth
            .into_iter()
            .min_by_key(|c| (c.size_bytes, c.id))
            .map(|c| c.id)
            .into_iter()
            .collect();
        for_tombstones = !inputs.is_empty() && gone.is_empty();
    }
    inputs.extend(gone);
    if inputs.is_empty() {
        return None;
    }
    let task =
        if for_tombstones { Task::for_tombstones(inputs, 0) } else { Task::minor(inputs, 0) };
    Some(Task { ignore_overlaps: window.ignore_overlaps, ..task })
}

/// The files of the newest window in which there is something to do.
fn files(
    free: &[&Candidate],
    options: &CompactionOptions,
    window: &TimeWindow,
    memory: &mut Memory,
) -> Vec<u64> {
    let mut windows: BTreeMap<i64, Vec<&Candidate>> = BTreeMap::new();
    for file in free {
        windows.entry(start_seconds(file.max_timestamp_micros, window)).or_default().push(file);
    }
    let newest = windows.keys().next_back().copied().unwrap_or(0).max(0);
    let current = memory.newest_window_seconds.map_or(newest, |seen| seen.max(newest));
    memory.newest_window_seconds = Some(current);
    for (start, mut files) in windows.into_iter().rev() {
        if start >= current {
            if files.len() >= options.min_threshold {
                let picked = size_tiered::pick(&files, options, &window.size_tiered);
                if !picked.is_empty() {
                    return picked;
                }
            }
        } else if files.len() >= 2 {
            files.sort_by_key(|c| (c.size_bytes, c.id));
            return ids(files.into_iter().take(options.max_threshold));
        }
    }
    Vec::new()
}

/// Where the window of a timestamp begins. Seconds.
fn start_seconds(timestamp: i64, window: &TimeWindow) -> i64 {
    let (times, per) = window.millis_ratio;
    // Java divides towards zero, and so do we.
    let seconds = timestamp.saturating_mul(times) / per / 1_000;
    seconds - seconds % window.window_seconds
}

/// Compactions that are waiting.
pub(super) fn pending(
    free: &[&Candidate],
    options: &CompactionOptions,
    window: &TimeWindow,
    memory: &Memory,
) -> usize {
    let mut windows: BTreeMap<i64, usize> = BTreeMap::new();
    for file in free {
        *windows.entry(start_seconds(file.max_timestamp_micros, window)).or_default() += 1;
    }
    let newest = windows.keys().next_back().copied().unwrap_or(0);
    let current = memory.newest_window_seconds.map_or(newest, |seen| seen.max(newest));
    let full = windows.into_iter().filter(|(start, files)| {
        if *start >= current { *files >= options.min_threshold } else { *files >= 2 }
    });
    full.map(|(_, files)| {
        let rest = files.saturating_sub(options.max_threshold);
        let more =
            if rest > options.min_threshold { rest.div_ceil(options.max_threshold) } else { 0 };
        1 + more
    })
    .sum()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{file, layout, moment};
    use super::*;

    fn options(extra: &[(&str, &str)]) -> CompactionOptions {
        let written = [
            ("class", "TimeWindowCompactionStrategy"),
            ("compaction_window_unit", "MINUTES"),
            ("timestamp_resolution", "SECONDS"),
        ];
        let map = written.iter().chain(extra).map(|(k, v)| (k.to_string(), v.to_string()));
        CompactionOptions::read(&map.collect())
    }

    fn picked(timestamps: &[i64], options: &CompactionOptions, memory: &mut Memory) -> Vec<u64> {
        let files = timestamps.iter().enumerate().map(|(i, t)| file(i as u64 + 1, 100, *t));
        let table = layout(files.collect());
        super::super::pick(&table, &moment(1_000, 0), options, memory)
            .map_or(Vec::new(), |task| task.inputs)
    }

    #[test]
    fn past_windows_take_two_the_current_one_min_threshold() {
        // The files of answers/clock-twcs-windows.
        let options = options(&[]);
        let mut memory = Memory::default();
        assert_eq!(picked(&[60, 119, 120], &options, &mut memory), [1, 2]);
        assert_eq!(picked(&[119, 120, 130, 140], &options, &mut memory), [0; 0]);
        assert_eq!(picked(&[119, 120, 130, 140, 179], &options, &mut memory), [2, 3, 4, 5]);
        assert_eq!(picked(&[119, 179, 150, 160], &options, &mut memory), [0; 0]);
        assert_eq!(picked(&[119, 179, 150, 160, 180], &options, &mut memory), [2, 3, 4]);
        // The newest window stays what it was when its file is gone.
        assert_eq!(picked(&[120, 130], &options, &mut memory), [1, 2]);
    }

    #[test]
    fn windows_begin_at_multiples_of_their_length() {
        let window = |extra| match options(extra).strategy {
            super::super::options::Strategy::TimeWindow(window) => window,
            other => panic!("{other:?}"),
        };
        let hours = window(&[("compaction_window_unit", "HOURS"), ("compaction_window_size", "5")]);
        assert_eq!(start_seconds(18_000 + 17_999, &hours), 18_000);
        let micros = window(&[("timestamp_resolution", "MICROSECONDS")]);
        assert_eq!(start_seconds(119_999_999, &micros), 60);
    }
}
