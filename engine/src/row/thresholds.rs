//! What a read may meet before its replica warns or gives up (sheet E.2).
//!
//! ```text
//! warn 2, fail 4:   row  ✝  ✝  ✝  row  ✝          3 and 4 tombstones: answered, with a warning
//!                   row  ✝  ✝  ✝  row  ✝  ✝       the fifth aborts the read where it is met
//! ```
//!
//! Each replica counts for itself, each command and page anew, at the row where Cassandra counts. What it has to say goes
//! to the coordinator as [`Notices`]; who hears of it is the coordinator's business. Not here: the counting
//! ([`super::collect`]).

use super::query::ReadCommand;
use crate::error::FailureReason;
use crate::settings::Settings;

/// The thresholds of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadThresholds {
    /// More tombstones than this warn. Cassandra compares as it stands: at -1 every read warns.
    pub tombstones_warn: i64,
    /// The tombstone after this many aborts the read.
    pub tombstones_fail: u64,
    /// Bytes read that warn.
    pub bytes_warn: Option<u64>,
    /// Bytes read that abort.
    pub bytes_fail: Option<u64>,
    /// `read_thresholds_enabled`: the coordinator words the warning, not the replica.
    pub tracked: bool,
}

impl ReadThresholds {
    /// None: what reads of a node's own keyspaces have.
    pub const NONE: ReadThresholds = ReadThresholds {
        tombstones_warn: i64::MAX,
        tombstones_fail: u64::MAX,
        bytes_warn: None,
        bytes_fail: None,
        tracked: false,
    };

    /// Those of the settings for a table of `keyspace`.
    pub fn of(settings: &Settings, keyspace: &str) -> ReadThresholds {
        if matches!(keyspace, "system" | "system_schema") {
            return ReadThresholds::NONE;
        }
        let tracked = settings.read_thresholds_enabled;
        // Sizes are looked at only where the coordinator reports.
        let of_size = |bytes: Option<u64>| bytes.filter(|_| tracked);
        ReadThresholds {
            tombstones_warn: settings.tombstone_warn_threshold,
            tombstones_fail: u64::try_from(settings.tombstone_failure_threshold).unwrap_or(0),
            bytes_warn: of_size(settings.local_read_size.warn),
            bytes_fail: of_size(settings.local_read_size.fail),
            tracked,
        }
    }
}

/// How far a count went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Past the threshold that warns.
    Warn(u64),
    /// Past the threshold that fails: the read was aborted there.
    Fail(u64),
}

/// What a replica has to say of a read beside its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Cassandra's warning, worded by the replica; a client sees it if that replica is its coordinator.
    pub warning: Option<String>,
    /// Tombstones.
    pub tombstones: Option<Passed>,
    /// Bytes.
    pub bytes: Option<Passed>,
}

impl Notices {
    /// Why the read was aborted, if it was.
    pub fn abort(&self) -> Option<FailureReason> {
        match (self.tombstones, self.bytes) {
            (Some(Passed::Fail(_)), _) => Some(FailureReason::ReadTooManyTombstones),
            (_, Some(Passed::Fail(_))) => Some(FailureReason::ReadSize),
            _ => None,
        }
    }
}

/// Cassandra's warning of one read; at most 512 characters of the query are shown.
pub(crate) fn tombstone_warning(
    command: &ReadCommand,
    rows: u64,
    tombstones: u64,
    token: i64,
) -> String {
    let query: String = command.cql().chars().take(512).collect();
    format!(
        "Read {rows} live rows and {tombstones} tombstone cells for query {query}; token {token} (see tombstone_warn_threshold)"
    )
}
