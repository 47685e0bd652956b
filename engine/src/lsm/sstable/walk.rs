//! Walks a whole SSTable from its first entry to its last, for whoever shows all that is in it.
//!
//! Positions are offsets in the data as it is before compression; in an uncompressed file, offsets in the file.

use super::SsTable;
use super::format::{self, Block, Entry};
use super::reader::SsReader;
use crate::error::Error;
use crate::ring::Token;
use crate::row::DecoratedKey;
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::unfiltered::Marker;
use bytes::Bytes;
use std::sync::Arc;

/// What an entry holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// The front of a partition.
    Partition { key: DecoratedKey, deletion: DeletionTime, static_row: Option<Row> },
    /// A row of the last partition.
    Row(Row),
    /// An end of range deletions of the last partition.
    Marker(Marker),
}

/// An entry and where it lies.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) content: Content,
    /// Offset of its first byte.
    pub(crate) start: u64,
    /// Offset behind its last byte.
    pub(crate) end: u64,
}

/// A walk in progress.
pub(crate) struct Walk<'t> {
    reader: SsReader<'t>,
    next_block: usize,
    block: Option<(usize, Arc<Block>)>,
    /// Offset of the block at hand.
    base: u64,
    /// Place of the next entry in it.
    at: usize,
}

impl<'t> Walk<'t> {
    /// Stands before the first partition.
    pub(crate) fn new(table: &'t SsTable) -> Walk<'t> {
        let base = format::HEADER_BYTES;
        Walk { reader: SsReader::new(table), next_block: 0, block: None, base, at: 0 }
    }

    /// The next entry; `None` behind the last.
    ///
    /// # Errors
    /// [`Error::Storage`] with the place of the damage.
    pub(crate) fn next(&mut self) -> Result<Option<Step>, Error> {
        loop {
            match self.block.take() {
                Some((number, block)) if self.at < block.entries_end => {
                    let entry = block.entry(self.at);
                    let entry = entry.ok_or_else(|| self.reader.bad(number, self.at))?;
                    let content = content(&block, entry);
                    let content = content.ok_or_else(|| self.reader.bad(number, self.at))?;
                    let (start, end) = (self.base + self.at as u64, self.base + entry.end as u64);
                    self.at = entry.end;
                    self.block = Some((number, block));
                    return Ok(Some(Step { content, start, end }));
                }
                Some((_, block)) => self.base += block.bytes.len() as u64,
                None => {}
            }
            if self.next_block == self.reader.table.blocks() {
                return Ok(None);
            }
            let block = self.reader.block(self.next_block)?;
            self.at = block.entries_start;
            self.block = Some((self.next_block, block));
            self.next_block += 1;
        }
    }
}

pub(super) fn content(block: &Block, entry: Entry) -> Option<Content> {
    let payload = &block.bytes[entry.start..entry.end];
    let row = |start| Row::in_block(block.bytes.clone(), start, entry.end);
    match entry.kind {
        format::ENTRY_ROW => Some(Content::Row(row(entry.start))),
        format::ENTRY_MARKER => format::marker(payload).map(Content::Marker),
        format::ENTRY_PARTITION => {
            let header = format::partition(payload)?;
            let bytes = Bytes::copy_from_slice(header.key);
            let key = DecoratedKey { token: Token(header.token), bytes };
            let static_at = entry.start + header.static_at;
            let static_row = (static_at < entry.end).then(|| row(static_at));
            Some(Content::Partition { key, deletion: header.deletion, static_row })
        }
        _ => None,
    }
}
