//! A data directory: reopened, refused, torn, cut short at every operation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster_support;

use cassling_engine::cluster::{Cluster, ClusterConfig};
use cassling_engine::directory::Kept;
use cassling_engine::ring::Consistency::One;
use cassling_engine::schema::Replication;
use cassling_engine::sim::disk::{Disk, ForgetfulDisk};
use cluster_support::{NODE_1, World, one_datacenter, table};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The disks of a cluster of one node.
#[derive(Clone)]
struct Disks {
    root: Arc<ForgetfulDisk>,
    node: Arc<ForgetfulDisk>,
}

impl Disks {
    fn new() -> Disks {
        Disks { root: Arc::default(), node: Arc::default() }
    }

    fn config(&self, sync: &str) -> ClusterConfig {
        let nodes: Vec<Arc<dyn Disk>> = vec![self.node.clone()];
        let mut config = ClusterConfig {
            kept: Kept::Disks { root: self.root.clone(), nodes },
            ..one_datacenter(1)
        };
        config.settings.set("commitlog_sync", sync).unwrap();
        config
    }

    fn power_loss(&self, seed: u64) {
        self.root.power_loss(seed).unwrap();
        self.node.power_loss(seed.wrapping_mul(31)).unwrap();
    }
}

fn fresh(config: ClusterConfig) -> World {
    World::with(config, Replication::Simple { replication_factor: 1 }, table("BLOCKING"))
}

fn again(config: ClusterConfig) -> World {
    World { cluster: Cluster::build(config).unwrap(), table: table("BLOCKING") }
}

