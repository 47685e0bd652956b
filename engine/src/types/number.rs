//! Numbers of any size: how varint and decimal are ordered and encoded, and decimal as text.
//!
//! A varint encodes as its length with the sign, then its shortest bytes: of two positive numbers the longer
//! is greater, of two negative ones the smaller.
//!
//! ```text
//! -256   7d ff00        255   82 00ff       lengths from 127 bytes on: ff (or 00) and four more bytes
//! ```
//!
//! A decimal encodes by its value, 0.d1d2d3... x 10^e with d1 and the last digit not zero, so that 1.0, 1.00
//! and 1E+0 are one. Nothing here ever writes out the zeros of an exponent: `1E+2147483647` is five bytes.

use super::codec::shortest;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;

/// Lengths from here on have four bytes of their own.
const LONG: usize = 0x7f;

/// Appends the order-keeping encoding of a varint that is not empty.
pub(super) fn encode_varint(bytes: &[u8], out: &mut Vec<u8>) {
    let bytes = shortest(bytes);
    let mask = if bytes[0] >> 7 == 1 { 0xff } else { 0 };
    if bytes.len() < LONG {
        out.push((0x80 + bytes.len() as u8) ^ mask);
    } else {
        out.push(0xff ^ mask);
        let length = u32::try_from(bytes.len()).expect("a value is far below 4 GiB");
        out.extend(length.to_be_bytes().map(|byte| byte ^ mask));
    }
    out.extend_from_slice(bytes);
}

/// Reads the length at the front of an encoded varint.
pub(super) fn varint_length(next: &mut impl FnMut() -> u8) -> usize {
    let first = next();
    let mask = if first >> 7 == 1 { 0 } else { 0xff };
    match first ^ mask {
        0xff => u32::from_be_bytes(std::array::from_fn(|_| next() ^ mask)) as usize,
        short => usize::from(short - 0x80),
    }
}

/// Reads an encoded varint and appends its shortest bytes.
pub(super) fn decode_varint(next: &mut impl FnMut() -> u8, out: &mut Vec<u8>) {
    let length = varint_length(next);
    out.extend((0..length).map(|_| next()));
}

/// The order of two varints that are not empty.
pub(super) fn compare_varints(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (shortest(a), shortest(b));
    match (a[0] >> 7 == 1, b[0] >> 7 == 1) {
        (false, false) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (true, true) => b.len().cmp(&a.len()).then_with(|| a.cmp(b)),
        (a_negative, b_negative) => b_negative.cmp(&a_negative),
    }
}

/// Scale and unscaled number of a decimal's bytes; a missing number is 0.
pub fn decimal_parts(bytes: &[u8]) -> (i32, BigInt) {
    match bytes.split_first_chunk::<4>() {
        Some((scale, number)) => (i32::from_be_bytes(*scale), BigInt::from_signed_bytes_be(number)),
        None => (0, BigInt::ZERO),
    }
}

/// The wire bytes of a decimal.
pub fn decimal_bytes(scale: i32, unscaled: &BigInt) -> Vec<u8> {
    let mut bytes = scale.to_be_bytes().to_vec();
    bytes.extend(unscaled.to_signed_bytes_be());
    bytes
}

const NEGATIVE: u8 = 0x01;
const ZERO: u8 = 0x02;
const POSITIVE: u8 = 0x03;

