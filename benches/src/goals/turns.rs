//! Runs goals in paired turns and judges them.

use super::clock::{median, wait_for_quiet};
use super::limits::{Limits, instructions};
use super::{Bound, Figure, Goal, Probe, Run, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// The first word of a command line that asks this program to run one probe: name, size, divisor, folder.
pub const PROBE_COMMAND: &str = "--probe";

/// How goals are run.
#[derive(Debug)]
pub struct Turns {
    /// Turns of each goal.
    pub turns: usize,
    /// All sizes of ours are divided by it; 1 measures, more is a smoke run.
    pub divisor: u64,
    /// The built baselines.
    pub limits: Limits,
    /// Folder for the files of both sides.
    pub dir: PathBuf,
    known: BTreeMap<(String, usize), f64>,
}

/// What was found for a goal.
#[derive(Clone, Debug)]
pub struct Found {
    /// Median of ours.
    pub ours: f64,
    /// Median of the baseline.
    pub baseline: f64,
    /// Median of the ratios of the turns.
    pub ratio: f64,
}

impl Found {
    /// `goal`, `floor` or `missed`.
    pub fn verdict(&self, goal: &Goal) -> &'static str {
        let holds = |bound: Bound| bound.holds(self.ratio);
        match (holds(goal.floor), holds(goal.goal)) {
            (false, _) => "missed",
            (true, false) => "floor",
            (true, true) => "goal",
        }
    }
}

impl Turns {
    /// Nothing measured yet.
    pub fn new(turns: usize, divisor: u64, limits: Limits, dir: PathBuf) -> Turns {
        Turns { turns, divisor, limits, dir, known: BTreeMap::new() }
    }

    /// Measures a goal: baseline, ours, baseline, ours ...
    ///
    /// # Errors
    /// If a program of either side fails.
    pub fn measure(&mut self, goal: &Goal) -> Result<Found, String> {
        let (mut ours, mut baseline, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..self.turns {
            let under = self.number(goal.baseline, turn)?;
            let over = self.number(goal.ours, turn)?;
            baseline.push(under);
            ours.push(over);
            ratio.push(over / under);
        }
        Ok(Found { ours: median(ours), baseline: median(baseline), ratio: median(ratio) })
    }

    fn number(&mut self, source: Source, turn: usize) -> Result<f64, String> {
        // Instructions are the same in every turn.
        let (key, turn) = match source {
            Source::One => return Ok(1.0),
            Source::Ours(Figure { probe, size, index }) => (key(probe, size, index), turn),
            Source::Limits(name) => (name.to_string(), turn),
            Source::OurInstructions(probe) => (format!("instructions of {}", probe.name), 0),
            Source::LimitsInstructions(what) => (format!("instructions {what}"), 0),
        };
        if let Some(known) = self.known.get(&(key.clone(), turn)) {
            return Ok(*known);
        }
        for (name, figure) in self.run(source, &key)? {
            self.known.insert((name, turn), figure);
        }
        self.known.get(&(key.clone(), turn)).copied().ok_or_else(|| format!("{key} has no figure"))
    }

    /// Runs what gives the number; it may give others too.
    fn run(&self, source: Source, key_asked: &str) -> Result<Vec<(String, f64)>, String> {
        let one = |figure| vec![(key_asked.to_string(), figure)];
        Ok(match source {
            Source::One => Vec::new(),
            Source::Ours(Figure { probe, size, .. }) => {
                let figures = self.child(probe, size)?;
                let keyed = figures.into_iter().enumerate();
                keyed.map(|(index, figure)| (key(probe, size, index), figure)).collect()
            }
            Source::Limits(name) => {
                self.limits.ask(name, &self.dir.join("limits"))?.into_iter().collect()
            }
            Source::OurInstructions(probe) => one(instructions(|count| {
                let this = std::env::current_exe().expect("a running program has a path");
                let arguments = [probe.name.to_string(), count.to_string(), "1".to_string()];
                let mut command = vec![this.into_os_string(), PROBE_COMMAND.into()];
                command.extend(arguments.map(Into::into));
                command.push(self.dir.join("ours").into_os_string());
                command
            })?),
            Source::LimitsInstructions(what) => one(self.limits.instructions(what)?),
        })
    }

    fn child(&self, probe: Probe, size: u64) -> Result<Vec<f64>, String> {
        wait_for_quiet();
        let this = std::env::current_exe().expect("a running program has a path");
        let mut child = Command::new(this);
        child.arg(PROBE_COMMAND).arg(probe.name);
        child.args([size.to_string(), self.divisor.to_string()]).arg(self.dir.join("ours"));
        let output = child.output().map_err(|e| format!("{} cannot be run: {e}", probe.name))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}: {text}", probe.name, output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.split_whitespace().filter_map(|word| word.parse().ok()).collect())
    }
}

fn key(probe: Probe, size: u64, index: usize) -> String {
    format!("{} at {size}: {index}", probe.name)
}

/// What a child does: runs the probe in a folder that is its own, and gives its figures.
///
/// # Errors
/// If the arguments are none of [`PROBE_COMMAND`]'s, or the folder cannot be made.
pub fn as_child(arguments: &[String]) -> Result<Vec<f64>, String> {
    let [name, size, divisor, dir] = arguments else {
        return Err("a probe wants name, size, divisor and folder".to_string());
    };
    let probe = super::probe(name).ok_or_else(|| format!("there is no probe {name}"))?;
    let number = |word: &str| word.parse::<u64>().map_err(|e| format!("{word}: {e}"));
    let (size, divisor, dir) = (number(size)?, number(divisor)?.max(1), PathBuf::from(dir));
    in_own_folder(probe, size, divisor, dir)
}

/// Runs a probe with sizes divided, in a folder that is made for it and removed behind it.
///
/// # Errors
/// If the folder cannot be made.
pub fn in_own_folder(
    probe: Probe,
    size: u64,
    divisor: u64,
    dir: PathBuf,
) -> Result<Vec<f64>, String> {
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let size = if size == 0 { 0 } else { (size / divisor).max(10.min(size)) };
    let figures = (probe.run)(&Run { size, divisor, dir: dir.clone() });
    // What cannot be removed lies in a folder for such files.
    let _ = std::fs::remove_dir_all(dir);
    Ok(figures)
}
