//! How large Cassandra would say that a mutation is.
//!
//! `max_mutation_size` is held against the bytes of Cassandra's own message (and the head of a commit log entry), and
//! the number is in the refusal. So the size is computed for its format, not ours: the format before 5.0, which the
//! default `storage_compatibility_mode` keeps. One recorded example, `INSERT INTO large (k, a, b) VALUES (1, <16777216
//! bytes>, 'x')`:
//!
//! ```text
//! 12 log entry + 1 updates + 16 table id + 5 key + 1 flags + 9 least timestamp, second, ttl + 5 column names
//!  + 1 row count + 1 row flags + 1 timestamp + (1 + 4 + 16777216) a + (1 + 1 + 1) b + 1 end = 16777277
//! ```
//!
//! An estimate only for rows whose cells cover more than 63 columns (sets of columns are counted as bitmaps).

use super::cell::CellRef;
use super::clustering;
use super::data::Row;
use super::deletion::{DeletionTime, NO_DELETION_TIME};
use super::mutation::Mutation;
use crate::schema::{Column, ColumnId, Table};
use crate::types::CqlType;
use std::collections::BTreeSet;

/// Head of a commit log entry: its length and two checksums.
const LOG_ENTRY_BYTES: usize = 12;
/// 2015-09-22: what Cassandra writes timestamps and seconds relative to.
const EPOCH_SECONDS: i64 = 1_442_880_000;

impl Mutation {
    /// Size as Cassandra counts it for `max_mutation_size`.
    pub fn size_bytes(&self) -> usize {
        let sizes = Sizes::of(self);
        let mut total = LOG_ENTRY_BYTES + 1 + 16 + 1;
        total += vint_len(self.key.bytes.len()) + self.key.bytes.len();
        total += vint(sizes.least_micros.wrapping_sub(EPOCH_SECONDS * 1_000_000).cast_unsigned());
        total += vint(sizes.least_second.wrapping_sub(EPOCH_SECONDS).cast_unsigned())
            + vint(sizes.least_ttl.into());
        total += sizes.names(&sizes.regulars);
        if !self.deletion.is_live() {
            total += sizes.deletion(self.deletion);
        }
        if let Some(row) = &self.static_row {
            total += sizes.names(&sizes.statics) + 1 + sizes.row(row, &sizes.statics);
        }
        total += vint_len(self.rows.len());
        total += self.rows.iter().map(|row| sizes.row(row, &sizes.regulars)).sum::<usize>();
        for range in &self.ranges {
            // Two ends: flags, kind, number of values, values, deletion.
            let bounds = range.start.0.len() + range.end.0.len();
            total += 2 * (4 + sizes.deletion(range.deletion)) + bounds;
        }
        total + 1
    }

    /// Its size if that is over `limit_bytes`. Cheap for the small ones.
    pub fn over(&self, limit_bytes: usize) -> Option<usize> {
        let rows = self.rows.iter().chain(&self.static_row).map(Row::size_bytes);
        let ranges = self.ranges.iter().map(|range| range.start.0.len() + range.end.0.len());
        let ours: usize = rows.chain(ranges).sum::<usize>() + self.key.bytes.len();
        // Cassandra's form of a row is never twice as large as ours.
        if ours.saturating_mul(2) + 4096 < limit_bytes {
            return None;
        }
        Some(self.size_bytes()).filter(|size| *size > limit_bytes)
    }
}

/// What the parts of a mutation are written relative to.
struct Sizes<'m> {
    table: &'m Table,
    least_micros: i64,
    least_second: i64,
    least_ttl: u32,
    regulars: BTreeSet<ColumnId>,
    statics: BTreeSet<ColumnId>,
}

