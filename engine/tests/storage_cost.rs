//! What reads of large partitions cost, by counters, and what becomes of damaged files.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "helpers of tests may fail the test")]

mod storage_common;

use cassling_engine::error::Error;
use cassling_engine::row::clustering::Slice;
use cassling_engine::row::mutation::RangeDeletion;
use cassling_engine::row::query::Resume;
use cassling_engine::row::{
    Bound, CellWrite, ClusteringKey, DeletionTime, Liveness, Mutation, Row, RowBuilder,
};
use cassling_engine::trace::TraceLine;
use std::sync::Arc;
use storage_common::*;

/// A million takes its time without optimisation.
const ROWS: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

fn plain_store() -> (TableStore, Arc<MemoryDisk>) {
    let disk = Arc::new(MemoryDisk::default());
    (TableStore::new(plain_table(), disk.clone(), "t-".to_string()), disk)
}

fn row(n: u64, at: i64, value: &[u8]) -> Row {
    let mut builder = RowBuilder::new(&clustering_of(n));
    builder.marker(Liveness::live(at));
    builder.cell(V, CellWrite::live(at, value));
    builder.build()
}

fn deleted(n: u64, at: i64) -> Row {
    let mut builder = RowBuilder::new(&clustering_of(n));
    builder.delete(DeletionTime { timestamp_micros: at, local_seconds: 999 });
    builder.build()
}

/// One mutation for each 1000 rows.
fn fill(store: &TableStore, rows: impl Iterator<Item = Row>) {
    let rows: Vec<Row> = rows.collect();
    for part in rows.chunks(1000) {
        let mut mutation = Mutation::new(plain_table(), key(0));
        mutation.rows = part.into();
        store.apply(&mutation).unwrap();
    }
}

fn slice_from(n: u64) -> RowSelection {
    let mut start = clustering_of(n).position;
    *start.last_mut().unwrap() = 0xff;
    RowSelection::Slices(vec![Slice { start: Bound(start), end: Bound::end() }].into())
}

fn limited(limit: u64) -> ReadCommand {
    let mut command = read_all(vec![key(0)]);
    command.table = plain_table();
    command.columns = [V].into();
    command.limits.rows = limit;
    command
}

/// Reads and holds the engine's counters against those of the disk.
fn read(
    store: &TableStore,
    disk: &MemoryDisk,
    command: &ReadCommand,
) -> cassling_engine::lsm::LocalRead {
    let before = disk.counters();
    let read = store.read(command).unwrap();
    let after = disk.counters();
    assert_eq!(read.cost.blocks, after.reads - before.reads);
    assert_eq!(read.cost.bytes_read, after.bytes_read - before.bytes_read);
    read
}

#[test]
fn limit_20_of_a_wide_partition_reads_20_rows_and_two_blocks() {
    let (store, disk) = plain_store();
    fill(&store, (0..ROWS).map(|n| row(n, 10, &[7; 126])));
    for flushed in [false, true] {
        if flushed {
            store.flush().unwrap();
        }
        for reversed in [false, true] {
            let mut command = limited(20);
            command.reversed = reversed;
            let mut middle = command.clone();
            middle.rows = slice_from(ROWS / 2);
            let mut page = command.clone();
            page.limits.resume = Some(Resume {
                key: key(0),
                position: Some(clustering_of(ROWS / 3).position),
                remaining_in_partition: u64::MAX,
            });
            let firsts = if reversed {
                [ROWS - 1, ROWS - 1, ROWS / 3 - 1]
            } else {
                [0, ROWS / 2 + 1, ROWS / 3 + 1]
            };
            for (command, first) in [&command, &middle, &page].into_iter().zip(firsts) {
                let read = read(&store, &disk, command);
                assert_eq!((read.cost.rows_read, read.partitions[0].rows.len()), (20, 20));
                for (n, row) in (0..).zip(&read.partitions[0].rows) {
                    let expected = if reversed { first - n } else { first + n };
                    assert_eq!(row.position(), clustering_of(expected).position);
                }
                assert!(read.cost.blocks <= 2, "{} blocks", read.cost.blocks);
                assert_eq!(read.cost.sstables, u64::from(flushed));
                assert!(read.limited);
                assert_eq!(
                    read.trace[..],
                    [
                        TraceLine::Merged { sstables: usize::from(flushed) },
                        TraceLine::Read { rows: 20, tombstones: 0, warned: false }
                    ]
                );
            }
        }
    }
}

