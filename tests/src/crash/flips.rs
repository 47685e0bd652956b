//! Bytes that change by themselves: each is noticed, and the file is named.
//!
//! ```text
//! story to its end, process killed, one byte of one file changed -> open -> read every table
//!
//! opening refuses, naming the file                      noticed
//! a read refuses, naming the file; other tables answer  noticed
//! all answers are right                                 the byte meant nothing (what is behind a segment's end)
//! the last segment's end is missing                     a torn tail cannot be told from one that changed: it is cut off
//! anything else                                         an error of ours
//! ```

use super::ledger::Ledger;
use super::machine::{Ending, Machine, Mode};
use super::story::{Op, story};
use cassling_engine::sim::rng::Rng;
use std::collections::BTreeMap;

/// How often each thing came of a changed byte.
pub type Outcomes = BTreeMap<&'static str, u64>;

/// Changes `count` bytes, one at a time, of what a story leaves.
///
/// # Errors
/// A byte whose change was not noticed, or not named.
pub fn flips(seed: u64, count: u64, outcomes: &mut Outcomes) -> Result<(), String> {
    let mut machine = Machine::new(seed, Mode::Batch);
    machine.open().map_err(|e| format!("cannot start: {e}"))?;
    let mut ledger = Ledger::default();
    // A last flush, so that each story leaves SSTables, and writes behind it, so that each leaves a log.
    let mut ops = story(seed).ops;
    let place = ops.len() * 3 / 4;
    ops.insert(place, Op::Flush(None));
    for op in &ops {
        machine.apply(op).map_err(|e| format!("{op:?}: {e}"))?;
        ledger.note(op, Some(machine.now_seconds()));
    }
    ledger.promise_all();
    machine.end(Ending::Kill);
    let mut rng = Rng::new(seed).fork("flips");
    let files = files(&machine)?;
    for _ in 0..count {
        let (disk, name, len) = &files[draw(&mut rng, files.len())];
        let at = draw(&mut rng, *len);
        let mask = 1 << rng.below(8);
        let changed = machine.copy();
        changed.disks()[*disk].flip(name, at as u64, mask).map_err(|e| e.to_string())?;
        let outcome = look(changed, ledger.clone(), name)
            .map_err(|e| format!("seed {seed}, {name}, byte {at} of {len}, mask {mask}: {e}"))?;
        *outcomes.entry(outcome).or_default() += 1;
    }
    Ok(())
}

fn draw(rng: &mut Rng, bound: usize) -> usize {
    usize::try_from(rng.below(bound as u64)).expect("it is below a usize")
}

/// Disk, name and length of every file that is not empty.
fn files(machine: &Machine) -> Result<Vec<(usize, String, usize)>, String> {
    use cassling_engine::sim::disk::Disk as _;
    let mut files = Vec::new();
    for (n, disk) in machine.disks().into_iter().enumerate() {
        for name in disk.list("").map_err(|e| e.to_string())? {
            let len = disk.size_bytes(&name).map_err(|e| e.to_string())?;
            let len = usize::try_from(len).map_err(|e| e.to_string())?;
            if len > 0 {
                files.push((n, name, len));
            }
        }
    }
    Ok(files)
}

fn look(mut machine: Machine, ledger: Ledger, file: &str) -> Result<&'static str, String> {
    let is_named = |text: &str| match text.contains(file) && text.contains("at byte") {
        true => Ok(()),
        false => Err(format!("the error does not name file and byte: {text}")),
    };
    if let Err(error) = machine.open() {
        is_named(&error.to_string())?;
        return Ok("refused when opened");
    }
    let shape = machine.shape()?;
    let mut refused = 0;
    let mut right = ledger.clone();
    let read = |table: &str| match machine.rows(table) {
        Ok(rows) => Ok(Some(rows)),
        Err(text) => is_named(&text).map(|()| {
            refused += 1;
            None
        }),
    };
    match right.settle_some(&shape, read, machine.now_seconds()) {
        Ok(()) if refused == 0 => Ok("meant nothing"),
        Ok(()) if refused == 1 => Ok("refused when read"),
        Ok(()) => Err(format!("{refused} tables are refused for one file")),
        Err(reason) if !is_last_segment(&machine, file) => Err(reason),
        // As after any crash: what is there is a state between two writes.
        Err(_) => {
            let mut cut = ledger.with_nothing_promised();
            let rows = |table: &str| machine.rows(table).map(Some);
            cut.settle_some(&shape, rows, machine.now_seconds()).map(|()| "cut off the log's end")
        }
    }
}

fn is_last_segment(machine: &Machine, file: &str) -> bool {
    use cassling_engine::sim::disk::Disk as _;
    let number = |name: &str| -> Option<u32> {
        name.strip_prefix("commitlog-")?.strip_suffix(".log")?.parse().ok()
    };
    let names = machine.disks()[1].list("commitlog-").unwrap_or_default();
    let of_file = number(file);
    of_file.is_some() && names.iter().filter_map(|name| number(name)).max() == of_file
}
