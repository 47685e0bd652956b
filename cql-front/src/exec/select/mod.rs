//! SELECT: plan to read commands, partitions to rows; paging, ordering, aggregates.
//!
//! ```text
//! values ──bind──> keys, rows, filter, limits ──> ReadCommand ──cluster.read──> PartitionRows
//!                                                     ^                             │
//!                                    paging::PagingState                  row::Evaluation
//!                                                     └── last row <──┬── rows as they come: a page
//!                                                                     ├── sorted: IN with ORDER BY
//!                                                                     └── groups: aggregates, GROUP BY
//! ```
//!
//! Cassandra checks a SELECT's values in this order: consistency, LIMIT, PER PARTITION LIMIT, terms of the select
//! list, WHERE; then it warns of aggregates, then it refuses to page what has to be sorted as a whole.
//!
//! [`paging`] says how a page's end becomes bytes, [`row`] how cells become values, [`groups`] how rows become groups.

mod groups;
pub mod paging;
mod query;
mod row;
mod size;

use super::Request;
use crate::analysis::select::{SelectPlan, Sort};
use crate::analysis::terms::{Bound, Env, Term};
use crate::ast::Feature;
use crate::error::selection::SelectionError;
use crate::error::session::SessionError;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Outcome, OutcomeKind, RawRow, RowBytes, Rows};
use cassling_engine::ring::Consistency;
use cassling_engine::row::PartitionRows;
use cassling_engine::row::clustering::Values;
use cassling_engine::row::query::{Limits, ReadReport, ShownLimits};
use cassling_engine::types::order;
use paging::PagingState;
use query::{Ends, Query};
use row::{Evaluation, RowView};
use std::cmp::Ordering;

/// Rows that an aggregate reads at once where the client names no page size (Cassandra's `DEFAULT_PAGE_SIZE`).
pub const INTERNAL_PAGE_ROWS: u32 = 10_000;

/// Runs a SELECT.
///
/// # Errors
/// Bad values, and what the engine answers.
pub async fn run(plan: &SelectPlan, request: &Request<'_>) -> Result<Outcome, Error> {
    let mut warnings = Vec::new();
    let mut reads = ReadReport::default();
    let answer = answer(plan, request, &mut reads, &mut warnings).await;
    let ReadReport { mut cost, warnings: mut from_replicas, trace } = reads;
    warnings.append(&mut from_replicas);
    match answer {
        Ok(rows) => {
            cost.rows_returned = rows.len() as u64;
            Ok(Outcome { kind: OutcomeKind::Rows(rows), warnings, cost, trace })
        }
        Err(mut error) => {
            warnings.append(&mut error.warnings);
            error.warnings = warnings;
            Err(error.with_spent(cost, trace))
        }
    }
}

async fn answer(
    plan: &SelectPlan,
    request: &Request<'_>,
    reads: &mut ReadReport,
    warnings: &mut Vec<String>,
) -> Result<Rows, Error> {
    let aggregates = plan.grouping.is_some() || plan.selection.is_aggregate;
    if request.consistency == Consistency::Any {
        return Err(SessionError::AnyRead.into());
    }
    let env = Env { values: request.values, cluster: request.cluster };
    let limit = limit(plan.limit.as_ref(), &env)?;
    let per_partition = if plan.distinct { 1 } else { limit_of_partition(plan, &env)? };
    let now_seconds = request.cluster.clock().now_seconds();
    let wants_clustering = plan.sort.is_some() || uses_clustering(plan);
    let evaluation =
        Evaluation::new(&plan.table, &env, &plan.selection, now_seconds, wants_clustering)?;
    let mut query = Query::new(plan, request, &env, now_seconds)?;
    if aggregates {
        warnings.extend(aggregation_warning(plan).map(str::to_string));
    }
    // DISTINCT with GROUP BY comes as one page in Cassandra, whatever the page size.
    let one_page = plan.is_pure_aggregate() || (plan.distinct && plan.grouping.is_some());
    let page_size = request.page_size.filter(|_| !one_page);
    if request.page_size.is_some() && plan.refuses_paging && !query.is_empty {
        return Err(SelectionError::PagedInWithOrderBy.into());
    }
    query.consistency = read_consistency(request.consistency, &query, page_size, aggregates)?;
    let state = match (request.paging_state, page_size) {
        (Some(bytes), Some(_)) => Some(query.resume(PagingState::decode(bytes, plan.table.id)?)?),
        _ => None,
    };
    let read_rows = request.page_size.unwrap_or(INTERNAL_PAGE_ROWS);
    let bounds = Bounds { limit, per_partition, page_size, read_rows };
    query.show_limits(shown_limits(plan, request.page_size, &bounds, state.as_ref()));
    if !aggregates && page_size.is_none_or(|size| limit <= u64::from(size)) {
        query.read_every_key();
    }
    let size_limit = query.size_limit(request);
    let mut sizes = None;
    let (mut rows, paging_state) = if aggregates {
        Box::pin(groups::run(plan, &query, reads, &evaluation, bounds, state)).await?
    } else if let Some(sort) = &plan.sort {
        let all = Box::pin(sorted_all(plan, query, reads, &evaluation, sort, bounds)).await?;
        sizes = size_limit.as_ref().map(|_| sizes_of(&joined(plan, &all)));
        (cut(plan, sort, all, bounds.limit), None)
    } else {
        query.limit_to(page_limits(&bounds, state.as_ref()));
        let (partitions, ends) = match query.read_own(reads) {
            Some(read) => (read?, query.ends),
            None => Box::pin(query.read_once(reads)).await?,
        };
        page(plan, &partitions, &ends, &evaluation, &bounds, state.as_ref())?
    };
    if let Some(limit) = size_limit {
        let (bytes, last_row) = sizes.unwrap_or_else(|| sizes_of(&rows));
        limit.check(request, bytes, last_row, &mut reads.warnings)?;
    }
    rows.paging_state = paging_state.map(|state| state.encode(plan.table.id));
    Ok(rows)
}

