//! The commit log of one node: what was written since the tables were last flushed.
//!
//! ```text
//! write -> append to the newest segment -> memtable      (under one guard of the table, see `lsm`)
//!
//! commitlog-7.log   t1 t2 t2 t1     freed when t1 and t2 were flushed
//! commitlog-8.log   t2 t3 ...       a kill here: 7 and 8 are replayed into memtables at the next start
//! ```
//!
//! A record is handed to the operating system before the write is acknowledged, so killing the process loses nothing. What
//! a power failure may lose is said by [`LogSync`]. Each table remembers up to where it was flushed, so that nothing
//! is replayed twice: what compaction has purged since must not come back.
//!
//! Segments are freed from the oldest on, as soon as no memtable holds a record of theirs. When they pass their limit
//! [`CommitLog::table_to_flush`] names the table that holds back the oldest one. Any thread may append; bytes:
//! [`record`] and docs/formats.md. Not here: which tables there are, and applying what is replayed.

mod record;
mod replay;

pub use record::Times;
pub use replay::{Cut, Replayed, replay};

use crate::error::Error;
use crate::row::Mutation;
use crate::schema::TableId;
use crate::sim::clock::{Clock, Given};
use crate::sim::disk::{Disk, read_file, replace_file};
use parking_lot::Mutex;
use record::HEADER_BYTES;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// A place in a log: places of later records are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// Number of the segment, from 1.
    pub segment: u32,
    /// Byte in it.
    pub offset: u32,
}

/// When records are made to survive a power failure (Cassandra's `commitlog_sync`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSync {
    /// Every so many microseconds of cluster time, at a segment's end and at close: a power failure loses at most that.
    Periodic {
        /// The period, microseconds.
        period_micros: i64,
    },
    /// Before a write is acknowledged; writers that wait at once share one sync. Cassandra lets the first wait for others
    /// (`commitlog_sync_group_window`); here nobody waits for time to pass.
    Group,
    /// Before a write is acknowledged.
    Batch,
}

/// How a log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// When it is synced.
    pub sync: LogSync,
    /// Size at which a segment is ended; a larger mutation has one of its own.
    pub segment_bytes: u32,
    /// Size of all segments at which the oldest table is flushed.
    pub total_bytes_max: u64,
}

impl Default for LogOptions {
    /// Synced every 10 s (Cassandra's default); segments of 1 MiB, 64 MiB in all (contracts.md 17: Cassandra's 32 MiB and
    /// 8 GiB are for servers).
    fn default() -> LogOptions {
        LogOptions {
            sync: LogSync::Periodic { period_micros: 10_000_000 },
            segment_bytes: 1 << 20,
            total_bytes_max: 64 << 20,
        }
    }
}

const NAME_PREFIX: &str = "commitlog-";

/// The file of a segment.
pub fn segment_name(number: u32) -> String {
    format!("{NAME_PREFIX}{number}.log")
}

/// The log of one node.
#[derive(Debug)]
pub struct CommitLog {
    disk: Arc<dyn Disk>,
    options: LogOptions,
    clock: Clock,
    given: Arc<Given>,
    writer: Mutex<Writer>,
    /// Held by whoever syncs for others.
    syncing: Mutex<()>,
    /// Everything before it was synced: segment in the upper half, offset in the lower.
    synced: AtomicU64,
    total_bytes: AtomicU64,
}

#[derive(Debug)]
struct Writer {
    /// The segment being written; its file is made with its first record.
    segment: u32,
    name: String,
    /// Its length; 0 before its header is written.
    offset: u32,
    /// Segments before it, with their bytes.
    older: VecDeque<(u32, u64)>,
    /// For each table the oldest segment with a record that is in a memtable only.
    dirty: BTreeMap<TableId, u32>,
    /// The record being made.
    scratch: Vec<u8>,
    /// When it was last synced, cluster time.
    synced_micros: i64,
    /// The name of the segment was not synced yet.
    new_name: bool,
    /// The last timeuuid time that a record names.
    timeuuid_ticks: u64,
    stopped: bool,
}

/// What the memtables of one table need of the log: the segment of their first record, 0 for none. Set by
/// [`CommitLog::append`].
pub type FirstSegment = AtomicU32;

