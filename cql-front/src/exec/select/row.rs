//! From the cells of a row to the values of a result row.
//!
//! A column's bytes go to the result as they were stored; only functions look inside. The cells of a multi-cell column
//! lie sorted by path, which is the order of the wire: a set is the list of its paths, a map of paths and values, a
//! list of values, and the fields of a user-defined type go where their paths say.

use crate::analysis::selection::{
    CellPart, CellTimeSelector, ConstantRole, Selection, Selector, Shape, Source,
};
use crate::analysis::terms::{Bound, Env};
use crate::ast::CellTime;
use crate::error::Error;
use crate::error::selection::SelectionError;
use crate::outcome::RowBytes;
use cassling_engine::row::clustering::Values;
use cassling_engine::row::data::Parts;
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::row::{CellRef, Row};
use cassling_engine::schema::{ColumnId, Table};
use cassling_engine::types::{CqlType, codec, order};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A value as wire bytes; `None` is null.
pub(super) type Value<'r> = Option<Cow<'r, [u8]>>;

/// A row that selectors are evaluated on.
#[derive(Clone, Debug)]
pub(super) struct RowView<'r> {
    pub(super) key: &'r DecoratedKey,
    pub(super) static_row: Option<&'r Row>,
    /// `None`: the row of a partition with only statics.
    pub(super) row: Option<&'r Row>,
    /// The same taken apart.
    parts: Option<Parts<'r>>,
    /// Columns of the partition key.
    key_columns: usize,
    clustering: &'r Values,
}

/// What stays the same from row to row.
pub(super) struct Evaluation<'e> {
    pub(super) table: &'e Table,
    pub(super) env: &'e Env<'e>,
    /// Bound terms of the select list.
    pub(super) constants: Vec<Option<Vec<u8>>>,
    /// The second that TTLs are counted from.
    pub(super) now_seconds: i64,
    /// Whether clustering values are needed at all.
    pub(super) wants_clustering: bool,
}

