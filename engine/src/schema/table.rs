//! A table: its columns, its key, its options.

use super::options::TableOptions;
use crate::types::{CqlType, quote_name};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use uuid::Uuid;

/// Identity of a table, kept when it is altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableId(pub Uuid);

/// Identity of a column within its table: given once, kept by RENAME, taken up again when a dropped column is
/// re-added. Stored cells name their column by it, so its order is no order of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ColumnId(pub u16);

/// What part a column plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ColumnKind {
    /// Component of the partition key.
    PartitionKey,
    /// Clustering column.
    Clustering,
    /// One value for the partition.
    Static,
    /// A value for each row.
    Regular,
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ColumnKind::PartitionKey => "partition_key",
            ColumnKind::Clustering => "clustering",
            ColumnKind::Static => "static",
            ColumnKind::Regular => "regular",
        })
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Identity within the table.
    pub id: ColumnId,
    /// Name, case kept.
    pub name: String,
    /// Type.
    pub ty: CqlType,
    /// Part it plays.
    pub kind: ColumnKind,
    /// Place within the partition key or the clustering key; 0 for the others.
    pub position: usize,
    /// Clustering columns only: sorted in descending order.
    pub descending: bool,
    /// Cells at or before this timestamp (microseconds) are not there: the column was dropped then and re-added.
    pub dropped_at_micros: Option<i64>,
}

impl Column {
    /// Partition key or clustering.
    pub fn is_primary_key(&self) -> bool {
        matches!(self.kind, ColumnKind::PartitionKey | ColumnKind::Clustering)
    }
}

/// What is remembered of a dropped column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedColumn {
    /// The column as it was.
    pub column: Column,
    /// When it was dropped, or the USING TIMESTAMP of the drop; microseconds.
    pub dropped_at_micros: i64,
}

/// The order of column names (Cassandra's `ColumnIdentifier`): the first eight bytes as one signed number, so that a name
/// that begins outside ASCII comes first; then all bytes.
pub(crate) fn name_order(a: &str, b: &str) -> Ordering {
    let prefix = |name: &str| {
        let mut first = [0; 8];
        let len = name.len().min(8);
        first[..len].copy_from_slice(&name.as_bytes()[..len]);
        i64::from_be_bytes(first)
    };
    prefix(a).cmp(&prefix(b)).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

/// A table at one moment. Immutable; ALTER makes a new one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Table {
    /// Identity.
    pub id: TableId,
    /// Keyspace it belongs to.
    pub keyspace: String,
    /// Name, case kept.
    pub name: String,
    /// All columns in the order of `SELECT *`: partition key, clustering, statics by name, regulars by name
    /// (byte order of names).
    columns: Vec<Column>,
    /// Number of partition key columns: `columns[..partition_key_len]`.
    partition_key_len: usize,
    /// Number of clustering columns, which follow.
    clustering_len: usize,
    /// Place in `columns` by name.
    by_name: BTreeMap<String, usize>,
    /// Place in `columns` by id; `None` for an id that is dropped.
    by_id: Vec<Option<usize>>,
    /// Dropped columns by name.
    pub dropped: BTreeMap<String, DroppedColumn>,
    /// Options after WITH.
    pub options: TableOptions,
    /// A table whose regular columns are counters.
    pub is_counter: bool,
    /// A table without rows of its own that answers from the state of the cluster.
    pub is_virtual: bool,
}

/// What a table is made from: as it is stored.
#[derive(Serialize, Deserialize)]
struct Parts {
    id: TableId,
    keyspace: String,
    name: String,
    columns: Vec<Column>,
    dropped: BTreeMap<String, DroppedColumn>,
    options: TableOptions,
}

impl From<Table> for Parts {
    fn from(table: Table) -> Parts {
        let Table { id, keyspace, name, columns, dropped, options, .. } = table;
        Parts { id, keyspace, name, columns, dropped, options }
    }
}

impl TryFrom<Parts> for Table {
    type Error = String;

    fn try_from(parts: Parts) -> Result<Table, String> {
        let ids: BTreeSet<ColumnId> = parts.columns.iter().map(|c| c.id).collect();
        let names: BTreeSet<&str> = parts.columns.iter().map(|c| &c.name[..]).collect();
        if ids.len() < parts.columns.len() || names.len() < parts.columns.len() {
            return Err(format!("two columns of table {} are the same", parts.name));
        }
        let Parts { id, keyspace, name, columns, dropped, options } = parts;
        Ok(Table::new(id, &keyspace, &name, columns, dropped, options))
    }
}

