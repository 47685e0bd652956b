//! An SSTable for people: all of it as JSON, as Cassandra's `sstabledump` prints it (sheet F.4).
//!
//! ```text
//! [
//!   {
//!     "table kind" : "REGULAR",
//!     "partition" : {
//!       "key" : [ "gone", "2" ],
//!       "position" : 93,
//!       "deletion_info" : { "marked_deleted" : "1970-01-01T00:00:08Z", "local_delete_time" : "2026-11-30T20:11:36Z" }
//!     },
//!     "rows" : [ ]
//!   }
//! ]
//! ```
//!
//! Nothing is merged, purged or left out: what is shown is what lies in the file. A `position` is an offset in our data,
//! which is laid out otherwise than Cassandra's. Where Cassandra's tool fails over a value (an empty boolean, a tuple
//! without its last components) this one goes on.

mod jackson;
pub mod metadata;
mod scan;

use super::sstable::SsTable;
use super::sstable::walk::{Content, Step, Walk};
use crate::error::Error;
use crate::row::DecoratedKey;
use crate::row::cell::{CellRef, Liveness};
use crate::row::clustering::{BEFORE, bound_values, values};
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::unfiltered::Marker;
use crate::schema::table::name_order;
use crate::schema::{Column, ColumnKind, Table};
use crate::types::display::{json, key_text};
use crate::types::temporal::date_text;
use crate::types::{CqlType, quote_name};
use jackson::Json;
use std::io::{self, Write};

/// What of an SSTable is printed, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpOptions {
    /// Only the keys of partitions (`-e`).
    pub keys_only: bool,
    /// A line for each partition, without blanks (`-l`).
    pub lines: bool,
    /// Times as numbers, as they are stored (`-t`).
    pub raw_times: bool,
    /// Only these partitions (`-k`), if any: keys as [`partition_key_text`] writes them.
    pub included: Vec<String>,
    /// Not these partitions (`-x`).
    pub excluded: Vec<String>,
}

/// Why a dump stops.
#[derive(Debug)]
pub enum DumpError {
    /// The file cannot be read.
    Read(Error),
    /// The output cannot be written.
    Write(io::Error),
}

impl From<Error> for DumpError {
    fn from(error: Error) -> DumpError {
        DumpError::Read(error)
    }
}

impl From<io::Error> for DumpError {
    fn from(error: io::Error) -> DumpError {
        DumpError::Write(error)
    }
}

impl std::fmt::Display for DumpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DumpError::Read(error) => error.fmt(f),
            DumpError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DumpError {}

/// Writes `sstable` of `table` as JSON, without a newline at the end. What has expired at `now_seconds` says so.
///
/// # Errors
/// Damage, with its place, or whatever `out` answers. What was written before stays written.
pub fn dump(
    sstable: &SsTable,
    table: &Table,
    now_seconds: i64,
    options: &DumpOptions,
    out: &mut dyn Write,
) -> Result<(), DumpError> {
    let minimal = options.lines && !options.keys_only;
    let mut dumper = Dumper {
        json: Json::new(out, minimal),
        table,
        columns: columns(table),
        now_seconds,
        raw_times: options.raw_times,
    };
    let mut walk = Walk::new(sstable);
    let mut open = false;
    if !minimal {
        dumper.json.begin_array()?;
    }
    while let Some(step) = walk.next()? {
        match step.content {
            Content::Partition { ref key, deletion, ref static_row } => {
                if std::mem::take(&mut open) {
                    dumper.end_partition()?;
                }
                if !wanted(options, table, key) {
                    continue;
                }
                if options.keys_only {
                    dumper.partition_key(key)?;
                    continue;
                }
                open = true;
                dumper.begin_partition(key, deletion, &step)?;
                if let Some(row) = static_row {
                    dumper.row(row, step.end)?;
                }
            }
            Content::Row(row) if open => dumper.row(&row, step.start)?,
            Content::Marker(marker) if open => dumper.marker(&marker)?,
            Content::Row(_) | Content::Marker(_) => {}
        }
    }
    if open {
        dumper.end_partition()?;
    }
    if !minimal {
        dumper.json.end()?;
    }
    Ok(())
}

