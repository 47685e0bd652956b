//! Which partitions a WHERE asks for: keys, or a range of tokens.
//!
//! ```text
//! a IN (2, 1) AND b IN (x, y)       keys (1,x) (1,y) (2,x) (2,y): a product in the order of the types, no duplicates
//! token(k) > 5 AND token(k) <= 9    the range (5, 9]
//! token(k) > 5 AND k IN (1, 2)      those of the keys whose token is in the range
//! nothing, or part of the key       every partition (the key's part is a filter)
//! ```
//!
//! The smallest token is owned by no key and means "no bound" in a range. Beside written keys it means itself, and a
//! range whose start lies past its end goes round the ring: Cassandra has two ways to read the same condition.

use super::merge::{End, Kind, Restriction, Set, Value};
use super::values::{Bytes, Prefix, check_length, extend, single, slices};
use crate::analysis::terms::{Bound, Env};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use cassling_engine::ring::Token;
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::row::query::{KeyRange, Keys};
use cassling_engine::schema::{Column, Table};
use cassling_engine::types::order;
use std::cmp::Ordering;

/// Keys of the product of `restrictions`, which are = and IN of all key columns.
pub(super) fn keys(
    table: &Table,
    restrictions: &Set,
    token: Option<&Restriction>,
    env: &Env<'_>,
) -> Result<Keys, Error> {
    let span = restrictions.iter().next().map(|r| r.span);
    let at_span = |e: RestrictionError| match span {
        Some(span) => Error::at(e, span),
        None => Error::new(e),
    };
    if token.is_none()
        && let Some(values) = single(restrictions, env)?
    {
        return Ok(Keys::from_buf([key(&values).map_err(at_span)?]));
    }
    let mut products: Vec<Prefix<'_>> = vec![Vec::new()];
    for restriction in restrictions.iter() {
        products = extend(products, restriction, env)?;
        if products.is_empty() {
            return Ok(Keys::new());
        }
    }
    if products.len() > 1 {
        let columns = table.partition_key();
        // Of values that the type takes for equal (decimal 1.0 and 1.00) the one written first stays.
        products.sort_by(|a, b| compare(columns, a, b));
        products.dedup_by(|b, a| compare(columns, a, b) == Ordering::Equal);
    }
    let mut keys = Keys::with_capacity(products.len());
    for product in &products {
        keys.push(key(product).map_err(at_span)?);
    }
    if let Some(token) = token {
        let ring = Ring::bind(token, env).map_err(|e| e.or_at(token.span))?;
        keys.retain(|key| ring.holds(key.token));
    }
    Ok(keys)
}

fn compare(columns: &[Column], a: &Prefix<'_>, b: &Prefix<'_>) -> Ordering {
    columns
        .iter()
        .zip(a.iter().zip(b))
        .map(|(column, (a, b))| order::compare(&column.ty, a, b))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn key(values: &[Bytes<'_>]) -> Result<DecoratedKey, RestrictionError> {
    check_length(values)?;
    let key = DecoratedKey::from_components(&slices(values));
    if key.bytes.is_empty() {
        return Err(RestrictionError::EmptyKey);
    }
    if key.bytes.len() > usize::from(u16::MAX) {
        return Err(RestrictionError::KeyTooLong(key.bytes.len()));
    }
    Ok(key)
}

/// What a side of a `token()` relation is bound to.
fn token_value(value: &Value, env: &Env<'_>) -> Result<Option<Token>, Error> {
    match value.bind(env)?.pop() {
        Some(Bound::Value(bytes)) => match <[u8; 8]>::try_from(bytes.as_ref()) {
            Ok(bytes) => Ok(Some(Token(i64::from_be_bytes(bytes)))),
            Err(_) => Err(RestrictionError::BrokenToken.into()),
        },
        Some(Bound::Null) | None => Ok(None),
        Some(Bound::Unset) => Err(RestrictionError::BrokenToken.into()),
    }
}

type TokenEnd = Option<(Token, bool)>;

/// Both ends of a `token()` restriction; `null` is what a null token is refused with.
fn ends(
    token: &Restriction,
    env: &Env<'_>,
    null: &RestrictionError,
) -> Result<(TokenEnd, TokenEnd), Error> {
    let bind = |value: &Value| token_value(value, env)?.ok_or_else(|| Error::new(null.clone()));
    let side = |end: &Option<End>| -> Result<TokenEnd, Error> {
        end.as_ref().map(|e| Ok((bind(&e.value)?, e.inclusive))).transpose()
    };
    match &token.kind {
        Kind::Equal(value) => {
            let token = bind(value)?;
            Ok((Some((token, true)), Some((token, true))))
        }
        Kind::Slice { start, end } => Ok((side(start)?, side(end)?)),
        // The grammar has neither for token().
        Kind::In(_) | Kind::Contains { .. } => Ok((None, None)),
    }
}

/// The range that a `token()` restriction selects; `None` if nothing can be in it.
pub(super) fn range(token: &Restriction, env: &Env<'_>) -> Result<Option<KeyRange>, Error> {
    let (start, end) =
        ends(token, env, &RestrictionError::NullToken).map_err(|e| e.or_at(token.span))?;
    let bound = |end: TokenEnd| end.filter(|(token, _)| *token != Token::MIN);
    let range = KeyRange { start: bound(start), end: bound(end) };
    if let (Some((start, start_inclusive)), Some((end, end_inclusive))) = (range.start, range.end) {
        let both = start_inclusive && end_inclusive;
        if start > end || (start == end && !both) {
            return Ok(None);
        }
    }
    Ok(Some(range))
}

/// A `token()` restriction beside the keys themselves.
struct Ring {
    start: TokenEnd,
    end: TokenEnd,
}

impl Ring {
    fn bind(token: &Restriction, env: &Env<'_>) -> Result<Ring, Error> {
        let (start, end) = ends(token, env, &RestrictionError::NullTokenOfKeys)?;
        Ok(Ring { start, end })
    }

    fn holds(&self, token: Token) -> bool {
        let after = |(start, inclusive)| token > start || (inclusive && token == start);
        let before = |(end, inclusive)| token < end || (inclusive && token == end);
        match (self.start, self.end) {
            (Some(start), Some(end)) if start.0 > end.0 => after(start) || before(end),
            (start, end) => start.is_none_or(after) && end.is_none_or(before),
        }
    }
}
