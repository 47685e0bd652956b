//! Straight-line async: find replicas, send, await enough, mend.
//!
//! A request is coordinated by the node that the client asked. Each flow reads from top to bottom:
//!
//! ```text
//! write   replicas of the key -> enough alive? -> a mutation to each that lives -> await as many as the level needs
//! read    replicas of the key -> enough alive? -> data from the closest, digests from the others needed
//!                                                  '- they differ: data from all, merge, repair, answer
//! range   pieces of the ring, in token order, each as above but with data from all
//! ```
//!
//! Rules that keep this sound: only coordinators await, no lock is held over an await, and with no fault in force every
//! future is ready at once, so a request is one poll on the caller's thread ([`crate::sim::network`]).
//!
//! Messages are counted as Cassandra's traces show them: the request and its reply are one each, and a node's own
//! replica needs none.

pub mod range;
pub mod read;
pub mod reconcile;
mod summary;
pub mod write;

use crate::error::Error;
use crate::metrics::Cost;
use crate::node::{Message, Node, Placed, Reply, View};
use crate::ring::{Consistency, NodeId, Topology};
use crate::row::ReadCommand;
use crate::row::query::ReadReport;
use crate::row::thresholds::Notices;
use crate::schema::Replication;
use crate::sim::network::{Lost, Network, Sending};
use crate::trace::Trace;
use arc_swap::Guard;
use smallvec::SmallVec;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A few nodes, such as the replicas of a key.
type Nodes = SmallVec<[NodeId; 6]>;

/// What a coordinator works with: its own node, all nodes, and the links between them.
#[derive(Debug)]
pub struct Coordinator<'a> {
    /// The node that coordinates.
    pub own: &'a Node,
    /// What it saw when the request came: one schema to its end.
    pub view: Guard<Arc<View>>,
    /// All nodes by number, node 1 first.
    pub nodes: &'a [Arc<Node>],
    /// The ring.
    pub topology: &'a Topology,
    /// The links.
    pub network: &'a Network,
}

impl<'a> Coordinator<'a> {
    fn node(&self, id: NodeId) -> &'a Node {
        &self.nodes[id.0 - 1]
    }

    /// Whether the coordinator takes the node for alive. Here a node's state is known at once; a failure detector
    /// that needs time to notice would sit in this place.
    fn is_alive(&self, id: NodeId) -> bool {
        self.node(id).is_up()
    }

    fn datacenter_of(&self, id: NodeId) -> &'a str {
        &self.topology.node(id).expect("replicas are nodes of the topology").datacenter
    }

    fn local_datacenter(&self) -> &'a str {
        self.datacenter_of(self.own.id())
    }

    /// Placement of a keyspace, in the schema that the coordinating node sees.
    fn placed(&self, keyspace: &str) -> Result<&Placed, Error> {
        self.view.placed.placed(keyspace).map(AsRef::as_ref)
    }

    /// Replicas of the range that ends at place `index` of the ring, those that are alive, in order of preference.
    fn alive_replicas(&self, placed: &Placed, index: usize) -> Nodes {
        match placed.replication {
            Replication::Local => Nodes::from_slice(&[self.own.id()]),
            Replication::Simple { .. } | Replication::NetworkTopology { .. } => {
                let replicas = placed.placement.at(index).iter().copied();
                replicas.filter(|&id| self.is_alive(id)).collect()
            }
        }
    }

    fn check_available(
        &self,
        placed: &Placed,
        level: Consistency,
        alive: &[NodeId],
    ) -> Result<(), Error> {
        level.check_available(&placed.replication, self.topology, self.local_datacenter(), alive)
    }

    pub(crate) fn send(&self, to: NodeId, message: &Message) -> Sending<Reply> {
        self.network.send(self.own.id().0, to.0, message.verb(), || self.node(to).handle(message))
    }

    /// `id`s from nearest to farthest, otherwise in their order: the coordinator itself, its rack, its data centre, the rest.
    fn by_distance(&self, mut ids: Nodes) -> Nodes {
        if ids.len() < 2 {
            return ids;
        }
        let own = self.topology.node(self.own.id()).expect("the coordinator is in the topology");
        ids.sort_by_key(|&id| {
            let info = self.topology.node(id).expect("replicas are nodes of the topology");
            let same_datacenter = info.datacenter == own.datacenter;
            match (id == own.id, same_datacenter, info.rack == own.rack) {
                (true, ..) => 0,
                (false, true, true) => 1,
                (false, true, false) => 2,
                (false, false, _) => 3,
            }
        });
        ids
    }
}

/// Requests on their way, awaited together: answers come in the order in which they arrive, and in the order of
/// sending when several are there.
struct Gather {
    waiting: Vec<(NodeId, Sending<Reply>)>,
}

impl Gather {
    fn new(waiting: Vec<(NodeId, Sending<Reply>)>) -> Gather {
        Gather { waiting }
    }

    fn add(&mut self, others: Gather) {
        self.waiting.extend(others.waiting);
    }

    /// The next answer; `None` when all have come.
    async fn next(&mut self) -> Option<(NodeId, Result<Reply, Lost>)> {
        if self.waiting.is_empty() {
            return None;
        }
        poll_fn(|context| {
            for place in 0..self.waiting.len() {
                if let Poll::Ready(reply) = Pin::new(&mut self.waiting[place].1).poll(context) {
                    let (from, _) = self.waiting.remove(place);
                    return Poll::Ready(Some((from, reply)));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Keeps count of what a request costs while its parts come in.
#[derive(Debug, Default)]
struct Tally {
    cost: Cost,
    nodes: Nodes,
    trace: Trace,
    warnings: Vec<String>,
    /// What replicas said of the read under way, where the coordinator words it.
    said: Vec<Notices>,
    /// What came of that.
    sums: Vec<String>,
}

impl Tally {
    /// A request was sent to `to`.
    fn sent(&mut self, own: NodeId, to: NodeId) {
        self.cost.messages += u64::from(own != to);
    }

    /// A reply came from `from`.
    fn arrived(&mut self, own: NodeId, from: NodeId) {
        self.cost.messages += u64::from(own != from);
        if !self.nodes.contains(&from) {
            self.nodes.push(from);
        }
    }

    /// Adds what a replica counted and has to say. Its own words reach the client only from the coordinator itself
    /// (`is_own`): other nodes keep them in their logs.
    fn add(&mut self, cost: &Cost, trace: Trace, notices: Option<Box<Notices>>, is_own: bool) {
        self.cost += cost;
        self.trace.extend(trace);
        let Some(notices) = notices else { return };
        match notices.warning {
            Some(_) if !is_own => {}
            Some(warning) => self.warnings.push(warning),
            None => self.said.push(*notices),
        }
    }

    /// Words what the replicas said of one read ([`summary`]).
    fn sum_up(&mut self, command: &ReadCommand) {
        if !self.said.is_empty() {
            self.sums.extend(summary::warnings(command, &std::mem::take(&mut self.said)));
        }
    }

    fn into_cost(mut self) -> Cost {
        self.cost.nodes = self.nodes.len() as u64;
        self.cost
    }

    fn into_report(mut self, report: &mut ReadReport) -> Cost {
        report.trace.append(&mut self.trace);
        report.warnings.append(&mut self.warnings);
        report.warnings.append(&mut self.sums);
        let cost = self.into_cost();
        report.cost += &cost;
        cost
    }
}
