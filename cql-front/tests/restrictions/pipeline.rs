//! What the key allows, in Cassandra's words: the worked examples of sheet A.3 and A.6 and the recorded answers
//! `restrictions`, `allow-filtering`, `where-typing` and `token-restrictions`.

use super::support::{Fixture, check};

const ALLOW_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

fn fixture() -> Fixture {
    Fixture::new(&[
        (
            "t",
            "a int pk; b int pk; c int ck; d int ck; e int ck; s int static; v int; w text; l list<int>; m map<text, int>",
        ),
        ("one", "k int pk; v int; w int"),
        ("q", "A int pk; b~c int pk; C int ck; d int ck; V int"),
        ("cc", "k frozen<list<int>> pk; c frozen<set<int>> ck; d frozen<map<int, int>> ck; v int"),
    ])
}

#[test]
fn the_partition_key_decides_first() {
    check(
        &fixture(),
        &[
            ("SELECT * FROM t", "all; [- .. +]"),
            ("SELECT * FROM t WHERE b = 1 AND a = 2", "keys 2,1; [- .. +]"),
            ("SELECT * FROM t WHERE a = 1", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE a = 1 ALLOW FILTERING", "all; [- .. +]; a = 1"),
            ("SELECT * FROM t WHERE a > 1 AND b = 1", ALLOW_FILTERING),
            (
                "SELECT * FROM t WHERE a > 1 AND b = 1 ALLOW FILTERING",
                "all; [- .. +]; a > 1 AND b = 1",
            ),
            ("SELECT * FROM t WHERE a = 1 AND b >= 1", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE a IN (1, 2)", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE a = 1 AND d = 1", ALLOW_FILTERING),
            (
                "SELECT * FROM t WHERE a IN (2, 1) AND b IN (3, 1, 3)",
                "keys 1,1 1,3 2,1 2,3; [- .. +]",
            ),
            ("SELECT * FROM t WHERE a = 1 AND b IN ()", "nothing"),
            ("SELECT * FROM t WHERE a = 1 AND b IN (2)", "keys 1,2; [- .. +]"),
            ("SELECT * FROM one WHERE k > 1", ALLOW_FILTERING),
            ("SELECT * FROM one WHERE k = 1", "keys 1; rows "),
            ("SELECT v FROM cc WHERE k CONTAINS 1", ALLOW_FILTERING),
            ("SELECT v FROM cc WHERE k CONTAINS 1 ALLOW FILTERING", "all; [- .. +]; k CONTAINS 1"),
        ],
    );
}

#[test]
fn clustering_columns_follow_one_another() {
    let gap = |column: &str, missing: &str| {
        format!(
            "PRIMARY KEY column \"{column}\" cannot be restricted as preceding column \"{missing}\" is not restricted"
        )
    };
    let after = |column: &str| {
        format!(
            "Clustering column \"{column}\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ relation)"
        )
    };
    let before = |column: &str| {
        format!(
            "PRIMARY KEY column \"{column}\" cannot be restricted (preceding column \"c\" is restricted by a non-EQ relation)"
        )
    };
    check(
        &fixture(),
        &[
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND d = 1", &gap("d", "c")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND e = 1", &gap("e", "c")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND c = 1 AND e = 1", &gap("e", "d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND (d, e) = (1, 1)", &gap("d", "c")),
            ("SELECT * FROM t WHERE d = 1", &gap("d", "c")),
            ("SELECT * FROM t WHERE v = 1 AND d = 1", &gap("d", "c")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND e > 1 AND c = 1", &gap("e", "d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND d = 1", &after("d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND e = 1", &after("e")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND (c, d) > (1, 1) AND e = 1", &after("e")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND (d, e) = (1, 1)", &after("d")),
            ("SELECT * FROM t WHERE a > 1 AND c > 1 AND d = 1", &after("d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND d = 1 AND c > 1", &before("d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND e = 1 AND c > 1", &before("e")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND e = 1 AND d = 1 AND c > 1", &before("d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND d > 1 AND c > 1", &before("d")),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND d > 1 AND c = 4", "keys 1,1; [+4,1 .. +4]"),
            (
                "SELECT * FROM q WHERE \"A\" = 1 AND \"b c\" = 1 AND \"C\" > 1 AND d = 1",
                "Clustering column \"d\" cannot be restricted (preceding column \"C\" is restricted by a non-EQ relation)",
            ),
        ],
    );
}

#[test]
fn what_the_key_does_not_serve_is_filtered() {
    check(
        &fixture(),
        &[
            ("SELECT * FROM t WHERE v = 10", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE a = 1 AND b = 1 AND s = 100", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE c = 1", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE (c, d) = (1, 1)", ALLOW_FILTERING),
            ("SELECT * FROM t WHERE token(a, b) > 0 AND c = 1", ALLOW_FILTERING),
            (
                "SELECT * FROM t WHERE w > 'x' AND v IN (3, 1) AND a = 2 AND d <= 5 ALLOW FILTERING",
                "all; [- .. +]; a = 2 AND d <= 5 AND v IN 3 1 AND w > 'x'",
            ),
            ("SELECT * FROM t WHERE c = 1 ALLOW FILTERING", "all; [-1 .. +1]"),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND c > 1 AND d > 5 AND d < 9 ALLOW FILTERING",
                "keys 1,1; [+1 .. +]; d > 5 AND d < 9",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND d = 5 AND c IN (2, 1) ALLOW FILTERING",
                "keys 1,1; [-1,5 .. +1,5] [-2,5 .. +2,5]",
            ),
            (
                "SELECT * FROM t WHERE a = 1 AND b = 1 AND e = 1 AND c = 2 ALLOW FILTERING",
                "keys 1,1; [-2 .. +2]; e = 1",
            ),
            (
                "SELECT * FROM t WHERE (d, e) = (2, 3) ALLOW FILTERING",
                "all; [- .. +]; d = 2 AND e = 3",
            ),
            ("SELECT * FROM t WHERE (d) IN ((2), (1)) ALLOW FILTERING", "all; [- .. +]; d IN 2 1"),
            (
                "SELECT * FROM t WHERE (d, e) IN ((2, 3), (1, 1)) ALLOW FILTERING",
                "Multicolumn IN filters are not supported",
            ),
            (
                "SELECT * FROM t WHERE (d) > (1) ALLOW FILTERING",
                "Multi-column slice restrictions cannot be used for filtering.",
            ),
            ("SELECT * FROM t WHERE (c, d) > (1, 1) ALLOW FILTERING", "all; [+1,1 .. +]"),
            (
                "SELECT * FROM t WHERE m['p'] = 1 AND m CONTAINS KEY 'q' AND m CONTAINS 2 AND l CONTAINS 3 ALLOW FILTERING",
                "all; [- .. +]; l CONTAINS 3 AND m CONTAINS 2 AND m CONTAINS KEY 'q' AND m['p'] = 1",
            ),
            ("SELECT * FROM t WHERE v IN () ALLOW FILTERING", "all; [- .. +]; v IN "),
            ("SELECT * FROM t WHERE v IN (1, null) ALLOW FILTERING", "all; [- .. +]; v IN 1"),
            (
                "SELECT * FROM t WHERE v IN (null) ALLOW FILTERING",
                "Unsupported null value for column v",
            ),
            (
                "SELECT * FROM t WHERE a > null ALLOW FILTERING",
                "Unsupported null value for column a",
            ),
            (
                "SELECT * FROM t WHERE m[null] = 1 ALLOW FILTERING",
                "Unsupported null map key for column m",
            ),
            (
                "SELECT * FROM t WHERE m['a'] = null ALLOW FILTERING",
                "Unsupported null map value for column m",
            ),
            (
                "SELECT v FROM cc WHERE k = [1, 2] AND c CONTAINS 3",
                "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering",
            ),
        ],
    );
}

#[test]
fn statics_want_no_clustering_columns() {
    check(
        &fixture(),
        &[
            (
                "SELECT a, s FROM t WHERE a = 1 AND b = 1 AND c = 1",
                "Cannot restrict clustering columns when selecting only static columns",
            ),
            ("SELECT s FROM t WHERE a = 1 AND c = 1", ALLOW_FILTERING),
            ("SELECT s, c FROM t WHERE a = 1 AND b = 1 AND c = 1", "keys 1,1; [-1 .. +1]"),
            ("SELECT a, b FROM t WHERE a = 1 AND b = 1 AND c = 1", "keys 1,1; [-1 .. +1]"),
            (
                "UPDATE t SET s = 5 WHERE a = 1 AND b = 1 AND c > 1",
                "Invalid restrictions on clustering columns since the UPDATE statement modifies only static columns",
            ),
            (
                "DELETE s FROM t WHERE a = 1 AND b = 1 AND c = 1 AND d = 1 AND e = 1",
                "Invalid restrictions on clustering columns since the DELETE statement modifies only static columns",
            ),
            ("UPDATE t SET s = 5 WHERE a = 1 AND b = 1", "keys 1,1; statics"),
            ("DELETE s FROM t WHERE a IN (2, 1) AND b = 1", "keys 1,1 2,1; statics"),
            ("INSERT INTO t (a, b, s) VALUES (1, 1, 1)", "keys 1,1; statics"),
            (
                "UPDATE t SET s = 5, v = 1 WHERE a = 1 AND b = 1",
                "Some clustering keys are missing: c, d, e",
            ),
        ],
    );
}

#[test]
fn modifications_want_the_key() {
    let slices =
        "Slice restrictions are not supported on the clustering columns in UPDATE statements";
    check(
        &fixture(),
        &[
            (
                "UPDATE t SET v = 1 WHERE a = 1 AND c = 1 AND d = 1",
                "Some partition key parts are missing: b",
            ),
            ("UPDATE t SET v = 1 WHERE v = 3", "Some partition key parts are missing: a, b"),
            (
                "UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND e = 1",
                "Some clustering keys are missing: c, d",
            ),
            ("UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND c > 1", slices),
            ("UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND (c, d, e) > (1, 1, 1)", slices),
            (
                "UPDATE t SET v = 1 WHERE a > 1 AND b = 1 AND c = 1 AND d = 1 AND e = 1",
                "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for UPDATE statements",
            ),
            (
                "UPDATE t SET v = 1 WHERE token(a, b) > 1",
                "The token function cannot be used in WHERE clauses for UPDATE statements",
            ),
            (
                "UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND c = 1 AND d = 1 AND e = 1 AND w = 'x' AND v = 3",
                "Non PRIMARY KEY columns found in where clause: v, w ",
            ),
            (
                "DELETE FROM t WHERE a = 1 AND b = 1 AND v = 1 AND s = 2",
                "Non PRIMARY KEY columns found in where clause: s, v ",
            ),
            ("DELETE FROM t WHERE b = 1 AND c = 1", "Some partition key parts are missing: a"),
            (
                "DELETE FROM t WHERE a = 1 AND b = 1 AND d = 1",
                "PRIMARY KEY column \"d\" cannot be restricted as preceding column \"c\" is not restricted",
            ),
            (
                "INSERT INTO t (a, c, d, e, v) VALUES (1, 1, 1, 1, 1)",
                "Some partition key parts are missing: b",
            ),
            ("INSERT INTO t (a, b) VALUES (1, 1)", "Some clustering keys are missing: c, d, e"),
            (
                "INSERT INTO t (a, b, c, s) VALUES (1, 1, 1, 1)",
                "Some clustering keys are missing: d, e",
            ),
            ("INSERT INTO t (e, d, c, b, a) VALUES (5, 4, 3, 2, 1)", "keys 1,2; rows 3,4,5"),
            ("UPDATE q SET \"V\" = 1 WHERE \"A\" = 1", "Some partition key parts are missing: b c"),
            (
                "UPDATE t SET v = 1 WHERE a IN (2, 1) AND b = 1 AND c = 1 AND d = 1 AND e IN (2, 1)",
                "keys 1,1 2,1; rows 1,1,1 1,1,2",
            ),
            (
                "UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND c = 7 AND (d, e) IN ((2, 2), (1, 1))",
                "keys 1,1; rows 7,1,1 7,2,2",
            ),
            (
                "UPDATE t SET v = 1 WHERE a = 1 AND b = 1 AND c IN () AND d = 1 AND e = 1",
                "keys 1,1; rows",
            ),
        ],
    );
}

#[test]
fn deletes_reach_as_far_as_their_where() {
    check(
        &fixture(),
        &[
            ("DELETE FROM t WHERE a = 1 AND b = 1", "keys 1,1; partition"),
            ("DELETE FROM t WHERE a = 1 AND b IN ()", "keys; partition"),
            ("DELETE FROM t WHERE a = 1 AND b = 1 AND c = 7", "keys 1,1; [-7 .. +7]"),
            ("DELETE FROM t WHERE a = 1 AND b = 1 AND (c, d) >= (6, 5)", "keys 1,1; [-6,5 .. +]"),
            (
                "DELETE FROM t WHERE a = 1 AND b = 1 AND c IN (3, 2) AND d IN (1) AND e < 2",
                "keys 1,1; [-2,1 .. -2,1,2] [-3,1 .. -3,1,2]",
            ),
            ("DELETE FROM t WHERE a = 1 AND b = 1 AND c > 5 AND c < 3", "keys 1,1; no rows"),
            (
                "DELETE FROM t WHERE a = 1 AND b = 1 AND c = 1 AND d = 1 AND e IN (9, 1)",
                "keys 1,1; rows 1,1,1 1,1,9",
            ),
            ("DELETE FROM one WHERE k = 1", "keys 1; partition"),
            ("DELETE v FROM one WHERE k IN (4, 1)", "keys 1 4; rows "),
        ],
    );
}

#[test]
fn token_takes_the_whole_key() {
    let some =
        "The token() function must be applied to all partition key components or none of them";
    check(
        &fixture(),
        &[
            ("SELECT * FROM t WHERE token(a) > 0", some),
            ("SELECT * FROM t WHERE token(a, a) > 0", some),
            ("SELECT * FROM t WHERE token(v) > 0", some),
            (
                "SELECT * FROM t WHERE token(a, b, a) > 0",
                "The token() function contains duplicate partition key components",
            ),
            (
                "SELECT * FROM t WHERE token(a, b, c) > 0",
                "The token() function must contains only partition key components",
            ),
            (
                "SELECT * FROM t WHERE token(b, a) > 0",
                "The token function arguments must be in the partition key order: a, b",
            ),
            ("SELECT * FROM t WHERE token(nope) > 0", "Undefined column name nope in table ks.t"),
            (
                "SELECT * FROM t WHERE token(a, b) = 1 AND token(a, b) > 1",
                "a, b cannot be restricted by more than one relation if it includes an Equal",
            ),
            (
                "SELECT * FROM t WHERE token(a, b) > 1 AND token(a, b) = 1",
                "Columns \"a, b\" cannot be restricted by both an equality and an inequality relation",
            ),
            (
                "SELECT * FROM t WHERE token(a, b) > 1 AND token(a, b) >= 1",
                "More than one restriction was found for the start bound on a, b",
            ),
            (
                "SELECT * FROM t WHERE token(a, b) < 1 AND token(a, b) < 1",
                "More than one restriction was found for the end bound on a, b",
            ),
            ("SELECT * FROM one WHERE token(k) > null", "Invalid null token value"),
        ],
    );
}

#[test]
fn token_ranges() {
    check(
        &fixture(),
        &[
            ("SELECT * FROM one WHERE token(k) > 5 AND token(k) <= 9", "tokens (5, 9]; rows "),
            ("SELECT * FROM one WHERE token(k) >= 5", "tokens [5, -); rows "),
            ("SELECT * FROM one WHERE token(k) < 5", "tokens (-, 5); rows "),
            ("SELECT * FROM one WHERE token(k) = 5", "tokens [5, 5]; rows "),
            ("SELECT * FROM one WHERE token(k) > 9 AND token(k) < 5", "nothing"),
            ("SELECT * FROM one WHERE token(k) >= 5 AND token(k) < 5", "nothing"),
            ("SELECT * FROM one WHERE token(k) < -9223372036854775808", "all; rows "),
            ("SELECT * FROM one WHERE token(k) = -9223372036854775808", "all; rows "),
            (
                "SELECT * FROM one WHERE token(k) > 0 AND token(k) <= -9223372036854775808",
                "tokens (0, -); rows ",
            ),
            // Tokens of 1, 2 and 3: -4069959284402364209, -3248873570005575792, 9010454139840013625.
            (
                "SELECT * FROM one WHERE k IN (3, 2, 1) AND token(k) > -4069959284402364209",
                "keys 2 3; rows ",
            ),
            ("SELECT * FROM one WHERE k = 2 AND token(k) = -3248873570005575792", "keys 2; rows "),
            ("SELECT * FROM one WHERE k = 1 AND token(k) > 0", "nothing"),
            // Beside keys the range goes round the ring, and the smallest token is itself.
            (
                "SELECT * FROM one WHERE k IN (1, 2, 3) AND token(k) > 9010454139840013625 AND token(k) < -3248873570005575792",
                "keys 1; rows ",
            ),
            (
                "SELECT * FROM one WHERE k IN (1, 2, 3) AND token(k) < -9223372036854775808",
                "nothing",
            ),
            (
                "SELECT * FROM one WHERE token(k) > 0 AND k > 1 ALLOW FILTERING",
                "tokens (0, -); rows ; k > 1",
            ),
            // A modification of whole keys may have it, too.
            ("DELETE FROM one WHERE k IN (1, 3) AND token(k) > 0", "keys 3; partition"),
        ],
    );
}

#[test]
fn refusals_point_at_the_relation() {
    let fixture = fixture();
    for (statement, blamed) in [
        ("SELECT * FROM t WHERE a = 1 AND b > 2", "b > 2"),
        ("SELECT * FROM t WHERE a = 1 AND b = 2 AND v = 3", "v = 3"),
        ("SELECT * FROM t WHERE c = 3", "c = 3"),
        ("SELECT * FROM t WHERE a = 1 AND b = 2 AND d = 4", "d = 4"),
        ("SELECT * FROM t WHERE a = 1 AND a = 2", "a = 2"),
        ("SELECT * FROM t WHERE a = 1 AND nope = 2", "nope"),
        ("SELECT * FROM t WHERE a = 1 AND b = null", "b = null"),
        ("UPDATE t SET v = 1 WHERE a = 1 AND b < 2", "b < 2"),
    ] {
        assert_eq!(fixture.blamed(statement), blamed, "{statement}");
    }
}
