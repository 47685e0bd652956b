//! The whole cluster in one process: the door for the front end.
//!
//! ```text
//! Cluster (handle) -> World: config, clock, topology, network, executor, chance
//!                       |- Node 1: disk, schema, table stores
//!                       |- Node 2 ...
//!     read, write, truncate -> a Coordinator on the node asked
//! ```
//!
//! [`Cluster::read`] and [`Cluster::write`] are plain futures, ready at once while no fault is in force; [`Cluster::start`]
//! queues one on the cluster's executor, [`Cluster::block_on`] also drives it. In mode `simulated` (the default) all driving happens under one lock,
//! so requests never run side by side; in mode `parallel` a request runs on its caller's thread.
//!
//! Timestamps, timeuuids and random uuids are given here, for the whole cluster, so that they rise and differ whoever asks.

use crate::commitlog::Times;
use crate::coordinator::{Coordinator, read, write};
use crate::directory::{DataDirectory, Kept, Stored};
use crate::error::{Error, WriteKind};
use crate::lsm::compaction::OverlappingTombstones;
use crate::lsm::sstable::BlockCache;
use crate::metrics::Cost;
use crate::node::background::BackgroundMode;
#[cfg(not(target_arch = "wasm32"))]
use crate::node::background::Workers;
use crate::node::storage::{Found, StorageOptions};
use crate::node::{Message, Node, NodeConfig, PlacedSchema, Reply, system};
use crate::ring::topology::{NodeInfo, random_uuid};
use crate::ring::{Consistency, NodeId, Topology, replication};
use crate::row::mutation::Mutations;
use crate::row::query::ReadReport;
use crate::row::{DecoratedKey, Mutation, ReadCommand, ReadResult};
use crate::schema::{Schema, SchemaChange, Table, TableId};
use crate::settings::Settings;
use crate::sim::clock::{Clock, Given};
use crate::sim::disk::{Disk, MemoryDisk};
use crate::sim::executor::{Executor, Task, poll_once};
use crate::sim::network::Network;
use crate::sim::rng::Rng;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use uuid::Uuid;

/// How a cluster is built. Defaults are those of contracts.md 1: one node, `datacenter1`, `rack1`, 16 tokens.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Name of the cluster; `oracle` in recordings.
    pub name: String,
    /// Data centres and their number of nodes, in order. None: what the data directory holds, or one node in `datacenter1`.
    pub datacenters: Vec<Datacenter>,
    /// Tokens of each node, if they are not to be drawn from the seed.
    pub tokens: Option<Vec<Vec<i64>>>,
    /// Number of tokens of each node, when drawn.
    pub num_tokens: usize,
    /// Seed of all that is random.
    pub seed: u64,
    /// `parallel()`: requests run on the callers' threads side by side, without the scheduler's lock.
    pub parallel: bool,
    /// Flush all tables after every write: what a test uses to see that nothing changes by it.
    pub flush_after_write: bool,
    /// Compact the written tables whole after that flush.
    pub compact_after_write: bool,
    /// Who compacts after a flush.
    pub background: BackgroundMode,
    /// The clock runs with the system's, plus an offset that can be moved, instead of standing at the virtual epoch.
    pub system_time: bool,
    /// Settings of cassandra.yaml.
    pub settings: Settings,
    /// Where it keeps its data.
    pub kept: Kept,
    /// How much a node's disk holds if it is in memory, bytes; then it is full.
    pub memory_disk_bytes: u64,
}

/// A data centre: its nodes are spread over its racks in turn.
#[derive(Clone, Debug)]
pub struct Datacenter {
    /// Name.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of racks: `rack1`, `rack2` ...
    pub racks: usize,
}

impl Default for ClusterConfig {
    fn default() -> ClusterConfig {
        ClusterConfig {
            name: "cassling".to_string(),
            datacenters: Vec::new(),
            tokens: None,
            num_tokens: 16,
            seed: 0,
            parallel: false,
            flush_after_write: false,
            compact_after_write: false,
            background: BackgroundMode::Held,
            system_time: false,
            settings: Settings::default(),
            kept: Kept::Memory,
            memory_disk_bytes: 1 << 30,
        }
    }
}

