//! The cluster that a history runs on, and what keeps it when the process ends: its disks.
//!
//! Everything is in memory, on disks that forget what was not synced. A cluster that ends is built again on the same disks;
//! its clock is then set to where it stood, since the time belongs to the history.

use super::history::History;
use super::work::{Ending, Work};
use cassling::{Cluster, Consistency, Error, Session};
use cassling_engine::cluster::NodeHandle;
use cassling_engine::directory::Kept;
use cassling_engine::lsm::TableStore;
use cassling_engine::lsm::compaction::OverlappingTombstones;
use cassling_engine::sim::clock::Clock;
use cassling_engine::sim::disk::{Disk, ForgetfulDisk};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn build(seed: u64, disks: &[Arc<ForgetfulDisk>]) -> Result<Cluster, Error> {
    let as_disk = |disk: &Arc<ForgetfulDisk>| Arc::clone(disk) as Arc<dyn Disk>;
    let (root, nodes) = disks.split_first().expect("a world has a disk of its own");
    let nodes: Vec<Arc<dyn Disk>> = nodes.iter().map(as_disk).collect();
    let builder = Cluster::builder().nodes(nodes.len()).seed(seed);
    builder.kept(Kept::Disks { root: as_disk(root), nodes }).build()
}

/// A cluster of a history.
#[derive(Debug)]
pub struct World {
    seed: u64,
    /// The cluster's disk, then one for each node.
    disks: Vec<Arc<ForgetfulDisk>>,
    cluster: Cluster,
    session: Session,
    /// The node that is stopped.
    stopped: Option<usize>,
}

impl World {
    /// A cluster with the table of the history.
    ///
    /// # Errors
    /// Anything that the cluster refuses.
    pub fn start(history: &History) -> Result<World, Error> {
        let disks: Vec<Arc<ForgetfulDisk>> = (0..=history.nodes).map(|_| Arc::default()).collect();
        let cluster = build(history.seed, &disks)?;
        let session = cluster.connect();
        let replication =
            format!("{{'class': 'SimpleStrategy', 'replication_factor': {}}}", history.nodes);
        session.execute(format!("CREATE KEYSPACE m WITH replication = {replication}"), ())?;
        session.execute("USE m", ())?;
        session.execute("CREATE TYPE pair (a int, b text)", ())?;
        session.execute(history.schema.cql(), ())?;
        session.set_consistency(Consistency::Quorum);
        Ok(World { seed: history.seed, disks, cluster, session, stopped: None })
    }

    /// The session that statements run on.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The cluster's clock.
    pub fn clock(&self) -> &Clock {
        self.cluster.clock()
    }

    /// Moves the clock.
    pub fn advance(&self, seconds: u64) {
        self.clock().advance(Duration::from_secs(seconds));
    }

    /// Stops a node.
    pub fn stop(&mut self, node: usize) {
        self.stopped = Some(node);
        self.cluster.node(node).expect("it exists").stop();
    }

    /// Starts what is stopped.
    ///
    /// # Errors
    /// None is expected: nothing was lost.
    pub fn start_all(&mut self) -> Result<(), Error> {
        self.stopped = None;
        for node in self.cluster.nodes() {
            node.start()?;
        }
        Ok(())
    }

    /// Does what befalls the files.
    ///
    /// # Errors
    /// Anything that is refused: nothing should be.
    pub fn work(&mut self, work: &Work) -> Result<(), Error> {
        if let Some(text) = work.cql() {
            self.session.execute(text, ())?;
            return Ok(());
        }
        match work {
            Work::Flush => self.cluster.flush(None, None)?,
            Work::Major(None) => self.cluster.compact(Some("m"), Some("t"))?,
            Work::Major(Some(node)) => {
                if let Some(node) = self.cluster.node(*node) {
                    node.compact(Some("m"), Some("t"), false)?;
                }
            }
            Work::Pick => self.cluster.engine().run_until_idle(),
            Work::Files(bits) => self.merge_files(*bits)?,
            Work::Collect { cells } => {
                let by =
                    if *cells { OverlappingTombstones::Cell } else { OverlappingTombstones::Row };
                self.cluster.garbage_collect(Some("m"), Some("t"), by)?;
            }
            Work::Reopen(ending) => self.reopen(*ending)?,
            Work::Strategy(_) | Work::GcGrace(_) => {}
        }
        Ok(())
    }

    /// Merges the files whose place in the list has a bit, on each node.
    fn merge_files(&self, bits: u64) -> Result<(), Error> {
        for node in self.cluster.nodes() {
            self.with_store(&node, |store| {
                let numbers = store.file_numbers();
                let chosen = numbers.iter().enumerate().filter(|(n, _)| bits >> (n % 64) & 1 == 1);
                let chosen: Vec<u64> = chosen.map(|(_, number)| *number).collect();
                if chosen.is_empty() { Ok(()) } else { store.compact_files(&chosen) }
            })?;
        }
        Ok(())
    }

    fn with_store<T>(
        &self,
        node: &NodeHandle,
        act: impl FnOnce(&TableStore) -> Result<T, cassling_engine::error::Error>,
    ) -> Result<T, Error> {
        let view = node.inner().view();
        let table = view.placed.schema.table("m", "t").expect("it is never dropped");
        Ok(act(node.inner().store(&view, table)?)?)
    }

    /// The cluster ends and is built again on its disks.
    fn reopen(&mut self, ending: Ending) -> Result<(), Error> {
        let now_micros = self.clock().now_micros();
        match ending {
            Ending::Close => self.cluster.close()?,
            Ending::Kill => self.cluster.engine().kill(),
            Ending::PowerLoss(seed) => {
                self.cluster.nodes().try_for_each(|node| node.inner().sync())?;
                self.cluster.engine().kill();
                self.disks.iter().try_for_each(|disk| disk.power_loss(seed))?;
            }
        }
        self.cluster = build(self.seed, &self.disks)?;
        self.clock().set_micros(now_micros);
        self.session = self.cluster.connect();
        self.session.execute("USE m", ())?;
        self.session.set_consistency(Consistency::Quorum);
        if let Some(node) = self.stopped {
            self.stop(node);
        }
        Ok(())
    }

    /// Name and bytes of every file of every node.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for node in self.cluster.nodes() {
            let disk = node.inner().disk();
            for name in disk.list("").expect("it is in memory") {
                let len = disk.size_bytes(&name).expect("it is there");
                let len = usize::try_from(len).expect("it is small");
                let bytes = disk.read_at(&name, 0, len).expect("it is there").to_vec();
                files.insert(format!("{} {name}", node.id()), bytes);
            }
        }
        files
    }

    /// What each node says of the compactions of the table.
    pub fn compactions(&self) -> Vec<String> {
        let of = |node: NodeHandle| {
            let records = self.with_store(&node, |store| Ok(store.compaction_history()));
            let records = records.expect("its table is there");
            records.into_iter().map(|record| format!("{record:?}")).collect::<Vec<_>>()
        };
        self.cluster.nodes().flat_map(of).collect()
    }
}
