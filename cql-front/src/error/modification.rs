//! Refusals of INSERT, UPDATE, DELETE and BATCH (sheet A.6, A.8).

use super::Code;
use std::fmt;

/// A modification that cannot be made. Operations and terms are kept as messages print them.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are named as in the texts below")]
pub enum ModificationError {
    /// A column that the table does not have.
    UndefinedColumn {
        column: String,
        table: String,
    },
    /// INSERT with more columns than values, or fewer.
    UnmatchedValues,
    /// INSERT that names a column twice.
    DuplicateColumns,
    /// INSERT into a table of counters.
    CounterInsert,
    /// A key column in SET.
    KeyInSet(String),
    /// A key column as target of DELETE.
    KeyInDelete(String),
    /// `n = 1` for a counter.
    CounterSet(String),
    /// An operation on a column of another kind; `kind` is `non counter`, `tuple`, `frozen list` ...
    Operation {
        operation: String,
        kind: &'static str,
        column: String,
    },
    /// `u.f = 1` for a column that is no (non-frozen) user-defined type; `kind` is `non-UDT`, `frozen UDT`.
    FieldOperation {
        operation: String,
        kind: &'static str,
        column: String,
    },
    /// A field that the type does not have.
    UnknownField {
        column: String,
        field: String,
    },
    /// `DELETE c[1]` of a column that is no (non-frozen) collection; `kind` is `non`, `frozen`.
    ElementDeletion {
        kind: &'static str,
        column: String,
    },
    /// `DELETE c.f` of what is no user-defined type.
    FieldDeletion(String),
    /// `DELETE c.f` of a frozen one.
    FrozenFieldDeletion(String),
    /// `m + x` where x is no map.
    MapAddition(String),
    /// `m - x` where x is no set.
    MapSubtraction(String),
    /// DELETE of columns from more than single rows.
    RangeDeletionOfColumns,
    NullMapKey,
    UnsetMapKey,
    NullSetElement,
    NullListIndex,
    UnsetListIndex,
    /// An element of a list that is not there.
    ListIndex {
        index: i32,
        size: usize,
    },
    /// `l[0] = 1` where there is no list; `what` is `set`, `delete`; `side` is `on`, `from`.
    NullList {
        what: &'static str,
        side: &'static str,
    },
    /// A list operation that reads first, at a level that is none for reads.
    ReadLevel(String),
    NullTimestamp,
    TimestampOutOfBounds,
    NegativeTtl(i32),
    TtlTooLarge(i32),
    /// An expiry later than can be stored.
    TtlOverflow {
        table: String,
        default: bool,
        ttl_seconds: u32,
    },
    CounterTimestamp,
    CounterTtl,
    ConditionalTimestamp,
    BatchTtl,
    BatchConditionalTimestamp,
    CounterBatchTimestamp,
    BatchAndStatementTimestamp,
    BatchTimestampWithCounters,
    NonCounterInCounterBatch,
    CounterAndNonCounterInBatch,
    CounterInLoggedBatch,
    ConditionalBatchOfTables,
    BatchTooLarge,
    /// A fault of Cassandra's own: its text.
    ServerError(String),
}

impl ModificationError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            ModificationError::ServerError(_) => Code::ServerError,
            _ => Code::Invalid,
        }
    }
}

