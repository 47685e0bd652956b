//! Range deletions of one partition in memory: sorted, never overlapping, cheap to copy.
//!
//! Where a new range overlaps older ones, each stretch keeps the deletion that supersedes (sheet B.5):
//!
//! ```text
//! held     [1 ........ 6)@10            [8 .. 9)@30
//! add            [4 .................................. 12)@20
//! then     [1 .. 4)@10 [4 ....... 8)@20 [8 .. 9)@30 [9 .. 12)@20
//! ```
//!
//! A stretch that is not superseded stays as it is: equal deletions side by side are joined only when they are read
//! ([`crate::row::merge`]). Of one timestamp but different seconds they are two, as in Cassandra.
//!
//! Looking up what covers a row costs log n, and an addition costs log n for each stretch that it meets.

use crate::row::deletion::DeletionTime;
use imbl::OrdMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

/// A stretch between two bounds, start included, end excluded; bounds never equal a row's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: Arc<[u8]>,
    pub(crate) end: Arc<[u8]>,
    pub(crate) deletion: DeletionTime,
}

/// The set. Copies share their nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    by_start: OrdMap<Arc<[u8]>, Stretch>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_start.len()
    }

    #[cfg(test)]
    fn iter(&self) -> impl Iterator<Item = &Stretch> {
        self.by_start.values()
    }

    pub(crate) fn clear(&mut self) {
        self.by_start.clear();
    }

    /// The stretch that holds the row at `position`.
    pub(crate) fn covering(&self, position: &[u8]) -> Option<&Stretch> {
        let (_, stretch) = self.by_start.get_prev(position)?;
        (&*stretch.end > position).then_some(stretch)
    }

    /// The first stretch that starts at or behind `place`.
    pub(crate) fn first_from(&self, place: &[u8]) -> Option<&Stretch> {
        self.by_start.get_next(place).map(|(_, stretch)| stretch)
    }

    /// The last stretch that starts before `place`.
    pub(crate) fn last_starting_before(&self, place: &[u8]) -> Option<&Stretch> {
        let mut before = self.by_start.range::<_, [u8]>((Unbounded, Excluded(place)));
        before.next_back().map(|(_, stretch)| stretch)
    }

    /// The last stretch that ends at or before `place`.
    pub(crate) fn last_until(&self, place: &[u8]) -> Option<&Stretch> {
        let mut before = self.by_start.range::<_, [u8]>((Unbounded, Excluded(place)));
        // Only the last that starts before `place` can reach past it.
        let (_, last) = before.next_back()?;
        if &*last.end <= place {
            Some(last)
        } else {
            before.next_back().map(|(_, stretch)| stretch)
        }
    }

    /// Adds a range.
    pub(crate) fn add(&mut self, start: &[u8], end: &[u8], deletion: DeletionTime) {
        if start >= end {
            return;
        }
        let (start, end): (Arc<[u8]>, Arc<[u8]>) = (Arc::from(start), Arc::from(end));
        let met = self.meeting(&start, &end);
        let mut pieces = Pieces(Vec::with_capacity(2 * met.len() + 1));
        let mut reached = start.clone();
        for (number, old) in met.iter().enumerate() {
            let old_one = Some(number);
            if old.start < start {
                pieces.push(
                    old.start.clone(),
                    start.clone().min(old.end.clone()),
                    old.deletion,
                    old_one,
                );
            }
            let from = old.start.clone().max(start.clone());
            let to = old.end.clone().min(end.clone());
            // The gap before the old stretch, the stretch itself, and what of it lies behind the new range.
            let gap_end = from.clone().min(end.clone());
            pieces.push(reached.clone(), gap_end.clone(), deletion, None);
            reached = reached.max(gap_end);
            if from < to {
                if deletion.supersedes(&old.deletion) {
                    pieces.push(from, to.clone(), deletion, None);
                } else {
                    pieces.push(from, to.clone(), old.deletion, old_one);
                }
                reached = to;
            }
            if old.end > end {
                let rest = old.start.clone().max(end.clone());
                pieces.push(rest, old.end.clone(), old.deletion, old_one);
            }
        }
        pieces.push(reached, end, deletion, None);
        for old in &met {
            self.by_start.remove(&old.start);
        }
        for (piece, _) in pieces.0 {
            self.by_start.insert(piece.start.clone(), piece);
        }
    }

    /// Keeps the stretches that supersede a deletion of the whole partition.
    pub(crate) fn retain_superseding(&mut self, partition: &DeletionTime) {
        self.by_start = std::mem::take(&mut self.by_start)
            .into_iter()
            .filter(|(_, stretch)| stretch.deletion.supersedes(partition))
            .collect();
    }

    /// The stretches that overlap or touch the range, in order.
    fn meeting(&self, start: &Arc<[u8]>, end: &Arc<[u8]>) -> Vec<Stretch> {
        let before = self.by_start.range::<_, [u8]>((Unbounded, Excluded(&**start))).next_back();
        let before = before.map(|(_, stretch)| stretch).filter(|stretch| stretch.end >= *start);
        let within = self.by_start.range::<_, [u8]>((Included(&**start), Included(&**end)));
        before.into_iter().chain(within.map(|(_, stretch)| stretch)).cloned().collect()
    }
}

