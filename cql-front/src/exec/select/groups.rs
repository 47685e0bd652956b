//! Aggregates and GROUP BY: rows become groups while they are read, page by page, and are let go.
//!
//! ```text
//! rows     (1,1) (1,1) (1,2) | (1,2) (2,1) ...      read in pages of their own size
//! groups   [   A   ] [     B     ] [ C ...
//! ```
//!
//! A group ends when a row of another begins, or with the data; so a page of two groups is known to be complete when
//! (2,1) is met, and the next page of the client begins strictly after the last row of B. Columns outside of aggregates
//! show the first row of their group. Without GROUP BY there is exactly one group, even of no rows.

use super::paging::{self, PagingState};
use super::query::Query;
use super::row::{Evaluation, RowView};
use super::{Bounds, SortKey, joined, sort_and_cut, sort_key};
use crate::analysis::select::{Grouping, SelectPlan, Sort};
use crate::analysis::selection::Aggregate;
use crate::error::Error;
use crate::functions::Accumulator;
use crate::outcome::{RowBytes, Rows};
use cassling_engine::row::clustering::Values;
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::row::query::{ReadReport, Resume};
use cassling_engine::row::{PartitionRows, Row};
use cassling_engine::types::order;
use std::borrow::Cow;

/// Reads and groups; a page of groups at most.
pub(super) async fn run(
    plan: &SelectPlan,
    query: &Query<'_>,
    reads: &mut ReadReport,
    evaluation: &Evaluation<'_>,
    bounds: Bounds,
    state: Option<PagingState>,
) -> Result<(Rows, Option<PagingState>), Error> {
    let mut grouper = Grouper::new(plan, evaluation, bounds, state.as_ref())?;
    let page_rows = u64::from(bounds.read_rows.max(1));
    let per_partition = if plan.distinct { 1 } else { u64::MAX };
    let mut resume = state.as_ref().map(|state| grouper.resume_at(state));
    loop {
        let partitions = query.read(reads, page_rows, per_partition, resume.take()).await?;
        let mut counted = 0;
        for partition in &partitions {
            counted += partition.rows.len().max(1) as u64;
            if grouper.partition(partition)? == Next::Stop {
                return grouper.finish(query, true);
            }
        }
        let after = partitions.last().filter(|_| counted >= page_rows).and_then(|last| {
            query.ends.more(PagingState {
                key: last.key.clone(),
                position: last.rows.last().map(|row| row.position().to_vec()),
                remaining: u64::MAX,
                remaining_in_partition: if plan.distinct { 0 } else { u64::MAX },
            })
        });
        match after {
            Some(state) => resume = Some(state.resume(state.remaining_in_partition)),
            None => return grouper.finish(query, false),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    Stop,
}

/// What rows of one group have in common.
#[derive(PartialEq, Eq)]
struct Identity {
    key: DecoratedKey,
    prefix: Vec<u8>,
    function: Option<Vec<u8>>,
}

struct Group {
    identity: Option<Identity>,
    first: Option<FirstRow>,
    states: Vec<State>,
}

struct FirstRow {
    key: DecoratedKey,
    static_row: Option<Row>,
    row: Option<Row>,
}

enum State {
    Rows(i64),
    Function(Accumulator),
}

struct Grouper<'g> {
    plan: &'g SelectPlan,
    evaluation: &'g Evaluation<'g>,
    /// Terms of GROUP BY's function.
    function: Option<Evaluation<'g>>,
    group: Option<Group>,
    done: Vec<(SortKey, RowBytes)>,
    sort: Option<&'g Sort>,
    /// Groups after which the page is full.
    wanted: u64,
    page_size: Option<u32>,
    limit: u64,
    per_partition: u64,
    /// Partition that `left_in_partition` is about.
    partition: Option<DecoratedKey>,
    /// Groups that may still begin in it.
    left_in_partition: u64,
    /// The last row taken into a group.
    last: Option<(DecoratedKey, Option<Vec<u8>>)>,
    remaining: u64,
}

impl<'g> Grouper<'g> {
    fn new(
        plan: &'g SelectPlan,
        evaluation: &'g Evaluation<'g>,
        bounds: Bounds,
        state: Option<&PagingState>,
    ) -> Result<Grouper<'g>, Error> {
        let pure = plan.is_pure_aggregate();
        let remaining = match state {
            _ if pure => u64::MAX,
            Some(state) => state.remaining,
            None => bounds.limit,
        };
        let function = match plan.grouping.as_ref().and_then(|g| g.function.as_ref()) {
            Some(function) => Some(Evaluation::new(
                evaluation.table,
                evaluation.env,
                &function.selection,
                evaluation.now_seconds,
                true,
            )?),
            None => None,
        };
        // Sorted groups are cut when all are there.
        let wanted = if plan.sort.is_some() { u64::MAX } else { bounds.page_rows(remaining) };
        Ok(Grouper {
            plan,
            evaluation,
            function,
            group: pure.then(|| Group::new(None, None, &plan.selection.aggregates)),
            done: Vec::new(),
            sort: plan.sort.as_ref(),
            wanted,
            page_size: bounds.page_size,
            limit: bounds.limit,
            per_partition: if plan.distinct { u64::MAX } else { bounds.per_partition },
            partition: state.map(|state| state.key.clone()),
            left_in_partition: state.map_or(bounds.per_partition, |s| s.remaining_in_partition),
            last: state.map(|state| (state.key.clone(), state.position.clone())),
            remaining,
        })
    }

    /// Where a page of the client begins: after the last row of the one before, in the next partition if no group may
    /// begin in that one any more.
    fn resume_at(&self, state: &PagingState) -> Resume {
        let skips = state.remaining_in_partition == 0 || self.plan.distinct;
        state.resume(if skips { 0 } else { u64::MAX })
    }

    fn partition(&mut self, partition: &PartitionRows) -> Result<Next, Error> {
        let mut clustering = Values::default();
        let static_row = partition.static_row.as_ref();
        if self.partition.as_ref() != Some(&partition.key) {
            self.partition = Some(partition.key.clone());
            self.left_in_partition = self.per_partition;
        }
        let evaluation = self.evaluation;
        if partition.rows.is_empty() {
            let view = evaluation.view(&partition.key, static_row, None, &mut clustering);
            return self.row(&view);
        }
        for row in &partition.rows {
            let view = evaluation.view(&partition.key, static_row, Some(row), &mut clustering);
            if self.row(&view)? == Next::Stop {
                return Ok(Next::Stop);
            }
        }
        Ok(Next::Go)
    }

    fn row(&mut self, view: &RowView<'_>) -> Result<Next, Error> {
        if let Some(grouping) = &self.plan.grouping {
            let identity = self.identity(grouping, view)?;
            let same = self.group.as_ref().is_some_and(|g| g.identity.as_ref() == Some(&identity));
            if !same {
                self.close()?;
                if self.done.len() as u64 >= self.wanted {
                    return Ok(Next::Stop);
                }
                if self.left_in_partition == 0 {
                    return Ok(Next::Go);
                }
                self.left_in_partition = paging::less(self.left_in_partition, 1);
                let first = FirstRow::of(view);
                self.group =
                    Some(Group::new(Some(identity), Some(first), &self.plan.selection.aggregates));
            }
        }
        self.last = Some((view.key.clone(), view.row.map(|row| row.position().to_vec())));
        let Some(group) = &mut self.group else { return Ok(Next::Go) };
        group.first.get_or_insert_with(|| FirstRow::of(view));
        for (state, aggregate) in group.states.iter_mut().zip(&self.plan.selection.aggregates) {
            state.add(self.evaluation, aggregate, view)?;
        }
        Ok(Next::Go)
    }

    fn identity(&self, grouping: &Grouping, view: &RowView<'_>) -> Result<Identity, Error> {
        let position = view.row.map_or(&[][..], Row::position);
        let mut rest = position;
        if !position.is_empty() {
            let columns = self.plan.table.clustering().iter().take(grouping.clustering_prefix);
            columns.for_each(|column| order::skip(&column.ty, &mut rest, column.descending));
        }
        let prefix = position[..position.len() - rest.len()].to_vec();
        let function = match (&grouping.function, &self.function, view.row) {
            (Some(function), Some(evaluation), Some(_)) => {
                let selector = function.selection.selectors.last();
                let value = selector.map(|it| evaluation.value(it, view, &[])).transpose()?;
                value.flatten().map(Cow::into_owned)
            }
            _ => None,
        };
        Ok(Identity { key: view.key.clone(), prefix, function })
    }

    /// Ends the group that is open, if one is, and keeps its row.
    fn close(&mut self) -> Result<(), Error> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let results =
            group.states.into_iter().map(State::result).collect::<Result<Vec<_>, Error>>()?;
        let nobody = DecoratedKey::new(bytes::Bytes::new());
        let (key, static_row, row) = match &group.first {
            Some(first) => (&first.key, first.static_row.as_ref(), first.row.as_ref()),
            None => (&nobody, None, None),
        };
        let mut clustering = Values::default();
        let view = self.evaluation.view(key, static_row, row, &mut clustering);
        let mut row = RowBytes::default();
        self.evaluation.write(&self.plan.selection.selectors, &view, &results, &mut row)?;
        let key = self.sort.map_or(Vec::new(), |sort| sort_key(sort, &view));
        self.done.push((key, row));
        Ok(())
    }

    fn finish(
        mut self,
        query: &Query<'_>,
        stopped: bool,
    ) -> Result<(Rows, Option<PagingState>), Error> {
        if !stopped {
            self.close()?;
        }
        let counted = self.done.len() as u64;
        let full = self.page_size.is_some_and(|size| counted >= u64::from(size));
        let state = self.last.take().filter(|_| full).and_then(|(key, position)| {
            query.ends.more(PagingState {
                key,
                position,
                remaining: paging::less(self.remaining, counted),
                remaining_in_partition: self.left_in_partition,
            })
        });
        if let Some(sort) = self.sort {
            sort_and_cut(sort, &mut self.done, self.limit);
        }
        Ok((joined(self.plan, &self.done), state))
    }
}

