//! Refusals of WHERE: typing, merging, what the key allows, and the values bound to it (sheet A.2 to A.4).

use super::Code;
use cassling_engine::types::MarshalError;
use std::fmt;

/// The message of a query that only ALLOW FILTERING could serve.
const ALLOW_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

/// What is wrong with a WHERE. Names stand in messages as they are, without quotes; `relation` is CQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestrictionError {
    /// A column that the table does not have.
    UndefinedColumn {
        /// Column, quoted if CQL needs it.
        column: String,
        /// `keyspace.table`, each quoted if CQL needs it.
        table: String,
    },
    /// `!=`.
    NotEqual(String),
    /// CONTAINS in UPDATE or DELETE.
    ContainsInModification {
        /// UPDATE or DELETE.
        statement: String,
        /// CONTAINS or CONTAINS KEY.
        operator: &'static str,
    },
    /// CONTAINS KEY on something that has no keys.
    ContainsKeyOnNonMap(String),
    /// CONTAINS on something that has no elements.
    ContainsOnNonCollection(String),
    /// `l[0] = 1`.
    ListEntry(String),
    /// `c[k] = v` where `c` is no map.
    NotAMap(String),
    /// `m[k] = v` where `m` is frozen.
    FrozenMapEntry(String),
    /// `m[k] > v`.
    MapEntryOnlyEqual,
    /// Any relation on a UDT that has a cell for each field.
    NonFrozenUdt {
        /// Column.
        column: String,
        /// Its type.
        ty: String,
    },
    /// A whole non-frozen collection compared.
    NonFrozenCollection {
        /// Column.
        column: String,
        /// Its type.
        ty: String,
        /// Operator as CQL writes it.
        operator: String,
    },
    /// `<` and the like on durations, which have no order; says where they are: `duration columns`, `tuples containing
    /// durations` ...
    DurationSlice(&'static str),
    /// IS NOT NULL outside a materialized view.
    IsNotNull(String),
    /// LIKE without an index that serves it.
    Like(String),
    /// A tuple of something else than clustering columns.
    TupleOfNonClustering(String),
    /// A column twice in a tuple.
    TupleColumnTwice {
        /// Column.
        column: String,
        /// Relation.
        relation: String,
    },
    /// Columns of a tuple that do not follow one another in the key.
    TupleOrder(String),
    /// A tuple of another size than its columns.
    TupleSize {
        /// Number of columns.
        expected: usize,
        /// Number of values.
        given: usize,
        /// The values as CQL.
        literal: String,
    },
    /// `expr(..)` in UPDATE or DELETE.
    ExpressionInModification,
    /// Two `expr(..)`.
    ManyExpressions,
    /// `expr(..)` of an index that is not there.
    UnknownIndex {
        /// Index.
        index: String,
        /// `keyspace.table`.
        table: String,
    },
    /// `token()` of some of the key.
    TokenOfSome,
    /// `token()` with a column twice.
    TokenTwice,
    /// `token()` with a column that is not of the key.
    TokenOfOthers,
    /// `token()` in another order; holds the right one.
    TokenOrder(String),
    /// `=` and something else on the same columns.
    EqualAndMore(String),
    /// IN and something else.
    InAndMore(String),
    /// A slice, then an equality.
    SliceAndEqual(String),
    /// The same for `token()`.
    TokenSliceAndEqual(String),
    /// Two lower bounds.
    StartTwice(String),
    /// Two upper bounds.
    EndTwice(String),
    /// CONTAINS, then something else.
    ContainsAndMore(String),
    /// Two tuple slices that begin with different columns; names the later one.
    SlicesApart(String),
    /// A clustering column after a sliced one.
    AfterSlice {
        /// The column.
        column: String,
        /// The sliced one.
        sliced: String,
    },
    /// A slice before a restricted clustering column.
    BeforeRestricted {
        /// The restricted column.
        column: String,
        /// The sliced one.
        sliced: String,
    },
    /// `token()` in a modification.
    TokenInModification(String),
    /// Partition key columns that a modification does not give.
    MissingPartitionKey(String),
    /// A slice of the partition key in a modification.
    PartitionKeySlice(String),
    /// Only filtering could serve it.
    AllowFiltering,
    /// UPDATE or DELETE of statics with clustering columns.
    StaticsWithClustering(String),
    /// SELECT of statics with clustering columns.
    SelectStaticsWithClustering,
    /// A slice of clustering columns in INSERT or UPDATE.
    ClusteringSlice(String),
    /// Clustering columns that INSERT or UPDATE does not give.
    MissingClustering(String),
    /// CONTAINS on a clustering column.
    ClusteringContains,
    /// A clustering column restricted, one before it not.
    Gap {
        /// The restricted column.
        column: String,
        /// The one that is not.
        missing: String,
    },
    /// Columns outside the key in the WHERE of a modification.
    NonPrimaryKey(String),
    /// A key column is null.
    NullInCondition(String),
    /// `IN null`, or a component of a tuple that is null.
    NullValue(String),
    /// A null inside one of several tuples.
    NullInTuples(String),
    /// A key column is unset.
    UnsetValue(String),
    /// A component of a tuple literal is unset.
    UnsetTupleField(usize),
    /// `(a, b) = ?` unset.
    UnsetTuple(String),
    /// `(a, b) = ?` null, where Cassandra fails with an exception.
    NullTuple,
    /// `(a, b) IN ?` null.
    NullTuples,
    /// `(a, b) IN ?` unset; holds `in(a,b)`.
    UnsetTuples(String),
    /// A partition key of no bytes.
    EmptyKey,
    /// A key of more bytes than 65535.
    KeyTooLong(usize),
    /// `token(k) > null`.
    NullToken,
    /// `token(k) > null` beside the key itself, where Cassandra fails with an exception.
    NullTokenOfKeys,
    /// A token of other than eight bytes, or unset, where Cassandra fails with an exception.
    BrokenToken,
    /// A slice that begins or ends at null: Cassandra takes the write and fails to apply it.
    NullBoundInDelete,
    /// A filter with a null.
    FilterNull {
        /// `value`, `map key` or `map value`.
        part: &'static str,
        /// Column.
        column: String,
    },
    /// A filter with an unset value.
    FilterUnset {
        /// `value`, `map key` or `map value`.
        part: &'static str,
        /// Column.
        column: String,
    },
    /// `(a, b) IN (..)` as a filter.
    FilterTupleIn,
    /// `(a, b) > (..)` as a filter.
    FilterTupleSlice,
    /// Bytes of a bound list or tuple that cannot be taken apart.
    Marshal(MarshalError),
}

