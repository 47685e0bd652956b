//! `cassling run` from outside: exit status, formats, files that are no scripts.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TABLE: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};\n\
    CREATE TABLE k.t (a int PRIMARY KEY, b text);\n\
    INSERT INTO k.t (a, b) VALUES (1, 'é');\n";

struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn cassling(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cassling"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built before its tests");
    // A run that stops early does not read its input.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    let output = child.wait_with_output().expect("it ends");
    Ran {
        status: output.status.code().expect("no signal ends it"),
        out: String::from_utf8(output.stdout).expect("it prints text"),
        err: String::from_utf8(output.stderr).expect("it prints text"),
    }
}

/// Runs a text from standard input.
fn run(options: &[&str], script: &str) -> Ran {
    let arguments = [&["run"], options, &["-"]].concat();
    cassling(&arguments, script.as_bytes())
}

/// A file of its own for each test.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("the folder for tests can be written to");
    path
}

#[test]
fn status_0_when_all_holds() {
    let ran = run(&[], &format!("{TABLE}SELECT b FROM k.t;\n--> b\n--> é\n--= rows_read = 1\n"));
    assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("\n b\n---\n é\n\n(1 rows)\n"), "{}", ran.out);
}

#[test]
fn status_1_when_an_expectation_fails_or_an_error_comes_unexpected() {
    let ran = run(&[], &format!("{TABLE}SELECT b FROM k.t;\n--> b\n--> x\nSELECT a FROM k.t;\n"));
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("-:6: the row is: é"), "{}", ran.out);
    assert!(ran.out.contains(" a\n"), "a failure does not stop the run: {}", ran.out);
    let ran = run(&[], "SELECT x FROM nowhere.t;");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("error 2200: keyspace nowhere does not exist"), "{}", ran.out);
    assert!(ran.out.contains('^'), "carets show the place: {}", ran.out);
}

#[test]
fn status_2_for_usage_files_and_directives() {
    let missing = cassling(&["run", "no-such-file.cql"], b"");
    assert_eq!(missing.status, 2);
    assert!(missing.err.contains("no-such-file.cql: "), "{}", missing.err);
    let folder = cassling(&["run", env!("CARGO_TARGET_TMPDIR")], b"");
    assert_eq!(folder.status, 2);
    assert!(folder.err.contains("is a folder, not a script"), "{}", folder.err);
    let latin = file("latin.cql", b"SELECT '\xe9';");
    let latin = cassling(&["run", latin.to_str().expect("its path is text")], b"");
    assert_eq!(latin.status, 2);
    assert!(latin.err.contains("is not valid UTF-8 (byte 8)"), "{}", latin.err);
    assert_eq!(cassling(&["run"], b"").status, 2);
    assert_eq!(cassling(&["run", "--format", "xml", "-"], b"").status, 2);
    assert_eq!(cassling(&["run", "--dc", "one", "-"], b"").status, 2);
}

/// A bad directive stops the run before anything has run.
#[test]
fn directives_are_checked_before_anything_runs() {
    for (directive, reason) in [
        ("frobnicate", "unknown directive @frobnicate"),
        ("compact t u", "@compact takes one table or none, not 't u'"),
        ("page many", "@page takes a number of rows, not 'many'"),
    ] {
        let ran = run(&[], &format!("{TABLE}-- @{directive}\n"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains(&format!("-:4: {reason}")), "{}", ran.err);
    }
    let ran = run(&[], &format!("{TABLE}--= rows_red = 1\n"));
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
}

/// The recorder's form, to the blank; errors are data.
#[test]
fn jsonl_is_the_recorders_form() {
    let ran =
        run(&["--format", "jsonl"], &format!("{TABLE}SELECT a, b FROM k.t;\nSELECT c FROM k.t;\n"));
    assert_eq!(ran.status, 0, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[2], r#"{"cql": "INSERT INTO k.t (a, b) VALUES (1, 'é')"}"#);
    assert_eq!(
        lines[3],
        r#"{"cql": "SELECT a, b FROM k.t", "columns": [["a", "int"], ["b", "text"]], "rows": [["00000001", "c3a9"]]}"#
    );
    assert_eq!(
        lines[4],
        r#"{"cql": "SELECT c FROM k.t", "error": ["2200", "Undefined column name c in table k.t"]}"#
    );
}

#[test]
fn json_is_one_array_of_readable_values() {
    let ran = run(&["--format", "json"], &format!("{TABLE}SELECT a, b FROM k.t;\n"));
    assert_eq!(ran.status, 0, "{}", ran.err);
    let all: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(all[3]["rows"], serde_json::json!([{"a": "1", "b": "é"}]));
    assert_eq!(all[3]["cost"]["rows_read"], 1);
}

/// Files of one call share cluster and session: USE survives.
#[test]
fn files_share_cluster_and_session() {
    let first = file("first.cql", format!("{TABLE}USE k;").as_bytes());
    let second = file("second.cql", "SELECT b FROM t;\n--> b\n--> é\n".as_bytes());
    let [first, second] = [&first, &second].map(|path| path.to_str().expect("its path is text"));
    assert_eq!(cassling(&["run", first, second], b"").status, 0);
    assert_eq!(cassling(&["run", second], b"").status, 1);
}

#[test]
fn nodes_come_from_the_option_before_the_script() {
    let script = "-- @nodes 3\nSELECT host_id FROM system.peers;\n--= rows_returned = 2\n";
    assert_eq!(run(&[], script).status, 0);
    assert_eq!(run(&["--nodes", "1"], script).status, 1);
    assert_eq!(run(&["--dc", "dc1:2,dc2:1"], script).status, 0);
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    let script = "SELECT host_id, tokens, uuid() FROM system.local;";
    let ask = |seed: &str| run(&["--seed", seed], script).out;
    assert_eq!(ask("7"), ask("7"));
    assert_ne!(ask("7"), ask("8"));
}