/// What stretches become by an addition, in order; for each the number of the old stretch it was a part of, or
/// `None` for the added range.
struct Pieces(Vec<(Stretch, Option<usize>)>);

impl Pieces {
    /// Adds a piece. Parts of the same range that touch are one.
    fn push(
        &mut self,
        start: Arc<[u8]>,
        end: Arc<[u8]>,
        deletion: DeletionTime,
        of: Option<usize>,
    ) {
        if start >= end {
            return;
        }
        match self.0.last_mut() {
            Some((last, same)) if *same == of && last.end == start => last.end = end,
            _ => self.0.push((Stretch { start, end, deletion }, of)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ranges: &Ranges) -> Vec<(u8, u8, i64)> {
        ranges.iter().map(|s| (s.start[0], s.end[0], s.deletion.timestamp_micros)).collect()
    }

    fn add(ranges: &mut Ranges, start: u8, end: u8, timestamp_micros: i64) {
        ranges.add(&[start], &[end], DeletionTime { timestamp_micros, local_seconds: 0 });
    }

    #[test]
    fn each_stretch_keeps_the_superseding_deletion() {
        let mut ranges = Ranges::default();
        add(&mut ranges, 1, 6, 10);
        add(&mut ranges, 8, 9, 30);
        add(&mut ranges, 4, 12, 20);
        assert_eq!(shown(&ranges), [(1, 4, 10), (4, 8, 20), (8, 9, 30), (9, 12, 20)]);
        assert_eq!(ranges.covering(&[4]).unwrap().deletion.timestamp_micros, 20);
        assert!(ranges.covering(&[12]).is_none());
        assert_eq!(ranges.last_until(&[9]).unwrap().start[0], 8);
        assert_eq!(ranges.first_from(&[2]).unwrap().start[0], 4);
    }

    #[test]
    fn agrees_with_a_plain_array() {
        use rand_core::Rng;
        let mut rng = rand_pcg::Pcg32::new(7, 11);
        for _ in 0..200 {
            let mut ranges = Ranges::default();
            let mut plain = [i64::MIN; 40];
            for _ in 0..30 {
                let (start, len, at) =
                    (rng.next_u32() % 30, rng.next_u32() % 10, rng.next_u32() % 20);
                add(&mut ranges, start as u8, (start + len) as u8, i64::from(at));
                for cell in &mut plain[start as usize..(start + len) as usize] {
                    *cell = (*cell).max(i64::from(at));
                }
                for (place, expected) in plain.iter().enumerate() {
                    let found = ranges.covering(&[place as u8]);
                    assert_eq!(found.map_or(i64::MIN, |s| s.deletion.timestamp_micros), *expected);
                }
                let all: Vec<_> = ranges.iter().collect();
                for pair in all.windows(2) {
                    assert!(pair[0].end <= pair[1].start);
                }
            }
        }
    }
}
