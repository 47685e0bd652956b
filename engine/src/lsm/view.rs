//! All that a table holds at one moment.

use super::memtable::Memtable;
use super::sstable::SsTable;
use std::sync::Arc;

/// The sources of a table. Immutable: a flush or truncation makes a new one, readers keep theirs.
#[derive(Clone, Debug)]
pub struct View {
    /// Newest first: the first takes writes, the others wait to be flushed. Never empty.
    pub memtables: Vec<Arc<Memtable>>,
    /// Newest first, by the time they were made.
    pub sstables: Vec<Arc<SsTable>>,
}

impl View {
    /// This memtable and nothing else.
    pub fn new(memtable: Arc<Memtable>) -> View {
        View { memtables: vec![memtable], sstables: Vec::new() }
    }
}
