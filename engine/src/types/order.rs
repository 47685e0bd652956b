//! One order: values encoded so that plain byte comparison is the CQL order (design decision 2).
//!
//! A clustering key is the concatenation of its components' encodings, each self-delimiting, then one
//! terminator byte; bounds of slices and range tombstones end in other terminators, so that rows and bounds
//! compare as plain bytes:
//!
//! ```text
//! row (a, b)                    enc(a) enc(b) 80
//! before all rows that begin a  enc(a)        00
//! after all rows that begin a   enc(a)               ff
//! ```
//!
//! Hence the first byte of a component's encoding is never `00`, `80` or `ff`: it is a header,
//! `01` for the empty (zero-byte) value and `02` for any other, both inverted (`fe`, `fd`) in a descending column.
//! Behind the header of a value that is not empty:
//!
//! ```text
//! signed integer    big-endian with the sign bit flipped        int -1       7fffffff
//! float, double     sign bit flipped; negative ones inverted    float 1.5    bfc00000
//! date, time        as they are (Cassandra compares bytes)
//! text, blob, inet  00 -> 01 01, 01 -> 01 02, then 00           'a'          61 00
//! varint            length (with sign), then the bytes          256          82 0100
//! decimal           sign, exponent, digits by two, 00           1.50         03 81 10 00
//! timeuuid          timestamp high to low, signed bytes         uuid: version first, then as one or the other
//! list, set         elements, then 00                           map: key, value, key, value ..., 00
//! tuple, UDT        components without trailing nulls, then 00
//! ```
//!
//! Elements and components inside a value have headers of their own: `01` null, `02` empty, `03` any other, so
//! that the closing `00` sorts the shorter one first and null before everything.
//!
//! The encoding of some types forgets which of several equal byte strings was given (decimal 1.0 and 1.00,
//! booleans 01 and 02, NaNs, tuples with and without trailing nulls ...): [`is_lossless`] says whether
//! [`decode`] gives back the very bytes; where it does not, rows keep the raw value beside the encoding.

use super::CqlType;
use super::codec::{self, is_timeuuid};
use super::number;
use std::cmp::Ordering;

/// Header of an empty value of a clustering column; of any other value one more.
const COLUMN: u8 = 0x01;
/// Header of an empty value inside another value.
const INSIDE: u8 = 0x02;
/// Header of a null inside another value.
const NULL: u8 = 0x01;
/// Closes what has no length: bytes, collections, tuples.
const END: u8 = 0x00;
/// Precedes a byte that would else be taken for [`END`] or for itself.
const ESCAPE: u8 = 0x01;

