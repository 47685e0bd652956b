//! What a compaction may throw away (sheet C.8).
//!
//! A deletion must outlive every older copy of what it hides. Dropped early, the deleted row comes back:
//!
//! ```text
//! day        0                1            11                  12
//! file 1     row @10          |            |  compaction of    row @10 is read again!
//! file 2                      delete @20   |  file 2 alone     (the delete is gone)
//! ```
//!
//! So two questions for each deletion, expired cell and expired marker: is it past gc_grace, and is it older than everything
//! that the *other* SSTables and the memtables may hold of this partition? The second is asked once for a partition:
//! of each overlapping file whose filter does not rule the key out, and of each memtable that has the key, the
//! smallest timestamp of the whole file or memtable counts. So an old cell that has nothing to do with it keeps
//! a deletion alive, and so does a false positive.

use super::super::sstable::SsTable;
use super::super::{TableStore, View};
use crate::row::DecoratedKey;
use crate::row::reconcile::Purge;
use crate::sim::faults::{Fault, planted};
use std::cell::RefCell;
use std::sync::Arc;

/// Judges partitions for one compaction.
pub(super) struct Purger<'c> {
    pub(super) now_seconds: i64,
    pub(super) gc_before_seconds: i64,
    /// Nothing goes at all: `only_purge_repaired_tombstones`, where nothing is repaired.
    pub(super) never: bool,
    /// Partitions for which gc_grace does not count.
    pub(super) forced: &'c [DecoratedKey],
    pub(super) elsewhere: Elsewhere<'c>,
}

/// The data of the table outside of the compaction, as it is when a partition is judged: a flush may have come since
/// the compaction began.
pub(super) struct Elsewhere<'c> {
    store: &'c TableStore,
    inputs: &'c [Arc<SsTable>],
    seen: RefCell<Seen>,
}

struct Seen {
    view: Arc<View>,
    overlapping: Vec<Arc<SsTable>>,
}

impl<'c> Elsewhere<'c> {
    pub(super) fn of(store: &'c TableStore, inputs: &'c [Arc<SsTable>]) -> Elsewhere<'c> {
        let view = store.view();
        let overlapping = overlapping(&view, inputs);
        Elsewhere { store, inputs, seen: RefCell::new(Seen { view, overlapping }) }
    }

    /// SSTables outside of the compaction that overlap with it.
    pub(super) fn overlapping(&self) -> Vec<Arc<SsTable>> {
        self.seen.borrow().overlapping.clone()
    }

    /// The smallest timestamp that anything of the partition may have there.
    fn oldest_micros(&self, key: &DecoratedKey) -> Option<i64> {
        let view = self.store.view();
        let mut seen = self.seen.borrow_mut();
        if !Arc::ptr_eq(&seen.view, &view) {
            let overlapping = overlapping(&view, self.inputs);
            *seen = Seen { view, overlapping };
        }
        let may_hold = |table: &&Arc<SsTable>| table.spans(key) && table.may_contain(key);
        let files = seen.overlapping.iter().filter(may_hold);
        let files = files.map(|table| table.statistics().min_timestamp_micros);
        let asked = !planted(Fault::PurgeIgnoringMemtables);
        let memtables = seen.view.memtables.iter().filter(|m| asked && m.get(key).is_some());
        files.chain(memtables.map(|memtable| memtable.min_timestamp_micros())).min()
    }
}

fn overlapping(view: &View, inputs: &[Arc<SsTable>]) -> Vec<Arc<SsTable>> {
    let is_input = |table: &Arc<SsTable>| inputs.iter().any(|input| Arc::ptr_eq(input, table));
    let meets = |table: &Arc<SsTable>| {
        inputs
            .iter()
            .any(|i| i.first_key() <= table.last_key() && table.first_key() <= i.last_key())
    };
    view.sstables.iter().filter(|table| !is_input(table) && meets(table)).cloned().collect()
}

impl Purger<'_> {
    /// What may go of this partition.
    pub(super) fn of_partition(&self, key: &DecoratedKey) -> Purge {
        if self.never {
            return Purge::of_compaction(self.now_seconds, i64::MIN, None);
        }
        let gc_before = if self.forced.contains(key) { i64::MAX } else { self.gc_before_seconds };
        let older_than_micros = match planted(Fault::PurgeWithoutOverlapCheck) {
            true => None,
            false => self.elsewhere.oldest_micros(key),
        };
        Purge::of_compaction(self.now_seconds, gc_before, older_than_micros)
    }
}
