//! From Rust values to the wire bytes of markers.
//!
//! Values are given as a tuple, a slice, or by name; each is checked against the type of its marker, as strictly as
//! the `scylla` driver does: an `i32` is an int, never a bigint.

use crate::analysis::terms::BindValue;
use crate::error::Error;
use crate::error::session::SessionError;
use crate::outcome::ColumnSpec;
use crate::plan::Plan;
use cassling_engine::types::{CqlType, Value};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use uuid::Uuid;

/// No value at all: the column stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unset;

/// A Rust value that can be bound to a marker.
pub trait ToCql {
    /// The value as type `ty`.
    ///
    /// # Errors
    /// Why the value is none of that type.
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String>;
}

/// The values of all markers of a statement; those of most statements need no allocation.
pub type Bound<'v> = SmallVec<[BindValue<'v>; 6]>;

/// Values for all markers of a statement.
pub trait BindValues {
    /// The values in the order of the plan's markers.
    ///
    /// # Errors
    /// A wrong number of values, a missing name, a value of another type.
    fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error>;
}

/// Numbers of a fixed length.
macro_rules! number {
    ($($rust:ty: $($ty:ident)|+;)*) => {$(
        impl ToCql for $rust {
            fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
                match ty {
                    $(CqlType::$ty)|+ => Ok(BindValue::number(self.to_be_bytes())),
                    _ => Err(format!("a Rust {} is none", stringify!($rust))),
                }
            }
        }
    )*};
}

number! {
    i8: Tinyint;
    i16: Smallint;
    i32: Int;
    i64: Bigint | Counter;
    f32: Float;
    f64: Double;
}

impl ToCql for bool {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match ty {
            CqlType::Boolean => Ok(BindValue::number([u8::from(*self)])),
            _ => Err("a Rust bool is none".to_string()),
        }
    }
}

impl ToCql for IpAddr {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match ty {
            CqlType::Inet => encode(&Value::Inet(*self), ty),
            _ => Err("a Rust IpAddr is none".to_string()),
        }
    }
}

impl ToCql for String {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match ty {
            CqlType::Text => borrow(self.as_bytes()),
            CqlType::Ascii => encode(&Value::Text(self.clone()), ty),
            _ => Err("a Rust String is none".to_string()),
        }
    }
}

impl ToCql for str {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match ty {
            CqlType::Text | CqlType::Ascii => borrow(self.as_bytes()),
            _ => Err("a Rust &str is none".to_string()),
        }
    }
}

impl ToCql for Uuid {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match ty {
            CqlType::Uuid | CqlType::Timeuuid => borrow(self.as_bytes()),
            _ => Err("a Rust Uuid is none".to_string()),
        }
    }
}

impl ToCql for Value {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        match (self, ty) {
            (Value::Blob(bytes), CqlType::Blob) => borrow(bytes),
            (Value::Text(text), CqlType::Text) => borrow(text.as_bytes()),
            (Value::Bigint(number), CqlType::Bigint) => number.to_cql(ty),
            (Value::Int(number), CqlType::Int) => number.to_cql(ty),
            (Value::Uuid(uuid), CqlType::Uuid) => uuid.to_cql(ty),
            _ => encode(self, ty),
        }
    }
}

impl ToCql for BindValue<'_> {
    fn to_cql(&self, _: &CqlType) -> Result<BindValue<'_>, String> {
        match self.bytes() {
            Some(bytes) => borrow(bytes),
            None => Ok(self.clone()),
        }
    }
}

impl ToCql for Unset {
    fn to_cql(&self, _: &CqlType) -> Result<BindValue<'_>, String> {
        Ok(BindValue::Unset)
    }
}

impl<T: ToCql + ?Sized> ToCql for &T {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        (**self).to_cql(ty)
    }
}

impl<T: ToCql> ToCql for Option<T> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        self.as_ref().map_or(Ok(BindValue::Null), |value| value.to_cql(ty))
    }
}

impl<T: ToCql> ToCql for Vec<T> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        self.as_slice().to_cql(ty)
    }
}

