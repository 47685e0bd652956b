//! Scripts that check themselves: `tests/scripts/**` and `examples/*.cql`.
//!
//! Each is named by its claim and runs on a fresh cluster of the nodes that its `@nodes` asks for. It holds in three
//! modes: as it stands, with all memtables flushed after every write, and with what was flushed merged as well. Rows, errors
//! and warnings must be the same in all; what a read costs differs, so counters (`--=`) are held in the first mode only.

use cassling::Cluster;
use cassling::script::directive::Directive;
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

/// What happens after every write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWrite {
    /// Nothing.
    Nothing,
    /// All memtables are flushed.
    Flush,
    /// They are flushed and the written tables' SSTables merged.
    Compact,
}

/// Runs a script; gives `file:line: reason` of everything that is not as it expects.
pub fn failures(path: &Path, after: AfterWrite) -> Vec<String> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).expect("a script is text");
    let script = match Script::parse(&name, &text) {
        Ok(script) => script,
        Err(error) => return vec![error.to_string()],
    };
    run(&script, after)
}

/// With more repetitions than this, merging everything after each takes minutes and says nothing new.
const REPEATS_MAX: u64 = 200;

fn repeats(script: &Script) -> u64 {
    let of = |item: &Item| match item {
        Item::Directive(Directive::Repeat(times), _) => *times,
        Item::Directive(..) | Item::Statement(_) => 1,
    };
    script.items.iter().map(of).sum()
}

/// As [`failures`], of a script that has been read. With compactions, long ones are passed over.
pub fn run(script: &Script, after: AfterWrite) -> Vec<String> {
    if after == AfterWrite::Compact && repeats(script) > REPEATS_MAX {
        return Vec::new();
    }
    let mut script = script.clone();
    if after != AfterWrite::Nothing {
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
    let builder = match after {
        AfterWrite::Nothing => builder.background(BackgroundMode::Inline),
        AfterWrite::Flush => builder.flush_after_write(),
        AfterWrite::Compact => builder.compact_after_write(),
    };
    let builder = match &wanted {
        Some(wanted) => with_nodes(builder, wanted),
        None => builder,
    };
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
