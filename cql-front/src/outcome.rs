//! What a statement gives back.

use cassling_engine::metrics::Cost;
use cassling_engine::types::CqlType;

/// The result of an executed statement.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What kind of result it is.
    pub kind: OutcomeKind,
    /// Warnings for the client, Cassandra's texts.
    pub warnings: Vec<String>,
    /// What it cost.
    pub cost: Cost,
    /// Trace lines: `Read N live rows and M tombstone cells`, `Merged data from memtables and N sstables`.
    pub trace: Vec<String>,
}

/// Kinds of [`Outcome`].
#[derive(Clone, Debug, Default)]
pub enum OutcomeKind {
    /// A write, or a schema change that was not needed.
    #[default]
    Void,
    /// Rows of a SELECT.
    Rows(Rows),
    /// USE: the session's keyspace from now on.
    SetKeyspace(String),
    /// A schema change.
    SchemaChange(SchemaEvent),
}

/// What a schema change did (for drivers' events).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaEvent {
    /// `CREATED`, `UPDATED` or `DROPPED`.
    pub change: &'static str,
    /// `KEYSPACE`, `TABLE` or `TYPE`.
    pub target: &'static str,
    /// Keyspace.
    pub keyspace: String,
    /// Table or type; `None` for a keyspace.
    pub name: Option<String>,
}

/// A column of a result, or a marker of a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Keyspace it comes from.
    pub keyspace: String,
    /// Table it comes from.
    pub table: String,
    /// Name.
    pub name: String,
    /// Type.
    pub ty: CqlType,
}

/// Rows of a result: raw values, one after another.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Columns.
    pub columns: std::sync::Arc<[ColumnSpec]>,
    /// Each row's values as wire bytes; `None` is null.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// Where the next page begins, if there may be one.
    pub paging_state: Option<Vec<u8>>,
}
