//! Depth and size: deep statements work or are refused by name, long ones are read.

use cassling::error::session::SessionError;
use cassling::error::{Error, ErrorKind};
use cassling::parser::{NESTING_MAX, Parsed, parse};

/// Statements that nest `levels` deep, each in its own way.
fn deep(levels: usize) -> Vec<String> {
    let half = levels.div_ceil(2);
    let times = |n: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    let wrap = |open: &str, inner: &str, close: &str| times(levels, open, inner, close);
    vec![
        format!("SELECT {} FROM t", wrap("(", "a", ")")),
        format!("SELECT {} FROM t", wrap("f(", "a", ")")),
        format!("SELECT {} FROM t", wrap("- ", "a", "")),
        format!("SELECT {} FROM t", wrap("[", "a", "]")),
        format!("SELECT {} FROM t", wrap("{a: ", "a", "}")),
        format!("SELECT {} FROM t", times(half, "(int)(", "a", ")")),
        format!("SELECT {} FROM t", wrap("cast(", "a", " as int)")),
        format!("SELECT {} FROM t", wrap("", "a", " + a")),
        format!("SELECT {} FROM t", wrap("", "a", "[1]")),
        format!("SELECT {} FROM t", wrap("", "a", ".a")),
        format!("SELECT a FROM t WHERE {}", wrap("(", "a = 1", ")")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("(", "1", ")")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("[", "1", "]")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("{1: ", "1", "}")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("{a: ", "1", "}")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("(int)", "1", "")),
        format!("INSERT INTO t (a) VALUES ({})", wrap("", "1", " * 1")),
        format!("CREATE TABLE t (a {})", wrap("frozen<list<", "int", ">>")),
    ]
}

fn is_too_deep(read: &Result<Parsed, Error>) -> bool {
    let too_deep = ErrorKind::Session(SessionError::TooDeeplyNested { limit: NESTING_MAX });
    matches!(read, Err(e) if *e.kind == too_deep)
}

#[test]
fn a_hundred_levels_are_read_printed_and_dropped() {
    for text in deep(100) {
        let parsed = parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let printed = parsed.statement.to_string();
        assert_eq!(parse(&printed).unwrap().statement.to_string(), printed);
    }
}

#[test]
fn too_many_levels_are_refused_not_followed() {
    for levels in [NESTING_MAX + 1, 10_000, 50_000] {
        for text in deep(levels) {
            assert!(is_too_deep(&parse(&text)), "{}", &text[..60]);
        }
    }
}

#[test]
fn chains_in_parentheses_in_chains_are_one_depth() {
    let chain = |inner: &str| format!("({inner}{})", " + a".repeat(100));
    let mut text = "a".to_string();
    for _ in 0..5 {
        text = chain(&text);
    }
    assert!(is_too_deep(&parse(&format!("SELECT {text} FROM t"))));
}

#[test]
fn many_values_side_by_side_are_no_depth() {
    let items = vec!["1 + 1"; 10_000].join(", ");
    parse(&format!("SELECT a FROM t WHERE a IN ({items})")).unwrap();
    let batch = "INSERT INTO t (a) VALUES ((1 + 1)); ".repeat(10_000);
    parse(&format!("BEGIN BATCH {batch} APPLY BATCH")).unwrap();
}

#[test]
fn ten_megabytes_are_read() {
    let text = format!("INSERT INTO t (a) VALUES ('{}')", "x".repeat(10 << 20));
    parse(&text).unwrap();
    let text = format!("INSERT INTO t (a) VALUES ([{}1])", "1, ".repeat(1 << 20));
    parse(&text).unwrap();
}

/// What looks for duplicates does not compare each with each.
#[test]
fn a_hundred_thousand_names_are_read() {
    let names = |form: fn(usize) -> String| (0..100_000).map(form).collect::<Vec<_>>().join(", ");
    parse(&format!("UPDATE t SET {} WHERE k = 1", names(|n| format!("c{n} = 1")))).unwrap();
    parse(&format!("UPDATE t SET {} WHERE k = 1", names(|n| format!("m[{n}] = 1")))).unwrap();
    parse(&format!("INSERT INTO t (a) VALUES ({{{}}})", names(|n| format!("f{n}: 1")))).unwrap();
    parse(&format!("CREATE TABLE t (a int) WITH x = {{{}}}", names(|n| format!("'{n}': 1"))))
        .unwrap();
}

#[test]
fn markers_are_counted_in_the_order_of_the_text() {
    let parsed = parse("UPDATE t USING TTL ? SET a = :b WHERE k = ?").unwrap();
    let names: Vec<_> =
        parsed.markers.iter().map(|m| m.as_ref().map(|n| n.text.as_str())).collect();
    assert_eq!(names, [None, Some("b"), None]);
    // A reading that is taken back takes its markers back: JSON is a column here.
    assert_eq!(parse("SELECT json, f(?) FROM t").unwrap().markers.len(), 1);
    assert_eq!(parse("SELECT (int)(?) FROM t").unwrap().markers.len(), 1);
}
