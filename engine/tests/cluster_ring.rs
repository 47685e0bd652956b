//! Tokens, topology, placement and consistency: against vectors, tables worked out by hand, and recorded answers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling_engine::coordinator::range::pieces;
use cassling_engine::error::Error;
use cassling_engine::ring::token::murmur3_token;
use cassling_engine::ring::{Consistency, NodeId, Placement, Token, Topology, replication};
use cassling_engine::row::query::KeyRange;
use cassling_engine::schema::Replication;
use cassling_engine::sim::rng::Rng;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn every_vector_has_its_token() {
    let vectors = include_str!("data/murmur3.tsv");
    let mut count = 0;
    for line in vectors.lines() {
        let (key, token) = line.split_once('\t').unwrap();
        assert_eq!(murmur3_token(&from_hex(key)).0.to_string(), token, "key {key}");
        count += 1;
    }
    assert_eq!(count, 95);
}

fn standard_murmur3(key: &[u8]) -> i64 {
    let hash = murmur3::murmur3_x64_128(&mut std::io::Cursor::new(key), 0).unwrap();
    u64::try_from(hash & u128::from(u64::MAX)).unwrap().cast_signed()
}

proptest! {
    /// The standard hash and Cassandra's agree as long as no byte of the tail is over 0x7f.
    #[test]
    fn tokens_are_the_standard_hash_without_high_bytes_in_the_tail(
        mut key in proptest::collection::vec(any::<u8>(), 1..80)
    ) {
        let tail = key.len() / 16 * 16;
        key[tail..].iter_mut().for_each(|byte| *byte &= 0x7f);
        prop_assert_eq!(murmur3_token(&key).0, standard_murmur3(&key));
    }
}

#[test]
fn tokens_differ_from_the_standard_hash_where_the_vectors_say_so() {
    let vectors = include_str!("data/murmur3.tsv").lines().map(|l| l.split_once('\t').unwrap());
    let differs =
        |(key, token): &(&str, &str)| standard_murmur3(&from_hex(key)).to_string() != *token;
    // The empty key differs for another reason: it has the minimum token.
    assert_eq!(vectors.filter(|v| !v.0.is_empty()).filter(differs).count(), 60);
}

/// A ring of one token a node: node i has token 10 * i.
fn ring(places: &[(&str, &str)]) -> Topology {
    let tokens: Vec<Vec<i64>> = (1..=places.len()).map(|i| vec![10 * i as i64]).collect();
    ring_with_tokens(places, &tokens)
}

fn ring_with_tokens(places: &[(&str, &str)], tokens: &[Vec<i64>]) -> Topology {
    let places: Vec<(String, String)> =
        places.iter().map(|(dc, rack)| (dc.to_string(), rack.to_string())).collect();
    Topology::build(&places, 0, Some(tokens), &Rng::new(0)).unwrap()
}

fn network(datacenters: &[(&str, usize)]) -> Replication {
    let datacenters = datacenters.iter().map(|(dc, rf)| (dc.to_string(), *rf)).collect();
    Replication::NetworkTopology { datacenters }
}

fn simple(replication_factor: usize) -> Replication {
    Replication::Simple { replication_factor }
}

/// Replicas by both ways of finding them, as numbers.
fn replicas(replication: &Replication, topology: &Topology, token: i64) -> Vec<usize> {
    let walked = replication::replicas(replication, topology, Token(token), NodeId(1));
    let placed = Placement::new(replication, topology);
    assert_eq!(placed.replicas(topology, Token(token)), walked, "both ways agree");
    walked.into_iter().map(|id| id.0).collect()
}

#[test]
fn a_token_belongs_to_the_first_node_at_or_after_it() {
    let topology = ring(&[("dc", "r1"); 3]);
    for (token, owner) in
        [(i64::MIN, 1), (9, 1), (10, 1), (11, 2), (20, 2), (30, 3), (31, 1), (i64::MAX, 1)]
    {
        assert_eq!(replicas(&simple(1), &topology, token), [owner], "token {token}");
    }
}

#[test]
fn simple_strategy_takes_the_next_nodes_whatever_their_rack() {
    let topology = ring(&[("dc1", "r1"), ("dc1", "r1"), ("dc2", "r1"), ("dc2", "r2")]);
    assert_eq!(replicas(&simple(2), &topology, 15), [2, 3]);
    assert_eq!(replicas(&simple(3), &topology, 35), [4, 1, 2]);
    assert_eq!(replicas(&simple(9), &topology, 35), [4, 1, 2, 3], "no more than there are");
    assert_eq!(replicas(&simple(0), &topology, 35), [0usize; 0]);
}

