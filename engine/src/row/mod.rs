//! What a partition is made of, and who wins.
//!
//! ```text
//! partition  = partition deletion, static row?, (row | range tombstone bound)*   in clustering order
//! row        = clustering, marker?, row deletion?, cells
//! cell       = column, path?, timestamp, (ttl, expiry)? | deletion second?, value
//! ```
//!
//! [`key`]: the partition key and its token. [`clustering`]: positions inside a partition, as plain bytes.
//! [`cell`], [`deletion`]: the smallest pieces and their reconciliation (sheet B). [`data`]: a row in one
//! allocation. [`merge`]: the one merge that flush, read, compaction and repair share. [`mutation`]: a write of
//! one partition. [`query`]: a read.

mod absorb;
mod builder;
pub mod cell;
pub mod clustering;
pub(crate) mod collect;
mod cql;
pub mod data;
pub mod deletion;
mod encoding;
pub mod filter;
pub mod key;
pub mod merge;
pub mod mutation;
mod mutation_size;
pub(crate) mod pass;
pub mod query;
pub mod reconcile;
pub mod replicas;
pub mod thresholds;
pub(crate) mod times;
pub mod unfiltered;
pub(crate) mod varint;

pub use cell::{CellRef, CellWrite, Liveness};
pub use clustering::{Bound, ClusteringKey};
pub use data::{Row, RowBuilder};
pub use deletion::DeletionTime;
pub use encoding::Damaged;
pub use key::DecoratedKey;
pub use mutation::Mutation;
pub use query::{PartitionRows, ReadCommand, ReadResult};
pub use unfiltered::{Marker, PartitionData, Unfiltered};
