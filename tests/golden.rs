//! Runs every script that checks itself, in all modes (see `cassling_tests::golden`).

use cassling::script::Script;
use cassling_tests::golden::{AfterWrite, failures, run, scripts};

fn hold(after: AfterWrite) {
    let wrong: Vec<String> = scripts().iter().flat_map(|path| failures(path, after)).collect();
    assert!(wrong.is_empty(), "{} not as expected:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scripts_hold() {
    hold(AfterWrite::Nothing);
}

#[test]
fn scripts_hold_with_a_flush_after_every_write() {
    hold(AfterWrite::Flush);
}

#[test]
fn scripts_hold_with_a_compaction_after_every_write() {
    hold(AfterWrite::Compact);
}

#[test]
fn every_script_begins_with_its_goal() {
    for path in scripts() {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let is_sentence = first.starts_with("-- ") && !first.starts_with("-- @");
        assert!(is_sentence && first.len() > 20, "{}: {first}", path.display());
    }
}

/// The runner itself can fail: an expectation that does not hold is reported with its line.
#[test]
fn a_wrong_expectation_is_found() {
    let text = "-- Wrong on purpose.\n\
        CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};\n\
        CREATE TABLE k.t (a int PRIMARY KEY);\n\
        INSERT INTO k.t (a) VALUES (1);\n\
        SELECT a FROM k.t;\n--> a\n--> 2\n--= rows_read = 3\n\
        SELECT b FROM k.t;\n";
    let script = Script::parse("wrong.cql", text).unwrap();
    let lines = |after| -> Vec<String> {
        run(&script, after).iter().map(|line| line.split(':').nth(1).unwrap().into()).collect()
    };
    assert_eq!(lines(AfterWrite::Nothing), ["7", "8", "9"]);
    assert_eq!(lines(AfterWrite::Compact), ["7", "9"]);
}
