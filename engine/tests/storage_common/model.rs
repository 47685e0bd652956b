//! The plain model: everything ever written, judged at each read.

use super::*;
use cassling_engine::row::PartitionRows;

/// (timestamp, second); none is the smallest.
type Deletion = (i64, i64);
const NONE: Deletion = (i64::MIN, i64::MIN);

#[derive(Debug, Default)]
pub struct Model {
    writes: Vec<Write>,
}

/// What a client sees of a partition: key, static cells, rows with their cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    pub key: DecoratedKey,
    pub statics: Cells,
    pub rows: Vec<VisibleRow>,
}

/// A row: position, whether its marker lives, cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleRow {
    pub position: Vec<u8>,
    pub has_marker: bool,
    pub cells: Cells,
}

/// Column, path, value.
pub type Cells = Vec<(u16, Option<Vec<u8>>, Vec<u8>)>;

pub fn visible(partition: &PartitionRows) -> Visible {
    let cells = |row: &cassling_engine::row::Row| {
        assert!(row.deletion().is_live() && row.complex_deletions().next().is_none());
        let cells = row.cells().map(|cell| {
            assert!(!cell.is_tombstone());
            (cell.column.0, cell.path.map(|p| p.value.to_vec()), cell.value.to_vec())
        });
        cells.collect::<Cells>()
    };
    Visible {
        key: partition.key.clone(),
        statics: partition.static_row.as_ref().map(cells).unwrap_or_default(),
        rows: partition
            .rows
            .iter()
            .map(|row| VisibleRow {
                position: row.position().to_vec(),
                has_marker: row.marker().is_some(),
                cells: cells(row),
            })
            .collect(),
    }
}

#[derive(Debug)]
pub struct Expected {
    pub partitions: Vec<Visible>,
    /// Live rows and tombstones.
    pub counts: (u64, u64),
}

impl Expected {
    /// The first so many rows.
    pub fn first(&self, limit: u64) -> Vec<Visible> {
        let mut left = limit;
        let mut out = Vec::new();
        for partition in &self.partitions {
            if left == 0 {
                break;
            }
            let mut partition = partition.clone();
            let rows = (partition.rows.len().max(1) as u64).min(left);
            partition.rows.truncate(rows as usize);
            left -= rows;
            out.push(partition);
        }
        out
    }
}

/// What became of one row.
struct Judged {
    live: bool,
    marker: bool,
    tombstones: u64,
    cells: Cells,
}

impl Model {
    pub fn apply(&mut self, write: &Write) {
        self.writes.push(write.clone());
    }

    pub fn read(&self, command: &ReadCommand) -> Expected {
        let keys = match &command.partitions {
            Partitions::Keys(keys) => keys.to_vec(),
            Partitions::Range(_) => {
                let mut keys = keys();
                keys.sort();
                keys
            }
        };
        let mut expected = Expected { partitions: Vec::new(), counts: (0, 0) };
        for key in keys {
            self.read_partition(command, &key, &mut expected);
        }
        expected
    }

    fn read_partition(&self, command: &ReadCommand, key: &DecoratedKey, expected: &mut Expected) {
        let now = command.now_seconds;
        let writes: Vec<&Write> =
            self.writes.iter().filter(|w| super::key(w.key) == *key).collect();
        let partition = writes.iter().flat_map(|w| &w.partition).copied().max().unwrap_or(NONE);
        // Where a partition without rows cannot be an answer, only the static columns asked for are read.
        let asked =
            |column: ColumnId| command.static_only_counts || command.columns.contains(&column);
        let of_statics = |write: &&Write| {
            let mut write = (*write).clone();
            write.cells.retain(|cell| cell.row.is_some() || asked(cell.column));
            write.complex.retain(|(row, column, _, _)| row.is_some() || asked(*column));
            write
        };
        let fetched: Vec<Write> = writes.iter().map(of_statics).collect();
        let fetched: Vec<&Write> = fetched.iter().collect();
        let statics = judge(&fetched, None, partition, now);
        let with_static = asked(S) || asked(SM);
        if with_static {
            expected.counts.0 += u64::from(statics.live);
            expected.counts.1 += statics.tombstones;
        }
        let slices: Vec<(Vec<u8>, Vec<u8>)> = match &command.rows {
            RowSelection::Slices(s) => {
                s.iter().map(|s| (s.start.0.clone(), s.end.0.clone())).collect()
            }
            RowSelection::Names(names) => names
                .iter()
                .map(|name| {
                    let n = name.position[8];
                    (before_row(n).0, after_row(n).0)
                })
                .collect(),
        };
        let mut rows = Vec::new();
        for (start, end) in &slices {
            for n in 0..11 {
                let position = clustering(n).position;
                if position < *start || position > *end {
                    continue;
                }
                let outer = partition.max(range_at(&writes, &position));
                let row = judge(&writes, Some(n), outer, now);
                expected.counts.1 += row.tombstones;
                expected.counts.0 += u64::from(row.live);
                if row.live {
                    rows.push(VisibleRow { position, has_marker: row.marker, cells: row.cells });
                }
            }
            expected.counts.1 += markers(&writes, partition, start, end, now);
        }
        if command.reversed {
            rows.reverse();
        }
        rows.truncate(usize::try_from(command.limits.per_partition).unwrap_or(usize::MAX));
        let alone = rows.is_empty() && command.static_only_counts && statics.live;
        if !rows.is_empty() || alone {
            let statics = if with_static { statics.cells } else { Vec::new() };
            expected.partitions.push(Visible { key: key.clone(), statics, rows });
        }
    }
}