/// How Cassandra's messages show what its reads are limited to.
fn shown_limits(
    plan: &SelectPlan,
    page_size: Option<u32>,
    bounds: &Bounds,
    state: Option<&PagingState>,
) -> ShownLimits {
    if plan.is_pure_aggregate() && page_size.is_none() {
        return ShownLimits::Blank;
    }
    if plan.grouping.is_none() || plan.distinct {
        return ShownLimits::AsRead;
    }
    let remaining = state.map_or(bounds.limit, |state| state.remaining);
    ShownLimits::Groups {
        groups: page_size.map_or(remaining, |size| remaining.min(u64::from(size))),
        per_partition: bounds.per_partition,
    }
}

/// How much of an answer is asked for; `u64::MAX`: all.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    limit: u64,
    per_partition: u64,
    page_size: Option<u32>,
    /// Rows that a read for groups asks for at once.
    read_rows: u32,
}

impl Bounds {
    /// What may come now, given what came with pages before.
    fn page_rows(&self, remaining: u64) -> u64 {
        self.page_size.map_or(remaining, |size| remaining.min(u64::from(size)))
    }
}

fn limit(term: Option<&Term>, env: &Env<'_>) -> Result<u64, Error> {
    let Some(term) = term else { return Ok(u64::MAX) };
    let bytes = match term.bind(env)? {
        Bound::Unset => return Ok(u64::MAX),
        Bound::Null => return Err(SelectionError::NullLimit.into()),
        Bound::Value(bytes) => bytes,
    };
    let Ok(bytes) = <[u8; 4]>::try_from(bytes.as_ref()) else {
        return Err(SelectionError::ServerFault("java.lang.NullPointerException").into());
    };
    match i32::from_be_bytes(bytes) {
        rows @ 1.. => Ok(u64::from(rows.unsigned_abs())),
        _ => Err(SelectionError::LimitNotPositive.into()),
    }
}

fn limit_of_partition(plan: &SelectPlan, env: &Env<'_>) -> Result<u64, Error> {
    limit(plan.per_partition_limit.as_ref(), env)
}

fn uses_clustering(plan: &SelectPlan) -> bool {
    let clustering = plan.table.clustering();
    let grouped = plan.grouping.as_ref().is_some_and(|grouping| grouping.function.is_some());
    grouped || plan.selection.requested.iter().any(|id| clustering.iter().any(|c| c.id == *id))
}

fn aggregation_warning(plan: &SelectPlan) -> Option<&'static str> {
    if !plan.key_restricted {
        Some("Aggregation query used without partition key")
    } else if plan.restrictions.key_is_in() {
        Some("Aggregation query used on multiple partition keys (IN restriction)")
    } else {
        None
    }
}

/// The level to read at. There is no Paxos yet: a serial read of one partition is refused, since it would have to finish
/// what conditional writes began. Ranges read at SERIAL are plain reads of a quorum in Cassandra too.
fn read_consistency(
    level: Consistency,
    query: &Query<'_>,
    page_size: Option<u32>,
    aggregates: bool,
) -> Result<Consistency, Error> {
    let quorum = match level {
        Consistency::Serial => Consistency::Quorum,
        Consistency::LocalSerial => Consistency::LocalQuorum,
        other => return Ok(other),
    };
    match query.key_count {
        None | Some(0) => Ok(quorum),
        Some(2..) if page_size.is_none() && !aggregates => {
            Err(SelectionError::SerialManyPartitions.into())
        }
        Some(_) => Err(Error::new(ErrorKind::Unsupported(Feature::LightweightTransactions))),
    }
}

/// The limits of a read for a page, or for all where none is asked for.
fn page_limits(bounds: &Bounds, state: Option<&PagingState>) -> Limits {
    let remaining = state.map_or(bounds.limit, |state| state.remaining);
    Limits {
        rows: bounds.page_rows(remaining),
        per_partition: bounds.per_partition,
        resume: state.map(|state| state.resume(state.remaining_in_partition)),
    }
}

