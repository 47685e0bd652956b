//! `nodetool scrub` and `verify`: what of a table's files can be read, and files made anew from that.
//!
//! ```text
//! t-4.sst  [A][B!][C] index filter!    --scrub-->    t-9.sst  [A][C] index filter statistics
//! ```
//!
//! Each file is read block by block ([`super::sstable::salvage`]) and written again under a new name, which takes its
//! place for readers and for the next start; damaged or not, as Cassandra does. Nothing is merged or purged. Memtables stay.
//! The old file goes with its last reader: who wants to keep it copies it first (Cassandra takes a snapshot, which
//! cassling has not).

use super::TableStore;
use super::sstable::SsTable;
use super::sstable::salvage::{Damage, Part, salvage};
use super::sstable::walk::Content;
use crate::error::Error;
use std::fmt;
use std::sync::Arc;

/// What a scrub or a verification found, file by file, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScrubReport {
    /// The files.
    pub files: Vec<FileReport>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Name of the file that was read.
    pub file: String,
    /// Name of the file in its place; `None` if it was only verified, or nothing was left of it.
    pub written: Option<String>,
    /// Partitions that can be read, those without their beginning too.
    pub partitions: u64,
    /// Rows that can be read, static ones too.
    pub rows: u64,
    /// Partitions that the file once had beyond these.
    pub partitions_lost: u64,
    /// Rows that the file once had beyond these.
    pub rows_lost: u64,
    /// Parts that cannot be read, in the file's order.
    pub damage: Vec<Damage>,
}

impl ScrubReport {
    /// Whether nothing is damaged.
    pub fn is_clean(&self) -> bool {
        self.files.iter().all(|file| file.damage.is_empty())
    }
}

impl FileReport {
    /// Data blocks that cannot be read.
    pub fn blocks_lost(&self) -> usize {
        self.lost().count()
    }

    /// Their bytes in the file.
    pub fn bytes_lost(&self) -> u64 {
        self.lost().map(|damage| damage.len_bytes).sum()
    }

    fn lost(&self) -> impl Iterator<Item = &Damage> {
        self.damage.iter().filter(|damage| damage.part == Part::Block)
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} partitions, {} rows", self.file, self.partitions, self.rows)?;
        if self.damage.is_empty() {
            return f.write_str(", undamaged");
        }
        let (partitions, rows) = (self.partitions_lost, self.rows_lost);
        write!(f, "; lost {partitions} partitions, {rows} rows")?;
        let (blocks, bytes) = (self.blocks_lost(), self.bytes_lost());
        write!(f, ", {blocks} blocks of {bytes} bytes")?;
        self.damage.iter().try_for_each(|damage| write!(f, "\n  {damage}"))
    }
}

impl TableStore {
    /// Writes each SSTable anew from what of it can be read (`nodetool scrub`). A compaction that runs is cancelled.
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is gone or the disk is full; files before it are rewritten, this one is as it was.
    pub fn scrub(&self) -> Result<ScrubReport, Error> {
        let _one = self.stop_compactions();
        self.each_file(|table| self.scrub_file(table))
    }

    /// Reads each SSTable and says what of it cannot be read (`nodetool verify`).
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is gone.
    pub fn verify(&self) -> Result<ScrubReport, Error> {
        self.each_file(|table| {
            let mut report = FileReport::default();
            let damage = salvage(table, &mut |content| {
                report.count(&content);
                Ok(())
            })?;
            Ok(report.of(table, damage))
        })
    }

    fn each_file(
        &self,
        f: impl FnMut(&Arc<SsTable>) -> Result<FileReport, Error>,
    ) -> Result<ScrubReport, Error> {
        let files = self.view().sstables.iter().rev().map(f).collect::<Result<_, Error>>()?;
        Ok(ScrubReport { files })
    }

    fn scrub_file(&self, table: &Arc<SsTable>) -> Result<FileReport, Error> {
        let mut report = FileReport::default();
        let mut writer = self.new_writer(table.statistics().level)?;
        let salvaged = salvage(table, &mut |content| {
            report.count(&content);
            match &content {
                Content::Partition { key, deletion, static_row } => {
                    writer.partition(key, *deletion, static_row.as_ref())
                }
                Content::Row(row) => writer.row(row),
                Content::Marker(marker) => writer.marker(marker),
            }
        });
        let damage = match salvaged {
            Ok(damage) => damage,
            Err(error) => {
                writer.abandon()?;
                return Err(error);
            }
        };
        let written = writer.finish()?;
        report.written = written.as_ref().map(|table| table.name().to_string());
        self.replace(std::slice::from_ref(table), written.into_iter().collect())?;
        Ok(report.of(table, damage))
    }
}

impl FileReport {
    fn count(&mut self, content: &Content) {
        match content {
            Content::Partition { static_row, .. } => {
                self.partitions += 1;
                self.rows += u64::from(static_row.is_some());
            }
            Content::Row(_) => self.rows += 1,
            Content::Marker(_) => {}
        }
    }

    fn of(self, table: &SsTable, damage: Vec<Damage>) -> FileReport {
        let statistics = table.statistics();
        FileReport {
            file: table.name().to_string(),
            partitions_lost: statistics.partitions.saturating_sub(self.partitions),
            rows_lost: statistics.rows.saturating_sub(self.rows),
            damage,
            ..self
        }
    }
}
