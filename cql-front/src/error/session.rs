//! Names of keyspaces and tables, prepared statements, values, paging, consistency.

use super::Code;
use std::fmt;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionError {
    /// A table name without keyspace before any USE.
    NoKeyspace,
    /// USE of a keyspace that is not there.
    UseUnknownKeyspace(String),
    /// A statement on a keyspace that is not there.
    UnknownKeyspace(String),
    /// A statement on a table that is not there.
    UnknownTable(String),
    /// A schema change in a system keyspace.
    SystemKeyspace(String),
    /// A write to a system keyspace: Cassandra without a login lets it pass, we do not.
    SystemWrite(String),
    /// An unprepared statement with too few values.
    TooFewValues,
    /// A prepared statement with another number of values than markers.
    WrongNumberOfValues {
        /// Markers of the statement.
        markers: usize,
        /// Values given.
        values: usize,
    },
    /// Named values that do not name every marker.
    MissingNamedValue(String),
    /// A paging state that is none of ours.
    InvalidPagingState,
    /// More nested levels than are followed.
    TooDeeplyNested {
        /// Levels that are followed.
        limit: usize,
    },
    /// ANY for a read.
    AnyRead,
    /// SERIAL or LOCAL_SERIAL for an unconditional write.
    SerialWrite,
    /// A statement that is not text in UTF-8.
    NotUtf8,
    /// More bind markers than fit the protocol.
    TooManyMarkers {
        /// Markers of the statement.
        markers: usize,
        /// How many fit.
        limit: usize,
    },
    /// A Rust value that is none of the marker's type (a mistake of the program, never sent by a driver).
    ValueType {
        /// Marker.
        marker: String,
        /// Its type.
        ty: String,
        /// What is wrong with the value.
        reason: String,
    },
    /// A result that does not fit the Rust type asked for.
    RowType {
        /// Column, or the row.
        column: String,
        /// What does not fit.
        reason: String,
    },
}

impl SessionError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            SessionError::SystemKeyspace(_) => Code::Unauthorized,
            SessionError::SystemWrite(_) | SessionError::TooDeeplyNested { .. } => {
                Code::ServerError
            }
            SessionError::InvalidPagingState | SessionError::NotUtf8 => Code::ProtocolError,
            SessionError::NoKeyspace
            | SessionError::UseUnknownKeyspace(_)
            | SessionError::UnknownKeyspace(_)
            | SessionError::UnknownTable(_)
            | SessionError::TooFewValues
            | SessionError::WrongNumberOfValues { .. }
            | SessionError::MissingNamedValue(_)
            | SessionError::AnyRead
            | SessionError::SerialWrite
            | SessionError::TooManyMarkers { .. }
            | SessionError::ValueType { .. }
            | SessionError::RowType { .. } => Code::Invalid,
        }
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::NoKeyspace => f.write_str(
                "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
            ),
            SessionError::UseUnknownKeyspace(name) => write!(f, "Keyspace '{name}' does not exist"),
            SessionError::UnknownKeyspace(name) => write!(f, "keyspace {name} does not exist"),
            SessionError::UnknownTable(name) => write!(f, "table {name} does not exist"),
            SessionError::SystemKeyspace(name) => write!(f, "{name} keyspace is not user-modifiable."),
            SessionError::SystemWrite(name) => {
                write!(f, "cassling does not support writes to system keyspaces ({name})")
            }
            SessionError::TooFewValues => f.write_str("Invalid amount of bind variables"),
            SessionError::WrongNumberOfValues { markers, values } => {
                write!(f, "there were {markers} markers(?) in CQL but {values} bound variables")
            }
            SessionError::MissingNamedValue(name) => write!(f, "no value was given for the marker :{name}"),
            SessionError::InvalidPagingState => f.write_str("Invalid value for the paging state"),
            SessionError::TooDeeplyNested { limit } => {
                write!(f, "cassling does not support statements nested deeper than {limit} levels")
            }
            SessionError::AnyRead => f.write_str("ANY ConsistencyLevel is only supported for writes"),
            SessionError::SerialWrite => {
                f.write_str("You must use conditional updates for serializable writes")
            }
            SessionError::NotUtf8 => f.write_str("the statement is not valid UTF-8"),
            SessionError::TooManyMarkers { markers, limit } => write!(
                f,
                "Too many markers(?). {markers} markers exceed the allowed maximum of {limit}"
            ),
            SessionError::ValueType { marker, ty, reason } => {
                write!(f, "value for {marker} of type {ty}: {reason}")
            }
            SessionError::RowType { column, reason } => write!(f, "column {column}: {reason}"),
        }
    }
}
