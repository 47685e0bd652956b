//! The numbers of one table on one node, put together: what it counted and what its files say of themselves.
//! Fields are those of Cassandra's `nodetool tablestats` and `tablehistograms` (sheet F.1).

use super::TableStore;
use super::compaction::{Blocker, CompactionTotals, Purged};
use super::metrics::{Counted, Distribution};
use super::sstable::SsTable;
use super::sstable::cardinality::Cardinality;
use super::sstable::histogram::{CELL_BUCKETS, EstimatedHistogram, SIZE_BUCKETS};
use crate::schema::Table;
use std::sync::Arc;

/// A table's numbers at one moment.
#[derive(Clone, Debug)]
pub struct TableStats {
    /// The table.
    pub table: Arc<Table>,
    /// Counters since the table was made or opened.
    pub counted: Counted,
    /// What flushes and compactions read and wrote.
    pub totals: CompactionTotals,
    /// Deletions and expired data that the compactions still remembered threw away, and how old they were.
    pub purged: Purged,
    /// SSTables that keep an expired one from being dropped.
    pub blockers: Vec<Blocker>,
    /// Its SSTables, newest first.
    pub sstables: Vec<SsTableInfo>,
    /// Bytes of its SSTables.
    pub space_used_bytes: u64,
    /// Memtables that wait to be flushed.
    pub pending_flushes: u64,
    /// Bytes of memory that memtables take.
    pub memtable_bytes: u64,
    /// Partitions, about: those of memtables and, counted once, those of SSTables.
    pub partitions_estimate: u64,
    /// Stored over uncompressed size of the SSTables that are compressed; `None` if none is.
    pub compression_ratio: Option<f64>,
    /// Bytes of the data of SSTables before compression.
    pub uncompressed_bytes: u64,
    /// Memory that filters take.
    pub filter_bytes: u64,
    /// Memory that indexes take.
    pub index_bytes: u64,
    /// Bytes of the partitions of SSTables before compression.
    pub partition_sizes_bytes: EstimatedHistogram,
    /// Cells of the partitions of SSTables.
    pub cells_per_partition: EstimatedHistogram,
    /// Estimated part of the cells that are tombstones older than gc_grace, over all SSTables.
    pub droppable_tombstone_ratio: f64,
}

/// One SSTable as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SsTableInfo {
    /// Name of its file.
    pub name: String,
    /// Length of its file.
    pub size_bytes: u64,
    /// Level that leveled compaction gave it.
    pub level: u32,
    /// Smallest timestamp. Microseconds.
    pub min_timestamp_micros: i64,
    /// Greatest timestamp. Microseconds.
    pub max_timestamp_micros: i64,
    /// First second in which something ends; the greatest number if nothing does.
    pub min_local_deletion_seconds: i64,
    /// Last such second; the greatest number if something stays.
    pub max_local_deletion_seconds: i64,
    /// Number of partitions.
    pub partitions: u64,
    /// Number of rows, static ones too.
    pub rows: u64,
    /// Estimated part of the cells that are tombstones older than gc_grace.
    pub droppable_tombstone_ratio: f64,
}

impl SsTableInfo {
    /// What is known of an SSTable, tombstones being droppable if they are older than that second.
    pub fn of(sstable: &SsTable, gc_before_seconds: i64) -> SsTableInfo {
        let s = sstable.statistics();
        SsTableInfo {
            name: sstable.name().to_string(),
            size_bytes: sstable.size_bytes(),
            level: s.level,
            min_timestamp_micros: s.min_timestamp_micros,
            max_timestamp_micros: s.max_timestamp_micros,
            min_local_deletion_seconds: s.min_local_deletion_seconds,
            max_local_deletion_seconds: s.max_local_deletion_seconds,
            partitions: s.partitions,
            rows: s.rows,
            droppable_tombstone_ratio: s.droppable_ratio(gc_before_seconds),
        }
    }
}

/// The five histograms of `nodetool tablehistograms`, and the two of slices.
#[derive(Clone, Debug)]
pub struct TableHistograms {
    /// Time of a read of a partition. Microseconds.
    pub read_latency_micros: Distribution,
    /// Time of a write. Microseconds.
    pub write_latency_micros: Distribution,
    /// SSTables that a read of a partition merged.
    pub sstables_per_read: Distribution,
    /// Bytes of the partitions of SSTables; `None` without SSTables.
    pub partition_sizes_bytes: Option<EstimatedHistogram>,
    /// Their cells.
    pub cells_per_partition: Option<EstimatedHistogram>,
    /// Live rows of a read.
    pub live_rows_per_slice: Distribution,
    /// Tombstones of a read.
    pub tombstones_per_slice: Distribution,
}

