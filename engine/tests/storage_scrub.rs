//! What scrub saves of damaged SSTables: everything but what lies in damaged blocks.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "helpers of tests may fail the test")]

mod storage_common;

use cassling_engine::lsm::sstable::SsTable;
use cassling_engine::lsm::sstable::salvage::{Damage, Part};
use cassling_engine::row::mutation::RangeDeletion;
use cassling_engine::row::{
    Bound, CellWrite, DecoratedKey, DeletionTime, Liveness, Mutation, Row, RowBuilder,
};
use cassling_engine::schema::Table;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use storage_common::*;

/// Its blocks are stored as they are.
fn as_is() -> Arc<Table> {
    let table = plain_table();
    let mut options = table.options.clone();
    options.compression.clear();
    let columns = table.columns().to_vec();
    Arc::new(Table::new(table.id, "ks", "t", columns, Default::default(), options))
}

fn store(block_bytes: usize) -> (TableStore, Arc<MemoryDisk>) {
    let disk = Arc::new(MemoryDisk::default());
    let store = TableStore::new(as_is(), disk.clone(), "t-".to_string());
    (store.with_block_bytes(block_bytes), disk)
}

/// Bytes that occur in no other row: where a row lies in a file is where these are.
fn value(n: u64) -> String {
    format!("<{n:06}>")
}

fn row(n: u64, at: i64) -> Row {
    let mut builder = RowBuilder::new(&clustering_of(n));
    builder.marker(Liveness::live(at));
    builder.cell(V, CellWrite::live(at, value(n).as_bytes()));
    builder.build()
}

fn write(store: &TableStore, key: DecoratedKey, change: impl FnOnce(&mut Mutation)) {
    let mut mutation = Mutation::new(as_is(), key);
    change(&mut mutation);
    store.apply(&mutation).unwrap();
}

fn newest(store: &TableStore) -> Arc<SsTable> {
    store.view().sstables[0].clone()
}

/// Where each row lies in a file.
fn places(disk: &MemoryDisk, name: &str, rows: u64) -> Vec<u64> {
    let len = usize::try_from(disk.size_bytes(name).unwrap()).unwrap();
    let bytes = disk.read_at(name, 0, len).unwrap();
    let mut from = 0;
    let mut place = |text: String| {
        let text = text.as_bytes();
        from += bytes[from..].windows(text.len()).position(|part| part == text).unwrap();
        from as u64
    };
    (0..rows).map(|n| place(value(n))).collect()
}

/// The rows that can be read, by their values.
fn rows(store: &TableStore, keys: Vec<DecoratedKey>) -> BTreeSet<u64> {
    let mut command = read_all(keys);
    command.table = as_is();
    command.columns = vec![V].into();
    let read = store.read(&command).unwrap();
    let rows = read.partitions.iter().flat_map(|partition| &partition.rows);
    let number = |text: &[u8]| std::str::from_utf8(&text[1..7]).unwrap().parse().unwrap();
    rows.map(|row| number(row.cell(V).unwrap().value)).collect()
}

fn span(damage: &Damage) -> Range<u64> {
    damage.offset_bytes..damage.offset_bytes + damage.len_bytes
}

fn partition(n: u64) -> DecoratedKey {
    let token = cassling_engine::ring::Token(i64::try_from(n).unwrap() * 1000);
    DecoratedKey { token, bytes: n.to_be_bytes().to_vec().into() }
}

