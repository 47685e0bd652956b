//! How values are written for people: as cqlsh prints them, as CQL literals, as JSON.
//!
//! cqlsh is a Python program, and its results look it: `True`, `1e+10`, `None` inside a tuple, a set sorted
//! as Python sorts. Tests compare with what it printed for each type (tests/data/cqlsh_display.tsv).
//!
//! ```text
//!             cqlsh                              literal                      JSON                         key
//! double      1.2346e+05                         123456.789                   123456.789                   123456.789
//! timestamp   2024-01-01 12:34:56.789000+0000    '2024-01-01T12:34:56.789Z'   "2024-01-01 12:34:56.789Z"   2024-01-01T12:34:56.789Z
//! tuple       (1, None)                          (1, null)                    [1, null]                    1:@
//! ```
//!
//! Not here: the table around the values, and text to value ([`super::text`]).

mod class;
mod cqlsh;
mod json;
mod literal;

pub use class::class_name;
pub use cqlsh::cqlsh;
pub use json::{json, json_string, key_text};
pub use literal::literal;

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address as Python and C write it: the longest run of zeros (the first of equals) as `::`, and IPv4 in
/// dots at the end if nothing but zeros, or zeros and ffff, precede it.
pub fn inet_text(bytes: &[u8]) -> String {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Ipv4Addr::from(four).to_string();
    }
    let Ok(sixteen) = <[u8; 16]>::try_from(bytes) else { return String::new() };
    let address = Ipv6Addr::from(sixteen);
    let words = address.segments();
    let (start, length) = longest_zeros(&words);
    let v4 = Ipv4Addr::from_bits(u32::from(words[6]) << 16 | u32::from(words[7]));
    match (start, length) {
        (0, 6) => return format!("::{v4}"),
        (0, 5) if words[5] == 0xffff => return format!("::ffff:{v4}"),
        _ => {}
    }
    let hex =
        |words: &[u16]| words.iter().map(|it| format!("{it:x}")).collect::<Vec<_>>().join(":");
    match length {
        0 => hex(&words),
        _ => format!("{}::{}", hex(&words[..start]), hex(&words[start + length..])),
    }
}

/// Where the longest run of at least two zeros begins, and its length; length 0 if there is none.
fn longest_zeros(words: &[u16; 8]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut start = 0;
    while start < words.len() {
        let length = words[start..].iter().take_while(|word| **word == 0).count();
        if length >= 2 && length > best.1 {
            best = (start, length);
        }
        start += length.max(1);
    }
    best
}

/// An address as Java writes it: every word of IPv6, without `::`.
pub fn java_inet_text(bytes: &[u8]) -> String {
    match <[u8; 16]>::try_from(bytes) {
        Ok(sixteen) => {
            let words = Ipv6Addr::from(sixteen).segments();
            words.iter().map(|it| format!("{it:x}")).collect::<Vec<_>>().join(":")
        }
        Err(_) => inet_text(bytes),
    }
}

/// A uuid with its hyphens.
pub fn uuid_text(bytes: &[u8]) -> String {
    uuid::Uuid::from_slice(bytes).map(|it| it.to_string()).unwrap_or_default()
}

/// `11 days 13 hours 46 minutes 40 seconds`, without zeros at either end; nothing for nothing.
pub fn duration_words(seconds: u64) -> Option<String> {
    let units = [
        (seconds / 86_400, "day"),
        (seconds / 3600 % 24, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let first = units.iter().position(|(number, _)| *number > 0)?;
    let last = units.iter().rposition(|(number, _)| *number > 0)?;
    let mut text = String::new();
    for (number, unit) in &units[first..=last] {
        let plural = if *number == 1 { "" } else { "s" };
        let blank = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{blank}{number} {unit}{plural}");
    }
    Some(text)
}
