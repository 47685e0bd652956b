//! INSERT, point read and 100-row slice through the whole embedded path, beside a raw skip list doing the same.
//!
//! `cargo bench -p cassling-benches`. In test mode (`cargo test --benches`) each runs once.

use cassling::Value;
use cassling_benches::{Bench, VALUE_BYTES, partition_key};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use crossbeam_skiplist::SkipMap;
use std::hint::black_box;

const PARTITIONS: u64 = 1_000;
const ROWS: i64 = 100;

type Key = ([u8; 16], i64);

fn raw_key(partition: u64, row: i64) -> Key {
    let Value::Blob(bytes) = partition_key(partition) else { unreachable!("the key is a blob") };
    (bytes.try_into().expect("the key has 16 bytes"), row)
}

fn raw_map() -> SkipMap<Key, Box<[u8]>> {
    let map = SkipMap::new();
    for row in 0..ROWS {
        for partition in 0..PARTITIONS {
            map.insert(raw_key(partition, row), vec![7; VALUE_BYTES].into_boxed_slice());
        }
    }
    map
}

/// A walk over all partitions that does not follow their order.
fn scattered(step: &mut u64) -> u64 {
    *step = (*step + 619) % PARTITIONS;
    *step
}

fn insert(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("insert");
    let value = Value::Blob(vec![7; VALUE_BYTES]);
    let bench = Bench::new();
    let (mut partition, mut row) = (0, 0);
    group.bench_function("cassling", |b| {
        b.iter(|| {
            row += 1;
            bench.write(scattered(&mut partition), row, &value);
        });
    });
    let map = SkipMap::new();
    let (mut partition, mut row) = (0, 0);
    group.bench_function("crossbeam-skiplist", |b| {
        b.iter(|| {
            row += 1;
            let key = raw_key(scattered(&mut partition), row);
            map.insert(key, vec![7_u8; VALUE_BYTES].into_boxed_slice());
        });
    });
    group.finish();
}

fn point(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("point");
    let bench = Bench::new();
    bench.fill(PARTITIONS, ROWS);
    let mut partition = 0;
    group.bench_function("cassling", |b| {
        b.iter(|| {
            let values = (partition_key(scattered(&mut partition)), 50_i64);
            black_box(bench.session.execute(&bench.point, values).expect("a read succeeds"))
        });
    });
    bench.session.cluster().flush(None, None).expect("a flush succeeds");
    group.bench_function("cassling, flushed", |b| {
        b.iter(|| {
            let values = (partition_key(scattered(&mut partition)), 50_i64);
            black_box(bench.session.execute(&bench.point, values).expect("a read succeeds"))
        });
    });
    let map = raw_map();
    let mut partition = 0;
    group.bench_function("crossbeam-skiplist", |b| {
        b.iter(|| {
            let found = map.get(&raw_key(scattered(&mut partition), 50));
            black_box(found.map(|entry| entry.value().clone()))
        });
    });
    group.finish();
}

fn slice(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("slice of 100");
    let bench = Bench::new();
    bench.fill(PARTITIONS, ROWS);
    let mut partition = 0;
    group.bench_function("cassling", |b| {
        b.iter_batched(
            || partition_key(scattered(&mut partition)),
            |key| bench.session.execute(&bench.slice, (key, 0_i64)).expect("a read succeeds"),
            BatchSize::SmallInput,
        );
    });
    let map = raw_map();
    let mut partition = 0;
    group.bench_function("crossbeam-skiplist", |b| {
        b.iter(|| {
            let from = raw_key(scattered(&mut partition), 0);
            let rows: Vec<Box<[u8]>> =
                map.range(from..).take(100).map(|entry| entry.value().clone()).collect();
            black_box(rows)
        });
    });
    group.finish();
}

criterion_group!(paths, insert, point, slice);
criterion_main!(paths);
