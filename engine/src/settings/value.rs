//! Texts of cassandra.yaml to values, with its units.
//!
//! ```text
//! 10MiB   5120B   1GiB       sizes: a number and B, KiB, MiB or GiB; some kinds take no unit below their own
//! 10s   500ms   3d           times: d, h, m, s, ms, us
//! 64MiB/s                    rates
//! -1, null                   none
//! [ANY, ONE]                 lists
//! ```

use crate::ring::Consistency;
use std::collections::BTreeSet;

/// A kind of value: reads a text, or says what it takes.
pub(super) type Parsed<T> = Result<T, &'static str>;

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Parsed<bool> {
    text.parse().map_err(|_| "true or false")
}

/// A whole number, negative ones too.
pub(super) fn integer(text: &str) -> Parsed<i64> {
    text.parse::<i32>().map(i64::from).map_err(|_| "a whole number")
}

/// A whole number above 0.
pub(super) fn positive(text: &str) -> Parsed<u64> {
    text.parse().ok().filter(|&n: &u64| n > 0).ok_or("a number above 0")
}

/// A number above 0; -1 for none.
pub(super) fn threshold(text: &str) -> Parsed<Option<u64>> {
    match text {
        "-1" => Ok(None),
        text => positive(text).map(Some).map_err(|_| "a number above 0, or -1 for none"),
    }
}

/// A size in any unit; `null` for none. Bytes.
pub(super) fn bytes_or_null(text: &str) -> Parsed<Option<u64>> {
    match text {
        "null" => Ok(None),
        text => size(text, 1).map(Some).ok_or("a size (10MiB, 5120B), or null for none"),
    }
}

/// A size in KiB or above. Bytes.
pub(super) fn kibibytes(text: &str) -> Parsed<u64> {
    size(text, 1 << 10).ok_or("a size in KiB, MiB or GiB (64KiB)")
}

/// A size in KiB or above; `null` for none. Bytes.
pub(super) fn kibibytes_or_null(text: &str) -> Parsed<Option<u64>> {
    match text {
        "null" => Ok(None),
        text => size(text, 1 << 10)
            .map(Some)
            .ok_or("a size in KiB, MiB or GiB (64KiB), or null for none"),
    }
}

/// A size in MiB or above. Bytes.
pub(super) fn mebibytes(text: &str) -> Parsed<u64> {
    size(text, 1 << 20).ok_or("a size in MiB or GiB (32MiB)")
}

/// A rate (`64MiB/s`); 0 for no limit. Bytes a second.
pub(super) fn rate(text: &str) -> Parsed<Option<u64>> {
    let bytes = text.strip_suffix("/s").and_then(|text| size(text, 1));
    bytes.map(|bytes| (bytes > 0).then_some(bytes)).ok_or("a rate (64MiB/s; 0MiB/s for no limit)")
}

/// A time. Milliseconds.
pub(super) fn millis(text: &str) -> Parsed<u64> {
    micros(text)
        .filter(|micros| micros % 1_000 == 0)
        .map(|micros| micros / 1_000)
        .ok_or("a time (10s, 500ms)")
}

/// A time; `null` for none. Microseconds.
pub(super) fn micros_or_null(text: &str) -> Parsed<Option<u64>> {
    match text {
        "null" => Ok(None),
        text => micros(text).map(Some).ok_or("a time (3d, 500ms), or null for none"),
    }
}

/// A list of consistency levels: `[ANY, ONE]`, or one.
pub(super) fn levels(text: &str) -> Parsed<BTreeSet<Consistency>> {
    let level =
        |name: String| Consistency::from_name(&name).ok_or("consistency levels ([ANY, ONE])");
    list(text).map(level).collect()
}

/// A list of names of table options: `[caching, comment]`, or one.
pub(super) fn names(text: &str) -> Parsed<BTreeSet<String>> {
    Ok(list(text).map(|name| name.to_lowercase()).collect())
}

/// The members of a list, without quotes; `null` and `[]` have none.
fn list(text: &str) -> impl Iterator<Item = String> + '_ {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let inside = if inside == "null" { "" } else { inside };
    let bare = |item: &str| item.trim().trim_matches(['"', '\'']).to_string();
    inside.split(',').map(bare).filter(|item| !item.is_empty())
}

fn size(text: &str, smallest_unit_bytes: u64) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit: u64 = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    (unit >= smallest_unit_bytes).then(|| number.checked_mul(unit)).flatten()
}

fn micros(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit {
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        "m" => 60_000_000,
        "s" => 1_000_000,
        "ms" => 1_000,
        "us" | "µs" => 1,
        _ => return None,
    };
    number.checked_mul(unit)
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_cassandras() {
        assert_eq!(bytes_or_null("10MiB"), Ok(Some(10 << 20)));
        assert_eq!(bytes_or_null("7B"), Ok(Some(7)));
        assert_eq!(bytes_or_null("null"), Ok(None));
        assert_eq!(kibibytes("5KiB"), Ok(5120));
        assert!(
            kibibytes("5B").is_err() && mebibytes("5KiB").is_err() && kibibytes("5kb").is_err()
        );
        assert!(bytes_or_null("99999999999999999GiB").is_err() && bytes_or_null("-1").is_err());
        assert_eq!(millis("10s"), Ok(10_000));
        assert!(millis("10us").is_err() && millis("10").is_err() && millis("").is_err());
        assert_eq!(micros_or_null("3d"), Ok(Some(259_200_000_000)));
        assert_eq!(rate("64MiB/s"), Ok(Some(64 << 20)));
        assert_eq!(rate("0MiB/s"), Ok(None));
        assert_eq!(threshold("-1"), Ok(None));
        assert!(threshold("0").is_err() && threshold("-2").is_err());
        assert_eq!(integer("-5"), Ok(-5));
        let levels = levels("[ANY, 'one']").map(|levels| levels.len());
        assert_eq!(levels, Ok(2));
        assert_eq!(names("null"), Ok(BTreeSet::new()));
    }
}
