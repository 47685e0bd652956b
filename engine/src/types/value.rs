//! A decoded value, for functions, filters and display. Stored and sent values stay bytes
//! (design decision 4); a [`Value`] is made only where something has to be computed.

use super::codec::{self, MarshalError};
use super::temporal::Duration;
use super::{CqlType, number, order};
use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use std::net::IpAddr;
use uuid::Uuid;

/// A value of some CQL type. Null is the absence of a `Value`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The zero-byte value that many types hold beside null.
    Empty,
    /// ascii, text.
    Text(String),
    /// bigint, counter.
    Bigint(i64),
    /// blob.
    Blob(Vec<u8>),
    /// boolean.
    Boolean(bool),
    /// date: days since 1970-01-01.
    Date(i32),
    /// decimal.
    Decimal(BigDecimal),
    /// double.
    Double(f64),
    /// duration.
    Duration(Duration),
    /// float.
    Float(f32),
    /// inet.
    Inet(IpAddr),
    /// int.
    Int(i32),
    /// smallint.
    Smallint(i16),
    /// time: nanoseconds since midnight.
    Time(i64),
    /// timestamp: milliseconds since the epoch.
    Timestamp(i64),
    /// timeuuid.
    Timeuuid(Uuid),
    /// tinyint.
    Tinyint(i8),
    /// uuid.
    Uuid(Uuid),
    /// varint.
    Varint(BigInt),
    /// list.
    List(Vec<Value>),
    /// set, in the order of its elements.
    Set(Vec<Value>),
    /// map, in the order of its keys.
    Map(Vec<(Value, Value)>),
    /// tuple; a component may be null.
    Tuple(Vec<Option<Value>>),
    /// user-defined type: fields by name; a field may be null.
    Udt(Vec<(String, Option<Value>)>),
    /// vector.
    Vector(Vec<Value>),
}

impl Value {
    /// The wire bytes of the value as type `ty`. Sets and maps come out sorted and without duplicates.
    ///
    /// # Errors
    /// If the value is not one of that type.
    pub fn encode(&self, ty: &CqlType) -> Result<Vec<u8>, MarshalError> {
        let bytes = match (self, ty) {
            (Value::Empty, _) => Vec::new(),
            (Value::Text(it), CqlType::Text | CqlType::Ascii) => it.clone().into_bytes(),
            (Value::Bigint(it), CqlType::Bigint | CqlType::Counter) => it.to_be_bytes().to_vec(),
            (Value::Blob(it), CqlType::Blob | CqlType::Custom(_)) => it.clone(),
            (Value::Boolean(it), CqlType::Boolean) => vec![u8::from(*it)],
            (Value::Date(it), CqlType::Date) => date_bytes(*it).to_vec(),
            (Value::Decimal(it), CqlType::Decimal) => encode_decimal(it)?,
            (Value::Double(it), CqlType::Double) => it.to_be_bytes().to_vec(),
            (Value::Duration(it), CqlType::Duration) => it.to_bytes(),
            (Value::Float(it), CqlType::Float) => it.to_be_bytes().to_vec(),
            (Value::Inet(IpAddr::V4(it)), CqlType::Inet) => it.octets().to_vec(),
            (Value::Inet(IpAddr::V6(it)), CqlType::Inet) => it.octets().to_vec(),
            (Value::Int(it), CqlType::Int) => it.to_be_bytes().to_vec(),
            (Value::Smallint(it), CqlType::Smallint) => it.to_be_bytes().to_vec(),
            (Value::Time(it), CqlType::Time) => it.to_be_bytes().to_vec(),
            (Value::Timestamp(it), CqlType::Timestamp) => it.to_be_bytes().to_vec(),
            (Value::Timeuuid(it) | Value::Uuid(it), CqlType::Uuid) => it.as_bytes().to_vec(),
            (Value::Timeuuid(it) | Value::Uuid(it), _) if codec::is_timeuuid(ty) => {
                it.as_bytes().to_vec()
            }
            (Value::Tinyint(it), CqlType::Tinyint) => it.to_be_bytes().to_vec(),
            (Value::Varint(it), CqlType::Varint) => it.to_signed_bytes_be(),
            _ => self.encode_composed(ty)?,
        };
        codec::validate(ty, &bytes)?;
        Ok(bytes)
    }

