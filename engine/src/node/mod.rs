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
//! Rooms left for what is not built yet: the commit log goes between [`Node::handle`] and the stores (append and
//! apply under one guard, in [`replica::apply`]); the manifest that names a node's files is written where
//! [`Node::set_schema`] makes and drops stores. A stopped node keeps its memtables, as after an orderly drain.

pub mod background;
mod compaction;
pub mod events;
pub mod message;
pub mod replica;
pub mod system;
mod system_rows;

pub use message::{Message, Reply, Want};

use crate::error::Error;
use crate::lsm::TableStore;
use crate::ring::{NodeId, Placement, Topology};
use crate::schema::{Replication, Schema, Table, TableId};
use crate::settings::Settings;
use crate::sim::clock::Clock;
use crate::sim::disk::Disk;
use crate::sim::rng::Rng;
use arc_swap::{ArcSwap, Guard};
use background::BackgroundMode;
#[cfg(not(target_arch = "wasm32"))]
use background::Queue;
use events::{Event, Events};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::fmt;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

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
#[derive(Debug)]
pub struct View {
    /// Schema and placement.
    pub placed: Arc<PlacedSchema>,
    /// The settings in force.
    pub settings: Arc<Settings>,
    /// A store for each table with rows of its own.
    stores: BTreeMap<TableId, Arc<LazyStore>>,
}

/// A table's store, made when it is first needed: most system tables never are.
#[derive(Debug)]
struct LazyStore {
    table: RwLock<Arc<Table>>,
    store: OnceLock<TableStore>,
}

/// One node. Any thread may call it at any time.
pub struct Node {
    id: NodeId,
    clock: Clock,
    disk: Arc<dyn Disk>,
    topology: Arc<Topology>,
    cluster_name: String,
    /// When it was made: its gossip generation, seconds.
    started_seconds: i64,
    up: AtomicBool,
    view: ArcSwap<View>,
    system_rows: system_rows::Cache,
    background: BackgroundMode,
    /// Where work for the cluster's threads goes, with the node itself.
    #[cfg(not(target_arch = "wasm32"))]
    queue: OnceLock<(Arc<Queue>, Weak<Node>)>,
    events: Events,
    /// Where numbers of compactions come from.
    chance: Rng,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("id", &self.id)
            .field("up", &self.is_up())
            .finish_non_exhaustive()
    }
}

impl Node {
    /// A node that is up.
    /// Requires: `id` is in `topology`.
    pub fn new(
        id: NodeId,
        cluster_name: &str,
        topology: Arc<Topology>,
        schema: Arc<PlacedSchema>,
        clock: Clock,
        disk: Arc<dyn Disk>,
        settings: Arc<Settings>,
    ) -> Node {
        assert!(topology.node(id).is_some(), "{id} is not in the topology");
        let stores = BTreeMap::new();
        let node = Node {
            id,
            started_seconds: clock.now_seconds(),
            clock,
            disk,
            topology,
            cluster_name: cluster_name.to_string(),
            up: AtomicBool::new(true),
            view: ArcSwap::from_pointee(View { placed: Arc::clone(&schema), settings, stores }),
            system_rows: system_rows::Cache::default(),
            background: BackgroundMode::default(),
            #[cfg(not(target_arch = "wasm32"))]
            queue: OnceLock::new(),
            events: Events::default(),
            chance: Rng::new(0),
        };
        node.set_schema(schema);
        node
    }

    /// The same with compaction after flushes, and numbers of compactions from `chance`.
    pub fn with_background(mut self, background: BackgroundMode, chance: Rng) -> Node {
        (self.background, self.chance) = (background, chance);
        self
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
        self.id
    }

    /// Its clock, which may differ from the cluster's.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Its disk.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Whether it answers.
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::SeqCst)
    }

    /// Stops or starts it. What it holds stays.
    pub fn set_up(&self, up: bool) {
        self.up.store(up, Ordering::SeqCst);
    }

    /// What it sees now.
    pub fn view(&self) -> Guard<Arc<View>> {
        self.view.load()
    }

    /// Takes a new schema: makes stores for new tables, tells those of altered ones, drops those of dropped ones.
    pub fn set_schema(&self, placed: Arc<PlacedSchema>) {
        let before = self.view();
        let mut stores = BTreeMap::new();
        let keyspaces = placed.schema.keyspaces.values();
        for table in keyspaces.flat_map(|k| k.tables.values()).filter(|t| !t.is_virtual) {
            let store = match before.stores.get(&table.id) {
                Some(store) => {
                    store.set_table(table);
                    Arc::clone(store)
                }
                None => {
                    let table = RwLock::new(Arc::clone(table));
                    Arc::new(LazyStore { table, store: OnceLock::new() })
                }
            };
            stores.insert(table.id, store);
        }
        for (id, dropped) in &before.stores {
            if !stores.contains_key(id)
                && let Some(store) = dropped.store.get()
            {
                // Only to free what it holds: requests that still see the old view find an empty table.
                let freed = store.truncate();
                debug_assert!(freed.is_ok(), "a dropped table could not be freed: {freed:?}");
            }
        }
        let settings = Arc::clone(&before.settings);
        self.view.store(Arc::new(View { placed, settings, stores }));
    }

    /// Takes new settings: the next request sees them.
    /// Requires: the schema does not change meanwhile.
    pub fn set_settings(&self, settings: Arc<Settings>) {
        let held = self.view();
        self.view.store(Arc::new(View {
            placed: Arc::clone(&held.placed),
            settings,
            stores: held.stores.clone(),
        }));
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
            let prefix = format!("{}-{}", table.name, table.id.0.simple());
            TableStore::new(Arc::clone(&table), Arc::clone(&self.disk), prefix)
                .with_clock(self.clock.clone())
                .with_compaction_ids(self.chance.fork(&table.id.0.to_string()))
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

    /// Answers a message; `None` if the node is down.
    pub fn handle(&self, message: &Message) -> Option<Reply> {
        self.is_up().then(|| replica::handle(self, message))
    }
}

impl LazyStore {
    fn set_table(&self, table: &Arc<Table>) {
        let mut held = self.table.write();
        if Arc::ptr_eq(&held, table) {
            return;
        }
        *held = Arc::clone(table);
        if let Some(store) = self.store.get() {
            store.set_table(Arc::clone(table));
        }
    }
}
