//! One table on one node: a memtable that takes writes, SSTables that it was flushed to, and reads over both.
//!
//! ```text
//! apply -> memtable ---- flush ----> SSTable        read: a view of all of them, merged
//!          (newest)      (switch)    (immutable)
//! ```
//!
//! All sources of a table are one immutable [`View`], swapped as a whole: a reader keeps the one it began with and
//! holds no lock while it reads. A write shares the guard of the newest memtable while it is appended to the commit log and
//! put into that memtable; a flush takes the guard for itself to put an empty memtable in its place. So no write reaches
//! a memtable that is being written out, and a record of the log is older than the switch exactly if its memtable is.
//!
//! The set of files changes in one place, [`TableStore::install`]: new files are whole and synced, then the [`manifest`] names
//! them, then readers see them, then the log and the files that they replace go. [`compaction`] puts other files in
//! place of some. Not here: the [`crate::commitlog`] itself,
//! which all tables of a node share.

pub mod compaction;
pub mod dump;
pub mod manifest;
pub mod memtable;
pub mod metrics;
mod names;
mod read;
pub mod scrub;
pub mod sstable;
pub mod stats;
pub mod view;

use crate::commitlog::{CommitLog, LogPosition};
use crate::error::Error;
use crate::metrics::Cost;
use crate::row::merge::{Item, Merge, PartitionData};
use crate::row::query::Partitions;
use crate::row::thresholds::{Notices, ReadThresholds};
use crate::row::{Bound, DeletionTime, Mutation, PartitionRows, ReadCommand, Unfiltered};
use crate::schema::Table;
use crate::sim::clock::Clock;
use crate::sim::disk::Disk;
use crate::sim::rng::Rng;
use crate::trace::Trace;
use compaction::CompactionState;
use manifest::{Manifest, TableFiles};
use memtable::partition::State;
use memtable::source::MemtableSource;
use memtable::{Memtable, Pool};
use metrics::{TableMetrics, Timer};
use parking_lot::{Mutex, RwLock};
use sstable::{BlockCache, SsTable, SsTableWriter, WriteOptions};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, OnceLock};
pub use view::View;

/// One table on one node. Any thread may use it.
#[derive(Debug)]
pub struct TableStore {
    table: RwLock<Arc<Table>>,
    disk: Arc<dyn Disk>,
    prefix: String,
    view: RwLock<Arc<View>>,
    /// The newest memtable: shared by writes while they log and apply, held alone to switch it.
    newest: RwLock<Arc<Memtable>>,
    /// One change of the sources at a time; up to where the commit log is not needed.
    changing: Mutex<LogPosition>,
    pool: Arc<Pool>,
    /// What makes it outlive the process; without, it lives in memory and unnamed files.
    journal: OnceLock<Journal>,
    /// Whether writes are logged (`durable_writes` of the keyspace).
    durable: AtomicBool,
    next_file: AtomicU64,
    /// When files are made; a clock of its own unless the node's is given.
    clock: Clock,
    /// Blocks of all tables of the cluster; without it each is read from disk.
    blocks: Option<Arc<BlockCache>>,
    /// Set by tests: instead of what the table says.
    block_bytes: Option<usize>,
    memtables_bytes_max: Option<usize>,
    compaction: CompactionState,
    /// An SSTable was flushed since [`TableStore::take_flushed`] was asked.
    flushed: AtomicBool,
    metrics: TableMetrics,
}

/// What a node keeps to come back after a crash, shared by its tables.
#[derive(Clone, Debug)]
pub struct Journal {
    /// What was written since the last flush.
    pub log: Arc<CommitLog>,
    /// Which files the tables consist of.
    pub manifest: Arc<Manifest>,
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
    /// What there is to say of thresholds; a read that was aborted has no rows.
    pub notices: Option<Box<Notices>>,
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
    /// What there is to say of thresholds; a read that was aborted has no rows.
    pub notices: Option<Box<Notices>>,
}