/// A cluster. Cheap to clone; dropped with its last handle. Any thread may use it at any time.
#[derive(Clone)]
pub struct Cluster {
    world: Arc<World>,
}

struct World {
    /// First, so that they have ended before the rest goes.
    #[cfg(not(target_arch = "wasm32"))]
    workers: Option<Workers>,
    config: ClusterConfig,
    clock: Clock,
    topology: Arc<Topology>,
    nodes: Vec<Arc<Node>>,
    network: Network,
    executor: Arc<Executor>,
    /// Decompressed blocks of all SSTables of all nodes.
    blocks: Arc<BlockCache>,
    /// Held while the schema or the settings change, so that two changes follow one another.
    changing_schema: Mutex<()>,
    /// `read_thresholds_enabled`.
    tracks_reads: AtomicBool,
    /// What timestamps and timeuuids rise from.
    given: Arc<Given>,
    /// Last eight bytes of every timeuuid: clock sequence and node.
    timeuuid_tail: [u8; 8],
    uuids: Mutex<Rng>,
    /// Where it is kept, unless in memory.
    directory: Option<DataDirectory>,
    /// How often it was opened.
    generation: u64,
}

impl World {
    /// Remembers what it is now, with this schema.
    fn save(&self, schema: &Schema) -> Result<(), Error> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let times = Times {
            time_micros: self.clock.now_micros(),
            timestamp_micros: self.given.last_timestamp_micros(),
            timeuuid_ticks: self.given.last_timeuuid_ticks(),
        };
        let ClusterConfig { name, seed, .. } = &self.config;
        let identity = (&name[..], *seed, self.generation);
        directory.save(&Stored::new(identity, &self.topology, times, schema))
    }

    fn close(&self) -> Result<(), Error> {
        let _one = self.changing_schema.lock();
        // A killed node's disk may be another's by now: only what ends here is synced and saved.
        let ended: Vec<&Arc<Node>> = self.nodes.iter().filter(|node| node.close()).collect();
        let synced = ended.iter().try_for_each(|node| node.sync());
        let Some(directory) = &self.directory else { return synced };
        let saved = match ended.is_empty() {
            true => Ok(()),
            false => self.save(&self.nodes[0].view().placed.schema),
        };
        directory.release();
        synced.and(saved)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.directory.is_some() {
            // Nobody is left to be told; what was acknowledged is on the disk in any case.
            let _ = self.close();
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("name", &self.world.config.name)
            .field("nodes", &self.world.nodes.len())
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Builds and starts the nodes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the configuration makes no cluster.
    pub fn build(mut config: ClusterConfig) -> Result<Cluster, Error> {
        config.settings.check()?;
        let settings = Arc::new(config.settings.clone());
        let opened = open(&config)?;
        let stored = opened.as_ref().and_then(|(_, stored)| stored.as_ref());
        let topology = Arc::new(topology_of(&mut config, stored)?);
        let rng = Rng::new(config.seed);
        let schema = Arc::new(stored.map_or_else(system::initial_schema, Stored::schema));
        let schema = Arc::new(PlacedSchema::new(schema, &topology, None));
        let clock = clock_of(&config)?;
        let blocks = Arc::new(BlockCache::new(settings.file_cache_size));
        let chance = |id: NodeId| rng.fork(&format!("compactions of {id}"));
        let mut found = Vec::with_capacity(topology.nodes.len());
        for NodeInfo { id, .. } in &topology.nodes {
            let disk: Arc<dyn Disk> = match &opened {
                Some((directory, _)) => directory.node_disk(*id)?,
                None => Arc::new(MemoryDisk::new(config.memory_disk_bytes)),
            };
            let read = |disk| Found::read(disk, &clock, &chance(*id), &blocks, &schema.schema);
            let of_node = match stored {
                Some(_) => read(Arc::clone(&disk))?,
                None => Found::nothing(Arc::clone(&disk)),
            };
            found.push((*id, disk, of_node));
        }
        // From here on something is written.
        match &opened {
            Some((directory, None)) => directory.create()?,
            Some((directory, Some(_))) => directory.settle()?,
            None => {}
        }
        let given = Arc::new(resume(&clock, stored, &found));
        let generation = stored.map_or(1, |stored| stored.generation.saturating_add(1));
        let node = |(id, disk, found): (NodeId, Arc<dyn Disk>, Found)| {
            let node = NodeConfig {
                id,
                cluster_name: config.name.clone(),
                topology: Arc::clone(&topology),
                clock: clock.clone(),
                given: Arc::clone(&given),
                disk,
                options: StorageOptions::of(&settings),
                background: config.background,
                blocks: Arc::clone(&blocks),
                chance: chance(id),
            };
            Node::new(node, Arc::clone(&schema), Arc::clone(&settings), found).map(Arc::new)
        };
        let nodes: Vec<Arc<Node>> = found.into_iter().map(node).collect::<Result<_, _>>()?;
        #[cfg(not(target_arch = "wasm32"))]
        let workers = workers(&config, &nodes)?;
        let world = World {
            #[cfg(not(target_arch = "wasm32"))]
            workers,
            clock,
            nodes,
            blocks: Arc::clone(&blocks),
            network: Network::new(),
            executor: Executor::new(),
            changing_schema: Mutex::new(()),
            tracks_reads: AtomicBool::new(config.settings.read_thresholds_enabled),
            given,
            timeuuid_tail: timeuuid_tail(&mut rng.fork("timeuuid")),
            uuids: Mutex::new(uuids(&rng, generation)),
            topology,
            config,
            directory: opened.map(|(directory, _)| directory),
            generation,
        };
        world.save(&schema.schema)?;
        Ok(Cluster { world: Arc::new(world) })
    }

    /// Ends it: logs are synced, the clock is kept, the data directory is free for another. Nothing is flushed. From now on
    /// every request is refused.
    ///
    /// # Errors
    /// [`Error::Storage`] if a disk refuses; all nodes are stopped all the same.
    pub fn close(&self) -> Result<(), Error> {
        self.world.close()
    }

    /// Ends it as killing its process would: what was acknowledged is there when it is built again.
    pub fn kill(&self) {
        self.world.nodes.iter().for_each(|node| node.kill());
        if let Some(directory) = &self.world.directory {
            directory.release();
        }
    }

    /// Closes it and builds it again from its data directory, with the same configuration.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has none; else those of [`Cluster::close`] and [`Cluster::build`].
    pub fn reopen(&self) -> Result<Cluster, Error> {
        if self.world.directory.is_none() {
            let reason = "a cluster in memory cannot be opened again".to_string();
            return Err(Error::Invalid(reason));
        }
        self.close()?;
        Cluster::build(self.config().clone())
    }

    /// The configuration it was built with.
    pub fn config(&self) -> &ClusterConfig {
        &self.world.config
    }

    /// The numbers of all nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.world.topology.nodes.iter().map(|info| info.id)
    }

    /// A handle of one node.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such node.
    pub fn node(&self, node: NodeId) -> Result<NodeHandle, Error> {
        let node = Arc::clone(self.find(node)?);
        Ok(NodeHandle { cluster: self.clone(), node })
    }

    /// The schema that `node` sees.
    /// Requires: there is such a node.
    pub fn schema(&self, node: NodeId) -> Arc<Schema> {
        let node = self.find(node).expect("a schema is asked of a node of the cluster");
        Arc::clone(&node.view().placed.schema)
    }

    /// Whether `schema` is the one that `node` sees now.
    pub fn sees_schema(&self, node: NodeId, schema: &Arc<Schema>) -> bool {
        self.find(node).is_ok_and(|node| Arc::ptr_eq(&node.view().placed.schema, schema))
    }

    /// Applies a checked change on every node, stopped ones too: they would catch up when they start.
    ///
    /// # Errors
    /// If `node` is stopped.
    pub fn change_schema(&self, node: NodeId, change: SchemaChange) -> Result<(), Error> {
        let own = self.find_coordinator(node)?;
        let _one_at_a_time = self.world.changing_schema.lock();
        let before = Arc::clone(&own.view().placed);
        let schema = Arc::new(before.schema.apply(&change));
        let placed = Arc::new(PlacedSchema::new(schema, &self.world.topology, Some(&before)));
        // Before any node writes to a new table, or frees the files of a dropped one.
        self.world.save(&placed.schema)?;
        for node in &self.world.nodes {
            node.set_schema(Arc::clone(&placed));
        }
        Ok(())
    }

    /// The settings in force; the same on all nodes.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.world.nodes[0].view().settings)
    }

    /// The cache of decompressed blocks that all nodes share.
    pub fn block_cache(&self) -> &BlockCache {
        &self.world.blocks
    }

    /// Changes one setting of cassandra.yaml on all nodes; requests that begin later see it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such setting, it is read only when a cluster is built, or the value does not fit.
    pub fn set(&self, key: &str, value: &str) -> Result<(), Error> {
        let _one_at_a_time = self.world.changing_schema.lock();
        let mut settings = Settings::clone(&self.settings());
        settings.change(key, value)?;
        self.give_settings(Arc::new(settings));
        Ok(())
    }

    /// Puts back settings that were in force before ([`Cluster::settings`]).
    pub fn restore_settings(&self, settings: Arc<Settings>) {
        let _one_at_a_time = self.world.changing_schema.lock();
        self.give_settings(settings);
    }

    /// Whether `read_thresholds_enabled` is set: all that a read needs to know of it where it is not.
    pub fn tracks_reads(&self) -> bool {
        self.world.tracks_reads.load(Ordering::Relaxed)
    }

    fn give_settings(&self, settings: Arc<Settings>) {
        self.world.blocks.set_capacity(settings.file_cache_size);
        self.world.tracks_reads.store(settings.read_thresholds_enabled, Ordering::Relaxed);
        for node in &self.world.nodes {
            node.set_settings(Arc::clone(&settings));
        }
    }

    /// Writes mutations, each whole, coordinated by `node`, until the level is met.
    ///
    /// # Errors
    /// [`Error::Unavailable`] before anything is written; [`Error::Oversized`]; [`Error::WriteTimeout`].
    pub async fn write(
        &self,
        node: NodeId,
        mutations: impl Into<Mutations>,
        consistency: Consistency,
        kind: WriteKind,
    ) -> Result<Cost, Error> {
        let coordinator = self.coordinator(node)?;
        let mutations = mutations.into();
        let flush_after = self.world.config.flush_after_write;
        let written: BTreeSet<TableId> = match flush_after {
            true => mutations.iter().map(Mutation::table_id).collect(),
            false => BTreeSet::new(),
        };
        let cost = write::write(&coordinator, mutations, consistency, kind).await?;
        if flush_after {
            for node in &self.world.nodes {
                node.flush(|table| written.contains(&table.id))?;
                if self.world.config.compact_after_write {
                    node.compact(|table| written.contains(&table.id), false)?;
                }
            }
        }
        Ok(cost)
    }

    /// Reads, coordinated by `node`.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::ReadTimeout`], [`Error::ReadFailure`], [`Error::Storage`].
    pub async fn read(
        &self,
        node: NodeId,
        command: ReadCommand,
        consistency: Consistency,
    ) -> Result<ReadResult, Error> {
        self.read_reported(node, command, consistency, &mut ReadReport::default()).await
    }

    /// As [`Cluster::read`]; `report` gets what there is to tell of it, whether it succeeds or not.
    ///
    /// # Errors
    /// Those of [`Cluster::read`].
    pub async fn read_reported(
        &self,
        node: NodeId,
        command: ReadCommand,
        consistency: Consistency,
        report: &mut ReadReport,
    ) -> Result<ReadResult, Error> {
        read::read(&self.coordinator(node)?, command, consistency, report).await
    }

    /// As [`Cluster::read_reported`], without a future, where the coordinator's own replica is enough for the read of one
    /// partition; `None` where it is not, and nothing was done.
    pub fn read_own(
        &self,
        node: NodeId,
        command: &ReadCommand,
        consistency: Consistency,
        report: &mut ReadReport,
    ) -> Option<Result<ReadResult, Error>> {
        read::read_own(&self.coordinator(node).ok()?, command, consistency, report)
    }

    /// Removes all rows of a table on every node.
    ///
    /// # Errors
    /// [`Error::Truncate`] if a node is stopped.
    pub async fn truncate(&self, node: NodeId, table: TableId) -> Result<(), Error> {
        let coordinator = self.coordinator(node)?;
        let schema = self.schema(node);
        let mut tables = schema.keyspaces.values().flat_map(|k| k.tables.values());
        let table = tables.find(|t| t.id == table).map(Arc::clone);
        let table = table.ok_or_else(|| Error::Invalid("unconfigured table".to_string()))?;
        let unreached = || Error::Truncate("Cannot achieve consistency level ALL".to_string());
        if self.world.nodes.iter().any(|node| !node.is_up()) {
            return Err(unreached());
        }
        let message = Message::Truncate(table);
        for id in self.nodes() {
            match coordinator.send(id, &message).await {
                Ok(Reply::Applied) => {}
                Ok(Reply::Failed(error)) => return Err(Error::Truncate(error.to_string())),
                Ok(Reply::Rows(_) | Reply::Data(_) | Reply::Digest { .. }) => {
                    unreachable!("a truncation is answered by Applied or Failed")
                }
                Err(crate::sim::network::Lost) => return Err(unreached()),
            }
        }
        Ok(())
    }

    /// Writes memtables to SSTables on every node: of one table, of all tables of a keyspace, or of all.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn flush(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
        self.world.nodes.iter().try_for_each(|node| flush_node(node, keyspace, table))
    }

    /// The nodes that hold a partition of a keyspace, in order of preference; node 1 stands for the node asked where
    /// each node holds its own (system keyspaces).
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such keyspace.
    pub fn replicas(&self, keyspace: &str, key: &DecoratedKey) -> Result<Vec<NodeId>, Error> {
        let view = self.world.nodes[0].view();
        let placed = view.placed.placed(keyspace)?;
        let topology = &self.world.topology;
        Ok(replication::replicas(&placed.replication, topology, key.token, NodeId(1)))
    }

    /// Queues a request on the cluster's executor; it runs when somebody drives: by awaiting, or waiting for, any task.
    pub fn start<T: Send + 'static>(
        &self,
        request: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        self.world.executor.start(request)
    }

    /// Runs a request to its answer: in mode `simulated` in turn with all others that are queued, in mode `parallel` on this thread alone.
    /// Requires: not called from inside a request.
    pub fn block_on<T>(&self, request: impl Future<Output = T>) -> T {
        const READY: &str = "without latency nothing can keep a request waiting";
        let mut request = pin!(request);
        if self.world.config.parallel {
            if let Poll::Ready(answer) = poll_once(request.as_mut()) {
                return answer;
            }
            // A queue of its own: nothing is shared with other threads.
            return Executor::default().run(request).expect(READY);
        }
        self.world.executor.run(request).expect(READY)
    }

    /// Drives every queued request as far as it goes, and compacts until no table wants more. With worker threads it
    /// waits for them.
    pub fn run_until_idle(&self) {
        self.world.executor.drive();
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(workers) = &self.world.workers {
            workers.wait_until_idle();
            return;
        }
        self.world.nodes.iter().filter(|node| node.is_up()).for_each(|n| n.compact_until_idle());
    }

    /// Waits until no worker thread compacts; nothing to wait for without them.
    pub fn wait_for_workers(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(workers) = &self.world.workers {
            workers.wait_until_idle();
        }
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.world.clock
    }

    /// The links between nodes.
    pub fn network(&self) -> &Network {
        &self.world.network
    }

    /// A write timestamp in microseconds: the clock's, but greater than any given before.
    pub fn next_timestamp_micros(&self) -> i64 {
        self.world.given.next_timestamp_micros(self.world.clock.now_micros())
    }

    /// A version 1 UUID of the clock's time, greater than any given before.
    pub fn next_timeuuid(&self) -> Uuid {
        let since_1582 = self.world.clock.now_micros().saturating_add(GREGORIAN_TO_UNIX_MICROS);
        let now = u64::try_from(since_1582).unwrap_or(0).saturating_mul(10);
        timeuuid(self.world.given.next_timeuuid_ticks(now), &self.world.timeuuid_tail)
    }

    /// A version 4 UUID from the cluster's seed.
    pub fn random_uuid(&self) -> Uuid {
        random_uuid(&mut self.world.uuids.lock())
    }

    /// The nodes and their tokens.
    pub fn topology(&self) -> &Topology {
        &self.world.topology
    }

    fn find(&self, id: NodeId) -> Result<&Arc<Node>, Error> {
        let place = id.0.checked_sub(1);
        let node = place.and_then(|place| self.world.nodes.get(place));
        node.ok_or_else(|| {
            let count = self.world.nodes.len();
            Error::Invalid(format!("there is no {id}: the cluster has nodes 1 to {count}"))
        })
    }

    fn find_coordinator(&self, id: NodeId) -> Result<&Arc<Node>, Error> {
        let node = self.find(id)?;
        match node.is_up() {
            true => Ok(node),
            false => Err(Error::Invalid(format!("{id} is stopped and takes no request"))),
        }
    }

    fn coordinator(&self, id: NodeId) -> Result<Coordinator<'_>, Error> {
        let own = self.find_coordinator(id)?;
        Ok(Coordinator {
            own,
            view: own.view(),
            nodes: &self.world.nodes,
            topology: &self.world.topology,
            network: &self.world.network,
        })
    }
}

