//! Relations one by one and two together (sheet A.2; recorded answers `where-typing`).

use super::support::{Fixture, check};

fn fixture() -> Fixture {
    Fixture::new(&[(
        "t",
        "k int pk; c1 int ck; c2 text ck; c3 int ck; s int static; v int; x text; l list<int>; st set<text>; m map<text, int>; fl frozen<list<int>>; fm frozen<map<text, int>>; un u; uf frozen<u>; tp tuple<int, text>; du duration; ld frozen<list<duration>>; td tuple<int, duration>; udf frozen<ud>; vd vector<duration, 2>; Mix int",
    )])
}

#[test]
fn operators_that_where_does_not_have() {
    check(
        &fixture(),
        &[
            ("SELECT k FROM t WHERE k != 1", "Unsupported \"!=\" relation: k != 1"),
            ("SELECT k FROM t WHERE nope != null", "Unsupported \"!=\" relation: nope != NULL"),
            ("SELECT k FROM t WHERE \"Mix\" != ?", "Unsupported \"!=\" relation: \"Mix\" != ?"),
            ("SELECT k FROM t WHERE m['a'] != 3", "Unsupported \"!=\" relation: m['a'] != 3"),
            (
                "SELECT k FROM t WHERE (c1, c2) != (1, 'a')",
                "Unsupported \"!=\" relation: (c1, c2) != (1, 'a')",
            ),
            ("SELECT k FROM t WHERE token(k) != 1", "Unsupported \"!=\" relation: token(k) != 1"),
            (
                "SELECT k FROM t WHERE \"Mix\" IS NOT NULL",
                "Unsupported restriction: \"Mix\" IS NOT NULL",
            ),
            (
                "SELECT k FROM t WHERE x LIKE 'x%'",
                "LIKE restriction is only supported on properly indexed columns. x LIKE 'x%' is not valid.",
            ),
            (
                "SELECT k FROM t WHERE v LIKE 'x%'",
                "Invalid STRING constant (x%) for \"v\" of type int",
            ),
            (
                "SELECT k FROM t WHERE l LIKE 'a'",
                "Collection column 'l' (list<int>) cannot be restricted by a 'LIKE' relation",
            ),
            (
                "SELECT k FROM t WHERE expr(idx, 'x')",
                "Invalid index expression, index idx not found for ks.t",
            ),
            (
                "SELECT k FROM t WHERE expr(idx, 'x') AND nope = 1",
                "Undefined column name nope in table ks.t",
            ),
            (
                "SELECT k FROM t WHERE expr(a, 'x') AND expr(b, 'x')",
                "Multiple custom index expressions in a single query are not supported",
            ),
            (
                "DELETE FROM t WHERE nope = 1 AND expr(idx, 'x')",
                "Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements",
            ),
        ],
    );
}

