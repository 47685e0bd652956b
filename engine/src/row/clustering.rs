//! Positions inside a partition, as plain bytes (see [`crate::types::order`]).

use crate::schema::Table;
use crate::types::order;
use smallvec::SmallVec;

/// Ends the bytes of a row's position.
pub const ROW: u8 = 0x80;
/// Ends the bytes of a bound that stands before every row with its prefix.
pub const BEFORE: u8 = 0x00;
/// Ends the bytes of a bound that stands after every row with its prefix.
pub const AFTER: u8 = 0xff;

/// The full clustering of a row: its order-encoded bytes (ending in [`ROW`]) and, if some component's type is
/// not lossless, the raw values. A table without clustering columns has the one key `80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusteringKey {
    /// What positions are compared by.
    pub position: Vec<u8>,
    /// Values as first written, each as int length and bytes, one after another; empty when every component
    /// can be decoded from `position`.
    pub raw: Vec<u8>,
}

impl ClusteringKey {
    /// The key of these values of the clustering columns of `table`, all of them, in order.
    pub fn new(table: &Table, values: &[&[u8]]) -> ClusteringKey {
        assert_eq!(
            values.len(),
            table.clustering().len(),
            "a row has a value for each clustering column"
        );
        let mut position = Vec::with_capacity(16);
        let mut lossless = true;
        for (column, value) in table.clustering().iter().zip(values) {
            order::encode(&column.ty, value, column.descending, &mut position);
            lossless &= order::is_lossless(&column.ty);
        }
        position.push(ROW);
        let mut raw = Vec::new();
        if !lossless {
            for value in values {
                let len = u32::try_from(value.len()).expect("clustering values are at most 64 KiB");
                raw.extend_from_slice(&len.to_be_bytes());
                raw.extend_from_slice(value);
            }
        }
        ClusteringKey { position, raw }
    }
}

/// The values of a row's clustering columns, from its position and raw bytes.
pub fn values(table: &Table, position: &[u8], raw: &[u8]) -> Vec<Vec<u8>> {
    let mut values = Values::default();
    values.read(table, position, raw);
    let value = |place| values.get(place).map(<[u8]>::to_vec);
    (0..table.clustering().len()).filter_map(value).collect()
}

/// The values of one row's clustering columns after another's, in the same memory.
#[derive(Clone, Debug, Default)]
pub struct Values {
    bytes: Vec<u8>,
    ends: SmallVec<[usize; 4]>,
}

impl Values {
    /// Forgets those of the last row.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Takes those of a row, from its position and raw bytes.
    pub fn read(&mut self, table: &Table, position: &[u8], raw: &[u8]) {
        self.clear();
        let (mut encoded, mut raw) = (position, raw);
        for column in table.clustering() {
            if raw.is_empty() {
                order::decode(&column.ty, &mut encoded, column.descending, &mut self.bytes);
            } else {
                let len = u32::from_be_bytes([raw[0], raw[1], raw[2], raw[3]]) as usize;
                self.bytes.extend_from_slice(&raw[4..4 + len]);
                raw = &raw[4 + len..];
            }
            self.ends.push(self.bytes.len());
        }
    }

    /// The value of a column by its place in the clustering key.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }
}

/// The values that a bound gives, fewer than there are clustering columns or all, and the byte that ends it: [`BEFORE`],
/// [`AFTER`], or [`ROW`] where the bytes are those of a row.
pub(crate) fn bound_values(table: &Table, bytes: &[u8]) -> (Vec<Vec<u8>>, u8) {
    let mut rest = bytes;
    let mut values = Vec::new();
    for column in table.clustering() {
        if rest.len() <= 1 {
            break;
        }
        let mut value = Vec::new();
        order::decode(&column.ty, &mut rest, column.descending, &mut value);
        values.push(value);
    }
    (values, rest.first().copied().unwrap_or(ROW))
}

/// A place between rows: an end of a slice or of a range tombstone. Compares with row positions as bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound(pub Vec<u8>);

impl Bound {
    /// Before every row whose clustering begins with these values (fewer than all columns: a prefix;
    /// none: the start of the partition).
    pub fn before(table: &Table, prefix: &[&[u8]]) -> Bound {
        Bound::at(table, prefix, BEFORE)
    }

    /// After every row whose clustering begins with these values (none: the end of the partition).
    pub fn after(table: &Table, prefix: &[&[u8]]) -> Bound {
        Bound::at(table, prefix, AFTER)
    }

    /// Before all rows.
    pub fn start() -> Bound {
        Bound(vec![BEFORE])
    }

    /// After all rows.
    pub fn end() -> Bound {
        Bound(vec![AFTER])
    }

    fn at(table: &Table, prefix: &[&[u8]], terminator: u8) -> Bound {
        let mut bytes = Vec::with_capacity(16);
        for (column, value) in table.clustering().iter().zip(prefix) {
            order::encode(&column.ty, value, column.descending, &mut bytes);
        }
        bytes.push(terminator);
        Bound(bytes)
    }
}

/// A contiguous run of rows in clustering order: from `start` to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where it begins.
    pub start: Bound,
    /// Where it ends.
    pub end: Bound,
}

impl Slice {
    /// The whole partition.
    pub fn all() -> Slice {
        Slice { start: Bound::start(), end: Bound::end() }
    }

    /// No row can be in it.
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }
}
