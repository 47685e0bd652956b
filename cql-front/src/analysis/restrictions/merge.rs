//! Restrictions, and how several on the same columns become one.
//!
//! A relation is typed into a [`Restriction`]; those of one part of the key (or of the rest) live in a [`Set`],
//! sorted by column. A new one that shares a column with an old one is merged into it or refused:
//!
//! ```text
//! c > 1       and  c <= 5           one slice
//! c > 1       and  (c, d) < (5, 2)  one slice of tuples: a lone column counts as a tuple of one
//! m['a'] = 1  and  m CONTAINS 2     one list of conditions
//! c = 1       and  anything         refused
//! ```

use crate::analysis::terms::Term;
use crate::ast::Span;
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::schema::{Column, ColumnId};
use cassling_engine::types::CqlType;
use std::cmp::Ordering;

/// What one side of a comparison gives: a value for each column of the restriction.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// For the one column.
    One(Term),
    /// A tuple literal.
    Tuple(Vec<Term>),
    /// A marker for a whole tuple, whose name is `(c,d)`.
    TupleMarker {
        /// Term of the tuple's type.
        term: Term,
        /// Its name in messages.
        name: String,
    },
}

/// The right side of IN.
#[derive(Clone, Debug)]
pub(super) enum Alternatives {
    /// Written out; none or several (a single one is an equality).
    List(Vec<Value>),
    /// One marker for all, whose name is `in(c)` or `in(c,d)`.
    Marker {
        /// Its place among the markers.
        index: usize,
        /// Type of an element: of the column, or the tuple.
        element: CqlType,
        /// Its name in messages.
        name: String,
    },
}

/// One end of a slice in the natural order of the types.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Where it ends.
    pub(super) value: Value,
    /// `>=` or `<=`.
    pub(super) inclusive: bool,
}

/// How columns are restricted.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `=`, or IN of one value.
    Equal(Value),
    /// IN.
    In(Alternatives),
    /// `<`, `<=`, `>`, `>=`.
    Slice {
        /// Lower end.
        start: Option<End>,
        /// Upper end.
        end: Option<End>,
    },
    /// CONTAINS, CONTAINS KEY and map entries: all must hold.
    Contains {
        /// CONTAINS.
        values: Vec<Term>,
        /// CONTAINS KEY.
        keys: Vec<Term>,
        /// `m[key] = value`.
        entries: Vec<(Term, Term)>,
    },
}

/// What the relations on some columns say together.
#[derive(Clone, Debug)]
pub(super) struct Restriction {
    /// Columns, in key order; several only for tuples and `token()`.
    pub(super) columns: Vec<Column>,
    /// Written as a tuple, be it of one column.
    pub(super) is_tuple: bool,
    /// How they are restricted.
    pub(super) kind: Kind,
    /// Where: the first of the relations.
    pub(super) span: Span,
}

impl Restriction {
    pub(super) fn first(&self) -> &Column {
        self.columns.first().expect("a restriction has a column")
    }

    pub(super) fn last(&self) -> &Column {
        self.columns.last().expect("a restriction has a column")
    }

    pub(super) fn is_equal(&self) -> bool {
        matches!(self.kind, Kind::Equal(_))
    }

    pub(super) fn is_in(&self) -> bool {
        matches!(self.kind, Kind::In(_))
    }

    pub(super) fn is_slice(&self) -> bool {
        matches!(self.kind, Kind::Slice { .. })
    }

    pub(super) fn is_contains(&self) -> bool {
        matches!(self.kind, Kind::Contains { .. })
    }

    /// The value of a plain `column = value`.
    pub(super) fn plain_value(&self) -> Option<&Term> {
        match &self.kind {
            Kind::Equal(Value::One(term)) if !self.is_tuple => Some(term),
            _ => None,
        }
    }

    fn restricts(&self, column: ColumnId) -> bool {
        self.columns.iter().any(|c| c.id == column)
    }

    /// Columns that both restrict, as Cassandra lists them: in the order of a hash set (which changes from start to
    /// start), joined by ` ,`. Two columns were always seen last first.
    fn common_names(&self, other: &Restriction) -> String {
        let common = self.columns.iter().rev().filter(|c| other.restricts(c.id));
        common.map(|c| c.name.as_str()).collect::<Vec<_>>().join(" ,")
    }