#[test]
fn a_range_deletion_over_older_rows_is_passed_by_a_seek() {
    let (store, disk) = plain_store();
    fill(&store, (0..20_000).map(|n| row(n, 10, &[7; 126])));
    store.flush().unwrap();
    let mut mutation = Mutation::new(plain_table(), key(0));
    mutation.ranges.push(RangeDeletion {
        start: Bound::start(),
        end: match slice_from(19_989) {
            RowSelection::Slices(slices) => slices[0].start.clone(),
            RowSelection::Names(_) => unreachable!("a slice was made"),
        },
        deletion: DeletionTime { timestamp_micros: 20, local_seconds: 999 },
    });
    store.apply(&mutation).unwrap();
    for flushed in [false, true] {
        if flushed {
            store.flush().unwrap();
        }
        for reversed in [false, true] {
            let mut command = limited(u64::MAX);
            command.reversed = reversed;
            let read = read(&store, &disk, &command);
            assert_eq!((read.cost.rows_read, read.cost.tombstones), (10, 2));
            assert!(read.cost.blocks <= 4, "{} blocks", read.cost.blocks);
        }
    }
}

#[test]
fn a_partition_deletion_leaves_older_files_unread() {
    let (store, disk) = plain_store();
    fill(&store, (0..5_000).map(|n| row(n, 10, &[7; 126])));
    store.flush().unwrap();
    let mut mutation = Mutation::new(plain_table(), key(0));
    mutation.deletion = DeletionTime { timestamp_micros: 20, local_seconds: 999 };
    store.apply(&mutation).unwrap();
    let read = read(&store, &disk, &limited(u64::MAX));
    assert_eq!((read.cost.rows_read, read.cost.tombstones, read.cost.blocks), (0, 0, 0));
    assert_eq!((read.cost.sstables, read.cost.sstables_skipped), (0, 1));
}

#[test]
fn row_tombstones_are_counted_and_leave_nothing_behind() {
    let (store, disk) = plain_store();
    fill(&store, (0..10_000).map(|n| row(n, 10, &[7; 20])));
    store.flush().unwrap();
    fill(&store, (0..9_999).map(|n| deleted(n, 20)));
    for flushed in [false, true] {
        if flushed {
            store.flush().unwrap();
        }
        let read = read(&store, &disk, &limited(1));
        assert_eq!((read.cost.rows_read, read.cost.tombstones), (1, 9_999));
        assert_eq!(read.partitions[0].rows[0].position(), clustering_of(9_999).position);
    }
}

#[test]
fn files_that_a_limit_does_not_reach_are_not_opened() {
    let (store, disk) = plain_store();
    for part in 0..5 {
        fill(&store, (part * 100..part * 100 + 100).map(|n| row(n, 10 + part as i64, &[7; 20])));
        store.flush().unwrap();
    }
    for (reversed, first) in [(false, 0), (true, 499)] {
        let mut command = limited(20);
        command.reversed = reversed;
        let read = read(&store, &disk, &command);
        assert_eq!(read.partitions[0].rows[0].position(), clustering_of(first).position);
        assert_eq!((read.cost.sstables, read.cost.sstables_skipped), (1, 4));
    }
    // A slice prunes the others by what clusterings they cover.
    let mut command = limited(u64::MAX);
    command.rows = slice_from(399);
    let slice = read(&store, &disk, &command);
    assert_eq!((slice.cost.rows_read, slice.cost.sstables), (100, 1));
}

#[test]
fn a_read_by_names_stops_at_the_newest_complete_row() {
    let (store, disk) = plain_store();
    for at in [10, 20, 30] {
        fill(&store, std::iter::once(row(1, at, &[at as u8])));
        store.flush().unwrap();
    }
    let mut command = limited(u64::MAX);
    command.rows = RowSelection::Names(vec![clustering_of(1)].into());
    let newest = read(&store, &disk, &command);
    assert_eq!((newest.cost.sstables, newest.cost.rows_read), (1, 1));
    assert_eq!(newest.trace[..], [TraceLine::Read { rows: 1, tombstones: 0, warned: false }]);
    // Without a marker a row is never complete.
    let mut update = RowBuilder::new(&clustering_of(1));
    update.cell(V, CellWrite::live(40, b"new"));
    fill(&store, std::iter::once(update.build()));
    store.flush().unwrap();
    let read = read(&store, &disk, &command);
    assert_eq!(read.cost.sstables, 2);
    assert_eq!(read.partitions[0].rows[0].cell(V).unwrap().value, b"new");
}

