//! What a node keeps on its disk, and how it comes back from there.
//!
//! Starting has two halves, so that a disk with a fault is left as it is:
//!
//! ```text
//! Found::read      manifest -> SSTables opened -> log replayed into memtables      nothing is written
//! Found::take_over torn tail cut off, leftovers removed, a new segment begun       nothing can be wrong any more but the disk
//! ```
//!
//! Leftovers are files that the manifest does not name: of a flush, compaction or drop that a crash cut short.

use crate::commitlog::{self, CommitLog, Cut, LogOptions, LogPosition, LogSync, Replayed, Times};
use crate::error::Error;
use crate::lsm::manifest::{self, Manifest, TableFiles};
use crate::lsm::memtable::Pool;
use crate::lsm::sstable::BlockCache;
use crate::lsm::{Journal, TableStore};
use crate::row::Mutation;
use crate::schema::{Schema, Table, TableId};
use crate::settings::{CommitLogSync, Settings};
use crate::sim::clock::{Clock, Given};
use crate::sim::disk::Disk;
use crate::sim::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Limits of what a node keeps (contracts.md 17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageOptions {
    /// Memory of the memtables of a node at which a writer flushes the largest. Bytes.
    pub memtables_bytes_max: usize,
    /// The commit log.
    pub log: LogOptions,
}

impl StorageOptions {
    /// What the settings say.
    pub fn of(settings: &Settings) -> StorageOptions {
        let millis = settings.commitlog_sync_period;
        let sync = match settings.commitlog_sync {
            CommitLogSync::Periodic => LogSync::Periodic {
                period_micros: i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX),
            },
            CommitLogSync::Group => LogSync::Group,
            CommitLogSync::Batch => LogSync::Batch,
        };
        StorageOptions {
            memtables_bytes_max: usize::try_from(settings.memtable_heap_space)
                .unwrap_or(usize::MAX),
            log: LogOptions {
                sync,
                // A place in the log has 32 bits for the byte; mutations are far below the rest of them.
                segment_bytes: u32::try_from(settings.commitlog_segment_size)
                    .unwrap_or(u32::MAX)
                    .min(1 << 30),
                total_bytes_max: settings.commitlog_total_space,
            },
        }
    }
}

/// What the tables of a running node share.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Log and manifest.
    pub journal: Journal,
    /// Memory of all memtables.
    pub pool: Arc<Pool>,
}

/// What a node needs to make a table's store.
#[derive(Clone, Debug)]
pub(super) struct StoreMaker {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) clock: Clock,
    pub(super) chance: Rng,
    pub(super) pool: Arc<Pool>,
    pub(super) blocks: Arc<BlockCache>,
}

impl StoreMaker {
    pub(super) fn store(&self, table: &Arc<Table>) -> TableStore {
        let prefix = format!("{}-{}-", table.name, table.id.0.simple());
        TableStore::new(Arc::clone(table), Arc::clone(&self.disk), prefix)
            .with_clock(self.clock.clone())
            .with_compaction_ids(self.chance.fork(&table.id.0.to_string()))
            .with_pool(Arc::clone(&self.pool))
            .with_block_cache(Arc::clone(&self.blocks))
    }
}

/// What a node's disk holds.
#[derive(Debug)]
pub struct Found {
    disk: Arc<dyn Disk>,
    pool: Arc<Pool>,
    files: BTreeMap<TableId, TableFiles>,
    replayed: Replayed,
    leftovers: Vec<String>,
    stores: BTreeMap<TableId, TableStore>,
    is_new: bool,
}

impl Found {
    /// An empty disk.
    pub fn nothing(disk: Arc<dyn Disk>) -> Found {
        let replayed = Replayed { segments: Vec::new(), cut: None, times: Times::NONE, records: 0 };
        Found {
            disk,
            pool: Arc::default(),
            files: BTreeMap::new(),
            replayed,
            leftovers: Vec::new(),
            stores: BTreeMap::new(),
            is_new: true,
        }
    }

