//! What a read counts and keeps of a partition's stream.
//!
//! The order of steps is Cassandra's (sheet C.10.6): purge what gc_grace no longer protects, count, filter, limit.
//! With one replica asked nothing dead is kept: skipping a million tombstones leaves two numbers behind. For
//! replicas whose answers are to be merged, tombstones are kept ([`Kept::All`]); there the filter does not throw rows
//! away, it only decides what the limit counts, since a row that fails here may pass once merged.

use super::clustering::{AFTER, BEFORE};
use super::data::Row;
use super::deletion::DeletionTime;
use super::key::DecoratedKey;
use super::merge::{Item, Stream};
use super::pass::Met;
use super::query::{PartitionRows, Partitions, ReadCommand};
use super::reconcile::{DroppedColumns, Purge, Settled};
use super::thresholds::{Notices, Passed, ReadThresholds, tombstone_warning};
use super::unfiltered::{Marker, PartitionData, Unfiltered};
use crate::error::{Error, FailureReason};
use crate::ring::Token;

/// What is kept.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Live data only.
    Live(Vec<PartitionRows>),
    /// Tombstones too.
    All(Vec<PartitionData>),
    /// Nothing: only counting.
    Nothing,
}

/// What a read has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Live rows, static ones included.
    pub(crate) rows: u64,
    /// Tombstones.
    pub(crate) tombstones: u64,
    /// Rows that the filter looked at.
    pub(crate) filtered: u64,
}

/// How the read of a partition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// A limit stopped it before the end of the partition.
    pub(crate) by_limit: bool,
    /// Rows that count for the limits.
    pub(crate) rows: u64,
}

/// Collects a read, partition by partition.
#[derive(Debug)]
pub(crate) struct Collector<'c> {
    command: &'c ReadCommand,
    purge: Purge,
    dropped: DroppedColumns<'c>,
    has_row_conditions: bool,
    thresholds: ReadThresholds,
    /// Bytes read, where a threshold asks for them.
    bytes: u64,
    /// The last partition read, once a warning is due.
    warned_at: Option<Token>,
    /// Rows still allowed by the row limit.
    pub(crate) rows_left: u64,
    pub(crate) counts: Counts,
    pub(crate) kept: Kept,
}

/// The partition being read.
struct Open {
    matches: bool,
    rows_left: u64,
    live_static: Option<Row>,
    rows: Vec<Row>,
    unfiltereds: Vec<Unfiltered>,
    rows_seen: u64,
    last_position: Vec<u8>,
}

