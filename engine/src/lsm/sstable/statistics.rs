//! What an SSTable says of itself, so that reads and compactions can pass it over (sheet C.3).

use crate::row::data::Row;
use crate::row::deletion::{DeletionTime, NO_DELETION_TIME, NO_TIMESTAMP};
use crate::row::unfiltered::Marker;
use crate::row::varint::{Reader, put, put_bytes, put_signed};

/// Statistics of one SSTable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Smallest timestamp of markers, cells and deletions; `i64::MAX` if there is none. Microseconds.
    pub min_timestamp_micros: i64,
    /// Greatest such timestamp; `i64::MIN` if there is none. Microseconds.
    pub max_timestamp_micros: i64,
    /// First second of a deletion or expiry; the greatest number if nothing ends.
    pub min_local_deletion_seconds: i64,
    /// Last such second; the greatest number if anything neither ends nor is deleted.
    pub max_local_deletion_seconds: i64,
    /// Smallest TTL, 0 for data without. Seconds.
    pub min_ttl_seconds: u32,
    /// Greatest TTL. Seconds.
    pub max_ttl_seconds: u32,
    /// Smallest and greatest position of rows and range ends; `None` if there are none.
    pub covered: Option<(Vec<u8>, Vec<u8>)>,
    /// Some partition has a deletion.
    pub has_partition_deletions: bool,
    /// Some partition has a static row.
    pub has_static_rows: bool,
    /// Some partition has range deletions.
    pub has_range_deletions: bool,
    /// Number of partitions.
    pub partitions: u64,
    /// Number of rows, static ones not counted.
    pub rows: u64,
    /// Number of cells.
    pub cells: u64,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            min_timestamp_micros: i64::MAX,
            max_timestamp_micros: NO_TIMESTAMP,
            min_local_deletion_seconds: NO_DELETION_TIME,
            max_local_deletion_seconds: i64::MIN,
            min_ttl_seconds: u32::MAX,
            max_ttl_seconds: 0,
            covered: None,
            has_partition_deletions: false,
            has_static_rows: false,
            has_range_deletions: false,
            partitions: 0,
            rows: 0,
            cells: 0,
        }
    }
}

impl Statistics {
    fn see(&mut self, timestamp_micros: i64, local_seconds: i64, ttl_seconds: u32) {
        self.min_timestamp_micros = self.min_timestamp_micros.min(timestamp_micros);
        self.max_timestamp_micros = self.max_timestamp_micros.max(timestamp_micros);
        self.min_local_deletion_seconds = self.min_local_deletion_seconds.min(local_seconds);
        self.max_local_deletion_seconds = self.max_local_deletion_seconds.max(local_seconds);
        self.min_ttl_seconds = self.min_ttl_seconds.min(ttl_seconds);
        self.max_ttl_seconds = self.max_ttl_seconds.max(ttl_seconds);
    }

    fn see_deletion(&mut self, deletion: DeletionTime) {
        if !deletion.is_live() {
            self.see(deletion.timestamp_micros, deletion.local_seconds, 0);
        }
    }

    pub(super) fn see_partition(&mut self, deletion: DeletionTime, static_row: Option<&Row>) {
        self.partitions += 1;
        self.see_deletion(deletion);
        self.has_partition_deletions |= !deletion.is_live();
        if let Some(row) = static_row {
            self.has_static_rows = true;
            self.see_content(row);
        }
    }

    pub(super) fn see_row(&mut self, row: &Row) {
        self.rows += 1;
        self.cover(row.position());
        self.see_content(row);
    }

    pub(super) fn see_marker(&mut self, marker: &Marker) {
        self.has_range_deletions = true;
        self.cover(&marker.position);
        self.see_deletion(marker.closes);
        self.see_deletion(marker.opens);
    }

    fn see_content(&mut self, row: &Row) {
        if let Some(marker) = row.marker() {
            self.see(marker.timestamp_micros, marker.expires_seconds, marker.ttl_seconds);
        }
        self.see_deletion(row.deletion());
        for (_, deletion) in row.complex_deletions() {
            self.see_deletion(deletion);
        }
        for cell in row.cells() {
            self.cells += 1;
            self.see(cell.timestamp_micros, cell.local_deletion_seconds, cell.ttl_seconds);
        }
    }

    fn cover(&mut self, position: &[u8]) {
        match &mut self.covered {
            None => self.covered = Some((position.to_vec(), position.to_vec())),
            Some((least, greatest)) => {
                if position < &least[..] {
                    *least = position.to_vec();
                }
                if position > &greatest[..] {
                    *greatest = position.to_vec();
                }
            }
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.min_timestamp_micros.to_le_bytes());
        out.extend_from_slice(&self.max_timestamp_micros.to_le_bytes());
        put_signed(out, self.min_local_deletion_seconds);
        put_signed(out, self.max_local_deletion_seconds);
        put(out, u64::from(self.min_ttl_seconds));
        put(out, u64::from(self.max_ttl_seconds));
        let flags = [
            self.covered.is_some(),
            self.has_partition_deletions,
            self.has_static_rows,
            self.has_range_deletions,
        ];
        out.push(flags.iter().enumerate().map(|(bit, set)| u8::from(*set) << bit).sum());
        if let Some((least, greatest)) = &self.covered {
            put_bytes(out, least);
            put_bytes(out, greatest);
        }
        for count in [self.partitions, self.rows, self.cells] {
            put(out, count);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Statistics> {
        let min_timestamp_micros = reader.fixed_i64()?;
        let max_timestamp_micros = reader.fixed_i64()?;
        let min_local_deletion_seconds = reader.i64()?;
        let max_local_deletion_seconds = reader.i64()?;
        let min_ttl_seconds = u32::try_from(reader.u64()?).ok()?;
        let max_ttl_seconds = u32::try_from(reader.u64()?).ok()?;
        let flags = reader.u8()?;
        let covered = if flags & 1 == 0 {
            None
        } else {
            Some((reader.bytes()?.to_vec(), reader.bytes()?.to_vec()))
        };
        Some(Statistics {
            min_timestamp_micros,
            max_timestamp_micros,
            min_local_deletion_seconds,
            max_local_deletion_seconds,
            min_ttl_seconds,
            max_ttl_seconds,
            covered,
            has_partition_deletions: flags & 2 != 0,
            has_static_rows: flags & 4 != 0,
            has_range_deletions: flags & 8 != 0,
            partitions: reader.u64()?,
            rows: reader.u64()?,
            cells: reader.u64()?,
        })
    }
}