impl fmt::Display for ModificationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ModificationError as E;
        match self {
            E::UndefinedColumn { column, table } => {
                write!(f, "Undefined column name {column} in table {table}")
            }
            E::UnmatchedValues => f.write_str("Unmatched column names/values"),
            E::DuplicateColumns => f.write_str("The column names contains duplicates"),
            E::CounterInsert => f.write_str(
                "INSERT statements are not allowed on counter tables, use UPDATE instead",
            ),
            E::KeyInSet(column) => write!(f, "PRIMARY KEY part {column} found in SET part"),
            E::KeyInDelete(column) => write!(
                f,
                "Invalid identifier {column} for deletion (should not be a PRIMARY KEY part)"
            ),
            E::CounterSet(column) => write!(
                f,
                "Cannot set the value of counter column {column} (counters can only be incremented/decremented, not set)"
            ),
            E::Operation { operation, kind, column }
            | E::FieldOperation { operation, kind, column } => {
                write!(f, "Invalid operation ({operation}) for {kind} column {column}")
            }
            E::UnknownField { column, field } => {
                write!(f, "UDT column {column} does not have a field named {field}")
            }
            E::ElementDeletion { kind, column } => {
                write!(f, "Invalid deletion operation for {kind} collection column {column}")
            }
            E::FieldDeletion(column) => {
                write!(f, "Invalid field deletion operation for non-UDT column {column}")
            }
            E::FrozenFieldDeletion(column) => {
                write!(f, "Frozen UDT column {column} does not support field deletions")
            }
            E::MapAddition(value) => {
                write!(f, "Value for a map addition has to be a map, but was: '{value}'")
            }
            E::MapSubtraction(value) => {
                write!(f, "Value for a map substraction has to be a set, but was: '{value}'")
            }
            E::RangeDeletionOfColumns => {
                f.write_str("Range deletions are not supported for specific columns")
            }
            E::NullMapKey => f.write_str("Invalid null map key"),
            E::UnsetMapKey => f.write_str("Invalid unset map key"),
            E::NullSetElement => f.write_str("Invalid null set element"),
            E::NullListIndex => f.write_str("Invalid null value for list index"),
            E::UnsetListIndex => f.write_str("Invalid unset value for list index"),
            E::ListIndex { index, size } => {
                write!(f, "List index {index} out of bound, list has size {size}")
            }
            E::NullList { what, side } => {
                write!(f, "Attempted to {what} an element {side} a list which is null")
            }
            E::ReadLevel(level) => write!(
                f,
                "Write operation require a read but consistency {level} is not supported on reads"
            ),
            E::NullTimestamp => f.write_str("Invalid null value of timestamp"),
            E::TimestampOutOfBounds => {
                write!(f, "Out of bound timestamp, must be in [{}, {}]", i64::MIN + 1, i64::MAX)
            }
            E::NegativeTtl(ttl) => {
                write!(f, "A TTL must be greater or equal to 0, but was {ttl}")
            }
            E::TtlTooLarge(ttl) => {
                write!(f, "ttl is too large. requested ({ttl}) maximum (630720000)")
            }
            E::TtlOverflow { table, default, ttl_seconds } => write!(
                f,
                "Request on table {table} with {}ttl of {ttl_seconds} seconds exceeds maximum supported expiration date of 2038-01-19T03:14:06+00:00. In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.",
                if *default { "default " } else { "" }
            ),
            E::CounterTimestamp => {
                f.write_str("Cannot provide custom timestamp for counter updates")
            }
            E::CounterTtl => f.write_str("Cannot provide custom TTL for counter updates"),
            E::ConditionalTimestamp => {
                f.write_str("Cannot provide custom timestamp for conditional updates")
            }
            E::BatchTtl => f.write_str("Global TTL on the BATCH statement is not supported."),
            E::BatchConditionalTimestamp => {
                f.write_str("Cannot provide custom timestamp for conditional BATCH")
            }
            E::CounterBatchTimestamp => {
                f.write_str("Cannot provide custom timestamp for counter BATCH")
            }
            E::BatchAndStatementTimestamp => {
                f.write_str("Timestamp must be set either on BATCH or individual statements")
            }
            E::BatchTimestampWithCounters => {
                f.write_str("Cannot provide custom timestamp for a BATCH containing counters")
            }
            E::NonCounterInCounterBatch => {
                f.write_str("Cannot include non-counter statement in a counter batch")
            }
            E::CounterAndNonCounterInBatch => {
                f.write_str("Counter and non-counter mutations cannot exist in the same batch")
            }
            E::CounterInLoggedBatch => {
                f.write_str("Cannot include a counter statement in a logged batch")
            }
            E::ConditionalBatchOfTables => {
                f.write_str("Batch with conditions cannot span multiple tables")
            }
            E::BatchTooLarge => f.write_str("Batch too large"),
            E::ServerError(text) => f.write_str(text),
        }
    }
}
