//! IN and slices as rows and physical slices (sheet A.4; recorded answers `in-and-slices` and `null-unset-empty`).

use super::support::{Fixture, check, int};
use cassling::analysis::terms::BindValue;

fn fixture() -> Fixture {
    Fixture::new(&[
        ("up", "k int pk; c int ck; d int ck; v int"),
        ("down", "k int pk; c int desc; d int desc; v int"),
        ("ud", "k int pk; c int ck; d int desc; v int"),
        ("du", "k int pk; c int desc; d int ck; v int"),
        ("dud", "k int pk; a int desc; b int ck; c int desc"),
        ("text", "k text pk; c text ck; v int"),
        ("dec", "k decimal pk; c decimal ck"),
        ("pair", "a text pk; b text pk; v int"),
    ])
}

#[test]
fn rows_are_sorted_and_once() {
    check(
        &fixture(),
        &[
            (
                "SELECT * FROM up WHERE k IN (3, 1, 3) AND c IN (2, 1) AND d IN (1)",
                "keys 1 3; rows 1,1 2,1",
            ),
            (
                "SELECT * FROM up WHERE k = 1 AND (c, d) IN ((3, 1), (1, 2), (1, 2))",
                "keys 1; rows 1,2 3,1",
            ),
            (
                "SELECT * FROM up WHERE k = 1 AND (c) IN ((3), (1)) AND d = 1",
                "keys 1; rows 1,1 3,1",
            ),
            (
                "SELECT * FROM ud WHERE k = 1 AND c IN (2, 1) AND d IN (1, 3)",
                "keys 1; rows 1,3 1,1 2,3 2,1",
            ),
            ("SELECT * FROM up WHERE k = 1 AND c IN () AND d = 1", "keys 1; rows"),
            ("SELECT * FROM up WHERE k = 1 AND (c, d) IN ()", "keys 1; rows"),
            // -1.0 and 1.0, 1.00: equal values are one, the one written first.
            (
                "SELECT * FROM dec WHERE k IN (1.0, -1.0, 1.00) AND c = 1.0",
                "keys 00000001f6 000000010a; rows 000000010a",
            ),
        ],
    );
}

#[test]
fn one_direction_is_one_slice() {
    check(
        &fixture(),
        &[
            ("SELECT * FROM up WHERE k = 1 AND c = 2", "keys 1; [-2 .. +2]"),
            ("SELECT * FROM up WHERE k = 1 AND c IN (3, 1)", "keys 1; [-1 .. +1] [-3 .. +3]"),
            ("SELECT * FROM up WHERE k = 1 AND c IN ()", "keys 1; no rows"),
            ("SELECT * FROM up WHERE k = 1 AND c > 1 AND c <= 3", "keys 1; [+1 .. +3]"),
            ("SELECT * FROM up WHERE k = 1 AND c > 1 AND c < 2", "keys 1; [+1 .. -2]"),
            ("SELECT * FROM up WHERE k = 1 AND c > 1 AND c <= 1", "keys 1; no rows"),
            (
                "SELECT * FROM up WHERE k = 1 AND c IN (3, 1, 3) AND d > 1",
                "keys 1; [+1,1 .. +1] [+3,1 .. +3]",
            ),
            (
                "SELECT * FROM up WHERE k = 1 AND (c, d) > (1, 2) AND (c) < (3)",
                "keys 1; [+1,2 .. -3]",
            ),
            ("SELECT * FROM up WHERE k = 1 AND c >= 2 AND (c, d) < (3, 2)", "keys 1; [-2 .. -3,2]"),
            (
                "SELECT * FROM up WHERE k = 1 AND (c, d) > (2, 1) AND (c, d) < (1, 9)",
                "keys 1; no rows",
            ),
            ("SELECT * FROM down WHERE k = 1 AND c > 1", "keys 1; [- .. -1]"),
            ("SELECT * FROM down WHERE k = 1 AND c >= 1 AND c < 3", "keys 1; [+3 .. +1]"),
            ("SELECT * FROM down WHERE k = 1 AND (c, d) <= (2, 1)", "keys 1; [-2,1 .. +]"),
            (
                "SELECT * FROM down WHERE k = 1 AND (c, d) >= (1, 2) AND (c) < (2)",
                "keys 1; [+2 .. +1,2]",
            ),
            ("SELECT * FROM ud WHERE k = 1 AND c = 1 AND d > 1", "keys 1; [-1 .. -1,1]"),
        ],
    );
}