fn values(world: &World) -> Vec<String> {
    world.get(NODE_1, 1, One).unwrap().0
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn config(&self) -> ClusterConfig {
        ClusterConfig { kept: Kept::Directory(self.0.clone()), ..one_datacenter(1) }
    }

    /// Every file with its bytes.
    fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push((path.clone(), std::fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_holds_data_schema_topology_and_clock() {
    let folder = Folder::new("reopened");
    let (time, last, uuid);
    {
        let world = fresh(folder.config());
        world.put(NODE_1, 1, 1, "flushed", One).unwrap();
        world.cluster.flush(None, None).unwrap();
        world.cluster.clock().advance(Duration::from_secs(86_400));
        world.put(NODE_1, 1, 2, "logged", One).unwrap();
        (time, last) = (world.cluster.clock().now_micros(), world.cluster.next_timestamp_micros());
        uuid = world.cluster.random_uuid();
        let refused = Cluster::build(folder.config()).unwrap_err().to_string();
        assert!(refused.contains("is in use"), "{refused}");
        world.cluster.close().unwrap();
    }
    let config = ClusterConfig { datacenters: Vec::new(), ..folder.config() };
    for _ in 0..2 {
        let world = again(config.clone());
        assert_eq!(values(&world), ["1/1=flushed", "1/2=logged"]);
        assert_eq!(world.cluster.clock().now_micros(), time);
        assert!(world.cluster.next_timestamp_micros() > last);
        assert_ne!(world.cluster.random_uuid(), uuid);
    }
    let two = ClusterConfig { datacenters: one_datacenter(2).datacenters, ..folder.config() };
    let before = folder.content();
    let refused = Cluster::build(two).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the data directory holds a cluster of 1 nodes (datacenter1: 1), not of 2 nodes (datacenter1: 2): \
         its topology cannot be changed"
    );
    assert_eq!(folder.content(), before);
}

#[test]
fn a_killed_process_loses_nothing_and_resumes_its_timestamps() {
    let folder = Folder::new("killed");
    let world = fresh(folder.config());
    world.cluster.clock().advance(Duration::from_secs(5));
    for c in 0..20 {
        world.put(NODE_1, 1, c, "x", One).unwrap();
    }
    let (time, last) = (world.cluster.clock().now_micros(), world.cluster.next_timestamp_micros());
    world.cluster.kill();
    let world = again(folder.config());
    assert_eq!(values(&world).len(), 20);
    assert_eq!(world.cluster.clock().now_micros(), time);
    assert!(world.cluster.next_timestamp_micros() >= last);
}

/// What is done to a good directory, and what its refusal says.
type Damage = (&'static str, fn(&Path), &'static str);

#[test]
fn a_directory_that_cannot_be_opened_is_left_as_it_was() {
    fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(path).unwrap();
        change(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
    fn sstable(path: &Path) -> PathBuf {
        let entries = std::fs::read_dir(path.join("node-1")).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|e| e == "sst")).unwrap()
    }
    let damages: [Damage; 12] = [
        (
            "foreign",
            |d| std::fs::remove_file(d.join("CASSLING")).unwrap(),
            "is no data directory of cassling",
        ),
        ("mark", |d| edit(&d.join("CASSLING"), |b| b[0] ^= 1), "no mark"),
        ("mark cut", |d| edit(&d.join("CASSLING"), |b| b.truncate(5)), "no mark"),
        (
            "version",
            |d| {
                edit(&d.join("CASSLING"), |b| {
                    b[8] = 9;
                    let sum = crc32fast::hash(&b[..12]).to_le_bytes();
                    b[12..].copy_from_slice(&sum);
                });
            },
            "version 9 of the data directory is not known",
        ),
        ("no manifest", |d| std::fs::remove_file(d.join("manifest")).unwrap(), "no such file"),
        ("manifest flipped", |d| edit(&d.join("manifest"), |b| b[50] ^= 1), "checksum"),
        ("manifest cut", |d| edit(&d.join("manifest"), |b| b.truncate(20)), "manifest"),
        ("node manifest flipped", |d| edit(&d.join("node-1/manifest"), |b| b[12] ^= 1), "checksum"),
        (
            "no node manifest",
            |d| std::fs::remove_file(d.join("node-1/manifest")).unwrap(),
            "no such file",
        ),
        ("no SSTable", |d| std::fs::remove_file(sstable(d)).unwrap(), "no such file"),
        ("SSTable cut", |d| edit(&sstable(d), |b| b.truncate(100)), ".sst at byte"),
        (
            "log flipped",
            |d| edit(&d.join("node-1/commitlog-1.log"), |b| b[40] ^= 1),
            "commitlog-1.log at byte 16",
        ),
    ];
    for (name, damage, wanted) in damages {
        let folder = Folder::new("damaged");
        let world = fresh(folder.config());
        world.put(NODE_1, 1, 1, "a", One).unwrap();
        world.cluster.flush(None, None).unwrap();
        world.put(NODE_1, 1, 2, "b", One).unwrap();
        world.cluster.close().unwrap();
        drop(world);
        damage(&folder.0);
        let before = folder.content();
        let refused = Cluster::build(folder.config()).unwrap_err().to_string();
        assert!(refused.contains(wanted), "{name}: {refused}");
        assert_eq!(folder.content(), before, "{name}");
    }
}

#[test]
fn a_log_torn_at_any_byte_keeps_the_records_before() {
    let disks = Disks::new();
    let world = fresh(disks.config("batch"));
    let log = "commitlog-1.log";
    let mut ends = Vec::new();
    for c in 0..4 {
        world.put(NODE_1, 1, c, "x", One).unwrap();
        ends.push(disks.node.size_bytes(log).unwrap() as usize);
    }
    world.cluster.kill();
    for len in 0..=ends[3] {
        let torn = Disks { root: Arc::new(disks.root.copy()), node: Arc::new(disks.node.copy()) };
        torn.node.truncate(log, len).unwrap();
        for _ in 0..2 {
            let world = again(torn.config("batch"));
            let whole = ends.iter().filter(|end| **end <= len).count();
            assert_eq!(values(&world).len(), whole, "cut at {len}");
            world.cluster.kill();
        }
    }
}

/// Writes, flushes, truncates and changes; gives how many writes were acknowledged in the last stretch, and whether the
/// truncation was. Stops at the first failure.
fn story(world: &World) -> (usize, usize) {
    let mut acknowledged = 0;
    for c in 0..12 {
        if c % 4 == 3 && world.cluster.flush(None, None).is_err() {
            return (acknowledged, c as usize);
        }
        if world.put(NODE_1, 1, c, "x", One).is_err() {
            return (acknowledged, c as usize + 1);
        }
        acknowledged += 1;
    }
    (acknowledged, acknowledged)
}

/// Crash at each operation of the story; gives a description of what was lost, if anything was.
fn crash_everywhere(sync: &str, ignore_syncs: bool) -> (usize, Vec<String>) {
    let mut lost = Vec::new();
    let mut points = 0;
    for point in 0.. {
        let disks = Disks::new();
        let world = fresh(disks.config(sync));
        disks.node.ignore_syncs(ignore_syncs);
        disks.node.fail_after(point);
        let (acknowledged, tried) = story(&world);
        let finished = tried == 12 && acknowledged == 12;
        world.cluster.kill();
        for seed in 0..8 {
            let torn = disks.clone_state();
            torn.power_loss(point * 100 + seed);
            points += 1;
            let cluster = match Cluster::build(torn.config(sync)) {
                Ok(cluster) => cluster,
                Err(error) => {
                    lost.push(format!("operation {point}, seed {seed}: {error}"));
                    continue;
                }
            };
            let world = World { cluster, table: table("BLOCKING") };
            let got = values(&world).len();
            if got < acknowledged || got > tried {
                lost.push(format!("operation {point}, seed {seed}: {got} of {acknowledged}"));
            }
            world.put(NODE_1, 2, 0, "goes on", One).unwrap();
        }
        if finished {
            break;
        }
    }
    (points, lost)
}

impl Disks {
    /// The same files with the same parts unsynced.
    fn clone_state(&self) -> Disks {
        Disks { root: Arc::new(self.root.fork()), node: Arc::new(self.node.fork()) }
    }
}

#[test]
fn power_lost_at_any_operation_loses_nothing_acknowledged() {
    for sync in ["batch", "group"] {
        let (points, lost) = crash_everywhere(sync, false);
        assert!(points > 200, "{points}");
        assert!(lost.is_empty(), "{sync}: {} of {points}: {:?}", lost.len(), lost.first());
    }
}

#[test]
fn a_sync_that_does_nothing_is_noticed() {
    let (_, lost) = crash_everywhere("batch", true);
    assert!(!lost.is_empty());
}

#[test]
fn periodic_loses_at_most_the_period() {
    for seed in 0..50 {
        let disks = Disks::new();
        let world = fresh(disks.config("periodic"));
        for c in 0..10 {
            world.put(NODE_1, 1, c, "x", One).unwrap();
        }
        world.cluster.clock().advance(Duration::from_secs(10));
        for c in 10..20 {
            world.put(NODE_1, 1, c, "x", One).unwrap();
        }
        world.cluster.kill();
        disks.power_loss(seed);
        let got = values(&again(disks.config("periodic"))).len();
        assert!((10..=20).contains(&got), "{got}");
    }
}

#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    for room in (0..6_000).step_by(61) {
        let disks = Disks::new();
        let world = fresh(disks.config("periodic"));
        disks.node.set_limit_bytes(disks.node.used_bytes() + room);
        let mut kept = Vec::new();
        for c in 0..30 {
            match world.put(NODE_1, 1, c, "some value", One) {
                Ok(_) => kept.push(format!("1/{c}=some value")),
                Err(error) => assert!(error.to_string().ends_with("disk full"), "{error}"),
            }
            if c % 10 == 9
                && let Err(error) = world.cluster.flush(None, None)
            {
                assert!(error.to_string().ends_with("disk full"), "{error}");
            }
            assert_eq!(values(&world), kept);
        }
        disks.node.set_limit_bytes(1 << 20);
        world.put(NODE_1, 1, 99, "space again", One).unwrap();
        kept.push("1/99=space again".to_string());
        world.cluster.flush(None, None).unwrap();
        assert_eq!(values(&world), kept);
        world.cluster.kill();
        assert_eq!(values(&again(disks.config("periodic"))), kept, "room {room}");
    }
}
