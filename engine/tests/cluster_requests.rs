//! Writes and reads over several nodes: who is asked, who is enough, what a stopped node misses, and how it is mended.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster_support;

use cassling_engine::cluster::{Cluster, ClusterConfig, Datacenter};
use cassling_engine::error::{Error, WriteKind};
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::row::query::{Limits, Partitions, Resume};
use cassling_engine::row::{
    CellWrite, ClusteringKey, DecoratedKey, Liveness, Mutation, RowBuilder,
};
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, Replication, SchemaChange, Table, TableId, TableOptions,
};
use cassling_engine::types::CqlType;
use cluster_support::*;
use std::collections::BTreeMap;

#[test]
fn a_single_node_writes_and_reads_without_a_message() {
    let world = World::new(1, 1);
    let cost = world.put(NODE_1, 1, 1, "a", Consistency::One).unwrap();
    assert_eq!((cost.acks, cost.messages, cost.nodes, cost.mutations), (1, 0, 1, 1));
    let (found, cost) = world.get(NODE_1, 1, Consistency::LocalOne).unwrap();
    assert_eq!(found, ["1/1=a"]);
    assert_eq!((cost.messages, cost.nodes), (0, 1));
    assert_eq!(world.cluster.network().messages_sent(), 0);
}

#[test]
fn a_write_goes_to_every_living_replica_and_waits_for_its_level() {
    let world = World::new(3, 3);
    let cost = world.put(NODE_1, 1, 1, "a", Consistency::Quorum).unwrap();
    // Two requests and two replies: node 1 applies its own copy without a message.
    assert_eq!((cost.acks, cost.messages, cost.nodes), (2, 4, 3));
    for node in [NODE_1, NODE_2, NODE_3] {
        assert_eq!(world.value(node, 1, Consistency::One), "1/1=a", "{node} has it");
    }
    world.stop(NODE_3);
    let cost = world.put(NODE_1, 1, 1, "b", Consistency::Quorum).unwrap();
    assert_eq!((cost.acks, cost.messages, cost.nodes), (2, 2, 2));
}

#[test]
fn a_missed_write_is_seen_at_one_and_never_at_quorum() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "old", Consistency::All).unwrap();
    world.stop(NODE_3);
    world.put(NODE_1, 1, 1, "new", Consistency::Quorum).unwrap();
    world.start(NODE_3);
    assert_eq!(world.value(NODE_3, 1, Consistency::One), "1/1=old", "its own replica is stale");
    assert_eq!(world.value(NODE_1, 1, Consistency::One), "1/1=new");

    let (found, cost) = world.get(NODE_3, 1, Consistency::Quorum).unwrap();
    assert_eq!(found, ["1/1=new"]);
    assert_eq!((cost.digest_mismatches, cost.read_repairs, cost.nodes), (1, 1, 2));
    // The repair was awaited: now the stale node has it too.
    assert_eq!(world.value(NODE_3, 1, Consistency::One), "1/1=new");
    let (_, cost) = world.get(NODE_3, 1, Consistency::Quorum).unwrap();
    assert_eq!((cost.digest_mismatches, cost.read_repairs), (0, 0));
}

#[test]
fn a_table_without_read_repair_answers_the_truth_and_mends_nothing() {
    let simple = Replication::Simple { replication_factor: 3 };
    let world = World::with(one_datacenter(3), simple, table("NONE"));
    world.put(NODE_1, 1, 1, "old", Consistency::All).unwrap();
    world.stop(NODE_3);
    world.put(NODE_1, 1, 1, "new", Consistency::Quorum).unwrap();
    world.start(NODE_3);
    let (found, cost) = world.get(NODE_3, 1, Consistency::All).unwrap();
    assert_eq!(found, ["1/1=new"]);
    assert_eq!((cost.digest_mismatches, cost.read_repairs), (1, 0));
    assert_eq!(world.value(NODE_3, 1, Consistency::One), "1/1=old");
}

