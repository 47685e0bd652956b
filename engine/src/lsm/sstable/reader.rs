//! Reads an SSTable for one request: blocks, partitions, and the rows of one partition as a source of the merge.

use super::SsTable;
use super::blocks::{BlockCache, From};
use super::format::{self, Block, Entry, damaged};
use crate::error::Error;
use crate::ring::Token;
use crate::row::DecoratedKey;
use crate::row::clustering::{AFTER, BEFORE};
use crate::row::data::Row;
use crate::row::deletion::DeletionTime;
use crate::row::merge::{Head, Source, before};
use crate::row::pass::{Met, pass_one_by_one};
use crate::row::reconcile::Purge;
use crate::row::unfiltered::Marker;
use crate::sim::faults::{Fault, planted};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Reads blocks of one SSTable for one request and counts them. The last two blocks are kept: what a partition
/// was found in is where its rows begin, and where one partition ends the next begins.
#[derive(Debug)]
pub(crate) struct SsReader<'t> {
    pub(crate) table: &'t SsTable,
    cache: Option<&'t BlockCache>,
    recent: RefCell<[Option<Numbered>; 2]>,
    /// Data blocks touched.
    pub(crate) blocks: Cell<u64>,
    /// Those of them that the cache had.
    pub(crate) blocks_cached: Cell<u64>,
    /// Bytes of those that were read.
    pub(crate) bytes_read: Cell<u64>,
    /// The partition that is being read was looked for here.
    asked: Cell<bool>,
    /// It was found here.
    selected: Cell<bool>,
    /// Any partition that was asked for was found here.
    pub(crate) ever_selected: Cell<bool>,
}

/// A block with its number.
type Numbered = (usize, Arc<Block>);

/// A partition as found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) deletion: DeletionTime,
    /// Only if it was asked for.
    pub(crate) static_row: Option<Row>,
}

impl<'t> SsReader<'t> {
    /// Reads every block from disk: for whoever needs each once.
    pub(crate) fn new(table: &'t SsTable) -> SsReader<'t> {
        SsReader::cached(table, None)
    }

    /// Reads through the cache, if there is one.
    pub(crate) fn cached(table: &'t SsTable, cache: Option<&'t BlockCache>) -> SsReader<'t> {
        SsReader {
            table,
            cache,
            recent: RefCell::new([None, None]),
            blocks: Cell::new(0),
            blocks_cached: Cell::new(0),
            bytes_read: Cell::new(0),
            asked: Cell::new(false),
            selected: Cell::new(false),
            ever_selected: Cell::new(false),
        }
    }

    fn select(&self) {
        self.selected.set(true);
        self.ever_selected.set(true);
    }

    /// Whether a partition was found here since this was asked last; `None` if none was looked for.
    pub(crate) fn take_outcome(&self) -> Option<bool> {
        let found = self.selected.replace(false);
        (self.asked.replace(false) || found).then_some(found)
    }

    pub(super) fn block(&self, number: usize) -> Result<Arc<Block>, Error> {
        let mut recent = self.recent.borrow_mut();
        if let Some((_, block)) = recent.iter().flatten().find(|(held, _)| *held == number) {
            return Ok(block.clone());
        }
        let (block, from) = self.table.block(number, self.cache)?;
        self.blocks.set(self.blocks.get() + 1);
        match from {
            From::Cache => self.blocks_cached.set(self.blocks_cached.get() + 1),
            From::Disk(bytes) => self.bytes_read.set(self.bytes_read.get() + bytes),
        }
        recent.swap(0, 1);
        recent[0] = Some((number, block.clone()));
        Ok(block)
    }

    pub(super) fn bad(&self, number: usize, at: usize) -> Error {
        let (offset, _) = self.table.index.extent(number);
        damaged(&self.table.name, offset + at as u64, "an entry of the block cannot be read")
    }

    /// The partition of `key`, if it is here; its static row only `with_static`. `near` is where its rows will be
    /// read from: in a wide partition the block there knows the deletion too.
    pub(crate) fn find(
        &self,
        key: &DecoratedKey,
        near: &[u8],
        with_static: bool,
    ) -> Result<Option<Found>, Error> {
        self.asked.set(true);
        let near = self.table.index.find(key, near).filter(|n| self.table.index.continues(*n, key));
        if let Some(number) = near {
            let block = self.block(number)?;
            if !(with_static && block.has_static) {
                self.select();
                return Ok(Some(Found { deletion: block.deletion, static_row: None }));
            }
        }
        let Some((number, index)) = self.locate(key)? else { return Ok(None) };
        self.select();
        let block = self.block(number)?;
        self.found(&block, number, index).map(Some)
    }

