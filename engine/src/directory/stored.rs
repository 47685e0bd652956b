//! What a data directory says of its cluster: one file, replaced whole at every change of the schema, and when the cluster is
//! opened or closed.
//!
//! ```text
//! "CSRM" | version (2) | zero (2) | JSON | checksum (4)
//! ```
//!
//! JSON because the schema is a tree of many kinds of options that grow with every version; nothing here is large or read
//! often. Keyspaces of the system are stored only if they were altered.

use crate::commitlog::Times;
use crate::error::Error;
use crate::node::system::initial_schema;
use crate::ring::Topology;
use crate::schema::{Keyspace, Schema};
use crate::sim::disk::{Disk, read_file};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

const MAGIC: &[u8; 4] = b"CSRM";
const VERSION: u16 = 1;

/// A cluster as it is remembered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// Its name.
    pub name: String,
    /// The seed of all that is random.
    pub seed: u64,
    /// How often it was opened: what is drawn differs each time.
    pub generation: u64,
    /// Nodes, tokens, host ids.
    pub topology: Topology,
    /// The cluster's time, microseconds.
    pub time_micros: i64,
    /// The last timestamp given, microseconds.
    pub timestamp_micros: i64,
    /// The last time given in a timeuuid.
    pub timeuuid_ticks: u64,
    schema_version: Uuid,
    keyspaces: Vec<Arc<Keyspace>>,
}

impl Stored {
    /// A cluster with this schema.
    pub fn new(
        (name, seed, generation): (&str, u64, u64),
        topology: &Topology,
        times: Times,
        schema: &Schema,
    ) -> Stored {
        let initial = initial_schema();
        let is_initial = |keyspace: &Arc<Keyspace>| {
            initial.keyspaces.get(&keyspace.name).is_some_and(|k| Arc::ptr_eq(k, keyspace))
        };
        Stored {
            name: name.to_string(),
            seed,
            generation,
            topology: topology.clone(),
            time_micros: times.time_micros,
            timestamp_micros: times.timestamp_micros,
            timeuuid_ticks: times.timeuuid_ticks,
            schema_version: schema.version,
            keyspaces: schema.keyspaces.values().filter(|k| !is_initial(k)).cloned().collect(),
        }
    }

    /// Its schema.
    pub fn schema(&self) -> Schema {
        let mut schema = initial_schema();
        schema.version = self.schema_version;
        schema.keyspaces.extend(self.keyspaces.iter().map(|k| (k.name.clone(), Arc::clone(k))));
        schema
    }

    /// Its times.
    pub fn times(&self) -> Times {
        Times {
            time_micros: self.time_micros,
            timestamp_micros: self.timestamp_micros,
            timeuuid_ticks: self.timeuuid_ticks,
        }
    }
}

pub(super) fn encode(stored: &Stored) -> Result<Vec<u8>, Error> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    serde_json::to_writer(&mut bytes, stored)
        .map_err(|e| Error::Invalid(format!("the schema cannot be stored: {e}")))?;
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

pub(super) fn load(root: &dyn Disk, name: &str) -> Result<Stored, Error> {
    let bytes = read_file(root, name)?;
    let bad = |offset_bytes: u64, reason: String| Error::Storage {
        file: name.to_string(),
        offset_bytes,
        reason,
    };
    let body = bytes.split_last_chunk::<4>().filter(|(body, _)| body.len() >= 8);
    let Some((body, sum)) = body.filter(|(body, _)| body.starts_with(MAGIC)) else {
        return Err(bad(0, "this is no manifest of a cluster".to_string()));
    };
    let version = u16::from_le_bytes([body[4], body[5]]);
    if version != VERSION {
        return Err(bad(4, format!("version {version} of the manifest is not known")));
    }
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return Err(bad(0, "the manifest is damaged: its checksum does not match".to_string()));
    }
    let stored: Stored = serde_json::from_slice(&body[8..])
        .map_err(|e| bad(8, format!("the manifest cannot be read: {e}")))?;
    let numbered = stored.topology.nodes.iter().enumerate().all(|(i, node)| node.id.0 == i + 1);
    match numbered && !stored.topology.nodes.is_empty() && !stored.topology.ring.is_empty() {
        true => Ok(stored),
        false => Err(bad(8, "the manifest names no nodes 1, 2 ...".to_string())),
    }
}
