//! Replays recorded scripts in process and compares each answer with Cassandra's.
//!
//! `tests/answers/NAME.cql` was run against a real Cassandra 5.0.2, statement by statement; `NAME.jsonl` holds what it
//! answered (`tests/oracle/ask`). What must be the same is what `tests/oracle/compare` compares: code, message and fields
//! of an error; columns, types and rows (only their shape where the record says volatile); whether more pages follow;
//! warnings; of a trace the lines that tell what was read.
//!
//! `tests/differs.tsv` lists what is known to differ, and why. A listed difference that has vanished is as wrong as one
//! that is not listed.

use cassling::script::run::Event;
use cassling::script::split::ScriptError;
use cassling::script::{Runner, Script};
use cassling::{Cluster, ClusterBuilder};
use cassling_engine::node::background::BackgroundMode;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folder of the recordings.
pub fn answers_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("answers")
}

/// How a replayed statement compares with its record.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The same in all that is compared.
    Same,
    /// Different: what was wanted and what came, reduced to what is compared.
    Different {
        /// Cassandra's.
        wanted: Json,
        /// Ours.
        got: Json,
        /// Ours is 0000 `cassling does not support ...`: what it is that we do not support.
        unsupported: Option<String>,
    },
}

impl Verdict {
    /// What we said we do not support, if we did.
    pub fn unsupported(&self) -> Option<&str> {
        match self {
            Verdict::Different { unsupported, .. } => unsupported.as_deref(),
            Verdict::Same => None,
        }
    }
}

/// A replayed script.
#[derive(Debug)]
pub struct Replay {
    /// Name without ending.
    pub name: String,
    /// Each recorded statement's number (from 1), text and verdict.
    pub statements: Vec<(usize, String, Verdict)>,
    /// Why the script could not be run at all, if it could not.
    pub stopped: Option<ScriptError>,
}

impl Replay {
    /// Number of statements answered the same.
    pub fn same(&self) -> usize {
        self.statements.iter().filter(|(_, _, verdict)| *verdict == Verdict::Same).count()
    }

    /// Number of statements that we say we do not support.
    pub fn unsupported(&self) -> usize {
        self.statements.iter().filter(|(_, _, verdict)| verdict.unsupported().is_some()).count()
    }
}

/// Names of all recordings, sorted.
pub fn recordings() -> Vec<String> {
    let entries = std::fs::read_dir(answers_dir()).expect("tests/answers is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let is_record = path.extension().is_some_and(|e| e == "jsonl");
            is_record
                .then(|| path.file_stem().expect("it has a name").to_string_lossy().into_owned())
        })
        .collect();
    names.sort();
    names
}

/// The cluster that recordings were made on (contracts.md 1), which compacts after flushes.
pub fn recording_cluster() -> ClusterBuilder {
    Cluster::builder().name("oracle").background(BackgroundMode::Inline)
}

/// Replays one recording on a fresh cluster.
pub fn replay(name: &str, builder: ClusterBuilder) -> Replay {
    replay_comparing(name, builder, true, None)
}

/// As [`replay`], without comparing what a flush or compaction after each statement must change: which files were
/// read and how many there are.
pub fn replay_answers(name: &str, builder: ClusterBuilder) -> Replay {
    replay_comparing(name, builder, false, None)
}

/// As [`replay`], with the cluster closed and opened again after every so many statements.
/// Requires: `builder` keeps it on something that can be opened again.
pub fn replay_reopened(name: &str, builder: ClusterBuilder, every: usize) -> Replay {
    replay_comparing(name, builder, true, Some(every))
}

fn replay_comparing(
    name: &str,
    builder: ClusterBuilder,
    files: bool,
    reopen_every: Option<usize>,
) -> Replay {
    let dir = answers_dir();
    let read = |ending: &str| {
        let path = dir.join(format!("{name}.{ending}"));
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let wanted: Vec<Json> = read("jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record is a line of JSON"))
        .collect();
    let script = match Script::parse(name, &read("cql")) {
        Ok(script) => script,
        Err(error) => return not_run(name, &wanted, error),
    };
    let cluster = builder.build().expect("the recording cluster can be built");
    let mut got = Vec::with_capacity(wanted.len());
    let runner = Runner::new(&cluster);
    let mut runner = match reopen_every {
        Some(statements) => runner.reopening_every(statements),
        None => runner,
    };
    let ran = runner.run(&script, |event| match event {
        Event::Answered(_, answer) => got.push(answer.to_json()),
        Event::SsTables { count, .. } => got.push(json!({"sstables": count})),
        Event::Said(_) => {}
    });
    let statements = wanted.iter().enumerate().map(|(i, wanted)| {
        let none = json!({"cql": wanted["cql"], "error": ["client", "no answer"]});
        let text = wanted["cql"].as_str().unwrap_or("@sstables").to_string();
        let (mut wanted, mut got) = (wanted.clone(), got.get(i).unwrap_or(&none).clone());
        for answer in [&mut wanted, &mut got].into_iter().filter(|_| !files) {
            let fields = answer.as_object_mut().expect("an answer is an object");
            fields.retain(|name, _| name != "trace" && name != "sstables");
        }
        (i + 1, text, compare(&wanted, &got))
    });
    Replay { name: name.to_string(), statements: statements.collect(), stopped: ran.err() }
}