    fn found(&self, block: &Block, number: usize, index: usize) -> Result<Found, Error> {
        let at = block.partition_at(index);
        let (entry, header) = block.header(index).ok_or_else(|| self.bad(number, at))?;
        let static_at = entry.start + header.static_at;
        let static_row = (static_at < entry.end)
            .then(|| Row::in_block(block.bytes.clone(), static_at, entry.end));
        Ok(Found { deletion: header.deletion, static_row })
    }

    /// The block in which the partition's header lies, and its number among the headers there.
    fn locate(&self, key: &DecoratedKey) -> Result<Option<(usize, usize)>, Error> {
        let Some(number) = self.table.index.find(key, &[]) else { return Ok(None) };
        let block = self.block(number)?;
        let index = self.header_point(&block, number, |token, bytes| {
            (token, bytes) < (key.token.0, &key.bytes[..])
        })?;
        if index == block.partitions() {
            return Ok(None);
        }
        let at = block.partition_at(index);
        let (_, header) = block.header(index).ok_or_else(|| self.bad(number, at))?;
        let same = header.token == key.token.0 && header.key == &key.bytes[..];
        Ok(same.then_some((number, index)))
    }

    /// The first header of a block for which `earlier` does not hold.
    fn header_point(
        &self,
        block: &Block,
        number: usize,
        earlier: impl Fn(i64, &[u8]) -> bool,
    ) -> Result<usize, Error> {
        let (mut low, mut high) = (0, block.partitions());
        while low < high {
            let middle = low.midpoint(high);
            let at = block.partition_at(middle);
            let (_, header) = block.header(middle).ok_or_else(|| self.bad(number, at))?;
            if earlier(header.token, header.key) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The part of a block that belongs to the partition of `key`: from behind its header, or from the block's
    /// start, to the next header or the block's end. `None` if the partition is not in it.
    fn portion(
        &self,
        block: &Block,
        number: usize,
        key: &DecoratedKey,
    ) -> Result<Option<(usize, usize)>, Error> {
        if self.table.index.continues(number, key) {
            let end =
                if block.partitions() > 0 { block.partition_at(0) } else { block.entries_end };
            return Ok(Some((block.entries_start, end)));
        }
        let index = self.header_point(block, number, |token, bytes| {
            (token, bytes) < (key.token.0, &key.bytes[..])
        })?;
        if index == block.partitions() {
            return Ok(None);
        }
        let at = block.partition_at(index);
        let (entry, header) = block.header(index).ok_or_else(|| self.bad(number, at))?;
        if header.token != key.token.0 || header.key != &key.bytes[..] {
            return Ok(None);
        }
        let end = if index + 1 < block.partitions() {
            block.partition_at(index + 1)
        } else {
            block.entries_end
        };
        Ok(Some((entry.end, end)))
    }
}

/// Walks the partitions of an SSTable in order, without their rows.
#[derive(Debug)]
pub(crate) struct Scan<'t> {
    reader: &'t SsReader<'t>,
    block: usize,
    index: usize,
    /// The partition it stands at.
    pub(crate) current: Option<(DecoratedKey, Found)>,
}

impl<'t> Scan<'t> {
    /// Stands at the first partition whose token is at least `token`.
    pub(crate) fn new(reader: &'t SsReader<'t>, token: Option<Token>) -> Result<Scan<'t>, Error> {
        let mut scan = Scan { reader, block: 0, index: 0, current: None };
        if let Some(token) = token {
            scan.block = reader.table.index.find_token(token.0);
            let block = reader.block(scan.block)?;
            scan.index = reader.header_point(&block, scan.block, |held, _| held < token.0)?;
        }
        scan.load()?;
        Ok(scan)
    }

