//! LIMIT on a newest-first partition: the cost is that of the rows returned, however large the partition (claim 7).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling::{Cluster, QueryResult, Session};

/// Rows of the largest partition: a million where the build is fast.
const ROWS_MAX: i64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

fn session_with(rows: i64) -> Session {
    // All of it in one memtable until it is flushed.
    let builder = Cluster::builder().setting("memtable_heap_space", "1024MiB");
    let builder = builder.setting("commitlog_total_space", "1024MiB");
    let session = builder.build().unwrap().connect();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TABLE t (p int, c bigint, v text, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)",
    ] {
        session.execute(statement, ()).unwrap();
    }
    let insert =
        session.prepare("INSERT INTO t (p, c, v) VALUES (1, ?, 'a value of some length')").unwrap();
    for row in 0..rows {
        session.execute(&insert, (row,)).unwrap();
    }
    session
}

fn twenty(session: &Session, query: &str) -> QueryResult {
    let result = session.execute(query, ()).unwrap();
    assert_eq!((result.row_count(), result.cost.rows_read), (20, 20), "{query}: {:?}", result.cost);
    result
}

fn clusterings(result: &QueryResult) -> Vec<i64> {
    result.rows::<(i64,)>().unwrap().into_iter().map(|(c,)| c).collect()
}

/// Newest, oldest, and from the middle on: each reads the twenty rows it returns and at most two blocks.
fn hold(session: &Session, rows: i64, blocks_max: u64) {
    let middle = rows / 2;
    let newest = twenty(session, "SELECT c FROM t WHERE p = 1 LIMIT 20");
    assert_eq!(clusterings(&newest), (rows - 20..rows).rev().collect::<Vec<_>>());
    let oldest = twenty(session, "SELECT c FROM t WHERE p = 1 ORDER BY c ASC LIMIT 20");
    assert_eq!(clusterings(&oldest), (0..20).collect::<Vec<_>>());
    let below = twenty(session, &format!("SELECT c FROM t WHERE p = 1 AND c < {middle} LIMIT 20"));
    assert_eq!(clusterings(&below), (middle - 20..middle).rev().collect::<Vec<_>>());
    let above = twenty(
        session,
        &format!("SELECT c FROM t WHERE p = 1 AND c >= {middle} ORDER BY c ASC LIMIT 20"),
    );
    assert_eq!(clusterings(&above), (middle..middle + 20).collect::<Vec<_>>());
    for result in [newest, oldest, below, above] {
        assert!(result.cost.blocks <= blocks_max, "{:?}", result.cost);
    }
}

#[test]
fn limit_20_reads_20_rows_at_every_size() {
    for rows in [100, 10_000, ROWS_MAX] {
        let session = session_with(rows);
        hold(&session, rows, 0);
        session.cluster().flush(None, None).unwrap();
        hold(&session, rows, 2);
    }
}

#[test]
fn pages_resume_by_seek() {
    let rows = 10_000;
    let session = session_with(rows);
    session.cluster().flush(None, None).unwrap();
    let mut seen = 0;
    for page in session.pages("SELECT c FROM t WHERE p = 1", (), 100) {
        let page = page.unwrap();
        assert_eq!(page.cost.rows_read, page.row_count() as u64, "no row is read twice");
        assert!(page.cost.blocks <= 2, "{:?}", page.cost);
        seen += page.row_count() as i64;
    }
    assert_eq!(seen, rows);
}