fn not_run(name: &str, wanted: &[Json], error: ScriptError) -> Replay {
    let statements = wanted.iter().enumerate().map(|(i, wanted)| {
        let text = wanted["cql"].as_str().unwrap_or("@sstables").to_string();
        let got = json!({"error": error.reason});
        let unsupported = Some(error.reason.clone());
        (i + 1, text, Verdict::Different { wanted: wanted.clone(), got, unsupported })
    });
    Replay {
        name: name.to_string(),
        statements: statements.collect(),
        stopped: Some(error.clone()),
    }
}

fn compare(wanted: &Json, got: &Json) -> Verdict {
    let volatile = &wanted["volatile"];
    let (a, b) = (reduced(wanted, volatile), reduced(got, volatile));
    let any_error = a["error"] == "any" && !got["error"].is_null();
    if wanted["cql"] == got["cql"] && (a == b || any_error) {
        return Verdict::Same;
    }
    let text = got["error"][1].as_str().filter(|_| got["error"][0] == "0000");
    let unsupported =
        text.and_then(|text| text.strip_prefix("cassling does not support ")).map(str::to_string);
    let (wanted, got) = differing(&a, &b);
    Verdict::Different { wanted, got, unsupported }
}

/// Only the fields in which two reduced answers differ.
fn differing(a: &Json, b: &Json) -> (Json, Json) {
    let (Json::Object(a), Json::Object(b)) = (a, b) else { return (a.clone(), b.clone()) };
    let mut left = serde_json::Map::new();
    let mut right = serde_json::Map::new();
    for key in a.keys().chain(b.keys()) {
        let (x, y) = (a.get(key).unwrap_or(&Json::Null), b.get(key).unwrap_or(&Json::Null));
        if x != y {
            left.insert(key.clone(), x.clone());
            right.insert(key.clone(), y.clone());
        }
    }
    (Json::Object(left), Json::Object(right))
}

/// What of an answer must be the same.
fn reduced(answer: &Json, volatile: &Json) -> Json {
    let error = &answer["error"];
    if error[0] == "0000" {
        return json!({"error": "any"}); // a fault of Cassandra's own; ours may say something better
    }
    let hidden = |name: &str| match volatile {
        Json::Bool(all) => *all,
        Json::Array(names) => names.iter().any(|n| n == name),
        _ => false,
    };
    let mut out = serde_json::Map::new();
    for key in ["bound", "columns", "more", "fields", "warnings"] {
        out.insert(key.to_string(), answer[key].clone());
    }
    out.insert("rows".to_string(), reduced_rows(answer, hidden));
    out.insert("trace".to_string(), reduced_trace(&answer["trace"]));
    out.insert("error".to_string(), reduced_error(error, hidden("message")));
    if let Some(count) = answer.get("sstables") {
        out.insert("sstables".to_string(), count.clone());
    }
    Json::Object(out)
}

fn reduced_rows(answer: &Json, hidden: impl Fn(&str) -> bool) -> Json {
    let (Json::Array(columns), Json::Array(rows)) = (&answer["columns"], &answer["rows"]) else {
        return answer["rows"].clone();
    };
    let hidden: Vec<bool> =
        columns.iter().map(|c| hidden(c[0].as_str().expect("a column has a name"))).collect();
    Json::from_iter(rows.iter().map(|row| {
        let values = row.as_array().expect("a row is an array");
        Json::from_iter(values.iter().zip(&hidden).map(|(value, hidden)| match value {
            Json::String(hex) if *hidden => json!(hex.len() / 2),
            other => other.clone(),
        }))
    }))
}

/// Where files lie and how they are named is the server's own affair; IN reads at once.
fn reduced_trace(trace: &Json) -> Json {
    let Json::Array(lines) = trace else { return Json::Null };
    let mut lines: Vec<&str> = lines
        .iter()
        .filter_map(Json::as_str)
        .filter(|line| line.starts_with("Read ") || line.starts_with("Merged data"))
        .collect();
    lines.sort_unstable();
    json!(lines)
}