#[test]
fn vnodes_of_a_node_already_taken_are_passed_over() {
    // Ring: 1:n1 2:n1 3:n2 4:n1 5:n3
    let topology = ring_with_tokens(&[("dc", "r1"); 3], &[vec![1, 2, 4], vec![3], vec![5]]);
    assert_eq!(replicas(&simple(2), &topology, 1), [1, 2]);
    assert_eq!(replicas(&simple(2), &topology, 4), [1, 3]);
    assert_eq!(replicas(&simple(3), &topology, 3), [2, 1, 3]);
}

#[test]
fn network_topology_spreads_over_racks_and_repeats_only_when_it_must() {
    // Two racks, the first one crowded: n1 n2 n4 in r1, n3 in r2.
    let topology = ring(&[("dc", "r1"), ("dc", "r1"), ("dc", "r2"), ("dc", "r1")]);
    let rf = |rf| network(&[("dc", rf)]);
    assert_eq!(replicas(&rf(1), &topology, 5), [1]);
    assert_eq!(replicas(&rf(2), &topology, 5), [1, 3], "n2 is in a rack already taken");
    // RF 3 with two racks: one repeat is allowed, and the first repeat met is taken.
    assert_eq!(replicas(&rf(3), &topology, 5), [1, 2, 3]);
    assert_eq!(replicas(&rf(3), &topology, 25), [3, 4, 1]);
    assert_eq!(replicas(&rf(4), &topology, 25), [3, 4, 1, 2]);
    assert_eq!(replicas(&rf(7), &topology, 25), [3, 4, 1, 2], "no more than there are");
}

#[test]
fn network_topology_fills_every_data_centre_on_one_walk() {
    let topology = ring(&[
        ("dc1", "r1"), // 10
        ("dc2", "r1"), // 20
        ("dc1", "r1"), // 30
        ("dc2", "r1"), // 40
        ("dc1", "r2"), // 50
    ]);
    let both = network(&[("dc1", 2), ("dc2", 1)]);
    assert_eq!(replicas(&both, &topology, 5), [1, 2, 5], "n3 repeats a rack of dc1");
    assert_eq!(replicas(&both, &topology, 25), [3, 4, 5]);
    assert_eq!(replicas(&both, &topology, 45), [5, 1, 2]);
    assert_eq!(replicas(&network(&[("dc2", 2)]), &topology, 45), [2, 4], "no replica in dc1");
}

#[test]
fn local_replication_is_the_node_asked() {
    let topology = ring(&[("dc", "r1"); 3]);
    let own = replication::replicas(&Replication::Local, &topology, Token(5), NodeId(3));
    assert_eq!(own, [NodeId(3)]);
}

#[test]
fn drawn_tokens_depend_on_the_seed_alone_and_own_alike() {
    let places = vec![("dc".to_string(), "r1".to_string()); 4];
    let build = |seed| Topology::build(&places, 256, None, &Rng::new(seed)).unwrap();
    let topology = build(3);
    assert_eq!(topology.ring, build(3).ring);
    assert_eq!(topology.nodes, build(3).nodes);
    assert_ne!(topology.ring, build(4).ring);
    assert_eq!(topology.ring.len(), 4 * 256);
    assert!(topology.ring.is_sorted_by(|a, b| a.0 < b.0), "sorted, each once");
    assert_eq!(topology.nodes[2].address.to_string(), "127.0.0.3");
    assert_eq!(topology.nodes[0].host_id.get_version_num(), 4);
    // 1,000 keys spread over four nodes: a quarter each, give or take what 256 random tokens allow.
    let mut owned = [0; 4];
    for key in 0u32..1_000 {
        let token = murmur3_token(&key.to_be_bytes());
        owned[topology.ring[topology.owner_index(token)].1.0 - 1] += 1;
    }
    assert!(owned.iter().all(|n| (170..330).contains(n)), "{owned:?}");
}

