//! The settings themselves: one line each with its default, what text it takes and from when it acts.
//!
//! Adding one is adding a line here and a row in docs/settings.md (a test compares the two). Sizes are bytes, whatever unit the text has.

use super::value::*;
use super::{Acts, SettingError};
use crate::ring::Consistency;
use std::collections::BTreeSet;

/// A guardrail's two thresholds: above `warn` a statement is answered with a warning, above `fail` it is refused. `None`: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Key `..._warn_threshold`.
    pub warn: Option<u64>,
    /// Key `..._fail_threshold`.
    pub fail: Option<u64>,
}

/// How `commitlog_sync` is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitLogSync {
    /// Synced every `commitlog_sync_period`; writes do not wait.
    Periodic,
    /// Writes wait for a sync that is made every `commitlog_sync_group_window`.
    Group,
    /// Writes wait for a sync of their own.
    Batch,
}

fn sync(text: &str) -> Parsed<CommitLogSync> {
    match text {
        "periodic" => Ok(CommitLogSync::Periodic),
        "group" => Ok(CommitLogSync::Group),
        "batch" => Ok(CommitLogSync::Batch),
        _ => Err("periodic, group or batch"),
    }
}

macro_rules! settings {
    (
        fields { $($(#[doc = $doc:literal])+ $key:ident: $ty:ty = $default:expr, $parse:ident, $acts:ident;)+ }
        pairs { $($(#[doc = $pair_doc:literal])+ $pair:ident: $pair_parse:ident, $pair_acts:ident;)+ }
    ) => {
        /// The settings in force. Each field is a key of cassandra.yaml; a field of [`Thresholds`] is two,
        /// `FIELD_warn_threshold` and `FIELD_fail_threshold`.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $key: $ty,)+
            $($(#[doc = $pair_doc])+ pub $pair: Thresholds,)+
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings {
                    $($key: $default,)+
                    $($pair: Thresholds::default(),)+
                }
            }
        }

        impl Settings {
            /// All keys, and from when each acts.
            pub const KEYS: &[(&str, Acts)] = &[
                $((stringify!($key), Acts::$acts),)+
                $(
                    (concat!(stringify!($pair), "_warn_threshold"), Acts::$pair_acts),
                    (concat!(stringify!($pair), "_fail_threshold"), Acts::$pair_acts),
                )+
            ];

            /// Puts in the value of a text, whether or not it acts.
            fn put(&mut self, key: &'static str, text: &str) -> Parsed<()> {
                match key {
                    $(stringify!($key) => self.$key = $parse(text)?,)+
                    $(
                        concat!(stringify!($pair), "_warn_threshold") => self.$pair.warn = $pair_parse(text)?,
                        concat!(stringify!($pair), "_fail_threshold") => self.$pair.fail = $pair_parse(text)?,
                    )+
                    _ => unreachable!("keys come from the table"),
                }
                Ok(())
            }

            /// Guardrails by name.
            fn pairs(&self) -> impl Iterator<Item = (&'static str, Thresholds)> {
                [$((stringify!($pair), self.$pair)),+].into_iter()
            }
        }
    };
}

settings! {
    fields {
        // Reads (sheet E.2).

        /// Above this many tombstones a replica's read warns; at -1 every read does.
        tombstone_warn_threshold: i64 = 1_000, integer, AtOnce;
        /// Above this many tombstones a replica's read fails.
        tombstone_failure_threshold: i64 = 100_000, integer, AtOnce;
        /// Thresholds of reads are reported by the coordinator, over all replicas; those of sizes act only then.
        read_thresholds_enabled: bool = false, switch, AtOnce;

        // Writes (sheet E.3).

        /// Above this size a batch of several mutations warns.
        batch_size_warn_threshold: u64 = 5 << 10, kibibytes, AtOnce;
        /// Above this size a batch of several mutations is refused.
        batch_size_fail_threshold: u64 = 50 << 10, kibibytes, AtOnce;
        /// An unlogged batch of more partitions than this warns.
        unlogged_batch_across_partitions_warn_threshold: i64 = 10, integer, AtOnce;
        /// The largest mutation; none: half a segment of Cassandra's own default (16 MiB).
        max_mutation_size: Option<u64> = None, kibibytes_or_null, AtOnce;

        // Storage (contracts 17).

        /// When the commit log is synced.
        commitlog_sync: CommitLogSync = CommitLogSync::Periodic, sync, WhenBuilt;
        /// Time between two syncs of `periodic`, milliseconds.
        commitlog_sync_period: u64 = 10_000, millis, WhenBuilt;
        /// Time between two syncs of `group`, milliseconds. Cassandra has no default.
        commitlog_sync_group_window: u64 = 1_000, millis, NotYet;
        /// Size of a segment of the commit log. Cassandra: 32 MiB.
        commitlog_segment_size: u64 = 1 << 20, mebibytes, WhenBuilt;
        /// When segments grow past this, the table with the oldest unflushed write is flushed. Cassandra: 8 GiB.
        commitlog_total_space: u64 = 64 << 20, mebibytes, WhenBuilt;
        /// Memory of the memtables of a node; above it the largest is flushed. Cassandra: a quarter of the heap.
        memtable_heap_space: u64 = 64 << 20, mebibytes, WhenBuilt;
        /// The cache of decompressed blocks. Cassandra: the smaller of 512 MiB and a quarter of the heap.
        file_cache_size: u64 = 32 << 20, mebibytes, AtOnce;
        /// Uncompressed bytes of rows between two entries of a partition's index; none: the format's own.
        column_index_size: Option<u64> = None, kibibytes_or_null, NotYet;
        /// Bytes a second that compactions of a node may read; none for no limit.
        compaction_throughput: Option<u64> = Some(64 << 20), rate, NotYet;
        /// Compactions of a node that may run at once.
        concurrent_compactors: u64 = 2, positive, NotYet;

        // Guardrails that switch something off (sheet E.1).

        /// USING TIMESTAMP.
        user_timestamps_enabled: bool = true, switch, NotYet;
        /// GROUP BY.
        group_by_enabled: bool = true, switch, NotYet;
        /// ALTER TABLE that changes columns.
        alter_table_enabled: bool = true, switch, NotYet;
        /// DROP TABLE and TRUNCATE.
        drop_truncate_table_enabled: bool = true, switch, NotYet;
        /// DROP KEYSPACE.
        drop_keyspace_enabled: bool = true, switch, NotYet;
        /// Tables without compression.
        uncompressed_tables_enabled: bool = true, switch, NotYet;
        /// Tables WITH COMPACT STORAGE.
        compact_tables_enabled: bool = true, switch, NotYet;
        /// ALLOW FILTERING.
        allow_filtering_enabled: bool = true, switch, NotYet;
        /// Keyspaces of SimpleStrategy.
        simplestrategy_enabled: bool = true, switch, NotYet;
        /// Operations on lists that read first.
        read_before_write_list_operations_enabled: bool = true, switch, NotYet;
        /// Columns of vectors.
        vector_type_enabled: bool = true, switch, NotYet;
        /// CREATE INDEX.
        secondary_indexes_enabled: bool = true, switch, NotYet;
        /// Queries of an index without a partition key.
        non_partition_restricted_index_query_enabled: bool = true, switch, NotYet;
        /// TimeWindowCompactionStrategy without a default TTL is allowed.
        zero_ttl_on_twcs_enabled: bool = true, switch, NotYet;
        /// It warns. Cassandra: true, but without a login it never does; so here only once it is set.
        zero_ttl_on_twcs_warned: bool = false, switch, NotYet;
        /// Filtering on several mutable columns at a level above ONE is allowed.
        intersect_filtering_query_enabled: bool = true, switch, NotYet;
        /// It warns. Cassandra: true, but without a login it never does; so here only once it is set.
        intersect_filtering_query_warned: bool = false, switch, NotYet;
        /// Options of tables that warn.
        table_properties_warned: BTreeSet<String> = BTreeSet::new(), names, NotYet;
        /// Options of tables that are dropped with a warning.
        table_properties_ignored: BTreeSet<String> = BTreeSet::new(), names, NotYet;
        /// Options of tables that are refused.
        table_properties_disallowed: BTreeSet<String> = BTreeSet::new(), names, NotYet;
        /// Levels of reads that warn.
        read_consistency_levels_warned: BTreeSet<Consistency> = BTreeSet::new(), levels, NotYet;
        /// Levels of reads that are refused.
        read_consistency_levels_disallowed: BTreeSet<Consistency> = BTreeSet::new(), levels, NotYet;
        /// Levels of writes that warn.
        write_consistency_levels_warned: BTreeSet<Consistency> = BTreeSet::new(), levels, NotYet;
        /// Levels of writes that are refused.
        write_consistency_levels_disallowed: BTreeSet<Consistency> = BTreeSet::new(), levels, NotYet;
    }
    pairs {
        /// Bytes of the answer to a read.
        coordinator_read_size: bytes_or_null, AtOnce;
        /// Bytes that a replica reads for a command.
        local_read_size: bytes_or_null, AtOnce;
        /// Bytes of a partition's index that a replica reads.
        row_index_read_size: bytes_or_null, NotYet;
        /// Keyspaces of the cluster.
        keyspaces: threshold, NotYet;
        /// Tables of the cluster.
        tables: threshold, NotYet;
        /// Columns of a table.
        columns_per_table: threshold, NotYet;
        /// Indexes of a table.
        secondary_indexes_per_table: threshold, NotYet;
        /// Views of a table.
        materialized_views_per_table: threshold, NotYet;
        /// Fields of a user-defined type.
        fields_per_udt: threshold, NotYet;
        /// Dimensions of a vector.
        vector_dimensions: threshold, NotYet;
        /// Rows of a page.
        page_size: threshold, NotYet;
        /// Partitions that an IN names.
        partition_keys_in_select: threshold, NotYet;
        /// Products of several IN.
        in_select_cartesian_product: threshold, NotYet;
        /// Bytes of a partition when it is written to an SSTable.
        partition_size: bytes_or_null, NotYet;
        /// Tombstones of a partition when it is written to an SSTable.
        partition_tombstones: threshold, NotYet;
        /// Bytes of a value.
        column_value_size: bytes_or_null, NotYet;
        /// Bytes of a collection.
        collection_size: bytes_or_null, NotYet;
        /// Elements of a collection.
        items_per_collection: threshold, NotYet;
        /// Replication factors below.
        minimum_replication_factor: threshold, NotYet;
        /// Replication factors above.
        maximum_replication_factor: threshold, NotYet;
        /// Write timestamps that far ahead of the clock, microseconds.
        maximum_timestamp: micros_or_null, NotYet;
        /// Write timestamps that far behind the clock, microseconds.
        minimum_timestamp: micros_or_null, NotYet;
        /// Per cent of the disk in use.
        data_disk_usage_percentage: threshold, NotYet;
    }
}

impl Settings {
    /// Sets one, before or after the cluster is built.
    ///
    /// # Errors
    /// An unknown name, one whose part is not built yet, or a text that is no value of its kind.
    pub fn set(&mut self, key: &str, text: &str) -> Result<Acts, SettingError> {
        let found = Settings::KEYS.iter().find(|(name, _)| *name == key);
        let &(key, acts) = found.ok_or_else(|| SettingError::Unknown(key.to_string()))?;
        if acts == Acts::NotYet {
            return Err(SettingError::NotYet(key));
        }
        let text = text.trim();
        self.put(key, text).map_err(|takes| SettingError::Malformed {
            key,
            value: text.to_string(),
            takes,
        })?;
        Ok(acts)
    }

    /// Sets one of a cluster that is built, and checks the whole.
    ///
    /// # Errors
    /// Those of [`Settings::set`] and [`Settings::check`], and for a setting that is read when a cluster is built.
    pub fn change(&mut self, key: &str, text: &str) -> Result<(), SettingError> {
        let found = Settings::KEYS.iter().find(|(name, _)| *name == key);
        if let Some((key, Acts::WhenBuilt)) = found {
            return Err(SettingError::WhenBuilt(key));
        }
        self.set(key, text)?;
        self.check()
    }

    /// Checks what Cassandra checks over several settings.
    ///
    /// # Errors
    /// A guardrail that fails below the value at which it warns.
    pub fn check(&self) -> Result<(), SettingError> {
        for (name, pair) in self.pairs() {
            // A minimum warns above where it fails.
            let (low, high) = match name.starts_with("minimum_replication") {
                true => (pair.fail, pair.warn),
                false => (pair.warn, pair.fail),
            };
            if let (Some(low), Some(high), Some(warn), Some(fail)) =
                (low, high, pair.warn, pair.fail)
                && high < low
            {
                return Err(SettingError::Order { name, warn, fail });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_takes_some_text() {
        let mut settings = Settings::default();
        for (key, _) in Settings::KEYS {
            let texts = ["1", "1KiB", "1MiB", "1s", "true", "periodic", "ONE", "1MiB/s"];
            assert!(texts.iter().any(|text| settings.put(key, text).is_ok()), "{key}");
            assert!(
                settings.put(key, "?,!").is_err() || key.starts_with("table_properties"),
                "{key}"
            );
        }
    }

    #[test]
    fn a_guardrail_warns_before_it_fails() {
        let tables = Thresholds { warn: Some(5), fail: Some(4) };
        let settings = Settings { tables, ..Settings::default() };
        let error = settings.check().unwrap_err().to_string();
        assert_eq!(
            error,
            "The warn threshold 5 for tables_warn_threshold should be lower than the fail threshold 4"
        );
    }
}
