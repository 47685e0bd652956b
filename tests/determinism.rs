//! The same seed gives the same run: rows, costs, traces, compactions, names and bytes of all files.

use cassling_tests::model::{History, storm, watch};
use std::collections::BTreeMap;

/// All that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Answers of each step, with costs and traces.
    answers: Vec<String>,
    /// Name and bytes of every file, after each step that changed one.
    files: Vec<BTreeMap<String, Vec<u8>>>,
    /// What the compactions of each node say of themselves.
    compactions: Vec<String>,
}

fn see(history: &History) -> Seen {
    let mut seen = Seen { answers: Vec::new(), files: Vec::new(), compactions: Vec::new() };
    let ran = watch(history, &mut |world, answers| {
        seen.answers.push(format!("{answers:?}"));
        let files = world.files();
        if seen.files.last() != Some(&files) {
            seen.files.push(files);
        }
        seen.compactions = world.compactions();
    });
    assert!(ran.is_ok(), "{ran:?}");
    seen
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let mut compactions = 0;
    for seed in 0..24 {
        let history = storm(seed);
        let (first, second) = (see(&history), see(&history));
        for (step, (a, b)) in first.answers.iter().zip(&second.answers).enumerate() {
            assert_eq!(a, b, "step {step} of\n{history}");
        }
        for (n, (a, b)) in first.files.iter().zip(&second.files).enumerate() {
            assert!(a.keys().eq(b.keys()), "{n}: {:?} {:?}", a.keys(), b.keys());
            for (name, bytes) in a {
                assert!(*bytes == b[name], "file {name} of change {n} differs in\n{history}");
            }
        }
        assert_eq!(first, second, "{history}");
        compactions += first.compactions.len();
    }
    assert!(compactions > 24, "hardly anything was compacted: {compactions}");
}