/// One node of a cluster.
#[derive(Clone, Debug)]
pub struct NodeHandle {
    cluster: Cluster,
    node: Arc<Node>,
}

impl NodeHandle {
    /// Its number.
    pub fn id(&self) -> NodeId {
        self.node.id()
    }

    /// Stops it: it answers no message and takes no request. What it holds stays, as after an orderly drain.
    pub fn stop(&self) {
        self.node.stop();
    }

    /// Starts it again. What it missed meanwhile stays missing until a read repairs it.
    /// After a kill or a power loss it comes back from its disk.
    ///
    /// # Errors
    /// [`Error::Storage`] with what is damaged on its disk; it stays down.
    pub fn start(&self) -> Result<(), Error> {
        self.node.start()
    }

    /// Kills it: its memtables are gone, what was handed to its disk is there when it starts again. Nothing that it
    /// acknowledged is lost.
    pub fn kill(&self) {
        self.node.kill();
    }

    /// Takes its power away: of what its disk was handed only that which was synced is sure to be there when it starts again;
    /// the seed says how much of the rest is.
    ///
    /// # Errors
    /// [`Error::Invalid`] if its disk cannot lose power ([`crate::sim::disk::ForgetfulDisk`] can).
    pub fn power_loss(&self, seed: u64) -> Result<(), Error> {
        // What a timer would have done by now.
        self.node.sync_if_due()?;
        self.node.kill();
        self.node.disk().power_loss(seed)
    }