fn wanted(options: &DumpOptions, table: &Table, key: &DecoratedKey) -> bool {
    if options.included.is_empty() && options.excluded.is_empty() {
        return true;
    }
    let text = partition_key_text(table, key);
    (options.included.is_empty() || options.included.contains(&text))
        && !options.excluded.contains(&text)
}

/// A partition key as Cassandra's tools write it: components joined by colons, which are escaped inside.
pub fn partition_key_text(table: &Table, key: &DecoratedKey) -> String {
    let columns = table.partition_key();
    let parts = key.components(columns.len());
    if let ([column], [part]) = (columns, &parts[..]) {
        return key_text(&column.ty, part);
    }
    let texts = columns.iter().zip(&parts).map(|(column, part)| {
        let text = key_text(&column.ty, part).replace(':', "\\:");
        // What would swallow the colon behind it is told from it.
        if text.ends_with(['\\', '!']) { text + "!" } else { text }
    });
    texts.collect::<Vec<_>>().join(":")
}

/// Columns in the order of stored cells: simple before multi-cell ones, each by name; dropped ones too.
fn columns(table: &Table) -> Vec<&Column> {
    let dropped = table.dropped.values().map(|dropped| &dropped.column);
    let gone = dropped.filter(|column| table.column_by_id(column.id).is_none());
    let mut columns: Vec<&Column> = table.statics_and_regulars().iter().chain(gone).collect();
    columns.sort_by(|a, b| {
        let class = |column: &Column| column.ty.is_multi_cell();
        class(a).cmp(&class(b)).then_with(|| name_order(&a.name, &b.name))
    });
    columns
}

struct Dumper<'d, 'w> {
    json: Json<'w>,
    table: &'d Table,
    columns: Vec<&'d Column>,
    now_seconds: i64,
    raw_times: bool,
}

impl Dumper<'_, '_> {
    fn partition_key(&mut self, key: &DecoratedKey) -> io::Result<()> {
        let columns = self.table.partition_key();
        self.json.objects_compact = true;
        self.json.arrays_compact = true;
        self.json.begin_array()?;
        for (column, part) in columns.iter().zip(key.components(columns.len())) {
            self.json.string(&key_text(&column.ty, &part))?;
        }
        self.json.end()?;
        self.json.objects_compact = false;
        self.json.arrays_compact = false;
        Ok(())
    }

    fn begin_partition(
        &mut self,
        key: &DecoratedKey,
        deletion: DeletionTime,
        step: &Step,
    ) -> io::Result<()> {
        self.json.begin_object()?;
        self.json.field("table kind")?.string("REGULAR")?;
        self.json.field("partition")?.begin_object()?;
        self.json.field("key")?;
        self.partition_key(key)?;
        self.json.field("position")?.raw(&step.start.to_string())?;
        if !deletion.is_live() {
            self.deletion(deletion)?;
        }
        self.json.end()?;
        self.json.field("rows")?.begin_array()
    }

    fn end_partition(&mut self) -> io::Result<()> {
        self.json.end()?;
        self.json.end()
    }

    fn row(&mut self, row: &Row, position: u64) -> io::Result<()> {
        self.json.begin_object()?;
        let kind = if row.is_static() { "static_block" } else { "row" };
        self.json.field("type")?.string(kind)?;
        self.json.field("position")?.raw(&position.to_string())?;
        if !row.is_static() {
            let values = values(self.table, row.position(), row.raw_clustering());
            self.clustering(&values)?;
        }
        if let Some(marker) = row.marker() {
            self.liveness(&marker)?;
        }
        if !row.deletion().is_live() {
            self.deletion(row.deletion())?;
        }
        self.json.field("cells")?.begin_array()?;
        for column in self.columns.clone() {
            if (column.kind == ColumnKind::Static) == row.is_static() {
                self.column(column, row)?;
            }
        }
        self.json.end()?;
        self.json.end()
    }

