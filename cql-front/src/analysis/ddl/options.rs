//! Options of a table: read, checked, put on top of what was there.
//!
//! Cassandra reads every value first ([`read`]: kinds, classes, what the maps say), refuses unknown names second and
//! bounds third ([`check_bounds`]). ALTER TABLE checks the bounds with the *defaults* for what it does not set, not with
//! the table's own values, and so do we: `max_index_interval = 200` passes on a table whose minimum is 256.

use super::properties::Properties;
use super::{compaction, compression, java, speculative};
use crate::error::Error;
use crate::error::schema::OptionError;
use cassling_engine::schema::TableOptions;
use std::collections::BTreeMap;

/// What may stand after WITH.
pub(super) const KNOWN: &[&str] = &[
    "additional_write_policy",
    "allow_auto_snapshot",
    "bloom_filter_fp_chance",
    "caching",
    "cdc",
    "comment",
    "compaction",
    "compression",
    "crc_check_chance",
    "default_time_to_live",
    "extensions",
    "gc_grace_seconds",
    "id",
    "incremental_backups",
    "max_index_interval",
    "memtable",
    "memtable_flush_period_in_ms",
    "min_index_interval",
    "read_repair",
    "speculative_retry",
];

/// Options as read: signs not yet checked, so that the unsigned fields of [`TableOptions`] can hold them later.
pub(super) struct Read {
    options: TableOptions,
    /// Integers by name, as given.
    integers: BTreeMap<&'static str, i32>,
}

const INTEGERS: [&str; 5] = [
    "default_time_to_live",
    "gc_grace_seconds",
    "max_index_interval",
    "memtable_flush_period_in_ms",
    "min_index_interval",
];

/// Reads the properties on top of `base`.
///
/// # Errors
/// The first value that is not of its kind, in Cassandra's order of options.
pub(super) fn read(properties: Properties<'_>, base: &TableOptions) -> Result<Read, Error> {
    let mut options = base.clone();
    let mut integers = BTreeMap::new();
    let mut int = |name: &'static str| -> Result<(), Error> {
        if let Some(value) = properties.int(name)? {
            integers.insert(name, value);
        }
        Ok(())
    };
    // A memtable configuration is looked up before all else.
    if let Some(name) = properties.string("memtable")? {
        if name != "default" {
            return Err(OptionError::Memtable { name: name.to_string() }.into());
        }
        options.memtable = None;
    }
    set(&mut options.allow_auto_snapshot, properties.boolean("allow_auto_snapshot")?);
    if let Some(chance) = properties.double("bloom_filter_fp_chance")? {
        // -1 is Cassandra's own word for "as compaction has it".
        options.bloom_filter_fp_chance = (chance != -1.0).then_some(chance);
    }
    if let Some(pairs) = properties.map("caching")? {
        options.caching = caching(pairs)?;
    }
    set(&mut options.comment, properties.string("comment")?.map(str::to_string));
    if let Some(pairs) = properties.map("compaction")? {
        options.compaction = compaction::read(pairs)?;
    }
    if let Some(pairs) = properties.map("compression")? {
        options.compression = compression::read(pairs)?;
    }
    int("default_time_to_live")?;
    int("gc_grace_seconds")?;
    set(&mut options.incremental_backups, properties.boolean("incremental_backups")?);
    int("max_index_interval")?;
    int("memtable_flush_period_in_ms")?;
    int("min_index_interval")?;
    if let Some(policy) = properties.string("speculative_retry")? {
        options.speculative_retry = speculative::normal_form(policy)?;
    }
    if let Some(policy) = properties.string("additional_write_policy")? {
        options.additional_write_policy = speculative::normal_form(policy)?;
    }
    set(&mut options.crc_check_chance, properties.double("crc_check_chance")?);
    if let Some(cdc) = properties.boolean("cdc")? {
        options.cdc = Some(cdc);
    }
    if let Some(strategy) = properties.string("read_repair")? {
        let value = strategy.to_uppercase();
        if !matches!(value.as_str(), "BLOCKING" | "NONE") {
            return Err(OptionError::ReadRepair { value }.into());
        }
        options.read_repair = value;
    }
    Ok(Read { options, integers })
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

