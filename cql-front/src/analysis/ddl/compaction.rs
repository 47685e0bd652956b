//! `WITH compaction = {...}`: checked, and as `system_schema.tables` shows it (sheets C.4 to C.7b).
//!
//! [`read`] is what is refused at once (class, overlapping tombstones); [`check`] is what a strategy says of its
//! sub-options, which comes later, with the bounds of the other options.

use super::java;
use crate::error::Error;
use crate::error::schema::CompactionError;
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.db.compaction.";
const SIZE_TIERED: &str = "SizeTieredCompactionStrategy";
const LEVELED: &str = "LeveledCompactionStrategy";
const TIME_WINDOW: &str = "TimeWindowCompactionStrategy";
const UNIFIED: &str = "UnifiedCompactionStrategy";

type Map = BTreeMap<String, String>;
type Checked = Result<(), CompactionError>;

/// The shown map of what was written: class in full, thresholds filled in.
///
/// # Errors
/// No class, an unknown one, `provide_overlapping_tombstones`.
pub(super) fn read(written: &[(String, String)]) -> Result<Map, Error> {
    let mut options: Map = written.iter().cloned().collect();
    let class = options.get("class").ok_or(CompactionError::NoClass {})?;
    let full = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    match full.strip_prefix(PACKAGE) {
        Some(SIZE_TIERED | LEVELED | TIME_WINDOW) => {
            options.entry("min_threshold".to_string()).or_insert_with(|| "4".to_string());
            options.entry("max_threshold".to_string()).or_insert_with(|| "32".to_string());
        }
        Some(UNIFIED) => {}
        Some("AbstractCompactionStrategy") => {
            return Err(CompactionError::Abstract { class: full }.into());
        }
        _ if full.starts_with("java.lang.") => {
            return Err(CompactionError::NotAStrategy { class: full }.into());
        }
        _ => return Err(CompactionError::UnknownClass { class: full }.into()),
    }
    if let Some(value) = options.get("provide_overlapping_tombstones") {
        let value = value.to_uppercase();
        if !matches!(value.as_str(), "NONE" | "ROW" | "CELL") {
            return Err(CompactionError::Overlapping { value }.into());
        }
    }
    options.insert("class".to_string(), full);
    Ok(options)
}

/// Checks the sub-options of a map that [`read`] gave.
///
/// # Errors
/// The first refusal in the order of the strategy's own checks, then unknown sub-options, then the thresholds.
pub(super) fn check(options: &Map) -> Result<(), Error> {
    let class = options.get("class").map_or("", String::as_str);
    let class = class.strip_prefix(PACKAGE).unwrap_or(class);
    let mut known = vec![
        "class",
        "tombstone_threshold",
        "tombstone_compaction_interval",
        "unchecked_tombstone_compaction",
        "log_all",
        "enabled",
        "only_purge_repaired_tombstones",
        "provide_overlapping_tombstones",
    ];
    every_strategy(options)?;
    match class {
        UNIFIED => {
            unified(options)?;
            known.extend(UNIFIED_OPTIONS);
        }
        LEVELED => {
            leveled(options)?;
            size_tiered(options)?;
            known.extend(["sstable_size_in_mb", "fanout_size", "single_sstable_uplevel"]);
        }
        TIME_WINDOW => {
            time_window(options)?;
            size_tiered(options)?;
            known.extend(TIME_WINDOW_OPTIONS);
        }
        _ => size_tiered(options)?,
    }
    if class != UNIFIED {
        known.extend(["min_threshold", "max_threshold", MIN_SIZE, "bucket_low", "bucket_high"]);
    }
    let given = java::hash_order(options.keys().map(String::as_str));
    let unknown: Vec<&str> = given.into_iter().filter(|name| !known.contains(name)).collect();
    if !unknown.is_empty() {
        let (names, class) = (unknown.join(", "), class.to_string());
        return Err(CompactionError::NotUnderstood { names, class }.into());
    }
    if class != UNIFIED {
        thresholds(options)?;
    }
    Ok(())
}

const MIN_SIZE: &str = "min_sstable_size";
const UNSAFE: &str = "unsafe_aggressive_sstable_expiration";
const EXPIRED: &str = "expired_sstable_check_frequency_seconds";
const TIME_WINDOW_OPTIONS: [&str; 5] =
    ["compaction_window_unit", "compaction_window_size", "timestamp_resolution", EXPIRED, UNSAFE];
