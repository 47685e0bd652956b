//! WHERE: typing, merging, and what the key allows (sheet A.2 to A.4).
//!
//! [`analyse`] makes what Cassandra calls `StatementRestrictions`; the methods of [`Restrictions`] turn it into keys,
//! rows and filters once values are bound.
//!
//! ```text
//! a = 1 AND b IN (2, 3) AND c > 4 AND v = 5 ALLOW FILTERING      PRIMARY KEY ((a, b), c)
//! `------- key -------´     `clustering´  `others´
//!   partitions (1,2) (1,3)    rows after 4   filter v = 5
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `relation` | one relation: names, types, values |
//! | `print` | relations as messages print them |
//! | `merge` | several relations on the same columns |
//! | `pipeline` | the checks, in Cassandra's order |
//! | `values` | values of markers; refusals of null and unset |
//! | `partition` | keys and token ranges |
//! | `clustering` | rows and slices |
//! | `filter` | what is left for the replica to filter |
//!
//! Not here: DISTINCT, ORDER BY, GROUP BY and limits ([`super::select`]). There are no secondary indexes.

mod clustering;
mod filter;
mod merge;
mod partition;
mod pipeline;
mod print;
mod relation;
mod values;

use super::Context;
use super::terms::Env;
use crate::ast::{Comparison, Name, Relation, RelationKind};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::row::clustering::{ClusteringKey, Slice};
use cassling_engine::row::filter::RowFilter;
use cassling_engine::row::query::{KeyRange, Keys, Names, Partitions, RowSelection};
use cassling_engine::schema::{ColumnId, ColumnKind, Table};
use merge::{Restriction, Set};
use relation::Typing;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// The statement whose WHERE it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum StatementKind {
    Select,
    Insert,
    Update,
    Delete,
}

impl fmt::Display for StatementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StatementKind::Select => "SELECT",
            StatementKind::Insert => "INSERT",
            StatementKind::Update => "UPDATE",
            StatementKind::Delete => "DELETE",
        })
    }
}

/// What the rules need to know of the statement beside its WHERE.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Statement.
    pub kind: StatementKind,
    /// ALLOW FILTERING was written.
    pub allow_filtering: bool,
    /// SELECT: the select list has statics and otherwise only partition key columns; UPDATE, DELETE: only static columns
    /// are modified; INSERT: no clustering column is given and only statics are written.
    pub only_statics: bool,
    /// UPDATE, DELETE: regular columns are modified as well.
    pub updates_regulars: bool,
    /// SELECT DISTINCT.
    pub distinct: bool,
}

/// A checked WHERE.
#[derive(Clone, Debug)]
pub struct Restrictions {
    /// Table.
    pub table: Arc<Table>,
    setting: Setting,
    /// On partition key columns.
    key: Set,
    /// On the token of the partition key.
    token: Option<Restriction>,
    /// On clustering columns.
    clustering: Set,
    /// On static and regular columns.
    others: Set,
    /// SELECT: partitions come by token, not by key.
    range_query: bool,
}

/// Checks a WHERE.
///
/// # Errors
/// The refusals of sheet A.2 and A.3, in Cassandra's order.
pub fn analyse(
    cx: &Context<'_>,
    table: &Arc<Table>,
    relations: &[Relation],
    setting: Setting,
) -> Result<Restrictions, Error> {
    let typing = Typing { cx, table, kind: setting.kind };
    pipeline::run(&typing, table, relations, setting)
}

/// The same for INSERT, whose key comes as columns and values; columns that are not part of the key are passed over.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_insert(
    cx: &Context<'_>,
    table: &Arc<Table>,
    columns: &[(Name, crate::ast::Term)],
    setting: Setting,
) -> Result<Restrictions, Error> {
    let is_key = |name: &Name| table.column(&name.text).is_some_and(|c| c.is_primary_key());
    let relations: Vec<Relation> = columns
        .iter()
        .filter(|(name, _)| is_key(name))
        .map(|(name, value)| Relation {
            span: value.span,
            kind: RelationKind::Column {
                column: name.clone(),
                operator: Comparison::Eq,
                value: value.clone(),
            },
        })
        .collect();
    analyse(cx, table, &relations, setting)
}

