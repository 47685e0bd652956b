//! Cassandra's own tables: what drivers read before their first statement. Expected rows are those that a running
//! Cassandra 5.0.2 gave for the same definitions (answers/system-schema, answers/system-tables, cluster-answers.md 4).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster_support;

use bytes::Bytes;
use cassling_engine::cluster::Cluster;
use cassling_engine::error::Error;
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::row::clustering::values;
use cassling_engine::row::query::Partitions;
use cassling_engine::row::{DecoratedKey, ReadResult};
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, DroppedColumn, Keyspace, Replication, SchemaChange, Table,
    TableId, TableOptions,
};
use cassling_engine::types::{CqlType, UserType};
use cluster_support::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

fn select(
    cluster: &Cluster,
    node: NodeId,
    name: &str,
    key: Option<&[u8]>,
) -> Vec<BTreeMap<String, Vec<u8>>> {
    let (keyspace, table) = name.split_once('.').unwrap();
    let table = Arc::clone(cluster.schema(node).table(keyspace, table).unwrap());
    let partitions = match key {
        Some(key) => Partitions::Keys(vec![DecoratedKey::new(Bytes::copy_from_slice(key))].into()),
        None => everything(),
    };
    let command = command(&table, partitions, cluster.clock().now_seconds());
    let reader = cluster.clone();
    let read = async move { reader.read(node, command, Consistency::LocalOne).await };
    as_maps(&table, &cluster.block_on(read).unwrap())
}

fn as_maps(table: &Table, result: &ReadResult) -> Vec<BTreeMap<String, Vec<u8>>> {
    let mut all = Vec::new();
    for partition in &result.partitions {
        let key_columns = table.partition_key();
        for row in &partition.rows {
            let mut map = BTreeMap::new();
            for (column, value) in
                key_columns.iter().zip(partition.key.components(key_columns.len()))
            {
                map.insert(column.name.clone(), value.to_vec());
            }
            let clustering = values(table, row.position(), row.raw_clustering());
            for (column, value) in table.clustering().iter().zip(clustering) {
                map.insert(column.name.clone(), value);
            }
            for cell in row.cells() {
                let name = table.column_by_id(cell.column).unwrap().name.clone();
                match cell.path {
                    // A set's elements, one after another, each followed by a space.
                    Some(path) => {
                        let set = map.entry(name).or_default();
                        set.extend_from_slice(path.value);
                        set.push(b' ');
                    }
                    None => {
                        map.insert(name, cell.value.to_vec());
                    }
                }
            }
            all.push(map);
        }
    }
    all
}

fn text(row: &BTreeMap<String, Vec<u8>>, column: &str) -> String {
    row.get(column).map_or("null".to_string(), |v| String::from_utf8(v.clone()).unwrap())
}

fn int(row: &BTreeMap<String, Vec<u8>>, column: &str) -> i32 {
    i32::from_be_bytes(row[column][..].try_into().unwrap())
}

#[test]
fn system_local_describes_the_node_asked() {
    let world = World::new(3, 3);
    for node in [NODE_1, NODE_3] {
        let rows = select(&world.cluster, node, "system.local", None);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        let info = world.cluster.topology().node(node).unwrap();
        let address = vec![127, 0, 0, u8::try_from(node.0).unwrap()];
        for column in ["broadcast_address", "listen_address", "rpc_address"] {
            assert_eq!(row[column], address, "{column}");
        }
        for (column, expected) in [
            ("key", "local"),
            ("bootstrapped", "COMPLETED"),
            ("cluster_name", "cassling"),
            ("cql_version", "3.4.7"),
            ("data_center", "datacenter1"),
            ("native_protocol_version", "5"),
            ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
            ("rack", "rack1"),
            ("release_version", "5.0.2"),
            ("truncated_at", "null"),
        ] {
            assert_eq!(text(row, column), expected, "{column}");
        }
        assert_eq!((int(row, "listen_port"), int(row, "rpc_port")), (7000, 9042));
        assert_eq!(int(row, "gossip_generation"), 1_796_083_200);
        assert_eq!(row["host_id"], info.host_id.as_bytes());
        assert_eq!(row["schema_version"], world.cluster.schema(node).version.as_bytes());
        let mut tokens: Vec<String> = info.tokens.iter().map(|t| t.0.to_string()).collect();
        tokens.sort();
        assert_eq!(text(row, "tokens").trim_end(), tokens.join(" "), "16 tokens, sorted as text");
    }
    assert_eq!(select(&world.cluster, NODE_1, "system.local", Some(b"local")).len(), 1);
    assert_eq!(select(&world.cluster, NODE_1, "system.local", Some(b"other")).len(), 0);
}

