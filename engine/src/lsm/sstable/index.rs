//! Which block to read: one entry for each data block, kept in memory.
//!
//! A block is known by the first thing in it: a partition's header, or a position inside a partition that began
//! in an earlier block. So one sorted list serves as partition index and as row index of wide partitions:
//!
//! ```text
//! (token, key, -)           block 0   begins with a partition
//! (token, key, position)    block 1   goes on inside that partition
//! (token, key, position)    block 2
//! (token', key', -)         block 3
//! ```
//!
//! Whatever is asked for (a key, a key and a place in it, the last row of a partition) lies in the last block that
//! begins at or before it: one binary search, then one block.

use crate::row::DecoratedKey;
use crate::row::varint::{Reader, put, put_bytes};
use std::cmp::Ordering;

/// The index of an SSTable.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    entries: Vec<IndexEntry>,
    /// Keys and positions of all entries, one after another.
    text: Vec<u8>,
}

/// Where a block lies and what it begins with.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    token: i64,
    offset: u64,
    len: u32,
    /// Where the key lies in the text; entries of one partition share it.
    key: u32,
    key_len: u32,
    position: u32,
    position_len: u32,
}

/// An entry as seen from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct First<'i> {
    pub(super) token: i64,
    pub(super) key: &'i [u8],
    /// Empty if the block begins with the partition's header.
    pub(super) position: &'i [u8],
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn push(&mut self, first: First<'_>, offset: u64, len: usize) {
        let narrow = |n: usize| u32::try_from(n).expect("an index is smaller than 4 GiB");
        let shared = self.entries.last().filter(|last| self.key(last) == first.key);
        let key = match shared {
            Some(last) => last.key,
            None => {
                let at = narrow(self.text.len());
                self.text.extend_from_slice(first.key);
                at
            }
        };
        self.entries.push(IndexEntry {
            token: first.token,
            offset,
            len: narrow(len),
            key,
            key_len: narrow(first.key.len()),
            position: narrow(self.text.len()),
            position_len: narrow(first.position.len()),
        });
        self.text.extend_from_slice(first.position);
    }

    fn key(&self, entry: &IndexEntry) -> &[u8] {
        &self.text[entry.key as usize..][..entry.key_len as usize]
    }

    /// What the block of that number begins with.
    pub(super) fn first(&self, block: usize) -> First<'_> {
        let entry = &self.entries[block];
        First {
            token: entry.token,
            key: self.key(entry),
            position: &self.text[entry.position as usize..][..entry.position_len as usize],
        }
    }

    /// Offset and length of a block in the file.
    pub(super) fn extent(&self, block: usize) -> (u64, usize) {
        (self.entries[block].offset, self.entries[block].len as usize)
    }

    /// Whether the block goes on inside the partition of `key`.
    pub(super) fn continues(&self, block: usize, key: &DecoratedKey) -> bool {
        if block >= self.entries.len() {
            return false;
        }
        let first = self.first(block);
        !first.position.is_empty() && first.token == key.token.0 && first.key == &key.bytes[..]
    }

    /// The last block that begins at or before `place` of the partition of `key`; an empty place is its header.
    pub(super) fn find(&self, key: &DecoratedKey, place: &[u8]) -> Option<usize> {
        let after = self.point(|first| {
            first
                .token
                .cmp(&key.token.0)
                .then_with(|| first.key.cmp(&key.bytes[..]))
                .then_with(|| first.position.cmp(place))
                .is_le()
        });
        after.checked_sub(1)
    }

    /// The last block that begins at or before the first partition of `token`.
    pub(super) fn find_token(&self, token: i64) -> usize {
        self.point(|first| first.token.cmp(&token) == Ordering::Less).saturating_sub(1)
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<IndexEntry>() + self.text.capacity()
    }

    fn point(&self, keep: impl Fn(First<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            if keep(self.first(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put(out, self.entries.len() as u64);
        for block in 0..self.entries.len() {
            let (first, (offset, len)) = (self.first(block), self.extent(block));
            out.extend_from_slice(&first.token.to_le_bytes());
            put_bytes(out, first.key);
            put_bytes(out, first.position);
            put(out, offset);
            put(out, len as u64);
        }
    }

    /// Reads what [`Index::put`] wrote; every block must lie before `limit`.
    pub(super) fn read(reader: &mut Reader<'_>, limit: u64) -> Option<Index> {
        let mut index = Index::default();
        for _ in 0..reader.u64()? {
            let token = reader.fixed_i64()?;
            let (key, position) = (reader.bytes()?, reader.bytes()?);
            let (offset, len) = (reader.u64()?, reader.u64()?);
            offset.checked_add(len).filter(|end| *end <= limit)?;
            index.push(First { token, key, position }, offset, usize::try_from(len).ok()?);
        }
        index.entries.shrink_to_fit();
        index.text.shrink_to_fit();
        Some(index)
    }
}
