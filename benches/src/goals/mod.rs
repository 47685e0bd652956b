//! The goals of speed, memory and growth: one table, measured against the raw limits of the same machine in the same run.
//!
//! ```text
//! goals E1      turn 1: limits' skip list | our INSERT
//!               turn 2: limits' skip list | our INSERT      each in a process of its own, on quiet cores
//!               ...
//!               ratio = median over the turns of ours / baseline      below the floor: exit code 1
//! ```
//!
//! A [`Goal`] is a row of the table: what is measured, against what, and how far apart they may be. What is measured
//! comes from a [`Probe`], a function that builds its own cluster and gives a few figures; one run of a probe serves
//! every goal that asks for one of its figures in that turn. The families:
//!
//! | module | ids |
//! |---|---|
//! | [`embedded`] | E1 to E5, E8 to E12: statements through the embedded interface |
//! | [`deleted`] | T1 to T7: reading past deleted data |
//! | [`storage`] | L1 to L8: log, flush, compaction |
//! | [`start`] | S1 to S3, S6: from nothing to the first row |
//! | [`memory`] | M1 to M4: resident bytes |
//! | [`growth`] | G1 to G11, G13, G15 to G17: how cost grows |
//!
//! [`turns`] runs them, [`limits`] builds and asks the program `benches/limits`, [`clock`] is the only place that
//! looks at the time. Not here: gates of the continuous integration, which are counters (`tests/growth.rs`).

pub mod clock;
pub mod deleted;
pub mod embedded;
pub mod fixture;
pub mod growth;
pub mod limits;
pub mod memory;
pub mod start;
pub mod storage;
pub mod turns;

use std::path::PathBuf;

/// What a probe is told.
#[derive(Clone, Debug)]
pub struct Run {
    /// The size that the goal names: rows, tombstones, partitions ... already divided.
    pub size: u64,
    /// Fixed numbers of repetitions are divided by this, so that a test can run every probe in a moment.
    pub divisor: u64,
    /// A folder of its own, for probes on disk.
    pub dir: PathBuf,
}

impl Run {
    /// A number of repetitions or rows at the scale of this run; at least 1.
    pub fn scaled(&self, number: u64) -> u64 {
        (number / self.divisor).max(1)
    }
}

/// Measures something of ours in the process that it is called in.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Name, to be asked for in a process of its own.
    pub name: &'static str,
    /// Gives its figures, always as many and in the same order.
    pub run: fn(&Run) -> Vec<f64>,
}

/// One figure of a probe at a size.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The probe.
    pub probe: Probe,
    /// The size, before it is divided.
    pub size: u64,
    /// Which of its figures.
    pub index: usize,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A probe of ours.
    Ours(Figure),
    /// Instructions for each operation of a probe of ours, counted by valgrind.
    OurInstructions(Probe),
    /// A line of `benches/limits`.
    Limits(&'static str),
    /// Instructions for each operation of its program `insn`.
    LimitsInstructions(&'static str),
    /// The number 1: the goal bounds our figure itself.
    One,
}

/// A figure of ours.
pub const fn ours(probe: Probe, size: u64, index: usize) -> Source {
    Source::Ours(Figure { probe, size, index })
}

/// How our figure may stand to the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Rates: the ratio is at least this.
    AtLeast(f64),
    /// Times and sizes: the ratio is at most this.
    AtMost(f64),
}

impl Bound {
    /// Whether a ratio keeps to it.
    pub fn holds(&self, ratio: f64) -> bool {
        match *self {
            Bound::AtLeast(least) => ratio >= least,
            Bound::AtMost(most) => ratio <= most,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::AtLeast(least) => write!(f, ">={least}"),
            Bound::AtMost(most) => write!(f, "<={most}"),
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Its id; a dot and a word tell apart the rows of one id.
    pub id: &'static str,
    /// What is measured, with its unit.
    pub what: &'static str,
    /// What differs from [`DEFAULTS`]; empty if nothing does.
    pub on: &'static str,
    /// Our number.
    pub ours: Source,
    /// What it is divided by.
    pub baseline: Source,
    /// Below it a release is not done.
    pub floor: Bound,
    /// What we aim at.
    pub goal: Bound,
}

/// What is on unless a row says otherwise.
pub const DEFAULTS: &str = "one node, RF=1, CL ONE, in memory, commit log periodic, LZ4, \
    block cache 512 MiB, no early flush, no compaction until told, one thread, prepared";

/// All goals, in order.
pub fn table() -> Vec<Goal> {
    let families: [&[Goal]; 6] = [
        embedded::GOALS,
        deleted::GOALS,
        storage::GOALS,
        start::GOALS,
        memory::GOALS,
        growth::GOALS,
    ];
    families.concat()
}

/// The goals of the ids asked for: `E4` means all its rows, `E4.insert` one. None asked for: all.
///
/// # Errors
/// An id that there is not.
pub fn select(ids: &[String]) -> Result<Vec<Goal>, String> {
    let matches = |goal: &Goal, id: &str| {
        goal.id.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let all = table();
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|goal| matches(goal, id))) {
        return Err(format!("there is no goal {unknown}"));
    }
    let wanted = |goal: &Goal| ids.is_empty() || ids.iter().any(|id| matches(goal, id));
    Ok(all.into_iter().filter(wanted).collect())
}

/// The probe of that name.
pub fn probe(name: &str) -> Option<Probe> {
    let sources = table().into_iter().flat_map(|goal| [goal.ours, goal.baseline]);
    let mut probes = sources.filter_map(|source| match source {
        Source::Ours(figure) => Some(figure.probe),
        Source::OurInstructions(probe) => Some(probe),
        Source::Limits(_) | Source::LimitsInstructions(_) | Source::One => None,
    });
    probes.find(|probe| probe.name == name)
}
