//! SSTables: sorted, immutable files of partitions.
//!
//! ```text
//! header | block block block ... | index | filter | statistics | footer
//! ```
//!
//! A block holds partition headers, rows and range ends in order; a wide partition goes on over many blocks, and
//! each says what deletion is open where it begins, so that reading can start at any. [`index`] finds the block,
//! [`reader`] walks it in both directions, [`blocks`] brings blocks into memory, [`writer`] writes one. Bytes: [`format`] and docs/formats.md.
//!
//! An [`SsTable`] keeps its index, filter and statistics in memory and reads only data blocks later on. When it is
//! no longer wanted it is marked, and its file goes with the last reader.

pub mod blocks;
pub mod cardinality;
mod compression;
mod filter;
pub(crate) mod format;
pub mod histogram;
mod index;
pub mod options;
pub(crate) mod reader;
pub mod salvage;
pub mod statistics;
pub(crate) mod walk;
pub mod writer;

pub use blocks::BlockCache;
pub use options::{Codec, Compression, WriteOptions};
pub use statistics::Statistics;
pub use writer::SsTableWriter;

use crate::error::Error;
use crate::ring::Token;
use crate::row::DecoratedKey;
use crate::row::varint::Reader;
use crate::sim::disk::Disk;
use bytes::Bytes;
use filter::Filter;
use format::damaged;
use index::Index;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// An open SSTable. Any thread may read it.
#[derive(Debug)]
pub struct SsTable {
    disk: Arc<dyn Disk>,
    name: String,
    index: Index,
    filter: Filter,
    codec: Codec,
    statistics: Statistics,
    first_key: DecoratedKey,
    last_key: DecoratedKey,
    size_bytes: u64,
    /// Of this open file alone: its blocks in the cache are known by it.
    unique: u64,
    spread: u64,
    obsolete: AtomicBool,
}

/// Numbers of open files; never given twice, whatever cluster they belong to.
static NEXT_UNIQUE: AtomicU64 = AtomicU64::new(0);

impl SsTable {
    /// Opens a file: reads and checks everything but its data blocks.
    ///
    /// # Errors
    /// [`Error::Storage`] with the place of the damage.
    pub fn open(disk: Arc<dyn Disk>, name: String) -> Result<SsTable, Error> {
        let size_bytes = disk.size_bytes(&name)?;
        let footer_at = size_bytes.checked_sub(format::FOOTER_BYTES);
        let footer_at = footer_at
            .filter(|at| *at >= format::HEADER_BYTES)
            .ok_or_else(|| damaged(&name, 0, "the file is too short for an SSTable"))?;
        let (codec, header) = read_header(&*disk, &name)?;
        let sections = read_footer(&*disk, &name, footer_at, &header)?;
        let section = |number: usize| read_section(&*disk, &name, sections[number], footer_at);
        let bad = |number: usize, what: &str| damaged(&name, sections[number].0, what);
        let bytes = section(0)?;
        let index = Index::read(&mut Reader::new(&bytes), sections[0].0)
            .filter(|index| index.len() > 0)
            .ok_or_else(|| bad(0, "the index cannot be read"))?;
        let filter =
            Filter::from_bytes(&section(1)?).ok_or_else(|| bad(1, "the filter cannot be read"))?;
        let bytes = section(2)?;
        let mut reader = Reader::new(&bytes);
        let parts = (|| {
            let statistics = Statistics::read(&mut reader)?;
            let mut key = || {
                let token = Token(reader.fixed_i64()?);
                Some(DecoratedKey { token, bytes: Bytes::copy_from_slice(reader.bytes()?) })
            };
            Some((statistics, key()?, key()?))
        })();
        let (statistics, first_key, last_key) =
            parts.ok_or_else(|| bad(2, "the statistics cannot be read"))?;
        Ok(SsTable {
            disk,
            index,
            filter,
            statistics,
            first_key,
            last_key,
            size_bytes,
            codec,
            unique: NEXT_UNIQUE.fetch_add(1, Relaxed),
            spread: blocks::spread_of(&name),
            name,
            obsolete: AtomicBool::new(false),
        })
    }

