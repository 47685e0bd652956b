//! `cassling dump` from outside: what it prints of a directory, and what it refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn cassling(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cassling"));
    command.args(arguments).output().expect("the binary is built before its tests")
}

fn printed(arguments: &[&str]) -> String {
    let output = cassling(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn refused(arguments: &[&str]) -> String {
    let output = cassling(arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).expect("it prints text")
}

/// A folder of its own for each test, empty.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the folder for tests can be written to");
    path
}

fn fill(data: &Path) {
    let script = data.with_extension("cql");
    let text = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};\n\
        CREATE TABLE k.t (a int PRIMARY KEY, b text);\n\
        INSERT INTO k.t (a, b) VALUES (1, 'one') USING TIMESTAMP 1000;\n\
        -- @nodetool flush k\n\
        INSERT INTO k.t (a, b) VALUES (2, 'two') USING TIMESTAMP 2000;\n\
        -- @nodetool flush k\n";
    std::fs::write(&script, text).expect("it can be written");
    printed(&["run", "--data", &data.display().to_string(), &script.display().to_string()]);
}

#[test]
fn tables_and_files_are_printed_oldest_first() {
    let data = folder("dump-data");
    std::fs::remove_dir(&data).expect("it is empty");
    fill(&data);
    let place = data.display().to_string();
    let dump = |rest: &[&str]| printed(&[&["dump", "--data", &place[..]], rest].concat());
    assert_eq!(dump(&["-e", "k.t"]), "[ [ \"1\" ]\n]\n[ [ \"2\" ]\n]\n");
    assert_eq!(dump(&["-e"]), dump(&["-e", "k.t"]));
    let listed = dump(&["--list", "k.t"]);
    let files: Vec<&str> = listed.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(files.len(), 2);
    assert!(files[0].starts_with("node-1/"), "{listed}");
    assert_eq!(dump(&["-e", files[1]]), "[ [ \"2\" ]\n]\n");
    assert_eq!(dump(&["-l", "-t", "-k", "2", "k.t"]).matches("\"tstamp\":\"2000\"").count(), 1);
    let metadata = dump(&["--metadata", "-s", files[0]]);
    assert!(metadata.contains("\nPartitions: 1\nRows: 1\nTombstones: 0\nCells: 1\n"), "{metadata}");
    assert!(metadata.contains("\nMinimum timestamp: 01/01/1970 00:00:00 (1000)\n"), "{metadata}");
    let none = refused(&["dump", "--data", &place, "k.none"]);
    assert_eq!(none, "cassling: there is no table and no SSTable k.none\n");
}

#[test]
fn what_is_no_data_directory_is_left_alone() {
    let empty = folder("dump-empty");
    let text = refused(&["dump", "--data", &empty.display().to_string()]);
    assert!(text.ends_with("is no data directory of cassling\n"), "{text}");
    let left = std::fs::read_dir(&empty).expect("it is there").count();
    assert_eq!(left, 0, "nothing was made");
    let missing = empty.join("missing");
    refused(&["dump", "--data", &missing.display().to_string()]);
    assert!(!missing.exists());
}
