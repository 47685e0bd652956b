//! The SSTables of a data directory, without a cluster: what `cassling dump` reads.
//!
//! ```text
//! DIR/manifest           the schema: types of what is in the files
//!     node-1/manifest    the files of each table  ->  their names, newest first
//! ```
//!
//! Nothing is written but the lock, which keeps a cluster from opening the directory meanwhile. What lies only in a
//! commit log is in no SSTable and is not seen: a flush brings it there.

use crate::directory::{DataDirectory, Kept, Stored};
use crate::error::Error;
use crate::lsm::dump::metadata::{MetadataOptions, metadata};
use crate::lsm::dump::{self, DumpError, DumpOptions};
use crate::lsm::manifest;
use crate::lsm::sstable::SsTable;
use crate::schema::{Schema, Table, TableId, is_system_keyspace};
use crate::sim::disk::{DirectoryDisk, Disk};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// A data directory held for reading.
#[derive(Debug)]
pub struct StoredTables {
    folder: PathBuf,
    stored: Stored,
    schema: Schema,
    /// Held until this is dropped.
    _lock: DataDirectory,
}

/// An SSTable of a stored table.
#[derive(Clone, Debug)]
pub struct StoredFile {
    /// Node that has it, from 1.
    pub node: usize,
    /// Its file, from the data directory: `node-1/NAME`.
    pub name: String,
    /// Table that it belongs to.
    pub table: Arc<Table>,
    host_id: Uuid,
}

impl StoredTables {
    /// Holds the directory.
    ///
    /// # Errors
    /// There is no data directory of ours, it is in use, or it is damaged.
    pub fn open(folder: &Path) -> Result<StoredTables, Error> {
        // Before anything is made, the lock included.
        if !folder.join("CASSLING").is_file() {
            let place = folder.display();
            return Err(Error::Invalid(format!("{place} is no data directory of cassling")));
        }
        let (lock, stored) = DataDirectory::open(Kept::Directory(folder.to_path_buf()))?;
        let place = folder.display();
        let stored = stored.ok_or_else(|| {
            Error::Invalid(format!("{place} holds no cluster: its creation was not finished"))
        })?;
        let schema = stored.schema();
        Ok(StoredTables { folder: folder.to_path_buf(), stored, schema, _lock: lock })
    }

    /// The SSTables of all nodes, by node and table, oldest first.
    ///
    /// # Errors
    /// A manifest is missing or damaged.
    pub fn files(&self) -> Result<Vec<StoredFile>, Error> {
        let mut found = Vec::new();
        for info in &self.stored.topology.nodes {
            let node = info.id.0;
            let (_, tables) = manifest::load(&*self.disk(node))?;
            for table in self.schema.keyspaces.values().flat_map(|k| k.tables.values()) {
                let files = tables.get(&table.id).map_or(&[][..], |files| &files.sstables);
                found.extend(files.iter().rev().map(|name| StoredFile {
                    node,
                    name: format!("node-{node}/{name}"),
                    table: Arc::clone(table),
                    host_id: info.host_id,
                }));
            }
        }
        Ok(found)
    }

    /// Those of the table `KEYSPACE.TABLE`, or the one of that file name (with or without its folder); of all tables of
    /// users if no name is given.
    ///
    /// # Errors
    /// There is no such table or file.
    pub fn find(&self, name: Option<&str>) -> Result<Vec<StoredFile>, Error> {
        let files = self.files()?;
        let Some(name) = name else {
            let of_user = |file: &StoredFile| !is_system_keyspace(&file.table.keyspace);
            return Ok(files.into_iter().filter(of_user).collect());
        };
        let table = name.split_once('.').and_then(|(k, t)| self.schema.table(k, t));
        let id: Option<TableId> = table.map(|table| table.id);
        let base = |file: &str| file.rsplit('/').next().is_some_and(|last| last == name);
        let picked = files.into_iter().filter(|file| match id {
            Some(id) => file.table.id == id,
            None => file.name == name || base(&file.name),
        });
        let picked: Vec<StoredFile> = picked.collect();
        match picked.is_empty() && id.is_none() {
            true => Err(Error::Invalid(format!("there is no table and no SSTable {name}"))),
            false => Ok(picked),
        }
    }

    fn disk(&self, node: usize) -> Arc<dyn Disk> {
        Arc::new(DirectoryDisk::existing(&self.folder.join(format!("node-{node}"))))
    }

    fn sstable(&self, file: &StoredFile) -> Result<SsTable, Error> {
        let name = file.name.rsplit('/').next().unwrap_or_default();
        SsTable::open(self.disk(file.node), name.to_string())
    }

    /// The cluster's time when it was last told of. Seconds.
    fn now_seconds(&self) -> i64 {
        self.stored.time_micros.div_euclid(1_000_000)
    }

    /// Writes an SSTable as JSON, with a newline at the end.
    ///
    /// # Errors
    /// Damage, with its place, or whatever `out` answers.
    pub fn dump(
        &self,
        file: &StoredFile,
        options: &DumpOptions,
        out: &mut dyn Write,
    ) -> Result<(), DumpError> {
        let sstable = self.sstable(file)?;
        dump::dump(&sstable, &file.table, self.now_seconds(), options, out)?;
        Ok(out.write_all(b"\n")?)
    }

    /// Writes what an SSTable says of itself.
    ///
    /// # Errors
    /// As [`StoredTables::dump`].
    pub fn metadata(
        &self,
        file: &StoredFile,
        options: &MetadataOptions,
        out: &mut dyn Write,
    ) -> Result<(), DumpError> {
        let sstable = self.sstable(file)?;
        metadata(&sstable, &file.table, file.host_id, self.now_seconds(), options, out)
    }
}