impl TableStats {
    /// Bytes written to SSTables for each byte of keys and rows that users wrote; `None` before anything was.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.totals.bytes_flushed + self.totals.bytes_written;
        let user = self.counted.user_bytes;
        (user > 0).then(|| written as f64 / user as f64)
    }

    /// The histograms among them.
    pub fn histograms(&self) -> TableHistograms {
        let on_disk =
            |histogram: &EstimatedHistogram| (!self.sstables.is_empty()).then(|| histogram.clone());
        TableHistograms {
            read_latency_micros: self.counted.read_latency_micros.clone(),
            write_latency_micros: self.counted.write_latency_micros.clone(),
            sstables_per_read: self.counted.sstables_per_read.clone(),
            partition_sizes_bytes: on_disk(&self.partition_sizes_bytes),
            cells_per_partition: on_disk(&self.cells_per_partition),
            live_rows_per_slice: self.counted.live_rows_per_slice.clone(),
            tombstones_per_slice: self.counted.tombstones_per_slice.clone(),
        }
    }
}

impl TableStore {
    /// The table's numbers now.
    pub fn stats(&self) -> TableStats {
        let (table, view) = (self.table(), self.view());
        let gc_grace_seconds = i64::from(table.options.gc_grace_seconds);
        let gc_before_seconds = self.clock.now_seconds().saturating_sub(gc_grace_seconds);
        let mut stats = TableStats {
            counted: self.metrics().counted(),
            totals: self.compaction_totals(),
            purged: self.purged(),
            blockers: self.expired_blockers(),
            sstables: Vec::new(),
            space_used_bytes: 0,
            pending_flushes: view.memtables.len().saturating_sub(1) as u64,
            memtable_bytes: view.memtables.iter().map(|m| m.size_bytes() as u64).sum(),
            partitions_estimate: view.memtables.iter().map(|m| m.iter().count() as u64).sum(),
            compression_ratio: None,
            uncompressed_bytes: 0,
            filter_bytes: 0,
            index_bytes: 0,
            partition_sizes_bytes: EstimatedHistogram::new(SIZE_BUCKETS),
            cells_per_partition: EstimatedHistogram::new(CELL_BUCKETS),
            droppable_tombstone_ratio: 0.0,
            table,
        };
        stats.of_files(&view.sstables, gc_before_seconds);
        stats
    }

    fn purged(&self) -> Purged {
        let mut all = Purged::default();
        for record in self.compaction_history() {
            all.add(&record.purged);
        }
        all
    }
}

impl TableStats {
    fn of_files(&mut self, sstables: &[Arc<SsTable>], gc_before_seconds: i64) {
        let mut keys = Cardinality::default();
        let (mut stored, mut unpacked) = (0, 0);
        let (mut droppable, mut cells) = (0.0, 0);
        for sstable in sstables {
            let s = sstable.statistics();
            self.sstables.push(SsTableInfo::of(sstable, gc_before_seconds));
            self.space_used_bytes += sstable.size_bytes();
            self.uncompressed_bytes += s.uncompressed_bytes;
            self.filter_bytes += sstable.filter_bytes() as u64;
            self.index_bytes += (sstable.memory_bytes() - sstable.filter_bytes()) as u64;
            self.partition_sizes_bytes.merge(&s.partition_sizes_bytes);
            self.cells_per_partition.merge(&s.cells_per_partition);
            keys.unite(&s.cardinality);
            if sstable.codec().class().is_some() {
                stored += s.data_bytes;
                unpacked += s.uncompressed_bytes;
            }
            droppable += s.droppable(gc_before_seconds);
            cells += s.mean_cells() * s.cells_per_partition.count();
        }
        self.compression_ratio = (unpacked > 0).then(|| stored as f64 / unpacked as f64);
        self.partitions_estimate += keys.estimate();
        self.droppable_tombstone_ratio = if cells == 0 { 0.0 } else { droppable / cells as f64 };
    }
}
