//! Cells and row markers: the smallest pieces, and which of two wins (sheet B.2, B.3).

use super::deletion::{NO_DELETION_TIME, NO_TIMESTAMP};
use crate::schema::ColumnId;
use crate::sim::faults::{Fault, planted};

/// The row marker (Cassandra's primary key `LivenessInfo`): written by INSERT, it alone keeps a row of nulls alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// Timestamp, microseconds.
    pub timestamp_micros: i64,
    /// TTL, seconds; 0 for none.
    pub ttl_seconds: u32,
    /// When it expires; [`NO_DELETION_TIME`] without TTL. Seconds.
    pub expires_seconds: i64,
}

impl Liveness {
    /// A marker that does not expire.
    pub fn live(timestamp_micros: i64) -> Liveness {
        Liveness { timestamp_micros, ttl_seconds: 0, expires_seconds: NO_DELETION_TIME }
    }

    /// Whether it keeps its row alive at `now_seconds`.
    pub fn is_live(&self, now_seconds: i64) -> bool {
        now_seconds < self.expires_seconds
    }
}

/// A cell to be written: value and times, without column and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellWrite<'a> {
    /// Timestamp, microseconds.
    pub timestamp_micros: i64,
    /// TTL, seconds; 0 for none.
    pub ttl_seconds: u32,
    /// Live: [`NO_DELETION_TIME`]. Expiring: when it expires. Tombstone: when it was deleted. Seconds.
    pub local_deletion_seconds: i64,
    /// Value; empty for a tombstone.
    pub value: &'a [u8],
}

impl<'a> CellWrite<'a> {
    /// A live cell.
    pub fn live(timestamp_micros: i64, value: &'a [u8]) -> CellWrite<'a> {
        CellWrite {
            timestamp_micros,
            ttl_seconds: 0,
            local_deletion_seconds: NO_DELETION_TIME,
            value,
        }
    }

    /// A cell that expires at `expires_seconds`.
    pub fn expiring(
        timestamp_micros: i64,
        ttl_seconds: u32,
        expires_seconds: i64,
        value: &'a [u8],
    ) -> CellWrite<'a> {
        CellWrite { timestamp_micros, ttl_seconds, local_deletion_seconds: expires_seconds, value }
    }

    /// A deleted cell.
    pub fn tombstone(timestamp_micros: i64, deleted_seconds: i64) -> CellWrite<'static> {
        CellWrite {
            timestamp_micros,
            ttl_seconds: 0,
            local_deletion_seconds: deleted_seconds,
            value: &[],
        }
    }
}

/// Where a cell lies inside a multi-cell column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// Order-encoded set element or map key ([`crate::types::order`], ascending), list timeuuid, or UDT field index as two
    /// bytes: what cells of a column are sorted by.
    pub position: &'a [u8],
    /// The element, key, timeuuid or field index as wire bytes.
    pub value: &'a [u8],
}

/// A stored cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRef<'a> {
    /// Column it belongs to.
    pub column: ColumnId,
    /// Place inside a multi-cell column.
    pub path: Option<Path<'a>>,
    /// Timestamp, microseconds.
    pub timestamp_micros: i64,
    /// TTL, seconds; 0 for none.
    pub ttl_seconds: u32,
    /// As in [`CellWrite`]. Seconds.
    pub local_deletion_seconds: i64,
    /// Value; empty for a tombstone.
    pub value: &'a [u8],
}

impl CellRef<'_> {
    /// Whether the cell holds a value at `now_seconds`.
    pub fn is_live(&self, now_seconds: i64) -> bool {
        self.local_deletion_seconds == NO_DELETION_TIME
            || (self.ttl_seconds != 0 && now_seconds < self.local_deletion_seconds)
            || (planted(Fault::ExpiryOffByOne)
                && self.ttl_seconds != 0
                && now_seconds == self.local_deletion_seconds)
    }

    /// Whether it was written as a deletion.
    pub fn is_tombstone(&self) -> bool {
        self.ttl_seconds == 0 && self.local_deletion_seconds != NO_DELETION_TIME
    }
}

/// Whether cell `a` wins over cell `b` of the same column and path (Cassandra's `Cells.reconcile`):
/// later timestamp; then a cell with an end over one without; then tombstone over expiring; then the later end;
/// then the greater value by unsigned bytes. Equal cells: `a` stays.
pub fn wins(a: &CellRef<'_>, b: &CellRef<'_>) -> bool {
    if a.timestamp_micros != b.timestamp_micros {
        return a.timestamp_micros > b.timestamp_micros;
    }
    let ends = |c: &CellRef<'_>| c.local_deletion_seconds != NO_DELETION_TIME;
    if ends(a) != ends(b) {
        return ends(a);
    }
    if ends(a) {
        if a.is_tombstone() != b.is_tombstone() {
            return a.is_tombstone();
        }
        if a.local_deletion_seconds != b.local_deletion_seconds {
            return a.local_deletion_seconds > b.local_deletion_seconds;
        }
    }
    if planted(Fault::FlippedTie) {
        return a.value <= b.value;
    }
    a.value >= b.value
}

/// Whether marker `a` wins over marker `b` (Cassandra's `LivenessInfo.supersedes`): later timestamp; then expiring over not;
/// then the later expiry. Equal markers: `a` stays.
pub fn marker_wins(a: &Liveness, b: &Liveness) -> bool {
    if a.timestamp_micros != b.timestamp_micros {
        return a.timestamp_micros > b.timestamp_micros;
    }
    let expiring = |l: &Liveness| l.ttl_seconds != 0;
    if expiring(a) != expiring(b) {
        return expiring(a);
    }
    a.expires_seconds >= b.expires_seconds
}

/// The marker of a row that has none: for comparisons only.
pub const NO_MARKER: Liveness =
    Liveness { timestamp_micros: NO_TIMESTAMP, ttl_seconds: 0, expires_seconds: NO_DELETION_TIME };
