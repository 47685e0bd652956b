//! Which files a node's tables consist of: one small file, replaced whole.
//!
//! ```text
//! "CSMF" | version (2) | zero (2) | time (8) | timestamp (8) | timeuuid (8) | number of tables | table ... | checksum (4)
//! table   id (16) | replay from: segment (4), offset (4) | number of SSTables | their names, newest first
//! ```
//!
//! A change of a table's files is what this file says before and after it is renamed, and nothing between:
//!
//! ```text
//! flush      t-9.sst written and synced -> manifest: t = 9 8 7, replay from here -> view -> log segments freed
//! compact    t-10.sst written and synced -> manifest: t = 10       -> view -> 9 8 7 deleted with their last reader
//! ```
//!
//! An SSTable that is not named here is no part of the data: the next start removes it. *Replay from* is where the commit log
//! is still needed for the table. The times are what the cluster had given out ([`Times`]): the log's own records of them may
//! be lost with the power while an SSTable keeps what they were given to, and what is written next must be later.

use crate::commitlog::{LogPosition, Times};
use crate::error::Error;
use crate::row::varint::{Reader, put, put_bytes};
use crate::schema::TableId;
use crate::sim::clock::{Clock, Given};
use crate::sim::disk::{Disk, read_file};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// Name of the file.
pub const NAME: &str = "manifest";
const UNFINISHED: &str = "manifest.tmp";
const MAGIC: &[u8; 4] = b"CSMF";
const VERSION: u16 = 1;

/// What is kept of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    /// Records of the commit log before this are in SSTables, or truncated.
    pub replay_from: LogPosition,
    /// Its SSTables, newest first.
    pub sstables: Vec<String>,
}

/// The manifest of one node. Any thread may change it; changes follow one another.
#[derive(Debug)]
pub struct Manifest {
    disk: Arc<dyn Disk>,
    clock: Clock,
    given: Arc<Given>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Each table as it is encoded, so that a change of one encodes no other.
    tables: BTreeMap<TableId, Vec<u8>>,
    stopped: bool,
}

/// A change that was not saved.
#[derive(Clone, Debug)]
pub struct Unsaved {
    /// Why.
    pub error: Error,
    /// The file may name the new files all the same, so none may be deleted, neither old nor new.
    pub perhaps_saved: bool,
}

impl From<Unsaved> for Error {
    fn from(unsaved: Unsaved) -> Error {
        unsaved.error
    }
}

impl Manifest {
    /// Writes the manifest of a node without any file.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn create(disk: Arc<dyn Disk>, clock: Clock, given: Arc<Given>) -> Result<Manifest, Error> {
        let manifest = Manifest::of(disk, clock, given, BTreeMap::new());
        manifest.save(&mut manifest.state.lock(), BTreeMap::new())?;
        Ok(manifest)
    }

    /// The manifest of these tables, as loaded: nothing is written.
    pub fn resume(
        disk: Arc<dyn Disk>,
        clock: Clock,
        given: Arc<Given>,
        tables: &BTreeMap<TableId, TableFiles>,
    ) -> Manifest {
        let tables = tables.iter().map(|(id, files)| (*id, encode(*id, files)));
        Manifest::of(disk, clock, given, tables.collect())
    }

    fn of(
        disk: Arc<dyn Disk>,
        clock: Clock,
        given: Arc<Given>,
        tables: BTreeMap<TableId, Vec<u8>>,
    ) -> Manifest {
        Manifest { disk, clock, given, state: Mutex::new(State { tables, stopped: false }) }
    }

    /// Says of what files a table consists from now on.
    ///
    /// # Errors
    /// [`Unsaved`] if the disk refuses.
    pub fn put(&self, table: TableId, files: &TableFiles) -> Result<(), Unsaved> {
        let mut state = self.state.lock();
        let mut tables = state.tables.clone();
        tables.insert(table, encode(table, files));
        self.save(&mut state, tables)
    }

    /// Forgets dropped tables.
    ///
    /// # Errors
    /// [`Unsaved`] if the disk refuses; a table that the schema does not know is forgotten by the next start.
    pub fn remove(&self, dropped: &[TableId]) -> Result<(), Unsaved> {
        let mut state = self.state.lock();
        let mut tables = state.tables.clone();
        tables.retain(|id, _| !dropped.contains(id));
        if tables.len() == state.tables.len() { Ok(()) } else { self.save(&mut state, tables) }
    }

    /// From now on changes are refused, as by a process that is gone.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
    }

    fn save(&self, state: &mut State, tables: BTreeMap<TableId, Vec<u8>>) -> Result<(), Unsaved> {
        if state.stopped {
            let error = Error::Invalid("the node was stopped".to_string());
            return Err(Unsaved { error, perhaps_saved: false });
        }
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        let times = Times::now(&self.clock, &self.given);
        bytes.extend_from_slice(&times.time_micros.to_le_bytes());
        bytes.extend_from_slice(&times.timestamp_micros.to_le_bytes());
        bytes.extend_from_slice(&times.timeuuid_ticks.to_le_bytes());
        put(&mut bytes, tables.len() as u64);
        tables.values().for_each(|table| bytes.extend_from_slice(table));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        let disk = &*self.disk;
        let written = disk
            .delete(UNFINISHED)
            .and_then(|()| disk.append(UNFINISHED, &bytes))
            .and_then(|()| disk.sync(UNFINISHED));
        written.map_err(|error| {
            // Not renamed, so the old one counts. What is left of it is removed by the next start.
            let _ = disk.delete(UNFINISHED);
            Unsaved { error, perhaps_saved: false }
        })?;
        disk.rename(UNFINISHED, NAME)
            .and_then(|()| disk.sync_names())
            .map_err(|error| Unsaved { error, perhaps_saved: true })?;
        state.tables = tables;
        Ok(())
    }
}

