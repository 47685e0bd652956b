//! How an SSTable is to be written: what its table's options say, and what the one who writes it knows.

use crate::schema::Table;

/// How to write one SSTable.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteOptions {
    /// False positives that the filter aims at: `bloom_filter_fp_chance`; 1 for no filter.
    pub filter_fp_chance: f64,
    /// A data block is closed when it reaches so many bytes before compression: `chunk_length_in_kb`.
    pub block_bytes: usize,
    /// How blocks are compressed.
    pub compression: Compression,
    /// Level that leveled compaction gives; 0 for a flush.
    pub level: u32,
    /// Now, by the node's clock. Seconds.
    pub created_seconds: i64,
    /// When the data was repaired, milliseconds; 0: never.
    pub repaired_at_millis: i64,
    /// About how many partitions will come, 0 if that is not known: room that need not grow.
    pub estimated_partitions: usize,
}

/// How data blocks are compressed: codec, its level, and what it must save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    /// The codec.
    pub codec: Codec,
    /// A block is stored as it is unless it shrinks at least so many times (`min_compress_ratio`; 0: always).
    pub min_ratio: f64,
}

/// A codec, with what it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Blocks are stored as they are.
    None,
    /// `LZ4Compressor`.
    Lz4,
    /// `ZstdCompressor` with its `compression_level`.
    Zstd {
        /// -131072 to 22, 3 if not given.
        level: i32,
    },
    /// `SnappyCompressor`.
    Snappy,
    /// `DeflateCompressor`.
    Deflate,
}

/// Blocks of more than this are of no use to a reader, whatever `chunk_length_in_kb` allows.
const BLOCK_BYTES_MAX: usize = 16 << 20;

impl WriteOptions {
    /// What the table's options say of a file made now.
    pub fn of(table: &Table, now_seconds: i64) -> WriteOptions {
        let options = &table.options;
        let chunk_kib = options.compression.get("chunk_length_in_kb");
        let chunk_kib = chunk_kib.and_then(|text| text.parse::<usize>().ok()).unwrap_or(16);
        WriteOptions {
            filter_fp_chance: options.bloom_filter(),
            block_bytes: chunk_kib.saturating_mul(1024).clamp(1024, BLOCK_BYTES_MAX),
            compression: Compression::of(table),
            level: 0,
            created_seconds: now_seconds,
            repaired_at_millis: 0,
            estimated_partitions: 0,
        }
    }
}

impl Codec {
    /// Simple name of Cassandra's class; `None` where blocks are stored as they are.
    pub fn class(self) -> Option<&'static str> {
        match self {
            Codec::None => None,
            Codec::Lz4 => Some("LZ4Compressor"),
            Codec::Zstd { .. } => Some("ZstdCompressor"),
            Codec::Snappy => Some("SnappyCompressor"),
            Codec::Deflate => Some("DeflateCompressor"),
        }
    }
}

impl Compression {
    /// Blocks stay as they are.
    pub const NONE: Compression = Compression { codec: Codec::None, min_ratio: 0.0 };

    /// What `WITH compression` of the table says; the front end has checked it.
    pub fn of(table: &Table) -> Compression {
        let options = &table.options.compression;
        let class = options.get("class").map_or("", String::as_str);
        let codec = match class.rsplit('.').next().unwrap_or_default() {
            "LZ4Compressor" => Codec::Lz4,
            "ZstdCompressor" => {
                let level = options.get("compression_level").and_then(|text| text.parse().ok());
                Codec::Zstd { level: level.unwrap_or(3) }
            }
            "SnappyCompressor" => Codec::Snappy,
            "DeflateCompressor" => Codec::Deflate,
            _ => Codec::None,
        };
        let min_ratio = options.get("min_compress_ratio").and_then(|text| text.parse().ok());
        Compression { codec, min_ratio: min_ratio.unwrap_or(0.0) }
    }
}
