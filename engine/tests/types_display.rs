//! Values as text, byte for byte as they were printed: by cqlsh 6.2.2 with default settings, and by
//! Cassandra 5.0.2 in its tombstone warnings, which repeat a query with its literals.

use cassling_engine::types::{display, float};

mod types_support;
use types_support::{literal_bytes, parse_type, unhex};

/// Calls `check` for each line of three columns and reports all that differ at once.
fn each_line(lines: &str, text_of: impl Fn(&str, &str) -> String) -> usize {
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [ty, value, expected] = columns[..] else { panic!("three columns: {line}") };
        let text = text_of(ty, value);
        if text != expected {
            wrong.push(format!("{ty} {value}\n  expected {expected:?}\n  got      {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    lines.lines().count()
}

#[test]
fn values_are_displayed_as_cqlsh_displays_them() {
    let lines = each_line(include_str!("data/cqlsh_display.tsv"), |ty, hex| {
        let bytes = (hex != "null").then(|| unhex(hex));
        display::cqlsh(&parse_type(ty), bytes.as_deref())
    });
    assert!(lines > 400);
}

#[test]
fn literals_are_written_as_cassandra_writes_them() {
    let lines = each_line(include_str!("data/cql_literals.tsv"), |ty, value| {
        let ty = parse_type(ty);
        let bytes = match value.strip_prefix("hex ") {
            Some(hex) => Some(unhex(hex)),
            None => literal_bytes(&ty, value).unwrap(),
        };
        display::literal(&ty, bytes.as_deref())
    });
    assert!(lines > 80);
}

#[test]
fn floats_have_the_digits_that_java_gives_them() {
    let lines = each_line(include_str!("data/java_floats.tsv"), |ty, hex| {
        let bits = u64::from_str_radix(hex, 16).unwrap();
        match ty {
            "double" => float::double_text(f64::from_bits(bits)),
            _ => float::float_text(f32::from_bits(bits as u32)),
        }
    });
    assert!(lines > 1000);
}
