//! Chance is given: one seed, a stream for each part.
//!
//! Each part of the cluster draws from a stream of its own, named by a label, so that one part drawing once more
//! or once less changes nothing for the others:
//!
//! ```text
//! seed 7 --fork("tokens")--> node tokens       same for seed 7, whatever else was drawn
//!        --fork("uuids")---> uuid(), hosts
//!        --fork("links")---> which message is lost, and how late the others are
//! ```
//!
//! The generator is PCG-64 (crate `rand_pcg`): small, and its output is fixed for good, so that a seed written
//! down in a bug report still replays.

use rand_core::Rng as _;
use rand_pcg::Pcg64;

/// A stream of random numbers. Two with the same seed and labels give the same numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    /// What forks start from: the root seed and the labels so far, whatever was drawn since.
    origin: u128,
    generator: Pcg64,
}

impl Rng {
    /// The root stream of a seed.
    pub fn new(seed: u64) -> Rng {
        Rng::from_origin(mix(FNV_OFFSET, &seed.to_be_bytes()))
    }

    /// The stream of one part. Depends on the seed and the label alone, not on what was drawn before.
    pub fn fork(&self, label: &str) -> Rng {
        Rng::from_origin(mix(mix(self.origin, b"/"), label.as_bytes()))
    }

    fn from_origin(origin: u128) -> Rng {
        Rng { origin, generator: Pcg64::new(origin, origin.rotate_left(64)) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number from 0 to `bound` - 1, each as likely as the others.
    /// Requires: `bound` is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a number below 0 cannot be drawn");
        // Draws past the last whole multiple of `bound` would favour small numbers: draw again.
        let unbiased = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.next_u64();
            if drawn < unbiased {
                return drawn % bound;
            }
        }
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.generator.fill_bytes(bytes);
    }
}

/// FNV-1a with 128 bits: spreads short labels over the whole state.
const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn mix(state: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(state, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_depends_on_seed_and_label_alone() {
        let mut root = Rng::new(7);
        let mut before = root.fork("tokens");
        root.next_u64();
        let mut after = root.fork("tokens");
        assert_eq!(before.next_u64(), after.next_u64());
        assert_ne!(root.fork("tokens").next_u64(), root.fork("uuids").next_u64());
        assert_ne!(root.fork("tokens").next_u64(), Rng::new(8).fork("tokens").next_u64());
        assert_ne!(root.fork("a").fork("b").next_u64(), root.fork("ab").next_u64());
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[usize::try_from(rng.below(6)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