/// Turns what was read into the rows of a page, or of the whole answer; gives also where the next page begins.
fn page(
    plan: &SelectPlan,
    partitions: &[PartitionRows],
    ends: &Ends,
    evaluation: &Evaluation<'_>,
    bounds: &Bounds,
    state: Option<&PagingState>,
) -> Result<(Rows, Option<PagingState>), Error> {
    let remaining = state.map_or(bounds.limit, |state| state.remaining);
    let mut rows = Rows::new(plan.selection.columns.clone());
    let expected: usize = partitions.iter().map(|p| p.rows.len()).sum();
    each_row(evaluation, partitions, |view| {
        rows.push(|out| evaluation.write(&plan.selection.selectors, view, &[], out))?;
        rows.reserve(expected);
        Ok(())
    })?;
    let counted = rows.len() as u64;
    let full = bounds.page_size.is_some_and(|size| counted >= u64::from(size));
    let Some(last) = partitions.last().filter(|_| full) else { return Ok((rows, None)) };
    // What the page before took of the same partition counts as well.
    let allowed = match state {
        Some(state) if state.key == last.key && state.position.is_some() => {
            state.remaining_in_partition
        }
        _ => bounds.per_partition,
    };
    let end = PagingState {
        key: last.key.clone(),
        position: last.rows.last().map(|row| row.position().to_vec()),
        remaining: paging::less(remaining, counted),
        remaining_in_partition: paging::less(allowed, last.rows.len().max(1) as u64),
    };
    Ok((rows, ends.more(end)))
}

/// Calls `see` with each row; a partition with only statics is one row.
fn each_row(
    evaluation: &Evaluation<'_>,
    partitions: &[PartitionRows],
    mut see: impl FnMut(&RowView<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut clustering = Values::default();
    for partition in partitions {
        let static_row = partition.static_row.as_ref();
        if partition.rows.is_empty() {
            see(&evaluation.view(&partition.key, static_row, None, &mut clustering))?;
        }
        for row in &partition.rows {
            see(&evaluation.view(&partition.key, static_row, Some(row), &mut clustering))?;
        }
    }
    Ok(())
}

/// Bytes of the values of all rows, and of the last row.
fn sizes_of(rows: &Rows) -> (u64, u64) {
    let size = |row: RawRow<'_>| row.flatten().map(|value| value.len() as u64).sum::<u64>();
    rows.iter().map(size).fold((0, 0), |(bytes, _), row| (bytes + row, row))
}

/// Reads all, with what each row is sorted by: IN on the partition key with ORDER BY.
async fn sorted_all(
    plan: &SelectPlan,
    mut query: Query<'_>,
    reads: &mut ReadReport,
    evaluation: &Evaluation<'_>,
    sort: &Sort,
    bounds: Bounds,
) -> Result<Vec<(SortKey, RowBytes)>, Error> {
    let limits = Limits { rows: u64::MAX, per_partition: bounds.per_partition, resume: None };
    query.limit_to(limits);
    let (partitions, _) = query.read_once(reads).await?;
    let mut rows: Vec<(SortKey, RowBytes)> = Vec::new();
    each_row(evaluation, &partitions, |view| {
        let mut row = RowBytes::default();
        evaluation.write(&plan.selection.selectors, view, &[], &mut row)?;
        rows.push((sort_key(sort, view), row));
        Ok(())
    })?;
    Ok(rows)
}

/// Sorts, then keeps `limit` rows.
fn cut(plan: &SelectPlan, sort: &Sort, mut rows: Vec<(SortKey, RowBytes)>, limit: u64) -> Rows {
    sort_and_cut(sort, &mut rows, limit);
    joined(plan, &rows)
}

/// The values that a row is sorted by; none of them on the row of a partition with only statics.
type SortKey = Vec<Option<Vec<u8>>>;

fn sort_key(sort: &Sort, view: &RowView<'_>) -> SortKey {
    let value = |position| view.clustering(position).map(<[u8]>::to_vec);
    sort.columns.iter().map(|column| value(column.position)).collect()
}

/// Sorts stably, so that ties keep the order of the keys, and keeps `limit` rows.
fn sort_and_cut(sort: &Sort, rows: &mut Vec<(SortKey, RowBytes)>, limit: u64) {
    rows.sort_by(|(a, _), (b, _)| compare(sort, a, b));
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
}

/// Rows that were written one by one, as a result.
fn joined(plan: &SelectPlan, written: &[(SortKey, RowBytes)]) -> Rows {
    let mut rows = Rows::new(plan.selection.columns.clone());
    written.iter().for_each(|(_, row)| rows.push_written(row));
    rows
}

fn compare(sort: &Sort, a: &SortKey, b: &SortKey) -> Ordering {
    for ((column, a), b) in sort.columns.iter().zip(a).zip(b) {
        let ordering = match (a, b) {
            (Some(a), Some(b)) => {
                let ascending = order::compare(&column.ty, a, b);
                if column.descending { ascending.reverse() } else { ascending }
            }
            (a, b) if a.is_none() == b.is_none() => Ordering::Equal,
            (a, _) if a.is_none() == sort.nulls_first => Ordering::Less,
            _ => Ordering::Greater,
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}