    /// Goes on to the next partition.
    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        let Some((key, _)) = self.current.take() else { return Ok(()) };
        self.index += 1;
        let block = self.reader.block(self.block)?;
        if self.index >= block.partitions() {
            let index = &self.reader.table.index;
            // Past the blocks in which the partition just left goes on, but for the last: the next begins there.
            let last = index.find(&key, &[AFTER, 0]).unwrap_or(self.block);
            (self.block, self.index) =
                if last > self.block { (last, 0) } else { (self.block + 1, 0) };
        }
        self.load()
    }

    fn load(&mut self) -> Result<(), Error> {
        while self.block < self.reader.table.index.len() {
            let block = self.reader.block(self.block)?;
            if self.index < block.partitions() {
                let at = block.partition_at(self.index);
                let (_, header) =
                    block.header(self.index).ok_or_else(|| self.reader.bad(self.block, at))?;
                let key = DecoratedKey {
                    token: Token(header.token),
                    bytes: Bytes::copy_from_slice(header.key),
                };
                let found = self.reader.found(&block, self.block, self.index)?;
                self.reader.select();
                self.current = Some((key, found));
                return Ok(());
            }
            (self.block, self.index) = (self.block + 1, 0);
        }
        Ok(())
    }
}

/// The rows and range ends of one partition of an SSTable.
pub(crate) struct SsSource<'t> {
    reader: &'t SsReader<'t>,
    key: DecoratedKey,
    reversed: bool,
    deletion: DeletionTime,
    /// Nothing lies before it; the file is not read while the merge has not come so far.
    lower: Option<Vec<u8>>,
    /// Where reading is to begin, while it has not.
    pending: Option<Vec<u8>>,
    /// Only the deletion of the partition matters.
    empty: bool,
    block: Option<Numbered>,
    /// Part of the block that belongs to the partition.
    portion: (usize, usize),
    /// Forward: the next entry. Reversed: everything from here on is done with.
    at: usize,
    /// Reversed: entries from a restart point on, which are walked back.
    group: Vec<usize>,
    head: SsHead,
    row: Option<Row>,
    marker: Option<Marker>,
}

/// What stands at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SsHead {
    Unopened,
    Row,
    Marker,
    End,
}

