//! Conditions that the key does not serve, for the replica to evaluate on each row it reads.

use super::merge::{Alternatives, End, Kind, Restriction, Value};
use crate::analysis::terms::{Bound, Env, Term};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::row::filter::{Condition, Operator};
use cassling_engine::schema::Column;

/// Appends the conditions of one restriction.
pub(super) fn append(
    restriction: &Restriction,
    env: &Env<'_>,
    out: &mut Vec<Condition>,
) -> Result<(), Error> {
    conditions(restriction, env, out).map_err(|e| e.or_at(restriction.span))
}

fn conditions(
    restriction: &Restriction,
    env: &Env<'_>,
    out: &mut Vec<Condition>,
) -> Result<(), Error> {
    let column = restriction.first();
    match &restriction.kind {
        Kind::Equal(value) => {
            let mut values = value.bind(env)?.into_iter();
            for column in &restriction.columns {
                let value = present(values.next().unwrap_or(Bound::Null), "value", column)?;
                out.push(condition(column, Operator::Eq, value));
            }
        }
        Kind::In(alternatives) => out.push(among(restriction, alternatives, env)?),
        Kind::Slice { .. } if restriction.is_tuple => {
            return Err(RestrictionError::FilterTupleSlice.into());
        }
        Kind::Slice { start, end } => {
            let operators =
                [(start, Operator::Gte, Operator::Gt), (end, Operator::Lte, Operator::Lt)];
            for (end, inclusive, exclusive) in operators {
                let Some(End { value, inclusive: with }) = end else { continue };
                let operator = if *with { inclusive } else { exclusive };
                out.push(condition(column, operator, one(value, column, env)?));
            }
        }
        Kind::Contains { values, keys, entries } => {
            for term in values {
                let value = part(term, "value", column, env)?;
                out.push(condition(column, Operator::Contains, value));
            }
            for term in keys {
                let value = part(term, "value", column, env)?;
                out.push(condition(column, Operator::ContainsKey, value));
            }
            for (key, value) in entries {
                let key = part(key, "map key", column, env)?;
                let value = part(value, "map value", column, env)?;
                let equal = condition(column, Operator::Eq, value);
                out.push(Condition { map_key: Some(key), ..equal });
            }
        }
    }
    Ok(())
}

/// A null or unset alternative matches nothing and is left out.
fn among(
    restriction: &Restriction,
    alternatives: &Alternatives,
    env: &Env<'_>,
) -> Result<Condition, Error> {
    if restriction.columns.len() > 1 {
        return Err(RestrictionError::FilterTupleIn.into());
    }
    let values = alternatives.bind(restriction, env)?.into_iter().flatten();
    let values = values.filter_map(|value| match value {
        Bound::Value(bytes) => Some(bytes.into_owned()),
        Bound::Null | Bound::Unset => None,
    });
    Ok(Condition {
        column: restriction.first().id,
        operator: Operator::In,
        map_key: None,
        values: values.collect(),
    })
}

fn condition(column: &Column, operator: Operator, value: Vec<u8>) -> Condition {
    Condition { column: column.id, operator, map_key: None, values: vec![value] }
}

fn one(value: &Value, column: &Column, env: &Env<'_>) -> Result<Vec<u8>, Error> {
    let value = value.bind(env)?.into_iter().next().unwrap_or(Bound::Null);
    present(value, "value", column)
}

fn part(term: &Term, part: &'static str, column: &Column, env: &Env<'_>) -> Result<Vec<u8>, Error> {
    present(term.bind(env)?, part, column)
}

fn present(value: Bound<'_>, part: &'static str, column: &Column) -> Result<Vec<u8>, Error> {
    let column = || column.name.clone();
    match value {
        Bound::Value(bytes) => Ok(bytes.into_owned()),
        Bound::Null => Err(RestrictionError::FilterNull { part, column: column() }.into()),
        Bound::Unset => Err(RestrictionError::FilterUnset { part, column: column() }.into()),
    }
}
