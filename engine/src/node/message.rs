//! What nodes say to each other.
//!
//! Closed sets: whoever handles a message handles all of them. Contents are shared, not copied: the same mutation
//! goes to every replica.

use crate::error::Error;
use crate::lsm::{LocalRead, ReplicaRead};
use crate::metrics::Cost;
use crate::row::query::Partitions;
use crate::row::thresholds::Notices;
use crate::row::{Mutation, ReadCommand};
use crate::schema::Table;
use crate::trace::Trace;
use std::sync::Arc;

/// A request from a coordinator to a replica.
#[derive(Clone, Debug)]
pub enum Message {
    /// Apply a mutation.
    Mutation(Arc<Mutation>),
    /// Apply a mutation that a read found missing.
    ReadRepair(Arc<Mutation>),
    /// Read.
    Read {
        /// What to read.
        command: Arc<ReadCommand>,
        /// In what form to answer.
        want: Want,
    },
    /// Remove all rows of a table.
    Truncate(Arc<Table>),
}

/// In what form a replica answers a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Live rows: no other replica is asked.
    Rows,
    /// All there is, deletions included, to be merged with other replicas' answers.
    Data,
    /// The digest of that.
    Digest,
}

impl Message {
    /// Cassandra's name of the message.
    pub fn verb(&self) -> &'static str {
        match self {
            Message::Mutation(_) => "MUTATION_REQ",
            Message::ReadRepair(_) => "READ_REPAIR_REQ",
            Message::Read { command, .. } => match command.partitions {
                Partitions::Keys(_) => "READ_REQ",
                Partitions::Range(_) => "RANGE_REQ",
            },
            Message::Truncate(_) => "TRUNCATE_REQ",
        }
    }
}

/// A replica's answer.
#[derive(Debug)]
pub enum Reply {
    /// The mutation or truncation is applied.
    Applied,
    /// To [`Want::Rows`].
    Rows(LocalRead),
    /// To [`Want::Data`].
    Data(ReplicaRead),
    /// To [`Want::Digest`].
    Digest {
        /// Digest of the data.
        digest: [u8; 16],
        /// What reading it cost.
        cost: Cost,
        /// Lines for the request's trace.
        trace: Trace,
        /// What there is to say of thresholds.
        notices: Option<Box<Notices>>,
    },
    /// The replica could not do it.
    Failed(Error),
}
