//! A table's compaction options as numbers: what `WITH compaction = {...}` says, defaults filled in (sheets C.4 to C.7b).
//!
//! The front end has checked the texts when the table was made. Here they are read once more, and what cannot be
//! read falls back to its default: a schema of an older version must not stop a node.
//!
//! ```text
//! {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS'}
//!   -> common: min 4, max 32, threshold 0.2, interval 86400 s ... | TimeWindow { window 3600 s, ... }
//! ```

use std::collections::BTreeMap;

/// All that compaction asks of a table's options.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionOptions {
    /// `enabled`: whether compaction looks at the table by itself.
    pub enabled: bool,
    /// Fewest SSTables worth a compaction.
    pub min_threshold: usize,
    /// Most SSTables in one compaction.
    pub max_threshold: usize,
    /// A single SSTable is compacted for its tombstones if more of it could be dropped than this.
    pub tombstone_threshold: f64,
    /// ... and if it is older than this. Seconds.
    pub tombstone_interval_seconds: i64,
    /// ... even if others overlap with it.
    pub unchecked_tombstone_compaction: bool,
    /// Such compactions are off (the default of time windows).
    pub tombstone_compactions_disabled: bool,
    /// Tombstones go only from repaired SSTables.
    pub only_purge_repaired_tombstones: bool,
    /// What tombstones of SSTables outside a compaction may hide in it.
    pub overlapping_tombstones: OverlappingTombstones,
    /// How SSTables are picked.
    pub strategy: Strategy,
}

/// `provide_overlapping_tombstones`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverlappingTombstones {
    /// Nothing.
    #[default]
    None,
    /// Rows and partitions under deletions.
    Row,
    /// Cells that were overwritten, too.
    Cell,
}

/// The strategies.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// SSTables of like size.
    SizeTiered(SizeTiered),
    /// Levels of files that do not overlap.
    Leveled(Leveled),
    /// Windows of time.
    TimeWindow(TimeWindow),
    /// Levels of like density, in shards.
    Unified(Unified),
}

/// Sub-options of SizeTieredCompactionStrategy, which others use too.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTiered {
    /// Smaller files are all of one size.
    pub min_sstable_bytes: u64,
    /// A file belongs to a bucket if it is larger than this part of its average.
    pub bucket_low: f64,
    /// ... and smaller than this.
    pub bucket_high: f64,
}

/// Sub-options of LeveledCompactionStrategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Leveled {
    /// Size of a file.
    pub sstable_bytes: u64,
    /// How many times larger each level is.
    pub fanout: u64,
    /// For level 0 when it is far behind.
    pub size_tiered: SizeTiered,
}

/// Sub-options of TimeWindowCompactionStrategy.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWindow {
    /// Length of a window: unit times size. Seconds.
    pub window_seconds: i64,
    /// How many timestamps make a millisecond, as a fraction: timestamps * `0` / `1`.
    pub millis_ratio: (i64, i64),
    /// Expired files are looked for not more often than this. Milliseconds.
    pub expired_check_millis: i64,
    /// Expired files go without a look at overlapping ones.
    pub ignore_overlaps: bool,
    /// For the newest window.
    pub size_tiered: SizeTiered,
}

/// Sub-options of UnifiedCompactionStrategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Unified {
    /// W for each level; the last is that of all higher ones.
    pub scaling: Vec<i32>,
    /// Size that files should have at the target density.
    pub target_sstable_bytes: f64,
    /// Files are not split below this; 0 for no such bound.
    pub min_sstable_bytes: f64,
    /// Shards of small densities.
    pub base_shards: u32,
    /// 0: more files with the density; 1: larger ones.
    pub growth: f64,
    /// Size that a flush is taken to have; 0: as it is.
    pub flush_bytes: f64,
    /// Most SSTables in one compaction; 0 for no bound.
    pub max_sstables: usize,
    /// As for time windows. Milliseconds.
    pub expired_check_millis: i64,
    /// As for time windows.
    pub ignore_overlaps: bool,
    /// How far a bucket reaches beyond those that overlap most.
    pub inclusion: Inclusion,
}

