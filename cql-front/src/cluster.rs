//! The face of the cluster: building it, its nodes, its clock.

use crate::analysis::terms::{self, Bound, Env};
use crate::analysis::{Context, Receiver};
use crate::error::Error;
use crate::error::session::SessionError;
use crate::parser;
use crate::session::Session;
use cassling_engine::cluster::{self as engine, ClusterConfig, Datacenter, NodeHandle};
use cassling_engine::directory::Kept;
use cassling_engine::error::Error as EngineError;
use cassling_engine::lsm::compaction::OverlappingTombstones;
use cassling_engine::lsm::scrub::ScrubReport;
use cassling_engine::node::background::BackgroundMode;
use cassling_engine::ring::NodeId;
use cassling_engine::row::DecoratedKey;
use cassling_engine::schema::Table;
use cassling_engine::sim::clock::Clock;
use std::sync::Arc;

/// A cluster in this process. Cheap to clone; it ends with its last handle.
///
/// ```
/// let cluster = cassling::Cluster::builder().nodes(3).seed(7).build()?;
/// assert_eq!(cluster.nodes().count(), 3);
/// # Ok::<(), cassling::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    engine: engine::Cluster,
    datacenters: Arc<[(String, usize)]>,
}

/// Settings of a cluster to be built.
#[derive(Clone, Debug, Default)]
pub struct ClusterBuilder {
    config: ClusterConfig,
    datacenters: Vec<Datacenter>,
    settings: Vec<(String, String)>,
}

impl ClusterBuilder {
    /// One data centre `datacenter1` with this many nodes; 1 by default.
    pub fn nodes(mut self, nodes: usize) -> ClusterBuilder {
        self.config.datacenters =
            vec![Datacenter { name: "datacenter1".to_string(), nodes, racks: 1 }];
        self
    }

    /// Adds a data centre; its nodes are spread over its racks `rack1`, `rack2` ... in turn.
    /// The first call replaces the default data centre.
    pub fn datacenter(mut self, name: &str, nodes: usize, racks: usize) -> ClusterBuilder {
        self.datacenters.push(Datacenter { name: name.to_string(), nodes, racks });
        self
    }

    /// Name of the cluster, `cassling` by default.
    pub fn name(mut self, name: &str) -> ClusterBuilder {
        self.config.name = name.to_string();
        self
    }

    /// Seed of all that is random (tokens, host ids, uuids). Same seed, same run.
    pub fn seed(mut self, seed: u64) -> ClusterBuilder {
        self.config.seed = seed;
        self
    }

    /// Number of tokens of each node, 16 by default.
    pub fn num_tokens(mut self, tokens: usize) -> ClusterBuilder {
        self.config.num_tokens = tokens;
        self
    }

    /// The tokens of each node, in place of drawn ones.
    pub fn tokens(mut self, tokens: Vec<Vec<i64>>) -> ClusterBuilder {
        self.config.tokens = Some(tokens);
        self
    }

    /// Requests run side by side on their callers' threads, without the scheduler's lock: for loads.
    pub fn parallel(mut self) -> ClusterBuilder {
        self.config.parallel = true;
        self
    }

    /// Flushes all tables after every write: answers must not change by it, and a test can see that they do not.
    pub fn flush_after_write(mut self) -> ClusterBuilder {
        self.config.flush_after_write = true;
        self
    }

    /// Flushes all tables after every write and merges each written table's SSTables: answers must not change by it either.
    pub fn compact_after_write(mut self) -> ClusterBuilder {
        self.config.compact_after_write = true;
        self.flush_after_write()
    }

    /// A setting of cassandra.yaml under Cassandra's name, its value as that file has it (`10MiB`, `5s`, `null`). `docs/settings.md`
    /// lists those there are.
    ///
    /// ```
    /// let built = cassling::Cluster::builder().setting("tombstone_warn", "10").build();
    /// assert!(built.is_err_and(|e| e.to_string().contains("does not support the setting tombstone_warn")));
    /// ```
    pub fn setting(mut self, key: &str, value: &str) -> ClusterBuilder {
        self.settings.push((key.to_string(), value.to_string()));
        self
    }

    /// Who compacts after a flush: nobody until told (the default), whoever flushed, or worker threads.
    pub fn background(mut self, background: BackgroundMode) -> ClusterBuilder {
        self.config.background = background;
        self
    }

