//! Several writes of one partition, or two versions of one row, as one.

use super::data::Row;
use super::deletion::DeletionTime;
use super::mutation::Mutation;
use super::reconcile::merge_rows;

impl Mutation {
    /// Takes in another mutation of the same partition: both are then applied as one.
    /// Requires: same table, same key.
    pub fn absorb(&mut self, other: Mutation) {
        assert!(self.table_id() == other.table_id() && self.key == other.key, "one partition");
        self.deletion = self.deletion.max(other.deletion);
        self.rows.extend(other.rows);
        self.ranges.extend(other.ranges);
        self.static_row = Row::merged(self.static_row.as_ref(), other.static_row.as_ref());
    }
}

impl Row {
    /// Two versions of one row, reconciled; `None` if there is none.
    /// Requires: same position.
    pub fn merged(a: Option<&Row>, b: Option<&Row>) -> Option<Row> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let versions = [a, b];
                merge_rows(&versions, DeletionTime::LIVE).row(&versions)
            }
            (a, b) => a.or(b).cloned(),
        }
    }
}
