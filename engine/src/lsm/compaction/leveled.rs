//! LeveledCompactionStrategy: each level holds files that do not overlap, ten times as much as the one below (sheet C.6).
//!
//! ```text
//! L0   flushed files, they may overlap          [a......m] [c....k] [b.....z]
//! L1   up to 10 files                           [a..d][e..h][i..n][o..z]
//! L2   up to 100                                [a][b][c][d] ...
//! ```
//!
//! A level that is too full gives its next file, in turn by key, to the level above, merged with what overlaps there.
//! Level 0 gives its oldest files with all that overlap; while that is less than a file's worth, the result stays in level 0.

use super::candidate::{Candidate, Layout, Moment, ids};
use super::options::{CompactionOptions, Leveled};
use super::{FileSizes, Memory, Task, size_tiered, tombstone};
use crate::ring::Token;
use crate::row::DecoratedKey;

/// Levels 0 to 8.
const LEVELS: usize = 9;
/// With more files than these in level 0, it is merged in itself first.
const LEVEL_0_MAX: usize = 32;
/// A level that no compaction touched for so many rounds gives a file to one that happens to span it.
const STARVED_ROUNDS: u32 = 25;

/// What a table's levels remember between picks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LevelMemory {
    /// For each level the last key that was moved up.
    last_compacted: [Option<DecoratedKey>; LEVELS],
    /// For each level the rounds since a compaction went to it.
    rounds: [u32; LEVELS],
}

/// The next task.
pub(super) fn pick(
    layout: &Layout,
    moment: &Moment,
    options: &CompactionOptions,
    leveled: &Leveled,
    memory: &mut Memory,
) -> Option<Task> {
    let levels = Levels::of(layout, leveled);
    for level in (1..LEVELS - 1).rev() {
        let free = levels.free(level);
        if !levels.is_too_full(level, &free) {
            continue;
        }
        if let Some(task) = levels.size_tiered_in_level_0(options) {
            return Some(task);
        }
        let files = levels.files_of(level, &memory.levels);
        if !files.is_empty() {
            let to = levels.next_level(&files);
            remember(level, &files, &mut memory.levels);
            let files = levels.with_starved(to, files, &mut memory.levels);
            return Some(levels.task(&files, to));
        }
    }
    let files = levels.files_of_level_0(options);
    if !files.is_empty() {
        return Some(levels.task(&files, levels.next_level(&files)));
    }
    if let Some(task) = levels.size_tiered_in_level_0(options) {
        return Some(task);
    }
    let file = levels.droppable(moment, options)?;
    let task = Task::for_tombstones(vec![file.id], file.level);
    Some(Task { sizes: FileSizes::Split(leveled.sstable_bytes), ..task })
}

/// All of the table, rewritten into levels from level 1 on.
pub(super) fn major(layout: &Layout, leveled: &Leveled) -> Option<Task> {
    let inputs = ids(layout.free());
    let sizes = FileSizes::Levels { bytes: leveled.sstable_bytes, fanout: leveled.fanout };
    (!inputs.is_empty()).then(|| Task { sizes, ..Task::major(inputs, 1) })
}

/// Chosen files: several go to level 0 as one, a single one stays in its level.
pub(super) fn user_defined(chosen: &[&Candidate], leveled: &Leveled) -> Task {
    let level = if let [only] = chosen { only.level } else { 0 };
    let sizes = if level == 0 { FileSizes::One } else { FileSizes::Split(leveled.sstable_bytes) };
    Task { sizes, ..Task::user_defined(ids(chosen.iter().copied()), level) }
}

/// Compactions that are waiting: what each level has too much, in files.
pub(super) fn pending(layout: &Layout, options: &CompactionOptions, leveled: &Leveled) -> usize {
    let levels = Levels::of(layout, leveled);
    let above = (1..LEVELS).map(|level| {
        let bytes: u64 = levels.files[level].iter().map(|c| c.size_bytes).sum();
        let excess = (bytes as f64 - levels.bytes_max(level)).max(0.0);
        (excess / leveled.sstable_bytes as f64).ceil() as usize
    });
    above.sum::<usize>() + usize::from(!levels.files_of_level_0(options).is_empty())
}

/// The files of a table by level.
struct Levels<'c> {
    layout: &'c Layout,
    leveled: &'c Leveled,
    /// Level 0 by age; others by first key, without overlap.
    files: Vec<Vec<&'c Candidate>>,
}

