//! A row in one allocation.
//!
//! The bytes of a [`Row`] are the same in memtable, SSTable, message and result (design decision 4), so a row
//! moves between them without being taken apart:
//!
//! ```text
//! flags | position | raw? | marker? | deletion? | complex deletions? | base? | cell cell cell ...
//!
//! flags              bit 0 static (no position), 1 raw, 2 marker, 3 marker expires, 4 deletion, 5 complex deletions,
//!                    6 cells
//! position, raw      varint length, bytes
//! marker             timestamp (8, little-endian) [ttl varint, expiry signed varint]
//! deletion           timestamp (8), second signed varint
//! complex deletions  count varint, then for each: column varint, timestamp (8), second signed varint
//! base               timestamp (8) that cells refer to: only if there are cells and no marker
//! cell               column varint | flags | timestamp (8)? | times? | path? | value (varint length, bytes)?
//!   flags            bit 0 timestamp is the marker's (or the base), 1 tombstone: second, no value,
//!                    2 expiring: ttl, expiry, 3 expiring with the marker's ttl and expiry,
//!                    4 path position (varint length, bytes), 5 path value differs from its position and follows
//! ```
//!
//! A row is always *settled*: nothing in it is deleted by its own row or column deletions. [`RowBuilder`] and
//! the merge see to that, so a reader never has to check.

use super::builder::RowWriter;
use super::cell::{CellRef, Liveness, Path};
use super::deletion::{DeletionTime, NO_DELETION_TIME};
use super::varint::Reader;
use crate::schema::ColumnId;
use std::fmt;
use std::sync::Arc;

pub use super::builder::RowBuilder;

pub(super) const STATIC: u8 = 1;
pub(super) const RAW: u8 = 2;
pub(super) const MARKER: u8 = 4;
pub(super) const MARKER_EXPIRES: u8 = 8;
pub(super) const DELETION: u8 = 16;
pub(super) const COMPLEX: u8 = 32;
pub(super) const CELLS: u8 = 64;

pub(super) const CELL_BASE: u8 = 1;
pub(super) const CELL_TOMBSTONE: u8 = 2;
pub(super) const CELL_EXPIRING: u8 = 4;
pub(super) const CELL_MARKER_TIMES: u8 = 8;
pub(super) const CELL_PATH: u8 = 16;
pub(super) const CELL_PATH_VALUE: u8 = 32;

/// A row, static or not: position, marker, deletion, cells sorted by column id and path. Cheap to clone: all
/// clones share the bytes, which may be a part of a larger block.
#[derive(Clone)]
pub struct Row {
    bytes: Arc<[u8]>,
    start: u32,
    end: u32,
}

const SOUND: &str = "the bytes of a row were written by the builder or checked when read";

impl Row {
    pub(super) fn from_vec(bytes: &[u8]) -> Row {
        let end = u32::try_from(bytes.len()).expect("a row is smaller than 4 GiB");
        Row { bytes: Arc::from(bytes), start: 0, end }
    }

    /// The row that lies in `block[start..end]`.
    /// Requires: the bytes there passed [`Row::is_sound`], or a checksum over what a [`RowBuilder`] wrote.
    pub(crate) fn in_block(block: Arc<[u8]>, start: usize, end: usize) -> Row {
        debug_assert!(Row::is_sound(&block[start..end]));
        let narrow = |at| u32::try_from(at).expect("a block is smaller than 4 GiB");
        Row { bytes: block, start: narrow(start), end: narrow(end) }
    }

    /// The same row with an allocation of its own, so that it keeps no block alive.
    pub(crate) fn detached(self) -> Row {
        if self.as_bytes().len() == self.bytes.len() {
            self
        } else {
            Row::from_vec(self.as_bytes())
        }
    }

    /// Where the row lies in its block.
    pub(crate) fn extent(&self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }

    /// Moves the handle to another row of the same block.
    pub(crate) fn move_to(&mut self, start: usize, end: usize) {
        let narrow = |at| u32::try_from(at).expect("a block is smaller than 4 GiB");
        (self.start, self.end) = (narrow(start), narrow(end));
    }

