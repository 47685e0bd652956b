//! Where partitions live: tokens, topology, replica placement, consistency levels.
//!
//! ```text
//! key bytes --token--> token --topology--> place on the ring --replication--> replicas --consistency--> enough alive?
//! ```

pub mod consistency;
pub mod replication;
pub mod token;
pub mod topology;

pub use replication::Placement;
pub use token::Token;
pub use topology::{NodeId, Topology};

use std::fmt;

/// Consistency level of a request. Codes are those of the native protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub enum Consistency {
    Any = 0,
    One = 1,
    Two = 2,
    Three = 3,
    Quorum = 4,
    All = 5,
    LocalQuorum = 6,
    EachQuorum = 7,
    Serial = 8,
    LocalSerial = 9,
    LocalOne = 10,
}

impl Consistency {
    /// Every level.
    pub const ALL: [Consistency; 11] = [
        Consistency::Any,
        Consistency::One,
        Consistency::Two,
        Consistency::Three,
        Consistency::Quorum,
        Consistency::All,
        Consistency::LocalQuorum,
        Consistency::EachQuorum,
        Consistency::Serial,
        Consistency::LocalSerial,
        Consistency::LocalOne,
    ];

    /// The level of that name, in any case: `LOCAL_QUORUM`.
    pub fn from_name(name: &str) -> Option<Consistency> {
        Consistency::ALL.into_iter().find(|level| level.to_string().eq_ignore_ascii_case(name))
    }

    /// The code of the native protocol.
    pub fn code(self) -> u16 {
        self as u16
    }
}

impl fmt::Display for Consistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Consistency::Any => "ANY",
            Consistency::One => "ONE",
            Consistency::Two => "TWO",
            Consistency::Three => "THREE",
            Consistency::Quorum => "QUORUM",
            Consistency::All => "ALL",
            Consistency::LocalQuorum => "LOCAL_QUORUM",
            Consistency::EachQuorum => "EACH_QUORUM",
            Consistency::Serial => "SERIAL",
            Consistency::LocalSerial => "LOCAL_SERIAL",
            Consistency::LocalOne => "LOCAL_ONE",
        })
    }
}