    fn encode_composed(&self, ty: &CqlType) -> Result<Vec<u8>, MarshalError> {
        match (self, ty) {
            (Value::List(items), CqlType::List { element, .. }) => {
                let items = encode_all(items, element)?;
                Ok(codec::write_elements(items.iter().map(Vec::as_slice)))
            }
            (Value::Set(items), CqlType::Set { element, .. }) => {
                let mut items = encode_all(items, element)?;
                items.sort_by(|a, b| order::compare(element, a, b));
                items.dedup_by(|b, a| order::compare(element, a, b).is_eq());
                Ok(codec::write_elements(items.iter().map(Vec::as_slice)))
            }
            (Value::Map(items), CqlType::Map { key, value, .. }) => {
                let mut pairs = Vec::with_capacity(items.len());
                for (k, v) in items {
                    pairs.push((k.encode(key)?, v.encode(value)?));
                }
                pairs.sort_by(|a, b| order::compare(key, &a.0, &b.0));
                pairs.dedup_by(|b, a| {
                    let same = order::compare(key, &a.0, &b.0).is_eq();
                    if same {
                        std::mem::swap(&mut a.1, &mut b.1);
                    }
                    same
                });
                Ok(codec::write_entries(pairs.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))))
            }
            (Value::Tuple(parts), CqlType::Tuple(types)) => {
                if parts.len() > types.len() {
                    return Err(mismatch(self, ty));
                }
                let parts = parts.iter().zip(types.iter());
                encode_parts(parts.map(|(part, ty)| (part.as_ref(), ty)))
            }
            (Value::Udt(fields), CqlType::Udt { definition, .. }) => {
                let known = |name: &String| definition.fields.iter().any(|(it, _)| it == name);
                if !fields.iter().all(|(name, _)| known(name)) {
                    return Err(mismatch(self, ty));
                }
                encode_parts(definition.fields.iter().map(|(name, ty)| {
                    let field = fields.iter().find(|(it, _)| it == name);
                    (field.and_then(|(_, value)| value.as_ref()), ty)
                }))
            }
            (Value::Vector(items), CqlType::Vector { element, .. }) => {
                let items = encode_all(items, element)?;
                Ok(codec::write_vector(element, items.iter().map(Vec::as_slice)))
            }
            _ => Err(mismatch(self, ty)),
        }
    }

    /// The value that `bytes` hold as type `ty`. Text that Cassandra accepts and Rust does not (surrogates)
    /// comes with replacement characters; a null in a list as [`Value::Empty`].
    ///
    /// # Errors
    /// If `bytes` are not legal for the type ([`super::codec::validate`]).
    pub fn decode(ty: &CqlType, bytes: &[u8]) -> Result<Value, MarshalError> {
        codec::validate(ty, bytes)?;
        decode_valid(ty, bytes)
    }
}

/// [`Value::decode`] of bytes that were found valid.
fn decode_valid(ty: &CqlType, bytes: &[u8]) -> Result<Value, MarshalError> {
    if bytes.is_empty() && !matches!(ty, CqlType::Ascii | CqlType::Text | CqlType::Blob) {
        return Ok(Value::Empty);
    }
    let inside = |ty: &CqlType, item: Option<&[u8]>| match item {
        Some(item) => decode_valid(ty, item),
        None => Ok(Value::Empty),
    };
    let part = |ty: &CqlType, item: Option<&Option<&[u8]>>| match item {
        Some(Some(item)) => decode_valid(ty, item).map(Some),
        _ => Ok(None),
    };
    Ok(match ty {
        CqlType::Ascii | CqlType::Text => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        CqlType::Bigint | CqlType::Counter => Value::Bigint(i64::from_be_bytes(sized(bytes)?)),
        CqlType::Blob => Value::Blob(bytes.to_vec()),
        CqlType::Boolean => Value::Boolean(bytes[0] != 0),
        CqlType::Date => Value::Date(days(sized(bytes)?)),
        CqlType::Decimal => {
            let (scale, unscaled) = number::decimal_parts(bytes);
            Value::Decimal(BigDecimal::new(unscaled, i64::from(scale)))
        }
        CqlType::Double => Value::Double(f64::from_be_bytes(sized(bytes)?)),
        CqlType::Duration => Value::Duration(Duration::read(bytes)?),
        CqlType::Float => Value::Float(f32::from_be_bytes(sized(bytes)?)),
        CqlType::Inet => Value::Inet(match <[u8; 4]>::try_from(bytes) {
            Ok(four) => IpAddr::from(four),
            Err(_) => IpAddr::from(sized::<16>(bytes)?),
        }),
        CqlType::Int => Value::Int(i32::from_be_bytes(sized(bytes)?)),
        CqlType::Smallint => Value::Smallint(i16::from_be_bytes(sized(bytes)?)),
        CqlType::Time => Value::Time(i64::from_be_bytes(sized(bytes)?)),
        CqlType::Timestamp => Value::Timestamp(i64::from_be_bytes(sized(bytes)?)),
        CqlType::Tinyint => Value::Tinyint(i8::from_be_bytes(sized(bytes)?)),
        CqlType::Uuid => Value::Uuid(Uuid::from_bytes(sized(bytes)?)),
        CqlType::Varint => Value::Varint(BigInt::from_signed_bytes_be(bytes)),
        CqlType::Timeuuid => Value::Timeuuid(Uuid::from_bytes(sized(bytes)?)),
        CqlType::Custom(_) if codec::is_timeuuid(ty) => {
            Value::Timeuuid(Uuid::from_bytes(sized(bytes)?))
        }
        CqlType::Custom(_) => Value::Blob(bytes.to_vec()),
        CqlType::List { element, .. } => {
            let items = codec::elements(bytes)?.into_iter();
            Value::List(items.map(|item| inside(element, item)).collect::<Result<_, _>>()?)
        }
        CqlType::Set { element, .. } => {
            let items = codec::elements(bytes)?.into_iter();
            Value::Set(items.map(|item| inside(element, item)).collect::<Result<_, _>>()?)
        }
        CqlType::Map { key, value, .. } => {
            let items = codec::entries(bytes)?.into_iter();
            let items = items.map(|(k, v)| Ok((inside(key, k)?, inside(value, v)?)));
            Value::Map(items.collect::<Result<_, MarshalError>>()?)
        }
        CqlType::Tuple(types) => {
            let parts = codec::components(bytes)?;
            let parts = types.iter().enumerate().map(|(index, ty)| part(ty, parts.get(index)));
            Value::Tuple(parts.collect::<Result<_, _>>()?)
        }
        CqlType::Udt { definition, .. } => {
            let parts = codec::components(bytes)?;
            let fields = definition.fields.iter().enumerate();
            let fields =
                fields.map(|(index, (name, ty))| Ok((name.clone(), part(ty, parts.get(index))?)));
            Value::Udt(fields.collect::<Result<_, MarshalError>>()?)
        }
        CqlType::Vector { element, dimensions } => {
            let items = codec::vector_elements(element, *dimensions, bytes)?.into_iter();
            Value::Vector(items.map(|item| decode_valid(element, item)).collect::<Result<_, _>>()?)
        }
    })
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], MarshalError> {
    bytes
        .try_into()
        .map_err(|_| MarshalError::invalid(format!("Expected {N} bytes ({})", bytes.len())))
}

