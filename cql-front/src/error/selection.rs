//! Refusals of SELECT: the select list, DISTINCT, GROUP BY, ORDER BY, limits, paging (sheet A.5).

use super::Code;
use std::fmt;

/// What SELECT refuses. Texts carry names as Cassandra prints them there: unquoted unless the message quotes them.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectionError {
    /// A column that the table does not have.
    UndefinedColumn {
        /// Column, quoted if CQL needs it.
        column: String,
        /// `keyspace.table`, quoted likewise.
        table: String,
    },
    /// A literal or marker whose type nothing tells.
    CannotInferType(String),
    /// `(type) value` where the value does not fit.
    CannotAssign {
        /// The hint as written, value included.
        value: String,
        /// Type of the hint.
        ty: String,
    },
    /// writetime, maxwritetime or ttl of a key column.
    CellTimeOfKey {
        /// Function.
        function: &'static str,
        /// Column.
        column: String,
    },
    /// `a.field` where `a` is no user-defined type.
    FieldOfNoUserType {
        /// What is selected from.
        selected: String,
        /// Its type.
        ty: String,
    },
    /// `a.field` where the type has no such field.
    NoSuchField {
        /// What is selected from.
        selected: String,
        /// Its type.
        ty: String,
        /// The field.
        field: String,
    },
    /// A field in a literal that its type does not have.
    UnknownLiteralField {
        /// The field.
        field: String,
        /// Name of the type.
        ty: String,
    },
    /// A key of a literal of a user-defined type that is no name.
    InvalidFieldName {
        /// The key.
        field: String,
        /// Name of the type.
        ty: String,
    },
    /// `a[k]` where `a` is no collection.
    ElementOfNoCollection {
        /// What is selected from.
        selected: String,
        /// Its type.
        ty: String,
    },
    /// `a[k..l]` where `a` is no collection.
    SliceOfNoCollection {
        /// What is selected from.
        selected: String,
        /// Its type.
        ty: String,
    },
    /// An element or slice of a list.
    PartOfList {
        /// `Element` or `Slice`.
        part: &'static str,
        /// What is selected from.
        selected: String,
    },
    /// `m[?]` with null.
    NullElement(String),
    /// `m[?]` with unset.
    UnsetElement(String),
    /// `m[?..?]` with null.
    NullSlice(String),
    /// `(vector<t, n>) [..]` with another number of elements.
    VectorSize {
        /// Type of the hint.
        ty: String,
        /// Elements written.
        count: usize,
    },
    /// An aggregate inside an aggregate.
    NestedAggregate,
    /// DISTINCT with a clustering or regular column in WHERE.
    DistinctRestriction,
    /// DISTINCT of a clustering or regular column.
    DistinctColumn(String),
    /// DISTINCT over many partitions without a key column.
    DistinctMissing(String),
    /// DISTINCT with PER PARTITION LIMIT.
    DistinctPerPartitionLimit,
    /// An aggregate without GROUP BY with PER PARTITION LIMIT.
    AggregatePerPartitionLimit,
    /// GROUP BY of a column outside the key.
    GroupByColumn(String),
    /// GROUP BY that skips a column.
    GroupByOrder,
    /// GROUP BY of only a part of the partition key.
    GroupByPartialKey,
    /// DISTINCT with clustering columns in GROUP BY.
    GroupByDistinct,
    /// A function of GROUP BY without a column.
    GroupByFunctionWithoutColumn,
    /// A function of GROUP BY with several columns.
    GroupByFunctionColumns(String),
    /// A function of GROUP BY on something else than a clustering column.
    GroupByFunctionColumn(String),
    /// A function of GROUP BY before the end.
    GroupByFunctionNotLast,
    /// An aggregate in GROUP BY.
    GroupByAggregate(String),
    /// A function in GROUP BY that does not keep the order.
    GroupByNotMonotonic(String),
    /// ORDER BY over many partitions.
    OrderByRange,
    /// ORDER BY of a column that is no clustering column.
    OrderByColumn(String),
    /// ORDER BY that skips a column.
    OrderByOrder,
    /// ORDER BY that is neither the table's order nor its reverse.
    OrderByMixed,
    /// A page of an answer that has to be sorted as a whole.
    PagedInWithOrderBy,
    /// LIMIT bound to null.
    NullLimit,
    /// LIMIT of zero or less.
    LimitNotPositive,
    /// SERIAL over several keys at once.
    SerialManyPartitions,
    /// Cassandra answers with a Java exception (0x0000): its text up to the colon.
    ServerFault(&'static str),
}

