//! Shared by the tests of the types: types from their names, literals of any type to bytes.

#![expect(clippy::unwrap_used, reason = "a broken table is to stop the test")]

use cassling_engine::types::{CqlType, MarshalError, UserType, codec, text};
use std::sync::Arc;

/// `text` cut at `separator` wherever it stands outside quotes and brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '<' | '(' | '[' | '{' if !quoted => depth += 1,
            '>' | ')' | ']' | '}' if !quoted => depth -= 1,
            _ if c == separator && depth == 0 && !quoted => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// A type as values.tsv and CQL write it; `udt ks.name(field type, …)` is a user type.
pub(crate) fn parse_type(name: &str) -> CqlType {
    if let Some(udt) = name.strip_prefix("udt ") {
        let (name, fields) = udt.split_once('(').unwrap();
        let (keyspace, name) = name.split_once('.').unwrap();
        let fields = split(fields.strip_suffix(')').unwrap(), ',');
        let field = |text: &str| {
            let (name, ty) = match text.strip_prefix('"') {
                Some(quoted) => quoted.split_once("\" ").unwrap(),
                None => text.split_once(' ').unwrap(),
            };
            (name.to_string(), parse_type(ty))
        };
        return CqlType::Udt {
            definition: Arc::new(UserType {
                keyspace: keyspace.to_string(),
                name: name.to_string(),
                fields: fields.into_iter().map(field).collect(),
            }),
            frozen: true,
        };
    }
    if let Some((outer, inner)) = name.split_once('<') {
        let inner = inner.strip_suffix('>').unwrap();
        let parts = split(inner, ',');
        let element = || parse_type(parts[0]);
        return match outer {
            "frozen" => parse_type(inner).freeze(),
            "list" => CqlType::list(element()),
            "set" => CqlType::set(element()),
            "map" => CqlType::map(element(), parse_type(parts[1])),
            "tuple" => CqlType::Tuple(parts.into_iter().map(parse_type).collect()),
            "vector" => CqlType::Vector {
                element: Arc::new(element()),
                dimensions: parts[1].parse().unwrap(),
            },
            _ => panic!("unknown type {name}"),
        };
    }
    match name {
        "ascii" => CqlType::Ascii,
        "bigint" => CqlType::Bigint,
        "blob" => CqlType::Blob,
        "boolean" => CqlType::Boolean,
        "counter" => CqlType::Counter,
        "date" => CqlType::Date,
        "decimal" => CqlType::Decimal,
        "double" => CqlType::Double,
        "duration" => CqlType::Duration,
        "float" => CqlType::Float,
        "inet" => CqlType::Inet,
        "int" => CqlType::Int,
        "smallint" => CqlType::Smallint,
        "text" | "varchar" => CqlType::Text,
        "time" => CqlType::Time,
        "timestamp" => CqlType::Timestamp,
        "timeuuid" => CqlType::Timeuuid,
        "tinyint" => CqlType::Tinyint,
        "uuid" => CqlType::Uuid,
        "varint" => CqlType::Varint,
        _ => panic!("unknown type {name}"),
    }
}

/// Bytes from hex.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn inside(literal: &str, open: char, close: char) -> &str {
    literal.strip_prefix(open).and_then(|it| it.strip_suffix(close)).unwrap()
}

/// The wire bytes of a literal; `None` is null.
#[allow(dead_code, reason = "not every test binary reads literals")]
pub(crate) fn literal_bytes(ty: &CqlType, literal: &str) -> Result<Option<Vec<u8>>, MarshalError> {
    if literal == "null" {
        return Ok(None);
    }
    let element_bytes = |ty: &CqlType, text: &str| literal_bytes(ty, text).map(Option::unwrap);
    let all = |ty: &CqlType, items: Vec<&str>| {
        items.into_iter().map(|item| element_bytes(ty, item)).collect::<Result<Vec<_>, _>>()
    };
    let write = |items: &[Vec<u8>]| codec::write_elements(items.iter().map(Vec::as_slice));
    let parts =
        |parts: Vec<Option<Vec<u8>>>| codec::write_components(parts.iter().map(Option::as_deref));
    let bytes = match ty {
        CqlType::List { element, .. } => {
            write(&all(element, split(inside(literal, '[', ']'), ','))?)
        }
        CqlType::Set { element, .. } => {
            write(&all(element, split(inside(literal, '{', '}'), ','))?)
        }
        CqlType::Vector { element, .. } => {
            let items = all(element, split(inside(literal, '[', ']'), ','))?;
            codec::write_vector(element, items.iter().map(Vec::as_slice))
        }
        CqlType::Map { key, value, .. } => {
            let mut pairs = Vec::new();
            for entry in split(inside(literal, '{', '}'), ',') {
                let pair = split(entry, ':');
                pairs.push((element_bytes(key, pair[0])?, element_bytes(value, pair[1])?));
            }
            codec::write_entries(pairs.iter().map(|(k, v)| (k.as_slice(), v.as_slice())))
        }
        CqlType::Tuple(types) => {
            let items = split(inside(literal, '(', ')'), ',');
            let items = items.iter().zip(types.iter()).map(|(item, ty)| literal_bytes(ty, item));
            parts(items.collect::<Result<_, _>>()?)
        }
        CqlType::Udt { definition, .. } => {
            let entries = split(inside(literal, '{', '}'), ',');
            let fields = definition.fields.iter().map(|(name, ty)| {
                let entry = entries.iter().map(|entry| split(entry, ':'));
                let mut found = entry.filter(|entry| entry[0].trim_matches('"') == name);
                found.next().map_or(Ok(None), |entry| literal_bytes(ty, entry[1]))
            });
            parts(fields.collect::<Result<_, _>>()?)
        }
        _ => match literal.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')) {
            Some(text) => text::parse(ty, &text.replace("''", "'"), 0)?,
            None => text::parse(ty, literal, 0)?,
        },
    };
    Ok(Some(bytes))
}