    /// Reads manifest, SSTables (all but their data blocks) and log. Nothing is written.
    ///
    /// # Errors
    /// [`Error::Storage`] with the file and offset of what is missing or damaged.
    pub fn read(
        disk: Arc<dyn Disk>,
        clock: &Clock,
        chance: &Rng,
        blocks: &Arc<BlockCache>,
        schema: &Schema,
    ) -> Result<Found, Error> {
        let mut found = Found { is_new: false, ..Found::nothing(Arc::clone(&disk)) };
        let maker = StoreMaker {
            disk: Arc::clone(&disk),
            clock: clock.clone(),
            chance: chance.clone(),
            pool: Arc::clone(&found.pool),
            blocks: Arc::clone(blocks),
        };
        let tables: BTreeMap<TableId, &Arc<Table>> = schema
            .keyspaces
            .values()
            .flat_map(|k| k.tables.values())
            .map(|table| (table.id, table))
            .collect();
        let (times, tables_files) = manifest::load(&*disk)?;
        for (id, files) in tables_files {
            // A table that the schema has not was dropped; its files are leftovers.
            if let Some(table) = tables.get(&id) {
                found.stores.insert(id, maker.store(table).with_files(&files)?);
                found.files.insert(id, files);
            }
        }
        let stores = &mut found.stores;
        found.replayed = commitlog::replay(&*disk, |at, bytes| {
            let table = |id| tables.get(&id).map(|table| Arc::clone(table));
            let mutation = Mutation::decode(bytes, table).map_err(|_| undecodable(at))?;
            if let Some(mutation) = mutation {
                let table = &mutation.table;
                let store = stores.entry(table.id).or_insert_with(|| maker.store(table));
                store.replay(at, &mutation);
            }
            Ok(())
        })?;
        found.replayed.times = found.replayed.times.max(times);
        found.leftovers = leftovers(&*disk, &found.files)?;
        Ok(found)
    }

    /// The latest times that its log or its manifest names.
    pub fn times(&self) -> Times {
        self.replayed.times
    }

    /// Number of mutations that its log held.
    pub fn records(&self) -> u64 {
        self.replayed.records
    }

    /// The torn tail of its log, if it has one.
    pub fn cut(&self) -> Option<&Cut> {
        self.replayed.cut.as_ref()
    }

    /// Begins to write: cuts off a torn tail, removes leftovers. Gives what tables share, and the tables with data.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses.
    pub(super) fn take_over(
        self,
        options: &StorageOptions,
        clock: &Clock,
        given: &Arc<Given>,
    ) -> Result<(Storage, BTreeMap<TableId, TableStore>), Error> {
        let Found { disk, pool, files, replayed, leftovers, stores, is_new } = self;
        let after = files.values().map(|f| f.replay_from).max().unwrap_or(LogPosition::default());
        let log = CommitLog::open(
            Arc::clone(&disk),
            options.log,
            clock.clone(),
            Arc::clone(given),
            &replayed,
            after,
        )?;
        let manifest = match is_new {
            true => Manifest::create(Arc::clone(&disk), clock.clone(), Arc::clone(given))?,
            false => Manifest::resume(Arc::clone(&disk), clock.clone(), Arc::clone(given), &files),
        };
        if !leftovers.is_empty() {
            // The manifest that does not name them must be the one that counts after a loss of power.
            disk.sync_names()?;
        }
        for name in &leftovers {
            disk.delete(name)?;
        }
        let journal = Journal { log: Arc::new(log), manifest: Arc::new(manifest) };
        stores.values().for_each(|store| store.set_journal(journal.clone()));
        let first = |(id, store): (&TableId, &TableStore)| Some((*id, store.first_segment()?));
        journal.log.replayed(stores.iter().filter_map(first));
        Ok((Storage { journal, pool }, stores))
    }
}

fn undecodable(at: LogPosition) -> Error {
    Error::Storage {
        file: commitlog::segment_name(at.segment),
        offset_bytes: at.offset.into(),
        reason: "the record's mutation cannot be read".to_string(),
    }
}

/// Files of ours that the manifest does not name.
fn leftovers(disk: &dyn Disk, files: &BTreeMap<TableId, TableFiles>) -> Result<Vec<String>, Error> {
    let named: BTreeSet<&str> =
        files.values().flat_map(|f| &f.sstables).map(String::as_str).collect();
    let is_left = |name: &String| {
        name.ends_with(".tmp") || (name.ends_with(".sst") && !named.contains(&name[..]))
    };
    Ok(disk.list("")?.into_iter().filter(is_left).collect())
}
