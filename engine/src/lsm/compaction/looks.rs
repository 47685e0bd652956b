//! When a table is compacted, and by whose order: the part of a [`TableStore`] that picks tasks and has them run.
//!
//! ```text
//! flush, enableautocompaction        -> look: pick - run - pick - run ... until nothing is left to do
//! nodetool compact, garbagecollect   -> one task, or one for each file, at once
//! ```
//!
//! One compaction of a table runs at a time; whoever asks for another waits, and an order for all of the table cancels the
//! one that runs. An SSTable that a look itself made for its tombstones is not picked again by the same look: with
//! an interval of 0 s and tombstones that cannot go, Cassandra rewrites such a file for ever.

use super::super::sstable::SsTable;
use super::super::{TableStore, View};
use super::candidate::{Candidate, Layout, Moment};
use super::expired::{self, Blocker};
use super::garbage::Shadow;
use super::options::{CompactionOptions, OverlappingTombstones};
use super::purge::{Elsewhere, Purger};
use super::report::{CompactionRecord, CompactionTotals, Progress};
use super::run::{self, Ran};
use super::{Memory, Reason, Task};
use crate::error::Error;
use crate::row::DecoratedKey;
use crate::schema::Table;
use crate::sim::rng::Rng;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use uuid::Uuid;

/// Compactions of one table that are remembered.
const HISTORY_MAX: usize = 1_000;

/// What a table's store knows of its compactions. Any thread may use it.
#[derive(Debug)]
pub struct CompactionState {
    /// Held while a compaction of the table runs.
    running: Mutex<()>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: CompactionOptions,
    /// The option `enabled`, unless `nodetool enableautocompaction` or `disableautocompaction` said otherwise.
    enabled: bool,
    memory: Memory,
    progress: Option<Arc<Progress>>,
    compacting: BTreeSet<u64>,
    history: VecDeque<CompactionRecord>,
    totals: CompactionTotals,
    ids: Rng,
}

impl CompactionState {
    /// A table that was never compacted; numbers of compactions come from `ids`.
    pub(in super::super) fn new(table: &Table, ids: Rng) -> CompactionState {
        let options = CompactionOptions::read(&table.options.compaction);
        let inner = Inner {
            enabled: options.enabled,
            options,
            memory: Memory::default(),
            progress: None,
            compacting: BTreeSet::new(),
            history: VecDeque::new(),
            totals: CompactionTotals::default(),
            ids,
        };
        CompactionState { running: Mutex::new(()), inner: Mutex::new(inner) }
    }

    /// Takes over altered options. Another strategy begins without memory; nothing is compacted by this.
    pub(in super::super) fn set_table(&self, table: &Table) {
        let options = CompactionOptions::read(&table.options.compaction);
        let mut inner = self.inner.lock();
        if inner.options != options {
            // What nodetool said stays in force over what the old option had said.
            let overruled = inner.enabled != inner.options.enabled;
            inner.enabled = if overruled { inner.enabled } else { options.enabled };
            inner.options = options;
            inner.memory = Memory::default();
        }
    }

    /// Counts what a flush wrote.
    pub(in super::super) fn see_flush(&self, bytes: u64) {
        self.inner.lock().totals.bytes_flushed += bytes;
    }
}

impl TableStore {
    /// Switches automatic compaction on or off (`nodetool enableautocompaction`), whatever the option `enabled` says.
    pub fn set_auto_compaction(&self, on: bool) {
        self.compaction.inner.lock().enabled = on;
    }

    /// Whether compaction looks at the table by itself.
    pub fn is_auto_compacted(&self) -> bool {
        self.compaction.inner.lock().enabled
    }

    /// Looks at the table once: one compaction, if the strategy wants one; says whether it did.
    ///
    /// # Errors
    /// [`Error::Storage`]; the table is as it was.
    pub fn compact_next(&self) -> Result<bool, Error> {
        self.look(true, &mut BTreeSet::new())
    }

    /// Compacts until the strategy wants nothing more.
    ///
    /// # Errors
    /// [`Error::Storage`]; what was compacted before stays so.
    pub fn compact_until_idle(&self) -> Result<(), Error> {
        let mut own = BTreeSet::new();
        let mut first = true;
        while self.look(first, &mut own)? {
            first = false;
        }
        Ok(())
    }

