//! Reading one table on one node (sheet C.10).
//!
//! ```text
//! key -> view -> memtables: one look-up each
//!             -> SSTables: key range? clustering range? bloom filter? newest partition deletion?
//!                -> those that remain, newest first -> one merge -> purge, count, filter, limit
//! ```
//!
//! Three ways: *by names* (full clustering keys of a table without multi-cell columns asked for) goes through the
//! SSTables newest first and stops as soon as no older one can matter ([`names`](super::names)); everything else
//! of one partition is *merged at once* ([`Read::settled`]: or taken as it lies where there is nothing to merge), and SSTables whose rows lie behind what a limit needs are never opened;
//! a *range* of partitions walks all sources side by side.

use super::memtable::partition::State;
use super::memtable::rows::SettledRows;
use super::memtable::source::MemtableSource;
use super::metrics::TableMetrics;
use super::sstable::BlockCache;
use super::sstable::SsTable;
use super::sstable::reader::{Found, Scan, SsReader, SsSource};
use super::view::View;
use super::{LocalRead, ReplicaRead};
use crate::error::Error;
use crate::metrics::Cost;
use crate::row::DecoratedKey;
use crate::row::clustering::{AFTER, BEFORE, Slice};
use crate::row::collect::{Collector, Counts, Kept, beyond};
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::merge::{Head, Merge, Run, Source};
use crate::row::pass::Met;
use crate::row::query::{KeyRange, Partitions, ReadCommand, RowSelection};
use crate::row::reconcile::{Purge, merge_rows};
use crate::row::thresholds::{Notices, ReadThresholds};
use crate::schema::Column;
use crate::trace::{Trace, TraceLine};
use std::ops::Bound;

/// A source of either kind.
pub(super) enum AnySource<'a> {
    Memtable(MemtableSource<'a>),
    SsTable(Box<SsSource<'a>>),
}

impl Source for AnySource<'_> {
    #[inline]
    fn head(&self) -> Head<'_> {
        match self {
            AnySource::Memtable(source) => source.head(),
            AnySource::SsTable(source) => source.head(),
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<(), Error> {
        match self {
            AnySource::Memtable(source) => source.advance(),
            AnySource::SsTable(source) => source.advance(),
        }
    }

    fn seek(&mut self, place: &[u8]) -> Result<DeletionTime, Error> {
        match self {
            AnySource::Memtable(source) => source.seek(place),
            AnySource::SsTable(source) => source.seek(place),
        }
    }

    fn pass_dead(
        &mut self,
        limit: &[u8],
        reversed: bool,
        purge: &Purge,
        met: &mut Met,
    ) -> Result<bool, Error> {
        match self {
            AnySource::Memtable(source) => source.pass_dead(limit, reversed, purge, met),
            AnySource::SsTable(source) => source.pass_dead(limit, reversed, purge, met),
        }
    }

    fn pass(&self) {
        match self {
            AnySource::Memtable(source) => source.pass(),
            AnySource::SsTable(source) => source.pass(),
        }
    }

    fn partition_deletion(&self) -> DeletionTime {
        match self {
            AnySource::Memtable(source) => source.partition_deletion(),
            AnySource::SsTable(source) => source.partition_deletion(),
        }
    }

    fn max_timestamp_micros(&self) -> i64 {
        match self {
            AnySource::Memtable(source) => source.max_timestamp_micros(),
            AnySource::SsTable(source) => source.max_timestamp_micros(),
        }
    }
}

/// One read in progress.
pub(super) struct Read<'r> {
    pub(super) view: &'r View,
    pub(super) command: &'r ReadCommand,
    /// One for each SSTable of the view.
    pub(super) readers: &'r [SsReader<'r>],
    pub(super) collector: Collector<'r>,
    pub(super) cost: Cost,
    pub(super) trace: Trace,
    metrics: &'r TableMetrics,
}

