//! Which bytes are a legal value of a type, and how composed values are taken apart.
//!
//! ```text
//! list, set   count (int), then per element: length (int), bytes          length -1 is null
//! map         count (int), then per entry: key, value, each as above
//! tuple, UDT  per component: length, bytes; trailing components may be missing
//! vector      elements back to back, each with an unsigned-vint length unless its type has a fixed size
//! ```
//!
//! Cassandra takes a bound collection apart and writes it anew, so what is stored need not be what was sent
//! ([`normalise`]); tuples, UDTs, vectors and scalars outside a collection stay byte for byte as they came.
//! Not here: what the bytes mean ([`super::value`]) and which come first ([`super::order`]).

mod check;

use super::temporal::{Duration, read_unsigned_vint, write_unsigned_vint};
use super::{CqlType, order};
use check::{Inside, check, empty_is_null};
use std::fmt;

/// Bytes or text that are no value of the type. `Display` is Cassandra's text to the letter (sheet A.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarshalError {
    /// Cassandra's text.
    pub message: String,
    /// Cassandra answers this one as a fault of its own (0x0000) instead of 0x2200.
    pub server_error: bool,
}

impl MarshalError {
    /// A refusal with code 0x2200.
    pub fn invalid(message: impl Into<String>) -> MarshalError {
        MarshalError { message: message.into(), server_error: false }
    }

    /// What Cassandra answers as a server error.
    pub fn server(message: impl Into<String>) -> MarshalError {
        MarshalError { message: message.into(), server_error: true }
    }
}

impl fmt::Display for MarshalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MarshalError {}

/// Checks a bound value as Cassandra's `AbstractType.validate` does.
///
/// # Errors
/// Cassandra's text for the first fault.
pub fn validate(ty: &CqlType, bytes: &[u8]) -> Result<(), MarshalError> {
    check(ty, bytes, Inside::Nothing).map_err(|error| match ty {
        // Cassandra's binding of a UDT does not catch its own exception.
        CqlType::Udt { .. } if !error.server_error => MarshalError::server(format!(
            "org.apache.cassandra.serializers.MarshalException: {}",
            error.message
        )),
        _ => error,
    })
}

/// Whether values of the type are timeuuids: the type itself, and the class that functions announce.
pub fn is_timeuuid(ty: &CqlType) -> bool {
    match ty {
        CqlType::Timeuuid => true,
        CqlType::Custom(class) => class.ends_with("LegacyTimeUUIDType"),
        _ => false,
    }
}

/// A component of a tuple or UDT from the front of `bytes`; `what` names it in the texts.
fn take_component<'a>(
    bytes: &mut &'a [u8],
    what: impl Fn() -> String,
) -> Result<Option<&'a [u8]>, MarshalError> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(MarshalError::invalid(format!("Not enough bytes to read size of {}", what())));
    };
    *bytes = rest;
    let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
        return Ok(None);
    };
    let Some((component, rest)) = bytes.split_at_checked(length) else {
        return Err(MarshalError::invalid(format!("Not enough bytes to read {}", what())));
    };
    *bytes = rest;
    Ok(Some(component))
}

/// A collection being read: how many items are due, and the bytes that are left.
struct Counted<'a> {
    left: i32,
    rest: &'a [u8],
    kind: &'static str,
}

fn counted<'a>(bytes: &'a [u8], kind: &'static str) -> Result<Counted<'a>, MarshalError> {
    let Some((count, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(MarshalError::invalid(format!("Not enough bytes to read a {kind}")));
    };
    let left = i32::from_be_bytes(*count);
    if left < 0 {
        return Err(MarshalError::invalid(format!("The data cannot be deserialized as a {kind}")));
    }
    Ok(Counted { left, rest, kind })
}

impl<'a> Counted<'a> {
    /// The next element, or the key of the next entry; `None` after the last.
    fn next_item(&mut self) -> Result<Option<Option<&'a [u8]>>, MarshalError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.item().map(Some)
    }

    fn item(&mut self) -> Result<Option<&'a [u8]>, MarshalError> {
        take_component(&mut self.rest, String::new)
            .map_err(|_| MarshalError::invalid(format!("Not enough bytes to read a {}", self.kind)))
    }

    fn end(self) -> Result<(), MarshalError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(MarshalError::invalid(format!("Unexpected extraneous bytes after {} value", self.kind)))
    }
}

/// A bound value as Cassandra keeps it. A list, set or map is written anew: sets and maps sorted by their
/// own type and without duplicates (a repeated map key: the last wins), elements in their plainest form
/// (boolean 01, varint without leading bytes, IPv4 out of IPv6, and so on down through collections and
/// vectors, not through tuples and UDTs). Every other value stays as it is. `bytes` are valid.
pub fn normalise(ty: &CqlType, bytes: Vec<u8>) -> Vec<u8> {
    match ty {
        CqlType::List { element, .. } if empty_is_null(element) => {
            let Ok(items) = elements(&bytes) else { return bytes };
            let items: Vec<Option<Vec<u8>>> = items
                .into_iter()
                .map(|item| item.filter(|it| !it.is_empty()).map(|item| plain(element, item)))
                .collect();
            write_items(items.iter().map(Option::as_deref))
        }
        _ if ty.is_collection() => plain(ty, &bytes),
        _ => bytes,
    }
}

