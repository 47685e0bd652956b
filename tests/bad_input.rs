//! Any input gets an answer: an error with a text, never a panic.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cassling::{Cluster, Error, Session, Value};
use cassling_engine::sim::rng::Rng;

fn session() -> Session {
    let session = Cluster::builder().build().unwrap().connect();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "USE k",
        "CREATE TYPE u (x int, y text)",
        "CREATE TABLE t (a int, b text, s int static, v blob, l list<int>, m map<text, int>, z frozen<u>, PRIMARY KEY (a, b))",
        "INSERT INTO t (a, b, s, v, l, m, z) VALUES (1, 'x', 2, 0xff, [1, 2], {'k': 3}, {x: 1, y: 'z'})",
    ] {
        session.execute(text, ()).unwrap();
    }
    session
}

/// Statements of every kind, to be broken.
const SEEDS: &[&str] = &[
    "SELECT a, b, s, writetime(v), m['k'], cast(a AS text) FROM k.t WHERE a = 1 AND b > 'x' ORDER BY b DESC LIMIT 5",
    "SELECT DISTINCT a, s FROM t WHERE token(a) > -9223372036854775808 AND token(a) <= 99 ALLOW FILTERING",
    "SELECT count(*), max(a) AS m FROM t WHERE a IN (1, 2, 3) GROUP BY a PER PARTITION LIMIT 2",
    "INSERT INTO t (a, b, l, m, z) VALUES (-1, 'it''s', [1, 2], {'x': 1}, {x: 1, y: $$z$$}) USING TTL 10 AND TIMESTAMP 5",
    "UPDATE t USING TIMESTAMP 9 SET v = 0x00ff, l = l + [7], m['q'] = 1, m = m - {'x'} WHERE a = 1 AND b = 'x'",
    "DELETE l[0], m['k'] FROM t WHERE a = 1 AND b = 'x' IF EXISTS",
    "DELETE FROM t WHERE a = 1 AND (b) >= ('a')",
    "BEGIN UNLOGGED BATCH INSERT INTO t (a, b) VALUES (7, 'q'); DELETE FROM t WHERE a = 7; APPLY BATCH",
    "CREATE TABLE IF NOT EXISTS x (a int, b frozen<map<text, list<int>>>, PRIMARY KEY ((a), b)) WITH CLUSTERING ORDER BY (b DESC) AND gc_grace_seconds = 5",
    "ALTER TABLE t ADD (w tuple<int, text>, q vector<float, 3>)",
    "SELECT -a + 2 * 3 % 4 - 1e10, 'x' = b, 2026-01-01, P1Y2DT3H, 99051fe9-6a9c-46c2-b949-38ef78858dd0 FROM t",
    "CREATE TYPE IF NOT EXISTS y (a int, b set<frozen<u>>)",
];

/// Pieces that break things in interesting places.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "$$",
    "/*",
    "--",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "?",
    ":x",
    "0x",
    "-",
    "1e999",
    "NaN",
    "null",
    "99999999999999999999999999",
    "é",
    "\u{1f600}",
    "\0",
    "token(",
    "IN ()",
    "WHERE",
    "AND",
    "frozen<",
    ">",
    "USING TTL",
];

fn up_to(rng: &mut Rng, bound: usize) -> usize {
    (rng.next_u64() % bound as u64) as usize
}

fn mutated(rng: &mut Rng) -> String {
    let mut text = SEEDS[up_to(rng, SEEDS.len())].to_string();
    for _ in 0..=up_to(rng, 4) {
        let at = text.floor_char_boundary(up_to(rng, text.len() + 1));
        let end = text.ceil_char_boundary((at + up_to(rng, 8)).min(text.len()));
        match up_to(rng, 5) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, PIECES[up_to(rng, PIECES.len())]),
            2 => text.replace_range(at..end, PIECES[up_to(rng, PIECES.len())]),
            3 => text.truncate(at),
            _ => {
                let other = SEEDS[up_to(rng, SEEDS.len())];
                let from = other.floor_char_boundary(up_to(rng, other.len()));
                text.truncate(at);
                text.push_str(&other[from..]);
            }
        }
    }
    text
}

/// An error has a text, and its place lies inside the statement.
fn sound(text: &str, answer: Result<cassling::QueryResult, Error>) {
    if let Err(error) = answer {
        assert!(!error.to_string().is_empty(), "{text}");
        if let Some(span) = error.span {
            assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {text:?}");
        }
    }
}

#[test]
fn broken_statements_never_panic() {
    let session = session();
    let mut rng = Rng::new(20_261_201);
    for _ in 0..20_000 {
        let text = mutated(&mut rng);
        sound(&text, session.execute(text.as_str(), ()));
    }
}

