//! Writes one column: cells, tombstones and deletions of collections (sheet B.6).
//!
//! ```text
//! s = {'a'}        deletion of all of s a microsecond earlier, then a cell at path 'a'
//! s = s + {'b'}    a cell at path 'b'
//! DELETE s         deletion of all of s
//! l = l + [7]      a cell at the path of a new timeuuid: lists sort by time of appending
//! ```

use super::Lists;
use super::using::Times;
use crate::analysis::modification::{Operation, OperationKind};
use crate::analysis::terms::{Bound, Env, Term};
use crate::error::Error;
use crate::error::modification::ModificationError as E;
use crate::error::term::TermError;
use cassling_engine::row::deletion::NO_DELETION_TIME;
use cassling_engine::row::{CellWrite, DeletionTime, Row, RowBuilder};
use cassling_engine::types::{CqlType, codec, order};

/// 2010-01-01T00:00:00Z in 100 ns steps since 1582-10-15: around it, prepended elements count backwards.
const PREPEND_REFERENCE_TICKS: u64 = 12_219_292_800 * 10_000_000 + 1_262_304_000 * 10_000_000;

/// Writes the operations of one statement into rows of one partition.
pub(super) struct Writer<'w, 'v> {
    pub(super) env: &'w Env<'v>,
    pub(super) times: &'w Times,
    pub(super) lists: &'w Lists,
}

impl Writer<'_, '_> {
    /// Writes one operation; `position` is that of the row, `None` for the static row.
    pub(super) fn write(
        &self,
        operation: &Operation,
        position: Option<&[u8]>,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        match &operation.kind {
            OperationKind::Set(term) => self.set(operation, term, row),
            OperationKind::Add(term) => self.add(operation, term, row),
            OperationKind::Prepend(term) => self.prepend(operation, term, row),
            OperationKind::Remove(term) => self.remove(operation, term, row),
            OperationKind::RemoveValues(term) => self.remove_values(operation, term, position, row),
            OperationKind::SetKey { key, value } => self.set_key(operation, key, value, row),
            OperationKind::SetIndex { index, value } => {
                self.set_index(operation, index, value, position, row)
            }
            OperationKind::SetField { field, value } => {
                let path = field.to_be_bytes();
                self.part(operation, &path, &path, &value.bind(self.env)?, row);
                Ok(())
            }
            OperationKind::Delete => {
                self.delete(operation, row);
                Ok(())
            }
            OperationKind::DeleteKey(key) => self.delete_key(operation, key, row),
            OperationKind::DeleteIndex(index) => self.delete_index(operation, index, position, row),
            OperationKind::DeleteField(field) => {
                let path = field.to_be_bytes();
                row.complex_cell(operation.column, &path, &path, self.tombstone());
                Ok(())
            }
        }
    }