/// Worked through by hand on the rows of the recordings.
#[test]
fn mixed_directions_are_several_slices() {
    check(
        &fixture(),
        &[
            ("SELECT * FROM ud WHERE k = 1 AND (c, d) > (1, 2)", "keys 1; [-1 .. -1,2] [+1 .. +]"),
            ("SELECT * FROM ud WHERE k = 1 AND (c, d) >= (1, 2)", "keys 1; [-1 .. +1,2] [+1 .. +]"),
            ("SELECT * FROM ud WHERE k = 1 AND (c, d) < (2, 2)", "keys 1; [- .. -2] [+2,2 .. +2]"),
            ("SELECT * FROM ud WHERE k = 1 AND (c, d) <= (2, 2)", "keys 1; [- .. -2] [-2,2 .. +2]"),
            (
                "SELECT * FROM ud WHERE k = 1 AND (c, d) > (1, 1) AND (c, d) < (2, 3)",
                "keys 1; [-1 .. -1,1] [+1 .. -2] [+2,3 .. +2]",
            ),
            (
                "SELECT * FROM ud WHERE k = 1 AND (c, d) > (1, 2) AND (c) <= (2)",
                "keys 1; [-1 .. -1,2] [+1 .. +2]",
            ),
            ("SELECT * FROM du WHERE k = 1 AND (c, d) > (1, 2)", "keys 1; [- .. -1] [+1,2 .. +1]"),
            ("SELECT * FROM du WHERE k = 1 AND (c, d) < (2, 2)", "keys 1; [-2 .. -2,2] [+2 .. +]"),
            (
                "SELECT * FROM dud WHERE k = 1 AND (a, b, c) > (1, 1, 1)",
                "keys 1; [- .. -1] [-1,1 .. -1,1,1] [+1,1 .. +1]",
            ),
            (
                "SELECT * FROM dud WHERE k = 1 AND (a, b, c) > (1, 1, 1) AND (a) < (2)",
                "keys 1; [+2 .. -1] [-1,1 .. -1,1,1] [+1,1 .. +1]",
            ),
            (
                "SELECT * FROM dud WHERE k = 1 AND a IN (2, 1) AND (b, c) >= (1, 2)",
                "keys 1; [-2,1 .. +2,1,2] [+2,1 .. +2] [-1,1 .. +1,1,2] [+1,1 .. +1]",
            ),
        ],
    );
}

#[test]
fn nulls_in_the_key() {
    let condition = |column: &str| format!("Invalid null value in condition for column {column}");
    check(
        &fixture(),
        &[
            ("SELECT * FROM up WHERE k = null", &condition("k")),
            ("SELECT * FROM up WHERE k IN (1, null)", &condition("k")),
            ("SELECT * FROM up WHERE k = 1 AND c = null", &condition("c")),
            ("SELECT * FROM up WHERE k = 1 AND c IN (null)", &condition("c")),
            ("SELECT * FROM up WHERE k IN () AND c = null", "nothing"),
            ("INSERT INTO up (k, c, d) VALUES (1, null, 1)", &condition("c")),
            (
                "SELECT * FROM up WHERE k = 1 AND (c, d) = (1, null)",
                "Invalid null value for column d",
            ),
            ("SELECT * FROM up WHERE k = 1 AND (c) IN ((null))", "Invalid null value for column c"),
            (
                "SELECT * FROM up WHERE k = 1 AND (c, d) IN ((1, null), (1, 2))",
                "Invalid null value in condition for columns: [c, d]",
            ),
            ("SELECT * FROM up WHERE k = 1 AND (c, d) > (1, null)", &condition("d")),
            // Null stands before every value, in whichever direction they run.
            ("SELECT * FROM up WHERE k = 1 AND c > null", "keys 1; [- .. +]"),
            ("SELECT * FROM up WHERE k = 1 AND c <= null", "keys 1; no rows"),
            (
                "SELECT * FROM up WHERE k = 1 AND c = 1 AND d >= null AND d < 5",
                "keys 1; [-1 .. -1,5]",
            ),
            ("SELECT * FROM down WHERE k = 1 AND c > null", "keys 1; no rows"),
            ("SELECT * FROM down WHERE k = 1 AND c < null", "keys 1; [- .. +]"),
            ("SELECT * FROM text WHERE k = ''", "Key may not be empty"),
            ("SELECT * FROM pair WHERE a = '' AND b = ''", "keys '',''; rows "),
            ("SELECT * FROM text WHERE k = 'K' AND c = ''", "keys 'K'; rows ''"),
        ],
    );
}

fn unset() -> BindValue<'static> {
    BindValue::Unset
}

/// Wire bytes of a list, each element with its length; `None` is null.
fn list(elements: &[Option<Vec<u8>>]) -> BindValue<'static> {
    let mut bytes = (elements.len() as u32).to_be_bytes().to_vec();
    for element in elements {
        bytes.extend(component(element.as_deref()));
    }
    BindValue::Bytes(bytes.into())
}