#[test]
fn collections_and_their_parts() {
    check(
        &fixture(),
        &[
            (
                "SELECT k FROM t WHERE v CONTAINS 1",
                "Cannot use CONTAINS on non-collection column v",
            ),
            (
                "SELECT k FROM t WHERE un CONTAINS 1",
                "Cannot use CONTAINS on non-collection column un",
            ),
            (
                "SELECT k FROM t WHERE vd CONTAINS 1",
                "Cannot use CONTAINS on non-collection column vd",
            ),
            (
                "SELECT k FROM t WHERE l CONTAINS KEY 1",
                "Cannot use CONTAINS KEY on non-map column l",
            ),
            (
                "SELECT k FROM t WHERE l CONTAINS 'a'",
                "Invalid STRING constant (a) for \"value(l)\" of type int",
            ),
            (
                "SELECT k FROM t WHERE m CONTAINS KEY 1",
                "Invalid INTEGER constant (1) for \"key(m)\" of type text",
            ),
            (
                "SELECT k FROM t WHERE m['a'] = 'b'",
                "Invalid STRING constant (b) for \"value(m)\" of type int",
            ),
            ("DELETE FROM t WHERE k = 1 AND v CONTAINS 1", "Cannot use DELETE with CONTAINS"),
            (
                "UPDATE t SET v = 1 WHERE k = 1 AND m CONTAINS KEY 'a'",
                "Cannot use UPDATE with CONTAINS KEY",
            ),
            (
                "SELECT k FROM t WHERE l[0] = 1",
                "Indexes on list entries (l[index] = value) are not currently supported.",
            ),
            (
                "SELECT k FROM t WHERE fl[0] = 1",
                "Indexes on list entries (fl[index] = value) are not currently supported.",
            ),
            ("SELECT k FROM t WHERE st['p'] = 1", "Column st cannot be used as a map"),
            ("SELECT k FROM t WHERE un['a'] = 1", "Column un cannot be used as a map"),
            (
                "SELECT k FROM t WHERE fm['a'] = 1",
                "Map-entry equality predicates on frozen map column fm are not supported",
            ),
            ("SELECT k FROM t WHERE m['a'] > 1", "Only EQ relations are supported on map entries"),
            (
                "SELECT k FROM t WHERE l = [1]",
                "Collection column 'l' (list<int>) cannot be restricted by a '=' relation",
            ),
            (
                "SELECT k FROM t WHERE st IN ({'p'})",
                "Collection column 'st' (set<text>) cannot be restricted by a 'IN' relation",
            ),
            (
                "SELECT k FROM t WHERE m >= {'a': 1}",
                "Collection column 'm' (map<text, int>) cannot be restricted by a '>=' relation",
            ),
            (
                "SELECT k FROM t WHERE un = {a: 1}",
                "Non-frozen UDT column 'un' (u) cannot be restricted by any relation",
            ),
            (
                "SELECT k FROM t WHERE du > 1d",
                "Slice restrictions are not supported on duration columns",
            ),
            (
                "SELECT k FROM t WHERE ld > [1d]",
                "Slice restrictions are not supported on collections containing durations",
            ),
            (
                "SELECT k FROM t WHERE td < (1, 1d)",
                "Slice restrictions are not supported on tuples containing durations",
            ),
            (
                "SELECT k FROM t WHERE udf >= {d: 1d}",
                "Slice restrictions are not supported on UDTs containing durations",
            ),
        ],
    );
}

#[test]
fn tuples() {
    let clustering =
        "Multi-column relations can only be applied to clustering columns but was applied to: ";
    let order =
        "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: ";
    check(
        &fixture(),
        &[
            ("SELECT k FROM t WHERE (k, c1) = (1, 1)", &format!("{clustering}k")),
            ("SELECT k FROM t WHERE (c1, v) = (1, 1)", &format!("{clustering}v")),
            ("SELECT k FROM t WHERE (s) = (1)", &format!("{clustering}s")),
            (
                "SELECT k FROM t WHERE (c1, c1) = (1, 1)",
                "Column \"c1\" appeared twice in a relation: (c1, c1) = (1, 1)",
            ),
            ("SELECT k FROM t WHERE (c1, c3) = (1, 1)", &format!("{order}(c1, c3) = (1, 1)")),
            (
                "SELECT k FROM t WHERE (c2, c1) IN (('a', 1))",
                &format!("{order}(c2, c1) IN (('a', 1))"),
            ),
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) = (1)",
                "Expected 2 elements in value tuple, but got 1: (1)",
            ),
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) IN ((1, 'a'), (1, 'a', 3))",
                "Expected 2 elements in value tuple, but got 3: (1, 'a', 3)",
            ),
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) = (1, 2)",
                "Invalid INTEGER constant (2) for \"c2\" of type text",
            ),
        ],
    );
}

