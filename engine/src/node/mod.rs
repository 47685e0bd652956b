//! One node: a message in, a reply out.
//!
//! ```text
//! Message --> Node::handle --> replica (plain functions) --> TableStore of the table --> Reply
//!                |  down: nothing comes back
//!                '- system tables: rows are made from schema and topology (system)
//! ```
//!
//! A node holds its disk, its view of the schema, and for each table a [`TableStore`]. The view is one immutable
//! value, swapped as a whole when the schema changes: a request takes it once and sees one schema to its end, without
//! holding a lock.
//!
//! A stopped node keeps its memtables, as after an orderly drain. A killed one ([`Node::kill`]) has only what is on its
//! disk, and comes back from there ([`storage`]).

pub mod background;
mod compaction;
pub mod events;
pub mod message;
pub mod replica;
pub mod storage;
pub mod system;
mod system_rows;

pub use message::{Message, Reply, Want};

use crate::error::Error;
use crate::lsm::TableStore;
use crate::lsm::sstable::BlockCache;
use crate::ring::{NodeId, Placement, Topology};
use crate::schema::{Replication, Schema, Table, TableId};
use crate::settings::Settings;
use crate::sim::clock::{Clock, Given};
use crate::sim::disk::Disk;
use crate::sim::rng::Rng;
use arc_swap::{ArcSwap, Guard};
use background::BackgroundMode;
#[cfg(not(target_arch = "wasm32"))]
use background::Queue;
use events::{Event, Events};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use storage::{Found, Storage, StorageOptions, StoreMaker};

/// Where the partitions of a keyspace lie: its replication, and the replicas of each range of the ring.
#[derive(Debug)]
pub struct Placed {
    /// Replication of the keyspace.
    pub replication: Replication,
    /// Replicas by place on the ring; nothing for [`Replication::Local`].
    pub placement: Placement,
}

/// A schema with what follows from it for the whole ring; the same for all nodes that agree.
#[derive(Debug)]
pub struct PlacedSchema {
    /// The schema.
    pub schema: Arc<Schema>,
    /// Each keyspace's placement, by name.
    pub placed: BTreeMap<String, Arc<Placed>>,
}

impl PlacedSchema {
    /// Places every keyspace, taking over from `before` what did not change.
    pub fn new(
        schema: Arc<Schema>,
        topology: &Topology,
        before: Option<&PlacedSchema>,
    ) -> PlacedSchema {
        let placed = schema.keyspaces.values().map(|keyspace| {
            let kept = before
                .and_then(|before| before.placed.get(&keyspace.name))
                .filter(|old| old.replication == keyspace.replication);
            let placed = kept.cloned().unwrap_or_else(|| {
                Arc::new(Placed {
                    replication: keyspace.replication.clone(),
                    placement: Placement::new(&keyspace.replication, topology),
                })
            });
            (keyspace.name.clone(), placed)
        });
        let placed = placed.collect();
        PlacedSchema { schema, placed }
    }

    /// The placement of a table's keyspace.
    ///
    /// # Errors
    /// Cassandra's text for a keyspace that is gone.
    pub fn placed(&self, keyspace: &str) -> Result<&Arc<Placed>, Error> {
        self.placed
            .get(keyspace)
            .ok_or_else(|| Error::Invalid(format!("Keyspace '{keyspace}' does not exist")))
    }
}

/// What a node sees at one moment: the schema, the settings and the stores of its tables.
#[derive(Clone, Debug)]
pub struct View {
    /// Schema and placement.
    pub placed: Arc<PlacedSchema>,
    /// The settings in force.
    pub settings: Arc<Settings>,
    /// A store for each table with rows of its own.
    stores: BTreeMap<TableId, Arc<LazyStore>>,
    /// What the stores share.
    storage: Storage,
}

/// A table's store, made when it is first needed: most system tables never are.
#[derive(Debug)]
struct LazyStore {
    table: RwLock<Arc<Table>>,
    /// Whether its writes are logged.
    durable: AtomicBool,
    store: OnceLock<TableStore>,
}