    /// Keeps the data in a directory, made if it is not there: what is acknowledged outlives the process. Opened again, its
    /// topology, schema and clock count; another number of nodes is an error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn data(self, directory: impl Into<std::path::PathBuf>) -> ClusterBuilder {
        self.kept(Kept::Directory(directory.into()))
    }

    /// Keeps the data on these disks: a test opens them again, or takes their power away.
    pub fn kept(mut self, kept: Kept) -> ClusterBuilder {
        self.config.kept = kept;
        self
    }

    /// Changes what the engine is built with: for tests, which want segments and memtables smaller than `cassandra.yaml` can
    /// say.
    pub fn configured(mut self, change: impl FnOnce(&mut ClusterConfig)) -> ClusterBuilder {
        change(&mut self.config);
        self
    }

    /// Builds the cluster and starts its nodes.
    ///
    /// # Errors
    /// If the settings make no cluster: no node, tokens that do not fit, a setting that there is not.
    pub fn build(mut self) -> Result<Cluster, Error> {
        for (key, value) in &self.settings {
            self.config.settings.set(key, value).map_err(EngineError::from)?;
        }
        if !self.datacenters.is_empty() {
            self.config.datacenters = self.datacenters;
        }
        let engine = engine::Cluster::build(self.config)?;
        Ok(Cluster::of(engine))
    }
}

impl Cluster {
    /// The face of an engine.
    fn of(engine: engine::Cluster) -> Cluster {
        let datacenters =
            engine.config().datacenters.iter().map(|dc| (dc.name.clone(), dc.nodes)).collect();
        Cluster { engine, datacenters }
    }

    /// Ends it: logs are synced, the clock is kept, its data directory is free for another. Nothing is flushed. Every later
    /// request is refused. Dropping the last handle does the same and hides failures.
    ///
    /// # Errors
    /// If a disk refuses.
    pub fn close(&self) -> Result<(), Error> {
        Ok(self.engine.close()?)
    }

    /// Closes it and builds it again from its data directory. Sessions belong to the closed one.
    ///
    /// # Errors
    /// If it is kept in memory, or a disk refuses.
    pub fn reopen(&self) -> Result<Cluster, Error> {
        Ok(Cluster::of(self.engine.reopen()?))
    }

    /// Settings to build a cluster from.
    pub fn builder() -> ClusterBuilder {
        ClusterBuilder::default()
    }

    /// A session, coordinated by node 1 until told otherwise.
    pub fn connect(&self) -> Session {
        Session::new(self.clone())
    }

    /// The engine below.
    pub fn engine(&self) -> &engine::Cluster {
        &self.engine
    }

    /// The clock that all nodes share. TTL, gc_grace, windows of compaction, `now()` and write timestamps follow it.
    ///
    /// ```
    /// use std::time::Duration;
    /// let cluster = cassling::Cluster::builder().build()?;
    /// let session = cluster.connect();
    /// session.execute(
    ///     "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    ///     (),
    /// )?;
    /// session.execute("CREATE TABLE k.t (a int PRIMARY KEY)", ())?;
    /// session.execute("INSERT INTO k.t (a) VALUES (1) USING TTL 60", ())?;
    /// cluster.clock().advance(Duration::from_secs(59));
    /// assert_eq!(session.execute("SELECT a FROM k.t", ())?.cost.rows_returned, 1);
    /// cluster.clock().advance(Duration::from_secs(1));
    /// let gone = session.execute("SELECT a FROM k.t", ())?;
    /// assert_eq!((gone.cost.rows_returned, gone.cost.tombstones), (0, 1));
    /// // To a moment of its own: microseconds since the Unix epoch. `freeze` holds a clock that runs with the system's.
    /// cluster.clock().set_micros(1_900_000_000_000_000);
    /// cluster.clock().freeze();
    /// assert_eq!(cluster.clock().now_seconds(), 1_900_000_000);
    /// # Ok::<(), cassling::Error>(())
    /// ```
    pub fn clock(&self) -> &Clock {
        self.engine.clock()
    }

