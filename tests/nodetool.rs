//! Numbers of tables, in nodetool's words: against what the real one printed after the same statements.
//!
//! Sizes of files, memory and latencies are the machine's and blanked on both sides; counts, histograms of reads and
//! estimates are held.

use cassling::Cluster;
use cassling::script::run::Event;
use cassling::script::{Runner, Script};
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).expect("the file is there")
}

fn after(path: &str) -> Cluster {
    let script = Script::parse(path, &read(path)).expect("the script can be read");
    let cluster = Cluster::builder().build().expect("it can be built");
    let ran = Runner::new(&cluster).run(&script, |event| {
        if let Event::Answered(statement, answer) = event {
            assert!(answer.error.is_none(), "{}: {:?}", statement.text, answer.error);
        }
    });
    ran.expect("its directives can be carried out");
    cluster
}

/// Lines whose values are not of the machine; the others by their names alone.
fn comparable(text: &str) -> Vec<String> {
    const OWN: &[&str] = &[
        "Read Latency",
        "Write Latency",
        "Local read latency",
        "Local write latency",
        "Max SSTable size",
        "SSTable bytes in each level",
        "Space used (live)",
        "Space used (total)",
        "Off heap memory used (total)",
        "SSTable Compression Ratio",
        "Memtable data size",
        "Bytes unrepaired",
        "Bloom filter space used",
        "Bloom filter off heap memory used",
        "Index summary off heap memory used",
        "Compression metadata off heap memory used",
        "Compacted partition minimum bytes",
        "Compacted partition maximum bytes",
        "Compacted partition mean bytes",
    ];
    let line = |line: &str| match line.split_once(": ") {
        Some((name, _)) if OWN.contains(&name.trim()) => name.to_string(),
        _ => line.to_string(),
    };
    text.lines().map(line).collect()
}

#[track_caller]
fn assert_same(ours: Vec<String>, theirs: Vec<String>) {
    for (number, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(a, b, "line {}", number + 1);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn tablestats_has_cassandras_lines_and_counts() {
    let cluster = after("data/nodetool/tables.cql");
    let node = cluster.node(1).expect("there is a node");
    let ours = node.tablestats(&["sight_n".to_string()]).expect("there is the keyspace");
    assert_same(comparable(&ours), comparable(&read("data/nodetool/tablestats.txt")));
    let unknown = |name: &str| node.tablestats(&[name.to_string()]).unwrap_err();
    assert_eq!(unknown("nope"), "nodetool: Unknown keyspace: nope");
    let text = "nodetool: Unknown tables: [nope] in keyspace: sight_n";
    assert_eq!(unknown("sight_n.nope"), text);
}

#[test]
fn tablehistograms_has_cassandras_columns_and_counts() {
    let cluster = after("data/nodetool/tables.cql");
    let node = cluster.node(1).expect("there is a node");
    let text = |table: &str| node.tablehistograms("sight_n", table).expect("there is the table");
    let ours = text("t") + &text("emp");
    // Without latencies and partition sizes, which have three columns of eighteen characters.
    let columns = |text: &str| -> Vec<String> {
        let pick = |line: &str| match line.len() {
            100 => format!("{}{}{}", &line[..10], &line[46..64], &line[82..]),
            _ => line.to_string(),
        };
        text.lines().map(pick).collect()
    };
    assert_same(columns(&ours), columns(&read("data/nodetool/tablehistograms.txt")));
    let unknown = node.tablehistograms("sight_n", "nope").unwrap_err();
    assert_eq!(unknown, "nodetool: Unknown table sight_n.nope");
}

#[test]
fn a_running_clock_gives_latencies() {
    let cluster = after("data/nodetool/tables.cql");
    let histograms = cluster.node(1).expect("there is a node").table_histograms("sight_n", "t");
    let histograms = histograms.expect("there is the table");
    // The virtual clock stands while a request runs.
    assert_eq!(histograms.read_latency_micros.count(), 5);
    assert_eq!(histograms.read_latency_micros.max(), 0);
    assert_eq!(histograms.write_latency_micros.count(), 6);
}
