//! L: log, flush, compaction, and what files take on disk.

use super::Bound::{AtLeast, AtMost};
use super::Source::Limits;
use super::clock::{rate, seconds};
use super::fixture::{
    ROWS_OF_PARTITION, Rows, builder, cluster, filled, flush, run as execute, sstables,
    write_to_files,
};
use super::{Goal, Probe, ours};
use crate::Bench;
use std::time::Duration;

const ROWS: u64 = 1_000_000;

/// Bytes of a row as the user counts them.
const RAW_BYTES: f64 = 150.0;

/// The table of this family.
pub const GOALS: &[Goal] = &[
    Goal {
        id: "L1",
        what: "INSERT with the log against durable_writes = false, rows/s",
        on: "",
        ours: ours(LOGGED, ROWS, 0),
        baseline: ours(LOGGED, ROWS, 1),
        floor: AtLeast(0.75),
        goal: AtLeast(0.85),
    },
    Goal {
        id: "L2",
        what: "INSERT that waits for its sync, one writer, rows/s",
        on: "on disk, log batch",
        ours: ours(SYNCED, 300, 0),
        baseline: Limits("log.append.sync_each_record"),
        floor: AtLeast(0.7),
        goal: AtLeast(0.9),
    },
    Goal {
        id: "L3",
        what: "the same with 8 writers at once against one, rows/s",
        on: "on disk, log batch, parallel",
        ours: ours(SYNCED, 300, 1),
        baseline: ours(SYNCED, 300, 0),
        floor: AtLeast(3.0),
        goal: AtLeast(5.0),
    },
    Goal {
        id: "L4",
        what: "replay of the log at start, rows/s",
        on: "on disk",
        ours: ours(REPLAY, ROWS, 0),
        baseline: Limits("log.replay.mmap_crc_to_skiplist"),
        floor: AtLeast(0.5),
        goal: AtLeast(1.2),
    },
    Goal {
        id: "L5",
        what: "flush of a memtable, raw MB/s",
        on: "",
        ours: ours(FLUSH, ROWS, 0),
        baseline: Limits("codec.lz4_16K.compress"),
        floor: AtLeast(0.2),
        goal: AtLeast(0.45),
    },
    Goal {
        id: "L6",
        what: "compaction of 4 SSTables into one, raw MB/s read",
        on: "",
        ours: ours(COMPACTION, ROWS, 0),
        baseline: Limits("codec.lz4_16K.compress"),
        floor: AtLeast(0.15),
        goal: AtLeast(0.35),
    },
    Goal {
        id: "L7",
        what: "dropping an expired TWCS window of 1 M rows against one of 100, us",
        on: "unsafe_aggressive_sstable_expiration off",
        ours: ours(EXPIRED_WINDOW, ROWS, 0),
        baseline: ours(EXPIRED_WINDOW, 100, 0),
        floor: AtMost(5.0),
        goal: AtMost(2.0),
    },
    Goal {
        id: "L8",
        what: "size of an SSTable on disk over raw",
        on: "",
        ours: ours(FLUSH, ROWS, 1),
        baseline: Limits("codec.lz4_16K.size_of_raw"),
        floor: AtMost(1.35),
        goal: AtMost(1.15),
    },
];

/// Raw megabytes a second of a flush, and the size of what it wrote over raw.
const FLUSH: Probe = Probe {
    name: "flush",
    run: |run| {
        let (bench, rows) = filled(run);
        let (taken, ()) = seconds(|| flush(&bench.session));
        let raw = rows.count as f64 * RAW_BYTES;
        vec![raw / taken / 1e6, bytes(&bench) / raw]
    },
};

/// INSERTs a second with the commit log, and in a keyspace without it.
const LOGGED: Probe = Probe {
    name: "logged",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let logged = [true, false];
        let rates = logged.map(|durable| {
            let bench = Bench::on(&cluster(), "");
            let alter = format!("ALTER KEYSPACE b WITH durable_writes = {durable}");
            execute(&bench.session, &alter);
            rate(rows.count, || rows.write(&bench, 0..rows.count))
        });
        rates.to_vec()
    },
};

/// INSERTs a second that each wait for a sync: of one writer, and of eight at once.
const SYNCED: Probe = Probe {
    name: "synced",
    run: |run| {
        let rates = [1_u64, 8].map(|writers| {
            let kept = builder().data(run.dir.join(writers.to_string())).parallel();
            let cluster = kept.setting("commitlog_sync", "batch").build();
            let bench = Bench::on(&cluster.expect("the folder is empty"), "");
            let rows = Rows::new(run.size * writers, ROWS_OF_PARTITION);
            rate(rows.count, || {
                std::thread::scope(|scope| {
                    for writer in 0..writers {
                        let mine = (0..rows.count).filter(move |n| n % writers == writer);
                        let (rows, bench) = (&rows, &bench);
                        scope.spawn(move || rows.write(bench, mine));
                    }
                });
            })
        });
        rates.to_vec()
    },
};

/// Rows a second that come back from the log when a cluster is opened.
const REPLAY: Probe = Probe {
    name: "replay",
    run: |run| {
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        let cluster = builder().data(&run.dir).build().expect("the folder is empty");
        rows.write(&Bench::on(&cluster, ""), 0..rows.count);
        vec![rate(rows.count, || cluster.reopen().expect("the log is whole"))]
    },
};

/// Raw megabytes a second of a compaction of four SSTables into one.
const COMPACTION: Probe = Probe {
    name: "compaction",
    run: |run| {
        let seconds = compaction_seconds(run.size, 4);
        vec![run.size as f64 * RAW_BYTES / seconds / 1e6]
    },
};

/// Seconds of a compaction of `count` rows that lie in so many SSTables.
pub(super) fn compaction_seconds(count: u64, files: u64) -> f64 {
    let rows = Rows::new(count, ROWS_OF_PARTITION);
    let bench = Bench::on(&cluster(), "");
    write_to_files(&rows, &bench, files);
    let compact = || bench.session.cluster().compact(Some("b"), Some("rows"));
    let (taken, done) = seconds(compact);
    done.expect("the disk has room");
    assert_eq!(sstables(&bench).len(), 1, "one SSTable is left");
    taken
}

/// Microseconds until a window whose rows have all expired is dropped.
const EXPIRED_WINDOW: Probe = Probe {
    name: "expired_window",
    run: |run| {
        const OPTIONS: &str = " WITH gc_grace_seconds = 0 AND default_time_to_live = 60 AND compaction = \
            {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS', 'compaction_window_size': 1}";
        let bench = Bench::on(&cluster(), OPTIONS);
        let rows = Rows::new(run.size, ROWS_OF_PARTITION);
        rows.write(&bench, 0..rows.count);
        flush(&bench.session);
        bench.session.cluster().clock().advance(Duration::from_secs(7_200));
        // A table in use: the newest window lives.
        rows.write(&bench, 0..1);
        flush(&bench.session);
        let before = sstables(&bench).len();
        let (taken, ()) = seconds(|| bench.session.cluster().engine().run_until_idle());
        assert_eq!((before, sstables(&bench).len()), (2, 1), "the expired window is gone");
        vec![taken * 1e6]
    },
};

/// Bytes of the SSTables of the bench's table.
fn bytes(bench: &Bench) -> f64 {
    sstables(bench).iter().map(|sstable| sstable.size_bytes() as f64).sum()
}
