//! A node crashes at every kind of moment and is found as it was promised (see `cassling_tests::crash`).

use cassling_tests::crash::flips::{Outcomes, flips};
use cassling_tests::crash::machine::Mode;
use cassling_tests::crash::{Point, crash, points};

/// Points of each story in each mode; with three modes and eight stories a test, and two tests, 2,400 in all.
const POINTS: u64 = 50;

const MODES: [Mode; 3] = [Mode::Periodic, Mode::Group, Mode::Batch];

fn all(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Point> {
    seeds.flat_map(|seed| MODES.map(|mode| (seed, mode))).flat_map(|(seed, mode)| {
        points(seed, mode, POINTS).unwrap_or_else(|e| panic!("story {seed}, {mode:?}: {e}"))
    })
}

fn hold(seeds: std::ops::Range<u64>) {
    let points: Vec<Point> = all(seeds).collect();
    let wrong: Vec<String> = points.iter().filter_map(|point| crash(*point).err()).collect();
    println!("{} crash points", points.len());
    assert!(wrong.is_empty(), "{} are wrong, such as\n{}", wrong.len(), wrong[0]);
}

#[test]
fn what_was_promised_is_there_after_every_crash_1() {
    hold(0..8);
}

#[test]
fn what_was_promised_is_there_after_every_crash_2() {
    hold(8..16);
}

/// The test itself can fail: a disk that only says it has synced is found out.
#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    let lying = all(0..4).map(|point| Point { syncs_ignored: true, ..point });
    let points: Vec<Point> = lying.collect();
    let found = points.iter().filter(|point| crash(**point).is_err()).count();
    println!("{found} of {} points notice that nothing was synced", points.len());
    assert!(found * 4 > points.len(), "{found} of {} points", points.len());
}

#[test]
fn a_changed_byte_is_noticed_and_its_file_named() {
    let mut outcomes = Outcomes::new();
    for seed in 0..10 {
        if let Err(difference) = flips(seed, 60, &mut outcomes) {
            panic!("{difference}");
        }
    }
    println!("{outcomes:?}");
    for outcome in ["refused when opened", "refused when read"] {
        assert!(outcomes.contains_key(outcome), "{outcomes:?}");
    }
    let nothing = outcomes.get("meant nothing").copied().unwrap_or(0);
    assert!(nothing * 50 <= 600, "too many bytes are never checked: {outcomes:?}");
}