    fn cell<'c>(&self, value: &'c [u8]) -> CellWrite<'c> {
        CellWrite {
            timestamp_micros: self.times.timestamp_micros,
            ttl_seconds: self.times.ttl_seconds,
            local_deletion_seconds: match self.times.ttl_seconds {
                0 => NO_DELETION_TIME,
                _ => self.times.expires_seconds(),
            },
            value,
        }
    }

    fn tombstone(&self) -> CellWrite<'static> {
        CellWrite::tombstone(self.times.timestamp_micros, self.times.now_seconds)
    }

    /// A cell of a multi-cell column, or its tombstone if the value is null.
    fn part(
        &self,
        operation: &Operation,
        position: &[u8],
        path: &[u8],
        value: &Bound<'_>,
        row: &mut RowBuilder,
    ) {
        match value {
            Bound::Unset => {}
            Bound::Null => row.complex_cell(operation.column, position, path, self.tombstone()),
            Bound::Value(bytes) => {
                row.complex_cell(operation.column, position, path, self.cell(bytes));
            }
        }
    }

    fn set(&self, operation: &Operation, term: &Term, row: &mut RowBuilder) -> Result<(), Error> {
        let value = term.bind(self.env)?;
        if !operation.ty.is_multi_cell() {
            match &value {
                Bound::Unset => {}
                Bound::Null => row.cell(operation.column, self.tombstone()),
                Bound::Value(bytes) => row.cell(operation.column, self.cell(bytes)),
            }
            return Ok(());
        }
        if value == Bound::Unset {
            return Ok(());
        }
        // A moment earlier, so that it takes what was there and not what comes with it.
        let before = DeletionTime {
            timestamp_micros: self.times.timestamp_micros - 1,
            local_seconds: self.times.now_seconds,
        };
        row.complex_deletion(operation.column, before);
        self.add_value(operation, &value, row)
    }

    fn add(&self, operation: &Operation, term: &Term, row: &mut RowBuilder) -> Result<(), Error> {
        let value = term.bind(self.env)?;
        if value == Bound::Unset && matches!(operation.ty, CqlType::List { .. }) {
            // A fault of Cassandra's own, which must not become a silent success here.
            let text = "an unset value cannot be appended to a list".to_string();
            return Err(Error::new(E::ServerError(text)));
        }
        self.add_value(operation, &value, row)
    }

    /// Cells for the elements of a collection or the fields of a user-defined type.
    fn add_value(
        &self,
        operation: &Operation,
        value: &Bound<'_>,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let Bound::Value(bytes) = value else { return Ok(()) };
        match &operation.ty {
            CqlType::Set { element, .. } => {
                for item in codec::elements(bytes).map_err(term_error)?.into_iter().flatten() {
                    let position = encoded(element, item);
                    row.complex_cell(operation.column, &position, item, self.cell(&[]));
                }
            }
            CqlType::Map { key, .. } => {
                for (k, v) in codec::entries(bytes).map_err(term_error)? {
                    let (Some(k), Some(v)) = (k, v) else { continue };
                    row.complex_cell(operation.column, &encoded(key, k), k, self.cell(v));
                }
            }
            CqlType::List { .. } => {
                for item in codec::elements(bytes).map_err(term_error)?.into_iter().flatten() {
                    let path = *self.env.cluster.next_timeuuid().as_bytes();
                    self.list_cell(operation, &path, self.cell(item), row);
                }
            }
            CqlType::Udt { .. } => {
                let fields = codec::components(bytes).map_err(term_error)?;
                for (place, field) in fields.into_iter().enumerate() {
                    let (Some(field), Ok(place)) = (field, u16::try_from(place)) else { continue };
                    let path = place.to_be_bytes();
                    row.complex_cell(operation.column, &path, &path, self.cell(field));
                }
            }
            other => unreachable!("{other} has no cells of its own"),
        }
        Ok(())
    }

    fn list_cell(
        &self,
        operation: &Operation,
        path: &[u8],
        cell: CellWrite<'_>,
        row: &mut RowBuilder,
    ) {
        row.complex_cell(operation.column, &encoded(&CqlType::Timeuuid, path), path, cell);
    }

    /// Elements before all that were there: their times are mirrored at a day in the past, so that a later one
    /// sorts earlier; among themselves they keep the order written.
    fn prepend(
        &self,
        operation: &Operation,
        term: &Term,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let Bound::Value(bytes) = term.bind(self.env)? else { return Ok(()) };
        let items = codec::elements(&bytes).map_err(term_error)?;
        for item in items.into_iter().flatten().rev() {
            let path = mirrored(*self.env.cluster.next_timeuuid().as_bytes());
            self.list_cell(operation, &path, self.cell(item), row);
        }
        Ok(())
    }

    fn remove(
        &self,
        operation: &Operation,
        term: &Term,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let Bound::Value(bytes) = term.bind(self.env)? else { return Ok(()) };
        let ty = path_type(&operation.ty);
        for item in codec::elements(&bytes).map_err(term_error)?.into_iter().flatten() {
            row.complex_cell(operation.column, &encoded(ty, item), item, self.tombstone());
        }
        Ok(())
    }

    fn remove_values(
        &self,
        operation: &Operation,
        term: &Term,
        position: Option<&[u8]>,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let Bound::Value(bytes) = term.bind(self.env)? else { return Ok(()) };
        let CqlType::List { element, .. } = &operation.ty else {
            unreachable!("values are removed from lists")
        };
        let removed = codec::elements(&bytes).map_err(term_error)?;
        for (path, value) in self.list(operation, position, row) {
            let same = |item: &[u8]| order::compare(element, item, &value).is_eq();
            if removed.iter().flatten().any(|item| same(item)) {
                self.list_cell(operation, &path, self.tombstone(), row);
            }
        }
        Ok(())
    }

    /// The elements of a list, paths and values: as they were read, and as earlier operations of the same statement
    /// have changed them.
    fn list(
        &self,
        operation: &Operation,
        position: Option<&[u8]>,
        pending: &RowBuilder,
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let read = self.lists.row(position).cloned();
        let pending = (!pending.is_empty()).then(|| pending.clone().build());
        let Some(row) = Row::merged(read.as_ref(), pending.as_ref()) else { return Vec::new() };
        row.complex_cells(operation.column)
            .filter(|cell| cell.is_live(self.times.now_seconds))
            .filter_map(|cell| Some((cell.path?.value.to_vec(), cell.value.to_vec())))
            .collect()
    }

    fn set_key(
        &self,
        operation: &Operation,
        key: &Term,
        value: &Term,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let key = self.key(operation, key)?;
        let Some(key) = key else { return Ok(()) };
        let position = encoded(path_type(&operation.ty), &key);
        self.part(operation, &position, &key, &value.bind(self.env)?, row);
        Ok(())
    }

    /// The key of a map or the element of a set; `None` if nothing is to be done.
    fn key(&self, operation: &Operation, key: &Term) -> Result<Option<Vec<u8>>, Error> {
        let is_map = matches!(operation.ty, CqlType::Map { .. });
        match key.bind(self.env)? {
            Bound::Value(bytes) => Ok(Some(bytes.into_owned())),
            Bound::Null if is_map => Err(Error::new(E::NullMapKey)),
            Bound::Unset if is_map => Err(Error::new(E::UnsetMapKey)),
            Bound::Null => Err(Error::new(E::NullSetElement)),
            Bound::Unset => Ok(None),
        }
    }

    fn set_index(
        &self,
        operation: &Operation,
        index: &Term,
        value: &Term,
        position: Option<&[u8]>,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let index = match index.bind(self.env)? {
            Bound::Null => return Err(Error::new(E::NullListIndex)),
            Bound::Unset => return Err(Error::new(E::UnsetListIndex)),
            Bound::Value(bytes) => index_of(&bytes)?,
        };
        let value = value.bind(self.env)?;
        let path =
            self.path_at(operation, index, position, row, E::NullList { what: "set", side: "on" })?;
        let cell = match &value {
            Bound::Unset => return Ok(()),
            Bound::Null => self.tombstone(),
            Bound::Value(bytes) => self.cell(bytes),
        };
        self.list_cell(operation, &path, cell, row);
        Ok(())
    }

    fn delete_index(
        &self,
        operation: &Operation,
        index: &Term,
        position: Option<&[u8]>,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        let index = match index.bind(self.env)? {
            Bound::Null => return Err(Error::new(E::NullListIndex)),
            Bound::Unset => return Ok(()),
            Bound::Value(bytes) => index_of(&bytes)?,
        };
        let none = E::NullList { what: "delete", side: "from" };
        let path = self.path_at(operation, index, position, row, none)?;
        self.list_cell(operation, &path, self.tombstone(), row);
        Ok(())
    }

    /// The path of a list's element.
    fn path_at(
        &self,
        operation: &Operation,
        index: i32,
        position: Option<&[u8]>,
        pending: &RowBuilder,
        none: E,
    ) -> Result<Vec<u8>, Error> {
        let mut list = self.list(operation, position, pending);
        if list.is_empty() {
            return Err(Error::new(none));
        }
        let size = list.len();
        match usize::try_from(index) {
            Ok(place) if place < size => Ok(list.swap_remove(place).0),
            _ => Err(Error::new(E::ListIndex { index, size })),
        }
    }

    fn delete(&self, operation: &Operation, row: &mut RowBuilder) {
        if operation.ty.is_multi_cell() {
            row.complex_deletion(operation.column, self.times.deletion());
        } else {
            row.cell(operation.column, self.tombstone());
        }
    }

    fn delete_key(
        &self,
        operation: &Operation,
        key: &Term,
        row: &mut RowBuilder,
    ) -> Result<(), Error> {
        if let Some(key) = self.key(operation, key)? {
            let position = encoded(path_type(&operation.ty), &key);
            row.complex_cell(operation.column, &position, &key, self.tombstone());
        }
        Ok(())
    }
}

