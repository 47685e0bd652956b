//! What a node shows of its tables: numbers, SSTables, and each SSTable as JSON.
//!
//! ```text
//! node.table_stats("ks", "t")          counters, sizes, estimates           nodetool tablestats
//! node.table_histograms("ks", "t")     reads, partition sizes, cells        nodetool tablehistograms
//! node.sstables("ks", "t")             the files
//! node.dump("ks", "t", .., out)        all that is in them                  sstabledump
//! node.dump_metadata(..)               what they say of themselves          sstablemetadata
//! ```

pub mod nodetool;
mod scrub;
#[cfg(not(target_arch = "wasm32"))]
pub mod stored;

use crate::cluster::NodeHandle;
use crate::error::Error;
use crate::lsm::TableStore;
use crate::lsm::dump::metadata::{MetadataOptions, metadata};
use crate::lsm::dump::{self, DumpError, DumpOptions};
use crate::lsm::sstable::SsTable;
use crate::lsm::stats::{TableHistograms, TableStats};
use crate::schema::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

impl NodeHandle {
    /// The numbers of a table on this node.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such table.
    pub fn table_stats(&self, keyspace: &str, table: &str) -> Result<TableStats, Error> {
        self.with_store(keyspace, table, |_, store| store.stats())
    }

    /// The histograms of a table on this node.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such table.
    pub fn table_histograms(&self, keyspace: &str, table: &str) -> Result<TableHistograms, Error> {
        Ok(self.table_stats(keyspace, table)?.histograms())
    }

    /// The text of `nodetool tablestats KEYSPACE|KEYSPACE.TABLE ...`; without names, of all keyspaces.
    ///
    /// # Errors
    /// nodetool's text if there is no such keyspace or table.
    pub fn tablestats(&self, names: &[String]) -> Result<String, String> {
        let view = self.inner().view();
        let schema = &view.placed.schema;
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for name in names {
            let (keyspace, table) =
                name.split_once('.').map_or((&name[..], None), |(k, t)| (k, Some(t)));
            let found = schema.keyspaces.get(keyspace);
            let found = found.ok_or_else(|| format!("nodetool: Unknown keyspace: {keyspace}"))?;
            let tables = wanted.entry(keyspace).or_default();
            match table {
                Some(table) if found.tables.contains_key(table) => {
                    tables.insert(table);
                }
                Some(table) => {
                    let text = "nodetool: Unknown tables";
                    return Err(format!("{text}: [{table}] in keyspace: {keyspace}"));
                }
                None => tables.extend(found.tables.keys().map(String::as_str)),
            }
        }
        let keyspaces = schema.keyspaces.values().filter_map(|keyspace| {
            let picked = wanted.get(&keyspace.name[..]);
            if !names.is_empty() && picked.is_none() {
                return None;
            }
            let tables = keyspace
                .tables
                .keys()
                .filter(|table| picked.is_none_or(|picked| picked.contains(&table[..])));
            let stats = tables.filter_map(|table| self.table_stats(&keyspace.name, table).ok());
            Some((keyspace.name.clone(), stats.collect::<Vec<_>>()))
        });
        let keyspaces: Vec<_> = keyspaces.filter(|(_, tables)| !tables.is_empty()).collect();
        Ok(nodetool::tablestats(&keyspaces))
    }

    /// The text of `nodetool tablehistograms KEYSPACE TABLE`.
    ///
    /// # Errors
    /// nodetool's text if there is no such table.
    pub fn tablehistograms(&self, keyspace: &str, table: &str) -> Result<String, String> {
        let histograms = self.table_histograms(keyspace, table);
        let histograms =
            histograms.map_err(|_| format!("nodetool: Unknown table {keyspace}.{table}"))?;
        Ok(nodetool::tablehistograms(keyspace, table, &histograms))
    }

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
        let (table, sstables) = self.files(keyspace, table)?;
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
        let (table, sstables) = self.files(keyspace, table)?;
        for sstable in sstables.iter().rev() {
            metadata(sstable, &table, self.info().host_id, now_seconds, options, out)?;
        }
        Ok(())
    }

    /// A table and its SSTables, newest first.
    fn files(&self, keyspace: &str, table: &str) -> Result<(Arc<Table>, Vec<Arc<SsTable>>), Error> {
        self.with_store(keyspace, table, |table, store| {
            (Arc::clone(table), store.view().sstables.clone())
        })
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
