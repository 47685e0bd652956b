//! About how many different partitions several SSTables hold together.
//!
//! ```text
//! token   0110 1001 0001 ...    the first ten bits choose one of 1024 registers,
//!         `--.-----´ `-.-´      which keeps the longest run of zeros seen in the rest
//! ```
//!
//! A long run is rare, so its length tells how many tokens there were (HyperLogLog, Flajolet and others, 2007; a few
//! hundred are told by the registers left empty). Two sketches are united by taking the greater registers: partitions
//! in both count once. Off by 3 % as a rule. Of one SSTable the number is known exactly and no sketch is asked.

use crate::row::varint::{Reader, put};

const BITS: u32 = 10;
const REGISTERS: usize = 1 << BITS;

/// A sketch of a set of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cardinality {
    registers: Box<[u8; REGISTERS]>,
}

impl Default for Cardinality {
    fn default() -> Cardinality {
        Cardinality { registers: Box::new([0; REGISTERS]) }
    }
}

impl Cardinality {
    /// Adds a token, which is as good as random already.
    pub fn add(&mut self, token: i64) {
        let bits = token as u64;
        let register = &mut self.registers[(bits >> (64 - BITS)) as usize];
        let run = ((bits << BITS) | (1 << (BITS - 1))).leading_zeros() + 1;
        *register = (*register).max(run as u8);
    }

    /// Becomes the sketch of both sets.
    pub fn unite(&mut self, other: &Cardinality) {
        for (here, there) in self.registers.iter_mut().zip(other.registers.iter()) {
            *here = (*here).max(*there);
        }
    }

    /// About how many tokens were added, those that came twice counted once.
    pub fn estimate(&self) -> u64 {
        let m = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|run| f64::from(*run).exp2().recip()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = self.registers.iter().filter(|run| **run == 0).count();
        let estimate = if raw <= 2.5 * m && empty > 0 { m * (m / empty as f64).ln() } else { raw };
        estimate.round() as u64
    }

    /// Filled registers by number while they are few, else all.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let filled = self.registers.iter().enumerate().filter(|(_, run)| **run > 0);
        let count = filled.clone().count();
        put(out, count as u64);
        if count > REGISTERS / 3 {
            out.extend_from_slice(&self.registers[..]);
            return;
        }
        for (index, run) in filled {
            put(out, index as u64);
            out.push(*run);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Cardinality> {
        let mut sketch = Cardinality::default();
        let count = reader.u64()?;
        if count > (REGISTERS / 3) as u64 {
            sketch.registers.copy_from_slice(reader.take(REGISTERS)?);
            return Some(sketch);
        }
        for _ in 0..count {
            let index = usize::try_from(reader.u64()?).ok()?;
            *sketch.registers.get_mut(index)? = reader.u8()?;
        }
        Some(sketch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::token::murmur3_token;

    fn sketch(numbers: std::ops::Range<i32>) -> Cardinality {
        let mut sketch = Cardinality::default();
        numbers.for_each(|n| sketch.add(murmur3_token(&n.to_be_bytes()).0));
        sketch
    }

    #[test]
    fn unions_count_shared_partitions_once() {
        for (n, off) in [(4, 0.0), (100, 0.03), (10_000, 0.08)] {
            let mut both = sketch(0..n);
            both.unite(&sketch(n / 2..n + n / 2));
            let truth = f64::from(n) * 1.5;
            let apart = (both.estimate() as f64 - truth).abs() / truth;
            assert!(apart <= off, "{n}: {} for {truth}", both.estimate());
        }
        let mut bytes = Vec::new();
        for n in [0, 3, 5000] {
            bytes.clear();
            sketch(0..n).put(&mut bytes);
            assert_eq!(Cardinality::read(&mut Reader::new(&bytes)), Some(sketch(0..n)));
        }
    }
}
