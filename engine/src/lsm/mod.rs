//! One table on one node: a memtable that takes writes, SSTables that it was flushed to, and reads over both.
//!
//! ```text
//! apply -> memtable ---- flush ----> SSTable        read: a view of all of them, merged
//!          (newest)      (switch)    (immutable)
//! ```
//!
//! All sources of a table are one immutable [`View`], swapped as a whole: a reader keeps the one it began with and
//! holds no lock while it reads. A write holds the view's read lock while it is put into the memtable, and a flush
//! takes the write lock to put an empty memtable in its place: so no write reaches a memtable that is being written
//! out. [`compaction`] puts other files in place of some in the same way. Not here: the commit log, which is the node's.

pub mod compaction;
pub mod dump;
pub mod memtable;
mod names;
mod read;
pub mod sstable;
pub mod view;

use crate::error::Error;
use crate::metrics::Cost;
use crate::row::merge::{Item, Merge, PartitionData};
use crate::row::{Bound, DeletionTime, Mutation, PartitionRows, ReadCommand};
use crate::schema::Table;
use crate::sim::clock::Clock;
use crate::sim::disk::Disk;
use crate::sim::rng::Rng;
use crate::trace::Trace;
use compaction::CompactionState;
use memtable::Memtable;
use memtable::partition::State;
use memtable::source::MemtableSource;
use parking_lot::{Mutex, RwLock};
use sstable::{SsTable, SsTableWriter, WriteOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
pub use view::View;

/// One table on one node. Any thread may use it.
#[derive(Debug)]
pub struct TableStore {
    table: RwLock<Arc<Table>>,
    disk: Arc<dyn Disk>,
    prefix: String,
    view: RwLock<Arc<View>>,
    /// One flush or truncation at a time.
    changing: Mutex<()>,
    next_file: AtomicU64,
    /// When files are made; a clock of its own unless the node's is given.
    clock: Clock,
    /// Set by tests: instead of what the table says.
    block_bytes: Option<usize>,
    memtables_bytes_max: usize,
    compaction: CompactionState,
    /// An SSTable was flushed since [`TableStore::take_flushed`] was asked.
    flushed: AtomicBool,
}

/// Live data of one replica.
#[derive(Clone, Debug, Default)]
pub struct LocalRead {
    /// Partitions in the order asked for.
    pub partitions: Vec<PartitionRows>,
    /// The row limit stopped the read.
    pub limited: bool,
    /// What it cost here.
    pub cost: Cost,
    /// What Cassandra's trace says of it.
    pub trace: Trace,
}

/// Data of one replica with its tombstones, to be merged with that of others.
#[derive(Clone, Debug, Default)]
pub struct ReplicaRead {
    /// Partitions in the order asked for.
    pub partitions: Vec<PartitionData>,
    /// The row limit stopped the read.
    pub limited: bool,
    /// What it cost here.
    pub cost: Cost,
    /// What Cassandra's trace says of it.
    pub trace: Trace,
}

/// Memory that the memtables of one table may take before writes flush them: a partition of a million rows fits, so
/// that a test decides itself when it is flushed.
const MEMTABLES_BYTES_MAX: usize = 512 << 20;

impl TableStore {
    /// An empty table whose files are named `prefix` and a number.
    pub fn new(table: Arc<Table>, disk: Arc<dyn Disk>, prefix: String) -> TableStore {
        let ids = Rng::new(0).fork(&prefix);
        TableStore {
            compaction: CompactionState::new(&table, ids),
            flushed: AtomicBool::new(false),
            table: RwLock::new(table),
            disk,
            prefix,
            view: RwLock::new(Arc::new(View::empty())),
            changing: Mutex::new(()),
            next_file: AtomicU64::new(1),
            clock: Clock::new_virtual(),
            block_bytes: None,
            memtables_bytes_max: MEMTABLES_BYTES_MAX,
        }
    }

    /// The same with data blocks that are closed when they reach so many bytes: tests meet borders of blocks sooner.
    pub fn with_block_bytes(mut self, block_bytes: usize) -> TableStore {
        self.block_bytes = Some(block_bytes);
        self
    }

    /// The same with the node's clock.
    pub fn with_clock(mut self, clock: Clock) -> TableStore {
        self.clock = clock;
        self
    }

    /// How a file of this table is written now.
    pub fn write_options(&self) -> WriteOptions {
        let mut options = WriteOptions::of(&self.table(), self.clock.now_seconds());
        options.block_bytes = self.block_bytes.unwrap_or(options.block_bytes);
        options
    }

    /// The same with another limit of memory.
    pub fn with_memtables_bytes_max(mut self, bytes: usize) -> TableStore {
        self.memtables_bytes_max = bytes;
        self
    }

    /// The same with numbers of compactions drawn from `ids`.
    pub fn with_compaction_ids(mut self, ids: Rng) -> TableStore {
        self.compaction = CompactionState::new(&self.table(), ids);
        self
    }

    /// The table as this store knows it.
    pub fn table(&self) -> Arc<Table> {
        self.table.read().clone()
    }

    /// Takes over the altered table.
    pub fn set_table(&self, table: Arc<Table>) {
        self.compaction.set_table(&table);
        *self.table.write() = table;
    }

    /// The sources at this moment.
    pub fn view(&self) -> Arc<View> {
        self.view.read().clone()
    }

    /// Applies a write; readers see all of it or nothing. With memtables at their limit they are flushed first,
    /// on the writer's thread.
    ///
    /// # Errors
    /// [`Error::Storage`] if that flush finds the disk full: the write is refused and nothing of it is kept.
    pub fn apply(&self, mutation: &Mutation) -> Result<(), Error> {
        let in_memory: usize = self.view.read().memtables.iter().map(|m| m.size_bytes()).sum();
        if in_memory >= self.memtables_bytes_max {
            self.flush()?;
        }
        // Held until the write is in, so that a flush cannot take the memtable away under it.
        let view = self.view.read();
        view.memtables[0].apply(mutation);
        Ok(())
    }

    /// Writes the memtable to an SSTable; nothing if it is empty.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full; the data stays in memory and readable, and the next flush tries again.
    pub fn flush(&self) -> Result<(), Error> {
        let _one = self.changing.lock();
        self.switch();
        loop {
            let oldest = {
                let view = self.view.read();
                if view.memtables.len() == 1 {
                    return Ok(());
                }
                view.memtables[view.memtables.len() - 1].clone()
            };
            let written = self.write(&oldest)?;
            let mut view = self.view.write();
            let mut next = View::clone(&view);
            next.memtables.pop();
            if let Some(sstable) = written {
                self.compaction.see_flush(sstable.size_bytes());
                self.flushed.store(true, Relaxed);
                next.sstables.insert(0, Arc::new(sstable));
            }
            *view = Arc::new(next);
        }
    }

    /// Whether an SSTable was flushed since this was asked last, a write at its limit of memory included.
    #[inline]
    pub(crate) fn take_flushed(&self) -> bool {
        self.flushed.load(Relaxed) && self.flushed.swap(false, Relaxed)
    }

    /// Puts an empty memtable in front, unless the one there is.
    fn switch(&self) {
        let mut view = self.view.write();
        if !view.memtables[0].is_empty() {
            let mut next = View::clone(&view);
            next.memtables.insert(0, Arc::new(Memtable::default()));
            *view = Arc::new(next);
        }
    }

    fn write(&self, memtable: &Memtable) -> Result<Option<SsTable>, Error> {
        let mut writer = self.new_writer(0)?;
        match write_partitions(memtable, &mut writer) {
            Ok(()) => writer.finish(),
            Err(error) => {
                writer.abandon()?;
                Err(error)
            }
        }
    }

    /// Begins the next file, for a level of [`compaction`] (0 for a flush).
    fn new_writer(&self, level: u32) -> Result<SsTableWriter, Error> {
        let number = self.next_file.fetch_add(1, Relaxed);
        let name = format!("{}{number}.sst", self.prefix);
        let options = WriteOptions { level, ..self.write_options() };
        SsTableWriter::new(self.disk.clone(), name, options)
    }

    /// The number of a file of this store: later files have greater ones.
    fn file_number(&self, sstable: &SsTable) -> u64 {
        self.number_of_name(sstable.name())
    }

    fn number_of_name(&self, name: &str) -> u64 {
        let number = name.strip_prefix(&self.prefix).and_then(|rest| rest.strip_suffix(".sst"));
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Puts `added` in the place of `removed`, which is that of the oldest of them: readers that have begun keep what
    /// they see, and the files go with the last of them. If one of `removed` is gone already (the table was truncated),
    /// nothing is put in place and the new files go.
    ///
    /// # Errors
    /// None yet; a manifest may add some.
    pub fn replace(&self, removed: &[Arc<SsTable>], added: Vec<SsTable>) -> Result<(), Error> {
        let _one = self.changing.lock();
        let mut view = self.view.write();
        let place = |old: &Arc<SsTable>| view.sstables.iter().position(|t| Arc::ptr_eq(t, old));
        let places: Option<Vec<usize>> = removed.iter().map(place).collect();
        let Some(places) = places else {
            added.iter().for_each(SsTable::mark_obsolete);
            return Ok(());
        };
        let oldest = places.iter().max().map_or(0, |oldest| oldest + 1 - removed.len());
        let mut next = View::clone(&view);
        next.sstables.retain(|t| !removed.iter().any(|old| Arc::ptr_eq(t, old)));
        next.sstables.splice(oldest..oldest, added.into_iter().map(Arc::new));
        *view = Arc::new(next);
        removed.iter().for_each(|old| old.mark_obsolete());
        Ok(())
    }

    /// Forgets all data; files go when their last reader is done.
    ///
    /// # Errors
    /// None yet; a commit log may add some.
    pub fn truncate(&self) -> Result<(), Error> {
        let _one = self.changing.lock();
        let old = std::mem::replace(&mut *self.view.write(), Arc::new(View::empty()));
        for sstable in &old.sstables {
            sstable.mark_obsolete();
        }
        Ok(())
    }

    /// Reads live data: the direct path when one replica is asked.
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is damaged.
    pub fn read(&self, command: &ReadCommand) -> Result<LocalRead, Error> {
        read::live(&self.view(), command)
    }

    /// Reads with tombstones, for [`crate::row::merge::merge_replicas`].
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is damaged.
    pub fn read_for_merge(&self, command: &ReadCommand) -> Result<ReplicaRead, Error> {
        read::for_merge(&self.view(), command)
    }
}

fn write_partitions(memtable: &Memtable, writer: &mut SsTableWriter) -> Result<(), Error> {
    for entry in memtable.iter() {
        let state = entry.value().snapshot();
        let (deletion, static_row) = match &state {
            State::Many(many) => (many.deletion, many.static_row.as_ref()),
            State::Empty | State::One(_) => (DeletionTime::LIVE, None),
        };
        let run = (Bound::start().0, Bound::end().0);
        let mut stream = Merge::new(vec![MemtableSource::new(&state, false)], vec![run], false);
        let mut begun = !deletion.is_live() || static_row.is_some();
        if begun {
            writer.partition(entry.key(), deletion, static_row)?;
        }
        while let Some(item) = stream.next()? {
            if !begun {
                writer.partition(entry.key(), deletion, static_row)?;
                begun = true;
            }
            match item {
                Item::Row(row) => writer.row(row)?,
                Item::Marker(marker) => writer.marker(marker)?,
            }
        }
    }
    Ok(())
}
