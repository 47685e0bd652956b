//! A cluster's data directory: what is ours, who has it open, and what the cluster was when it was last told of.
//!
//! ```text
//! DIR/CASSLING    magic and version: the directory is ours
//!     LOCK        locked by the operating system while a process has the directory open
//!     manifest    topology, seed, schema, clock ([`stored`])
//!     node-1/     SSTables, commit log and manifest of node 1
//! ```
//!
//! Opening looks before it writes: a directory that is somebody else's, of another version, locked or damaged is refused
//! and left as it was. A new one is ours when its `manifest` is there; a crash before leaves nothing that counts, and the
//! next opening begins anew. Not here: the nodes' folders ([`crate::node::storage`]).

mod stored;

pub use stored::Stored;

use crate::error::Error;
use crate::ring::NodeId;
use crate::sim::disk::{Disk, read_file, replace_file};
use parking_lot::Mutex;
use std::fs::File;
use std::sync::Arc;

/// Where a cluster keeps its data.
#[derive(Clone, Debug, Default)]
pub enum Kept {
    /// In memory: it goes with the cluster.
    #[default]
    Memory,
    /// In a directory, made if it is not there.
    #[cfg(not(target_arch = "wasm32"))]
    Directory(std::path::PathBuf),
    /// On these disks: what a test opens again.
    Disks {
        /// What concerns the whole cluster.
        root: Arc<dyn Disk>,
        /// One for each node.
        nodes: Vec<Arc<dyn Disk>>,
    },
}

/// An open data directory.
#[derive(Debug)]
pub struct DataDirectory {
    kept: Kept,
    root: Arc<dyn Disk>,
    /// Holds the operating system's lock.
    lock: Mutex<Option<File>>,
}

const OURS: &str = "CASSLING";
const LOCK: &str = "LOCK";
const MANIFEST: &str = "manifest";
const MAGIC: &[u8; 8] = b"CASSLING";
const VERSION: u32 = 1;

impl DataDirectory {
    /// Opens it; `None` for what it held if it is new. Nothing is written but the lock.
    ///
    /// # Errors
    /// Why it cannot be opened: not ours, another version, in use, damaged.
    pub fn open(kept: Kept) -> Result<(DataDirectory, Option<Stored>), Error> {
        let root = match &kept {
            Kept::Memory => Arc::new(crate::sim::disk::MemoryDisk::default()),
            Kept::Disks { root, .. } => Arc::clone(root),
            #[cfg(not(target_arch = "wasm32"))]
            Kept::Directory(path) => files::root(path)?,
        };
        let directory = DataDirectory { kept, root, lock: Mutex::new(None) };
        let is_ours = directory.check()?;
        directory.take_lock()?;
        let stored = match is_ours {
            true => Some(stored::load(&*directory.root, MANIFEST)?),
            false => None,
        };
        Ok((directory, stored))
    }

    /// Whether a cluster is there; an error if something else is.
    fn check(&self) -> Result<bool, Error> {
        let names = self.names()?;
        let has = |name: &str| names.iter().any(|n| n == name);
        if has(OURS) {
            check_version(&*self.root)?;
            // Without a manifest it was never finished, unless a node has data.
            if !has(MANIFEST) && self.has_data() {
                return Err(damaged(MANIFEST, "no such file, though there are data of a node"));
            }
            return Ok(has(MANIFEST));
        }
        let unfinished = [LOCK, "CASSLING.tmp"];
        match names.iter().find(|name| !unfinished.contains(&&name[..])) {
            None => Ok(false),
            Some(name) => Err(Error::Invalid(format!(
                "{} is no data directory of cassling: it is not empty (it holds {name}) and has no file {OURS}",
                self.place()
            ))),
        }
    }

    /// Whether a node's folder holds more than a crash during creation leaves.
    fn has_data(&self) -> bool {
        (1..).map_while(|number| self.existing_node(NodeId(number))).any(|disk| {
            let names = disk.list("").unwrap_or_default();
            names.iter().any(|name| name != MANIFEST && !name.ends_with(".tmp"))
        })
    }