#[test]
fn random_text_never_panics() {
    let session = session();
    let mut rng = Rng::new(7);
    for _ in 0..20_000 {
        let len = up_to(&mut rng, 60);
        let bytes: Vec<u8> = (0..len).map(|_| rng.next_u64() as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        sound(&text, session.execute(text.as_str(), ()));
    }
}

/// Values of any length and content for a marker of any type.
#[test]
fn random_bytes_for_markers_never_panic() {
    use cassling::script::{Runner, Script};
    let session = session();
    let mut rng = Rng::new(11);
    for _ in 0..2_000 {
        let mut binds = Vec::new();
        for _ in 0..7 {
            let len = up_to(&mut rng, 20);
            let hex: String = (0..len).map(|_| format!("{:02x}", rng.next_u64() as u8)).collect();
            binds.push(format!("\"{hex}\""));
        }
        let text = format!(
            "-- @bind [{}]\nINSERT INTO k.t (a, b, s, v, l, m, z) VALUES (?, ?, ?, ?, ?, ?, ?);\nSELECT * FROM k.t;\n",
            binds.join(", ")
        );
        let script = Script::parse("bind", &text).unwrap();
        Runner::new(session.cluster()).run(&script, |_| ()).unwrap();
    }
}

#[test]
fn a_statement_of_10_mb_works() {
    let session = session();
    let text = format!("INSERT INTO t (a, b, v) VALUES (5, 'big', 0x{})", "ab".repeat(5_000_000));
    session.execute(text.as_str(), ()).unwrap();
    let read = session.execute("SELECT v FROM t WHERE a = 5", ()).unwrap();
    assert_eq!(read.single_row::<(Vec<u8>,)>().unwrap().0.len(), 5_000_000);
    let blanks = format!("SELECT{}a FROM t", " ".repeat(10_000_000));
    session.execute(blanks.as_str(), ()).unwrap();
    let broken = format!("SELECT a FROM t WHERE b = '{}", "x".repeat(10_000_000));
    assert_eq!(session.execute(broken.as_str(), ()).unwrap_err().code() as u16, 0x2000);
}

/// What nests, `depth` levels of it.
fn nested(depth: usize) -> Vec<String> {
    let (open, close) = ("[".repeat(depth), "]".repeat(depth));
    let types = format!("{}int{}", "frozen<list<".repeat(depth), ">>".repeat(depth));
    vec![
        format!("SELECT a FROM t WHERE a = {}1", "(int)".repeat(depth)),
        format!("CREATE TABLE n{depth} (a int PRIMARY KEY, l {types})"),
        format!("INSERT INTO n{depth} (a, l) VALUES (1, {open}1{close})"),
    ]
}

#[test]
fn a_hundred_levels_work() {
    let session = session();
    for text in nested(100) {
        if let Err(error) = session.execute(text.as_str(), ()) {
            let text: String = text.chars().take(60).collect();
            panic!("{text}: {error}");
        }
    }
}

#[test]
fn ten_thousand_levels_are_refused() {
    let session = session();
    for text in nested(10_000) {
        let error = session.execute(text.as_str(), ()).unwrap_err();
        let start: String = text.chars().take(60).collect();
        assert_eq!(error.code() as u16, 0x0000, "{start}: {error}");
        assert!(error.to_string().contains("nest"), "{start}: {error}");
    }
}

#[test]
fn a_mutation_over_16_mib_is_refused() {
    let session = session();
    let insert = session.prepare("INSERT INTO t (a, b, v) VALUES (6, 'x', ?)").unwrap();
    session.execute(&insert, (Value::Blob(vec![0; 15 << 20]),)).unwrap();
    let error = session.execute(&insert, (Value::Blob(vec![0; 17 << 20]),)).unwrap_err();
    assert!(error.to_string().starts_with("Rejected an oversized mutation ("), "{error}");
}

#[test]
fn keys_over_64_kib_are_refused() {
    let session = session();
    session.execute("CREATE TABLE w (a text, b text, PRIMARY KEY (a, b))", ()).unwrap();
    let (short, long) = ("x".repeat(65_535), "x".repeat(65_536));
    session.execute("INSERT INTO w (a, b) VALUES (?, 'x')", (short.as_str(),)).unwrap();
    // Cassandra says so of a clustering column as well.
    for values in [(long.as_str(), "x"), ("x", long.as_str())] {
        let error = session.execute("INSERT INTO w (a, b) VALUES (?, ?)", values).unwrap_err();
        let text = "Key length of 65536 is longer than maximum of 65535";
        assert_eq!((error.code() as u16, error.to_string().as_str()), (0x2200, text));
    }
}

#[test]
fn integers_out_of_range_are_refused() {
    let session = session();
    for text in [
        "SELECT a FROM t WHERE a = 2147483648",
        "SELECT a FROM t LIMIT 2147483648",
        "SELECT a FROM t LIMIT -1",
        "INSERT INTO t (a, b) VALUES (-2147483649, 'x')",
        "INSERT INTO t (a, b) VALUES (1, 'x') USING TTL 630720001",
        "INSERT INTO t (a, b) VALUES (1, 'x') USING TTL 99999999999999999999",
        "INSERT INTO t (a, b) VALUES (1, 'x') USING TIMESTAMP 9223372036854775808",
        "SELECT a FROM t WHERE token(a) > 9223372036854775808",
        "CREATE TABLE v (a int PRIMARY KEY, f vector<float, 99999999999>)",
        "UPDATE t SET l[99999999999] = 1 WHERE a = 1 AND b = 'x'",
    ] {
        let error = session.execute(text, ()).unwrap_err();
        let code = error.code() as u16;
        assert!([0x2000, 0x2200].contains(&code), "{text}: {code:04x} {error}");
    }
}
