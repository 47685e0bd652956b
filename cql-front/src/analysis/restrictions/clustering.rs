//! Which rows of a partition a WHERE asks for: single rows, or slices.
//!
//! = and IN on leading clustering columns make prefixes; one slice may follow. A slice of a tuple is compared in the
//! natural order of the types, while rows lie in clustering order: where neighbouring columns run in different
//! directions it falls into several physical slices.
//!
//! ```text
//! c ASC, d DESC    (c, d) > (1, 2)    rows   1,3 | 1,2  1,1 | 2,9  2,1  3,7
//!                                            ^^^              ^^^^^^^^^^^^^
//!                  starts  before 1     after 1
//!                  ends    before 1,2   after everything
//! ```
//!
//! Starts and ends are made by the same walk over the columns ([`runs`]), sorted, and paired.

use super::merge::{End, Kind, Restriction, Set};
use super::values::{Bytes, Components, Prefix, extend, single, slices};
use crate::analysis::terms::{Bound as Term, Env};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::row::clustering::{Bound, ClusteringKey, Slice};
use cassling_engine::row::query::Names;
use cassling_engine::schema::{Column, Table};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Whether some clustering column is free or sliced, so that rows come as slices (Cassandra's `isColumnRange`).
pub(super) fn is_range(table: &Table, restrictions: &Set) -> bool {
    restrictions.column_count() < table.clustering().len()
        || restrictions.any(|r| !r.is_equal() && !r.is_in())
}

/// Restrictions with whether a filter has to serve each: the key serves the others.
pub(super) fn filtered(restrictions: &Set) -> impl Iterator<Item = (&Restriction, bool)> {
    let mut position = 0;
    restrictions.iter().map(move |r| {
        let filter = r.is_contains() || r.first().position != position;
        if !filter && !r.is_slice() {
            position = r.last().position + 1;
        }
        (r, filter)
    })
}

/// Rows of a WHERE that restricts every clustering column by = or IN: sorted, without duplicates. `check` sees the
/// values of each.
pub(super) fn names(
    table: &Table,
    restrictions: &Set,
    env: &Env<'_>,
    check: impl Fn(&[Bytes<'_>]) -> Result<(), RestrictionError>,
) -> Result<Names, Error> {
    if let Some(values) = single(restrictions, env)? {
        check(&values)?;
        return Ok(Names::from_buf([ClusteringKey::new(table, &slices(&values))]));
    }
    let mut products: Vec<Prefix<'_>> = vec![Vec::new()];
    for restriction in restrictions.iter() {
        products = extend(products, restriction, env)?;
        if products.is_empty() {
            return Ok(Names::new());
        }
    }
    let mut sorted = BTreeMap::new();
    for product in &products {
        check(product)?;
        let key = ClusteringKey::new(table, &slices(product));
        // Of values that the type takes for equal the one written first stays.
        sorted.entry(key.position.clone()).or_insert(key);
    }
    Ok(sorted.into_values().collect())
}

/// Slices of a WHERE, in clustering order, empty ones left out.
pub(super) fn ranges(
    table: &Table,
    restrictions: &Set,
    env: &Env<'_>,
) -> Result<SmallVec<[Slice; 1]>, Error> {
    let mut prefixes: Vec<Prefix<'_>> = vec![Vec::new()];
    let mut slice = None;
    for (restriction, filter) in filtered(restrictions) {
        if filter {
            break;
        }
        if restriction.is_slice() {
            slice = Some(restriction);
            break;
        }
        prefixes = extend(prefixes, restriction, env)?;
        if prefixes.is_empty() {
            return Ok(SmallVec::new());
        }
    }
    let (starts, ends) = match slice {
        None => (
            prefixes.iter().map(|p| Bound::before(table, &slices(p))).collect(),
            prefixes.iter().map(|p| Bound::after(table, &slices(p))).collect(),
        ),
        Some(restriction) => {
            let ends = Ends::bind(restriction, env).map_err(|e| e.or_at(restriction.span))?;
            (ends.bounds(table, &prefixes, Side::Start), ends.bounds(table, &prefixes, Side::End))
        }
    };
    Ok(pair(starts, ends))
}

fn pair(starts: BTreeSet<Bound>, ends: BTreeSet<Bound>) -> SmallVec<[Slice; 1]> {
    let slices = starts.into_iter().zip(ends).map(|(start, end)| Slice { start, end });
    slices.filter(|slice| !slice.is_empty()).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Start => Side::End,
            Side::End => Side::Start,
        }
    }

    /// The side in the order of the type that feeds this side in the order of the rows.
    fn of(self, column: &Column) -> Side {
        if column.descending { self.other() } else { self }
    }
}

/// A slice with its values.
struct Ends<'v> {
    columns: &'v [Column],
    /// Values of the lower end; none if there is no lower end. `None` inside: null, which stands before all values.
    start: Vec<Option<Bytes<'v>>>,
    end: Vec<Option<Bytes<'v>>>,
    start_inclusive: bool,
    end_inclusive: bool,
}

