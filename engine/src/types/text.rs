//! From the text of a scalar literal to bytes (Cassandra's `AbstractType.fromString`).
//!
//! Whether a literal of that kind suits the type at all was decided before (sheet A.9); here its text is read
//! as the type itself reads it, with the type's own refusals.

use super::codec::{self, is_timeuuid};
use super::{CqlType, MarshalError, float, number, temporal, value};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Wire bytes of a scalar (or tuple, sheet A.9) written as `text`: the inside of a string literal, or the
/// digits of a number, uuid, hex or duration literal. `now_millis` is what a timestamp `now` means.
///
/// # Errors
/// Cassandra's text, e.g. `Unable to make int from 'x'`.
pub fn parse(ty: &CqlType, text: &str, now_millis: i64) -> Result<Vec<u8>, MarshalError> {
    let refused = |reason: &str| MarshalError::invalid(format!("{reason} from '{text}'"));
    if text.is_empty() && empty_text_is_empty_value(ty) {
        return Ok(Vec::new());
    }
    match ty {
        CqlType::Ascii if text.is_ascii() => Ok(text.as_bytes().to_vec()),
        CqlType::Ascii => Err(MarshalError::invalid(
            "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: Input length = 1",
        )),
        CqlType::Text => Ok(text.as_bytes().to_vec()),
        CqlType::Bigint | CqlType::Counter => integer::<i64>(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make long")),
        CqlType::Int => integer::<i32>(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make int")),
        CqlType::Smallint => integer::<i16>(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make short")),
        CqlType::Tinyint => integer::<i8>(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make byte")),
        CqlType::Varint => number::parse_varint(text)
            .map(|it| it.to_signed_bytes_be())
            .ok_or_else(|| refused("unable to make int")),
        CqlType::Decimal => number::parse_decimal(text)
            .map(|(scale, unscaled)| number::decimal_bytes(scale, &unscaled))
            .ok_or_else(|| refused("unable to make BigDecimal")),
        CqlType::Double => float::parse_double(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make double")),
        CqlType::Float => float::parse_float(text)
            .map(|it| it.to_be_bytes().to_vec())
            .ok_or_else(|| refused("Unable to make float")),
        CqlType::Boolean => match () {
            () if text.eq_ignore_ascii_case("true") => Ok(vec![1]),
            () if text.is_empty() || text.eq_ignore_ascii_case("false") => Ok(vec![0]),
            () => Err(refused("Unable to make boolean")),
        },
        CqlType::Blob => blob(text),
        CqlType::Date => temporal::parse_date(text).map(|days| value::date_bytes(days).to_vec()),
        CqlType::Duration => temporal::parse_duration(text).map(temporal::Duration::to_bytes),
        CqlType::Time => temporal::parse_time(text).map(|nanos| nanos.to_be_bytes().to_vec()),
        CqlType::Timestamp => {
            temporal::parse_timestamp(text, now_millis).map(|millis| millis.to_be_bytes().to_vec())
        }
        CqlType::Inet => inet(text).ok_or_else(|| refused("Unable to make inet address")),
        CqlType::Uuid => uuid(text).map(Vec::from).ok_or_else(|| refused("Unable to make UUID")),
        _ if is_timeuuid(ty) => timeuuid(text),
        CqlType::Timeuuid | CqlType::Custom(_) => blob(text),
        CqlType::Tuple(parts) => tuple(ty, parts, text, now_millis),
        CqlType::List { .. }
        | CqlType::Set { .. }
        | CqlType::Map { .. }
        | CqlType::Udt { .. }
        | CqlType::Vector { .. } => {
            Err(MarshalError::invalid(format!("A value of type {ty} has no text form")))
        }
    }
}

/// Types for which `''` is the empty value; the others read it as any other text.
fn empty_text_is_empty_value(ty: &CqlType) -> bool {
    !matches!(ty, CqlType::Date | CqlType::Time | CqlType::Boolean)
}

/// A number as Java reads it: a plus is allowed, nothing else around it.
fn integer<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// A hex literal, with or without its `0x`.
fn blob(text: &str) -> Result<Vec<u8>, MarshalError> {
    hex_bytes(text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text))
}

/// Hex digits, two a byte.
fn hex_bytes(digits: &str) -> Result<Vec<u8>, MarshalError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|it| it as u8);
    let pairs = digits.as_bytes().chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect::<Option<Vec<u8>>>()
        .filter(|_| whole)
        .ok_or_else(|| MarshalError::invalid(format!("cannot parse '{digits}' as hex bytes")))
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let hyphens = [8, 13, 18, 23];
    let shape = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match hyphens.contains(&at) {
            true => byte == b'-',
            false => byte.is_ascii_hexdigit(),
        });
    uuid::Uuid::try_parse(text).ok().filter(|_| shape).map(uuid::Uuid::into_bytes)
}

fn timeuuid(text: &str) -> Result<Vec<u8>, MarshalError> {
    let bytes = uuid(text)
        .ok_or_else(|| MarshalError::invalid(format!("Unknown timeuuid representation: {text}")))?;
    if bytes[6] >> 4 != 1 {
        return Err(MarshalError::invalid("TimeUUID supports only version 1 UUIDs"));
    }
    Ok(bytes.to_vec())
}

/// Components between colons; `@` is null, `\:` and `\@` are the characters themselves.
fn tuple(
    ty: &CqlType,
    types: &[CqlType],
    text: &str,
    now_millis: i64,
) -> Result<Vec<u8>, MarshalError> {
    let parts = split_tuple(text);
    if parts.len() > types.len() {
        return Err(MarshalError::invalid(format!(
            "Invalid tuple literal: too many elements. Type {ty} expects {} but got {}",
            types.len(),
            parts.len()
        )));
    }
    let mut out = Vec::new();
    for (part, ty) in parts.iter().zip(types) {
        let bytes = match part.as_str() {
            "@" => None,
            part => {
                let part = part.replace("\\:", ":").replace("\\@", "@");
                Some(match ty {
                    CqlType::Blob => hex_bytes(&part)?,
                    _ => parse(ty, &part, now_millis)?,
                })
            }
        };
        codec::write_item(bytes.as_deref(), &mut out);
    }
    Ok(out)
}

/// `text` cut at the colons that no backslash stands before.
fn split_tuple(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if c == ':' && before != '\\' {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("there is always a part").push(c);
        }
        before = c;
    }
    parts
}

