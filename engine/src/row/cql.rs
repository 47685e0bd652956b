//! A read as CQL, the way Cassandra writes it into its warnings.
//!
//! It is no statement that anybody wrote: columns of the key are left out, an IN of several partitions is one read each,
//! LIMIT is what the page still wants, and ALLOW FILTERING always stands at the end.
//!
//! ```text
//! SELECT c, v FROM q WHERE k IN (1, 2)    ->   SELECT v FROM ks.q WHERE k = 1 LIMIT 5000 ALLOW FILTERING
//!                                              SELECT v FROM ks.q WHERE k = 2 LIMIT 4998 ALLOW FILTERING
//! ```
//!
//! Slices are told column by column, so that some come out as no CQL would say them (`(c, d) > (1, 1)` as `c > 1 AND d > 1`):
//! those are Cassandra's words. Not here: who warns ([`super::thresholds`]).

use super::clustering::{self, AFTER, BEFORE, Slice, bound_values};
use super::filter::{Condition, Operator};
use super::key::DecoratedKey;
use super::query::{KeyRange, Limits, Partitions, ReadCommand, RowSelection, ShownLimits};
use crate::schema::{Column, Table};
use crate::types::display::literal;
use crate::types::{CqlType, quote_name};
use std::fmt::Write as _;

impl ReadCommand {
    /// The read as CQL, as Cassandra's messages show it.
    pub fn cql(&self) -> String {
        let table = &self.table;
        let mut text = format!(
            "SELECT {} FROM {}.{}",
            self.shown.select,
            quote_name(&table.keyspace),
            quote_name(&table.name)
        );
        let conditions = self.where_clause();
        if !conditions.is_empty() {
            let _ = write!(text, " WHERE {}", conditions.join(" AND "));
        }
        if self.reversed {
            let ordering = |c: &Column| {
                let direction = if c.descending { "ASC" } else { "DESC" };
                format!("{} {direction}", quote_name(&c.name))
            };
            let columns: Vec<String> = table.clustering().iter().map(ordering).collect();
            let _ = write!(text, " ORDER BY {}", columns.join(", "));
        }
        if let Some(limits) = shown_limits(&self.shown.limits, &self.limits) {
            let _ = write!(text, " {limits}");
        }
        text + " ALLOW FILTERING"
    }

    fn where_clause(&self) -> Vec<String> {
        let table = &self.table;
        let mut all = match &self.partitions {
            Partitions::Keys(keys) => {
                keys.first().map(|key| equals(table, key)).unwrap_or_default()
            }
            Partitions::Range(range) => token_bounds(self, range),
        };
        all.extend(match &self.rows {
            RowSelection::Names(names) => {
                let rest = self.rest_of_names(names.iter().map(|name| name.position.as_slice()));
                let names = names.iter().filter(|name| rest.contains(&name.position.as_slice()));
                names_clause(table, names.map(|n| clustering::values(table, &n.position, &n.raw)))
            }
            RowSelection::Slices(slices) => slices_clause(table, &self.rest_of_slices(slices)),
        });
        // Filters stand in the order of their columns: key, clustering, then all others by name.
        let columns = table.columns();
        let place = |condition: &&Condition| {
            let place = columns.iter().position(|c| c.id == condition.column);
            let column = place.map(|place| &columns[place]);
            match column.filter(|column| !column.is_primary_key()) {
                Some(column) => (usize::MAX, Some(column.name.as_bytes())),
                None => (place.unwrap_or(0), None),
            }
        };
        let mut conditions: Vec<&Condition> = self.filter.conditions.iter().collect();
        conditions.sort_by_key(place);
        all.extend(conditions.into_iter().filter_map(|condition| condition_text(table, condition)));
        all
    }

    /// The position after which a page of one partition begins.
    fn resumed_at(&self) -> Option<&[u8]> {
        let Partitions::Keys(keys) = &self.partitions else { return None };
        let resume = self.limits.resume.as_ref()?;
        (keys.first() == Some(&resume.key)).then_some(resume.position.as_deref()).flatten()
    }

