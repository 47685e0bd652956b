//! Storm, then calm: nodes stop and start while rows are written and deleted, and no QUORUM read may differ from a
//! plain map of what was acknowledged. The seed of a failing run is in its message.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster_support;

use cassling_engine::error::{Error, WriteKind};
use cassling_engine::ring::{Consistency, NodeId};
use cassling_engine::row::mutation::RangeDeletion;
use cassling_engine::row::query::{Partitions, Resume};
use cassling_engine::row::{Bound, DeletionTime, Mutation};
use cassling_engine::schema::Replication;
use cassling_engine::sim::rng::Rng;
use cluster_support::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Value by partition and clustering.
type Model = BTreeMap<i32, BTreeMap<i32, String>>;

/// What a mutation does to the model.
type Effect = Box<dyn Fn(&mut Model)>;

struct Storm {
    world: World,
    rng: Rng,
    nodes: u64,
    model: Model,
    /// What happened, for the message of a failure.
    log: Vec<String>,
}

impl Storm {
    fn new(seed: u64, nodes: usize) -> Storm {
        let mut config = one_datacenter(nodes);
        config.seed = seed;
        config.num_tokens = 4;
        let simple = Replication::Simple { replication_factor: 3 };
        let rng = Rng::new(seed).fork("storm");
        let world = World::with(config, simple, table("BLOCKING"));
        Storm { world, rng, nodes: nodes as u64, model: Model::new(), log: Vec::new() }
    }

    fn below(&mut self, bound: u64) -> i32 {
        i32::try_from(self.rng.below(bound)).unwrap()
    }

    fn node(&mut self) -> NodeId {
        NodeId(1 + usize::try_from(self.rng.below(self.nodes)).unwrap())
    }

    fn living_node(&mut self) -> NodeId {
        loop {
            let node = self.node();
            if self.world.cluster.node(node).unwrap().is_up() {
                return node;
            }
        }
    }

    fn deletion(&self) -> DeletionTime {
        DeletionTime {
            timestamp_micros: self.world.cluster.next_timestamp_micros(),
            local_seconds: self.world.cluster.clock().now_seconds(),
        }
    }

    /// A mutation, and what it does to the model.
    fn mutation(&mut self, step: u32) -> (String, Mutation, Effect) {
        let (p, c) = (self.below(4), self.below(8));
        match self.below(8) {
            0 => {
                let mut mutation = Mutation::new(Arc::clone(&self.world.table), key(p));
                mutation.deletion = self.deletion();
                let apply = move |model: &mut Model| drop(model.remove(&p));
                (format!("delete {p}"), mutation, Box::new(apply))
            }
            1 => {
                let to = c + self.below(4);
                let mut mutation = Mutation::new(Arc::clone(&self.world.table), key(p));
                let bytes = |c: i32| c.to_be_bytes();
                mutation.ranges.push(RangeDeletion {
                    start: Bound::before(&self.world.table, &[&bytes(c)]),
                    end: Bound::after(&self.world.table, &[&bytes(to)]),
                    deletion: self.deletion(),
                });
                let apply = move |model: &mut Model| {
                    model.entry(p).or_default().retain(|row, _| !(c..=to).contains(row));
                };
                (format!("delete {p}/{c}..={to}"), mutation, Box::new(apply))
            }
            2 | 3 => {
                let apply = move |model: &mut Model| drop(model.entry(p).or_default().remove(&c));
                (format!("delete {p}/{c}"), self.world.delete(p, c), Box::new(apply))
            }
            _ => {
                let value = format!("v{step}");
                let mutation = self.world.insert(p, c, &value);
                let apply = move |model: &mut Model| {
                    model.entry(p).or_default().insert(c, value.clone());
                };
                (format!("insert {p}/{c}"), mutation, Box::new(apply))
            }
        }
    }