#[test]
fn of_many_partitions_those_of_one_block_are_lost() {
    const COUNT: u64 = 300;
    for damaged in [0, 7, 150, 299] {
        let (store, disk) = store(400);
        for n in 0..COUNT {
            write(&store, partition(n), |mutation| mutation.rows = vec![row(n, 10)].into());
        }
        store.flush().unwrap();
        let name = newest(&store).name().to_string();
        let places = places(&disk, &name, COUNT);
        assert!(store.verify().unwrap().is_clean());
        disk.flip(&name, places[damaged], 4).unwrap();
        let verified = store.verify().unwrap();
        let report = store.scrub().unwrap();
        assert_eq!(verified.files[0].damage, report.files[0].damage);
        let [file] = &report.files[..] else { panic!("{report:?}") };
        let [damage] = &file.damage[..] else { panic!("{report:?}") };
        assert_eq!((damage.part, &file.file), (Part::Block, &name));
        let lost = span(damage);
        assert!(lost.contains(&places[damaged]) && damage.len_bytes < 600);
        let kept: BTreeSet<u64> =
            (0..COUNT).filter(|n| !lost.contains(&places[*n as usize])).collect();
        let gone = COUNT - kept.len() as u64;
        assert_eq!((file.partitions, file.rows), (kept.len() as u64, kept.len() as u64));
        assert_eq!((file.partitions_lost, file.rows_lost), (gone, gone));
        assert_eq!(rows(&store, (0..COUNT).map(partition).collect()), kept);
        let new = newest(&store);
        assert_eq!(Some(new.name()), file.written.as_deref());
        assert_eq!((new.statistics().rows, store.view().sstables.len()), (kept.len() as u64, 1));
        assert!(store.verify().unwrap().is_clean());
        assert_eq!(disk.list("t-").unwrap(), [new.name()], "the damaged file is gone");
    }
}

/// A range deletion as numbers of rows, the end not in it.
fn deletion(rows: Range<u64>, at: i64) -> RangeDeletion {
    let bound = |n: u64| {
        let mut position = clustering_of(n).position;
        *position.last_mut().unwrap() = 0;
        Bound(position)
    };
    RangeDeletion {
        start: bound(rows.start),
        end: bound(rows.end),
        deletion: DeletionTime { timestamp_micros: at, local_seconds: 999 },
    }
}

/// Odd rows are older and in another file; the damaged file has the even ones, and deletions of some of the others.
#[test]
fn of_a_wide_partition_rows_and_range_ends_of_one_block_are_lost() {
    const COUNT: u64 = 400;
    let ranges = [(20..30, 20), (31..33, 21), (60..200, 20), (200..260, 22), (301..302, 20)];
    let deleted = |n: u64| ranges.iter().any(|(range, _)| range.contains(&n));
    let mut damaged = BTreeSet::new();
    for even in (0..COUNT).step_by(4) {
        let (store, disk) = store(250);
        let odd = (0..COUNT).filter(|n| n % 2 == 1).map(|n| row(n, 10)).collect();
        write(&store, key(0), |mutation| mutation.rows = odd);
        store.flush().unwrap();
        write(&store, key(0), |mutation| {
            mutation.deletion = DeletionTime { timestamp_micros: 5, local_seconds: 999 };
            mutation.rows = (0..COUNT).filter(|n| n % 2 == 0).map(|n| row(n, 30)).collect();
            let all = ranges.iter().map(|(range, at)| deletion(range.clone(), *at));
            mutation.ranges = all.collect();
        });
        store.flush().unwrap();
        let name = newest(&store).name().to_string();
        let before = rows(&store, vec![key(0)]);
        let visible = (0..COUNT).filter(|n| n % 2 == 0 || !deleted(*n));
        assert_eq!(before, visible.collect());
        let len = usize::try_from(disk.size_bytes(&name).unwrap()).unwrap();
        let bytes = disk.read_at(&name, 0, len).unwrap();
        let place = |n: u64| {
            let text = value(n);
            bytes.windows(8).position(|part| part == text.as_bytes()).unwrap() as u64
        };
        disk.flip(&name, place(even), 1).unwrap();
        let report = store.scrub().unwrap();
        assert!(report.files[0].damage.is_empty(), "the older file is whole");
        let [damage] = &report.files[1].damage[..] else { panic!("{report:?}") };
        damaged.insert(damage.offset_bytes);
        let lost = span(damage);
        let after = rows(&store, vec![key(0)]);
        // The rows of the lost block, and how far the others beside them are.
        let gone: Vec<u64> = (0..COUNT).step_by(2).filter(|n| lost.contains(&place(*n))).collect();
        let (first, last) = (gone[0], gone[gone.len() - 1]);
        assert_eq!(report.files[1].rows_lost, gone.len() as u64);
        for n in 0..COUNT {
            let is_there = after.contains(&n);
            match n % 2 {
                0 => assert_eq!(is_there, !gone.contains(&n), "row {n} without {gone:?}"),
                // Nothing is deleted that was not, and what was stays so outside the lost block.
                _ if !deleted(n) => assert!(is_there, "row {n} without {gone:?}"),
                _ if n + 2 < first || n > last + 2 => {
                    assert!(!is_there, "row {n} without {gone:?}");
                }
                // One deletion is open on both sides.
                _ if first > 62 && last < 198 || first > 202 && last < 258 => {
                    assert!(!is_there, "row {n} without {gone:?}");
                }
                _ => {}
            }
        }
        // The deletion of the partition is known from any block of it.
        store.view().sstables.iter().for_each(|table| assert_eq!(table.statistics().partitions, 1));
        let mut old = Mutation::new(as_is(), key(0));
        old.rows = vec![row(999, 4)].into();
        store.apply(&old).unwrap();
        assert_eq!(rows(&store, vec![key(0)]), after);
        // What is left is a sound file for compaction too.
        store.flush().unwrap();
        store.compact(false).unwrap();
        assert_eq!(rows(&store, vec![key(0)]), after);
    }
    assert!(damaged.len() > 20, "blocks of all kinds were damaged: {}", damaged.len());
}