impl CommitLog {
    /// A log that goes on behind `replayed`, whose segments it frees in time, and behind `after`, up to where tables were
    /// flushed. A torn tail is cut off here.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn open(
        disk: Arc<dyn Disk>,
        options: LogOptions,
        clock: Clock,
        given: Arc<Given>,
        replayed: &Replayed,
        after: LogPosition,
    ) -> Result<CommitLog, Error> {
        let mut older: VecDeque<(u32, u64)> = replayed.segments.iter().copied().collect();
        if let Some(cut) = &replayed.cut {
            cut_off(&*disk, cut)?;
            if cut.kept_bytes == 0 {
                older.pop_back();
            }
        }
        let last = replayed.segments.last().map_or(0, |(number, _)| *number);
        if replayed.cut.is_none() && last > 0 {
            // A killed process may have left its last segment unsynced, and only the last one may be torn: this one no longer is.
            disk.sync(&segment_name(last))?;
            disk.sync_names()?;
        }
        let segment = last.max(after.segment) + 1;
        let writer = Writer {
            segment,
            name: segment_name(segment),
            offset: 0,
            dirty: BTreeMap::new(),
            scratch: Vec::with_capacity(256),
            synced_micros: clock.now_micros(),
            new_name: false,
            timeuuid_ticks: given.last_timeuuid_ticks(),
            stopped: false,
            older,
        };
        let total = writer.older.iter().map(|(_, bytes)| bytes).sum();
        Ok(CommitLog {
            disk,
            options,
            clock,
            given,
            writer: Mutex::new(writer),
            syncing: Mutex::new(()),
            synced: AtomicU64::new(0),
            total_bytes: AtomicU64::new(total),
        })
    }

    /// Adds a mutation; when it returns the mutation is as safe as [`LogSync`] promises. `first` belongs to the memtable that
    /// will take it. Requires: the caller holds what keeps that memtable from being flushed.
    ///
    /// # Errors
    /// [`Error::Storage`]: the disk is full, or fails. The mutation is not to be applied then; if it was the sync that failed
    /// a replay may bring it all the same, as after any write that was not acknowledged.
    pub fn append(&self, mutation: &Mutation, first: &FirstSegment) -> Result<(), Error> {
        let end = {
            let mut writer = self.writer.lock();
            self.append_record(&mut writer, mutation)?;
            writer.note(mutation.table.id, first);
            LogPosition { segment: writer.segment, offset: writer.offset }
        };
        match self.options.sync {
            LogSync::Periodic { .. } => Ok(()),
            LogSync::Group | LogSync::Batch => self.sync_to(end),
        }
    }

    fn append_record(&self, writer: &mut Writer, mutation: &Mutation) -> Result<(), Error> {
        if writer.stopped {
            return Err(stopped());
        }
        let times = Times::now(&self.clock, &self.given);
        let mut record = std::mem::take(&mut writer.scratch);
        record.clear();
        record::begin(&mut record, times, times.timeuuid_ticks != writer.timeuuid_ticks);
        mutation.encode(&mut record);
        let written = self.write_record(writer, &mut record, times.time_micros);
        if record.capacity() <= SCRATCH_BYTES_MAX {
            writer.scratch = record;
        }
        written?;
        writer.timeuuid_ticks = times.timeuuid_ticks;
        Ok(())
    }

    fn write_record(
        &self,
        writer: &mut Writer,
        record: &mut [u8],
        now_micros: i64,
    ) -> Result<(), Error> {
        let len = u32::try_from(record.len()).expect("a mutation is far below 4 GiB");
        if writer.offset > HEADER_BYTES
            && writer.offset.saturating_add(len) > self.options.segment_bytes
        {
            self.sync_writer(writer, now_micros)?;
            writer.next_segment();
        } else if let LogSync::Periodic { period_micros } = self.options.sync {
            // A clock that was set back begins a new period.
            let age = now_micros.saturating_sub(writer.synced_micros);
            if age >= period_micros || age < 0 {
                self.sync_writer(writer, now_micros)?;
            }
        }
        if writer.offset == 0 {
            self.disk.append(&writer.name, &record::header(writer.segment))?;
            writer.offset = HEADER_BYTES;
            writer.new_name = true;
            self.total_bytes.fetch_add(HEADER_BYTES.into(), SeqCst);
        }
        record::seal(record, LogPosition { segment: writer.segment, offset: writer.offset });
        self.disk.append(&writer.name, record)?;
        writer.offset += len;
        self.total_bytes.fetch_add(len.into(), SeqCst);
        Ok(())
    }

    fn sync_writer(&self, writer: &mut Writer, now_micros: i64) -> Result<(), Error> {
        if writer.offset > 0 {
            self.disk.sync(&writer.name)?;
            if writer.new_name {
                self.disk.sync_names()?;
                writer.new_name = false;
            }
        }
        writer.synced_micros = now_micros;
        let end = LogPosition { segment: writer.segment, offset: writer.offset };
        self.synced.fetch_max(end.number(), SeqCst);
        Ok(())
    }

    /// Syncs up to `end`, or waits until another writer's sync has.
    fn sync_to(&self, end: LogPosition) -> Result<(), Error> {
        if self.synced.load(SeqCst) >= end.number() {
            return Ok(());
        }
        let _one = self.syncing.lock();
        if self.synced.load(SeqCst) >= end.number() {
            return Ok(());
        }
        let (name, all, new_name) = {
            let writer = self.writer.lock();
            let all = LogPosition { segment: writer.segment, offset: writer.offset };
            (writer.name.clone(), all, writer.new_name)
        };
        self.disk.sync(&name)?;
        if new_name {
            self.disk.sync_names()?;
            let mut writer = self.writer.lock();
            if writer.segment == all.segment {
                writer.new_name = false;
            }
        }
        self.synced.fetch_max(all.number(), SeqCst);
        Ok(())
    }

    /// Syncs all that was appended.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn sync(&self) -> Result<(), Error> {
        self.sync_writer(&mut self.writer.lock(), self.clock.now_micros())
    }

    /// Syncs if the period has passed: to be called when the clock was moved.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn sync_if_due(&self) -> Result<(), Error> {
        let LogSync::Periodic { period_micros } = self.options.sync else { return Ok(()) };
        let mut writer = self.writer.lock();
        let now_micros = self.clock.now_micros();
        match now_micros.saturating_sub(writer.synced_micros) >= period_micros {
            true => self.sync_writer(&mut writer, now_micros),
            false => Ok(()),
        }
    }

    /// Where the next record will stand, or later.
    pub fn position(&self) -> LogPosition {
        let writer = self.writer.lock();
        LogPosition { segment: writer.segment, offset: writer.offset.max(HEADER_BYTES) }
    }

    /// Says which segment holds the oldest record of the table that is in a memtable only (`None`: there is no such
    /// record), and frees the segments that no table needs any more.
    /// Requires: no other thread flushes the table.
    pub fn flushed(&self, table: TableId, oldest: impl FnOnce() -> Option<u32>) {
        let freed = {
            let mut writer = self.writer.lock();
            match oldest() {
                Some(segment) => writer.dirty.insert(table, segment),
                None => writer.dirty.remove(&table),
            };
            writer.free()
        };
        self.remove(freed);
    }

    /// As [`CommitLog::flushed`] for records that were replayed: `tables` with the segment of each one's oldest.
    pub fn replayed(&self, tables: impl IntoIterator<Item = (TableId, u32)>) {
        let freed = {
            let mut writer = self.writer.lock();
            writer.dirty.extend(tables);
            writer.free()
        };
        self.remove(freed);
    }

    fn remove(&self, freed: Vec<(u32, u64)>) {
        for (segment, bytes) in freed {
            self.total_bytes.fetch_sub(bytes, SeqCst);
            // One that cannot be removed now is found by the next start, and its records are known to be flushed.
            let _ = self.disk.delete(&segment_name(segment));
        }
    }

    /// The table to be flushed so that the oldest segment can be freed: only while the segments are over their limit.
    pub fn table_to_flush(&self) -> Option<TableId> {
        if self.total_bytes.load(SeqCst) <= self.options.total_bytes_max {
            return None;
        }
        let writer = self.writer.lock();
        let (table, segment) = writer.dirty.iter().min_by_key(|(_, segment)| **segment)?;
        (*segment < writer.segment).then_some(*table)
    }

    /// Bytes of all segments.
    pub fn size_bytes(&self) -> u64 {
        self.total_bytes.load(SeqCst)
    }

    /// From now on appends are refused, as by a process that is gone; what was appended stays.
    pub fn stop(&self) {
        self.writer.lock().stopped = true;
    }
}

