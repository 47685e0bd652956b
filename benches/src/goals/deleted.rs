//! T: what a read costs that passes deleted data before it finds a row.
//!
//! All work on one partition whose last row alone lives. Keys of deleted rows are deleted one by one unless a goal
//! says otherwise. A read is made three times and the middle one counts, so that what fits the block cache is there.

use super::Bound::AtMost;
use super::Source::Limits;
use super::clock::middle_seconds;
use super::fixture::{cluster, flush, read, run as execute, session_with};
use super::{Goal, Probe, Run, ours};
use cassling::{Session, Value};
use std::hint::black_box;
use std::time::Duration;

const TOMBSTONES: u64 = 1_000_000;

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "T1",
        what: "LIMIT 1 behind row tombstones in one SSTable, ns each",
        on: "limits raised",
        ours: ours(ONE_SSTABLE, TOMBSTONES, 0),
        baseline: Limits("scan.skip_deleted.flat_block"),
        floor: AtMost(40.0),
        goal: AtMost(10.0),
    },
    Goal {
        id: "T2",
        what: "LIMIT 1 behind row tombstones in the memtable, ns each",
        on: "limits raised",
        ours: ours(MEMTABLE, TOMBSTONES, 0),
        baseline: Limits("scan.skip_deleted.skiplist_built_in_order"),
        floor: AtMost(6.0),
        goal: AtMost(3.0),
    },
    Goal {
        id: "T3.memtable",
        what: "LIMIT 1 behind rows of an SSTable deleted in the memtable, ns each",
        on: "limits raised",
        ours: ours(OVER_OLDER, TOMBSTONES, 0),
        baseline: Limits("scan.skip_deleted.flat_over_older_rows"),
        floor: AtMost(20.0),
        goal: AtMost(6.0),
    },
    Goal {
        id: "T3.sstable",
        what: "LIMIT 1 behind rows of an SSTable deleted in a newer one, ns each",
        on: "limits raised",
        ours: ours(OVER_OLDER, TOMBSTONES, 1),
        baseline: Limits("scan.skip_deleted.flat_over_older_rows"),
        floor: AtMost(20.0),
        goal: AtMost(6.0),
    },
    Goal {
        id: "T4",
        what: "LIMIT 1 behind one range tombstone over 1 M older rows against 1,000, us",
        on: "two SSTables",
        ours: ours(RANGE, TOMBSTONES, 0),
        baseline: ours(RANGE, 1_000, 0),
        floor: AtMost(30.0),
        goal: AtMost(3.0),
    },
    Goal {
        id: "T5",
        what: "read of a deleted partition with 1 M older rows against an absent one, us",
        on: "two SSTables",
        ours: ours(PARTITION, TOMBSTONES, 0),
        baseline: ours(PARTITION, TOMBSTONES, 1),
        floor: AtMost(5.0),
        goal: AtMost(2.0),
    },
    Goal {
        id: "T6.T1",
        what: "T1 with rows expired by TTL instead of deleted, ns each",
        on: "limits raised; rows of key columns",
        ours: ours(EXPIRED, TOMBSTONES, 0),
        baseline: ours(ONE_SSTABLE, TOMBSTONES, 0),
        floor: AtMost(1.5),
        goal: AtMost(1.2),
    },
    Goal {
        id: "T6.T3",
        what: "T3.sstable with rows expired by TTL instead of deleted, ns each",
        on: "limits raised; newer values of one byte",
        ours: ours(EXPIRED_OVER_OLDER, TOMBSTONES, 0),
        baseline: ours(OVER_OLDER, TOMBSTONES, 1),
        floor: AtMost(1.5),
        goal: AtMost(1.2),
    },
    Goal {
        id: "T7",
        what: "T1 with thresholds of tombstones in force against none, ns each",
        on: "warning from 1,000 on",
        ours: ours(COUNTED, TOMBSTONES, 0),
        baseline: ours(COUNTED, TOMBSTONES, 1),
        floor: AtMost(1.1),
        goal: AtMost(1.05),
    },
];

/// A table whose partition `p = 1` is read.
struct Partition {
    session: Session,
}

const VALUE: [u8; 126] = [7; 126];

impl Partition {
    fn new() -> Partition {
        let table = "CREATE TABLE t (p int, c bigint, v blob, PRIMARY KEY (p, c))";
        let partition = Partition { session: session_with(&cluster(), table) };
        partition.set_thresholds(2 * TOMBSTONES, 2 * TOMBSTONES);
        partition
    }

    /// Tombstones above which a read warns and fails; a warning at 0 never comes.
    fn set_thresholds(&self, warn: u64, fail: u64) {
        let cluster = self.session.cluster();
        for (key, value) in [("warn", warn), ("failure", fail)] {
            let key = format!("tombstone_{key}_threshold");
            cluster.set(&key, &value.to_string()).expect("there is such a setting");
        }
    }

    /// Runs a statement for each of the first `count` rows.
    fn each(&self, statement: &str, count: u64) -> &Partition {
        let prepared = self.session.prepare(statement).expect("the statement is legal");
        for row in 0..count as i64 {
            self.session.execute(&prepared, (row,)).expect("a write succeeds");
        }
        self
    }

    fn delete_each(&self, count: u64) -> &Partition {
        self.each("DELETE FROM t WHERE p = 1 AND c = ?", count)
    }

