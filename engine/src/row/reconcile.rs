//! Who wins: versions of one row made into one (sheet B.4), and what of a row a read may still see (B.7, C.8).
//!
//! ```text
//! newer source   DELETE row @20                     |
//! older source   INSERT a=1 b=2 @10, UPDATE b=3 @30 |  merged: deletion @20, b=3 @30
//! ```
//!
//! A read then *purges*: it drops deletions that gc_grace no longer protects and turns an expired cell into a
//! tombstone of its write second, before anything is counted. Compaction does the same to what it writes, with a second
//! condition: no older copy that the deletion hides may be left elsewhere ([`Purge::of_compaction`]).

use super::builder::place_order;
use super::cell::{self, CellRef, Liveness};
use super::data::{self, Cells, Parts, Row, rewrite};
use super::deletion::{DeletionTime, NO_DELETION_TIME};
use crate::schema::{ColumnId, Table};
use crate::sim::faults::{Fault, planted};

/// What became of one or several versions of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is the version of that index, untouched.
    Same(usize),
    /// A new row.
    Built(Row),
    /// Nothing is left.
    Nothing,
}

impl Settled {
    /// The row, given the versions that were settled.
    pub(crate) fn row(self, versions: &[&Row]) -> Option<Row> {
        match self {
            Settled::Same(index) => Some(versions[index].clone()),
            Settled::Built(row) => Some(row),
            Settled::Nothing => None,
        }
    }

    fn from_option(row: Option<Row>) -> Settled {
        row.map_or(Settled::Nothing, Settled::Built)
    }
}

/// Merges versions of one row, newest source first, under the deletion that is open around it
/// (Cassandra's `Row.Merger`). Raw clustering bytes are those of the oldest version of which something is left.
/// Requires: at least one version, all of one position.
pub(crate) fn merge_rows(versions: &[&Row], outer: DeletionTime) -> Settled {
    if let [only] = versions {
        return under(only, outer);
    }
    if let Some(index) = bare_deletion(versions, outer) {
        return Settled::Same(index);
    }
    let deletion = versions.iter().fold(DeletionTime::LIVE, |d, row| d.max(row.deletion()));
    let (active, kept) = nested(deletion, outer);
    let marker = versions
        .iter()
        .filter_map(|row| row.marker())
        .reduce(|a, b| if cell::marker_wins(&a, &b) { a } else { b });
    let marker = marker.filter(|m| !active.deletes(m.timestamp_micros));
    let complex = merge_complex(versions, active);
    let mut writer = rewrite(first_written(versions, outer), marker, kept, &complex);
    for_each_winner(versions, |cell| {
        if !deletion_of(&complex, cell.column, active).deletes(cell.timestamp_micros) {
            writer.cell(cell);
        }
    });
    Settled::from_option(writer.finish_unless_empty())
}

/// The deletion in force inside a row, and the row deletion that is worth keeping.
fn nested(row: DeletionTime, outer: DeletionTime) -> (DeletionTime, DeletionTime) {
    if row.supersedes(&outer) { (row, row) } else { (outer, DeletionTime::LIVE) }
}

/// The version whose clustering bytes stay. One that is deleted whole is gone from a memtable when the next is
/// written, so it must not count in an SSTable either: no flush may change an answer.
fn first_written<'r>(versions: &[&'r Row], outer: DeletionTime) -> &'r Row {
    let oldest = versions[versions.len() - 1];
    if oldest.raw_clustering().is_empty() {
        return oldest;
    }
    let left = |row: &&Row| under(row, outer) != Settled::Nothing;
    versions.iter().copied().rev().find(left).unwrap_or(oldest)
}

fn deletion_of(
    complex: &[(ColumnId, DeletionTime)],
    column: ColumnId,
    active: DeletionTime,
) -> DeletionTime {
    complex.iter().find(|(id, _)| *id == column).map_or(active, |(_, deletion)| *deletion)
}

