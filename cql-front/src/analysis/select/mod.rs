//! SELECT as a whole: select list, WHERE, DISTINCT, GROUP BY, ORDER BY, limits (sheet A.5).
//!
//! Cassandra's order of refusals, which [`analyse`] keeps:
//!
//! ```text
//! table -> names and functions of the select list -> names of ORDER BY -> WHERE
//!       -> types of the select list -> DISTINCT -> GROUP BY -> aggregates -> ORDER BY -> limits
//! ```
//!
//! Not here: what WHERE allows ([`super::restrictions`]), values of LIMIT ([`crate::exec::select`]).

mod grouping;
mod ordering;
mod shown;

pub use grouping::{GroupFunction, Grouping};
pub use ordering::{Sort, SortColumn};
pub use shown::ShownSelect;

use super::restrictions::{self, Restrictions, Setting, StatementKind};
use super::selection::resolve::{Node, resolve_all};
use super::selection::{self, Selection};
use super::terms::{self, Term};
use super::{Context, Receiver};
use crate::ast::{self, Feature, Name, Relation, RelationKind};
use crate::error::selection::SelectionError;
use crate::error::{Error, ErrorKind};
use cassling_engine::schema::{Column, ColumnId, ColumnKind, Table};
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// A checked SELECT.
#[derive(Debug)]
pub struct SelectPlan {
    /// Table.
    pub table: Arc<Table>,
    /// What is returned.
    pub selection: Selection,
    /// WHERE.
    pub restrictions: Restrictions,
    /// WHERE says something of the partition key, be it by token.
    pub key_restricted: bool,
    /// SELECT DISTINCT.
    pub distinct: bool,
    /// Rows come in reverse clustering order.
    pub reversed: bool,
    /// Rows of several keys are sorted once all are read.
    pub sort: Option<Sort>,
    /// The whole answer is one page: an order over several keys, also where one aggregate leaves nothing to sort.
    pub refuses_paging: bool,
    /// GROUP BY.
    pub grouping: Option<Grouping>,
    /// LIMIT.
    pub limit: Option<Term>,
    /// PER PARTITION LIMIT.
    pub per_partition_limit: Option<Term>,
    /// Static and regular columns to read: those returned and those filtered by; sorted by id.
    pub columns: Arc<[ColumnId]>,
    /// The select list in messages of the read.
    pub shown: ShownSelect,
}

impl SelectPlan {
    /// Whether the whole answer is one row of aggregates.
    pub fn is_pure_aggregate(&self) -> bool {
        self.grouping.is_none() && self.selection.is_aggregate
    }
}

/// Checks a SELECT.
///
/// # Errors
/// The refusals of sheet A.2 to A.5, in Cassandra's order.
pub fn analyse(cx: &Context<'_>, select: &ast::Select) -> Result<SelectPlan, Error> {
    let table = cx.table_of(&select.table)?;
    let nodes = resolve_all(cx, &table, &select.selectors)?;
    let order_columns = ordering::columns(&table, select)?;
    let setting = Setting {
        kind: StatementKind::Select,
        allow_filtering: select.allow_filtering,
        only_statics: only_statics(&nodes),
        updates_regulars: false,
        distinct: select.distinct,
    };
    let restrictions = restrictions::analyse(cx, &table, &select.relations, setting)?;
    let selection = selection::build(cx, &table, &select.selectors, &nodes)?;
    let sorts = restrictions.key_is_in() && !order_columns.is_empty();
    if select.distinct {
        if select.per_partition_limit.is_some() {
            return Err(SelectionError::DistinctPerPartitionLimit.into());
        }
        let sorted_by = if sorts { order_columns.as_slice() } else { &[] };
        check_distinct(&table, &selection, sorted_by, &restrictions)?;
    }
    let grouping = grouping::analyse(cx, &table, select, &restrictions)?;
    if grouping.is_none() && selection.is_aggregate && select.per_partition_limit.is_some() {
        return Err(SelectionError::AggregatePerPartitionLimit.into());
    }
    let reversed = ordering::is_reversed(&order_columns, &table, &restrictions)?;
    restrictions.check_needs_filtering()?;
    let pure_aggregate = grouping.is_none() && selection.is_aggregate;
    let sort = (sorts && !pure_aggregate).then(|| Sort::new(&order_columns, reversed));
    let per_partition_limit =
        limit_term(cx, &table, select.per_partition_limit.as_ref(), "[per_partition_limit]")?;
    let limit = limit_term(cx, &table, select.limit.as_ref(), "[limit]")?;
    if select.json {
        return Err(Error::new(ErrorKind::Unsupported(Feature::Json)));
    }
    let columns = columns_to_read(&table, &selection, grouping.as_ref(), &restrictions);
    let shown = ShownSelect::new(&table, &selection, &columns, select.selectors.is_empty());
    Ok(SelectPlan {
        shown,
        selection,
        restrictions,
        key_restricted: restricts_key(&table, &select.relations),
        distinct: select.distinct,
        reversed,
        sort,
        refuses_paging: sorts,
        grouping,
        limit,
        per_partition_limit,
        columns: Arc::from(columns),
        table,
    })
}

