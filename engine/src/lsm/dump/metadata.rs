//! What an SSTable says of itself, as Cassandra's `sstablemetadata` prints it (sheet F.5).
//!
//! ```text
//! Minimum timestamp: 01/01/1970 00:00:00 (999999)
//! Estimated tombstone drop times:
//!    Drop Time                        | Count  (%)  Histogram
//!    1796069520 (11/30/2026 20:12:00) |    24 ( 88) OOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
//! ```
//!
//! The columns shown are those that the file holds, so all of it is read, with a scan or without. What belongs to a
//! server that we are not (positions in its commit log) is shown as none.

use super::scan::Scan;
use super::{DumpError, partition_key_text};
use crate::lsm::sstable::SsTable;
use crate::lsm::sstable::histogram::{DropTimes, EstimatedHistogram, OFFSETS_MAX};
use crate::row::DecoratedKey;
use crate::row::clustering::{bound_values, values};
use crate::row::deletion::NO_DELETION_TIME;
use crate::schema::{Column, ColumnKind, Table};
use crate::types::display::{class_name, duration_words, key_text};
use crate::types::float::double_text;
use crate::types::temporal::civil_from_days;
use std::io::{self, Write};
use uuid::Uuid;

/// How metadata is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataOptions {
    /// Rows, tombstones and the largest partitions too (`-s`).
    pub scan: bool,
    /// Seconds that a tombstone must be old to count as droppable (`-g`).
    pub gc_grace_seconds: i64,
    /// Unit of the timestamps (`-t`).
    pub timestamp_unit: TimestampUnit,
}

/// What a timestamp counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TimestampUnit {
    Nanoseconds,
    #[default]
    Microseconds,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl TimestampUnit {
    /// The unit of that name, in capitals as Java's are.
    pub fn from_name(name: &str) -> Option<TimestampUnit> {
        Some(match name {
            "NANOSECONDS" => TimestampUnit::Nanoseconds,
            "MICROSECONDS" => TimestampUnit::Microseconds,
            "MILLISECONDS" => TimestampUnit::Milliseconds,
            "SECONDS" => TimestampUnit::Seconds,
            "MINUTES" => TimestampUnit::Minutes,
            "HOURS" => TimestampUnit::Hours,
            "DAYS" => TimestampUnit::Days,
            _ => return None,
        })
    }

    fn to_millis(self, time: i64) -> i64 {
        match self {
            TimestampUnit::Nanoseconds => time / 1_000_000,
            TimestampUnit::Microseconds => time / 1000,
            TimestampUnit::Milliseconds => time,
            TimestampUnit::Seconds => time.saturating_mul(1000),
            TimestampUnit::Minutes => time.saturating_mul(60_000),
            TimestampUnit::Hours => time.saturating_mul(3_600_000),
            TimestampUnit::Days => time.saturating_mul(86_400_000),
        }
    }
}

/// Writes what is known of `sstable` of `table`, which node `host_id` made.
///
/// # Errors
/// Damage, with its place, or whatever `out` answers.
pub fn metadata(
    sstable: &SsTable,
    table: &Table,
    host_id: Uuid,
    now_seconds: i64,
    options: &MetadataOptions,
    out: &mut dyn Write,
) -> Result<(), DumpError> {
    let scan = Scan::of(sstable, table)?;
    let mut page = Page { out, sstable, table, options };
    page.field("SSTable", sstable.name())?;
    if options.scan {
        page.scanned(&scan)?;
    }
    page.general()?;
    page.droppable(now_seconds)?;
    page.origin(host_id)?;
    page.histograms()?;
    page.schema(&scan)?;
    Ok(())
}

struct Page<'p> {
    out: &'p mut dyn Write,
    sstable: &'p SsTable,
    table: &'p Table,
    options: &'p MetadataOptions,
}

