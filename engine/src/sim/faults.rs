//! Faults planted on purpose, so that a test can show that it would find them.
//!
//! A test that never fails proves little. The property test of `tests/model.rs` is therefore run against an engine
//! with one known fault at a time, and must find each. A fault is planted for one thread, since tests run side by
//! side. Builds without debug assertions have none of this: [`planted`] is `false` there, and goes away.
//!
//! Not here: faults of the simulated world (lost messages, full disks), which belong to its seams.

/// A fault that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A range deletion that is open where a block of an SSTable begins is lost there.
    OpenRangeLostAtBlockStart,
    /// Of two values with the same timestamp the lesser one wins.
    FlippedTie,
    /// A cell lives one second too long.
    ExpiryOffByOne,
    /// Walking back in an SSTable begins one restart point too early.
    WrongReverseSeek,
    /// A compaction throws deletions away whatever overlapping SSTables and memtables may hold.
    PurgeWithoutOverlapCheck,
    /// A compaction asks only other SSTables, not memtables, what its deletions may still hide.
    PurgeIgnoringMemtables,
    /// An expired SSTable is dropped whole whatever lives elsewhere.
    ExpiredDroppedWithoutOverlapCheck,
    /// What is exactly as old as gc_grace is thrown away, a second too early.
    GcGraceOffByOne,
    /// The oldest of several SSTables that are merged is not read.
    CompactionInputLost,
    /// Every seventh record of the commit log is passed over when it is read again.
    ReplaySkipsRecord,
}

#[cfg(debug_assertions)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Plants a fault for what this thread does from now on; `None` mends it.
#[cfg(debug_assertions)]
pub fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

/// Whether the fault is planted in this thread.
#[cfg(debug_assertions)]
pub(crate) fn planted(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

/// Never, in a build like this.
#[cfg(not(debug_assertions))]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}