/// A list, set or vector of values; a slice of bytes is a list of tinyint or, as `[u8]`, not bindable: use [`Value::Blob`].
impl<T: ToCql> ToCql for [T] {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        let (element, wrap): (&CqlType, fn(Vec<Value>) -> Value) = match ty {
            CqlType::List { element, .. } => (element, Value::List),
            CqlType::Set { element, .. } => (element, Value::Set),
            CqlType::Vector { element, .. } => (element, Value::Vector),
            _ => return Err("a Rust sequence is none".to_string()),
        };
        let values = self.iter().map(|item| decoded(item, element)).collect::<Result<_, _>>()?;
        encode(&wrap(values), ty)
    }
}

impl<T: ToCql> ToCql for BTreeSet<T> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        let CqlType::Set { element, .. } = ty else {
            return Err("a Rust set is none".to_string());
        };
        let values = self.iter().map(|item| decoded(item, element)).collect::<Result<_, _>>()?;
        encode(&Value::Set(values), ty)
    }
}

impl<K: ToCql, V: ToCql> ToCql for BTreeMap<K, V> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue<'_>, String> {
        let CqlType::Map { key, value, .. } = ty else {
            return Err("a Rust map is none".to_string());
        };
        let entries = self
            .iter()
            .map(|(k, v)| Ok((decoded(k, key)?, decoded(v, value)?)))
            .collect::<Result<_, String>>()?;
        encode(&Value::Map(entries), ty)
    }
}

/// A value whose wire bytes the caller holds.
#[expect(clippy::unnecessary_wraps, reason = "what every conversion returns")]
fn borrow(bytes: &[u8]) -> Result<BindValue<'_>, String> {
    Ok(BindValue::Bytes(Cow::Borrowed(bytes)))
}

fn encode(value: &Value, ty: &CqlType) -> Result<BindValue<'static>, String> {
    value.encode(ty).map(|bytes| BindValue::Bytes(Cow::Owned(bytes))).map_err(|e| e.to_string())
}

fn decoded(item: &impl ToCql, ty: &CqlType) -> Result<Value, String> {
    let value = item.to_cql(ty)?;
    let bytes = value.bytes().ok_or("null is not supported inside collections")?;
    Value::decode(ty, bytes).map_err(|e| e.to_string())
}

fn check<'v>(value: &'v dyn ToCql, marker: &ColumnSpec) -> Result<BindValue<'v>, Error> {
    value.to_cql(&marker.ty).map_err(|reason| {
        let (marker, ty) = (marker.name.clone(), marker.ty.to_string());
        Error::new(SessionError::ValueType { marker, ty, reason })
    })
}

fn bind_in_order<'v>(
    values: impl ExactSizeIterator<Item = &'v dyn ToCql>,
    plan: &Plan,
) -> Result<Bound<'v>, Error> {
    let markers = plan.markers.len();
    if values.len() != markers {
        let values = values.len();
        return Err(Error::new(SessionError::WrongNumberOfValues { markers, values }));
    }
    let mut bound = Bound::with_capacity(markers);
    for (value, marker) in values.zip(&plan.markers) {
        bound.push(check(value, marker)?);
    }
    Ok(bound)
}

impl BindValues for () {
    fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error> {
        if plan.markers.is_empty() {
            return Ok(Bound::new());
        }
        Err(Error::new(SessionError::TooFewValues))
    }
}

impl<T: ToCql> BindValues for &[T] {
    fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error> {
        bind_in_order(self.iter().map(|value| value as &dyn ToCql), plan)
    }
}

impl<T: ToCql> BindValues for Vec<T> {
    fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error> {
        bind_in_order(self.iter().map(|value| value as &dyn ToCql), plan)
    }
}

/// Values by the names of `:name` markers; a marker without name is found by the name of what receives it.
impl BindValues for BTreeMap<&str, Value> {
    fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error> {
        let named = plan.markers.iter().zip(&plan.marker_names).map(|(marker, name)| {
            let name = name.as_ref().map_or(marker.name.as_str(), |name| name.text.as_str());
            let value = self
                .get(name)
                .ok_or_else(|| Error::new(SessionError::MissingNamedValue(name.to_string())))?;
            check(value, marker)
        });
        named.collect()
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: ToCql),+> BindValues for ($($name,)+) {
            #[expect(non_snake_case, reason = "the type parameters name the places of the tuple")]
            fn bind(&self, plan: &Plan) -> Result<Bound<'_>, Error> {
                let ($($name,)+) = self;
                bind_in_order([$($name as &dyn ToCql),+].into_iter(), plan)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
