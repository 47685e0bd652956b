//! `cargo run --release -p cassling-benches --bin goals -- [ID ...] [--quick] [--turns N] [--dir FOLDER]`
//!
//! Prints one line a goal, tab-separated; see [`cassling_benches::goals`]. The exit code is 1 if a floor is missed.
//! `--quick` divides our sizes by 100 and takes one turn: it shows that all runs, its figures mean nothing and its
//! exit code is 0. `--dir` decides which disk is measured.

use cassling_benches::goals::limits::Limits;
use cassling_benches::goals::turns::{PROBE_COMMAND, Turns, as_child};
use cassling_benches::goals::{DEFAULTS, Goal, select};
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What was asked for.
struct Asked {
    ids: Vec<String>,
    quick: bool,
    turns: usize,
    dir: PathBuf,
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    let own_folder = format!("cassling-goals-{}", std::process::id());
    let mut asked = Asked {
        ids: Vec::new(),
        quick: false,
        turns: 5,
        dir: std::env::temp_dir().join(own_folder),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--quick" => asked.quick = true,
            "--turns" => {
                asked.turns = value()?.parse().map_err(|e| format!("--turns: {e}"))?;
            }
            "--dir" => asked.dir = value()?.into(),
            id => asked.ids.push(id.to_string()),
        }
    }
    asked.turns = if asked.quick { 1 } else { asked.turns.max(1) };
    Ok(asked)
}

fn line(goal: &Goal, turns: &mut Turns) -> Result<(String, bool), String> {
    let found = turns.measure(goal)?;
    let verdict = found.verdict(goal);
    let (ours, baseline, ratio) = (shown(found.ours), shown(found.baseline), shown(found.ratio));
    let Goal { id, what, on, floor, goal: aim, .. } = goal;
    let on = if on.is_empty() { "as above" } else { on };
    let line =
        format!("{id}\t{what}\t{ours}\t{baseline}\t{ratio}\t{floor}\t{aim}\t{verdict}\t{on}");
    Ok((line, verdict != "missed"))
}

/// Four digits that count.
fn shown(number: f64) -> String {
    match number.abs() {
        big if big >= 1000.0 => format!("{number:.0}"),
        middle if middle >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

fn run(arguments: &[String]) -> Result<bool, String> {
    let asked = asked(arguments)?;
    let goals = select(&asked.ids)?;
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = this.parent().and_then(|folder| folder.parent());
    let target = target.ok_or("the program lies in no target folder")?;
    let divisor = if asked.quick { 100 } else { 1 };
    let mut turns = Turns::new(asked.turns, divisor, Limits::build(target)?, asked.dir.clone());
    println!(
        "# on unless a line says otherwise: {DEFAULTS}; ours with mimalloc, limits with the system's allocator"
    );
    println!(
        "# turns: {}{}",
        asked.turns,
        if asked.quick { ", quick: figures mean nothing" } else { "" }
    );
    println!("id\twhat\tours\tbaseline\tratio\tfloor\tgoal\tverdict\ton");
    let mut all_hold = true;
    for goal in &goals {
        match line(goal, &mut turns) {
            Ok((line, holds)) => {
                println!("{line}");
                all_hold &= holds || asked.quick;
            }
            Err(error) => {
                println!(
                    "{}\t{}\tfailed: {}",
                    goal.id,
                    goal.what,
                    error.replace(['\n', '\t'], " ")
                );
                all_hold = false;
            }
        }
    }
    // Only what both sides left behind.
    let _ = std::fs::remove_dir_all(&asked.dir);
    Ok(all_hold)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == PROBE_COMMAND => as_child(rest).map(|figures| {
            let words: Vec<String> = figures.iter().map(f64::to_string).collect();
            println!("{}", words.join(" "));
            true
        }),
        _ => run(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
