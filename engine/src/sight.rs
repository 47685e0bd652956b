//! What a node shows of its tables: their SSTables, and each of them as JSON.
//!
//! ```text
//! cluster.node(1).sstables("ks", "t")          -> name, size, what its statistics say
//! cluster.node(1).dump("ks", "t", .., out)     -> sstabledump's JSON of each
//! ```

use crate::cluster::NodeHandle;
use crate::error::Error;
use crate::lsm::TableStore;
use crate::lsm::dump::metadata::{MetadataOptions, metadata};
use crate::lsm::dump::{self, DumpError, DumpOptions};
use crate::lsm::sstable::SsTable;
use crate::schema::Table;
use std::io::Write;
use std::sync::Arc;

impl NodeHandle {
    /// The SSTables of a table on this node, newest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such table.
    pub fn sstables(&self, keyspace: &str, table: &str) -> Result<Vec<Arc<SsTable>>, Error> {
        self.with_store(keyspace, table, |_, store| store.view().sstables.clone())
    }

    /// Writes every SSTable of a table as JSON, oldest first, each with a newline at its end.
    ///
    /// # Errors
    /// There is no such table, a file is damaged, or whatever `out` answers.
    pub fn dump(
        &self,
        keyspace: &str,
        table: &str,
        options: &DumpOptions,
        out: &mut dyn Write,
    ) -> Result<(), DumpError> {
        let now_seconds = self.inner().clock().now_seconds();
        let found = self.with_store(keyspace, table, |table, store| {
            (Arc::clone(table), store.view().sstables.clone())
        });
        let (table, sstables) = found?;
        for sstable in sstables.iter().rev() {
            dump::dump(sstable, &table, now_seconds, options, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes what every SSTable of a table says of itself, oldest first (`sstablemetadata`).
    ///
    /// # Errors
    /// As [`NodeHandle::dump`].
    pub fn dump_metadata(
        &self,
        keyspace: &str,
        table: &str,
        options: &MetadataOptions,
        out: &mut dyn Write,
    ) -> Result<(), DumpError> {
        let now_seconds = self.inner().clock().now_seconds();
        let found = self.with_store(keyspace, table, |table, store| {
            (Arc::clone(table), store.view().sstables.clone())
        });
        let (table, sstables) = found?;
        for sstable in sstables.iter().rev() {
            metadata(sstable, &table, self.info().host_id, now_seconds, options, out)?;
        }
        Ok(())
    }

    fn with_store<T>(
        &self,
        keyspace: &str,
        table: &str,
        with: impl FnOnce(&Arc<Table>, &TableStore) -> T,
    ) -> Result<T, Error> {
        let view = self.inner().view();
        let found = view.placed.schema.table(keyspace, table).filter(|table| !table.is_virtual);
        let unknown = || Error::Invalid(format!("Unknown keyspace/cf pair ({keyspace}.{table})"));
        let found = found.ok_or_else(unknown)?;
        Ok(with(found, self.inner().store(&view, found)?))
    }
}
