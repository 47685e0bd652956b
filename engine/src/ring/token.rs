//! Tokens: Cassandra's variant of Murmur3.
//!
//! The hash is MurmurHash3 x64 128 with seed 0, of which the first half is the token, with one deviation: in the tail (the
//! last `len % 16` bytes) each byte is taken as *signed* and widened before it is shifted and XORed in.
//!
//! ```text
//! key 8b        standard: k1 ^= 0x00000000_0000008b      Cassandra: k1 ^= 0xffffffff_ffffff8b
//! key of 16 bytes: no tail, both agree
//! ```
//!
//! Whole blocks are read unsigned, as usual. So 60 of the 95 vectors differ from what the crate `murmur3` gives
//! (native-protocol.md 15); the tests compare with it where both must agree.

/// A place on the ring (Cassandra's `LongToken`).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Token(pub i64);

impl Token {
    /// The minimum token: owned by no key; in a range it means "no bound".
    pub const MIN: Token = Token(i64::MIN);
}

/// The token of a serialised partition key; the empty key has [`Token::MIN`].
pub fn murmur3_token(key: &[u8]) -> Token {
    if key.is_empty() {
        return Token::MIN;
    }
    // The minimum token is owned by no key: the one hash that falls on it moves to the other end.
    match murmur3_first_half(key) {
        i64::MIN => Token(i64::MAX),
        hash => Token(hash),
    }
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn murmur3_first_half(key: &[u8]) -> i64 {
    let (mut h1, mut h2) = (0u64, 0u64);
    let (blocks, tail) = key.as_chunks::<16>();
    for block in blocks {
        let word = u128::from_le_bytes(*block);
        let [k1, k2] = [word, word >> 64].map(|half| (half & u128::from(u64::MAX)) as u64);
        h1 ^= mix_k1(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_k2(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (mut k1, mut k2) = (0u64, 0u64);
    for (i, &byte) in tail.iter().enumerate() {
        let widened = i64::from(byte.cast_signed()).cast_unsigned();
        if i < 8 {
            k1 ^= widened << (8 * i);
        } else {
            k2 ^= widened << (8 * (i - 8));
        }
    }
    h1 ^= mix_k1(k1);
    h2 ^= mix_k2(k2);
    h1 ^= key.len() as u64;
    h2 ^= key.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    avalanche(h1).wrapping_add(avalanche(h2)).cast_signed()
}

fn mix_k1(k1: u64) -> u64 {
    k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_k2(k2: u64) -> u64 {
    k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// Every bit of the input touches every bit of the output.
fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}
