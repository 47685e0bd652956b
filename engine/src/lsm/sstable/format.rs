//! The bytes of an SSTable file; docs/formats.md draws them.

use super::options::Codec;
use crate::error::Error;
use crate::row::deletion::DeletionTime;
use crate::row::unfiltered::Marker;
use crate::row::varint::{Reader, put, put_bytes, put_signed};
use std::sync::Arc;

/// First bytes of a file.
pub(super) const MAGIC: &[u8; 4] = b"CSST";
/// Last bytes of a file: a file without them was not finished.
pub(super) const END_MAGIC: &[u8; 8] = b"CSSTend\n";
/// Version of the format.
pub(super) const VERSION: u16 = 3;
/// Magic, version, codec, zero.
pub(super) const HEADER_BYTES: u64 = 8;
/// Three sections of offset and length, the header again, checksum, magic.
pub(super) const FOOTER_BYTES: u64 = 3 * 16 + 8 + 4 + 8;
/// Behind a stored block: length before compression, how it is stored, checksum.
pub(super) const BLOCK_TAIL_BYTES: usize = 4 + 1 + 4;
/// Entries from one restart point to the next: what walking back has to keep in hand.
pub(super) const RESTART_INTERVAL: usize = 16;

/// The block begins inside a partition.
pub(super) const CONTINUES: u8 = 1;
/// That partition has a deletion.
pub(super) const HAS_DELETION: u8 = 2;
/// A range deletion is open where the block begins.
pub(super) const HAS_OPEN: u8 = 4;
/// That partition has a static row.
pub(super) const HAS_STATIC: u8 = 8;

pub(super) const ENTRY_PARTITION: u8 = 1;
pub(super) const ENTRY_ROW: u8 = 2;
pub(super) const ENTRY_MARKER: u8 = 3;

/// Set in a restart point if a range end lies between it and the next.
const RESTART_HAS_MARKER: u32 = 1 << 31;

const AS_IS: u8 = 0;
const COMPRESSED: u8 = 1;

/// The codec's number in the header.
pub(super) fn codec_number(codec: Codec) -> u8 {
    match codec {
        Codec::None => 0,
        Codec::Lz4 => 1,
        Codec::Zstd { .. } => 2,
        Codec::Snappy => 3,
        Codec::Deflate => 4,
    }
}

/// The codec of that number; what level it was written with is of no use to a reader.
pub(super) fn codec(number: u8) -> Option<Codec> {
    let known = [Codec::None, Codec::Lz4, Codec::Zstd { level: 0 }, Codec::Snappy, Codec::Deflate];
    known.into_iter().find(|codec| codec_number(*codec) == number)
}

/// The first bytes of a file.
pub(super) fn header(codec: Codec) -> [u8; 8] {
    let mut header = [0; 8];
    header[..4].copy_from_slice(MAGIC);
    header[4..6].copy_from_slice(&VERSION.to_le_bytes());
    header[6] = codec_number(codec);
    header
}

/// How a block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    AsIs,
    /// By the file's codec; so long before.
    Compressed {
        len: usize,
    },
}

/// Longest block that a reader makes room for.
const BLOCK_BYTES_MAX: usize = 1 << 30;

/// Length of the stored bytes in front of the tail, and what they are.
pub(super) fn stored(bytes: &[u8]) -> Option<(usize, Stored)> {
    let body = bytes.len().checked_sub(BLOCK_TAIL_BYTES)?;
    let mut tail = Reader::new(&bytes[body..]);
    let len = tail.fixed_u32()? as usize;
    match tail.u8()? {
        AS_IS if len == body => Some((body, Stored::AsIs)),
        COMPRESSED if len <= BLOCK_BYTES_MAX => Some((body, Stored::Compressed { len })),
        _ => None,
    }
}