    fn rest_of_names<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Vec<&'n [u8]> {
        let at = self.resumed_at();
        let is_left = |name: &&[u8]| match at {
            None => true,
            Some(at) if self.reversed => *name < at,
            Some(at) => *name > at,
        };
        names.filter(is_left).collect()
    }

    /// The slices behind the place where the page before ended.
    fn rest_of_slices(&self, slices: &[Slice]) -> Vec<Slice> {
        let Some(at) = self.resumed_at() else { return slices.to_vec() };
        let edge = clustering::Bound(super::collect::beyond(at, self.reversed));
        let cut = |slice: &Slice| match self.reversed {
            true => Slice { start: slice.start.clone(), end: slice.end.clone().min(edge.clone()) },
            false => Slice { start: slice.start.clone().max(edge.clone()), end: slice.end.clone() },
        };
        slices.iter().map(cut).filter(|slice| !slice.is_empty()).collect()
    }
}

fn shown_limits(shown: &ShownLimits, limits: &Limits) -> Option<String> {
    let known = |name: &str, limit: u64| (limit != u64::MAX).then(|| format!("{name} {limit}"));
    let parts = match *shown {
        ShownLimits::Blank => return Some(String::new()),
        ShownLimits::AsRead => [
            None,
            None,
            known("LIMIT", limits.rows),
            known("PER PARTITION LIMIT", limits.per_partition),
        ],
        ShownLimits::Groups { groups, per_partition } => [
            known("GROUP LIMIT", groups),
            known("GROUP PER PARTITION LIMIT", per_partition),
            known("LIMIT", limits.rows),
            None,
        ],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// `k1 = 1`, `k2 = 'a'`.
fn equals(table: &Table, key: &DecoratedKey) -> Vec<String> {
    let columns = table.partition_key();
    let values = key.components(columns.len());
    let one = |(c, v): (&Column, &bytes::Bytes)| {
        format!("{} = {}", quote_name(&c.name), literal(&c.ty, Some(v)))
    };
    columns.iter().zip(&values).map(one).collect()
}

fn token_bounds(command: &ReadCommand, range: &KeyRange) -> Vec<String> {
    let table = &command.table;
    let columns: Vec<String> = table.partition_key().iter().map(|c| quote_name(&c.name)).collect();
    let token = format!("token({})", columns.join(", "));
    let mut bounds = Vec::new();
    if let Some(resume) = &command.limits.resume {
        let within = resume.remaining_in_partition > 0 && resume.position.is_some();
        let operator = if within && !command.distinct { ">=" } else { ">" };
        let values = resume.key.components(columns.len());
        let values: Vec<String> = table
            .partition_key()
            .iter()
            .zip(&values)
            .map(|(c, v)| literal(&c.ty, Some(v)))
            .collect();
        bounds.push(format!("{token} {operator} token({})", values.join(", ")));
    } else if let Some((start, included)) = range.start.filter(|(start, _)| start.0 != i64::MIN) {
        bounds.push(format!("{token} {} {}", if included { ">=" } else { ">" }, start.0));
    }
    if let Some((end, included)) = range.end {
        bounds.push(format!("{token} {} {}", if included { "<=" } else { "<" }, end.0));
    }
    bounds
}

/// `c = 1`; `(c, d) = (1, 2)`; `(c, d) IN ((1, 2), (1, 3))`.
fn names_clause(table: &Table, names: impl Iterator<Item = Vec<Vec<u8>>>) -> Option<String> {
    let columns = table.clustering();
    let in_brackets = |parts: Vec<String>| match parts.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    let literals = |values: Vec<Vec<u8>>| {
        in_brackets(columns.iter().zip(&values).map(|(c, v)| literal(&c.ty, Some(v))).collect())
    };
    let names: Vec<String> = names.map(literals).collect();
    if names.is_empty() || columns.is_empty() {
        return None;
    }
    let left = in_brackets(columns.iter().map(|c| quote_name(&c.name)).collect());
    Some(match names.as_slice() {
        [one] => format!("{left} = {one}"),
        several => format!("{left} IN ({})", several.join(", ")),
    })
}

/// What a slice says of one clustering column.
struct Component {
    start: Option<Vec<u8>>,
    start_included: bool,
    end: Option<Vec<u8>>,
    end_included: bool,
}

fn slices_clause(table: &Table, slices: &[Slice]) -> Option<String> {
    let prefix = |bound: &clustering::Bound| bound_values(table, &bound.0);
    let slices: Vec<_> = slices.iter().map(|s| (prefix(&s.start), prefix(&s.end))).collect();
    let mut clauses = Vec::new();
    for (place, column) in table.clustering().iter().enumerate() {
        let of_column = |((start, at_start), (end, at_end)): &(Prefix, Prefix)| {
            let (start, end) = (start.get(place).cloned(), end.get(place).cloned());
            let any = start.is_some() || end.is_some();
            any.then_some(Component {
                start,
                start_included: *at_start == BEFORE,
                end,
                end_included: *at_end == AFTER,
            })
        };
        let components: Vec<Component> = slices.iter().filter_map(of_column).collect();
        let Some(first) = components.first() else { break };
        clauses.extend(column_clause(column, first, &components));
    }
    (!clauses.is_empty()).then(|| clauses.join(" AND "))
}

fn column_clause(column: &Column, first: &Component, all: &[Component]) -> Vec<String> {
    let name = quote_name(&column.name);
    let text = |value: &Vec<u8>| literal(&column.ty, Some(value));
    if first.start.is_some() && first.start == first.end {
        let mut values: Vec<String> = Vec::new();
        for value in all.iter().filter_map(|component| component.start.as_ref()).map(text) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        return vec![match values.as_slice() {
            [one] => format!("{name} = {one}"),
            several => format!("{name} IN ({})", several.join(", ")),
        }];
    }
    // A descending column begins with its greatest value.
    let (low, high) = if column.descending { ('<', '>') } else { ('>', '<') };
    let one = |value: &Option<Vec<u8>>, sign: char, included: bool| {
        let equal = if included { "=" } else { "" };
        value.as_ref().map(|value| format!("{name} {sign}{equal} {}", text(value)))
    };
    let start = one(&first.start, low, first.start_included);
    let end = one(&first.end, high, first.end_included);
    start.into_iter().chain(end).collect()
}

/// The values of a bound and the byte that ends it.
type Prefix = (Vec<Vec<u8>>, u8);

fn condition_text(table: &Table, condition: &Condition) -> Option<String> {
    let column = table.column_by_id(condition.column)?;
    let name = quote_name(&column.name);
    let whole = |value: &Vec<u8>| literal(&column.ty, Some(value));
    let (keys, values) = match &column.ty {
        CqlType::Map { key, value, .. } => (key.as_ref(), value.as_ref()),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            (element.as_ref(), element.as_ref())
        }
        other => (other, other),
    };
    let first = || condition.values.first();
    if let Some(key) = &condition.map_key {
        let (key, value) = (literal(keys, Some(key)), literal(values, Some(first()?)));
        return Some(format!("{name}[{key}] = {value}"));
    }
    Some(match condition.operator {
        Operator::Eq => format!("{name} = {}", whole(first()?)),
        Operator::Lt => format!("{name} < {}", whole(first()?)),
        Operator::Lte => format!("{name} <= {}", whole(first()?)),
        Operator::Gt => format!("{name} > {}", whole(first()?)),
        Operator::Gte => format!("{name} >= {}", whole(first()?)),
        Operator::In => {
            let all: Vec<String> = condition.values.iter().map(whole).collect();
            format!("{name} IN [{}]", all.join(", "))
        }
        Operator::Contains => format!("{name} CONTAINS {}", literal(values, Some(first()?))),
        Operator::ContainsKey => format!("{name} CONTAINS KEY {}", literal(keys, Some(first()?))),
    })
}
