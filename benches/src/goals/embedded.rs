//! E: statements through the embedded interface, against raw structures, SQLite and fjall.

use super::Bound::{AtLeast, AtMost};
use super::Source::{Limits, LimitsInstructions, OurInstructions};
use super::clock::{nanos, rate};
use super::fixture::{
    ROWS_OF_PARTITION, Rows, builder, cluster, filled, flush, mix, read, run as execute, scattered,
    session_with, write_to_files,
};
use super::{Goal, Probe, ours};
use crate::Bench;
use cassling::Session;
use cassling::session::Query;
use std::hint::black_box;

const ROWS: u64 = 1_000_000;

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "E1",
        what: "INSERT, rows/s",
        on: "",
        ours: ours(MEMTABLE, ROWS, 0),
        baseline: Limits("mem.shape.one_skiplist.insert"),
        floor: AtLeast(0.4),
        goal: AtLeast(1.0),
    },
    Goal {
        id: "E2",
        what: "point SELECT in the memtable, /s",
        on: "",
        ours: ours(MEMTABLE, ROWS, 1),
        baseline: Limits("mem.shape.one_skiplist.get_random"),
        floor: AtLeast(0.5),
        goal: AtLeast(1.0),
    },
    Goal {
        id: "E3",
        what: "SELECT of 100 rows in the memtable, /s",
        on: "",
        ours: ours(MEMTABLE, ROWS, 2),
        baseline: Limits("mem.shape.one_skiplist.range_of_100"),
        floor: AtLeast(0.6),
        goal: AtLeast(2.0),
    },
    Goal {
        id: "E4.insert",
        what: "instructions of an INSERT",
        on: "200 partitions",
        ours: OurInstructions(INSTRUCTIONS_INSERT),
        baseline: LimitsInstructions("sqlite_insert"),
        floor: AtMost(1.2),
        goal: AtMost(0.6),
    },
    Goal {
        id: "E4.point",
        what: "instructions of a point SELECT",
        on: "20,000 rows",
        ours: OurInstructions(INSTRUCTIONS_POINT),
        baseline: LimitsInstructions("sqlite_point"),
        floor: AtMost(1.1),
        goal: AtMost(0.65),
    },
    Goal {
        id: "E4.range",
        what: "instructions of a SELECT of 100 rows",
        on: "20,000 rows",
        ours: OurInstructions(INSTRUCTIONS_RANGE),
        baseline: LimitsInstructions("sqlite_range"),
        floor: AtMost(1.0),
        goal: AtMost(0.45),
    },
    Goal {
        id: "E5.insert",
        what: "INSERT with two threads on different partitions against one, rows/s",
        on: "parallel",
        ours: ours(THREADS, ROWS, 1),
        baseline: ours(THREADS, ROWS, 0),
        floor: AtLeast(1.5),
        goal: AtLeast(1.8),
    },
    Goal {
        id: "E5.point",
        what: "point SELECT with two threads against one, /s",
        on: "parallel",
        ours: ours(THREADS, ROWS, 3),
        baseline: ours(THREADS, ROWS, 2),
        floor: AtLeast(1.7),
        goal: AtLeast(1.9),
    },
    Goal {
        id: "E8",
        what: "point SELECT in one SSTable, /s",
        on: "blocks cached",
        ours: ours(ONE_SSTABLE, ROWS, 0),
        baseline: Limits("fjall.big_cache.get_random"),
        floor: AtLeast(0.4),
        goal: AtLeast(0.8),
    },
    Goal {
        id: "E9",
        what: "SELECT of 100 rows in one SSTable, /s",
        on: "blocks cached",
        ours: ours(ONE_SSTABLE, ROWS, 1),
        baseline: Limits("fjall.big_cache.range_of_100"),
        floor: AtLeast(1.0),
        goal: AtLeast(2.0),
    },
    Goal {
        id: "E10",
        what: "scan of 4 SSTables, rows/s",
        on: "pages of 5,000",
        ours: ours(SCAN_FOUR, ROWS, 0),
        baseline: Limits("scan.merge_4_runs.heap_to_vec.distinct_keys"),
        floor: AtLeast(0.11),
        goal: AtLeast(0.3),
    },
    Goal {
        id: "E11",
        what: "INSERT from text, rows/s",
        on: "not prepared",
        ours: ours(TEXT_INSERT, 100_000, 0),
        baseline: Limits("sqlite.memory.insert_text_prepared_each_time"),
        floor: AtLeast(0.5),
        goal: AtLeast(1.0),
    },
    Goal {
        id: "E12",
        what: "text of an INSERT of 6 columns to a checked statement, ns",
        on: "",
        ours: ours(PARSE, 200_000, 0),
        baseline: Limits("parse.tokens_only.insert_6_columns"),
        floor: AtMost(12.0),
        goal: AtMost(6.0),
    },
];

/// INSERT, point SELECT and SELECT of 100 rows in the memtable.
const MEMTABLE: Probe = Probe {
    name: "memtable",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let bench = Bench::on(&cluster(), "");
        let insert = rate(rows.count, || rows.write(&bench, 0..rows.count));
        let mut figures = vec![insert];
        figures.extend(reads(&bench, &rows, run.scaled(10_000)));
        figures
    },
};

