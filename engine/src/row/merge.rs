//! The one merge: k sorted sources of one partition into one stream (sheet B.4, B.5).
//!
//! Flush, read, compaction and repair all consume it. Each [`Source`] is settled in itself: nothing in it is deleted by
//! its own deletions. Between sources, at each place, the deletion in force is the most superseding of the partition
//! deletion and the ranges open in any of them; a marker comes out only where it changes.
//!
//! ```text
//! newer    open@20 .......................... close     row 9
//! older    row 1   row 2   open@10 .. row 5 .. close    row 9
//! merged   open@20 .......................... close     row 9 (both versions made one)
//! ```
//!
//! Two things keep it cheap. A row that only one source has is passed on as it lies there, unless a deletion of
//! another source takes something from it. And a source all of whose timestamps are older than the deletion in force
//! is *parked*: it is not read again until that deletion ends, and then sought to that place, so that one range
//! deletion over a million older rows costs one seek.
//!
//! Not here: what a read counts and keeps ([`super::collect`]), and where sources come from (memtables, SSTables).
//! This is the one place beside the disk with a trait: the sources live in layers above this one.

use super::data::Row;
use super::deletion::DeletionTime;
use super::pass::{Met, pass_one_by_one};
use super::reconcile::{Purge, Settled, merge_rows, under};
use super::unfiltered::{Marker, Unfiltered};
use crate::error::Error;
use std::cmp::Ordering;

pub use super::replicas::{MergedRead, digest, merge_replicas};
pub use super::unfiltered::PartitionData;

/// What a source offers next.
#[derive(Debug)]
pub(crate) enum Head<'s> {
    /// A row.
    Row(&'s Row),
    /// An end of range deletions.
    Marker(&'s Marker),
    /// It was not opened yet; it holds nothing before this place, and no deletion is open there.
    Unopened(&'s [u8]),
    /// Nothing more.
    End,
}

impl Head<'_> {
    pub(super) fn position(&self) -> Option<&[u8]> {
        match self {
            Head::Row(row) => Some(row.position()),
            Head::Marker(marker) => Some(&marker.position),
            Head::Unopened(position) => Some(position),
            Head::End => None,
        }
    }
}

/// The rows and markers of one partition in one memtable, SSTable or reply, in the direction of the read.
pub(crate) trait Source {
    /// What comes next.
    fn head(&self) -> Head<'_>;

    /// Goes on to the next; an unopened source is opened instead.
    fn advance(&mut self) -> Result<(), Error>;

    /// Goes to the first row or marker at or behind `place` in the direction of the read, never back, and says
    /// which range deletion is open just before it.
    fn seek(&mut self, place: &[u8]) -> Result<DeletionTime, Error>;

    /// Passes the rows at its head in which nothing lives, up to `limit` in the direction of the read, as long as
    /// `met` takes their tombstones; says whether there was any. A source that can do it cheaper has its own.
    fn pass_dead(
        &mut self,
        limit: &[u8],
        reversed: bool,
        purge: &Purge,
        met: &mut Met,
    ) -> Result<bool, Error>
    where
        Self: Sized,
    {
        pass_one_by_one(self, limit, reversed, purge, met)
    }

    /// It was come to and need not be opened, since a deletion covers all of it: Cassandra opens it all the same, and its
    /// trace counts it.
    fn pass(&self) {}

    /// The deletion of the partition, as this source knows it.
    fn partition_deletion(&self) -> DeletionTime;

    /// No timestamp in it is greater.
    fn max_timestamp_micros(&self) -> i64;
}

/// What the merge yields; valid until the next step.
#[derive(Debug)]
pub(crate) enum Item<'m> {
    /// A row.
    Row(&'m Row),
    /// An end of range deletions.
    Marker(&'m Marker),
}

impl Item<'_> {
    /// A copy that stays.
    pub(crate) fn to_unfiltered(&self) -> Unfiltered {
        match self {
            Item::Row(row) => Unfiltered::Row((*row).clone()),
            Item::Marker(marker) => Unfiltered::Marker((*marker).clone()),
        }
    }
}

/// The rows and markers of one partition in the direction of the read, as a read takes them in: a merge, or less where
/// there is nothing to merge.
pub(crate) trait Stream {
    /// The next row or marker.
    fn next(&mut self) -> Result<Option<Item<'_>>, Error>;

    /// Passes dead rows, as far as that is simple ([`super::pass`]).
    fn pass_dead(&mut self, purge: &Purge, met: &mut Met) -> Result<(), Error>;

    /// The deletion of the partition over all sources.
    fn partition_deletion(&self) -> DeletionTime;
}

impl<S: Source> Stream for Merge<S> {
    fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        Merge::next(self)
    }

    fn pass_dead(&mut self, purge: &Purge, met: &mut Met) -> Result<(), Error> {
        Merge::pass_dead(self, purge, met)
    }

    fn partition_deletion(&self) -> DeletionTime {
        Merge::partition_deletion(self)
    }
}