/// What Cassandra writes for the value that it reads from `bytes`.
fn plain(ty: &CqlType, bytes: &[u8]) -> Vec<u8> {
    match ty {
        CqlType::Boolean => bytes.iter().map(|byte| u8::from(*byte != 0)).collect(),
        CqlType::Varint => shortest(bytes).to_vec(),
        CqlType::Decimal if bytes.len() > 4 => [&bytes[..4], shortest(&bytes[4..])].concat(),
        CqlType::Inet if bytes.len() == 16 && bytes[..12] == MAPPED => bytes[12..].to_vec(),
        CqlType::Duration => {
            Duration::read(bytes).map_or_else(|_| bytes.to_vec(), |it| it.to_bytes())
        }
        CqlType::List { element, .. } => {
            let Ok(items) = elements(bytes) else { return bytes.to_vec() };
            let items: Vec<Option<Vec<u8>>> =
                items.into_iter().map(|item| item.map(|item| plain(element, item))).collect();
            write_items(items.iter().map(Option::as_deref))
        }
        CqlType::Set { element, .. } => {
            let Ok(items) = elements(bytes) else { return bytes.to_vec() };
            let mut items: Vec<Vec<u8>> =
                items.into_iter().flatten().map(|item| plain(element, item)).collect();
            items.sort_by(|a, b| order::compare(element, a, b));
            items.dedup_by(|b, a| order::compare(element, a, b).is_eq());
            write_elements(items.iter().map(Vec::as_slice))
        }
        CqlType::Map { key, value, .. } => {
            let Ok(items) = entries(bytes) else { return bytes.to_vec() };
            let mut items: Vec<(Vec<u8>, Vec<u8>)> = items
                .into_iter()
                .filter_map(|(k, v)| Some((plain(key, k?), plain(value, v?))))
                .collect();
            items.sort_by(|a, b| order::compare(key, &a.0, &b.0));
            // The first key's bytes stay, as in a Java map; the last value wins.
            items.dedup_by(|b, a| {
                let same = order::compare(key, &a.0, &b.0).is_eq();
                if same {
                    std::mem::swap(&mut a.1, &mut b.1);
                }
                same
            });
            write_entries(items.iter().map(|(k, v)| (k.as_slice(), v.as_slice())))
        }
        CqlType::Vector { element, dimensions } => {
            let Ok(items) = vector_elements(element, *dimensions, bytes) else {
                return bytes.to_vec();
            };
            let items: Vec<Vec<u8>> = items.into_iter().map(|item| plain(element, item)).collect();
            write_vector(element, items.iter().map(Vec::as_slice))
        }
        _ => bytes.to_vec(),
    }
}

/// What precedes an IPv4 address in its IPv6 form.
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// A two's complement number without its redundant leading bytes.
pub(super) fn shortest(mut bytes: &[u8]) -> &[u8] {
    while let [first, second, ..] = bytes
        && ((*first == 0 && second >> 7 == 0) || (*first == 0xff && second >> 7 == 1))
    {
        bytes = &bytes[1..];
    }
    bytes
}

/// The elements of a list or set value (int count, then length-prefixed elements); `None` is a null element.
///
/// # Errors
/// If the bytes are cut short or too long.
pub fn elements(bytes: &[u8]) -> Result<Vec<Option<&[u8]>>, MarshalError> {
    let mut rest = counted(bytes, "list")?;
    let mut items = Vec::new();
    while let Some(item) = rest.next_item()? {
        items.push(item);
    }
    rest.end()?;
    Ok(items)
}

/// The entries of a map value.
///
/// # Errors
/// If the bytes are cut short or too long.
#[expect(clippy::type_complexity, reason = "a pair of optional slices says it plainly")]
pub fn entries(bytes: &[u8]) -> Result<Vec<(Option<&[u8]>, Option<&[u8]>)>, MarshalError> {
    let mut rest = counted(bytes, "map")?;
    let mut items = Vec::new();
    while let Some(key) = rest.next_item()? {
        items.push((key, rest.item()?));
    }
    rest.end()?;
    Ok(items)
}

/// The components of a tuple or UDT value, as many as are there (trailing ones may be missing).
///
/// # Errors
/// If the bytes are cut short.
pub fn components(mut bytes: &[u8]) -> Result<Vec<Option<&[u8]>>, MarshalError> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let index = parts.len();
        parts.push(take_component(&mut bytes, || format!("{index}th component"))?);
    }
    Ok(parts)
}