    /// Changes a setting of cassandra.yaml on all nodes: requests that begin later see it.
    ///
    /// # Errors
    /// If there is no such setting, it is read only when a cluster is built, or the value does not fit.
    pub fn set(&self, key: &str, value: &str) -> Result<(), Error> {
        Ok(self.engine.set(key, value)?)
    }

    /// Data centres and their number of nodes.
    pub(crate) fn datacenters(&self) -> &[(String, usize)] {
        &self.datacenters
    }

    /// The node of that number, from 1.
    pub fn node(&self, number: usize) -> Option<NodeHandle> {
        self.engine.node(NodeId(number)).ok()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeHandle> + '_ {
        self.engine.nodes().filter_map(|id| self.engine.node(id).ok())
    }

    /// Makes SSTables of the memtables of a table, of a keyspace, or of all, on every node.
    ///
    /// # Errors
    /// If the keyspace or table is not there, or a disk is full.
    pub fn flush(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
        self.check(keyspace, table)?;
        Ok(self.engine.flush(keyspace, table)?)
    }

    /// Refuses a keyspace or table that is not there.
    fn check(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
        let schema = self.engine.schema(NodeId(1));
        if let Some(keyspace) = keyspace {
            let found = schema.keyspace(keyspace);
            let found = found.ok_or_else(|| SessionError::UnknownKeyspace(keyspace.to_string()))?;
            if let Some(table) = table.filter(|table| !found.tables.contains_key(*table)) {
                return Err(SessionError::UnknownTable(table.to_string()).into());
            }
        }
        Ok(())
    }

    fn table(&self, keyspace: &str, table: &str) -> Result<Arc<Table>, Error> {
        let schema = self.engine.schema(NodeId(1));
        let found = schema.table(keyspace, table).cloned();
        found.ok_or_else(|| SessionError::UnknownTable(table.to_string()).into())
    }