impl<'e> Evaluation<'e> {
    /// Binds the terms of a select list.
    pub(super) fn new(
        table: &'e Table,
        env: &'e Env<'e>,
        selection: &Selection,
        now_seconds: i64,
        wants_clustering: bool,
    ) -> Result<Evaluation<'e>, Error> {
        let mut constants = Vec::with_capacity(selection.constants.len());
        for constant in &selection.constants {
            let bound = constant.term.bind(env)?;
            constants.push(match (bound, &constant.role) {
                (Bound::Value(bytes), _) => Some(bytes.into_owned()),
                (Bound::Null, ConstantRole::Value) => None,
                // Cassandra hands its marker for "unset", a buffer without bytes, on as if it were a value.
                (Bound::Unset, ConstantRole::Value) => Some(Vec::new()),
                (Bound::Unset, ConstantRole::SliceEnd(_)) => None,
                (Bound::Null, _) if constant.term.is_null_literal() => {
                    return Err(SelectionError::ServerFault("java.lang.AssertionError").into());
                }
                (Bound::Null, ConstantRole::Element(of)) => {
                    return Err(SelectionError::NullElement(of.clone()).into());
                }
                (Bound::Null, ConstantRole::SliceEnd(of)) => {
                    return Err(SelectionError::NullSlice(of.clone()).into());
                }
                (Bound::Unset, ConstantRole::Element(of)) => {
                    return Err(SelectionError::UnsetElement(of.clone()).into());
                }
            });
        }
        Ok(Evaluation { table, env, constants, now_seconds, wants_clustering })
    }

    /// A view of a row; `clustering` takes its clustering values, if they are needed.
    pub(super) fn view<'r>(
        &self,
        key: &'r DecoratedKey,
        static_row: Option<&'r Row>,
        row: Option<&'r Row>,
        clustering: &'r mut Values,
    ) -> RowView<'r> {
        let parts = row.map(Row::parts);
        match &parts {
            Some(row) if self.wants_clustering => {
                clustering.read(self.table, row.position(), row.raw_clustering());
            }
            _ => clustering.clear(),
        }
        let key_columns = self.table.partition_key().len();
        RowView { key, static_row, row, parts, key_columns, clustering }
    }

    /// Evaluates all selectors and writes what they give; `aggregates` holds the results of the aggregates.
    pub(super) fn write(
        &self,
        selectors: &[Selector],
        view: &RowView<'_>,
        aggregates: &[Option<Vec<u8>>],
        out: &mut RowBytes,
    ) -> Result<(), Error> {
        for selector in selectors {
            if let Selector::Column(source) = selector
                && let Some(stored) = view.stored(*source)
            {
                out.value(stored);
                continue;
            }
            out.value(self.value(selector, view, aggregates)?.as_deref());
        }
        Ok(())
    }

    /// Evaluates one selector.
    pub(super) fn value<'r>(
        &'r self,
        selector: &'r Selector,
        view: &'r RowView<'_>,
        aggregates: &'r [Option<Vec<u8>>],
    ) -> Result<Value<'r>, Error> {
        let inner = |selector: &'r Selector| self.value(selector, view, aggregates);
        Ok(match selector {
            Selector::Column(source) => view.column(*source),
            Selector::Constant(place) => self.constants[*place].as_deref().map(Cow::Borrowed),
            Selector::Aggregate(place) => aggregates[*place].as_deref().map(Cow::Borrowed),
            Selector::Call { function, arguments } => {
                let values = arguments.iter().map(inner).collect::<Result<Vec<_>, Error>>()?;
                let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
                function.call(self.env, &values)?.map(Cow::Owned)
            }
            Selector::CellTime(time) => self.cell_time(time, view, aggregates)?,
            Selector::Element { of, key_ty, is_map, key } => match inner(of)? {
                Some(whole) => {
                    let key = self.constants[*key].as_deref().unwrap_or_default();
                    element(&whole, key_ty, *is_map, key)?.map(Cow::Owned)
                }
                None => None,
            },
            Selector::Slice { of, key_ty, is_map, frozen, from, to } => match inner(of)? {
                Some(whole) => {
                    let ends = (self.end(*from), self.end(*to));
                    slice(&whole, key_ty, *is_map, *frozen, ends)?.map(Cow::Owned)
                }
                None => None,
            },
            Selector::Field { of, index } => match inner(of)? {
                Some(whole) => {
                    let parts = codec::components(&whole).map_err(damaged)?;
                    parts.get(*index).copied().flatten().map(|part| Cow::Owned(part.to_vec()))
                }
                None => None,
            },
            Selector::Tuple(parts) => {
                let part = |part: &'r Option<Selector>| part.as_ref().map_or(Ok(None), inner);
                let values = parts.iter().map(part).collect::<Result<Vec<_>, Error>>()?;
                Some(Cow::Owned(codec::write_components(values.iter().map(Option::as_deref))))
            }
            Selector::List(elements) => {
                let values = elements.iter().map(inner).collect::<Result<Vec<_>, Error>>()?;
                Some(Cow::Owned(list_of(&values)))
            }
            Selector::Set { ty, elements } => {
                let values = elements.iter().map(inner).collect::<Result<Vec<_>, Error>>()?;
                let values = present(values, "java.lang.NullPointerException")?;
                let bytes = codec::write_elements(values.iter().map(AsRef::as_ref));
                Some(Cow::Owned(codec::normalise(ty, bytes)))
            }
            Selector::Map { ty, entries } => {
                let mut flat = Vec::with_capacity(entries.len() * 2);
                for (key, value) in entries {
                    flat.extend([inner(key)?, inner(value)?]);
                }
                let flat = present(flat, "java.lang.NullPointerException")?;
                let pairs = flat.chunks_exact(2).map(|pair| (pair[0].as_ref(), pair[1].as_ref()));
                Some(Cow::Owned(codec::normalise(ty, codec::write_entries(pairs))))
            }
            Selector::Vector { element, elements } => {
                let values = elements.iter().map(inner).collect::<Result<Vec<_>, Error>>()?;
                let fault = "org.apache.cassandra.serializers.MarshalException";
                let values = present(values, fault)?;
                let values = values.iter().map(AsRef::as_ref);
                Some(Cow::Owned(codec::write_vector(element, values)))
            }
        })
    }

    fn end(&self, place: Option<usize>) -> Option<&[u8]> {
        place.and_then(|place| self.constants[place].as_deref())
    }

    fn cell_time<'r>(
        &'r self,
        time: &'r CellTimeSelector,
        view: &'r RowView<'_>,
        aggregates: &'r [Option<Vec<u8>>],
    ) -> Result<Value<'r>, Error> {
        match self.value(&time.value, view, aggregates)? {
            None => return Ok(None),
            Some(part) if matches!(time.value, Selector::Slice { .. }) => {
                if is_empty_collection(&part) {
                    return Ok(None);
                }
            }
            Some(_) => {}
        }
        let cells = self.cells_of(time, view);
        let bytes = if time.as_list {
            let times: Vec<Value<'_>> = cells
                .into_iter()
                .map(|cell| cell.and_then(|c| self.time_of(time.kind, &c)).map(Cow::Owned))
                .collect();
            Some(list_of(&times))
        } else if time.kind == CellTime::MaxWriteTime {
            let latest = cells.iter().flatten().map(|cell| cell.timestamp_micros).max();
            latest.map(|micros| micros.to_be_bytes().to_vec())
        } else {
            cells.first().copied().flatten().and_then(|cell| self.time_of(time.kind, &cell))
        };
        Ok(bytes.map(Cow::Owned))
    }

    /// writetime of a cell, or the seconds until it expires; `None` if it never does.
    fn time_of(&self, kind: CellTime, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        match kind {
            CellTime::WriteTime | CellTime::MaxWriteTime => {
                Some(cell.timestamp_micros.to_be_bytes().to_vec())
            }
            CellTime::Ttl if cell.ttl_seconds == 0 => None,
            CellTime::Ttl => i32::try_from(cell.local_deletion_seconds - self.now_seconds)
                .ok()
                .map(|seconds| seconds.to_be_bytes().to_vec()),
        }
    }

    /// The cells that a writetime or ttl is about; `None` stands for a field without a cell.
    fn cells_of<'r>(
        &self,
        time: &CellTimeSelector,
        view: &RowView<'r>,
    ) -> Vec<Option<CellRef<'r>>> {
        match time.source {
            Source::PartitionKey(_) | Source::Clustering(_) => Vec::new(),
            Source::Cell { column, is_static } => vec![view.cell(column, is_static)],
            Source::Cells { column, is_static, shape } => {
                let Some(row) = view.row_of(is_static) else { return Vec::new() };
                let cells = row.complex_cells(column);
                match (&time.part, shape) {
                    (CellPart::Whole, Shape::Udt(fields)) => {
                        let mut by_field = vec![None; fields];
                        for cell in cells {
                            if let Some(slot) = by_field.get_mut(field_of(&cell)) {
                                *slot = Some(cell);
                            }
                        }
                        by_field
                    }
                    (CellPart::Whole, _) => cells.map(Some).collect(),
                    (CellPart::Field(index), _) => {
                        cells.filter(|cell| field_of(cell) == *index).map(Some).collect()
                    }
                    (CellPart::Element { key_ty, key }, _) => {
                        let key = self.constants[*key].as_deref();
                        cells.filter(|cell| lies_in(key_ty, cell, (key, key))).map(Some).collect()
                    }
                    (CellPart::Slice { key_ty, from, to }, _) => {
                        let ends = (self.end(*from), self.end(*to));
                        cells.filter(|cell| lies_in(key_ty, cell, ends)).map(Some).collect()
                    }
                }
            }
        }
    }
}