impl<'v> Ends<'v> {
    fn bind(restriction: &'v Restriction, env: &Env<'v>) -> Result<Ends<'v>, Error> {
        let Kind::Slice { start, end } = &restriction.kind else {
            unreachable!("only slices are bound here");
        };
        let (start, start_inclusive) = bind_end(start.as_ref(), restriction, env)?;
        let (end, end_inclusive) = bind_end(end.as_ref(), restriction, env)?;
        Ok(Ends { columns: &restriction.columns, start, end, start_inclusive, end_inclusive })
    }

    fn values(&self, side: Side) -> &[Option<Bytes<'v>>] {
        match side {
            Side::Start => &self.start,
            Side::End => &self.end,
        }
    }

    fn inclusive(&self, side: Side) -> bool {
        match side {
            Side::Start => self.start_inclusive,
            Side::End => self.end_inclusive,
        }
    }

    /// The bounds of one physical side, for each prefix.
    fn bounds(&self, table: &Table, prefixes: &[Prefix<'_>], side: Side) -> BTreeSet<Bound> {
        let runs = self.runs(side);
        let mut out = BTreeSet::new();
        for prefix in prefixes {
            let mut at = 0;
            while at < runs.len() {
                let run = &runs[at];
                if run.len() < self.columns.len()
                    && !run.is_empty()
                    && runs.get(at + 1) == Some(run)
                {
                    out.insert(bound(table, prefix, run, side, false));
                    out.insert(bound(table, prefix, run, side, true));
                    at += 2;
                    continue;
                }
                let inclusive = match run.len().checked_sub(1) {
                    None => true,
                    Some(last) => self.inclusive(side.of(&self.columns[last])),
                };
                out.insert(bound(table, prefix, run, side, inclusive));
                at += 1;
            }
        }
        out
    }

    /// The values of the bounds of one physical side: one run, and two more for each change of direction
    /// (Cassandra's `MultiColumnRestriction.SliceRestriction.appendBoundTo`).
    fn runs(&self, side: Side) -> Vec<Vec<Option<Bytes<'v>>>> {
        let mut runs = Vec::new();
        let mut run: Vec<Option<Bytes<'v>>> = Vec::new();
        let mut descending = self.columns[0].descending;
        for (i, column) in self.columns.iter().enumerate() {
            let feeding = side.of(column);
            let values = self.values(feeding);
            if column.descending != descending {
                descending = column.descending;
                runs.push(run.clone());
                if i >= values.len() {
                    continue;
                }
                if i < self.values(feeding.other()).len() {
                    runs.push(run);
                }
                run = values[..i].to_vec();
            }
            if let Some(value) = values.get(i) {
                run.push(value.clone());
            }
        }
        runs.push(run);
        if side == Side::End {
            runs.reverse();
        }
        runs
    }
}

/// The values of one end and whether they belong to the slice; no end is one of no values.
fn bind_end<'v>(
    end: Option<&'v End>,
    restriction: &Restriction,
    env: &Env<'v>,
) -> Result<(Vec<Option<Bytes<'v>>>, bool), Error> {
    let Some(end) = end else { return Ok((Vec::new(), true)) };
    Ok((slice_values(end.value.bind(env)?, restriction)?, end.inclusive))
}

/// A null is allowed as the end of a lone column's slice, nowhere else.
fn slice_values<'v>(
    values: Components<'v>,
    restriction: &Restriction,
) -> Result<Vec<Option<Bytes<'v>>>, Error> {
    let mut out = Vec::with_capacity(values.len());
    for (value, column) in values.into_iter().zip(&restriction.columns) {
        out.push(match value {
            Term::Value(bytes) => Some(bytes),
            Term::Unset => return Err(RestrictionError::UnsetValue(column.name.clone()).into()),
            Term::Null if restriction.is_tuple => {
                return Err(RestrictionError::NullInCondition(column.name.clone()).into());
            }
            Term::Null => None,
        });
    }
    Ok(out)
}

/// Whether the slice of a modification begins or ends at null.
pub(super) fn has_null_end(restrictions: &Set, env: &Env<'_>) -> Result<bool, Error> {
    for restriction in restrictions.iter().filter(|r| r.is_slice()) {
        let ends = Ends::bind(restriction, env).map_err(|e| e.or_at(restriction.span))?;
        if ends.start.contains(&None) || ends.end.contains(&None) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bound(
    table: &Table,
    prefix: &[Bytes<'_>],
    run: &[Option<Bytes<'_>>],
    side: Side,
    inclusive: bool,
) -> Bound {
    let mut values = slices(prefix);
    for value in run {
        match value {
            Some(bytes) => values.push(bytes),
            // Null sorts before every value of its column, in whichever direction the column runs.
            None => return Bound::before(table, &values),
        }
    }
    if (side == Side::Start) == inclusive {
        Bound::before(table, &values)
    } else {
        Bound::after(table, &values)
    }
}