    /// Compacts a table, all of a keyspace, or all, on every node (`nodetool compact`). What is in memtables stays there.
    ///
    /// ```
    /// let cluster = cassling::Cluster::builder().build()?;
    /// # let session = cluster.connect();
    /// # session.execute("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", ())?;
    /// # session.execute("CREATE TABLE k.t (a int PRIMARY KEY)", ())?;
    /// cluster.flush(Some("k"), Some("t"))?;
    /// cluster.compact(Some("k"), Some("t"))?;
    /// # Ok::<(), cassling::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the keyspace or table is not there, or a disk fails.
    pub fn compact(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<(), Error> {
        self.compact_split(keyspace, table, false)
    }

    /// As [`Cluster::compact`]; with `split`, size-tiered tables come out as files of a half, a quarter and so on.
    ///
    /// # Errors
    /// Those of [`Cluster::compact`].
    pub fn compact_split(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        split: bool,
    ) -> Result<(), Error> {
        self.check(keyspace, table)?;
        self.nodes().try_for_each(|node| Ok(node.compact(keyspace, table, split)?))
    }

    /// Compacts some SSTables of a table together, on every node: 1 is the oldest file.
    ///
    /// # Errors
    /// If the table or a file is not there, or a disk fails.
    pub fn compact_files(
        &self,
        keyspace: &str,
        table: &str,
        places: &[usize],
    ) -> Result<(), Error> {
        let table = self.table(keyspace, table)?;
        self.nodes().try_for_each(|node| Ok(node.inner().compact_files(&table, places)?))
    }

    /// Drops from each SSTable what deletions in others hide, on every node (`nodetool garbagecollect`).
    ///
    /// # Errors
    /// If the keyspace or table is not there, or a disk fails.
    pub fn garbage_collect(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        granularity: OverlappingTombstones,
    ) -> Result<(), Error> {
        self.check(keyspace, table)?;
        self.nodes().try_for_each(|node| Ok(node.garbage_collect(keyspace, table, granularity)?))
    }

    /// Writes every SSTable anew from what of it can be read, on every node (`nodetool scrub`).
    ///
    /// # Errors
    /// If the keyspace or table is not there, or a disk fails.
    pub fn scrub(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
    ) -> Result<Vec<(NodeId, ScrubReport)>, Error> {
        self.check(keyspace, table)?;
        self.nodes().map(|node| Ok((node.id(), node.scrub(keyspace, table)?))).collect()
    }

    /// Reads every SSTable and says what of it cannot be read, on every node (`nodetool verify`).
    ///
    /// # Errors
    /// If the keyspace or table is not there, or a file is gone.
    pub fn verify(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
    ) -> Result<Vec<(NodeId, ScrubReport)>, Error> {
        self.check(keyspace, table)?;
        self.nodes().map(|node| Ok((node.id(), node.verify(keyspace, table)?))).collect()
    }

    /// Throws the deletions of some partitions away whatever gc_grace says, on every node (`nodetool forcecompact`). A
    /// key is a literal or word for each component.
    ///
    /// # Errors
    /// If the table is not there, a key does not fit it, or a disk fails.
    pub fn force_compact(
        &self,
        keyspace: &str,
        table: &str,
        keys: &[Vec<String>],
    ) -> Result<(), Error> {
        let found = self.table(keyspace, table)?;
        let keys = keys.iter().map(|key| self.key(&found, key));
        let keys = keys.collect::<Result<Vec<_>, Error>>()?;
        self.nodes().try_for_each(|node| Ok(node.inner().force_compact(&found, &keys)?))
    }

    /// Switches automatic compaction on or off, on every node (`nodetool enableautocompaction`).
    ///
    /// # Errors
    /// If the keyspace or table is not there.
    pub fn set_auto_compaction(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        on: bool,
    ) -> Result<(), Error> {
        self.check(keyspace, table)?;
        self.nodes().try_for_each(|node| Ok(node.set_auto_compaction(keyspace, table, on)?))
    }

    /// Number of SSTables of a table on a node, once no worker compacts.
    ///
    /// # Errors
    /// If the table or the node is not there.
    pub fn sstables(&self, node: NodeId, keyspace: &str, table: &str) -> Result<usize, Error> {
        let table = self.table(keyspace, table)?;
        self.engine.wait_for_workers();
        let node = self.engine.node(node)?;
        let view = node.inner().view();
        Ok(node.inner().store(&view, &table)?.view().sstables.len())
    }

    /// The nodes that hold a partition, in order of preference (`nodetool getendpoints`). The components of the key are
    /// CQL literals or bare words.
    ///
    /// # Errors
    /// If the table is not there or the key does not fit it.
    pub fn replicas(
        &self,
        keyspace: &str,
        table: &str,
        key: &[String],
    ) -> Result<Vec<NodeId>, Error> {
        let found = self.table(keyspace, table)?;
        Ok(self.engine.replicas(keyspace, &self.key(&found, key)?)?)
    }

    /// The partition key that literals or bare words spell.
    fn key(&self, table: &Table, key: &[String]) -> Result<DecoratedKey, Error> {
        let schema = self.engine.schema(NodeId(1));
        let columns = table.partition_key();
        if columns.len() != key.len() {
            let reason = format!("the key has {} components, not {}", columns.len(), key.len());
            let column = "partition key".to_string();
            return Err(SessionError::RowType { column, reason }.into());
        }
        let cx = Context::new(&schema, Some(&table.keyspace), 0, &self.datacenters, 0);
        let mut components = Vec::new();
        for (column, literal) in columns.iter().zip(key) {
            let receiver = Receiver {
                keyspace: table.keyspace.clone(),
                table: table.name.clone(),
                name: column.name.clone(),
                ty: column.ty.clone(),
            };
            components.push(self.literal(&cx, literal, &receiver)?);
        }
        let components: Vec<&[u8]> = components.iter().map(Vec::as_slice).collect();
        Ok(DecoratedKey::from_components(&components))
    }

    /// The value of a literal; a word that is none is taken for a text.
    fn literal(&self, cx: &Context<'_>, text: &str, receiver: &Receiver) -> Result<Vec<u8>, Error> {
        let term = |text: &str| terms::prepare(cx, &parser::parse_term(text)?, receiver);
        let quoted = format!("'{}'", text.replace('\'', "''"));
        let term = term(text).or_else(|_| term(&quoted))?;
        match term.bind(&Env { values: &[], cluster: &self.engine })? {
            Bound::Value(bytes) => Ok(bytes.into_owned()),
            Bound::Null | Bound::Unset => {
                let reason = "a key has no null".to_string();
                Err(SessionError::RowType { column: receiver.name.clone(), reason }.into())
            }
        }
    }
}
