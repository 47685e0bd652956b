//! G: how cost grows with what a request does not ask for (performance.md section 5).
//!
//! Each goal is one operation at two sizes. The sizes are those of the table; the same operations are gated by
//! counters in `tests/growth.rs`.

use super::Bound::AtMost;
use super::Source::One;
use super::clock::{middle_seconds, nanos, seconds};
use super::fixture::{
    ROWS_OF_PARTITION, Rows, cluster, flush, read, read_scattered, resident_bytes, run as execute,
    scattered, session_with, wide_partition,
};
use super::{Goal, Probe, Run, ours};
use super::{deleted, storage};
use crate::Bench;
use cassling::session::{Prepared, Query};
use cassling::{Session, Value};
use std::fmt::Write;
use std::hint::black_box;

const MILLION: u64 = 1_000_000;

/// A goal whose floor is its aim: one operation at two sizes.
const fn growth(
    id: &'static str,
    what: &'static str,
    sides: [super::Source; 2],
    most: f64,
) -> Goal {
    let [ours, baseline] = sides;
    Goal { id, what, on: "", ours, baseline, floor: AtMost(most), goal: AtMost(most) }
}

/// The same figure of a probe at a great and a small size.
const fn sizes(probe: Probe, great: u64, small: u64, index: usize) -> [super::Source; 2] {
    [ours(probe, great, index), ours(probe, small, index)]
}

/// The table of this family.
pub const GOALS: &[Goal] = &[
    growth("G1.point", "point SELECT, ns: rows in the table", sizes(TABLE, MILLION, 1_000, 0), 3.0),
    growth("G1.insert", "INSERT, ns: rows in the table", sizes(TABLE, MILLION, 1_000, 1), 3.0),
    growth(
        "G2.start",
        "LIMIT 10 from the start, memtable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 0),
        2.0,
    ),
    growth(
        "G2.middle",
        "LIMIT 10 from the middle, memtable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 1),
        2.0,
    ),
    growth(
        "G2.reversed",
        "LIMIT 10 reversed, memtable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 2),
        2.0,
    ),
    growth(
        "G2.start_flushed",
        "LIMIT 10 from the start, SSTable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 3),
        2.0,
    ),
    growth(
        "G2.middle_flushed",
        "LIMIT 10 from the middle, SSTable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 4),
        2.0,
    ),
    growth(
        "G2.reversed_flushed",
        "LIMIT 10 reversed, SSTable, ns: rows in the partition",
        sizes(LIMIT, MILLION, 1_000, 5),
        2.0,
    ),
    growth(
        "G3",
        "point SELECT, ns: SSTables that the filter excludes",
        sizes(FILTER, 32, 1, 0),
        1.5,
    ),
    growth("G4", "slice by time, ns: windows outside it", sizes(WINDOWS, 50, 1, 0), 1.5),
    growth(
        "G5",
        "slice of 100 rows, SSTable, ns: tombstones elsewhere in the partition",
        sizes(TOMBSTONES_ELSEWHERE, MILLION, 0, 0),
        2.0,
    ),
    growth(
        "G6.sstable",
        "slice through tombstones in an SSTable, ns each",
        sizes(deleted::ONE_SSTABLE, MILLION, 10_000, 0),
        1.5,
    ),
    growth(
        "G6.memtable",
        "slice through tombstones in the memtable, ns each",
        sizes(deleted::MEMTABLE, MILLION, 10_000, 0),
        1.5,
    ),
    growth("G7", "page 200 against page 1, us", [ours(PAGES, 200, 1), ours(PAGES, 200, 0)], 1.3),
    growth(
        "G8.memtable",
        "read of a row, memtable, ns: range tombstones in the partition",
        sizes(RANGES, 10_000, 1, 0),
        2.0,
    ),
    growth(
        "G8.sstable",
        "read of a row, SSTable, ns: range tombstones in the partition",
        sizes(RANGES, 10_000, 1, 1),
        2.0,
    ),
    growth(
        "G9",
        "writes of overlapping range tombstones, s in all",
        sizes(OVERLAPPING, 100_000, 1_000, 0),
        200.0,
    ),
    growth("G10", "one column selected, ns: cells in the row", sizes(COLUMNS, 200, 4, 0), 3.0),
    growth(
        "G11",
        "compaction of the same rows in k SSTables, s: k",
        sizes(COMPACTION, 32, 2, 0),
        2.0,
    ),
    growth(
        "G13",
        "point SELECT of one partition, ns: partitions in the table",
        sizes(PARTITIONS, MILLION, 1, 0),
        3.0,
    ),
    growth("G15.truncate", "TRUNCATE, us: rows", sizes(EMPTYING, MILLION, 1_000, 0), 2.0),
    growth("G15.drop", "DROP TABLE, us: rows", sizes(EMPTYING, MILLION, 1_000, 1), 2.0),
    growth(
        "G16",
        "batch of 100 rows of a partition against 100 INSERTs, us",
        [ours(BATCH, 100, 0), ours(BATCH, 100, 1)],
        0.7,
    ),
    Goal {
        id: "G17",
        what: "COUNT(*) of 1 M rows, growth in MB",
        on: "one SSTable",
        ours: ours(COUNTING, MILLION, 0),
        baseline: One,
        floor: AtMost(32.0),
        goal: AtMost(8.0),
    },
];

