//! A node that was killed comes back with all that it acknowledged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster_support;

use cassling_engine::cluster::ClusterConfig;
use cassling_engine::ring::Consistency::{All, One};
use cassling_engine::schema::{Replication, SchemaChange};
use cluster_support::{NODE_1, NODE_2, World, one_datacenter, table};
use std::sync::Arc;

const MODES: [&str; 3] = ["periodic", "group", "batch"];

fn world(nodes: usize, settings: &[(&str, &str)]) -> World {
    let mut config: ClusterConfig = one_datacenter(nodes);
    for (key, value) in settings {
        config.settings.set(key, value).unwrap();
    }
    let replication = Replication::Simple { replication_factor: nodes };
    World::with(config, replication, table("BLOCKING"))
}

fn restart(world: &World) {
    world.cluster.node(NODE_1).unwrap().kill();
    world.start(NODE_1);
}

#[test]
fn a_killed_node_loses_nothing_in_any_mode() {
    for mode in MODES {
        let world = world(1, &[("commitlog_sync", mode)]);
        for (p, flush) in [(1, false), (2, true), (3, false)] {
            world.put(NODE_1, p, 0, "a", All).unwrap();
            world.put(NODE_1, p, 1, "b", All).unwrap();
            world.remove(NODE_1, p, 0, All).unwrap();
            if flush {
                world.cluster.flush(None, None).unwrap();
            }
        }
        for _ in 0..3 {
            restart(&world);
            for p in 1..=3 {
                assert_eq!(world.value(NODE_1, p, One), format!("{p}/1=b"), "{mode}");
            }
        }
    }
}

#[test]
fn a_killed_node_misses_what_was_written_meanwhile_and_knows_the_schema_of_now() {
    let world = world(2, &[]);
    world.put(NODE_1, 1, 1, "before", All).unwrap();
    world.cluster.node(NODE_2).unwrap().kill();
    world.put(NODE_1, 1, 2, "meanwhile", One).unwrap();
    world.start(NODE_2);
    let inner = world.cluster.node(NODE_2).unwrap();
    let store = inner.inner().view();
    let store = inner.inner().store(&store, &world.table).unwrap();
    let command = world.command(cluster_support::everything());
    assert_eq!(store.read(&command).unwrap().cost.rows_read, 1);
    inner.kill();
    let drop = SchemaChange::DropTable { keyspace: "ks".to_string(), table: "t".to_string() };
    world.cluster.change_schema(NODE_1, drop).unwrap();
    world.start(NODE_2);
    let put = SchemaChange::PutTable(Arc::clone(&world.table));
    world.cluster.change_schema(NODE_1, put).unwrap();
    assert_eq!(world.value(NODE_1, 1, One), "");
}

#[test]
fn segments_are_freed_when_no_memtable_needs_them_and_flushed_when_they_are_too_many() {
    let world = world(1, &[("commitlog_segment_size", "1MiB"), ("commitlog_total_space", "3MiB")]);
    let value = "x".repeat(100_000);
    let log = || {
        let node = world.cluster.node(NODE_1).unwrap();
        node.inner().disk().list("commitlog-").unwrap()
    };
    for c in 0..60 {
        world.put(NODE_1, 1, c, &value, One).unwrap();
        assert!(log().len() <= 5, "{:?}", log());
    }
    world.cluster.flush(None, None).unwrap();
    assert_eq!(log().len(), 1, "{:?}", log());
    restart(&world);
    assert_eq!(world.get(NODE_1, 1, One).unwrap().0.len(), 60);
    // A row that is only in the log holds back its segment, and those after it.
    world.put(NODE_1, 1, 60, &value, One).unwrap();
    restart(&world);
    assert_eq!(world.get(NODE_1, 1, One).unwrap().0.len(), 61);
}

#[test]
fn memtables_of_a_node_are_flushed_at_their_limit() {
    let world = world(1, &[("memtable_heap_space", "1MiB")]);
    let value = "x".repeat(50_000);
    for c in 0..60 {
        world.put(NODE_1, 1, c, &value, One).unwrap();
    }
    let node = world.cluster.node(NODE_1).unwrap();
    assert_eq!(node.inner().disk().list("t-").unwrap().len(), 2);
    assert_eq!(world.get(NODE_1, 1, One).unwrap().0.len(), 60);
}

#[test]
fn truncation_and_undurable_writes_do_not_come_back() {
    let world = world(1, &[]);
    world.put(NODE_1, 1, 1, "flushed", One).unwrap();
    world.cluster.flush(None, None).unwrap();
    world.put(NODE_1, 1, 2, "logged", One).unwrap();
    let cluster = world.cluster.clone();
    let id = world.table.id;
    cluster.clone().block_on(async move { cluster.truncate(NODE_1, id).await }).unwrap();
    world.put(NODE_1, 1, 3, "after", One).unwrap();
    restart(&world);
    assert_eq!(world.value(NODE_1, 1, One), "1/3=after");
    let keyspace = world.cluster.schema(NODE_1).keyspace("ks").unwrap().as_ref().clone();
    let undurable = cassling_engine::schema::Keyspace { durable_writes: false, ..keyspace };
    world.cluster.change_schema(NODE_1, SchemaChange::PutKeyspace(Arc::new(undurable))).unwrap();
    world.put(NODE_1, 1, 4, "unlogged", One).unwrap();
    restart(&world);
    assert_eq!(world.value(NODE_1, 1, One), "1/3=after");
}
