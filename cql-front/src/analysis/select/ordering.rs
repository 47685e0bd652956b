//! ORDER BY: the table's order, its reverse, or a refusal (sheet A.5).

use crate::analysis::restrictions::Restrictions;
use crate::analysis::selection::resolve::column_of;
use crate::ast::{self, Feature, Ordering, Span};
use crate::error::selection::SelectionError;
use crate::error::{Error, ErrorKind};
use cassling_engine::schema::{Column, ColumnKind, Table};
use cassling_engine::types::CqlType;

/// A column of ORDER BY.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderColumn<'a> {
    pub(super) column: &'a Column,
    pub(super) descending: bool,
    pub(super) span: Span,
}

/// How rows of several keys are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By these clustering columns.
    pub columns: Vec<SortColumn>,
    /// Rows without clustering (statics only) come first, which Cassandra does where the order is the table's own.
    pub nulls_first: bool,
}

/// A clustering column to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortColumn {
    /// Its place among the clustering columns.
    pub position: usize,
    /// Its type.
    pub ty: CqlType,
    /// Greatest first.
    pub descending: bool,
}

impl Sort {
    pub(super) fn new(columns: &[OrderColumn<'_>], reversed: bool) -> Sort {
        let columns = columns
            .iter()
            .map(|order| SortColumn {
                position: order.column.position,
                ty: order.column.ty.clone(),
                descending: order.descending,
            })
            .collect();
        Sort { columns, nulls_first: !reversed }
    }
}

/// Looks the names of ORDER BY up. A column named again keeps its place and takes the later direction.
///
/// # Errors
/// `Undefined column name ..`; ANN is not supported.
pub(super) fn columns<'a>(
    table: &'a Table,
    select: &ast::Select,
) -> Result<Vec<OrderColumn<'a>>, Error> {
    let mut columns: Vec<OrderColumn<'a>> = Vec::new();
    for ordering in &select.order_by {
        match ordering {
            Ordering::Ann { column, .. } => {
                column_of(table, column)?;
                return Err(Error::at(ErrorKind::Unsupported(Feature::AnnOrdering), column.span));
            }
            Ordering::Column { column: name, descending } => {
                let column = column_of(table, name)?;
                match columns.iter_mut().find(|known| known.column.id == column.id) {
                    Some(known) => known.descending = *descending,
                    None => {
                        let (descending, span) = (*descending, name.span);
                        columns.push(OrderColumn { column, descending, span });
                    }
                }
            }
        }
    }
    Ok(columns)
}

/// Whether the order asked for is the reverse of the table's.
///
/// # Errors
/// The refusals of ORDER BY.
pub(super) fn is_reversed(
    order: &[OrderColumn<'_>],
    table: &Table,
    restrictions: &Restrictions,
) -> Result<bool, Error> {
    let Some(first) = order.first() else { return Ok(false) };
    if restrictions.is_range_query() {
        return Err(Error::at(SelectionError::OrderByRange, first.span));
    }
    let mut next = 0;
    let mut reversed: Vec<Option<bool>> = vec![None; table.clustering().len()];
    for OrderColumn { column, descending, span } in order {
        if column.kind != ColumnKind::Clustering {
            let name = column.name.clone();
            return Err(Error::at(SelectionError::OrderByColumn(name), *span));
        }
        while next != column.position {
            // Past the last column Cassandra runs out of its array: the column came before, restricted by =.
            let Some(skipped) = table.clustering().get(next) else {
                let fault = "java.lang.ArrayIndexOutOfBoundsException";
                return Err(Error::at(SelectionError::ServerFault(fault), *span));
            };
            if !restrictions.is_equal(skipped.id) {
                return Err(Error::at(SelectionError::OrderByOrder, *span));
            }
            next += 1;
        }
        next += 1;
        reversed[column.position] = Some(*descending != column.descending);
    }
    let mut directions = reversed.into_iter().flatten();
    let direction = directions.next().unwrap_or(false);
    if directions.any(|other| other != direction) {
        return Err(Error::at(SelectionError::OrderByMixed, first.span));
    }
    Ok(direction)
}
