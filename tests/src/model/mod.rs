//! Random histories, run on a cluster and on a plain model at once.
//!
//! ```text
//! seed --generate--> schema, steps --history--> world (cluster): answer --+
//!                                          \--> store:           answer --+--> equal, or: shrink, print, fail
//! ```
//!
//! The model ([`store`], [`answer`]) shares nothing with the engine but the token of a key: it keeps every cell
//! and deletion ever written in maps, and reads by asking of each cell which deletions cover it. A failing history is
//! printed with its seed as CQL, as short as [`shrink`] could make it.
//!
//! Between statements files are flushed, merged by every strategy and reopened, and the clock moves past gc_grace
//! ([`work`]): no answer may change by it. What the model may then still be asked is told in [`admit`].
//!
//! Not here: counters, conditions, schema changes, messages that get lost.

pub mod admit;
pub mod answer;
pub mod generate;
pub mod history;
pub mod shares;
pub mod statement;
pub mod store;
pub mod value;
pub mod work;
pub mod world;
mod writes;

pub use generate::{calm, history, storm, wide};
pub use history::{History, run, shrink, watch};
pub use shares::Shares;

/// Runs the histories of these seeds and counts their kinds in.
///
/// # Errors
/// The first that differs: its shortest form and where it differs.
pub fn check(seeds: impl Iterator<Item = u64>, shares: &mut Shares) -> Result<(), String> {
    for seed in seeds {
        let history = history(seed);
        shares.count(&history);
        match run(&history) {
            Ok(left_out) => shares.left_out += left_out as u64,
            Err(difference) => {
                let (history, difference) = shrink(history, difference);
                return Err(format!("{history}\n{difference}"));
            }
        }
    }
    Ok(())
}