/// Puts the tail behind a stored block.
pub(super) fn put_block_tail(out: &mut Vec<u8>, len: usize, compressed: bool) {
    let len = u32::try_from(len).expect("a block is smaller than 4 GiB");
    out.extend_from_slice(&len.to_le_bytes());
    out.push(if compressed { COMPRESSED } else { AS_IS });
    let checksum = crc32fast::hash(out);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// A restart point as stored.
pub(super) fn restart(offset: u32, has_marker: bool) -> [u8; 4] {
    (offset | if has_marker { RESTART_HAS_MARKER } else { 0 }).to_le_bytes()
}

const MARKER_CLOSES: u8 = 1;
const MARKER_OPENS: u8 = 2;

pub(super) fn put_deletion(out: &mut Vec<u8>, deletion: DeletionTime) {
    out.extend_from_slice(&deletion.timestamp_micros.to_le_bytes());
    put_signed(out, deletion.local_seconds);
}

pub(super) fn deletion(reader: &mut Reader<'_>) -> Option<DeletionTime> {
    let timestamp_micros = reader.fixed_i64()?;
    Some(DeletionTime { timestamp_micros, local_seconds: reader.i64()? })
}

pub(super) fn put_marker(out: &mut Vec<u8>, marker: &Marker) {
    put_bytes(out, &marker.position);
    let closes = if marker.closes.is_live() { 0 } else { MARKER_CLOSES };
    out.push(closes | if marker.opens.is_live() { 0 } else { MARKER_OPENS });
    for side in [marker.closes, marker.opens] {
        if !side.is_live() {
            put_deletion(out, side);
        }
    }
}

pub(super) fn marker(payload: &[u8]) -> Option<Marker> {
    let mut reader = Reader::new(payload);
    let position = reader.bytes()?.to_vec();
    let flags = reader.u8()?;
    let mut side = |flag| {
        if flags & flag == 0 { Some(DeletionTime::LIVE) } else { deletion(&mut reader) }
    };
    Some(Marker { position, closes: side(MARKER_CLOSES)?, opens: side(MARKER_OPENS)? })
}

/// The front of a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionHeader<'b> {
    pub(super) token: i64,
    pub(super) key: &'b [u8],
    pub(super) deletion: DeletionTime,
    /// Where in the payload the static row begins; the payload's length if there is none.
    pub(super) static_at: usize,
}

pub(super) fn put_partition(
    out: &mut Vec<u8>,
    token: i64,
    key: &[u8],
    deletion: DeletionTime,
    static_row: Option<&[u8]>,
) {
    out.extend_from_slice(&token.to_le_bytes());
    put_bytes(out, key);
    out.push(if deletion.is_live() { 0 } else { HAS_DELETION });
    if !deletion.is_live() {
        put_deletion(out, deletion);
    }
    out.extend_from_slice(static_row.unwrap_or(&[]));
}

pub(super) fn partition(payload: &[u8]) -> Option<PartitionHeader<'_>> {
    let mut reader = Reader::new(payload);
    let token = reader.fixed_i64()?;
    let key = reader.bytes()?;
    let flags = reader.u8()?;
    let deletion =
        if flags & HAS_DELETION == 0 { DeletionTime::LIVE } else { deletion(&mut reader)? };
    Some(PartitionHeader { token, key, deletion, static_at: payload.len() - reader.rest.len() })
}

/// An entry of a block: its kind and where its payload lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) kind: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) fn put_entry(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.push(kind);
    put(out, payload.len() as u64);
    out.extend_from_slice(payload);
}

/// Position of an encoded row; its flags come before it.
#[inline]
pub(super) fn row_position(payload: &[u8]) -> Option<&[u8]> {
    Reader::new(payload.get(1..)?).bytes()
}

/// A block as read, checked and taken apart.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) bytes: Arc<[u8]>,
    pub(super) has_static: bool,
    /// Of the partition that the block begins inside of.
    pub(super) deletion: DeletionTime,
    pub(super) open: DeletionTime,
    pub(super) entries_start: usize,
    pub(super) entries_end: usize,
    restarts: usize,
    partitions: usize,
}