/// A run of positions in the direction of the read: from the first bound to the second.
pub(crate) type Run = (Vec<u8>, Vec<u8>);

/// Sources of one partition as one stream.
#[derive(Debug)]
pub(crate) struct Merge<S> {
    /// Newest first.
    pub(super) sources: Vec<S>,
    pub(super) reversed: bool,
    pub(super) partition_deletion: DeletionTime,
    runs: std::vec::IntoIter<Run>,
    /// End of the run being read.
    pub(super) run_end: Option<Vec<u8>>,
    /// For each source the range deletion open in it.
    pub(super) open: Vec<DeletionTime>,
    /// The range deletion in force; live if none beyond the partition deletion.
    pub(super) active: DeletionTime,
    /// Sources that have something and are not parked, sorted by head, equal heads by age.
    pub(super) order: Vec<usize>,
    parked: Vec<usize>,
    /// So many of `order` are used up and move on at the next step.
    taken: usize,
    built_row: Option<Row>,
    built_marker: Option<Marker>,
    #[cfg(debug_assertions)]
    validator: Validator,
}

/// Where the item of a step lies.
enum Found {
    Row(usize),
    BuiltRow,
    BuiltMarker,
    Nothing,
}

impl<S: Source> Merge<S> {
    /// Merges `sources`, newest first, over `runs`, which come in the direction of the read.
    pub(crate) fn new(sources: Vec<S>, runs: Vec<Run>, reversed: bool) -> Merge<S> {
        let deletion = |d: DeletionTime, s: &S| d.max(s.partition_deletion());
        let partition_deletion = sources.iter().fold(DeletionTime::LIVE, deletion);
        Merge {
            open: vec![DeletionTime::LIVE; sources.len()],
            sources,
            reversed,
            partition_deletion,
            runs: runs.into_iter(),
            run_end: None,
            active: DeletionTime::LIVE,
            order: Vec::new(),
            parked: Vec::new(),
            taken: 0,
            built_row: None,
            built_marker: None,
            #[cfg(debug_assertions)]
            validator: Validator::default(),
        }
    }

    /// The deletion of the partition over all sources.
    pub(crate) fn partition_deletion(&self) -> DeletionTime {
        self.partition_deletion
    }

