//! Crashes at every operation of the disk, and what must be found afterwards.
//!
//! ```text
//! story   write write flush write ALTER compact write ...            the same for a seed, whatever happens
//! disk    append sync append rename append | every operation fails   from operation N on
//!                                          '- killed, or power lost  bytes, names and the last write may be gone
//! reopen  (which may crash as well)  ->  what is found against what was promised  ->  it goes on working
//! ```
//!
//! A point is a story, a mode of the commit log, an operation N and an ending. What a mode promises ([`ledger`]):
//!
//! | ending | batch, group | periodic |
//! |---|---|---|
//! | the process is killed | all that was acknowledged | the same |
//! | the power fails | all that was acknowledged | all that was acknowledged a period before |
//!
//! Nothing may be found that was never written, nor anything of a half-done operation that is no state between two
//! writes. The schema is found as after some change, and as after the last that was acknowledged or later.
//!
//! [`flips`] is about bytes that change by themselves. Not here: several nodes, which the property test restarts, and full
//! disks.

pub mod flips;
pub mod fuse;
pub mod ledger;
pub mod machine;
pub mod story;

use cassling_engine::sim::rng::Rng;
use ledger::Ledger;
use machine::{Ending, Machine, Mode};
use story::{Change, Op, story};

/// One crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The story's seed.
    pub seed: u64,
    /// When the log is synced.
    pub mode: Mode,
    /// Operations of the disk that succeed before all fail.
    pub operations: u64,
    /// What happens then.
    pub ending: Ending,
    /// Reopening crashes once as well, after so many operations, and ends like this.
    pub second: Option<(u64, Ending)>,
    /// Syncs do nothing: what a test must notice.
    pub syncs_ignored: bool,
}

/// Operations of the disks that a story takes in a mode.
///
/// # Errors
/// If the story does not run through on disks that never fail.
pub fn operations(seed: u64, mode: Mode) -> Result<u64, String> {
    let mut machine = Machine::new(seed, mode);
    machine.open().map_err(|e| format!("cannot start: {e}"))?;
    for op in &story(seed).ops {
        machine.apply(op).map_err(|e| format!("{op:?}: {e}"))?;
    }
    Ok(machine.fuse().operations())
}

/// Crashes there and looks what is left.
///
/// # Errors
/// What was lost, or came from nowhere, or does not work any more.
pub fn crash(point: Point) -> Result<(), String> {
    let fail = |what: &str, reason: String| format!("{point:?}\n{what}: {reason}");
    let mut ledger = Ledger::default();
    let mut machine = Machine::new(point.seed, point.mode);
    machine.disks().iter().for_each(|disk| disk.ignore_syncs(point.syncs_ignored));
    machine.fuse().set(Some(point.operations));
    // The disk may fail before there is a cluster.
    if machine.open().is_ok() {
        tell(point, &mut machine, &mut ledger);
        let mut seen = ledger.clone();
        seen.promise_all();
        look(&machine, &mut seen).map_err(|e| fail("on the failed disk", e))?;
    }
    machine.end(point.ending);
    if let Some((operations, ending)) = point.second {
        machine.fuse().set(Some(operations));
        if machine.open().is_ok() {
            machine.fuse().set(None);
            look(&machine, &mut ledger).map_err(|e| fail("after reopening at once", e))?;
        }
        machine.end(ending);
    }
    machine.open().map_err(|e| fail("reopening", e.to_string()))?;
    look(&machine, &mut ledger).map_err(|e| fail("after reopening", e))?;
    go_on(&mut machine, &mut ledger).map_err(|e| fail("going on", e))
}

/// Runs the story until something is refused.
fn tell(point: Point, machine: &mut Machine, ledger: &mut Ledger) {
    // While operations were left, no disk can have refused a sync that was due.
    let mut last_alive = machine.now_seconds();
    for op in &story(point.seed).ops {
        if machine.fuse().operations() < point.operations {
            last_alive = machine.now_seconds();
        }
        let done = machine.apply(op);
        ledger.note(op, done.is_ok().then(|| machine.now_seconds()));
        if done.is_err() {
            break;
        }
    }
    let endings = [Some(point.ending), point.second.map(|(_, ending)| ending)];
    let power_fails = endings.iter().flatten().any(|e| matches!(e, Ending::PowerLoss(_)));
    match point.mode {
        Mode::Periodic if power_fails => {
            ledger.promise_until(last_alive - machine::PERIOD_SECONDS);
        }
        Mode::Periodic | Mode::Group | Mode::Batch => ledger.promise_all(),
    }
}

/// Reads everything and holds it against the ledger.
fn look(machine: &Machine, ledger: &mut Ledger) -> Result<(), String> {
    ledger.settle(&machine.shape()?, |table| machine.rows(table), machine.now_seconds())
}

/// Writes, flushes, merges and reads, is killed and comes back.
fn go_on(machine: &mut Machine, ledger: &mut Ledger) -> Result<(), String> {
    let tables: Vec<String> = machine.shape()?.into_keys().collect();
    let change = |place, value| {
        let text = Some(format!("late {value}"));
        Change::Put { place, value, text }
    };
    let mut ops: Vec<Op> = Vec::new();
    for (n, table) in tables.iter().enumerate() {
        let value = 1_000_000 + i32::try_from(n).expect("few");
        ops.push(Op::Write(vec![(table.clone(), change((0, 1), value))]));
    }
    ops.extend([Op::Flush(None), Op::Compact]);
    for table in &tables {
        ops.push(Op::Write(vec![(table.clone(), change((1, 2), 2_000_000))]));
    }
    for op in &ops {
        machine.apply(op).map_err(|e| format!("{op:?}: {e}"))?;
        ledger.note(op, Some(machine.now_seconds()));
    }
    ledger.promise_all();
    look(machine, ledger)?;
    machine.end(Ending::Kill);
    machine.open().map_err(|e| format!("reopening once more: {e}"))?;
    look(machine, ledger)
}

/// The points of one story in one mode: `count` of them spread evenly over its operations.
///
/// # Errors
/// Those of [`operations`].
pub fn points(seed: u64, mode: Mode, count: u64) -> Result<Vec<Point>, String> {
    let all = operations(seed, mode)?;
    let mut rng = Rng::new(seed).fork("points");
    let ending = |rng: &mut Rng, is_kill| match is_kill {
        true => Ending::Kill,
        false => Ending::PowerLoss(rng.next_u64()),
    };
    let point = |n: u64| Point {
        seed,
        mode,
        operations: (n * all + rng.below(all)) / count,
        ending: ending(&mut rng, n % 4 == 3),
        // Often so many that it does not crash: then it ends once it was read.
        second: (rng.below(3) == 0).then(|| (rng.below(16), ending(&mut rng, n % 8 == 2))),
        syncs_ignored: false,
    };
    Ok((0..count).map(point).collect())
}
