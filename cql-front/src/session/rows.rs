//! From results to Rust values.

use crate::error::Error;
use crate::error::session::SessionError;
use crate::outcome::{ColumnSpec, Outcome, OutcomeKind, RawRow, Rows};
use cassling_engine::metrics::Cost;
use cassling_engine::trace::Trace;
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
    pub trace: Trace,
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
        self.raw().map_or(0, Rows::len)
    }

    /// Where the next page begins, if there may be one.
    pub fn paging_state(&self) -> Option<&[u8]> {
        self.raw().and_then(|rows| rows.paging_state.as_deref())
    }

    /// The rows as Rust values: tuples, or types of your own that are [`FromRow`]. `&str` and `&[u8]` borrow from the
    /// result.
    ///
    /// # Errors
    /// If the columns do not fit the type.
    pub fn rows<'r, T: FromRow<'r>>(&'r self) -> Result<Vec<T>, Error> {
        let mut all = Vec::with_capacity(self.row_count());
        for row in self.iter() {
            all.push(row?);
        }
        Ok(all)
    }

    /// As [`QueryResult::rows`], one after another as they are asked for.
    pub fn iter<'r, T: FromRow<'r>>(&'r self) -> impl Iterator<Item = Result<T, Error>> {
        let of = |rows: &'r Rows| rows.iter().map(|row| T::from_row(&rows.columns, row));
        self.raw().into_iter().flat_map(of)
    }

    /// The one row of the result.
    ///
    /// # Errors
    /// If there is not exactly one, or its columns do not fit the type.
    pub fn single_row<'r, T: FromRow<'r>>(&'r self) -> Result<T, Error> {
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
pub trait FromRow<'r>: Sized {
    /// Makes one from a row's raw values.
    ///
    /// # Errors
    /// If the columns do not fit.
    fn from_row(columns: &[ColumnSpec], row: RawRow<'r>) -> Result<Self, Error>;
}

/// A Rust type that a value can become.
pub trait FromCql<'r>: Sized {
    /// Makes one from wire bytes; `None` is null.
    ///
    /// # Errors
    /// Why the value does not fit.
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<Self, String>;
}

impl<'r> FromCql<'r> for Value {
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<Value, String> {
        let bytes = bytes.ok_or("it is null")?;
        Value::decode(ty, bytes).map_err(|e| e.to_string())
    }
}

impl<'r, T: FromCql<'r>> FromCql<'r> for Option<T> {
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<Option<T>, String> {
        bytes.map(|bytes| T::from_cql(ty, Some(bytes))).transpose()
    }
}

impl<'r> FromCql<'r> for &'r [u8] {
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<&'r [u8], String> {
        match ty {
            CqlType::Blob => bytes.ok_or_else(|| "it is null".to_string()),
            _ => Err(format!("a {ty} is no Rust &[u8]")),
        }
    }
}

impl<'r> FromCql<'r> for Vec<u8> {
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<Vec<u8>, String> {
        match (ty, bytes) {
            (CqlType::Blob, Some(bytes)) => Ok(bytes.to_vec()),
            _ => match Value::from_cql(ty, bytes)? {
                Value::Blob(value) => Ok(value),
                _ => Err(format!("a {ty} is no Rust Vec<u8>")),
            },
        }
    }
}

impl<'r> FromCql<'r> for &'r str {
    fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<&'r str, String> {
        match ty {
            CqlType::Text | CqlType::Ascii => {
                std::str::from_utf8(bytes.ok_or("it is null")?).map_err(|e| e.to_string())
            }
            _ => Err(format!("a {ty} is no Rust &str")),
        }
    }
}

/// Rust types that are a [`Value`]'s content. Where the type is the plain one and the bytes have its form, no value is
/// made in between.
macro_rules! scalar {
    ($($rust:ty: $($variant:ident)|+ $(, $ty:ident $from:expr)*;)*) => {$(
        impl<'r> FromCql<'r> for $rust {
            fn from_cql(ty: &CqlType, bytes: Option<&'r [u8]>) -> Result<$rust, String> {
                match (ty, bytes) {
                    $((CqlType::$ty, Some(bytes)) if let Ok(bytes) = bytes.try_into() => {
                        let from: fn(_) -> $rust = $from;
                        return Ok(from(bytes));
                    })*
                    _ => {}
                }
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
    i8: Tinyint, Tinyint i8::from_be_bytes;
    i16: Smallint, Smallint i16::from_be_bytes;
    i32: Int, Int i32::from_be_bytes;
    i64: Bigint | Timestamp, Bigint i64::from_be_bytes, Timestamp i64::from_be_bytes;
    f32: Float, Float f32::from_be_bytes;
    f64: Double, Double f64::from_be_bytes;
    String: Text;
    IpAddr: Inet;
    Uuid: Uuid | Timeuuid, Uuid Uuid::from_bytes;
}

macro_rules! tuples {
    ($count:literal: $($name:ident $place:tt)+) => {
        impl<'r, $($name: FromCql<'r>),+> FromRow<'r> for ($($name,)+) {
            fn from_row(columns: &[ColumnSpec], mut row: RawRow<'r>) -> Result<Self, Error> {
                if columns.len() != $count {
                    let reason = format!("{} columns do not fit a tuple of {}", columns.len(), $count);
                    return Err(Error::new(SessionError::RowType { column: "(all)".to_string(), reason }));
                }
                Ok(($(value::<$name>(&columns[$place], &mut row)?,)+))
            }
        }
    };
}

fn value<'r, T: FromCql<'r>>(column: &ColumnSpec, row: &mut RawRow<'r>) -> Result<T, Error> {
    T::from_cql(&column.ty, row.next().flatten())
        .map_err(|reason| Error::new(SessionError::RowType { column: column.name.clone(), reason }))
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