/// The elements of a vector value of type `vector<element, dimensions>`.
///
/// # Errors
/// If the bytes are cut short or too long.
pub fn vector_elements<'a>(
    element: &CqlType,
    dimensions: u32,
    bytes: &'a [u8],
) -> Result<Vec<&'a [u8]>, MarshalError> {
    if bytes.is_empty() {
        return Err(MarshalError::invalid("Invalid empty vector value"));
    }
    let name = || format!("vector<{element}, {dimensions}>");
    let short = || MarshalError::invalid(format!("Not enough bytes to read a {}", name()));
    let fixed = fixed_size(element);
    let mut rest = bytes;
    let mut items = Vec::new();
    for _ in 0..dimensions {
        if rest.is_empty() {
            return Err(short());
        }
        let length = match fixed {
            Some(length) => length,
            None => vector_element_length(&mut rest, bytes.len())?,
        };
        let Some((item, tail)) = rest.split_at_checked(length) else {
            return Err(match fixed {
                Some(_) => short(),
                None => MarshalError::server(format!(
                    "java.lang.IndexOutOfBoundsException: Attempted to read {length}, but the size is {}",
                    rest.len()
                )),
            });
        };
        items.push(item);
        rest = tail;
    }
    if !rest.is_empty() {
        return Err(MarshalError::invalid(format!(
            "Unexpected {} extraneous bytes after {} value",
            rest.len(),
            name()
        )));
    }
    Ok(items)
}

fn vector_element_length(rest: &mut &[u8], whole: usize) -> Result<usize, MarshalError> {
    let offset = whole - rest.len();
    let mut after = *rest;
    let length = read_unsigned_vint(&mut after).and_then(|length| i32::try_from(length).ok());
    let Some(length) = length else {
        return Err(MarshalError::server(format!(
            "java.lang.AssertionError: Invalidate data at offset {offset}; saw size of -1 but only >= 0 is expected"
        )));
    };
    // Cassandra moves on by the bytes that the length needs, not by those that it was given.
    let mut shortest = Vec::new();
    write_unsigned_vint(u64::from(length.unsigned_abs()), &mut shortest);
    *rest = &rest[shortest.len()..];
    Ok(length.unsigned_abs() as usize)
}

/// Size in bytes of an element in a vector that needs no length before it (Cassandra's
/// `valueLengthIfFixed`); `None` if each element carries its length.
pub fn fixed_size(ty: &CqlType) -> Option<usize> {
    match ty {
        CqlType::Boolean => Some(1),
        CqlType::Float | CqlType::Int => Some(4),
        CqlType::Double | CqlType::Bigint | CqlType::Timestamp => Some(8),
        CqlType::Uuid | CqlType::Timeuuid => Some(16),
        CqlType::Vector { element, dimensions } => {
            fixed_size(element)?.checked_mul(*dimensions as usize)
        }
        _ => None,
    }
}

/// Wire bytes of a list or set with these elements, in this order.
pub fn write_elements<'a>(elements: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    write_items(elements.into_iter().map(Some))
}

/// [`write_elements`], with room for nulls.
fn write_items<'a>(items: impl Iterator<Item = Option<&'a [u8]>>) -> Vec<u8> {
    let mut out = vec![0; 4];
    let mut count = 0;
    for item in items {
        write_item(item, &mut out);
        count += 1;
    }
    set_count(count, &mut out);
    out
}

/// Wire bytes of a map with these entries, in this order.
pub fn write_entries<'a>(entries: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut out = vec![0; 4];
    let mut count = 0;
    for (key, value) in entries {
        write_item(Some(key), &mut out);
        write_item(Some(value), &mut out);
        count += 1;
    }
    set_count(count, &mut out);
    out
}

/// Wire bytes of a tuple or UDT with these components; `None` is null.
pub fn write_components<'a>(components: impl IntoIterator<Item = Option<&'a [u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for component in components {
        write_item(component, &mut out);
    }
    out
}

/// Wire bytes of a vector with these elements.
pub fn write_vector<'a>(
    element: &CqlType,
    elements: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let fixed = fixed_size(element).is_some();
    let mut out = Vec::new();
    for item in elements {
        if !fixed {
            write_unsigned_vint(item.len() as u64, &mut out);
        }
        out.extend_from_slice(item);
    }
    out
}

/// Appends a length-prefixed item; -1 stands for null.
pub(super) fn write_item(item: Option<&[u8]>, out: &mut Vec<u8>) {
    match item {
        Some(bytes) => {
            let length = i32::try_from(bytes.len()).expect("a value is far below 2 GiB");
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(bytes);
        }
        None => out.extend_from_slice(&(-1i32).to_be_bytes()),
    }
}

fn set_count(count: usize, out: &mut [u8]) {
    let count = i32::try_from(count).expect("a collection has far fewer than 2^31 elements");
    out[..4].copy_from_slice(&count.to_be_bytes());
}
