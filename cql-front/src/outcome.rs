//! What a statement gives back.

use cassling_engine::metrics::Cost;
use cassling_engine::trace::Trace;
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// The result of an executed statement.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What kind of result it is.
    pub kind: OutcomeKind,
    /// Warnings for the client, Cassandra's texts.
    pub warnings: Vec<String>,
    /// What it cost.
    pub cost: Cost,
    /// What was read, as Cassandra's trace says it.
    pub trace: Trace,
}

/// Kinds of [`Outcome`].
#[derive(Clone, Debug, Default)]
pub enum OutcomeKind {
    /// A write, or a schema change that was not needed.
    #[default]
    Void,
    /// Rows of a SELECT.
    Rows(Rows),
    /// USE: the session's keyspace from now on.
    SetKeyspace(String),
    /// A schema change.
    SchemaChange(SchemaEvent),
}

/// What a schema change did (for drivers' events).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaEvent {
    /// `CREATED`, `UPDATED` or `DROPPED`.
    pub change: &'static str,
    /// `KEYSPACE`, `TABLE` or `TYPE`.
    pub target: &'static str,
    /// Keyspace.
    pub keyspace: String,
    /// Table or type; `None` for a keyspace.
    pub name: Option<String>,
}

/// A column of a result, or a marker of a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Keyspace it comes from.
    pub keyspace: String,
    /// Table it comes from.
    pub table: String,
    /// Name.
    pub name: String,
    /// Type.
    pub ty: CqlType,
}

/// Rows of a result. Their values lie in one buffer, in the form in which the native protocol sends them, so that a
/// row costs no allocation and nothing is decoded before somebody asks for it:
///
/// ```text
/// 00000004 00000007 | 00000002 6869 | 00000004 00000008 | ffffffff      (7, 'hi'), (8, null)
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Columns.
    pub columns: Arc<[ColumnSpec]>,
    /// Where the next page begins, if there may be one.
    pub paging_state: Option<Vec<u8>>,
    values: RowBytes,
    count: usize,
}

impl Rows {
    /// No rows yet.
    pub fn new(columns: Arc<[ColumnSpec]>) -> Rows {
        Rows { columns, ..Rows::default() }
    }

    /// Makes room for rows like the first one.
    pub(crate) fn reserve(&mut self, rows: usize) {
        if self.count == 1 {
            let row_bytes = self.values.0.len();
            self.values.0.reserve(row_bytes.saturating_mul(rows));
        }
    }

    /// Appends a row that `write` writes, a value for each column.
    pub(crate) fn push<E>(
        &mut self,
        write: impl FnOnce(&mut RowBytes) -> Result<(), E>,
    ) -> Result<(), E> {
        write(&mut self.values)?;
        self.count += 1;
        Ok(())
    }

    /// Appends a row that was written apart.
    pub(crate) fn push_written(&mut self, row: &RowBytes) {
        self.values.0.extend_from_slice(&row.0);
        self.count += 1;
    }

    /// Appends the rows of another page of the same query.
    pub fn append(&mut self, page: &Rows) {
        self.values.0.extend_from_slice(&page.values.0);
        self.count += page.count;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = RawRow<'_>> {
        let mut rest = RawRow { bytes: &self.values.0 };
        (0..self.count).map(move |_| {
            let whole = rest.bytes;
            self.columns.iter().for_each(|_| _ = rest.next());
            RawRow { bytes: &whole[..whole.len() - rest.bytes.len()] }
        })
    }

    /// Each row's values as wire bytes; `None` is null.
    pub fn to_vec(&self) -> Vec<Vec<Option<Vec<u8>>>> {
        self.iter().map(|row| row.map(|value| value.map(<[u8]>::to_vec)).collect()).collect()
    }
}

/// The bytes of rows while they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBytes(Vec<u8>);

impl RowBytes {
    /// Appends a value; `None` is null.
    #[inline]
    pub(crate) fn value(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else { return self.0.extend_from_slice(&(-1_i32).to_be_bytes()) };
        let len = i32::try_from(value.len()).expect("values are far below 2 GiB");
        self.0.extend_from_slice(&len.to_be_bytes());
        self.0.extend_from_slice(value);
    }
}

/// The values of one row, in the order of the columns; `None` is null.
#[derive(Clone, Copy, Debug)]
pub struct RawRow<'r> {
    bytes: &'r [u8],
}

impl<'r> Iterator for RawRow<'r> {
    type Item = Option<&'r [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Option<&'r [u8]>> {
        let (len, rest) = self.bytes.split_first_chunk::<4>()?;
        let len = usize::try_from(i32::from_be_bytes(*len)).ok();
        let (value, rest) = rest.split_at(len.unwrap_or(0));
        self.bytes = rest;
        Some(len.map(|_| value))
    }
}
