//! Scripts: plain CQL with directives and expectations in its comments (docs/scripts.md).
//!
//! ```text
//! -- @nodes 3                                 a directive: steers what follows
//! -- @consistency QUORUM
//! SELECT v FROM t WHERE k = 1;                a statement, run as it stands
//! --> v                                       expectations: what its answer must be
//! --> 7
//! --= nodes = 2
//! ```
//!
//! One file is read by people, runs in cqlsh (which sees only comments) and checks itself. The same format holds
//! recordings of a real Cassandra, golden tests and users' tests; this is the only place that reads it.
//!
//! [`split`] finds the statements, [`directive`] and [`expect`] read the comments, [`run`] executes,
//! [`answer`] is what comes out, [`table`] prints it for people.

pub mod answer;
pub mod directive;
pub mod expect;
pub mod nodetool;
pub mod run;
pub mod split;
pub mod table;

pub use answer::Answer;
pub use run::Runner;
pub use split::{Item, Script, ScriptError};
