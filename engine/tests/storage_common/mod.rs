//! A table, writes to it and reads of it, for the tests of storage.
#![allow(dead_code, unused_imports, missing_docs, reason = "each test uses its part")]

pub mod model;

use bytes::Bytes;
pub use cassling_engine::lsm::TableStore;
use cassling_engine::ring::Token;
use cassling_engine::row::clustering::Slice;
use cassling_engine::row::filter::RowFilter;
pub use cassling_engine::row::merge::{digest, merge_replicas};
use cassling_engine::row::mutation::RangeDeletion;
pub use cassling_engine::row::query::{KeyRange, Limits, Partitions, ReadCommand, RowSelection};
use cassling_engine::row::{
    Bound, CellWrite, ClusteringKey, DecoratedKey, DeletionTime, Liveness, Mutation, RowBuilder,
};
use cassling_engine::schema::{Column, ColumnId, ColumnKind, Table, TableId, TableOptions};
pub use cassling_engine::sim::disk::{Disk, MemoryDisk};
use cassling_engine::types::CqlType;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

pub const S: ColumnId = ColumnId(2);
pub const V: ColumnId = ColumnId(3);
pub const W: ColumnId = ColumnId(4);
pub const M: ColumnId = ColumnId(5);
pub const SM: ColumnId = ColumnId(6);

pub const GC_GRACE: i64 = 40;

pub fn table() -> Arc<Table> {
    let column = |id: u16, name: &str, ty: CqlType, kind| Column {
        id: ColumnId(id),
        name: name.to_string(),
        ty,
        kind,
        position: 0,
        descending: false,
        dropped_at_micros: None,
    };
    let blob_map = || CqlType::map(CqlType::Blob, CqlType::Blob);
    let columns = vec![
        column(0, "k", CqlType::Blob, ColumnKind::PartitionKey),
        column(1, "c", CqlType::Blob, ColumnKind::Clustering),
        column(2, "s", CqlType::Blob, ColumnKind::Static),
        column(3, "v", CqlType::Blob, ColumnKind::Regular),
        column(4, "w", CqlType::Blob, ColumnKind::Regular),
        column(5, "m", blob_map(), ColumnKind::Regular),
        column(6, "sm", blob_map(), ColumnKind::Static),
    ];
    let options = TableOptions { gc_grace_seconds: GC_GRACE as u32, ..TableOptions::default() };
    Arc::new(Table::new(TableId(Uuid::from_u128(7)), "ks", "t", columns, BTreeMap::new(), options))
}

/// The same without static columns.
pub fn plain_table() -> Arc<Table> {
    let table = table();
    let columns =
        table.columns().iter().filter(|c| c.kind != ColumnKind::Static).cloned().collect();
    Arc::new(Table::new(table.id, "ks", "t", columns, BTreeMap::new(), table.options.clone()))
}

pub fn new_store() -> TableStore {
    TableStore::new(table(), Arc::new(MemoryDisk::default()), "t-".to_string())
}

pub fn key(n: u32) -> DecoratedKey {
    // The order of tokens is not that of the keys.
    let token = Token([50, -7, 50, 12][n as usize % 4] + i64::from(n / 4) * 100);
    DecoratedKey { token, bytes: Bytes::from(n.to_be_bytes().to_vec()) }
}

pub fn keys() -> Vec<DecoratedKey> {
    (0..3).map(key).collect()
}

pub fn clustering(n: u8) -> ClusteringKey {
    clustering_of(u64::from(n))
}

pub fn clustering_of(n: u64) -> ClusteringKey {
    let mut position = vec![2];
    position.extend_from_slice(&n.to_be_bytes());
    position.push(0x80);
    ClusteringKey { position, raw: Vec::new() }
}

fn bound(n: u8, terminator: u8) -> Bound {
    let mut position = clustering(n).position;
    *position.last_mut().unwrap() = terminator;
    Bound(position)
}

pub fn before_row(n: u8) -> Bound {
    bound(n, 0)
}

pub fn after_row(n: u8) -> Bound {
    bound(n, 0xff)
}

pub fn read_all(keys: Vec<DecoratedKey>) -> ReadCommand {
    ReadCommand {
        table: table(),
        partitions: Partitions::Keys(keys.into()),
        rows: RowSelection::Slices(vec![Slice::all()].into()),
        reversed: false,
        columns: [S, V, W, M, SM].into(),
        filter: RowFilter::default(),
        limits: Limits::NONE,
        static_only_counts: true,
        distinct: false,
        now_seconds: 1000,
        every_key: false,
        only_columns: false,
        shown: Default::default(),
    }
}