impl<'m> Sizes<'m> {
    fn of(mutation: &'m Mutation) -> Sizes<'m> {
        let mut sizes = Sizes {
            table: &mutation.table,
            least_micros: i64::MAX,
            least_second: i64::MAX,
            least_ttl: 0,
            regulars: BTreeSet::new(),
            statics: BTreeSet::new(),
        };
        let mut least_ttl = u32::MAX;
        let deletions =
            mutation.ranges.iter().map(|range| range.deletion).chain([mutation.deletion]);
        for deletion in deletions.filter(|d| !d.is_live()) {
            sizes.see(deletion.timestamp_micros, deletion.local_seconds);
        }
        for row in mutation.rows.iter().chain(&mutation.static_row) {
            if let Some(marker) = row.marker() {
                sizes.see(marker.timestamp_micros, marker.expires_seconds);
                least_ttl = least_ttl.min(marker.ttl_seconds);
            }
            if !row.deletion().is_live() {
                sizes.see(row.deletion().timestamp_micros, row.deletion().local_seconds);
            }
            let mut columns = BTreeSet::new();
            for (column, deletion) in row.complex_deletions() {
                columns.insert(column);
                sizes.see(deletion.timestamp_micros, deletion.local_seconds);
            }
            for cell in row.cells() {
                columns.insert(cell.column);
                sizes.see(cell.timestamp_micros, cell.local_deletion_seconds);
                least_ttl = least_ttl.min(cell.ttl_seconds);
            }
            let all = if row.is_static() { &mut sizes.statics } else { &mut sizes.regulars };
            all.append(&mut columns);
        }
        sizes.least_ttl = if least_ttl == u32::MAX { 0 } else { least_ttl };
        if sizes.least_micros == i64::MAX {
            sizes.least_micros = EPOCH_SECONDS * 1_000_000;
        }
        if sizes.least_second == i64::MAX {
            sizes.least_second = EPOCH_SECONDS;
        }
        sizes
    }

    fn see(&mut self, timestamp_micros: i64, second: i64) {
        self.least_micros = self.least_micros.min(timestamp_micros);
        if second != NO_DELETION_TIME {
            self.least_second = self.least_second.min(second);
        }
    }

    fn names(&self, columns: &BTreeSet<ColumnId>) -> usize {
        let name = |id: &ColumnId| self.table.column_by_id(*id).map_or(0, |c| c.name.len());
        let names = columns.iter().map(name).map(|len| vint_len(len) + len);
        vint_len(columns.len()) + names.sum::<usize>()
    }

    fn timestamp(&self, timestamp_micros: i64) -> usize {
        vint(timestamp_micros.wrapping_sub(self.least_micros).cast_unsigned())
    }

    fn second(&self, second: i64) -> usize {
        vint(second.wrapping_sub(self.least_second).cast_unsigned())
    }

    fn deletion(&self, deletion: DeletionTime) -> usize {
        self.timestamp(deletion.timestamp_micros) + self.second(deletion.local_seconds)
    }

    fn row(&self, row: &Row, columns: &BTreeSet<ColumnId>) -> usize {
        let mut total = 1;
        if !row.is_static() {
            total += self.clustering(row);
        }
        if let Some(marker) = row.marker() {
            total += self.timestamp(marker.timestamp_micros);
            if marker.ttl_seconds != 0 {
                total += vint((marker.ttl_seconds - self.least_ttl).into())
                    + self.second(marker.expires_seconds);
            }
        }
        if !row.deletion().is_live() {
            total += self.deletion(row.deletion());
        }
        let mut present = BTreeSet::new();
        for (column, deletion) in row.complex_deletions() {
            present.insert(column);
            total += self.deletion(deletion);
        }
        let has_complex_deletion = !present.is_empty();
        for cell in row.cells() {
            if cell.path.is_some() && (present.insert(cell.column) || has_complex_deletion) {
                // The number of cells of the column.
                total += 1;
            }
            present.insert(cell.column);
            total += self.cell(row, &cell);
        }
        if present.len() < columns.len() {
            let missing = columns.iter().enumerate().filter(|(_, id)| !present.contains(id));
            total += vint(missing.fold(0, |bits, (place, _)| bits | 1 << place.min(63)));
        }
        total
    }

    fn clustering(&self, row: &Row) -> usize {
        let values = clustering::values(self.table, row.position(), row.raw_clustering());
        let sizes = self.table.clustering().iter().zip(&values);
        sizes.map(|(column, value)| value_len(&column.ty, value)).sum::<usize>()
            + values.len().div_ceil(32)
    }

    fn cell(&self, row: &Row, cell: &CellRef<'_>) -> usize {
        let marker = row.marker();
        let mut total = 1;
        if marker.is_none_or(|m| m.timestamp_micros != cell.timestamp_micros) {
            total += self.timestamp(cell.timestamp_micros);
        }
        let as_marker = marker.is_some_and(|m| {
            m.ttl_seconds == cell.ttl_seconds && m.expires_seconds == cell.local_deletion_seconds
        });
        if cell.local_deletion_seconds != NO_DELETION_TIME && !as_marker {
            total += self.second(cell.local_deletion_seconds);
            if cell.ttl_seconds != 0 {
                total += vint((cell.ttl_seconds - self.least_ttl).into());
            }
        }
        let column: Option<&Column> = self.table.column_by_id(cell.column);
        if let Some(path) = cell.path {
            let is_udt = column.is_some_and(|c| matches!(c.ty, CqlType::Udt { .. }));
            total += path.value.len() + if is_udt { 0 } else { vint_len(path.value.len()) };
        }
        if cell.is_tombstone() || cell.value.is_empty() {
            return total;
        }
        let variable = CqlType::Blob;
        let ty = match column.map(|c| &c.ty) {
            Some(CqlType::Map { value, frozen: false, .. }) => value,
            Some(CqlType::List { element, frozen: false }) => element,
            Some(ty) if !ty.is_multi_cell() => ty,
            _ => &variable,
        };
        total + value_len(ty, cell.value)
    }
}

/// A value with its length, which types of fixed length leave out.
fn value_len(ty: &CqlType, value: &[u8]) -> usize {
    match ty {
        CqlType::Bigint
        | CqlType::Boolean
        | CqlType::Double
        | CqlType::Float
        | CqlType::Int
        | CqlType::Timestamp
        | CqlType::Timeuuid
        | CqlType::Uuid => value.len(),
        _ if value.is_empty() => 0,
        _ => vint_len(value.len()) + value.len(),
    }
}

fn vint_len(len: usize) -> usize {
    vint(len as u64)
}

/// Bytes of Cassandra's unsigned vint: seven bits a byte, nine bytes at most.
fn vint(value: u64) -> usize {
    let bits = (64 - value.leading_zeros()).max(1) as usize;
    bits.div_ceil(7).min(9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{CellWrite, ClusteringKey, DecoratedKey, Liveness, RowBuilder};
    use crate::schema::{ColumnKind, TableId};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn the_recorded_refusal_has_this_size() {
        let column = |id, name: &str, ty, kind| Column {
            id: ColumnId(id),
            name: name.to_string(),
            ty,
            kind,
            position: 0,
            descending: false,
            dropped_at_micros: None,
        };
        let columns = vec![
            column(0, "k", CqlType::Int, ColumnKind::PartitionKey),
            column(1, "a", CqlType::Text, ColumnKind::Regular),
            column(2, "b", CqlType::Text, ColumnKind::Regular),
        ];
        let id = TableId(uuid::Uuid::nil());
        let table = Table::new(id, "ks", "large", columns, BTreeMap::new(), Default::default());
        let key = DecoratedKey { token: crate::ring::Token(0), bytes: vec![0, 0, 0, 1].into() };
        let mut mutation = Mutation::new(Arc::new(table), key);
        let at = 1_780_000_000_000_000;
        let mut row = RowBuilder::new(&ClusteringKey { position: vec![0x80], raw: Vec::new() });
        row.marker(Liveness::live(at));
        row.cell(ColumnId(1), CellWrite::live(at, &vec![b'a'; 16_777_216]));
        row.cell(ColumnId(2), CellWrite::live(at, b"x"));
        mutation.rows.push(row.build());
        // answers/guardrails-warnings: `Rejected an oversized mutation (16777277/16777216)`.
        assert_eq!(mutation.over(16_777_216), Some(16_777_277));
        assert_eq!(mutation.over(16_777_277), None);
    }
}
