//! The engine of cassling: a small, whole Cassandra without a query language.
//!
//! From the bottom up (a module imports only from those above it in this list):
//!
//! | module | what it is |
//! |---|---|
//! | [`error`], [`metrics`], [`trace`] | who must act on a failure; what a request cost; what a replica notes of it |
//! | [`sim`] | the seams to the world: clock, chance, tasks, links, disk |
//! | [`types`] | CQL types: literals, bytes, values, order |
//! | [`schema`] | keyspaces, tables, options; changes as data |
//! | [`ring`] | tokens and replica placement |
//! | [`settings`] | the settings of cassandra.yaml that are honoured |
//! | [`row`] | keys, cells, deletions; who wins; mutations and read commands |
//! | [`commitlog`] | what was written since the last flush, one log a node |
//! | [`lsm`] | one table on one node: memtable, SSTables, reads |
//! | [`node`] | one node: a message in, a reply out |
//! | [`directory`] | a cluster's data directory: topology, schema, clock, lock |
//! | [`coordinator`] | straight-line async: find replicas, send, await enough, mend |
//! | [`cluster`], [`sight`] | the whole: nodes, schema, clock, and the doors for the front end; what tables show |

pub mod cluster;
pub mod commitlog;
pub mod coordinator;
pub mod directory;
pub mod error;
pub mod lsm;
pub mod metrics;
pub mod node;
pub mod ring;
pub mod row;
pub mod schema;
pub mod settings;
pub mod sight;
pub mod sim;
pub mod trace;
pub mod types;
