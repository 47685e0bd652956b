//! Every probe of the goals runs and gives the figures that the table asks for, at a tiny size; no time is judged.

use cassling_benches::goals::turns::in_own_folder;
use cassling_benches::goals::{Bound, Figure, Source, select, table};
use std::collections::BTreeSet;

/// Sizes are divided by this.
const DIVISOR: u64 = 10_000;

#[test]
fn every_probe_gives_its_figures() {
    let mut seen = BTreeSet::new();
    for goal in table() {
        for source in [goal.ours, goal.baseline] {
            let (probe, size, index) = match source {
                Source::Ours(Figure { probe, size, index }) => (probe, size, index),
                Source::OurInstructions(probe) => (probe, DIVISOR, 0),
                Source::Limits(_) | Source::LimitsInstructions(_) | Source::One => continue,
            };
            if !seen.insert((probe.name, size, index)) {
                continue;
            }
            let dir = std::env::temp_dir().join(format!("goals-test-{}", std::process::id()));
            let figures = in_own_folder(probe, size, DIVISOR, dir).unwrap();
            let figure = figures.get(index).copied();
            let figure = figure.unwrap_or_else(|| panic!("{}: {} gives it", goal.id, probe.name));
            assert!(figure.is_finite(), "{}: {figure}", goal.id);
        }
    }
}

#[test]
fn goals_are_chosen_by_id() {
    let ids = |asked: &[&str]| -> Vec<&str> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        select(&asked).unwrap().iter().map(|goal| goal.id).collect()
    };
    assert_eq!(ids(&["E1"]), ["E1"]);
    assert_eq!(ids(&["E4", "E2"]), ["E2", "E4.insert", "E4.point", "E4.range"]);
    assert_eq!(ids(&[]).len(), table().len());
    assert!(select(&["E99".to_string()]).is_err());
}

#[test]
fn a_goal_is_at_least_as_strict_as_its_floor() {
    for goal in table() {
        match (goal.floor, goal.goal) {
            (Bound::AtLeast(floor), Bound::AtLeast(aim)) => assert!(aim >= floor, "{}", goal.id),
            (Bound::AtMost(floor), Bound::AtMost(aim)) => assert!(aim <= floor, "{}", goal.id),
            mixed => panic!("{}: {mixed:?}", goal.id),
        }
    }
}