    /// `own`: numbers of the files that this look made for their tombstones.
    fn look(&self, first_look: bool, own: &mut BTreeSet<u64>) -> Result<bool, Error> {
        if !self.is_auto_compacted() {
            return Ok(false);
        }
        let _one = self.compaction.running.lock();
        let view = self.view();
        let moment = Moment { first_look, ..self.moment(&view) };
        let layout = self.layout(&view, &moment);
        let task = {
            let mut inner = self.compaction.inner.lock();
            let inner = &mut *inner;
            super::pick(&layout, &moment, &inner.options, &mut inner.memory)
        };
        let Some(task) = task else { return Ok(false) };
        let for_tombstones = task.reason == Reason::Tombstones;
        if for_tombstones && task.inputs.iter().all(|id| own.contains(id)) {
            return Ok(false);
        }
        let made = self.run_task(&task, &moment)?;
        if for_tombstones {
            own.extend(made);
        }
        Ok(true)
    }

    /// Compacts the whole table (`nodetool compact`; `split`: with `-s`). Memtables stay as they are.
    ///
    /// # Errors
    /// [`Error::Storage`]; the table is as it was.
    pub fn compact(&self, split: bool) -> Result<(), Error> {
        self.ordered(|layout, options| super::major(layout, options, split))
    }

    /// Compacts the files of these numbers together, in any number of the strategy's files.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one is not there; [`Error::Storage`].
    pub fn compact_files(&self, numbers: &[u64]) -> Result<(), Error> {
        let known = self.file_numbers();
        if let Some(missing) = numbers.iter().find(|number| !known.contains(number)) {
            return Err(Error::Invalid(format!("there is no SSTable of number {missing}")));
        }
        self.ordered(|layout, options| super::user_defined(layout, options, numbers))
    }

    /// Numbers of the files, oldest first.
    pub fn file_numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> =
            self.view().sstables.iter().map(|table| self.file_number(table)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Rewrites each SSTable without what deletions of others hide in it (`nodetool garbagecollect`).
    ///
    /// # Errors
    /// [`Error::Storage`]; files before the failing one are rewritten.
    pub fn garbage_collect(&self, wanted: OverlappingTombstones) -> Result<(), Error> {
        let mut tables = self.view().sstables.clone();
        tables.sort_by_key(|t| (t.statistics().max_timestamp_micros, self.file_number(t)));
        for table in tables {
            let id = self.file_number(&table);
            self.ordered(|layout, _| {
                let level = layout.sstables.iter().find(|c| c.id == id)?.level;
                let task = Task::new(Reason::GarbageCollect, vec![id], level);
                Some(Task { overlapping_tombstones: Some(wanted), ..task })
            })?;
        }
        Ok(())
    }

    /// Compacts the SSTables that may hold these partitions, and throws their deletions away whatever gc_grace says
    /// (`nodetool forcecompact`).
    ///
    /// # Errors
    /// [`Error::Storage`]; the table is as it was.
    pub fn force_compact(&self, keys: &[DecoratedKey]) -> Result<(), Error> {
        self.ordered(|layout, options| {
            let holds = |c: &&Candidate| keys.iter().any(|k| c.first <= *k && *k <= c.last);
            let ids: Vec<u64> = layout.sstables.iter().filter(holds).map(|c| c.id).collect();
            let task = super::user_defined(layout, options, &ids)?;
            Some(Task { reason: Reason::Forced, forced: keys.to_vec(), ..task })
        })
    }

    /// Cancels the compaction that runs; none begins while the guard is held.
    pub(in super::super) fn stop_compactions(&self) -> MutexGuard<'_, ()> {
        if let Some(progress) = &self.compaction.inner.lock().progress {
            progress.cancel();
        }
        self.compaction.running.lock()
    }