/// Point SELECTs of all rows, and SELECTs of 100 rows, both a second.
fn reads(bench: &Bench, rows: &Rows, slices: u64) -> [f64; 2] {
    let order = rows.shuffled();
    let numbers = || order.iter().map(|number| u64::from(*number));
    let point = rate(rows.count, || black_box(rows.read_each(bench, numbers())));
    let slices = slices.min(rows.count);
    let slice =
        rate(slices, || black_box(rows.read_slices(bench, numbers().take(slices as usize))));
    [point, slice]
}

/// INSERT with one thread and two, point SELECT with one and two: all a second.
const THREADS: Probe = Probe {
    name: "threads",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let parallel = || builder().parallel().build().expect("one node is a cluster in parallel");
        let work = |bench: &Bench, reads: bool, threads: u64| {
            let mine = |thread: u64| {
                // Whole partitions to each thread: their number is a multiple of the threads'.
                (0..rows.count).filter(move |number| number % threads == thread)
            };
            let one = |thread| match reads {
                true => drop(black_box(rows.read_each(bench, mine(thread)))),
                false => rows.write(bench, mine(thread)),
            };
            rate(rows.count, || {
                std::thread::scope(|scope| {
                    for thread in 0..threads {
                        scope.spawn(move || one(thread));
                    }
                });
            })
        };
        let [alone, together] = [(); 2].map(|()| Bench::on(&parallel(), ""));
        let inserts = [work(&alone, false, 1), work(&together, false, 2)];
        drop(alone);
        let points = [work(&together, true, 1), work(&together, true, 2)];
        [inserts, points].concat()
    },
};

/// 200 partitions of 100 rows, as `insn` has them.
fn twenty_thousand() -> (Bench, Rows) {
    let rows = Rows::new(20_000, ROWS_OF_PARTITION);
    let bench = Bench::on(&cluster(), "");
    rows.write(&bench, 0..rows.count);
    (bench, rows)
}

const INSTRUCTIONS_INSERT: Probe = Probe {
    name: "instructions.insert",
    run: |run| {
        let rows = Rows::new(20_000, ROWS_OF_PARTITION);
        let bench = Bench::on(&cluster(), "");
        rows.write(&bench, 0..run.size);
        // What dropping it costs is not asked for.
        std::mem::forget(bench);
        vec![run.size as f64]
    },
};

const INSTRUCTIONS_POINT: Probe = Probe {
    name: "instructions.point",
    run: |run| {
        let (bench, rows) = twenty_thousand();
        vec![rows.read_each(&bench, scattered(run.size, rows.count)) as f64]
    },
};

const INSTRUCTIONS_RANGE: Probe = Probe {
    name: "instructions.range",
    run: |run| {
        let (bench, rows) = twenty_thousand();
        vec![rows.read_slices(&bench, 0..run.size) as f64]
    },
};

/// Point SELECT and SELECT of 100 rows in one SSTable whose blocks were read before.
const ONE_SSTABLE: Probe = Probe {
    name: "one_sstable",
    run: |run| {
        let (bench, rows) = filled(run);
        flush(&bench.session);
        black_box(rows.read_slices(&bench, 0..rows.keys.len() as u64));
        reads(&bench, &rows, run.scaled(5_000)).to_vec()
    },
};

/// All rows of four SSTables whose rows lie between one another's, page by page.
const SCAN_FOUR: Probe = Probe {
    name: "scan_four",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let bench = Bench::on(&cluster(), "");
        write_to_files(&rows, &bench, 4);
        vec![rate(rows.count, || {
            let mut count = 0;
            for page in bench.session.pages("SELECT * FROM rows", (), 5_000) {
                let page = page.expect("a read succeeds");
                black_box(read(&page));
                count += page.row_count() as u64;
            }
            assert_eq!(count, rows.count, "all rows are read");
        })]
    },
};

const ORDERS: &str = "CREATE TABLE orders_by_user (user_id uuid, placed_at bigint, order_id int, \
    status text, total double, note text, PRIMARY KEY (user_id, placed_at))";

/// INSERTs that are read, checked and run each time.
const TEXT_INSERT: Probe = Probe {
    name: "text_insert",
    run: |run| {
        let session = session_with(&cluster(), ORDERS);
        let order = |i: u64| {
            let user = mix(i % 1000) >> 16;
            format!(
                "INSERT INTO orders_by_user (user_id, placed_at, order_id, status, total, note) VALUES \
                 (62c36092-82a1-3a00-93d1-{user:012x}, {i}, 4242, 'shipped', 19.95, 'left at the door')"
            )
        };
        let texts: Vec<String> = (0..run.size).map(order).collect();
        vec![rate(run.size, || {
            for text in &texts {
                execute(&session, text);
            }
        })]
    },
};

/// The statement of `parse.tokens_only.insert_6_columns`, prepared again and again.
const PARSE: Probe = Probe {
    name: "parse",
    run: |run| {
        const INSERT: &str = "INSERT INTO shop.orders_by_user (user_id, placed_at, order_id, status, total, note) \
            VALUES (62c36092-82a1-3a00-93d1-46196ee77204, '2024-05-01 10:11:12', 4242, 'shipped', 19.95, 'left at the door')";
        let session = cluster().connect();
        prepare_shop(&session);
        let text = black_box(INSERT);
        vec![nanos(run.size, || {
            for _ in 0..run.size {
                black_box(session.prepare(text).expect("the statement is legal"));
            }
        })]
    },
};

fn prepare_shop(session: &Session) {
    execute(
        session,
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    let table =
        ORDERS.replace("TABLE ", "TABLE shop.").replace("placed_at bigint", "placed_at timestamp");
    let created = session.execute(Query::new(table), ());
    created.expect("the statement is legal");
}
