//! What an SSTable says of itself, so that reads and compactions can pass it over (sheet C.3).
//!
//! [`Statistics`] is what is kept; [`Collector`] is fed by the writer with every partition, row and range end, by the
//! rules of Cassandra's MetadataCollector:
//!
//! ```text
//!                  timestamps  deletion times  TTLs  drop times          counts
//! live cell        yes         "none"          0     -                   a cell
//! expiring cell    yes         its expiry      yes   its expiry          a cell
//! cell tombstone   yes         yes             0     yes                 a cell
//! row marker       as a cell                                             -
//! other deletion   yes         yes             -     yes                 -
//! ```
//!
//! A range end that closes one deletion and opens another is two deletions; every range is thus counted twice. A row
//! counts once, static ones too; a multi-cell column with any cell is one column of `columns_set`.
//! What compaction makes of it (which files are tombstone-heavy, which expired) is compaction's.

use super::cardinality::Cardinality;
use super::histogram::{
    CELL_BUCKETS, DropTimes, DropTimesBuilder, EstimatedHistogram, SIZE_BUCKETS,
};
use super::options::WriteOptions;
use crate::row::data::Row;
use crate::row::deletion::{DeletionTime, NO_DELETION_TIME, NO_TIMESTAMP};
use crate::row::unfiltered::Marker;
use crate::row::varint::{Reader, put, put_bytes, put_signed};

/// Statistics of one SSTable.
#[derive(Clone, Debug, PartialEq)]
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
    /// Number of rows, static ones too (Cassandra's `totalRows`).
    pub rows: u64,
    /// Number of columns that have a cell, over all rows (Cassandra's `totalColumnsSet`).
    pub columns_set: u64,
    /// Number of cells.
    pub cells: u64,
    /// Level given by leveled compaction; 0 for a flushed file.
    pub level: u32,
    /// When the file was written, by the node's clock. Seconds.
    pub created_seconds: i64,
    /// When it was repaired, milliseconds; 0: never.
    pub repaired_at_millis: i64,
    /// False positives that its filter aims at.
    pub filter_fp_chance: f64,
    /// Bytes of its data before compression.
    pub uncompressed_bytes: u64,
    /// Bytes of its data as stored.
    pub data_bytes: u64,
    /// Bytes of the partitions before compression.
    pub partition_sizes_bytes: EstimatedHistogram,
    /// Cells of the partitions.
    pub cells_per_partition: EstimatedHistogram,
    /// When deletions and expiring data end.
    pub drop_times: DropTimes,
    /// Sketch of the partitions, for overlaps of several files; of this one [`Statistics::partitions`] is exact.
    pub cardinality: Cardinality,
    /// Smallest numbers that Cassandra's encoding refers to.
    pub encoding: EncodingMinima,
}

/// Cassandra's EncodingStats: smallest timestamp, deletion time and TTL of the data that has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingMinima {
    /// Smallest timestamp. Microseconds.
    pub timestamp_micros: i64,
    /// Smallest second of a deletion or expiry.
    pub local_deletion_seconds: i64,
    /// Smallest TTL of expiring data. Seconds.
    pub ttl_seconds: u32,
}

/// 2015-09-22T00:00:00Z: what Cassandra counts from if nothing is there to count from. Seconds.
const ENCODING_EPOCH_SECONDS: i64 = 1_442_880_000;

impl Statistics {
    /// Estimated number of deletions and expiring data that ended at or before a second.
    pub fn droppable(&self, gc_before_seconds: i64) -> f64 {
        self.drop_times.sum(gc_before_seconds)
    }

    /// Estimated part of the cells that could be dropped if everything that ended by then is purged: deletions and
    /// expired data over cells. Deletions of rows, ranges and partitions are no cells: it can exceed 1.
    pub fn droppable_ratio(&self, gc_before_seconds: i64) -> f64 {
        let cells = self.cells_per_partition.mean() * self.cells_per_partition.count();
        if cells == 0 { 0.0 } else { self.droppable(gc_before_seconds) / cells as f64 }
    }

    /// Estimated cells of a partition, rounded up.
    pub fn mean_cells(&self) -> u64 {
        self.cells_per_partition.mean()
    }

    /// Stored size over size before compression. Without a codec it is slightly above 1: checksums count.
    pub fn compression_ratio(&self) -> f64 {
        self.data_bytes as f64 / self.uncompressed_bytes.max(1) as f64
    }

