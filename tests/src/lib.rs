//! What the tests share: replaying recordings of a real Cassandra, the plain model, the checkers.

pub mod crash;
pub mod eleven_months;
pub mod golden;
pub mod model;
pub mod replay;
