//! Writes an SSTable from partitions in order, block by block.

use super::SsTable;
use super::compression::Compressor;
use super::filter::Filter;
use super::format::{self, RESTART_INTERVAL};
use super::index::{First, Index};
use super::options::WriteOptions;
use super::statistics::Collector;
use crate::error::Error;
use crate::row::DecoratedKey;
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::unfiltered::Marker;
use crate::row::varint::put_bytes;
use crate::sim::disk::Disk;
use std::sync::Arc;

/// Writes one SSTable. Partitions come by token and key; in each, rows and markers in clustering order.
#[derive(Debug)]
pub struct SsTableWriter {
    disk: Arc<dyn Disk>,
    name: String,
    /// The name until the file is whole.
    unfinished: String,
    options: WriteOptions,
    offset: u64,
    /// Bytes of entries written, before compression.
    written_bytes: u64,
    /// Bytes of blocks written, before compression.
    uncompressed_bytes: u64,
    block: OpenBlock,
    compressor: Compressor,
    /// The stored bytes of a block, if compressed.
    stored: Vec<u8>,
    index: Index,
    collector: Collector,
    tokens: Vec<i64>,
    first_key: Option<DecoratedKey>,
    partition: Option<OpenPartition>,
    scratch: Vec<u8>,
}

/// The block being filled.
#[derive(Debug, Default)]
struct OpenBlock {
    body: Vec<u8>,
    /// Offsets, and whether a range end lies between it and the next.
    restarts: Vec<(u32, bool)>,
    partitions: Vec<u32>,
    since_restart: usize,
    /// Position of its first entry; empty for a partition's header.
    first_position: Vec<u8>,
    first_token: i64,
    first_key: Vec<u8>,
}

/// The partition being written.
#[derive(Debug)]
struct OpenPartition {
    key: DecoratedKey,
    deletion: DeletionTime,
    has_static: bool,
    open: DeletionTime,
}

impl SsTableWriter {
    /// Begins a file of that name.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full.
    pub fn new(
        disk: Arc<dyn Disk>,
        name: String,
        options: WriteOptions,
    ) -> Result<SsTableWriter, Error> {
        let unfinished = format!("{name}.tmp");
        disk.delete(&unfinished)?;
        disk.append(&unfinished, &format::header(options.compression.codec))?;
        Ok(SsTableWriter {
            disk,
            name,
            unfinished,
            offset: format::HEADER_BYTES,
            written_bytes: 0,
            uncompressed_bytes: 0,
            block: OpenBlock::default(),
            compressor: Compressor::new(options.compression),
            stored: Vec::new(),
            index: Index::default(),
            collector: Collector::new(&options),
            tokens: Vec::with_capacity(options.estimated_partitions),
            options,
            first_key: None,
            partition: None,
            scratch: Vec::new(),
        })
    }

    /// Begins a partition, which ends the one before.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full.
    pub fn partition(
        &mut self,
        key: &DecoratedKey,
        deletion: DeletionTime,
        static_row: Option<&Row>,
    ) -> Result<(), Error> {
        let last = self.partition.as_ref();
        assert!(last.is_none_or(|last| last.key < *key), "partitions come in order");
        self.collector.partition(key.token.0, deletion, static_row, self.written_bytes);
        self.tokens.push(key.token.0);
        self.first_key.get_or_insert_with(|| key.clone());
        self.partition = Some(OpenPartition {
            key: key.clone(),
            deletion,
            has_static: static_row.is_some(),
            open: DeletionTime::LIVE,
        });
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        let statics = static_row.map(Row::as_bytes);
        format::put_partition(&mut payload, key.token.0, &key.bytes, deletion, statics);
        self.entry(format::ENTRY_PARTITION, &payload, &[])?;
        self.scratch = payload;
        Ok(())
    }

    /// Adds a row to the partition.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full.
    pub fn row(&mut self, row: &Row) -> Result<(), Error> {
        self.collector.row(row);
        self.entry(format::ENTRY_ROW, row.as_bytes(), row.position())
    }

    /// Adds an end of range deletions to the partition.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full.
    pub fn marker(&mut self, marker: &Marker) -> Result<(), Error> {
        self.collector.marker(marker);
        let mut payload = Vec::with_capacity(marker.position.len() + 32);
        format::put_marker(&mut payload, marker);
        self.entry(format::ENTRY_MARKER, &payload, &marker.position)?;
        self.partition.as_mut().expect("the entry above had a partition").open = marker.opens;
        Ok(())
    }

