//! Reads all that can still be read of an SSTable, for `scrub` and `verify`.
//!
//! ```text
//! blocks      A                  B (damaged)         C
//! holds       [p: 1 2 (open @9 ] [ 3 4 close) 5 6 ]  [ 7 8 q: 1 2 ]
//! comes out    p: 1 2 (open @9     close) before 3      7 8 q: 1 2
//! ```
//!
//! A damaged block loses what lies in it and nothing else: the block behind it says what partition it goes on in (its
//! key is in the index that the open file keeps in memory), that partition's deletion and what range deletion is open.
//! What range ends a lost block held is not known, so a range deletion reaches as far as is certain: to the first
//! thing of the lost block, and from the first thing behind it. One that is open with the same time on both sides is taken for
//! one that goes through.
//!
//! A block is kept as a whole or not at all. It is lost if its checksum, its form or the order of its entries is wrong.
//! Values in cells are not looked at, and what the cache still has of a damaged block is not asked.

use super::SsTable;
use super::format::{self, Block, damaged};
use super::index::First;
use super::walk::{Content, content};
use crate::error::Error;
use crate::ring::Token;
use crate::row::DecoratedKey;
use crate::row::clustering::{AFTER, BEFORE, ROW};
use crate::row::deletion::DeletionTime;
use crate::row::unfiltered::Marker;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

/// A part of an SSTable file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Header or footer.
    Frame,
    /// A data block: what lies in it is lost.
    Block,
    /// The index: an open file has a copy.
    Index,
    /// The filter: made anew from the keys.
    Filter,
    /// Statistics and the first and last key: made anew from the rows.
    Statistics,
}

/// A part that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What it is.
    pub part: Part,
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// Its length in the file.
    pub len_bytes: u64,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Frame => "header or footer",
            Part::Block => "block",
            Part::Index => "index",
            Part::Filter => "filter",
            Part::Statistics => "statistics",
        })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { part, offset_bytes, len_bytes, reason } = self;
        write!(f, "{part} at {offset_bytes}, {len_bytes} bytes: {reason}")
    }
}

/// Gives all that can be read to `keep`, in order and fit for a writer; says what cannot be read.
///
/// # Errors
/// The file is gone, or whatever `keep` answers.
pub(crate) fn salvage(
    table: &SsTable,
    keep: &mut dyn FnMut(Content) -> Result<(), Error>,
) -> Result<Vec<Damage>, Error> {
    let mut damage = damaged_sections(table)?;
    let place = Place::default();
    let mut salvage = Salvage { table, keep, place, open: DeletionTime::LIVE, lost_from: None };
    for number in 0..table.blocks() {
        match read(table, number, &salvage.place) {
            Ok(good) => salvage.block(number, good)?,
            Err(error) => {
                let (offset_bytes, len) = table.index.extent(number);
                let part = Part::Block;
                let reason = reason(error);
                damage.push(Damage { part, offset_bytes, len_bytes: len as u64, reason });
                salvage.lost(number);
            }
        }
    }
    if let Some(bound) = salvage.lost_from.take() {
        salvage.close(bound)?;
    }
    damage.sort_by_key(|damage| damage.offset_bytes);
    Ok(damage)
}

/// Checks the parts of the file that an open table has in memory.
fn damaged_sections(table: &SsTable) -> Result<Vec<Damage>, Error> {
    let size_bytes = table.disk.size_bytes(&table.name)?;
    let frame = |error: Error| {
        let (offset_bytes, len_bytes) = match &error {
            Error::Storage { offset_bytes, .. } if *offset_bytes < format::HEADER_BYTES => {
                (*offset_bytes, format::HEADER_BYTES - offset_bytes)
            }
            _ => (table.size_bytes - format::FOOTER_BYTES, format::FOOTER_BYTES),
        };
        Ok(vec![Damage { part: Part::Frame, offset_bytes, len_bytes, reason: reason(error) }])
    };
    if size_bytes != table.size_bytes {
        return frame(damaged(&table.name, size_bytes, "the length of the file has changed"));
    }
    let footer_at = size_bytes - format::FOOTER_BYTES;
    let sections = super::read_header(&*table.disk, &table.name)
        .and_then(|(_, header)| super::read_footer(&*table.disk, &table.name, footer_at, &header));
    let sections = match sections {
        Ok(sections) => sections,
        Err(error) => return frame(error),
    };
    let parts = [Part::Index, Part::Filter, Part::Statistics];
    let checked = parts.into_iter().zip(sections).filter_map(|(part, section)| {
        let error = super::read_section(&*table.disk, &table.name, section, footer_at).err()?;
        let (offset_bytes, len_bytes) = section;
        Some(Damage { part, offset_bytes, len_bytes, reason: reason(error) })
    });
    Ok(checked.collect())
}

fn reason(error: Error) -> String {
    match error {
        Error::Storage { reason, .. } => reason,
        other => other.to_string(),
    }
}

/// How far the walk has come.
#[derive(Clone, Debug, Default)]
struct Place {
    key: Option<DecoratedKey>,
    /// Of the last row or range end of the partition; empty behind its header.
    position: Vec<u8>,
}

