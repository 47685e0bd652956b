//! Bound values: for each the bytes that Cassandra 5.0.2 kept, or its refusal.

use cassling_engine::types::codec;

mod types_support;
use types_support::{parse_type, unhex};

#[test]
fn bound_values_are_kept_or_refused_as_cassandra_does() {
    let mut wrong = Vec::new();
    for line in include_str!("data/bound_values.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [ty, hex, expected] = columns[..] else { panic!("three columns: {line}") };
        let (ty, bytes) = (parse_type(ty), unhex(hex));
        let got = codec::validate(&ty, &bytes).map(|()| codec::normalise(&ty, bytes.clone()));
        let right = match (expected.strip_prefix("error "), &got) {
            (Some(text), Err(error)) => match text.strip_prefix("0000 ") {
                // Texts of Java's own exceptions differ from run to run.
                Some(text) if !text.contains("MarshalException") => error.server_error,
                Some(text) => error.server_error && error.message == text,
                None => !error.server_error && error.message == text,
            },
            // A collection of no cells cannot be told from null.
            (None, Ok(kept)) if expected == "null" => *kept == [0; 4],
            (None, Ok(kept)) => *kept == unhex(expected),
            _ => false,
        };
        if !right {
            wrong.push(format!("{ty} {hex}\n  expected {expected}\n  got      {got:x?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