impl Page<'_> {
    fn field(&mut self, name: &str, value: &str) -> io::Result<()> {
        writeln!(self.out, "{name}: {value}")
    }

    /// A value with a comment in parentheses, if there is one.
    fn noted(&mut self, name: &str, value: Option<String>, note: Option<String>) -> io::Result<()> {
        let value = value.unwrap_or_else(|| "--".to_string());
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        writeln!(self.out, "{name}: {value}{note}")
    }

    fn timestamp(&mut self, name: &str, time: i64) -> io::Result<()> {
        let date = date_text(self.options.timestamp_unit.to_millis(time));
        self.noted(name, date.filter(|_| time != 0), Some(time.to_string()))
    }

    fn deletion_time(&mut self, name: &str, seconds: i64) -> io::Result<()> {
        let text = match seconds {
            0 | NO_DELETION_TIME => Some("no tombstones".to_string()),
            _ => date_text(seconds.saturating_mul(1000)),
        };
        self.noted(name, text, Some(seconds.to_string()))
    }

    fn scanned(&mut self, scan: &Scan) -> io::Result<()> {
        let uncompressed = self.sstable.statistics().uncompressed_bytes;
        self.field("Size", &uncompressed.to_string())?;
        self.field("Partitions", &scan.partitions.to_string())?;
        self.field("Rows", &scan.rows.to_string())?;
        self.field("Tombstones", &scan.tombstones.to_string())?;
        self.field("Cells", &scan.cells.to_string())?;
        let bytes = |n: u64| format!(" ({})", byte_text(n).unwrap_or_else(|| "null".to_string()));
        self.field("Widest Partitions", "")?;
        self.leaders(scan.widest.sorted(), |_| String::new())?;
        self.field("Largest Partitions", "")?;
        self.leaders(scan.largest.sorted(), bytes)?;
        let tombstones = scan.most_tombstones.sorted().into_iter().filter(|(n, _)| *n > 0);
        let tombstones: Vec<_> = tombstones.collect();
        // The tool asks whether its text has more than ten characters: one short key is not shown.
        let line = |(n, key): &(u64, &DecoratedKey)| {
            format!("  [{}] {n}\n", partition_key_text(self.table, key)).encode_utf16().count()
        };
        if tombstones.iter().map(line).sum::<usize>() > 10 {
            self.field("Tombstone Leaders", "")?;
            self.leaders(tombstones, |_| String::new())?;
        }
        Ok(())
    }

    fn leaders(
        &mut self,
        leaders: Vec<(u64, &DecoratedKey)>,
        note: impl Fn(u64) -> String,
    ) -> io::Result<()> {
        for (number, key) in leaders {
            let key = partition_key_text(self.table, key);
            writeln!(self.out, "  [{key}] {number}{}", note(number))?;
        }
        Ok(())
    }

    fn general(&mut self) -> io::Result<()> {
        let s = self.sstable.statistics();
        self.field("Partitioner", "org.apache.cassandra.dht.Murmur3Partitioner")?;
        self.field("Bloom Filter FP chance", &double_text(s.filter_fp_chance))?;
        self.timestamp("Minimum timestamp", s.min_timestamp_micros)?;
        self.timestamp("Maximum timestamp", s.max_timestamp_micros)?;
        let seconds = s.max_timestamp_micros.wrapping_sub(s.min_timestamp_micros) / 1_000_000;
        let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
        let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
        let text = format!("Days: {days} Hours: {hours} Minutes: {minutes} Seconds: {seconds}");
        self.field("Duration", &text)?;
        self.deletion_time("SSTable min local deletion time", s.min_local_deletion_seconds)?;
        self.deletion_time("SSTable max local deletion time", s.max_local_deletion_seconds)?;
        match self.sstable.codec().class() {
            Some(class) => {
                self.field("Compressor", &format!("org.apache.cassandra.io.compress.{class}"))?;
                self.field("Compression ratio", &double_text(s.compression_ratio()))?;
            }
            None => self.field("Compressor", "-")?,
        }
        for (name, ttl) in [("TTL min", s.min_ttl_seconds), ("TTL max", s.max_ttl_seconds)] {
            self.noted(name, Some(ttl.to_string()), duration_words(u64::from(ttl)))?;
        }
        let ends =
            [("First token", self.sstable.first_key()), ("Last token", self.sstable.last_key())];
        for (name, key) in ends {
            let text = partition_key_text(self.table, key);
            self.noted(name, Some(key.token.0.to_string()), Some(text))?;
        }
        self.field("Covered clusterings", &self.covered())
    }

    /// The smallest and greatest clustering, a bound's without what it leaves open.
    fn covered(&self) -> String {
        let Some((least, greatest)) = &self.sstable.statistics().covered else {
            return "ALL".to_string();
        };
        let text = |position: &[u8]| {
            let complete = position.last() == Some(&crate::row::clustering::ROW);
            let values = match complete {
                true => values(self.table, position, &[]),
                false => bound_values(self.table, position).0,
            };
            let texts = self.table.clustering().iter().zip(&values);
            let texts = texts.map(|(column, value)| key_text(&column.ty, value));
            texts.collect::<Vec<_>>().join(":")
        };
        match (least.len(), greatest.len()) {
            (0..=1, 0..=1) => "ALL".to_string(),
            _ => format!("[{}, {}]", text(least), text(greatest)),
        }
    }

    fn droppable(&mut self, now_seconds: i64) -> io::Result<()> {
        let before = now_seconds.saturating_sub(self.options.gc_grace_seconds);
        let ratio = self.sstable.statistics().droppable_ratio(before);
        self.field("Estimated droppable tombstones", &double_text(ratio))
    }

    fn origin(&mut self, host_id: Uuid) -> io::Result<()> {
        let s = self.sstable.statistics();
        self.field("SSTable Level", &s.level.to_string())?;
        let repaired = date_text(s.repaired_at_millis).filter(|_| s.repaired_at_millis != 0);
        self.noted("Repaired at", Some(s.repaired_at_millis.to_string()), repaired)?;
        self.field("Originating host id", &host_id.to_string())?;
        self.field("Pending repair", "--")?;
        self.field("Replay positions covered", "{}")?;
        self.field("totalColumnsSet", &s.columns_set.to_string())?;
        self.field("totalRows", &s.rows.to_string())
    }

    fn histograms(&mut self) -> io::Result<()> {
        let s = self.sstable.statistics();
        let plain = |number: u64| number.to_string();
        let date = |seconds: u64| {
            let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
            let date = date_text(millis).filter(|_| seconds != 0);
            format!("{seconds} {}", date.map(|date| format!("({date})")).unwrap_or_default())
        };
        let bytes = |bytes: u64| {
            let note = byte_text(bytes).map(|text| format!("({text})")).unwrap_or_default();
            format!("{bytes} {note}")
        };
        self.field("Estimated tombstone drop times", "")?;
        self.histogram(&of_drop_times(&s.drop_times), "Drop Time", date)?;
        self.field("Partition Size", "")?;
        self.histogram(&of_buckets(&s.partition_sizes_bytes), "Size (bytes)", bytes)?;
        self.field("Column Count", "")?;
        self.histogram(&of_buckets(&s.cells_per_partition), "Columns", plain)?;
        self.field("Local token space coverage", "NaN")?;
        self.field("Estimated cardinality", &s.cardinality.estimate().to_string())
    }

    /// Bars of at most thirty signs, then percentiles of what the bars show.
    fn histogram(
        &mut self,
        bars: &[(u64, u64)],
        title: &str,
        name: impl Fn(u64) -> String,
    ) -> io::Result<()> {
        let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let all: u64 = bars.iter().map(|(_, count)| *count).sum();
        let width = bars.iter().map(|(at, _)| name(*at).len()).fold(title.len(), usize::max);
        let digits = most.to_string().len().max(5);
        writeln!(self.out, "   {title:<width$} | {:<digits$}  (%)  Histogram ", "Count")?;
        let mut percentiles = EstimatedHistogram::new(OFFSETS_MAX);
        for (at, count) in bars {
            let percent = (100.0 * (*count as f64 / all as f64)) as u64;
            let (at_text, bar) = (name(*at), bar(*count, most));
            writeln!(self.out, "   {at_text:<width$} | {count:>digits$} ({percent:>3}) {bar}")?;
            percentiles.add_times(*at, *count);
        }
        writeln!(self.out, "   Percentiles")?;
        let parts = [("50th", 0.5), ("75th", 0.75), ("95th", 0.95), ("98th", 0.98), ("99th", 0.99)];
        let parts = parts.map(|(name, part)| (name, percentiles.percentile(part).unwrap_or(0)));
        let ends = [("Min", percentiles.min()), ("Max", percentiles.max())];
        for (label, value) in parts.into_iter().chain(ends) {
            writeln!(self.out, "   {label:<10}{}", name(value))?;
        }
        Ok(())
    }

    fn schema(&mut self, scan: &Scan) -> io::Result<()> {
        let e = self.sstable.statistics().encoding;
        let ttl = e.ttl_seconds;
        self.noted("EncodingStats minTTL", Some(ttl.to_string()), duration_words(u64::from(ttl)))?;
        let seconds = e.local_deletion_seconds;
        let date = date_text(seconds.saturating_mul(1000)).filter(|_| seconds != 0);
        let name = "EncodingStats minLocalDeletionTime";
        self.noted(name, date, Some(seconds.to_string()))?;
        self.timestamp("EncodingStats minTimestamp", e.timestamp_micros)?;
        let classes = |columns: &[Column]| {
            let class = |column: &Column| match column.descending {
                true => {
                    let class = class_name(&column.ty);
                    format!("org.apache.cassandra.db.marshal.ReversedType({class})")
                }
                false => class_name(&column.ty),
            };
            columns.iter().map(class).collect::<Vec<_>>()
        };
        let key = classes(self.table.partition_key());
        let key = match &key[..] {
            [one] => one.clone(),
            several => {
                let several = several.join(",");
                format!("org.apache.cassandra.db.marshal.CompositeType({several})")
            }
        };
        self.field("KeyType", &key)?;
        let clustering = classes(self.table.clustering()).join(", ");
        self.field("ClusteringTypes", &format!("[{clustering}]"))?;
        let columns = super::columns(self.table);
        for (name, kind) in
            [("StaticColumns", ColumnKind::Static), ("RegularColumns", ColumnKind::Regular)]
        {
            let held = columns.iter().filter(|c| c.kind == kind && scan.columns.contains(&c.id));
            self.field(name, &in_hash_order(held.copied().collect()))?;
        }
        self.field("IsTransient", "false")
    }
}

