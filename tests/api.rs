//! The embedded API: statements, futures, threads, batches, pages, typed rows, errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "what users do with threads of their own is tested")]

use cassling::{Batch, Cluster, Consistency, Error, Query, Session, Unset, Value};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

fn session() -> Session {
    on(Cluster::builder().build().unwrap())
}

fn on(cluster: Cluster) -> Session {
    let session = cluster.connect();
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    session.execute(keyspace, ()).unwrap();
    session.execute("USE k", ()).unwrap();
    session.execute("CREATE TABLE t (a int, b int, v text, PRIMARY KEY (a, b))", ()).unwrap();
    session
}

/// The smallest runtime: polls, and parks until woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn rows_become_rust_values() -> Result<(), Error> {
    let session = session();
    session.execute("INSERT INTO t (a, b, v) VALUES (?, ?, ?)", (1, 2, "x"))?;
    session.execute("INSERT INTO t (a, b) VALUES (1, 3)", ())?;
    let result = session.execute("SELECT b, v FROM t WHERE a = ?", (1,))?;
    assert_eq!(result.rows::<(i32, Option<String>)>()?, [(2, Some("x".to_string())), (3, None)]);
    assert_eq!(result.row_count(), 2);
    let names: Vec<&str> = result.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["b", "v"]);
    let count = session.execute("SELECT count(*) FROM t WHERE a = 1", ())?;
    assert_eq!(count.single_row::<(i64,)>()?, (2,));
    for wrong in [
        result.rows::<(i32, String)>().unwrap_err(),
        result.rows::<(i64, Option<String>)>().unwrap_err(),
        session.execute("SELECT b FROM t", ())?.rows::<(i32, i32)>().unwrap_err(),
        session.execute("SELECT b FROM t", ())?.single_row::<(i32,)>().unwrap_err(),
    ] {
        assert!(!wrong.to_string().is_empty());
    }
    Ok(())
}

#[test]
fn values_by_place_by_name_and_unset() -> Result<(), Error> {
    let session = session();
    session.execute("INSERT INTO t (a, b, v) VALUES (1, 1, 'before')", ())?;
    session.execute("UPDATE t SET v = ? WHERE a = 1 AND b = 1", (Unset,))?;
    let text = "SELECT v FROM t WHERE a = 1 AND b = 1";
    let read = || session.execute(text, ())?.single_row::<(Option<String>,)>();
    assert_eq!(read()?, (Some("before".to_string()),));
    let named = BTreeMap::from([("text", Value::Text("by name".into())), ("b", Value::Int(1))]);
    session.execute("UPDATE t SET v = :text WHERE a = 1 AND b = ?", named)?;
    assert_eq!(read()?, (Some("by name".to_string()),));
    session.execute("UPDATE t SET v = ? WHERE a = 1 AND b = 1", (None::<String>,))?;
    assert_eq!(read()?, (None,));
    let slice = [Value::Int(5), Value::Int(6)];
    session.execute("INSERT INTO t (a, b) VALUES (?, ?)", slice.as_slice())?;
    for refused in [
        session.execute("INSERT INTO t (a, b) VALUES (?, ?)", (1,)),
        session.execute("INSERT INTO t (a, b) VALUES (?, ?)", (1, "two")),
        session.execute("INSERT INTO t (a, b) VALUES (?, ?)", (1, 2i64)),
        session.execute(
            "INSERT INTO t (a, b) VALUES (:a, :b)",
            BTreeMap::from([("a", Value::Int(1))]),
        ),
        session.execute("INSERT INTO t (a, b) VALUES (?, ?)", (Unset, 2)),
    ] {
        refused.unwrap_err();
    }
    Ok(())
}

#[test]
fn an_error_has_code_text_and_span() {
    let session = session();
    let text = "SELECT nope FROM t";
    let error = session.execute(text, ()).unwrap_err();
    assert_eq!(error.code() as u16, 0x2200);
    assert_eq!(error.to_string(), "Undefined column name nope in table k.t");
    let span = error.span.expect("it has a place");
    assert_eq!(&text[span.start..span.end], "nope");
    let syntax = session.execute("SELEKT 1", ()).unwrap_err();
    assert_eq!(syntax.code() as u16, 0x2000);
    assert!(syntax.to_string().starts_with("line 1:0 "), "{syntax}");
}