/// What a node is made of, beside its data.
#[derive(Debug)]
pub struct NodeConfig {
    /// Its number.
    pub id: NodeId,
    /// Name of its cluster.
    pub cluster_name: String,
    /// The ring; it has the node.
    pub topology: Arc<Topology>,
    /// Its clock.
    pub clock: Clock,
    /// What the cluster has given out.
    pub given: Arc<Given>,
    /// Where it keeps its data.
    pub disk: Arc<dyn Disk>,
    /// Limits.
    pub options: StorageOptions,
    /// Who compacts after a flush.
    pub background: BackgroundMode,
    /// Decompressed blocks, shared by all nodes.
    pub blocks: Arc<BlockCache>,
    /// Where numbers of compactions come from.
    pub chance: Rng,
}

/// One node. Any thread may call it at any time.
pub struct Node {
    config: NodeConfig,
    /// When it was made: its gossip generation, seconds.
    started_seconds: i64,
    up: AtomicBool,
    view: ArcSwap<View>,
    /// Held while the view is changed; whether the node was killed and not yet started again.
    killed: Mutex<bool>,
    system_rows: system_rows::Cache,
    /// Where work for the cluster's threads goes, with the node itself.
    #[cfg(not(target_arch = "wasm32"))]
    queue: OnceLock<(Arc<Queue>, Weak<Node>)>,
    events: Events,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("id", &self.config.id)
            .field("up", &self.is_up())
            .finish_non_exhaustive()
    }
}

impl Node {
    /// A node that is up, with what was found on its disk.
    /// Requires: it is in the topology.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses to be written.
    pub fn new(
        config: NodeConfig,
        schema: Arc<PlacedSchema>,
        settings: Arc<Settings>,
        found: Found,
    ) -> Result<Node, Error> {
        assert!(config.topology.node(config.id).is_some(), "{} is not in the topology", config.id);
        let view = view_of(&config, schema, settings, found)?;
        Ok(Node {
            started_seconds: config.clock.now_seconds(),
            config,
            up: AtomicBool::new(true),
            view: ArcSwap::from_pointee(view),
            killed: Mutex::new(false),
            system_rows: system_rows::Cache::default(),
            #[cfg(not(target_arch = "wasm32"))]
            queue: OnceLock::new(),
            events: Events::default(),
        })
    }

