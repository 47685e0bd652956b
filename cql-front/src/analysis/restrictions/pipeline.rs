//! What the key allows: the checks of Cassandra's `StatementRestrictions`, in its order (sheet A.3).
//!
//! Relations are taken in the order of the text, so `c > 1 AND d = 1` and `d = 1 AND c > 1` are refused in different
//! words. Then the partition key is judged, statics, the clustering columns, and last what is no key.

use super::merge::{Restriction, Set};
use super::relation::{Typed, Typing, table_name};
use super::{Restrictions, Setting, StatementKind, clustering};
use crate::ast::{Relation, RelationKind, Span};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::schema::{Column, ColumnKind, Table};
use std::sync::Arc;

/// Types, merges and checks `relations`.
pub(super) fn run(
    typing: &Typing<'_>,
    table: &Arc<Table>,
    relations: &[Relation],
    setting: Setting,
) -> Result<Restrictions, Error> {
    let is_expression = |r: &&Relation| matches!(r.kind, RelationKind::CustomExpression { .. });
    if setting.kind != StatementKind::Select
        && let Some(relation) = relations.iter().find(is_expression)
    {
        return Err(Error::at(RestrictionError::ExpressionInModification, relation.span));
    }
    let mut out = Restrictions {
        table: Arc::clone(table),
        setting,
        key: Set::default(),
        token: None,
        clustering: Set::default(),
        others: Set::default(),
        range_query: false,
    };
    for relation in relations {
        match typing.relation(relation)? {
            Typed::Token(new) => {
                out.token = Some(match out.token.take() {
                    None => new,
                    Some(old) => old.merge_token(new)?,
                });
            }
            Typed::Columns(new) => out.add(new)?,
            Typed::Expression => {}
        }
    }
    check_expressions(table, relations)?;
    out.check_partition_key()?;
    out.check_statics()?;
    out.check_clustering()?;
    out.check_others()?;
    Ok(out)
}

/// There are no indexes, so none can be found.
fn check_expressions(table: &Table, relations: &[Relation]) -> Result<(), Error> {
    let mut expressions = relations.iter().filter_map(|r| match &r.kind {
        RelationKind::CustomExpression { index, .. } => Some((index, r.span)),
        _ => None,
    });
    let Some((index, span)) = expressions.next() else { return Ok(()) };
    if let Some((_, second)) = expressions.next() {
        return Err(Error::at(RestrictionError::ManyExpressions, second));
    }
    let (index, table) = (index.name.text.clone(), table_name(table));
    Err(Error::at(RestrictionError::UnknownIndex { index, table }, span))
}

fn join<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    columns.map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn refuse<T>(error: RestrictionError, span: Option<Span>) -> Result<T, Error> {
    Err(match span {
        Some(span) => Error::at(error, span),
        None => Error::new(error),
    })
}

/// Columns of `all` that the set leaves free.
fn free<'a>(all: &'a [Column], set: &'a Set) -> impl Iterator<Item = &'a Column> {
    all.iter().filter(|c| set.of(c.id).is_none())
}

impl Restrictions {
    /// Whether the partition key's own restrictions leave a choice that only reading can make.
    pub(super) fn key_needs_filter(&self) -> bool {
        !self.key.is_empty()
            && (self.key.column_count() < self.table.partition_key().len()
                || self.key.any(|r| r.is_slice() || r.is_contains()))
    }

    /// Whether a `token()` restriction selects the partitions; else it only picks among the keys.
    pub(super) fn is_on_token(&self) -> bool {
        self.token.is_some() && (self.key.is_empty() || self.key_needs_filter())
    }

    /// Cassandra's `requiresAllowFilteringIfNotSpecified`: virtual tables filter unasked.
    fn may_filter(&self) -> bool {
        self.setting.allow_filtering || self.table.filters_unasked()
    }

    fn add(&mut self, new: Restriction) -> Result<(), Error> {
        match new.first().kind {
            ColumnKind::PartitionKey => self.key.add(new),
            ColumnKind::Clustering => self.add_clustering(new),
            ColumnKind::Static | ColumnKind::Regular => self.others.add(new),
        }
    }

