//! A small table and short ways to write and read it, for tests of the cluster.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use cassling_engine::cluster::{Cluster, ClusterConfig, Datacenter};
use cassling_engine::error::{Error, WriteKind};
use cassling_engine::metrics::Cost;
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::row::clustering::Slice;
use cassling_engine::row::filter::RowFilter;
use cassling_engine::row::query::{KeyRange, Limits, Partitions, RowSelection};
use cassling_engine::row::{
    CellWrite, ClusteringKey, DecoratedKey, DeletionTime, Liveness, Mutation, ReadCommand,
    ReadResult, RowBuilder,
};
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, Keyspace, Replication, SchemaChange, Table, TableId, TableOptions,
};
use cassling_engine::types::CqlType;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

pub(crate) const NODE_1: NodeId = NodeId(1);
pub(crate) const NODE_2: NodeId = NodeId(2);
pub(crate) const NODE_3: NodeId = NodeId(3);

/// A cluster of `nodes` in one data centre, with keyspace `ks` and `CREATE TABLE ks.t (p int, c int, v text, PRIMARY KEY (p, c))`.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) table: Arc<Table>,
}

pub(crate) fn table(read_repair: &str) -> Arc<Table> {
    let column = |id, name: &str, ty, kind| Column {
        id: ColumnId(id),
        name: name.to_string(),
        ty,
        kind,
        position: 0,
        descending: false,
        dropped_at_micros: None,
    };
    let columns = vec![
        column(0, "p", CqlType::Int, ColumnKind::PartitionKey),
        column(1, "c", CqlType::Int, ColumnKind::Clustering),
        column(2, "v", CqlType::Text, ColumnKind::Regular),
    ];
    let options = TableOptions { read_repair: read_repair.to_string(), ..TableOptions::default() };
    let id = TableId(Uuid::from_u128(7));
    Arc::new(Table::new(id, "ks", "t", columns, BTreeMap::new(), options))
}

pub(crate) fn one_datacenter(nodes: usize) -> ClusterConfig {
    let name = "datacenter1".to_string();
    ClusterConfig {
        datacenters: vec![Datacenter { name, nodes, racks: 1 }],
        seed: 42,
        ..ClusterConfig::default()
    }
}

impl World {
    pub(crate) fn new(nodes: usize, replication_factor: usize) -> World {
        let replication = Replication::Simple { replication_factor };
        World::with(one_datacenter(nodes), replication, table("BLOCKING"))
    }

    pub(crate) fn with(
        config: ClusterConfig,
        replication: Replication,
        table: Arc<Table>,
    ) -> World {
        let cluster = Cluster::build(config).unwrap();
        let keyspace = Keyspace {
            name: "ks".to_string(),
            replication,
            durable_writes: true,
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
        };
        cluster.change_schema(NODE_1, SchemaChange::PutKeyspace(Arc::new(keyspace))).unwrap();
        cluster.change_schema(NODE_1, SchemaChange::PutTable(Arc::clone(&table))).unwrap();
        World { cluster, table }
    }

    pub(crate) fn stop(&self, node: NodeId) {
        self.cluster.node(node).unwrap().stop();
    }

    pub(crate) fn start(&self, node: NodeId) {
        self.cluster.node(node).unwrap().start().unwrap();
    }

    /// INSERT INTO ks.t (p, c, v) VALUES (p, c, v)
    pub(crate) fn insert(&self, p: i32, c: i32, v: &str) -> Mutation {
        let timestamp = self.cluster.next_timestamp_micros();
        let mut row = RowBuilder::new(&self.clustering(c));
        row.marker(Liveness::live(timestamp));
        row.cell(ColumnId(2), CellWrite::live(timestamp, v.as_bytes()));
        let mut mutation = Mutation::new(Arc::clone(&self.table), key(p));
        mutation.rows.push(row.build());
        mutation
    }

    /// DELETE FROM ks.t WHERE p = p AND c = c
    pub(crate) fn delete(&self, p: i32, c: i32) -> Mutation {
        let timestamp_micros = self.cluster.next_timestamp_micros();
        let local_seconds = self.cluster.clock().now_seconds();
        let mut row = RowBuilder::new(&self.clustering(c));
        row.delete(DeletionTime { timestamp_micros, local_seconds });
        let mut mutation = Mutation::new(Arc::clone(&self.table), key(p));
        mutation.rows.push(row.build());
        mutation
    }

