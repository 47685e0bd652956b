//! Failures of the engine, by who must act.
//!
//! | kind | who acts |
//! |---|---|
//! | [`Error::Unavailable`], [`Error::WriteTimeout`], [`Error::ReadTimeout`] | the client: retry, or ask for less |
//! | [`Error::ReadFailure`] | the client: the read as asked cannot be served (tombstones, damage) |
//! | [`Error::Oversized`] | the client: write less at once |
//! | [`Error::Invalid`] | the caller handed in what its own checks should have refused |
//! | [`Error::Storage`] | the operator: a disk or a file is at fault |

use crate::ring::Consistency;
use std::fmt;
use std::net::IpAddr;

/// What kind of write a timeout or failure belongs to (Cassandra's `WriteType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// One mutation.
    Simple,
    /// A logged batch.
    Batch,
    /// A batch without log, or a statement that writes several partitions.
    UnloggedBatch,
}

impl WriteKind {
    /// Cassandra's name of the kind, as sent to drivers.
    pub fn name(self) -> &'static str {
        match self {
            WriteKind::Simple => "SIMPLE",
            WriteKind::Batch => "BATCH",
            WriteKind::UnloggedBatch => "UNLOGGED_BATCH",
        }
    }
}

/// Why a replica failed (Cassandra's `RequestFailureReason`), with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum FailureReason {
    /// `tombstone_failure_threshold`.
    ReadTooManyTombstones = 1,
    /// `local_read_size_fail_threshold`, `coordinator_read_size_fail_threshold`.
    ReadSize = 4,
}

impl FailureReason {
    /// Cassandra's name.
    pub fn name(self) -> &'static str {
        match self {
            FailureReason::ReadTooManyTombstones => "READ_TOO_MANY_TOMBSTONES",
            FailureReason::ReadSize => "READ_SIZE",
        }
    }
}

/// Where Cassandra's nodes talk to each other: part of the addresses in its messages.
const STORAGE_PORT: u16 = 7000;

/// A failure of the engine. `Display` gives Cassandra's text where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Too few replicas are alive; known before anything was sent (0x1000).
    Unavailable {
        /// The level that cannot be met.
        consistency: Consistency,
        /// Replicas that the level needs.
        required: usize,
        /// Replicas that are alive.
        alive: usize,
        /// For EACH_QUORUM on NetworkTopologyStrategy: the data centre that falls short.
        datacenter: Option<String>,
    },
    /// Too few replicas acknowledged a write in time; it may or may not have been applied (0x1100).
    WriteTimeout {
        /// The level asked for.
        consistency: Consistency,
        /// Acknowledgements that came.
        received: usize,
        /// Acknowledgements that the level needs.
        required: usize,
        /// What kind of write it was.
        kind: WriteKind,
    },
    /// Too few replicas answered a read in time (0x1200).
    ReadTimeout {
        /// The level asked for.
        consistency: Consistency,
        /// Answers that came.
        received: usize,
        /// Answers that the level needs.
        required: usize,
        /// Whether the replica asked for data (not a digest) answered.
        data_present: bool,
    },
    /// Replicas answered a read with a failure (0x1300).
    ReadFailure {
        /// The level asked for.
        consistency: Consistency,
        /// Answers that came.
        received: usize,
        /// Answers that the level needs.
        required: usize,
        /// Address of each failed replica, and why it failed.
        failures: Vec<(IpAddr, FailureReason)>,
        /// What the coordinator has summed up of it, where it does (`read_thresholds_enabled`).
        summary: Option<String>,
        /// Whether the replica asked for data answered.
        data_present: bool,
    },
    /// Inside a replica: a threshold ended the read. The coordinator makes a [`Error::ReadFailure`] of it.
    Aborted(FailureReason),
    /// TRUNCATE could not reach every node (0x1003).
    Truncate(String),
    /// A mutation over the limit (0x2200); sizes in bytes.
    Oversized {
        /// Size of the mutation.
        size_bytes: usize,
        /// The limit (Cassandra's `max_mutation_size`).
        limit_bytes: usize,
        /// Keyspace of the mutation.
        keyspace: String,
        /// Largest partitions of the mutation, as Cassandra lists them: `table.key`.
        top_keys: String,
    },
    /// The caller broke a rule of the engine's doors; the text says which.
    Invalid(String),
    /// A disk or file is at fault: `file` and `offset_bytes` name the place.
    Storage {
        /// File that could not be read or written.
        file: String,
        /// Where in it.
        offset_bytes: u64,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unavailable { consistency, datacenter: None, .. } => {
                write!(f, "Cannot achieve consistency level {consistency}")
            }
            Error::Unavailable { consistency, datacenter: Some(dc), .. } => {
                write!(f, "Cannot achieve consistency level {consistency} in DC {dc}")
            }
            Error::WriteTimeout { received, .. } | Error::ReadTimeout { received, .. } => {
                write!(f, "Operation timed out - received only {received} responses.")
            }
            Error::ReadFailure { received, failures, summary, .. } => {
                f.write_str("Operation failed - ")?;
                match summary {
                    Some(summary) => f.write_str(summary)?,
                    None => {
                        write!(f, "received {received} responses and {} failures", failures.len())?
                    }
                }
                let of_one = |(address, reason): &(IpAddr, FailureReason)| {
                    let port = if address.is_ipv6() {
                        format!("[{address}]:{STORAGE_PORT}")
                    } else {
                        format!("{address}:{STORAGE_PORT}")
                    };
                    format!("{} from /{port}", reason.name())
                };
                let failures: Vec<String> = failures.iter().map(of_one).collect();
                write!(f, ": {}", failures.join(", "))
            }
            Error::Aborted(reason) => write!(f, "the read was aborted: {}", reason.name()),
            Error::Truncate(reason) => write!(f, "Error during truncate: {reason}"),
            Error::Oversized { size_bytes, limit_bytes, keyspace, top_keys } => write!(
                f,
                "Rejected an oversized mutation ({size_bytes}/{limit_bytes}) for keyspace: {keyspace}. Top keys are: {top_keys}"
            ),
            Error::Invalid(reason) => f.write_str(reason),
            Error::Storage { file, offset_bytes, reason } => {
                write!(f, "{file} at byte {offset_bytes}: {reason}")
            }
        }
    }
}

impl std::error::Error for Error {}