impl Block {
    /// Takes apart the block that lies in `bytes[..body]`.
    /// Requires: a checksum over it holds.
    pub(super) fn parse(bytes: Arc<[u8]>, body: usize) -> Option<Block> {
        let mut counts = Reader::new(bytes.get(body.checked_sub(8)?..body)?);
        let (restarts, partitions) = (counts.fixed_u32()? as usize, counts.fixed_u32()? as usize);
        let trailer = restarts.checked_add(partitions)?.checked_mul(4)?.checked_add(8)?;
        let entries_end = body.checked_sub(trailer)?;
        let mut reader = Reader::new(&bytes[..entries_end]);
        let flags = reader.u8()?;
        let mut side = |flag| {
            if flags & flag == 0 { Some(DeletionTime::LIVE) } else { deletion(&mut reader) }
        };
        let (partition_deletion, open) = (side(HAS_DELETION)?, side(HAS_OPEN)?);
        let entries_start = entries_end - reader.rest.len();
        Some(Block {
            has_static: flags & HAS_STATIC != 0,
            deletion: partition_deletion,
            open,
            entries_start,
            entries_end,
            restarts,
            partitions,
            bytes,
        })
    }

    fn number(&self, index: usize) -> usize {
        let at = self.entries_end + 4 * index;
        let bytes: [u8; 4] = self.bytes[at..at + 4].try_into().expect("four bytes were taken");
        u32::from_le_bytes(bytes) as usize
    }

    /// Number of partitions that begin in the block.
    pub(super) fn partitions(&self) -> usize {
        self.partitions
    }

    /// Where the header of the partition of that number lies.
    pub(super) fn partition_at(&self, index: usize) -> usize {
        self.number(self.restarts + index)
    }

    /// The last restart point before `offset`, as an offset.
    pub(super) fn restart_before(&self, offset: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.restarts);
        while low < high {
            let middle = low.midpoint(high);
            if self.restart(middle) < offset { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1).map(|index| self.restart(index))
    }

    /// Restart points in `from..to`, as first index and number.
    pub(super) fn restarts_within(&self, from: usize, to: usize) -> (usize, usize) {
        let point = |limit: usize| {
            let (mut low, mut high) = (0, self.restarts);
            while low < high {
                let middle = low.midpoint(high);
                if self.restart(middle) < limit { low = middle + 1 } else { high = middle }
            }
            low
        };
        let first = point(from);
        (first, point(to) - first)
    }

    /// The restart point of that number, as an offset.
    pub(super) fn restart(&self, index: usize) -> usize {
        self.number(index) & !(RESTART_HAS_MARKER as usize)
    }

    /// Whether a range end lies between the restart point of that number and the next.
    pub(super) fn restart_has_marker(&self, index: usize) -> bool {
        self.number(index) & RESTART_HAS_MARKER as usize != 0
    }

    /// The entry at `offset`.
    #[inline]
    pub(super) fn entry(&self, offset: usize) -> Option<Entry> {
        let mut reader = Reader::new(self.bytes.get(offset..self.entries_end)?);
        let kind = reader.u8()?;
        let len = usize::try_from(reader.u64()?).ok()?;
        let start = self.entries_end - reader.rest.len();
        let end = start.checked_add(len).filter(|end| *end <= self.entries_end)?;
        Some(Entry { kind, start, end })
    }

    /// Position of a row or marker.
    #[inline]
    pub(super) fn position(&self, entry: Entry) -> Option<&[u8]> {
        let payload = &self.bytes[entry.start..entry.end];
        match entry.kind {
            ENTRY_ROW => row_position(payload),
            ENTRY_MARKER => Reader::new(payload).bytes(),
            _ => None,
        }
    }

    /// The header of the partition of that number.
    pub(super) fn header(&self, index: usize) -> Option<(Entry, PartitionHeader<'_>)> {
        let entry = self.entry(self.partition_at(index))?;
        if entry.kind != ENTRY_PARTITION {
            return None;
        }
        Some((entry, partition(&self.bytes[entry.start..entry.end])?))
    }
}

/// A damaged place.
pub(super) fn damaged(file: &str, offset_bytes: u64, reason: &str) -> Error {
    Error::Storage { file: file.to_string(), offset_bytes, reason: reason.to_string() }
}
