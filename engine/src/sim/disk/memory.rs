//! Files in memory.
//!
//! A file is a list of pieces. A large piece, such as a block of an SSTable, is kept as it came, so that reading it back
//! copies nothing; small ones, such as the records of a commit log, are gathered in a piece that grows in place, so
//! that appending one costs a copy and now and then an allocation.

use super::{DISK_FULL, Disk, DiskCounters, ENDS_BEFORE, missing, storage};
use crate::error::Error;
use crate::sim::reclaim;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files in memory, up to a limit of bytes for all of them.
#[derive(Debug)]
pub struct MemoryDisk {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit_bytes: u64,
    files: BTreeMap<String, File>,
    used_bytes: u64,
    counters: DiskCounters,
}

#[derive(Debug, Default)]
struct File {
    /// Pieces with their offsets.
    pieces: Vec<(u64, Piece)>,
    len: u64,
}

#[derive(Debug)]
enum Piece {
    /// As it was appended.
    Whole(Arc<[u8]>),
    /// Gathered; grows until its capacity is used up.
    Gathered(Vec<u8>),
}

/// Appends of this size and more become pieces of their own: a copy of less costs about as much as keeping it apart.
const WHOLE_BYTES_MIN: usize = 1024;
/// A file of this size is not freed by whoever deletes it: on a real disk deleting costs nothing for each block either.
const RECLAIM_BYTES: u64 = 1 << 20;
/// A gathered piece doubles the one before, up to this: so a file of a few bytes is small, and a long one has few pieces.
const GATHERED_BYTES_MAX: usize = 64 * 1024;

impl Default for MemoryDisk {
    /// A disk of 1 GiB.
    fn default() -> MemoryDisk {
        MemoryDisk::new(1 << 30)
    }
}

impl MemoryDisk {
    /// A disk that holds this many bytes in all its files.
    pub fn new(limit_bytes: u64) -> MemoryDisk {
        let state = State {
            limit_bytes,
            files: BTreeMap::new(),
            used_bytes: 0,
            counters: DiskCounters::default(),
        };
        MemoryDisk { state: Mutex::new(state) }
    }

    /// Makes it smaller or larger. What is there stays, even if it is more than fits.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.state.lock().limit_bytes = limit_bytes;
    }

    /// Bytes of all files.
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().used_bytes
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
            return Err(storage(name, offset_bytes, ENDS_BEFORE));
        }
        let (start, piece) = &mut file.pieces[index - 1];
        let at = usize::try_from(offset_bytes - *start).expect("pieces fit into memory");
        match piece {
            Piece::Gathered(bytes) => bytes[at] ^= mask,
            Piece::Whole(bytes) => {
                // Whoever reads the piece now keeps what was there.
                let mut copy = bytes.to_vec();
                copy[at] ^= mask;
                *bytes = Arc::from(copy);
            }
        }
        Ok(())
    }
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Whole(bytes) => bytes,
            Piece::Gathered(bytes) => bytes,
        }
    }
}

impl File {
    fn append(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let at = self.len;
        self.len += bytes.len() as u64;
        if bytes.len() >= WHOLE_BYTES_MIN {
            self.pieces.push((at, Piece::Whole(Arc::from(bytes))));
            return;
        }
        let mut before = 0;
        if let Some((_, Piece::Gathered(last))) = self.pieces.last_mut() {
            if last.capacity() - last.len() >= bytes.len() {
                last.extend_from_slice(bytes);
                return;
            }
            before = last.capacity();
        }
        let mut piece = Vec::with_capacity((2 * before).clamp(bytes.len(), GATHERED_BYTES_MAX));
        piece.extend_from_slice(bytes);
        self.pieces.push((at, Piece::Gathered(piece)));
    }

    fn read(&self, offset: u64, len: usize) -> Option<Arc<[u8]>> {
        let end = offset.checked_add(len as u64).filter(|end| *end <= self.len)?;
        if len == 0 {
            return Some(Arc::from([]));
        }
        let mut index =
            self.pieces.partition_point(|(start, _)| *start <= offset).checked_sub(1)?;
        let (start, piece) = &self.pieces[index];
        let from = usize::try_from(offset - start).ok()?;
        if let Piece::Whole(bytes) = piece
            && from == 0
            && bytes.len() == len
        {
            return Some(bytes.clone());
        }
        if let Some(within) = piece.bytes().get(from..from + len) {
            return Some(Arc::from(within));
        }
        let mut out = Vec::with_capacity(len);
        let mut at = offset;
        while at < end {
            let (start, piece) = &self.pieces[index];
            let from = usize::try_from(at - start).ok()?;
            let until = piece.bytes().len().min(from + (len - out.len()));
            out.extend_from_slice(&piece.bytes()[from..until]);
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
        if state.used_bytes + len > state.limit_bytes {
            let at = state.files.get(name).map_or(0, |file| file.len);
            return Err(storage(name, at, DISK_FULL));
        }
        state.used_bytes += len;
        match state.files.get_mut(name) {
            Some(file) => file.append(bytes),
            None => state.files.entry(name.to_string()).or_default().append(bytes),
        }
        Ok(())
    }

    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error> {
        let mut state = self.state.lock();
        let file = state.files.get(name).ok_or_else(|| missing(name))?;
        let bytes =
            file.read(offset_bytes, len).ok_or_else(|| storage(name, offset_bytes, ENDS_BEFORE))?;
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

    fn sync_names(&self) -> Result<(), Error> {
        Ok(())
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
            drop(state);
            if file.len >= RECLAIM_BYTES {
                reclaim::later(file);
            }
        }
        Ok(())
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let state = self.state.lock();
        let from = state.files.range(prefix.to_string()..);
        Ok(from.map(|(name, _)| name).take_while(|n| n.starts_with(prefix)).cloned().collect())
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