/// A record's buffer larger than this is not kept for the next.
const SCRATCH_BYTES_MAX: usize = 64 * 1024;

impl LogPosition {
    fn number(self) -> u64 {
        u64::from(self.segment) << 32 | u64::from(self.offset)
    }
}

impl Writer {
    fn next_segment(&mut self) {
        self.older.push_back((self.segment, self.offset.into()));
        self.segment += 1;
        self.name = segment_name(self.segment);
        self.offset = 0;
    }

    /// Remembers that a memtable holds a record of this segment.
    fn note(&mut self, table: TableId, first: &FirstSegment) {
        if first.load(SeqCst) == 0 {
            first.store(self.segment, SeqCst);
            self.dirty.entry(table).or_insert(self.segment);
        }
    }

    /// Takes the segments off that no table needs.
    fn free(&mut self) -> Vec<(u32, u64)> {
        let needed = self.dirty.values().min().copied().unwrap_or(self.segment);
        let count = self.older.iter().take_while(|(number, _)| *number < needed).count();
        self.older.drain(..count).collect()
    }
}

fn stopped() -> Error {
    Error::Invalid("the node was stopped while the write was under way".to_string())
}

/// Puts the valid part of a torn segment in its place.
fn cut_off(disk: &dyn Disk, cut: &Cut) -> Result<(), Error> {
    if cut.kept_bytes == 0 {
        disk.delete(&cut.file)?;
        return disk.sync_names();
    }
    let bytes = read_file(disk, &cut.file)?;
    let kept = usize::try_from(cut.kept_bytes).expect("it was read into memory before");
    replace_file(disk, &cut.file, &bytes[..kept])
}