    /// The next row or marker.
    pub(crate) fn next(&mut self) -> Result<Option<Item<'_>>, Error> {
        let found = loop {
            self.move_on()?;
            let Some(end) = &self.run_end else {
                if !self.begin_run()? {
                    break Found::Nothing;
                }
                if self.built_marker.is_some() {
                    break Found::BuiltMarker;
                }
                continue;
            };
            let first = self.order.first().copied();
            let head = first.map(|first| self.sources[first].head());
            let within = match head.as_ref().and_then(Head::position) {
                Some(position) => before(position, end, self.reversed),
                None => false,
            };
            if !within {
                if self.end_run() {
                    break Found::BuiltMarker;
                }
                continue;
            }
            let first = first.expect("a head within the run has a source");
            match head.expect("a head within the run") {
                Head::Row(_) => match self.row(first) {
                    Found::Nothing => {}
                    found => break found,
                },
                Head::Marker(_) => {
                    if self.marker()? {
                        break Found::BuiltMarker;
                    }
                }
                Head::Unopened(_) if self.is_covered(first, self.active) => {
                    self.sources[first].pass();
                    self.order.remove(0);
                    self.parked.push(first);
                }
                Head::Unopened(_) => self.taken = 1,
                Head::End => unreachable!("a source at its end is not in the order"),
            }
        };
        self.yield_item(found)
    }

    fn yield_item(&mut self, found: Found) -> Result<Option<Item<'_>>, Error> {
        let item = match found {
            Found::Nothing => {
                #[cfg(debug_assertions)]
                self.validator.end();
                return Ok(None);
            }
            Found::Row(source) => match self.sources[source].head() {
                Head::Row(row) => Item::Row(row),
                other => unreachable!("the head was a row, not {other:?}"),
            },
            Found::BuiltRow => {
                Item::Row(self.built_row.as_ref().expect("a row was built in this step"))
            }
            Found::BuiltMarker => {
                Item::Marker(self.built_marker.as_ref().expect("a marker was built in this step"))
            }
        };
        #[cfg(debug_assertions)]
        self.validator.check(&item, self.reversed);
        Ok(Some(item))
    }

    /// Moves the sources on whose heads were used in the step before.
    pub(super) fn move_on(&mut self) -> Result<(), Error> {
        self.built_row = None;
        self.built_marker = None;
        if self.taken == 1 && self.order.len() == 1 {
            // The single source of most reads: nothing to compare.
            self.taken = 0;
            let only = self.order[0];
            self.sources[only].advance()?;
            if matches!(self.sources[only].head(), Head::End) {
                self.order.clear();
            }
            return Ok(());
        }
        while self.taken > 0 {
            self.taken -= 1;
            // From the back of the used ones, so that the front of `order` stays the used part.
            let source = self.order.remove(self.taken);
            self.sources[source].advance()?;
            self.insert_behind(self.taken, source);
        }
        Ok(())
    }

    /// Puts a source into the order by its head, after the first `from` ones.
    pub(super) fn insert_behind(&mut self, from: usize, source: usize) {
        let sources = &self.sources;
        let reversed = self.reversed;
        let head = sources[source].head();
        let Some(position) = head.position() else { return };
        let place = self.order[from..].partition_point(|&other| {
            let other_head = sources[other].head();
            let other_position =
                other_head.position().expect("sources at their end are not in the order");
            match direct(other_position.cmp(position), reversed) {
                Ordering::Less => true,
                // An unopened source comes first: what it has there must be seen before rows are merged.
                Ordering::Equal => match (&other_head, &head) {
                    (Head::Unopened(_), _) => true,
                    (_, Head::Unopened(_)) => false,
                    _ => other < source,
                },
                Ordering::Greater => false,
            }
        });
        self.order.insert(from + place, source);
    }

    /// Seeks all sources to the next run. False if there is none.
    fn begin_run(&mut self) -> Result<bool, Error> {
        let Some((start, end)) = self.runs.next() else { return Ok(false) };
        self.order.clear();
        self.parked.clear();
        for source in 0..self.sources.len() {
            if self.is_covered(source, self.partition_deletion) {
                continue;
            }
            self.open[source] = self.seek_past(source, &start)?;
            self.insert_behind(0, source);
        }
        self.active = self.strongest();
        self.park();
        if !self.active.is_live() {
            self.built_marker =
                Some(Marker { position: start, closes: DeletionTime::LIVE, opens: self.active });
        }
        self.run_end = Some(end);
        Ok(true)
    }

    /// Ends the run; says whether a deletion had to be closed for it.
    fn end_run(&mut self) -> bool {
        let end = self.run_end.take().expect("a run is being read");
        self.order.clear();
        let closes = std::mem::replace(&mut self.active, DeletionTime::LIVE);
        self.open.fill(DeletionTime::LIVE);
        if closes.is_live() {
            return false;
        }
        self.built_marker = Some(Marker { position: end, closes, opens: DeletionTime::LIVE });
        true
    }

    /// Seeks a source to `place` and past the markers that lie exactly there; says what is open behind it.
    fn seek_past(&mut self, source: usize, place: &[u8]) -> Result<DeletionTime, Error> {
        let mut open = self.sources[source].seek(place)?;
        loop {
            match self.sources[source].head() {
                Head::Marker(marker) if marker.position == place => open = marker.opens,
                Head::Unopened(position) if position == place => {}
                _ => return Ok(open),
            }
            self.sources[source].advance()?;
        }
    }

    fn is_covered(&self, source: usize, deletion: DeletionTime) -> bool {
        // Strictly older: an equal deletion with a later second would still win.
        self.sources[source].max_timestamp_micros() < deletion.timestamp_micros
    }

    /// The most superseding range deletion; live if the partition deletion is stronger.
    fn strongest(&self) -> DeletionTime {
        let strongest = self.open.iter().fold(DeletionTime::LIVE, |d, open| d.max(*open));
        if strongest.supersedes(&self.partition_deletion) { strongest } else { DeletionTime::LIVE }
    }

    /// Takes sources out of the order that can add nothing under the deletion in force.
    fn park(&mut self) {
        if self.active.is_live() {
            return;
        }
        let active = self.active;
        let mut at = 0;
        while at < self.order.len() {
            let source = self.order[at];
            let opened = !matches!(self.sources[source].head(), Head::Unopened(_));
            if opened && self.is_covered(source, active) {
                self.order.remove(at);
                self.parked.push(source);
                self.taken -= usize::from(at < self.taken);
                self.open[source] = DeletionTime::LIVE;
            } else {
                at += 1;
            }
        }
    }

    /// Takes in the markers at the front; says whether the deletion in force has changed.
    fn marker(&mut self) -> Result<bool, Error> {
        let position = match self.sources[self.order[0]].head() {
            Head::Marker(marker) => marker.position.clone(),
            other => unreachable!("the head was a marker, not {other:?}"),
        };
        for &source in &self.order {
            match self.sources[source].head() {
                Head::Marker(marker) if marker.position == position => {
                    self.open[source] = marker.opens;
                    self.taken += 1;
                }
                _ => break,
            }
        }
        let closes = self.active;
        self.active = self.strongest();
        self.unpark(&position)?;
        self.park();
        // Two ranges of one deletion that touch are one.
        if self.active == closes {
            return Ok(false);
        }
        self.built_marker = Some(Marker { position, closes, opens: self.active });
        Ok(true)
    }

    /// Brings back the sources that are no longer covered where a deletion ended.
    fn unpark(&mut self, position: &[u8]) -> Result<(), Error> {
        let active = self.active;
        let (stay, back): (Vec<_>, Vec<_>) =
            self.parked.iter().partition(|&&source| self.is_covered(source, active));
        self.parked = stay;
        for source in back {
            self.open[source] = self.seek_past(source, position)?;
            self.insert_behind(self.taken, source);
        }
        self.active = self.strongest();
        Ok(())
    }

    /// The row at the front, made of all sources that have it.
    fn row(&mut self, first: usize) -> Found {
        let outer = self.partition_deletion.max(self.active);
        let same = {
            let head = self.sources[first].head();
            let position = head.position().expect("the head is a row");
            let rest = self.order[1..].iter();
            rest.take_while(|&&other| self.sources[other].head().position() == Some(position))
                .count()
        };
        self.taken = 1 + same;
        let (settled, versions) = if same == 0 {
            let own = self.sources[first].partition_deletion().max(self.open[first]);
            if own == outer {
                return Found::Row(first);
            }
            (under(self.head_row(first), outer), None)
        } else {
            let taken = &self.order[..self.taken];
            let versions: Vec<&Row> = taken.iter().map(|&source| self.head_row(source)).collect();
            (merge_rows(&versions, outer), Some(taken))
        };
        match settled {
            Settled::Same(index) => Found::Row(versions.map_or(first, |taken| taken[index])),
            Settled::Nothing => Found::Nothing,
            Settled::Built(row) => {
                self.built_row = Some(row);
                Found::BuiltRow
            }
        }
    }

    fn head_row(&self, source: usize) -> &Row {
        match self.sources[source].head() {
            Head::Row(row) => row,
            other => unreachable!("sources at one row's position hold rows, not {other:?}"),
        }
    }
}

