//! Values as Cassandra writes them in JSON (`AbstractType.toJSONString`), and as the bare texts of its tools.

use super::super::temporal::{Duration, date_text};
use super::super::{CqlType, codec, float, number, value};
use super::literal::{time_text, timestamp_text};
use super::{java_inet_text, uuid_text};
use num_bigint::BigInt;
use std::fmt::Write as _;

/// A text in quotes, escaped as Jackson does it: only what JSON demands, hexadecimal digits in capitals.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    json_escape(text, &mut out);
    out.push('"');
    out
}

fn json_escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
}

/// The value in JSON: numbers and booleans bare, blobs as `"0x…"`, NaN and the infinities as null. No bytes at all are
/// `""` (Cassandra fails on some of those, such as a boolean); bytes that are no value of the type are `"0x…"`.
pub fn json(ty: &CqlType, bytes: &[u8]) -> String {
    match ty {
        CqlType::Blob => format!("\"0x{}\"", value::hex(bytes)),
        _ if bytes.is_empty() => "\"\"".to_string(),
        _ if codec::validate(ty, bytes).is_err() => format!("\"0x{}\"", value::hex(bytes)),
        CqlType::Double if !f64::from_bits(wide(bytes)).is_finite() => "null".to_string(),
        CqlType::Float if !f32::from_bits(wide(bytes) as u32).is_finite() => "null".to_string(),
        CqlType::Bigint
        | CqlType::Boolean
        | CqlType::Counter
        | CqlType::Decimal
        | CqlType::Double
        | CqlType::Float
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Tinyint
        | CqlType::Varint => key_text(ty, bytes),
        CqlType::Timestamp => json_string(&key_text(ty, bytes).replace('T', " ")),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let items = codec::elements(bytes).unwrap_or_default();
            format!("[{}]", join(items.into_iter().map(|item| nullable(element, item))))
        }
        CqlType::Map { key, value, .. } => {
            let items = codec::entries(bytes).unwrap_or_default().into_iter();
            let items = items.map(|(k, v)| format!("{}: {}", map_key(key, k), nullable(value, v)));
            format!("{{{}}}", join(items))
        }
        CqlType::Tuple(types) => {
            let parts = codec::components(bytes).unwrap_or_default();
            let part = |(index, ty)| nullable(ty, parts.get(index).copied().flatten());
            format!("[{}]", join(types.iter().enumerate().map(part)))
        }
        CqlType::Udt { definition, .. } => {
            let parts = codec::components(bytes).unwrap_or_default();
            let fields = definition.fields.iter().enumerate().map(|(index, (name, ty))| {
                let part = parts.get(index).copied().flatten();
                format!("{}: {}", field_name(name), nullable(ty, part))
            });
            format!("{{{}}}", join(fields))
        }
        CqlType::Vector { element, dimensions } => {
            let items = codec::vector_elements(element, *dimensions, bytes).unwrap_or_default();
            format!("[{}]", join(items.into_iter().map(|item| json(element, item))))
        }
        _ => json_string(&key_text(ty, bytes)),
    }
}

fn nullable(ty: &CqlType, bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| "null".to_string(), |bytes| json(ty, bytes))
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Keys of a JSON object are strings: any other JSON is put into quotes as a whole.
fn map_key(ty: &CqlType, bytes: Option<&[u8]>) -> String {
    match nullable(ty, bytes) {
        text if text.starts_with('"') => text,
        text => json_string(&text),
    }
}

/// A field's name, in quotes of its own if it is not in lower case.
fn field_name(name: &str) -> String {
    match name.to_lowercase() == name {
        true => json_string(name),
        false => json_string(&format!("\"{name}\"")),
    }
}

/// The value as Cassandra's tools write keys (`AbstractType.getString`): without quotes, blobs, collections and vectors
/// in hexadecimal, the components of a tuple or user-defined type joined by colons.
pub fn key_text(ty: &CqlType, bytes: &[u8]) -> String {
    match ty {
        CqlType::Ascii | CqlType::Text => String::from_utf8_lossy(bytes).into_owned(),
        CqlType::Tuple(types) => {
            components_text(types.iter(), &codec::components(bytes).unwrap_or_default())
        }
        CqlType::Udt { definition, .. } => components_text(
            definition.fields.iter().map(|(_, ty)| ty),
            &codec::components(bytes).unwrap_or_default(),
        ),
        _ if bytes.is_empty() => String::new(),
        _ if codec::validate(ty, bytes).is_err() => value::hex(bytes),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Tinyint
        | CqlType::Varint => BigInt::from_signed_bytes_be(bytes).to_string(),
        CqlType::Boolean => (bytes[0] != 0).to_string(),
        CqlType::Date => date_text(i64::from(wide(bytes) as u32) - (1 << 31)),
        CqlType::Decimal => {
            let (scale, unscaled) = number::decimal_parts(bytes);
            number::decimal_text(i64::from(scale), &unscaled)
        }
        CqlType::Double => float::double_text(f64::from_bits(wide(bytes))),
        CqlType::Duration => Duration::read(bytes).map(|d| d.to_string()).unwrap_or_default(),
        CqlType::Float => float::float_text(f32::from_bits(wide(bytes) as u32)),
        CqlType::Inet => java_inet_text(bytes),
        CqlType::Time => time_text(wide(bytes).cast_signed()),
        CqlType::Timestamp => timestamp_text(wide(bytes).cast_signed()),
        CqlType::Uuid | CqlType::Timeuuid => uuid_text(bytes),
        CqlType::Custom(_) if codec::is_timeuuid(ty) => uuid_text(bytes),
        CqlType::Blob
        | CqlType::Custom(_)
        | CqlType::List { .. }
        | CqlType::Set { .. }
        | CqlType::Map { .. }
        | CqlType::Vector { .. } => value::hex(bytes),
    }
}

/// Components joined by colons, `@` for null; those characters are escaped inside.
fn components_text<'t>(
    types: impl Iterator<Item = &'t CqlType>,
    parts: &[Option<&[u8]>],
) -> String {
    let texts = types.zip(parts).map(|(ty, part)| match part {
        None => "@".to_string(),
        Some(bytes) => key_text(ty, bytes).replace(':', "\\:").replace('@', "\\@"),
    });
    texts.collect::<Vec<_>>().join(":")
}

/// A big-endian number of at most eight bytes.
fn wide(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
