//! CAST (sheet G.3): numbers narrow as in Java, everything else becomes the text that Java prints.

use super::number::{Decimal, Number};
use super::time;
use crate::error::function::FunctionError;
use cassling_engine::types::temporal::date_text;
use cassling_engine::types::{CqlType, float, number};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The value of one type as one of another. A weak match may hand in a type beside those the cast was made for: the bytes
/// are then read as that of the cast's own parameter.
pub(super) fn cast(
    from: &CqlType,
    to: &CqlType,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, FunctionError> {
    Ok(Some(match to {
        CqlType::Text | CqlType::Ascii => text(from, bytes).into_bytes(),
        CqlType::Date | CqlType::Timestamp => time::cast(from, to, bytes),
        _ => number_cast(from, to, bytes)?,
    }))
}

fn number_cast(from: &CqlType, to: &CqlType, bytes: &[u8]) -> Result<Vec<u8>, FunctionError> {
    let server = |text: String| FunctionError::Server(text);
    let number = Number::read(from, bytes);
    let number = match (&number, to) {
        (Number::Integer(it), CqlType::Decimal) => Number::Decimal(Decimal::from_integer(*it)),
        (Number::Float(_) | Number::Double(_), CqlType::Decimal)
            if !number.double().is_finite() =>
        {
            let first = if number.double().is_nan() { 'N' } else { 'I' };
            return Err(server(format!(
                "java.lang.NumberFormatException: Character {first} is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."
            )));
        }
        (Number::Float(it), CqlType::Decimal) => {
            // A float by its own digits, not by those of the double it widens to.
            let (scale, unscaled) =
                number::parse_decimal(&float::float_text(*it)).unwrap_or_default();
            Number::Decimal(Decimal { scale: scale.into(), unscaled })
        }
        _ => number,
    };
    number.write(to).map_err(|reason| server(format!("java.lang.ArithmeticException: {reason}")))
}

/// What Java prints.
fn text(from: &CqlType, bytes: &[u8]) -> String {
    match from {
        CqlType::Boolean => (bytes != [0]).to_string(),
        CqlType::Inet => inet(bytes),
        CqlType::Uuid | CqlType::Timeuuid | CqlType::Custom(_) => {
            uuid::Uuid::from_slice(bytes).map_or_else(|_| String::new(), |it| it.to_string())
        }
        CqlType::Date => date_text(time::days(bytes).into()),
        CqlType::Timestamp => time::timestamp_text(Number::read(&CqlType::Bigint, bytes).long()),
        CqlType::Time => time::time_text(Number::read(&CqlType::Bigint, bytes).long()),
        CqlType::Ascii | CqlType::Text => String::from_utf8_lossy(bytes).into_owned(),
        _ => match Number::read(from, bytes) {
            Number::Integer(it) => it.to_string(),
            Number::Float(it) => float::float_text(it),
            Number::Double(it) => float::double_text(it),
            Number::Varint(it) => it.to_string(),
            Number::Decimal(it) => number::decimal_text(it.scale, &it.unscaled),
        },
    }
}

/// IPv6 with all eight groups, without shortening.
fn inet(bytes: &[u8]) -> String {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Ipv4Addr::from(four).to_string();
    }
    let Ok(sixteen) = <[u8; 16]>::try_from(bytes) else { return String::new() };
    let groups = Ipv6Addr::from(sixteen).segments();
    groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":")
}
