//! Which nodes hold a token (sheet D.2).
//!
//! Both strategies walk the ring from the token's owner on. SimpleStrategy takes each node it has not taken yet;
//! NetworkTopologyStrategy does so for every data centre at once, and passes over a rack that it has taken from
//! while other racks of the data centre may still come:
//!
//! ```text
//! ring            n1 (rack1)  n2 (rack1)  n3 (rack2)  n4 (rack1)      token x is owned by n1
//! Simple, rf 2    n1          n2
//! Network, rf 2   n1          -           n3                          two racks, two replicas
//! Network, rf 3   n1          n2          n3                          one repeat of a rack is allowed: n2 is it
//! ```
//!
//! The walk is done once for each token of the ring, when a schema comes in ([`Placement`]); a request then only
//! looks up its token. Not here: which of the replicas are alive, and how many are needed ([`super::consistency`]).

use super::{NodeId, Token, Topology};
use crate::schema::Replication;
use std::collections::{BTreeMap, BTreeSet};

/// The replicas of every token range of the ring, under one replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Replicas of ring place 0, then of place 1, ...
    nodes: Vec<NodeId>,
    /// Replicas of each range; the same number for all.
    per_range: usize,
}

impl Placement {
    /// Walks the ring from each of its tokens.
    /// [`Replication::Local`] has no placement: each node holds everything itself.
    pub fn new(replication: &Replication, topology: &Topology) -> Placement {
        let ranges = topology.ring.len();
        let lists: Vec<Vec<NodeId>> = match replication {
            Replication::Local => vec![Vec::new(); ranges],
            Replication::Simple { replication_factor } => {
                let wanted = (*replication_factor).min(topology.nodes.len());
                (0..ranges).map(|start| walk_simple(topology, start, wanted)).collect()
            }
            Replication::NetworkTopology { datacenters } => {
                let needs = Needs::new(topology, datacenters);
                (0..ranges).map(|start| walk_racks(topology, start, needs.clone())).collect()
            }
        };
        let per_range = lists.first().map_or(0, Vec::len);
        assert!(
            lists.iter().all(|l| l.len() == per_range),
            "every range has the same number of replicas"
        );
        Placement { nodes: lists.concat(), per_range }
    }

    /// Replicas of the range that ends at place `index` of the ring, in order of preference.
    pub fn at(&self, index: usize) -> &[NodeId] {
        &self.nodes[index * self.per_range..(index + 1) * self.per_range]
    }

    /// Whether every node holds every partition.
    pub fn is_everywhere(&self, topology: &Topology) -> bool {
        self.per_range == topology.nodes.len()
    }

    /// Replicas of `token`, in order of preference.
    pub fn replicas(&self, topology: &Topology, token: Token) -> &[NodeId] {
        self.at(topology.owner_index(token))
    }
}

/// The replicas of `token`, in order of preference; node `local` alone for [`Replication::Local`].
/// Walks the ring: for one look-up. Requests use a [`Placement`].
pub fn replicas(
    replication: &Replication,
    topology: &Topology,
    token: Token,
    local: NodeId,
) -> Vec<NodeId> {
    let start = topology.owner_index(token);
    match replication {
        Replication::Local => vec![local],
        Replication::Simple { replication_factor } => {
            walk_simple(topology, start, (*replication_factor).min(topology.nodes.len()))
        }
        Replication::NetworkTopology { datacenters } => {
            walk_racks(topology, start, Needs::new(topology, datacenters))
        }
    }
}

fn nodes_from(topology: &Topology, start: usize) -> impl Iterator<Item = NodeId> {
    let (before, from) = topology.ring.split_at(start);
    from.iter().chain(before).map(|&(_, node)| node)
}

fn walk_simple(topology: &Topology, start: usize, wanted: usize) -> Vec<NodeId> {
    let mut chosen: Vec<NodeId> = Vec::with_capacity(wanted);
    for node in nodes_from(topology, start) {
        if chosen.len() == wanted {
            break;
        }
        if !chosen.contains(&node) {
            chosen.push(node);
        }
    }
    chosen
}

/// What each data centre still needs, by its name.
#[derive(Clone)]
struct Needs<'a>(BTreeMap<&'a str, Need<'a>>);

#[derive(Clone)]
struct Need<'a> {
    /// Replicas still to be found.
    missing: usize,
    /// How many more replicas may lie in a rack that has one already.
    repeats_allowed: usize,
    /// Racks that have one.
    racks: BTreeSet<&'a str>,
}

impl<'a> Needs<'a> {
    fn new(topology: &'a Topology, datacenters: &BTreeMap<String, usize>) -> Needs<'a> {
        let mut needs = BTreeMap::new();
        for name in topology.datacenters() {
            let members = || topology.nodes.iter().filter(|n| n.datacenter == name);
            let racks: BTreeSet<&str> = members().map(|n| n.rack.as_str()).collect();
            let replication_factor = datacenters.get(name).copied().unwrap_or(0);
            let need = Need {
                missing: replication_factor.min(members().count()),
                repeats_allowed: replication_factor.saturating_sub(racks.len()),
                racks: BTreeSet::new(),
            };
            needs.insert(name, need);
        }
        Needs(needs)
    }

    fn are_met(&self) -> bool {
        self.0.values().all(|need| need.missing == 0)
    }
}

fn walk_racks<'a>(topology: &'a Topology, start: usize, mut needs: Needs<'a>) -> Vec<NodeId> {
    let mut chosen: Vec<NodeId> = Vec::new();
    for node in nodes_from(topology, start) {
        if needs.are_met() {
            break;
        }
        if chosen.contains(&node) {
            continue;
        }
        let info = topology.node(node).expect("the ring names only nodes of the topology");
        let need =
            needs.0.get_mut(info.datacenter.as_str()).expect("every data centre has its need");
        if need.missing == 0 {
            continue;
        }
        if need.racks.contains(info.rack.as_str()) {
            if need.repeats_allowed == 0 {
                continue;
            }
            need.repeats_allowed -= 1;
        }
        need.racks.insert(info.rack.as_str());
        need.missing -= 1;
        chosen.push(node);
    }
    chosen
}