#[test]
fn a_missed_delete_wins_over_the_row_it_deletes() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "a", Consistency::All).unwrap();
    world.put(NODE_1, 1, 2, "b", Consistency::All).unwrap();
    world.stop(NODE_3);
    world.remove(NODE_1, 1, 1, Consistency::Quorum).unwrap();
    world.start(NODE_3);
    assert_eq!(world.value(NODE_3, 1, Consistency::One), "1/1=a 1/2=b");
    assert_eq!(world.value(NODE_3, 1, Consistency::Two), "1/2=b");
    assert_eq!(world.value(NODE_3, 1, Consistency::One), "1/2=b", "the deletion was repaired");
}

#[test]
fn too_few_replicas_are_unavailable_before_anything_is_written() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "a", Consistency::All).unwrap();
    world.stop(NODE_3);
    let unavailable = Error::Unavailable {
        consistency: Consistency::All,
        required: 3,
        alive: 2,
        datacenter: None,
    };
    assert_eq!(world.put(NODE_1, 1, 1, "b", Consistency::All).unwrap_err(), unavailable);
    assert_eq!(world.get(NODE_1, 1, Consistency::All).unwrap_err(), unavailable);
    assert_eq!(unavailable.to_string(), "Cannot achieve consistency level ALL");
    let all = world.command(everything());
    assert_eq!(world.read(NODE_1, all, Consistency::All).unwrap_err(), unavailable);
    assert_eq!(world.value(NODE_1, 1, Consistency::Quorum), "1/1=a", "nothing was written");
    world.start(NODE_3);
    assert_eq!(world.value(NODE_1, 1, Consistency::All), "1/1=a");
}

/// Asked of a running Cassandra: `INSERT INTO u (a, b, c, v) VALUES ('x''y', -5, 0xab01, <16 MiB>)`.
#[test]
fn an_oversized_mutation_is_refused_with_cassandras_text() {
    let key_part = |id: u16, name: &str, ty| Column {
        id: ColumnId(id),
        name: name.to_string(),
        ty,
        kind: ColumnKind::PartitionKey,
        position: usize::from(id),
        descending: false,
        dropped_at_micros: None,
    };
    let mut columns = vec![
        key_part(0, "a", CqlType::Text),
        key_part(1, "b", CqlType::Int),
        key_part(2, "c", CqlType::Blob),
        key_part(3, "v", CqlType::Text),
    ];
    columns[3].kind = ColumnKind::Regular;
    columns[3].position = 0;
    let id = TableId(uuid::Uuid::from_u128(8));
    let u = Table::new(id, "ks", "u", columns, BTreeMap::new(), TableOptions::default());
    let u = std::sync::Arc::new(u);
    let world = World::new(1, 1);
    let change = SchemaChange::PutTable(std::sync::Arc::clone(&u));
    world.cluster.change_schema(NODE_1, change).unwrap();
    let write = |len: usize| {
        let timestamp = world.cluster.next_timestamp_micros();
        let key = DecoratedKey::from_components(&[b"x'y", &(-5i32).to_be_bytes(), &[0xab, 1]]);
        let mut row = RowBuilder::new(&ClusteringKey::new(&u, &[]));
        row.marker(Liveness::live(timestamp));
        row.cell(ColumnId(3), CellWrite::live(timestamp, &vec![b'a'; len]));
        let mut mutation = Mutation::new(std::sync::Arc::clone(&u), key);
        mutation.rows.push(row.build());
        world.write(NODE_1, vec![mutation], Consistency::One, WriteKind::Simple)
    };
    let error = write(16_777_216).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Rejected an oversized mutation (16777286/16777216) for keyspace: ks. Top keys are: u.x'y:-5:ab01"
    );
    // 70 bytes are not the value's: the largest that fits is as much shorter.
    assert!(write(16_777_216 - 70).is_ok());
    assert!(write(16_777_216 - 69).is_err());
}

#[test]
fn a_stopped_node_coordinates_nothing() {
    let world = World::new(3, 3);
    world.stop(NODE_2);
    let refused = Error::Invalid("node 2 is stopped and takes no request".to_string());
    assert_eq!(world.put(NODE_2, 1, 1, "a", Consistency::One).unwrap_err(), refused);
    assert_eq!(world.get(NODE_2, 1, Consistency::One).unwrap_err(), refused);
    let unknown = world.get(NodeId(4), 1, Consistency::One).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no node 4: the cluster has nodes 1 to 3");
}

