//! S: from nothing to the first row.

use super::Bound::AtMost;
use super::Source::Limits;
use super::clock::seconds;
use super::fixture::{read, run as execute};
use super::{Goal, Probe, Run, ours};
use cassling::Cluster;

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
];

/// Microseconds from nothing to the first row and to nothing again; the size is the number of nodes.
const FIRST_ROW: Probe = Probe { name: "first_row", run: first_row };

fn first_row(run: &Run) -> Vec<f64> {
    let nodes = run.size;
    let (taken, bytes) = seconds(|| {
        let cluster = Cluster::builder().nodes(nodes as usize).build().expect("it has nodes");
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
