//! What befalls the files of a table between two statements: work of the storage, and the ends of a process.

/// Something that changes files and no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// All memtables become SSTables.
    Flush,
    /// Everything is merged: on all nodes, or on one.
    Major(Option<usize>),
    /// Whatever the strategy picks, until it picks nothing.
    Pick,
    /// `nodetool compact --user-defined`: the SSTables whose place in the list has a bit here.
    Files(u64),
    /// `nodetool garbagecollect`, by rows or by cells.
    Collect {
        /// `-g CELL`.
        cells: bool,
    },
    /// `ALTER TABLE ... WITH compaction = ...`
    Strategy(String),
    /// `ALTER TABLE ... WITH gc_grace_seconds = ...`
    GcGrace(u32),
    /// The cluster ends and is built again on what its disks hold.
    Reopen(Ending),
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// In order.
    Close,
    /// Killed: what was handed to the system is there.
    Kill,
    /// The commit log is synced, then the power fails; the seed says what is left of the rest.
    PowerLoss(u64),
}

impl Work {
    /// What it counts as in the printed shares.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Flush => "flush",
            Work::Major(_) => "major compaction",
            Work::Pick => "picked compaction",
            Work::Files(_) => "compaction of files",
            Work::Collect { .. } => "garbagecollect",
            Work::Strategy(_) => "strategy altered",
            Work::GcGrace(_) => "gc_grace altered",
            Work::Reopen(Ending::Close) => "closed, reopened",
            Work::Reopen(Ending::Kill) => "killed, reopened",
            Work::Reopen(Ending::PowerLoss(_)) => "power lost, reopened",
        }
    }

    /// The statement that does it, if one does.
    pub fn cql(&self) -> Option<String> {
        match self {
            Work::Strategy(options) => Some(format!("ALTER TABLE t WITH compaction = {options}")),
            Work::GcGrace(seconds) => {
                Some(format!("ALTER TABLE t WITH gc_grace_seconds = {seconds}"))
            }
            _ => None,
        }
    }
}