#[inline]
pub(super) fn direct(ordering: Ordering, reversed: bool) -> Ordering {
    if reversed { ordering.reverse() } else { ordering }
}

/// Whether `a` comes before `b` in the direction of the read.
#[inline]
pub(crate) fn before(a: &[u8], b: &[u8], reversed: bool) -> bool {
    if reversed { a > b } else { a < b }
}

/// Checks what every stream must keep to: places strictly rising in the direction of the read, each deletion
/// closed by what opened it, none open at the end.
#[cfg(debug_assertions)]
#[derive(Debug, Default)]
struct Validator {
    last: Option<Vec<u8>>,
    last_closed: bool,
    open: Option<DeletionTime>,
}

#[cfg(debug_assertions)]
impl Validator {
    fn check(&mut self, item: &Item<'_>, reversed: bool) {
        let (position, closing) = match item {
            Item::Row(row) => (row.position(), false),
            Item::Marker(marker) => {
                let open = self.open.unwrap_or(DeletionTime::LIVE);
                assert_eq!(marker.closes, open, "a marker closes what is open");
                assert!(
                    !(marker.closes.is_live() && marker.opens.is_live()),
                    "a marker means something"
                );
                self.open = (!marker.opens.is_live()).then_some(marker.opens);
                (&marker.position[..], marker.opens.is_live())
            }
        };
        if let Some(last) = &self.last {
            // Two runs may touch: one deletion is closed and another opened at the same bound.
            let touching = self.last_closed && last == position;
            assert!(
                touching || before(last, position, reversed),
                "places rise: {last:?}, {position:?}"
            );
        }
        self.last = Some(position.to_vec());
        self.last_closed = closing;
    }