#[test]
fn rings_that_cannot_be_are_refused_with_a_reason() {
    let one = vec![("dc".to_string(), "r1".to_string())];
    let refusal = |places: &[(String, String)], num_tokens, tokens: Option<&[Vec<i64>]>| {
        Topology::build(places, num_tokens, tokens, &Rng::new(0)).unwrap_err()
    };
    assert_eq!(refusal(&[], 16, None), "a cluster needs a node");
    assert_eq!(refusal(&one, 0, None), "num_tokens is 1 to 1536, not 0");
    assert_eq!(refusal(&one, 1, Some(&[])), "tokens are given for 0 nodes, the cluster has 1");
    assert_eq!(refusal(&one, 1, Some(&[vec![]])), "node 1 has no token");
    assert_eq!(refusal(&one, 1, Some(&[vec![4, 4]])), "token 4 is given twice");
    assert_eq!(
        refusal(&one, 1, Some(&[vec![i64::MIN]])),
        "-9223372036854775808 is the minimum token, which no node can own"
    );
    assert_eq!(
        refusal(&vec![one[0].clone(); 1001], 1, None),
        "a cluster has at most 1000 nodes, not 1001"
    );
}

fn check(
    level: Consistency,
    replication: &Replication,
    topology: &Topology,
    alive: &[usize],
) -> Option<(usize, usize, Option<String>)> {
    let alive: Vec<NodeId> = alive.iter().map(|&n| NodeId(n)).collect();
    let local = &topology.nodes[0].datacenter;
    match level.check_available(replication, topology, local, &alive) {
        Ok(()) => None,
        Err(Error::Unavailable { consistency, required, alive, datacenter }) => {
            assert_eq!(consistency, level);
            Some((required, alive, datacenter))
        }
        Err(other) => panic!("{other}"),
    }
}

/// cluster-answers.md 2: the table, on SimpleStrategy with RF 3 on three nodes.
#[test]
fn unavailable_is_answered_with_cassandras_numbers() {
    let topology = ring(&[("datacenter1", "rack1"); 3]);
    let rf3 = simple(3);
    use Consistency::*;
    let one_down: BTreeMap<Consistency, (usize, usize)> = [(Three, (3, 2)), (All, (3, 2))].into();
    let two_down: BTreeMap<Consistency, (usize, usize)> = [
        (Two, (2, 1)),
        (Quorum, (2, 1)),
        (LocalQuorum, (2, 1)),
        (EachQuorum, (2, 1)),
        (Three, (3, 1)),
        (All, (3, 1)),
        (Serial, (2, 1)),
        (LocalSerial, (2, 1)),
    ]
    .into();
    for level in Consistency::ALL {
        let numbers = |(required, alive): &(usize, usize)| (*required, *alive, None);
        assert_eq!(check(level, &rf3, &topology, &[1, 2, 3]), None, "{level}, all up");
        let expected = one_down.get(&level).map(numbers);
        assert_eq!(check(level, &rf3, &topology, &[1, 2]), expected, "{level}, one down");
        let expected = two_down.get(&level).map(numbers);
        assert_eq!(check(level, &rf3, &topology, &[1]), expected, "{level}, two down");
    }
    // RF 1, owner down; RF 1, owner alive.
    for (level, alive, expected) in [
        (One, &[] as &[usize], Some((1, 0, None))),
        (LocalOne, &[], Some((1, 0, None))),
        (Any, &[], None),
        (Two, &[1], Some((2, 1, None))),
    ] {
        assert_eq!(check(level, &simple(1), &topology, alive), expected, "{level}");
    }
    // The configured factor counts, not the number of nodes.
    assert_eq!(check(Quorum, &simple(4), &topology, &[1, 2, 3]), None);
    assert_eq!(check(All, &simple(4), &topology, &[1, 2, 3]), Some((4, 3, None)));
    // Factor 0, asked of a running Cassandra: ONE and LOCAL_QUORUM need a replica that cannot be.
    assert_eq!(check(One, &simple(0), &topology, &[]), Some((1, 0, None)));
    assert_eq!(check(LocalQuorum, &simple(0), &topology, &[]), Some((1, 0, None)));
}