#[test]
fn system_peers_are_the_others_in_the_order_of_their_tokens() {
    let world = World::new(3, 3);
    world.stop(NODE_2);
    for (table, address_column) in
        [("system.peers", "rpc_address"), ("system.peers_v2", "native_address")]
    {
        let rows = select(&world.cluster, NODE_1, table, None);
        let peers: Vec<&[u8]> = rows.iter().map(|row| &row["peer"][..]).collect();
        // As recorded, and a node that is down keeps its row.
        assert_eq!(peers, [[127, 0, 0, 3], [127, 0, 0, 2]]);
        assert_eq!(rows[0][address_column], [127, 0, 0, 3]);
        assert_eq!(text(&rows[0], "release_version"), "5.0.2");
        assert!(!rows[0].contains_key("preferred_ip"));
    }
    let rows = select(&world.cluster, NODE_1, "system.peers_v2", Some(&[127, 0, 0, 2]));
    assert_eq!((int(&rows[0], "peer_port"), int(&rows[0], "native_port")), (7000, 9042));
    assert_eq!(
        select(&Cluster::build(one_datacenter(1)).unwrap(), NODE_1, "system.peers", None).len(),
        0
    );
}

#[test]
fn system_schema_lists_its_own_tables() {
    let cluster = Cluster::build(one_datacenter(1)).unwrap();
    let rows = select(&cluster, NODE_1, "system_schema.tables", None);
    assert_eq!(rows.len(), 48, "as counted on a running Cassandra 5.0.2");
    assert_eq!(select(&cluster, NODE_1, "system_schema.columns", None).len(), 313);
    let rows = select(&cluster, NODE_1, "system_schema.tables", Some(b"system_schema"));
    let names: Vec<String> = rows.iter().map(|row| text(row, "table_name")).collect();
    let expected = [
        "aggregates",
        "column_masks",
        "columns",
        "dropped_columns",
        "functions",
        "indexes",
        "keyspaces",
        "tables",
        "triggers",
        "types",
        "views",
    ];
    assert_eq!(names, expected);
    let paxos = select(&cluster, NODE_1, "system_schema.tables", Some(b"system"));
    let paxos = paxos.iter().find(|row| text(row, "table_name") == "paxos").unwrap();
    assert!(text(paxos, "compaction").contains("LeveledCompactionStrategy"));
    let keyspaces = select(&cluster, NODE_1, "system_schema.keyspaces", None);
    let mut names: Vec<String> = keyspaces.iter().map(|row| text(row, "keyspace_name")).collect();
    names.sort();
    let expected =
        ["system", "system_auth", "system_distributed", "system_schema", "system_traces"];
    assert_eq!(names, expected);
    for empty in
        ["views", "indexes", "functions", "aggregates", "triggers", "column_masks", "types"]
    {
        assert_eq!(select(&cluster, NODE_1, &format!("system_schema.{empty}"), None).len(), 0);
    }
}

fn column(id: u16, name: &str, ty: CqlType, kind: ColumnKind, position: usize) -> Column {
    let descending = name == "c";
    Column {
        id: ColumnId(id),
        name: name.to_string(),
        ty,
        kind,
        position,
        descending,
        dropped_at_micros: None,
    }
}

/// Type `addr (street text, "Zip" int, tags frozen<set<text>>)`.
fn addr() -> Arc<UserType> {
    let fields = [
        ("street", CqlType::Text),
        ("Zip", CqlType::Int),
        ("tags", CqlType::set(CqlType::Text).freeze()),
    ];
    let fields = fields.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect();
    Arc::new(UserType { keyspace: "r_sys".to_string(), name: "addr".to_string(), fields })
}

