//! Replays recordings and prints how they compare with Cassandra:
//! `cargo run -p cassling-tests --bin replay -- [-v] [--flush] [--tsv] [NAME ...]`.
//!
//! Last comes how many statements each unsupported feature refuses. `-v` shows each difference. `--tsv` prints rows
//! for `tests/differs.tsv`: reasons already there are kept, and what follows from no unsupported statement has class
//! `differs` and waits for one.

use cassling_tests::replay::{
    Verdict, known_differences, recording_cluster, recordings, replay, rows,
};
use std::collections::BTreeMap;

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |flag: &str| {
        let before = names.len();
        names.retain(|name| name != flag);
        names.len() != before
    };
    let (verbose, flush, tsv) = (flag("-v"), flag("--flush"), flag("--tsv"));
    if names.is_empty() {
        names = recordings();
    }
    let builder = || match flush {
        true => recording_cluster().flush_after_write(),
        false => recording_cluster(),
    };
    if tsv {
        let known = known_differences();
        for name in &names {
            for (statement, found) in rows(&replay(name, builder())) {
                let row = known.get(&(name.clone(), statement.clone())).unwrap_or(&found);
                println!("{name}\t{statement}\t{}\t{}\t{}", row.class, row.reason, row.row);
            }
        }
        return;
    }
    let (mut same, mut unsupported, mut total) = (0, 0, 0);
    let mut features: BTreeMap<String, usize> = BTreeMap::new();
    println!("file\tsame\tunsupported\ttotal");
    for name in &names {
        let result = replay(name, builder());
        if let (true, Some(stopped)) = (verbose, &result.stopped) {
            println!("    {stopped}");
        }
        for (number, text, verdict) in &result.statements {
            if let Some(feature) = verdict.unsupported() {
                *features.entry(feature.to_string()).or_default() += 1;
            }
            if let (true, Verdict::Different { wanted, got, .. }) = (verbose, verdict) {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let short = |value: &serde_json::Value| {
                    value.to_string().chars().take(700).collect::<String>()
                };
                println!("{name}:{number}: {text}");
                println!("      wanted {}\n      got    {}", short(wanted), short(got));
            }
        }
        println!(
            "{name}\t{}\t{}\t{}",
            result.same(),
            result.unsupported(),
            result.statements.len()
        );
        same += result.same();
        unsupported += result.unsupported();
        total += result.statements.len();
    }
    println!("all\t{same}\t{unsupported}\t{total}");
    for (feature, count) in features {
        println!("{count}\t{feature}");
    }
}
