//! How cost grows with what a request does not ask for (performance.md section 5), by counters that no neighbour on the
//! machine can change: rows and tombstones met, SSTables opened, blocks read, messages sent.
//!
//! Each test runs one operation at two or three sizes and holds its counters against what the request itself needs.
//! Times of the same operations are shown by the program `goals` of the benches.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling::{Cluster, Consistency, QueryResult, Session};
use cassling_engine::metrics::Cost;

/// Rows of the largest partition.
const GREAT: i64 = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };

fn session_on(cluster: &Cluster, table: &str) -> Session {
    let session = cluster.connect();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        table,
    ] {
        session.execute(statement, ()).unwrap();
    }
    session
}

/// A table of wide partitions.
fn wide() -> Session {
    let cluster = Cluster::builder().build().unwrap();
    session_on(&cluster, "CREATE TABLE t (p int, c bigint, v text, PRIMARY KEY (p, c))")
}

/// Runs a statement once for each number.
fn each(session: &Session, statement: &str, numbers: std::ops::Range<i64>) {
    let prepared = session.prepare(statement).unwrap();
    for number in numbers {
        session.execute(&prepared, (number,)).unwrap();
    }
}

const INSERT: &str = "INSERT INTO t (p, c, v) VALUES (1, ?, 'a value of some length')";
const DELETE: &str = "DELETE FROM t WHERE p = 1 AND c = ?";

fn flush(session: &Session) {
    session.cluster().flush(None, None).unwrap();
}

fn run(session: &Session, query: &str) -> QueryResult {
    session.execute(query, ()).unwrap()
}

fn cost(session: &Session, query: &str) -> Cost {
    run(session, query).cost
}

/// G2: LIMIT 10 reads ten rows and at most two blocks, wherever it begins and however many rows there are.
#[test]
fn limit_costs_what_it_returns() {
    for rows in [1_000, GREAT] {
        let session = wide();
        each(&session, INSERT, 0..rows);
        for blocks_max in [0, 2] {
            for query in [
                "SELECT * FROM t WHERE p = 1 LIMIT 10".to_string(),
                format!("SELECT * FROM t WHERE p = 1 AND c > {} LIMIT 10", rows / 2),
                "SELECT * FROM t WHERE p = 1 ORDER BY c DESC LIMIT 10".to_string(),
                format!(
                    "SELECT * FROM t WHERE p = 1 AND c < {} ORDER BY c DESC LIMIT 10",
                    rows / 2
                ),
            ] {
                let cost = cost(&session, &query);
                assert_eq!(cost.rows_read, 10, "{query}, {rows} rows");
                assert!(cost.blocks <= blocks_max, "{query}, {rows} rows: {cost:?}");
            }
            flush(&session);
        }
    }
}

/// G3: SSTables that the filter excludes are not opened.
#[test]
fn excluded_sstables_are_not_opened() {
    for files in [1, 32] {
        let cluster = Cluster::builder().build().unwrap();
        let session = session_on(&cluster, "CREATE TABLE t (p bigint PRIMARY KEY, v text)");
        for file in 0..=files {
            let keys = file * 1_000..(file + 1) * 1_000;
            each(&session, "INSERT INTO t (p, v) VALUES (?, 'a value')", keys);
            flush(&session);
        }
        let (mut opened, reads) = (0, 200);
        for key in 0..reads {
            let cost = cost(&session, &format!("SELECT v FROM t WHERE p = {key}"));
            opened += cost.sstables;
            assert_eq!(cost.sstables + cost.sstables_skipped, files as u64 + 1, "{cost:?}");
        }
        // Its own SSTable each time; a filter lets one of a hundred others pass, and they need not be newer.
        assert!(opened <= reads as u64 + (reads * files / 25) as u64, "{opened} opened of {files}");
    }
}

