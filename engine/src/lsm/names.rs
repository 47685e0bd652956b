//! Reading rows by their full keys, newest source first (sheet C.10.4).
//!
//! ```text
//! memtable    row 1: marker@50, a@50, b@50            row 2: a@60 (no marker)
//! SSTable 3   newest 40: row 1 is complete, skipped   row 2: read
//! SSTable 2   newest 30                               row 2: read (without a marker it is never complete)
//! ```
//!
//! Before each SSTable the rows that it cannot change are taken off the list; with none left the read is done. A
//! row is complete if a deletion of it, or of a range around it, is at least as new as all of the file, or if its
//! marker and a cell of each queried column are newer. A static row needs only the cells.

use super::memtable::partition::State;
use super::read::{AnySource, Parts, Read, intersects};
use crate::error::Error;
use crate::row::DecoratedKey;
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::merge::{ListSource, Merge, Run};
use crate::row::reconcile::{merge_rows, under};
use crate::row::unfiltered::{PartitionData, Unfiltered};
use crate::schema::{ColumnId, ColumnKind};

impl Read<'_> {
    /// Rows by their full keys.
    pub(super) fn names(&mut self, key: &DecoratedKey, runs: Vec<Run>) -> Result<(), Error> {
        let reversed = self.command.reversed;
        let of_kind = |kind: ColumnKind| -> Vec<ColumnId> {
            let table = &self.command.table;
            let is = |id: &ColumnId| table.column_by_id(*id).is_some_and(|c| c.kind == kind);
            self.command.columns.iter().copied().filter(is).collect()
        };
        let (statics, regulars) = (of_kind(ColumnKind::Static), of_kind(ColumnKind::Regular));
        let mut wanted = Wanted { runs: runs.clone(), needs_static: !statics.is_empty() };
        let mut result = PartitionData::new(key.clone());
        let states: Vec<State> =
            self.view.memtables.iter().filter_map(|memtable| memtable.get(key)).collect();
        let parts = Parts::of_memtables(&states, reversed);
        take_in(&mut result, parts, &wanted, reversed)?;
        for index in self.candidates(key) {
            let reader = &self.readers[index];
            let statistics = reader.table.statistics();
            if statistics.max_timestamp_micros < result.deletion.timestamp_micros {
                break;
            }
            wanted.reduce(&result, &statics, &regulars, statistics.max_timestamp_micros);
            if wanted.is_empty() {
                break;
            }
            let intersects = intersects(reader.table, &wanted.runs, reversed);
            let with_static = wanted.needs_static && statistics.has_static_rows;
            let deletions = statistics.has_partition_deletions;
            if !(intersects || with_static || deletions) || !reader.table.may_contain(key) {
                continue;
            }
            let near = wanted.runs.first().map_or(&[0][..], |(start, _)| start);
            let Some(found) = reader.find(key, near, with_static)? else { continue };
            let mut parts = Parts::of_memtables(&[], reversed);
            parts.add(reader, key, found, reversed, !intersects);
            take_in(&mut result, parts, &wanted, reversed)?;
        }
        let static_row = result.static_row.take();
        let source = ListSource::new(&result.unfiltereds, result.deletion, reversed);
        let mut stream = Merge::new(vec![source], runs, reversed);
        self.collector.partition(key, static_row, &mut stream)?;
        Ok(())
    }
}

/// What is still to be looked for.
struct Wanted {
    /// One for each row.
    runs: Vec<Run>,
    needs_static: bool,
}

impl Wanted {
    fn is_empty(&self) -> bool {
        self.runs.is_empty() && !self.needs_static
    }

    /// Takes off what a source with nothing newer than `newest_micros` cannot change.
    fn reduce(
        &mut self,
        result: &PartitionData,
        statics: &[ColumnId],
        regulars: &[ColumnId],
        newest_micros: i64,
    ) {
        if self.needs_static
            && let Some(row) = &result.static_row
        {
            self.needs_static = !has_newer_cells(row, statics, newest_micros);
        }
        self.runs.retain(|run| !is_complete(result, run, regulars, newest_micros));
    }
}

fn is_complete(
    result: &PartitionData,
    (start, end): &Run,
    columns: &[ColumnId],
    newest_micros: i64,
) -> bool {
    let (low, high) = if start <= end { (start, end) } else { (end, start) };
    result.unfiltereds.iter().any(|item| match item {
        Unfiltered::Row(row) => {
            let here = row.position() > &low[..] && row.position() < &high[..];
            let deletion = row.deletion();
            let deleted = !deletion.is_live() && deletion.deletes(newest_micros);
            let newer_marker = row.marker().is_some_and(|m| m.timestamp_micros > newest_micros);
            // Of clustering values that are equal but written differently the first stays, however old its file.
            let as_written = row.raw_clustering().is_empty();
            here && as_written
                && (deleted || (newer_marker && has_newer_cells(row, columns, newest_micros)))
        }
        // Ranges were clipped to the rows asked for: one that opens at the run's start covers it.
        Unfiltered::Marker(marker) => {
            marker.position == *start
                && !marker.opens.is_live()
                && marker.opens.deletes(newest_micros)
        }
    })
}

fn has_newer_cells(row: &Row, columns: &[ColumnId], newest_micros: i64) -> bool {
    columns.iter().all(|id| row.cell(*id).is_some_and(|cell| cell.timestamp_micros > newest_micros))
}

/// Merges sources into the result, older than what is there.
fn take_in(
    result: &mut PartitionData,
    parts: Parts<'_>,
    wanted: &Wanted,
    reversed: bool,
) -> Result<(), Error> {
    if wanted.needs_static
        && let Some(older) = parts.static_row()
    {
        let newer = result.static_row.take();
        let versions: Vec<&Row> = newer.iter().chain(std::iter::once(&older)).collect();
        result.static_row = merge_rows(&versions, DeletionTime::LIVE).row(&versions);
    }
    let mut found = PartitionData::new(result.key.clone());
    let mut stream: Merge<AnySource<'_>> = Merge::new(parts.sources, wanted.runs.clone(), reversed);
    found.deletion = stream.partition_deletion();
    while let Some(item) = stream.next()? {
        found.unfiltereds.push(item.to_unfiltered());
    }
    let deletion = result.deletion.max(found.deletion);
    let nothing_new = found.unfiltereds.is_empty() && deletion == result.deletion;
    if result.unfiltereds.is_empty() && result.deletion.is_live() {
        result.unfiltereds = found.unfiltereds;
    } else if !nothing_new {
        let sources =
            [&*result, &found].map(|p| ListSource::new(&p.unfiltereds, p.deletion, reversed));
        let mut stream = Merge::new(sources.into(), wanted.runs.clone(), reversed);
        let mut merged = outside(result, wanted);
        while let Some(item) = stream.next()? {
            merged.push(item.to_unfiltered());
        }
        merged.sort_by(|a, b| {
            let order = a.position().cmp(b.position());
            if reversed { order.reverse() } else { order }
        });
        result.unfiltereds = merged;
    }
    result.deletion = deletion;
    if let Some(row) = result.static_row.take() {
        result.static_row = under(&row, deletion).row(&[&row]);
    }
    Ok(())
}

/// What of the result lies outside the runs still wanted: it is complete and stays.
fn outside(result: &PartitionData, wanted: &Wanted) -> Vec<Unfiltered> {
    let within = |position: &[u8]| {
        wanted.runs.iter().any(|(start, end)| {
            let (low, high) = if start <= end { (start, end) } else { (end, start) };
            position >= &low[..] && position <= &high[..]
        })
    };
    result.unfiltereds.iter().filter(|item| !within(item.position())).cloned().collect()
}
