//! What the benches share: rows of 150 bytes in 10,000 partitions (performance.md section 4), and sessions that hold them.

pub mod goals;

use cassling::session::Prepared;
use cassling::{Cluster, Session, Value};

/// Bytes of the value column: with 16 bytes of key and 8 of clustering a row of 150 bytes.
pub const VALUE_BYTES: usize = 126;

/// A 16-byte partition key.
pub fn partition_key(partition: u64) -> Value {
    let spread = partition.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = spread.to_be_bytes().to_vec();
    key.extend_from_slice(&partition.to_be_bytes());
    Value::Blob(key)
}

/// A cluster of one node with an empty table, and the statements of the benches.
#[derive(Debug)]
pub struct Bench {
    /// Session on it.
    pub session: Session,
    /// INSERT of pk, ck, v.
    pub insert: Prepared,
    /// SELECT of one row.
    pub point: Prepared,
    /// SELECT of 100 rows from a clustering on.
    pub slice: Prepared,
}

impl Bench {
    /// Makes the table on a cluster of its own.
    ///
    /// # Panics
    /// If cassling refuses its own statements.
    pub fn new() -> Bench {
        Bench::on(&Cluster::builder().build().expect("one node is a cluster"), "")
    }

    /// Makes the table on a cluster; `options` follow the table's definition.
    ///
    /// # Panics
    /// If cassling refuses its own statements.
    pub fn on(cluster: &Cluster, options: &str) -> Bench {
        let session = cluster.connect();
        for statement in [
            "CREATE KEYSPACE b WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "USE b",
            &format!(
                "CREATE TABLE rows (pk blob, ck bigint, v blob, PRIMARY KEY (pk, ck)){options}"
            ),
        ] {
            session.execute(statement, ()).expect("the statement is legal");
        }
        let prepare = |text| session.prepare(text).expect("the statement is legal");
        Bench {
            insert: prepare("INSERT INTO rows (pk, ck, v) VALUES (?, ?, ?)"),
            point: prepare("SELECT v FROM rows WHERE pk = ? AND ck = ?"),
            slice: prepare("SELECT ck, v FROM rows WHERE pk = ? AND ck >= ? LIMIT 100"),
            session,
        }
    }

    /// Writes one row.
    ///
    /// # Panics
    /// If the write fails.
    pub fn write(&self, partition: u64, row: i64, value: &Value) {
        let values = (partition_key(partition), row, value.clone());
        self.session.execute(&self.insert, values).expect("a write succeeds");
    }

    /// Fills partitions with rows, written in turns.
    ///
    /// # Panics
    /// If a write fails.
    pub fn fill(&self, partitions: u64, rows: i64) {
        let value = Value::Blob(vec![7; VALUE_BYTES]);
        for row in 0..rows {
            for partition in 0..partitions {
                self.write(partition, row, &value);
            }
        }
    }
}

impl Default for Bench {
    fn default() -> Bench {
        Bench::new()
    }
}
