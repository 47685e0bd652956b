//! Random histories of one table against a plain model: every write ever made, kept as a list, and judged anew at
//! each read by the rules of Cassandra's reconciliation. The model shares no code with the merge.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "helpers of tests may fail the test")]

mod storage_common;

use cassling_engine::row::clustering::Slice;
use cassling_engine::row::query::Resume;
use cassling_engine::row::{Bound, PartitionRows};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::BTreeSet;
use storage_common::model::{Cells, Model, Visible, visible};
use storage_common::*;

/// Each takes some 40 writes and a dozen reads in three forms.
const HISTORIES: u64 = 1000;

struct Dice(Pcg32, BTreeSet<(i64, i64)>);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Often so few that each block holds a few rows only.
    fn block_bytes(&mut self) -> usize {
        [1, 60, 100, 200, 400, 16 * 1024][self.below(6) as usize]
    }
}

/// One or several things written to one partition.
fn random_write(dice: &mut Dice, kinds: &mut [u64; 8]) -> Write {
    let mut write = Write::new(dice.below(3));
    for _ in 0..=dice.below(3) {
        random_change(dice, &mut write, kinds);
    }
    write
}

fn random_change(dice: &mut Dice, write: &mut Write, kinds: &mut [u64; 8]) {
    let at = 1 + i64::from(dice.below(12));
    let second = 930 + i64::from(dice.below(70));
    let row = dice.below(10) as u8;
    let ttl = if dice.chance(30) { 1 + dice.below(80) } else { 0 };
    let value = vec![dice.below(4) as u8; dice.below(3) as usize];
    let or_null = |dice: &mut Dice, value: Vec<u8>| (!dice.chance(25)).then_some(value);
    let kind =
        [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 6, 6, 6, 7][dice.below(20) as usize];
    kinds[kind] += 1;
    match kind {
        0 => {
            write.marker(row, at, ttl, second);
            write.cell(Some(row), V, None, at, ttl, second, Some(value));
        }
        1 => {
            let value = or_null(dice, value);
            let column = if dice.chance(50) { V } else { W };
            write.cell(Some(row), column, None, at, ttl, second, value);
        }
        2 => {
            let value = or_null(dice, value);
            write.cell(None, S, None, at, ttl, second, value);
        }
        3 => {
            let value = or_null(dice, value);
            let path = dice.below(4) as u8;
            let row = (!dice.chance(20)).then_some(row);
            let column = if row.is_none() { SM } else { M };
            write.cell(row, column, Some(path), at, ttl, second, value);
        }
        4 => {
            let row = (!dice.chance(20)).then_some(row);
            let column = if row.is_none() { SM } else { M };
            write.complex_deletion(row, column, at, second);
        }
        5 => write.row_deletion(row, at, second),
        6 => {
            let other = dice.below(11) as u8;
            let bound = |n: u8, after: bool| if after { after_row(n) } else { before_row(n) };
            let a = bound(row.min(other), dice.chance(30));
            let b = bound(row.max(other), dice.chance(50));
            // Ranges of one deletion keep the bounds between them, in some sources: not the model's business.
            if a < b && dice.1.insert((at, second)) {
                write.range_deletion(a, b, at, second);
            }
        }
        _ if dice.chance(40) => write.partition_deletion(at, second),
        _ => {}
    }
}

fn random_selection(dice: &mut Dice) -> RowSelection {
    if dice.chance(30) {
        return RowSelection::Slices(vec![Slice::all()].into());
    }
    if dice.chance(40) {
        let rows: Vec<u8> = (0..10).filter(|_| dice.chance(30)).collect();
        return RowSelection::Names(rows.iter().map(|row| clustering(*row)).collect());
    }
    let mut places: Vec<Bound> = (0..10).flat_map(|n| [before_row(n), after_row(n)]).collect();
    places.insert(0, Bound::start());
    places.push(Bound::end());
    places.retain(|_| dice.chance(25));
    let slices = places.chunks_exact(2).map(|p| Slice { start: p[0].clone(), end: p[1].clone() });
    RowSelection::Slices(slices.collect())
}

