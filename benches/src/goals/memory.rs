//! M: resident memory, in processes that hold nothing else.

use super::Bound::AtMost;
use super::Source::{Limits, One};
use super::fixture::{Rows, cluster, filled, flush, read, resident_bytes, session_with, sstables};
use super::{Goal, Probe, Run, ours};
use cassling::{Cluster, Value};
use cassling_engine::lsm::sstable::SsTable;
use std::hint::black_box;
use std::sync::Arc;

const ROWS: u64 = 1_000_000;
const MEGABYTE: f64 = 1e6;

/// A row of M2: 16 bytes of key and 100 of value, as in `mem.rss_per_row`.
const VALUE_BYTES: usize = 100;

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "M1",
        what: "resident, idle, MB",
        on: "three nodes",
        ours: ours(IDLE, 3, 0),
        baseline: One,
        floor: AtMost(8.0),
        goal: AtMost(3.0),
    },
    Goal {
        id: "M2.1",
        what: "memtable, 1 row a partition, resident bytes a row",
        on: "rows of 116 bytes",
        ours: ours(MEMTABLE_1, ROWS, 0),
        baseline: Limits("mem.rss_per_row.btreemap"),
        floor: AtMost(1.7),
        goal: AtMost(1.25),
    },
    Goal {
        id: "M2.100",
        what: "memtable, 100 rows a partition, resident bytes a row",
        on: "rows of 116 bytes",
        ours: ours(MEMTABLE_100, ROWS, 0),
        baseline: Limits("mem.rss_per_row.btreemap"),
        floor: AtMost(1.7),
        goal: AtMost(1.25),
    },
    Goal {
        id: "M2.1M",
        what: "memtable, 1 M rows a partition, resident bytes a row",
        on: "rows of 116 bytes",
        ours: ours(MEMTABLE_ALL, ROWS, 0),
        baseline: Limits("mem.rss_per_row.btreemap"),
        floor: AtMost(1.7),
        goal: AtMost(1.25),
    },
    Goal {
        id: "M3",
        what: "growth while paging through 1 M rows, MB",
        on: "one SSTable, pages of 5,000",
        ours: ours(PAGING, ROWS, 0),
        baseline: One,
        floor: AtMost(32.0),
        goal: AtMost(8.0),
    },
    Goal {
        id: "M4",
        what: "an open SSTable's index and filter, bytes a row",
        on: "each row of 150 bytes a partition",
        ours: ours(OPEN_SSTABLE, ROWS, 0),
        baseline: One,
        floor: AtMost(6.0),
        goal: AtMost(2.5),
    },
];

/// Megabytes that an idle cluster takes; the size is the number of nodes.
const IDLE: Probe = Probe {
    name: "idle",
    run: |run| {
        let before = resident_bytes();
        let cluster = Cluster::builder().nodes(run.size as usize).build().expect("it has nodes");
        let grown = resident_bytes() - before;
        black_box(&cluster);
        vec![grown / MEGABYTE]
    },
};

const MEMTABLE_1: Probe = Probe { name: "resident.1", run: |run| memtable(run, 1) };
const MEMTABLE_100: Probe = Probe { name: "resident.100", run: |run| memtable(run, 100) };
const MEMTABLE_ALL: Probe = Probe { name: "resident.all", run: |run| memtable(run, run.size) };

/// Resident bytes a row of a memtable, with so many rows a partition.
fn memtable(run: &Run, per_partition: u64) -> Vec<f64> {
    // A partition of one row has all 16 bytes in its partition key, others half of them in the clustering.
    let table = match per_partition {
        1 => "CREATE TABLE t (p blob PRIMARY KEY, v blob)",
        _ => "CREATE TABLE t (p bigint, c bigint, v blob, PRIMARY KEY (p, c))",
    };
    let session = session_with(&cluster(), table);
    let insert = match per_partition {
        1 => session.prepare("INSERT INTO t (p, v) VALUES (?, ?)"),
        _ => session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)"),
    };
    let insert = insert.expect("the statement is legal");
    let value = Value::Blob(vec![7; VALUE_BYTES]);
    let partitions = (run.size / per_partition).max(1);
    let before = resident_bytes();
    for row in 0..run.size {
        let written = if per_partition == 1 {
            let [high, low] = [super::fixture::mix(row), row].map(u64::to_be_bytes);
            session.execute(&insert, (Value::Blob([high, low].concat()), &value))
        } else {
            let (partition, clustering) = (row % partitions, row / partitions);
            session.execute(&insert, (partition as i64, clustering as i64, &value))
        };
        written.expect("a write succeeds");
    }
    vec![(resident_bytes() - before) / run.size as f64]
}

/// Megabytes by which the process grows while it pages through all rows, at most.
const PAGING: Probe = Probe {
    name: "paging",
    run: |run| {
        let (bench, rows) = filled(run);
        flush(&bench.session);
        let before = resident_bytes();
        let (mut most, mut count) = (before, 0);
        for page in bench.session.pages("SELECT * FROM rows", (), 5_000) {
            let page = page.expect("a read succeeds");
            black_box(read(&page));
            count += page.row_count() as u64;
            most = most.max(resident_bytes());
        }
        assert_eq!(count, rows.count, "all rows are read");
        vec![(most - before) / MEGABYTE]
    },
};

/// Bytes a row that an open SSTable keeps in memory.
const OPEN_SSTABLE: Probe = Probe {
    name: "open_sstable",
    run: |run| {
        let rows = Rows::new(run.size, 1);
        let bench = crate::Bench::on(&cluster(), "");
        rows.write(&bench, 0..rows.count);
        flush(&bench.session);
        let name = sstables(&bench)[0].name().to_string();
        let node = bench.session.cluster().node(1).expect("there is a node 1");
        let open = || {
            SsTable::open(Arc::clone(node.inner().disk()), name.clone()).expect("the file is sound")
        };
        // The first ones take memory that the process had before.
        let mut held = vec![open(), open()];
        let before = resident_bytes();
        const MORE: usize = 8;
        held.extend((0..MORE).map(|_| open()));
        vec![(resident_bytes() - before) / MORE as f64 / run.size as f64]
    },
};