/// What a modification addresses once values are bound.
#[derive(Clone, Debug)]
pub enum Target {
    /// Only static columns of the partitions.
    Static,
    /// These rows: every clustering column by = or IN.
    Rows(Names),
    /// DELETE: these ranges (a clustering prefix, or slices).
    Ranges(SmallVec<[Slice; 1]>),
    /// DELETE: the whole partitions.
    Partition,
}

impl Restrictions {
    /// Partition keys of a modification, sorted as Cassandra sorts IN, without duplicates.
    ///
    /// # Errors
    /// Null, unset, empty or too long keys.
    pub fn partition_keys(&self, env: &Env<'_>) -> Result<Keys, Error> {
        partition::keys(&self.table, &self.key, self.token.as_ref(), env)
    }

    /// What a modification addresses in each partition. A DELETE of named regular columns without the whole clustering
    /// has been refused by its own rules.
    ///
    /// # Errors
    /// Null, unset or too long values.
    pub fn target(&self, env: &Env<'_>) -> Result<Target, Error> {
        let table = &self.table;
        if self.clustering.is_empty() {
            return Ok(if self.setting.only_statics {
                Target::Static
            } else if self.setting.kind == StatementKind::Delete
                && !(table.clustering().is_empty() && self.setting.updates_regulars)
            {
                Target::Partition
            } else {
                Target::Rows(Names::from_buf([ClusteringKey::new(table, &[])]))
            });
        }
        if clustering::is_range(table, &self.clustering) {
            let ranges = clustering::ranges(table, &self.clustering, env)?;
            if clustering::has_null_end(&self.clustering, env)? {
                return Err(RestrictionError::NullBoundInDelete.into());
            }
            return Ok(Target::Ranges(ranges));
        }
        // Cassandra checks the length of what it writes, not of what it deletes.
        let checked = self.setting.kind != StatementKind::Delete;
        let check = |values: &[values::Bytes<'_>]| {
            if checked { values::check_length(values) } else { Ok(()) }
        };
        Ok(Target::Rows(clustering::names(table, &self.clustering, env, check)?))
    }

    /// Partitions of a SELECT. A range that nothing can be in is no key at all.
    ///
    /// # Errors
    /// As [`Restrictions::partition_keys`]; null tokens.
    pub fn partitions(&self, env: &Env<'_>) -> Result<Partitions, Error> {
        if !self.range_query {
            return self.partition_keys(env).map(Partitions::Keys);
        }
        match &self.token {
            None => Ok(Partitions::Range(KeyRange::default())),
            Some(token) => Ok(match partition::range(token, env)? {
                None => Partitions::Keys(Keys::new()),
                Some(range) => Partitions::Range(range),
            }),
        }
    }

    /// Rows of each partition of a SELECT. Evaluate after [`Restrictions::partitions`], and only if that is not empty:
    /// Cassandra does not look at these values then.
    ///
    /// # Errors
    /// As [`Restrictions::target`].
    pub fn rows(&self, env: &Env<'_>) -> Result<RowSelection, Error> {
        if self.setting.distinct {
            return Ok(RowSelection::Slices(SmallVec::from_buf([Slice::all()])));
        }
        if clustering::is_range(&self.table, &self.clustering) {
            return clustering::ranges(&self.table, &self.clustering, env)
                .map(RowSelection::Slices);
        }
        clustering::names(&self.table, &self.clustering, env, |_| Ok(())).map(RowSelection::Names)
    }