    /// Has work done by the threads behind `queue`.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn work_by(self: &Arc<Node>, queue: &Arc<Queue>) {
        // A second call changes nothing: a node belongs to one cluster.
        let _ = self.queue.set((Arc::clone(queue), Arc::downgrade(self)));
    }

    /// What happened here that no request was told of, oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.events.all()
    }

    /// Its number.
    pub fn id(&self) -> NodeId {
        self.config.id
    }

    /// Its clock, which may differ from the cluster's.
    pub fn clock(&self) -> &Clock {
        &self.config.clock
    }

    /// Its disk.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.config.disk
    }

    /// Whether it answers.
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::SeqCst)
    }

    /// Stops it in order: its log is synced, what it holds stays.
    pub fn stop(&self) {
        self.up.store(false, Ordering::SeqCst);
        // A log that cannot be synced now says so to the next writer.
        let _ = self.view().storage.journal.log.sync();
    }

    /// Stops it at once, as by killing its process: memtables are gone, what was handed to its disk is there.
    pub fn kill(&self) {
        let mut killed = self.killed.lock();
        self.up.store(false, Ordering::SeqCst);
        let view = self.view();
        // Requests that still hold the old view must not write to files that a new life reads.
        view.storage.journal.log.stop();
        view.storage.journal.manifest.stop();
        self.view.store(Arc::new(View { stores: BTreeMap::new(), ..View::clone(&view) }));
        *killed = true;
    }

    /// Stops it for good, with its log open to be synced; whether it was not stopped so before.
    pub fn close(&self) -> bool {
        let was_alive = !*self.killed.lock();
        self.kill();
        was_alive
    }

    /// Starts it again; if it was killed, from its disk.
    ///
    /// # Errors
    /// [`Error::Storage`] with what is damaged on its disk; the node stays down.
    pub fn start(&self) -> Result<(), Error> {
        let mut killed = self.killed.lock();
        if *killed {
            let before = self.view();
            let (placed, settings) = (Arc::clone(&before.placed), Arc::clone(&before.settings));
            let found = Found::read(
                Arc::clone(self.disk()),
                self.clock(),
                &self.config.chance,
                &self.config.blocks,
                &placed.schema,
            )?;
            self.view.store(Arc::new(view_of(&self.config, placed, settings, found)?));
            *killed = false;
        }
        self.up.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// What it sees now.
    pub fn view(&self) -> Guard<Arc<View>> {
        self.view.load()
    }

    /// Takes a new schema: makes stores for new tables, tells those of altered ones and flushes them, drops those of
    /// dropped ones.
    pub fn set_schema(&self, placed: Arc<PlacedSchema>) {
        let killed = self.killed.lock();
        let before = self.view();
        let altered = altered(&before.placed.schema, &placed.schema);
        let (storage, settings) = (before.storage.clone(), Arc::clone(&before.settings));
        let stores = match *killed {
            // It finds its tables when it starts.
            true => BTreeMap::new(),
            false => stores_of(&placed.schema, |id| before.stores.get(&id).cloned()),
        };
        let dropped: Vec<TableId> =
            before.stores.keys().filter(|id| !stores.contains_key(id)).copied().collect();
        self.view.store(Arc::new(View { placed, settings, stores, storage }));
        drop(killed);
        self.free(&before, &dropped);
        // As Cassandra does it (FlushReason SCHEMA_CHANGE). The change stands even if the disk is full.
        if !altered.is_empty()
            && let Err(error) = self.flush(|table| altered.contains(&table.id))
        {
            let text = format!("flush after a schema change failed: {error}");
            self.events.push(Event { at_millis: self.clock().now_millis(), text });
        }
    }

    /// Frees what dropped tables hold.
    fn free(&self, before: &View, dropped: &[TableId]) {
        if dropped.is_empty() {
            return;
        }
        // One that the manifest cannot forget now is forgotten by the next start: the schema has not got it.
        let _ = before.storage.journal.manifest.remove(dropped);
        for store in dropped.iter().filter_map(|id| before.stores[id].store.get()) {
            // Requests that still see the old view find an empty table.
            store.discard();
        }
    }

    /// Takes new settings: the next request sees them.
    pub fn set_settings(&self, settings: Arc<Settings>) {
        let _one = self.killed.lock();
        let before = self.view();
        self.view.store(Arc::new(View { settings, ..View::clone(&before) }));
    }

    /// The store of a table.
    ///
    /// # Errors
    /// Cassandra's text for a table that is gone.
    pub fn store<'v>(&self, view: &'v View, table: &Table) -> Result<&'v TableStore, Error> {
        let entry = view
            .stores
            .get(&table.id)
            .ok_or_else(|| Error::Invalid(format!("unconfigured table {}", table.name)))?;
        Ok(entry.store.get_or_init(|| {
            // The guard is held until the store is there, so that no alteration falls between.
            let table = entry.table.read();
            let pool = Arc::clone(&view.storage.pool);
            let (disk, clock) = (Arc::clone(&self.config.disk), self.config.clock.clone());
            let (chance, blocks) = (self.config.chance.clone(), Arc::clone(&self.config.blocks));
            let maker = StoreMaker { disk, clock, chance, pool, blocks };
            let store = maker.store(&table);
            store.set_durable(entry.durable.load(Ordering::Relaxed));
            store.set_journal(view.storage.journal.clone());
            store
        }))
    }

    /// Flushes the tables that `wanted` picks, in the order of their names.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn flush(&self, wanted: impl Fn(&Table) -> bool) -> Result<(), Error> {
        let view = self.view();
        let keyspaces = view.placed.schema.keyspaces.values();
        for table in keyspaces.flat_map(|k| k.tables.values()).filter(|t| wanted(t)) {
            if let Some(store) = view.stores.get(&table.id).and_then(|entry| entry.store.get()) {
                store.flush()?;
                self.after_flush(table.id, store);
            }
        }
        Ok(())
    }

    /// Has the table looked at if something was flushed.
    fn after_flush(&self, table: TableId, store: &TableStore) {
        if store.take_flushed() {
            self.wants_look(table, store);
        }
    }

    /// Flushes what has to go before another write: the largest table if memtables are at their limit, the one that holds
    /// back the oldest segment if the log is.
    ///
    /// # Errors
    /// [`Error::Storage`]: the disk is full, so the write must be refused.
    fn make_room(&self, view: &View) -> Result<(), Error> {
        let Storage { journal, pool } = &view.storage;
        if pool.size_bytes() >= self.config.options.memtables_bytes_max {
            let stores = view.stores.values().filter_map(|entry| entry.store.get());
            if let Some(largest) = stores.max_by_key(|store| store.memtables_bytes()) {
                largest.flush()?;
                self.after_flush(largest.table().id, largest);
            }
        }
        if let Some(table) = journal.log.table_to_flush() {
            match view.stores.get(&table).and_then(|entry| entry.store.get()) {
                Some(store) => {
                    store.flush()?;
                    self.after_flush(table, store);
                }
                None => journal.log.flushed(table, || None),
            }
        }
        Ok(())
    }

    /// Makes what was acknowledged survive a power failure: syncs the log.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn sync(&self) -> Result<(), Error> {
        self.view().storage.journal.log.sync()
    }

    /// Syncs the log if its period has passed: to be called when the clock was moved.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn sync_if_due(&self) -> Result<(), Error> {
        self.view().storage.journal.log.sync_if_due()
    }

    /// Answers a message; `None` if the node is down.
    pub fn handle(&self, message: &Message) -> Option<Reply> {
        self.is_up().then(|| replica::handle(self, message))
    }
}

