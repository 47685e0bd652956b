//! A table's numbers in the words of `nodetool tablestats` and `nodetool tablehistograms`, line for line (sheet F.1).
//!
//! "Last five minutes" and latencies are of the whole life of the table on this node: see
//! [`crate::lsm::metrics`]. What Cassandra keeps off the heap lies in our only memory.

use crate::lsm::metrics::Distribution;
use crate::lsm::sstable::histogram::EstimatedHistogram;
use crate::lsm::stats::{SsTableInfo, TableHistograms, TableStats};
use crate::types::display::duration_words;
use crate::types::float::double_text;
use std::fmt::Write as _;

/// `nodetool tablestats` of these keyspaces, each with its tables.
pub fn tablestats(keyspaces: &[(String, Vec<TableStats>)]) -> String {
    const LINE: &str = "----------------\n";
    let count: usize = keyspaces.iter().map(|(_, tables)| tables.len()).sum();
    let mut out = format!("Total number of tables: {count}\n{LINE}");
    for (keyspace, tables) in keyspaces {
        out += &of_keyspace(keyspace, tables);
        for table in tables {
            out += &of_table(table);
            out.push('\n');
        }
        out += LINE;
    }
    out
}

/// Total time over number of requests; NaN of none.
fn mean_millis(micros: u64, count: u64) -> f64 {
    micros as f64 / count as f64 / 1000.0
}

fn of_keyspace(keyspace: &str, tables: &[TableStats]) -> String {
    let sum = |of: fn(&TableStats) -> u64| tables.iter().map(of).sum::<u64>();
    let (reads, writes) = (sum(|t| t.counted.reads), sum(|t| t.counted.writes));
    let read = mean_millis(sum(|t| t.counted.read_micros), reads);
    let write = mean_millis(sum(|t| t.counted.write_micros), writes);
    let pending = sum(|t| t.pending_flushes);
    format!(
        "Keyspace: {keyspace}\n\tRead Count: {reads}\n\tRead Latency: {} ms\n\tWrite Count: {writes}\n\
         \tWrite Latency: {} ms\n\tPending Flushes: {pending}\n",
        double_text(read),
        double_text(write),
    )
}

fn of_table(t: &TableStats) -> String {
    let mut page = Page(String::new());
    page.line("Table", &t.table.name);
    page.line("SSTable count", t.sstables.len());
    page.line("Old SSTable count", 0);
    let largest = t.sstables.iter().map(|sstable| sstable.size_bytes).max().unwrap_or(0);
    page.line("Max SSTable size", size(largest));
    strategy(t, &mut page);
    page.line("Space used (live)", t.space_used_bytes);
    page.line("Space used (total)", t.space_used_bytes);
    page.line("Space used by snapshots (total)", 0);
    page.line("Off heap memory used (total)", t.filter_bytes + t.index_bytes);
    page.line("SSTable Compression Ratio", format!("{:.5}", t.compression_ratio.unwrap_or(-1.0)));
    page.line("Number of partitions (estimate)", t.partitions_estimate);
    page.line("Memtable cell count", t.counted.memtable_operations);
    page.line("Memtable data size", t.memtable_bytes);
    page.line("Memtable off heap memory used", 0);
    page.line("Memtable switch count", t.counted.memtable_switches);
    page.line("Speculative retries", 0);
    requests(t, &mut page);
    page.line("Pending flushes", t.pending_flushes);
    let unrepaired = t.sstables.is_empty();
    page.line("Percent repaired", if unrepaired { "100.0" } else { "0.0" });
    page.line("Bytes repaired", size(0));
    page.line("Bytes unrepaired", size(t.uncompressed_bytes));
    page.line("Bytes pending repair", size(0));
    memory(t, &mut page);
    slices(t, &mut page);
    page.line("Droppable tombstone ratio", format!("{:.5}", t.droppable_tombstone_ratio));
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "\t\t{name}: {value}");
    }
}

/// The lines that only one compaction strategy has.
fn strategy(t: &TableStats, page: &mut Page) {
    let options = &t.table.options.compaction;
    match t.table.options.compaction_class() {
        "LeveledCompactionStrategy" => {
            let levels = |of: fn(&SsTableInfo) -> u64| -> [u64; 9] {
                let mut sums = [0; 9];
                for sstable in &t.sstables {
                    sums[(sstable.level as usize).min(8)] += of(sstable);
                }
                sums
            };
            let fanout = options.get("fanout_size").and_then(|text| text.parse().ok());
            let counts = levels(|_| 1).into_iter().enumerate().map(|(level, count)| {
                let most = if level == 0 { 4 } else { fan(fanout.unwrap_or(10), level) };
                if count > most { format!("{count}/{most}") } else { count.to_string() }
            });
            let counts = counts.collect::<Vec<_>>().join(", ");
            page.line("SSTables in each level", format!("[{counts}]"));
            let bytes = levels(|sstable| sstable.size_bytes).map(|bytes| bytes.to_string());
            page.line("SSTable bytes in each level", format!("[{}]", bytes.join(", ")));
        }
        "TimeWindowCompactionStrategy" => {
            let option = |name, default| options.get(name).map_or(default, String::as_str);
            let window = option("compaction_window_size", "1");
            let unit = option("compaction_window_unit", "DAYS");
            let span =
                |s: &SsTableInfo| s.max_timestamp_micros.saturating_sub(s.min_timestamp_micros);
            let longest = t.sstables.iter().map(span).max().unwrap_or(0).max(0).unsigned_abs();
            let longest = duration_words(longest / 1_000_000);
            let longest = longest.unwrap_or_else(|| "0 seconds".to_string());
            let text = format!("{window} {unit}, max duration: {longest}");
            page.line("SSTables Time Window", text);
        }
        _ => {}
    }
}