    /// Whether it runs.
    pub fn is_up(&self) -> bool {
        self.node.is_up()
    }

    /// Writes its memtables to SSTables: of one table, of all tables of a keyspace, or of all.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn flush(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
        flush_node(&self.node, keyspace, table)
    }

    /// Compacts tables whole, as [`NodeHandle::flush`] picks them (`nodetool compact`; `split`: with `-s`). Memtables stay.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn compact(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        split: bool,
    ) -> Result<(), Error> {
        self.node.compact(|t| is_wanted(t, keyspace, table), split)
    }

    /// Drops from each SSTable what deletions in others hide (`nodetool garbagecollect`).
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn garbage_collect(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        overlapping: OverlappingTombstones,
    ) -> Result<(), Error> {
        self.node.garbage_collect(|t| is_wanted(t, keyspace, table), overlapping)
    }

    /// Switches automatic compaction on or off (`nodetool enableautocompaction`).
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn set_auto_compaction(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        on: bool,
    ) -> Result<(), Error> {
        self.node.set_auto_compaction(|t| is_wanted(t, keyspace, table), on)
    }

    /// Its address, data centre, rack and tokens.
    pub fn info(&self) -> &NodeInfo {
        self.cluster.topology().node(self.id()).expect("a node is in its topology")
    }

    /// The node itself: its stores, disk and view of the schema.
    pub fn inner(&self) -> &Arc<Node> {
        &self.node
    }

    /// The cluster it belongs to.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }
}