impl<'t> SsSource<'t> {
    /// Requires: [`Source::seek`] is called before anything else. `deletion` is that of the partition.
    pub(crate) fn new(
        reader: &'t SsReader<'t>,
        key: DecoratedKey,
        deletion: DeletionTime,
        reversed: bool,
        empty: bool,
    ) -> SsSource<'t> {
        let covered = reader.table.statistics.covered.as_ref();
        // Before everything with the same prefix, as Cassandra's lower bound of an SSTable is.
        let terminated = |position: &[u8], terminator: u8| {
            let mut bound = position.to_vec();
            *bound.last_mut().expect("a position ends in a terminator") = terminator;
            bound
        };
        let lower = covered.map(|(least, greatest)| {
            if reversed { terminated(greatest, AFTER) } else { terminated(least, BEFORE) }
        });
        SsSource {
            reader,
            key,
            reversed,
            deletion,
            empty: empty || lower.is_none(),
            lower,
            pending: None,
            block: None,
            portion: (0, 0),
            at: 0,
            group: Vec::new(),
            head: SsHead::End,
            row: None,
            marker: None,
        }
    }

    fn bad(&self, number: usize, at: usize) -> Error {
        self.reader.bad(number, at)
    }

    /// Reads the block where `place` lies and stands at the first entry at or behind it.
    fn open(&mut self, place: &[u8]) -> Result<DeletionTime, Error> {
        self.head = SsHead::End;
        self.group.clear();
        self.row = None;
        self.reader.asked.set(true);
        let Some(number) = self.reader.table.index.find(&self.key, place) else {
            return Ok(DeletionTime::LIVE);
        };
        let block = self.reader.block(number)?;
        let Some(portion) = self.reader.portion(&block, number, &self.key)? else {
            return Ok(DeletionTime::LIVE);
        };
        self.reader.select();
        self.portion = portion;
        let (at, open) = self.split(&block, number, place)?;
        self.block = Some((number, block));
        self.at = at;
        self.step()?;
        Ok(open)
    }

    /// Where entries at or behind `place` begin (reversed: where those behind it in clustering order begin), and
    /// which deletion is open just before them in the direction of the read.
    fn split(
        &self,
        block: &Block,
        number: usize,
        place: &[u8],
    ) -> Result<(usize, DeletionTime), Error> {
        let (start, end) = self.portion;
        let passed = |position: &[u8]| {
            if self.reversed { position <= place } else { position < place }
        };
        let mut at = start;
        let (first, count) = block.restarts_within(start, end);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            let offset = block.restart(first + middle);
            let entry = block.entry(offset).ok_or_else(|| self.bad(number, offset))?;
            let position = block.position(entry).ok_or_else(|| self.bad(number, offset))?;
            if passed(position) { low = middle + 1 } else { high = middle }
        }
        if low > 0 {
            at = block.restart(first + low - 1);
        }
        let mut open = None;
        while at < end {
            let entry = block.entry(at).ok_or_else(|| self.bad(number, at))?;
            let position = block.position(entry).ok_or_else(|| self.bad(number, at))?;
            if !passed(position) {
                break;
            }
            if entry.kind == format::ENTRY_MARKER {
                open = Some(self.opened_by(block, number, entry)?);
            }
            at = entry.end;
        }
        let open = match open {
            Some(open) => open,
            None => self.open_before(block, number, first..first + low.saturating_sub(1))?,
        };
        if self.reversed && planted(Fault::WrongReverseSeek) {
            at = block.restart_before(at).map_or(start, |restart| restart.max(start));
        }
        Ok((at, open))
    }

    /// What the range end at `entry` opens.
    fn opened_by(&self, block: &Block, number: usize, entry: Entry) -> Result<DeletionTime, Error> {
        let marker = format::marker(&block.bytes[entry.start..entry.end]);
        Ok(marker.ok_or_else(|| self.bad(number, entry.start))?.opens)
    }

    /// What is open behind the groups of these restart points: what the last range end in them opens, or what was open
    /// where the partition or the block begins. Groups without range ends are passed over unread.
    fn open_before(
        &self,
        block: &Block,
        number: usize,
        groups: std::ops::Range<usize>,
    ) -> Result<DeletionTime, Error> {
        let Some(group) = groups.rev().find(|group| block.restart_has_marker(*group)) else {
            let begins_here = !self.reader.table.index.continues(number, &self.key)
                || planted(Fault::OpenRangeLostAtBlockStart);
            return Ok(if begins_here { DeletionTime::LIVE } else { block.open });
        };
        // A group ends where the next begins: there is one, the one in which the walk began.
        let (mut at, end) = (block.restart(group), block.restart(group + 1));
        let mut open = DeletionTime::LIVE;
        while at < end {
            let entry = block.entry(at).ok_or_else(|| self.bad(number, at))?;
            if entry.kind == format::ENTRY_MARKER {
                open = self.opened_by(block, number, entry)?;
            }
            at = entry.end;
        }
        Ok(open)
    }

    fn step(&mut self) -> Result<(), Error> {
        if self.reversed { self.step_back() } else { self.step_forward() }
    }

    fn step_forward(&mut self) -> Result<(), Error> {
        loop {
            let Some((number, block)) = &self.block else {
                self.head = SsHead::End;
                return Ok(());
            };
            if self.at < self.portion.1 {
                let entry = block.entry(self.at).ok_or_else(|| self.bad(*number, self.at))?;
                self.at = entry.end;
                return self.stand_at(entry);
            }
            let next = *number + 1;
            if self.portion.1 < block.entries_end
                || !self.reader.table.index.continues(next, &self.key)
            {
                self.head = SsHead::End;
                return Ok(());
            }
            self.enter(next)?;
            self.at = self.portion.0;
        }
    }

    fn step_back(&mut self) -> Result<(), Error> {
        loop {
            let Some((number, block)) = &self.block else {
                self.head = SsHead::End;
                return Ok(());
            };
            if let Some(offset) = self.group.pop() {
                let entry = block.entry(offset).ok_or_else(|| self.bad(*number, offset))?;
                return self.stand_at(entry);
            }
            if self.at > self.portion.0 {
                self.load_group()?;
                continue;
            }
            if *number == 0 || !self.reader.table.index.continues(*number, &self.key) {
                self.head = SsHead::End;
                return Ok(());
            }
            self.enter(*number - 1)?;
            self.at = self.portion.1;
        }
    }

    /// Goes over to a neighbouring block, which holds a part of the partition.
    fn enter(&mut self, number: usize) -> Result<(), Error> {
        let block = self.reader.block(number)?;
        let portion = self.reader.portion(&block, number, &self.key)?;
        self.portion = portion.ok_or_else(|| self.bad(number, 0))?;
        self.block = Some((number, block));
        // The row at hand lies in the block just left.
        self.row = None;
        Ok(())
    }

    /// Collects the entries between the last restart point before `at` and `at`.
    fn load_group(&mut self) -> Result<(), Error> {
        let Some((number, block)) = &self.block else { return Ok(()) };
        let restart = block.restart_before(self.at).ok_or_else(|| self.bad(*number, self.at))?;
        let mut offset = restart;
        while offset < self.at {
            let entry = block.entry(offset).ok_or_else(|| self.bad(*number, offset))?;
            if offset >= self.portion.0 {
                self.group.push(offset);
            }
            offset = entry.end;
        }
        self.at = restart;
        Ok(())
    }

    /// Passes dead rows from the head on, as far as the first entry behind them or the first of the next block;
    /// says whether there was any. Forward only.
    fn pass_in_block(&mut self, limit: &[u8], purge: &Purge, met: &mut Met) -> Result<bool, Error> {
        let (Some((number, block)), Some(row)) = (&self.block, &mut self.row) else {
            return Ok(false);
        };
        let (number, block) = (*number, Arc::clone(block));
        let index = &self.reader.table.index;
        // Everything here lies before what the next block begins with.
        let all_before =
            index.continues(number + 1, &self.key) && index.first(number + 1).position <= limit;
        let (mut start, mut end) = row.extent();
        let head = start;
        loop {
            let payload = &block.bytes[start..end];
            let bad = || self.reader.bad(number, start);
            let within = all_before || format::row_position(payload).ok_or_else(bad)? < limit;
            if !within || !purge.dead(payload).is_some_and(|tombstones| met.take(tombstones)) {
                row.move_to(start, end);
                return Ok(start > head);
            }
            if self.at >= self.portion.1 {
                self.step_forward()?;
                return Ok(true);
            }
            let entry = block.entry(self.at).ok_or_else(|| self.reader.bad(number, self.at))?;
            self.at = entry.end;
            if entry.kind != format::ENTRY_ROW {
                self.stand_at(entry)?;
                return Ok(true);
            }
            (start, end) = (entry.start, entry.end);
        }
    }

    fn stand_at(&mut self, entry: Entry) -> Result<(), Error> {
        let (number, block) = self.block.as_ref().expect("an entry lies in the block at hand");
        match entry.kind {
            format::ENTRY_ROW => {
                match &mut self.row {
                    Some(row) => row.move_to(entry.start, entry.end),
                    None => {
                        self.row = Some(Row::in_block(block.bytes.clone(), entry.start, entry.end))
                    }
                }
                self.head = SsHead::Row;
            }
            format::ENTRY_MARKER => {
                let marker = format::marker(&block.bytes[entry.start..entry.end]);
                let mut marker = marker.ok_or_else(|| self.bad(*number, entry.start))?;
                if self.reversed {
                    std::mem::swap(&mut marker.opens, &mut marker.closes);
                }
                self.marker = Some(marker);
                self.head = SsHead::Marker;
            }
            _ => return Err(self.bad(*number, entry.start)),
        }
        Ok(())
    }
}

