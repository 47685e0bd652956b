//! What of a node's tables is damaged, and saving the rest (`nodetool verify`, `nodetool scrub`).
//!
//! ```text
//! node.verify(Some("ks"), None)            what of each file cannot be read
//! node.scrub(Some("ks"), Some("t"))        the same, and each file is written anew without that
//! ```

use crate::cluster::{NodeHandle, is_wanted};
use crate::error::Error;
use crate::lsm::TableStore;
use crate::lsm::scrub::ScrubReport;

impl NodeHandle {
    /// Writes each SSTable of tables anew from what of it can be read (`nodetool scrub`). Memtables stay.
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is gone or the disk is full.
    pub fn scrub(&self, keyspace: Option<&str>, table: Option<&str>) -> Result<ScrubReport, Error> {
        self.report(keyspace, table, TableStore::scrub)
    }

    /// Reads each SSTable of tables and says what of it cannot be read (`nodetool verify`).
    ///
    /// # Errors
    /// [`Error::Storage`] if a file is gone.
    pub fn verify(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
    ) -> Result<ScrubReport, Error> {
        self.report(keyspace, table, TableStore::verify)
    }

    fn report(
        &self,
        keyspace: Option<&str>,
        table: Option<&str>,
        f: impl Fn(&TableStore) -> Result<ScrubReport, Error>,
    ) -> Result<ScrubReport, Error> {
        let mut all = ScrubReport::default();
        self.inner().each_store(
            |t| is_wanted(t, keyspace, table),
            |_, store| {
                all.files.extend(f(store)?.files);
                Ok(())
            },
        )?;
        Ok(all)
    }
}