    /// Makes a new one ours; it counts from the first [`DataDirectory::save`] on.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn create(&self) -> Result<(), Error> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        replace_file(&*self.root, OURS, &bytes)
    }

    /// Makes what was found survive a loss of power. A process that was killed may have left a manifest in place whose name is
    /// not synced; nodes remove the files of tables that it does not know, and it must not be the older one afterwards.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn settle(&self) -> Result<(), Error> {
        self.root.sync_names()
    }

    /// Remembers what the cluster is now.
    ///
    /// # Errors
    /// [`Error::Storage`]; what was remembered before still counts.
    pub fn save(&self, stored: &Stored) -> Result<(), Error> {
        replace_file(&*self.root, MANIFEST, &stored::encode(stored)?)
    }

    /// The disk of a node.
    ///
    /// # Errors
    /// [`Error::Storage`] if its folder cannot be made, [`Error::Invalid`] if no disk was given for it.
    pub fn node_disk(&self, node: NodeId) -> Result<Arc<dyn Disk>, Error> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Kept::Directory(path) = &self.kept {
            let folder = path.join(format!("node-{}", node.0));
            return Ok(Arc::new(crate::sim::disk::DirectoryDisk::new(&folder)?));
        }
        self.existing_node(node)
            .ok_or_else(|| Error::Invalid(format!("there is no disk for {node}")))
    }

    /// Lets another process open it.
    pub fn release(&self) {
        *self.lock.lock() = None;
    }

    fn place(&self) -> String {
        match &self.kept {
            #[cfg(not(target_arch = "wasm32"))]
            Kept::Directory(path) => path.display().to_string(),
            Kept::Memory | Kept::Disks { .. } => "the disk".to_string(),
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn names(&self) -> Result<Vec<String>, Error> {
        match &self.kept {
            Kept::Directory(path) => files::names(path),
            Kept::Memory | Kept::Disks { .. } => self.root.list(""),
        }
    }

    #[cfg(target_arch = "wasm32")]
    fn names(&self) -> Result<Vec<String>, Error> {
        self.root.list("")
    }

    fn existing_node(&self, node: NodeId) -> Option<Arc<dyn Disk>> {
        match &self.kept {
            Kept::Memory => None,
            Kept::Disks { nodes, .. } => nodes.get(node.0.checked_sub(1)?).cloned(),
            #[cfg(not(target_arch = "wasm32"))]
            Kept::Directory(path) => {
                let folder = path.join(format!("node-{}", node.0));
                let disk = || -> Arc<dyn Disk> {
                    Arc::new(crate::sim::disk::DirectoryDisk::existing(&folder))
                };
                folder.is_dir().then(disk)
            }
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn take_lock(&self) -> Result<(), Error> {
        if let Kept::Directory(path) = &self.kept {
            *self.lock.lock() = Some(files::lock(path)?);
        }
        Ok(())
    }

    #[cfg(target_arch = "wasm32")]
    fn take_lock(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn check_version(root: &dyn Disk) -> Result<(), Error> {
    let bytes = read_file(root, OURS)?;
    if bytes.len() != 16 || !bytes.starts_with(MAGIC) {
        return Err(damaged(OURS, "this is no mark of a data directory of cassling"));
    }
    if crc32fast::hash(&bytes[..12]).to_le_bytes() != bytes[12..] {
        return Err(damaged(OURS, "the checksum does not match"));
    }
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    match version {
        VERSION => Ok(()),
        other => {
            let reason = format!("version {other} of the data directory is not known");
            Err(Error::Storage { file: OURS.to_string(), offset_bytes: 8, reason })
        }
    }
}

fn damaged(file: &str, reason: &str) -> Error {
    Error::Storage { file: file.to_string(), offset_bytes: 0, reason: reason.to_string() }
}

/// What needs the operating system itself.
#[cfg(not(target_arch = "wasm32"))]
mod files {
    use super::{Arc, Disk, Error, File, LOCK};
    use crate::sim::disk::DirectoryDisk;
    use std::fs::TryLockError;
    use std::io;
    use std::path::Path;

    fn failed(path: &Path, error: &io::Error) -> Error {
        let file = path.display().to_string();
        Error::Storage { file, offset_bytes: 0, reason: error.to_string() }
    }

    pub(super) fn root(path: &Path) -> Result<Arc<dyn Disk>, Error> {
        if path.exists() && !path.is_dir() {
            let place = path.display();
            return Err(Error::Invalid(format!("{place} is a file, not a data directory")));
        }
        Ok(Arc::new(DirectoryDisk::existing(path)))
    }

    /// Names of all that is in it, folders too.
    pub(super) fn names(path: &Path) -> Result<Vec<String>, Error> {
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(path, &error)),
        };
        let name = |entry: io::Result<std::fs::DirEntry>| {
            Ok(entry?.file_name().to_string_lossy().into_owned())
        };
        let mut names =
            entries.map(name).collect::<io::Result<Vec<_>>>().map_err(|e| failed(path, &e))?;
        names.sort_unstable();
        Ok(names)
    }

    pub(super) fn lock(path: &Path) -> Result<File, Error> {
        std::fs::create_dir_all(path).map_err(|e| failed(path, &e))?;
        let name = path.join(LOCK);
        let file = File::options().write(true).create(true).truncate(false).open(&name);
        let file = file.map_err(|e| failed(&name, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::Invalid(format!(
                "the data directory {} is in use by another process or cluster",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed(&name, &error)),
        }
    }
}
