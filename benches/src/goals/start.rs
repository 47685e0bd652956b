//! S: from nothing to the first row.

use super::Bound::AtMost;
use super::Source::Limits;
use super::clock::seconds;
use super::fixture::{ROWS_OF_PARTITION, Rows, builder, flush, read, run as execute};
use super::{Goal, Probe, Run, ours};
use crate::Bench;
use cassling::{Cluster, ClusterBuilder};

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "S1",
        what: "open, keyspace, table, INSERT, SELECT, drop, us",
        on: "",
        ours: ours(FIRST_ROW, 1, 0),
        baseline: Limits("start.sqlite_memory_to_first_row"),
        floor: AtMost(3.0),
        goal: AtMost(1.0),
    },
    Goal {
        id: "S2",
        what: "the same with 3 nodes, us",
        on: "three nodes, RF=3",
        ours: ours(FIRST_ROW, 3, 0),
        baseline: ours(FIRST_ROW, 1, 0),
        floor: AtMost(3.0),
        goal: AtMost(1.5),
    },
    Goal {
        id: "S3",
        what: "open, keyspace, table, INSERT, SELECT, close, us",
        on: "on disk",
        ours: ours(FIRST_ROW_ON_DISK, 1, 0),
        baseline: Limits("start.fjall_to_first_row"),
        floor: AtMost(2.0),
        goal: AtMost(1.0),
    },
    Goal {
        id: "S6",
        what: "opening 1 M rows in SSTables against 1,000, us",
        on: "on disk, log empty",
        ours: ours(OPENING, 1_000_000, 0),
        baseline: ours(OPENING, 1_000, 0),
        floor: AtMost(10.0),
        goal: AtMost(3.0),
    },
];

/// The same on disk.
const FIRST_ROW_ON_DISK: Probe = Probe {
    name: "first_row_on_disk",
    run: |run| first_row(run, Cluster::builder().data(&run.dir)),
};

/// Microseconds until a cluster with so many flushed rows is open.
const OPENING: Probe = Probe {
    name: "opening",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let cluster = builder().data(&run.dir).build().expect("the folder is empty");
        let bench = Bench::on(&cluster, "");
        rows.write(&bench, 0..rows.count);
        flush(&bench.session);
        vec![seconds(|| cluster.reopen().expect("the files are whole")).0 * 1e6]
    },
};

/// Microseconds from nothing to the first row and to nothing again; the size is the number of nodes.
const FIRST_ROW: Probe = Probe { name: "first_row", run: |run| first_row(run, Cluster::builder()) };

fn first_row(run: &Run, builder: ClusterBuilder) -> Vec<f64> {
    let nodes = run.size;
    let (taken, bytes) = seconds(|| {
        let cluster = builder.nodes(nodes as usize).build().expect("it has nodes");
        let session = cluster.connect();
        let replication = format!("{{'class': 'SimpleStrategy', 'replication_factor': {nodes}}}");
        execute(&session, &format!("CREATE KEYSPACE b WITH replication = {replication}"));
        execute(&session, "CREATE TABLE b.t (pk blob, ck int, v blob, PRIMARY KEY (pk, ck))");
        execute(&session, "INSERT INTO b.t (pk, ck, v) VALUES (0x01, 1, 0x02)");
        read(&execute(&session, "SELECT v FROM b.t WHERE pk = 0x01 AND ck = 1"))
    });
    assert_eq!(bytes, 1, "the row is read");
    vec![taken * 1e6]
}