    /// A slice must be the last: said at once, in words that depend on which of the two came first.
    fn add_clustering(&mut self, new: Restriction) -> Result<(), Error> {
        let before = self.clustering.clone();
        let (span, is_slice) = (new.span, new.is_slice());
        let first = new.first().clone();
        self.clustering.add(new)?;
        let Some(last) = before.last() else { return Ok(()) };
        if self.setting.allow_filtering {
            return Ok(());
        }
        let last_start = last.first();
        if last.is_slice() && first.position > last_start.position {
            let (column, sliced) = (first.name, last_start.name.clone());
            return Err(Error::at(RestrictionError::AfterSlice { column, sliced }, span));
        }
        if is_slice && first.position < last_start.position {
            let next = before.columns().map(|(c, _)| c).find(|c| c.position > first.position);
            let column = next.unwrap_or(last_start).name.clone();
            let error = RestrictionError::BeforeRestricted { column, sliced: first.name };
            return Err(Error::at(error, span));
        }
        Ok(())
    }

    fn check_partition_key(&mut self) -> Result<(), Error> {
        let statement = self.setting.kind.to_string();
        let sliced = self.key.iter().find(|r| r.is_slice()).map(|r| r.span);
        if self.setting.kind == StatementKind::Select {
            self.range_query = self.is_on_token() || self.key.is_empty() || self.key_needs_filter();
            if self.key_needs_filter() && !self.may_filter() {
                let contains = self.key.iter().find(|r| r.is_contains()).map(|r| r.span);
                let any = self.key.iter().next().map(|r| r.span);
                return refuse(RestrictionError::AllowFiltering, sliced.or(contains).or(any));
            }
            return Ok(());
        }
        if self.is_on_token() {
            let span = self.token.as_ref().map(|t| t.span);
            return refuse(RestrictionError::TokenInModification(statement), span);
        }
        let missing = join(free(self.table.partition_key(), &self.key));
        if !missing.is_empty() {
            return refuse(RestrictionError::MissingPartitionKey(missing), None);
        }
        match sliced {
            None => Ok(()),
            span => refuse(RestrictionError::PartitionKeySlice(statement), span),
        }
    }

    fn check_statics(&self) -> Result<(), Error> {
        let Some(restriction) = self.clustering.iter().next() else { return Ok(()) };
        if !self.setting.only_statics {
            return Ok(());
        }
        let error = match self.setting.kind {
            StatementKind::Select => RestrictionError::SelectStaticsWithClustering,
            StatementKind::Update | StatementKind::Delete => {
                RestrictionError::StaticsWithClustering(self.setting.kind.to_string())
            }
            StatementKind::Insert => return Ok(()),
        };
        refuse(error, Some(restriction.span))
    }

    fn check_clustering(&self) -> Result<(), Error> {
        if matches!(self.setting.kind, StatementKind::Insert | StatementKind::Update) {
            if let Some(slice) = self.clustering.iter().find(|r| r.is_slice()) {
                let statement = self.setting.kind.to_string();
                return refuse(RestrictionError::ClusteringSlice(statement), Some(slice.span));
            }
            let missing = join(free(self.table.clustering(), &self.clustering));
            if !self.setting.only_statics && !missing.is_empty() {
                return refuse(RestrictionError::MissingClustering(missing), None);
            }
            return Ok(());
        }
        // Virtual tables filter unasked, but a gap in the key must be asked for there, too.
        if self.setting.allow_filtering {
            return Ok(());
        }
        if let Some(contains) = self.clustering.iter().find(|r| r.is_contains()) {
            return refuse(RestrictionError::ClusteringContains, Some(contains.span));
        }
        if !clustering::filtered(&self.clustering).any(|(_, filter)| filter) {
            return Ok(());
        }
        let declared = self.table.clustering();
        for ((column, restriction), declared) in self.clustering.columns().zip(declared) {
            if column.id != declared.id {
                let (column, missing) = (column.name.clone(), declared.name.clone());
                let error = RestrictionError::Gap { column, missing };
                return refuse(error, Some(restriction.span));
            }
        }
        Ok(())
    }

    fn check_others(&self) -> Result<(), Error> {
        let Some(first) = self.others.iter().next() else { return Ok(()) };
        if self.setting.kind != StatementKind::Select {
            let names = join(self.others.columns().map(|(c, _)| c));
            return refuse(RestrictionError::NonPrimaryKey(names), Some(first.span));
        }
        if self.may_filter() {
            return Ok(());
        }
        refuse(RestrictionError::AllowFiltering, Some(first.span))
    }
}
