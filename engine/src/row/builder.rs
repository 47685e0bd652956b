//! How rows are made: [`RowBuilder`] takes parts in any order, [`RowWriter`] writes sorted parts.

use super::cell::{self, CellRef, CellWrite, Liveness, Path};
use super::clustering::ClusteringKey;
use super::data::{self, Row};
use super::deletion::{DeletionTime, NO_DELETION_TIME};
use super::varint::{put, put_bytes, put_signed};
use crate::schema::ColumnId;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// Makes a row. Calls may come in any order of columns and paths; what the row's own deletions cover is left out.
#[derive(Clone, Debug)]
pub struct RowBuilder<'c> {
    /// Of the static row: none.
    clustering: Option<Cow<'c, ClusteringKey>>,
    marker: Option<Liveness>,
    deletion: DeletionTime,
    complex: Vec<(ColumnId, DeletionTime)>,
    cells: SmallVec<[Pending; 4]>,
    /// Values and paths of all cells, one after another.
    bytes: SmallVec<[u8; 192]>,
}

#[derive(Clone, Debug)]
struct Pending {
    column: ColumnId,
    path: Option<(Range<usize>, Range<usize>)>,
    timestamp_micros: i64,
    ttl_seconds: u32,
    local_deletion_seconds: i64,
    value: Range<usize>,
}

impl<'c> RowBuilder<'c> {
    /// A row at this clustering.
    pub fn new(clustering: &ClusteringKey) -> RowBuilder<'static> {
        RowBuilder::with(Some(Cow::Owned(clustering.clone())))
    }

    /// The same, of a clustering that stays where it is until the row is built.
    pub fn at(clustering: &'c ClusteringKey) -> RowBuilder<'c> {
        RowBuilder::with(Some(Cow::Borrowed(clustering)))
    }

    /// The static row.
    pub fn new_static() -> RowBuilder<'static> {
        RowBuilder::with(None)
    }

    fn with(clustering: Option<Cow<'c, ClusteringKey>>) -> RowBuilder<'c> {
        RowBuilder {
            clustering,
            marker: None,
            deletion: DeletionTime::LIVE,
            complex: Vec::new(),
            cells: SmallVec::new(),
            bytes: SmallVec::new(),
        }
    }

    /// Sets the marker; a second one is reconciled with the first.
    pub fn marker(&mut self, marker: Liveness) {
        self.marker = Some(match self.marker {
            Some(old) if cell::marker_wins(&old, &marker) => old,
            _ => marker,
        });
    }

    /// Deletes the row; of two deletions the one that supersedes stays.
    pub fn delete(&mut self, deletion: DeletionTime) {
        self.deletion = self.deletion.max(deletion);
    }

    /// Adds the cell of a simple column; a second one for the same column is reconciled with the first.
    pub fn cell(&mut self, column: ColumnId, cell: CellWrite<'_>) {
        self.push(column, None, cell);
    }

    /// Deletes a multi-cell column as a whole; of two deletions the one that supersedes stays.
    pub fn complex_deletion(&mut self, column: ColumnId, deletion: DeletionTime) {
        match self.complex.iter_mut().find(|(id, _)| *id == column) {
            Some((_, old)) => *old = old.max(deletion),
            None => self.complex.push((column, deletion)),
        }
    }

    /// Adds a cell of a multi-cell column at a path (see [`super::cell::Path`]); one with the same position is reconciled.
    pub fn complex_cell(
        &mut self,
        column: ColumnId,
        position: &[u8],
        value_of_path: &[u8],
        cell: CellWrite<'_>,
    ) {
        let position = self.keep(position);
        let value = self.keep(value_of_path);
        self.push(column, Some((position, value)), cell);
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn push(
        &mut self,
        column: ColumnId,
        path: Option<(Range<usize>, Range<usize>)>,
        cell: CellWrite<'_>,
    ) {
        let value = self.keep(cell.value);
        self.cells.push(Pending {
            column,
            path,
            timestamp_micros: cell.timestamp_micros,
            ttl_seconds: cell.ttl_seconds,
            local_deletion_seconds: cell.local_deletion_seconds,
            value,
        });
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.marker.is_none()
            && self.deletion.is_live()
            && self.complex.is_empty()
            && self.cells.is_empty()
    }

    fn view<'a>(&'a self, cell: &Pending) -> CellRef<'a> {
        let path = cell.path.as_ref().map(|(position, value)| Path {
            position: &self.bytes[position.clone()],
            value: &self.bytes[value.clone()],
        });
        CellRef {
            column: cell.column,
            path,
            timestamp_micros: cell.timestamp_micros,
            ttl_seconds: cell.ttl_seconds,
            local_deletion_seconds: cell.local_deletion_seconds,
            value: &self.bytes[cell.value.clone()],
        }
    }

    /// The row.
    pub fn build(mut self) -> Row {
        self.marker = self.marker.filter(|m| !self.deletion.deletes(m.timestamp_micros));
        let deletion = self.deletion;
        self.complex.retain(|(_, complex)| complex.supersedes(&deletion));
        self.complex.sort_by_key(|(column, _)| *column);
        let mut cells = std::mem::take(&mut self.cells);
        if cells.len() > 1 {
            // A stable sort: of equal cells the first stays.
            cells.sort_by(|a, b| place_order(&self.view(a), &self.view(b)));
        }
        let clustering = self.clustering.as_deref();
        let (position, raw) = clustering.map_or((&[][..], &[][..]), |c| (&c.position, &c.raw));
        let mut writer = RowWriter::begin(
            clustering.is_none(),
            position,
            raw,
            self.marker,
            self.deletion,
            &self.complex,
            self.bytes.len() + 12 * cells.len() + 32,
        );
        let mut next = 0;
        while next < cells.len() {
            let mut best = self.view(&cells[next]);
            next += 1;
            while next < cells.len() && same_place(&best, &self.view(&cells[next])) {
                let other = self.view(&cells[next]);
                if !cell::wins(&best, &other) {
                    best = other;
                }
                next += 1;
            }
            writer.cell_unless_deleted(&best);
        }
        writer.finish()
    }
}