    /// Everything in it ends by itself or is a deletion, the last at this second; `None` if something stays.
    pub fn expires_seconds(&self) -> Option<i64> {
        (self.max_local_deletion_seconds != NO_DELETION_TIME)
            .then_some(self.max_local_deletion_seconds)
    }

    fn empty(options: &WriteOptions) -> Statistics {
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
            columns_set: 0,
            cells: 0,
            level: options.level,
            created_seconds: options.created_seconds,
            repaired_at_millis: options.repaired_at_millis,
            filter_fp_chance: options.filter_fp_chance,
            uncompressed_bytes: 0,
            data_bytes: 0,
            partition_sizes_bytes: EstimatedHistogram::new(SIZE_BUCKETS),
            cells_per_partition: EstimatedHistogram::new(CELL_BUCKETS),
            drop_times: DropTimes::default(),
            cardinality: Cardinality::default(),
            encoding: EncodingMinima {
                timestamp_micros: ENCODING_EPOCH_SECONDS * 1_000_000,
                local_deletion_seconds: ENCODING_EPOCH_SECONDS,
                ttl_seconds: 0,
            },
        }
    }
}

/// Gathers the statistics of a file while it is written.
#[derive(Debug)]
pub(super) struct Collector {
    statistics: Statistics,
    drop_times: DropTimesBuilder,
    /// Smallest TTL above 0.
    min_expiring_ttl_seconds: u32,
    /// Cells of the partition at hand and where it began in the uncompressed data; `None` before the first.
    partition: Option<(u64, u64)>,
}

impl Collector {
    pub(super) fn new(options: &WriteOptions) -> Collector {
        Collector {
            statistics: Statistics::empty(options),
            drop_times: DropTimesBuilder::default(),
            min_expiring_ttl_seconds: u32::MAX,
            partition: None,
        }
    }

    #[inline]
    fn see_times(&mut self, timestamp_micros: i64, local_seconds: i64) {
        let s = &mut self.statistics;
        s.min_timestamp_micros = s.min_timestamp_micros.min(timestamp_micros);
        s.max_timestamp_micros = s.max_timestamp_micros.max(timestamp_micros);
        s.min_local_deletion_seconds = s.min_local_deletion_seconds.min(local_seconds);
        s.max_local_deletion_seconds = s.max_local_deletion_seconds.max(local_seconds);
        if local_seconds != NO_DELETION_TIME {
            self.drop_times.add(local_seconds);
        }
    }

    #[inline]
    fn see_ttl(&mut self, ttl_seconds: u32) {
        let s = &mut self.statistics;
        s.min_ttl_seconds = s.min_ttl_seconds.min(ttl_seconds);
        s.max_ttl_seconds = s.max_ttl_seconds.max(ttl_seconds);
        if ttl_seconds > 0 {
            self.min_expiring_ttl_seconds = self.min_expiring_ttl_seconds.min(ttl_seconds);
        }
    }

    fn see_deletion(&mut self, deletion: DeletionTime) {
        if !deletion.is_live() {
            self.see_times(deletion.timestamp_micros, deletion.local_seconds);
        }
    }

    /// A partition begins where so many bytes are written before compression.
    pub(super) fn partition(
        &mut self,
        token: i64,
        deletion: DeletionTime,
        static_row: Option<&Row>,
        written_bytes: u64,
    ) {
        self.end_partition(written_bytes);
        self.partition = Some((0, written_bytes));
        self.statistics.partitions += 1;
        self.statistics.cardinality.add(token);
        self.see_deletion(deletion);
        self.statistics.has_partition_deletions |= !deletion.is_live();
        if let Some(row) = static_row {
            self.statistics.has_static_rows = true;
            self.content(row);
        }
    }

    fn end_partition(&mut self, written_bytes: u64) {
        if let Some((cells, start)) = self.partition.take() {
            self.statistics.cells_per_partition.add(cells);
            self.statistics.partition_sizes_bytes.add(written_bytes - start);
        }
    }

    pub(super) fn row(&mut self, row: &Row) {
        self.cover(row.position());
        self.content(row);
    }

    pub(super) fn marker(&mut self, marker: &Marker) {
        self.statistics.has_range_deletions = true;
        self.cover(&marker.position);
        self.see_deletion(marker.closes);
        self.see_deletion(marker.opens);
    }