impl Read {
    fn integer(&self, name: &'static str) -> i64 {
        let options = &self.options;
        let before = match name {
            "default_time_to_live" => options.default_time_to_live_seconds,
            "gc_grace_seconds" => options.gc_grace_seconds,
            "max_index_interval" => options.max_index_interval,
            "min_index_interval" => options.min_index_interval,
            _ => options.memtable_flush_period_millis,
        };
        self.integers.get(name).map_or(i64::from(before), |&value| i64::from(value))
    }

    /// The options. Requires: [`check_bounds`] passed for these properties, so no integer is negative.
    pub(super) fn finish(self) -> TableOptions {
        let [ttl, gc_grace, max_index, flush_period, min_index] =
            INTEGERS.map(|name| u32::try_from(self.integer(name)).unwrap_or(0));
        let mut options = self.options;
        options.default_time_to_live_seconds = ttl;
        options.gc_grace_seconds = gc_grace;
        options.max_index_interval = max_index;
        options.memtable_flush_period_millis = flush_period;
        options.min_index_interval = min_index;
        // Fixed from now on: a later change of compaction leaves it.
        options.bloom_filter_fp_chance = Some(options.bloom_filter());
        options
    }
}

/// Checks bounds, with the defaults for what the properties do not set.
///
/// # Errors
/// The first bound that does not hold, in Cassandra's order.
pub(super) fn check_bounds(properties: Properties<'_>) -> Result<(), Error> {
    let read = read(properties, &TableOptions::default())?;
    compaction::check(&read.options.compaction)?;
    let chance = read.options.bloom_filter();
    // The least chance that 20 buckets an element and the best number of hashes give.
    if chance <= 6.71e-5 || chance > 1.0 {
        return Err(OptionError::BloomFilter { value: java::double_text(chance) }.into());
    }
    let chance = read.options.crc_check_chance;
    if !(0.0..=1.0).contains(&chance) && !chance.is_nan() {
        return Err(OptionError::CrcCheck { value: java::double_text(chance) }.into());
    }
    let at_least = |name: &'static str, least: i64| match read.integer(name) {
        value if value < least => Err(OptionError::AtLeast { name, least, value }),
        value => Ok(value),
    };
    let ttl = at_least("default_time_to_live", 0)?;
    const MAX_TTL_SECONDS: i64 = 20 * 365 * 24 * 60 * 60;
    if ttl > MAX_TTL_SECONDS {
        let name = "default_time_to_live";
        return Err(OptionError::AtMost { name, most: MAX_TTL_SECONDS, value: ttl }.into());
    }
    at_least("gc_grace_seconds", 0)?;
    let min = at_least("min_index_interval", 1)?;
    let max = read.integer("max_index_interval");
    if max < min {
        return Err(OptionError::MaxBelowMin { min, max }.into());
    }
    at_least("memtable_flush_period_in_ms", 0)?;
    Ok(())
}

/// `{}` means no keys, although the default is all of them.
fn caching(written: &[(String, String)]) -> Result<BTreeMap<String, String>, Error> {
    let get = |name: &str| written.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str());
    let keys = match get("keys") {
        None => "NONE".to_string(),
        Some(value) if value.eq_ignore_ascii_case("all") || value.eq_ignore_ascii_case("none") => {
            value.to_uppercase()
        }
        Some(value) => return Err(OptionError::CachingKeys { value: value.to_string() }.into()),
    };
    let rows = match get("rows_per_partition") {
        None => "NONE".to_string(),
        Some(value) if value.eq_ignore_ascii_case("all") || value.eq_ignore_ascii_case("none") => {
            value.to_uppercase()
        }
        Some(value) if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
            match value.parse::<i32>() {
                Ok(rows) => rows.to_string(),
                Err(_) => {
                    return Err(OptionError::NumberFormat { value: value.to_string() }.into());
                }
            }
        }
        Some(value) => return Err(OptionError::CachingRows { value: value.to_string() }.into()),
    };
    let others = written.iter().map(|(k, _)| k.as_str());
    let others: Vec<&str> =
        others.filter(|name| !matches!(*name, "keys" | "rows_per_partition")).collect();
    if !others.is_empty() {
        let names = java::hash_order(others).join(", ");
        return Err(OptionError::CachingUnknown { names }.into());
    }
    Ok(BTreeMap::from([("keys".to_string(), keys), ("rows_per_partition".to_string(), rows)]))
}