/// Of a parser's own words the place is enough.
fn reduced_error(error: &Json, message_hidden: bool) -> Json {
    if error.is_null() {
        return Json::Null;
    }
    let text = error[1].as_str().unwrap_or_default();
    if error[0] == "2000" && text.starts_with("line ") {
        let place: Vec<&str> = text.splitn(3, ' ').take(2).collect();
        return json!(place);
    }
    if message_hidden { error[0].clone() } else { error.clone() }
}

/// A line of `tests/differs.tsv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `unsupported`: we answer 0000 `cassling does not support ...`, or it follows from such a statement.
    /// `differs`: anything else; the reason says why.
    pub class: String,
    /// Why; `follows from N: ...` names the unsupported statement.
    pub reason: String,
    /// Row of docs/compat.md.
    pub row: String,
}

/// The number of a statement, or `*` for a whole script that does not run.
pub type StatementKey = String;

/// The rows of `tests/differs.tsv` that a replayed script needs.
pub fn rows(replay: &Replay) -> Vec<(StatementKey, Difference)> {
    let difference = |class: &str, reason: String, feature: &str| Difference {
        class: class.to_string(),
        reason,
        row: row_of(feature).to_string(),
    };
    if let Some(stopped) = &replay.stopped {
        let reason = stopped.reason.clone();
        return vec![("*".to_string(), difference("unsupported", reason, "scripts"))];
    }
    let mut refused: Vec<(usize, &str, &str)> = Vec::new();
    let mut rows = Vec::new();
    for (number, text, verdict) in &replay.statements {
        if let Some(feature) = verdict.unsupported() {
            refused.push((*number, text, feature));
            rows.push((
                number.to_string(),
                difference("unsupported", feature.to_string(), feature),
            ));
        } else if *verdict != Verdict::Same {
            let cause = refused.iter().rev().find(|(_, cause, _)| share_a_name(cause, text));
            rows.push((
                number.to_string(),
                match cause {
                    Some((cause, _, feature)) => difference(
                        "unsupported",
                        format!("follows from {cause}: {feature}"),
                        feature,
                    ),
                    None => difference("differs", "?".to_string(), "differs"),
                },
            ));
        }
    }
    rows
}

/// Whether two statements speak of the same table, column, type or function, as far as words tell.
fn share_a_name(a: &str, b: &str) -> bool {
    const COMMON: &str = " select from where and insert into values update set delete create table alter drop \
        type primary key int text static with json if not exists on in limit allow filtering order by as begin \
        batch apply unlogged counter using timestamp ttl index materialized view is null function returns language \
        called input or replace java asc desc list map frozen token count distinct per partition group add ";
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words
            .filter(|word| word.starts_with(|c: char| c.is_alphabetic()))
            .filter(|word| !COMMON.contains(&format!(" {word} ")))
            .map(str::to_string)
            .collect()
    };
    let a = words(a);
    words(b).iter().any(|word| a.contains(word))
}

/// The section of docs/compat.md that a feature belongs to.
fn row_of(feature: &str) -> &'static str {
    match feature {
        f if f.starts_with("lightweight") => "Lightweight transactions",
        f if f.starts_with("counter") => "Counters",
        f if f.starts_with("secondary")
            || f.starts_with("custom index")
            || f.starts_with("ANN") =>
        {
            "Secondary indexes"
        }
        f if f.starts_with("materialized") => "Materialized views",
        f if f.starts_with("user-defined") => "Functions and aggregates of users",
        "JSON" => "JSON",
        "DESCRIBE" => "DESCRIBE",
        "scripts" => "Scripts",
        "differs" => "Known differences",
        _ => "Other statements",
    }
}

/// Known differences by script and statement.
///
/// # Panics
/// If the file is malformed.
pub fn known_differences() -> BTreeMap<(String, StatementKey), Difference> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("differs.tsv");
    let text = std::fs::read_to_string(path).expect("tests/differs.tsv is there");
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [script, statement, class, reason, row] = cells.as_slice() else {
                panic!("tests/differs.tsv: five cells are expected: {line}");
            };
            assert!(matches!(*class, "unsupported" | "differs"), "unknown class: {line}");
            let difference = Difference {
                class: class.to_string(),
                reason: reason.to_string(),
                row: row.to_string(),
            };
            ((script.to_string(), statement.to_string()), difference)
        })
        .collect()
}
