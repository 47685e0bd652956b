//! `cassling dump`: the SSTables of a data directory as JSON, as `sstabledump` prints them, or what they say of themselves,
//! as `sstablemetadata` does. Nothing in the directory changes.

use cassling_engine::lsm::dump::metadata::{MetadataOptions, TimestampUnit};
use cassling_engine::lsm::dump::{DumpError, DumpOptions};
use cassling_engine::sight::stored::StoredTables;
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `dump`.
#[derive(Args)]
pub(crate) struct Options {
    /// Data directory, of a cluster that does not run
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// A table (all its SSTables) or the name of an SSTable; without it, all tables of users
    #[arg(value_name = "KEYSPACE.TABLE|FILE")]
    name: Option<String>,
    /// Only this node's
    #[arg(long, value_name = "N")]
    node: Option<usize>,
    /// Only names of SSTables, with their tables
    #[arg(long, conflicts_with = "metadata")]
    list: bool,
    /// Enumerate partition keys only
    #[arg(short = 'e')]
    keys_only: bool,
    /// A line for each partition
    #[arg(short = 'l')]
    lines: bool,
    /// Raw timestamps instead of dates
    #[arg(short = 't')]
    raw_times: bool,
    /// Only these partition keys
    #[arg(short = 'k', value_name = "KEY")]
    included: Vec<String>,
    /// Not these partition keys
    #[arg(short = 'x', value_name = "KEY")]
    excluded: Vec<String>,
    /// Print metadata instead of data
    #[arg(long)]
    metadata: bool,
    /// With --metadata: rows, tombstones and the largest partitions too
    #[arg(short = 's', long, requires = "metadata")]
    scan: bool,
    /// With --metadata: seconds that a tombstone must be old to count as droppable
    #[arg(short = 'g', long, value_name = "N", default_value_t = 0, requires = "metadata")]
    gc_grace_seconds: u32,
    /// With --metadata: unit of the timestamps, as MICROSECONDS
    #[arg(long, value_name = "UNIT", requires = "metadata", value_parser = unit)]
    timestamp_unit: Option<TimestampUnit>,
}

fn unit(name: &str) -> Result<TimestampUnit, String> {
    TimestampUnit::from_name(name)
        .ok_or_else(|| "NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS ... DAYS".to_string())
}

/// Prints; gives the exit status: 2 if anything cannot be read.
pub(crate) fn run(options: &Options) -> ExitCode {
    match try_run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(DumpError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cassling: {error}");
            ExitCode::from(2)
        }
    }
}

fn try_run(options: &Options) -> Result<(), DumpError> {
    let stored = StoredTables::open(&options.data)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let json = DumpOptions {
        keys_only: options.keys_only,
        lines: options.lines,
        raw_times: options.raw_times,
        included: options.included.clone(),
        excluded: options.excluded.clone(),
    };
    let metadata = MetadataOptions {
        scan: options.scan,
        gc_grace_seconds: i64::from(options.gc_grace_seconds),
        timestamp_unit: options.timestamp_unit.unwrap_or_default(),
    };
    for file in stored.find(options.name.as_deref())? {
        if options.node.is_some_and(|node| node != file.node) {
            continue;
        }
        if options.list {
            writeln!(out, "{}  {}", file.name, file.table.cql_name())?;
        } else if options.metadata {
            stored.metadata(&file, &metadata, &mut out)?;
        } else {
            stored.dump(&file, &json, &mut out)?;
        }
    }
    Ok(out.flush()?)
}
