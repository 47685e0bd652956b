//! Options of a table (`WITH ...`): values and defaults. Checking them is the front end's.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Every option of a table that can be read back from `system_schema.tables`.
/// Maps hold exactly what that table shows (full class names included).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableOptions {
    /// `99p` and the like, as shown.
    pub additional_write_policy: String,
    /// Target rate of false positives of the bloom filter; `None`: as compaction has it ([`Self::bloom_filter`]).
    /// Fixed when the table is created: a later change of compaction leaves it.
    pub bloom_filter_fp_chance: Option<f64>,
    /// `keys`, `rows_per_partition`.
    pub caching: BTreeMap<String, String>,
    /// Change data capture, without effect; `None` if never set. `system_schema` shows null whatever it is, as a
    /// node without CDC does.
    pub cdc: Option<bool>,
    /// Free text.
    pub comment: String,
    /// Full class name and sub-options.
    pub compaction: BTreeMap<String, String>,
    /// Full class name and sub-options; `enabled: false` when off.
    pub compression: BTreeMap<String, String>,
    /// Chance that a checksum is checked at a read.
    pub crc_check_chance: f64,
    /// TTL of writes that give none; seconds, 0 for none.
    pub default_time_to_live_seconds: u32,
    /// Always empty: `extensions` is accepted and dropped.
    pub extensions: BTreeMap<String, Vec<u8>>,
    /// How long tombstones stay; seconds.
    pub gc_grace_seconds: u32,
    /// Sparsest index summary.
    pub max_index_interval: u32,
    /// Name of a memtable configuration, `None` for the default (shown as null).
    pub memtable: Option<String>,
    /// Flush period in milliseconds, 0 for none.
    pub memtable_flush_period_millis: u32,
    /// Densest index summary.
    pub min_index_interval: u32,
    /// `BLOCKING` or `NONE`.
    pub read_repair: String,
    /// `99p` and the like, as shown.
    pub speculative_retry: String,
    /// `allow_auto_snapshot`, without effect; shown as null while true.
    pub allow_auto_snapshot: bool,
    /// `incremental_backups`, without effect; shown as null while true.
    pub incremental_backups: bool,
}

impl TableOptions {
    /// Target rate of false positives of the bloom filter, as `system_schema.tables` shows it.
    pub fn bloom_filter(&self) -> f64 {
        let leveled = self.compaction_class() == "LeveledCompactionStrategy";
        self.bloom_filter_fp_chance.unwrap_or(if leveled { 0.1 } else { 0.01 })
    }

    /// Simple class name of the compaction strategy, e.g. `SizeTieredCompactionStrategy`.
    pub fn compaction_class(&self) -> &str {
        let class = self.compaction.get("class").map_or("", String::as_str);
        class.rsplit('.').next().unwrap_or(class)
    }

    /// Change data capture as `system_schema.tables` shows it: null on a node without CDC.
    pub fn cdc_shown(&self) -> Option<bool> {
        None
    }

    /// `allow_auto_snapshot` as `system_schema.tables` shows it: only when it is off.
    pub fn allow_auto_snapshot_shown(&self) -> Option<bool> {
        (!self.allow_auto_snapshot).then_some(false)
    }

    /// `incremental_backups` as `system_schema.tables` shows it: only when it is off.
    pub fn incremental_backups_shown(&self) -> Option<bool> {
        (!self.incremental_backups).then_some(false)
    }
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            additional_write_policy: "99p".to_string(),
            bloom_filter_fp_chance: None,
            caching: map(&[("keys", "ALL"), ("rows_per_partition", "NONE")]),
            cdc: None,
            comment: String::new(),
            compaction: map(&[
                ("class", "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"),
                ("max_threshold", "32"),
                ("min_threshold", "4"),
            ]),
            compression: map(&[
                ("chunk_length_in_kb", "16"),
                ("class", "org.apache.cassandra.io.compress.LZ4Compressor"),
            ]),
            crc_check_chance: 1.0,
            default_time_to_live_seconds: 0,
            extensions: BTreeMap::new(),
            gc_grace_seconds: 864_000,
            max_index_interval: 2048,
            memtable: None,
            memtable_flush_period_millis: 0,
            min_index_interval: 128,
            read_repair: "BLOCKING".to_string(),
            speculative_retry: "99p".to_string(),
            allow_auto_snapshot: true,
            incremental_backups: true,
        }
    }
}
