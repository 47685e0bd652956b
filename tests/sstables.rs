//! SSTables as seen through CQL: what one says of itself is what Cassandra's says of the same data.

use cassling::{Cluster, NodeId, Session};
use cassling_engine::lsm::sstable::SsTable;
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
