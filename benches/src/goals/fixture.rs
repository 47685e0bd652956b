//! What the probes share: the rows of `benches/limits`, clusters and tables that hold them, and how a result is read.
//!
//! A row has 150 bytes: 16 of partition key, 8 of clustering, 126 of value. Partitions take turns when they are
//! filled, so that each grows a row at a time, as time series do.

use super::Run;
use crate::{Bench, VALUE_BYTES};
use cassling::{Cluster, ClusterBuilder, NodeId, QueryResult, Session, Value};
use cassling_engine::lsm::sstable::SsTable;
use std::sync::Arc;

#[rustfmt::skip] // The file is not ours to format.
#[path = "../../limits/src/data.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, reason = "the rows of the baselines, unedited")]
mod data;

/// Rows of a partition, unless a goal says otherwise.
pub const ROWS_OF_PARTITION: u64 = 100;

/// Different values; more rows repeat them.
const VALUES: u64 = 1024;

/// Keys and values of `rows` rows in partitions of `per_partition`.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Keys of the partitions, in no order.
    pub keys: Vec<Value>,
    /// Values, to be repeated.
    pub values: Vec<Value>,
    /// Rows in all.
    pub count: u64,
}

impl Rows {
    /// `count` rows in partitions of `per_partition`.
    pub fn new(count: u64, per_partition: u64) -> Rows {
        let partitions = (count / per_partition).max(1);
        let keys = (0..partitions).map(|i| Value::Blob(data::random_key(i).to_vec())).collect();
        let value = |i| {
            let mut bytes = Vec::new();
            data::value(i, VALUE_BYTES, &mut bytes);
            Value::Blob(bytes)
        };
        Rows { keys, values: (0..VALUES).map(value).collect(), count }
    }

    /// Partition key and clustering of the row of that number.
    pub fn place(&self, number: u64) -> (&Value, i64) {
        let partitions = self.keys.len() as u64;
        (&self.keys[(number % partitions) as usize], (number / partitions) as i64)
    }

    /// The value of the row of that number.
    pub fn value(&self, number: u64) -> &Value {
        &self.values[(number % VALUES) as usize]
    }

    /// The numbers of all rows, in an order that jumps about.
    pub fn shuffled(&self) -> Vec<u32> {
        data::shuffled(self.count as usize)
    }

    /// Writes the rows `from..to` that `wanted` picks.
    ///
    /// # Panics
    /// If a write fails.
    pub fn write(&self, bench: &Bench, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            let (key, clustering) = self.place(number);
            let values = (key, clustering, self.value(number));
            bench.session.execute(&bench.insert, values).expect("a write succeeds");
        }
    }

    /// Reads rows one by one; returns the bytes of all values.
    ///
    /// # Panics
    /// If a read fails or a row is not there.
    pub fn read_each(&self, bench: &Bench, numbers: impl Iterator<Item = u64>) -> usize {
        numbers.fold(0, |sum, number| {
            let result = bench.session.execute(&bench.point, self.place(number));
            let bytes = read(&result.expect("a read succeeds"));
            assert!(bytes > 0, "row {number} is there");
            sum + bytes
        })
    }

    /// Reads 100 rows from the start of the partitions of these rows.
    ///
    /// # Panics
    /// If a read fails.
    pub fn read_slices(&self, bench: &Bench, numbers: impl Iterator<Item = u64>) -> usize {
        numbers.fold(0, |sum, number| {
            let (key, _) = self.place(number);
            let result = bench.session.execute(&bench.slice, (key, 0_i64));
            sum + read(&result.expect("a read succeeds"))
        })
    }
}

/// Reads all values of all rows, as a caller does; returns their bytes.
pub fn read(result: &QueryResult) -> usize {
    let rows = result.raw().into_iter().flat_map(|rows| rows.iter());
    rows.flatten().flatten().map(<[u8]>::len).sum()
}