impl SelectionError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            SelectionError::ServerFault(_) => Code::ServerError,
            _ => Code::Invalid,
        }
    }
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use SelectionError as E;
        match self {
            E::UndefinedColumn { column, table } => {
                write!(f, "Undefined column name {column} in table {table}")
            }
            E::CannotInferType(term) => write!(
                f,
                "Cannot infer type for term {term} in selection clause (try using a cast to force a type)"
            ),
            E::CannotAssign { value, ty } => {
                write!(f, "Cannot assign value {value} to {value} of type {ty}")
            }
            E::CellTimeOfKey { function, column } => write!(
                f,
                "Cannot use selection function {function} on PRIMARY KEY part {column}"
            ),
            E::FieldOfNoUserType { selected, ty } => write!(
                f,
                "Invalid field selection: {selected} of type {ty} is not a user type"
            ),
            E::NoSuchField { selected, ty, field } => {
                write!(f, "{selected} of type {ty} has no field {field}")
            }
            E::UnknownLiteralField { field, ty } => {
                write!(f, "Unknown field '{field}' in value of user defined type {ty}")
            }
            E::InvalidFieldName { field, ty } => {
                write!(f, "{field} is not a valid field identifier of type {ty} ")
            }
            E::ElementOfNoCollection { selected, ty } => write!(
                f,
                "Invalid element selection: {selected} is of type {ty} is not a collection"
            ),
            E::SliceOfNoCollection { selected, ty } => write!(
                f,
                "Invalid slice selection: {selected} of type {ty} is not a collection"
            ),
            E::PartOfList { part, selected } => write!(
                f,
                "{part} selection is only allowed on sets and maps, but {selected} is a list"
            ),
            E::NullElement(selected) => {
                write!(f, "Invalid null value for element selection on {selected}")
            }
            E::UnsetElement(selected) => {
                write!(f, "Invalid unset value for element selection on {selected}")
            }
            E::NullSlice(selected) => {
                write!(f, "Invalid null value for slice selection on {selected}")
            }
            E::VectorSize { ty, count } => {
                write!(f, "Unable to create a vector selector of type {ty} from {count} elements")
            }
            E::NestedAggregate => f.write_str(
                "aggregate functions cannot be used as arguments of aggregate functions",
            ),
            E::DistinctRestriction => f.write_str(
                "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
            ),
            E::DistinctColumn(column) => write!(
                f,
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {column})"
            ),
            E::DistinctMissing(column) => write!(
                f,
                "SELECT DISTINCT queries must request all the partition key columns (missing {column})"
            ),
            E::DistinctPerPartitionLimit => f.write_str(
                "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries",
            ),
            E::AggregatePerPartitionLimit => {
                f.write_str("PER PARTITION LIMIT is not allowed with aggregate queries.")
            }
            E::GroupByColumn(column) => write!(
                f,
                "Group by is currently only supported on the columns of the PRIMARY KEY, got {column}"
            ),
            E::GroupByOrder => f.write_str(
                "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            ),
            E::GroupByPartialKey => {
                f.write_str("Group by is not supported on only a part of the partition key")
            }
            E::GroupByDistinct => f.write_str(
                "Grouping on clustering columns is not allowed for SELECT DISTINCT queries",
            ),
            E::GroupByFunctionWithoutColumn => {
                f.write_str("GROUP BY functions must have one clustering column name as parameter")
            }
            E::GroupByFunctionColumns(columns) => write!(
                f,
                "GROUP BY functions accept only one clustering column as parameter, got: {columns}"
            ),
            E::GroupByFunctionColumn(column) => write!(
                f,
                "Group by functions are only supported on clustering columns, got {column}"
            ),
            E::GroupByFunctionNotLast => f.write_str(
                "Functions are only supported on the last element of the GROUP BY clause",
            ),
            E::GroupByAggregate(function) => write!(
                f,
                "Aggregate functions are not supported within the GROUP BY clause, got: {function}"
            ),
            E::GroupByNotMonotonic(function) => write!(
                f,
                "Only monotonic functions are supported in the GROUP BY clause. Got: {function} "
            ),
            E::OrderByRange => f.write_str(
                "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
            ),
            E::OrderByColumn(column) => write!(
                f,
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {column}"
            ),
            E::OrderByOrder => f.write_str(
                "Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY",
            ),
            E::OrderByMixed => f.write_str("Unsupported order by relation"),
            E::PagedInWithOrderBy => f.write_str(
                "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query",
            ),
            E::NullLimit => f.write_str("Invalid null value of limit"),
            E::LimitNotPositive => f.write_str("LIMIT must be strictly positive"),
            E::SerialManyPartitions => f.write_str(
                "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time",
            ),
            E::ServerFault(text) => f.write_str(text),
        }
    }
}