/// `overlap_inclusion_method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// The overlapping ones alone.
    None,
    /// And those that overlap with one of them.
    Single,
    /// And those that overlap with these, and so on.
    Transitive,
}

/// The sub-options as written.
struct Written<'m>(&'m BTreeMap<String, String>);

impl Written<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|text| text.trim())
    }

    fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> T {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    fn is_true(&self, name: &str, default: bool) -> bool {
        self.text(name).map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// `1GiB`, `100MiB`, `512B`.
    fn bytes(&self, name: &str, default: f64) -> f64 {
        let read = |text: &str| {
            let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
            let factor = match unit.trim() {
                "B" => 1.0,
                "KiB" | "KB" => 1024.0,
                "MiB" | "MB" => MIB,
                "GiB" | "GB" => 1024.0 * MIB,
                "TiB" | "TB" => 1024.0 * 1024.0 * MIB,
                _ => return None,
            };
            number.trim().parse::<f64>().ok().map(|number| number * factor)
        };
        self.text(name).and_then(read).unwrap_or(default)
    }

    fn size_tiered(&self) -> SizeTiered {
        SizeTiered {
            min_sstable_bytes: self.number("min_sstable_size", 50 << 20),
            bucket_low: self.number("bucket_low", 0.5),
            bucket_high: self.number("bucket_high", 1.5),
        }
    }

    fn expired_check_millis(&self) -> i64 {
        self.number::<i64>("expired_sstable_check_frequency_seconds", 600).saturating_mul(1_000)
    }

    fn time_window(&self) -> TimeWindow {
        let unit = match self.text("compaction_window_unit") {
            Some("MINUTES") => 60,
            Some("HOURS") => 3_600,
            _ => 86_400,
        };
        let millis_ratio = match self.text("timestamp_resolution") {
            Some("SECONDS") => (1_000, 1),
            Some("MILLISECONDS") => (1, 1),
            Some("NANOSECONDS") => (1, 1_000_000),
            _ => (1, 1_000),
        };
        TimeWindow {
            window_seconds: unit * self.number("compaction_window_size", 1_i64).max(1),
            millis_ratio,
            expired_check_millis: self.expired_check_millis(),
            ignore_overlaps: self.is_true(UNSAFE, false),
            size_tiered: self.size_tiered(),
        }
    }

    fn unified(&self) -> Unified {
        let scaling = self.text("scaling_parameters").unwrap_or("T4");
        let growth = self.text("sstable_growth").and_then(|text| match text.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().ok().map(|percent| percent / 100.0),
            None => text.parse().ok(),
        });
        Unified {
            scaling: scaling.split(',').filter_map(|word| scaling_parameter(word.trim())).collect(),
            target_sstable_bytes: self.bytes("target_sstable_size", 1024.0 * MIB),
            min_sstable_bytes: self.bytes("min_sstable_size", 100.0 * MIB),
            base_shards: self.number("base_shard_count", 4_u32).max(1),
            growth: growth.unwrap_or(0.333),
            flush_bytes: self.bytes("flush_size_override", 0.0),
            max_sstables: usize::try_from(self.number("max_sstables_to_compact", 0_i64))
                .unwrap_or(0),
            expired_check_millis: self.expired_check_millis(),
            ignore_overlaps: self.is_true(UNSAFE, false),
            inclusion: match self.text("overlap_inclusion_method").map(str::to_uppercase).as_deref()
            {
                Some("NONE") => Inclusion::None,
                Some("SINGLE") => Inclusion::Single,
                _ => Inclusion::Transitive,
            },
        }
    }
}

const MIB: f64 = 1024.0 * 1024.0;
const UNSAFE: &str = "unsafe_aggressive_sstable_expiration";

/// `T4` is 2, `L10` is -8, `N` is 0, a number is itself.
fn scaling_parameter(word: &str) -> Option<i32> {
    match (word, word.strip_prefix('T'), word.strip_prefix('L')) {
        ("N", ..) => Some(0),
        (_, Some(fan), _) => fan.parse::<i32>().ok().map(|fan| fan - 2),
        (_, _, Some(fan)) => fan.parse::<i32>().ok().map(|fan| 2 - fan),
        _ => word.parse().ok(),
    }
}

