//! A mutation as bytes: what commit log, hints, batch log and messages share.
//!
//! ```text
//! table id (16) | token (8) | key | flags | deletion? | static row? | rows? | ranges?
//!
//! flags   bit 0 partition deletion, 1 static row, 2 rows, 3 ranges
//! rows    number, then each row: the bytes it has in memory
//! ranges  number, then for each: start, end, deletion
//! ```
//!
//! Rows are stored bytes already, and a column is named by its id in them, so encoding is little more than a copy: it is
//! done straight into each node's log, which costs less than keeping one encoding for all of them would.
//! docs/formats.md has the fields.

use super::clustering::Bound;
use super::data::Row;
use super::deletion::DeletionTime;
use super::key::DecoratedKey;
use super::mutation::{Mutation, RangeDeletion};
use super::varint::{self, Reader};
use crate::ring::Token;
use crate::schema::{Table, TableId};
use bytes::Bytes;
use std::sync::Arc;
use uuid::Uuid;

const DELETION: u8 = 1;
const STATIC_ROW: u8 = 2;
const ROWS: u8 = 4;
const RANGES: u8 = 8;

impl Mutation {
    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.table.id.0.as_bytes());
        out.extend_from_slice(&self.key.token.0.to_le_bytes());
        varint::put_bytes(out, &self.key.bytes);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        out.push(
            flag(!self.deletion.is_live(), DELETION)
                | flag(self.static_row.is_some(), STATIC_ROW)
                | flag(!self.rows.is_empty(), ROWS)
                | flag(!self.ranges.is_empty(), RANGES),
        );
        if !self.deletion.is_live() {
            put_deletion(out, self.deletion);
        }
        if let Some(row) = &self.static_row {
            varint::put_bytes(out, row.as_bytes());
        }
        if !self.rows.is_empty() {
            varint::put(out, self.rows.len() as u64);
            self.rows.iter().for_each(|row| varint::put_bytes(out, row.as_bytes()));
        }
        if !self.ranges.is_empty() {
            varint::put(out, self.ranges.len() as u64);
            for range in &self.ranges {
                varint::put_bytes(out, &range.start.0);
                varint::put_bytes(out, &range.end.0);
                put_deletion(out, range.deletion);
            }
        }
    }

    /// The mutation of these bytes. `table` finds the table of an id; with none the mutation is skipped: `Ok(None)`.
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn decode(
        bytes: &[u8],
        table: impl FnOnce(TableId) -> Option<Arc<Table>>,
    ) -> Result<Option<Mutation>, Damaged> {
        let mut reader = Reader::new(bytes);
        let id = reader.take(16).and_then(|id| Uuid::from_slice(id).ok()).ok_or(Damaged)?;
        let Some(table) = table(TableId(id)) else { return Ok(None) };
        let mutation = body(&mut reader, table).ok_or(Damaged)?;
        if reader.is_empty() { Ok(Some(mutation)) } else { Err(Damaged) }
    }
}

/// Bytes that are no mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

fn body(reader: &mut Reader<'_>, table: Arc<Table>) -> Option<Mutation> {
    let token = Token(reader.fixed_i64()?);
    let key = DecoratedKey { token, bytes: Bytes::copy_from_slice(reader.bytes()?) };
    let mut mutation = Mutation::new(table, key);
    let flags = reader.u8()?;
    if flags & DELETION != 0 {
        mutation.deletion = deletion(reader)?;
    }
    if flags & STATIC_ROW != 0 {
        mutation.static_row = Some(row(reader)?);
    }
    if flags & ROWS != 0 {
        for _ in 0..reader.u64()? {
            mutation.rows.push(row(reader)?);
        }
    }
    if flags & RANGES != 0 {
        for _ in 0..reader.u64()? {
            let mut bound = || Some(Bound(reader.bytes()?.to_vec()));
            let (start, end) = (bound()?, bound()?);
            mutation.ranges.push(RangeDeletion { start, end, deletion: deletion(reader)? });
        }
    }
    (flags < 2 * RANGES).then_some(mutation)
}

fn row(reader: &mut Reader<'_>) -> Option<Row> {
    Row::from_bytes(reader.bytes()?)
}

fn put_deletion(out: &mut Vec<u8>, deletion: DeletionTime) {
    out.extend_from_slice(&deletion.timestamp_micros.to_le_bytes());
    varint::put_signed(out, deletion.local_seconds);
}

fn deletion(reader: &mut Reader<'_>) -> Option<DeletionTime> {
    let timestamp_micros = reader.fixed_i64()?;
    Some(DeletionTime { timestamp_micros, local_seconds: reader.i64()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{CellWrite, ClusteringKey, Liveness, RowBuilder};
    use crate::schema::ColumnId;
    use std::collections::BTreeMap;

    #[test]
    fn a_mutation_comes_back_and_a_cut_one_does_not() {
        let id = TableId(Uuid::from_u128(7));
        let table =
            Arc::new(Table::new(id, "k", "t", Vec::new(), BTreeMap::new(), Default::default()));
        let mut mutation =
            Mutation::new(Arc::clone(&table), DecoratedKey::from_components(&[b"key"]));
        mutation.deletion = DeletionTime { timestamp_micros: 5, local_seconds: -6 };
        let mut row = RowBuilder::new(&ClusteringKey { position: vec![1, 0x80], raw: Vec::new() });
        row.marker(Liveness::live(10));
        row.cell(ColumnId(3), CellWrite::live(11, b"x"));
        mutation.rows.push(row.build());
        mutation.ranges.push(RangeDeletion {
            start: Bound::start(),
            end: Bound(vec![9, 0xff]),
            deletion: DeletionTime { timestamp_micros: 7, local_seconds: 8 },
        });
        let mut bytes = Vec::new();
        mutation.encode(&mut bytes);
        let back = Mutation::decode(&bytes, |_| Some(Arc::clone(&table))).unwrap().unwrap();
        assert_eq!((&back.key, back.deletion), (&mutation.key, mutation.deletion));
        assert_eq!((&back.rows, &back.ranges), (&mutation.rows, &mutation.ranges));
        assert!(back.static_row.is_none());
        for len in 0..bytes.len() {
            assert!(
                Mutation::decode(&bytes[..len], |_| Some(Arc::clone(&table))).is_err(),
                "{len}"
            );
        }
        assert!(matches!(Mutation::decode(&bytes, |_| None), Ok(None)));
    }
}