impl RestrictionError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            RestrictionError::NullTuple
            | RestrictionError::NullTokenOfKeys
            | RestrictionError::BrokenToken
            | RestrictionError::NullBoundInDelete => Code::ServerError,
            RestrictionError::Marshal(e) if e.server_error => Code::ServerError,
            _ => Code::Invalid,
        }
    }
}

impl fmt::Display for RestrictionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RestrictionError as E;
        match self {
            E::UndefinedColumn { column, table } => {
                write!(f, "Undefined column name {column} in table {table}")
            }
            E::NotEqual(relation) => write!(f, "Unsupported \"!=\" relation: {relation}"),
            E::ContainsInModification { statement, operator } => {
                write!(f, "Cannot use {statement} with {operator}")
            }
            E::ContainsKeyOnNonMap(column) => {
                write!(f, "Cannot use CONTAINS KEY on non-map column {column}")
            }
            E::ContainsOnNonCollection(column) => {
                write!(f, "Cannot use CONTAINS on non-collection column {column}")
            }
            E::ListEntry(column) => write!(
                f,
                "Indexes on list entries ({column}[index] = value) are not currently supported."
            ),
            E::NotAMap(column) => write!(f, "Column {column} cannot be used as a map"),
            E::FrozenMapEntry(column) => write!(
                f,
                "Map-entry equality predicates on frozen map column {column} are not supported"
            ),
            E::MapEntryOnlyEqual => f.write_str("Only EQ relations are supported on map entries"),
            E::NonFrozenUdt { column, ty } => write!(
                f,
                "Non-frozen UDT column '{column}' ({ty}) cannot be restricted by any relation"
            ),
            E::NonFrozenCollection { column, ty, operator } => write!(
                f,
                "Collection column '{column}' ({ty}) cannot be restricted by a '{operator}' relation"
            ),
            E::DurationSlice(place) => {
                write!(f, "Slice restrictions are not supported on {place}")
            }
            E::IsNotNull(relation) => write!(f, "Unsupported restriction: {relation}"),
            E::Like(relation) => write!(
                f,
                "LIKE restriction is only supported on properly indexed columns. {relation} is not valid."
            ),
            E::TupleOfNonClustering(column) => write!(
                f,
                "Multi-column relations can only be applied to clustering columns but was applied to: {column}"
            ),
            E::TupleColumnTwice { column, relation } => {
                write!(f, "Column \"{column}\" appeared twice in a relation: {relation}")
            }
            E::TupleOrder(relation) => write!(
                f,
                "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {relation}"
            ),
            E::TupleSize { expected, given, literal } => {
                write!(f, "Expected {expected} elements in value tuple, but got {given}: {literal}")
            }
            E::ExpressionInModification => f.write_str(
                "Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements",
            ),
            E::ManyExpressions => f.write_str(
                "Multiple custom index expressions in a single query are not supported",
            ),
            E::UnknownIndex { index, table } => {
                write!(f, "Invalid index expression, index {index} not found for {table}")
            }
            E::TokenOfSome => f.write_str(
                "The token() function must be applied to all partition key components or none of them",
            ),
            E::TokenTwice => {
                f.write_str("The token() function contains duplicate partition key components")
            }
            E::TokenOfOthers => {
                f.write_str("The token() function must contains only partition key components")
            }
            E::TokenOrder(names) => write!(
                f,
                "The token function arguments must be in the partition key order: {names}"
            ),
            E::EqualAndMore(names) => write!(
                f,
                "{names} cannot be restricted by more than one relation if it includes an Equal"
            ),
            E::InAndMore(names) => write!(
                f,
                "{names} cannot be restricted by more than one relation if it includes a IN"
            ),
            E::SliceAndEqual(names) => write!(
                f,
                "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
            ),
            E::TokenSliceAndEqual(names) => write!(
                f,
                "Columns \"{names}\" cannot be restricted by both an equality and an inequality relation"
            ),
            E::StartTwice(names) => {
                write!(f, "More than one restriction was found for the start bound on {names}")
            }
            E::EndTwice(names) => {
                write!(f, "More than one restriction was found for the end bound on {names}")
            }
            E::ContainsAndMore(column) => write!(
                f,
                "Collection column {column} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
            ),
            E::SlicesApart(column) => write!(
                f,
                "Column \"{column}\" cannot be restricted by two inequalities not starting with the same column"
            ),
            E::AfterSlice { column, sliced } => write!(
                f,
                "Clustering column \"{column}\" cannot be restricted (preceding column \"{sliced}\" is restricted by a non-EQ relation)"
            ),
            E::BeforeRestricted { column, sliced } => write!(
                f,
                "PRIMARY KEY column \"{column}\" cannot be restricted (preceding column \"{sliced}\" is restricted by a non-EQ relation)"
            ),
            E::TokenInModification(statement) => write!(
                f,
                "The token function cannot be used in WHERE clauses for {statement} statements"
            ),
            E::MissingPartitionKey(names) => {
                write!(f, "Some partition key parts are missing: {names}")
            }
            E::PartitionKeySlice(statement) => write!(
                f,
                "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for {statement} statements"
            ),
            E::AllowFiltering => f.write_str(ALLOW_FILTERING),
            E::StaticsWithClustering(statement) => write!(
                f,
                "Invalid restrictions on clustering columns since the {statement} statement modifies only static columns"
            ),
            E::SelectStaticsWithClustering => {
                f.write_str("Cannot restrict clustering columns when selecting only static columns")
            }
            E::ClusteringSlice(statement) => write!(
                f,
                "Slice restrictions are not supported on the clustering columns in {statement} statements"
            ),
            E::MissingClustering(names) => write!(f, "Some clustering keys are missing: {names}"),
            E::ClusteringContains => f.write_str(
                "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering",
            ),
            E::Gap { column, missing } => write!(
                f,
                "PRIMARY KEY column \"{column}\" cannot be restricted as preceding column \"{missing}\" is not restricted"
            ),
            E::NonPrimaryKey(names) => {
                write!(f, "Non PRIMARY KEY columns found in where clause: {names} ")
            }
            E::NullInCondition(column) => {
                write!(f, "Invalid null value in condition for column {column}")
            }
            E::NullValue(column) => write!(f, "Invalid null value for column {column}"),
            E::NullInTuples(columns) => {
                write!(f, "Invalid null value in condition for columns: [{columns}]")
            }
            E::UnsetValue(column) => write!(f, "Invalid unset value for column {column}"),
            E::UnsetTupleField(place) => {
                write!(f, "Invalid unset value for tuple field number {place}")
            }
            E::UnsetTuple(name) => write!(f, "Invalid unset value for tuple {name}"),
            E::NullTuple => f.write_str(
                "java.lang.NullPointerException: Cannot invoke \"org.apache.cassandra.cql3.Tuples$Value.getElements()\" because \"t\" is null",
            ),
            E::NullTuples => f.write_str("Invalid null value for IN restriction"),
            E::UnsetTuples(name) => write!(f, "Invalid unset value for {name}"),
            E::EmptyKey => f.write_str("Key may not be empty"),
            E::KeyTooLong(length) => {
                write!(f, "Key length of {length} is longer than maximum of {}", u16::MAX)
            }
            E::NullToken => f.write_str("Invalid null token value"),
            E::NullTokenOfKeys => f.write_str(
                "java.lang.NullPointerException: Cannot invoke \"java.nio.ByteBuffer.position()\" because \"bytes\" is null",
            ),
            E::BrokenToken => f.write_str("java.lang.IndexOutOfBoundsException"),
            E::NullBoundInDelete => {
                f.write_str("cassling does not support DELETE with a range that begins or ends at null")
            }
            E::FilterNull { part, column } => {
                write!(f, "Unsupported null {part} for column {column}")
            }
            E::FilterUnset { part, column } => {
                write!(f, "Unsupported unset {part} for column {column}")
            }
            E::FilterTupleIn => f.write_str("Multicolumn IN filters are not supported"),
            E::FilterTupleSlice => {
                f.write_str("Multi-column slice restrictions cannot be used for filtering.")
            }
            E::Marshal(e) => e.fmt(f),
        }
    }
}
