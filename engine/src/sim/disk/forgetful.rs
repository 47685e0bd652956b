//! A disk for tests of crashes: it forgets what was not synced.
//!
//! Two tables of names are kept, the one that readers see and the one that a power failure leaves; and for each file
//! how much of it was synced:
//!
//! ```text
//! append log 100 bytes, sync log, append log 60 bytes, append t.tmp, rename t.tmp t, power loss
//!
//! seen before    log 160 bytes   t
//! left behind    log 100 to 160 bytes, the last of them perhaps rubbish; no t, or t.tmp, or t: as the seed has it
//! ```
//!
//! Changes of names since the last [`Disk::sync_names`] are lost from some point on, as in a file system with a journal.
//! Rubbish is only at the end: what lies behind it would have been written later and is lost as well.
//!
//! It can also fail from a chosen operation on ([`ForgetfulDisk::fail_after`]): a test counts the operations of a story,
//! then lets it end at each of them. And it can ignore syncs, so that a test can prove that it would notice.

use super::{DISK_FULL, Disk, DiskCounters, ENDS_BEFORE, missing, storage};
use crate::error::Error;
use crate::sim::rng::Rng;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A disk in memory that loses what was not synced when it loses power.
#[derive(Debug)]
pub struct ForgetfulDisk {
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
struct State {
    limit_bytes: u64,
    /// Content by number: a file keeps its number when it is renamed.
    contents: BTreeMap<u64, Content>,
    next_content: u64,
    /// Names as readers see them.
    names: BTreeMap<String, u64>,
    /// Names as they were last synced.
    kept_names: BTreeMap<String, u64>,
    /// What happened to names since, in order.
    pending: Vec<Change>,
    counters: DiskCounters,
    operations: u64,
    /// The operation from which on all fail.
    fails_from: Option<u64>,
    syncs_ignored: bool,
}

#[derive(Clone, Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    synced: usize,
}

#[derive(Clone, Debug)]
enum Change {
    Created(String, u64),
    Renamed(String, String),
    Deleted(String),
}

/// How much of the end of an unsynced tail may be rubbish: a sector of a disk.
const TORN_BYTES_MAX: usize = 512;

impl Default for ForgetfulDisk {
    fn default() -> ForgetfulDisk {
        ForgetfulDisk::new(1 << 30)
    }
}

impl ForgetfulDisk {
    /// A disk that holds this many bytes in all its files.
    pub fn new(limit_bytes: u64) -> ForgetfulDisk {
        let state = State {
            limit_bytes,
            contents: BTreeMap::new(),
            next_content: 0,
            names: BTreeMap::new(),
            kept_names: BTreeMap::new(),
            pending: Vec::new(),
            counters: DiskCounters::default(),
            operations: 0,
            fails_from: None,
            syncs_ignored: false,
        };
        ForgetfulDisk { state: Mutex::new(state) }
    }

    /// Makes it smaller or larger. What is there stays, even if it is more than fits.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.state.lock().limit_bytes = limit_bytes;
    }

    /// Bytes of all files.
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().used_bytes()
    }

    /// Appends, syncs, renames and deletions so far.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// After so many more operations that write, every one fails, until [`ForgetfulDisk::heal`] or a power loss;
    /// reading goes on.
    pub fn fail_after(&self, operations: u64) {
        let mut state = self.state.lock();
        state.fails_from = Some(state.operations + operations);
    }

    /// Ends what [`ForgetfulDisk::fail_after`] began.
    pub fn heal(&self) {
        self.state.lock().fails_from = None;
    }

    /// From now on syncs do nothing and say they did: a test that passes all the same would not notice a lost one.
    pub fn ignore_syncs(&self, ignored: bool) {
        self.state.lock().syncs_ignored = ignored;
    }

    /// Inverts bits of one byte, as a failing disk might.
    ///
    /// # Errors
    /// [`Error::Storage`] if there is no such byte.
    pub fn flip(&self, name: &str, offset_bytes: u64, mask: u8) -> Result<(), Error> {
        let mut state = self.state.lock();
        let content = state.content(name)?;
        let at = usize::try_from(offset_bytes).ok();
        let byte = at.and_then(|at| content.bytes.get_mut(at));
        *byte.ok_or_else(|| storage(name, offset_bytes, ENDS_BEFORE))? ^= mask;
        Ok(())
    }

    /// Cuts a file off at a length, as a damaged file system might.
    ///
    /// # Errors
    /// [`Error::Storage`] if there is no such file.
    pub fn truncate(&self, name: &str, len: usize) -> Result<(), Error> {
        let mut state = self.state.lock();
        let content = state.content(name)?;
        content.bytes.truncate(len);
        content.synced = content.synced.min(len);
        Ok(())
    }

    /// A disk with the same files, all of them synced.
    pub fn copy(&self) -> ForgetfulDisk {
        let copy = self.fork();
        {
            let mut to = copy.state.lock();
            to.kept_names = to.names.clone();
            to.pending.clear();
            to.contents.values_mut().for_each(|content| content.synced = content.bytes.len());
        }
        copy
    }

    /// A disk in the same state, what is not synced included: a test loses its power in several ways.
    pub fn fork(&self) -> ForgetfulDisk {
        ForgetfulDisk { state: Mutex::new(self.state.lock().clone()) }
    }
}