/// Point SELECT and INSERT in a table of so many rows.
const TABLE: Probe = Probe {
    name: "table",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let bench = Bench::on(&cluster(), "");
        rows.write(&bench, 0..rows.count);
        let times = run.scaled(100_000);
        let numbers = || scattered(times, rows.count);
        let point = nanos(times, || black_box(rows.read_each(&bench, numbers())));
        // Over rows that are there, so that the table keeps its size.
        vec![point, nanos(times, || rows.write(&bench, numbers()))]
    },
};

/// LIMIT 10 from start, middle and end of a partition of so many rows, in the memtable and flushed.
const LIMIT: Probe = Probe {
    name: "limit",
    run: |run| {
        let session = wide_partition(run.size);
        let times = run.scaled(5_000);
        let measure = || {
            let middle = (run.size / 2) as i64;
            ["c >= ?", "c > ?", "c <= ?"].into_iter().zip([0, middle, i64::MAX]).map(
                |(range, from)| {
                    let order = if range == "c <= ?" { " ORDER BY c DESC" } else { "" };
                    let text = format!("SELECT * FROM t WHERE p = 1 AND {range}{order} LIMIT 10");
                    let query = session.prepare(&text).expect("the statement is legal");
                    each(&session, &query, times, |_| from)
                },
            )
        };
        let in_memory: Vec<f64> = measure().collect();
        flush(&session);
        in_memory.into_iter().chain(measure()).collect()
    },
};

/// Nanoseconds of a query with one bigint.
fn each(session: &Session, query: &Prepared, times: u64, value: impl Fn(u64) -> i64) -> f64 {
    nanos(times, || {
        for time in 0..times {
            let result = session.execute(query, (value(time),)).expect("a read succeeds");
            black_box(read(&result));
        }
    })
}

/// Point SELECT beside so many SSTables with other partitions.
const FILTER: Probe = Probe {
    name: "filter",
    run: |run| {
        let session = session_with(&cluster(), "CREATE TABLE t (p bigint PRIMARY KEY, v text)");
        let insert = session.prepare("INSERT INTO t (p, v) VALUES (?, 'a value')");
        let insert = insert.expect("the statement is legal");
        let rows = run.scaled(1_000) as i64;
        for file in 0..=run.size as i64 {
            for row in 0..rows {
                session.execute(&insert, (file * rows + row,)).expect("a write succeeds");
            }
            flush(&session);
        }
        let times = run.scaled(50_000);
        let read = || read_scattered(&session, "SELECT v FROM t WHERE p = ?", times, rows as u64);
        vec![nanos(times, || black_box(read()))]
    },
};

/// A slice inside the newest of so many windows of time, each an SSTable.
const WINDOWS: Probe = Probe {
    name: "windows",
    run: |run| {
        let session = session_with(
            &cluster(),
            "CREATE TABLE t (p int, c bigint, v text, PRIMARY KEY (p, c)) \
             WITH compaction = {'class': 'TimeWindowCompactionStrategy'}",
        );
        let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (1, ?, 'a value')");
        let insert = insert.expect("the statement is legal");
        let rows = run.scaled(1_000) as i64;
        for window in 0..=run.size as i64 {
            for row in 0..rows {
                session.execute(&insert, (window * rows + row,)).expect("a write succeeds");
            }
            flush(&session);
        }
        let newest = run.size as i64 * rows;
        let query = session.prepare("SELECT * FROM t WHERE p = 1 AND c >= ? LIMIT 20");
        let query = query.expect("the statement is legal");
        vec![each(&session, &query, run.scaled(20_000), |time| newest + time as i64 % rows)]
    },
};

