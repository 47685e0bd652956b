//! The nodes, their data centres, racks and tokens.
//!
//! A node with token `t` owns the tokens after the one before it on the ring, up to and including `t`:
//!
//! ```text
//!   tokens   -50 (n1)        10 (n2)         90 (n1)
//!   owns   .. -50] (-50 .. 10]    (10 .. 90]      (90 .. and on to -50]
//! ```
//!
//! With virtual nodes each node has several tokens. They are drawn from the cluster's seed, or given.

use super::Token;
use crate::sim::rng::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use uuid::Uuid;

/// A node by its number: 1, 2, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeId(pub usize);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// What the ring knows of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its number.
    pub id: NodeId,
    /// Address: 127.0.0.1 for node 1, and so on.
    pub address: IpAddr,
    /// Host id.
    pub host_id: Uuid,
    /// Data centre.
    pub datacenter: String,
    /// Rack.
    pub rack: String,
    /// Its tokens, sorted.
    pub tokens: Vec<Token>,
}

/// All nodes and the ring they form.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Nodes by number.
    pub nodes: Vec<NodeInfo>,
    /// Every token with its node, sorted by token.
    pub ring: Vec<(Token, NodeId)>,
}

impl Topology {
    /// A ring of nodes at these `(data centre, rack)` places, in order of their numbers, with tokens and host ids from the seed.
    /// `tokens`, if given, has a list for each node.
    ///
    /// # Errors
    /// Why these make no ring: no node, a node without token, a token given twice.
    pub fn build(
        places: &[(String, String)],
        num_tokens: usize,
        tokens: Option<&[Vec<i64>]>,
        rng: &Rng,
    ) -> Result<Topology, String> {
        if places.is_empty() {
            return Err("a cluster needs a node".to_string());
        }
        if places.len() > NODES_MAX {
            return Err(format!("a cluster has at most {NODES_MAX} nodes, not {}", places.len()));
        }
        let tokens = match tokens {
            Some(given) => checked_tokens(given, places.len())?,
            None if (1..=TOKENS_PER_NODE_MAX).contains(&num_tokens) => {
                drawn_tokens(places.len(), num_tokens, &mut rng.fork("tokens"))
            }
            None => {
                return Err(format!("num_tokens is 1 to {TOKENS_PER_NODE_MAX}, not {num_tokens}"));
            }
        };
        let mut host_ids = rng.fork("host ids");
        let nodes: Vec<NodeInfo> = places
            .iter()
            .zip(tokens)
            .enumerate()
            .map(|(i, ((datacenter, rack), tokens))| NodeInfo {
                id: NodeId(i + 1),
                address: address_of(i + 1),
                host_id: random_uuid(&mut host_ids),
                datacenter: datacenter.clone(),
                rack: rack.clone(),
                tokens,
            })
            .collect();
        let mut ring: Vec<(Token, NodeId)> =
            nodes.iter().flat_map(|n| n.tokens.iter().map(|&t| (t, n.id))).collect();
        ring.sort_unstable();
        Ok(Topology { nodes, ring })
    }

    /// What is known of a node.
    pub fn node(&self, id: NodeId) -> Option<&NodeInfo> {
        self.nodes.get(id.0.checked_sub(1)?)
    }

    /// Place in [`Topology::ring`] of the first token at or after `token`, going round at the end: its node owns
    /// `token`. Takes time logarithmic in the number of tokens.
    /// Requires: the ring has a token.
    pub fn owner_index(&self, token: Token) -> usize {
        let index = self.ring.partition_point(|&(t, _)| t < token);
        if index == self.ring.len() { 0 } else { index }
    }

    /// Data centres, sorted, each once.
    pub fn datacenters(&self) -> BTreeSet<&str> {
        self.nodes.iter().map(|n| n.datacenter.as_str()).collect()
    }
}

/// Addresses 127.0.0.1 to 127.0.255.254 are enough, and 16 bits of node number fit everywhere.
const NODES_MAX: usize = 1_000;
/// Cassandra's own limit of `num_tokens`.
const TOKENS_PER_NODE_MAX: usize = 1_536;

/// 127.0.0.1 for node 1; past 127.0.0.254 the third byte counts on.
fn address_of(number: usize) -> IpAddr {
    let byte = |n: usize| u8::try_from(n).expect("at most NODES_MAX nodes");
    IpAddr::V4(Ipv4Addr::new(127, 0, byte((number - 1) / 254), byte((number - 1) % 254 + 1)))
}

/// A version 4 UUID of the stream.
pub(crate) fn random_uuid(rng: &mut Rng) -> Uuid {
    let mut bytes = [0; 16];
    rng.fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

fn drawn_tokens(nodes: usize, num_tokens: usize, rng: &mut Rng) -> Vec<Vec<Token>> {
    let mut taken = BTreeSet::from([Token::MIN]);
    let mut draw = || loop {
        let token = Token(rng.next_u64().cast_signed());
        if taken.insert(token) {
            return token;
        }
    };
    let mut all: Vec<Vec<Token>> =
        (0..nodes).map(|_| (0..num_tokens).map(|_| draw()).collect()).collect();
    all.iter_mut().for_each(|tokens| tokens.sort_unstable());
    all
}

fn checked_tokens(given: &[Vec<i64>], nodes: usize) -> Result<Vec<Vec<Token>>, String> {
    if given.len() != nodes {
        return Err(format!("tokens are given for {} nodes, the cluster has {nodes}", given.len()));
    }
    let mut taken = BTreeSet::new();
    let mut all = Vec::with_capacity(nodes);
    for (i, tokens) in given.iter().enumerate() {
        if tokens.is_empty() {
            return Err(format!("{} has no token", NodeId(i + 1)));
        }
        for &token in tokens {
            if token == i64::MIN {
                return Err(format!("{token} is the minimum token, which no node can own"));
            }
            if !taken.insert(token) {
                return Err(format!("token {token} is given twice"));
            }
        }
        let mut tokens: Vec<Token> = tokens.iter().map(|&t| Token(t)).collect();
        tokens.sort_unstable();
        all.push(tokens);
    }
    Ok(all)
}
