//! Compressing data blocks, one by one, so that a read decompresses only what it touches.
//!
//! ```text
//! entries and trailer ----> as they are, if they do not shrink enough (min_compress_ratio)
//!                     `---> codec ----> stored bytes
//! ```
//!
//! The codecs are libraries; here are their common face and the buffers they reuse. The hash table of LZ4 and the
//! state of Zstd are kept from block to block. Zstd is the reference library in C, whose levels are Cassandra's; in a
//! browser it is a decoder and encoder in Rust that knows one level, and reads and writes the same frames. Not here: checksums, which cover the stored bytes ([`super::blocks`]).

use super::options::{Codec, Compression};
use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use std::sync::Arc;

/// Compresses the blocks of one file.
pub(super) struct Compressor {
    compression: Compression,
    /// What came out last; only the front of it counts.
    out: Vec<u8>,
    lz4: Option<CompressTable>,
    zstd: Option<zstd::Compressor>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("compression", &self.compression).finish_non_exhaustive()
    }
}

impl Compressor {
    pub(super) fn new(compression: Compression) -> Compressor {
        let zstd = match compression.codec {
            Codec::Zstd { level } => zstd::Compressor::new(level),
            _ => None,
        };
        let lz4 = (compression.codec == Codec::Lz4).then(CompressTable::default);
        Compressor { compression, out: Vec::new(), lz4, zstd }
    }

    /// The bytes compressed; `None` if they are to be stored as they are.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        let len = self.run(bytes)?;
        let worth = match self.compression.min_ratio {
            // Cassandra stores whatever came out; what grew is of use to nobody.
            0.0 => len < bytes.len(),
            ratio => len as f64 <= bytes.len() as f64 / ratio,
        };
        worth.then(|| &self.out[..len])
    }

    /// Fills `out`; says how much of it counts.
    fn run(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.compression.codec {
            Codec::None => None,
            Codec::Lz4 => {
                self.room(get_maximum_output_size(bytes.len()));
                compress_into_with_table(bytes, &mut self.out, self.lz4.as_mut()?).ok()
            }
            Codec::Zstd { .. } => {
                // The bound that the format's own library gives is below this.
                self.room(bytes.len() + bytes.len() / 128 + 1024);
                self.zstd.as_mut()?.compress(bytes, &mut self.out)
            }
            Codec::Snappy => {
                self.room(snap::raw::max_compress_len(bytes.len()));
                snap::raw::Encoder::new().compress(bytes, &mut self.out).ok()
            }
            Codec::Deflate => {
                // Level 6 is Java's default.
                self.out = miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6);
                Some(self.out.len())
            }
        }
    }

    fn room(&mut self, len: usize) {
        if self.out.len() < len {
            self.out.resize(len, 0);
        }
    }
}

/// Undoes [`Compressor::compress`]; `None` if the bytes are damaged or do not give exactly `len`.
pub(super) fn decompress(codec: Codec, stored: &[u8], len: usize) -> Option<Arc<[u8]>> {
    // One allocation, filled in place.
    let mut out: Arc<[u8]> = std::iter::repeat_n(0, len).collect();
    let room = Arc::get_mut(&mut out).expect("nobody else has it yet");
    let filled = match codec {
        Codec::None => return None,
        Codec::Lz4 => lz4_flex::block::decompress_into(stored, room).ok()?,
        Codec::Zstd { .. } => zstd::decompress(stored, room)?,
        Codec::Snappy => snap::raw::Decoder::new().decompress(stored, room).ok()?,
        Codec::Deflate => {
            let bytes =
                miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stored, len).ok()?;
            room.get_mut(..bytes.len())?.copy_from_slice(&bytes);
            bytes.len()
        }
    };
    (filled == len).then_some(out)
}

/// Zstd by the reference library.
#[cfg(not(target_arch = "wasm32"))]
mod zstd {
    /// Keeps the library's state from block to block.
    pub(super) struct Compressor(::zstd::bulk::Compressor<'static>);

    impl Compressor {
        pub(super) fn new(level: i32) -> Option<Compressor> {
            ::zstd::bulk::Compressor::new(level).ok().map(Compressor)
        }

        pub(super) fn compress(&mut self, bytes: &[u8], out: &mut [u8]) -> Option<usize> {
            self.0.compress_to_buffer(bytes, out).ok()
        }
    }

    pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Option<usize> {
        ::zstd::bulk::decompress_to_buffer(stored, out).ok()
    }
}

/// Zstd in Rust.
#[cfg(any(target_arch = "wasm32", test))]
mod zstd_in_rust {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// Has no state and one level.
    #[cfg(target_arch = "wasm32")]
    pub(super) struct Compressor;

    #[cfg(target_arch = "wasm32")]
    impl Compressor {
        pub(super) fn new(_level: i32) -> Option<Compressor> {
            Some(Compressor)
        }

        pub(super) fn compress(&mut self, bytes: &[u8], out: &mut [u8]) -> Option<usize> {
            compress(bytes, out)
        }
    }

    pub(super) fn compress(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
        let compressed = compress_to_vec(bytes, CompressionLevel::Fastest);
        out.get_mut(..compressed.len())?.copy_from_slice(&compressed);
        Some(compressed.len())
    }

    pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Option<usize> {
        ruzstd::decoding::FrameDecoder::new().decode_all(stored, out).ok()
    }
}

#[cfg(target_arch = "wasm32")]
use zstd_in_rust as zstd;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_of_zstd_read_each_other() {
        let bytes: Vec<u8> = (0..4_000_u32).flat_map(|n| (n / 9).to_be_bytes()).collect();
        let (mut one, mut other) = (vec![0; 20_000], vec![0; 20_000]);
        let mut compressor = zstd::Compressor::new(19).unwrap();
        let by_c = compressor.compress(&bytes, &mut one).unwrap();
        let by_rust = zstd_in_rust::compress(&bytes, &mut other).unwrap();
        let mut back = vec![0; bytes.len()];
        assert_eq!(zstd_in_rust::decompress(&one[..by_c], &mut back), Some(bytes.len()));
        assert_eq!(back, bytes);
        back.fill(0);
        assert_eq!(zstd::decompress(&other[..by_rust], &mut back), Some(bytes.len()));
        assert_eq!(back, bytes);
    }

    #[test]
    fn every_codec_gives_back_what_it_took() {
        let repeating: Vec<u8> = (0..20_000_u32).flat_map(|n| (n / 7).to_be_bytes()).collect();
        let codecs = [
            Codec::Lz4,
            Codec::Zstd { level: 3 },
            Codec::Zstd { level: -5 },
            Codec::Snappy,
            Codec::Deflate,
        ];
        for codec in codecs {
            let mut compressor = Compressor::new(Compression { codec, min_ratio: 0.0 });
            for bytes in [&repeating[..], &repeating[..1_000]] {
                let stored = compressor.compress(bytes).unwrap().to_vec();
                assert!(stored.len() < bytes.len() * 7 / 10, "{codec:?}: {}", stored.len());
                assert_eq!(decompress(codec, &stored, bytes.len()).as_deref(), Some(bytes));
                assert_eq!(decompress(codec, &stored, bytes.len() - 1), None, "{codec:?}");
                assert_eq!(decompress(codec, &stored, bytes.len() + 1), None, "{codec:?}");
                assert_eq!(decompress(codec, &stored[..stored.len() / 2], bytes.len()), None);
            }
            assert_eq!(compressor.compress(&[]), None, "what does not shrink stays");
            let mut picky = Compressor::new(Compression { codec, min_ratio: 1000.0 });
            assert_eq!(picky.compress(&repeating), None, "{codec:?}");
        }
    }
}