/// Keyspace r_sys of answers/system-schema, cut down: type addr, table t, counter table n.
fn keyspace() -> Keyspace {
    let definition = addr();
    let udt = |frozen| CqlType::Udt { definition: Arc::clone(&definition), frozen };
    let columns = vec![
        column(0, "k", CqlType::Int, ColumnKind::PartitionKey, 0),
        column(1, "K2", CqlType::Text, ColumnKind::PartitionKey, 1),
        column(2, "c", CqlType::Timestamp, ColumnKind::Clustering, 0),
        column(3, "C2", CqlType::Int, ColumnKind::Clustering, 1),
        column(4, "s", CqlType::Text, ColumnKind::Static, 0),
        column(5, "v", CqlType::map(CqlType::Text, udt(true)), ColumnKind::Regular, 0),
        column(6, "ud", udt(false), ColumnKind::Regular, 0),
    ];
    let dropped = |id, name: &str, ty| {
        let column = column(id, name, ty, ColumnKind::Regular, 0);
        (name.to_string(), DroppedColumn { column, dropped_at_micros: 2_999 })
    };
    let dropped = BTreeMap::from([
        dropped(7, "b", udt(true)),
        dropped(8, "l", CqlType::list(udt(true))),
        dropped(9, "e", CqlType::Vector { element: Arc::new(udt(true)), dimensions: 2 }),
    ]);
    let options = TableOptions {
        comment: "it's".to_string(),
        gc_grace_seconds: 5,
        default_time_to_live_seconds: 7,
        allow_auto_snapshot: false,
        ..TableOptions::default()
    };
    let t = Table::new(TableId(Uuid::from_u128(1)), "r_sys", "t", columns, dropped, options);
    let columns = vec![
        column(0, "k", CqlType::Int, ColumnKind::PartitionKey, 0),
        column(1, "n", CqlType::Counter, ColumnKind::Regular, 0),
    ];
    let compaction = BTreeMap::from([(
        "class".to_string(),
        "org.apache.cassandra.db.compaction.LeveledCompactionStrategy".to_string(),
    )]);
    let options = TableOptions { compaction, ..TableOptions::default() };
    let n =
        Table::new(TableId(Uuid::from_u128(2)), "r_sys", "n", columns, BTreeMap::new(), options);
    Keyspace {
        name: "r_sys".to_string(),
        replication: Replication::Simple { replication_factor: 1 },
        durable_writes: true,
        tables: [t, n].into_iter().map(|t| (t.name.clone(), Arc::new(t))).collect(),
        types: BTreeMap::from([("addr".to_string(), definition)]),
    }
}

fn with_keyspace() -> Cluster {
    let cluster = Cluster::build(one_datacenter(1)).unwrap();
    let keyspace = keyspace();
    let empty = Keyspace { tables: BTreeMap::new(), types: BTreeMap::new(), ..keyspace.clone() };
    cluster.change_schema(NODE_1, SchemaChange::PutKeyspace(Arc::new(empty))).unwrap();
    for ty in keyspace.types.values() {
        cluster.change_schema(NODE_1, SchemaChange::PutType(Arc::clone(ty))).unwrap();
    }
    for table in keyspace.tables.values() {
        cluster.change_schema(NODE_1, SchemaChange::PutTable(Arc::clone(table))).unwrap();
    }
    cluster
}

#[test]
fn system_schema_columns_are_those_of_the_table() {
    let rows = select(&with_keyspace(), NODE_1, "system_schema.columns", Some(b"r_sys"));
    let found: Vec<String> = rows
        .iter()
        .map(|row| {
            let words = [
                "table_name",
                "column_name",
                "clustering_order",
                "column_name_bytes",
                "kind",
                "type",
            ];
            let words = words.map(|column| text(row, column));
            format!("{} {}", words.join(" "), int(row, "position"))
        })
        .collect();
    let expected = [
        "n k none k partition_key int 0",
        "n n none n regular counter -1",
        "t C2 asc C2 clustering int 1",
        "t K2 none K2 partition_key text 1",
        "t c desc c clustering timestamp 0",
        "t k none k partition_key int 0",
        "t s none s static text -1",
        "t ud none ud regular addr -1",
        "t v none v regular map<text, frozen<addr>> -1",
    ];
    assert_eq!(found, expected);
}

