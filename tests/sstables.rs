//! SSTables as seen through CQL: what one says of itself is what Cassandra's says of the same data.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling::{Cluster, NodeId, Session};
use cassling_engine::lsm::sstable::{Codec, SsTable};
use cassling_engine::sim::disk::Disk;
use std::sync::Arc;

/// Runs the statements of a script of tests/answers up to the one that begins so.
fn run_until(session: &Session, script: &str, end: &str) {
    let text = script.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    let statements = text.split(";\n").map(str::trim).take_while(|text| !text.starts_with(end));
    for statement in statements {
        session.execute(statement, ()).unwrap();
    }
}

fn sstables(cluster: &Cluster, keyspace: &str, table: &str) -> Vec<Arc<SsTable>> {
    let node = cluster.engine().node(NodeId(1)).unwrap();
    let view = node.inner().view();
    let table = &view.placed.schema.keyspaces[keyspace].tables[table];
    node.inner().store(&view, table).unwrap().view().sstables.clone()
}

#[test]
fn statistics_are_those_of_the_recorded_sstable() {
    let cluster = Cluster::builder().build().unwrap();
    run_until(&cluster.connect(), include_str!("answers/sstabledump.cql"), "DROP");
    cluster.flush(None, None).unwrap();
    let tables = sstables(&cluster, "r_dump", "t");
    assert_eq!(tables.len(), 1);
    let s = tables[0].statistics();
    // answers/sstablemetadata.txt, its moments moved to the virtual epoch.
    let now = 1_796_083_200;
    assert_eq!((s.min_timestamp_micros, s.max_timestamp_micros), (999_999, 8_000_001));
    assert_eq!((s.min_local_deletion_seconds, s.max_local_deletion_seconds), (now, i64::MAX));
    assert_eq!((s.min_ttl_seconds, s.max_ttl_seconds), (0, 2_000_000));
    assert_eq!((s.columns_set, s.rows, s.partitions, s.cells), (16, 11, 4, 19));
    assert_eq!((s.level, s.created_seconds, s.repaired_at_millis), (0, now, 0));
    let bins = [(now, 24), (now + 1_000_020, 2), (now + 2_000_040, 1)];
    assert_eq!(s.drop_times.bins(), bins);
    let cells = &s.cells_per_partition;
    let filled: Vec<(u64, u64)> =
        cells.offsets().iter().copied().zip(cells.buckets().iter().copied()).collect();
    let filled: Vec<(u64, u64)> = filled.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(filled, [(1, 3), (17, 1)]);
    assert_eq!((cells.percentile(0.75), cells.percentile(0.95)), (Some(1), Some(17)));
    assert_eq!((cells.min(), cells.max(), s.mean_cells()), (0, 17, 5));
    assert_eq!(s.cardinality.estimate(), 4);
    let e = s.encoding;
    assert_eq!(
        (e.timestamp_micros, e.local_deletion_seconds, e.ttl_seconds),
        (999_999, now, 1_000_000)
    );
    assert_eq!(s.droppable_ratio(now - 1), 0.0);
    assert_eq!(s.droppable_ratio(now + 3_000_000), 27.0 / 20.0);
    assert!((s.droppable_ratio(now + 18) - 0.6).abs() < 0.000_1);
}

/// Writes the file again with one bit inverted.
fn flip(disk: &dyn Disk, name: &str, offset_bytes: u64) {
    let len = usize::try_from(disk.size_bytes(name).unwrap()).unwrap();
    let mut bytes = disk.read_at(name, 0, len).unwrap().to_vec();
    bytes[usize::try_from(offset_bytes).unwrap()] ^= 1;
    disk.delete(name).unwrap();
    disk.append(name, &bytes).unwrap();
}

/// One table for each kind of compression, each with the same 3,000 rows, flushed.
fn compressed(cluster: &Cluster, session: &Session) -> Vec<(&'static str, Arc<SsTable>)> {
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    session.execute(keyspace, ()).unwrap();
    let kinds = [
        ("none", "'enabled': false"),
        ("lz4", "'class': 'LZ4Compressor'"),
        ("zstd", "'class': 'ZstdCompressor', 'compression_level': 9"),
        ("snappy", "'class': 'SnappyCompressor'"),
        ("deflate", "'class': 'DeflateCompressor'"),
        ("noop", "'class': 'NoopCompressor'"),
        ("large", "'class': 'LZ4Compressor', 'chunk_length_in_kb': 64"),
        ("picky", "'class': 'LZ4Compressor', 'min_compress_ratio': 50"),
    ];
    let of = |(name, options)| {
        let table = format!(
            "CREATE TABLE k.{name} (p int, c int, v text, PRIMARY KEY (p, c))
             WITH compression = {{{options}}}"
        );
        session.execute(table.as_str(), ()).unwrap();
        let insert = format!("INSERT INTO k.{name} (p, c, v) VALUES (?, ?, ?)");
        let insert = session.prepare(insert.as_str()).unwrap();
        for row in 0..3_000 {
            let text = format!("row {row} of many that are much like one another");
            session.execute(&insert, (row % 3, row, text)).unwrap();
        }
        cluster.flush(Some("k"), Some(name)).unwrap();
        (name, sstables(cluster, "k", name).remove(0))
    };
    kinds.into_iter().map(of).collect()
}

