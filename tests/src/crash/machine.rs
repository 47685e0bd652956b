//! One node on disks that forget, and how it ends and begins again.
//!
//! A machine has two disks, the cluster's and the node's, as two folders: what one of them remembers says nothing of the
//! other. Segments of its commit log are so small that a story fills several.

use super::fuse::{Fuse, Fused};
use super::story::{Op, Rows, Shape};
use cassling::{Cluster, Error, Session};
use cassling_engine::directory::Kept;
use cassling_engine::sim::clock::VIRTUAL_EPOCH_MICROS;
use cassling_engine::sim::disk::{Disk, ForgetfulDisk};
use std::sync::Arc;
use std::time::Duration;

/// `commitlog_sync_period`: the default, in seconds.
pub const PERIOD_SECONDS: i64 = 10;

/// `commitlog_sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `periodic`
    Periodic,
    /// `group`
    Group,
    /// `batch`
    Batch,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process is killed.
    Kill,
    /// The power fails; the seed says what is left.
    PowerLoss(u64),
}

/// A node, its disks, and whoever talks to it.
#[derive(Debug)]
pub struct Machine {
    seed: u64,
    mode: Mode,
    root: Fused,
    node: Fused,
    running: Option<(Cluster, Session)>,
    /// Where the clock stands, microseconds: time goes on whether or not a cluster runs.
    now_micros: i64,
}

impl Machine {
    /// Empty disks, nothing runs.
    pub fn new(seed: u64, mode: Mode) -> Machine {
        let fuse = Fuse::new();
        let fused = || Fused { disk: Arc::new(ForgetfulDisk::default()), fuse: Arc::clone(&fuse) };
        Machine {
            seed,
            mode,
            root: fused(),
            node: fused(),
            running: None,
            now_micros: VIRTUAL_EPOCH_MICROS,
        }
    }

    /// A machine with copies of the disks, nothing runs on it.
    pub fn copy(&self) -> Machine {
        let fuse = Fuse::new();
        let fused =
            |from: &Fused| Fused { disk: Arc::new(from.disk.copy()), fuse: Arc::clone(&fuse) };
        Machine { root: fused(&self.root), node: fused(&self.node), running: None, ..*self }
    }

    /// The fuse of its disks.
    pub fn fuse(&self) -> &Fuse {
        &self.root.fuse
    }

    /// The disk of the cluster and the disk of the node.
    pub fn disks(&self) -> [&ForgetfulDisk; 2] {
        [&self.root.disk, &self.node.disk]
    }

    /// The cluster's clock, seconds.
    pub fn now_seconds(&self) -> i64 {
        self.now_micros.div_euclid(1_000_000)
    }

    /// Builds the cluster on what the disks hold.
    ///
    /// # Errors
    /// The engine's.
    pub fn open(&mut self) -> Result<(), Error> {
        let mode = match self.mode {
            Mode::Periodic => "periodic",
            Mode::Group => "group",
            Mode::Batch => "batch",
        };
        let kept = Kept::Disks {
            root: Arc::new(self.root.clone()),
            nodes: vec![Arc::new(self.node.clone())],
        };
        let cluster = Cluster::builder()
            .seed(self.seed)
            .kept(kept)
            .setting("commitlog_sync", mode)
            .configured(|config| {
                config.settings.commitlog_segment_size = 4 << 10;
                config.settings.commitlog_total_space = 24 << 10;
            })
            .build()?;
        cluster.clock().set_micros(self.now_micros);
        let session = cluster.connect();
        self.running = Some((cluster, session));
        Ok(())
    }

    /// Ends it. The disks work again.
    pub fn end(&mut self, ending: Ending) {
        if let Some((cluster, _)) = self.running.take() {
            cluster.engine().kill();
        }
        if let Ending::PowerLoss(seed) = ending {
            for (n, disk) in self.disks().into_iter().enumerate() {
                disk.power_loss(seed.wrapping_add(n as u64)).expect("a forgetful disk can");
            }
        }
        self.fuse().set(None);
    }

    fn running(&self) -> Result<&(Cluster, Session), String> {
        self.running.as_ref().ok_or_else(|| "nothing runs".to_string())
    }

    /// Whether a cluster runs.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Does one operation of a story.
    ///
    /// # Errors
    /// Why it was refused.
    pub fn apply(&mut self, op: &Op) -> Result<(), String> {
        let (cluster, session) = self.running()?;
        match op {
            Op::Write(_) | Op::Schema(..) => {
                let text = op.cql().expect("it is a statement");
                session.execute(text, ()).map(|_| ()).map_err(|e| e.to_string())
            }
            Op::Flush(table) => {
                let keyspace = table.as_ref().map(|_| "k");
                cluster.flush(keyspace, table.as_deref()).map_err(|e| e.to_string())
            }
            Op::Compact => cluster.compact(None, None).map_err(|e| e.to_string()),
            Op::Advance(seconds) => {
                cluster.clock().advance(Duration::from_secs(*seconds));
                let now_micros = cluster.clock().now_micros();
                // The timer of a server. A failure is met by the next write.
                let synced = cluster.nodes().try_for_each(|node| node.inner().sync_if_due());
                self.now_micros = now_micros;
                synced.map_err(|e| e.to_string())
            }
        }
    }

    /// What `system_schema` says of keyspace `k`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn shape(&self) -> Result<Shape, String> {
        let (_, session) = self.running()?;
        let tables =
            "SELECT table_name, comment FROM system_schema.tables WHERE keyspace_name = 'k'";
        let columns =
            "SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = 'k'";
        let read = |text: &str| -> Result<Vec<(String, String)>, Error> {
            session.execute(text, ())?.rows::<(String, String)>()
        };
        let mut shape = Shape::default();
        for (table, comment) in read(tables).map_err(|e| e.to_string())? {
            shape.insert(table, (comment, Vec::new()));
        }
        for (table, column) in read(columns).map_err(|e| e.to_string())? {
            shape.get_mut(&table).ok_or("columns of no table")?.1.push(column);
        }
        shape.values_mut().for_each(|(_, columns)| columns.sort());
        Ok(shape)
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn rows(&self, table: &str) -> Result<Rows, String> {
        type Row = (i32, i32, Option<i32>, Option<String>);
        let (_, session) = self.running()?;
        let result = session.execute(format!("SELECT k, c, v, w FROM k.{table}"), ());
        let rows = result.and_then(|result| result.rows::<Row>()).map_err(|e| e.to_string())?;
        let rows: Vec<Row> = rows;
        let count = rows.len();
        let rows: Rows = rows.into_iter().map(|(k, c, v, w)| ((k, c), (v, w))).collect();
        if rows.len() == count { Ok(rows) } else { Err(format!("a row of {table} comes twice")) }
    }
}
