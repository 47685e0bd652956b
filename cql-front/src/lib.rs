//! cassling: a small, honest Cassandra in one process.
//!
//! Text goes down the stairs, rows come up:
//!
//! ```text
//! text --lexer, parser--> ast::Statement --analysis--> plan::Plan --exec--> engine requests --> outcome::Outcome
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`error`] | every refusal, with Cassandra's code and text and the place in the statement |
//! | [`outcome`] | what a statement gives back |
//! | [`lexer`], [`ast`], [`parser`] | text to syntax; nothing is looked up |
//! | [`functions`] | what can be called: native functions, aggregates, casts, operators |
//! | [`plan`] | a checked statement with no names left |
//! | [`analysis`] | syntax + schema to plan, or the exact refusal |
//! | [`exec`] | plan + bound values to engine requests, replies to rows |
//! | [`cluster`], [`session`] | the faces for users |
//! | [`script`] | files of CQL with directives and expectations |

pub mod analysis;
pub mod ast;
pub mod cluster;
pub mod error;
pub mod exec;
pub mod functions;
pub mod lexer;
pub mod outcome;
pub mod parser;
pub mod plan;
pub mod script;
pub mod session;

pub use cassling_engine::cluster::NodeHandle;
pub use cassling_engine::node::background::BackgroundMode;
pub use cassling_engine::ring::{Consistency, NodeId};
pub use cassling_engine::types::{CqlType, Value};
pub use cluster::{Cluster, ClusterBuilder};
pub use error::Error;
pub use outcome::Outcome;
pub use session::{Batch, Prepared, Query, QueryResult, Session, Unset};

/// The README's program runs as shown.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct ReadmeDoctests;