/// Appends the encoding of one component of a clustering key, inverted if `descending`.
/// `bytes` are a valid value of the type; collections inside may be unsorted no longer.
pub fn encode(ty: &CqlType, bytes: &[u8], descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    encode_with(ty, bytes, COLUMN, out);
    if descending {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

fn encode_with(ty: &CqlType, bytes: &[u8], empty: u8, out: &mut Vec<u8>) {
    if bytes.is_empty() {
        out.push(empty);
    } else {
        out.push(empty + 1);
        encode_value(ty, bytes, out);
    }
}

fn encode_inside(ty: &CqlType, bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    match bytes {
        Some(bytes) => encode_with(ty, bytes, INSIDE, out),
        None => out.push(NULL),
    }
}

fn encode_value(ty: &CqlType, bytes: &[u8], out: &mut Vec<u8>) {
    match ty {
        CqlType::Boolean => out.push(u8::from(bytes[0] != 0)),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Timestamp
        | CqlType::Tinyint => {
            out.push(bytes[0] ^ 0x80);
            out.extend_from_slice(&bytes[1..]);
        }
        CqlType::Date | CqlType::Time => out.extend_from_slice(bytes),
        CqlType::Double => out.extend_from_slice(&double_key(fixed(bytes)).to_be_bytes()),
        CqlType::Float => out.extend_from_slice(&float_key(fixed(bytes)).to_be_bytes()),
        CqlType::Varint => number::encode_varint(bytes, out),
        CqlType::Decimal => number::encode_decimal(bytes, out),
        CqlType::Uuid => {
            let (high, low) = uuid_key(bytes);
            out.extend_from_slice(&high.to_be_bytes());
            out.extend_from_slice(&low.to_be_bytes());
        }
        _ if is_timeuuid(ty) => {
            let (high, low) = timeuuid_key(bytes);
            out.extend_from_slice(&high.to_be_bytes());
            out.extend_from_slice(&low.to_be_bytes());
        }
        CqlType::Ascii
        | CqlType::Blob
        | CqlType::Text
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Timeuuid
        | CqlType::Custom(_) => escape(bytes, out),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            for item in codec::elements(bytes).unwrap_or_default() {
                encode_inside(element, item, out);
            }
            out.push(END);
        }
        CqlType::Map { key, value, .. } => {
            for (k, v) in codec::entries(bytes).unwrap_or_default() {
                encode_inside(key, k, out);
                encode_inside(value, v, out);
            }
            out.push(END);
        }
        CqlType::Tuple(parts) => encode_tuple(parts.iter(), bytes, out),
        CqlType::Udt { definition, .. } => {
            encode_tuple(definition.fields.iter().map(|(_, ty)| ty), bytes, out);
        }
        CqlType::Vector { element, dimensions } => {
            for item in codec::vector_elements(element, *dimensions, bytes).unwrap_or_default() {
                encode_inside(element, Some(item), out);
            }
        }
    }
}

fn encode_tuple<'t>(types: impl Iterator<Item = &'t CqlType>, bytes: &[u8], out: &mut Vec<u8>) {
    let parts = codec::components(bytes).unwrap_or_default();
    let given = parts.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    for (ty, part) in types.zip(&parts[..given]) {
        encode_inside(ty, *part, out);
    }
    out.push(END);
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        if byte <= ESCAPE {
            out.extend_from_slice(&[ESCAPE, byte + 1]);
        } else {
            out.push(byte);
        }
    }
    out.push(END);
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a valid value of a type of fixed size")
}