    /// Both together. `new` comes later in the text.
    fn merge(self, new: Restriction) -> Result<Restriction, Error> {
        let tuples = (self.is_tuple || new.is_tuple) && !self.is_contains() && !new.is_contains();
        let names = if tuples { self.common_names(&new) } else { self.first().name.clone() };
        let refuse = |e: RestrictionError| Err(Error::at(e, new.span));
        match (self.kind, new.kind) {
            (Kind::Equal(_), _) => refuse(RestrictionError::EqualAndMore(names)),
            (Kind::In(_), _) => refuse(RestrictionError::InAndMore(names)),
            (Kind::Slice { start, end }, Kind::Slice { start: new_start, end: new_end }) => {
                let (old_first, new_first) = (&self.columns[0], &new.columns[0]);
                if old_first.id != new_first.id {
                    let later =
                        if old_first.position > new_first.position { old_first } else { new_first };
                    return refuse(RestrictionError::SlicesApart(later.name.clone()));
                }
                if start.is_some() && new_start.is_some() {
                    return refuse(RestrictionError::StartTwice(names));
                }
                if end.is_some() && new_end.is_some() {
                    return refuse(RestrictionError::EndTwice(names));
                }
                let longer = self.columns.len() >= new.columns.len();
                Ok(Restriction {
                    columns: if longer { self.columns } else { new.columns },
                    is_tuple: tuples,
                    kind: Kind::Slice { start: start.or(new_start), end: end.or(new_end) },
                    span: self.span,
                })
            }
            (Kind::Slice { .. }, _) => refuse(RestrictionError::SliceAndEqual(names)),
            (
                Kind::Contains { mut values, mut keys, mut entries },
                Kind::Contains { values: new_values, keys: new_keys, entries: new_entries },
            ) => {
                values.extend(new_values);
                keys.extend(new_keys);
                entries.extend(new_entries);
                let kind = Kind::Contains { values, keys, entries };
                Ok(Restriction { columns: self.columns, is_tuple: false, kind, span: self.span })
            }
            (Kind::Contains { .. }, _) => refuse(RestrictionError::ContainsAndMore(names)),
        }
    }

    /// The same for two `token()` relations, which have words of their own.
    pub(super) fn merge_token(self, new: Restriction) -> Result<Restriction, Error> {
        let names = self.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let refuse = |e: RestrictionError| Err(Error::at(e, new.span));
        match (self.kind, new.kind) {
            (Kind::Slice { start, end }, Kind::Slice { start: new_start, end: new_end }) => {
                if start.is_some() && new_start.is_some() {
                    return refuse(RestrictionError::StartTwice(names));
                }
                if end.is_some() && new_end.is_some() {
                    return refuse(RestrictionError::EndTwice(names));
                }
                let kind = Kind::Slice { start: start.or(new_start), end: end.or(new_end) };
                Ok(Restriction { columns: self.columns, is_tuple: false, kind, span: self.span })
            }
            (Kind::Slice { .. }, _) => refuse(RestrictionError::TokenSliceAndEqual(names)),
            (Kind::Equal(_) | Kind::In(_) | Kind::Contains { .. }, _) => {
                refuse(RestrictionError::EqualAndMore(names))
            }
        }
    }
}

/// Restrictions of one part of the table, none sharing a column, sorted by key position (columns outside the key: by
/// name, statics among the rest).
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    restrictions: Vec<Restriction>,
}

fn column_order(a: &Column, b: &Column) -> Ordering {
    a.position.cmp(&b.position).then_with(|| a.name.as_bytes().cmp(b.name.as_bytes()))
}

impl Set {
    /// The set with one more.
    pub(super) fn add(&mut self, new: Restriction) -> Result<(), Error> {
        let shares = |r: &Restriction| new.columns.iter().any(|c| r.restricts(c.id));
        let mut merged = new.clone();
        // An overlap with two old ones never survives: slices must begin with the same column as both.
        while let Some(at) = self.restrictions.iter().position(shares) {
            merged = self.restrictions.remove(at).merge(merged)?;
        }
        let at = self
            .restrictions
            .partition_point(|r| column_order(r.first(), merged.first()) == Ordering::Less);
        self.restrictions.insert(at, merged);
        Ok(())
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Restriction> {
        self.restrictions.iter()
    }

    /// Restricted columns, in order.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&Column, &Restriction)> {
        self.restrictions.iter().flat_map(|r| r.columns.iter().map(move |c| (c, r)))
    }

    /// Number of restricted columns.
    pub(super) fn column_count(&self) -> usize {
        self.restrictions.iter().map(|r| r.columns.len()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.restrictions.is_empty()
    }

    /// The restriction of the greatest column.
    pub(super) fn last(&self) -> Option<&Restriction> {
        self.restrictions.last()
    }

    pub(super) fn of(&self, column: ColumnId) -> Option<&Restriction> {
        self.restrictions.iter().find(|r| r.restricts(column))
    }

    pub(super) fn any(&self, test: impl Fn(&Restriction) -> bool) -> bool {
        self.restrictions.iter().any(test)
    }
}
