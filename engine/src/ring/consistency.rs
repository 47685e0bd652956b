//! How many replicas a level needs, and whether enough are alive (sheet D.3, cluster-answers.md 2).
//!
//! ```text
//! RF 3, one DC:        ONE 1   TWO 2   QUORUM 2   ALL 3
//! RF dc1:3, dc2:2:     QUORUM 5 / 2 + 1 = 3       LOCAL_QUORUM in dc1 2, in dc2 2       EACH_QUORUM 2 + 2
//! ```
//!
//! The replication factor that counts is the configured one, whatever the number of nodes: QUORUM of RF 3 on a single node is
//! unavailable. Availability is judged before anything is sent.

use super::{Consistency, NodeId, Topology};
use crate::error::Error;
use crate::schema::Replication;
use std::collections::BTreeMap;

impl Replication {
    /// Configured number of replicas in all data centres.
    pub fn factor(&self) -> usize {
        match self {
            Replication::Local => 1,
            Replication::Simple { replication_factor } => *replication_factor,
            Replication::NetworkTopology { datacenters } => datacenters.values().sum(),
        }
    }

    /// A majority of the configured replicas.
    pub fn quorum(&self) -> usize {
        self.factor() / 2 + 1
    }

    /// A majority of the replicas of one data centre; of all, if the strategy knows no data centres.
    pub fn local_quorum(&self, datacenter: &str) -> usize {
        match self {
            Replication::Local | Replication::Simple { .. } => self.quorum(),
            Replication::NetworkTopology { datacenters } => {
                datacenters.get(datacenter).copied().unwrap_or(0) / 2 + 1
            }
        }
    }
}

impl Consistency {
    /// Whether only replicas of the coordinator's data centre count.
    pub fn is_local(self) -> bool {
        matches!(self, Consistency::LocalOne | Consistency::LocalQuorum | Consistency::LocalSerial)
    }

    /// Replicas that have to answer (Cassandra's `blockFor`), for a coordinator in data centre `local`.
    pub fn block_for(self, replication: &Replication, local: &str) -> usize {
        match self {
            Consistency::Any | Consistency::One | Consistency::LocalOne => 1,
            Consistency::Two => 2,
            Consistency::Three => 3,
            Consistency::Quorum | Consistency::Serial => replication.quorum(),
            Consistency::All => replication.factor(),
            Consistency::LocalQuorum | Consistency::LocalSerial => replication.local_quorum(local),
            Consistency::EachQuorum => match replication {
                Replication::NetworkTopology { datacenters } => {
                    datacenters.keys().map(|dc| replication.local_quorum(dc)).sum()
                }
                Replication::Local | Replication::Simple { .. } => replication.quorum(),
            },
        }
    }

    /// How many replicas each data centre has to give, if the level counts by data centre on this strategy.
    pub fn per_datacenter(self, replication: &Replication) -> Option<BTreeMap<&str, usize>> {
        match (self, replication) {
            (Consistency::EachQuorum, Replication::NetworkTopology { datacenters }) => Some(
                datacenters.keys().map(|dc| (dc.as_str(), replication.local_quorum(dc))).collect(),
            ),
            _ => None,
        }
    }

    /// Checks that enough of a partition's replicas are alive. `alive` are those that are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the numbers that Cassandra reports.
    pub fn check_available(
        self,
        replication: &Replication,
        topology: &Topology,
        local: &str,
        alive: &[NodeId],
    ) -> Result<(), Error> {
        let in_datacenter = |name: &str| {
            let lives_there =
                |id: &&NodeId| topology.node(**id).is_some_and(|n| n.datacenter == name);
            alive.iter().filter(lives_there).count()
        };
        if self == Consistency::Any {
            return Ok(());
        }
        if let Some(needs) = self.per_datacenter(replication) {
            for (name, required) in needs {
                if in_datacenter(name) < required {
                    // Cassandra passes its numbers in the wrong places here: alive is always 0.
                    let datacenter = Some(name.to_string());
                    return Err(Error::Unavailable {
                        consistency: self,
                        required,
                        alive: 0,
                        datacenter,
                    });
                }
            }
            return Ok(());
        }
        let required = self.block_for(replication, local);
        let alive = if self.is_local() { in_datacenter(local) } else { alive.len() };
        if alive < required {
            return Err(Error::Unavailable {
                consistency: self,
                required,
                alive,
                datacenter: None,
            });
        }
        Ok(())
    }
}