fn flush_node(node: &Node, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
    node.flush(|t| is_wanted(t, keyspace, table))
}

pub(crate) fn is_wanted(table: &Table, keyspace: Option<&str>, name: Option<&str>) -> bool {
    keyspace.is_none_or(|k| k == table.keyspace) && name.is_none_or(|name| name == table.name)
}

#[cfg(not(target_arch = "wasm32"))]
fn workers(config: &ClusterConfig, nodes: &[Arc<Node>]) -> Result<Option<Workers>, Error> {
    let BackgroundMode::Threads(count) = config.background else { return Ok(None) };
    let workers = Workers::start(count)
        .map_err(|error| Error::Invalid(format!("no thread for compactions: {error}")))?;
    nodes.iter().for_each(|node| node.work_by(workers.queue()));
    Ok(Some(workers))
}

#[cfg(not(target_arch = "wasm32"))]
fn clock_of(config: &ClusterConfig) -> Result<Clock, Error> {
    Ok(if config.system_time { Clock::new_system() } else { Clock::new_virtual() })
}

#[cfg(target_arch = "wasm32")]
fn clock_of(config: &ClusterConfig) -> Result<Clock, Error> {
    match config.system_time {
        true => Err(Error::Invalid("there is no system time on this platform".to_string())),
        false => Ok(Clock::new_virtual()),
    }
}