/// G4: SSTables of other windows of time cost no block.
#[test]
fn windows_outside_a_slice_are_not_read() {
    let blocks = [1, 50].map(|windows| {
        let cluster = Cluster::builder().build().unwrap();
        let session = session_on(
            &cluster,
            "CREATE TABLE t (p int, c bigint, v text, PRIMARY KEY (p, c)) \
             WITH compaction = {'class': 'TimeWindowCompactionStrategy'}",
        );
        for window in 0..=windows {
            each(&session, INSERT, window * 1_000..(window + 1) * 1_000);
            flush(&session);
        }
        let newest = windows * 1_000;
        let query = format!("SELECT * FROM t WHERE p = 1 AND c >= {} LIMIT 20", newest + 10);
        let cost = cost(&session, &query);
        assert_eq!((cost.rows_read, cost.sstables), (20, 1), "{cost:?}");
        cost.blocks
    });
    assert_eq!(blocks[0], blocks[1]);
}

/// G5: tombstones beside the slice are neither counted nor read.
#[test]
fn tombstones_elsewhere_cost_nothing() {
    for tombstones in [0, GREAT] {
        let session = wide();
        each(&session, INSERT, 0..100);
        each(&session, DELETE, 1_000..1_000 + tombstones);
        for blocks_max in [0, 2] {
            let cost = cost(&session, "SELECT * FROM t WHERE p = 1 AND c < 100");
            assert_eq!((cost.rows_read, cost.tombstones), (100, 0), "{cost:?}");
            assert!(cost.blocks <= blocks_max, "{tombstones} tombstones: {cost:?}");
            flush(&session);
        }
    }
}

/// G6: each tombstone that a slice passes is counted once, and its block is read once.
#[test]
fn passed_tombstones_are_counted_once() {
    let blocks = [1_000, 10_000].map(|tombstones| {
        let session = wide();
        each(&session, DELETE, 0..tombstones);
        each(&session, INSERT, tombstones..tombstones + 1);
        for flushed in [false, true] {
            let cost = cost(&session, "SELECT * FROM t WHERE p = 1 LIMIT 1");
            assert_eq!((cost.rows_read, cost.tombstones), (1, tombstones as u64), "{cost:?}");
            if flushed {
                return cost.blocks;
            }
            flush(&session);
        }
        unreachable!("the second round has returned");
    });
    assert!(blocks[1] <= 11 * blocks[0], "{blocks:?}");
}

/// G7: page 200 costs what page 1 does.
#[test]
fn a_page_resumes_where_the_last_ended() {
    let session = wide();
    each(&session, INSERT, 0..20_100);
    flush(&session);
    let costs: Vec<Cost> = session
        .pages("SELECT * FROM t WHERE p = 1", (), 100)
        .map(|page| page.unwrap().cost)
        .take(200)
        .collect();
    assert_eq!(costs.len(), 200);
    for (number, cost) in costs.iter().enumerate() {
        assert_eq!(cost.rows_read, 100, "page {number}: {cost:?}");
        assert!(cost.blocks <= costs[0].blocks + 1, "page {number}: {cost:?}");
    }
}

/// G8: a row between range tombstones is found without walking them.
#[test]
fn range_tombstones_elsewhere_are_not_walked() {
    for ranges in [1, 10_000] {
        let session = wide();
        let delete = session.prepare("DELETE FROM t WHERE p = 1 AND c > ? AND c < ?").unwrap();
        for range in 0..ranges {
            session.execute(&delete, (range * 10, range * 10 + 10)).unwrap();
        }
        each(&session, INSERT, 0..1);
        each(&session, INSERT, (ranges - 1) * 10..(ranges - 1) * 10 + 1);
        for blocks_max in [0, 2] {
            let query = format!("SELECT * FROM t WHERE p = 1 AND c = {}", (ranges - 1) * 10);
            let cost = cost(&session, &query);
            assert_eq!((cost.rows_read, cost.tombstones), (1, 0), "{cost:?}");
            assert!(cost.blocks <= blocks_max, "{ranges} ranges: {cost:?}");
            flush(&session);
        }
    }
}

