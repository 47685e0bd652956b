//! Values as cqlsh prints them.

use super::super::temporal::{Duration, civil_from_days, date_text};
use super::super::{CqlType, codec, number, order, value};
use super::{inet_text, uuid_text};
use num_bigint::BigInt;
use std::cmp::Ordering;

/// The value as cqlsh 6.2.2 prints it in a table with default settings; `None` is `null`. Bytes that are no
/// value of the type come out as hex.
///
/// Where cqlsh itself fails, because a tuple holds a null that its formatter does not expect, it falls back to
/// Python's own form of the whole value; here such a null is `None` and the rest is as ever.
pub fn cqlsh(ty: &CqlType, value: Option<&[u8]>) -> String {
    match value {
        None => "null".to_string(),
        Some(bytes) if codec::validate(ty, bytes).is_err() => format!("0x{}", value::hex(bytes)),
        Some(bytes) => format_value(ty, bytes, false),
    }
}

/// A valid value; texts, addresses and timestamps have quotes where they stand inside another value.
fn format_value(ty: &CqlType, bytes: &[u8], quote: bool) -> String {
    let quoted = |text: String| if quote { format!("'{text}'") } else { text };
    match ty {
        CqlType::Ascii | CqlType::Text => text(&String::from_utf8_lossy(bytes), quote),
        CqlType::Blob => format!("0x{}", value::hex(bytes)),
        _ if bytes.is_empty() => String::new(),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Tinyint
        | CqlType::Varint => BigInt::from_signed_bytes_be(bytes).to_string(),
        CqlType::Boolean => if bytes[0] != 0 { "True" } else { "False" }.to_string(),
        CqlType::Date => date(wide(bytes) as i64 - (1 << 31)),
        CqlType::Decimal => {
            let (scale, unscaled) = number::decimal_parts(bytes);
            decimal(scale, &unscaled)
        }
        CqlType::Double => float(f64::from_bits(wide(bytes))),
        CqlType::Duration => {
            Duration::read(bytes).map(|duration| duration.to_string()).unwrap_or_default()
        }
        CqlType::Float => float(f64::from(f32::from_bits(wide(bytes) as u32))),
        CqlType::Inet => quoted(inet_text(bytes)),
        CqlType::Time => time(wide(bytes).cast_signed()),
        CqlType::Timestamp => quoted(timestamp(wide(bytes).cast_signed())),
        CqlType::Uuid | CqlType::Timeuuid => uuid_text(bytes),
        CqlType::Custom(_) if codec::is_timeuuid(ty) => uuid_text(bytes),
        CqlType::Custom(_) => format!("0x{}", value::hex(bytes)),
        CqlType::List { element, .. } => {
            let items = codec::elements(bytes).unwrap_or_default().into_iter();
            format!("[{}]", join(items.map(|item| nullable(element, item, "None"))))
        }
        CqlType::Set { element, .. } => {
            let items = python_set(element, codec::elements(bytes).unwrap_or_default());
            format!("{{{}}}", join(items.into_iter().map(|item| format_value(element, item, true))))
        }
        CqlType::Map { key, value, .. } => {
            let mut items = codec::entries(bytes).unwrap_or_default();
            if python_sorts(key) {
                items.sort_by(|a, b| {
                    python_order(key, a.0.unwrap_or_default(), b.0.unwrap_or_default())
                });
            }
            let items = items.into_iter().map(|(k, v)| {
                format!("{}: {}", nullable(key, k, "None"), nullable(value, v, "None"))
            });
            format!("{{{}}}", join(items))
        }
        CqlType::Tuple(types) => {
            let parts = codec::components(bytes).unwrap_or_default();
            let parts = types.iter().enumerate().map(|(index, ty)| {
                let quotes = matches!(ty, CqlType::Inet | CqlType::Timestamp);
                let null = if quotes { "'None'" } else { "None" };
                nullable(ty, parts.get(index).copied().flatten(), null)
            });
            format!("({})", join(parts))
        }
        CqlType::Udt { definition, .. } => {
            let parts = codec::components(bytes).unwrap_or_default();
            let fields = definition.fields.iter().enumerate().map(|(index, (name, ty))| {
                let field = parts.get(index).copied().flatten();
                format!("{}: {}", field_name(index, name), nullable(ty, field, "null"))
            });
            format!("{{{}}}", join(fields))
        }
        CqlType::Vector { element, dimensions } => {
            let items = codec::vector_elements(element, *dimensions, bytes).unwrap_or_default();
            format!("[{}]", join(items.into_iter().map(|item| format_value(element, item, true))))
        }
    }
}

fn nullable(ty: &CqlType, bytes: Option<&[u8]>, null: &str) -> String {
    bytes.map_or_else(|| null.to_string(), |bytes| format_value(ty, bytes, true))
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// A big-endian number of at most eight bytes.
fn wide(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Text with backslashes doubled and control characters as Python escapes them.
fn text(text: &str, quote: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' if quote => out.push_str("''"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0'..='\x1f' | '\x7f'..='\u{a0}' => out.push_str(&format!("\\x{:02x}", c as u32)),
            _ => out.push(c),
        }
    }
    if quote { format!("'{out}'") } else { out }
}