    /// A row from bytes that [`Row::as_bytes`] gave; `None` if they are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Option<Row> {
        Row::is_sound(bytes).then(|| Row::from_vec(bytes))
    }

    /// The encoded row (see the head of this module).
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start as usize..self.end as usize]
    }

    /// Size of the encoded row.
    pub fn size_bytes(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether `bytes` can be walked as a row from end to end.
    pub(crate) fn is_sound(bytes: &[u8]) -> bool {
        fn walk(bytes: &[u8]) -> Option<()> {
            let mut cells = Cells::start(Parts::parse(bytes)?);
            while !cells.rest.is_empty() {
                cells.step()?;
            }
            Some(())
        }
        walk(bytes).is_some()
    }

    #[inline]
    fn flags(&self) -> u8 {
        self.bytes[self.start as usize]
    }

    /// The row taken apart once, for a reader that wants several things of it.
    #[inline]
    pub fn parts(&self) -> Parts<'_> {
        Parts::parse(self.as_bytes()).expect(SOUND)
    }

    /// Whether it is the static row of its partition.
    pub fn is_static(&self) -> bool {
        self.flags() & STATIC != 0
    }

    /// Position in clustering order, ending in [`super::clustering::ROW`]; empty for a static row.
    #[inline]
    pub fn position(&self) -> &[u8] {
        if self.is_static() {
            return &[];
        }
        Reader::new(&self.as_bytes()[1..]).bytes().expect(SOUND)
    }

    /// Raw clustering values ([`super::clustering::ClusteringKey::raw`]); empty if they can be decoded from the position.
    pub fn raw_clustering(&self) -> &[u8] {
        self.parts().raw
    }

    /// The marker, if there is one.
    pub fn marker(&self) -> Option<Liveness> {
        if self.flags() & MARKER == 0 { None } else { self.parts().marker }
    }

    /// The row deletion; [`DeletionTime::LIVE`] if there is none.
    pub fn deletion(&self) -> DeletionTime {
        if self.flags() & DELETION == 0 { DeletionTime::LIVE } else { self.parts().deletion }
    }

    /// All cells, by column id, then path.
    pub fn cells(&self) -> impl Iterator<Item = CellRef<'_>> {
        self.cell_cursor()
    }

    pub(crate) fn cell_cursor(&self) -> Cells<'_> {
        Cells::start(self.parts())
    }

    /// Whether it holds neither cells nor deletions of columns.
    pub(crate) fn has_no_columns(&self) -> bool {
        self.flags() & (CELLS | COMPLEX) == 0
    }

    pub(crate) fn has_complex_deletions(&self) -> bool {
        self.flags() & COMPLEX != 0
    }

    /// Deletions of whole multi-cell columns, by column id.
    pub fn complex_deletions(&self) -> impl Iterator<Item = (ColumnId, DeletionTime)> {
        self.parts().complex_deletions()
    }

    /// The cell of a simple column.
    pub fn cell(&self, column: ColumnId) -> Option<CellRef<'_>> {
        self.parts().cell(column)
    }

    /// The cells of a multi-cell column, by path.
    pub fn complex_cells(&self, column: ColumnId) -> impl Iterator<Item = CellRef<'_>> {
        self.cells()
            .skip_while(move |cell| cell.column < column)
            .take_while(move |cell| cell.column == column)
    }

    /// The greatest timestamp in it: of marker, deletions and cells. [`super::deletion::NO_TIMESTAMP`] if it is empty.
    pub fn max_timestamp_micros(&self) -> i64 {
        let parts = self.parts();
        let marker = parts.marker.map(|m| m.timestamp_micros);
        let complex = self.complex_deletions().map(|(_, d)| d.timestamp_micros);
        let cells = Cells::start(parts).map(|c| c.timestamp_micros);
        cells.chain(complex).chain(marker).fold(parts.deletion.timestamp_micros, i64::max)
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Row {}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Row");
        out.field("position", &self.position());
        if let Some(marker) = self.marker() {
            out.field("marker", &marker);
        }
        if !self.deletion().is_live() {
            out.field("deletion", &self.deletion());
        }
        out.field("complex_deletions", &self.complex_deletions().collect::<Vec<_>>());
        out.field("cells", &self.cells().collect::<Vec<_>>()).finish()
    }
}