    /// Name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length of the file.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What is known of its content.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Its first partition.
    pub fn first_key(&self) -> &DecoratedKey {
        &self.first_key
    }

    /// Its last partition.
    pub fn last_key(&self) -> &DecoratedKey {
        &self.last_key
    }

    /// Number of data blocks.
    pub fn blocks(&self) -> usize {
        self.index.len()
    }

    /// Whether the key lies between the first and the last.
    pub fn spans(&self, key: &DecoratedKey) -> bool {
        self.first_key <= *key && *key <= self.last_key
    }

    /// Whether the partition may be here; false is certain.
    pub fn may_contain(&self, key: &DecoratedKey) -> bool {
        self.filter.may_contain(key.token.0)
    }

    /// How its blocks are compressed.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Bytes of memory that its index and filter take.
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes() + self.filter_bytes()
    }

    /// Bytes of memory that its filter takes.
    pub fn filter_bytes(&self) -> usize {
        self.filter.memory_bytes()
    }

    /// The file is to be removed when its last reader is done.
    pub fn mark_obsolete(&self) {
        self.obsolete.store(true, Relaxed);
    }
}

impl Drop for SsTable {
    fn drop(&mut self) {
        if self.obsolete.load(Relaxed) {
            // A file that cannot be removed now is found again by the next start.
            let _ = self.disk.delete(&self.name);
        }
    }
}

/// The codec, and the header itself.
fn read_header(disk: &dyn Disk, name: &str) -> Result<(Codec, Arc<[u8]>), Error> {
    let header = disk.read_at(name, 0, 8)?;
    if header[..4] != *format::MAGIC {
        return Err(damaged(name, 0, "this is no SSTable"));
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != format::VERSION {
        return Err(damaged(name, 4, &format!("version {version} of the format is not known")));
    }
    match format::codec(header[6]) {
        Some(codec) => Ok((codec, header)),
        None => Err(damaged(name, 6, &format!("codec {} is not known", header[6]))),
    }
}

/// Offset and length of the three sections. The footer repeats the header, so that its checksum covers both.
fn read_footer(
    disk: &dyn Disk,
    name: &str,
    at: u64,
    header: &[u8],
) -> Result<[(u64, u64); 3], Error> {
    let footer =
        disk.read_at(name, at, usize::try_from(format::FOOTER_BYTES).expect("it is small"))?;
    let (body, tail) = footer.split_at(56);
    let bad = || damaged(name, at, "the footer is damaged or the file was not finished");
    if tail[4..] != *format::END_MAGIC || crc32fast::hash(body).to_le_bytes() != tail[..4] {
        return Err(bad());
    }
    if body[48..] != *header {
        return Err(damaged(name, 0, "the header is damaged"));
    }
    let mut reader = Reader::new(body);
    let mut sections = [(0, 0); 3];
    for section in &mut sections {
        let mut number = || reader.fixed_i64().and_then(|n| u64::try_from(n).ok()).ok_or_else(bad);
        *section = (number()?, number()?);
    }
    Ok(sections)
}

fn read_section(
    disk: &dyn Disk,
    name: &str,
    (offset, len): (u64, u64),
    limit: u64,
) -> Result<Arc<[u8]>, Error> {
    let fits = offset.checked_add(len).is_some_and(|end| end <= limit) && len >= 4;
    let len = usize::try_from(len).ok().filter(|_| fits);
    let len = len.ok_or_else(|| damaged(name, offset, "a section lies outside the file"))?;
    let bytes = disk.read_at(name, offset, len)?;
    check_sum(name, offset, &bytes)?;
    Ok(Arc::from(&bytes[..len - 4]))
}

/// Checks the checksum that `bytes` end with.
pub(crate) fn check_sum(name: &str, offset: u64, bytes: &[u8]) -> Result<(), Error> {
    let good = bytes
        .split_last_chunk::<4>()
        .is_some_and(|(body, sum)| crc32fast::hash(body).to_le_bytes() == *sum);
    if good { Ok(()) } else { Err(damaged(name, offset, "the checksum does not match")) }
}