fn encode_all(items: &[Value], ty: &CqlType) -> Result<Vec<Vec<u8>>, MarshalError> {
    items.iter().map(|item| item.encode(ty)).collect()
}

fn encode_parts<'a>(
    parts: impl Iterator<Item = (Option<&'a Value>, &'a CqlType)>,
) -> Result<Vec<u8>, MarshalError> {
    let mut out = Vec::new();
    for (part, ty) in parts {
        let part = part.map(|part| part.encode(ty)).transpose()?;
        codec::write_item(part.as_deref(), &mut out);
    }
    Ok(out)
}

fn encode_decimal(number: &BigDecimal) -> Result<Vec<u8>, MarshalError> {
    let (unscaled, scale) = number.as_bigint_and_exponent();
    let scale = i32::try_from(scale)
        .map_err(|_| MarshalError::invalid(format!("decimal scale {scale} is out of range")))?;
    Ok(number::decimal_bytes(scale, &unscaled))
}

fn mismatch(value: &Value, ty: &CqlType) -> MarshalError {
    let kind = match value {
        Value::Empty => "empty",
        Value::Text(_) => "text",
        Value::Bigint(_) => "bigint",
        Value::Blob(_) => "blob",
        Value::Boolean(_) => "boolean",
        Value::Date(_) => "date",
        Value::Decimal(_) => "decimal",
        Value::Double(_) => "double",
        Value::Duration(_) => "duration",
        Value::Float(_) => "float",
        Value::Inet(_) => "inet",
        Value::Int(_) => "int",
        Value::Smallint(_) => "smallint",
        Value::Time(_) => "time",
        Value::Timestamp(_) => "timestamp",
        Value::Timeuuid(_) => "timeuuid",
        Value::Tinyint(_) => "tinyint",
        Value::Uuid(_) => "uuid",
        Value::Varint(_) => "varint",
        Value::List(_) => "list",
        Value::Set(_) => "set",
        Value::Map(_) => "map",
        Value::Tuple(_) => "tuple",
        Value::Udt(_) => "user type",
        Value::Vector(_) => "vector",
    };
    MarshalError::invalid(format!("A {kind} value is not one of type {ty}"))
}

/// The wire bytes of a date: days since 1970-01-01, moved so that the epoch is in the middle.
pub fn date_bytes(days: i32) -> [u8; 4] {
    (days.cast_unsigned() ^ 1 << 31).to_be_bytes()
}

/// Undoes [`date_bytes`].
fn days(bytes: [u8; 4]) -> i32 {
    (u32::from_be_bytes(bytes) ^ 1 << 31).cast_signed()
}

/// Bytes in lower-case hex, two digits each.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