#[test]
fn each_quorum_on_network_topology_names_the_data_centre_and_no_one_alive() {
    let topology = ring(&[("dc1", "r1"), ("dc1", "r1"), ("dc1", "r1"), ("dc2", "r1")]);
    let both = network(&[("dc1", 3), ("dc2", 1)]);
    let each = Consistency::EachQuorum;
    assert_eq!(check(each, &both, &topology, &[1, 2, 4]), None);
    // Cassandra passes its numbers in the wrong places: alive is 0 although node 1 lives.
    let dc1 = Some((2, 0, Some("dc1".to_string())));
    assert_eq!(check(each, &both, &topology, &[1, 4]), dc1);
    let dc2 = Some((1, 0, Some("dc2".to_string())));
    assert_eq!(check(each, &both, &topology, &[1, 2, 3]), dc2);
    let error = each.check_available(&both, &topology, "dc1", &[]).unwrap_err();
    assert_eq!(error.to_string(), "Cannot achieve consistency level EACH_QUORUM in DC dc1");
    // LOCAL levels count their own data centre alone; QUORUM counts both.
    assert_eq!(check(Consistency::LocalQuorum, &both, &topology, &[1, 4]), Some((2, 1, None)));
    assert_eq!(check(Consistency::LocalOne, &both, &topology, &[4]), Some((1, 0, None)));
    assert_eq!(check(Consistency::Quorum, &both, &topology, &[1, 2, 4]), None);
    assert_eq!(check(Consistency::Quorum, &both, &topology, &[1, 4]), Some((3, 2, None)));
}

#[test]
fn levels_need_as_many_as_the_sheet_says() {
    use Consistency::*;
    let both = network(&[("dc1", 3), ("dc2", 2)]);
    let expected = [
        (Any, 1),
        (One, 1),
        (LocalOne, 1),
        (Two, 2),
        (Three, 3),
        (Quorum, 3),
        (Serial, 3),
        (All, 5),
        (LocalQuorum, 2),
        (LocalSerial, 2),
        (EachQuorum, 4),
    ];
    for (level, needed) in expected {
        assert_eq!(level.block_for(&both, "dc1"), needed, "{level}");
    }
    assert_eq!(LocalQuorum.block_for(&both, "elsewhere"), 1, "a data centre without replicas");
    assert_eq!(EachQuorum.block_for(&simple(3), "dc1"), 2, "SimpleStrategy knows no data centres");
}

/// Pieces as `(start, end] owner`, with `..` for an open side and `[` for a start that belongs to it.
fn cut(topology: &Topology, start: Option<(i64, bool)>, end: Option<(i64, bool)>) -> Vec<String> {
    let edge = |edge: Option<(i64, bool)>| edge.map(|(token, inside)| (Token(token), inside));
    let pieces = pieces(topology, &KeyRange { start: edge(start), end: edge(end) });
    let side =
        |edge: Option<(Token, bool)>| edge.map_or("..".to_string(), |(t, _)| t.0.to_string());
    let show = |piece: &cassling_engine::coordinator::range::Piece| {
        let open = if piece.range.start.is_some_and(|(_, inside)| inside) { '[' } else { '(' };
        let close = if piece.range.end.is_some_and(|(_, inside)| inside) { ']' } else { ')' };
        let owner = topology.ring[piece.index].1.0;
        format!("{open}{}, {}{close} {owner}", side(piece.range.start), side(piece.range.end))
    };
    pieces.iter().map(show).collect()
}

#[test]
fn ranges_are_cut_at_the_tokens_of_the_ring() {
    let ring = ring(&[("dc", "r1"); 3]);
    let all = ["(.., 10] 1", "(10, 20] 2", "(20, 30] 3", "(30, ..) 1"];
    assert_eq!(cut(&ring, None, None), all);
    assert_eq!(cut(&ring, Some((15, false)), None), ["(15, 20] 2", "(20, 30] 3", "(30, ..) 1"]);
    assert_eq!(cut(&ring, Some((20, true)), Some((25, true))), ["[20, 20] 2", "(20, 25] 3"]);
    assert_eq!(cut(&ring, Some((20, false)), Some((25, false))), ["(20, 25) 3"]);
    assert_eq!(cut(&ring, None, Some((10, false))), ["(.., 10) 1"]);
    assert_eq!(cut(&ring, Some((10, false)), Some((20, true))), ["(10, 20] 2"]);
    assert_eq!(cut(&ring, Some((31, true)), None), ["[31, ..) 1"]);
    let nothing: [&str; 0] = [];
    assert_eq!(cut(&ring, Some((25, true)), Some((24, true))), nothing);
    assert_eq!(cut(&ring, Some((25, false)), Some((25, true))), nothing);
    assert_eq!(cut(&ring, Some((24, false)), Some((25, false))), nothing, "no token between");
    assert_eq!(cut(&ring, Some((i64::MAX, false)), None), ["(9223372036854775807, ..) 1"]);
}
