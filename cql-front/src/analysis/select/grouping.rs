//! GROUP BY: a prefix of the primary key, the last clustering column perhaps through a function (sheet A.5).

use crate::analysis::Context;
use crate::analysis::restrictions::Restrictions;
use crate::analysis::selection::resolve::{CallShape, Node, resolve};
use crate::analysis::selection::{Constant, Selection, build_one};
use crate::ast::{self, Span};
use crate::error::Error;
use crate::error::selection::SelectionError;
use crate::functions::Function;
use cassling_engine::schema::{Column, ColumnKind, Table};

/// What makes rows of a partition one group.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// Rows of a group agree in so many clustering columns, the one of the function not counted.
    pub clustering_prefix: usize,
    /// And in the result of this.
    pub function: Option<GroupFunction>,
}

/// A function over a clustering column.
#[derive(Clone, Debug)]
pub struct GroupFunction {
    /// A selection of one selector.
    pub selection: Selection,
}

impl Grouping {
    /// Terms inside of the function.
    pub fn constants(&self) -> &[Constant] {
        self.function.as_ref().map_or(&[], |f| &f.selection.constants)
    }
}

/// Checks GROUP BY; `None` without one.
///
/// # Errors
/// The refusals of GROUP BY.
pub(super) fn analyse(
    cx: &Context<'_>,
    table: &Table,
    select: &ast::Select,
    restrictions: &Restrictions,
) -> Result<Option<Grouping>, Error> {
    if select.group_by.is_empty() {
        return Ok(None);
    }
    let key: Vec<&Column> = table.partition_key().iter().chain(table.clustering()).collect();
    let mut next = 0;
    let (mut function, mut not_monotonic) = (None, None);
    for raw in &select.group_by {
        let node = resolve(cx, table, raw)?;
        let column = match node {
            Node::Call { ref shape, function: ref called, .. } => {
                let (column, grouped, refusal) =
                    function_column(cx, table, &node, called, shape, raw.span)?;
                (function, not_monotonic) = (Some(grouped), refusal);
                column
            }
            Node::Column(column) => {
                if !column.is_primary_key() {
                    let name = column.name.clone();
                    return Err(Error::at(SelectionError::GroupByColumn(name), raw.span));
                }
                if function.is_some() {
                    return Err(Error::at(SelectionError::GroupByFunctionNotLast, raw.span));
                }
                column
            }
            // Cassandra takes whatever is no function for a column.
            _ => {
                let fault = SelectionError::ServerFault("java.lang.ClassCastException");
                return Err(Error::at(fault, raw.span));
            }
        };
        next = advance(&key, next, column, restrictions, raw.span)?;
    }
    if key.get(next).is_some_and(|column| column.kind == ColumnKind::PartitionKey) {
        return Err(SelectionError::GroupByPartialKey.into());
    }
    let prefix = next - table.partition_key().len();
    if prefix > 0 && select.distinct {
        return Err(SelectionError::GroupByDistinct.into());
    }
    if let Some(refusal) = not_monotonic {
        return Err(refusal);
    }
    let clustering_prefix = prefix - usize::from(function.is_some());
    Ok(Some(Grouping { clustering_prefix, function }))
}

/// Goes on to one past `column`; what is skipped on the way must be restricted by =.
fn advance(
    key: &[&Column],
    mut next: usize,
    column: &Column,
    restrictions: &Restrictions,
    span: Span,
) -> Result<usize, Error> {
    loop {
        let Some(candidate) = key.get(next) else {
            return Err(Error::at(SelectionError::GroupByOrder, span));
        };
        next += 1;
        if candidate.id == column.id {
            return Ok(next);
        }
        if !restrictions.is_equal(candidate.id) {
            return Err(Error::at(SelectionError::GroupByOrder, span));
        }
    }
}

fn function_column<'t>(
    cx: &Context<'_>,
    table: &'t Table,
    node: &Node<'t>,
    called: &Function,
    shape: &CallShape,
    span: Span,
) -> Result<(&'t Column, GroupFunction, Option<Error>), Error> {
    let refuse = |e: SelectionError| Err(Error::at(e, span));
    if called.is_aggregate {
        return refuse(SelectionError::GroupByAggregate(called.full_name()));
    }
    let selection = build_one(cx, table, node).map_err(|e| e.or_at(span))?;
    let columns: Vec<&Column> =
        selection.requested.iter().filter_map(|&id| table.column_by_id(id)).collect();
    let column = match columns.as_slice() {
        [] => return refuse(SelectionError::GroupByFunctionWithoutColumn),
        [one] => *one,
        several => {
            let names: Vec<&str> = several.iter().map(|c| c.name.as_str()).collect();
            return refuse(SelectionError::GroupByFunctionColumns(names.join(",")));
        }
    };
    if column.kind != ColumnKind::Clustering {
        return refuse(SelectionError::GroupByFunctionColumn(column.name.clone()));
    }
    // Said last, after all that is wrong with the clause.
    let not_monotonic = (!is_monotonic(node)).then(|| {
        Error::at(SelectionError::GroupByNotMonotonic(signature(node, called, shape)), span)
    });
    Ok((column, GroupFunction { selection }, not_monotonic))
}

/// Whether the function keeps the order of its argument: the time functions do, also one in another.
fn is_monotonic(node: &Node<'_>) -> bool {
    let Node::Call { shape: CallShape::Function(_), function, arguments } = node else {
        return !matches!(node, Node::Call { .. });
    };
    let keeps = matches!(
        function.name.replace('_', "").as_str(),
        "floor"
            | "todate"
            | "totimestamp"
            | "tounixtimestamp"
            | "dateof"
            | "unixtimestampof"
            | "mintimeuuid"
            | "maxtimeuuid"
            | "token"
    );
    keeps && arguments.iter().all(is_monotonic)
}

/// `system.abs : (int) -> int`; arguments without columns are marked.
fn signature(node: &Node<'_>, called: &Function, shape: &CallShape) -> String {
    let name = match shape {
        CallShape::Function(name) => name.clone(),
        CallShape::Operation(_) | CallShape::Negate => format!("system.\"{}\"", called.name),
    };
    let Node::Call { arguments, .. } = node else { return name };
    let parameters: Vec<String> = called
        .parameters
        .iter()
        .zip(arguments)
        .map(|(ty, argument)| match argument {
            Node::Term { .. } => format!("{ty}(constant)"),
            _ => ty.to_string(),
        })
        .collect();
    format!("{name} : ({}) -> {}", parameters.join(", "), called.returns)
}
