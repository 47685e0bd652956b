//! One partition in memory, and how a write changes it.
//!
//! A partition of one row is that row. A larger one is a B-tree of rows whose copies share their nodes: a
//! reader takes the root and then sees the partition as it was at that moment, whatever is written next. A write
//! reconciles at once, so a row that a deletion covers is gone from memory when the write returns.

use super::ranges::Ranges;
use crate::row::data::Row;
use crate::row::deletion::{DeletionTime, NO_TIMESTAMP};
use crate::row::mutation::{Mutation, RangeDeletion};
use crate::row::reconcile::{Settled, merge_rows, under};
use crate::row::times::Times;
use equivalent::{Comparable, Equivalent};
use imbl::OrdSet;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

/// What a reader takes of a partition.
#[derive(Clone, Debug, Default)]
pub(crate) enum State {
    /// Nothing was written yet.
    #[default]
    Empty,
    /// A single row and nothing else.
    One(Row),
    /// Anything else.
    Many(Arc<Many>),
}

/// A partition of more than a row.
#[derive(Clone, Debug)]
pub(crate) struct Many {
    pub(crate) deletion: DeletionTime,
    pub(crate) static_row: Option<Row>,
    pub(crate) rows: OrdSet<Entry>,
    pub(crate) ranges: Ranges,
    /// Bounds of all timestamps ever written here; what was dropped since may still widen them.
    pub(crate) max_timestamp_micros: i64,
    min_timestamp_micros: i64,
}

impl Default for Many {
    fn default() -> Many {
        Many {
            deletion: DeletionTime::LIVE,
            static_row: None,
            rows: OrdSet::new(),
            ranges: Ranges::default(),
            max_timestamp_micros: NO_TIMESTAMP,
            min_timestamp_micros: i64::MAX,
        }
    }
}

/// A row in the tree. The first bytes of its position lie beside the handle, so that most comparisons need not
/// follow it into memory that is not in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    prefix: u64,
    pub(crate) row: Row,
}

/// A place to be looked up in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    prefix: u64,
    position: &'p [u8],
}

impl Entry {
    pub(crate) fn new(row: Row) -> Entry {
        Entry { prefix: prefix(row.position()), row }
    }
}

impl<'p> Place<'p> {
    pub(crate) fn new(position: &'p [u8]) -> Place<'p> {
        Place { prefix: prefix(position), position }
    }
}

/// A number that orders positions as far as it reaches: smaller numbers are smaller positions.
///
/// The first byte of a position has few values (`crate::types::order`), so three bits hold it and 61 bits are left
/// for the next eight bytes. Where the first byte is none of those, the rest must not be looked at.
fn prefix(position: &[u8]) -> u64 {
    let Some((&first, rest)) = position.split_first() else { return 0 };
    let class = match first {
        0 => 0,
        1 => 1,
        2 => 2,
        3..=0xfc => return 3 << 61,
        0xfd => 4,
        0xfe => 5,
        0xff => 6,
    };
    let mut next = [0; 8];
    let len = rest.len().min(8);
    next[..len].copy_from_slice(&rest[..len]);
    class << 61 | u64::from_be_bytes(next) >> 3
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.prefix.cmp(&other.prefix).then_with(|| self.row.position().cmp(other.row.position()))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl Equivalent<Entry> for Place<'_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        self.compare(entry).is_eq()
    }
}

impl Comparable<Entry> for Place<'_> {
    fn compare(&self, entry: &Entry) -> Ordering {
        self.prefix.cmp(&entry.prefix).then_with(|| self.position.cmp(entry.row.position()))
    }
}

impl State {
    /// The row at a position.
    pub(crate) fn row(&self, position: &[u8]) -> Option<&Row> {
        match self {
            State::Empty => None,
            State::One(row) => Some(row).filter(|row| row.position() == position),
            State::Many(many) => many.rows.get(&Place::new(position)).map(|entry| &entry.row),
        }
    }

    /// The static row.
    pub(crate) fn static_row(&self) -> Option<&Row> {
        match self {
            State::Empty | State::One(_) => None,
            State::Many(many) => many.static_row.as_ref(),
        }
    }

    /// Applies a write; says by how many bytes the partition grew (negative: shrank).
    /// `times` are those of the mutation.
    pub(crate) fn apply(&mut self, mutation: &Mutation, times: &Times) -> isize {
        if let State::Empty = self
            && let [row] = &mutation.rows[..]
            && mutation.deletion.is_live()
            && mutation.static_row.is_none()
            && mutation.ranges.is_empty()
        {
            let grown = row_bytes(row);
            *self = State::One(row.clone().detached());
            return grown;
        }
        let mut grown = 0;
        if !matches!(self, State::Many(_)) {
            let mut many = Many::default();
            if let State::One(row) = std::mem::take(self) {
                let mut held = Times::NONE;
                held.see_row(&row);
                many.widen(&held);
                many.rows.insert(Entry::new(row));
            }
            grown += MANY_BYTES;
            *self = State::Many(Arc::new(many));
        }
        match self {
            State::Many(many) => grown + Arc::make_mut(many).apply(mutation, times),
            State::Empty | State::One(_) => {
                unreachable!("the partition was made a larger one above")
            }
        }
    }
}

/// Bytes that a row takes: its own, the header of its allocation, its entry in the tree (two thirds full).
fn row_bytes(row: &Row) -> isize {
    row.size_bytes() as isize + 24 + 48
}

/// Bytes that a larger partition takes beside its rows: an empty leaf of the tree and the counters.
const MANY_BYTES: isize = 1200;
/// Bytes that a range deletion takes beside its bounds.
const RANGE_BYTES: isize = 120;

