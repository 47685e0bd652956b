//! What exists: keyspaces, tables, types, their options; and changes to it as data.
//!
//! A [`Schema`] is an immutable value; a change makes a new one that shares all that did not change. Each node
//! holds one, so that nodes can disagree. Statements are planned against the `Arc<Table>` they saw.

pub mod change;
pub mod options;
pub mod table;

pub use change::SchemaChange;
pub use options::TableOptions;
pub use table::{Column, ColumnId, ColumnKind, DroppedColumn, Table, TableId};

use crate::types::UserType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// All keyspaces at one moment.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Changes with every change; equal on nodes that agree.
    pub version: Uuid,
    /// Keyspaces by name.
    pub keyspaces: BTreeMap<String, Arc<Keyspace>>,
}

/// A keyspace and what it holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Keyspace {
    /// Name, case kept.
    pub name: String,
    /// How its partitions are replicated.
    pub replication: Replication,
    /// Whether its writes go through the commit log.
    pub durable_writes: bool,
    /// Tables by name.
    pub tables: BTreeMap<String, Arc<Table>>,
    /// User-defined types by name.
    pub types: BTreeMap<String, Arc<UserType>>,
}

/// Replication strategy of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replication {
    /// Only the node asked (system keyspaces).
    Local,
    /// The next `replication_factor` nodes of the ring, whatever their rack.
    Simple {
        /// Number of replicas.
        replication_factor: usize,
    },
    /// For each data centre its own number of replicas, on different racks where there are enough.
    NetworkTopology {
        /// Data centre to number of replicas, in the order of their names.
        datacenters: BTreeMap<String, usize>,
    },
}

impl Replication {
    /// The map that `system_schema.keyspaces` shows: full class name and options.
    pub fn as_map(&self) -> BTreeMap<String, String> {
        let mut map = BTreeMap::new();
        let class = match self {
            Replication::Local => "LocalStrategy",
            Replication::Simple { replication_factor } => {
                map.insert("replication_factor".to_string(), replication_factor.to_string());
                "SimpleStrategy"
            }
            Replication::NetworkTopology { datacenters } => {
                for (dc, rf) in datacenters {
                    map.insert(dc.clone(), rf.to_string());
                }
                "NetworkTopologyStrategy"
            }
        };
        map.insert("class".to_string(), format!("org.apache.cassandra.locator.{class}"));
        map
    }
}

impl Schema {
    /// The keyspace of that name.
    pub fn keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspaces.get(name)
    }

    /// The table of that name.
    pub fn table(&self, keyspace: &str, table: &str) -> Option<&Arc<Table>> {
        self.keyspaces.get(keyspace)?.tables.get(table)
    }
}

/// Whether the name is one of Cassandra's own keyspaces.
pub fn is_system_keyspace(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "system_schema"
            | "system_auth"
            | "system_distributed"
            | "system_traces"
            | "system_views"
            | "system_virtual_schema"
    )
}
