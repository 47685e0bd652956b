//! A disk behind a fuse: the disks of a machine fail together, from one operation on.

use cassling_engine::error::Error;
use cassling_engine::sim::disk::{Disk, DiskCounters, ForgetfulDisk};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Counts operations that write, of all disks it is shared by. Any thread may use it.
#[derive(Debug, Default)]
pub struct Fuse {
    done: AtomicU64,
    /// Operations that are let through.
    limit: AtomicU64,
}

impl Fuse {
    /// One that never blows.
    pub fn new() -> Arc<Fuse> {
        Arc::new(Fuse { done: AtomicU64::new(0), limit: AtomicU64::new(u64::MAX) })
    }

    /// Operations done so far.
    pub fn operations(&self) -> u64 {
        self.done.load(SeqCst)
    }

    /// Lets so many more through; `None`: all.
    pub fn set(&self, more: Option<u64>) {
        let limit = more.map_or(u64::MAX, |more| self.operations().saturating_add(more));
        self.limit.store(limit, SeqCst);
    }

    fn pass(&self, name: &str) -> Result<(), Error> {
        if self.operations() >= self.limit.load(SeqCst) {
            let reason = "the disk has failed".to_string();
            return Err(Error::Storage { file: name.to_string(), offset_bytes: 0, reason });
        }
        self.done.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// A forgetful disk behind a fuse.
#[derive(Clone, Debug)]
pub struct Fused {
    /// The disk.
    pub disk: Arc<ForgetfulDisk>,
    /// The fuse, shared with other disks.
    pub fuse: Arc<Fuse>,
}

impl Disk for Fused {
    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.fuse.pass(name)?;
        self.disk.append(name, bytes)
    }

    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error> {
        self.disk.read_at(name, offset_bytes, len)
    }

    fn size_bytes(&self, name: &str) -> Result<u64, Error> {
        self.disk.size_bytes(name)
    }

    fn sync(&self, name: &str) -> Result<(), Error> {
        self.fuse.pass(name)?;
        self.disk.sync(name)
    }

    fn sync_names(&self) -> Result<(), Error> {
        self.fuse.pass("")?;
        self.disk.sync_names()
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.fuse.pass(from)?;
        self.disk.rename(from, to)
    }

    fn delete(&self, name: &str) -> Result<(), Error> {
        self.fuse.pass(name)?;
        self.disk.delete(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        self.disk.list(prefix)
    }

    fn counters(&self) -> DiskCounters {
        self.disk.counters()
    }
}