/// Whether some relation is on the partition key.
fn restricts_key(table: &Table, relations: &[Relation]) -> bool {
    let is_key = |name: &Name| {
        table.column(&name.text).is_some_and(|column| column.kind == ColumnKind::PartitionKey)
    };
    relations.iter().any(|relation| match &relation.kind {
        RelationKind::Column { column, .. }
        | RelationKind::In { column, .. }
        | RelationKind::Contains { column, .. }
        | RelationKind::Like { column, .. }
        | RelationKind::IsNotNull(column)
        | RelationKind::Element { column, .. } => is_key(column),
        RelationKind::Tuple { columns, .. }
        | RelationKind::TupleIn { columns, .. }
        | RelationKind::Token { columns, .. } => columns.iter().any(is_key),
        RelationKind::CustomExpression { .. } => false,
    })
}

/// Whether the list has static columns and otherwise only columns of the partition key (sheet A.3, step 5).
fn only_statics(nodes: &[Node<'_>]) -> bool {
    let (mut statics, mut others) = (false, false);
    for node in nodes {
        node.visit_columns(&mut |column: &Column| match column.kind {
            ColumnKind::Static => statics = true,
            ColumnKind::PartitionKey => {}
            ColumnKind::Clustering | ColumnKind::Regular => others = true,
        });
    }
    statics && !others
}

fn check_distinct(
    table: &Table,
    selection: &Selection,
    sorted_by: &[ordering::OrderColumn<'_>],
    restrictions: &Restrictions,
) -> Result<(), Error> {
    if !restrictions.restricts_only_key_or_static() {
        return Err(SelectionError::DistinctRestriction.into());
    }
    let selected = selection.requested.iter().filter_map(|&id| table.column_by_id(id));
    for column in selected.chain(sorted_by.iter().map(|order| order.column)) {
        match column.kind {
            ColumnKind::PartitionKey | ColumnKind::Static => {}
            ColumnKind::Clustering | ColumnKind::Regular => {
                return Err(SelectionError::DistinctColumn(column.name.clone()).into());
            }
        }
    }
    let missing = table.partition_key().iter().find(|c| !selection.requested.contains(&c.id));
    match missing {
        Some(column) if restrictions.is_range_query() => {
            Err(SelectionError::DistinctMissing(column.name.clone()).into())
        }
        _ => Ok(()),
    }
}

fn limit_term(
    cx: &Context<'_>,
    table: &Table,
    raw: Option<&ast::Term>,
    name: &str,
) -> Result<Option<Term>, Error> {
    let receiver = Receiver {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name: name.to_string(),
        ty: CqlType::Int,
    };
    raw.map(|raw| terms::prepare(cx, raw, &receiver)).transpose()
}

fn columns_to_read(
    table: &Table,
    selection: &Selection,
    grouping: Option<&Grouping>,
    restrictions: &Restrictions,
) -> Vec<ColumnId> {
    let filtered = restrictions.filter_columns();
    let grouped = grouping.and_then(|g| g.function.as_ref()).map(|f| &f.selection.requested);
    let mut columns: Vec<ColumnId> = selection
        .requested
        .iter()
        .chain(&filtered)
        .chain(grouped.into_iter().flatten())
        .copied()
        .filter(|&id| table.column_by_id(id).is_some_and(|column| !column.is_primary_key()))
        .collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}