impl TableStore {
    /// An empty table whose files are named `prefix` and a number.
    pub fn new(table: Arc<Table>, disk: Arc<dyn Disk>, prefix: String) -> TableStore {
        let ids = Rng::new(0).fork(&prefix);
        let pool = Arc::new(Pool::default());
        let newest = Arc::new(Memtable::new(Arc::clone(&pool)));
        TableStore {
            compaction: CompactionState::new(&table, ids),
            flushed: AtomicBool::new(false),
            table: RwLock::new(table),
            disk,
            prefix,
            view: RwLock::new(Arc::new(View::new(Arc::clone(&newest)))),
            newest: RwLock::new(newest),
            changing: Mutex::new(LogPosition::default()),
            pool,
            journal: OnceLock::new(),
            durable: AtomicBool::new(true),
            next_file: AtomicU64::new(1),
            clock: Clock::new_virtual(),
            blocks: None,
            block_bytes: None,
            memtables_bytes_max: None,
            metrics: TableMetrics::default(),
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

    /// The same with blocks kept in a cache that may serve other tables too.
    pub fn with_block_cache(mut self, blocks: Arc<BlockCache>) -> TableStore {
        self.blocks = Some(blocks);
        self
    }

    /// How a file of this table is written now.
    pub fn write_options(&self) -> WriteOptions {
        let mut options = WriteOptions::of(&self.table(), self.clock.now_seconds());
        options.block_bytes = self.block_bytes.unwrap_or(options.block_bytes);
        options
    }

    /// The same with a limit of memory of its own: at it, writes flush the table first.
    pub fn with_memtables_bytes_max(mut self, bytes: usize) -> TableStore {
        self.memtables_bytes_max = Some(bytes);
        self
    }

    /// The same with numbers of compactions drawn from `ids`.
    pub fn with_compaction_ids(mut self, ids: Rng) -> TableStore {
        self.compaction = CompactionState::new(&self.table(), ids);
        self
    }

    /// The same with its memtables counted in `pool`.
    pub fn with_pool(mut self, pool: Arc<Pool>) -> TableStore {
        let newest = Arc::new(Memtable::new(Arc::clone(&pool)));
        self.view = RwLock::new(Arc::new(View::new(Arc::clone(&newest))));
        self.newest = RwLock::new(newest);
        self.pool = pool;
        self
    }

    /// From now on with a log and a manifest: what is acknowledged outlives the process. Given once.
    pub fn set_journal(&self, journal: Journal) {
        let given = self.journal.set(journal);
        debug_assert!(given.is_ok(), "a table has one journal");
    }

    /// The same with the files that the manifest names, and the log's records up to there taken for flushed.
    ///
    /// # Errors
    /// [`Error::Storage`] if one is missing or damaged.
    pub fn with_files(mut self, files: &TableFiles) -> Result<TableStore, Error> {
        let mut view = View::clone(&self.view());
        for name in &files.sstables {
            let number = self.number_of_name(name);
            if number == 0 {
                let reason = format!("a file of table {} has no such name", self.prefix);
                return Err(Error::Storage { file: name.clone(), offset_bytes: 0, reason });
            }
            self.next_file.fetch_max(number + 1, Relaxed);
            view.sstables.push(Arc::new(SsTable::open(self.disk.clone(), name.clone())?));
        }
        self.view = RwLock::new(Arc::new(view));
        self.changing = Mutex::new(files.replay_from);
        Ok(self)
    }

    /// Whether writes are logged from now on.
    pub fn set_durable(&self, durable: bool) {
        self.durable.store(durable, Relaxed);
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

    /// Applies a write; readers see all of it or nothing. It is in the commit log before. With a limit of its own reached,
    /// the table is flushed first, on the writer's thread.
    ///
    /// # Errors
    /// [`Error::Storage`] if the log, or that flush, finds the disk full: the write is refused and nothing of it is kept.
    pub fn apply(&self, mutation: &Mutation) -> Result<(), Error> {
        let timer = Timer::start(&self.clock);
        if self.memtables_bytes_max.is_some_and(|max| self.pool.size_bytes() >= max) {
            self.flush()?;
        }
        // Held until the write is in, so that a flush cannot take the memtable away under it.
        let newest = self.newest.read();
        if let Some(journal) = self.journal.get()
            && self.durable.load(Relaxed)
        {
            journal.log.append(mutation, newest.first_segment())?;
        }
        newest.apply(mutation);
        self.metrics.wrote(mutation, timer, &self.clock);
        Ok(())
    }

    /// Applies a record of the log, unless it is in the files already. Nothing is written.
    pub fn replay(&self, at: LogPosition, mutation: &Mutation) {
        if at >= *self.changing.lock() {
            let newest = self.newest.read();
            // Segments come in order: the first is the oldest.
            let _ = newest.first_segment().compare_exchange(0, at.segment, Relaxed, Relaxed);
            newest.apply(mutation);
        }
    }

    /// The oldest segment of the log with a record that is in a memtable only.
    pub fn first_segment(&self) -> Option<u32> {
        first_segment(&self.view())
    }

    /// Memory of its memtables, in bytes.
    pub fn memtables_bytes(&self) -> usize {
        self.view().memtables.iter().map(|memtable| memtable.size_bytes()).sum()
    }

    /// Writes the memtable to an SSTable; nothing if it is empty.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full; the data stays in memory and readable, and the next flush tries again.
    pub fn flush(&self) -> Result<(), Error> {
        let mut replay_from = self.changing.lock();
        self.switch();
        loop {
            let view = self.view();
            let (oldest, newer) = view.memtables.split_last().expect("a view has a memtable");
            if newer.is_empty() {
                return Ok(());
            }
            let mut next = View { memtables: newer.to_vec(), sstables: view.sstables.clone() };
            let written = self.write(oldest)?.map(Arc::new);
            next.sstables.splice(..0, written.clone());
            let end = oldest.log_end().get().copied().unwrap_or_default();
            self.install(&mut replay_from, next, end, written.as_slice())?;
            if let Some(sstable) = &written {
                self.compaction.see_flush(sstable.size_bytes());
                self.flushed.store(true, Relaxed);
            }
        }
    }

    /// Whether an SSTable was flushed since this was asked last, a write at its limit of memory included.
    #[inline]
    pub(crate) fn take_flushed(&self) -> bool {
        self.flushed.load(Relaxed) && self.flushed.swap(false, Relaxed)
    }

    /// Makes `next` the sources of the table, for readers and for the next start: the one place where its files change.
    /// Requires: `next` was made from the view while `replay_from` was held; the files of `added` are whole and synced.
    ///
    /// # Errors
    /// [`Error::Storage`] if the manifest cannot be written; then nothing has changed.
    fn install(
        &self,
        replay_from: &mut LogPosition,
        next: View,
        flushed_to: LogPosition,
        added: &[Arc<SsTable>],
    ) -> Result<(), Error> {
        let end = (*replay_from).max(flushed_to);
        let id = self.table().id;
        if let Some(journal) = self.journal.get()
            && let Err(unsaved) = journal.manifest.put(id, &files_of(&next, end))
        {
            if !unsaved.perhaps_saved {
                added.iter().for_each(|sstable| sstable.mark_obsolete());
            }
            return Err(unsaved.error);
        }
        *replay_from = end;
        let next = Arc::new(next);
        let before = std::mem::replace(&mut *self.view.write(), Arc::clone(&next));
        let gone = &before.memtables[next.memtables.len()..];
        gone.iter().for_each(|memtable| memtable.leave_pool());
        if let Some(journal) = self.journal.get() {
            journal.log.flushed(id, || first_segment(&next));
        }
        Ok(())
    }

    /// Puts an empty memtable in front, unless the one there is; gives the place in the log that all earlier writes to the
    /// table are before, and all later ones behind.
    /// Requires: `changing` is held.
    fn switch(&self) -> LogPosition {
        let mut newest = self.newest.write();
        let end = self.journal.get().map(|j| j.log.position()).unwrap_or_default();
        if !newest.is_empty() {
            newest.log_end().get_or_init(|| end);
            let fresh = Arc::new(Memtable::new(Arc::clone(&self.pool)));
            let mut view = self.view.write();
            let mut next = View::clone(&view);
            next.memtables.insert(0, Arc::clone(&fresh));
            self.metrics.switched();
            *view = Arc::new(next);
            *newest = fresh;
        }
        end
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
    /// [`Error::Storage`] if the manifest cannot be written; then nothing has changed, and the new files go.
    pub fn replace(&self, removed: &[Arc<SsTable>], added: Vec<SsTable>) -> Result<(), Error> {
        let mut replay_from = self.changing.lock();
        let view = self.view();
        let place = |old: &Arc<SsTable>| view.sstables.iter().position(|t| Arc::ptr_eq(t, old));
        let places: Option<Vec<usize>> = removed.iter().map(place).collect();
        let Some(places) = places else {
            added.iter().for_each(SsTable::mark_obsolete);
            return Ok(());
        };
        let oldest = places.iter().max().map_or(0, |oldest| oldest + 1 - removed.len());
        let mut next = View::clone(&view);
        next.sstables.retain(|t| !removed.iter().any(|old| Arc::ptr_eq(t, old)));
        let added: Vec<Arc<SsTable>> = added.into_iter().map(Arc::new).collect();
        next.sstables.splice(oldest..oldest, added.iter().cloned());
        self.install(&mut replay_from, next, LogPosition::default(), &added)?;
        removed.iter().for_each(|old| old.mark_obsolete());
        Ok(())
    }

    /// Forgets all data; files go when their last reader is done.
    ///
    /// # Errors
    /// [`Error::Storage`] if the manifest cannot be written; then nothing is forgotten.
    pub fn truncate(&self) -> Result<(), Error> {
        let mut replay_from = self.changing.lock();
        let end = self.switch();
        let old = self.view();
        let next = View::new(Arc::clone(&old.memtables[0]));
        self.install(&mut replay_from, next, end, &[])?;
        old.sstables.iter().for_each(|sstable| sstable.mark_obsolete());
        Ok(())
    }

    /// Frees all that a dropped table holds. The manifest is not asked: it has forgotten the table, or will at the next start.
    pub fn discard(&self) {
        let _one = self.changing.lock();
        self.set_durable(false);
        self.switch();
        let old = self.view();
        let next = View::new(Arc::clone(&old.memtables[0]));
        *self.view.write() = Arc::new(next);
        old.memtables[1..].iter().for_each(|memtable| memtable.leave_pool());
        old.sstables.iter().for_each(|sstable| sstable.mark_obsolete());
        if let Some(journal) = self.journal.get() {
            journal.log.flushed(self.table().id, || None);
        }
    }

    /// Reads live data: the direct path when one replica is asked.
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is damaged.
    pub fn read(&self, command: &ReadCommand) -> Result<LocalRead, Error> {
        self.read_within(command, ReadThresholds::NONE)
    }

    /// As [`TableStore::read`], until a threshold ends it.
    ///
    /// # Errors
    /// Those of [`TableStore::read`].
    pub fn read_within(
        &self,
        command: &ReadCommand,
        thresholds: ReadThresholds,
    ) -> Result<LocalRead, Error> {
        let timer = Timer::start(&self.clock);
        let (view, blocks) = (self.view(), self.blocks.as_deref());
        let read = read::live(&view, blocks, command, thresholds, &self.metrics)?;
        let rows = read.partitions.iter().flat_map(|p| p.rows.iter().chain(&p.static_row));
        let returned = rows.map(|row| row.size_bytes() as u64).sum();
        self.answered(command, &read.cost, returned, timer);
        Ok(read)
    }

    /// Reads with tombstones, for [`crate::row::merge::merge_replicas`].
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is damaged.
    pub fn read_for_merge(&self, command: &ReadCommand) -> Result<ReplicaRead, Error> {
        self.read_for_merge_within(command, ReadThresholds::NONE)
    }

    /// As [`TableStore::read_for_merge`], until a threshold ends it.
    ///
    /// # Errors
    /// Those of [`TableStore::read_for_merge`].
    pub fn read_for_merge_within(
        &self,
        command: &ReadCommand,
        thresholds: ReadThresholds,
    ) -> Result<ReplicaRead, Error> {
        let timer = Timer::start(&self.clock);
        let (view, blocks) = (self.view(), self.blocks.as_deref());
        let read = read::for_merge(&view, blocks, command, thresholds, &self.metrics)?;
        let rows = read.partitions.iter().flat_map(|partition| {
            let rows = partition.unfiltereds.iter().filter_map(|item| match item {
                Unfiltered::Row(row) => Some(row),
                Unfiltered::Marker(_) => None,
            });
            rows.chain(&partition.static_row)
        });
        let returned = rows.map(|row| row.size_bytes() as u64).sum();
        self.answered(command, &read.cost, returned, timer);
        Ok(read)
    }

    fn answered(&self, command: &ReadCommand, cost: &Cost, returned_bytes: u64, timer: Timer) {
        let partitions = match command.partitions {
            Partitions::Keys(_) => cost.partitions,
            Partitions::Range(_) => 0,
        };
        self.metrics.answered(partitions, cost.bytes_read, returned_bytes, timer, &self.clock);
    }

    /// What the table has counted.
    pub fn metrics(&self) -> &TableMetrics {
        &self.metrics
    }
}

/// What the manifest says of a table with these sources.
fn files_of(view: &View, replay_from: LogPosition) -> TableFiles {
    let sstables = view.sstables.iter().map(|sstable| sstable.name().to_string()).collect();
    TableFiles { replay_from, sstables }
}

fn first_segment(view: &View) -> Option<u32> {
    let first = view.memtables.iter().map(|memtable| memtable.first_segment().load(SeqCst));
    first.filter(|segment| *segment != 0).min()
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
