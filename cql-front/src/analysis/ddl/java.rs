//! What Java shows in Cassandra's messages: doubles, sizes, the order of a HashMap.

/// A double as `Double.toString` writes it: `0.01`, `7.0`, `1.0E-6`, `NaN`.
pub(super) fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    let with_point = |digits: String| {
        if digits.contains('.') { digits } else { format!("{digits}.0") }
    };
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return with_point(value.to_string());
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}E{exponent}", with_point(digits.to_string())),
        None => text,
    }
}

/// `Double.parseDouble`: blanks around, `NaN`, `Infinity`, an `f` or `d` behind the digits.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    match text.trim_start_matches(['+', '-']) {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        _ if number.bytes().any(|b| b.is_ascii_digit()) => number.parse().ok(),
        _ => None,
    }
}

/// A number of bytes as `FBUtilities.prettyPrintMemory` writes it: `724.077MiB`.
pub(super) fn memory_text(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let (unit, name) = if bytes >= KIB * KIB * KIB {
        (KIB * KIB * KIB, "GiB")
    } else if bytes >= KIB * KIB {
        (KIB * KIB, "MiB")
    } else {
        (KIB, "KiB")
    };
    format!("{:.3}{name}", bytes / unit)
}

/// A size such as `100MiB`, in bytes. `None` for what `FBUtilities.parseHumanReadableBytes` does not take.
pub(super) fn parse_size(text: &str) -> Option<f64> {
    let number = text.strip_suffix('B')?;
    let (number, binary) = match number.strip_suffix('i') {
        Some(number) => (number, true),
        None => (number, false),
    };
    let (number, power) =
        match number.as_bytes().last().map(|b| b"KMGTPE".iter().position(|u| u == b)) {
            Some(Some(place)) => (&number[..number.len() - 1], place as i32 + 1),
            _ if binary => return None,
            _ => (number, 0),
        };
    let base: f64 = if binary { 1024.0 } else { 1000.0 };
    Some(parse_double(number.trim_end())? * base.powi(power))
}

/// The names in the order in which a `HashMap` of them is walked: by bucket, then as put in.
pub(super) fn hash_order<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let mut buckets: u32 = 16;
    while names.len() as u32 > buckets / 4 * 3 {
        buckets *= 2;
    }
    names.sort_by_key(|name| {
        let hash = name
            .encode_utf16()
            .fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
        (hash ^ (hash >> 16)) & (buckets - 1)
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in
            [(0.0, "0.0"), (7.0, "7.0"), (0.25, "0.25"), (1e-6, "1.0E-6"), (1.5e8, "1.5E8")]
        {
            assert_eq!(double_text(value), text);
        }
    }

    /// Orders that a Cassandra printed.
    #[test]
    fn hash_order_is_javas() {
        assert_eq!(hash_order(["nope", "other"]), ["other", "nope"]);
        assert_eq!(
            hash_order(["alpha", "beta", "gamma", "delta"]),
            ["alpha", "delta", "beta", "gamma"]
        );
    }

    #[test]
    fn sizes_are_read_and_shown() {
        assert_eq!(parse_size("1.5GiB"), Some(1.5 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(parse_size("0B"), Some(0.0));
        assert_eq!(parse_size("100"), None);
        assert_eq!(memory_text(1024.0 * 1024.0 * 1024.0 * 0.5f64.sqrt()), "724.077MiB");
    }
}
