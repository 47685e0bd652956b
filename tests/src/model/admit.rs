//! What may be asked of a table that forgets: which writes the model admits, and why others have no one answer.
//!
//! The model forgets nothing; a table whose files are merged does, and rightly so. Then a write that comes late is
//! seen where the model hides it:
//!
//! ```text
//! second     0               1 + gc_grace                     then
//! client     DELETE @5       (a compaction purges it)         INSERT @4
//! model      gone below @5   still knows                      hidden
//! table      tombstone @5    nothing is left, and no file     shown: as Cassandra does
//!                            holds anything below @5
//! ```
//!
//! So a write @t is admitted only if nothing that hides it can have been forgotten. Hiders are the deletions that cover
//! it (partition, range, row, column) and the cells of its own path, or the markers of its own row, each @t or later. Of
//! these may be forgotten (sheet C.8, with now taken at each step of the clock, and each change of gc_grace):
//!
//! | hider | once |
//! |---|---|
//! | deletion, tombstone | second written + gc_grace < now |
//! | expired cell | it has expired, and second written + gc_grace < now (sheet B.7: it turns into a tombstone of the second it was written in) |
//! | expired marker | second of expiry + gc_grace < now |
//!
//! What a merge drops because something later hides it needs no rule of its own: the later one covers all that the
//! earlier did, @t or later, and if it goes, so did everything it hid that was there. And a plain live cell is never
//! forgotten but by a later one. Whether any file *did* forget depends on the strategy; the model need not know.
//!
//! A second rule is about ties. Of two expiring cells @t the one that ends later wins, but a compaction that meets the
//! other one alone, and expired, makes a tombstone of it, which beats both (sheet B.2). Two expiring cells of one path,
//! @t both, with different ends have no one answer once files are merged. Tombstones are always admitted: they change
//! nothing where something later hides them.
//!
//! Nothing else is kept from histories: late writes below a deletion that is *not* yet forgotten are the very case
//! that purging must not lose, whether they lie in a memtable, in a file outside the compaction or in it.

use super::store::{Cell, Partition, Path, Row, Store};
use super::value::V;

impl Store {
    /// The clock moves.
    pub fn advance(&mut self, seconds: i64) {
        self.now_seconds += seconds;
        self.age();
    }

    /// `ALTER TABLE ... WITH gc_grace_seconds`.
    pub fn set_gc_grace(&mut self, seconds: u32) {
        self.schema.gc_grace_seconds = seconds;
        self.age();
    }

    /// Whether all writes so far were admitted.
    pub fn is_answerable(&self) -> bool {
        !self.beyond_the_model
    }

    /// Marks what a compaction of this second may forget. What it could once forget stays marked.
    fn age(&mut self) {
        if !self.compacts {
            return;
        }
        let (now, grace) = (self.now_seconds, i64::from(self.schema.gc_grace_seconds));
        for partition in self.partitions.values_mut() {
            for (_, deletion) in &mut partition.deletions {
                deletion.forgotten |= deletion.written_seconds + grace < now;
            }
            partition.statics.age(now, grace);
            partition.rows.values_mut().for_each(|row| row.age(now, grace));
        }
    }

    /// Whether a cell about to be written has no one answer.
    pub(super) fn is_beyond(
        &self,
        key: &[V],
        clustering: &[V],
        column: usize,
        path: &Path,
        cell: &Cell,
    ) -> bool {
        let (true, Some(_)) = (self.compacts, &cell.value) else { return false };
        let clustering = (!self.schema.columns[column].is_static).then_some(clustering);
        let Some((partition, row)) = self.find(key, clustering) else { return false };
        let own = row.map_or(&[][..], |row| {
            row.cells.get(&(column, path.clone())).map_or(&[], Vec::as_slice)
        });
        let mut columns = row.iter().flat_map(|row| &row.column_deletions);
        let hides = |at: i64, forgotten: bool| forgotten && at >= cell.timestamp_micros;
        covered(partition, clustering, cell.timestamp_micros)
            || columns.any(|(of, d)| *of == column && hides(d.timestamp_micros, d.forgotten))
            || own.iter().any(|other| hides(other.timestamp_micros, other.forgotten))
            || own.iter().any(|other| ends_apart(other, cell))
    }

    /// The same of a row marker, which no tombstone replaces when it expires.
    pub(super) fn marker_is_beyond(&self, key: &[V], clustering: &[V], marker: &Cell) -> bool {
        let at = marker.timestamp_micros;
        let Some((partition, row)) = self.find(key, Some(clustering)) else { return false };
        let mut markers = row.iter().flat_map(|row| &row.markers);
        self.compacts
            && (covered(partition, Some(clustering), at)
                || markers.any(|other| other.forgotten && other.timestamp_micros >= at))
    }

    fn find(&self, key: &[V], clustering: Option<&[V]>) -> Option<(&Partition, Option<&Row>)> {
        let partition = self.partitions.get(key)?;
        let row = match clustering {
            None => Some(&partition.statics),
            Some(clustering) => partition.rows.get(clustering),
        };
        Some((partition, row))
    }
}

/// Whether a deletion that may be forgotten hides what is written at that time.
fn covered(partition: &Partition, clustering: Option<&[V]>, at: i64) -> bool {
    partition.covering(clustering).any(|d| d.forgotten && d.timestamp_micros >= at)
}

/// Two expiring cells of one timestamp that end at different seconds.
fn ends_apart(a: &Cell, b: &Cell) -> bool {
    let ends = a.expires_seconds.zip(b.expires_seconds);
    a.timestamp_micros == b.timestamp_micros && ends.is_some_and(|(a, b)| a != b)
}

impl Row {
    fn age(&mut self, now: i64, grace: i64) {
        for marker in &mut self.markers {
            marker.forgotten |= marker.expires_seconds.is_some_and(|end| end + grace < now);
        }
        for (_, deletion) in &mut self.column_deletions {
            deletion.forgotten |= deletion.written_seconds + grace < now;
        }
        for cell in self.cells.values_mut().flatten() {
            cell.forgotten |= !cell.is_live(now) && cell.written_seconds + grace < now;
        }
    }
}
