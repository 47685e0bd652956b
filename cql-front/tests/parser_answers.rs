//! Cassandra's recorded answers decide what is a syntax error and where.
//!
//! Of each record: our parser refuses with the same `line L:C` or the same check exactly if Cassandra did; whatever it
//! reads prints as CQL that reads as the same tree.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling::error::ErrorKind;
use cassling::error::syntax::SyntaxError;
use cassling::parser::parse;
use std::path::Path;

/// Refusals with code 0x2000 that Cassandra makes after parsing, when it looks at the options of a schema statement.
const AFTER_PARSING: [&str; 5] = [
    "Unknown property '",
    "Invalid value for property '",
    "Invalid integer value ",
    "Invalid double value ",
    "Invalid boolean value ",
];

struct Record {
    file: String,
    cql: String,
    /// Text of a 0x2000, unless it comes after parsing.
    syntax: Option<String>,
}

fn records() -> Vec<Record> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/answers");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut records = Vec::new();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "jsonl")) {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let Some(cql) = value["cql"].as_str() else { continue };
            let message = value["error"][1].as_str().unwrap_or_default();
            let is_syntax = value["error"][0].as_str() == Some("2000")
                && !AFTER_PARSING.iter().any(|start| message.starts_with(start));
            records.push(Record {
                file: path.file_stem().unwrap().to_string_lossy().into_owned(),
                cql: cql.to_string(),
                syntax: is_syntax.then(|| message.to_string()),
            });
        }
    }
    assert!(records.len() > 5_000, "only {} records", records.len());
    records
}

/// `line L:C` of a message, or the whole of a check.
fn place(message: &str) -> &str {
    if !message.starts_with("line ") {
        return message;
    }
    let words = message.match_indices(' ').nth(1).map_or(message.len(), |(at, _)| at);
    &message[..words]
}

#[test]
fn every_recorded_syntax_error_is_found_at_its_place_and_no_other() {
    let mut wrong = Vec::new();
    let mut syntax_errors = 0;
    for record in records() {
        let ours = match parse(&record.cql) {
            Ok(_) => None,
            Err(e) => match e.kind.as_ref() {
                ErrorKind::Syntax(SyntaxError::Unexpected { .. } | SyntaxError::Check(_)) => {
                    Some(e.to_string())
                }
                other => panic!("{}: {other:?}", record.cql),
            },
        };
        syntax_errors += usize::from(record.syntax.is_some());
        if ours.as_deref().map(place) != record.syntax.as_deref().map(place) {
            wrong.push(format!(
                "{}: {}\n  {:?}\n  {ours:?}",
                record.file, record.cql, record.syntax
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(syntax_errors > 300, "only {syntax_errors} syntax errors");
}

#[test]
fn what_is_printed_reads_as_the_same_tree() {
    let mut wrong = Vec::new();
    for record in records() {
        let Ok(first) = parse(&record.cql) else { continue };
        if matches!(first.statement, cassling::ast::Statement::Unsupported { .. }) {
            continue;
        }
        let printed = first.statement.to_string();
        match parse(&printed) {
            Ok(second) if bare(&first.statement) == bare(&second.statement) => {}
            Ok(_) => wrong.push(format!("{}\n  {printed}", record.cql)),
            Err(e) => wrong.push(format!("{}\n  {printed}\n  {e}", record.cql)),
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Statements broken for this test, each with what Cassandra 5.0.2 said of it: `line L:C`, a check, or `ok`.
#[test]
fn fresh_broken_statements_are_blamed_where_cassandra_blames_them() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parser_places.jsonl");
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(table).unwrap().lines() {
        let (cql, answer): (String, String) = serde_json::from_str(line).unwrap();
        let ours = parse(&cql).err().map_or("ok".to_string(), |e| e.to_string());
        if place(&ours) != answer {
            wrong.push(format!("{cql}\n  {answer}\n  {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A tree without its spans and without what quotes a name needed not have.
fn bare(statement: &cassling::ast::Statement) -> String {
    let text = format!("{statement:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    out.push_str(rest);
    out.replace("quoted: true", "quoted").replace("quoted: false", "quoted")
}