#[test]
fn every_flipped_bit_is_an_error_or_changes_nothing() {
    let (store, disk) = plain_store();
    let mut mutation = Mutation::new(plain_table(), key(0));
    mutation.rows = (0..20).map(|n| row(n, 10, b"value")).collect();
    store.apply(&mutation).unwrap();
    store.flush().unwrap();
    let name = disk.list("t-").unwrap().remove(0);
    let whole = store.read(&limited(u64::MAX)).unwrap();
    for offset in 0..disk.size_bytes(&name).unwrap() {
        for mask in [1, 0x80] {
            disk.flip(&name, offset, mask).unwrap();
            let opened = cassling_engine::lsm::sstable::SsTable::open(disk.clone(), name.clone());
            let read = store.read(&limited(u64::MAX));
            let damage = opened.err().or(read.as_ref().err().cloned());
            match damage {
                Some(Error::Storage { file, offset_bytes, .. }) => {
                    assert_eq!(file, name);
                    assert!(offset_bytes <= offset, "{offset_bytes} for {offset}");
                }
                other => panic!("bit {mask:#x} of byte {offset}: {other:?}"),
            }
            if let Ok(read) = read {
                assert_eq!(read.partitions[0].rows, whole.partitions[0].rows);
            }
            disk.flip(&name, offset, mask).unwrap();
        }
    }
}

#[test]
fn a_full_disk_keeps_the_data_in_memory() {
    let disk = Arc::new(MemoryDisk::new(500));
    let store = TableStore::new(plain_table(), disk.clone(), "t-".to_string());
    fill(&store, (0..100).map(|n| row(n, 10, &[7; 126])));
    let error = store.flush().unwrap_err();
    assert!(error.to_string().ends_with("disk full"), "{error}");
    fill(&store, (100..150).map(|n| row(n, 10, &[7; 126])));
    assert_eq!(store.read(&limited(u64::MAX)).unwrap().cost.rows_read, 150);
    assert!(disk.list("").unwrap().is_empty());
}

#[test]
fn memory_is_bounded_by_flushing_and_then_by_refusing() {
    let disk = Arc::new(MemoryDisk::new(40_000));
    let store = TableStore::new(plain_table(), disk.clone(), "t-".to_string())
        .with_memtables_bytes_max(10_000);
    let write = |n: u64| {
        let mut mutation = Mutation::new(plain_table(), key(0));
        mutation.rows.push(row(n, 10, &[7; 126]));
        store.apply(&mutation)
    };
    let written = (0..).take_while(|n| write(*n).is_ok()).count() as u64;
    assert!(disk.list("").unwrap().len() > 1, "full memtables became files");
    assert!(
        write(written).unwrap_err().to_string().ends_with("disk full"),
        "then writes are refused"
    );
    let memory: usize = store.view().memtables.iter().map(|m| m.size_bytes()).sum();
    assert!(memory < 12_000, "{memory} bytes");
    assert_eq!(store.read(&limited(u64::MAX)).unwrap().cost.rows_read, written, "nothing is lost");
}

#[test]
fn truncated_files_go_with_their_last_reader() {
    let (store, disk) = plain_store();
    fill(&store, (0..100).map(|n| row(n, 10, &[7; 126])));
    store.flush().unwrap();
    store.flush().unwrap();
    assert_eq!(disk.list("").unwrap().len(), 1, "an empty memtable makes no file");
    let reader = store.view();
    store.truncate().unwrap();
    assert!(store.read(&limited(u64::MAX)).unwrap().partitions.is_empty());
    assert_eq!(disk.list("").unwrap().len(), 1);
    drop(reader);
    assert!(disk.list("").unwrap().is_empty());
}

#[test]
fn raw_clustering_bytes_are_those_first_written() {
    let (store, _) = plain_store();
    for (at, raw) in [(10, b"1.0"), (20, b"1.5")] {
        let clustering = ClusteringKey { raw: raw.to_vec(), ..clustering_of(1) };
        let mut builder = RowBuilder::new(&clustering);
        builder.marker(Liveness::live(at));
        fill(&store, std::iter::once(builder.build()));
        if at == 10 {
            store.flush().unwrap();
        }
    }
    for _ in 0..2 {
        let read = store.read(&limited(u64::MAX)).unwrap();
        assert_eq!(read.partitions[0].rows[0].raw_clustering(), b"1.0");
        store.flush().unwrap();
    }
}
