//! A partition in memory as a source of the merge.

use super::partition::{Entry, Many, Place, State};
use super::ranges::{Ranges, Stretch};
use crate::error::Error;
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::merge::{Head, Source, before};
use crate::row::unfiltered::Marker;
use imbl::ordset::RangedIter;
use imbl::shared_ptr::DefaultSharedPtr;
use std::ops::Bound::{Included, Unbounded};

/// Walks what a reader took of a partition ([`State`]).
pub(crate) struct MemtableSource<'a> {
    state: &'a State,
    reversed: bool,
    rows: Option<RangedIter<'a, Entry, DefaultSharedPtr>>,
    row: Option<&'a Row>,
    /// The marker to come, and the stretch that is open before it.
    marker: Option<Marker>,
    open: Option<&'a Stretch>,
    /// The row comes before the marker.
    row_first: bool,
}

impl<'a> MemtableSource<'a> {
    /// Requires: [`Source::seek`] is called before anything else.
    pub(crate) fn new(state: &'a State, reversed: bool) -> MemtableSource<'a> {
        MemtableSource {
            state,
            reversed,
            rows: None,
            row: None,
            marker: None,
            open: None,
            row_first: false,
        }
    }

    fn many(&self) -> Option<&'a Many> {
        match self.state {
            State::Many(many) => Some(many),
            State::Empty | State::One(_) => None,
        }
    }

    fn step_row(&mut self) {
        let entry = match &mut self.rows {
            None => None,
            Some(rows) if self.reversed => rows.next_back(),
            Some(rows) => rows.next(),
        };
        self.row = entry.map(|entry| &entry.row);
    }

    fn decide(&mut self) {
        self.row_first = match (self.row, &self.marker) {
            (Some(row), Some(marker)) => before(row.position(), &marker.position, self.reversed),
            (row, _) => row.is_some(),
        };
    }

    /// The next marker, given the stretch that is open and where to look from if none is.
    fn next_marker(&mut self, ranges: &'a Ranges, from: &[u8]) {
        let reversed = self.reversed;
        let next = |place: &[u8]| {
            if reversed { ranges.last_until(place) } else { ranges.first_from(place) }
        };
        let near = |s: &'a Stretch| if reversed { &s.end } else { &s.start };
        let far = |s: &'a Stretch| if reversed { &s.start } else { &s.end };
        self.marker = match self.open {
            Some(open) => {
                let joined = next(far(open)).filter(|s| near(s) == far(open));
                Some(Marker {
                    position: far(open).to_vec(),
                    closes: open.deletion,
                    opens: joined.map_or(DeletionTime::LIVE, |s| s.deletion),
                })
            }
            None => next(from).map(|stretch| Marker {
                position: near(stretch).to_vec(),
                closes: DeletionTime::LIVE,
                opens: stretch.deletion,
            }),
        };
    }

    /// The stretch that the marker opens.
    fn pass_marker(&mut self, ranges: &'a Ranges) {
        let Some(marker) = self.marker.take() else { return };
        let place = &marker.position;
        let opened =
            if self.reversed { ranges.last_until(place) } else { ranges.first_from(place) };
        self.open = opened.filter(|_| !marker.opens.is_live());
        self.next_marker(ranges, place);
    }
}

impl Source for MemtableSource<'_> {
    fn head(&self) -> Head<'_> {
        match (self.row, &self.marker) {
            (Some(row), _) if self.row_first => Head::Row(row),
            (_, Some(marker)) => Head::Marker(marker),
            _ => Head::End,
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        if self.row_first {
            self.step_row();
        } else if let Some(many) = self.many() {
            self.pass_marker(&many.ranges);
        }
        self.decide();
        Ok(())
    }

    fn seek(&mut self, place: &[u8]) -> Result<DeletionTime, Error> {
        match self.state {
            State::Empty => {}
            State::One(row) => {
                self.row = Some(row).filter(|row| !before(row.position(), place, self.reversed));
            }
            State::Many(many) => {
                let bound = Place::new(place);
                self.rows = Some(if self.reversed {
                    many.rows.range((Unbounded, Included(bound)))
                } else {
                    many.rows.range((Included(bound), Unbounded))
                });
                self.step_row();
                if !many.ranges.is_empty() {
                    self.open = open_before(&many.ranges, place, self.reversed);
                    self.next_marker(&many.ranges, place);
                }
            }
        }
        self.decide();
        Ok(self.open.map_or(DeletionTime::LIVE, |stretch| stretch.deletion))
    }

    fn partition_deletion(&self) -> DeletionTime {
        self.many().map_or(DeletionTime::LIVE, |many| many.deletion)
    }

    fn max_timestamp_micros(&self) -> i64 {
        self.many().map_or(i64::MAX, |many| many.max_timestamp_micros)
    }
}

/// The stretch that is open just before `place` in the direction of the read.
fn open_before<'a>(ranges: &'a Ranges, place: &[u8], reversed: bool) -> Option<&'a Stretch> {
    if reversed {
        ranges.covering(place)
    } else {
        ranges.last_starting_before(place).filter(|stretch| &*stretch.end >= place)
    }
}