fn fan(fanout: u64, level: usize) -> u64 {
    fanout.saturating_pow(u32::try_from(level).unwrap_or(u32::MAX))
}

fn requests(t: &TableStats, page: &mut Page) {
    let c = &t.counted;
    let latency = |micros, count| match count {
        0 => "NaN ms".to_string(),
        _ => format!("{:.3} ms", mean_millis(micros, count)),
    };
    page.line("Local read count", c.reads);
    page.line("Local read latency", latency(c.read_micros, c.reads));
    page.line("Local write count", c.writes);
    page.line("Local write latency", latency(c.write_micros, c.writes));
    let ratio = if c.writes == 0 { 0.0 } else { c.reads as f64 / c.writes as f64 };
    page.line("Local read/write ratio", format!("{ratio:.5}"));
}

fn memory(t: &TableStats, page: &mut Page) {
    let (wrong, right) = (t.counted.filter_false_positives, t.counted.filter_true_positives);
    let ratio = if wrong == 0 { 0.0 } else { wrong as f64 / (wrong + right) as f64 };
    page.line("Bloom filter false positives", wrong);
    page.line("Bloom filter false ratio", format!("{ratio:.5}"));
    page.line("Bloom filter space used", t.filter_bytes);
    page.line("Bloom filter off heap memory used", t.filter_bytes);
    page.line("Index summary off heap memory used", t.index_bytes);
    page.line("Compression metadata off heap memory used", 0);
    let sizes = &t.partition_sizes_bytes;
    page.line("Compacted partition minimum bytes", sizes.min());
    page.line("Compacted partition maximum bytes", sizes.max());
    page.line("Compacted partition mean bytes", sizes.raw_mean().unwrap_or(0.0) as u64);
}

fn slices(t: &TableStats, page: &mut Page) {
    let slices = [
        ("live cells", &t.counted.live_rows_per_slice),
        ("tombstones", &t.counted.tombstones_per_slice),
    ];
    for (what, distribution) in slices {
        // Cassandra's histogram of slices has no bucket for zero.
        let all = distribution.zeros_as_ones();
        let mean = double_text(all.raw_mean().unwrap_or(f64::NAN));
        page.line(&format!("Average {what} per slice (last five minutes)"), mean);
        page.line(&format!("Maximum {what} per slice (last five minutes)"), all.max());
    }
}

/// `26B`, `4.933KiB`.
fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut number = bytes as f64;
    let mut unit = None;
    for name in units {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = Some(name);
    }
    match unit {
        None => format!("{bytes}B"),
        Some(unit) => format!("{number:.3}{unit}"),
    }
}

/// `nodetool tablehistograms` of one table.
pub fn tablehistograms(keyspace: &str, table: &str, histograms: &TableHistograms) -> String {
    let mut out = String::new();
    if histograms.partition_sizes_bytes.is_none() {
        out += "No SSTables exists, unable to calculate 'Partition Size' and 'Cell Count' percentiles\n";
    }
    let _ = writeln!(out, "{keyspace}/{table} histograms");
    let mut row = |cells: [String; 6]| {
        let [first, rest @ ..] = cells;
        let _ = write!(out, "{first:<10}");
        for cell in rest {
            let _ = write!(out, "{cell:>18}");
        }
        out.push('\n');
    };
    let names =
        ["Percentile", "Read Latency", "Write Latency", "SSTables", "Partition Size", "Cell Count"];
    row(names.map(str::to_string));
    row(["", "(micros)", "(micros)", "", "(bytes)", ""].map(str::to_string));
    let parts = [("50%", 0.5), ("75%", 0.75), ("95%", 0.95), ("98%", 0.98), ("99%", 0.99)];
    for (name, part) in parts {
        let counted = |d: &Distribution| d.percentile(part);
        row(cells(name, histograms, counted, |h| h.percentile(part)));
    }
    row(cells("Min", histograms, |d| Some(d.min()), |h| Some(h.min())));
    row(cells("Max", histograms, |d| Some(d.max()), |h| Some(h.max())));
    out.push('\n');
    out
}

fn cells(
    name: &str,
    h: &TableHistograms,
    counted: impl Fn(&Distribution) -> Option<u64>,
    on_disk: impl Fn(&EstimatedHistogram) -> Option<u64>,
) -> [String; 6] {
    let decimals = |d| counted(d).map_or("NaN".to_string(), |value| format!("{value}.00"));
    let whole = |h: &Option<EstimatedHistogram>| {
        h.as_ref().and_then(&on_disk).map_or("NaN".to_string(), |value| value.to_string())
    };
    [
        name.to_string(),
        decimals(&h.read_latency_micros),
        decimals(&h.write_latency_micros),
        decimals(&h.sstables_per_read),
        whole(&h.partition_sizes_bytes),
        whole(&h.cells_per_partition),
    ]
}