/// Opens the data directory, if there is to be one.
fn open(config: &ClusterConfig) -> Result<Option<(DataDirectory, Option<Stored>)>, Error> {
    match &config.kept {
        Kept::Memory => Ok(None),
        kept => DataDirectory::open(kept.clone()).map(Some),
    }
}

/// The ring: the stored one, which must be as asked for if it was asked for, or a new one.
fn topology_of(config: &mut ClusterConfig, stored: Option<&Stored>) -> Result<Topology, Error> {
    if config.datacenters.is_empty() && stored.is_none() {
        let name = "datacenter1".to_string();
        config.datacenters = vec![Datacenter { name, nodes: 1, racks: 1 }];
    }
    let asked = places(config)?;
    let Some(stored) = stored else {
        let rng = Rng::new(config.seed).fork("ring");
        let tokens = config.tokens.as_deref();
        return Topology::build(&asked, config.num_tokens, tokens, &rng).map_err(Error::Invalid);
    };
    let there: Vec<(String, String)> =
        stored.topology.nodes.iter().map(|n| (n.datacenter.clone(), n.rack.clone())).collect();
    if !asked.is_empty() && asked != there {
        return Err(Error::Invalid(format!(
            "the data directory holds a cluster of {}, not of {}: its topology cannot be changed",
            described(&there),
            described(&asked)
        )));
    }
    config.name.clone_from(&stored.name);
    config.seed = stored.seed;
    config.datacenters = datacenters_of(&there);
    Ok(stored.topology.clone())
}

