//! Values as Cassandra writes them in its messages.

use super::super::temporal::{DAY_MILLIS, Duration, civil_from_days, date_text};
use super::super::{CqlType, codec, float, number, quote_name, value};
use super::{java_inet_text, uuid_text};
use num_bigint::BigInt;

/// The value as Cassandra writes it in its own messages (`AbstractType.toCQLString`): a CQL literal.
/// `bytes` that are no value of the type come out as hex.
pub fn literal(ty: &CqlType, value: Option<&[u8]>) -> String {
    match value {
        None => "null".to_string(),
        Some(bytes) if codec::validate(ty, bytes).is_err() => format!("0x{}", value::hex(bytes)),
        Some(bytes) => valid_literal(ty, bytes),
    }
}

fn valid_literal(ty: &CqlType, bytes: &[u8]) -> String {
    match ty {
        CqlType::Ascii | CqlType::Text => quoted(&String::from_utf8_lossy(bytes)),
        CqlType::Blob => format!("0x{}", value::hex(bytes)),
        CqlType::Tuple(_) if bytes.is_empty() => "()".to_string(),
        CqlType::Udt { .. } if bytes.is_empty() => "{}".to_string(),
        _ if bytes.is_empty() => "null".to_string(),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Tinyint
        | CqlType::Varint => BigInt::from_signed_bytes_be(bytes).to_string(),
        CqlType::Boolean => (bytes[0] != 0).to_string(),
        CqlType::Date => quoted(&date_text(i64::from(signed(bytes) as u32) - (1 << 31))),
        CqlType::Decimal => {
            let (scale, unscaled) = number::decimal_parts(bytes);
            number::decimal_text(i64::from(scale), &unscaled)
        }
        CqlType::Double => float::double_text(f64::from_bits(signed(bytes).cast_unsigned())),
        CqlType::Duration => {
            Duration::read(bytes).map(|duration| duration.to_string()).unwrap_or_default()
        }
        CqlType::Float => float::float_text(f32::from_bits(signed(bytes) as u32)),
        CqlType::Inet => quoted(&java_inet_text(bytes)),
        CqlType::Time => quoted(&time_text(signed(bytes))),
        CqlType::Timestamp => quoted(&timestamp_text(signed(bytes))),
        CqlType::Uuid | CqlType::Timeuuid => uuid_text(bytes),
        CqlType::Custom(_) if codec::is_timeuuid(ty) => uuid_text(bytes),
        CqlType::Custom(_) => format!("0x{}", value::hex(bytes)),
        CqlType::List { element, .. } => {
            let items = codec::elements(bytes).unwrap_or_default();
            format!("[{}]", join(items.into_iter().map(|item| literal(element, item))))
        }
        CqlType::Set { element, .. } => {
            let items = codec::elements(bytes).unwrap_or_default();
            format!("{{{}}}", join(items.into_iter().map(|item| literal(element, item))))
        }
        CqlType::Map { key, value, .. } => {
            let items = codec::entries(bytes).unwrap_or_default().into_iter();
            let items = items.map(|(k, v)| format!("{}: {}", literal(key, k), literal(value, v)));
            format!("{{{}}}", join(items))
        }
        CqlType::Tuple(types) => {
            let parts = codec::components(bytes).unwrap_or_default();
            format!("({})", join(types.iter().zip(parts).map(|(ty, part)| literal(ty, part))))
        }
        CqlType::Udt { definition, .. } => {
            let parts = codec::components(bytes).unwrap_or_default();
            let fields = definition.fields.iter().zip(parts);
            let fields = fields
                .map(|((name, ty), part)| format!("{}: {}", quote_name(name), literal(ty, part)));
            format!("{{{}}}", join(fields))
        }
        CqlType::Vector { element, dimensions } => {
            let items = codec::vector_elements(element, *dimensions, bytes).unwrap_or_default();
            format!("[{}]", join(items.into_iter().map(|item| literal(element, Some(item)))))
        }
    }
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A big-endian number of at most eight bytes, without regard to its sign unless it has all eight.
fn signed(bytes: &[u8]) -> i64 {
    bytes.iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
}

/// A time as Cassandra writes it: nine digits of fraction always.
pub(crate) fn time_text(nanos: i64) -> String {
    // Cassandra takes every number below 10 for one of a single digit, negative ones too.
    let pad = |number: i64, width: usize| {
        let digits = if number < 10 { 1 } else { number.to_string().len() };
        format!("{}{number}", "0".repeat(width.saturating_sub(digits)))
    };
    let (second, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (minute, hour) = (second / 60, second / 3600);
    format!("{}:{}:{}.{}", pad(hour, 2), pad(minute % 60, 2), pad(second % 60, 2), pad(fraction, 9))
}

/// A timestamp as Cassandra writes it: a year before 1 counts backwards without a sign.
pub(crate) fn timestamp_text(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY_MILLIS));
    let year = if year < 1 { 1 - year } else { year };
    let plus = if year > 9999 { "+" } else { "" };
    let of_day = millis.rem_euclid(DAY_MILLIS);
    let (second, milli) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{plus}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}