/// The commonest merge of all needs no new row: a bare row deletion over versions that it covers whole.
fn bare_deletion(versions: &[&Row], outer: DeletionTime) -> Option<usize> {
    let index = versions.iter().position(|row| {
        row.has_no_columns() && row.marker().is_none() && !row.deletion().is_live()
    })?;
    let deletion = versions[index].deletion();
    let covers = |row: &Row| {
        // A deletion of a column at the same timestamp may still be the later one.
        let latest =
            row.max_timestamp_micros().saturating_sub(i64::from(!row.has_complex_deletions()));
        !row.deletion().supersedes(&deletion) && latest < deletion.timestamp_micros
    };
    let others = versions.iter().enumerate().filter(|(i, _)| *i != index);
    (deletion.supersedes(&outer)
        && others.map(|(_, row)| row).all(|row| covers(row))
        && versions[index].raw_clustering() == first_written(versions, outer).raw_clustering())
    .then_some(index)
}

fn merge_complex(versions: &[&Row], active: DeletionTime) -> Vec<(ColumnId, DeletionTime)> {
    let mut merged: Vec<(ColumnId, DeletionTime)> = Vec::new();
    for row in versions.iter().filter(|row| row.has_complex_deletions()) {
        for (column, deletion) in row.complex_deletions() {
            match merged.iter_mut().find(|(id, _)| *id == column) {
                Some((_, old)) => *old = old.max(deletion),
                None => merged.push((column, deletion)),
            }
        }
    }
    merged.retain(|(_, deletion)| deletion.supersedes(&active));
    merged.sort_by_key(|(column, _)| *column);
    merged
}

/// Calls `f` with the winning cell of each place, in order.
fn for_each_winner<'a>(versions: &[&'a Row], mut f: impl FnMut(&CellRef<'a>)) {
    let mut heads: Vec<(CellRef<'a>, Cells<'a>)> = versions
        .iter()
        .filter_map(|row| {
            let mut cells = row.cell_cursor();
            cells.next().map(|head| (head, cells))
        })
        .collect();
    while !heads.is_empty() {
        let mut best = heads[0].0;
        for (head, _) in &heads[1..] {
            match place_order(head, &best) {
                std::cmp::Ordering::Less => best = *head,
                std::cmp::Ordering::Equal if !cell::wins(&best, head) => best = *head,
                _ => {}
            }
        }
        f(&best);
        heads.retain_mut(|(head, cells)| {
            if place_order(head, &best).is_ne() {
                return true;
            }
            cells.next().map(|next| *head = next).is_some()
        });
    }
}

/// One row under a deletion that is open around it.
pub(crate) fn under(row: &Row, outer: DeletionTime) -> Settled {
    if outer.is_live() || !touched(row, outer) {
        return Settled::Same(0);
    }
    let (active, kept) = nested(row.deletion(), outer);
    let marker = row.marker().filter(|m| !active.deletes(m.timestamp_micros));
    let complex = merge_complex(&[row], active);
    let mut writer = rewrite(row, marker, kept, &complex);
    for cell in row.cells() {
        if !active.deletes(cell.timestamp_micros) {
            writer.cell(&cell);
        }
    }
    Settled::from_option(writer.finish_unless_empty())
}

/// Whether `outer` takes anything away from the row.
fn touched(row: &Row, outer: DeletionTime) -> bool {
    let deletion = row.deletion();
    (!deletion.is_live() && !deletion.supersedes(&outer))
        || row.marker().is_some_and(|m| outer.deletes(m.timestamp_micros))
        || row.complex_deletions().any(|(_, complex)| !complex.supersedes(&outer))
        || row.cells().any(|cell| outer.deletes(cell.timestamp_micros))
}

/// Leaves out what was written before its column was dropped, and cells of columns that are not there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DroppedColumns<'t> {
    table: &'t Table,
    /// Some column was dropped, so that rows must be looked through.
    pub(crate) needed: bool,
}