impl Source for SsSource<'_> {
    fn head(&self) -> Head<'_> {
        match (self.head, &self.row, &self.marker, &self.lower) {
            (SsHead::Row, Some(row), _, _) => Head::Row(row),
            (SsHead::Marker, _, Some(marker), _) => Head::Marker(marker),
            (SsHead::Unopened, _, _, Some(lower)) => Head::Unopened(lower),
            _ => Head::End,
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        match self.pending.take() {
            // Nothing lies before the lower bound, so nothing is open where reading begins.
            Some(place) => self.open(&place).map(|_| ()),
            None => self.step(),
        }
    }

    fn pass_dead(
        &mut self,
        limit: &[u8],
        reversed: bool,
        purge: &Purge,
        met: &mut Met,
    ) -> Result<bool, Error> {
        if reversed {
            return pass_one_by_one(self, limit, reversed, purge, met);
        }
        let mut moved = false;
        while self.head == SsHead::Row && self.pass_in_block(limit, purge, met)? {
            moved = true;
        }
        Ok(moved)
    }

    fn seek(&mut self, place: &[u8]) -> Result<DeletionTime, Error> {
        self.pending = None;
        self.head = SsHead::End;
        let Some(lower) = self.lower.as_ref().filter(|_| !self.empty) else {
            return Ok(DeletionTime::LIVE);
        };
        if before(place, lower, self.reversed) {
            self.pending = Some(place.to_vec());
            self.head = SsHead::Unopened;
            return Ok(DeletionTime::LIVE);
        }
        self.open(place)
    }

    fn pass(&self) {
        self.reader.selected.set(true);
    }

    fn partition_deletion(&self) -> DeletionTime {
        self.deletion
    }

    fn max_timestamp_micros(&self) -> i64 {
        self.reader.table.statistics.max_timestamp_micros
    }
}