fn random_command(dice: &mut Dice) -> ReadCommand {
    let mut command = read_all(keys());
    command.rows = random_selection(dice);
    command.reversed = dice.chance(50);
    command.now_seconds = 990 + i64::from(dice.below(90));
    if dice.chance(50) {
        command.partitions = Partitions::Range(KeyRange::default());
    }
    command.static_only_counts =
        matches!(&command.rows, RowSelection::Slices(s) if s[..] == [Slice::all()]);
    if dice.chance(30) {
        let simple = command.columns.iter().filter(|column| **column != M && **column != SM);
        command.columns = simple.copied().collect();
    }
    if dice.chance(25) {
        command.limits.per_partition = 1 + u64::from(dice.below(3));
    }
    if is_partial(&command) {
        command.limits.per_partition = u64::MAX;
    }
    command
}

/// Reads page by page and joins the pages.
fn paged(store: &TableStore, command: &ReadCommand, page: u64) -> Vec<PartitionRows> {
    let mut joined: Vec<PartitionRows> = Vec::new();
    let mut command = command.clone();
    command.limits.rows = page;
    for _ in 0..200 {
        let read = store.read(&command).unwrap();
        let mut last = None;
        for partition in read.partitions {
            last =
                Some((partition.key.clone(), partition.rows.last().map(|r| r.position().to_vec())));
            match joined.last_mut() {
                Some(held) if held.key == partition.key => held.rows.extend(partition.rows),
                _ => joined.push(partition),
            }
        }
        if !read.limited {
            return joined;
        }
        let (key, position) = last.expect("a full page has a row");
        let seen = joined.last().expect("the page had a row").rows.len() as u64;
        let remaining_in_partition = command.limits.per_partition.saturating_sub(seen);
        command.limits.resume = Some(Resume { key, position, remaining_in_partition });
    }
    panic!("paging does not end");
}

fn seen(partitions: &[PartitionRows], command: &ReadCommand) -> Vec<Visible> {
    shown(partitions.iter().map(visible).collect(), command)
}

/// What a read promises: the columns asked for. A read by names may leave others out, and with them rows that
/// have nothing else (Cassandra's names query stops at rows whose marker and columns asked for are complete).
fn shown(mut partitions: Vec<Visible>, command: &ReadCommand) -> Vec<Visible> {
    let asked = |cells: &mut Cells| {
        cells.retain(|(column, ..)| command.columns.iter().any(|id| id.0 == *column));
    };
    for partition in &mut partitions {
        asked(&mut partition.statics);
        partition.rows.iter_mut().for_each(|row| asked(&mut row.cells));
        if is_partial(command) {
            partition.rows.retain(|row| row.has_marker || !row.cells.is_empty());
        }
    }
    partitions.retain(|partition| !is_partial(command) || !partition.rows.is_empty());
    partitions
}

/// A read by names of some columns.
fn is_partial(command: &ReadCommand) -> bool {
    matches!(command.rows, RowSelection::Names(_)) && !command.columns.contains(&M)
}

fn check(store: &TableStore, model: &Model, dice: &mut Dice, seed: u64) {
    let command = random_command(dice);
    let context = || context_of(seed, &command, model);
    let read = store.read(&command).unwrap();
    let expected = model.read(&command);
    assert_eq!(
        seen(&read.partitions, &command),
        shown(expected.partitions.clone(), &command),
        "{}",
        context()
    );
    if command.limits.per_partition == u64::MAX && !is_partial(&command) {
        assert_eq!((read.cost.rows_read, read.cost.tombstones), expected.counts, "{}", context());
    }
    if is_partial(&command) {
        // Rows that one side leaves out would shift the limits.
        return;
    }
    let joined = paged(store, &command, 1 + u64::from(dice.below(4)));
    assert_eq!(
        seen(&joined, &command),
        shown(expected.partitions.clone(), &command),
        "paged: {}",
        context()
    );
    let mut limited = command.clone();
    limited.limits.rows = 1 + u64::from(dice.below(6));
    let first = store.read(&limited).unwrap().partitions;
    assert_eq!(
        seen(&first, &command),
        shown(expected.first(limited.limits.rows), &command),
        "limited: {}",
        context()
    );
}