#[test]
fn any_is_never_unavailable_and_one_needs_the_owner() {
    let world = World::new(3, 1);
    let p = key_with(&world, |replicas| replicas == [NODE_2]);
    world.stop(NODE_2);
    let one_of_none =
        |consistency| Error::Unavailable { consistency, required: 1, alive: 0, datacenter: None };
    for level in [Consistency::One, Consistency::LocalOne] {
        assert_eq!(world.put(NODE_1, p, 1, "a", level).unwrap_err(), one_of_none(level));
        assert_eq!(world.get(NODE_1, p, level).unwrap_err(), one_of_none(level));
        let all = world.command(everything());
        assert_eq!(world.read(NODE_1, all, level).unwrap_err(), one_of_none(level));
    }
    let cost = world.put(NODE_1, p, 1, "a", Consistency::Any).unwrap();
    assert_eq!((cost.acks, cost.nodes), (0, 0));
}

/// cluster-answers.md 2: the batch log comes first, and the coordinator does not count for it.
#[test]
fn a_logged_batch_without_another_node_is_unavailable_at_two() {
    let world = World::new(3, 3);
    world.stop(NODE_2);
    world.stop(NODE_3);
    let batch = || vec![world.insert(1, 1, "a"), world.insert(2, 1, "b")];
    let write = |level, mutations, kind| world.write(NODE_1, mutations, level, kind);
    let two = Error::Unavailable {
        consistency: Consistency::Two,
        required: 2,
        alive: 0,
        datacenter: None,
    };
    for level in [Consistency::One, Consistency::Quorum, Consistency::All] {
        assert_eq!(write(level, batch(), WriteKind::Batch).unwrap_err(), two, "{level}");
    }
    assert!(write(Consistency::Any, batch(), WriteKind::Batch).is_ok());
    assert!(write(Consistency::One, batch(), WriteKind::UnloggedBatch).is_ok());
    let one_partition = vec![world.insert(1, 1, "a"), world.insert(1, 2, "b")];
    assert!(write(Consistency::One, one_partition, WriteKind::Batch).is_ok(), "it needs no log");
    world.start(NODE_2);
    let all = write(Consistency::All, batch(), WriteKind::Batch).unwrap_err();
    let expected = Error::Unavailable {
        consistency: Consistency::All,
        required: 3,
        alive: 2,
        datacenter: None,
    };
    assert_eq!(all, expected);
}

#[test]
fn a_coordinator_that_is_no_replica_asks_the_closest() {
    let world = World::new(3, 1);
    let p = key_with(&world, |replicas| replicas == [NODE_3]);
    let cost = world.put(NODE_1, p, 1, "a", Consistency::One).unwrap();
    assert_eq!((cost.acks, cost.messages, cost.nodes), (1, 2, 1));
    let (found, cost) = world.get(NODE_1, p, Consistency::One).unwrap();
    assert_eq!(found, [format!("{p}/1=a")]);
    assert_eq!((cost.messages, cost.nodes), (2, 1));
}

fn two_datacenters() -> World {
    let datacenter = |name: &str| Datacenter { name: name.to_string(), nodes: 3, racks: 3 };
    let config = ClusterConfig {
        datacenters: vec![datacenter("dc1"), datacenter("dc2")],
        ..ClusterConfig::default()
    };
    let datacenters = BTreeMap::from([("dc1".to_string(), 3), ("dc2".to_string(), 3)]);
    World::with(config, Replication::NetworkTopology { datacenters }, table("BLOCKING"))
}