/// Order of cells within a row.
#[inline]
pub(crate) fn place_order(a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
    a.column
        .cmp(&b.column)
        .then_with(|| a.path.map(|p| p.position).cmp(&b.path.map(|p| p.position)))
}

#[inline]
fn same_place(a: &CellRef<'_>, b: &CellRef<'_>) -> bool {
    place_order(a, b) == Ordering::Equal
}

/// Writes the bytes of a row from parts that come sorted.
#[derive(Debug)]
pub(crate) struct RowWriter {
    out: Vec<u8>,
    marker: Option<Liveness>,
    deletion: DeletionTime,
    complex: Vec<(ColumnId, DeletionTime)>,
    base_micros: i64,
}

impl RowWriter {
    /// Begins a row. Requires: `complex` is sorted by column, and neither it nor `marker` is deleted by `deletion`.
    pub(crate) fn begin(
        is_static: bool,
        position: &[u8],
        raw: &[u8],
        marker: Option<Liveness>,
        deletion: DeletionTime,
        complex: &[(ColumnId, DeletionTime)],
        size_hint: usize,
    ) -> RowWriter {
        let mut out = Vec::with_capacity(size_hint + position.len() + raw.len() + 24);
        let mut flags = if is_static { data::STATIC } else { 0 };
        out.push(0);
        if !is_static {
            put_bytes(&mut out, position);
        }
        if !raw.is_empty() {
            flags |= data::RAW;
            put_bytes(&mut out, raw);
        }
        if let Some(marker) = marker {
            flags |= data::MARKER;
            out.extend_from_slice(&marker.timestamp_micros.to_le_bytes());
            if marker.ttl_seconds != 0 || marker.expires_seconds != NO_DELETION_TIME {
                flags |= data::MARKER_EXPIRES;
                put(&mut out, u64::from(marker.ttl_seconds));
                put_signed(&mut out, marker.expires_seconds);
            }
        }
        if !deletion.is_live() {
            flags |= data::DELETION;
            put_deletion(&mut out, deletion);
        }
        if !complex.is_empty() {
            flags |= data::COMPLEX;
            put(&mut out, complex.len() as u64);
            for (column, deletion) in complex {
                put(&mut out, u64::from(column.0));
                put_deletion(&mut out, *deletion);
            }
        }
        out[0] = flags;
        let base_micros = marker.map_or(0, |m| m.timestamp_micros);
        RowWriter { out, marker, deletion, complex: complex.to_vec(), base_micros }
    }

    /// Adds a cell unless a deletion of the row or of its column covers it.
    pub(crate) fn cell_unless_deleted(&mut self, cell: &CellRef<'_>) {
        let column = self.complex.iter().find(|(column, _)| *column == cell.column);
        let deletion = column.map_or(self.deletion, |(_, d)| d.max(self.deletion));
        if !deletion.deletes(cell.timestamp_micros) {
            self.cell(cell);
        }
    }

    /// Adds a cell, which comes after all added before.
    pub(crate) fn cell(&mut self, cell: &CellRef<'_>) {
        if self.out[0] & data::CELLS == 0 {
            self.out[0] |= data::CELLS;
            if self.marker.is_none() {
                self.base_micros = cell.timestamp_micros;
                self.out.extend_from_slice(&cell.timestamp_micros.to_le_bytes());
            }
        }
        put(&mut self.out, u64::from(cell.column.0));
        let flags_at = self.out.len();
        self.out.push(0);
        let mut flags = 0;
        if cell.timestamp_micros == self.base_micros {
            flags |= data::CELL_BASE;
        } else {
            self.out.extend_from_slice(&cell.timestamp_micros.to_le_bytes());
        }
        if cell.is_tombstone() {
            flags |= data::CELL_TOMBSTONE;
            put_signed(&mut self.out, cell.local_deletion_seconds);
        } else if cell.ttl_seconds != 0 {
            let like_marker = self.marker.is_some_and(|m| {
                m.ttl_seconds == cell.ttl_seconds
                    && m.expires_seconds == cell.local_deletion_seconds
            });
            if like_marker {
                flags |= data::CELL_MARKER_TIMES;
            } else {
                flags |= data::CELL_EXPIRING;
                put(&mut self.out, u64::from(cell.ttl_seconds));
                put_signed(&mut self.out, cell.local_deletion_seconds);
            }
        }
        if let Some(path) = cell.path {
            flags |= data::CELL_PATH;
            put_bytes(&mut self.out, path.position);
            if path.value != path.position {
                flags |= data::CELL_PATH_VALUE;
                put_bytes(&mut self.out, path.value);
            }
        }
        if flags & data::CELL_TOMBSTONE == 0 {
            put_bytes(&mut self.out, cell.value);
        }
        self.out[flags_at] = flags;
    }