    fn content(&mut self, row: &Row) {
        if let Some(marker) = row.marker() {
            self.see_times(marker.timestamp_micros, marker.expires_seconds);
            self.see_ttl(marker.ttl_seconds);
        }
        self.see_deletion(row.deletion());
        for (_, deletion) in row.complex_deletions() {
            self.see_deletion(deletion);
        }
        let (mut cells, mut columns, mut last) = (0, 0, None);
        for cell in row.cells() {
            cells += 1;
            if last != Some(cell.column) {
                columns += 1;
                last = Some(cell.column);
            }
            self.see_times(cell.timestamp_micros, cell.local_deletion_seconds);
            self.see_ttl(cell.ttl_seconds);
        }
        self.statistics.rows += 1;
        self.statistics.cells += cells;
        self.statistics.columns_set += columns;
        if let Some((held, _)) = &mut self.partition {
            *held += cells;
        }
    }

    fn cover(&mut self, position: &[u8]) {
        let replace = |held: &mut Vec<u8>| {
            held.clear();
            held.extend_from_slice(position);
        };
        match &mut self.statistics.covered {
            None => self.statistics.covered = Some((position.to_vec(), position.to_vec())),
            Some((least, _)) if position < &least[..] => replace(least),
            Some((_, greatest)) if position > &greatest[..] => replace(greatest),
            Some(_) => {}
        }
    }

    /// Ends the last partition: so many bytes of entries were written, so many of blocks before compression, so many
    /// stored.
    pub(super) fn finish(
        mut self,
        written_bytes: u64,
        uncompressed_bytes: u64,
        data_bytes: u64,
    ) -> Statistics {
        self.end_partition(written_bytes);
        let mut s = self.statistics;
        if s.min_ttl_seconds > s.max_ttl_seconds {
            s.min_ttl_seconds = 0;
        }
        if s.min_local_deletion_seconds > s.max_local_deletion_seconds {
            s.max_local_deletion_seconds = NO_DELETION_TIME;
        }
        if s.min_timestamp_micros <= s.max_timestamp_micros {
            s.encoding.timestamp_micros = s.min_timestamp_micros;
        }
        if s.min_local_deletion_seconds != NO_DELETION_TIME {
            s.encoding.local_deletion_seconds = s.min_local_deletion_seconds;
        }
        if self.min_expiring_ttl_seconds != u32::MAX {
            s.encoding.ttl_seconds = self.min_expiring_ttl_seconds;
        }
        s.drop_times = self.drop_times.build();
        (s.uncompressed_bytes, s.data_bytes) = (uncompressed_bytes, data_bytes);
        s
    }
}

impl Statistics {
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
        for count in [self.partitions, self.rows, self.columns_set, self.cells] {
            put(out, count);
        }
        put(out, u64::from(self.level));
        put_signed(out, self.created_seconds);
        put_signed(out, self.repaired_at_millis);
        out.extend_from_slice(&self.filter_fp_chance.to_bits().to_le_bytes());
        put(out, self.uncompressed_bytes);
        put(out, self.data_bytes);
        self.partition_sizes_bytes.put(out);
        self.cells_per_partition.put(out);
        self.drop_times.put(out);
        self.cardinality.put(out);
        put_signed(out, self.encoding.timestamp_micros);
        put_signed(out, self.encoding.local_deletion_seconds);
        put(out, u64::from(self.encoding.ttl_seconds));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Statistics> {
        let min_timestamp_micros = reader.fixed_i64()?;
        let max_timestamp_micros = reader.fixed_i64()?;
        let min_local_deletion_seconds = reader.i64()?;
        let max_local_deletion_seconds = reader.i64()?;
        let min_ttl_seconds = narrow(reader)?;
        let max_ttl_seconds = narrow(reader)?;
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
            columns_set: reader.u64()?,
            cells: reader.u64()?,
            level: narrow(reader)?,
            created_seconds: reader.i64()?,
            repaired_at_millis: reader.i64()?,
            filter_fp_chance: f64::from_bits(reader.fixed_i64()? as u64),
            uncompressed_bytes: reader.u64()?,
            data_bytes: reader.u64()?,
            partition_sizes_bytes: EstimatedHistogram::read(reader, SIZE_BUCKETS)?,
            cells_per_partition: EstimatedHistogram::read(reader, CELL_BUCKETS)?,
            drop_times: DropTimes::read(reader)?,
            cardinality: Cardinality::read(reader)?,
            encoding: EncodingMinima {
                timestamp_micros: reader.i64()?,
                local_deletion_seconds: reader.i64()?,
                ttl_seconds: narrow(reader)?,
            },
        })
    }
}

fn narrow(reader: &mut Reader<'_>) -> Option<u32> {
    u32::try_from(reader.u64()?).ok()
}