fn component(value: Option<&[u8]>) -> Vec<u8> {
    match value {
        None => (-1_i32).to_be_bytes().to_vec(),
        Some(value) => [&(value.len() as u32).to_be_bytes(), value].concat(),
    }
}

fn pair(c: i32, d: Option<i32>) -> Vec<u8> {
    let d = d.map(i32::to_be_bytes);
    let parts = [Some(c.to_be_bytes()), d].map(|part| component(part.as_ref().map(|p| &p[..])));
    parts.concat()
}

#[test]
fn bound_values() {
    let fixture = fixture();
    let bytes = |n: i32| Some(n.to_be_bytes().to_vec());
    let cases: Vec<(&str, Vec<BindValue>, &str)> = vec![
        ("SELECT * FROM up WHERE k = ?", vec![int(5)], "keys 5; [- .. +]"),
        ("SELECT * FROM up WHERE k = ?", vec![unset()], "Invalid unset value for column k"),
        (
            "SELECT * FROM up WHERE k = ?",
            vec![BindValue::Bytes(vec![].into())],
            "Key may not be empty",
        ),
        (
            "SELECT * FROM up WHERE k IN ?",
            vec![list(&[bytes(3), bytes(1), bytes(3)])],
            "keys 1 3; [- .. +]",
        ),
        ("SELECT * FROM up WHERE k IN ?", vec![list(&[])], "nothing"),
        ("SELECT * FROM up WHERE k IN ?", vec![BindValue::Null], "Invalid null value for column k"),
        ("SELECT * FROM up WHERE k IN ?", vec![unset()], "Invalid unset value for column k"),
        (
            "SELECT * FROM up WHERE k IN ?",
            vec![list(&[bytes(3), None])],
            "Invalid null value in condition for column k",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND c IN (?, ?)",
            vec![int(1), unset()],
            "Invalid unset value for column c",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND c > ?",
            vec![unset()],
            "Invalid unset value for column c",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) = (?, ?)",
            vec![int(1), unset()],
            "Invalid unset value for tuple field number 1",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) = ?",
            vec![BindValue::Bytes(pair(1, Some(2)).into())],
            "keys 1; rows 1,2",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) = ?",
            vec![BindValue::Bytes(pair(1, None).into())],
            "Invalid null value for column d",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) = ?",
            vec![unset()],
            "Invalid unset value for tuple (c,d)",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) IN ?",
            vec![list(&[Some(pair(2, Some(1))), Some(pair(1, Some(1)))])],
            "keys 1; rows 1,1 2,1",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) IN ?",
            vec![BindValue::Null],
            "Invalid null value for IN restriction",
        ),
        (
            "SELECT * FROM up WHERE k = 1 AND (c, d) IN ?",
            vec![unset()],
            "Invalid unset value for in(c,d)",
        ),
        (
            "SELECT * FROM up WHERE v = ? ALLOW FILTERING",
            vec![unset()],
            "Unsupported unset value for column v",
        ),
        (
            "SELECT * FROM up WHERE v IN (?, ?) ALLOW FILTERING",
            vec![int(7), unset()],
            "all; [- .. +]; v IN 7",
        ),
        (
            "SELECT * FROM up WHERE v IN ? ALLOW FILTERING",
            vec![BindValue::Null],
            "Invalid null value for column v",
        ),
        ("SELECT * FROM up WHERE token(k) > ?", vec![BindValue::Null], "Invalid null token value"),
    ];
    for (statement, values, expected) in cases {
        assert_eq!(fixture.ask(statement, &values), expected, "{statement} with {values:?}");
    }
}

#[test]
fn keys_have_a_longest() {
    let fixture = fixture();
    let text = |len: usize| BindValue::Bytes(vec![b'x'; len].into());
    let refused = |len: usize| format!("Key length of {len} is longer than maximum of 65535");
    let insert = "INSERT INTO text (k, c, v) VALUES (?, ?, 1)";
    assert_eq!(fixture.ask(insert, &[text(65_536), text(1)]), refused(65_536));
    assert_eq!(fixture.ask(insert, &[text(1), text(65_536)]), refused(65_536));
    assert!(fixture.ask(insert, &[text(65_535), text(65_535)]).starts_with("keys "));
    let read = "SELECT * FROM pair WHERE a = ? AND b = ?";
    assert_eq!(fixture.ask(read, &[text(65_000), text(536)]), refused(65_536));
    let read = "SELECT * FROM text WHERE k = 'k' AND c = ?";
    assert!(fixture.ask(read, &[text(70_000)]).starts_with("keys "));
}
