//! From results to Rust values.

use crate::error::Error;
use crate::error::session::SessionError;
use crate::outcome::{ColumnSpec, Outcome, OutcomeKind, Rows};
use cassling_engine::metrics::Cost;
use cassling_engine::types::{CqlType, Value};
use std::net::IpAddr;
use uuid::Uuid;

/// The answer to a statement.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// What kind of result it is, raw values included.
    pub kind: OutcomeKind,
    /// Warnings, Cassandra's texts.
    pub warnings: Vec<String>,
    /// What it cost.
    pub cost: Cost,
    /// What was read, as Cassandra's trace says it.
    pub trace: Vec<String>,
}

impl QueryResult {
    pub(super) fn new(outcome: Outcome) -> QueryResult {
        let Outcome { kind, warnings, cost, trace } = outcome;
        QueryResult { kind, warnings, cost, trace }
    }

    /// The rows with raw values, if the statement gives rows.
    pub fn raw(&self) -> Option<&Rows> {
        match &self.kind {
            OutcomeKind::Rows(rows) => Some(rows),
            OutcomeKind::Void | OutcomeKind::SetKeyspace(_) | OutcomeKind::SchemaChange(_) => None,
        }
    }

    /// Columns of the result; none if the statement gives no rows.
    pub fn columns(&self) -> &[ColumnSpec] {
        self.raw().map_or(&[], |rows| &rows.columns)
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.raw().map_or(0, |rows| rows.rows.len())
    }

    /// Where the next page begins, if there may be one.
    pub fn paging_state(&self) -> Option<&[u8]> {
        self.raw().and_then(|rows| rows.paging_state.as_deref())
    }

    /// The rows as Rust values: tuples, or types of your own that are [`FromRow`].
    ///
    /// # Errors
    /// If the columns do not fit the type.
    pub fn rows<T: FromRow>(&self) -> Result<Vec<T>, Error> {
        let Some(rows) = self.raw() else { return Ok(Vec::new()) };
        rows.rows.iter().map(|row| T::from_row(&rows.columns, row)).collect()
    }

    /// The one row of the result.
    ///
    /// # Errors
    /// If there is not exactly one, or its columns do not fit the type.
    pub fn single_row<T: FromRow>(&self) -> Result<T, Error> {
        let mut rows = self.rows::<T>()?;
        match (rows.pop(), rows.len()) {
            (Some(row), 0) => Ok(row),
            _ => {
                let reason = format!("one was expected, there are {}", self.row_count());
                Err(Error::new(SessionError::RowType { column: "(rows)".to_string(), reason }))
            }
        }
    }
}

/// A Rust type that a row can become.
pub trait FromRow: Sized {
    /// Makes one from a row's raw values.
    ///
    /// # Errors
    /// If the columns do not fit.
    fn from_row(columns: &[ColumnSpec], row: &[Option<Vec<u8>>]) -> Result<Self, Error>;
}

/// A Rust type that a value can become.
pub trait FromCql: Sized {
    /// Makes one from wire bytes; `None` is null.
    ///
    /// # Errors
    /// Why the value does not fit.
    fn from_cql(ty: &CqlType, bytes: Option<&[u8]>) -> Result<Self, String>;
}

impl FromCql for Value {
    fn from_cql(ty: &CqlType, bytes: Option<&[u8]>) -> Result<Value, String> {
        let bytes = bytes.ok_or("it is null")?;
        Value::decode(ty, bytes).map_err(|e| e.to_string())
    }
}

impl<T: FromCql> FromCql for Option<T> {
    fn from_cql(ty: &CqlType, bytes: Option<&[u8]>) -> Result<Option<T>, String> {
        bytes.map(|bytes| T::from_cql(ty, Some(bytes))).transpose()
    }
}

macro_rules! scalar {
    ($($rust:ty: $($variant:ident)|+;)*) => {$(
        impl FromCql for $rust {
            fn from_cql(ty: &CqlType, bytes: Option<&[u8]>) -> Result<$rust, String> {
                match Value::from_cql(ty, bytes)? {
                    $(Value::$variant(value))|+ => Ok(value),
                    _ => Err(format!("a {ty} is no Rust {}", stringify!($rust))),
                }
            }
        }
    )*};
}

scalar! {
    bool: Boolean;
    i8: Tinyint;
    i16: Smallint;
    i32: Int;
    i64: Bigint | Timestamp;
    f32: Float;
    f64: Double;
    String: Text;
    Vec<u8>: Blob;
    IpAddr: Inet;
    Uuid: Uuid | Timeuuid;
}

macro_rules! tuples {
    ($count:literal: $($name:ident $place:tt)+) => {
        impl<$($name: FromCql),+> FromRow for ($($name,)+) {
            fn from_row(columns: &[ColumnSpec], row: &[Option<Vec<u8>>]) -> Result<Self, Error> {
                if columns.len() != $count {
                    let reason = format!("{} columns do not fit a tuple of {}", columns.len(), $count);
                    return Err(Error::new(SessionError::RowType { column: "(all)".to_string(), reason }));
                }
                Ok(($(value::<$name>(columns, row, $place)?,)+))
            }
        }
    };
}

fn value<T: FromCql>(
    columns: &[ColumnSpec],
    row: &[Option<Vec<u8>>],
    place: usize,
) -> Result<T, Error> {
    T::from_cql(&columns[place].ty, row[place].as_deref()).map_err(|reason| {
        Error::new(SessionError::RowType { column: columns[place].name.clone(), reason })
    })
}

tuples!(1: A 0);
tuples!(2: A 0 B 1);
tuples!(3: A 0 B 1 C 2);
tuples!(4: A 0 B 1 C 2 D 3);
tuples!(5: A 0 B 1 C 2 D 3 E 4);
tuples!(6: A 0 B 1 C 2 D 3 E 4 F 5);
tuples!(7: A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuples!(8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuples!(9: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuples!(10: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuples!(11: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuples!(12: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