/// A row taken apart as far as its cells.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub(crate) position: &'a [u8],
    pub(crate) raw: &'a [u8],
    pub(crate) marker: Option<Liveness>,
    pub(crate) deletion: DeletionTime,
    /// The encoded deletions of columns, without their number.
    complex: &'a [u8],
    base_micros: i64,
    cells: &'a [u8],
}

impl<'a> Parts<'a> {
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Parts<'a>> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u8()?;
        let position = if flags & STATIC == 0 { reader.bytes()? } else { &[] };
        let raw = if flags & RAW == 0 { &[] } else { reader.bytes()? };
        let marker = if flags & MARKER == 0 { None } else { Some(marker(&mut reader, flags)?) };
        let deletion =
            if flags & DELETION == 0 { DeletionTime::LIVE } else { deletion(&mut reader)? };
        let complex = if flags & COMPLEX == 0 { &[] } else { complex(&mut reader)? };
        let base_micros = match marker {
            Some(marker) => marker.timestamp_micros,
            None if flags & CELLS == 0 => 0,
            None => reader.fixed_i64()?,
        };
        Some(Parts { position, raw, marker, deletion, complex, base_micros, cells: reader.rest })
    }

    /// As [`Row::position`].
    #[inline]
    pub fn position(&self) -> &'a [u8] {
        self.position
    }

    /// As [`Row::raw_clustering`].
    #[inline]
    pub fn raw_clustering(&self) -> &'a [u8] {
        self.raw
    }

    /// As [`Row::cell`].
    #[inline]
    pub fn cell(&self, column: ColumnId) -> Option<CellRef<'a>> {
        Cells::start(*self).find(|cell| cell.column >= column).filter(|cell| cell.column == column)
    }

    pub(crate) fn complex_deletions(
        &self,
    ) -> impl Iterator<Item = (ColumnId, DeletionTime)> + use<'a> {
        let mut reader = Reader::new(self.complex);
        std::iter::from_fn(
            move || if reader.is_empty() { None } else { complex_deletion(&mut reader) },
        )
    }

    /// Whether it has deletions of whole multi-cell columns.
    pub(crate) fn has_complex_deletions(&self) -> bool {
        !self.complex.is_empty()
    }
}

/// Whether everything in the row lives, at whatever second: a marker or cells, none of which expires, and no deletion.
/// Cheaper than taking it apart, since only lengths are looked at; `false` as well if the bytes are damaged.
#[inline]
pub(crate) fn lives_for_good(bytes: &[u8]) -> bool {
    fn walk(bytes: &[u8]) -> Option<bool> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u8()?;
        let ends = MARKER_EXPIRES | DELETION | COMPLEX;
        if flags & ends != 0 || flags & (MARKER | CELLS) == 0 {
            return Some(false);
        }
        if flags & STATIC == 0 {
            reader.bytes()?;
        }
        if flags & RAW != 0 {
            reader.bytes()?;
        }
        // The marker's timestamp, or the one that cells refer to.
        reader.fixed_i64()?;
        while !reader.is_empty() {
            reader.u64()?;
            let cell = reader.u8()?;
            if cell & (CELL_TOMBSTONE | CELL_EXPIRING | CELL_MARKER_TIMES) != 0 {
                return Some(false);
            }
            if cell & CELL_BASE == 0 {
                reader.fixed_i64()?;
            }
            if cell & CELL_PATH != 0 {
                reader.bytes()?;
            }
            if cell & CELL_PATH_VALUE != 0 {
                reader.bytes()?;
            }
            reader.bytes()?;
        }
        Some(true)
    }
    walk(bytes) == Some(true)
}

