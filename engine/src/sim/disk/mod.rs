//! The disk, as a trait: the only thing below the engine that has several bodies.
//!
//! Files have names and grow at their end; what is written is never changed. A file is there for readers as soon as it is
//! appended to, but only some of it survives when the power fails:
//!
//! ```text
//! append  a.tmp   the bytes are the operating system's: a killed process loses nothing, a power failure all
//! sync    a.tmp   the bytes are kept
//! rename  a.tmp a the new name is there for readers, a power failure may bring the old one back
//! sync_names      the names are kept: creations, renames and deletions before it
//! ```
//!
//! | body | what it is for |
//! |---|---|
//! | [`MemoryDisk`] | the default: nothing outlives the process |
//! | [`DirectoryDisk`] | files of a folder |
//! | [`ForgetfulDisk`] | tests of crashes: forgets what was not synced, tears the last write, fails when told |
//!
//! Every body counts what is read from it, on its own, so that a test can hold the engine's counters against it.
//! A disk has no folders: each node has a disk of its own.

#[cfg(not(target_arch = "wasm32"))]
mod directory;
mod forgetful;
mod memory;

#[cfg(not(target_arch = "wasm32"))]
pub use directory::DirectoryDisk;
pub use forgetful::ForgetfulDisk;
pub use memory::MemoryDisk;

use crate::error::Error;
use std::fmt::Debug;
use std::sync::Arc;

/// What was asked of a disk since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Calls of [`Disk::read_at`].
    pub reads: u64,
    /// Bytes that they returned.
    pub bytes_read: u64,
}

/// Where files are kept. Any thread may use it; each call is whole.
pub trait Disk: Debug + Send + Sync {
    /// Adds bytes to the end of a file, making it if it is not there.
    ///
    /// # Errors
    /// [`Error::Storage`]: `disk full` if the bytes do not fit; then none of them is kept.
    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Reads `len` bytes at `offset`.
    ///
    /// # Errors
    /// [`Error::Storage`] if the file is not there or ends before.
    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error>;

    /// Length of a file.
    ///
    /// # Errors
    /// [`Error::Storage`] if it is not there.
    fn size_bytes(&self, name: &str) -> Result<u64, Error>;

    /// Makes what was appended to a file survive a power failure; its name needs [`Disk::sync_names`].
    ///
    /// # Errors
    /// [`Error::Storage`] if the file is not there.
    fn sync(&self, name: &str) -> Result<(), Error>;

    /// Makes the names of files as they are now survive a power failure.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses.
    fn sync_names(&self) -> Result<(), Error>;

    /// Gives a file another name, replacing a file of that name at once.
    ///
    /// # Errors
    /// [`Error::Storage`] if the file is not there.
    fn rename(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Removes a file; one that is not there is no error.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses.
    fn delete(&self, name: &str) -> Result<(), Error>;

    /// Names of all files that begin with `prefix`, sorted.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses.
    fn list(&self, prefix: &str) -> Result<Vec<String>, Error>;

    /// What was read so far.
    fn counters(&self) -> DiskCounters;

    /// What a power failure leaves behind, drawn from the seed where chance decides.
    ///
    /// # Errors
    /// [`Error::Invalid`] if this body cannot lose power: only [`ForgetfulDisk`] can.
    fn power_loss(&self, _seed: u64) -> Result<(), Error> {
        Err(Error::Invalid("this disk cannot lose its power; a forgetful one can".to_string()))
    }
}

/// Puts `bytes` in place of the file `name`, whole or not at all, whenever the power fails: written under another name,
/// synced, renamed.
///
/// # Errors
/// [`Error::Storage`]; then the old file is still there.
pub fn replace_file(disk: &dyn Disk, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let unfinished = format!("{name}.tmp");
    let written = disk
        .delete(&unfinished)
        .and_then(|()| disk.append(&unfinished, bytes))
        .and_then(|()| disk.sync(&unfinished));
    if let Err(error) = written {
        // What is left of it is removed by the next start if it cannot be now.
        let _ = disk.delete(&unfinished);
        return Err(error);
    }
    disk.rename(&unfinished, name)?;
    disk.sync_names()
}

/// The whole of a file.
///
/// # Errors
/// [`Error::Storage`] if it is not there or cannot be read.
pub fn read_file(disk: &dyn Disk, name: &str) -> Result<Arc<[u8]>, Error> {
    let len = disk.size_bytes(name)?;
    let len = usize::try_from(len).map_err(|_| storage(name, 0, "the file is too large"))?;
    disk.read_at(name, 0, len)
}

fn storage(file: &str, offset_bytes: u64, reason: &str) -> Error {
    Error::Storage { file: file.to_string(), offset_bytes, reason: reason.to_string() }
}

fn missing(name: &str) -> Error {
    storage(name, 0, "no such file")
}

/// What a full disk says, in every body.
const DISK_FULL: &str = "disk full";
const ENDS_BEFORE: &str = "the file ends before";