/// Reads live data.
pub(super) fn live(
    view: &View,
    cache: Option<&BlockCache>,
    command: &ReadCommand,
    thresholds: ReadThresholds,
    metrics: &TableMetrics,
) -> Result<LocalRead, Error> {
    let Ran { kept, limited, cost, trace, notices } =
        run(view, cache, command, Kept::Live(Vec::new()), thresholds, metrics)?;
    let Kept::Live(partitions) = kept else { unreachable!("live rows were to be kept") };
    Ok(LocalRead { partitions, limited, cost, trace, notices })
}

/// Reads with tombstones.
pub(super) fn for_merge(
    view: &View,
    cache: Option<&BlockCache>,
    command: &ReadCommand,
    thresholds: ReadThresholds,
    metrics: &TableMetrics,
) -> Result<ReplicaRead, Error> {
    let Ran { kept, limited, cost, trace, notices } =
        run(view, cache, command, Kept::All(Vec::new()), thresholds, metrics)?;
    let Kept::All(partitions) = kept else { unreachable!("tombstones were to be kept") };
    Ok(ReplicaRead { partitions, limited, cost, trace, notices })
}

/// What a read came to, whole or aborted.
struct Ran {
    kept: Kept,
    limited: bool,
    cost: Cost,
    trace: Trace,
    notices: Option<Box<Notices>>,
}

