//! Compaction: SSTables merged into fewer, and what is dead thrown away.
//!
//! ```text
//! view, options, moment --pick--> Task --run--> new files --replace--> next view
//!      (plain facts)               |                          (swapped as a whole)
//!                                  '- expired files: dropped unread ([`expired`])
//!                                     the rest: one k-way merge, then the purge ([`purge`])
//! ```
//!
//! Picking is a pure function of a [`Layout`] and a [`Moment`]: no file is touched, no clock is asked, so each strategy is
//! tested by tables. What a strategy remembers between picks (the newest window it saw, whose turn it is in a level)
//! is a [`Memory`] that it gets and gives back. [`run`] carries a task out; readers keep the files of the view they
//! began with, and a file goes with its last reader.
//!
//! Who looks when is [`looks`]: after each flush and each compaction, and when automatic compaction is switched on. A
//! changed option alone starts nothing, as in Cassandra. Not here: repaired and unrepaired data kept apart.

pub mod candidate;
pub mod expired;
mod garbage;
mod leveled;
mod looks;
pub mod options;
mod purge;
mod report;
mod run;
mod size_tiered;
mod time_window;
mod tombstone;

pub use candidate::{Candidate, Layout, Moment};
pub use expired::Blocker;
pub use looks::CompactionState;
pub use options::{CompactionOptions, OverlappingTombstones};
pub use report::{CompactionRecord, CompactionTotals, Progress, Purged};

use crate::row::DecoratedKey;
use options::Strategy;

/// One compaction to be done: what goes in, and how it comes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Why.
    pub reason: Reason,
    /// Numbers of the SSTables.
    pub inputs: Vec<u64>,
    /// Level of what comes out.
    pub level: u32,
    /// How large the files are that come out.
    pub sizes: FileSizes,
    /// Expired files go without a look at overlapping ones.
    pub ignore_overlaps: bool,
    /// What tombstones outside of the compaction may hide in it.
    pub overlapping_tombstones: Option<OverlappingTombstones>,
    /// Partitions whose tombstones go whatever gc_grace says.
    pub forced: Vec<DecoratedKey>,
}

/// Why a compaction is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The strategy picked it.
    Minor,
    /// All of a table (`nodetool compact`).
    Major,
    /// A single SSTable for its tombstones.
    Tombstones,
    /// The SSTables were named.
    UserDefined,
    /// `nodetool garbagecollect`.
    GarbageCollect,
    /// `nodetool forcecompact`.
    Forced,
}

impl Reason {
    /// Cassandra's name of the operation in `nodetool compactionstats`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Minor | Reason::UserDefined | Reason::Forced => "Compaction",
            Reason::Major => "Major compaction",
            Reason::Tombstones => "Tombstone Compaction",
            Reason::GarbageCollect => "Remove deleted data",
        }
    }
}

/// How large the files of an output are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileSizes {
    /// One file.
    One,
    /// A new file after so many bytes, between partitions.
    Split(u64),
    /// The same, and a new level when one is full.
    Levels {
        /// Size of a file.
        bytes: u64,
        /// How many times larger each level is.
        fanout: u64,
    },
    /// One file of half of it all, one of half of the rest, and so on (`nodetool compact -s`).
    Halves,
}

impl Task {
    fn new(reason: Reason, inputs: Vec<u64>, level: u32) -> Task {
        Task {
            reason,
            inputs,
            level,
            sizes: FileSizes::One,
            ignore_overlaps: false,
            overlapping_tombstones: None,
            forced: Vec::new(),
        }
    }

    fn minor(inputs: Vec<u64>, level: u32) -> Task {
        Task::new(Reason::Minor, inputs, level)
    }

    fn major(inputs: Vec<u64>, level: u32) -> Task {
        Task::new(Reason::Major, inputs, level)
    }

    fn for_tombstones(inputs: Vec<u64>, level: u32) -> Task {
        Task::new(Reason::Tombstones, inputs, level)
    }

    fn user_defined(inputs: Vec<u64>, level: u32) -> Task {
        Task::new(Reason::UserDefined, inputs, level)
    }
}

/// What a strategy remembers of a table between picks. It begins anew with another strategy and with a restart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Start of the newest window ever seen, seconds.
    newest_window_seconds: Option<i64>,
    /// When expired files were looked for last. Milliseconds.
    last_expired_check_millis: Option<i64>,
    levels: leveled::LevelMemory,
}

/// The next compaction that a table's strategy wants, if any.
pub fn pick(
    layout: &Layout,
    moment: &Moment,
    options: &CompactionOptions,
    memory: &mut Memory,
) -> Option<Task> {
    match &options.strategy {
        Strategy::Leveled(leveled) => leveled::pick(layout, moment, options, leveled, memory),
        Strategy::TimeWindow(window) => time_window::pick(layout, moment, options, window, memory),
        Strategy::SizeTiered(sizes) => {
            let free = layout.free();
            let inputs = size_tiered::pick(&free, options, sizes);
            if !inputs.is_empty() {
                return Some(Task::minor(inputs, 0));
            }
            let worth = tombstone::worth_dropping(&free, layout, moment, options);
            let largest = worth.into_iter().max_by_key(|c| (c.size_bytes, std::cmp::Reverse(c.id)));
            largest.map(|file| Task::for_tombstones(vec![file.id], 0))
        }
        Strategy::Unified(_) => None,
    }
}

/// What compacting all of a table takes; `split`: into halves.
pub fn major(layout: &Layout, options: &CompactionOptions, split: bool) -> Option<Task> {
    let inputs = candidate::ids(layout.free());
    let task = match &options.strategy {
        Strategy::Leveled(leveled) => return leveled::major(layout, leveled),
        Strategy::TimeWindow(window) => {
            Task { ignore_overlaps: window.ignore_overlaps, ..Task::major(inputs, 0) }
        }
        Strategy::SizeTiered(_) if split => {
            Task { sizes: FileSizes::Halves, ..Task::major(inputs, 0) }
        }
        Strategy::SizeTiered(_) | Strategy::Unified(_) => Task::major(inputs, 0),
    };
    (!task.inputs.is_empty()).then_some(task)
}

/// What compacting named SSTables takes; `None` if one is gone or being compacted.
pub fn user_defined(layout: &Layout, options: &CompactionOptions, chosen: &[u64]) -> Option<Task> {
    let free = layout.free();
    let files: Option<Vec<&Candidate>> =
        chosen.iter().map(|id| free.iter().copied().find(|c| c.id == *id)).collect();
    let files = files.filter(|files| !files.is_empty())?;
    Some(match &options.strategy {
        Strategy::Leveled(leveled) => leveled::user_defined(&files, leveled),
        Strategy::SizeTiered(_) | Strategy::TimeWindow(_) | Strategy::Unified(_) => {
            Task::user_defined(candidate::ids(files), 0)
        }
    })
}

/// How many compactions are waiting, by the strategy's estimate.
pub fn pending(layout: &Layout, options: &CompactionOptions, memory: &Memory) -> usize {
    let free = layout.free();
    match &options.strategy {
        Strategy::SizeTiered(sizes) => size_tiered::pending(&free, options, sizes),
        Strategy::Leveled(leveled) => leveled::pending(layout, options, leveled),
        Strategy::TimeWindow(window) => time_window::pending(&free, options, window, memory),
        Strategy::Unified(_) => 0,
    }
}
