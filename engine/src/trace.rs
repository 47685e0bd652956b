//! What a replica notes of a read, in the words of Cassandra's trace.
//!
//! Every read notes it, few are asked for it: so a line stays numbers until somebody wants to see it.
//!
//! ```
//! use cassling_engine::trace::TraceLine;
//! let line = TraceLine::Read { rows: 1, tombstones: 0, warned: false };
//! assert_eq!(line.to_string(), "Read 1 live rows and 0 tombstone cells");
//! ```

use smallvec::SmallVec;
use std::fmt;

/// The lines of one request, in the order in which replicas answered.
pub type Trace = SmallVec<[TraceLine; 2]>;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceLine {
    /// What a read counted.
    Read {
        /// Live rows, static ones included.
        rows: u64,
        /// Tombstones passed.
        tombstones: u64,
        /// They are worth a warning.
        warned: bool,
    },
    /// Sources of a partition that were merged.
    Merged {
        /// SSTables it was found in.
        sstables: usize,
    },
}

impl fmt::Display for TraceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceLine::Read { rows, tombstones, warned } => {
                let seen = if *warned { " (see tombstone_warn_threshold)" } else { "" };
                write!(f, "Read {rows} live rows and {tombstones} tombstone cells{seen}")
            }
            TraceLine::Merged { sstables } => {
                write!(f, "Merged data from memtables and {sstables} sstables")
            }
        }
    }
}