/// T4: one range tombstone over older rows is seeked past: no block under it is read but those at its ends.
#[test]
fn a_range_tombstone_is_seeked_past() {
    for rows in [1_000, GREAT] {
        let session = wide();
        each(&session, INSERT, 0..rows + 1);
        flush(&session);
        run(&session, &format!("DELETE FROM t WHERE p = 1 AND c < {rows}"));
        for blocks_max in [3, 4] {
            let cost = cost(&session, "SELECT * FROM t WHERE p = 1 LIMIT 1");
            assert_eq!(cost.rows_read, 1, "{cost:?}");
            assert!(cost.blocks <= blocks_max, "{rows} rows: {cost:?}");
            flush(&session);
        }
    }
}

/// G12: nodes and tokens that a request does not concern cost it nothing: a question and an answer for each replica asked.
#[test]
fn other_nodes_take_no_part() {
    for (nodes, tokens) in [(3, 1), (50, 1), (3, 256), (50, 16)] {
        let cluster = Cluster::builder().nodes(nodes).num_tokens(tokens).build().unwrap();
        let session = cluster.connect();
        session.set_consistency(Consistency::Quorum);
        for statement in [
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
            "USE k",
            "CREATE TABLE t (p int PRIMARY KEY, v int)",
        ] {
            run(&session, statement);
        }
        for key in 0..20 {
            let write = cost(&session, &format!("INSERT INTO t (p, v) VALUES ({key}, 1)"));
            let read = cost(&session, &format!("SELECT v FROM t WHERE p = {key}"));
            assert!(write.messages <= 6, "{nodes} nodes: {write:?}");
            assert!(read.messages <= 4 && read.nodes <= 3, "{nodes} nodes: {read:?}");
        }
    }
}

/// G13: other partitions cost nothing.
#[test]
fn other_partitions_are_not_read() {
    for partitions in [1, GREAT / 10] {
        let cluster = Cluster::builder().build().unwrap();
        let session = session_on(&cluster, "CREATE TABLE t (p bigint PRIMARY KEY, v text)");
        each(&session, "INSERT INTO t (p, v) VALUES (?, 'a value')", 0..partitions);
        for blocks_max in [0, 1] {
            let cost = cost(&session, "SELECT v FROM t WHERE p = 0");
            assert_eq!((cost.rows_read, cost.partitions), (1, 1), "{cost:?}");
            assert!(cost.blocks <= blocks_max, "{partitions} partitions: {cost:?}");
            flush(&session);
        }
    }
}

/// G15: TRUNCATE and DROP TABLE read no data.
#[test]
fn emptying_reads_nothing() {
    for statement in ["TRUNCATE t", "DROP TABLE t"] {
        let session = wide();
        each(&session, INSERT, 0..10_000);
        flush(&session);
        let node = session.cluster().node(1).unwrap();
        let before = node.inner().disk().counters();
        run(&session, statement);
        let after = node.inner().disk().counters();
        assert_eq!(after.bytes_read, before.bytes_read, "{statement}");
    }
}

/// G17: counting reads each block once.
#[test]
fn count_reads_each_block_once() {
    let blocks = [GREAT / 10, GREAT].map(|rows| {
        let session = wide();
        each(&session, INSERT, 0..rows);
        flush(&session);
        let result = run(&session, "SELECT COUNT(*) FROM t");
        assert_eq!(result.single_row::<(i64,)>().unwrap(), (rows,));
        assert_eq!(result.cost.rows_read, rows as u64);
        result.cost.blocks
    });
    // A page may begin in the block where the page before it ended.
    let pages = GREAT as u64 / 5_000;
    assert!(blocks[1] <= 11 * blocks[0] + 2 * pages, "{blocks:?}");
}
