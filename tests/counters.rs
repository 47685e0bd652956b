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
        assert_eq!((cost.blocks - cost.blocks_cached, cost.bytes_read), reads, "{query}");
        let expected = if query.ends_with("99") { 0 } else { 4 };
        let limited = query.contains("LIMIT") || query.contains("c = 5");
        assert!(cost.sstables == expected || (limited && cost.sstables <= 4), "{query}: {cost:?}");
    }
}

#[test]
fn a_block_that_the_cache_has_is_not_read_again_and_the_cache_stays_within_its_size() {
    let cluster = Cluster::builder().build().unwrap();
    let session = cluster.connect();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c)) WITH compression = {'enabled': false}",
    ] {
        session.execute(statement, ()).unwrap();
    }
    let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)").unwrap();
    for row in 0..20_000 {
        session.execute(&insert, (1, row, "x".repeat(100))).unwrap();
    }
    cluster.flush(None, None).unwrap();
    let point =
        |row: i32| session.execute("SELECT v FROM t WHERE p = 1 AND c = ?", (row,)).unwrap().cost;
    let (cold, warm) = (point(7), point(7));
    assert_eq!((cold.blocks, cold.blocks_cached), (1, 0));
    assert_eq!((warm.blocks, warm.blocks_cached, warm.bytes_read), (1, 1, 0));
    let cache = || cluster.engine().block_cache();
    cluster.set("file_cache_size", "1MiB").unwrap();
    let all = session.execute("SELECT count(*) FROM t", ()).unwrap().cost;
    assert!(all.blocks - all.blocks_cached > 100, "{all:?}");
    assert!((1..=1 << 20).contains(&cache().size_bytes()), "{} bytes", cache().size_bytes());
    cluster.set("file_cache_size", "0MiB").unwrap();
    assert_eq!(cache().size_bytes(), 0);
    point(7);
    assert_eq!(point(7).blocks_cached, 0, "without room nothing is kept");
}