/// Java's `Double.compare` as unsigned order: -0.0 before 0.0, every NaN the same and last.
fn double_key(bytes: [u8; 8]) -> u64 {
    let number = f64::from_be_bytes(bytes);
    let bits = if number.is_nan() { CANONICAL_NAN_64 } else { number.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn float_key(bytes: [u8; 4]) -> u32 {
    let number = f32::from_be_bytes(bytes);
    let bits = if number.is_nan() { CANONICAL_NAN_32 } else { number.to_bits() };
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

const CANONICAL_NAN_64: u64 = 0x7ff8_0000_0000_0000;
const CANONICAL_NAN_32: u32 = 0x7fc0_0000;

fn halves(bytes: &[u8]) -> (u64, u64) {
    let whole = u128::from_be_bytes(fixed(bytes));
    ((whole >> 64) as u64, whole as u64)
}

/// The timestamp of a version 1 uuid, high bits first, the version before it.
fn time_first(high: u64) -> u64 {
    high << 48 | (high << 16 & 0xffff_0000_0000) | high >> 32
}

/// Undoes [`time_first`].
fn time_last(key: u64) -> u64 {
    key << 32 | (key >> 16 & 0xffff_0000) | key >> 48
}

/// Makes unsigned order of the byte the signed order that Cassandra keeps for timeuuids.
const SIGNED_BYTES: u64 = 0x8080_8080_8080_8080;

/// `TimeUUIDType`: by time, then by the rest as signed bytes.
fn timeuuid_key(bytes: &[u8]) -> (u64, u64) {
    let (high, low) = halves(bytes);
    (time_first(high), low ^ SIGNED_BYTES)
}

/// `UUIDType`: by version, then version 1 by time and others by their bytes.
fn uuid_key(bytes: &[u8]) -> (u64, u64) {
    let (high, low) = halves(bytes);
    let version = high >> 12 & 0xf;
    let key = if version == 1 {
        time_first(high)
    } else {
        version << 60 | high >> 16 << 12 | high & 0xfff
    };
    (key, low)
}

fn uuid_from_key(key: u64) -> u64 {
    let version = key >> 60;
    if version == 1 { time_last(key) } else { (key << 4) >> 16 << 16 | version << 12 | key & 0xfff }
}

/// Encoded bytes being read, turned round again if the column descends.
struct Reader<'a, 'b> {
    rest: &'b mut &'a [u8],
    mask: u8,
}

impl Reader<'_, '_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.rest.split_first().expect("the encoding is whole");
        *self.rest = rest;
        first ^ self.mask
    }

    fn peek(&self) -> u8 {
        self.rest.first().expect("the encoding is whole") ^ self.mask
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// Appends so many bytes to `out`.
    fn append(&mut self, count: usize, out: &mut Vec<u8>) {
        let (bytes, rest) = self.rest.split_at(count);
        *self.rest = rest;
        let at = out.len();
        out.extend_from_slice(bytes);
        if self.mask != 0 {
            out[at..].iter_mut().for_each(|byte| *byte ^= self.mask);
        }
    }

    fn advance(&mut self, count: usize) {
        *self.rest = &self.rest[count..];
    }
}

fn reader<'a, 'b>(rest: &'b mut &'a [u8], descending: bool) -> Reader<'a, 'b> {
    Reader { rest, mask: if descending { 0xff } else { 0 } }
}

/// Reads one component from the front of `encoded`, moving it past the component, and appends the value's
/// wire bytes to `out`.
/// Requires: `encoded` begins with what [`encode`] wrote for the same type and direction.
pub fn decode(ty: &CqlType, encoded: &mut &[u8], descending: bool, out: &mut Vec<u8>) {
    let mut from = reader(encoded, descending);
    if from.byte() != COLUMN {
        decode_value(ty, &mut from, out);
    }
}

/// Reads an element or component with its header and appends it with its length.
fn decode_inside(ty: &CqlType, from: &mut Reader<'_, '_>, out: &mut Vec<u8>) {
    let at = out.len();
    match from.byte() {
        NULL => codec::write_item(None, out),
        INSIDE => codec::write_item(Some(&[]), out),
        _ => {
            out.extend_from_slice(&[0; 4]);
            decode_value(ty, from, out);
            let length = i32::try_from(out.len() - at - 4).expect("a value is far below 2 GiB");
            out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn decode_value(ty: &CqlType, from: &mut Reader<'_, '_>, out: &mut Vec<u8>) {
    match ty {
        CqlType::Boolean => out.push(from.byte()),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Timestamp
        | CqlType::Tinyint => {
            let at = out.len();
            from.append(width(ty), out);
            out[at] ^= 0x80;
        }
        CqlType::Date | CqlType::Time => from.append(width(ty), out),
        CqlType::Double => {
            let key = u64::from_be_bytes(from.array());
            let bits = if key >> 63 == 1 { key ^ 1 << 63 } else { !key };
            out.extend_from_slice(&bits.to_be_bytes());
        }
        CqlType::Float => {
            let key = u32::from_be_bytes(from.array());
            let bits = if key >> 31 == 1 { key ^ 1 << 31 } else { !key };
            out.extend_from_slice(&bits.to_be_bytes());
        }
        CqlType::Varint => number::decode_varint(&mut || from.byte(), out),
        CqlType::Decimal => number::decode_decimal(&mut || from.byte(), out),
        CqlType::Uuid => {
            let key = u64::from_be_bytes(from.array());
            out.extend_from_slice(&uuid_from_key(key).to_be_bytes());
            out.extend_from_slice(&from.array::<8>());
        }
        _ if is_timeuuid(ty) => {
            let key = u64::from_be_bytes(from.array());
            let low = u64::from_be_bytes(from.array()) ^ SIGNED_BYTES;
            out.extend_from_slice(&time_last(key).to_be_bytes());
            out.extend_from_slice(&low.to_be_bytes());
        }
        CqlType::Ascii
        | CqlType::Blob
        | CqlType::Text
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Timeuuid
        | CqlType::Custom(_) => loop {
            match from.byte() {
                END => break,
                ESCAPE => out.push(from.byte() - 1),
                byte => out.push(byte),
            }
        },
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            decode_counted(from, out, |from, out| decode_inside(element, from, out));
        }
        CqlType::Map { key, value, .. } => decode_counted(from, out, |from, out| {
            decode_inside(key, from, out);
            decode_inside(value, from, out);
        }),
        CqlType::Tuple(parts) => decode_tuple(parts.iter(), from, out),
        CqlType::Udt { definition, .. } => {
            decode_tuple(definition.fields.iter().map(|(_, ty)| ty), from, out);
        }
        CqlType::Vector { element, dimensions } => {
            let sized = codec::fixed_size(element).is_some();
            for _ in 0..*dimensions {
                let mut item = Vec::new();
                if from.byte() != INSIDE {
                    decode_value(element, from, &mut item);
                }
                if !sized {
                    super::temporal::write_unsigned_vint(item.len() as u64, out);
                }
                out.extend_from_slice(&item);
            }
        }
    }
}

fn decode_counted(
    from: &mut Reader<'_, '_>,
    out: &mut Vec<u8>,
    mut item: impl FnMut(&mut Reader<'_, '_>, &mut Vec<u8>),
) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0i32;
    while from.peek() != END {
        item(from, out);
        count += 1;
    }
    from.advance(1);
    out[at..at + 4].copy_from_slice(&count.to_be_bytes());
}

fn decode_tuple<'t>(
    types: impl Iterator<Item = &'t CqlType>,
    from: &mut Reader<'_, '_>,
    out: &mut Vec<u8>,
) {
    for ty in types {
        if from.peek() == END {
            // Trailing nulls are one with missing components; Cassandra's own writers give nulls.
            codec::write_item(None, out);
        } else {
            decode_inside(ty, from, out);
        }
    }
    from.advance(1);
}

/// Bytes of a value of a scalar type of fixed size.
fn width(ty: &CqlType) -> usize {
    match ty {
        CqlType::Boolean | CqlType::Tinyint => 1,
        CqlType::Smallint => 2,
        CqlType::Int | CqlType::Float | CqlType::Date => 4,
        CqlType::Uuid | CqlType::Timeuuid => 16,
        _ => 8,
    }
}

/// Moves `encoded` past one component without decoding it.
pub fn skip(ty: &CqlType, encoded: &mut &[u8], descending: bool) {
    let mut from = reader(encoded, descending);
    if from.byte() != COLUMN {
        skip_value(ty, &mut from);
    }
}

fn skip_inside(ty: &CqlType, from: &mut Reader<'_, '_>) {
    if from.byte() > INSIDE {
        skip_value(ty, from);
    }
}

fn skip_value(ty: &CqlType, from: &mut Reader<'_, '_>) {
    match ty {
        CqlType::Boolean
        | CqlType::Tinyint
        | CqlType::Smallint
        | CqlType::Int
        | CqlType::Float
        | CqlType::Date
        | CqlType::Bigint
        | CqlType::Counter
        | CqlType::Timestamp
        | CqlType::Time
        | CqlType::Double
        | CqlType::Uuid
        | CqlType::Timeuuid => from.advance(width(ty)),
        CqlType::Custom(_) if is_timeuuid(ty) => from.advance(16),
        CqlType::Ascii
        | CqlType::Blob
        | CqlType::Text
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Custom(_) => {
            // An escaped byte is 01 or 02, so END stands for nothing else.
            let end = from.mask ^ END;
            let length = from.rest.iter().position(|byte| *byte == end);
            from.advance(length.expect("the encoding is whole") + 1);
        }
        CqlType::Varint => {
            let length = number::varint_length(&mut || from.byte());
            from.advance(length);
        }
        CqlType::Decimal => number::skip_decimal(&mut || from.byte()),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            while from.peek() != END {
                skip_inside(element, from);
            }
            from.advance(1);
        }
        CqlType::Map { key, value, .. } => {
            while from.peek() != END {
                skip_inside(key, from);
                skip_inside(value, from);
            }
            from.advance(1);
        }
        CqlType::Tuple(parts) => skip_tuple(parts.iter(), from),
        CqlType::Udt { definition, .. } => {
            skip_tuple(definition.fields.iter().map(|(_, ty)| ty), from);
        }
        CqlType::Vector { element, dimensions } => {
            for _ in 0..*dimensions {
                skip_inside(element, from);
            }
        }
    }
}

fn skip_tuple<'t>(types: impl Iterator<Item = &'t CqlType>, from: &mut Reader<'_, '_>) {
    for ty in types {
        if from.peek() == END {
            break;
        }
        skip_inside(ty, from);
    }
    from.advance(1);
}