#[test]
fn every_compression_gives_the_same_rows_and_its_own_size() {
    let cluster = Cluster::builder().build().unwrap();
    let session = cluster.connect();
    let tables = compressed(&cluster, &session);
    let ratio = |wanted: &str| {
        let table = &tables.iter().find(|(name, _)| *name == wanted).unwrap().1;
        table.statistics().compression_ratio()
    };
    for (name, table) in &tables {
        let query = format!("SELECT p, c, v FROM k.{name}");
        let rows =
            session.execute(query.as_str(), ()).unwrap().rows::<(i32, i32, String)>().unwrap();
        assert_eq!(rows.len(), 3_000, "{name}");
        assert!(rows.iter().all(|(p, c, v)| *p == c % 3 && v.starts_with(&format!("row {c} "))));
        assert!(table.size_bytes() > table.statistics().data_bytes);
    }
    for plain in ["none", "noop", "picky"] {
        assert!((1.0..1.01).contains(&ratio(plain)), "{plain}: {}", ratio(plain));
    }
    for (better, worse) in [
        ("zstd", "deflate"),
        ("deflate", "lz4"),
        ("lz4", "none"),
        ("snappy", "none"),
        ("large", "lz4"),
    ] {
        assert!(
            ratio(better) < ratio(worse),
            "{better} {} {worse} {}",
            ratio(better),
            ratio(worse)
        );
    }
    assert!(ratio("lz4") < 0.45, "{}", ratio("lz4"));
}

#[test]
fn options_altered_later_shape_the_next_file() {
    let cluster = Cluster::builder().build().unwrap();
    let session = cluster.connect();
    compressed(&cluster, &session);
    session
        .execute("ALTER TABLE k.none WITH compression = {'class': 'ZstdCompressor'}", ())
        .unwrap();
    session.execute("ALTER TABLE k.none WITH bloom_filter_fp_chance = 1", ()).unwrap();
    session.execute("INSERT INTO k.none (p, c, v) VALUES (1, -1, 'new')", ()).unwrap();
    cluster.flush(None, None).unwrap();
    let tables = sstables(&cluster, "k", "none");
    let codecs: Vec<_> = tables.iter().map(|table| table.codec()).collect();
    assert!(matches!(codecs[..], [Codec::Zstd { .. }, Codec::None]), "{codecs:?}");
    assert_eq!((tables[0].filter_bytes(), tables[1].filter_bytes() > 0), (0, true));
    let result = session.execute("SELECT count(*) FROM k.none", ()).unwrap();
    assert_eq!(result.single_row::<(i64,)>().unwrap(), (3_001,));
}

#[test]
fn a_table_with_a_flipped_bit_fails_by_name_and_others_go_on() {
    let cluster = Cluster::builder().build().unwrap();
    cluster.set("file_cache_size", "0MiB").unwrap();
    let session = cluster.connect();
    let tables = compressed(&cluster, &session);
    let node = cluster.engine().node(NodeId(1)).unwrap();
    for (name, table) in &tables {
        // No checksum is left to chance.
        let alter = format!("ALTER TABLE k.{name} WITH crc_check_chance = 0.0");
        session.execute(alter.as_str(), ()).unwrap();
        flip(&**node.inner().disk(), table.name(), table.statistics().data_bytes / 2);
        let query = format!("SELECT * FROM k.{name}");
        let error = session.execute(query.as_str(), ()).unwrap_err().to_string();
        assert!(error.contains(table.name()), "{error}");
        for (other, _) in tables.iter().skip_while(|(other, _)| other != name).skip(1) {
            let query = format!("SELECT count(*) FROM k.{other}");
            let result = session.execute(query.as_str(), ()).unwrap();
            assert_eq!(result.single_row::<(i64,)>().unwrap(), (3_000,));
        }
    }
}

#[test]
fn a_damaged_table_can_be_read_after_a_scrub() {
    let cluster = Cluster::builder().build().unwrap();
    cluster.set("file_cache_size", "0MiB").unwrap();
    let session = cluster.connect();
    let tables = compressed(&cluster, &session);
    let node = cluster.node(1).unwrap();
    for (name, table) in &tables {
        flip(&**node.inner().disk(), table.name(), table.statistics().data_bytes / 2);
        let query = format!("SELECT count(*) FROM k.{name}");
        session.execute(query.as_str(), ()).unwrap_err();
        let verified = node.verify(Some("k"), Some(name)).unwrap();
        let report = node.scrub(Some("k"), Some(name)).unwrap();
        let file = &report.files[0];
        assert_eq!((report.files.len(), file.blocks_lost()), (1, 1), "{name}");
        assert_eq!(verified.files[0].damage, file.damage);
        assert!(file.rows_lost > 0 && file.bytes_lost() > 0, "{name}: {file}");
        let result = session.execute(query.as_str(), ()).unwrap();
        let left = i64::try_from(3_000 - file.rows_lost).unwrap();
        assert_eq!(result.single_row::<(i64,)>().unwrap(), (left,), "{name}");
    }
    assert!(node.verify(None, None).unwrap().is_clean());
    assert!(cluster.scrub(Some("k"), Some("nothing")).is_err());
}