#[test]
fn local_quorum_reads_stay_in_their_data_centre() {
    let world = two_datacenters();
    let cost = world.put(NODE_1, 1, 1, "a", Consistency::LocalQuorum).unwrap();
    assert_eq!(cost.acks, 2, "of dc1 alone");
    world.cluster.network().set_recording(true);
    assert_eq!(world.value(NODE_1, 1, Consistency::LocalQuorum), "1/1=a");
    let sent = world.cluster.network().take_record();
    let to: Vec<(usize, &str)> = sent.iter().map(|s| (s.to, s.verb)).collect();
    assert_eq!(to.len(), 1, "{to:?}");
    assert!(matches!(to[0], (2 | 3, "READ_REQ")), "{to:?}");

    // A quorum of all six crosses over; EACH_QUORUM takes two of each.
    assert_eq!(world.get(NODE_1, 1, Consistency::Quorum).unwrap().1.nodes, 4);
    world.cluster.network().take_record();
    assert_eq!(world.get(NODE_1, 1, Consistency::EachQuorum).unwrap().1.nodes, 4);
    let sent = world.cluster.network().take_record();
    assert_eq!(sent.iter().filter(|s| s.to > 3).count(), 2);
    // dc2 alone is no help to LOCAL_QUORUM in dc1.
    world.stop(NODE_2);
    world.stop(NODE_3);
    let error = world.get(NODE_1, 1, Consistency::LocalQuorum).unwrap_err();
    let level = Consistency::LocalQuorum;
    assert_eq!(
        error,
        Error::Unavailable { consistency: level, required: 2, alive: 1, datacenter: None }
    );
    assert_eq!(world.put(NODE_1, 1, 1, "b", Consistency::Quorum).unwrap().acks, 4);
}

#[test]
fn each_quorum_needs_its_quorum_everywhere() {
    let world = two_datacenters();
    let each = Consistency::EachQuorum;
    assert_eq!(world.put(NODE_1, 1, 1, "a", each).unwrap().acks, 4);
    world.stop(NodeId(6));
    assert_eq!(world.put(NODE_1, 1, 1, "b", each).unwrap().acks, 4);
    world.stop(NodeId(5));
    let error = world.put(NODE_1, 1, 1, "c", each).unwrap_err();
    assert_eq!(error.to_string(), "Cannot achieve consistency level EACH_QUORUM in DC dc2");
    assert_eq!(world.get(NODE_1, 1, each).unwrap_err(), error);
    assert_eq!(world.put(NODE_1, 1, 1, "c", Consistency::LocalQuorum).unwrap().acks, 2);
    assert_eq!(world.value(NODE_1, 1, Consistency::Quorum), "1/1=c");
}

/// cluster-answers.md 3: replicas that are taken for alive and do not answer.
#[test]
fn silent_replicas_make_requests_time_out_with_cassandras_numbers() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "a", Consistency::All).unwrap();
    let silence = |node, silent| world.cluster.network().set_cut(node, 1, silent);
    let write = |level, received, required, kind| Error::WriteTimeout {
        consistency: level,
        received,
        required,
        kind,
    };
    let read = |level, received, required| Error::ReadTimeout {
        consistency: level,
        received,
        required,
        data_present: true,
    };
    use Consistency::{All, One, Quorum, Two};
    silence(3, true);
    let put = |level| world.put(NODE_1, 1, 1, "b", level);
    assert_eq!(put(All).unwrap_err(), write(All, 2, 3, WriteKind::Simple));
    assert_eq!(put(Quorum).unwrap().acks, 2);
    assert_eq!(world.get(NODE_1, 1, All).unwrap_err(), read(All, 2, 3));
    let everything_at =
        |level| world.read(NODE_1, world.command(everything()), level).map(|r| r.cost.nodes);
    assert_eq!(everything_at(All).unwrap_err(), read(All, 2, 3));
    silence(2, true);
    assert_eq!(put(Quorum).unwrap_err(), write(Quorum, 1, 2, WriteKind::Simple));
    assert_eq!(put(Two).unwrap_err(), write(Two, 1, 2, WriteKind::Simple));
    assert_eq!(put(All).unwrap_err(), write(All, 1, 3, WriteKind::Simple));
    let batch = vec![world.insert(1, 1, "b"), world.insert(2, 1, "b")];
    let error = world.write(NODE_1, batch, All, WriteKind::UnloggedBatch).unwrap_err();
    assert_eq!(error, write(All, 1, 3, WriteKind::UnloggedBatch));
    assert_eq!(error.to_string(), "Operation timed out - received only 1 responses.");
    assert_eq!(world.get(NODE_1, 1, Quorum).unwrap_err(), read(Quorum, 1, 2));
    assert_eq!(everything_at(Quorum).unwrap_err(), read(Quorum, 1, 2));
    assert_eq!(world.value(NODE_1, 1, One), "1/1=b");
    // Only the replies were lost: what timed out was written all the same.
    silence(2, false);
    silence(3, false);
    assert_eq!(world.value(NODE_3, 1, One), "1/1=b");

    let world = World::new(3, 1);
    let p = key_with(&world, |replicas| replicas == [NODE_3]);
    world.cluster.network().set_cut(1, 3, true);
    let error = world.put(NODE_1, p, 1, "a", One).unwrap_err();
    assert_eq!(error, write(One, 0, 1, WriteKind::Simple));
    let error = world.get(NODE_1, p, One).unwrap_err();
    let nothing =
        Error::ReadTimeout { consistency: One, received: 0, required: 1, data_present: false };
    assert_eq!(error, nothing);
    assert!(world.put(NODE_1, p, 1, "a", Consistency::Any).is_ok());
}