    /// Whether the row would hold nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.out[0] & (data::MARKER | data::DELETION | data::COMPLEX | data::CELLS) == 0
    }

    /// The row.
    pub(crate) fn finish(self) -> Row {
        Row::from_vec(&self.out)
    }

    /// The row, unless it holds nothing.
    pub(crate) fn finish_unless_empty(self) -> Option<Row> {
        if self.is_empty() { None } else { Some(self.finish()) }
    }
}

fn put_deletion(out: &mut Vec<u8>, deletion: DeletionTime) {
    out.extend_from_slice(&deletion.timestamp_micros.to_le_bytes());
    put_signed(out, deletion.local_seconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_comes_back_sorted_and_settled() {
        let key = ClusteringKey { position: vec![2, 7, 0x80], raw: vec![1] };
        let mut builder = RowBuilder::new(&key);
        let (a, b, c) = (ColumnId(3), ColumnId(9), ColumnId(300));
        builder.complex_cell(c, b"\x02y", b"y", CellWrite::live(12, b"late"));
        builder.complex_cell(c, b"\x02x", b"x", CellWrite::live(9, b"gone"));
        builder.complex_cell(c, b"zz", b"zz", CellWrite::expiring(11, 5, 105, b"e"));
        builder.complex_deletion(c, DeletionTime { timestamp_micros: 9, local_seconds: 1 });
        builder.cell(b, CellWrite::live(10, b"one"));
        builder.cell(b, CellWrite::live(10, b"two"));
        builder.cell(a, CellWrite::tombstone(10, 77));
        builder.marker(Liveness::live(10));
        let row = builder.build();
        assert_eq!((row.position(), row.raw_clustering()), (&key.position[..], &[1][..]));
        assert_eq!(row.marker(), Some(Liveness::live(10)));
        let cells: Vec<_> =
            row.cells().map(|c| (c.column.0, c.timestamp_micros, c.value)).collect();
        assert_eq!(
            cells,
            [(3, 10, &b""[..]), (9, 10, b"two"), (300, 12, b"late"), (300, 11, b"e")]
        );
        assert_eq!(row.cell(b).unwrap().value, b"two");
        assert!(row.cell(a).unwrap().is_tombstone());
        assert_eq!(
            row.complex_cells(c).map(|c| c.path.unwrap().value.to_vec()).collect::<Vec<_>>(),
            [&b"y"[..], b"zz"]
        );
        assert_eq!(row.max_timestamp_micros(), 12);
        assert_eq!(Row::from_bytes(row.as_bytes()), Some(row.clone()));
        for cut in 1..row.size_bytes() {
            let whole = Row::from_bytes(&row.as_bytes()[..cut]);
            assert!(whole.is_none() || whole.unwrap().cells().count() < 4);
        }
    }

    #[test]
    fn only_what_never_ends_lives_for_good() {
        let key = ClusteringKey { position: vec![2, 7, 0x80], raw: vec![1] };
        let lives = |fill: &dyn Fn(&mut RowBuilder<'_>)| {
            let mut builder = RowBuilder::new(&key);
            fill(&mut builder);
            data::lives_for_good(builder.build().as_bytes())
        };
        let deletion = DeletionTime { timestamp_micros: 1, local_seconds: 1 };
        let (a, b) = (ColumnId(3), ColumnId(300));
        assert!(lives(&|row| row.marker(Liveness::live(10))));
        assert!(lives(&|row| {
            row.cell(a, CellWrite::live(10, b"one"));
            row.complex_cell(b, b"x", b"x", CellWrite::live(11, b""));
            row.complex_cell(b, b"y", b"other", CellWrite::live(12, &[7; 300]));
        }));
        assert!(!lives(&|_| {}));
        assert!(!lives(&|row| {
            row.marker(Liveness { timestamp_micros: 10, ttl_seconds: 5, expires_seconds: 105 });
        }));
        assert!(!lives(&|row| {
            row.marker(Liveness::live(10));
            row.cell(a, CellWrite::live(10, b"one"));
            row.cell(b, CellWrite::tombstone(10, 77));
        }));
        assert!(!lives(&|row| row.cell(a, CellWrite::expiring(10, 5, 105, b"e"))));
        assert!(!lives(&|row| {
            row.marker(Liveness::live(10));
            row.delete(deletion);
        }));
        assert!(!lives(&|row| {
            row.marker(Liveness::live(10));
            row.complex_deletion(b, deletion);
        }));
    }
}