/// What a failure prints.
fn context_of(seed: u64, command: &ReadCommand, model: &Model) -> String {
    let ReadCommand { rows, reversed, limits, now_seconds, columns, .. } = command;
    format!(
        "seed {seed} {rows:?} reversed {reversed} {limits:?} now {now_seconds} {columns:?}\n{model:?}"
    )
}

#[test]
fn random_histories_read_as_the_model_says() {
    let mut kinds = [0; 8];
    for seed in 0..HISTORIES {
        let mut dice = Dice(Pcg32::new(seed, 5), BTreeSet::new());
        let store = new_store().with_block_bytes(dice.block_bytes());
        let mut model = Model::default();
        for _ in 0..5 + dice.below(40) {
            let write = random_write(&mut dice, &mut kinds);
            store.apply(&write.mutation()).unwrap();
            model.apply(&write);
            if dice.chance(12) {
                store.flush().unwrap();
            }
            if dice.chance(30) {
                check(&store, &model, &mut dice, seed);
            }
        }
        store.flush().unwrap();
        check(&store, &model, &mut dice, seed);
    }
    println!("inserts, updates, statics, collections, complex, row, range, partition: {kinds:?}");
    let all: u64 = kinds.iter().sum();
    assert!(kinds.iter().all(|kind| kind * 100 >= all), "each kind at least 1 %: {kinds:?}");
}

#[test]
fn replicas_that_missed_writes_merge_to_the_model_and_are_repaired() {
    for seed in 0..HISTORIES {
        let mut dice = Dice(Pcg32::new(seed, 9), BTreeSet::new());
        let stores = [(); 3].map(|()| new_store().with_block_bytes(dice.block_bytes()));
        let mut model = Model::default();
        for _ in 0..3 + dice.below(25) {
            let write = random_write(&mut dice, &mut [0; 8]);
            model.apply(&write);
            let reached = 1 + dice.below(7);
            for (index, store) in stores.iter().enumerate() {
                if reached & (1 << index) != 0 {
                    store.apply(&write.mutation()).unwrap();
                }
                if dice.chance(15) {
                    store.flush().unwrap();
                }
            }
        }
        check_replicas(&stores, &model, &mut dice, seed);
    }
}

fn check_replicas(stores: &[TableStore; 3], model: &Model, dice: &mut Dice, seed: u64) {
    let mut command = random_command(dice);
    // Before anything is past gc_grace: a replica may forget a tombstone that another one needs.
    command.now_seconds = 970;
    let expected = model.read(&command);
    let context = || context_of(seed, &command, model);
    let limit = if dice.chance(50) { u64::MAX } else { 1 + u64::from(dice.below(5)) };
    // Short reads ask again for more, as a coordinator does.
    for widened in [1, 2, 4, 8, 16, 32, 64] {
        let mut wider = command.clone();
        wider.limits.rows = limit.saturating_mul(widened);
        wider.limits.per_partition = command.limits.per_partition.saturating_mul(widened);
        let replies =
            stores.each_ref().map(|s| s.read_for_merge(&wider).unwrap().partitions).to_vec();
        let merged = merge_replicas(&wider, replies);
        if merged.short {
            continue;
        }
        if widened == 1 && (!is_partial(&command) || limit == u64::MAX) {
            assert_eq!(
                seen(&merged.result.partitions, &command),
                shown(expected.first(limit), &command),
                "{}",
                context()
            );
        }
        if limit == u64::MAX && command.limits.per_partition == u64::MAX {
            for (store, repairs) in stores.iter().zip(merged.repairs) {
                for repair in repairs {
                    store.apply(&repair).unwrap();
                }
                let read = store.read(&command).unwrap();
                assert_eq!(
                    seen(&read.partitions, &command),
                    shown(expected.partitions.clone(), &command),
                    "repaired: {}",
                    context()
                );
            }
            let replies = stores.each_ref().map(|s| s.read_for_merge(&command).unwrap().partitions);
            let again = merge_replicas(&command, replies.to_vec()).repairs;
            assert!(again.iter().all(Vec::is_empty), "{again:#?} {}", context());
            let digests = replies.each_ref().map(|reply| digest(reply));
            assert!(
                is_partial(&command) || digests.iter().all(|d| *d == digests[0]),
                "{}",
                context()
            );
        }
        return;
    }
    panic!("the read stays short: {}", context());
}
