//! `WITH compression = {...}`: checked, and as `system_schema.tables` shows it.

use super::java;
use crate::error::Error;
use crate::error::schema::OptionError;
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.io.compress.";
const CHUNK: &str = "chunk_length_in_kb";
const RATIO: &str = "min_compress_ratio";

/// The shown map of what was written.
///
/// # Errors
/// The first refusal in Cassandra's order: class, on or off, sizes, the compressor's own options.
pub(super) fn read(written: &[(String, String)]) -> Result<BTreeMap<String, String>, Error> {
    let mut options: BTreeMap<String, String> = written.iter().cloned().collect();
    let enabled = options.get("enabled").is_none_or(|value| value.eq_ignore_ascii_case("true"));
    if !written.is_empty() && enabled && !options.contains_key("class") {
        return Err(OptionError::CompressionNoClass {}.into());
    }
    options.remove("enabled");
    if !enabled && !options.is_empty() {
        return Err(OptionError::CompressionOff {}.into());
    }
    let class = options.remove("class");
    let Some(class) = class.filter(|_| enabled) else {
        return Ok(BTreeMap::from([("enabled".to_string(), "false".to_string())]));
    };
    if class.is_empty() {
        return Err(OptionError::CompressionEmptyClass {}.into());
    }
    let chunk_kib = options.remove(CHUNK).map_or(Ok(16), |value| chunk_length(&value))?;
    let ratio = options.remove(RATIO).map_or(Ok(0.0), |value| {
        java::parse_double(&value).ok_or(OptionError::NumberFormat { value })
    })?;
    let class = if class.contains('.') { class } else { format!("{PACKAGE}{class}") };
    compressor(&class, &options)?;
    check_sizes(chunk_kib, ratio)?;

    options.insert("class".to_string(), class);
    options.insert(CHUNK.to_string(), chunk_kib.to_string());
    if ratio != 0.0 {
        options.insert(RATIO.to_string(), java::double_text(ratio));
    }
    Ok(options)
}

/// A chunk length in KiB; its sign and shape are looked at later, as in Cassandra.
fn chunk_length(value: &str) -> Result<i32, OptionError> {
    let kib: i32 = value.parse().map_err(|_| OptionError::ChunkNotANumber {})?;
    if kib > i32::MAX / 1024 {
        return Err(OptionError::ChunkTooLarge { value: value.to_string() });
    }
    Ok(kib)
}

fn check_sizes(chunk_kib: i32, ratio: f64) -> Result<(), OptionError> {
    if chunk_kib <= 0 {
        return Err(OptionError::ChunkNegative {});
    }
    if chunk_kib & (chunk_kib - 1) != 0 {
        return Err(OptionError::ChunkPower {});
    }
    if ratio < 0.0 {
        return Err(OptionError::RatioNegative {});
    }
    if ratio > 0.0 && ratio < 1.0 {
        return Err(OptionError::RatioBelowOne {});
    }
    Ok(())
}

/// The class, and what its `create` makes of its options.
fn compressor(class: &str, options: &BTreeMap<String, String>) -> Result<(), OptionError> {
    let known: &[&str] = match class.strip_prefix(PACKAGE) {
        Some("LZ4Compressor") => {
            lz4(options)?;
            &["lz4_compressor_type", "lz4_high_compressor_level"]
        }
        Some("ZstdCompressor") => {
            zstd(options)?;
            &["compression_level"]
        }
        Some("SnappyCompressor" | "DeflateCompressor" | "NoopCompressor") => &[],
        _ if class.starts_with("java.lang.") => return Err(OptionError::CompressionNoCreate {}),
        _ => return Err(OptionError::CompressionUnknownClass { class: class.to_string() }),
    };
    let given = java::hash_order(options.keys().map(String::as_str));
    match given.into_iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(OptionError::CompressionUnknown { name: name.to_string() }),
    }
}

fn lz4(options: &BTreeMap<String, String>) -> Result<(), OptionError> {
    if let Some(value) = options.get("lz4_compressor_type")
        && !matches!(value.as_str(), "high" | "fast")
    {
        return Err(OptionError::Lz4Type { value: value.clone() });
    }
    if let Some(value) = options.get("lz4_high_compressor_level")
        && !value.parse::<i32>().is_ok_and(|level| (1..=17).contains(&level))
    {
        return Err(OptionError::Lz4Level { value: value.clone() });
    }
    Ok(())
}

fn zstd(options: &BTreeMap<String, String>) -> Result<(), OptionError> {
    let Some(text) = options.get("compression_level") else { return Ok(()) };
    match text.parse::<i32>() {
        Err(_) => Err(OptionError::ZstdNotANumber { value: text.clone() }),
        Ok(value) if !(-131_072..=22).contains(&value) => Err(OptionError::ZstdLevel { value }),
        Ok(_) => Ok(()),
    }
}