/// The deletion of a row that is nothing but deleted; `None` for any other.
#[inline]
pub(crate) fn bare_deletion(bytes: &[u8]) -> Option<DeletionTime> {
    let mut reader = Reader::new(bytes);
    if reader.u8()? != DELETION {
        return None;
    }
    reader.bytes()?;
    deletion(&mut reader)
}

#[inline]
fn marker(reader: &mut Reader<'_>, flags: u8) -> Option<Liveness> {
    let timestamp_micros = reader.fixed_i64()?;
    if flags & MARKER_EXPIRES == 0 {
        return Some(Liveness::live(timestamp_micros));
    }
    let ttl_seconds = u32::try_from(reader.u64()?).ok()?;
    Some(Liveness { timestamp_micros, ttl_seconds, expires_seconds: reader.i64()? })
}

#[inline]
fn deletion(reader: &mut Reader<'_>) -> Option<DeletionTime> {
    let timestamp_micros = reader.fixed_i64()?;
    Some(DeletionTime { timestamp_micros, local_seconds: reader.i64()? })
}

fn complex_deletion(reader: &mut Reader<'_>) -> Option<(ColumnId, DeletionTime)> {
    let column = ColumnId(u16::try_from(reader.u64()?).ok()?);
    Some((column, deletion(reader)?))
}

fn complex<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let count = reader.u64()?;
    let from = reader.rest;
    for _ in 0..count {
        complex_deletion(reader)?;
    }
    Some(&from[..from.len() - reader.rest.len()])
}

/// Walks the cells of a row.
#[derive(Clone, Debug)]
pub(crate) struct Cells<'a> {
    base_micros: i64,
    marker: Option<Liveness>,
    rest: Reader<'a>,
}

impl<'a> Cells<'a> {
    pub(crate) fn start(parts: Parts<'a>) -> Cells<'a> {
        Cells {
            base_micros: parts.base_micros,
            marker: parts.marker,
            rest: Reader::new(parts.cells),
        }
    }

    #[inline]
    fn step(&mut self) -> Option<CellRef<'a>> {
        let reader = &mut self.rest;
        let column = ColumnId(u16::try_from(reader.u64()?).ok()?);
        let flags = reader.u8()?;
        let timestamp_micros =
            if flags & CELL_BASE == 0 { reader.fixed_i64()? } else { self.base_micros };
        let (mut ttl_seconds, mut local_deletion_seconds) = (0, NO_DELETION_TIME);
        if flags & CELL_MARKER_TIMES != 0 {
            let marker = self.marker?;
            (ttl_seconds, local_deletion_seconds) = (marker.ttl_seconds, marker.expires_seconds);
        } else if flags & CELL_EXPIRING != 0 {
            ttl_seconds = u32::try_from(reader.u64()?).ok()?;
            local_deletion_seconds = reader.i64()?;
        } else if flags & CELL_TOMBSTONE != 0 {
            local_deletion_seconds = reader.i64()?;
        }
        let path = if flags & CELL_PATH == 0 {
            None
        } else {
            let position = reader.bytes()?;
            let value = if flags & CELL_PATH_VALUE == 0 { position } else { reader.bytes()? };
            Some(Path { position, value })
        };
        let value = if flags & CELL_TOMBSTONE == 0 { reader.bytes()? } else { &[] };
        Some(CellRef { column, path, timestamp_micros, ttl_seconds, local_deletion_seconds, value })
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = CellRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<CellRef<'a>> {
        if self.rest.is_empty() { None } else { Some(self.step().expect(SOUND)) }
    }
}

/// A copy of the row of `parts` with another marker, deletions and a choice of its cells is written with this.
pub(crate) fn rewrite(
    row: &Row,
    marker: Option<Liveness>,
    deletion: DeletionTime,
    complex: &[(ColumnId, DeletionTime)],
) -> RowWriter {
    let parts = row.parts();
    RowWriter::begin(
        row.is_static(),
        parts.position,
        parts.raw,
        marker,
        deletion,
        complex,
        row.size_bytes(),
    )
}