impl Place {
    /// Goes on to what comes next; `None` if it cannot come next.
    fn pass(&mut self, content: &Content) -> Option<()> {
        let position = match content {
            Content::Partition { key, .. } => {
                (self.key.as_ref() < Some(key)).then_some(())?;
                self.key = Some(key.clone());
                self.position.clear();
                return Some(());
            }
            Content::Row(row) => row.position(),
            Content::Marker(marker) => &marker.position,
        };
        (self.key.is_some() && self.position.as_slice() < position).then_some(())?;
        self.position.clear();
        self.position.extend_from_slice(position);
        Some(())
    }

    /// Goes on to a block that begins inside the partition of `key`.
    fn enter(&mut self, key: &DecoratedKey) -> Option<()> {
        if self.key.as_ref() != Some(key) {
            (self.key.as_ref() < Some(key)).then_some(())?;
            *self = Place { key: Some(key.clone()), position: Vec::new() };
        }
        Some(())
    }
}

/// A block that can be kept.
struct Good {
    block: Arc<Block>,
    contents: Vec<Content>,
    /// Behind it.
    place: Place,
}

/// Reads a block that comes behind `place`.
fn read(table: &SsTable, number: usize, place: &Place) -> Result<Good, Error> {
    let (block, _) = table.block(number, None)?;
    let (offset, _) = table.index.extent(number);
    let bad = |what: &str| damaged(&table.name, offset, what);
    let mut place = place.clone();
    let first = table.index.first(number);
    let inside = !first.position.is_empty();
    if inside {
        place.enter(&key_of(first)).ok_or_else(|| bad("the block is out of order"))?;
    }
    let mut contents = Vec::new();
    let mut at = block.entries_start;
    while at < block.entries_end {
        let entry = block.entry(at);
        let found = entry.and_then(|entry| content(&block, entry).map(|found| (entry.end, found)));
        let (end, found) = found.ok_or_else(|| bad("an entry of the block cannot be read"))?;
        let is_header = matches!(found, Content::Partition { .. });
        if at == block.entries_start && is_header == inside || place.pass(&found).is_none() {
            return Err(bad("an entry of the block is out of order"));
        }
        contents.push(found);
        at = end;
    }
    Ok(Good { block, contents, place })
}

fn key_of(first: First<'_>) -> DecoratedKey {
    DecoratedKey { token: Token(first.token), bytes: Bytes::copy_from_slice(first.key) }
}

/// The bound at a row or range end up to which a deletion that is open before it certainly reaches.
fn reached(position: &[u8]) -> Vec<u8> {
    let mut bound = position.to_vec();
    match bound.last_mut() {
        Some(last) if *last == ROW => *last = AFTER,
        Some(_) => {}
        None => bound.push(AFTER),
    }
    bound
}

struct Salvage<'t> {
    table: &'t SsTable,
    keep: &'t mut dyn FnMut(Content) -> Result<(), Error>,
    place: Place,
    /// The range deletion that is open in what was kept.
    open: DeletionTime,
    /// The block before is lost: up to where what was open before is known to reach.
    lost_from: Option<Vec<u8>>,
}

impl Salvage<'_> {
    fn lost(&mut self, number: usize) {
        if self.lost_from.is_none() {
            self.lost_from = Some(reached(self.table.index.first(number).position));
        }
    }

    fn block(&mut self, number: usize, good: Good) -> Result<(), Error> {
        if let Some(bound) = self.lost_from.take() {
            self.resume(number, &good, bound)?;
        }
        for content in good.contents {
            match content {
                Content::Marker(marker) => {
                    self.marker(marker.position, marker.opens)?;
                }
                other => (self.keep)(other)?,
            }
        }
        self.place = good.place;
        Ok(())
    }

    /// Goes on behind lost blocks.
    fn resume(&mut self, number: usize, good: &Good, bound: Vec<u8>) -> Result<(), Error> {
        let first = self.table.index.first(number);
        let inside = !first.position.is_empty();
        let key = key_of(first);
        if !inside {
            return self.close(bound);
        }
        if self.place.key.as_ref() != Some(&key) {
            self.close(bound.clone())?;
            let deletion = good.block.deletion;
            (self.keep)(Content::Partition { key, deletion, static_row: None })?;
        }
        let open = good.block.open;
        if open == self.open {
            return Ok(());
        }
        let Some(Content::Row(row)) = good.contents.first() else {
            // A range end comes first: it closes what nobody has seen begin.
            return self.close(bound);
        };
        let mut before = row.position().to_vec();
        *before.last_mut().expect("a row's position ends in a byte of its own") = BEFORE;
        if before != bound {
            self.close(bound)?;
        }
        self.marker(before, open)
    }

    fn close(&mut self, bound: Vec<u8>) -> Result<(), Error> {
        self.marker(bound, DeletionTime::LIVE)
    }

    /// Ends what is open and begins `opens`.
    fn marker(&mut self, position: Vec<u8>, opens: DeletionTime) -> Result<(), Error> {
        let closes = std::mem::replace(&mut self.open, opens);
        if closes.is_live() && opens.is_live() {
            return Ok(());
        }
        (self.keep)(Content::Marker(Marker { position, closes, opens }))
    }
}