/// Appends the order-keeping encoding of a decimal that is not empty.
pub(super) fn encode_decimal(bytes: &[u8], out: &mut Vec<u8>) {
    let (scale, unscaled) = decimal_parts(bytes);
    let mask = match unscaled.sign() {
        Sign::NoSign => return out.push(ZERO),
        Sign::Plus => 0,
        Sign::Minus => 0xff,
    };
    out.push(if mask == 0 { POSITIVE } else { NEGATIVE });
    let start = out.len();
    let mut digits = unscaled.magnitude().to_radix_be(10);
    let exponent = digits.len() as i64 - i64::from(scale);
    let last = digits.iter().rposition(|digit| *digit != 0).expect("the number is not zero");
    digits.truncate(last + 1);
    match exponent {
        // Exponents near zero take one byte; 00 and ff announce eight more.
        -0x7e..=0x7e => out.push((0x80 + exponent) as u8),
        _ => {
            out.push(if exponent < 0 { 0x00 } else { 0xff });
            out.extend_from_slice(&exponent.cast_unsigned().wrapping_add(1 << 63).to_be_bytes());
        }
    }
    for pair in digits.chunks(2) {
        out.push(pair[0] * 10 + pair.get(1).copied().unwrap_or(0) + 1);
    }
    out.push(0);
    for byte in &mut out[start..] {
        *byte ^= mask;
    }
}

/// Reads sign, exponent and digits of an encoded decimal; digits are handed out by pairs.
fn read_decimal(next: &mut impl FnMut() -> u8, mut pair: impl FnMut(u8)) -> Option<(Sign, i64)> {
    let (sign, mask) = match next() {
        ZERO => return None,
        NEGATIVE => (Sign::Minus, 0xff),
        _ => (Sign::Plus, 0),
    };
    let first = next() ^ mask;
    let exponent = if matches!(first, 0x00 | 0xff) {
        let bytes = std::array::from_fn(|_| next() ^ mask);
        u64::from_be_bytes(bytes).wrapping_sub(1 << 63).cast_signed()
    } else {
        i64::from(first) - 0x80
    };
    loop {
        match next() ^ mask {
            0 => return Some((sign, exponent)),
            digits => pair(digits - 1),
        }
    }
}

/// Moves past an encoded decimal.
pub(super) fn skip_decimal(next: &mut impl FnMut() -> u8) {
    read_decimal(next, |_| {});
}

/// Reads an encoded decimal and appends the wire bytes of an equal one: that with the fewest digits.
pub(super) fn decode_decimal(next: &mut impl FnMut() -> u8, out: &mut Vec<u8>) {
    let mut digits = Vec::new();
    let Some((sign, exponent)) = read_decimal(next, |pair| digits.extend([pair / 10, pair % 10]))
    else {
        return out.extend(decimal_bytes(0, &BigInt::ZERO));
    };
    while digits.last() == Some(&0) {
        digits.pop();
    }
    // The zeros cut off may have been what kept the scale within 32 bits.
    let scale = digits.len() as i64 - exponent;
    let padding = (i64::from(i32::MIN) - scale).max(0);
    digits.extend(std::iter::repeat_n(0, usize::try_from(padding).expect("not negative")));
    let scale = i32::try_from(scale + padding).expect("a decimal with this scale was encoded");
    let magnitude = BigUint::from_radix_be(&digits, 10).expect("decimal digits");
    out.extend(decimal_bytes(scale, &BigInt::from_biguint(sign, magnitude)));
}

/// The order of two decimals that are not empty, by value.
pub(super) fn compare_decimals(a: &[u8], b: &[u8]) -> Ordering {
    if a[..a.len().min(4)] == b[..b.len().min(4)] && a.len() > 4 && b.len() > 4 {
        return compare_varints(&a[4..], &b[4..]);
    }
    let ((a_scale, a), (b_scale, b)) = (decimal_parts(a), decimal_parts(b));
    match (a.sign(), b.sign()) {
        (Sign::NoSign, Sign::NoSign) => Ordering::Equal,
        (Sign::Plus, Sign::Plus) => compare_scaled(a.magnitude(), a_scale, b.magnitude(), b_scale),
        (Sign::Minus, Sign::Minus) => {
            compare_scaled(b.magnitude(), b_scale, a.magnitude(), a_scale)
        }
        (a, b) => a.cmp(&b),
    }
}