#[test]
fn pending_answers_are_futures_and_need_no_runtime() -> Result<(), Error> {
    let session = session();
    let insert = session.prepare("INSERT INTO t (a, b) VALUES (1, ?)")?;
    // None is driven alone: waiting for the last drives them all.
    let all: Vec<_> = (0..50).map(|b| session.start(&insert, (b,))).collect();
    session.start("INSERT INTO t (a, b) VALUES (1, 99)", ()).wait()?;
    let count =
        || session.execute("SELECT count(*) FROM t WHERE a = 1", ())?.single_row::<(i64,)>();
    assert_eq!(count()?, (51,));
    for pending in all {
        pending.wait()?;
    }
    let read = session.start("SELECT b FROM t WHERE a = 1 LIMIT 1", ());
    assert_eq!(block_on(read)?.single_row::<(i32,)>()?, (0,));
    let refused = session.start("SELECT nope FROM t", ());
    assert_eq!(block_on(refused).unwrap_err().code() as u16, 0x2200);
    let refused = session.start("INSERT INTO t (a, b) VALUES (?, ?)", (1,));
    refused.wait().unwrap_err();
    // One that is dropped unread harms nobody.
    drop(session.start("INSERT INTO t (a, b) VALUES (1, 100)", ()));
    count()?;
    Ok(())
}