impl Table {
    /// A table of these columns, which may come in any order.
    /// Requires: ids are unique, positions of key columns are 0.., names are unique.
    pub fn new(
        id: TableId,
        keyspace: &str,
        name: &str,
        mut columns: Vec<Column>,
        dropped: BTreeMap<String, DroppedColumn>,
        options: TableOptions,
    ) -> Table {
        columns.sort_by(|a, b| {
            (a.kind, a.position).cmp(&(b.kind, b.position)).then_with(|| match a.kind {
                ColumnKind::PartitionKey | ColumnKind::Clustering => Ordering::Equal,
                ColumnKind::Static | ColumnKind::Regular => name_order(&a.name, &b.name),
            })
        });
        let count = |kind| columns.iter().filter(|c| c.kind == kind).count();
        let ids = columns.iter().map(|c| usize::from(c.id.0) + 1).max().unwrap_or(0);
        let mut by_id = vec![None; ids];
        for (place, column) in columns.iter().enumerate() {
            assert!(
                by_id[usize::from(column.id.0)].replace(place).is_none(),
                "column ids are unique"
            );
        }
        Table {
            id,
            keyspace: keyspace.to_string(),
            name: name.to_string(),
            partition_key_len: count(ColumnKind::PartitionKey),
            clustering_len: count(ColumnKind::Clustering),
            by_name: columns.iter().enumerate().map(|(i, c)| (c.name.clone(), i)).collect(),
            by_id,
            is_counter: columns.iter().any(|c| c.ty == CqlType::Counter),
            is_virtual: false,
            columns,
            dropped,
            options,
        }
    }

    /// All columns in the order of `SELECT *`.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Columns of the partition key, in order.
    pub fn partition_key(&self) -> &[Column] {
        &self.columns[..self.partition_key_len]
    }

    /// Clustering columns, in order.
    pub fn clustering(&self) -> &[Column] {
        &self.columns[self.partition_key_len..self.partition_key_len + self.clustering_len]
    }

    /// Static columns, then regular columns, each by name.
    pub fn statics_and_regulars(&self) -> &[Column] {
        &self.columns[self.partition_key_len + self.clustering_len..]
    }

    /// Static columns, by name.
    pub fn statics(&self) -> &[Column] {
        let rest = self.statics_and_regulars();
        &rest[..rest.partition_point(|c| c.kind == ColumnKind::Static)]
    }

    /// Regular columns, by name.
    pub fn regulars(&self) -> &[Column] {
        let rest = self.statics_and_regulars();
        &rest[rest.partition_point(|c| c.kind == ColumnKind::Static)..]
    }

    /// Whether a query may filter without ALLOW FILTERING: the tables of Cassandra's virtual keyspaces.
    pub fn filters_unasked(&self) -> bool {
        matches!(self.keyspace.as_str(), "system_views" | "system_virtual_schema")
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.by_name.get(name).map(|&place| &self.columns[place])
    }

    /// The column of that id, unless it is dropped.
    pub fn column_by_id(&self, id: ColumnId) -> Option<&Column> {
        self.by_id.get(usize::from(id.0)).copied().flatten().map(|place| &self.columns[place])
    }

    /// The table with each live column's type replaced by what `of` gives for it. Dropped columns keep theirs: they
    /// hold no user-defined type.
    pub fn map_types(&self, of: impl Fn(&CqlType) -> CqlType) -> Table {
        let mut table = self.clone();
        for column in &mut table.columns {
            column.ty = of(&column.ty);
        }
        table
    }

    /// `keyspace.table`, each quoted if CQL needs it: how messages name a table.
    pub fn cql_name(&self) -> String {
        format!("{}.{}", quote_name(&self.keyspace), quote_name(&self.name))
    }

    /// The smallest id that no column has or had.
    pub fn next_column_id(&self) -> ColumnId {
        let live = self.columns.iter().map(|c| c.id.0 + 1).max().unwrap_or(0);
        let dropped = self.dropped.values().map(|d| d.column.id.0 + 1).max().unwrap_or(0);
        ColumnId(live.max(dropped))
    }
}
