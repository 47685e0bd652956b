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
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String>;
}

/// Values for all markers of a statement.
pub trait BindValues {
    /// The values in the order of the plan's markers.
    ///
    /// # Errors
    /// A wrong number of values, a missing name, a value of another type.
    fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error>;
}

macro_rules! scalar {
    ($($rust:ty => $variant:ident: $($ty:ident)|+;)*) => {$(
        impl ToCql for $rust {
            fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
                match ty {
                    $(CqlType::$ty)|+ => encode(&Value::$variant(self.clone()), ty),
                    _ => Err(format!("a Rust {} is none", stringify!($rust))),
                }
            }
        }
    )*};
}

scalar! {
    bool => Boolean: Boolean;
    i8 => Tinyint: Tinyint;
    i16 => Smallint: Smallint;
    i32 => Int: Int;
    i64 => Bigint: Bigint | Counter;
    f32 => Float: Float;
    f64 => Double: Double;
    String => Text: Text | Ascii;
    IpAddr => Inet: Inet;
}

impl ToCql for str {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        match ty {
            CqlType::Text | CqlType::Ascii => Ok(BindValue::Bytes(self.as_bytes().to_vec())),
            _ => Err("a Rust &str is none".to_string()),
        }
    }
}

impl ToCql for Uuid {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        match ty {
            CqlType::Uuid | CqlType::Timeuuid => Ok(BindValue::Bytes(self.as_bytes().to_vec())),
            _ => Err("a Rust Uuid is none".to_string()),
        }
    }
}

impl ToCql for Value {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        encode(self, ty)
    }
}

impl ToCql for BindValue {
    fn to_cql(&self, _: &CqlType) -> Result<BindValue, String> {
        Ok(self.clone())
    }
}

impl ToCql for Unset {
    fn to_cql(&self, _: &CqlType) -> Result<BindValue, String> {
        Ok(BindValue::Unset)
    }
}

impl<T: ToCql + ?Sized> ToCql for &T {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        (**self).to_cql(ty)
    }
}

impl<T: ToCql> ToCql for Option<T> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        self.as_ref().map_or(Ok(BindValue::Null), |value| value.to_cql(ty))
    }
}

impl<T: ToCql> ToCql for Vec<T> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        self.as_slice().to_cql(ty)
    }
}

/// A list, set or vector of values; a slice of bytes is a list of tinyint or, as `[u8]`, not bindable: use [`Value::Blob`].
impl<T: ToCql> ToCql for [T] {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
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
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
        let CqlType::Set { element, .. } = ty else {
            return Err("a Rust set is none".to_string());
        };
        let values = self.iter().map(|item| decoded(item, element)).collect::<Result<_, _>>()?;
        encode(&Value::Set(values), ty)
    }
}

impl<K: ToCql, V: ToCql> ToCql for BTreeMap<K, V> {
    fn to_cql(&self, ty: &CqlType) -> Result<BindValue, String> {
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

fn encode(value: &Value, ty: &CqlType) -> Result<BindValue, String> {
    value.encode(ty).map(BindValue::Bytes).map_err(|e| e.to_string())
}

fn decoded(item: &impl ToCql, ty: &CqlType) -> Result<Value, String> {
    match item.to_cql(ty)? {
        BindValue::Bytes(bytes) => Value::decode(ty, &bytes).map_err(|e| e.to_string()),
        BindValue::Null | BindValue::Unset => {
            Err("null is not supported inside collections".to_string())
        }
    }
}

fn check(value: &dyn ToCql, marker: &ColumnSpec) -> Result<BindValue, Error> {
    value.to_cql(&marker.ty).map_err(|reason| {
        let (marker, ty) = (marker.name.clone(), marker.ty.to_string());
        Error::new(SessionError::ValueType { marker, ty, reason })
    })
}

fn bind_in_order(values: &[&dyn ToCql], plan: &Plan) -> Result<Vec<BindValue>, Error> {
    let markers = plan.markers.len();
    if values.len() != markers {
        let values = values.len();
        return Err(Error::new(SessionError::WrongNumberOfValues { markers, values }));
    }
    values.iter().zip(&plan.markers).map(|(value, marker)| check(*value, marker)).collect()
}

impl BindValues for () {
    fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error> {
        if plan.markers.is_empty() {
            return Ok(Vec::new());
        }
        Err(Error::new(SessionError::TooFewValues))
    }
}

impl<T: ToCql> BindValues for &[T] {
    fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error> {
        let values: Vec<&dyn ToCql> = self.iter().map(|value| value as &dyn ToCql).collect();
        bind_in_order(&values, plan)
    }
}

impl<T: ToCql> BindValues for Vec<T> {
    fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error> {
        self.as_slice().bind(plan)
    }
}

/// Values by the names of `:name` markers; a marker without name is found by the name of what receives it.
impl BindValues for BTreeMap<&str, Value> {
    fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error> {
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
            fn bind(&self, plan: &Plan) -> Result<Vec<BindValue>, Error> {
                let ($($name,)+) = self;
                bind_in_order(&[$($name as &dyn ToCql),+], plan)
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