/// The order of a x 10^-a_scale and b x 10^-b_scale, neither zero. Zeros are appended only to numbers whose
/// sizes are so near that few are needed.
fn compare_scaled(a: &BigUint, a_scale: i32, b: &BigUint, b_scale: i32) -> Ordering {
    let size = |number: &BigUint, scale: i32| {
        number.bits() as f64 * std::f64::consts::LOG10_2 - f64::from(scale)
    };
    let (a_size, b_size) = (size(a, a_scale), size(b, b_scale));
    if (a_size - b_size).abs() > 2.0 {
        return a_size.total_cmp(&b_size);
    }
    let more = i64::from(b_scale) - i64::from(a_scale);
    let zeros = BigUint::from(10u8).pow(u32::try_from(more.unsigned_abs()).expect("32 bits apart"));
    if more > 0 { (a * zeros).cmp(b) } else { a.cmp(&(b * zeros)) }
}

/// A decimal as Java's `BigDecimal.toString` writes it: `1E+3`, `0.001`, `1E-10`.
pub fn decimal_text(scale: i64, unscaled: &BigInt) -> String {
    let digits = unscaled.magnitude().to_string();
    let sign = if unscaled.sign() == Sign::Minus { "-" } else { "" };
    let count = digits.len() as i64;
    let exponent = count - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        let scale = scale.unsigned_abs() as usize;
        return if scale == 0 {
            format!("{sign}{digits}")
        } else if digits.len() > scale {
            let (whole, part) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{part}")
        } else {
            format!("{sign}0.{}{digits}", "0".repeat(scale - digits.len()))
        };
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let exponent = if exponent == 0 { String::new() } else { format!("E{exponent:+}") };
    format!("{sign}{first}{point}{rest}{exponent}")
}

/// Scale and unscaled number of a decimal's text, within the limits of Java's `BigDecimal`: exponents and
/// scales of 32 bits. `None` if it is none.
pub fn parse_decimal(text: &str) -> Option<(i32, BigInt)> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (Sign::Minus, rest),
        None => (Sign::Plus, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: Vec<u8> = Vec::with_capacity(mantissa.len());
    for byte in whole.bytes().chain(part.bytes()) {
        digits.push(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    if digits.is_empty() {
        return None;
    }
    let scale = i32::try_from(part.len() as i64 - exponent).ok()?;
    Some((scale, BigInt::from_biguint(sign, from_digits(&digits))))
}

/// A varint's text: digits with an optional sign. `None` if it is none.
pub fn parse_varint(text: &str) -> Option<BigInt> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (Sign::Minus, rest),
        None => (Sign::Plus, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: Vec<u8> = digits.bytes().map(|byte| byte - b'0').collect();
    Some(BigInt::from_biguint(sign, from_digits(&digits)))
}

/// Digits to read by repeated multiplication, whose cost grows with the square of their number.
const DIGITS_AT_ONCE: usize = 1000;

/// The number with these decimal digits, read by halves: a literal of megabytes must not take minutes.
fn from_digits(digits: &[u8]) -> BigUint {
    let mut powers = Vec::new();
    let mut length = DIGITS_AT_ONCE;
    while length < digits.len() {
        let power = match powers.last() {
            Some((_, half)) => half * half,
            None => BigUint::from(10u8).pow(DIGITS_AT_ONCE as u32),
        };
        powers.push((length, power));
        length *= 2;
    }
    join(digits, &powers)
}

/// `powers` holds (n, 10^n) for each n at which digits are cut, the greatest last.
fn join(digits: &[u8], powers: &[(usize, BigUint)]) -> BigUint {
    let Some(((low_length, power), powers)) = powers.split_last() else {
        return BigUint::from_radix_be(digits, 10).expect("decimal digits");
    };
    let Some(cut) = digits.len().checked_sub(*low_length) else {
        return join(digits, powers);
    };
    let (high, low) = digits.split_at(cut);
    if high.is_empty() {
        return join(low, powers);
    }
    join(high, powers) * power + join(low, powers)
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<i32>().ok().map(i64::from)
}