#[test]
fn index_filter_and_statistics_are_made_anew() {
    let mut parts = BTreeSet::new();
    let (store, disk) = store(400);
    write(&store, key(0), |mutation| mutation.rows = (0..50).map(|n| row(n, 10)).collect());
    store.flush().unwrap();
    for back in 1..u64::MAX {
        let (name, len) = (newest(&store).name().to_string(), newest(&store).size_bytes());
        let data_end = newest(&store).statistics().data_bytes + 8;
        if len - back < data_end {
            break;
        }
        disk.flip(&name, len - back, 1).unwrap();
        assert!(SsTable::open(disk.clone(), name.clone()).is_err(), "it does not open any more");
        let report = store.scrub().unwrap();
        let [damage] = &report.files[0].damage[..] else { panic!("{back}: {report:?}") };
        assert!(span(damage).contains(&(len - back)), "{back}: {damage}");
        parts.insert(damage.part.to_string());
        assert_eq!((report.files[0].rows, report.files[0].rows_lost), (50, 0));
        SsTable::open(disk.clone(), newest(&store).name().to_string()).unwrap();
    }
    let all = ["filter", "header or footer", "index", "statistics"];
    assert_eq!(parts, all.map(str::to_string).into());
    assert_eq!(rows(&store, vec![key(0)]), (0..50).collect());
}

#[test]
fn a_file_of_which_nothing_is_left_goes() {
    let (store, disk) = store(400);
    write(&store, key(0), |mutation| mutation.rows = vec![row(0, 10)].into());
    store.flush().unwrap();
    disk.flip(newest(&store).name(), 20, 1).unwrap();
    let report = store.scrub().unwrap();
    assert_eq!((report.files[0].rows_lost, report.files[0].written.as_ref()), (1, None));
    assert_eq!(rows(&store, vec![key(0)]), BTreeSet::new());
    assert!(disk.list("t-").unwrap().is_empty());
}

#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    let disk = Arc::new(MemoryDisk::new(3_000));
    let store = TableStore::new(as_is(), disk.clone(), "t-".to_string());
    write(&store, key(0), |mutation| mutation.rows = (0..50).map(|n| row(n, 10)).collect());
    store.flush().unwrap();
    let files = disk.list("t-").unwrap();
    assert!(newest(&store).size_bytes() > 1_500);
    assert!(store.scrub().unwrap_err().to_string().ends_with("disk full"));
    assert_eq!(disk.list("t-").unwrap(), files);
    assert_eq!(rows(&store, vec![key(0)]), (0..50).collect());
}