#[test]
fn two_relations_on_a_column() {
    let equal = |names: &str| {
        format!("{names} cannot be restricted by more than one relation if it includes an Equal")
    };
    let among = |names: &str| {
        format!("{names} cannot be restricted by more than one relation if it includes a IN")
    };
    let both = |names: &str| {
        format!(
            "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
        )
    };
    let apart = |name: &str| {
        format!(
            "Column \"{name}\" cannot be restricted by two inequalities not starting with the same column"
        )
    };
    let start =
        |names: &str| format!("More than one restriction was found for the start bound on {names}");
    let end =
        |names: &str| format!("More than one restriction was found for the end bound on {names}");
    check(
        &fixture(),
        &[
            ("SELECT k FROM t WHERE k = 1 AND k IN (1, 2)", &equal("k")),
            ("SELECT k FROM t WHERE k IN (1, 2) AND k = 1", &among("k")),
            ("SELECT k FROM t WHERE k IN (1) AND k = 1", &equal("k")),
            ("SELECT k FROM t WHERE k > 1 AND k IN (1, 2)", &both("k")),
            ("SELECT k FROM t WHERE \"Mix\" > 5 AND \"Mix\" = 6", &both("Mix")),
            ("SELECT k FROM t WHERE c1 > 1 AND c1 >= 2", &start("c1")),
            ("SELECT k FROM t WHERE c1 > 0 AND c1 <= 2 AND c1 < 5", &end("c1")),
            (
                "SELECT k FROM t WHERE fl CONTAINS 1 AND fl = [1]",
                "Collection column fl can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality",
            ),
            ("SELECT k FROM t WHERE fl = [1] AND fl CONTAINS 1", &equal("fl")),
            ("SELECT k FROM t WHERE fl > [1] AND fl CONTAINS 1", &both("fl")),
            ("SELECT k FROM t WHERE k = 1 AND (c1, c2) = (1, 'a') AND c1 = 1", &equal("c1")),
            ("SELECT k FROM t WHERE k = 1 AND c1 = 1 AND (c1) > (0)", &equal("c1")),
            // The order of several names is that of a hash set; recorded as this.
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) = (1, 'a') AND (c1, c2) = (1, 'a')",
                &equal("c2 ,c1"),
            ),
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) IN ((1, 'a'), (2, 'b')) AND c1 > 0",
                &among("c1"),
            ),
            ("SELECT k FROM t WHERE k = 1 AND (c1, c2) > (0, 'a') AND (c1) > (1)", &start("c1")),
            ("SELECT k FROM t WHERE k = 1 AND (c1, c2) > (0, 'a') AND (c2) < ('z')", &apart("c2")),
            ("SELECT k FROM t WHERE k = 1 AND (c1, c2) > (0, 'a') AND c2 < 'z'", &apart("c2")),
            (
                "SELECT k FROM t WHERE k = 1 AND c1 > 0 AND (c1, c2) < (2, 'b')",
                "keys 1; [+0 .. -2,'b']",
            ),
            (
                "SELECT k FROM t WHERE k = 1 AND (c1, c2) > (0, 'a') AND c1 < 2",
                "keys 1; [+0,'a' .. -2]",
            ),
        ],
    );
}

#[test]
fn the_first_fault_in_the_text_is_told() {
    check(
        &fixture(),
        &[
            (
                "SELECT k FROM t WHERE k = 1 AND k = 2 AND nope = 1",
                "k cannot be restricted by more than one relation if it includes an Equal",
            ),
            (
                "SELECT k FROM t WHERE nope = 1 AND k = 1 AND k = 2",
                "Undefined column name nope in table ks.t",
            ),
            ("SELECT k FROM t WHERE \"No\" = 1", "Undefined column name \"No\" in table ks.t"),
            ("SELECT k FROM t WHERE k != 1 AND k = 'x'", "Unsupported \"!=\" relation: k != 1"),
            (
                "SELECT k FROM t WHERE k = 'x' AND k != 1",
                "Invalid STRING constant (x) for \"k\" of type int",
            ),
        ],
    );
}