const UNIFIED_OPTIONS: [&str; 10] = [
    "scaling_parameters",
    "target_sstable_size",
    MIN_SIZE,
    "base_shard_count",
    "sstable_growth",
    "flush_size_override",
    "max_sstables_to_compact",
    EXPIRED,
    UNSAFE,
    "overlap_inclusion_method",
];

fn is_boolean(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

/// A whole number, if the sub-option is given. Cassandra says "int" for longs too.
fn int(options: &Map, name: &'static str) -> Result<Option<i64>, CompactionError> {
    let Some(value) = options.get(name) else { return Ok(None) };
    let refusal = || CompactionError::NotAnInt { name, value: value.clone() };
    value.parse().map(Some).map_err(|_| refusal())
}

/// The same within a Java int.
fn int32(options: &Map, name: &'static str) -> Result<Option<i64>, CompactionError> {
    match int(options, name)? {
        Some(value) if i32::try_from(value).is_err() => {
            Err(CompactionError::NotAnInt { name, value: value.to_string() })
        }
        value => Ok(value),
    }
}

fn every_strategy(options: &Map) -> Checked {
    let name = "tombstone_threshold";
    if let Some(text) = options.get(name) {
        let value = java::parse_double(text)
            .ok_or_else(|| CompactionError::NotAnInt { name, value: text.clone() })?;
        if value < 0.0 {
            return Err(CompactionError::NotPositive { name, value: format!("{value:.6}") });
        }
    }
    let name = "tombstone_compaction_interval";
    if let Some(value) = int(options, name)?
        && value < 0
    {
        return Err(CompactionError::NotPositive { name, value: value.to_string() });
    }
    let wrong = |name: &str| options.get(name).filter(|value| !is_boolean(value)).cloned();
    if let Some(value) = wrong("unchecked_tombstone_compaction") {
        return Err(CompactionError::Unchecked { value });
    }
    if let Some(value) = wrong("log_all") {
        return Err(CompactionError::LogAll { value });
    }
    if let Some(value) = wrong("enabled") {
        return Err(CompactionError::NotABoolean { name: "enabled", value });
    }
    Ok(())
}

fn size_tiered(options: &Map) -> Checked {
    if let Some(value) = int(options, MIN_SIZE)?
        && value < 0
    {
        return Err(CompactionError::MinSize { value });
    }
    let float = |name: &'static str, default: f64| match options.get(name) {
        None => Ok(default),
        Some(text) => java::parse_double(text)
            .ok_or_else(|| CompactionError::NotAFloat { name, value: text.clone() }),
    };
    let low = float("bucket_low", 0.5)?;
    let high = float("bucket_high", 1.5)?;
    if high <= low {
        let (high, low) = (java::double_text(high), java::double_text(low));
        return Err(CompactionError::Buckets { high, low });
    }
    Ok(())
}

fn leveled(options: &Map) -> Checked {
    let size_name = "sstable_size_in_mb";
    if let Some(value) = int32(options, size_name)?
        && value < 1
    {
        return Err(CompactionError::NotLarger { name: size_name, value });
    }
    let name = "fanout_size";
    match int32(options, name) {
        // Cassandra prints the other sub-option's value, or its default 1.
        Err(_) => {
            let value = options.get(size_name).cloned().unwrap_or_else(|| "1".to_string());
            Err(CompactionError::NotAnInt { name, value })
        }
        Ok(Some(value)) if value < 1 => Err(CompactionError::NotLarger { name, value }),
        Ok(_) => Ok(()),
    }
}

fn time_window(options: &Map) -> Checked {
    let one_of = |name: &'static str, allowed: &[&str]| match options.get(name) {
        Some(value) if !allowed.contains(&value.as_str()) => {
            Err(CompactionError::NotValid { name, value: value.clone() })
        }
        _ => Ok(()),
    };
    one_of("timestamp_resolution", &["SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS"])?;
    one_of("compaction_window_unit", &["MINUTES", "HOURS", "DAYS"])?;
    if let Some(value) = int32(options, "compaction_window_size")?
        && value < 1
    {
        return Err(CompactionError::WindowSize { value });
    }
    if let Some(value) = int(options, EXPIRED)?
        && value < 0
    {
        return Err(CompactionError::Negative { name: EXPIRED, value });
    }
    match options.get(UNSAFE) {
        Some(value) if !is_boolean(value) => {
            Err(CompactionError::UnsafeNotABoolean { value: value.clone() })
        }
        Some(value) if value.eq_ignore_ascii_case("true") => {
            Err(CompactionError::UnsafeNotAllowed {})
        }
        _ => Ok(()),
    }
}

