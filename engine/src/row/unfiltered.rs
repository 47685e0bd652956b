//! What a partition's stream is made of: rows and the ends of range deletions (sheet B.5).
//!
//! ```text
//! DELETE c >= 2 AND c < 5 @10; DELETE c >= 4 AND c < 9 @20
//!
//!    1     | 2     3     | 4     5     6     7     8     | 9         rows
//!          open @10      boundary @10 -> @20             close @20
//! ```
//!
//! A boundary closes one deletion and opens the next at one place. In a reversed stream the sides change roles:
//! `closes` is always the deletion that ends here for the reader, `opens` the one that begins.

use super::data::Row;
use super::deletion::DeletionTime;
use super::key::DecoratedKey;

/// An end of range deletions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Where: a bound's bytes ([`super::clustering::Bound`]).
    pub position: Vec<u8>,
    /// The deletion that ends here; [`DeletionTime::LIVE`] if none.
    pub closes: DeletionTime,
    /// The deletion that begins here; [`DeletionTime::LIVE`] if none.
    pub opens: DeletionTime,
}

/// One thing of a partition's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfiltered {
    /// A row.
    Row(Row),
    /// An end of range deletions.
    Marker(Marker),
}

impl Unfiltered {
    /// Its place in clustering order.
    pub fn position(&self) -> &[u8] {
        match self {
            Unfiltered::Row(row) => row.position(),
            Unfiltered::Marker(marker) => &marker.position,
        }
    }
}

/// A partition with its tombstones, as replicas send it to a coordinator that merges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionData {
    /// Partition.
    pub key: DecoratedKey,
    /// Deletion of the partition; [`DeletionTime::LIVE`] if none.
    pub deletion: DeletionTime,
    /// Static cells.
    pub static_row: Option<Row>,
    /// Rows and markers in the order that was asked for.
    pub unfiltereds: Vec<Unfiltered>,
}

impl PartitionData {
    /// A partition of nothing.
    pub fn new(key: DecoratedKey) -> PartitionData {
        PartitionData {
            key,
            deletion: DeletionTime::LIVE,
            static_row: None,
            unfiltereds: Vec::new(),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.deletion.is_live() && self.static_row.is_none() && self.unfiltereds.is_empty()
    }
}
