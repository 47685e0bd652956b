//! Every recorded answer of a real Cassandra, replayed in process (see `cassling_tests::replay`).

use cassling::ClusterBuilder;
use cassling_engine::directory::Kept;
use cassling_engine::sim::disk::{Disk, MemoryDisk};
use cassling_tests::replay::{
    Difference, Replay, Verdict, answers_dir, known_differences, recording_cluster, recordings,
    replay, replay_answers, replay_reopened,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

type Known = BTreeMap<(String, String), Difference>;

/// Holds the differences of replays against `tests/differs.tsv`; `both_ways`: what is listed must differ.
fn hold(names: &[String], replay: impl Fn(&str) -> Replay, both_ways: bool) {
    let mut known = known_differences();
    let mut wrong = Vec::new();
    for name in names {
        check(&replay(name), &mut known, &mut wrong);
    }
    if both_ways {
        let vanished =
            known.keys().map(|(script, n)| format!("{script}:{n} is listed, it is the same"));
        wrong.extend(vanished);
    }
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
    hold(&recordings(), |name| replay(name, recording_cluster()), true);
}

/// Replays all but `exceptions` on a cluster that flushes, or also compacts, after every write.
fn hold_whatever_the_files(cluster: impl Fn() -> ClusterBuilder, exceptions: &[&str]) {
    // With more flushes a file's place in the order of creation means another file.
    let names_files = |name: &str| {
        let path = answers_dir().join(format!("{name}.cql"));
        std::fs::read_to_string(path)
            .expect("a recording has its script")
            .contains("@compact-files")
    };
    let is_held = |name: &String| !names_files(name) && !exceptions.contains(&&name[..]);
    let names: Vec<String> = recordings().into_iter().filter(is_held).collect();
    hold(&names, |name| replay_answers(name, cluster()), false);
}

#[test]
fn recorded_answers_with_a_flush_after_every_write() {
    hold_whatever_the_files(|| recording_cluster().flush_after_write(), &[]);
}

#[test]
fn recorded_answers_with_a_compaction_after_every_write() {
    // It shows a late copy of what a dropped deletion had hidden: merged with later data the deletion is not dropped.
    let exceptions = ["clock-twcs-gcgrace"];
    hold_whatever_the_files(|| recording_cluster().compact_after_write(), &exceptions);
}

/// The recording cluster on disks that can be opened again.
fn kept_cluster() -> ClusterBuilder {
    let node: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let kept = Kept::Disks { root: Arc::new(MemoryDisk::default()), nodes: vec![node] };
    recording_cluster().kept(kept)
}

#[test]
fn recorded_answers_with_a_reopening_now_and_then() {
    // A restart forgets `nodetool disableautocompaction`, as Cassandra's does: in these two it matters which files there are.
    let forgets = ["clock-names-reads", "clock-range-flushes"];
    let names: Vec<String> =
        recordings().into_iter().filter(|name| !forgets.contains(&&name[..])).collect();
    hold(&names, |name| replay_reopened(name, kept_cluster(), 25), false);
}

#[test]
fn five_recordings_with_a_reopening_after_every_statement() {
    let names = ["static-columns", "null-unset-empty", "reconcile-ties", "tables-ddl", "delete"];
    let names = names.map(str::to_string);
    hold(&names, |name| replay_reopened(name, kept_cluster(), 1), false);
}

#[test]
fn a_recording_on_a_directory_that_is_reopened() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recording");
    let _ = std::fs::remove_dir_all(&folder);
    let names = ["case-C01".to_string()];
    hold(&names, |name| replay_reopened(name, recording_cluster().data(&folder), 1), false);
    std::fs::remove_dir_all(&folder).expect("the cluster was kept there");
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