/// An address in any form that Java reads without asking a name server; IPv4 inside IPv6 is IPv4.
fn inet(text: &str) -> Option<Vec<u8>> {
    if let Some(address) = inet4(text) {
        return Some(address.octets().to_vec());
    }
    if text == "localhost" {
        return Some(Ipv4Addr::LOCALHOST.octets().to_vec());
    }
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    let bare = match bare.split_once('%') {
        Some((address, zone)) if zone.parse::<u32>().is_ok() => address,
        _ => bare,
    };
    let address: Ipv6Addr = without_long_zeros(bare).parse().ok()?;
    Some(match address.to_ipv4_mapped() {
        Some(four) => four.octets().to_vec(),
        None => address.octets().to_vec(),
    })
}

/// Java reads a number with any zeros in front.
fn without_long_zeros(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for word in address.split_inclusive([':', '.']) {
        let zeros = word.bytes().take_while(|byte| *byte == b'0').count();
        let digit_follows = word[zeros..].starts_with(|c: char| c.is_ascii_hexdigit());
        out.push_str(&word[if digit_follows { zeros } else { zeros.saturating_sub(1) }..]);
    }
    out
}

/// One to four numbers; the last fills the bytes that are left.
fn inet4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let (last, first) = parts.split_last()?;
    let number = |part: &str| {
        let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| plain)
    };
    let mut address = 0;
    for (index, part) in first.iter().enumerate() {
        let byte = number(part).filter(|byte| *byte <= 0xff && index < 3)?;
        address |= byte << (24 - 8 * index);
    }
    let room = 32 - 8 * first.len() as u32;
    let last = number(last).filter(|last| u64::from(*last) < 1 << room)?;
    Some(Ipv4Addr::from_bits(address | last))
}