impl<'t> DroppedColumns<'t> {
    pub(crate) fn of(table: &'t Table) -> DroppedColumns<'t> {
        let readded = table.columns().iter().any(|column| column.dropped_at_micros.is_some());
        DroppedColumns { table, needed: readded || !table.dropped.is_empty() }
    }

    pub(crate) fn filter(&self, row: &Row) -> Settled {
        let visible = |column: ColumnId, timestamp_micros: i64| {
            self.table.column_by_id(column).is_some_and(|c| {
                c.dropped_at_micros.is_none_or(|dropped| timestamp_micros > dropped)
            })
        };
        let untouched = !self.needed
            || (row.cells().all(|cell| visible(cell.column, cell.timestamp_micros))
                && row.complex_deletions().all(|(column, d)| visible(column, d.timestamp_micros)));
        if untouched {
            return Settled::Same(0);
        }
        let complex: Vec<_> = row
            .complex_deletions()
            .filter(|(column, d)| visible(*column, d.timestamp_micros))
            .collect();
        let mut writer = rewrite(row, row.marker(), row.deletion(), &complex);
        for cell in row.cells().filter(|cell| visible(cell.column, cell.timestamp_micros)) {
            writer.cell(&cell);
        }
        Settled::from_option(writer.finish_unless_empty())
    }
}

/// The second at which a read judges, and the second before which deletions are past gc_grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Purge {
    pub(crate) now_seconds: i64,
    /// Exclusive: a deletion of this very second is kept.
    pub(crate) gc_before_seconds: i64,
    /// Only what is older goes; `None`: all. Microseconds.
    older_than_micros: Option<i64>,
}

/// A row as a read counts it (Cassandra's `ReadCommand.withMetricsRecording`), purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    /// It has something live.
    pub(crate) live: bool,
    /// Tombstones it counts for.
    pub(crate) tombstones: u64,
    /// Nothing in it is dead or a deletion: it can be returned as it is.
    pub(crate) clean: bool,
}

/// What purging makes of a cell.
enum CellFate {
    Live,
    /// Kept as a tombstone of this second.
    Dead(i64),
    Gone,
}

impl Purge {
    /// The judgement of a read of `table`.
    pub(crate) fn of_read(table: &Table, now_seconds: i64) -> Purge {
        let gc_grace = i64::from(table.options.gc_grace_seconds);
        Purge { now_seconds, gc_before_seconds: now_seconds - gc_grace, older_than_micros: None }
    }

    /// The judgement of a compaction on a partition: what is not older than `older_than_micros` stays, since
    /// something that it hides may lie outside of the compaction.
    pub(crate) fn of_compaction(
        now_seconds: i64,
        gc_before_seconds: i64,
        older_than_micros: Option<i64>,
    ) -> Purge {
        Purge { now_seconds, gc_before_seconds, older_than_micros }
    }

    #[inline]
    fn may_go(&self, timestamp_micros: i64, local_seconds: i64) -> bool {
        let early = i64::from(planted(Fault::GcGraceOffByOne));
        local_seconds < self.gc_before_seconds.saturating_add(early)
            && self.older_than_micros.is_none_or(|limit| timestamp_micros < limit)
    }

    /// The deletion, unless it may go.
    pub(crate) fn deletion(&self, deletion: DeletionTime) -> DeletionTime {
        let goes = self.may_go(deletion.timestamp_micros, deletion.local_seconds);
        if goes { DeletionTime::LIVE } else { deletion }
    }

    fn marker(&self, marker: Option<Liveness>) -> Option<Liveness> {
        marker.filter(|m| {
            m.is_live(self.now_seconds) || !self.may_go(m.timestamp_micros, m.expires_seconds)
        })
    }

    #[inline]
    fn cell(&self, cell: &CellRef<'_>) -> CellFate {
        if cell.is_live(self.now_seconds) {
            return CellFate::Live;
        }
        // An expired cell counts from the second it was written in.
        let deleted = cell.local_deletion_seconds - i64::from(cell.ttl_seconds);
        let goes = self.may_go(cell.timestamp_micros, deleted);
        if goes { CellFate::Gone } else { CellFate::Dead(deleted) }
    }