/// Whether [`decode`] of [`encode`] gives back the same bytes for every valid value of the type.
pub fn is_lossless(ty: &CqlType) -> bool {
    match ty {
        CqlType::Boolean
        | CqlType::Decimal
        | CqlType::Double
        | CqlType::Float
        | CqlType::Varint
        | CqlType::Tuple(_)
        | CqlType::Udt { .. } => false,
        CqlType::List { element, .. }
        | CqlType::Set { element, .. }
        | CqlType::Vector { element, .. } => is_lossless(element),
        CqlType::Map { key, value, .. } => is_lossless(key) && is_lossless(value),
        CqlType::Ascii
        | CqlType::Bigint
        | CqlType::Blob
        | CqlType::Counter
        | CqlType::Custom(_)
        | CqlType::Date
        | CqlType::Duration
        | CqlType::Inet
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Text
        | CqlType::Time
        | CqlType::Timestamp
        | CqlType::Timeuuid
        | CqlType::Tinyint
        | CqlType::Uuid => true,
    }
}

/// The CQL order of two valid values of a type (Cassandra's `AbstractType.compare`); the same order as that
/// of their encodings.
pub fn compare(ty: &CqlType, a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() {
        return b.is_empty().cmp(&a.is_empty());
    }
    match ty {
        CqlType::Boolean => (a[0] != 0).cmp(&(b[0] != 0)),
        CqlType::Bigint
        | CqlType::Counter
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Timestamp
        | CqlType::Tinyint => {
            a[0].cast_signed().cmp(&b[0].cast_signed()).then_with(|| a[1..].cmp(&b[1..]))
        }
        CqlType::Double => double_key(fixed(a)).cmp(&double_key(fixed(b))),
        CqlType::Float => float_key(fixed(a)).cmp(&float_key(fixed(b))),
        CqlType::Varint => number::compare_varints(a, b),
        CqlType::Decimal => number::compare_decimals(a, b),
        CqlType::Uuid => uuid_key(a).cmp(&uuid_key(b)),
        _ if is_timeuuid(ty) => timeuuid_key(a).cmp(&timeuuid_key(b)),
        CqlType::Ascii
        | CqlType::Blob
        | CqlType::Text
        | CqlType::Date
        | CqlType::Time
        | CqlType::Inet
        | CqlType::Duration
        | CqlType::Timeuuid
        | CqlType::Custom(_) => a.cmp(b),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let (a, b) = (codec::elements(a), codec::elements(b));
            let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
            first_difference(a.iter().zip(&b).map(|(a, b)| compare_inside(element, *a, *b)))
                .then(a.len().cmp(&b.len()))
        }
        CqlType::Map { key, value, .. } => {
            let (a, b) = (codec::entries(a), codec::entries(b));
            let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
            first_difference(a.iter().zip(&b).map(|(a, b)| {
                compare_inside(key, a.0, b.0).then_with(|| compare_inside(value, a.1, b.1))
            }))
            .then(a.len().cmp(&b.len()))
        }
        CqlType::Tuple(parts) => compare_tuples(parts.iter(), a, b),
        CqlType::Udt { definition, .. } => {
            compare_tuples(definition.fields.iter().map(|(_, ty)| ty), a, b)
        }
        CqlType::Vector { element, dimensions } => {
            let items =
                |bytes| codec::vector_elements(element, *dimensions, bytes).unwrap_or_default();
            let (a, b) = (items(a), items(b));
            first_difference(a.iter().zip(&b).map(|(a, b)| compare(element, a, b)))
        }
    }
}

fn first_difference(mut results: impl Iterator<Item = Ordering>) -> Ordering {
    results.find(|result| result.is_ne()).unwrap_or(Ordering::Equal)
}

fn compare_inside(ty: &CqlType, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(ty, a, b),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

fn compare_tuples<'t>(types: impl Iterator<Item = &'t CqlType>, a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (codec::components(a), codec::components(b));
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    let part =
        |parts: &[Option<&'_ [u8]>], index: usize| parts.get(index).is_some_and(Option::is_some);
    first_difference(types.enumerate().map(|(index, ty)| {
        match (part(&a, index), part(&b, index)) {
            (true, true) => compare_inside(ty, a[index], b[index]),
            (some_a, some_b) => some_a.cmp(&some_b),
        }
    }))
}