/// The data centres of these places, in the order of their first nodes.
fn datacenters_of(places: &[(String, String)]) -> Vec<Datacenter> {
    let mut found: Vec<Datacenter> = Vec::new();
    for (name, _) in places {
        if found.iter().all(|datacenter| datacenter.name != *name) {
            let nodes = places.iter().filter(|(other, _)| other == name);
            let racks: BTreeSet<&String> = nodes.clone().map(|(_, rack)| rack).collect();
            let (nodes, racks) = (nodes.count(), racks.len());
            found.push(Datacenter { name: name.clone(), nodes, racks });
        }
    }
    found
}

/// `2 nodes (datacenter1: 2)`.
fn described(places: &[(String, String)]) -> String {
    let mut counts: std::collections::BTreeMap<&str, usize> = Default::default();
    places.iter().for_each(|(datacenter, _)| *counts.entry(datacenter).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(dc, nodes)| format!("{dc}: {nodes}")).collect();
    format!("{} nodes ({})", places.len(), counts.join(", "))
}

/// Sets the clock to where it was, and gives what timestamps rise from: the latest that the directory or a log names.
fn resume(
    clock: &Clock,
    stored: Option<&Stored>,
    found: &[(NodeId, Arc<dyn Disk>, Found)],
) -> Given {
    let Some(stored) = stored else { return Given::default() };
    let logged = found.iter().map(|(_, _, found)| found.times());
    let times = logged.fold(stored.times(), Times::max);
    // A clock of the system's has gone on meanwhile, unless it had been moved further.
    if clock.is_virtual() || clock.now_micros() < times.time_micros {
        clock.set_micros(times.time_micros);
    }
    Given::new(times.timestamp_micros, times.timeuuid_ticks)
}