/// A slice of 100 rows in front of so many tombstones.
const TOMBSTONES_ELSEWHERE: Probe = Probe {
    name: "tombstones.elsewhere",
    run: |run| {
        let session = wide_partition(100);
        let delete = session.prepare("DELETE FROM t WHERE p = 1 AND c = ?");
        let delete = delete.expect("the statement is legal");
        for row in 0..run.size as i64 {
            session.execute(&delete, (1_000 + row,)).expect("a write succeeds");
        }
        flush(&session);
        let query = session.prepare("SELECT * FROM t WHERE p = 1 AND c < ?");
        let query = query.expect("the statement is legal");
        vec![each(&session, &query, run.scaled(5_000), |_| 100)]
    },
};

/// Microseconds of the first page of 100 rows, and of the page of the number that the size gives.
const PAGES: Probe = Probe {
    name: "pages",
    run: |run| {
        const PAGE: u32 = 100;
        let session = wide_partition((run.size + 1) * u64::from(PAGE));
        flush(&session);
        const TEXT: &str = "SELECT * FROM t WHERE p = 1";
        let query = session.prepare(TEXT).expect("the statement is legal");
        let page = |state: Option<Vec<u8>>| {
            let asked = Query::new(TEXT).page_size(PAGE);
            query.with(match state {
                Some(state) => asked.paging_state(state),
                None => asked,
            })
        };
        let mut state = None;
        for _ in 1..run.size {
            let result = session.execute(&page(state), ()).expect("a read succeeds");
            state = result.paging_state().map(<[u8]>::to_vec);
        }
        let micros = |statement: &Prepared| {
            middle_seconds(run.scaled(2_001), || {
                black_box(read(&session.execute(statement, ()).expect("a read succeeds")))
            }) * 1e6
        };
        vec![micros(&page(None)), micros(&page(state))]
    },
};

/// Read of one row between so many range tombstones, in the memtable and flushed.
const RANGES: Probe = Probe {
    name: "ranges",
    run: |run| {
        let ranges = run.size as i64;
        let session = wide_partition(0);
        let delete = session.prepare("DELETE FROM t WHERE p = 1 AND c > ? AND c < ?");
        let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (1, ?, 'a value')");
        let delete = delete.expect("the statement is legal");
        let insert = insert.expect("the statement is legal");
        for range in 0..ranges {
            let row = range * 10;
            session.execute(&delete, (row, row + 10)).expect("a write succeeds");
            session.execute(&insert, (row,)).expect("a write succeeds");
        }
        let query = session.prepare("SELECT v FROM t WHERE p = 1 AND c = ?");
        let query = query.expect("the statement is legal");
        let measure =
            || each(&session, &query, run.scaled(20_000), |time| time as i64 % ranges * 10);
        let in_memory = measure();
        flush(&session);
        vec![in_memory, measure()]
    },
};

/// Seconds of so many deletions of ranges that overlap one another.
const OVERLAPPING: Probe = Probe {
    name: "overlapping",
    run: |run| {
        let session = wide_partition(0);
        let delete = session.prepare("DELETE FROM t WHERE p = 1 AND c >= ? AND c < ?");
        let delete = delete.expect("the statement is legal");
        let (taken, ()) = seconds(|| {
            for start in scattered(run.size, run.size * 10) {
                let start = start as i64;
                session.execute(&delete, (start, start + 100)).expect("a write succeeds");
            }
        });
        vec![taken]
    },
};

