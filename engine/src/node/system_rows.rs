//! The rows of `system` and `system_schema`, made from topology and schema.
//!
//! A read of such a table fills a table store of its own and runs on it like any other read, so that restrictions, limits and
//! paging are those of ordinary tables:
//!
//! ```text
//! SELECT * FROM system_schema.columns WHERE keyspace_name = 'shop'
//!   -> one row for each column of each table of keyspace shop -> a store in memory -> the read
//! ```
//!
//! A read by key makes only the partitions that it names. A read of the whole table keeps the store until the
//! schema changes, because drivers page through it.

use super::system::{
    CQL_VERSION, NATIVE_PORT, NATIVE_PROTOCOL_VERSION, RELEASE_VERSION, STORAGE_PORT,
};
use super::{Node, PlacedSchema};
use crate::error::Error;
use crate::lsm::{LocalRead, TableStore};
use crate::ring::topology::NodeInfo;
use crate::row::query::Partitions;
use crate::row::{
    CellWrite, ClusteringKey, DecoratedKey, Liveness, Mutation, ReadCommand, RowBuilder,
};
use crate::schema::{Column, ColumnKind, Keyspace, Table, TableId};
use crate::sim::disk::MemoryDisk;
use crate::types::{CqlType, codec, order};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Stores made for whole tables.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<BTreeMap<TableId, Shown>>);

/// A store filled from a schema.
#[derive(Clone, Debug)]
struct Shown {
    schema: Arc<PlacedSchema>,
    store: Arc<TableStore>,
}

/// Reads a system table on this node.
pub(super) fn read(node: &Node, command: &ReadCommand) -> Result<LocalRead, Error> {
    let table = &command.table;
    let placed = Arc::clone(&node.view().placed);
    let kept = node.system_rows.0.lock().get(&table.id).cloned();
    let kept = kept.filter(|shown| Arc::ptr_eq(&shown.schema, &placed)).map(|shown| shown.store);
    match (kept, &command.partitions) {
        (Some(store), _) => store.read(command),
        (None, Partitions::Keys(keys)) => {
            let names: Vec<&[u8]> = keys.iter().map(|key| &key.bytes[..]).collect();
            fill(node, table, &placed, &|key| names.contains(&key))?.read(command)
        }
        (None, Partitions::Range(_)) => {
            let store = Arc::new(fill(node, table, &placed, &|_| true)?);
            let shown = Shown { schema: placed, store: Arc::clone(&store) };
            node.system_rows.0.lock().insert(table.id, shown);
            store.read(command)
        }
    }
}

/// A store with those partitions of the table whose first key column is wanted.
fn fill(
    node: &Node,
    table: &Arc<Table>,
    placed: &PlacedSchema,
    is_wanted: &dyn Fn(&[u8]) -> bool,
) -> Result<TableStore, Error> {
    let store =
        TableStore::new(Arc::clone(table), Arc::new(MemoryDisk::default()), table.name.clone());
    let write = |row: Cells| store.apply(&row.into_mutation(table));
    match (table.keyspace.as_str(), table.name.as_str()) {
        ("system", "local") if is_wanted(b"local") => write(local(node, placed))?,
        ("system", "peers") => {
            // Their keys are addresses, two of them in peers_v2: few enough to make them all.
            other_nodes(node).map(|peer| peer_row(peer, placed)).try_for_each(write)?;
        }
        ("system", "peers_v2") => {
            other_nodes(node).map(|peer| peer_v2_row(peer, placed)).try_for_each(write)?;
        }
        ("system_schema", name) => {
            let rows_of = match name {
                "keyspaces" => keyspace_rows,
                "tables" => table_rows,
                "columns" => column_rows,
                "dropped_columns" => dropped_column_rows,
                "types" => type_rows,
                _ => return Ok(store),
            };
            let keyspaces = placed.schema.keyspaces.values();
            for keyspace in keyspaces.filter(|k| is_wanted(k.name.as_bytes())) {
                rows_of(keyspace).into_iter().try_for_each(write)?;
            }
        }
        _ => {}
    }
    Ok(store)
}

