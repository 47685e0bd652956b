//! Terms and functions against Cassandra's recorded answers.
//!
//! The statements of a recording run on a stand-in for the server (`functions_support`); those it cannot run are skipped, and
//! how many it did run is part of what is checked.

mod functions_support;

use cassling::analysis::terms::BindValue;
use cassling::error::{Error, Field};
use functions_support::World;
use std::path::Path;

/// Recordings, and the least number of their statements that must have been compared. The last is this test's own.
const RECORDINGS: [(&str, usize); 10] = [
    ("../tests/answers/functions-scalar", 100),
    ("../tests/answers/functions-time", 80),
    ("../tests/answers/operators", 90),
    ("../tests/answers/casts", 50),
    ("../tests/answers/aggregates", 40),
    ("../tests/answers/literals", 600),
    ("../tests/answers/types-all", 200),
    ("../tests/answers/vectors", 30),
    ("../tests/answers/udt-tuples", 60),
    ("tests/data/functions-more", 150),
];

/// Refusals that the select list makes on its own, not a term or a function.
const ELSEWHERE: [&str; 7] = [
    "for non counter column",
    "Cannot infer type for term",
    "Cannot assign value",
    "aggregate functions cannot be used as arguments",
    "there were ",
    "Undefined column name",
    "Key may not be empty",
];

/// Functions that are not native (sheet G): those of the recordings' own, and the casts of terms, which have other names
/// until they come here.
const OTHERS: [&str; 4] = ["'total", "'plus", "'twice", "'r_agg."];

/// A message with the list of signatures in it in alphabetical order: Cassandra's is that of a hash table.
fn sorted_signatures(message: &str) -> String {
    let Some((head, rest)) = message.split_once("signatures: ") else { return message.to_string() };
    let end = rest.rfind(')').unwrap_or(rest.len());
    let end = rest[..end].rfind("): use type casts").unwrap_or(end);
    let mut list: Vec<&str> = rest[..end].split(", system.").collect();
    if let Some(first) = list.first_mut() {
        *first = first.strip_prefix("system.").unwrap_or(first);
    }
    list.sort_unstable();
    format!("{head}signatures: {}{}", list.join(", "), &rest[end..])
}

/// The values given to a statement: those of the `@bind` that stands before it in the script.
fn values(before: &str) -> Option<Vec<BindValue<'static>>> {
    let Some((_, list)) = before.rsplit_once("-- @bind ") else { return Some(Vec::new()) };
    let list: serde_json::Value = serde_json::from_str(list.lines().next()?).ok()?;
    list.as_array()?
        .iter()
        .map(|value| match value.as_str() {
            None => Some(BindValue::Null),
            Some("unset") => Some(BindValue::Unset),
            Some(hex) => unhex(hex).map(|bytes| BindValue::Bytes(bytes.into())),
        })
        .collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn show_error(error: &Error) -> String {
    let fields: Vec<String> = error
        .fields()
        .into_iter()
        .map(|(name, field)| match field {
            Field::Texts(texts) => format!("{name}={texts:?}").replace('"', "'"),
            Field::Text(text) => format!("{name}={text}"),
            other => format!("{name}={other:?}"),
        })
        .collect();
    let message = sorted_signatures(&error.to_string());
    format!("{:04x} {message} {}", error.code() as u16, fields.join(" ")).trim_end().to_string()
}

fn show_recorded_error(record: &serde_json::Value) -> Option<String> {
    let code = record["error"][0].as_str()?;
    let message = sorted_signatures(record["error"][1].as_str()?);
    let fields: Vec<String> = record["fields"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    Some(format!("{code} {message} {}", fields.join(" ")).trim_end().to_string())
}

/// What differs between a recording and us, and how many statements were compared.
fn compare(name: &str) -> (Vec<String>, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(folder.join(format!("{name}.cql"))).expect("a script");
    let recording =
        std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).expect("its recording");
    let mut rest = script.as_str();
    let mut world = World::new();
    let (mut differences, mut compared) = (Vec::new(), 0);
    for line in recording.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record a line");
        let Some(cql) = record["cql"].as_str() else { continue };
        let (before, after) = rest.split_once(cql).unwrap_or(("", rest));
        rest = after;
        let Some(values) = values(before) else { continue };
        let expected = show_recorded_error(&record);
        if expected.as_ref().is_some_and(|it| ELSEWHERE.iter().any(|text| it.contains(text))) {
            continue;
        }
        // A write or read that failed on a replica: an index, not a value.
        if expected.as_ref().is_some_and(|it| it.starts_with("1500") || it.starts_with("1300")) {
            continue;
        }
        let Ok(outcome) = world.run(cql, &values) else {
            if expected.is_none() {
                world.distrust(cql);
            }
            continue;
        };
        let ours = match outcome {
            Err(error) if error.to_string().starts_with("cassling does not support") => continue,
            Err(error) => Err(show_error(&error)),
            Ok(rows) => {
                let mut rows: Vec<Vec<Option<String>>> = rows
                    .iter()
                    .map(|row| row.iter().map(|it| it.as_deref().map(hex)).collect())
                    .collect();
                rows.sort();
                Ok(rows)
            }
        };
        let theirs = match expected {
            Some(error) => Err(error),
            None => {
                let mut rows: Vec<Vec<Option<String>>> = record["rows"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|row| {
                        row.as_array()
                            .expect("a row is a list")
                            .iter()
                            .map(|it| it.as_str().map(str::to_string))
                            .collect()
                    })
                    .collect();
                rows.sort();
                Ok(rows)
            }
        };
        compared += 1;
        // Of Cassandra's own faults only that there is one is ours to copy.
        let faults = |it: &Result<Vec<Vec<Option<String>>>, String>| {
            it.as_ref().is_err_and(|text| text.starts_with("0000"))
        };
        let unknown = ours.as_ref().is_err_and(|text| {
            OTHERS.iter().any(|name| text.contains(&format!("Unknown function {name}")))
        });
        if unknown || before.lines().any(|line| line.starts_with("-- @volatile")) {
            continue;
        }
        if ours != theirs && !(faults(&ours) && faults(&theirs)) && !is_chance(cql) {
            differences.push(format!("{cql}\n    recorded {theirs:?}\n    ours     {ours:?}"));
        }
    }
    (differences, compared)
}

/// What the present or chance decides.
fn is_chance(cql: &str) -> bool {
    let cql = cql.to_lowercase();
    ["now(", "uuid()", "current_", "currenttime", "currentdate"].iter().any(|it| cql.contains(it))
}

#[test]
fn recorded_answers_of_terms_and_functions_are_ours() {
    let mut report = String::new();
    for (name, least) in RECORDINGS {
        let (differences, compared) = compare(name);
        for difference in &differences {
            report += &format!("{name}: {difference}\n");
        }
        if compared < least {
            report += &format!("{name}: only {compared} statements compared\n");
        }
    }
    assert!(report.is_empty(), "{report}");
}
