//! How blocks come into memory: read, checked, decompressed, kept.
//!
//! ```text
//! disk ----> stored bytes ----> checksum ----> codec ----> Block ----> cache of all tables
//!  counted
//! ```
//!
//! One cache of bounded size serves all tables of a cluster. It keeps blocks decompressed and taken apart, so that a
//! read that finds one pays for neither. A block is known by its file's own number, which is never given twice in a
//! process; where it lies in the cache depends on the file's name alone, so that the same run finds the same blocks.
//! Compactions and flushes pass it by: they read each block once.
//!
//! Every checksum is checked, whatever `crc_check_chance` says: rows are used where they lie, so behind a good checksum
//! nothing has to be checked again, and at hardware speed it is the cheapest step of the four (docs/compat.md).

use super::format::{self, Block, damaged};
use super::{SsTable, check_sum, compression};
use crate::error::Error;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

/// Default size of the cache: 32 MiB (contracts 17).
pub const CACHE_BYTES: u64 = 32 << 20;

/// Locks of the cache: few enough that one part can hold a large block.
const SHARDS: usize = 4;

/// Decompressed blocks of all SSTables of a cluster, the most useful ones. Any thread may use it.
pub struct BlockCache {
    blocks: Cache<Key, Arc<Block>, Weight, BuildHasherDefault<Spread>>,
}

impl fmt::Debug for BlockCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCache")
            .field("size_bytes", &self.size_bytes())
            .field("capacity_bytes", &self.blocks.capacity())
            .finish_non_exhaustive()
    }
}

/// A block of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    /// Number of the open file, given once.
    file: u64,
    /// From its name: the same in every run.
    spread: u64,
    block: u32,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.spread.wrapping_add(u64::from(self.block)));
    }
}

/// A fixed hash: splitmix64 over what is written.
#[derive(Clone, Copy, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        let mut z = self.0.wrapping_add(value).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
    }
}

/// The hash of a file's name, for [`Key::spread`].
pub(super) fn spread_of(name: &str) -> u64 {
    let mut hasher = Spread::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A block weighs its bytes and what is kept beside them.
#[derive(Clone, Copy, Debug)]
struct Weight;

impl Weighter<Key, Arc<Block>> for Weight {
    fn weight(&self, _: &Key, block: &Arc<Block>) -> u64 {
        block.bytes.len() as u64 + 128
    }
}

impl BlockCache {
    /// A cache of so many bytes.
    pub fn new(capacity_bytes: u64) -> BlockCache {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .weight_capacity(capacity_bytes)
            // Grows with what is kept: an idle cluster has no room set aside.
            .estimated_items_capacity(0)
            .build()
            .expect("capacity and number of items are given");
        let blocks = Cache::with_options(
            options,
            Weight,
            BuildHasherDefault::default(),
            DefaultLifecycle::default(),
        );
        BlockCache { blocks }
    }

    /// Bytes that it holds.
    pub fn size_bytes(&self) -> u64 {
        self.blocks.weight()
    }

    /// Bytes that it may hold.
    pub fn capacity_bytes(&self) -> u64 {
        self.blocks.capacity()
    }

    /// Number of blocks that it holds.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives it another size.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        self.blocks.set_capacity(capacity_bytes);
    }
}

/// Where a block came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Cache,
    /// Bytes read.
    Disk(u64),
}

impl SsTable {
    /// The block of that number, from the cache if it has it; without a cache it is read from disk.
    ///
    /// # Errors
    /// [`Error::Storage`] if it is damaged.
    pub(super) fn block(
        &self,
        number: usize,
        cache: Option<&BlockCache>,
    ) -> Result<(Arc<Block>, From), Error> {
        let Some(cache) = cache else {
            let (block, len) = self.read_block(number)?;
            return Ok((Arc::new(block), From::Disk(len)));
        };
        let block = u32::try_from(number).expect("an index is smaller than 4 GiB");
        let key = Key { file: self.unique, spread: self.spread, block };
        if let Some(block) = cache.blocks.get(&key) {
            return Ok((block, From::Cache));
        }
        let (block, len) = self.read_block(number)?;
        let block = Arc::new(block);
        cache.blocks.insert(key, Arc::clone(&block));
        Ok((block, From::Disk(len)))
    }

    /// Reads a block from disk; says how many bytes that were.
    fn read_block(&self, number: usize) -> Result<(Block, u64), Error> {
        let (offset, len) = self.index.extent(number);
        let bytes = self.disk.read_at(&self.name, offset, len)?;
        let bad = |what: &str| damaged(&self.name, offset, what);
        check_sum(&self.name, offset, &bytes)?;
        let (body, how) =
            format::stored(&bytes).ok_or_else(|| bad("the end of a block cannot be read"))?;
        let bytes = match how {
            format::Stored::AsIs => bytes.clone(),
            format::Stored::Compressed { len } => {
                compression::decompress(self.codec, &bytes[..body], len)
                    .ok_or_else(|| bad("the block cannot be decompressed"))?
            }
        };
        let body = if how == format::Stored::AsIs { body } else { bytes.len() };
        let block = Block::parse(bytes, body).ok_or_else(|| bad("the block cannot be read"))?;
        Ok((block, len as u64))
    }
}
