//! The bytes of a segment: a header, then records.
//!
//! ```text
//! header   "CSLG" | version (2) | zero (2) | number (4) | checksum (4)
//! record   length (4) | checksum (4) | flags (1) | time (8) | timestamp (8) | timeuuid (8)? | mutation
//! ```
//!
//! The length counts what follows the checksum. The checksum is of the rest of the record, begun with the segment's number
//! and the record's offset: a record is valid only where it was written, so bytes of a log that somebody stored as a value
//! are never taken for one.

use super::LogPosition;
use crate::row::varint::Reader;
use crate::sim::clock::{Clock, Given};

/// What a segment begins with.
const MAGIC: &[u8; 4] = b"CSLG";
/// The version of the format.
const VERSION: u16 = 1;
/// Bytes of a segment's header.
pub(super) const HEADER_BYTES: u32 = 16;
/// Bytes of a record before its length begins to count.
pub(super) const FRAME_BYTES: usize = 8;
/// Flags, time, timestamp, and the least mutation: table, token, key length, flags.
const BODY_BYTES_MIN: usize = 17 + 26;
/// The record says up to where timeuuids were given.
const HAS_TIMEUUID: u8 = 1;
/// Bits 4 to 7 of the flags: the version of the record.
const RECORD_VERSION: u8 = 0x10;

/// What the cluster had given out when a record was written: what opening resumes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The cluster's time, microseconds.
    pub time_micros: i64,
    /// The last write timestamp given, microseconds.
    pub timestamp_micros: i64,
    /// The last time given in a timeuuid, 100 ns steps since 1582-10-15; 0 for none.
    pub timeuuid_ticks: u64,
}

impl Times {
    /// Before all times.
    pub const NONE: Times =
        Times { time_micros: i64::MIN, timestamp_micros: i64::MIN, timeuuid_ticks: 0 };

    /// Those of this moment.
    pub fn now(clock: &Clock, given: &Given) -> Times {
        Times {
            time_micros: clock.now_micros(),
            timestamp_micros: given.last_timestamp_micros(),
            timeuuid_ticks: given.last_timeuuid_ticks(),
        }
    }

    /// The later of both, part by part.
    pub fn max(self, other: Times) -> Times {
        Times {
            time_micros: self.time_micros.max(other.time_micros),
            timestamp_micros: self.timestamp_micros.max(other.timestamp_micros),
            timeuuid_ticks: self.timeuuid_ticks.max(other.timeuuid_ticks),
        }
    }
}

/// A record as read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) times: Times,
    pub(super) mutation: &'a [u8],
    /// Where the next one begins.
    pub(super) end: usize,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Good,
    /// A version that this program does not know.
    Version(u16),
    /// Not whole, or not a header of this segment.
    Bad,
}

pub(super) fn header(number: u32) -> [u8; HEADER_BYTES as usize] {
    let mut bytes = [0; HEADER_BYTES as usize];
    bytes[..4].copy_from_slice(MAGIC);
    bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..12]);
    bytes[12..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

pub(super) fn read_header(bytes: &[u8], number: u32) -> Header {
    let Some(bytes) = bytes.first_chunk::<{ HEADER_BYTES as usize }>() else { return Header::Bad };
    let version = u16::from_le_bytes([bytes[4], bytes[5]]);
    let whole = crc32fast::hash(&bytes[..12]).to_le_bytes() == bytes[12..];
    if !whole || bytes[..4] != *MAGIC {
        return Header::Bad;
    }
    if version != VERSION {
        return Header::Version(version);
    }
    if bytes[8..12] == number.to_le_bytes() { Header::Good } else { Header::Bad }
}

/// Begins a record in an empty `out`: all but its mutation, which the caller appends, and its length and checksum, which [`seal`] sets.
pub(super) fn begin(out: &mut Vec<u8>, times: Times, with_timeuuid: bool) {
    out.extend_from_slice(&[0; FRAME_BYTES]);
    out.push(RECORD_VERSION | if with_timeuuid { HAS_TIMEUUID } else { 0 });
    out.extend_from_slice(&times.time_micros.to_le_bytes());
    out.extend_from_slice(&times.timestamp_micros.to_le_bytes());
    if with_timeuuid {
        out.extend_from_slice(&times.timeuuid_ticks.to_le_bytes());
    }
}

/// Sets length and checksum of a record that will stand at `at`.
pub(super) fn seal(record: &mut [u8], at: LogPosition) {
    let len = u32::try_from(record.len() - FRAME_BYTES).expect("a mutation is far below 4 GiB");
    record[..4].copy_from_slice(&len.to_le_bytes());
    let checksum = checksum(&record[FRAME_BYTES..], at);
    record[4..FRAME_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

fn checksum(body: &[u8], at: LogPosition) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(at.segment.rotate_left(16) ^ at.offset);
    hasher.update(body);
    hasher.finalize()
}

/// The record at `at.offset` of the segment's bytes; `None` if there is no valid one.
pub(super) fn read(bytes: &[u8], at: LogPosition) -> Option<Record<'_>> {
    let start = at.offset as usize;
    let mut reader = Reader::new(bytes.get(start..)?);
    let len = reader.fixed_u32()? as usize;
    let stored = reader.fixed_u32()?;
    let body = reader.take(len).filter(|body| body.len() >= BODY_BYTES_MIN)?;
    let flags = body[0];
    if flags & !HAS_TIMEUUID != RECORD_VERSION || checksum(body, at) != stored {
        return None;
    }
    let mut reader = Reader::new(&body[1..]);
    let mut times = Times {
        time_micros: reader.fixed_i64()?,
        timestamp_micros: reader.fixed_i64()?,
        timeuuid_ticks: 0,
    };
    if flags & HAS_TIMEUUID != 0 {
        times.timeuuid_ticks = reader.fixed_i64()?.cast_unsigned();
    }
    Some(Record { times, mutation: reader.rest, end: start + FRAME_BYTES + len })
}
