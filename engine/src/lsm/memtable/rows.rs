//! A partition that one memtable alone holds: its rows as they lie in its tree.
//!
//! Every write has reconciled with what was there, so there is nothing to merge; a read costs a search for each name or
//! slice and a step for each row. Partitions with range deletions are left to the merge, which counts their ends.

use super::partition::{Entry, Place, State};
use crate::error::Error;
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::merge::{Item, Stream};
use crate::row::pass::Met;
use crate::row::query::RowSelection;
use crate::row::reconcile::Purge;
use imbl::ordset::RangedIter;
use imbl::shared_ptr::DefaultSharedPtr;
use std::ops::Bound::{Excluded, Included};

/// The selected rows of such a partition, in the direction of the read.
pub(crate) struct SettledRows<'s> {
    state: &'s State,
    selection: &'s RowSelection,
    reversed: bool,
    /// So many names or slices are used up.
    used: usize,
    slice: Option<RangedIter<'s, Entry, DefaultSharedPtr>>,
    /// Looked at, not given yet.
    ahead: Option<&'s Row>,
}

impl<'s> SettledRows<'s> {
    /// `None` if the partition has range deletions.
    pub(crate) fn of(
        state: &'s State,
        selection: &'s RowSelection,
        reversed: bool,
    ) -> Option<SettledRows<'s>> {
        let is_settled = match state {
            State::Empty | State::One(_) => true,
            State::Many(many) => many.ranges.is_empty(),
        };
        let rows = SettledRows { state, selection, reversed, used: 0, slice: None, ahead: None };
        is_settled.then_some(rows)
    }

    fn step(&mut self) -> Option<&'s Row> {
        if let Some(row) = self.ahead.take() {
            return Some(row);
        }
        loop {
            if let Some(rows) = &mut self.slice {
                let entry = if self.reversed { rows.next_back() } else { rows.next() };
                match entry {
                    Some(entry) => return Some(&entry.row),
                    None => self.slice = None,
                }
            }
            let found = match self.selection {
                RowSelection::Names(names) => self.state.row(&self.next_of(names)?.position),
                RowSelection::Slices(slices) => {
                    let slice = self.next_of(slices)?;
                    let (start, end) = (&slice.start.0[..], &slice.end.0[..]);
                    match self.state {
                        State::Many(many) if start < end => {
                            let places = (Included(Place::new(start)), Excluded(Place::new(end)));
                            self.slice = Some(many.rows.range(places));
                            None
                        }
                        State::One(row) => {
                            Some(row).filter(|row| start < row.position() && row.position() < end)
                        }
                        State::Empty | State::Many(_) => None,
                    }
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// The next name or slice in the direction of the read.
    fn next_of<T>(&mut self, all: &'s [T]) -> Option<&'s T> {
        self.used += 1;
        let place = if self.reversed { all.len().checked_sub(self.used)? } else { self.used - 1 };
        all.get(place)
    }
}

impl Stream for SettledRows<'_> {
    fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        Ok(self.step().map(Item::Row))
    }

    fn pass_dead(&mut self, purge: &Purge, met: &mut Met) -> Result<(), Error> {
        let is_passed = |row: &Row, met: &mut Met| {
            purge.dead(row.as_bytes()).is_some_and(|tombstones| met.take(tombstones))
        };
        while let Some(row) = self.step() {
            if !is_passed(row, met) {
                self.ahead = Some(row);
                break;
            }
        }
        Ok(())
    }

    fn partition_deletion(&self) -> DeletionTime {
        match self.state {
            State::Many(many) => many.deletion,
            State::Empty | State::One(_) => DeletionTime::LIVE,
        }
    }
}