#[test]
fn system_schema_tables_show_options_as_cassandra_stores_them() {
    let rows = select(&with_keyspace(), NODE_1, "system_schema.tables", Some(b"r_sys"));
    let [n, t] = &rows[..] else { panic!("two tables: {rows:?}") };
    let wire = |parts: &[&str]| {
        let mut bytes = u32::try_from(parts.len()).unwrap().to_be_bytes().to_vec();
        for part in parts {
            bytes.extend_from_slice(&u32::try_from(part.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    };
    assert_eq!(t["flags"], wire(&["compound"]));
    assert_eq!(n["flags"], wire(&["compound", "counter"]));
    let mut caching = wire(&["keys", "ALL", "rows_per_partition", "NONE"]);
    caching[3] = 2;
    assert_eq!(t["caching"], caching);
    assert_eq!(t["extensions"], [0, 0, 0, 0]);
    assert_eq!((text(t, "comment"), text(n, "comment")), ("it's".to_string(), String::new()));
    assert_eq!((int(t, "gc_grace_seconds"), int(t, "default_time_to_live")), (5, 7));
    assert_eq!(t["bloom_filter_fp_chance"], 0.01f64.to_be_bytes());
    assert_eq!(
        n["bloom_filter_fp_chance"],
        0.1f64.to_be_bytes(),
        "the default of Leveled compaction"
    );
    assert_eq!(
        (t["read_repair_chance"].clone(), t["crc_check_chance"].clone()),
        (0f64.to_be_bytes().to_vec(), 1f64.to_be_bytes().to_vec(),)
    );
    assert_eq!(t["allow_auto_snapshot"], [0]);
    assert_eq!(t["id"], Uuid::from_u128(1).as_bytes());
    for default_is_null in ["allow_auto_snapshot", "incremental_backups", "cdc", "memtable"] {
        assert!(!n.contains_key(default_is_null), "{default_is_null}");
    }
    let columns =
        with_keyspace().schema(NODE_1).table("system_schema", "tables").unwrap().columns().len();
    assert_eq!(columns, 25);
}

/// User types in dropped columns are written out as tuples, except inside vectors (asked of a running Cassandra).
#[test]
fn system_schema_keeps_dropped_columns_and_types() {
    let cluster = with_keyspace();
    let rows = select(&cluster, NODE_1, "system_schema.dropped_columns", Some(b"r_sys"));
    let found: Vec<String> = rows
        .iter()
        .map(|row| {
            format!("{} {} {}", text(row, "column_name"), text(row, "kind"), text(row, "type"))
        })
        .collect();
    let expected = [
        "b regular frozen<tuple<text, int, frozen<set<text>>>>",
        "e regular vector<frozen<addr>, 2>",
        "l regular list<frozen<tuple<text, int, frozen<set<text>>>>>",
    ];
    assert_eq!(found, expected);
    assert_eq!(rows[0]["dropped_time"], 2i64.to_be_bytes());
    let rows = select(&cluster, NODE_1, "system_schema.types", Some(b"r_sys"));
    let bytes = b"\0\0\0\x03\0\0\0\x04text\0\0\0\x03int\0\0\0\x11frozen<set<text>>";
    assert_eq!(rows[0]["field_types"], bytes);
    assert_eq!(rows[0]["field_names"], b"\0\0\0\x03\0\0\0\x06street\0\0\0\x03Zip\0\0\0\x04tags");
}

/// Asked of a running Cassandra: a level that one node cannot meet is refused for its own tables too.
#[test]
fn a_system_table_has_one_replica() {
    let world = World::new(3, 3);
    let read = |level| {
        let table = Arc::clone(world.cluster.schema(NODE_1).table("system", "local").unwrap());
        world.read(NODE_1, command(&table, everything(), 0), level)
    };
    let error = read(Consistency::Two).unwrap_err();
    let expected = Error::Unavailable {
        consistency: Consistency::Two,
        required: 2,
        alive: 1,
        datacenter: None,
    };
    assert_eq!(error, expected);
    for level in [Consistency::One, Consistency::Quorum, Consistency::EachQuorum, Consistency::All]
    {
        let found = read(level).unwrap();
        assert_eq!((found.partitions.len(), found.cost.nodes, found.cost.messages), (1, 1, 0));
    }
}

#[test]
fn a_schema_change_is_seen_at_once_on_every_node() {
    let world = World::new(3, 2);
    let listed = |node| {
        let rows = select(&world.cluster, node, "system_schema.tables", None);
        rows.iter().any(|row| text(row, "keyspace_name") == "ks")
    };
    let before = world.cluster.schema(NODE_2).version;
    assert!([NODE_1, NODE_2, NODE_3].map(listed).iter().all(|&yes| yes));
    let change = SchemaChange::DropTable { keyspace: "ks".to_string(), table: "t".to_string() };
    world.cluster.change_schema(NODE_1, change).unwrap();
    assert!([NODE_1, NODE_2, NODE_3].map(listed).iter().all(|&yes| !yes));
    assert_ne!(world.cluster.schema(NODE_2).version, before);
    let error = world.put(NODE_1, 1, 1, "a", Consistency::One).unwrap_err();
    assert_eq!(error.to_string(), "unconfigured table t");
}