/// Each thread writes and reads its own partition, through futures and through `execute`.
fn many_threads(session: &Session) {
    let threads = (0..8).map(|a| {
        let session = session.clone();
        thread::spawn(move || {
            let insert = session.prepare("INSERT INTO t (a, b, v) VALUES (?, ?, 'x')").unwrap();
            for b in 0..100 {
                block_on(session.start(&insert, (a, b))).unwrap();
                let last = "SELECT b FROM t WHERE a = ? ORDER BY b DESC LIMIT 1";
                let last = session.execute(last, (a,)).unwrap();
                assert_eq!(last.single_row::<(i32,)>().unwrap(), (b,));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
    let count = session.execute("SELECT count(*) FROM t", ()).unwrap();
    assert_eq!(count.single_row::<(i64,)>().unwrap(), (800,));
}

#[test]
fn sessions_work_on_many_threads() {
    many_threads(&session());
}

#[test]
fn a_parallel_cluster_works_on_many_threads() {
    many_threads(&on(Cluster::builder().parallel().build().unwrap()));
}

#[test]
fn a_pending_moves_between_threads() {
    let session = session();
    let pending = session.start("SELECT b FROM t", ());
    let rows = thread::spawn(move || block_on(pending).unwrap().row_count()).join().unwrap();
    assert_eq!(rows, 0);
}

#[test]
fn a_prepared_statement_survives_schema_changes() -> Result<(), Error> {
    let session = session();
    let all = session.prepare("SELECT * FROM t WHERE a = ?")?;
    assert_eq!(all.markers()[0].name, "a");
    session.execute("INSERT INTO t (a, b, v) VALUES (1, 2, 'x')", ())?;
    assert_eq!(session.execute(&all, (1,))?.columns().len(), 3);
    session.execute("ALTER TABLE t ADD w int", ())?;
    assert_eq!(session.execute(&all, (1,))?.columns().len(), 4);
    session.execute("DROP TABLE t", ())?;
    assert_eq!(session.execute(&all, (1,)).unwrap_err().to_string(), "table t does not exist");
    Ok(())
}

#[test]
fn batches_apply_as_one() -> Result<(), Error> {
    let session = session();
    for (a, mut batch) in [(1, Batch::logged()), (2, Batch::unlogged())] {
        for b in 0..3 {
            batch.add(&session, "INSERT INTO t (a, b, v) VALUES (?, ?, ?);", (a, b, "x"))?;
        }
        batch.add(&session, "DELETE FROM t WHERE a = ? AND b = 1", (a,))?;
        session.batch(&batch)?;
        let rows = session.execute("SELECT b, writetime(v) FROM t WHERE a = ?", (a,))?;
        let rows = rows.rows::<(i32, i64)>()?;
        assert_eq!(
            rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            [0, 2],
            "at one time, the delete wins"
        );
        assert_eq!(rows[0].1, rows[1].1, "one timestamp for all");
    }
    // A refused statement leaves nothing of its batch.
    let mut batch = Batch::logged();
    batch.add(&session, "INSERT INTO t (a, b) VALUES (9, 9)", ())?;
    batch.add(&session, "SELECT a FROM t", ())?;
    session.batch(&batch).unwrap_err();
    assert_eq!(session.execute("SELECT * FROM t WHERE a = 9", ())?.row_count(), 0);
    Ok(())
}

#[test]
fn pages_follow_one_another() -> Result<(), Error> {
    let session = session();
    for b in 0..10 {
        session.execute("INSERT INTO t (a, b) VALUES (1, ?)", (b,))?;
    }
    let mut seen = Vec::new();
    let mut sizes = Vec::new();
    for page in session.pages("SELECT b FROM t WHERE a = ?", (1,), 4) {
        let rows = page?.rows::<(i32,)>()?;
        sizes.push(rows.len());
        seen.extend(rows.into_iter().map(|row| row.0));
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
    assert_eq!(sizes, [4, 4, 2]);
    let mut refused = session.pages("SELECT nope FROM t", (), 4);
    assert!(refused.next().is_some_and(|page| page.is_err()));
    assert!(refused.next().is_none(), "an error ends it");
    let forged = Query::new("SELECT b FROM t").page_size(4).paging_state(vec![0xff; 7]);
    session.execute(forged, ()).unwrap_err();
    Ok(())
}

#[test]
fn a_query_carries_level_and_timestamp() -> Result<(), Error> {
    let session = on(Cluster::builder().nodes(1).build()?);
    let insert = Query::new("INSERT INTO t (a, b, v) VALUES (1, 1, 'x')").timestamp_micros(42);
    session.execute(insert, ())?;
    let read = session.execute("SELECT writetime(v) FROM t", ())?;
    assert_eq!(read.single_row::<(i64,)>()?, (42,));
    let three = Query::new("SELECT * FROM t WHERE a = 1").consistency(Consistency::Three);
    let error = session.execute(three, ()).unwrap_err();
    assert_eq!(error.code() as u16, 0x1000);
    Ok(())
}

/// Same seed, same answers: ids, times, tokens.
#[test]
fn a_seed_decides_everything() -> Result<(), Error> {
    let ask = |seed| -> Result<Vec<_>, Error> {
        let session = on(Cluster::builder().nodes(3).seed(seed).build()?);
        session.execute("INSERT INTO t (a, b, v) VALUES (1, 1, 'x')", ())?;
        let texts = [
            "SELECT uuid(), now() FROM system.local",
            "SELECT host_id, tokens, schema_version FROM system.local",
            "SELECT writetime(v), toTimestamp(now()) FROM t",
            "SELECT id FROM system_schema.tables WHERE keyspace_name = 'k'",
        ];
        texts.iter().map(|text| Ok(session.execute(*text, ())?.raw().unwrap().to_vec())).collect()
    };
    assert_eq!(ask(7)?, ask(7)?);
    assert_ne!(ask(7)?, ask(8)?);
    Ok(())
}

#[test]
fn the_key_of_a_look_up_is_one_literal() {
    let session = session();
    let cluster = session.cluster();
    let replicas = |key: &str| cluster.replicas("k", "t", &[key.to_string()]);
    assert_eq!(replicas("7").unwrap(), [cassling::NodeId(1)]);
    for key in ["1, 2", "1) USING TTL 5 --", "", "?", "1); DROP TABLE k.t"] {
        assert!(replicas(key).is_err(), "{key}");
    }
}