    /// Runs the task of an order, after whatever runs now was cancelled.
    fn ordered(
        &self,
        task: impl FnOnce(&Layout, &CompactionOptions) -> Option<Task>,
    ) -> Result<(), Error> {
        let _one = self.stop_compactions();
        let view = self.view();
        let moment = self.moment(&view);
        let layout = self.layout(&view, &moment);
        let task = task(&layout, &self.compaction.inner.lock().options);
        match task {
            Some(task) => self.run_task(&task, &moment).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Compactions that have ended, oldest first; the last thousand are kept.
    pub fn compaction_history(&self) -> Vec<CompactionRecord> {
        self.compaction.inner.lock().history.iter().cloned().collect()
    }

    /// Bytes flushed and rewritten so far.
    pub fn compaction_totals(&self) -> CompactionTotals {
        self.compaction.inner.lock().totals
    }

    /// The compaction that runs, if any.
    pub fn running_compaction(&self) -> Option<Arc<Progress>> {
        self.compaction.inner.lock().progress.clone()
    }

    /// How many compactions the strategy would still do, by its own estimate.
    pub fn pending_compactions(&self) -> usize {
        let view = self.view();
        let layout = self.layout(&view, &self.moment(&view));
        let inner = self.compaction.inner.lock();
        super::pending(&layout, &inner.options, &inner.memory)
    }

    /// Which files keep which expired ones from being dropped whole.
    pub fn expired_blockers(&self) -> Vec<Blocker> {
        let view = self.view();
        let moment = self.moment(&view);
        expired::blockers(&self.layout(&view, &moment), &moment)
    }

    fn moment(&self, view: &View) -> Moment {
        let now_millis = self.clock.now_millis();
        let gc_grace = i64::from(self.table().options.gc_grace_seconds);
        let oldest = view.memtables.iter().map(|m| m.min_timestamp_micros()).min();
        Moment {
            now_millis,
            gc_before_seconds: now_millis.div_euclid(1_000) - gc_grace,
            memtables_min_timestamp_micros: oldest.unwrap_or(i64::MAX),
            first_look: true,
        }
    }

    fn layout(&self, view: &View, moment: &Moment) -> Layout {
        let facts = |table: &Arc<SsTable>| {
            let statistics = table.statistics();
            Candidate {
                id: self.file_number(table),
                size_bytes: table.size_bytes(),
                level: statistics.level,
                min_timestamp_micros: statistics.min_timestamp_micros,
                max_timestamp_micros: statistics.max_timestamp_micros,
                max_local_deletion_seconds: statistics.max_local_deletion_seconds,
                created_seconds: statistics.created_seconds,
                first: table.first_key().clone(),
                last: table.last_key().clone(),
                partitions: statistics.partitions,
                droppable_ratio: statistics.droppable_ratio(moment.gc_before_seconds),
            }
        };
        let mut sstables: Vec<Candidate> = view.sstables.iter().map(facts).collect();
        sstables.sort_by_key(|c| c.id);
        Layout { sstables, compacting: self.compaction.inner.lock().compacting.clone() }
    }

    /// Runs a task; gives the numbers of the files that came out.
    /// Requires: the caller holds `running`.
    fn run_task(&self, task: &Task, moment: &Moment) -> Result<Vec<u64>, Error> {
        let view = self.view();
        let is_input = |table: &&Arc<SsTable>| task.inputs.contains(&self.file_number(table));
        let inputs: Vec<Arc<SsTable>> = view.sstables.iter().filter(is_input).cloned().collect();
        let (id, options) = {
            let mut inner = self.compaction.inner.lock();
            inner.compacting.extend(&task.inputs);
            (new_id(&mut inner.ids), inner.options.clone())
        };
        let bytes_in = inputs.iter().map(|t| t.size_bytes()).sum();
        let table = self.table();
        let progress =
            Arc::new(Progress::new(id, &table.keyspace, &table.name, task.reason, bytes_in));
        self.compaction.inner.lock().progress = Some(Arc::clone(&progress));
        let done = self.attempt(task, moment, &options, &view, inputs, &progress);
        let mut inner = self.compaction.inner.lock();
        inner.progress = None;
        inner.compacting.clear();
        let Some(record) = done? else { return Ok(Vec::new()) };
        let numbers = record.outputs.iter().map(|name| self.number_of_name(name)).collect();
        inner.totals.compactions += 1;
        inner.totals.bytes_read += record.bytes_read;
        inner.totals.bytes_written += record.bytes_out;
        inner.totals.expired_dropped += record.expired.len() as u64;
        if inner.history.len() == HISTORY_MAX {
            inner.history.pop_front();
        }
        inner.history.push_back(record);
        Ok(numbers)
    }

    /// Drops what is expired, merges the rest and puts the result in place. If the disk has no room for it, the
    /// largest file is left out and it is tried again, as Cassandra's reduced compaction does.
    fn attempt(
        &self,
        task: &Task,
        moment: &Moment,
        options: &CompactionOptions,
        view: &View,
        inputs: Vec<Arc<SsTable>>,
        progress: &Progress,
    ) -> Result<Option<CompactionRecord>, Error> {
        let gone = match options.only_purge_repaired_tombstones {
            true => Vec::new(),
            false => {
                let layout = self.layout(view, moment);
                expired::fully_expired(&layout, &task.inputs, moment, task.ignore_overlaps)
            }
        };
        let (gone, mut merged): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|table| gone.contains(&self.file_number(table)));
        let ran = loop {
            match self.merge(task, moment, options, &merged, progress) {
                Ok(Some(ran)) => break ran,
                Ok(None) => return Ok(None),
                Err(error) => {
                    let may_reduce = matches!(task.reason, Reason::Minor | Reason::Major);
                    if !(may_reduce && merged.len() > 2 && is_disk_full(&error)) {
                        return Err(error);
                    }
                    let largest = (0..merged.len())
                        .max_by_key(|&i| merged[i].size_bytes())
                        .expect("there are more than two");
                    merged.remove(largest);
                }
            }
        };
        self.put_in_place(task, moment, progress, &gone, &merged, ran).map(Some)
    }

    fn merge(
        &self,
        task: &Task,
        moment: &Moment,
        options: &CompactionOptions,
        merged: &[Arc<SsTable>],
        progress: &Progress,
    ) -> Result<Option<Ran>, Error> {
        if merged.is_empty() {
            return Ok(Some(Ran::default()));
        }
        let never = options.only_purge_repaired_tombstones;
        let purger = Purger {
            now_seconds: moment.now_seconds(),
            gc_before_seconds: moment.gc_before_seconds,
            never,
            forced: &task.forced,
            elsewhere: Elsewhere::of(self, merged),
        };
        let wanted = task.overlapping_tombstones.unwrap_or(options.overlapping_tombstones);
        let overlapping = purger.elsewhere.overlapping();
        let oldest = merged.iter().map(|t| t.statistics().min_timestamp_micros).min();
        let shadow = match never {
            true => None,
            false => {
                let tables = overlapping.iter().map(|table| &**table);
                Shadow::of(wanted, tables, oldest.unwrap_or(i64::MAX))
            }
        };
        run::merge(self, merged, task, &purger, shadow.as_ref(), progress)
    }

    fn put_in_place(
        &self,
        task: &Task,
        moment: &Moment,
        progress: &Progress,
        gone: &[Arc<SsTable>],
        merged: &[Arc<SsTable>],
        ran: Ran,
    ) -> Result<CompactionRecord, Error> {
        let names = |tables: &[Arc<SsTable>]| {
            tables.iter().map(|t| t.name().to_string()).collect::<Vec<_>>()
        };
        let removed: Vec<Arc<SsTable>> = gone.iter().chain(merged).cloned().collect();
        let record = CompactionRecord {
            id: progress.id,
            keyspace: progress.keyspace.clone(),
            table: progress.table.clone(),
            reason: task.reason,
            compacted_at_millis: moment.now_millis,
            inputs: names(&removed),
            expired: names(gone),
            outputs: ran.outputs.iter().map(|t| t.name().to_string()).collect(),
            bytes_in: removed.iter().map(|t| t.size_bytes()).sum(),
            bytes_out: ran.outputs.iter().map(SsTable::size_bytes).sum(),
            bytes_read: ran.bytes_read,
            rows_merged: ran.rows_merged,
            purged: ran.purged,
        };
        self.replace(&removed, ran.outputs)?;
        Ok(record)
    }
}

fn is_disk_full(error: &Error) -> bool {
    matches!(error, Error::Storage { reason, .. } if reason == "disk full")
}

fn new_id(ids: &mut Rng) -> Uuid {
    let mut bytes = [0; 16];
    ids.fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}