impl CompactionOptions {
    /// Reads the map that `system_schema.tables` shows.
    pub fn read(map: &BTreeMap<String, String>) -> CompactionOptions {
        let written = Written(map);
        let class = written.text("class").unwrap_or_default();
        let strategy = match class.rsplit('.').next().unwrap_or(class) {
            "LeveledCompactionStrategy" => Strategy::Leveled(Leveled {
                sstable_bytes: written.number::<u64>("sstable_size_in_mb", 160).max(1) << 20,
                fanout: written.number::<u64>("fanout_size", 10).max(1),
                size_tiered: written.size_tiered(),
            }),
            "TimeWindowCompactionStrategy" => Strategy::TimeWindow(written.time_window()),
            "UnifiedCompactionStrategy" => Strategy::Unified(written.unified()),
            _ => Strategy::SizeTiered(written.size_tiered()),
        };
        let wants_tombstones = [
            "unchecked_tombstone_compaction",
            "tombstone_compaction_interval",
            "tombstone_threshold",
        ]
        .iter()
        .any(|name| written.text(name).is_some_and(|text| text != "false"));
        CompactionOptions {
            enabled: written.is_true("enabled", true),
            min_threshold: written.number("min_threshold", 4),
            max_threshold: written.number("max_threshold", 32),
            tombstone_threshold: written.number("tombstone_threshold", 0.2),
            tombstone_interval_seconds: written.number("tombstone_compaction_interval", 86_400),
            unchecked_tombstone_compaction: written
                .is_true("unchecked_tombstone_compaction", false),
            tombstone_compactions_disabled: matches!(strategy, Strategy::TimeWindow(_))
                && !wants_tombstones,
            only_purge_repaired_tombstones: written
                .is_true("only_purge_repaired_tombstones", false),
            overlapping_tombstones: match written
                .text("provide_overlapping_tombstones")
                .map(str::to_uppercase)
                .as_deref()
            {
                Some("ROW") => OverlappingTombstones::Row,
                Some("CELL") => OverlappingTombstones::Cell,
                _ => OverlappingTombstones::None,
            },
            strategy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> CompactionOptions {
        let map = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        CompactionOptions::read(&map)
    }

    #[test]
    fn texts_become_numbers() {
        let options = read(&[
            ("class", "org.apache.cassandra.db.compaction.TimeWindowCompactionStrategy"),
            ("compaction_window_unit", "HOURS"),
            ("compaction_window_size", "3"),
            ("timestamp_resolution", "SECONDS"),
            ("max_threshold", "8"),
            ("provide_overlapping_tombstones", "cell"),
        ]);
        let Strategy::TimeWindow(window) = &options.strategy else { panic!("{options:?}") };
        assert_eq!((window.window_seconds, window.millis_ratio), (10_800, (1_000, 1)));
        assert_eq!((options.min_threshold, options.max_threshold), (4, 8));
        assert_eq!(options.overlapping_tombstones, OverlappingTombstones::Cell);
        assert!(options.tombstone_compactions_disabled);
        let with = |name| {
            let class = ("class", "TimeWindowCompactionStrategy");
            read(&[class, (name, "0.3")]).tombstone_compactions_disabled
        };
        assert!(!with("tombstone_threshold") && with("bucket_low"));
    }

    #[test]
    fn unified_scaling() {
        let options = read(&[
            ("class", "UnifiedCompactionStrategy"),
            ("scaling_parameters", "T4, N, L10, -3,"),
            ("target_sstable_size", "2MiB"),
            ("sstable_growth", "50%"),
        ]);
        let Strategy::Unified(unified) = &options.strategy else { panic!("{options:?}") };
        assert_eq!(unified.scaling, [2, 0, -8, -3]);
        assert_eq!((unified.target_sstable_bytes, unified.growth), (2.0 * MIB, 0.5));
    }
}