/// Partitions come in token order, whichever nodes hold them.
#[test]
fn a_range_read_walks_the_ring_in_token_order() {
    for (nodes, replication_factor, level) in [
        (1, 1, Consistency::One),
        (5, 1, Consistency::One),
        (5, 3, Consistency::Quorum),
        (3, 3, Consistency::All),
        (5, 5, Consistency::One),
    ] {
        let world = World::new(nodes, replication_factor);
        let mut expected: Vec<i32> = (0..60).collect();
        for &p in &expected {
            world.put(NODE_1, p, 1, "x", Consistency::One).unwrap();
        }
        expected.sort_by_key(|p| key(*p));
        let label = format!("{nodes} nodes, RF {replication_factor}, {level}");
        let result = world.read(NODE_1, world.command(everything()), level).unwrap();
        let found: Vec<String> = expected.iter().map(|p| format!("{p}/1=x")).collect();
        assert_eq!(rows(&world.table, &result), found, "{label}");
        assert!(!result.limited);

        // Page by page: the same rows, each once.
        let mut paged = Vec::new();
        let mut resume = None;
        loop {
            let mut command = world.command(everything());
            command.limits = Limits { rows: 7, per_partition: u64::MAX, resume: resume.take() };
            let page = world.read(NODE_2.min(NodeId(nodes)), command, level).unwrap();
            paged.extend(rows(&world.table, &page));
            let Some(last) = page.partitions.last().filter(|_| page.limited) else { break };
            resume = Some(Resume {
                key: last.key.clone(),
                position: Some(last.rows.last().unwrap().position().to_vec()),
                remaining_in_partition: u64::MAX,
            });
        }
        assert_eq!(paged, found, "{label}, paged");
    }
}

#[test]
fn a_range_read_asks_each_owner_once_where_neighbours_can_be_joined() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "a", Consistency::All).unwrap();
    // Every node holds everything: the coordinator's own replica is enough.
    let result = world.read(NODE_2, world.command(everything()), Consistency::One).unwrap();
    assert_eq!((result.cost.nodes, result.cost.messages), (1, 0));
    let result = world.read(NODE_2, world.command(everything()), Consistency::Quorum).unwrap();
    assert_eq!((result.cost.nodes, result.cost.messages, result.cost.digest_mismatches), (2, 2, 0));
    // RF 1: all three nodes have to be asked.
    let world = World::new(3, 1);
    let result = world.read(NODE_2, world.command(everything()), Consistency::One).unwrap();
    assert_eq!(result.cost.nodes, 3);
}

#[test]
fn a_range_read_merges_and_repairs_too() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "old", Consistency::All).unwrap();
    world.stop(NODE_3);
    world.put(NODE_1, 1, 1, "new", Consistency::Quorum).unwrap();
    world.put(NODE_1, 2, 1, "only", Consistency::Quorum).unwrap();
    world.start(NODE_3);
    let mut expected = [(1, "1/1=new"), (2, "2/1=only")];
    expected.sort_by_key(|(p, _)| key(*p));
    let result = world.read(NODE_3, world.command(everything()), Consistency::Quorum).unwrap();
    assert_eq!(rows(&world.table, &result), expected.map(|(_, row)| row));
    assert_eq!(result.cost.read_repairs, 2);
    assert_eq!(world.value(NODE_3, 2, Consistency::One), "2/1=only");
}