    /// Values of clustering columns; a star for each that a bound leaves open, nothing at all for one without values.
    fn clustering(&mut self, values: &[Vec<u8>]) -> io::Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.json.field("clustering")?;
        self.json.objects_compact = true;
        self.json.begin_array()?;
        self.json.arrays_compact = true;
        for (index, column) in self.table.clustering().iter().enumerate() {
            match values.get(index) {
                Some(value) => self.json.raw(&json(&column.ty, value))?,
                None => self.json.string("*")?,
            }
        }
        self.json.end()?;
        self.json.objects_compact = false;
        self.json.arrays_compact = false;
        Ok(())
    }

    fn liveness(&mut self, marker: &Liveness) -> io::Result<()> {
        self.json.objects_compact = false;
        self.json.field("liveness_info")?;
        self.json.objects_compact = true;
        self.json.begin_object()?;
        let written = self.micros(marker.timestamp_micros);
        self.json.field("tstamp")?.string(&written)?;
        if marker.ttl_seconds != 0 {
            // One second later than for cells, as the tool has it.
            let expired = marker.expires_seconds < self.now_seconds;
            self.expiry(marker.ttl_seconds, marker.expires_seconds, expired)?;
        }
        self.json.end()?;
        self.json.objects_compact = false;
        Ok(())
    }

    fn expiry(&mut self, ttl_seconds: u32, at_seconds: i64, expired: bool) -> io::Result<()> {
        self.json.field("ttl")?.raw(&ttl_seconds.to_string())?;
        let at = self.seconds(at_seconds);
        self.json.field("expires_at")?.string(&at)?;
        self.json.field("expired")?.raw(if expired { "true" } else { "false" })
    }

    fn deletion(&mut self, deletion: DeletionTime) -> io::Result<()> {
        self.json.field("deletion_info")?;
        self.json.objects_compact = true;
        self.json.begin_object()?;
        let marked = self.micros(deletion.timestamp_micros);
        self.json.field("marked_deleted")?.string(&marked)?;
        let local = self.seconds(deletion.local_seconds);
        self.json.field("local_delete_time")?.string(&local)?;
        self.json.end()?;
        self.json.objects_compact = false;
        Ok(())
    }

    /// What a row holds of a column: the deletion of all of it, then its cells.
    fn column(&mut self, column: &Column, row: &Row) -> io::Result<()> {
        let deletion = row.complex_deletions().find(|(id, _)| *id == column.id);
        if let Some((_, deletion)) = deletion {
            self.json.objects_compact = true;
            self.json.begin_object()?;
            self.json.field("name")?.string(&quote_name(&column.name))?;
            self.deletion(deletion)?;
            self.json.objects_compact = true;
            self.json.end()?;
            self.json.objects_compact = false;
        }
        let marker = row.marker();
        row.complex_cells(column.id).try_for_each(|cell| self.cell(column, &cell, marker))
    }

    fn cell(
        &mut self,
        column: &Column,
        cell: &CellRef<'_>,
        marker: Option<Liveness>,
    ) -> io::Result<()> {
        self.json.begin_object()?;
        self.json.objects_compact = true;
        self.json.field("name")?.string(&quote_name(&column.name))?;
        let (path, value) = match cell.path {
            Some(path) => in_column(&column.ty, path.value, cell.value),
            None => (None, json(&column.ty, cell.value)),
        };
        if let Some(path) = path {
            self.json.field("path")?;
            self.json.arrays_compact = true;
            self.json.begin_array()?;
            self.json.string(&path)?;
            self.json.end()?;
            self.json.arrays_compact = false;
        }
        if cell.is_tombstone() {
            self.json.field("deletion_info")?.begin_object()?;
            let local = self.seconds(cell.local_deletion_seconds);
            self.json.field("local_delete_time")?.string(&local)?;
            self.json.end()?;
            self.json.objects_compact = false;
        } else {
            self.json.field("value")?.raw(&value)?;
        }
        if marker.is_none_or(|marker| marker.timestamp_micros != cell.timestamp_micros) {
            let written = self.micros(cell.timestamp_micros);
            self.json.field("tstamp")?.string(&written)?;
        }
        let other_ttl = marker.is_none_or(|marker| marker.ttl_seconds != cell.ttl_seconds);
        if cell.ttl_seconds != 0 && other_ttl {
            let expired = !cell.is_live(self.now_seconds);
            self.expiry(cell.ttl_seconds, cell.local_deletion_seconds, expired)?;
        }
        self.json.end()?;
        self.json.objects_compact = false;
        Ok(())
    }

    /// An end of range deletions: two ends at one place are a boundary.
    fn marker(&mut self, marker: &Marker) -> io::Result<()> {
        let boundary = !marker.opens.is_live() && !marker.closes.is_live();
        self.json.begin_object()?;
        let kind = if boundary { "range_tombstone_boundary" } else { "range_tombstone_bound" };
        self.json.field("type")?.string(kind)?;
        let before = marker.position.last() == Some(&BEFORE);
        let prefix = bound_values(self.table, &marker.position).0;
        let sides = [("start", before, marker.opens), ("end", !before, marker.closes)];
        for (name, inclusive, deletion) in sides.into_iter().filter(|(_, _, d)| !d.is_live()) {
            self.json.field(name)?.begin_object()?;
            self.json.field("type")?.string(if inclusive { "inclusive" } else { "exclusive" })?;
            self.clustering(&prefix)?;
            self.deletion(deletion)?;
            self.json.end()?;
        }
        self.json.end()?;
        self.json.objects_compact = false;
        Ok(())
    }

    fn micros(&self, micros: i64) -> String {
        if self.raw_times {
            return micros.to_string();
        }
        // The tool cuts the seconds towards zero but takes the fraction from below: -1 µs is 00:00:00.999999.
        let nanos = (i128::from(micros) * 1000)
            .clamp(i128::from(i64::MIN), i128::from(i64::MAX))
            .rem_euclid(1_000_000_000);
        instant_text(micros / 1_000_000, u32::try_from(nanos).unwrap_or(0))
    }

    fn seconds(&self, seconds: i64) -> String {
        if self.raw_times { seconds.to_string() } else { instant_text(seconds, 0) }
    }
}