/// What the cells of a set or map are sorted by.
fn path_type(ty: &CqlType) -> &CqlType {
    match ty {
        CqlType::Set { element, .. } => element,
        CqlType::Map { key, .. } => key,
        other => unreachable!("{other} is neither set nor map"),
    }
}

fn encoded(ty: &CqlType, value: &[u8]) -> Vec<u8> {
    let mut position = Vec::with_capacity(value.len() + 3);
    order::encode(ty, value, false, &mut position);
    position
}

/// A list's index. Cassandra fails with an exception of its own on the empty `int`, which passes its validation.
fn index_of(bytes: &[u8]) -> Result<i32, Error> {
    <[u8; 4]>::try_from(bytes).map(i32::from_be_bytes).map_err(|_| {
        let text = "a list index cannot be empty".to_string();
        Error::new(E::ServerError(text))
    })
}

fn term_error(error: cassling_engine::types::MarshalError) -> Error {
    Error::new(TermError::Value(error))
}

/// The timeuuid whose time lies as far before the reference as this one's lies behind it.
fn mirrored(mut uuid: [u8; 16]) -> [u8; 16] {
    let low = u64::from(u32::from_be_bytes([uuid[0], uuid[1], uuid[2], uuid[3]]));
    let middle = u64::from(u16::from_be_bytes([uuid[4], uuid[5]]));
    let high = u64::from(u16::from_be_bytes([uuid[6], uuid[7]]) & 0x0fff);
    let ticks = (high << 48) | (middle << 32) | low;
    let ticks = PREPEND_REFERENCE_TICKS.saturating_mul(2).saturating_sub(ticks);
    let high = 0x1000 | ((ticks >> 48) & 0x0fff);
    uuid[..4].copy_from_slice(&ticks.to_be_bytes()[4..]);
    uuid[4..6].copy_from_slice(&ticks.to_be_bytes()[2..4]);
    uuid[6..8].copy_from_slice(&high.to_be_bytes()[6..]);
    uuid
}