#[test]
fn several_keys_are_read_in_the_order_given_and_share_the_limit() {
    let world = World::new(3, 1);
    for p in 0..4 {
        for c in 0..3 {
            world.put(NODE_1, p, c, "x", Consistency::One).unwrap();
        }
    }
    let keys = || Partitions::Keys([2, 0, 3].map(key).to_vec().into());
    let mut command = world.command(keys());
    command.limits.rows = 5;
    let result = world.read(NODE_1, command, Consistency::One).unwrap();
    let found = rows(&world.table, &result);
    assert_eq!(found, ["2/0=x", "2/1=x", "2/2=x", "0/0=x", "0/1=x"]);
    assert!(result.limited);
    // The next page goes on inside partition 0.
    let last = &result.partitions[1];
    let mut command = world.command(keys());
    command.limits = Limits {
        rows: 5,
        per_partition: u64::MAX,
        resume: Some(Resume {
            key: last.key.clone(),
            position: Some(last.rows.last().unwrap().position().to_vec()),
            remaining_in_partition: u64::MAX,
        }),
    };
    let result = world.read(NODE_1, command, Consistency::One).unwrap();
    assert_eq!(rows(&world.table, &result), ["0/2=x", "3/0=x", "3/1=x", "3/2=x"]);
    assert!(!result.limited);
}

/// cluster-answers.md 6: rows 1 and 2 are deleted where the coordinator is not.
#[test]
fn a_replica_that_stopped_at_its_limit_is_asked_for_more() {
    let world = World::new(3, 3);
    for c in 1..=4 {
        world.put(NODE_1, 1, c, "x", Consistency::All).unwrap();
    }
    world.stop(NODE_3);
    world.remove(NODE_1, 1, 1, Consistency::Quorum).unwrap();
    world.remove(NODE_1, 1, 2, Consistency::Quorum).unwrap();
    world.start(NODE_3);
    for partitions in [Partitions::Keys(vec![key(1)].into()), everything()] {
        let mut command = world.command(partitions);
        command.limits.rows = 1;
        let result = world.read(NODE_3, command, Consistency::Quorum).unwrap();
        assert_eq!(rows(&world.table, &result), ["1/3=x"]);
        assert!(result.limited);
    }
}

/// The first replica's second row lies behind rows that only the second one knows: a result that is long enough may
/// still rest on rows that a limited replica did not send.
#[test]
fn a_full_result_does_not_hide_what_a_limited_replica_left_out() {
    let world = World::new(2, 2);
    // Both: rows 1 and 9. Node 2 alone: 2 to 5, and the deletion of 1. Node 1 alone: the deletions of 3 and 4.
    for c in [1, 9] {
        world.put(NODE_1, 1, c, "x", Consistency::All).unwrap();
    }
    world.stop(NODE_1);
    for c in [2, 3, 4, 5] {
        world.put(NODE_2, 1, c, "y", Consistency::One).unwrap();
    }
    world.remove(NODE_2, 1, 1, Consistency::One).unwrap();
    world.start(NODE_1);
    world.stop(NODE_2);
    world.remove(NODE_1, 1, 3, Consistency::One).unwrap();
    world.remove(NODE_1, 1, 4, Consistency::One).unwrap();
    world.start(NODE_2);
    for limit in 1..=4 {
        let mut command = world.command(Partitions::Keys(vec![key(1)].into()));
        command.limits.rows = limit;
        let result = world.read(NODE_1, command, Consistency::All).unwrap();
        let expected = ["1/2=y", "1/5=y", "1/9=x"];
        let count = expected.len().min(usize::try_from(limit).unwrap());
        assert_eq!(rows(&world.table, &result), expected[..count], "LIMIT {limit}");
    }
}

#[test]
fn truncate_needs_every_node() {
    let world = World::new(3, 3);
    world.put(NODE_1, 1, 1, "a", Consistency::All).unwrap();
    let truncate = || {
        let (cluster, table) = (world.cluster.clone(), world.table.id);
        world.cluster.block_on(async move { cluster.truncate(NODE_1, table).await })
    };
    world.stop(NODE_3);
    let error = truncate().unwrap_err();
    assert_eq!(error.to_string(), "Error during truncate: Cannot achieve consistency level ALL");
    world.start(NODE_3);
    truncate().unwrap();
    assert_eq!(world.value(NODE_1, 1, Consistency::All), "");
}