fn other_nodes(node: &Node) -> impl Iterator<Item = &NodeInfo> {
    node.config.topology.nodes.iter().filter(|info| info.id != node.id())
}

/// The values of one row by column name; a column left out is null.
#[derive(Default)]
struct Cells(BTreeMap<&'static str, Vec<u8>>);

impl Cells {
    fn bytes(mut self, column: &'static str, value: Vec<u8>) -> Cells {
        self.0.insert(column, value);
        self
    }

    fn text(self, column: &'static str, value: &str) -> Cells {
        self.bytes(column, value.as_bytes().to_vec())
    }

    fn int(self, column: &'static str, value: i32) -> Cells {
        self.bytes(column, value.to_be_bytes().to_vec())
    }

    fn unsigned(self, column: &'static str, value: u32) -> Cells {
        self.int(column, i32::try_from(value).unwrap_or(i32::MAX))
    }

    fn double(self, column: &'static str, value: f64) -> Cells {
        self.bytes(column, value.to_be_bytes().to_vec())
    }

    fn boolean(self, column: &'static str, value: bool) -> Cells {
        self.bytes(column, vec![u8::from(value)])
    }

    fn inet(self, column: &'static str, value: IpAddr) -> Cells {
        let bytes = match value {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        self.bytes(column, bytes)
    }

    fn uuid(self, column: &'static str, value: uuid::Uuid) -> Cells {
        self.bytes(column, value.as_bytes().to_vec())
    }

    fn map(self, column: &'static str, value: &BTreeMap<String, String>) -> Cells {
        let entries = value.iter().map(|(k, v)| (k.as_bytes(), v.as_bytes()));
        self.bytes(column, codec::write_entries(entries))
    }

    fn texts<'a>(self, column: &'static str, values: impl IntoIterator<Item = &'a str>) -> Cells {
        self.bytes(column, codec::write_elements(values.into_iter().map(str::as_bytes)))
    }

    /// The row as a mutation of timestamp 0, as Cassandra writes its own definitions.
    fn into_mutation(mut self, table: &Arc<Table>) -> Mutation {
        let mut take = |columns: &[Column]| -> Vec<Vec<u8>> {
            let mut value = |c: &Column| self.0.remove(c.name.as_str());
            columns
                .iter()
                .map(|c| value(c).expect("every key column of a system row is set"))
                .collect()
        };
        let (key, clustering) = (take(table.partition_key()), take(table.clustering()));
        let key: Vec<&[u8]> = key.iter().map(Vec::as_slice).collect();
        let clustering: Vec<&[u8]> = clustering.iter().map(Vec::as_slice).collect();
        let mut row = RowBuilder::new(&ClusteringKey::new(table, &clustering));
        row.marker(Liveness::live(0));
        for (name, value) in &self.0 {
            let column = table.column(name).expect("system rows name columns of their table");
            match &column.ty {
                CqlType::Set { element, frozen: false } => {
                    let elements = codec::elements(value).expect("written by texts");
                    for element_value in elements.into_iter().flatten() {
                        let mut position = Vec::new();
                        order::encode(element, element_value, false, &mut position);
                        row.complex_cell(
                            column.id,
                            &position,
                            element_value,
                            CellWrite::live(0, &[]),
                        );
                    }
                }
                _ => row.cell(column.id, CellWrite::live(0, value)),
            }
        }
        let mut mutation = Mutation::new(Arc::clone(table), DecoratedKey::from_components(&key));
        mutation.rows.push(row.build());
        mutation
    }
}

fn tokens(info: &NodeInfo) -> Vec<String> {
    info.tokens.iter().map(|token| token.0.to_string()).collect()
}

fn local(node: &Node, placed: &PlacedSchema) -> Cells {
    let info = node.config.topology.node(node.id()).expect("a node is in its topology");
    Cells::default()
        .text("key", "local")
        .text("bootstrapped", "COMPLETED")
        .inet("broadcast_address", info.address)
        .int("broadcast_port", STORAGE_PORT)
        .text("cluster_name", &node.config.cluster_name)
        .text("cql_version", CQL_VERSION)
        .text("data_center", &info.datacenter)
        .int("gossip_generation", i32::try_from(node.started_seconds).unwrap_or(i32::MAX))
        .uuid("host_id", info.host_id)
        .inet("listen_address", info.address)
        .int("listen_port", STORAGE_PORT)
        .text("native_protocol_version", NATIVE_PROTOCOL_VERSION)
        .text("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner")
        .text("rack", &info.rack)
        .text("release_version", RELEASE_VERSION)
        .inet("rpc_address", info.address)
        .int("rpc_port", NATIVE_PORT)
        .uuid("schema_version", placed.schema.version)
        .texts("tokens", tokens(info).iter().map(String::as_str))
}

fn peer_base(info: &NodeInfo, placed: &PlacedSchema) -> Cells {
    Cells::default()
        .inet("peer", info.address)
        .text("data_center", &info.datacenter)
        .uuid("host_id", info.host_id)
        .text("rack", &info.rack)
        .text("release_version", RELEASE_VERSION)
        .uuid("schema_version", placed.schema.version)
        .texts("tokens", tokens(info).iter().map(String::as_str))
}

fn peer_row(info: &NodeInfo, placed: &PlacedSchema) -> Cells {
    peer_base(info, placed).inet("rpc_address", info.address)
}

fn peer_v2_row(info: &NodeInfo, placed: &PlacedSchema) -> Cells {
    peer_base(info, placed)
        .int("peer_port", STORAGE_PORT)
        .inet("native_address", info.address)
        .int("native_port", NATIVE_PORT)
}

fn keyspace_rows(keyspace: &Keyspace) -> Vec<Cells> {
    let row = Cells::default()
        .text("keyspace_name", &keyspace.name)
        .boolean("durable_writes", keyspace.durable_writes)
        .map("replication", &keyspace.replication.as_map());
    vec![row]
}

fn table_rows(keyspace: &Keyspace) -> Vec<Cells> {
    keyspace.tables.values().map(|table| table_row(table)).collect()
}

fn table_row(table: &Table) -> Cells {
    let options = &table.options;
    let extensions = options.extensions.iter().map(|(k, v)| (k.as_bytes(), v.as_slice()));
    let flags: &[&str] = if table.is_counter { &["compound", "counter"] } else { &["compound"] };
    let mut row = Cells::default()
        .text("keyspace_name", &table.keyspace)
        .text("table_name", &table.name)
        .text("additional_write_policy", &options.additional_write_policy)
        .double("bloom_filter_fp_chance", bloom_filter_fp_chance(table))
        .map("caching", &options.caching)
        .text("comment", &options.comment)
        .map("compaction", &options.compaction)
        .map("compression", &options.compression)
        .double("crc_check_chance", options.crc_check_chance)
        .double("dclocal_read_repair_chance", 0.0)
        .unsigned("default_time_to_live", options.default_time_to_live_seconds)
        .bytes("extensions", codec::write_entries(extensions))
        .texts("flags", flags.iter().copied())
        .unsigned("gc_grace_seconds", options.gc_grace_seconds)
        .uuid("id", table.id.0)
        .unsigned("max_index_interval", options.max_index_interval)
        .unsigned("memtable_flush_period_in_ms", options.memtable_flush_period_millis)
        .unsigned("min_index_interval", options.min_index_interval)
        .text("read_repair", &options.read_repair)
        .double("read_repair_chance", 0.0)
        .text("speculative_retry", &options.speculative_retry);
    // Cassandra stores these only when they differ from the default, so that older nodes can read the row.
    let stored = [
        ("allow_auto_snapshot", options.allow_auto_snapshot_shown()),
        ("incremental_backups", options.incremental_backups_shown()),
        ("cdc", options.cdc_shown()),
    ];
    for (name, value) in stored {
        if let Some(value) = value {
            row = row.boolean(name, value);
        }
    }
    match &options.memtable {
        Some(memtable) => row.text("memtable", memtable),
        None => row,
    }
}

/// The option, or the default that its compaction strategy gives (sheet A.11).
fn bloom_filter_fp_chance(table: &Table) -> f64 {
    let is_leveled = || {
        let class = table.options.compaction.get("class");
        class.is_some_and(|class| class.ends_with("LeveledCompactionStrategy"))
    };
    match table.options.bloom_filter_fp_chance {
        Some(chance) => chance,
        None if is_leveled() => 0.1,
        None => 0.01,
    }
}

fn column_rows(keyspace: &Keyspace) -> Vec<Cells> {
    let columns = keyspace.tables.values().flat_map(|t| t.columns().iter().map(move |c| (t, c)));
    columns.map(|(table, column)| column_row(table, column)).collect()
}

fn column_row(table: &Table, column: &Column) -> Cells {
    let clustering_order = match (column.kind, column.descending) {
        (ColumnKind::Clustering, true) => "desc",
        (ColumnKind::Clustering, false) => "asc",
        _ => "none",
    };
    let position = match column.is_primary_key() {
        true => i32::try_from(column.position).expect("keys have few columns"),
        false => -1,
    };
    Cells::default()
        .text("keyspace_name", &table.keyspace)
        .text("table_name", &table.name)
        .text("column_name", &column.name)
        .text("clustering_order", clustering_order)
        .text("column_name_bytes", &column.name)
        .text("kind", &column.kind.to_string())
        .int("position", position)
        .text("type", &column.ty.to_string())
}

fn dropped_column_rows(keyspace: &Keyspace) -> Vec<Cells> {
    let dropped = keyspace.tables.values().flat_map(|t| t.dropped.values().map(move |d| (t, d)));
    dropped
        .map(|(table, dropped)| {
            let dropped_millis = dropped.dropped_at_micros / 1_000;
            Cells::default()
                .text("keyspace_name", &table.keyspace)
                .text("table_name", &table.name)
                .text("column_name", &dropped.column.name)
                .bytes("dropped_time", dropped_millis.to_be_bytes().to_vec())
                .text("kind", &dropped.column.kind.to_string())
                .text("type", &without_user_types(&dropped.column.ty).to_string())
        })
        .collect()
}

/// A dropped column must outlive the user types it used: they are written out as tuples (Cassandra's
/// `expandUserTypes`, which leaves vectors as they are).
fn without_user_types(ty: &CqlType) -> CqlType {
    let expand = |ty: &Arc<CqlType>| Arc::new(without_user_types(ty));
    match ty {
        CqlType::Udt { definition, .. } => {
            let fields = definition.fields.iter();
            CqlType::Tuple(fields.map(|(_, ty)| without_user_types(ty).freeze()).collect())
        }
        CqlType::Tuple(parts) => CqlType::Tuple(parts.iter().map(without_user_types).collect()),
        CqlType::List { element, frozen } => {
            CqlType::List { element: expand(element), frozen: *frozen }
        }
        CqlType::Set { element, frozen } => {
            CqlType::Set { element: expand(element), frozen: *frozen }
        }
        CqlType::Map { key, value, frozen } => {
            CqlType::Map { key: expand(key), value: expand(value), frozen: *frozen }
        }
        other => other.clone(),
    }
}

fn type_rows(keyspace: &Keyspace) -> Vec<Cells> {
    let row = |ty: &Arc<crate::types::UserType>| {
        let types: Vec<String> = ty.fields.iter().map(|(_, ty)| ty.to_string()).collect();
        Cells::default()
            .text("keyspace_name", &keyspace.name)
            .text("type_name", &ty.name)
            .texts("field_names", ty.fields.iter().map(|(name, _)| name.as_str()))
            .texts("field_types", types.iter().map(String::as_str))
    };
    keyspace.types.values().map(row).collect()
}