    fn step(&mut self, step: u32) {
        match self.below(10) {
            0 => {
                let node = self.node();
                let up = (1..=self.nodes)
                    .filter(|&n| self.world.cluster.node(NodeId(n as usize)).unwrap().is_up());
                if up.count() > 1 && self.world.cluster.node(node).unwrap().is_up() {
                    self.world.stop(node);
                    self.log.push(format!("stop {node}"));
                }
            }
            1 | 2 => {
                let node = self.node();
                self.world.start(node);
                self.log.push(format!("start {node}"));
            }
            3 => {
                let node = self.node();
                self.world.cluster.node(node).unwrap().flush(None, None).unwrap();
                self.log.push(format!("flush {node}"));
            }
            4..=6 => self.write(step),
            _ => self.read(),
        }
    }

    fn write(&mut self, step: u32) {
        let node = self.living_node();
        let (what, mutation, apply) = self.mutation(step);
        let result = self.world.write(node, vec![mutation], Consistency::Quorum, WriteKind::Simple);
        self.log.push(format!("{what} through {node}: {result:?}"));
        match result {
            Ok(_) => apply(&mut self.model),
            // Refused before anything was written: the model stays.
            Err(Error::Unavailable { .. }) => {}
            Err(other) => panic!("{other}\n{}", self.log.join("\n")),
        }
    }

    /// Reads one partition, or all, forward or back, whole or page by page.
    fn read(&mut self) {
        let node = self.living_node();
        let p = self.below(4);
        let by_key = self.below(2) == 0;
        let reversed = by_key && self.below(2) == 0;
        let page = [u64::MAX, 1, 2, 5][usize::try_from(self.below(4)).unwrap()];
        let partitions = if by_key { Partitions::Keys(vec![key(p)].into()) } else { everything() };
        self.log.push(format!("read {p} {by_key} {reversed} {page} through {node}"));
        let mut expected = self.expected(by_key.then_some(p), reversed);
        let (mut found, mut resume) = (Vec::new(), None::<Resume>);
        loop {
            let mut command = self.world.command(partitions.clone());
            command.reversed = reversed;
            command.limits.rows = page;
            command.limits.resume = resume.take();
            let result = match self.world.read(node, command, Consistency::Quorum) {
                Ok(result) => result,
                Err(Error::Unavailable { .. }) => {
                    // The pages before are still right.
                    expected.truncate(found.len());
                    break;
                }
                Err(other) => panic!("{other}\n{}", self.log.join("\n")),
            };
            found.extend(rows(&self.world.table, &result));
            let Some(last) = result.partitions.last().filter(|_| result.limited) else { break };
            resume = Some(Resume {
                key: last.key.clone(),
                position: Some(last.rows.last().unwrap().position().to_vec()),
                remaining_in_partition: u64::MAX,
            });
        }
        assert_eq!(found, expected, "{}", self.log.join("\n"));
    }

    fn expected(&self, only: Option<i32>, reversed: bool) -> Vec<String> {
        let mut keys: Vec<i32> = self.model.keys().copied().collect();
        keys.retain(|p| only.is_none_or(|only| only == *p));
        keys.sort_by_key(|p| key(*p));
        let mut out = Vec::new();
        for p in keys {
            let mut part: Vec<String> =
                self.model[&p].iter().map(|(c, v)| format!("{p}/{c}={v}")).collect();
            if reversed {
                part.reverse();
            }
            out.extend(part);
        }
        out
    }
}

#[test]
fn quorum_reads_see_every_acknowledged_quorum_write() {
    for seed in 0..60 {
        for nodes in [3, 5] {
            let mut storm = Storm::new(seed, nodes);
            storm.log.push(format!("seed {seed}, {nodes} nodes"));
            (0..150).for_each(|step| storm.step(step));
            // Calm: all up, and a read at ALL mends what is left; then every node alone knows everything it should.
            (1..=nodes).for_each(|n| storm.world.start(NodeId(n)));
            let all = storm.world.command(everything());
            storm.world.read(NODE_1, all, Consistency::All).unwrap();
            for node in (1..=nodes).map(NodeId) {
                let command = storm.world.command(everything());
                let result = storm.world.read(node, command, Consistency::One).unwrap();
                let found = rows(&storm.world.table, &result);
                assert_eq!(found, storm.expected(None, false), "{}", storm.log.join("\n"));
            }
        }
    }
}
