//! Random histories give the same answers as a plain model (see `cassling_tests::model`).

use cassling_tests::model::{Shares, check};

/// Histories of each of the four tests, which run side by side.
const HISTORIES: u64 = 500;

fn hold(part: u64) {
    let mut shares = Shares::default();
    let first = part * HISTORIES;
    if let Err(difference) = check(first..first + HISTORIES, &mut shares) {
        panic!("{difference}");
    }
    println!("{shares}");
    assert_eq!(shares.rare(), None, "less than 1 % is of a kind: {shares}");
}

#[test]
fn histories_answer_as_the_model_does_1() {
    hold(0);
}

#[test]
fn histories_answer_as_the_model_does_2() {
    hold(1);
}

#[test]
fn histories_answer_as_the_model_does_3() {
    hold(2);
}

#[test]
fn histories_answer_as_the_model_does_4() {
    hold(3);
}

/// An engine with one known fault at a time: each is found, or the histories above prove little.
#[cfg(debug_assertions)]
mod faults {
    use cassling_engine::sim::faults::{Fault, plant};
    use cassling_tests::model::{History, calm, run, storm, wide};

    /// Each fault is found within this many histories.
    const FOUND_WITHIN: u64 = 400;

    /// Plants the fault in this thread and runs histories until one differs.
    fn found(fault: Fault, draw: fn(u64) -> History) {
        plant(Some(fault));
        let found = (0..FOUND_WITHIN).find(|seed| run(&draw(*seed)).is_err());
        plant(None);
        println!("{fault:?}: found by history {found:?}");
        assert!(found.is_some(), "{fault:?} is not found by {FOUND_WITHIN} histories");
    }

    #[test]
    fn an_open_range_lost_at_a_block_start_is_found() {
        found(Fault::OpenRangeLostAtBlockStart, wide);
    }

    #[test]
    fn a_flipped_tie_is_found() {
        found(Fault::FlippedTie, calm);
    }

    #[test]
    fn an_expiry_off_by_one_is_found() {
        found(Fault::ExpiryOffByOne, calm);
    }

    #[test]
    fn a_wrong_reverse_seek_is_found() {
        found(Fault::WrongReverseSeek, calm);
    }

    #[test]
    fn a_purge_without_a_look_at_other_files_is_found() {
        found(Fault::PurgeWithoutOverlapCheck, storm);
    }

    #[test]
    fn a_purge_without_a_look_at_memtables_is_found() {
        found(Fault::PurgeIgnoringMemtables, storm);
    }

    #[test]
    fn an_expired_file_dropped_too_soon_is_found() {
        found(Fault::ExpiredDroppedWithoutOverlapCheck, storm);
    }

    #[test]
    fn a_purge_one_second_too_early_is_found() {
        found(Fault::GcGraceOffByOne, storm);
    }

    #[test]
    fn a_lost_input_of_a_compaction_is_found() {
        found(Fault::CompactionInputLost, storm);
    }

    #[test]
    fn a_record_of_the_log_passed_over_is_found() {
        found(Fault::ReplaySkipsRecord, storm);
    }
}
