//! Which partitions an SSTable surely does not hold: a Bloom filter over tokens.
//!
//! ```text
//! token --mix--> second hash;  bit i = (token + i * second) scaled to the number of bits,  i = 0 .. hashes
//! ```
//!
//! The token is Murmur3's of the key already, so it is not hashed again: the second hash is a mix of it, and the others are
//! sums of both (Kirsch and Mitzenmacher). An absent key meets a clear bit after two looks on average.
//!
//! On disk: number of hashes (1), then the bits, eight a byte. A file without a filter has zero hashes and lets all pass.

/// Bits and how many of them a token has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    hashes: u8,
    bits: Vec<u8>,
}

/// More hashes than any chance of false positives worth a filter asks for.
const HASHES_MAX: f64 = 30.0;

impl Filter {
    /// A filter of these tokens that aims at so many false positives; 1: none, all pass.
    pub(super) fn new(tokens: &[i64], fp_chance: f64) -> Filter {
        if fp_chance >= 1.0 || tokens.is_empty() {
            return Filter { hashes: 0, bits: Vec::new() };
        }
        // Bits a token: ln(1/p) / ln(2)^2; hashes: bits * ln(2).
        let ln_2 = std::f64::consts::LN_2;
        let bits_each = fp_chance.max(1e-9).recip().ln() / (ln_2 * ln_2);
        let hashes = (bits_each * ln_2).round().clamp(1.0, HASHES_MAX) as u8;
        let bytes = (bits_each * tokens.len() as f64 / 8.0).ceil().max(8.0) as usize;
        let mut filter = Filter { hashes, bits: vec![0; bytes] };
        for token in tokens {
            for number in 0..hashes {
                let bit = filter.place(*token, number);
                filter.bits[bit / 8] |= 1 << (bit % 8);
            }
        }
        filter
    }

    /// Whether the token may be among them; false is certain.
    #[inline]
    pub(super) fn may_contain(&self, token: i64) -> bool {
        (0..self.hashes).all(|number| {
            let bit = self.place(token, number);
            self.bits[bit / 8] & (1 << (bit % 8)) != 0
        })
    }

    /// Which bit is the token's of that number.
    #[inline]
    fn place(&self, token: i64, number: u8) -> usize {
        let token = token.cast_unsigned();
        let hash = token.wrapping_add(mix(token).wrapping_mul(u64::from(number)));
        let bits = self.bits.len() as u128 * 8;
        // The upper half of the product lies evenly in 0 .. bits; no division.
        ((u128::from(hash) * bits) >> 64) as usize
    }

    /// Bytes of its bits.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bits.len()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + self.bits.len());
        bytes.push(self.hashes);
        bytes.extend_from_slice(&self.bits);
        bytes
    }

    /// Reads what [`Filter::to_bytes`] gave.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Filter> {
        let (&hashes, bits) = bytes.split_first()?;
        let fits = (hashes == 0) == bits.is_empty() && f64::from(hashes) <= HASHES_MAX;
        fits.then(|| Filter { hashes, bits: bits.to_vec() })
    }
}

/// A hash of a hash (the finalizer of splitmix64).
#[inline]
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::DecoratedKey;

    fn tokens(range: std::ops::Range<i32>) -> Vec<i64> {
        range.map(|key| DecoratedKey::from_components(&[&key.to_be_bytes()]).token.0).collect()
    }

    #[test]
    fn holds_all_and_lets_few_others_pass() {
        let (held, others) = (tokens(0..10_000), tokens(10_000..110_000));
        for (chance, bytes_max) in [(0.01, 12_100), (0.1, 6_100), (0.001, 18_100)] {
            let filter = Filter::new(&held, chance);
            let filter = Filter::from_bytes(&filter.to_bytes()).unwrap();
            assert!(held.iter().all(|token| filter.may_contain(*token)));
            let passed = others.iter().filter(|token| filter.may_contain(**token)).count() as f64;
            let rate = passed / others.len() as f64;
            assert!(rate < 1.3 * chance, "{rate} of {chance}");
            let mut other =
                bloomfilter::Bloom::new_for_fp_rate_with_seed(10_000, chance, &[7; 32]).unwrap();
            held.iter().for_each(|token| other.set(token));
            let passed_other = others.iter().filter(|token| other.check(token)).count() as f64;
            assert!(
                passed < 1.3 * passed_other + 30.0,
                "{passed}, a well-known crate {passed_other}"
            );
            assert!(filter.to_bytes().len() <= bytes_max, "{}", filter.to_bytes().len());
        }
    }

    #[test]
    fn without_a_filter_all_pass() {
        let filter = Filter::new(&tokens(0..10), 1.0);
        assert!(tokens(10..20).into_iter().all(|token| filter.may_contain(token)));
        assert_eq!(filter.to_bytes(), [0]);
        for bad in [&[][..], &[0, 1], &[1], &[31, 0]] {
            assert_eq!(Filter::from_bytes(bad), None, "{bad:?}");
        }
    }
}
