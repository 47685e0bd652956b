//! `cassling dump` against the JSON that Cassandra's `sstabledump` wrote of the same statements.
//!
//! Two things cannot be the same and are blanked on both sides: positions, which are offsets in a file laid out
//! otherwise, and local times, which came from the recording's clock.

use cassling::Cluster;
use cassling::script::run::Event;
use cassling::script::{Item, Runner, Script};
use cassling_engine::lsm::dump::DumpOptions;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).expect("the file is there")
}

/// Runs a script up to a DROP KEYSPACE and flushes.
fn after(path: &str) -> Cluster {
    let text = read(path);
    let mut script = Script::parse(path, &text).expect("the script can be read");
    script.items.retain(|item| {
        !matches!(item, Item::Statement(statement) if statement.text.starts_with("DROP KEYSPACE"))
    });
    let cluster = Cluster::builder().build().expect("it can be built");
    let ran = Runner::new(&cluster).run(&script, |event| {
        if let Event::Answered(statement, answer) = event {
            assert!(answer.error.is_none(), "{}: {:?}", statement.text, answer.error);
        }
    });
    ran.expect("its directives can be carried out");
    cluster.flush(None, None).expect("the disk has room");
    cluster
}

fn dumped(cluster: &Cluster, keyspace: &str, table: &str, options: &DumpOptions) -> String {
    let mut out = Vec::new();
    let node = cluster.node(1).expect("there is a node");
    node.dump(keyspace, table, options, &mut out).expect("the table can be read");
    String::from_utf8(out).expect("JSON is text")
}

/// Puts `?` in place of what follows `name` up to the next comma, quote, brace or line's end.
fn blank(text: &str, name: &str) -> String {
    let mut parts = text.split(name);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let value = part.trim_start_matches([' ', ':', '"', '[']);
        let end = value.find([',', '"', '}', '\n']).unwrap_or(value.len());
        out.push_str(name);
        out.push_str(&part[..part.len() - value.len()]);
        out.push('?');
        out.push_str(&value[end..]);
    }
    out
}

fn comparable(text: &str) -> String {
    let blanked = ["\"position\"", "\"local_delete_time\"", "\"expires_at\""];
    let text = blanked.iter().fold(text.to_string(), |text, name| blank(&text, name));
    // A list's cells are named by the time of writing.
    blank(text.trim_end(), "\"name\" : \"li\", \"path\"")
}

#[track_caller]
fn assert_same(ours: &str, theirs: &str) {
    let (ours, theirs) = (comparable(ours), comparable(theirs));
    for (number, (a, b)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(a, b, "line {}", number + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

#[test]
fn every_kind_of_tombstone_is_printed_as_sstabledump_prints_it() {
    let cluster = after("answers/sstabledump.cql");
    let ours = dumped(&cluster, "r_dump", "t", &DumpOptions::default());
    assert_same(&ours, &read("answers/sstabledump.json"));
}

#[test]
fn every_type_is_printed_as_sstabledump_prints_it() {
    let cluster = after("data/dump/types.cql");
    for table in ["ty", "blobkeys", "nock", "esc", "keys", "bounds"] {
        let ours = dumped(&cluster, "sight_i", table, &DumpOptions::default());
        assert_same(&ours, &read(&format!("data/dump/{table}.json")));
    }
}

#[test]
fn lines_raw_times_and_keys_only_are_those_of_sstabledump() {
    let cluster = after("data/dump/types.cql");
    let options = DumpOptions { lines: true, raw_times: true, ..DumpOptions::default() };
    let ours = dumped(&cluster, "sight_i", "bounds", &options);
    assert_same(&ours, &read("data/dump/bounds-raw-lines.json"));
    let options = DumpOptions { keys_only: true, ..DumpOptions::default() };
    let ours = dumped(&cluster, "sight_i", "keys", &options);
    assert_same(&ours, &read("data/dump/keys-only.json"));
}

#[test]
fn a_cell_expires_in_its_second_and_a_marker_in_the_next() {
    // As the tool compares: `!cell.isLive(now)` and `expiration < now`.
    let cluster = Cluster::builder().build().unwrap();
    let session = cluster.connect();
    for statement in [
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE ks.t (k int PRIMARY KEY, v int)",
        "INSERT INTO ks.t (k) VALUES (1) USING TTL 10",
        "UPDATE ks.t USING TTL 20 SET v = 1 WHERE k = 1",
    ] {
        session.execute(statement, ()).unwrap();
    }
    cluster.flush(None, None).unwrap();
    let expired = |seconds: u64| {
        cluster.clock().advance(std::time::Duration::from_secs(seconds));
        let text = dumped(&cluster, "ks", "t", &DumpOptions::default());
        let flags = text.split("\"expired\" : ").skip(1).map(|rest| rest.starts_with("true"));
        flags.collect::<Vec<_>>()
    };
    assert_eq!(expired(10), [false, false]);
    assert_eq!(expired(1), [true, false]);
    assert_eq!(expired(8), [true, false]);
    assert_eq!(expired(1), [true, true]);
}

#[test]
fn partitions_can_be_picked_by_their_keys_text() {
    let cluster = after("answers/sstabledump.cql");
    let keys = |included: &[&str], excluded: &[&str]| {
        let texts = |keys: &[&str]| keys.iter().map(|key| key.to_string()).collect();
        let (included, excluded) = (texts(included), texts(excluded));
        let options = DumpOptions { included, excluded, keys_only: true, ..Default::default() };
        dumped(&cluster, "r_dump", "t", &options)
    };
    assert_eq!(keys(&["gone:2"], &[]), "[ [ \"gone\", \"2\" ]\n]\n");
    assert_eq!(keys(&[], &["gone:2", "a:1"]), "[ [ \"static\", \"4\" ], [ \"b\", \"3\" ]\n]\n");
    assert_eq!(keys(&["nobody:0"], &[]), "[ ]\n");
}