impl<'r> RowView<'r> {
    /// The value of a clustering column; `None` on the row of a partition with only statics.
    pub(super) fn clustering(&self, position: usize) -> Option<&[u8]> {
        self.clustering.get(position)
    }

    fn row_of(&self, is_static: bool) -> Option<&'r Row> {
        if is_static { self.static_row } else { self.row }
    }

    fn cell(&self, column: ColumnId, is_static: bool) -> Option<CellRef<'r>> {
        if is_static {
            return self.static_row.and_then(|row| row.cell(column));
        }
        self.parts.as_ref().and_then(|parts| parts.cell(column))
    }

    /// The value of a column whose bytes lie somewhere as they are; `None` if they have to be put together.
    fn stored(&self, source: Source) -> Option<Option<&[u8]>> {
        match source {
            Source::PartitionKey(place) => Some(self.key.component(place, self.key_columns)),
            Source::Clustering(place) => Some(self.clustering(place)),
            Source::Cell { column, is_static } => {
                Some(self.cell(column, is_static).map(|cell| cell.value))
            }
            Source::Cells { .. } => None,
        }
    }

    fn column(&self, source: Source) -> Value<'_> {
        match source {
            Source::Cells { column, is_static, shape } => {
                assemble(self.row_of(is_static)?, column, shape).map(Cow::Owned)
            }
            _ => self.stored(source)?.map(Cow::Borrowed),
        }
    }
}

