//! The seams to the world. Knows no CQL and no node.
//!
//! Everything that could differ from run to run comes through here, so that a seed and a list of requests say
//! all there is to say about a run:
//!
//! | seam | gives | never |
//! |---|---|---|
//! | [`clock`] | the time of day, per node if wanted | a call of the system's clock elsewhere |
//! | [`rng`] | chance, all of it from one seed | a random source of the process |
//! | [`executor`] | who runs next | threads |
//! | [`network`] | whether a message arrives, and when | sockets |
//! | `reclaim` | where memory is freed | anything but memory |
//! | [`disk`] | what a write leaves behind | files outside the disk's bodies |

pub mod clock;
pub mod disk;
pub mod executor;
#[doc(hidden)]
pub mod faults;
pub mod network;
pub(crate) mod reclaim;
pub mod rng;