    /// Conditions to filter by. Cassandra evaluates them before keys and rows.
    ///
    /// # Errors
    /// `Unsupported null value for column ..` and the like.
    pub fn filter(&self, env: &Env<'_>) -> Result<RowFilter, Error> {
        let mut conditions = Vec::new();
        for restriction in self.filtering() {
            filter::append(restriction, env, &mut conditions)?;
        }
        Ok(RowFilter { conditions })
    }

    /// Whether the column is restricted by = (or IN of one value).
    pub fn is_equal(&self, column: ColumnId) -> bool {
        let set = match self.table.column_by_id(column).map(|c| c.kind) {
            None => return false,
            Some(ColumnKind::PartitionKey) => &self.key,
            Some(ColumnKind::Clustering) => &self.clustering,
            Some(ColumnKind::Static | ColumnKind::Regular) => &self.others,
        };
        set.of(column).is_some_and(Restriction::is_equal)
    }

    /// Partitions come by key.
    pub fn is_key_query(&self) -> bool {
        !self.range_query
    }

    /// Partitions come by token: all of them, or a range.
    pub fn is_range_query(&self) -> bool {
        self.range_query
    }

    /// Some partition key column is restricted by IN (of a marker, or not of one value): Cassandra's `keyIsInRelation`.
    pub fn key_is_in(&self) -> bool {
        self.key.any(Restriction::is_in)
    }

    /// Clustering columns are restricted.
    pub fn has_clustering_restrictions(&self) -> bool {
        !self.clustering.is_empty()
    }

    /// Some clustering column is restricted by IN (of a marker, or not of one value).
    pub fn clustering_is_in(&self) -> bool {
        self.clustering.any(Restriction::is_in)
    }

    /// Some clustering column is free or sliced, so that rows come as slices: Cassandra's `isColumnRange`.
    pub fn is_column_range(&self) -> bool {
        clustering::is_range(&self.table, &self.clustering)
    }

    /// Regular columns are restricted.
    pub fn has_regular_restrictions(&self) -> bool {
        self.others.columns().any(|(c, _)| c.kind == ColumnKind::Regular)
    }

    /// Neither clustering nor regular columns are restricted: all that SELECT DISTINCT allows.
    pub fn restricts_only_key_or_static(&self) -> bool {
        !self.has_clustering_restrictions() && !self.has_regular_restrictions()
    }

    /// Rows may be read in vain: there are conditions to filter by, or (Cassandra's `needFiltering`) clustering columns
    /// are restricted, which a range query reads from every partition.
    pub fn needs_filtering(&self) -> bool {
        self.filtering().next().is_some() || self.has_clustering_restrictions()
    }

    /// Columns that [`Restrictions::filter`] looks at, sorted.
    pub fn filter_columns(&self) -> Vec<ColumnId> {
        let mut columns: Vec<ColumnId> =
            self.filtering().flat_map(|r| r.columns.iter().map(|c| c.id)).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The last check of a SELECT, after ORDER BY: a range query that filters says so (sheet A.3, step 9).
    ///
    /// # Errors
    /// The ALLOW FILTERING message.
    pub fn check_needs_filtering(&self) -> Result<(), Error> {
        let unasked = self.setting.allow_filtering || self.table.filters_unasked();
        if unasked || !self.range_query {
            return Ok(());
        }
        match self.filtering().chain(self.clustering.iter()).next() {
            None => Ok(()),
            Some(culprit) => Err(Error::at(RestrictionError::AllowFiltering, culprit.span)),
        }
    }

    /// Restrictions that the key does not serve, in the order of Cassandra's filter: key, clustering, the rest.
    fn filtering(&self) -> impl Iterator<Item = &Restriction> {
        let key = if self.key_needs_filter() { Some(self.key.iter()) } else { None };
        let clustering = clustering::filtered(&self.clustering).filter(|(_, f)| *f).map(|(r, _)| r);
        key.into_iter().flatten().chain(clustering).chain(self.others.iter())
    }
}