    fn clustering(&self, c: i32) -> ClusteringKey {
        ClusteringKey::new(&self.table, &[&c.to_be_bytes()])
    }

    pub(crate) fn write(
        &self,
        node: NodeId,
        mutations: Vec<Mutation>,
        level: Consistency,
        kind: WriteKind,
    ) -> Result<Cost, Error> {
        let cluster = self.cluster.clone();
        self.cluster.block_on(async move { cluster.write(node, mutations, level, kind).await })
    }

    pub(crate) fn put(
        &self,
        node: NodeId,
        p: i32,
        c: i32,
        v: &str,
        level: Consistency,
    ) -> Result<Cost, Error> {
        self.write(node, vec![self.insert(p, c, v)], level, WriteKind::Simple)
    }

    pub(crate) fn remove(
        &self,
        node: NodeId,
        p: i32,
        c: i32,
        level: Consistency,
    ) -> Result<Cost, Error> {
        self.write(node, vec![self.delete(p, c)], level, WriteKind::Simple)
    }

    pub(crate) fn command(&self, partitions: Partitions) -> ReadCommand {
        command(&self.table, partitions, self.cluster.clock().now_seconds())
    }

    pub(crate) fn read(
        &self,
        node: NodeId,
        command: ReadCommand,
        level: Consistency,
    ) -> Result<ReadResult, Error> {
        let cluster = self.cluster.clone();
        self.cluster.block_on(async move { cluster.read(node, command, level).await })
    }

    /// SELECT p, c, v FROM ks.t WHERE p = p: rows as text, and what it cost.
    pub(crate) fn get(
        &self,
        node: NodeId,
        p: i32,
        level: Consistency,
    ) -> Result<(Vec<String>, Cost), Error> {
        let result = self.read(node, self.command(Partitions::Keys(vec![key(p)].into())), level)?;
        Ok((rows(&self.table, &result), result.cost))
    }

    /// The only row's value, or nothing.
    pub(crate) fn value(&self, node: NodeId, p: i32, level: Consistency) -> String {
        let (rows, _) = self.get(node, p, level).unwrap();
        rows.join(" ")
    }
}

pub(crate) fn command(table: &Arc<Table>, partitions: Partitions, now_seconds: i64) -> ReadCommand {
    ReadCommand {
        table: Arc::clone(table),
        partitions,
        rows: RowSelection::Slices(vec![Slice::all()].into()),
        reversed: false,
        columns: table.statics_and_regulars().iter().map(|c| c.id).collect(),
        filter: RowFilter::default(),
        limits: Limits::NONE,
        static_only_counts: false,
        distinct: false,
        now_seconds,
        every_key: false,
        only_columns: false,
        shown: Default::default(),
    }
}

pub(crate) fn everything() -> Partitions {
    Partitions::Range(KeyRange::default())
}

pub(crate) fn key(p: i32) -> DecoratedKey {
    DecoratedKey::new(Bytes::copy_from_slice(&p.to_be_bytes()))
}

/// Rows as `p/c=v`.
pub(crate) fn rows(table: &Table, result: &ReadResult) -> Vec<String> {
    let mut out = Vec::new();
    for partition in &result.partitions {
        let p = i32::from_be_bytes(partition.key.bytes[..].try_into().unwrap());
        for row in &partition.rows {
            // Component header, then the int with its sign bit flipped.
            let encoded: [u8; 4] = row.position()[1..5].try_into().unwrap();
            let c = i32::from_be_bytes(encoded) ^ i32::MIN;
            let value = row.cell(table.column("v").unwrap().id);
            let value = value.map_or("null".into(), |cell| String::from_utf8_lossy(cell.value));
            out.push(format!("{p}/{c}={value}"));
        }
    }
    out
}

/// Keys 0, 1, 2 ... whose replicas pass the test.
pub(crate) fn key_with(world: &World, wanted: impl Fn(&[NodeId]) -> bool) -> i32 {
    let is_wanted = |p: &i32| wanted(&world.cluster.replicas("ks", &key(*p)).unwrap());
    (0..10_000).find(is_wanted).expect("some key lies there")
}