fn run(
    view: &View,
    cache: Option<&BlockCache>,
    command: &ReadCommand,
    kept: Kept,
    thresholds: ReadThresholds,
    metrics: &TableMetrics,
) -> Result<Ran, Error> {
    let readers: Vec<SsReader<'_>> =
        view.sstables.iter().map(|t| SsReader::cached(t, cache)).collect();
    let mut read = Read {
        view,
        command,
        readers: &readers,
        collector: Collector::new(command, kept, thresholds),
        cost: Cost::default(),
        trace: Trace::new(),
        metrics,
    };
    if !read.collector.is_full() {
        let ran = match &command.partitions {
            Partitions::Keys(keys) => read.keys(keys),
            Partitions::Range(range) => read.range(range),
        };
        match ran {
            // What it met until then is told.
            Ok(()) | Err(Error::Aborted(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let Read { collector, mut cost, trace, .. } = read;
    for reader in &readers {
        cost.blocks += reader.blocks.get();
        cost.blocks_cached += reader.blocks_cached.get();
        cost.bytes_read += reader.bytes_read.get();
        cost.sstables += u64::from(reader.ever_selected.get());
    }
    cost.sstables_skipped +=
        readers.iter().filter(|reader| !reader.ever_selected.get()).count() as u64;
    cost.rows_read += collector.counts.rows;
    cost.tombstones += collector.counts.tombstones;
    cost.rows_filtered += collector.counts.filtered;
    let limited = collector.is_full();
    let notices = collector.notices();
    Ok(Ran { kept: collector.kept, limited, cost, trace, notices })
}

impl<'r> Read<'r> {
    fn keys(&mut self, keys: &[DecoratedKey]) -> Result<(), Error> {
        let resume = self.command.limits.resume.as_ref();
        let start = resume.and_then(|resume| keys.iter().position(|key| *key == resume.key));
        for key in &keys[start.unwrap_or(0)..] {
            if self.collector.is_full() {
                return Ok(());
            }
            let before = self.collector.counts;
            let read = match self.settled(key) {
                Ok(false) => {
                    let Some(runs) = runs(self.command, key) else { continue };
                    match self.command.by_names() {
                        true => self.names(key, runs).map(|()| Some(self.take_opened())),
                        false => self.merge_all(key, runs),
                    }
                }
                // No SSTable could hold it.
                settled => settled.map(|_| Some(0)),
            };
            self.cost.partitions += 1;
            let (rows, tombstones) = self.trace_counts(before);
            let sstables = read.as_ref().ok().copied().flatten();
            self.metrics.read_partition(sstables, rows, tombstones);
            read?;
        }
        Ok(())
    }

    /// Reads a partition that lies in one memtable and nowhere else, as all do until the first flush; says whether it
    /// was such a one.
    fn settled(&mut self, key: &DecoratedKey) -> Result<bool, Error> {
        let command = self.command;
        let on_disk = self.readers.iter().any(|reader| reader.table.spans(key));
        if on_disk || command.limits.resume.is_some() {
            return Ok(false);
        }
        let mut states = self.view.memtables.iter().filter_map(|memtable| memtable.get(key));
        let (Some(state), None) = (states.next(), states.next()) else { return Ok(false) };
        let Some(mut rows) = SettledRows::of(&state, &command.rows, command.reversed) else {
            return Ok(false);
        };
        let by_names = command.by_names();
        let asked = |column: &Column| command.columns.contains(&column.id);
        let with_static = !by_names || command.table.statics().iter().any(asked);
        let static_row = state.static_row().filter(|_| with_static).cloned();
        let read = self.collector.partition(key, static_row, &mut rows);
        if !by_names {
            self.trace.push(TraceLine::Merged { sstables: 0 });
        }
        read.map(|_| true)
    }

    /// Live rows and tombstones since then.
    fn trace_counts(&mut self, before: Counts) -> (u64, u64) {
        let after = self.collector.counts;
        let (rows, tombstones) = (after.rows - before.rows, after.tombstones - before.tombstones);
        let warned = self.collector.is_warned();
        self.trace.push(TraceLine::Read { rows, tombstones, warned });
        (rows, tombstones)
    }

    /// The SSTables that may hold the key, newest data first, by index.
    pub(super) fn candidates(&self, key: &DecoratedKey) -> Vec<usize> {
        let spanning = |index: &usize| self.readers[*index].table.spans(key);
        let mut candidates: Vec<usize> = (0..self.readers.len()).filter(spanning).collect();
        candidates.sort_by_key(|index| {
            std::cmp::Reverse(self.readers[*index].table.statistics().max_timestamp_micros)
        });
        candidates
    }

    /// Everything of one partition at once; gives the number of SSTables that it was found in, if any could hold it.
    fn merge_all(&mut self, key: &DecoratedKey, runs: Vec<Run>) -> Result<Option<usize>, Error> {
        let states: Vec<State> =
            self.view.memtables.iter().filter_map(|memtable| memtable.get(key)).collect();
        let mut parts = Parts::of_memtables(&states, self.command.reversed);
        let mut has_input = !states.is_empty();
        let needs_statics = !self.command.table.statics().is_empty();
        for index in self.candidates(key) {
            let reader = &self.readers[index];
            let statistics = reader.table.statistics();
            if statistics.max_timestamp_micros < parts.deletion.timestamp_micros {
                // The rest is older still.
                break;
            }
            let intersects = intersects(reader.table, &runs, self.command.reversed);
            let statics = needs_statics && statistics.has_static_rows;
            let deletions = statistics.has_partition_deletions;
            has_input |= intersects || statics;
            if !(intersects || statics || deletions) || !reader.table.may_contain(key) {
                continue;
            }
            let mut found = Found { deletion: DeletionTime::LIVE, static_row: None };
            if statics || deletions {
                let near = runs.first().map_or(&[BEFORE][..], |(start, _)| start);
                match reader.find(key, near, statics)? {
                    Some(partition) => found = partition,
                    None => continue,
                }
            }
            if intersects || !found.deletion.is_live() || found.static_row.is_some() {
                has_input = true;
                parts.add(reader, key, found, self.command.reversed, !intersects);
            }
        }
        let collected = self.collect(key, parts, runs);
        let opened = self.take_opened();
        if has_input {
            // Cassandra answers without a merge where there is nothing that could hold the partition.
            self.trace.push(TraceLine::Merged { sstables: opened });
        }
        collected.map(|()| has_input.then_some(opened))
    }

    /// Number of SSTables that the last partition was found in.
    fn take_opened(&self) -> usize {
        let (mut found, mut missed) = (0, 0);
        for reader in self.readers {
            match reader.take_outcome() {
                Some(true) => found += 1,
                Some(false) => missed += 1,
                None => {}
            }
        }
        self.metrics.filtered(found, missed);
        usize::try_from(found).unwrap_or(usize::MAX)
    }

    fn collect(
        &mut self,
        key: &DecoratedKey,
        parts: Parts<'_>,
        runs: Vec<Run>,
    ) -> Result<(), Error> {
        let static_row = parts.static_row();
        let mut stream = Merge::new(parts.sources, runs, self.command.reversed);
        self.collector.partition(key, static_row, &mut stream)?;
        Ok(())
    }

    /// All partitions of a range of tokens.
    fn range(&mut self, range: &KeyRange) -> Result<(), Error> {
        let before = self.collector.counts;
        let read = self.walk(range);
        let (rows, tombstones) = self.trace_counts(before);
        self.metrics.read_range(rows, tombstones);
        read
    }

    fn walk(&mut self, range: &KeyRange) -> Result<(), Error> {
        let resume = self.command.limits.resume.as_ref().map(|resume| &resume.key);
        let start_token = match (resume, range.start) {
            (Some(key), _) => Some((key.token, true)),
            (None, start) => start,
        };
        let first = start_token.map(|(token, _)| token);
        let start_key = match (resume, start_token) {
            (Some(key), _) => Bound::Included(key.clone()),
            (None, Some((token, _))) => {
                Bound::Included(DecoratedKey { token, bytes: bytes::Bytes::new() })
            }
            (None, None) => Bound::Unbounded,
        };
        let mut memtables: Vec<_> = self
            .view
            .memtables
            .iter()
            .map(|memtable| memtable.range((start_key.clone(), Bound::Unbounded)).peekable())
            .collect();
        let mut scans = Vec::new();
        for reader in self.readers.iter().filter(|reader| overlaps(reader.table, range, first)) {
            scans.push((reader, Scan::new(reader, first)?));
        }
        let is_before = |key: &DecoratedKey| match (resume, range.start) {
            (Some(resume), _) => key < resume,
            (None, Some((token, included))) => {
                key.token < token || (key.token == token && !included)
            }
            (None, None) => false,
        };
        while !self.collector.is_full() {
            let in_memory =
                memtables.iter_mut().filter_map(|m| m.peek().map(|e| e.key().clone())).min();
            let on_disk =
                scans.iter().filter_map(|(_, scan)| scan.current.as_ref().map(|(k, _)| k)).min();
            let key = match (in_memory, on_disk) {
                (Some(a), Some(b)) => {
                    if a <= *b {
                        a
                    } else {
                        b.clone()
                    }
                }
                (Some(key), None) => key,
                (None, Some(key)) => key.clone(),
                (None, None) => break,
            };
            let beyond = range.end.is_some_and(|(token, included)| {
                key.token > token || (key.token == token && !included)
            });
            if beyond {
                break;
            }
            let runs = if is_before(&key) { None } else { runs(self.command, &key) };
            if let Some(runs) = runs {
                self.cost.partitions += 1;
                let states: Vec<State> = memtables
                    .iter_mut()
                    .filter_map(|m| {
                        m.peek().filter(|e| *e.key() == key).map(|e| e.value().snapshot())
                    })
                    .collect();
                let mut parts = Parts::of_memtables(&states, self.command.reversed);
                for (reader, scan) in &scans {
                    if let Some((_, found)) = scan.current.as_ref().filter(|(held, _)| *held == key)
                    {
                        parts.add(reader, &key, found.clone(), self.command.reversed, false);
                    }
                }
                self.collect(&key, parts, runs)?;
            }
            for memtable in &mut memtables {
                memtable.next_if(|entry| *entry.key() == key);
            }
            for (_, scan) in &mut scans {
                if scan.current.as_ref().is_some_and(|(held, _)| *held == key) {
                    scan.advance()?;
                }
            }
        }
        Ok(())
    }
}

/// What the sources of one partition gave before their rows are read.
pub(super) struct Parts<'a> {
    pub(super) sources: Vec<AnySource<'a>>,
    /// Most superseding deletion of the partition.
    pub(super) deletion: DeletionTime,
    /// Newest first.
    statics: Vec<Row>,
}

impl<'a> Parts<'a> {
    pub(super) fn of_memtables(states: &'a [State], reversed: bool) -> Parts<'a> {
        let mut parts = Parts {
            sources: Vec::with_capacity(4),
            deletion: DeletionTime::LIVE,
            statics: Vec::new(),
        };
        for state in states {
            if let State::Many(many) = state {
                parts.deletion = parts.deletion.max(many.deletion);
                parts.statics.extend(many.static_row.clone());
            }
            parts.sources.push(AnySource::Memtable(MemtableSource::new(state, reversed)));
        }
        parts
    }

    pub(super) fn add(
        &mut self,
        reader: &'a SsReader<'a>,
        key: &DecoratedKey,
        found: Found,
        reversed: bool,
        empty: bool,
    ) {
        self.deletion = self.deletion.max(found.deletion);
        self.statics.extend(found.static_row);
        let source = SsSource::new(reader, key.clone(), found.deletion, reversed, empty);
        self.sources.push(AnySource::SsTable(Box::new(source)));
    }

    pub(super) fn static_row(&self) -> Option<Row> {
        let versions: Vec<&Row> = self.statics.iter().collect();
        if versions.is_empty() {
            return None;
        }
        merge_rows(&versions, self.deletion).row(&versions)
    }
}

/// The runs of positions to read in a partition, in the direction of the read; `None` if the partition was
/// finished by the page before.
fn runs(command: &ReadCommand, key: &DecoratedKey) -> Option<Vec<Run>> {
    let mut slices: Vec<Slice> = match &command.rows {
        RowSelection::Slices(slices) => slices.iter().filter(|s| !s.is_empty()).cloned().collect(),
        RowSelection::Names(names) => names.iter().map(|name| around(&name.position)).collect(),
    };
    if command.reversed {
        slices.reverse();
    }
    let directed = slices.into_iter().map(|slice| {
        if command.reversed { (slice.end.0, slice.start.0) } else { (slice.start.0, slice.end.0) }
    });
    let Some(resume) = command.limits.resume.as_ref().filter(|resume| resume.key == *key) else {
        return Some(directed.collect());
    };
    if resume.remaining_in_partition == 0 || command.distinct {
        return None;
    }
    let from = beyond(resume.position.as_ref()?, command.reversed);
    let before = |a: &[u8], b: &[u8]| crate::row::merge::before(a, b, command.reversed);
    let rest = directed
        .filter(|(_, end)| before(&from, end))
        .map(|(start, end)| if before(&start, &from) { (from.clone(), end) } else { (start, end) });
    Some(rest.collect())
}

/// The slice that holds one row only.
fn around(position: &[u8]) -> Slice {
    use crate::row::clustering::Bound;
    let at = |terminator: u8| {
        let mut bytes = position.to_vec();
        *bytes.last_mut().expect("a row's position ends in a terminator") = terminator;
        Bound(bytes)
    };
    Slice { start: at(BEFORE), end: at(AFTER) }
}

/// Whether anything of the SSTable's rows and range ends can lie in the runs.
pub(super) fn intersects(table: &SsTable, runs: &[Run], reversed: bool) -> bool {
    let Some((least, greatest)) = &table.statistics().covered else { return false };
    runs.iter().any(|(start, end)| {
        let (low, high) = if reversed { (end, start) } else { (start, end) };
        low < greatest && high > least
    })
}

/// Whether the SSTable may hold partitions of the range, from `first` on.
fn overlaps(table: &SsTable, range: &KeyRange, first: Option<crate::ring::Token>) -> bool {
    first.is_none_or(|token| table.last_key().token >= token)
        && range.end.is_none_or(|(token, _)| table.first_key().token <= token)
}
