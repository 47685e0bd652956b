//! `provide_overlapping_tombstones` and `nodetool garbagecollect`: data under deletions of *other* files goes too.
//!
//! ```text
//! compacted file    row 1 @10   row 2 @10   row 3 a@10 b@10
//! another file      delete row 1 @20                a@30
//! ROW               -           row 2 @10   row 3 a@10 b@10
//! CELL              -           row 2 @10   row 3      b@10
//! ```
//!
//! The other files are read beside the compacted ones (their *shadow*), and what they hide is left out. They themselves
//! do not change, so no deletion is lost: it may go once nothing older is left, at a compaction of its own file.

use super::super::read::{AnySource, Parts};
use super::super::sstable::SsTable;
use super::super::sstable::reader::SsReader;
use super::options::OverlappingTombstones;
use crate::error::Error;
use crate::row::cell::wins;
use crate::row::data::rewrite;
use crate::row::deletion::NO_DELETION_TIME;
use crate::row::merge::{Item, Merge};
use crate::row::reconcile::{Settled, under};
use crate::row::{Bound, CellRef, DecoratedKey, DeletionTime, Marker, Row, Unfiltered};

/// The files whose deletions count, for one compaction.
pub(super) struct Shadow<'s> {
    readers: Vec<SsReader<'s>>,
    cells: bool,
}

/// What they say of one partition, read beside it.
pub(super) struct Shade<'s> {
    stream: Merge<AnySource<'s>>,
    /// The next thing of the shadow that was not passed.
    head: Option<Unfiltered>,
    deletion: DeletionTime,
    static_row: Option<Row>,
    cells: bool,
    /// Range deletion open in the shadow.
    shadow_open: DeletionTime,
    /// Range deletion open in the data.
    data_open: DeletionTime,
}

impl<'s> Shadow<'s> {
    /// The shadow of `overlapping` on a compaction whose oldest timestamp is `min_timestamp_micros`; `None` if it is
    /// not wanted or nothing is there that could hide anything.
    pub(super) fn of(
        wanted: OverlappingTombstones,
        overlapping: impl Iterator<Item = &'s SsTable>,
        min_timestamp_micros: i64,
    ) -> Option<Shadow<'s>> {
        let cells = match wanted {
            OverlappingTombstones::None => return None,
            OverlappingTombstones::Row => false,
            OverlappingTombstones::Cell => true,
        };
        let may_hide = |table: &&SsTable| {
            let statistics = table.statistics();
            statistics.max_timestamp_micros > min_timestamp_micros
                && (cells || statistics.min_local_deletion_seconds != NO_DELETION_TIME)
        };
        let readers: Vec<_> = overlapping.filter(may_hide).map(SsReader::new).collect();
        (!readers.is_empty()).then_some(Shadow { readers, cells })
    }

    /// What the shadow says of a partition; `None` if nothing.
    pub(super) fn of_partition(&self, key: &DecoratedKey) -> Result<Option<Shade<'_>>, Error> {
        let mut parts = Parts::of_memtables(&[], false);
        for reader in &self.readers {
            if reader.table.spans(key)
                && reader.table.may_contain(key)
                && let Some(found) = reader.find(key, &[], true)?
            {
                parts.add(reader, key, found, false, false);
            }
        }
        if parts.sources.is_empty() {
            return Ok(None);
        }
        let static_row = parts.static_row();
        let run = (Bound::start().0, Bound::end().0);
        let mut shade = Shade {
            deletion: parts.deletion,
            static_row,
            stream: Merge::new(parts.sources, vec![run], false),
            head: None,
            cells: self.cells,
            shadow_open: DeletionTime::LIVE,
            data_open: DeletionTime::LIVE,
        };
        shade.pull()?;
        Ok(Some(shade))
    }
}