impl<'c> Collector<'c> {
    pub(crate) fn new(
        command: &'c ReadCommand,
        kept: Kept,
        thresholds: ReadThresholds,
    ) -> Collector<'c> {
        Collector {
            thresholds,
            bytes: 0,
            warned_at: None,
            purge: Purge::of_read(&command.table, command.now_seconds),
            dropped: DroppedColumns::of(&command.table),
            has_row_conditions: command.filter.has_row_conditions(&command.table),
            rows_left: command.limits.rows,
            counts: Counts::default(),
            kept,
            command,
        }
    }

    /// The row limit is used up.
    pub(crate) fn is_full(&self) -> bool {
        self.rows_left == 0
    }

    /// Reads a partition. `static_row` is merged over all sources and settled.
    ///
    /// # Errors
    /// [`Error::Aborted`] at a threshold, or those of the stream.
    pub(crate) fn partition(
        &mut self,
        key: &DecoratedKey,
        static_row: Option<Row>,
        stream: &mut impl Stream,
    ) -> Result<Ended, Error> {
        let before = (self.counts.rows, self.counts.tombstones);
        let ended = self.read_partition(key, static_row, stream);
        // A partition of which nothing is left is none.
        let is_empty = before == (self.counts.rows, self.counts.tombstones)
            && self.purge.deletion(stream.partition_deletion()).is_live();
        if self.is_warned() && !is_empty {
            self.warned_at = Some(key.token);
        }
        ended
    }

    /// Whether the tombstones so far are worth a warning.
    pub(crate) fn is_warned(&self) -> bool {
        i64::try_from(self.counts.tombstones).unwrap_or(i64::MAX) > self.thresholds.tombstones_warn
    }

    /// What the replica has to say of the read.
    pub(crate) fn notices(&self) -> Option<Box<Notices>> {
        let Counts { rows, tombstones, .. } = self.counts;
        let mut notices = Notices::default();
        if let Some(token) = self.warned_at {
            notices.tombstones = Some(Passed::Warn(tombstones));
            if !self.thresholds.tracked {
                let warning = tombstone_warning(self.command, rows, tombstones, token.0);
                notices.warning = Some(warning);
            }
        }
        if tombstones > self.thresholds.tombstones_fail {
            notices.tombstones = Some(Passed::Fail(tombstones));
        }
        let reached = |threshold: Option<u64>| threshold.is_some_and(|t| self.bytes >= t);
        if reached(self.thresholds.bytes_fail) {
            notices.bytes = Some(Passed::Fail(self.bytes));
        } else if reached(self.thresholds.bytes_warn) {
            notices.bytes = Some(Passed::Warn(self.bytes));
        }
        (notices != Notices::default()).then(|| Box::new(notices))
    }

    /// Counts tombstones one by one: the read ends at the first one past the threshold.
    fn add_tombstones(&mut self, tombstones: u64) -> Result<(), Error> {
        let before = self.counts.tombstones;
        self.counts.tombstones += tombstones;
        if tombstones > 0 && self.counts.tombstones > self.thresholds.tombstones_fail {
            self.counts.tombstones = before.max(self.thresholds.tombstones_fail) + 1;
            return Err(Error::Aborted(FailureReason::ReadTooManyTombstones));
        }
        Ok(())
    }

    fn add_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        let ReadThresholds { bytes_warn, bytes_fail, .. } = self.thresholds;
        if bytes_warn.or(bytes_fail).is_some() {
            self.bytes += bytes as u64;
            if bytes_fail.is_some_and(|fail| self.bytes >= fail) {
                return Err(Error::Aborted(FailureReason::ReadSize));
            }
        }
        Ok(())
    }

    fn read_partition(
        &mut self,
        key: &DecoratedKey,
        static_row: Option<Row>,
        stream: &mut impl Stream,
    ) -> Result<Ended, Error> {
        let command = self.command;
        let static_row = static_row.filter(|_| self.reads_statics());
        let static_row = static_row.and_then(|row| self.visible(&row).row(&[&row]));
        self.add_bytes(key.bytes.len())?;
        let live_static = match &static_row {
            Some(row) => self.count(row)?,
            None => None,
        };
        let resumed = command.limits.resume.as_ref().filter(|resume| resume.key == *key);
        let allowed =
            resumed.map_or(command.limits.per_partition, |resume| resume.remaining_in_partition);
        let mut open = Open {
            matches: command.filter.matches_partition(
                &command.table,
                key,
                live_static.as_ref(),
                command.now_seconds,
            ),
            rows_left: if command.distinct { allowed.min(1) } else { allowed },
            live_static,
            rows: Vec::new(),
            unfiltereds: Vec::new(),
            rows_seen: 0,
            last_position: Vec::new(),
        };
        let mut by_limit = false;
        // Of a partition that the filter throws away as a whole, a range read of Cassandra looks at the first row, if it has
        // no static row, to see whether there is anything at all.
        let peeks = !open.matches
            && matches!(command.partitions, Partitions::Range(_))
            && static_row.is_none()
            && self.purge.deletion(stream.partition_deletion()).is_live();
        if matches!(self.kept, Kept::All(_)) || open.matches {
            by_limit = self.rows(key, &mut open, stream)?;
        } else if peeks {
            self.peek(key, &mut open, stream)?;
        }
        let statics_alone = open.matches
            && !self.has_row_conditions
            && open.rows_seen == 0
            && resumed.is_none()
            && command.static_only_counts
            && open.live_static.is_some();
        if statics_alone {
            open.rows_seen = 1;
            self.rows_left -= 1;
        }
        let ended = Ended { by_limit, rows: open.rows_seen };
        self.keep(key, open, static_row, stream.partition_deletion());
        Ok(ended)
    }

    /// Reads rows until the end or a limit; says whether it was a limit.
    fn rows(
        &mut self,
        key: &DecoratedKey,
        open: &mut Open,
        stream: &mut impl Stream,
    ) -> Result<bool, Error> {
        if open.rows_left == 0 || self.rows_left == 0 {
            return Ok(true);
        }
        let mut opened = DeletionTime::LIVE;
        let counts_all = self.command.only_columns
            || self.thresholds.bytes_warn.or(self.thresholds.bytes_fail).is_some();
        let passes = !matches!(self.kept, Kept::All(_)) && !self.dropped.needed && !counts_all;
        // Dead rows come in runs: where one was met, more are looked for.
        let mut met_dead = true;
        loop {
            if passes && met_dead {
                self.pass_dead(stream)?;
            }
            let Some(item) = stream.next()? else { break };
            match item {
                Item::Row(row) => met_dead = !self.row(key, open, row)?,
                Item::Marker(marker) => opened = self.marker(open, marker)?,
            }
            if open.rows_left == 0 || self.rows_left == 0 {
                if matches!(self.kept, Kept::All(_)) && !opened.is_live() {
                    open.unfiltereds.push(close_after(open, opened, self.command.reversed));
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the first row or marker that is there.
    fn peek(
        &mut self,
        key: &DecoratedKey,
        open: &mut Open,
        stream: &mut impl Stream,
    ) -> Result<(), Error> {
        let before = (self.counts.rows, self.counts.tombstones);
        while let Some(item) = stream.next()? {
            match item {
                Item::Row(row) => {
                    self.row(key, open, row)?;
                }
                Item::Marker(marker) => {
                    self.marker(open, marker)?;
                }
            }
            if before != (self.counts.rows, self.counts.tombstones) {
                break;
            }
        }
        Ok(())
    }

    /// Counts the rows ahead in which nothing lives, as far as that is simple.
    fn pass_dead(&mut self, stream: &mut impl Stream) -> Result<(), Error> {
        let left = self.thresholds.tombstones_fail.saturating_sub(self.counts.tombstones);
        let mut met = Met::up_to(left);
        let passed = stream.pass_dead(&self.purge, &mut met);
        self.counts.tombstones += met.tombstones;
        passed
    }

    /// Takes in a row; says whether anything of it lives.
    fn row(&mut self, key: &DecoratedKey, open: &mut Open, row: &Row) -> Result<bool, Error> {
        let built;
        let visible = if self.dropped.needed { self.visible(row) } else { Settled::Same(0) };
        let row = match visible {
            Settled::Same(_) => row,
            Settled::Nothing => return Ok(false),
            Settled::Built(other) => {
                built = other;
                &built
            }
        };
        let fetched = self.command.only_columns.then_some(&self.command.columns[..]);
        let weight = self.purge.weigh(row, fetched);
        self.add_bytes(row.size_bytes())?;
        self.add_tombstones(weight.tombstones)?;
        self.counts.rows += u64::from(weight.live);
        if let Kept::All(_) = self.kept
            && let Some(purged) = self.purge.row(row).row(&[row])
        {
            open.last_position = row.position().to_vec();
            open.unfiltereds.push(Unfiltered::Row(purged));
        }
        if !weight.live {
            return Ok(false);
        }
        if self.has_row_conditions {
            self.counts.filtered += 1;
            let statics = open.live_static.as_ref();
            let (filter, now) = (&self.command.filter, self.command.now_seconds);
            if !filter.matches_row(&self.command.table, key, statics, row, now) {
                return Ok(true);
            }
        }
        if !open.matches {
            return Ok(true);
        }
        if let Kept::Live(_) = self.kept
            && let Some(live) = self.purge.live_part(row, &weight)
        {
            open.rows.push(live);
        }
        open.rows_seen += 1;
        open.rows_left -= 1;
        self.rows_left -= 1;
        Ok(true)
    }

    /// Takes in a marker; returns what is open behind it.
    fn marker(&mut self, open: &mut Open, marker: &Marker) -> Result<DeletionTime, Error> {
        let closes = self.purge.deletion(marker.closes);
        let opens = self.purge.deletion(marker.opens);
        if closes.is_live() && opens.is_live() {
            return Ok(opens);
        }
        self.add_tombstones(1)?;
        if let Kept::All(_) = self.kept {
            open.unfiltereds.push(Unfiltered::Marker(Marker {
                position: marker.position.clone(),
                closes,
                opens,
            }));
        }
        Ok(opens)
    }

    /// Whether the read fetches static rows: where they may be an answer of their own, or a static column is asked for.
    fn reads_statics(&self) -> bool {
        let statics = self.command.table.statics();
        self.command.static_only_counts
            || statics.iter().any(|column| self.command.columns.contains(&column.id))
    }

    fn visible(&self, row: &Row) -> Settled {
        self.dropped.filter(row)
    }

    /// Counts a static row and gives what of it lives.
    fn count(&mut self, row: &Row) -> Result<Option<Row>, Error> {
        // All of it where a partition without rows may be an answer, else the columns asked for.
        let all = self.command.static_only_counts && !self.command.only_columns;
        let weight = self.purge.weigh(row, (!all).then_some(&self.command.columns[..]));
        self.add_bytes(row.size_bytes())?;
        self.add_tombstones(weight.tombstones)?;
        self.counts.rows += u64::from(weight.live);
        Ok(self.purge.live_part(row, &weight))
    }

    fn keep(
        &mut self,
        key: &DecoratedKey,
        open: Open,
        static_row: Option<Row>,
        deletion: DeletionTime,
    ) {
        match &mut self.kept {
            Kept::Nothing => {}
            Kept::Live(partitions) => {
                if open.rows_seen > 0 {
                    partitions.push(PartitionRows {
                        key: key.clone(),
                        static_row: open.live_static,
                        rows: open.rows,
                    });
                }
            }
            Kept::All(partitions) => {
                let partition = PartitionData {
                    key: key.clone(),
                    deletion: self.purge.deletion(deletion),
                    static_row: static_row.and_then(|row| self.purge.row(&row).row(&[&row])),
                    unfiltereds: open.unfiltereds,
                };
                if !partition.is_empty() {
                    partitions.push(partition);
                }
            }
        }
    }
}

/// The end of a deletion that a limit cut: right behind the last row. It is not counted.
fn close_after(open: &Open, closes: DeletionTime, reversed: bool) -> Unfiltered {
    let position = beyond(&open.last_position, reversed);
    Unfiltered::Marker(Marker { position, closes, opens: DeletionTime::LIVE })
}

/// The bound right behind a row in the direction of the read.
/// Requires: `position` is that of a row.
pub(crate) fn beyond(position: &[u8], reversed: bool) -> Vec<u8> {
    let mut bound = position.to_vec();
    *bound.last_mut().expect("a row's position ends in a terminator") =
        if reversed { BEFORE } else { AFTER };
    bound
}
