//! Scripts that check themselves: `tests/scripts/**` and `examples/*.cql`.
//!
//! Each is named by its claim and runs on a fresh cluster of the nodes that its `@nodes` asks for. It holds in two
//! modes: as it stands, and with all memtables flushed after every write. Rows, errors and warnings must be the same in
//! both; what a read costs differs, so counters (`--=`) are held in the first mode only.

use cassling::Cluster;
use cassling::script::expect::{self, Expectation};
use cassling::script::run::{Event, nodes_wanted, with_nodes};
use cassling::script::{Item, Runner, Script};
use cassling_engine::node::background::BackgroundMode;
use std::fs;
use std::path::{Path, PathBuf};

/// All scripts, sorted.
pub fn scripts() -> Vec<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&tests.join("scripts"), &mut found);
    collect(&tests.join("../examples"), &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of scripts is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "cql") {
            found.push(path);
        }
    }
}

/// Runs a script; gives `file:line: reason` of everything that is not as it expects.
pub fn failures(path: &Path, flush_after_write: bool) -> Vec<String> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).expect("a script is text");
    let script = match Script::parse(&name, &text) {
        Ok(script) => script,
        Err(error) => return vec![error.to_string()],
    };
    run(&script, flush_after_write)
}

/// As [`failures`], of a script that has been read.
pub fn run(script: &Script, flush_after_write: bool) -> Vec<String> {
    let mut script = script.clone();
    if flush_after_write {
        for item in &mut script.items {
            if let Item::Statement(statement) = item {
                statement.expectations.retain(|(e, _)| !matches!(e, Expectation::Counter { .. }));
            }
        }
    }
    let wanted = match nodes_wanted(std::slice::from_ref(&script)) {
        Ok(wanted) => wanted,
        Err(error) => return vec![error.to_string()],
    };
    let builder = Cluster::builder().name("oracle");
    // As `cassling run` has it. With a flush after each write that would be a compaction after every third.
    let builder = match flush_after_write {
        true => builder,
        false => builder.background(BackgroundMode::Inline),
    };
    let builder = match &wanted {
        Some(wanted) => with_nodes(builder, wanted),
        None => builder,
    };
    let builder = if flush_after_write { builder.flush_after_write() } else { builder };
    let cluster = builder.build().expect("a script's cluster can be built");
    let mut wrong = Vec::new();
    let ran = Runner::new(&cluster).run(&script, |event| {
        let Event::Answered(statement, answer) = event else { return };
        for (line, reason) in expect::check(&answer, &statement.expectations, statement.line) {
            wrong.push(format!("{}:{line}: {reason}", script.name));
        }
    });
    wrong.extend(ran.err().map(|error| error.to_string()));
    wrong
}