impl<'c> Levels<'c> {
    fn of(layout: &'c Layout, leveled: &'c Leveled) -> Levels<'c> {
        let mut files: Vec<Vec<&Candidate>> = vec![Vec::new(); LEVELS];
        let mut sorted: Vec<&Candidate> = layout.sstables.iter().collect();
        sorted.sort_by(|a, b| (&a.first, a.id).cmp(&(&b.first, b.id)));
        for file in sorted {
            let level = (file.level as usize).min(LEVELS - 1);
            // A file that overlaps with its level counts as one of level 0.
            let fits = files[level].last().is_none_or(|last| last.last < file.first);
            files[if fits { level } else { 0 }].push(file);
        }
        files[0].sort_by_key(|c| (c.max_timestamp_micros, c.id));
        Levels { layout, leveled, files }
    }

    fn is_compacting(&self, file: &Candidate) -> bool {
        self.layout.compacting.contains(&file.id)
    }

    fn free(&self, level: usize) -> Vec<&'c Candidate> {
        self.files[level].iter().copied().filter(|c| !self.is_compacting(c)).collect()
    }

    fn bytes_max(&self, level: usize) -> f64 {
        let file = self.leveled.sstable_bytes as f64;
        if level == 0 { 4.0 * file } else { (self.leveled.fanout as f64).powi(level as i32) * file }
    }

    fn is_too_full(&self, level: usize, files: &[&Candidate]) -> bool {
        let bytes: u64 = files.iter().map(|c| c.size_bytes).sum();
        bytes as f64 / self.bytes_max(level) > 1.001
    }

    fn size_tiered_in_level_0(&self, options: &CompactionOptions) -> Option<Task> {
        if self.files[0].len() <= LEVEL_0_MAX {
            return None;
        }
        let inputs = size_tiered::pick(&self.free(0), options, &self.leveled.size_tiered);
        (!inputs.is_empty()).then(|| Task::minor(inputs, 0))
    }

    /// The next file of a level, in turn, with what overlaps in the level above.
    fn files_of(&self, level: usize, memory: &LevelMemory) -> Vec<&'c Candidate> {
        let files = &self.files[level];
        let turn = memory.last_compacted[level]
            .as_ref()
            .map_or(0, |last| files.partition_point(|c| c.first <= *last));
        for file in files[turn..].iter().chain(&files[..turn]) {
            let mut chosen = vec![*file];
            chosen.extend(overlapping(span(&chosen), &self.files[level + 1]));
            if !chosen.iter().any(|c| self.is_compacting(c)) {
                return chosen;
            }
        }
        Vec::new()
    }

    fn files_of_level_0(&self, options: &CompactionOptions) -> Vec<&'c Candidate> {
        let (busy, mut remaining): (Vec<&Candidate>, Vec<&Candidate>) =
            self.files[0].iter().partition(|c| self.is_compacting(c));
        let busy_span = (!busy.is_empty()).then(|| span(&busy));
        let mut chosen: Vec<&Candidate> = Vec::new();
        for file in self.free(0) {
            if chosen.iter().any(|c| c.id == file.id) {
                continue;
            }
            let own = span(&[file]);
            if !overlapping(own, &busy).is_empty() {
                continue;
            }
            let with = overlapping(own, &remaining);
            remaining.retain(|c| !with.iter().any(|w| w.id == c.id));
            chosen.extend(
                with.into_iter()
                    .filter(|c| busy_span.is_none_or(|busy| overlapping(busy, &[*c]).is_empty())),
            );
            if chosen.len() > options.max_threshold {
                chosen.sort_by_key(|c| (c.max_timestamp_micros, c.id));
                chosen.truncate(options.max_threshold);
                break;
            }
        }
        let bytes: u64 = chosen.iter().map(|c| c.size_bytes).sum();
        if bytes > self.leveled.sstable_bytes {
            let above = overlapping(span(&chosen), &self.files[1]);
            if above.iter().any(|c| self.is_compacting(c)) {
                return Vec::new();
            }
            chosen.extend(above);
        }
        if chosen.len() < 2 { Vec::new() } else { chosen }
    }

    fn next_level(&self, files: &[&Candidate]) -> usize {
        // A file that overlaps with its level counts as one of level 0 here, too.
        let level = |file: &&Candidate| {
            (1..LEVELS).find(|l| self.files[*l].iter().any(|c| c.id == file.id)).unwrap_or(0)
        };
        let least = files.iter().map(level).min().unwrap_or(0);
        let greatest = files.iter().map(level).max().unwrap_or(0);
        let bytes: u64 = files.iter().map(|c| c.size_bytes).sum();
        if greatest == 0 && bytes < self.leveled.sstable_bytes {
            return 0;
        }
        let mut to = if least == greatest { greatest + 1 } else { greatest };
        while to + 1 < LEVELS && self.bytes_max(to) < bytes as f64 && self.files[to + 1].is_empty()
        {
            to += 1;
        }
        to.min(LEVELS - 1)
    }

    /// With a file of a level that had no turn for long, if it lies wholly inside of what is compacted.
    fn with_starved(
        &self,
        to: usize,
        mut files: Vec<&'c Candidate>,
        memory: &mut LevelMemory,
    ) -> Vec<&'c Candidate> {
        for rounds in &mut memory.rounds[1..] {
            *rounds += 1;
        }
        memory.rounds[to] = 0;
        let highest = (1..LEVELS).rev().find(|level| !self.files[*level].is_empty());
        let Some(highest) = highest.filter(|level| memory.rounds[*level] > STARVED_ROUNDS) else {
            return files;
        };
        let first = files.iter().map(|c| &c.first).min();
        let last = files.iter().map(|c| &c.last).max();
        let (Some(first), Some(last)) = (first, last) else { return files };
        let inside =
            |c: &&&Candidate| *first < c.first && c.last <= *last && !self.is_compacting(c);
        let starved = self.files[highest].iter().find(inside).copied();
        let is_new = |starved: &&Candidate| !files.iter().any(|c| c.id == starved.id);
        files.extend(starved.filter(is_new));
        files
    }

    /// Highest level first, most droppable first.
    fn droppable(&self, moment: &Moment, options: &CompactionOptions) -> Option<&'c Candidate> {
        (0..LEVELS).rev().find_map(|level| {
            let mut files = self.free(level);
            files.sort_by(|a, b| {
                b.droppable_ratio.total_cmp(&a.droppable_ratio).then(a.id.cmp(&b.id))
            });
            let worth = tombstone::worth_dropping(&files, self.layout, moment, options);
            worth.first().copied()
        })
    }

    fn task(&self, files: &[&Candidate], to: usize) -> Task {
        let inputs = ids(files.iter().copied());
        let level = u32::try_from(to).expect("there are nine levels");
        let sizes = FileSizes::Split(self.leveled.sstable_bytes);
        Task { sizes, ..Task::minor(inputs, level) }
    }
}

