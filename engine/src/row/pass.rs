//! Going past dead rows without looking at them one by one through the whole merge.
//!
//! A read of live data needs nothing of a row in which nothing lives but its number of tombstones. Where one or
//! two sources are in front, those numbers are taken straight from the rows' bytes:
//!
//! ```text
//! newer    x1 x2 x3 x4 ...          one source in front: its rows are passed up to the next source's head
//! older       .. r3 r4 ...          two in front: a row of both is dead if merging them leaves nothing alive
//! ```
//!
//! Whatever is not that simple is left to [`Merge::next`]: a row that lives, a range end, three versions of a row, a row
//! that the deletion of another source may take away uncounted. So the numbers are those that the merge would give,
//! row by row; [`Met`] stops at the row at which a threshold is to act.

use super::data::{Parts, bare_deletion};
use super::deletion::DeletionTime;
use super::merge::{Head, Merge, Source, before, direct};
use super::reconcile::Purge;
use crate::error::Error;
use std::cmp::Ordering;

/// Tombstones met while passing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// How many.
    pub(crate) tombstones: u64,
    /// They may not become more.
    most: u64,
}

impl Met {
    /// None yet, and at most so many.
    pub(crate) fn up_to(most: u64) -> Met {
        Met { tombstones: 0, most }
    }

    /// Adds some, unless they would become too many.
    #[inline]
    pub(crate) fn take(&mut self, tombstones: u64) -> bool {
        let all = self.tombstones + tombstones;
        let fits = all <= self.most;
        if fits {
            self.tombstones = all;
        }
        fits
    }
}

/// Passes the dead rows at the head of a source, up to `limit`; says whether there was any.
pub(crate) fn pass_one_by_one(
    source: &mut impl Source,
    limit: &[u8],
    reversed: bool,
    purge: &Purge,
    met: &mut Met,
) -> Result<bool, Error> {
    let mut moved = false;
    loop {
        let Head::Row(row) = source.head() else { return Ok(moved) };
        let dead = before(row.position(), limit, reversed)
            && purge.dead(row.as_bytes()).is_some_and(|tombstones| met.take(tombstones));
        if !dead {
            return Ok(moved);
        }
        source.advance()?;
        moved = true;
    }
}

impl<S: Source> Merge<S> {
    /// Passes dead rows from where the merge stands, as far as that is simple.
    pub(crate) fn pass_dead(&mut self, purge: &Purge, met: &mut Met) -> Result<(), Error> {
        self.move_on()?;
        while self.pass_front(purge, met)? {}
        Ok(())
    }

    /// Passes dead rows of the one or two sources in front; says whether there was any.
    fn pass_front(&mut self, purge: &Purge, met: &mut Met) -> Result<bool, Error> {
        let Some(run_end) = &self.run_end else { return Ok(false) };
        let Some(&first) = self.order.first() else { return Ok(false) };
        let second = self.order.get(1).copied();
        let outer = self.partition_deletion.max(self.active);
        // Elsewhere a stronger deletion may have taken the row away: then it counts for nothing.
        let untouched = |source: usize| {
            self.sources[source].partition_deletion().max(self.open[source]) == outer
        };
        if !untouched(first) {
            return Ok(false);
        }
        let reversed = self.reversed;
        let third = self.order.get(2).map(|&third| self.sources[third].head());
        let third = third.as_ref().and_then(Head::position).map(<[u8]>::to_vec);
        let limit = match &third {
            Some(third) if before(third, run_end, reversed) => third,
            _ => run_end,
        };
        let moved = match second {
            None => self.sources[first].pass_dead(limit, reversed, purge, met)?,
            Some(second) => {
                let both = untouched(second);
                let pair = self.sources.get_disjoint_mut([first, second]);
                let [newer, older] = pair.expect("two places of the order are two sources");
                match both {
                    true => pass_two([newer, older], limit, outer, reversed, purge, met)?,
                    false => pass_until(newer, older, limit, reversed, purge, met)?,
                }
            }
        };
        if moved {
            let used = if second.is_some() { 2 } else { 1 };
            let front: Vec<usize> = self.order.drain(..used).collect();
            for source in front {
                self.insert_behind(0, source);
            }
        }
        Ok(moved)
    }
}

/// Passes rows of `source` in front of the head of `other`.
fn pass_until<S: Source>(
    source: &mut S,
    other: &S,
    limit: &[u8],
    reversed: bool,
    purge: &Purge,
    met: &mut Met,
) -> Result<bool, Error> {
    let head = other.head();
    let limit = match head.position() {
        Some(position) if before(position, limit, reversed) => position,
        _ => limit,
    };
    source.pass_dead(limit, reversed, purge, met)
}

/// Passes rows of two sources side by side.
fn pass_two<S: Source>(
    [newer, older]: [&mut S; 2],
    limit: &[u8],
    outer: DeletionTime,
    reversed: bool,
    purge: &Purge,
    met: &mut Met,
) -> Result<bool, Error> {
    let mut moved = false;
    loop {
        let order = {
            let (a, b) = (newer.head(), older.head());
            match (a.position(), b.position()) {
                (Some(a), Some(b)) => direct(a.cmp(b), reversed),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Ok(moved),
            }
        };
        let passed = match order {
            Ordering::Less => pass_until(newer, older, limit, reversed, purge, met)?,
            Ordering::Greater => pass_until(older, newer, limit, reversed, purge, met)?,
            Ordering::Equal => {
                let dead = dead_together(newer, older, limit, outer, reversed, purge);
                let passed = dead.is_some_and(|tombstones| met.take(tombstones));
                if passed {
                    newer.advance()?;
                    older.advance()?;
                }
                passed
            }
        };
        if !passed {
            return Ok(moved);
        }
        moved = true;
    }
}

/// Tombstones of the row at both heads, if nothing of it lives.
#[inline]
fn dead_together<S: Source>(
    newer: &S,
    older: &S,
    limit: &[u8],
    outer: DeletionTime,
    reversed: bool,
    purge: &Purge,
) -> Option<u64> {
    let (Head::Row(a), Head::Row(b)) = (newer.head(), older.head()) else { return None };
    if !before(a.position(), limit, reversed) {
        return None;
    }
    if let Some(deletion) = bare_deletion(a.as_bytes())
        && older.max_timestamp_micros() < deletion.timestamp_micros
    {
        // Everything there is older than this deletion: its row need not be looked at.
        return Some(u64::from(purge.is_in_force(deletion)));
    }
    purge.dead_together(&Parts::parse(a.as_bytes())?, &Parts::parse(b.as_bytes())?, outer)
}
