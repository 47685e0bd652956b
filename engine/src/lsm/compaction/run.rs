//! Carries a compaction out: files in, files out.
//!
//! ```text
//! for each partition, in order, of all inputs at once
//!     merge -> leave out what other files' deletions hide (garbage) -> purge -> write, unless nothing is left
//! ```
//!
//! A partition is never held as a whole: rows go from the merge to the writer one by one. A failure or a cancellation
//! removes what was written and leaves the inputs as they are.

use super::super::TableStore;
use super::super::read::Parts;
use super::super::sstable::reader::{Scan, SsReader};
use super::super::sstable::{SsTable, SsTableWriter};
use super::garbage::{Shade, Shadow};
use super::purge::Purger;
use super::report::{Progress, Purged};
use super::{FileSizes, Task};
use crate::error::Error;
use crate::row::merge::{Item, Merge};
use crate::row::reconcile::{DroppedColumns, Purge, Settled};
use crate::row::{Bound, DecoratedKey, DeletionTime, Marker, Row, Unfiltered};
use crate::sim::faults::{Fault, planted};
use std::sync::Arc;

/// What came out of a compaction.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) outputs: Vec<SsTable>,
    pub(super) bytes_read: u64,
    /// Partitions made of one input, of two, and so on.
    pub(super) rows_merged: Vec<u64>,
    pub(super) purged: Purged,
}

/// Merges `inputs` (newest first) into new files; `None` if it was cancelled.
pub(super) fn merge(
    store: &TableStore,
    inputs: &[Arc<SsTable>],
    task: &Task,
    purger: &Purger<'_>,
    shadow: Option<&Shadow<'_>>,
    progress: &Progress,
) -> Result<Option<Ran>, Error> {
    let mut run = Run {
        outputs: Outputs::new(store, task, inputs.iter().map(|t| t.size_bytes()).sum()),
        rows_merged: vec![0; inputs.len()],
        purged: Purged::default(),
        purger,
        shadow,
    };
    let readers: Vec<SsReader<'_>> = inputs.iter().map(|table| SsReader::new(table)).collect();
    let done = run.partitions(store, &readers, progress);
    let bytes_read = readers.iter().map(|reader| reader.bytes_read.get()).sum();
    match done.and_then(|whole| if whole { run.outputs.finish().map(|()| true) } else { Ok(false) })
    {
        Ok(true) => Ok(Some(Ran {
            outputs: run.outputs.finished,
            bytes_read,
            rows_merged: run.rows_merged,
            purged: run.purged,
        })),
        stopped => {
            run.outputs.abandon()?;
            stopped.map(|_| None)
        }
    }
}

struct Run<'r> {
    outputs: Outputs<'r>,
    rows_merged: Vec<u64>,
    purged: Purged,
    purger: &'r Purger<'r>,
    shadow: Option<&'r Shadow<'r>>,
}

impl Run<'_> {
    /// Goes through all partitions; false if it was cancelled.
    fn partitions(
        &mut self,
        store: &TableStore,
        readers: &[SsReader<'_>],
        progress: &Progress,
    ) -> Result<bool, Error> {
        let table = store.table();
        let dropped = DroppedColumns::of(&table);
        let mut scans = Vec::with_capacity(readers.len());
        let lost = usize::from(readers.len() > 1 && planted(Fault::CompactionInputLost));
        for reader in &readers[..readers.len() - lost] {
            scans.push(Scan::new(reader, None)?);
        }
        loop {
            if progress.is_cancelled() {
                return Ok(false);
            }
            let keys = scans.iter().filter_map(|scan| scan.current.as_ref().map(|(key, _)| key));
            let Some(key) = keys.min().cloned() else { return Ok(true) };
            let mut parts = Parts::of_memtables(&[], false);
            for (reader, scan) in readers.iter().zip(&scans) {
                if let Some((_, found)) = scan.current.as_ref().filter(|(held, _)| *held == key) {
                    parts.add(reader, &key, found.clone(), false, false);
                }
            }
            self.rows_merged[parts.sources.len() - 1] += 1;
            self.partition(&key, parts, &dropped)?;
            for scan in &mut scans {
                if scan.current.as_ref().is_some_and(|(held, _)| *held == key) {
                    scan.advance()?;
                }
            }
            progress.set_done_bytes(readers.iter().map(|reader| reader.bytes_read.get()).sum());
        }
    }

    fn partition(
        &mut self,
        key: &DecoratedKey,
        parts: Parts<'_>,
        dropped: &DroppedColumns<'_>,
    ) -> Result<(), Error> {
        let purge = self.purger.of_partition(key);
        let mut shade = match self.shadow {
            Some(shadow) => shadow.of_partition(key)?,
            None => None,
        };
        let (deletion, static_row) = self.head(&parts, &purge, shade.as_ref(), dropped);
        let mut open = OpenPartition { key, deletion, static_row, begun: false };
        if !open.deletion.is_live() || open.static_row.is_some() {
            self.outputs.begin(&mut open)?;
        }
        let run = (Bound::start().0, Bound::end().0);
        let mut stream = Merge::new(parts.sources, vec![run], false);
        let mut left = Vec::new();
        while let Some(item) = stream.next()? {
            let Some(shade) = &mut shade else {
                self.item(&item, &purge, dropped, &mut open)?;
                continue;
            };
            shade.filter(&item, &mut left)?;
            for item in left.drain(..) {
                let item = match &item {
                    Unfiltered::Row(row) => Item::Row(row),
                    Unfiltered::Marker(marker) => Item::Marker(marker),
                };
                self.item(&item, &purge, dropped, &mut open)?;
            }
        }
        Ok(())
    }

    /// The deletion and static row of a partition, purged.
    fn head(
        &mut self,
        parts: &Parts<'_>,
        purge: &Purge,
        shade: Option<&Shade<'_>>,
        dropped: &DroppedColumns<'_>,
    ) -> (DeletionTime, Option<Row>) {
        let mut deletion = parts.deletion;
        let mut static_row = parts.static_row();
        if let Some(shade) = shade {
            deletion = shade.partition_deletion(deletion);
            static_row = static_row.and_then(|row| shade.static_row(&row));
        }
        let kept = self.deletion(deletion, purge);
        let static_row = static_row
            .and_then(|row| dropped.filter(&row).row(&[&row]))
            .and_then(|row| self.row(&row, purge).row(&[&row]));
        (kept, static_row)
    }

    fn item(
        &mut self,
        item: &Item<'_>,
        purge: &Purge,
        dropped: &DroppedColumns<'_>,
        open: &mut OpenPartition<'_>,
    ) -> Result<(), Error> {
        match item {
            Item::Row(row) => {
                let visible = match dropped.filter(row) {
                    Settled::Same(_) => None,
                    Settled::Built(row) => Some(row),
                    Settled::Nothing => return Ok(()),
                };
                let row = visible.as_ref().unwrap_or(row);
                match self.row(row, purge) {
                    Settled::Same(_) => self.outputs.row(open, row),
                    Settled::Built(row) => self.outputs.row(open, &row),
                    Settled::Nothing => Ok(()),
                }
            }
            Item::Marker(marker) => {
                let closes = purge.deletion(marker.closes);
                let opens = self.deletion(marker.opens, purge);
                if closes.is_live() && opens.is_live() {
                    return Ok(());
                }
                let position = marker.position.clone();
                self.outputs.marker(open, &Marker { position, closes, opens })
            }
        }
    }

    fn row(&mut self, row: &Row, purge: &Purge) -> Settled {
        let settled = purge.row(row);
        if !matches!(settled, Settled::Same(_)) {
            let (purged, now) = (&mut self.purged, self.purger.now_seconds);
            purge.each_gone(row, |second| purged.see(now - second));
        }
        settled
    }

    fn deletion(&mut self, deletion: DeletionTime, purge: &Purge) -> DeletionTime {
        let kept = purge.deletion(deletion);
        if kept != deletion {
            self.purged.see(self.purger.now_seconds - deletion.local_seconds);
        }
        kept
    }
}