    fn entry(&mut self, kind: u8, payload: &[u8], position: &[u8]) -> Result<(), Error> {
        let partition =
            self.partition.as_ref().expect("rows and markers come after their partition");
        if self.block.body.is_empty() {
            self.block.begin(partition, kind, position, self.options.block_bytes);
        }
        let at = u32::try_from(self.block.body.len()).expect("a block is smaller than 4 GiB");
        if kind == format::ENTRY_PARTITION {
            self.block.partitions.push(at);
            self.block.since_restart = 0;
        }
        if self.block.since_restart == 0 {
            self.block.restarts.push((at, false));
        }
        if kind == format::ENTRY_MARKER
            && let Some((_, has_marker)) = self.block.restarts.last_mut()
        {
            *has_marker = true;
        }
        self.block.since_restart = (self.block.since_restart + 1) % RESTART_INTERVAL;
        format::put_entry(&mut self.block.body, kind, payload);
        self.written_bytes += self.block.body.len() as u64 - u64::from(at);
        if self.block.body.len() >= self.options.block_bytes {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), Error> {
        if self.block.body.is_empty() {
            return Ok(());
        }
        let block = &mut self.block;
        for (offset, has_marker) in &block.restarts {
            block.body.extend_from_slice(&format::restart(*offset, *has_marker));
        }
        for offset in &block.partitions {
            block.body.extend_from_slice(&offset.to_le_bytes());
        }
        for count in [block.restarts.len(), block.partitions.len()] {
            let count = u32::try_from(count).expect("a block is smaller than 4 GiB");
            block.body.extend_from_slice(&count.to_le_bytes());
        }
        let len = block.body.len();
        let bytes = match self.compressor.compress(&block.body) {
            Some(compressed) => {
                self.stored.clear();
                self.stored.extend_from_slice(compressed);
                format::put_block_tail(&mut self.stored, len, true);
                &self.stored
            }
            None => {
                format::put_block_tail(&mut block.body, len, false);
                &block.body
            }
        };
        self.disk.append(&self.unfinished, bytes)?;
        let first = First {
            token: block.first_token,
            key: &block.first_key,
            position: &block.first_position,
        };
        self.index.push(first, self.offset, bytes.len());
        self.offset += bytes.len() as u64;
        self.uncompressed_bytes += len as u64;
        self.block.clear();
        Ok(())
    }

    /// Bytes of the file so far, the open block included.
    pub fn size_bytes(&self) -> u64 {
        self.offset + self.block.body.len() as u64
    }

    /// Ends the file and opens it; `None` (and no file) if no partition was written.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk is full.
    pub fn finish(mut self) -> Result<Option<SsTable>, Error> {
        let (Some(first_key), Some(last)) = (self.first_key.clone(), &self.partition) else {
            self.abandon()?;
            return Ok(None);
        };
        let last_key = last.key.clone();
        if let Err(error) = self.finish_file(&first_key, &last_key) {
            self.abandon()?;
            return Err(error);
        }
        SsTable::open(self.disk, self.name).map(Some)
    }

    fn finish_file(
        &mut self,
        first_key: &DecoratedKey,
        last_key: &DecoratedKey,
    ) -> Result<(), Error> {
        self.end_block()?;
        let data_bytes = self.offset - format::HEADER_BYTES;
        let mut footer = Vec::with_capacity(64);
        let mut index = Vec::new();
        self.index.put(&mut index);
        self.section(index, &mut footer)?;
        self.section(
            Filter::new(&self.tokens, self.options.filter_fp_chance).to_bytes(),
            &mut footer,
        )?;
        let mut statistics = Vec::new();
        let collector = std::mem::replace(&mut self.collector, Collector::new(&self.options));
        collector
            .finish(self.written_bytes, self.uncompressed_bytes, data_bytes)
            .put(&mut statistics);
        for key in [first_key, last_key] {
            statistics.extend_from_slice(&key.token.0.to_le_bytes());
            put_bytes(&mut statistics, &key.bytes);
        }
        self.section(statistics, &mut footer)?;
        footer.extend_from_slice(&format::header(self.options.compression.codec));
        let checksum = crc32fast::hash(&footer);
        footer.extend_from_slice(&checksum.to_le_bytes());
        footer.extend_from_slice(format::END_MAGIC);
        self.disk.append(&self.unfinished, &footer)?;
        self.disk.sync(&self.unfinished)?;
        self.disk.rename(&self.unfinished, &self.name)
    }

    /// Gives up: removes what was written.
    ///
    /// # Errors
    /// [`Error::Storage`] if the disk refuses.
    pub fn abandon(self) -> Result<(), Error> {
        self.disk.delete(&self.unfinished)
    }

    fn section(&mut self, mut bytes: Vec<u8>, footer: &mut Vec<u8>) -> Result<(), Error> {
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        self.disk.append(&self.unfinished, &bytes)?;
        footer.extend_from_slice(&self.offset.to_le_bytes());
        footer.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

impl OpenBlock {
    /// Empties it and keeps its room.
    fn clear(&mut self) {
        self.body.clear();
        self.restarts.clear();
        self.partitions.clear();
        self.since_restart = 0;
        self.first_key.clear();
        self.first_position.clear();
    }

    fn begin(&mut self, partition: &OpenPartition, kind: u8, position: &[u8], block_bytes: usize) {
        self.body.reserve(block_bytes.min(64 << 10) + 1024);
        self.first_token = partition.key.token.0;
        self.first_key.extend_from_slice(&partition.key.bytes);
        self.first_position.extend_from_slice(position);
        if kind == format::ENTRY_PARTITION {
            self.body.push(0);
            return;
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        // What is open before the first entry: a marker that begins the block closes it.
        self.body.push(
            format::CONTINUES
                | flag(!partition.deletion.is_live(), format::HAS_DELETION)
                | flag(!partition.open.is_live(), format::HAS_OPEN)
                | flag(partition.has_static, format::HAS_STATIC),
        );
        for side in [partition.deletion, partition.open] {
            if !side.is_live() {
                format::put_deletion(&mut self.body, side);
            }
        }
    }
}