/// Significant digits that cqlsh shows behind the first of a number, unless a setting says otherwise.
const FLOAT_PRECISION: i32 = 5;

/// A floating-point number: five digits, or five decimals where no exponent is needed.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_string();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    let magnitude = number.abs();
    // Python's int() cuts towards zero, so that 0.3 counts as of exponent 0.
    let exponent = if magnitude > f64::EPSILON { magnitude.log10() as i32 } else { i32::MIN };
    let precision = match exponent {
        -4..FLOAT_PRECISION => FLOAT_PRECISION + exponent + 1,
        _ => FLOAT_PRECISION,
    };
    general(number, precision)
}

/// C's `%.*g`.
fn general(number: f64, precision: i32) -> String {
    let scientific = format!("{:.*e}", precision.unsigned_abs() as usize - 1, number);
    let (mantissa, exponent) = scientific.split_once('e').expect("the form has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if (-4..precision).contains(&exponent) {
        let decimals = (precision - 1 - exponent).unsigned_abs() as usize;
        return trimmed(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
}

/// Python's `str(Decimal)`, which has Java's form. The driver turns the scale's sign within 32 bits, so that the
/// least of all scales keeps it.
fn decimal(scale: i32, unscaled: &BigInt) -> String {
    let scale = if scale == i32::MIN { -i64::from(scale) } else { i64::from(scale) };
    number::decimal_text(scale, unscaled)
}

/// A day, or the number of days where Python has no date.
fn date(days: i64) -> String {
    match civil_from_days(days).0 {
        1..=9999 => date_text(days),
        _ => days.to_string(),
    }
}

fn time(nanos: i64) -> String {
    let (second, fraction) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    let (minute, hour) = (second.div_euclid(60), second.div_euclid(3600));
    format!("{hour:02}:{:02}:{:02}.{fraction:09}", minute.rem_euclid(60), second.rem_euclid(60))
}

/// A timestamp in UTC with microseconds, which Python gets from a division: far from 1970 they are off.
/// The year has no leading zeros; where Python has no date, the milliseconds are shown.
fn timestamp(millis: i64) -> String {
    let seconds = millis as f64 / 1000.0;
    let (whole, micros) = (seconds.trunc(), (seconds.fract() * 1e6));
    let micros = whole as i128 * 1_000_000 + micros.round_ties_even() as i128;
    let second = micros.div_euclid(1_000_000);
    let day = i64::try_from(second.div_euclid(86_400)).expect("milliseconds of 64 bits");
    let (year, month, day) = civil_from_days(day);
    if !(1..=9999).contains(&year) {
        return millis.to_string();
    }
    let (of_day, micro) = (second.rem_euclid(86_400), micros.rem_euclid(1_000_000));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}+0000")
}

/// Names that Python's named tuples cannot have.
const PYTHON_KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// A field's name, or its position where the driver cannot use the name.
fn field_name(index: usize, name: &str) -> String {
    let usable = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_numeric() || c == '_')
        && !name.is_empty()
        && PYTHON_KEYWORDS.binary_search(&name).is_err();
    if usable { text(name, false) } else { format!("field_{index}_") }
}

/// Whether Python has an order for values of the type; sets and maps of others stay as Cassandra sent them.
fn python_sorts(ty: &CqlType) -> bool {
    match ty {
        CqlType::Set { .. } | CqlType::Map { .. } | CqlType::Duration => false,
        CqlType::List { element, .. } | CqlType::Vector { element, .. } => python_sorts(element),
        CqlType::Tuple(types) => types.iter().all(python_sorts),
        CqlType::Udt { definition, .. } => definition.fields.iter().all(|(_, ty)| python_sorts(ty)),
        _ => true,
    }
}

/// Python's order of two values: as Cassandra's, but uuids as numbers and addresses as text.
fn python_order(ty: &CqlType, a: &[u8], b: &[u8]) -> Ordering {
    match ty {
        CqlType::Uuid | CqlType::Timeuuid => a.cmp(b),
        CqlType::Inet => inet_text(a).cmp(&inet_text(b)),
        _ => order::compare(ty, a, b),
    }
}

/// The elements of a set in the order in which the driver's `SortedSet` holds them: each put in by bisection,
/// which a NaN, less than nothing, throws off.
fn python_set<'a>(ty: &CqlType, items: Vec<Option<&'a [u8]>>) -> Vec<&'a [u8]> {
    let items = items.into_iter().flatten();
    if !python_sorts(ty) {
        return items.collect();
    }
    let is_nan = |bytes: &[u8]| match ty {
        CqlType::Double if !bytes.is_empty() => f64::from_bits(wide(bytes)).is_nan(),
        CqlType::Float if !bytes.is_empty() => f32::from_bits(wide(bytes) as u32).is_nan(),
        _ => false,
    };
    let mut sorted: Vec<&[u8]> = Vec::new();
    for item in items {
        let less = |other: &&[u8]| {
            !is_nan(item) && !is_nan(other) && python_order(ty, other, item).is_lt()
        };
        let at = sorted.partition_point(less);
        sorted.insert(at, item);
    }
    sorted
}