/// A cluster with one node whose memtables and log take all rows of a goal without a flush of their own, its cache all blocks.
///
/// # Panics
/// If it cannot be built.
pub fn cluster() -> Cluster {
    builder().build().expect("one node is a cluster")
}

/// The same before it is built.
pub fn builder() -> ClusterBuilder {
    let builder = Cluster::builder().setting("memtable_heap_space", "4096MiB");
    builder.setting("commitlog_total_space", "4096MiB").setting("file_cache_size", "512MiB")
}

/// A session with keyspace and table of the family's own.
///
/// # Panics
/// If a statement is refused.
pub fn session_with(cluster: &Cluster, table: &str) -> Session {
    let session = cluster.connect();
    for statement in [
        "CREATE KEYSPACE b WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE b",
        table,
    ] {
        run(&session, statement);
    }
    session
}

/// Runs a statement that succeeds.
///
/// # Panics
/// If it does not.
pub fn run(session: &Session, statement: &str) -> QueryResult {
    session.execute(statement, ()).unwrap_or_else(|e| panic!("{statement}: {e}"))
}

/// Flushes all tables.
///
/// # Panics
/// If the disk is full.
pub fn flush(session: &Session) {
    session.cluster().flush(None, None).expect("the disk has room");
}

/// A partition `p = 1` with rows `c = 0 ..` and a small value, on a cluster of its own.
///
/// # Panics
/// If a write fails.
pub fn wide_partition(rows: u64) -> Session {
    let session =
        session_with(&cluster(), "CREATE TABLE t (p int, c bigint, v text, PRIMARY KEY (p, c))");
    let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (1, ?, 'a value')");
    let insert = insert.expect("the statement is legal");
    for row in 0..rows as i64 {
        session.execute(&insert, (row,)).expect("a write succeeds");
    }
    session
}

/// Writes all rows into so many SSTables of the bench's table: by clustering, so that each partition has rows in all.
///
/// # Panics
/// If a write fails.
pub fn write_to_files(rows: &Rows, bench: &Bench, files: u64) {
    for file in 0..files {
        rows.write(bench, (0..rows.count).filter(|n| rows.place(*n).1 as u64 % files == file));
        flush(&bench.session);
    }
}

/// Resident bytes of this process.
///
/// # Panics
/// Where there is no `/proc`.
pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the bench runs on Linux");
    let pages = text.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok());
    pages.expect("the second number is the resident pages") * 4096.0
}

/// A number that looks random.
pub fn mix(number: u64) -> u64 {
    data::mix(number)
}

/// Numbers below `limit` in an order that jumps about, `count` of them.
pub fn scattered(count: u64, limit: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| data::mix(i) % limit.max(1))
}

/// Reads each of `count` scattered single rows of a wide partition or table by `query`, whose marker is a bigint.
///
/// # Panics
/// If a read fails.
pub fn read_scattered(session: &Session, query: &str, count: u64, limit: u64) -> usize {
    let prepared = session.prepare(query).expect("the statement is legal");
    scattered(count, limit).fold(0, |sum, number| {
        let result = session.execute(&prepared, (number as i64,));
        sum + read(&result.expect("a read succeeds"))
    })
}

/// The whole run's rows of 150 bytes, written to a table on a cluster of its own.
pub fn filled(run: &Run) -> (Bench, Rows) {
    let rows = Rows::new(run.size, ROWS_OF_PARTITION);
    let bench = Bench::on(&cluster(), "");
    rows.write(&bench, 0..rows.count);
    (bench, rows)
}

/// The SSTables of the bench's table, newest first.
///
/// # Panics
/// If node 1 does not hold the table.
pub fn sstables(bench: &Bench) -> Vec<Arc<SsTable>> {
    let engine = bench.session.cluster().engine();
    let node = engine.node(NodeId(1)).expect("there is a node 1");
    let schema = engine.schema(NodeId(1));
    let table = schema.table("b", "rows").expect("the bench made it");
    let view = node.inner().view();
    let store = node.inner().store(&view, table).expect("the node holds it");
    store.view().sstables.clone()
}
