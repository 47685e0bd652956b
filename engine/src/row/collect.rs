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
use super::merge::{Item, Merge, Source};
use super::pass::Met;
use super::query::{PartitionRows, ReadCommand};
use super::reconcile::{DroppedColumns, Purge, Settled};
use super::unfiltered::{Marker, PartitionData, Unfiltered};
use crate::error::Error;

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
    pub(crate) fn new(command: &'c ReadCommand, kept: Kept) -> Collector<'c> {
        Collector {
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
    pub(crate) fn partition<S: Source>(
        &mut self,
        key: &DecoratedKey,
        static_row: Option<Row>,
        stream: &mut Merge<S>,
    ) -> Result<Ended, Error> {
        let command = self.command;
        let static_row = static_row.and_then(|row| self.visible(&row).row(&[&row]));
        let live_static = static_row.as_ref().and_then(|row| self.count(row));
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
        if open.matches || matches!(self.kept, Kept::All(_)) {
            by_limit = self.rows(key, &mut open, stream)?;
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
    fn rows<S: Source>(
        &mut self,
        key: &DecoratedKey,
        open: &mut Open,
        stream: &mut Merge<S>,
    ) -> Result<bool, Error> {
        if open.rows_left == 0 || self.rows_left == 0 {
            return Ok(true);
        }
        let mut opened = DeletionTime::LIVE;
        let passes = !matches!(self.kept, Kept::All(_)) && !self.dropped.needed;
        // Dead rows come in runs: where one was met, more are looked for.
        let mut met_dead = true;
        loop {
            if passes && met_dead {
                self.pass_dead(stream)?;
            }
            let Some(item) = stream.next()? else { break };
            match item {
                Item::Row(row) => met_dead = !self.row(key, open, row),
                Item::Marker(marker) => opened = self.marker(open, marker),
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

    /// Counts the rows ahead in which nothing lives, as far as that is simple.
    fn pass_dead<S: Source>(&mut self, stream: &mut Merge<S>) -> Result<(), Error> {
        let mut met = Met::up_to(u64::MAX);
        let passed = stream.pass_dead(&self.purge, &mut met);
        self.counts.tombstones += met.tombstones;
        passed
    }

    /// Takes in a row; says whether anything of it lives.
    fn row(&mut self, key: &DecoratedKey, open: &mut Open, row: &Row) -> bool {
        let built;
        let row = match self.visible(row) {
            Settled::Same(_) => row,
            Settled::Nothing => return false,
            Settled::Built(other) => {
                built = other;
                &built
            }
        };
        let weight = self.purge.weigh(row);
        self.counts.rows += u64::from(weight.live);
        self.counts.tombstones += weight.tombstones;
        if let Kept::All(_) = self.kept
            && let Some(purged) = self.purge.row(row).row(&[row])
        {
            open.last_position = row.position().to_vec();
            open.unfiltereds.push(Unfiltered::Row(purged));
        }
        if !weight.live {
            return false;
        }
        if self.has_row_conditions {
            self.counts.filtered += 1;
            let statics = open.live_static.as_ref();
            let (filter, now) = (&self.command.filter, self.command.now_seconds);
            if !filter.matches_row(&self.command.table, key, statics, row, now) {
                return true;
            }
        }
        if !open.matches {
            return true;
        }
        if let Kept::Live(_) = self.kept
            && let Some(live) = self.purge.live_part(row, &weight)
        {
            open.rows.push(live);
        }
        open.rows_seen += 1;
        open.rows_left -= 1;
        self.rows_left -= 1;
        true
    }

    /// Takes in a marker; returns what is open behind it.
    fn marker(&mut self, open: &mut Open, marker: &Marker) -> DeletionTime {
        let closes = self.purge.deletion(marker.closes);
        let opens = self.purge.deletion(marker.opens);
        if closes.is_live() && opens.is_live() {
            return opens;
        }
        self.counts.tombstones += 1;
        if let Kept::All(_) = self.kept {
            open.unfiltereds.push(Unfiltered::Marker(Marker {
                position: marker.position.clone(),
                closes,
                opens,
            }));
        }
        opens
    }

    fn visible(&self, row: &Row) -> Settled {
        self.dropped.filter(row)
    }

    /// Counts a static row and gives what of it lives.
    fn count(&mut self, row: &Row) -> Option<Row> {
        let weight = self.purge.weigh(row);
        self.counts.rows += u64::from(weight.live);
        self.counts.tombstones += weight.tombstones;
        self.purge.live_part(row, &weight)
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