fn encode(id: TableId, files: &TableFiles) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + 64 * files.sstables.len());
    out.extend_from_slice(id.0.as_bytes());
    out.extend_from_slice(&files.replay_from.segment.to_le_bytes());
    out.extend_from_slice(&files.replay_from.offset.to_le_bytes());
    put(&mut out, files.sstables.len() as u64);
    for sstable in &files.sstables {
        put_bytes(&mut out, sstable.as_bytes());
    }
    out
}

/// What the manifest on a disk says: the times when it was written, and the tables.
///
/// # Errors
/// [`Error::Storage`] if it is missing, damaged, or of a version that is not known.
pub fn load(disk: &dyn Disk) -> Result<(Times, BTreeMap<TableId, TableFiles>), Error> {
    let bytes = read_file(disk, NAME)?;
    let bad = |offset_bytes: u64, reason: String| Error::Storage {
        file: NAME.to_string(),
        offset_bytes,
        reason,
    };
    let (true, Some((body, sum))) = (bytes.starts_with(MAGIC), bytes.split_last_chunk::<4>())
    else {
        return Err(bad(0, "this is no manifest of a node".to_string()));
    };
    let mut reader = Reader::new(body.get(4..).unwrap_or_default());
    let version = reader.take(4).map_or(0, |v| u16::from_le_bytes([v[0], v[1]]));
    if version != VERSION {
        return Err(bad(4, format!("version {version} of the manifest is not known")));
    }
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return Err(bad(0, "the manifest is damaged: its checksum does not match".to_string()));
    }
    let times = read_times(&mut reader);
    times
        .and_then(|times| Some((times, read_tables(&mut reader)?)))
        .filter(|_| reader.is_empty())
        .ok_or_else(|| bad(8, "the manifest cannot be read".to_string()))
}

fn read_times(reader: &mut Reader<'_>) -> Option<Times> {
    let mut next = || Some(u64::from_le_bytes(reader.take(8)?.try_into().ok()?));
    Some(Times {
        time_micros: next()?.cast_signed(),
        timestamp_micros: next()?.cast_signed(),
        timeuuid_ticks: next()?,
    })
}

fn read_tables(reader: &mut Reader<'_>) -> Option<BTreeMap<TableId, TableFiles>> {
    let mut tables = BTreeMap::new();
    for _ in 0..reader.u64()? {
        let id = TableId(Uuid::from_slice(reader.take(16)?).ok()?);
        let replay_from = LogPosition { segment: reader.fixed_u32()?, offset: reader.fixed_u32()? };
        let mut sstables = Vec::new();
        for _ in 0..reader.u64()? {
            sstables.push(String::from_utf8(reader.bytes()?.to_vec()).ok()?);
        }
        tables.insert(id, TableFiles { replay_from, sstables });
    }
    Some(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::disk::MemoryDisk;

    #[test]
    fn a_manifest_comes_back_and_a_damaged_one_is_refused() {
        let disk = Arc::new(MemoryDisk::default());
        let given = Arc::new(Given::new(77, 99));
        let manifest =
            Manifest::create(disk.clone(), Clock::new_virtual(), Arc::clone(&given)).unwrap();
        let table = TableId(Uuid::from_u128(7));
        let sstables = vec!["t-1.sst".to_string()];
        let files = TableFiles { replay_from: LogPosition { segment: 3, offset: 99 }, sstables };
        manifest.put(table, &files).unwrap();
        let (times, tables) = load(&*disk).unwrap();
        assert_eq!((times.timestamp_micros, times.timeuuid_ticks), (77, 99));
        assert_eq!(tables, BTreeMap::from([(table, files)]));
        for at in 0..disk.size_bytes(NAME).unwrap() {
            disk.flip(NAME, at, 0x10).unwrap();
            assert!(load(&*disk).is_err(), "{at}");
            disk.flip(NAME, at, 0x10).unwrap();
        }
        manifest.remove(&[table]).unwrap();
        assert_eq!(load(&*disk).unwrap().1, BTreeMap::new());
    }
}