/// The wire bytes of a multi-cell column; `None` without cells, since an empty one is null.
fn assemble(row: &Row, column: ColumnId, shape: Shape) -> Option<Vec<u8>> {
    let mut cells = row.complex_cells(column).peekable();
    cells.peek()?;
    Some(match shape {
        Shape::List => codec::write_elements(cells.map(|cell| cell.value)),
        Shape::Set => codec::write_elements(cells.map(|cell| path_of(&cell))),
        Shape::Map => codec::write_entries(cells.map(|cell| (path_of(&cell), cell.value))),
        Shape::Udt(fields) => {
            let mut parts = vec![None; fields];
            for cell in cells {
                if let Some(slot) = parts.get_mut(field_of(&cell)) {
                    *slot = Some(cell.value);
                }
            }
            codec::write_components(parts)
        }
    })
}

fn path_of<'r>(cell: &CellRef<'r>) -> &'r [u8] {
    cell.path.map_or(&[], |path| path.value)
}

/// The field that a cell of a user-defined type belongs to.
fn field_of(cell: &CellRef<'_>) -> usize {
    match cell.path.map(|path| path.value) {
        Some([high, low]) => usize::from(u16::from_be_bytes([*high, *low])),
        _ => usize::MAX,
    }
}

fn lies_in(key_ty: &CqlType, cell: &CellRef<'_>, ends: (Option<&[u8]>, Option<&[u8]>)) -> bool {
    cell.path.is_some_and(|path| within(key_ty, path.value, ends))
}

/// Whether the key lies between the ends, both inclusive; a missing end is open.
fn within(key_ty: &CqlType, key: &[u8], (from, to): (Option<&[u8]>, Option<&[u8]>)) -> bool {
    from.is_none_or(|from| order::compare(key_ty, from, key) != Ordering::Greater)
        && to.is_none_or(|to| order::compare(key_ty, key, to) != Ordering::Greater)
}

fn element(
    whole: &[u8],
    key_ty: &CqlType,
    is_map: bool,
    key: &[u8],
) -> Result<Option<Vec<u8>>, Error> {
    let is_it = |other: &[u8]| order::compare(key_ty, other, key) == Ordering::Equal;
    if is_map {
        let entries = codec::entries(whole).map_err(damaged)?;
        let found = entries.into_iter().find(|(k, _)| k.is_some_and(is_it));
        return Ok(found.and_then(|(_, value)| value).map(<[u8]>::to_vec));
    }
    let elements = codec::elements(whole).map_err(damaged)?;
    Ok(elements.into_iter().flatten().find(|e| is_it(e)).map(<[u8]>::to_vec))
}

/// A slice of a frozen set or map, of which nothing may be left: then it is empty, where one of a collection with
/// cells of its own is null.
fn slice(
    whole: &[u8],
    key_ty: &CqlType,
    is_map: bool,
    frozen: bool,
    ends: (Option<&[u8]>, Option<&[u8]>),
) -> Result<Option<Vec<u8>>, Error> {
    let keep = |key: &[u8]| within(key_ty, key, ends);
    if is_map {
        let entries = codec::entries(whole).map_err(damaged)?;
        let kept: Vec<(&[u8], &[u8])> = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key?, value.unwrap_or_default())))
            .filter(|(key, _)| keep(key))
            .collect();
        return Ok((frozen || !kept.is_empty()).then(|| codec::write_entries(kept)));
    }
    let elements = codec::elements(whole).map_err(damaged)?;
    let kept: Vec<&[u8]> = elements.into_iter().flatten().filter(|e| keep(e)).collect();
    Ok((frozen || !kept.is_empty()).then(|| codec::write_elements(kept)))
}

/// Whether the bytes are those of a list, set or map without elements.
fn is_empty_collection(bytes: &[u8]) -> bool {
    bytes == [0; 4]
}

/// A list whose elements may be null, as only results have it: a null has the length -1.
fn list_of(values: &[Value<'_>]) -> Vec<u8> {
    let len = |n: usize| i32::try_from(n).expect("results are far below 2 GiB").to_be_bytes();
    let mut out = len(values.len()).to_vec();
    for value in values {
        match value {
            Some(bytes) => {
                out.extend_from_slice(&len(bytes.len()));
                out.extend_from_slice(bytes);
            }
            None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        }
    }
    out
}

/// All values; a null among them is a fault of Cassandra's.
fn present<'r>(values: Vec<Value<'r>>, fault: &'static str) -> Result<Vec<Cow<'r, [u8]>>, Error> {
    values
        .into_iter()
        .map(|value| value.ok_or_else(|| SelectionError::ServerFault(fault).into()))
        .collect()
}

/// Stored bytes that are no value of their column's type.
fn damaged(e: codec::MarshalError) -> Error {
    cassling_engine::error::Error::Invalid(e.message).into()
}