/// The partition being written; its head is written with the first thing that is left of it.
struct OpenPartition<'k> {
    key: &'k DecoratedKey,
    deletion: DeletionTime,
    static_row: Option<Row>,
    begun: bool,
}

/// The files that come out.
struct Outputs<'s> {
    store: &'s TableStore,
    sizes: FileSizes,
    level: u32,
    /// Bytes of the inputs, for sizes that are parts of them.
    bytes_in: u64,
    /// Bytes written to the level so far.
    level_bytes: u64,
    writer: Option<SsTableWriter>,
    finished: Vec<SsTable>,
}

/// Halves smaller than this are not split again.
const SMALLEST_HALF_BYTES: u64 = 50_000_000;

impl<'s> Outputs<'s> {
    fn new(store: &'s TableStore, task: &Task, bytes_in: u64) -> Outputs<'s> {
        Outputs {
            store,
            sizes: task.sizes,
            level: task.level,
            bytes_in,
            level_bytes: 0,
            writer: None,
            finished: Vec::new(),
        }
    }

    fn begin(&mut self, open: &mut OpenPartition<'_>) -> Result<(), Error> {
        if self.writer.as_ref().is_some_and(|writer| self.is_full(writer.size_bytes())) {
            self.next_file()?;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(self.store.new_writer(self.level)?),
        };
        open.begun = true;
        writer.partition(open.key, open.deletion, open.static_row.as_ref())
    }

    /// Whether a file of this size is to be closed before the next partition.
    fn is_full(&self, bytes: u64) -> bool {
        match self.sizes {
            FileSizes::One => false,
            FileSizes::Split(max) | FileSizes::Levels { bytes: max, .. } => bytes > max,
            FileSizes::Halves => {
                let part = self.bytes_in >> (self.finished.len() + 1).min(63);
                // The last part takes all that is left.
                bytes > part && part >= SMALLEST_HALF_BYTES
            }
        }
    }

    fn next_file(&mut self) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        self.level_bytes += writer.size_bytes();
        self.finished.extend(writer.finish()?);
        if let FileSizes::Levels { bytes, fanout } = self.sizes
            && self.level_bytes > fanout.saturating_pow(self.level).saturating_mul(bytes)
        {
            self.level_bytes = 0;
            self.level += 1;
        }
        Ok(())
    }

    fn row(&mut self, open: &mut OpenPartition<'_>, row: &Row) -> Result<(), Error> {
        self.open(open)?.row(row)
    }

    fn marker(&mut self, open: &mut OpenPartition<'_>, marker: &Marker) -> Result<(), Error> {
        self.open(open)?.marker(marker)
    }

    fn open(&mut self, open: &mut OpenPartition<'_>) -> Result<&mut SsTableWriter, Error> {
        if !open.begun {
            self.begin(open)?;
        }
        Ok(self.writer.as_mut().expect("a partition was begun in it"))
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.next_file()
    }

    /// Removes what was written.
    fn abandon(mut self) -> Result<(), Error> {
        for table in &self.finished {
            table.mark_obsolete();
        }
        match self.writer.take() {
            Some(writer) => writer.abandon(),
            None => Ok(()),
        }
    }
}