impl Many {
    fn apply(&mut self, mutation: &Mutation, times: &Times) -> isize {
        let before = (self.min_timestamp_micros, self.max_timestamp_micros);
        self.widen(times);
        let mut grown = 0;
        if !mutation.deletion.is_live() {
            grown += self.delete(mutation.deletion, before);
        }
        if let Some(row) = &mutation.static_row {
            grown += self.put_static(row);
        }
        for range in &mutation.ranges {
            grown += self.delete_range(range, before.0);
        }
        for row in &mutation.rows {
            grown += self.put(row);
        }
        grown
    }

    fn widen(&mut self, times: &Times) {
        self.max_timestamp_micros = self.max_timestamp_micros.max(times.max_timestamp_micros);
        self.min_timestamp_micros = self.min_timestamp_micros.min(times.min_timestamp_micros);
    }

    /// `before` are the bounds of the timestamps that were there.
    fn delete(&mut self, deletion: DeletionTime, before: (i64, i64)) -> isize {
        if !deletion.supersedes(&self.deletion) {
            return 0;
        }
        self.deletion = deletion;
        if deletion.timestamp_micros < before.0 {
            return 0;
        }
        let mut grown = 0;
        if deletion.timestamp_micros > before.1 {
            // Everything here is older: let go of it at once.
            grown -= self.rows.iter().map(|entry| row_bytes(&entry.row)).sum::<isize>();
            grown -= self.ranges.len() as isize * RANGE_BYTES;
            self.rows.clear();
            self.ranges.clear();
            self.static_row = None;
            return grown;
        }
        self.ranges.retain_superseding(&deletion);
        self.static_row = self.static_row.take().and_then(|row| under(&row, deletion).row(&[&row]));
        grown + self.shadow(Bound::Unbounded, Bound::Unbounded, deletion)
    }

    fn put_static(&mut self, row: &Row) -> isize {
        let held = self.static_row.take();
        let versions: Vec<&Row> = std::iter::once(row).chain(held.as_ref()).collect();
        self.static_row =
            merge_rows(&versions, self.deletion).row(&versions).map(|row| row.detached());
        let size = |row: &Option<Row>| row.as_ref().map_or(0, row_bytes);
        size(&self.static_row) - size(&held)
    }

    /// `oldest_micros` is the least timestamp that was there.
    fn delete_range(&mut self, range: &RangeDeletion, oldest_micros: i64) -> isize {
        if !range.deletion.supersedes(&self.deletion) || range.start >= range.end {
            return 0;
        }
        let before = self.ranges.len();
        self.ranges.add(&range.start.0, &range.end.0, range.deletion);
        let grown = (self.ranges.len() as isize - before as isize) * RANGE_BYTES;
        if range.deletion.timestamp_micros < oldest_micros {
            return grown;
        }
        let (start, end) = (Place::new(&range.start.0), Place::new(&range.end.0));
        grown + self.shadow(Bound::Included(start), Bound::Excluded(end), range.deletion)
    }

    /// Takes away what `deletion` covers of the rows between two places.
    fn shadow(
        &mut self,
        start: Bound<Place<'_>>,
        end: Bound<Place<'_>>,
        deletion: DeletionTime,
    ) -> isize {
        let changes =
            self.rows.range((start, end)).filter_map(|entry| match under(&entry.row, deletion) {
                Settled::Same(_) => None,
                Settled::Built(row) => Some((entry.row.clone(), Some(row))),
                Settled::Nothing => Some((entry.row.clone(), None)),
            });
        let changes: Vec<(Row, Option<Row>)> = changes.collect();
        let mut grown = 0;
        for (old, new) in changes {
            grown -= row_bytes(&old);
            match new {
                Some(row) => {
                    grown += row_bytes(&row);
                    self.rows.insert(Entry::new(row));
                }
                None => {
                    self.rows.remove(&Place::new(old.position()));
                }
            }
        }
        grown
    }

    fn put(&mut self, row: &Row) -> isize {
        let covering = self.ranges.covering(row.position());
        let outer = covering.map_or(self.deletion, |stretch| self.deletion.max(stretch.deletion));
        let Some(new) = under(row, outer).row(&[row]) else { return 0 };
        let after = row_bytes(&new);
        let entry = Entry::new(new.detached());
        let place = entry.prefix;
        let Some(Entry { row: held, .. }) = self.rows.insert(entry) else { return after };
        // There was one already: both are merged, which is the rare case.
        let before = row_bytes(&held);
        match merge_rows(&[row, &held], outer).row(&[row, &held]) {
            Some(merged) => {
                let after = row_bytes(&merged);
                self.rows.insert(Entry { prefix: place, row: merged.detached() });
                after - before
            }
            None => {
                self.rows.remove(&Place::new(row.position()));
                -before
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_order_as_positions_do() {
        let mut positions: Vec<Vec<u8>> = vec![vec![0x80], vec![0], vec![0xff], vec![]];
        for first in [0u8, 1, 2, 3, 0x7f, 0x80, 0xfc, 0xfd, 0xfe, 0xff] {
            for rest in
                [&b"\x00"[..], b"\x80", b"abcdefgh\x80", b"abcdefgi\x80", b"abcdefghz", b"\xff\xff"]
            {
                positions.push([&[first], rest].concat());
            }
        }
        positions.sort();
        for pair in positions.windows(2) {
            assert!(prefix(&pair[0]) <= prefix(&pair[1]), "{pair:?}");
        }
    }
}