/// The path of a cell in its column, and its value in JSON.
fn in_column(ty: &CqlType, path: &[u8], value: &[u8]) -> (Option<String>, String) {
    match ty {
        CqlType::List { element, .. } => {
            (Some(key_text(&CqlType::Timeuuid, path)), json(element, value))
        }
        CqlType::Set { element, .. } => (Some(key_text(element, path)), "\"\"".to_string()),
        CqlType::Map { key, value: ty, .. } => (Some(key_text(key, path)), json(ty, value)),
        CqlType::Udt { definition, .. } => {
            let index = path.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
            match definition.fields.get(index) {
                Some((name, ty)) => (Some(name.clone()), json(ty, value)),
                None => (Some(index.to_string()), json(&CqlType::Blob, value)),
            }
        }
        _ => (None, json(ty, value)),
    }
}

/// A moment as Java's `Instant` writes it: no fraction, or three, six or nine digits.
fn instant_text(seconds: i64, nanos: u32) -> String {
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = match nanos {
        0 => String::new(),
        _ if nanos.is_multiple_of(1_000_000) => format!(".{:03}", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1000) => format!(".{:06}", nanos / 1000),
        _ => format!(".{nanos:09}"),
    };
    let date = date_text(seconds.div_euclid(86_400));
    format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}