fn remember(level: usize, files: &[&Candidate], memory: &mut LevelMemory) {
    memory.last_compacted[level] = files.first().map(|file| file.last.clone());
}

/// First and last token over all.
fn span(files: &[&Candidate]) -> (Token, Token) {
    let first = files.iter().map(|c| c.first.token).min();
    let last = files.iter().map(|c| c.last.token).max();
    (first.unwrap_or(Token(0)), last.unwrap_or(Token(0)))
}

fn overlapping<'c>((first, last): (Token, Token), files: &[&'c Candidate]) -> Vec<&'c Candidate> {
    let meets = |c: &&Candidate| c.first.token <= last && first <= c.last.token;
    files.iter().copied().filter(meets).collect()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{file, key, layout, moment};
    use super::*;
    use std::collections::BTreeMap;

    const MIB: u64 = 1 << 20;

    fn options() -> CompactionOptions {
        let map = [("class", "LeveledCompactionStrategy"), ("sstable_size_in_mb", "1")];
        let map: BTreeMap<String, String> =
            map.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        CompactionOptions::read(&map)
    }

    fn at(id: u64, level: u32, size_bytes: u64, span: (i64, i64)) -> Candidate {
        let (first, last) = (key(span.0), key(span.1));
        Candidate { level, first, last, ..file(id, size_bytes, id as i64) }
    }

    fn picked(files: Vec<Candidate>) -> Option<(Vec<u64>, u32)> {
        let task = super::super::pick(
            &layout(files),
            &moment(1_000, 0),
            &options(),
            &mut Memory::default(),
        );
        task.map(|task| (task.inputs, task.level))
    }

    #[test]
    fn level_0_needs_two_files_and_stays_while_small() {
        // answers/clock-lcs: two files of level 0 are enough, and small ones stay there.
        assert_eq!(picked(vec![at(1, 0, 100, (0, 9))]), None);
        assert_eq!(
            picked(vec![at(1, 0, 100, (0, 9)), at(2, 0, 100, (5, 20))]),
            Some((vec![1, 2], 0))
        );
        // With more than a file's worth, what overlaps in level 1 joins and all moves there.
        let full = vec![
            at(1, 0, MIB, (0, 9)),
            at(2, 0, MIB, (5, 20)),
            at(3, 1, MIB, (15, 30)),
            at(4, 1, MIB, (31, 40)),
        ];
        assert_eq!(picked(full), Some((vec![1, 2, 3], 1)));
    }

    #[test]
    fn a_level_too_full_gives_its_next_file_in_turn() {
        let mut files: Vec<Candidate> =
            (0..11).map(|i| at(i as u64 + 1, 1, MIB, (10 * i, 10 * i + 9))).collect();
        files.push(at(20, 2, MIB, (5, 12)));
        files.push(at(21, 2, MIB, (25, 28)));
        let (mut memory, table) = (Memory::default(), layout(files));
        let mut next = || {
            let task = super::super::pick(&table, &moment(0, 0), &options(), &mut memory);
            task.map(|task| (task.inputs, task.level))
        };
        assert_eq!(next(), Some((vec![1, 20], 2)));
        assert_eq!(next(), Some((vec![2, 20], 2)));
        assert_eq!(next(), Some((vec![3, 21], 2)));
        assert_eq!(next(), Some((vec![4], 2)));
    }

    #[test]
    fn more_than_32_files_in_level_0_are_merged_there_first() {
        let mut files: Vec<Candidate> = (1..=33).map(|i| at(i, 0, 100, (0, 9))).collect();
        files.extend((0..11).map(|i| at(i as u64 + 100, 1, MIB, (10 * i, 10 * i + 9))));
        let (inputs, level) = picked(files).unwrap();
        assert_eq!((inputs.len(), level), (32, 0));
    }
}