impl View {
    /// What the tables share: log, manifest, memory.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }
}

/// Takes the disk over and makes the view of a node that starts.
fn view_of(
    config: &NodeConfig,
    placed: Arc<PlacedSchema>,
    settings: Arc<Settings>,
    found: Found,
) -> Result<View, Error> {
    let (storage, mut with_data) =
        found.take_over(&config.options, &config.clock, &config.given)?;
    let stores = stores_of(&placed.schema, |id| {
        let store = with_data.remove(&id)?;
        let table = RwLock::new(store.table());
        let durable = AtomicBool::new(true);
        Some(Arc::new(LazyStore { table, durable, store: OnceLock::from(store) }))
    });
    Ok(View { placed, settings, stores, storage })
}

/// A store for each table of the schema that has rows of its own: the one there is, or a new one.
fn stores_of(
    schema: &Schema,
    mut existing: impl FnMut(TableId) -> Option<Arc<LazyStore>>,
) -> BTreeMap<TableId, Arc<LazyStore>> {
    let mut stores = BTreeMap::new();
    for keyspace in schema.keyspaces.values() {
        for table in keyspace.tables.values().filter(|t| !t.is_virtual) {
            let store = existing(table.id).unwrap_or_else(|| {
                let (table, store) = (RwLock::new(Arc::clone(table)), OnceLock::new());
                Arc::new(LazyStore { table, durable: AtomicBool::new(true), store })
            });
            store.set_table(table, keyspace.durable_writes);
            stores.insert(table.id, store);
        }
    }
    stores
}

/// Tables that are in both schemas, but not the same.
fn altered(before: &Schema, after: &Schema) -> BTreeSet<TableId> {
    let tables = |schema: &Schema| -> BTreeMap<TableId, Arc<Table>> {
        let tables = schema.keyspaces.values().flat_map(|k| k.tables.values());
        tables.map(|table| (table.id, Arc::clone(table))).collect()
    };
    let before = tables(before);
    let is_other = |(id, table): &(TableId, Arc<Table>)| {
        before.get(id).is_some_and(|old| !Arc::ptr_eq(old, table) && **old != **table)
    };
    tables(after).into_iter().filter(is_other).map(|(id, _)| id).collect()
}

impl LazyStore {
    fn set_table(&self, table: &Arc<Table>, durable: bool) {
        let mut held = self.table.write();
        if self.durable.swap(durable, Ordering::Relaxed) != durable
            && let Some(store) = self.store.get()
        {
            store.set_durable(durable);
        }
        if Arc::ptr_eq(&held, table) {
            return;
        }
        *held = Arc::clone(table);
        if let Some(store) = self.store.get() {
            store.set_table(Arc::clone(table));
        }
    }
}
