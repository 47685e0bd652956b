//! Deletions of more than a cell.

/// No deletion second: the thing is live. Seconds.
pub const NO_DELETION_TIME: i64 = i64::MAX;
/// No timestamp. Microseconds.
pub const NO_TIMESTAMP: i64 = i64::MIN;

/// A deletion of a collection, row, range or partition: it removes all data with a timestamp at or before its own.
/// (Cassandra's `DeletionTime`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletionTime {
    /// `markedForDeleteAt`, microseconds.
    pub timestamp_micros: i64,
    /// `localDeletionTime`, seconds: when it was written, from which gc_grace counts.
    pub local_seconds: i64,
}

impl DeletionTime {
    /// Nothing is deleted.
    pub const LIVE: DeletionTime =
        DeletionTime { timestamp_micros: NO_TIMESTAMP, local_seconds: NO_DELETION_TIME };

    /// Whether nothing is deleted.
    pub fn is_live(&self) -> bool {
        *self == DeletionTime::LIVE
    }

    /// Whether data of this timestamp is deleted.
    pub fn deletes(&self, timestamp_micros: i64) -> bool {
        timestamp_micros <= self.timestamp_micros
    }

    /// Whether it makes `other` superfluous: later, or as late with a later second.
    pub fn supersedes(&self, other: &DeletionTime) -> bool {
        self.timestamp_micros > other.timestamp_micros
            || (self.timestamp_micros == other.timestamp_micros
                && !self.is_live()
                && (other.is_live() || self.local_seconds > other.local_seconds))
    }

    /// The one of both that supersedes the other.
    pub fn max(self, other: DeletionTime) -> DeletionTime {
        if other.supersedes(&self) { other } else { self }
    }
}
