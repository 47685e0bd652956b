//! The times in a write, as bounds: taken in one walk, before the rows go where others would walk them again.

use super::data::{Cells, Row};
use super::deletion::{DeletionTime, NO_DELETION_TIME, NO_TIMESTAMP};
use super::mutation::Mutation;

/// Bounds of timestamps, and of the seconds in which something is deleted or expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// `i64::MAX` if there is no timestamp. Microseconds.
    pub(crate) min_timestamp_micros: i64,
    /// [`NO_TIMESTAMP`] if there is none. Microseconds.
    pub(crate) max_timestamp_micros: i64,
    /// [`NO_DELETION_TIME`] if nothing ends. Seconds.
    pub(crate) min_local_deletion_seconds: i64,
    /// [`NO_DELETION_TIME`] if something never ends. Seconds.
    pub(crate) max_local_deletion_seconds: i64,
}

impl Times {
    /// Those of nothing.
    pub(crate) const NONE: Times = Times {
        min_timestamp_micros: i64::MAX,
        max_timestamp_micros: NO_TIMESTAMP,
        min_local_deletion_seconds: NO_DELETION_TIME,
        max_local_deletion_seconds: i64::MIN,
    };

    /// Those of a write.
    pub(crate) fn of(mutation: &Mutation) -> Times {
        let mut times = Times::NONE;
        times.see_deletion(mutation.deletion);
        mutation.ranges.iter().for_each(|range| times.see_deletion(range.deletion));
        mutation.rows.iter().chain(&mutation.static_row).for_each(|row| times.see_row(row));
        times
    }

    /// Takes in those of a row.
    pub(crate) fn see_row(&mut self, row: &Row) {
        let parts = row.parts();
        if let Some(marker) = parts.marker {
            self.see(marker.timestamp_micros, marker.expires_seconds);
        }
        self.see_deletion(parts.deletion);
        if row.has_complex_deletions() {
            row.complex_deletions().for_each(|(_, deletion)| self.see_deletion(deletion));
        }
        for cell in Cells::start(parts) {
            self.see(cell.timestamp_micros, cell.local_deletion_seconds);
        }
    }

    fn see_deletion(&mut self, deletion: DeletionTime) {
        if !deletion.is_live() {
            self.see(deletion.timestamp_micros, deletion.local_seconds);
        }
    }

    #[inline]
    fn see(&mut self, timestamp_micros: i64, local_seconds: i64) {
        self.min_timestamp_micros = self.min_timestamp_micros.min(timestamp_micros);
        self.max_timestamp_micros = self.max_timestamp_micros.max(timestamp_micros);
        self.min_local_deletion_seconds = self.min_local_deletion_seconds.min(local_seconds);
        self.max_local_deletion_seconds = self.max_local_deletion_seconds.max(local_seconds);
    }
}