#[test]
fn timestamps_and_uuids_rise_and_differ_though_the_clock_stands() {
    let cluster = Cluster::build(one_datacenter(1)).unwrap();
    let epoch_micros = 1_796_083_200_000_000;
    let stamps: Vec<i64> = (0..3).map(|_| cluster.next_timestamp_micros()).collect();
    assert_eq!(stamps, [epoch_micros, epoch_micros + 1, epoch_micros + 2]);
    cluster.clock().advance(std::time::Duration::from_secs(1));
    assert_eq!(cluster.next_timestamp_micros(), epoch_micros + 1_000_000);
    cluster.clock().set_micros(0);
    assert_eq!(cluster.next_timestamp_micros(), epoch_micros + 1_000_001, "never back");

    let uuids: Vec<uuid::Uuid> = (0..3).map(|_| cluster.next_timeuuid()).collect();
    let tail = uuids[0].as_bytes()[8..].to_vec();
    for uuid in &uuids {
        assert_eq!(uuid.get_version_num(), 1);
        assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
        assert_eq!(uuid.as_bytes()[8..], tail);
    }
    let ticks: Vec<u64> =
        uuids.iter().map(|u| u.get_timestamp().unwrap().to_gregorian().0).collect();
    assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
    let fresh = Cluster::build(one_datacenter(1)).unwrap();
    let (seconds, nanos) = fresh.next_timeuuid().get_timestamp().unwrap().to_unix();
    assert_eq!((seconds, nanos), (1_796_083_200, 0));
    assert_eq!(fresh.random_uuid().get_version_num(), 4);
    assert_ne!(fresh.random_uuid(), fresh.random_uuid());
}

/// The messages of a seeded run, the rows it found and what they cost.
fn trace_of(seed: u64) -> String {
    let config = ClusterConfig { seed, ..one_datacenter(4) };
    let world =
        World::with(config, Replication::Simple { replication_factor: 2 }, table("BLOCKING"));
    world.cluster.network().set_recording(true);
    let mut rng = cassling_engine::sim::rng::Rng::new(seed).fork("workload");
    let mut trace = Vec::new();
    for step in 0..200 {
        let p = rng.below(20) as i32;
        let node = NodeId(1 + rng.below(4) as usize);
        trace.push(match rng.below(4) {
            0 if world.cluster.node(node).unwrap().is_up() => {
                world.stop(node);
                format!("stop {node}")
            }
            0 => {
                world.start(node);
                format!("start {node}")
            }
            1 => format!("{:?}", world.put(node, p, step, "x", Consistency::One)),
            2 => format!("{:?}", world.get(node, p, Consistency::Two)),
            _ => {
                let all = world.command(everything());
                let result = world.read(node, all, Consistency::One);
                format!("{:?}", result.map(|r| (rows(&world.table, &r), r.cost)))
            }
        });
        trace.push(world.cluster.random_uuid().to_string());
    }
    trace.push(format!("{:?}", world.cluster.network().take_record()));
    trace.join("\n")
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let first = trace_of(11);
    assert_eq!(first, trace_of(11));
    assert_ne!(first, trace_of(12));
}

#[test]
fn threads_of_a_parallel_cluster_write_side_by_side() {
    let config = ClusterConfig { parallel: true, ..one_datacenter(3) };
    let simple = Replication::Simple { replication_factor: 3 };
    let world = World::with(config, simple, table("BLOCKING"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for c in 0..25 {
                    world.put(NODE_1, thread, c, "x", Consistency::Quorum).unwrap();
                }
            });
        }
    });
    let result = world.read(NODE_1, world.command(everything()), Consistency::All).unwrap();
    assert_eq!(rows(&world.table, &result).len(), 100);
}

/// The futures can be sent to other threads and other runtimes.
#[test]
fn requests_are_send() {
    fn is_send<T: Send>(_: &T) {}
    let world = World::new(1, 1);
    let cluster = world.cluster.clone();
    let command = world.command(everything());
    let read = async move { cluster.read(NODE_1, command, Consistency::One).await };
    is_send(&read);
    let cluster = world.cluster.clone();
    let mutation = world.insert(1, 1, "a");
    let write = async move {
        cluster.write(NODE_1, vec![mutation], Consistency::One, WriteKind::Simple).await
    };
    is_send(&write);
    let task = world.cluster.start(write);
    is_send(&task);
    assert_eq!(task.wait().unwrap().unwrap().acks, 1);
}
