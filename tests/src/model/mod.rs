//! Random histories, run on a cluster and on a plain model at once.
//!
//! ```text
//! seed --generate--> schema, steps --history--> cluster: answer --+
//!                                          \--> store:   answer --+--> equal, or: shrink, print, fail
//! ```
//!
//! The model ([`store`], [`answer`]) shares nothing with the engine but the token of a key: it keeps every cell
//! and deletion ever written in maps, and reads by asking of each cell which deletions cover it. A failing history is
//! printed with its seed as CQL, as short as [`shrink`] could make it.
//!
//! Not here: counters, conditions, schema changes, messages that get lost.

pub mod answer;
pub mod generate;
pub mod history;
pub mod statement;
pub mod store;
pub mod value;

pub use generate::{history, wide};
pub use history::{History, Shares, run, shrink};

/// Runs the histories of these seeds and counts their kinds in.
///
/// # Errors
/// The first that differs: its shortest form and where it differs.
pub fn check(seeds: impl Iterator<Item = u64>, shares: &mut Shares) -> Result<(), String> {
    for seed in seeds {
        let history = history(seed);
        shares.count(&history);
        if let Err(difference) = run(&history) {
            let (history, difference) = shrink(history, difference);
            return Err(format!("{history}\n{difference}"));
        }
    }
    Ok(())
}
