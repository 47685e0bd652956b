//! The disk, as a trait: the only thing below the engine that has several bodies.
//!
//! Files have names and grow at their end; what is written is never changed. A file is there for readers as soon as it is
//! appended to, but survives a crash only up to its last [`Disk::sync`]. Bodies: [`MemoryDisk`]; a directory and
//! a disk that forgets and tears what was not synced come with the commit log.
//!
//! Every body counts what is read from it, on its own, so that a test can hold the engine's counters against it.

use crate::error::Error;
use parking_lot::Mutex;
use std::collections::BTreeMap;
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

    /// Makes what was appended to a file survive a crash.
    ///
    /// # Errors
    /// [`Error::Storage`] if the file is not there.
    fn sync(&self, name: &str) -> Result<(), Error>;

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
}

/// Files in memory. A file is the list of what was appended, so that reading a whole piece copies nothing.
#[derive(Debug)]
pub struct MemoryDisk {
    limit_bytes: u64,
    state: Mutex<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    files: BTreeMap<String, MemoryFile>,
    used_bytes: u64,
    counters: DiskCounters,
}

#[derive(Clone, Debug, Default)]
struct MemoryFile {
    /// Pieces with their offsets.
    pieces: Vec<(u64, Arc<[u8]>)>,
    len: u64,
}

impl Default for MemoryDisk {
    /// A disk of 1 GiB.
    fn default() -> MemoryDisk {
        MemoryDisk::new(1 << 30)
    }
}

impl MemoryDisk {
    /// A disk that holds this many bytes in all its files.
    pub fn new(limit_bytes: u64) -> MemoryDisk {
        MemoryDisk { limit_bytes, state: Mutex::new(MemoryState::default()) }
    }

    /// Inverts bits of one byte, as a failing disk might.
    ///
    /// # Errors
    /// [`Error::Storage`] if there is no such byte.
    pub fn flip(&self, name: &str, offset_bytes: u64, mask: u8) -> Result<(), Error> {
        let mut state = self.state.lock();
        let file = state.files.get_mut(name).ok_or_else(|| missing(name))?;
        let index = file.pieces.partition_point(|(start, _)| *start <= offset_bytes);
        if offset_bytes >= file.len || index == 0 {
            return Err(storage(name, offset_bytes, "the file ends before"));
        }
        let (start, piece) = &mut file.pieces[index - 1];
        let mut bytes = piece.to_vec();
        bytes[usize::try_from(offset_bytes - *start).expect("pieces fit into memory")] ^= mask;
        *piece = Arc::from(bytes);
        Ok(())
    }
}

fn storage(file: &str, offset_bytes: u64, reason: &str) -> Error {
    Error::Storage { file: file.to_string(), offset_bytes, reason: reason.to_string() }
}

fn missing(name: &str) -> Error {
    storage(name, 0, "no such file")
}

impl MemoryFile {
    fn read(&self, offset: u64, len: usize) -> Option<Arc<[u8]>> {
        let end = offset.checked_add(len as u64).filter(|end| *end <= self.len)?;
        let mut index =
            self.pieces.partition_point(|(start, _)| *start <= offset).checked_sub(1)?;
        let (start, piece) = &self.pieces[index];
        if *start == offset && piece.len() == len {
            return Some(piece.clone());
        }
        let mut out = Vec::with_capacity(len);
        let mut at = offset;
        while at < end {
            let (start, piece) = &self.pieces[index];
            let from = usize::try_from(at - start).ok()?;
            let until = piece.len().min(from + (len - out.len()));
            out.extend_from_slice(&piece[from..until]);
            at += (until - from) as u64;
            index += 1;
        }
        Some(Arc::from(out))
    }
}

impl Disk for MemoryDisk {
    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut state = self.state.lock();
        let len = bytes.len() as u64;
        if state.used_bytes + len > self.limit_bytes {
            let at = state.files.get(name).map_or(0, |file| file.len);
            return Err(storage(name, at, "disk full"));
        }
        state.used_bytes += len;
        let file = match state.files.get_mut(name) {
            Some(file) => file,
            None => state.files.entry(name.to_string()).or_default(),
        };
        if !bytes.is_empty() {
            file.pieces.push((file.len, Arc::from(bytes)));
            file.len += len;
        }
        Ok(())
    }

    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error> {
        let mut state = self.state.lock();
        let file = state.files.get(name).ok_or_else(|| missing(name))?;
        let bytes = file
            .read(offset_bytes, len)
            .ok_or_else(|| storage(name, offset_bytes, "the file ends before"))?;
        state.counters.reads += 1;
        state.counters.bytes_read += len as u64;
        Ok(bytes)
    }

    fn size_bytes(&self, name: &str) -> Result<u64, Error> {
        self.state.lock().files.get(name).map(|file| file.len).ok_or_else(|| missing(name))
    }

    fn sync(&self, name: &str) -> Result<(), Error> {
        self.size_bytes(name).map(|_| ())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        let mut state = self.state.lock();
        let file = state.files.remove(from).ok_or_else(|| missing(from))?;
        if let Some(replaced) = state.files.insert(to.to_string(), file) {
            state.used_bytes -= replaced.len;
        }
        Ok(())
    }

    fn delete(&self, name: &str) -> Result<(), Error> {
        let mut state = self.state.lock();
        if let Some(file) = state.files.remove(name) {
            state.used_bytes -= file.len;
        }
        Ok(())
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let state = self.state.lock();
        Ok(state.files.keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn counters(&self) -> DiskCounters {
        self.state.lock().counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_are_read_counted_and_limited() {
        let disk = MemoryDisk::new(10);
        disk.append("a/1", b"hello").unwrap();
        disk.append("a/1", b"you").unwrap();
        assert_eq!(&*disk.read_at("a/1", 0, 5).unwrap(), b"hello");
        assert_eq!(&*disk.read_at("a/1", 3, 4).unwrap(), b"loyo");
        assert!(disk.read_at("a/1", 5, 4).is_err());
        assert_eq!(disk.counters(), DiskCounters { reads: 2, bytes_read: 9 });
        let full = disk.append("a/2", b"xyz").unwrap_err();
        assert_eq!(full.to_string(), "a/2 at byte 0: disk full");
        disk.rename("a/1", "b/1").unwrap();
        assert_eq!(disk.list("a/").unwrap(), Vec::<String>::new());
        disk.flip("b/1", 5, 1).unwrap();
        assert_eq!(&*disk.read_at("b/1", 5, 1).unwrap(), b"x");
        disk.delete("b/1").unwrap();
        disk.append("a/2", b"0123456789").unwrap();
    }
}
