//! Every recorded answer of a real Cassandra, replayed in process (see `cassling_tests::replay`).

use cassling_tests::replay::{
    Difference, Replay, Verdict, known_differences, recording_cluster, recordings, replay,
};
use std::collections::BTreeMap;

type Known = BTreeMap<(String, String), Difference>;

/// Replays all recordings and holds the differences against `tests/differs.tsv`, both ways.
fn hold(flush: bool) {
    let mut known = known_differences();
    let mut wrong = Vec::new();
    for name in recordings() {
        let builder = recording_cluster();
        let builder = if flush { builder.flush_after_write() } else { builder };
        check(&replay(&name, builder), &mut known, &mut wrong);
    }
    let vanished =
        known.keys().map(|(script, n)| format!("{script}:{n} is listed, it is the same"));
    wrong.extend(vanished);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Takes the differences of one script off the list; what is not on it is wrong.
fn check(replay: &Replay, known: &mut Known, wrong: &mut Vec<String>) {
    let name = &replay.name;
    if let Some(stopped) = &replay.stopped {
        match known.remove(&(name.clone(), "*".to_string())) {
            Some(listed) if listed.reason == stopped.reason => {}
            _ => wrong.push(format!("{stopped}")),
        }
        return;
    }
    for (number, text, verdict) in &replay.statements {
        let Verdict::Different { wanted, got, unsupported } = verdict else { continue };
        let listed = known.remove(&(name.clone(), number.to_string()));
        let holds = listed.as_ref().is_some_and(|listed| match listed.class.as_str() {
            "unsupported" if unsupported.is_none() => follows(replay, *number, &listed.reason),
            _ => true,
        });
        if !holds {
            wrong.push(format!("{name}:{number}: {text}\n  wanted {wanted}\n  got    {got}"));
        }
    }
}

/// Whether `follows from N: ...` names an earlier statement that we do not support.
fn follows(replay: &Replay, number: usize, reason: &str) -> bool {
    let cause = reason.strip_prefix("follows from ").and_then(|rest| rest.split_once(':'));
    let cause = cause.and_then(|(cause, _)| cause.parse::<usize>().ok());
    cause.is_some_and(|cause| {
        cause < number && replay.statements[cause - 1].2.unsupported().is_some()
    })
}

#[test]
fn recorded_answers() {
    hold(false);
}

#[test]
fn recorded_answers_with_a_flush_after_every_write() {
    hold(true);
}

/// The issue of this format: nothing that Cassandra parses may be a syntax error here.
#[test]
fn no_statement_is_a_syntax_error_that_is_none_in_cassandra() {
    for name in recordings() {
        for (number, text, verdict) in replay(&name, recording_cluster()).statements {
            let Verdict::Different { wanted, got, .. } = verdict else { continue };
            let is_syntax = |answer: &serde_json::Value| {
                answer["error"][0] == "2000"
                    || answer["error"][0].as_str().is_some_and(|text| text.starts_with("line"))
            };
            assert!(
                !is_syntax(&got) || is_syntax(&wanted),
                "{name}:{number}: {text}\n{wanted}\n{got}"
            );
        }
    }
}