/// Random uuids of this opening: others than those of the ones before.
fn uuids(rng: &Rng, generation: u64) -> Rng {
    let uuids = rng.fork("uuids");
    if generation == 1 { uuids } else { uuids.fork(&format!("generation {generation}")) }
}

/// Data centre and rack of each node, in order of their numbers.
fn places(config: &ClusterConfig) -> Result<Vec<(String, String)>, Error> {
    let mut places = Vec::new();
    let mut names = BTreeSet::new();
    for datacenter in &config.datacenters {
        let Datacenter { name, nodes, racks } = datacenter;
        if *nodes == 0 || *racks == 0 {
            return Err(Error::Invalid(format!("data centre {name} needs a node and a rack")));
        }
        if !names.insert(name) {
            return Err(Error::Invalid(format!("data centre {name} is given twice")));
        }
        places.extend((0..*nodes).map(|n| (name.clone(), format!("rack{}", n % racks + 1))));
    }
    Ok(places)
}

/// From 1582-10-15, where timeuuids count from, to 1970-01-01. Microseconds.
const GREGORIAN_TO_UNIX_MICROS: i64 = 12_219_292_800_000_000;

/// Clock sequence and node of all timeuuids of a cluster. The multicast bit says that the node is no real
/// network card (RFC 9562, 6.10).
fn timeuuid_tail(rng: &mut Rng) -> [u8; 8] {
    let mut tail = [0; 8];
    rng.fill(&mut tail);
    tail[0] = (tail[0] & 0x3f) | 0x80;
    tail[2] |= 0x01;
    tail
}

/// The version 1 UUID of a time in 100 ns steps since 1582-10-15.
fn timeuuid(ticks: u64, tail: &[u8; 8]) -> Uuid {
    let [hi @ .., _, _, _, _] = (ticks >> 32 << 32).to_be_bytes();
    let [_, _, _, _, low @ ..] = ticks.to_be_bytes();
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&low);
    bytes[4..6].copy_from_slice(&hi[2..]);
    bytes[6..8].copy_from_slice(&hi[..2]);
    bytes[6] = (bytes[6] & 0x0f) | 0x10;
    bytes[8..].copy_from_slice(tail);
    Uuid::from_bytes(bytes)
}