impl Group {
    fn new(identity: Option<Identity>, first: Option<FirstRow>, aggregates: &[Aggregate]) -> Group {
        let state = |aggregate: &Aggregate| match &aggregate.function {
            Some(function) => State::Function(function.accumulator()),
            None => State::Rows(0),
        };
        Group { identity, first, states: aggregates.iter().map(state).collect() }
    }
}

impl FirstRow {
    fn of(view: &RowView<'_>) -> FirstRow {
        FirstRow {
            key: view.key.clone(),
            static_row: view.static_row.cloned(),
            row: view.row.cloned(),
        }
    }
}

impl State {
    fn add(
        &mut self,
        evaluation: &Evaluation<'_>,
        aggregate: &Aggregate,
        view: &RowView<'_>,
    ) -> Result<(), Error> {
        match self {
            State::Rows(count) => {
                *count += 1;
                Ok(())
            }
            State::Function(accumulator) => {
                let values = aggregate
                    .arguments
                    .iter()
                    .map(|argument| evaluation.value(argument, view, &[]))
                    .collect::<Result<Vec<_>, Error>>()?;
                let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
                accumulator.add(&values)
            }
        }
    }

    fn result(self) -> Result<Option<Vec<u8>>, Error> {
        match self {
            State::Rows(count) => Ok(Some(count.to_be_bytes().to_vec())),
            State::Function(accumulator) => accumulator.result(),
        }
    }
}