impl State {
    fn used_bytes(&self) -> u64 {
        self.names.values().map(|number| self.contents[number].bytes.len() as u64).sum()
    }

    fn content(&mut self, name: &str) -> Result<&mut Content, Error> {
        let number = self.names.get(name).ok_or_else(|| missing(name))?;
        Ok(self.contents.get_mut(number).expect("every name has a content"))
    }

    /// Counts an operation that writes; fails if it is one that shall.
    fn operate(&mut self, name: &str) -> Result<(), Error> {
        if self.fails_from.is_some_and(|from| self.operations >= from) {
            return Err(storage(name, 0, "the disk has failed"));
        }
        self.operations += 1;
        Ok(())
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.names, &change);
        self.pending.push(change);
    }

    /// Contents that no name leads to any more.
    fn forget_unnamed(&mut self) {
        let named = |number: &u64| {
            self.names.values().any(|n| n == number)
                || self.kept_names.values().any(|n| n == number)
                || self.pending.iter().any(|c| matches!(c, Change::Created(_, n) if n == number))
        };
        let unnamed: Vec<u64> = self.contents.keys().filter(|n| !named(n)).copied().collect();
        for number in unnamed {
            self.contents.remove(&number);
        }
    }
}

fn apply(names: &mut BTreeMap<String, u64>, change: &Change) {
    match change {
        Change::Created(name, number) => {
            names.insert(name.clone(), *number);
        }
        Change::Renamed(from, to) => {
            if let Some(number) = names.remove(from) {
                names.insert(to.clone(), number);
            }
        }
        Change::Deleted(name) => {
            names.remove(name);
        }
    }
}

/// What is left of a file's bytes: all that was synced, some of the rest, perhaps with rubbish at its end.
fn tear(content: &mut Content, rng: &mut Rng) {
    let unsynced = content.bytes.len() - content.synced;
    if unsynced == 0 {
        return;
    }
    let below = |rng: &mut Rng, bound: usize| {
        usize::try_from(rng.below(bound as u64)).expect("it is below a usize")
    };
    let kept = below(rng, unsynced + 1);
    content.bytes.truncate(content.synced + kept);
    if kept > 0 && rng.below(2) == 0 {
        let torn = 1 + below(rng, kept.min(TORN_BYTES_MAX));
        let from = content.bytes.len() - torn;
        rng.fill(&mut content.bytes[from..]);
    }
    content.synced = content.bytes.len();
}

impl Disk for ForgetfulDisk {
    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.operate(name)?;
        if state.used_bytes() + bytes.len() as u64 > state.limit_bytes {
            let at = state.content(name).map_or(0, |content| content.bytes.len());
            return Err(storage(name, at as u64, DISK_FULL));
        }
        if !state.names.contains_key(name) {
            let number = state.next_content;
            state.next_content += 1;
            state.contents.insert(number, Content::default());
            state.change(Change::Created(name.to_string(), number));
        }
        state.content(name)?.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error> {
        let mut state = self.state.lock();
        let content = state.content(name)?;
        let from = usize::try_from(offset_bytes).ok();
        let range = from.and_then(|from| Some(from..from.checked_add(len)?));
        let bytes = range.and_then(|range| content.bytes.get(range)).map(Arc::from);
        let bytes = bytes.ok_or_else(|| storage(name, offset_bytes, ENDS_BEFORE))?;
        state.counters.reads += 1;
        state.counters.bytes_read += len as u64;
        Ok(bytes)
    }