impl Shade<'_> {
    fn pull(&mut self) -> Result<(), Error> {
        self.head = self.stream.next()?.map(|item| item.to_unfiltered());
        Ok(())
    }

    /// What is left of the deletion of the partition.
    pub(super) fn partition_deletion(&self, deletion: DeletionTime) -> DeletionTime {
        if self.deletion.supersedes(&deletion) { DeletionTime::LIVE } else { deletion }
    }

    /// What is left of the static row.
    pub(super) fn static_row(&self, row: &Row) -> Option<Row> {
        self.row_under(row, self.deletion, self.static_row.as_ref())
    }

    /// Adds to `out` what is left of a thing of the data, which comes in order.
    pub(super) fn filter(
        &mut self,
        item: &Item<'_>,
        out: &mut Vec<Unfiltered>,
    ) -> Result<(), Error> {
        let position = match item {
            Item::Row(row) => row.position(),
            Item::Marker(marker) => &marker.position[..],
        };
        while let Some(head) = self.head.as_ref().filter(|head| head.position() < position) {
            if let Unfiltered::Marker(marker) = head {
                let (at, opens) = (marker.position.clone(), marker.opens);
                self.change(at, self.data_open, opens, out);
            }
            self.pull()?;
        }
        let same = self.head.as_ref().filter(|head| head.position() == position);
        match item {
            Item::Marker(marker) => {
                let shadow = match same {
                    Some(Unfiltered::Marker(shadow)) => shadow.opens,
                    _ => self.shadow_open,
                };
                self.change(marker.position.clone(), marker.opens, shadow, out);
            }
            Item::Row(row) => {
                let shadow = match same {
                    Some(Unfiltered::Row(shadow)) => Some(shadow),
                    _ => None,
                };
                let outer = self.deletion.max(self.shadow_open);
                out.extend(self.row_under(row, outer, shadow).map(Unfiltered::Row));
            }
        }
        Ok(())
    }

    /// The deletion of the data that is left where both are open.
    fn left(&self, data: DeletionTime, shadow: DeletionTime) -> DeletionTime {
        let shadow = self.deletion.max(shadow);
        if data.is_live() || !shadow.supersedes(&data) { data } else { DeletionTime::LIVE }
    }

    /// Takes in that another deletion is open from a place on, here or in the shadow.
    fn change(
        &mut self,
        position: Vec<u8>,
        data: DeletionTime,
        shadow: DeletionTime,
        out: &mut Vec<Unfiltered>,
    ) {
        let closes = self.left(self.data_open, self.shadow_open);
        let opens = self.left(data, shadow);
        (self.data_open, self.shadow_open) = (data, shadow);
        if closes != opens {
            out.push(Unfiltered::Marker(Marker { position, closes, opens }));
        }
    }

    fn row_under(&self, row: &Row, outer: DeletionTime, shadow: Option<&Row>) -> Option<Row> {
        let outer = shadow.map_or(outer, |shadow| outer.max(shadow.deletion()));
        let left = match under(row, outer) {
            Settled::Same(_) => row.clone(),
            Settled::Built(row) => row,
            Settled::Nothing => return None,
        };
        match shadow.filter(|_| self.cells) {
            Some(shadow) => without_shadowed_cells(&left, shadow),
            None => Some(left),
        }
    }
}

/// The row without cells that the shadow has a winning version of.
fn without_shadowed_cells(row: &Row, shadow: &Row) -> Option<Row> {
    let column_deletion = |column| {
        let found = shadow.complex_deletions().find(|(id, _)| *id == column);
        found.map_or(DeletionTime::LIVE, |(_, deletion)| deletion)
    };
    let complex: Vec<_> = row
        .complex_deletions()
        .filter(|(column, deletion)| !column_deletion(*column).supersedes(deletion))
        .collect();
    let hidden = |cell: &CellRef<'_>| {
        column_deletion(cell.column).deletes(cell.timestamp_micros)
            || shadow.complex_cells(cell.column).any(|other| {
                other.path.map(|p| p.position) == cell.path.map(|p| p.position)
                    && !wins(cell, &other)
            })
    };
    let mut writer = rewrite(row, row.marker(), row.deletion(), &complex);
    for cell in row.cells().filter(|cell| !hidden(cell)) {
        writer.cell(&cell);
    }
    writer.finish_unless_empty()
}
