//! `cassling dump` against the JSON that Cassandra's `sstabledump` wrote of the same statements.
//!
//! Two things cannot be the same and are blanked on both sides: positions, which are offsets in a file laid out
//! otherwise, and local times, which came from the recording's clock.

use cassling::Cluster;
use cassling::script::run::Event;
use cassling::script::{Item, Runner, Script};
use cassling_engine::lsm::dump::DumpOptions;
use cassling_engine::lsm::dump::metadata::MetadataOptions;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).expect("the file is there")
}

/// Runs a script up to a DROP KEYSPACE and flushes.
fn after(path: &str) -> Cluster {
    after_at(path, None)
}

/// The same at a second of the clock.
fn after_at(path: &str, seconds: Option<i64>) -> Cluster {
    let text = read(path);
    let mut script = Script::parse(path, &text).expect("the script can be read");
    script.items.retain(|item| {
        !matches!(item, Item::Statement(statement) if statement.text.starts_with("DROP KEYSPACE"))
    });
    let cluster = Cluster::builder().build().expect("it can be built");
    if let Some(seconds) = seconds {
        cluster.clock().set_micros(seconds * 1_000_000);
    }
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

/// Metadata without what cannot be the same: name, host, log positions, bytes of partitions and of the whole.
fn comparable_metadata(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut sizes = false;
    for line in text.lines() {
        sizes = (sizes || line.starts_with("Partition Size:")) && !line.starts_with("Column Count");
        let own = ["SSTable: ", "Originating host id", "Replay positions", "Size: "];
        let progress = line.contains("Analyzing SSTable");
        if !sizes && !progress && !own.iter().any(|own| line.starts_with(own)) {
            lines.push(line.to_string());
        }
    }
    lines
}

fn metadata_of(
    cluster: &Cluster,
    keyspace: &str,
    table: &str,
    options: &MetadataOptions,
) -> Vec<String> {
    let mut out = Vec::new();
    let node = cluster.node(1).expect("there is a node");
    node.dump_metadata(keyspace, table, options, &mut out).expect("it can be read");
    comparable_metadata(&String::from_utf8(out).expect("it is text"))
}

/// Leaders in the order of their text where their numbers are equal: there Cassandra's order is that of a heap.
fn with_sorted_ties(mut lines: Vec<String>) -> Vec<String> {
    let number = |line: &str| {
        let (key, number) = line.strip_prefix("  [")?.rsplit_once("] ")?;
        Some((number.to_string(), key.to_string()))
    };
    for group in lines.chunk_by_mut(|a, b| {
        let (a, b) = (number(a), number(b));
        a.is_some() && a.map(|a| a.0) == b.map(|b| b.0)
    }) {
        group.sort();
    }
    lines
}

#[track_caller]
fn assert_same_metadata(ours: Vec<String>, theirs: &str) {
    let (ours, theirs) = (with_sorted_ties(ours), comparable_metadata(theirs));
    let theirs = with_sorted_ties(theirs);
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(a, b);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn metadata_is_that_of_the_recorded_sstable() {
    let cluster = after_at("answers/sstabledump.cql", Some(1_796_069_496));
    // The tool ran in these seconds, as its estimates of droppable tombstones tell.
    cluster.clock().set_micros(1_796_069_538 * 1_000_000);
    let plain = metadata_of(&cluster, "r_dump", "t", &MetadataOptions::default());
    assert_same_metadata(plain, &read("answers/sstablemetadata.txt"));
    cluster.clock().set_micros(1_796_069_540 * 1_000_000);
    let options = MetadataOptions { scan: true, ..MetadataOptions::default() };
    let scanned = metadata_of(&cluster, "r_dump", "t", &options);
    assert_same_metadata(scanned, &read("answers/sstablemetadata-scan.txt"));
}

/// Lines whose values are not of the clock of the recording.
fn timeless(lines: Vec<String>) -> Vec<String> {
    let mut out = Vec::new();
    let mut histogram = false;
    for line in lines {
        histogram = (histogram || line.starts_with("Estimated tombstone drop"))
            && !line.starts_with("Column Count");
        if !histogram && !line.contains("eletion time") && !line.contains("DeletionTime") {
            out.push(line);
        }
    }
    out
}

#[test]
fn metadata_of_every_type_is_that_of_sstablemetadata() {
    let cluster = after("data/dump/types.cql");
    for table in ["ty", "bounds", "esc"] {
        let options =
            MetadataOptions { scan: true, gc_grace_seconds: 864_000, ..MetadataOptions::default() };
        let mut ours = timeless(metadata_of(&cluster, "sight_i", table, &options));
        let theirs = read(&format!("data/dump/{table}-metadata.txt"));
        let mut theirs = timeless(comparable_metadata(&theirs));
        if table == "ty" {
            // Six partitions with one row each: which five are shown is up to Cassandra's heap.
            ours.retain(|line| !line.starts_with("  ["));
            theirs.retain(|line| !line.starts_with("  ["));
        }
        let theirs = theirs.join("\n");
        assert_same_metadata(ours, &theirs);
    }
}