    fn size_bytes(&self, name: &str) -> Result<u64, Error> {
        Ok(self.state.lock().content(name)?.bytes.len() as u64)
    }

    fn sync(&self, name: &str) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.operate(name)?;
        let ignored = state.syncs_ignored;
        let content = state.content(name)?;
        if !ignored {
            content.synced = content.bytes.len();
        }
        Ok(())
    }

    fn sync_names(&self) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.operate("")?;
        if !state.syncs_ignored {
            state.kept_names = state.names.clone();
            state.pending.clear();
            state.forget_unnamed();
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.operate(from)?;
        if !state.names.contains_key(from) {
            return Err(missing(from));
        }
        state.change(Change::Renamed(from.to_string(), to.to_string()));
        Ok(())
    }

    fn delete(&self, name: &str) -> Result<(), Error> {
        let mut state = self.state.lock();
        if !state.names.contains_key(name) {
            return Ok(());
        }
        state.operate(name)?;
        state.change(Change::Deleted(name.to_string()));
        Ok(())
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let state = self.state.lock();
        Ok(state.names.keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn counters(&self) -> DiskCounters {
        self.state.lock().counters
    }

    fn power_loss(&self, seed: u64) -> Result<(), Error> {
        let mut state = self.state.lock();
        let mut rng = Rng::new(seed).fork("power loss");
        let pending = std::mem::take(&mut state.pending);
        let kept =
            usize::try_from(rng.below(pending.len() as u64 + 1)).expect("it is below a usize");
        let mut names = state.kept_names.clone();
        pending[..kept].iter().for_each(|change| apply(&mut names, change));
        state.kept_names.clone_from(&names);
        state.names = names;
        state.forget_unnamed();
        state.contents.values_mut().for_each(|content| tear(content, &mut rng));
        state.fails_from = None;
        state.syncs_ignored = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_is_kept_and_the_rest_is_up_to_the_seed() {
        let mut lengths = std::collections::BTreeSet::new();
        let mut renamed = 0;
        for seed in 0..100 {
            let disk = ForgetfulDisk::default();
            disk.append("log", &[1; 10]).unwrap();
            disk.append("old", b"x").unwrap();
            disk.sync("log").unwrap();
            disk.sync("old").unwrap();
            disk.sync_names().unwrap();
            disk.append("log", &[2; 6]).unwrap();
            disk.rename("old", "new").unwrap();
            disk.power_loss(seed).unwrap();
            let log = disk.read_at("log", 0, 10).unwrap();
            assert_eq!(&*log, &[1; 10]);
            lengths.insert(disk.size_bytes("log").unwrap());
            let names = disk.list("").unwrap();
            assert!(names == ["log", "new"] || names == ["log", "old"], "{names:?}");
            renamed += usize::from(names[1] == "new");
        }
        assert_eq!(lengths, (10..=16).collect());
        assert!((20..80).contains(&renamed), "{renamed}");
    }

    #[test]
    fn it_fails_from_the_operation_named_and_forgets_all_if_syncs_are_ignored() {
        let disk = ForgetfulDisk::default();
        disk.ignore_syncs(true);
        disk.fail_after(3);
        disk.append("a", b"x").unwrap();
        disk.sync("a").unwrap();
        disk.sync_names().unwrap();
        let error = disk.append("a", b"y").unwrap_err();
        assert_eq!(error.to_string(), "a at byte 0: the disk has failed");
        assert_eq!((&*disk.read_at("a", 0, 1).unwrap(), disk.operations()), (&b"x"[..], 3));
        let gone = (0..20).any(|seed| {
            let disk = ForgetfulDisk::default();
            disk.ignore_syncs(true);
            disk.append("a", b"x").unwrap();
            disk.sync_names().unwrap();
            disk.power_loss(seed).unwrap();
            disk.list("").unwrap().is_empty()
        });
        assert!(gone);
    }
}
