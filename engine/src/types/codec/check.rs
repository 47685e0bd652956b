//! The rules of `AbstractType.validate`, type by type, with Cassandra's texts.

use super::super::{CqlType, UserType, value};
use super::{Duration, MarshalError, counted, is_timeuuid, take_component, vector_elements};

/// Where a value stands, which decides how strictly Cassandra looks at it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// It is the bound value itself.
    Nothing,
    /// It is a component of a tuple or UDT: validated, not decoded.
    Tuple,
    /// It is an element of a collection: validated and decoded.
    Collection,
}

/// [`validate`] of a value that stands somewhere inside the bound one.
pub(super) fn check(ty: &CqlType, bytes: &[u8], inside: Inside) -> Result<(), MarshalError> {
    let length = bytes.len();
    let sized = |ok: bool, text: &str| {
        if ok { Ok(()) } else { Err(MarshalError::invalid(format!("{text} ({length})"))) }
    };
    match ty {
        CqlType::Ascii => match bytes.iter().find(|byte| **byte > 0x7f) {
            Some(byte) => Err(MarshalError::invalid(format!(
                "Invalid byte for ascii: {}",
                byte.cast_signed()
            ))),
            None => Ok(()),
        },
        CqlType::Text => check_text(bytes, inside),
        CqlType::Bigint | CqlType::Counter => {
            sized(matches!(length, 0 | 8), "Expected 8 or 0 byte long")
        }
        CqlType::Blob | CqlType::Varint => Ok(()),
        CqlType::Boolean => sized(length <= 1, "Expected 1 or 0 byte value"),
        CqlType::Date => sized(length == 4, "Expected 4 byte long for date"),
        CqlType::Decimal => sized(length == 0 || length >= 4, "Expected 0 or at least 4 bytes"),
        CqlType::Double => {
            sized(matches!(length, 0 | 8), "Expected 8 or 0 byte value for a double")
        }
        CqlType::Duration => {
            sized(length >= 3, "Expected at least 3 bytes for a duration")?;
            Duration::read(bytes).map(|_| ())
        }
        CqlType::Float => sized(matches!(length, 0 | 4), "Expected 4 or 0 byte value for a float"),
        CqlType::Inet if matches!(length, 0 | 4 | 16) => Ok(()),
        CqlType::Inet => Err(MarshalError::invalid(format!(
            "Expected 4 or 16 byte inetaddress; got {}",
            value::hex(bytes)
        ))),
        CqlType::Int => sized(matches!(length, 0 | 4), "Expected 4 or 0 byte int"),
        CqlType::Smallint => sized(length == 2, "Expected 2 bytes for a smallint"),
        CqlType::Time => sized(length == 8, "Expected 8 byte long for time"),
        CqlType::Timestamp => sized(matches!(length, 0 | 8), "Expected 8 or 0 byte long for date"),
        CqlType::Tinyint => sized(length == 1, "Expected 1 byte for a tinyint"),
        CqlType::Uuid => sized(matches!(length, 0 | 16), "UUID should be 16 or 0 bytes"),
        CqlType::Timeuuid => check_timeuuid(bytes),
        CqlType::Custom(_) if is_timeuuid(ty) => check_timeuuid(bytes),
        CqlType::Custom(_) => Ok(()),
        CqlType::List { element, frozen } => check_list(element, *frozen, inside, bytes),
        CqlType::Set { element, .. } => {
            let mut rest = counted(bytes, "set")?;
            while let Some(item) = rest.next_item()? {
                check(element, item.ok_or_else(null_inside)?, Inside::Collection)?;
            }
            rest.end()
        }
        CqlType::Map { key, value, .. } => {
            let mut rest = counted(bytes, "map")?;
            while let Some(item) = rest.next_item()? {
                check(key, item.ok_or_else(null_inside)?, Inside::Collection)?;
                check(value, rest.item()?.ok_or_else(null_inside)?, Inside::Collection)?;
            }
            rest.end()
        }
        CqlType::Tuple(parts) => check_tuple(parts, bytes),
        CqlType::Udt { definition, .. } => check_udt(definition, bytes),
        CqlType::Vector { element, dimensions } => {
            for item in vector_elements(element, *dimensions, bytes)? {
                check(
                    element,
                    item,
                    if inside == Inside::Nothing { Inside::Tuple } else { inside },
                )?;
            }
            Ok(())
        }
    }
}