fn unified(options: &Map) -> Checked {
    if let Some(list) = options.get("scaling_parameters") {
        scaling(list)?;
    }
    if let Some(value) = int32(options, "base_shard_count")?
        && value <= 0
    {
        return Err(CompactionError::ShouldBePositive { name: "base_shard_count", value });
    }
    let target = size(options, "target_sstable_size")?.unwrap_or(1024.0 * MIB);
    size(options, "flush_size_override")?;
    int32(options, "max_sstables_to_compact")?;
    if let Some(text) = options.get(EXPIRED) {
        let value = text
            .parse()
            .map_err(|_| CompactionError::NotALong { name: EXPIRED, value: text.clone() })?;
        if value <= 0 {
            return Err(CompactionError::ShouldBePositive { name: EXPIRED, value });
        }
    }
    if let Some(value) = options.get(UNSAFE).filter(|value| !is_boolean(value)) {
        return Err(CompactionError::NotABoolean { name: UNSAFE, value: value.clone() });
    }
    if let Some(value) = options.get("overlap_inclusion_method")
        && !matches!(value.to_uppercase().as_str(), "NONE" | "SINGLE" | "TRANSITIVE")
    {
        return Err(CompactionError::Overlap { value: value.clone() });
    }
    if let Some(text) = options.get(MIN_SIZE) {
        let min = java::parse_size(text)
            .ok_or_else(|| CompactionError::MinSizeInvalid { value: text.clone() })?;
        if min < 0.0 {
            return Err(CompactionError::MinSizeNegative {});
        }
        let limit = (target * 0.5f64.sqrt()).ceil();
        if min >= limit {
            let (min, target) = (java::memory_text(min), java::memory_text(limit));
            return Err(CompactionError::MinSizeAboveTarget { min, target });
        }
    }
    growth(options)
}

const MIB: f64 = 1024.0 * 1024.0;

fn size(options: &Map, name: &'static str) -> Result<Option<f64>, CompactionError> {
    let Some(text) = options.get(name) else { return Ok(None) };
    let value = text.clone();
    match java::parse_size(text) {
        None => Err(CompactionError::Size { name, value }),
        Some(bytes) if bytes < MIB => Err(CompactionError::SizeTooSmall { name, value }),
        Some(bytes) => Ok(Some(bytes)),
    }
}

/// `T4, L10, N, 2, -3`; a comma at the end is nothing.
fn scaling(list: &str) -> Checked {
    let mut parts: Vec<&str> = list.split(',').collect();
    while parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    for part in parts {
        let value = part.trim();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if let Some(fan) = value.strip_prefix(['T', 'L'])
            && digits(fan)
        {
            if fan.parse::<u64>().is_ok_and(|fan| fan < 2) {
                return Err(CompactionError::FanFactor { value: value.to_string() });
            }
        } else if value != "N" && !digits(value.strip_prefix(['+', '-']).unwrap_or(value)) {
            return Err(CompactionError::Scaling { value: value.to_string() });
        }
    }
    Ok(())
}

fn growth(options: &Map) -> Checked {
    let Some(text) = options.get("sstable_growth") else { return Ok(()) };
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text.as_str(), 1.0),
    };
    let growth = java::parse_double(number)
        .ok_or_else(|| CompactionError::GrowthNotANumber { value: text.clone() })?;
    match (0.0..=1.0).contains(&(growth / scale)) {
        true => Ok(()),
        false => Err(CompactionError::Growth { value: text.clone() }),
    }
}

fn thresholds(options: &Map) -> Checked {
    let read = |name: &'static str| {
        let value = options.get(name).cloned().unwrap_or_default();
        if value.is_empty() || !value.bytes().all(|b| b.is_ascii_digit()) {
            return Err(CompactionError::Threshold { name, value });
        }
        Ok(value)
    };
    let number = |value: String| {
        value.parse::<i32>().map_err(|_| CompactionError::ThresholdTooLarge { value })
    };
    let (min, max) = (read("min_threshold")?, read("max_threshold")?);
    let (min, max) = (number(min)?, number(max)?);
    if min <= 0 || max <= 0 {
        Err(CompactionError::ThresholdZero {})
    } else if min <= 1 {
        Err(CompactionError::MinTooSmall { min })
    } else if min > max {
        Err(CompactionError::MinAboveMax { min, max })
    } else {
        Ok(())
    }
}