    /// The row without what may be forgotten; expired cells have become tombstones.
    pub(crate) fn row(&self, row: &Row) -> Settled {
        let marker = self.marker(row.marker());
        let deletion = self.deletion(row.deletion());
        let complex: Vec<_> =
            row.complex_deletions().filter(|(_, d)| !self.deletion(*d).is_live()).collect();
        let same = marker == row.marker()
            && deletion == row.deletion()
            && complex.len() == row.complex_deletions().count()
            && row.cells().all(|cell| match self.cell(&cell) {
                CellFate::Live => true,
                CellFate::Dead(_) => cell.is_tombstone(),
                CellFate::Gone => false,
            });
        if same {
            return Settled::Same(0);
        }
        let mut writer = rewrite(row, marker, deletion, &complex);
        for cell in row.cells() {
            match self.cell(&cell) {
                CellFate::Live => writer.cell(&cell),
                CellFate::Dead(deleted) => writer.cell(&CellRef {
                    ttl_seconds: 0,
                    local_deletion_seconds: deleted,
                    value: &[],
                    ..cell
                }),
                CellFate::Gone => {}
            }
        }
        Settled::from_option(writer.finish_unless_empty())
    }

    /// Calls `f` with the second of each deletion, tombstone, expired cell and marker that [`Purge::row`] drops.
    pub(crate) fn each_gone(&self, row: &Row, mut f: impl FnMut(i64)) {
        if let Some(marker) = row.marker().filter(|m| self.marker(Some(*m)).is_none()) {
            f(marker.expires_seconds);
        }
        let complex = row.complex_deletions().map(|(_, deletion)| deletion);
        for deletion in complex.chain(Some(row.deletion())) {
            if self.deletion(deletion) != deletion {
                f(deletion.local_seconds);
            }
        }
        for cell in row.cells().filter(|cell| matches!(self.cell(cell), CellFate::Gone)) {
            f(cell.local_deletion_seconds);
        }
    }

    /// Counts the row without making anything: all of it, or the cells of some columns (sorted).
    pub(crate) fn weigh(&self, row: &Row, of: Option<&[ColumnId]>) -> Weight {
        if of.is_none() && data::lives_for_good(row.as_bytes()) {
            return Weight { live: true, tombstones: 0, clean: true };
        }
        self.weigh_parts(&row.parts(), of)
    }

    fn weigh_parts(&self, parts: &Parts<'_>, of: Option<&[ColumnId]>) -> Weight {
        let is_of = |id: ColumnId| of.is_none_or(|columns| columns.binary_search(&id).is_ok());
        let marker = parts.marker;
        let marker_live = marker.is_some_and(|m| m.is_live(self.now_seconds));
        let (mut cells_live, mut cells_dead, mut clean) =
            (false, 0, marker.is_none() || marker_live);
        for cell in Cells::start(*parts) {
            if !is_of(cell.column) {
                clean = false;
                continue;
            }
            match self.cell(&cell) {
                CellFate::Live => cells_live = true,
                CellFate::Dead(_) => cells_dead += 1,
                CellFate::Gone => clean = false,
            }
        }
        let live = marker_live || cells_live;
        clean &= cells_dead == 0 && parts.deletion.is_live() && !parts.has_complex_deletions();
        let tombstones = if live || cells_dead > 0 {
            cells_dead
        } else {
            u64::from(
                self.has_deletion(parts.deletion, marker)
                    || parts.complex_deletions().any(|(id, d)| is_of(id) && self.is_in_force(d)),
            )
        };
        Weight { live, tombstones, clean }
    }

    /// Whether a deletion counts as a tombstone now.
    #[inline]
    pub(crate) fn is_in_force(&self, deletion: DeletionTime) -> bool {
        self.deletion(deletion).local_seconds <= self.now_seconds
    }

    /// Whether a row of nothing live holds a deletion that is in force (Cassandra's `Row.hasDeletion`), but for those of
    /// its columns.
    fn has_deletion(&self, deletion: DeletionTime, marker: Option<Liveness>) -> bool {
        self.is_in_force(deletion)
            || self.marker(marker).is_some_and(|m| m.expires_seconds != NO_DELETION_TIME)
    }