/// The strongest range deletion over a row, or just behind a bound.
fn range_at(writes: &[&Write], position: &[u8]) -> Deletion {
    let ranges = writes.iter().flat_map(|w| &w.ranges);
    let over =
        ranges.filter(|(start, end, _, _)| &start.0[..] <= position && position < &end.0[..]);
    over.map(|(_, _, at, second)| (*at, *second)).max().unwrap_or(NONE)
}

fn purged(deletion: Deletion, now: i64) -> bool {
    deletion.1 < now - GC_GRACE
}

/// Number of range ends within a slice, a boundary counting once.
fn markers(writes: &[&Write], partition: Deletion, start: &[u8], end: &[u8], now: i64) -> u64 {
    let mut places: Vec<&[u8]> =
        writes.iter().flat_map(|w| &w.ranges).flat_map(|r| [&r.0.0[..], &r.1.0[..]]).collect();
    places.retain(|place| *place > start && *place < end);
    places.push(start);
    places.sort_unstable();
    places.dedup();
    let strength = |place: &[u8]| {
        let range = range_at(writes, place);
        if range > partition { range } else { NONE }
    };
    let mut count = 0;
    let mut active = NONE;
    let kept = |d: Deletion| d != NONE && !purged(d, now);
    for place in places {
        let next = strength(place);
        if next != active {
            count += u64::from(kept(active) || kept(next));
            active = next;
        }
    }
    count + u64::from(kept(active))
}

fn judge(writes: &[&Write], row: Option<u8>, outer: Deletion, now: i64) -> Judged {
    let row_deletion = writes
        .iter()
        .flat_map(|w| &w.rows)
        .filter(|(n, _, _)| Some(*n) == row)
        .map(|(_, at, second)| (*at, *second))
        .max()
        .unwrap_or(NONE);
    let row_kept = row_deletion > outer;
    let active = outer.max(row_deletion);
    // Timestamp, expiring, expiry.
    let marker = writes
        .iter()
        .flat_map(|w| &w.markers)
        .filter(|(n, at, _, _)| Some(*n) == row && *at > active.0)
        .map(|(_, at, ttl, second)| (*at, *ttl != 0, second + i64::from(*ttl)))
        .max_by_key(|(at, expiring, ends)| (*at, *expiring, if *expiring { *ends } else { 0 }));
    let marker_live = marker.is_some_and(|(_, expiring, ends)| !expiring || now < ends);
    let mut deletion_in_force = row_kept && !purged(row_deletion, now) && row_deletion.1 <= now;
    deletion_in_force |=
        marker.is_some_and(|(_, expiring, ends)| expiring && now >= ends && ends >= now - GC_GRACE);
    let mut places: BTreeMap<(ColumnId, Option<u8>), Vec<&CellFact>> = BTreeMap::new();
    for cell in writes.iter().flat_map(|w| &w.cells).filter(|c| c.row == row) {
        places.entry((cell.column, cell.path)).or_default().push(cell);
    }
    let complex = |column: ColumnId| {
        let all = writes.iter().flat_map(|w| &w.complex);
        let of = all.filter(|(n, id, _, _)| *n == row && *id == column);
        of.map(|(_, _, at, second)| (*at, *second)).max().filter(|d| *d > active)
    };
    for column in [M, SM] {
        deletion_in_force |= complex(column).is_some_and(|d| !purged(d, now) && d.1 <= now);
    }
    let (mut cells, mut dead) = (Vec::new(), 0);
    for ((column, path), facts) in places {
        let floor = complex(column).unwrap_or(active).0;
        let winner = facts.into_iter().filter(|f| f.at > floor).max_by_key(|f| {
            let tombstone = f.value.is_none();
            let ends = tombstone || f.ttl != 0;
            let end = f.second + if tombstone { 0 } else { i64::from(f.ttl) };
            (f.at, ends, tombstone, if ends { end } else { 0 }, f.value.clone().unwrap_or_default())
        });
        let Some(fact) = winner else { continue };
        let live = match &fact.value {
            Some(_) => fact.ttl == 0 || now < fact.second + i64::from(fact.ttl),
            None => false,
        };
        if live {
            let value = fact.value.clone().unwrap();
            cells.push((column.0, path.map(|p| vec![p]), value));
        } else if fact.second >= now - GC_GRACE {
            dead += 1;
        }
    }
    let live = marker_live || !cells.is_empty();
    let tombstones =
        if live || dead > 0 { dead } else { u64::from(deletion_in_force && !marker_live) };
    Judged { live, marker: marker_live, tombstones, cells }
}
