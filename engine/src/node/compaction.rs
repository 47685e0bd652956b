//! Compaction of a node's tables: orders (nodetool's words), and the look after a flush.
//!
//! A compaction that fails is no failure of the flush that caused it: the table is as it was, and the node's event log
//! says what happened. An order is followed by no look of its own, as in Cassandra. Not here: how it is done ([`crate::lsm::compaction`]).

use super::background::BackgroundMode;
use super::events::Event;
use super::{Node, View};
use crate::error::Error;
use crate::lsm::TableStore;
use crate::lsm::compaction::{CompactionRecord, OverlappingTombstones, Progress};
use crate::row::DecoratedKey;
use crate::schema::{Table, TableId};
use std::sync::Arc;

impl Node {
    /// Calls `f` with each table that `wanted` picks and its store, in the order of names.
    ///
    /// # Errors
    /// The first of `f`.
    pub fn each_store(
        &self,
        wanted: impl Fn(&Table) -> bool,
        mut f: impl FnMut(&Table, &TableStore) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let view = self.view();
        let keyspaces = view.placed.schema.keyspaces.values();
        for table in keyspaces.flat_map(|k| k.tables.values()) {
            if !table.is_virtual && wanted(table) {
                f(table, self.store(&view, table)?)?;
            }
        }
        Ok(())
    }

    /// Compacts tables whole (`nodetool compact`; `split`: with `-s`).
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn compact(&self, wanted: impl Fn(&Table) -> bool, split: bool) -> Result<(), Error> {
        self.each_store(wanted, |_, store| store.compact(split))
    }

    /// Compacts SSTables of a table together: 1 is the oldest file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one is not there; [`Error::Storage`].
    pub fn compact_files(&self, table: &Table, places: &[usize]) -> Result<(), Error> {
        let view = self.view();
        let store = self.store(&view, table)?;
        let numbers = store.file_numbers();
        let number = |place: &usize| {
            let found = place.checked_sub(1).and_then(|place| numbers.get(place)).copied();
            found.ok_or_else(|| {
                let count = numbers.len();
                Error::Invalid(format!("there is no SSTable {place}: {} has {count}", table.name))
            })
        };
        let chosen = places.iter().map(number).collect::<Result<Vec<u64>, Error>>()?;
        store.compact_files(&chosen)
    }

    /// Drops from each SSTable what deletions in others hide (`nodetool garbagecollect`).
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn garbage_collect(
        &self,
        wanted: impl Fn(&Table) -> bool,
        overlapping: OverlappingTombstones,
    ) -> Result<(), Error> {
        self.each_store(wanted, |_, store| store.garbage_collect(overlapping))
    }

    /// Throws the deletions of these partitions away, whatever gc_grace says (`nodetool forcecompact`).
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn force_compact(&self, table: &Table, keys: &[DecoratedKey]) -> Result<(), Error> {
        self.store(&self.view(), table)?.force_compact(keys)
    }

    /// Switches automatic compaction of tables on or off; those that it is switched on for are looked at.
    ///
    /// # Errors
    /// None yet.
    pub fn set_auto_compaction(
        &self,
        wanted: impl Fn(&Table) -> bool,
        on: bool,
    ) -> Result<(), Error> {
        self.each_store(wanted, |table, store| {
            store.set_auto_compaction(on);
            if on {
                self.wants_look(table.id, store);
            }
            Ok(())
        })
    }

    /// Compactions that run now.
    pub fn running_compactions(&self) -> Vec<Arc<Progress>> {
        self.made_stores(&self.view()).filter_map(TableStore::running_compaction).collect()
    }

    /// Compactions that have ended, oldest first.
    pub fn compaction_history(&self) -> Vec<CompactionRecord> {
        let view = self.view();
        let mut records: Vec<CompactionRecord> =
            self.made_stores(&view).flat_map(TableStore::compaction_history).collect();
        records.sort_by_key(|record| record.compacted_at_millis);
        records
    }

    /// Compacts until no table's strategy wants anything more.
    pub fn compact_until_idle(&self) {
        let view = self.view();
        for store in self.made_stores(&view) {
            self.look(store);
        }
    }

    fn made_stores<'v>(&self, view: &'v View) -> impl Iterator<Item = &'v TableStore> + use<'v> {
        view.stores.values().filter_map(|entry| entry.store.get())
    }

    /// An SSTable was flushed, or automatic compaction was switched on: looks now, or has it looked at.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(unused_variables, reason = "the table is what a worker is told")
    )]
    pub(super) fn wants_look(&self, table: TableId, store: &TableStore) {
        match self.config.background {
            BackgroundMode::Held => {}
            BackgroundMode::Inline => self.look(store),
            #[cfg(not(target_arch = "wasm32"))]
            BackgroundMode::Threads(_) => {
                if let Some((queue, own)) = self.queue.get() {
                    queue.push(own.clone(), table);
                }
            }
        }
    }

    /// Looks at a table: what a worker does.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn look_at(&self, table: TableId) {
        let view = self.view();
        if let Some(store) = view.stores.get(&table).and_then(|entry| entry.store.get()) {
            self.look(store);
        }
    }

    fn look(&self, store: &TableStore) {
        if let Err(error) = store.compact_until_idle() {
            let table = store.table();
            self.events.push(Event {
                at_millis: self.clock().now_millis(),
                text: format!("compaction of {}.{} failed: {error}", table.keyspace, table.name),
            });
        }
    }
}