    /// The tombstones of an encoded row in which nothing lives; `None` if something does.
    #[inline]
    pub(crate) fn dead(&self, bytes: &[u8]) -> Option<u64> {
        if let Some(deletion) = data::bare_deletion(bytes) {
            return Some(u64::from(self.is_in_force(deletion)));
        }
        if data::lives_for_good(bytes) {
            return None;
        }
        let weight = self.weigh_parts(&Parts::parse(bytes)?, None);
        (!weight.live).then_some(weight.tombstones)
    }

    /// The same of what [`merge_rows`] would make of two versions, newest source first; `None` as well where that is not
    /// simple.
    pub(crate) fn dead_together(
        &self,
        newer: &Parts<'_>,
        older: &Parts<'_>,
        outer: DeletionTime,
    ) -> Option<u64> {
        if newer.has_complex_deletions() || older.has_complex_deletions() {
            return None;
        }
        let (active, kept) = nested(newer.deletion.max(older.deletion), outer);
        let marker = match (newer.marker, older.marker) {
            (Some(a), Some(b)) if cell::marker_wins(&a, &b) => Some(a),
            (Some(a), None) => Some(a),
            (_, b) => b,
        };
        let marker = marker.filter(|m| !active.deletes(m.timestamp_micros));
        if marker.is_some_and(|m| m.is_live(self.now_seconds)) {
            return None;
        }
        let mut cells_dead = 0;
        let (mut a, mut b) = (Cells::start(*newer).peekable(), Cells::start(*older).peekable());
        loop {
            let winner = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(_), None) => a.next(),
                (None, Some(_)) => b.next(),
                (Some(x), Some(y)) => match place_order(x, y) {
                    std::cmp::Ordering::Less => a.next(),
                    std::cmp::Ordering::Greater => b.next(),
                    std::cmp::Ordering::Equal => {
                        let (x, y) = (a.next()?, b.next()?);
                        Some(if cell::wins(&x, &y) { x } else { y })
                    }
                },
            };
            match winner.filter(|w| !active.deletes(w.timestamp_micros)).map(|w| self.cell(&w)) {
                Some(CellFate::Live) => return None,
                Some(CellFate::Dead(_)) => cells_dead += 1,
                Some(CellFate::Gone) | None => {}
            }
        }
        Some(match cells_dead {
            0 => u64::from(self.has_deletion(kept, marker)),
            dead => dead,
        })
    }

    /// The row with nothing but what lives, given its weight; `None` if nothing does.
    pub(crate) fn live_part(&self, row: &Row, weight: &Weight) -> Option<Row> {
        if !weight.live {
            return None;
        }
        if weight.clean {
            return Some(row.clone());
        }
        let marker = row.marker().filter(|m| m.is_live(self.now_seconds));
        let mut writer = rewrite(row, marker, DeletionTime::LIVE, &[]);
        for cell in row.cells().filter(|cell| cell.is_live(self.now_seconds)) {
            writer.cell(&cell);
        }
        writer.finish_unless_empty()
    }
}

/// What `have` lacks of `merged` in the `queried` columns, as a row to be written there; `None` if nothing.
pub(crate) fn missing(
    merged: &Row,
    have: Option<&Row>,
    queried: impl Fn(ColumnId) -> bool,
) -> Option<Row> {
    let marker = merged.marker().filter(|m| have.and_then(Row::marker) != Some(*m));
    let held_deletion = have.map_or(DeletionTime::LIVE, Row::deletion);
    let deletion =
        if merged.deletion() == held_deletion { DeletionTime::LIVE } else { merged.deletion() };
    let held_complex =
        |wanted| have.is_some_and(|have| have.complex_deletions().any(|h| h == wanted));
    let complex: Vec<_> = merged
        .complex_deletions()
        .filter(|(id, d)| queried(*id) && !held_complex((*id, *d)))
        .collect();
    let mut writer = rewrite(merged, marker, deletion, &complex);
    let mut held = have.into_iter().flat_map(Row::cells).peekable();
    for cell in merged.cells() {
        while held.next_if(|h| place_order(h, &cell).is_lt()).is_some() {}
        if queried(cell.column) && held.peek() != Some(&cell) {
            writer.cell(&cell);
        }
    }
    writer.finish_unless_empty()
}
