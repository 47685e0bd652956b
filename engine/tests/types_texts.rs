//! Texts of literals: the bytes or the refusal that Cassandra 5.0.2 gave for each, most of them at the edge of
//! what a type accepts. A refusal that was a fault of Cassandra's own (0000) only asks for one of ours.

use cassling_engine::types::text;

mod types_support;
use types_support::{parse_type, unhex};

#[test]
fn literal_texts_are_read_as_cassandra_reads_them() {
    let mut wrong = Vec::new();
    for line in include_str!("data/literal_texts.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [ty, literal, expected] = columns[..] else { panic!("three columns: {line}") };
        let literal = literal.strip_prefix("0x").filter(|_| ty == "blob").unwrap_or(literal);
        let got = text::parse(&parse_type(ty), literal, 0);
        let right = match (expected.strip_prefix("error "), &got) {
            (Some(text), Err(error)) => match text.strip_prefix("0000 ") {
                Some(_) => error.server_error,
                None => !error.server_error && error.message == text,
            },
            (None, Ok(bytes)) => *bytes == unhex(expected),
            _ => false,
        };
        if !right {
            wrong.push(format!("{ty} {literal:?}\n  expected {expected}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