    /// Rows whose time has come: `insert` lets them live for less than two minutes.
    fn expire_each(&self, count: u64, insert: &str) -> &Partition {
        self.each(insert, count);
        self.session.cluster().clock().advance(Duration::from_secs(120));
        self
    }

    /// Rows of 150 bytes.
    fn insert_each(&self, count: u64) -> &Partition {
        let insert = self.session.prepare("INSERT INTO t (p, c, v) VALUES (1, ?, ?)");
        let insert = insert.expect("the statement is legal");
        let value = Value::Blob(VALUE.to_vec());
        for row in 0..count as i64 {
            self.session.execute(&insert, (row, &value)).expect("a write succeeds");
        }
        self
    }

    /// The row behind all others.
    fn insert_last(&self, place: u64) -> &Partition {
        execute(&self.session, &format!("INSERT INTO t (p, c, v) VALUES (1, {place}, 0x01)"));
        self
    }

    fn flush(&self) -> &Partition {
        flush(&self.session);
        self
    }

    /// Seconds until the first live row is read, which there must be.
    fn first_live(&self, query: &str, times: u64) -> f64 {
        let query = self.session.prepare(query).expect("the statement is legal");
        middle_seconds(times, || {
            let result = self.session.execute(&query, ()).expect("a read succeeds");
            assert_eq!(result.row_count(), 1, "one row lives");
            black_box(read(&result))
        })
    }

    fn nanos_each(&self, count: u64) -> Vec<f64> {
        vec![self.first_live("SELECT * FROM t WHERE p = 1 LIMIT 1", 3) * 1e9 / count as f64]
    }
}

/// Row tombstones in one SSTable.
pub(super) const ONE_SSTABLE: Probe = Probe {
    name: "tombstones.sstable",
    run: |run| {
        let t = Partition::new();
        t.delete_each(run.size).insert_last(run.size).flush().nanos_each(run.size)
    },
};

/// Row tombstones in one SSTable with thresholds in force, and with none.
const COUNTED: Probe = Probe {
    name: "tombstones.counted",
    run: |run| {
        let t = Partition::new();
        t.delete_each(run.size).insert_last(run.size).flush();
        let figures = [(1_000, 2 * TOMBSTONES), (0, 2_000_000_000)].map(|(warn, fail)| {
            t.set_thresholds(warn, fail);
            t.nanos_each(run.size)
        });
        figures.concat()
    },
};

/// Row tombstones in the memtable.
pub(super) const MEMTABLE: Probe = Probe {
    name: "tombstones.memtable",
    run: |run| {
        let t = Partition::new();
        t.delete_each(run.size).insert_last(run.size).nanos_each(run.size)
    },
};

/// Rows in an SSTable, deleted in the memtable, and once that is flushed.
const OVER_OLDER: Probe = Probe {
    name: "tombstones.over_older",
    run: |run| {
        let t = Partition::new();
        t.insert_each(run.size).insert_last(run.size).flush().delete_each(run.size);
        let in_memory = t.nanos_each(run.size);
        [in_memory, t.flush().nanos_each(run.size)].concat()
    },
};

/// Expired rows in one SSTable.
const EXPIRED: Probe = Probe {
    name: "expired.sstable",
    run: |run| {
        let t = Partition::new();
        t.insert_last(run.size);
        t.expire_each(run.size, "INSERT INTO t (p, c) VALUES (1, ?) USING TTL 60");
        t.flush().nanos_each(run.size)
    },
};

/// Rows in an SSTable under expired ones in a newer SSTable.
const EXPIRED_OVER_OLDER: Probe = Probe {
    name: "expired.over_older",
    run: |run| {
        let t = Partition::new();
        t.insert_each(run.size).insert_last(run.size).flush();
        t.expire_each(run.size, "INSERT INTO t (p, c, v) VALUES (1, ?, 0x02) USING TTL 60");
        t.flush().nanos_each(run.size)
    },
};

/// Microseconds of a read behind one range tombstone that covers older rows of another SSTable.
const RANGE: Probe = Probe {
    name: "range_tombstone",
    run: |run| {
        let t = Partition::new();
        t.insert_each(run.size).insert_last(run.size).flush();
        execute(&t.session, &format!("DELETE FROM t WHERE p = 1 AND c < {}", run.size));
        t.flush();
        vec![t.first_live("SELECT * FROM t WHERE p = 1 LIMIT 1", run.scaled(1_001)) * 1e6]
    },
};

/// Microseconds of a read of a deleted partition, and of one that never was.
const PARTITION: Probe = Probe {
    name: "partition_deletion",
    run: |run: &Run| {
        let t = Partition::new();
        t.insert_each(run.size).flush();
        execute(&t.session, "DELETE FROM t WHERE p = 1");
        t.flush();
        let micros = |query: &str| {
            let query = t.session.prepare(query).expect("the statement is legal");
            middle_seconds(run.scaled(1_001), || {
                let result = t.session.execute(&query, ()).expect("a read succeeds");
                assert_eq!(result.row_count(), 0, "no row lives");
            }) * 1e6
        };
        vec![micros("SELECT * FROM t WHERE p = 1"), micros("SELECT * FROM t WHERE p = 2")]
    },
};
