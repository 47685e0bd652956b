//! The engine's counters of blocks and bytes are those that the disk counted on its own (contracts.md 20).

use cassling::{Cluster, NodeId};

#[test]
fn blocks_and_bytes_are_what_the_disk_read() {
    let cluster = Cluster::builder().build().unwrap();
    let session = cluster.connect();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))",
    ] {
        session.execute(statement, ()).unwrap();
    }
    let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)").unwrap();
    for file in 0..4 {
        for row in 0..2_000 {
            let text = "x".repeat(40 + (row as usize % 50));
            session.execute(&insert, (row % 5, row / 5 * 4 + file, text)).unwrap();
        }
        cluster.flush(None, None).unwrap();
    }
    let node = cluster.engine().node(NodeId(1)).unwrap();
    let disk = || node.inner().disk().counters();
    for query in [
        "SELECT * FROM t WHERE p = 1 AND c = 5",
        "SELECT * FROM t WHERE p = 1 LIMIT 3",
        "SELECT * FROM t WHERE p = 2 ORDER BY c DESC LIMIT 7",
        "SELECT * FROM t WHERE p = 2 AND c > 100 AND c < 900",
        "SELECT * FROM t WHERE p = 99",
        "SELECT * FROM t WHERE v = 'none' ALLOW FILTERING",
        "SELECT * FROM t",
    ] {
        let before = disk();
        let cost = session.execute(query, ()).unwrap().cost;
        let after = disk();
        let reads = (after.reads - before.reads, after.bytes_read - before.bytes_read);
        assert_eq!((cost.blocks, cost.bytes_read), reads, "{query}");
        let expected = if query.ends_with("99") { 0 } else { 4 };
        let limited = query.contains("LIMIT") || query.contains("c = 5");
        assert!(cost.sstables == expected || (limited && cost.sstables <= 4), "{query}: {cost:?}");
    }
}