/// A cell as written: ttl 0 and no value is a tombstone of that second.
#[derive(Clone, Debug)]
pub struct CellFact {
    pub row: Option<u8>,
    pub column: ColumnId,
    pub path: Option<u8>,
    pub at: i64,
    pub ttl: u32,
    pub second: i64,
    pub value: Option<Vec<u8>>,
}

/// All that one mutation writes.
#[derive(Clone, Debug)]
pub struct Write {
    pub key: u32,
    pub markers: Vec<(u8, i64, u32, i64)>,
    pub cells: Vec<CellFact>,
    pub complex: Vec<(Option<u8>, ColumnId, i64, i64)>,
    pub rows: Vec<(u8, i64, i64)>,
    pub ranges: Vec<(Bound, Bound, i64, i64)>,
    pub partition: Vec<(i64, i64)>,
}

impl Write {
    pub fn new(key: u32) -> Write {
        Write {
            key,
            markers: vec![],
            cells: vec![],
            complex: vec![],
            rows: vec![],
            ranges: vec![],
            partition: vec![],
        }
    }

    pub fn marker(&mut self, row: u8, at: i64, ttl: u32, second: i64) {
        self.markers.push((row, at, ttl, second));
    }

    #[expect(clippy::too_many_arguments, reason = "a cell has that many parts")]
    pub fn cell(
        &mut self,
        row: Option<u8>,
        column: ColumnId,
        path: Option<u8>,
        at: i64,
        ttl: u32,
        second: i64,
        value: Option<Vec<u8>>,
    ) {
        self.cells.push(CellFact { row, column, path, at, ttl, second, value });
    }

    pub fn complex_deletion(&mut self, row: Option<u8>, column: ColumnId, at: i64, second: i64) {
        self.complex.push((row, column, at, second));
    }

    pub fn row_deletion(&mut self, row: u8, at: i64, second: i64) {
        self.rows.push((row, at, second));
    }

    pub fn range_deletion(&mut self, start: Bound, end: Bound, at: i64, second: i64) {
        self.ranges.push((start, end, at, second));
    }

    pub fn partition_deletion(&mut self, at: i64, second: i64) {
        self.partition.push((at, second));
    }

    pub fn mutation(&self) -> Mutation {
        let time = |at, second| DeletionTime { timestamp_micros: at, local_seconds: second };
        let mut mutation = Mutation::new(table(), key(self.key));
        for (at, second) in &self.partition {
            mutation.deletion = mutation.deletion.max(time(*at, *second));
        }
        let mut builders: BTreeMap<Option<u8>, RowBuilder> = BTreeMap::new();
        let mut of = |row: Option<u8>, change: &mut dyn FnMut(&mut RowBuilder)| {
            change(builders.entry(row).or_insert_with(|| match row {
                None => RowBuilder::new_static(),
                Some(n) => RowBuilder::new(&clustering(n)),
            }));
        };
        for (row, at, ttl, second) in &self.markers {
            let marker = match ttl {
                0 => Liveness::live(*at),
                ttl => Liveness {
                    timestamp_micros: *at,
                    ttl_seconds: *ttl,
                    expires_seconds: second + i64::from(*ttl),
                },
            };
            of(Some(*row), &mut |b| b.marker(marker));
        }
        for cell in &self.cells {
            let write = match (&cell.value, cell.ttl) {
                (None, _) => CellWrite::tombstone(cell.at, cell.second),
                (Some(value), 0) => CellWrite::live(cell.at, value),
                (Some(value), ttl) => {
                    CellWrite::expiring(cell.at, ttl, cell.second + i64::from(ttl), value)
                }
            };
            of(cell.row, &mut |b| match cell.path {
                None => b.cell(cell.column, write),
                Some(path) => b.complex_cell(cell.column, &[2, path], &[path], write),
            });
        }
        for (row, column, at, second) in &self.complex {
            of(*row, &mut |b| b.complex_deletion(*column, time(*at, *second)));
        }
        for (row, at, second) in &self.rows {
            of(Some(*row), &mut |b| b.delete(time(*at, *second)));
        }
        for (row, builder) in builders {
            match row {
                None => mutation.static_row = Some(builder.build()),
                Some(_) => mutation.rows.push(builder.build()),
            }
        }
        for (start, end, at, second) in &self.ranges {
            mutation.ranges.push(RangeDeletion {
                start: start.clone(),
                end: end.clone(),
                deletion: time(*at, *second),
            });
        }
        mutation
    }
}