fn check_timeuuid(bytes: &[u8]) -> Result<(), MarshalError> {
    match bytes.len() {
        0 => Ok(()),
        // The digit is the first of the value, not that of its version: Cassandra's slip.
        16 if bytes[6] >> 4 != 1 => Err(MarshalError::invalid(format!(
            "Invalid version for TimeUUID type: 0x{:x}",
            bytes[0] >> 4
        ))),
        16 => Ok(()),
        length => Err(MarshalError::invalid(format!("UUID should be 16 or 0 bytes ({length})"))),
    }
}

fn check_text(bytes: &[u8], inside: Inside) -> Result<(), MarshalError> {
    if std::str::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    if !is_lenient_utf8(bytes) {
        return Err(MarshalError::invalid("String didn't validate."));
    }
    // Decoding is stricter than validating.
    if inside == Inside::Collection {
        return Err(MarshalError::invalid(format!("Invalid UTF-8 bytes {}", value::hex(bytes))));
    }
    Ok(())
}

/// What Cassandra's `UTF8Serializer` lets pass beyond UTF-8: surrogates, a zero in two bytes
/// and what lies past the last code point.
fn is_lenient_utf8(mut bytes: &[u8]) -> bool {
    let continues = |range: std::ops::RangeInclusive<u8>, byte: Option<&u8>| {
        byte.is_some_and(|byte| range.contains(byte))
    };
    while let Some((first, _)) = bytes.split_first() {
        let (length, second) = match first {
            0x00..=0x7f => (1, 0..=0xff),
            0xc0 => (2, 0x80..=0x80),
            0xc2..=0xdf => (2, 0x80..=0xbf),
            0xe0 => (3, 0xa0..=0xbf),
            0xe1..=0xef => (3, 0x80..=0xbf),
            0xf0 => (4, 0x90..=0xbf),
            0xf1..=0xf7 => (4, 0x80..=0xbf),
            _ => return false,
        };
        let whole = (length == 1 || continues(second, bytes.get(1)))
            && (2..length).all(|at| continues(0x80..=0xbf, bytes.get(at)));
        if !whole {
            return false;
        }
        bytes = &bytes[length..];
    }
    true
}

/// A list inside another value refuses nulls. A bound one is decoded, which makes a null of an empty number
/// too; when frozen it keeps the null, but one of cells has no cell to put it in.
fn check_list(
    element: &CqlType,
    frozen: bool,
    inside: Inside,
    bytes: &[u8],
) -> Result<(), MarshalError> {
    let mut null = false;
    let mut rest = counted(bytes, "list")?;
    while let Some(item) = rest.next_item()? {
        match item {
            Some(item) => {
                check(element, item, Inside::Collection)?;
                null |= item.is_empty() && empty_is_null(element);
            }
            None if inside != Inside::Nothing => return Err(null_inside()),
            None => null = true,
        }
    }
    rest.end()?;
    if null && !frozen && inside == Inside::Nothing {
        return Err(MarshalError::server(
            "java.lang.NullPointerException: Cannot invoke \"java.nio.ByteBuffer.remaining()\" because \"value\" is null",
        ));
    }
    Ok(())
}

/// Whether Cassandra decodes the empty value of the type to Java's null.
pub(super) fn empty_is_null(ty: &CqlType) -> bool {
    !matches!(
        ty,
        CqlType::Ascii
            | CqlType::Blob
            | CqlType::Text
            | CqlType::Tuple(_)
            | CqlType::Udt { .. }
            | CqlType::Custom(_)
    )
}

fn null_inside() -> MarshalError {
    MarshalError::invalid("Null value read when not allowed")
}

fn check_tuple(parts: &[CqlType], mut bytes: &[u8]) -> Result<(), MarshalError> {
    for (index, part) in parts.iter().enumerate() {
        if bytes.is_empty() {
            return Ok(());
        }
        let component = take_component(&mut bytes, || format!("{index}th component"))?;
        if let Some(component) = component {
            check(part, component, Inside::Tuple)?;
        }
    }
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(MarshalError::invalid("Invalid remaining data after end of tuple value"))
    }
}

fn check_udt(definition: &UserType, mut bytes: &[u8]) -> Result<(), MarshalError> {
    for (index, (name, ty)) in definition.fields.iter().enumerate() {
        if bytes.is_empty() {
            return Ok(());
        }
        let Some(field) = take_component(&mut bytes, || format!("{index}th field {name}"))? else {
            continue;
        };
        check(ty, field, Inside::Tuple).map_err(|error| MarshalError {
            message: format!("Failure validating the {index}th field {name}; {error}"),
            ..error
        })?;
    }
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(MarshalError::invalid("Invalid remaining data after end of UDT value"))
    }
}
