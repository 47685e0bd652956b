//! A read: which partitions, which rows of each, which columns, how many.

use super::clustering::{ClusteringKey, Slice};
use super::data::Row;
use super::filter::RowFilter;
use super::key::DecoratedKey;
use crate::metrics::Cost;
use crate::ring::Token;
use crate::schema::{ColumnId, Table};
use crate::trace::Trace;
use smallvec::SmallVec;
use std::sync::Arc;

/// What a coordinator is asked to read.
#[derive(Clone, Debug)]
pub struct ReadCommand {
    /// Table, as the statement saw it.
    pub table: Arc<Table>,
    /// Partitions.
    pub partitions: Partitions,
    /// Rows of each partition.
    pub rows: RowSelection,
    /// Rows come in reverse clustering order.
    pub reversed: bool,
    /// Static and regular columns that the statement needs (to return or to filter); sorted by id.
    /// Affects pruning (names reads) and what is returned, not what is counted.
    pub columns: Arc<[ColumnId]>,
    /// Conditions on what was read.
    pub filter: RowFilter,
    /// How much.
    pub limits: Limits,
    /// A partition without live row but with live static cells counts as one row: the statement restricts
    /// neither clustering nor regular columns.
    pub static_only_counts: bool,
    /// SELECT DISTINCT: the first row of a partition is enough.
    pub distinct: bool,
    /// The second at which expiry is judged.
    pub now_seconds: i64,
    /// Several keys are all read, each up to the row limit, as Cassandra does where it does not page; else reading stops at the limit.
    pub every_key: bool,
    /// Of rows and statics only `columns` are read and counted, as where a write reads the lists that it changes.
    pub only_columns: bool,
    /// How messages show it; nothing else looks at it.
    pub shown: Shown,
}

/// What [`ReadCommand::cql`] cannot tell from the command.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The select list: columns that are not part of the key, or `*`.
    pub select: Arc<str>,
    /// The limits.
    pub limits: ShownLimits,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { select: Arc::from("*"), limits: ShownLimits::AsRead }
    }
}

/// How messages show the limits of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownLimits {
    /// `LIMIT 10 PER PARTITION LIMIT 2`, those that there are.
    AsRead,
    /// Nothing but a blank: an aggregate that reads without limit.
    Blank,
    /// `GROUP LIMIT 10 GROUP PER PARTITION LIMIT 2 LIMIT 5000`, those that there are.
    Groups {
        /// Groups wanted.
        groups: u64,
        /// Groups wanted of each partition.
        per_partition: u64,
    },
}

impl ReadCommand {
    /// Whether the read goes by names, newest source first, and may leave out columns that were not asked for
    /// (Cassandra's names query, sheet C.10.2).
    pub fn by_names(&self) -> bool {
        let multi_cell =
            |id| self.table.column_by_id(id).is_some_and(|column| column.ty.is_multi_cell());
        matches!(self.partitions, Partitions::Keys(_))
            && matches!(self.rows, RowSelection::Names(_))
            && !self.table.is_counter
            && !self.columns.iter().any(|id| multi_cell(*id))
    }
}

/// Keys of a statement: one for nearly all, which then needs no list of its own.
pub type Keys = SmallVec<[DecoratedKey; 1]>;

/// Which partitions a read covers.
#[derive(Clone, Debug)]
pub enum Partitions {
    /// These, in this order.
    Keys(Keys),
    /// All whose token lies in the range, by token and key.
    Range(KeyRange),
}

/// A range of partitions. `None` is open. Starting after a key serves paging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// Smallest token, and whether it is itself included.
    pub start: Option<(Token, bool)>,
    /// Greatest token, and whether it is itself included.
    pub end: Option<(Token, bool)>,
}

/// Rows of a statement that names them: mostly one.
pub type Names = SmallVec<[ClusteringKey; 1]>;

/// Which rows of a partition a read covers.
#[derive(Clone, Debug)]
pub enum RowSelection {
    /// Runs of rows, in clustering order, not overlapping.
    Slices(SmallVec<[Slice; 1]>),
    /// Single rows, sorted by position, without duplicates: Cassandra's names query.
    Names(Names),
}

/// How much a read returns, and where it resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows in all (the smaller of LIMIT and page size); `u64::MAX` for no limit.
    pub rows: u64,
    /// Rows of each partition; `u64::MAX` for no limit.
    pub per_partition: u64,
    /// Resume strictly after this place.
    pub resume: Option<Resume>,
}

impl Limits {
    /// No limit.
    pub const NONE: Limits = Limits { rows: u64::MAX, per_partition: u64::MAX, resume: None };
}

/// The last row of the page before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Its partition.
    pub key: DecoratedKey,
    /// Its position; `None` if it was the row of a partition with only statics.
    pub position: Option<Vec<u8>>,
    /// Rows of that partition still allowed by the per-partition limit; 0: go on with the next partition.
    pub remaining_in_partition: u64,
}

/// What a read found: live data only, partition by partition, in the order asked for.
#[derive(Clone, Debug, Default)]
pub struct ReadResult {
    /// Partitions with something to return.
    pub partitions: Vec<PartitionRows>,
    /// Whether the row limit stopped the read (so that more may follow).
    pub limited: bool,
    /// What it cost.
    pub cost: Cost,
}

/// What a read was worth telling beside its rows, whether it found any or failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// What it cost.
    pub cost: Cost,
    /// Warnings for the client, in Cassandra's words.
    pub warnings: Vec<String>,
    /// Lines that the replicas wrote for a trace (`Read 1 live rows and 0 tombstone cells`), in the order in which they answered.
    pub trace: Trace,
}

/// The live rows of one partition. Rows hold live cells only: no tombstone, nothing expired, nothing shadowed.
#[derive(Clone, Debug)]
pub struct PartitionRows {
    /// Partition.
    pub key: DecoratedKey,
    /// Live static cells.
    pub static_row: Option<Row>,
    /// Live rows in the order asked for. Empty together with a static row: the partition counts as one row if
    /// [`ReadCommand::static_only_counts`], else it is not in the result.
    pub rows: Vec<Row>,
}