/// One column selected of a row with so many cells, in a table of 200 columns.
const COLUMNS: Probe = Probe {
    name: "columns",
    run: |run| {
        let names = |count: u64| {
            (0..count).fold(String::new(), |mut text, column| {
                write!(text, ", c{column}").expect("a string takes all");
                text
            })
        };
        let columns = names(200).replace(',', " text,").replacen(" text", "", 1) + " text";
        let session =
            session_with(&cluster(), &format!("CREATE TABLE t (p bigint PRIMARY KEY{columns})"));
        let values = ", 'a value'".repeat(run.size as usize);
        let insert = format!("INSERT INTO t (p{}) VALUES (?{values})", names(run.size));
        let insert = session.prepare(&insert).expect("the statement is legal");
        for row in 0..100_i64 {
            session.execute(&insert, (row,)).expect("a write succeeds");
        }
        let times = run.scaled(50_000);
        let read = || read_scattered(&session, "SELECT c1 FROM t WHERE p = ?", times, 100);
        vec![nanos(times, || black_box(read()))]
    },
};

/// Seconds of a compaction of rows that lie in so many SSTables.
const COMPACTION: Probe = Probe {
    name: "compaction.files",
    run: |run| vec![storage::compaction_seconds(run.scaled(320_000), run.size)],
};

/// Point SELECTs of one partition beside so many others.
const PARTITIONS: Probe = Probe {
    name: "partitions",
    run: |run| {
        let session = session_with(&cluster(), "CREATE TABLE t (p bigint PRIMARY KEY, v text)");
        let insert = session.prepare("INSERT INTO t (p, v) VALUES (?, 'a value')");
        let insert = insert.expect("the statement is legal");
        for row in 0..run.size as i64 {
            session.execute(&insert, (row,)).expect("a write succeeds");
        }
        let query = session.prepare("SELECT v FROM t WHERE p = ?");
        let query = query.expect("the statement is legal");
        vec![each(&session, &query, run.scaled(50_000), |_| 0)]
    },
};

/// Microseconds of TRUNCATE and of DROP TABLE with so many rows.
const EMPTYING: Probe = Probe {
    name: "emptying",
    run: |run: &Run| {
        let micros = |statement: &str| {
            let session = wide_partition(run.size / 2);
            flush(&session);
            let insert = session.prepare("INSERT INTO t (p, c, v) VALUES (2, ?, 'a value')");
            let insert = insert.expect("the statement is legal");
            for row in 0..(run.size / 2) as i64 {
                session.execute(&insert, (row,)).expect("a write succeeds");
            }
            seconds(|| execute(&session, statement)).0 * 1e6
        };
        vec![micros("TRUNCATE t"), micros("DROP TABLE t")]
    },
};

/// Microseconds of a batch of so many rows of one partition, and of as many INSERTs.
const BATCH: Probe = Probe {
    name: "batch",
    run: |run| {
        let session = wide_partition(0);
        let one = "INSERT INTO t (p, c, v) VALUES (?, ?, ?)";
        let insert = session.prepare(one).expect("the statement is legal");
        let text = format!("{one}; ").repeat(run.size as usize);
        let batch = session.prepare(&format!("BEGIN UNLOGGED BATCH {text} APPLY BATCH"));
        let batch = batch.expect("the statement is legal");
        let row = |partition: i32, row: u64| {
            [Value::Int(partition), Value::Bigint(row as i64), Value::Text("a value".into())]
        };
        let times = run.scaled(500) as i32;
        let together: Vec<Vec<Value>> =
            (0..times).map(|p| (0..run.size).flat_map(|r| row(p, r)).collect()).collect();
        let one_by_one: Vec<[Value; 3]> =
            (0..times).flat_map(|p| (0..run.size).map(move |r| row(p + times, r))).collect();
        let (batches, ()) = seconds(|| {
            for values in &together {
                session.execute(&batch, values.as_slice()).expect("a write succeeds");
            }
        });
        let (inserts, ()) = seconds(|| {
            for values in &one_by_one {
                session.execute(&insert, values.as_slice()).expect("a write succeeds");
            }
        });
        let micros = |seconds: f64| seconds * 1e6 / f64::from(times);
        vec![micros(batches), micros(inserts)]
    },
};

/// Megabytes by which the process has grown when all rows are counted.
const COUNTING: Probe = Probe {
    name: "counting",
    run: |run| {
        let session = wide_partition(run.size);
        flush(&session);
        let before = resident_bytes();
        let counted = execute(&session, "SELECT COUNT(*) FROM t").single_row::<(i64,)>();
        assert_eq!(counted.expect("one row").0, run.size as i64, "all rows are counted");
        // What the process took it has not given back: allocators keep what they got.
        vec![(resident_bytes() - before).max(0.0) / 1e6]
    },
};