    fn end(&self) {
        assert_eq!(self.open, None, "no range stays open");
    }
}

/// A source over things in memory, in the direction of the read.
#[derive(Debug)]
pub(crate) struct ListSource<'a> {
    items: &'a [Unfiltered],
    deletion: DeletionTime,
    reversed: bool,
}

impl<'a> ListSource<'a> {
    /// Requires: `items` come in the direction of the read.
    pub(crate) fn new(
        items: &'a [Unfiltered],
        deletion: DeletionTime,
        reversed: bool,
    ) -> ListSource<'a> {
        ListSource { items, deletion, reversed }
    }
}

impl Source for ListSource<'_> {
    fn head(&self) -> Head<'_> {
        match self.items.first() {
            None => Head::End,
            Some(Unfiltered::Row(row)) => Head::Row(row),
            Some(Unfiltered::Marker(marker)) => Head::Marker(marker),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.items = &self.items[1..];
        Ok(())
    }

    fn seek(&mut self, place: &[u8]) -> Result<DeletionTime, Error> {
        let skipped =
            self.items.partition_point(|item| before(item.position(), place, self.reversed));
        let (passed, rest) = self.items.split_at(skipped);
        self.items = rest;
        let last = passed.iter().rev().find_map(|item| match item {
            Unfiltered::Marker(marker) => Some(marker.opens),
            Unfiltered::Row(_) => None,
        });
        let next = rest.iter().find_map(|item| match item {
            Unfiltered::Marker(marker) => Some(marker.closes),
            Unfiltered::Row(_) => None,
        });
        Ok(last.or(next).unwrap_or(DeletionTime::LIVE))
    }

    fn partition_deletion(&self) -> DeletionTime {
        self.deletion
    }

    fn max_timestamp_micros(&self) -> i64 {
        i64::MAX
    }
}