fn of_buckets(histogram: &EstimatedHistogram) -> Vec<(u64, u64)> {
    let bars = histogram.offsets().iter().copied().zip(histogram.buckets().iter().copied());
    bars.filter(|(_, count)| *count > 0).collect()
}

fn of_drop_times(times: &DropTimes) -> Vec<(u64, u64)> {
    times.bins().iter().map(|(at, count)| (at.unsigned_abs(), *count)).collect()
}

/// A bar of thirty signs for the most frequent.
fn bar(count: u64, most: u64) -> String {
    let width = count as f64 / most as f64 * 30.0;
    let whole = width as usize;
    let rest = match width - whole as f64 {
        rest if rest >= 0.75 => "o",
        rest if rest >= 0.3 => ".",
        _ => "",
    };
    "O".repeat(whole) + rest
}

/// Columns in the order in which a Java hash map of their names gives them.
fn in_hash_order(mut columns: Vec<&Column>) -> String {
    let mut buckets = 16_u32;
    while columns.len() as f64 > f64::from(buckets) * 0.75 {
        buckets *= 2;
    }
    columns.sort_by_key(|column| {
        let units = column.name.encode_utf16();
        let hash =
            units.fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
        (hash ^ (hash >> 16)) & (buckets - 1)
    });
    let texts = columns.iter().map(|column| format!("{}:{}", column.name, class_name(&column.ty)));
    texts.collect::<Vec<_>>().join(", ")
}

/// `11/30/2026 20:11:36`, in UTC; always there, an option for the sake of its callers.
fn date_text(millis: i64) -> Option<String> {
    let (day, of_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000) / 1000);
    let (year, month, day) = civil_from_days(day);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    Some(format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}"))
}

/// `35 B`, `1.5 kB`; nothing for nothing.
fn byte_text(bytes: u64) -> Option<String> {
    match bytes {
        0 => None,
        1..1024 => Some(format!("{bytes} B")),
        _ => {
            let exponent = ((bytes as f64).ln() / 1024_f64.ln()) as usize;
            let prefix = ["k", "M", "G", "T", "P", "E"][exponent.clamp(1, 6) - 1];
            let number = bytes as f64 / 1024_f64.powi(i32::try_from(exponent).unwrap_or(1));
            Some(format!("{number:.1} {prefix}B"))
        }
    }
}
