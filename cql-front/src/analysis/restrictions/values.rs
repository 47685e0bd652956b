//! Values of restrictions once markers are bound, and the refusals of null and unset ones in keys (sheet A.2).

use super::merge::{Alternatives, Kind, Restriction, Set, Value};
use crate::analysis::terms::{BindValue, Bound, Env};
use crate::error::Error;
use crate::error::restriction::RestrictionError;
use crate::error::term::TermError;
use cassling_engine::types::codec::{self, MarshalError};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Wire bytes of one column's value.
pub(super) type Bytes<'v> = Cow<'v, [u8]>;

/// A value for each of the first columns of a key.
pub(super) type Prefix<'v> = Vec<Bytes<'v>>;

/// The same for a key that is given whole by `=`.
pub(super) type Single<'v> = SmallVec<[Bytes<'v>; 4]>;

/// The components of a tuple, each present, null or unset.
pub(super) type Components<'v> = Vec<Bound<'v>>;

impl Value {
    /// The value of each column.
    pub(super) fn bind<'v>(&'v self, env: &Env<'v>) -> Result<Components<'v>, Error> {
        match self {
            Value::One(term) => Ok(vec![term.bind(env)?]),
            Value::Tuple(terms) => {
                let mut out = Vec::with_capacity(terms.len());
                for (place, term) in terms.iter().enumerate() {
                    let value = term.bind(env)?;
                    if value == Bound::Unset {
                        return Err(RestrictionError::UnsetTupleField(place).into());
                    }
                    out.push(value);
                }
                Ok(out)
            }
            Value::TupleMarker { term, name } => match term.bind(env)? {
                Bound::Unset => Err(RestrictionError::UnsetTuple(name.clone()).into()),
                Bound::Null => Err(RestrictionError::NullTuple.into()),
                Bound::Value(bytes) => Ok(components(&bytes)?),
            },
        }
    }
}

/// The components of a tuple's bytes; trailing ones may be missing.
fn components<'v>(bytes: &[u8]) -> Result<Components<'v>, Error> {
    let parts = codec::components(bytes).map_err(marshal)?;
    Ok(parts.into_iter().map(owned).collect())
}

fn owned<'v>(part: Option<&[u8]>) -> Bound<'v> {
    part.map_or(Bound::Null, |bytes| Bound::Value(Cow::Owned(bytes.to_vec())))
}

fn marshal(error: MarshalError) -> Error {
    Error::new(RestrictionError::Marshal(error))
}

impl Alternatives {
    /// Each alternative with a value for each column.
    pub(super) fn bind<'v>(
        &'v self,
        restriction: &Restriction,
        env: &Env<'v>,
    ) -> Result<Vec<Components<'v>>, Error> {
        match self {
            Alternatives::List(values) => values.iter().map(|v| v.bind(env)).collect(),
            Alternatives::Marker { index, element, name } => {
                let list = bind_list(*index, name, restriction, env)?;
                let elements = codec::elements(list).map_err(marshal)?;
                let checked = elements.into_iter().map(|bytes| match bytes {
                    Some(bytes) => {
                        codec::validate(element, bytes).map_err(marshal)?;
                        if restriction.is_tuple {
                            components(bytes)
                        } else {
                            let plain = codec::normalise(element, bytes.to_vec());
                            Ok(vec![Bound::Value(Cow::Owned(plain))])
                        }
                    }
                    None => Ok(vec![Bound::Null]),
                });
                checked.collect()
            }
        }
    }
}

fn bind_list<'v>(
    index: usize,
    name: &str,
    restriction: &Restriction,
    env: &Env<'v>,
) -> Result<&'v [u8], Error> {
    let column = || restriction.first().name.clone();
    let value = env.values.get(index).ok_or_else(|| Error::new(TermError::NoValue))?;
    if let Some(bytes) = value.bytes() {
        return Ok(bytes);
    }
    Err(Error::new(match (*value == BindValue::Unset, restriction.is_tuple) {
        (false, true) => RestrictionError::NullTuples,
        (false, false) => RestrictionError::NullValue(column()),
        (true, true) => RestrictionError::UnsetTuples(name.to_string()),
        (true, false) => RestrictionError::UnsetValue(column()),
    }))
}

/// The values of a WHERE that says `column = value` of each of its columns and nothing else, as nearly all do; `None` of
/// any other.
pub(super) fn single<'v>(
    restrictions: &'v Set,
    env: &Env<'v>,
) -> Result<Option<Single<'v>>, Error> {
    if !restrictions.iter().all(|r| r.plain_value().is_some()) {
        return Ok(None);
    }
    let mut values = Single::new();
    for restriction in restrictions.iter() {
        let Some(term) = restriction.plain_value() else { return Ok(None) };
        let name = || restriction.first().name.clone();
        values.push(match term.bind(env).map_err(|e| e.or_at(restriction.span))? {
            Bound::Value(bytes) => bytes,
            Bound::Unset => {
                return Err(Error::at(RestrictionError::UnsetValue(name()), restriction.span));
            }
            Bound::Null => {
                return Err(Error::at(RestrictionError::NullInCondition(name()), restriction.span));
            }
        });
    }
    Ok(Some(values))
}

/// Every prefix continued by every value that an `=` or IN gives: Cassandra's `MultiCBuilder`.
/// No prefix is left by an IN of nothing.
pub(super) fn extend<'v>(
    prefixes: Vec<Prefix<'v>>,
    restriction: &'v Restriction,
    env: &Env<'v>,
) -> Result<Vec<Prefix<'v>>, Error> {
    let alternatives = match &restriction.kind {
        Kind::Equal(value) => value.bind(env).and_then(|v| Ok(vec![key_values(v, restriction)?])),
        Kind::In(alternatives) => alternatives.bind(restriction, env).and_then(|all| {
            all.into_iter().map(|v| key_values(v, restriction)).collect::<Result<Vec<_>, _>>()
        }),
        // Neither makes part of a key; both are filters or the end of it.
        Kind::Slice { .. } | Kind::Contains { .. } => return Ok(prefixes),
    };
    let alternatives = alternatives.map_err(|e| e.or_at(restriction.span))?;
    let mut out = Vec::with_capacity(prefixes.len() * alternatives.len());
    if let ([only], true) = (alternatives.as_slice(), prefixes.len() == 1) {
        let mut prefixes = prefixes;
        prefixes[0].extend_from_slice(only);
        return Ok(prefixes);
    }
    for prefix in &prefixes {
        for values in &alternatives {
            out.push(prefix.iter().chain(values).cloned().collect());
        }
    }
    Ok(out)
}

/// The bytes of each column, none of them null or unset.
fn key_values<'v>(values: Components<'v>, restriction: &Restriction) -> Result<Prefix<'v>, Error> {
    let mut values = values.into_iter();
    let mut out = Vec::with_capacity(restriction.columns.len());
    for column in &restriction.columns {
        let name = || column.name.clone();
        let tuple_in = restriction.is_tuple && restriction.is_in();
        out.push(match values.next() {
            Some(Bound::Value(bytes)) => bytes,
            Some(Bound::Unset) => return Err(RestrictionError::UnsetValue(name()).into()),
            Some(Bound::Null) | None if tuple_in => {
                let names: Vec<&str> =
                    restriction.columns.iter().map(|c| c.name.as_str()).collect();
                return Err(RestrictionError::NullInTuples(names.join(", ")).into());
            }
            Some(Bound::Null) | None if restriction.is_tuple => {
                return Err(RestrictionError::NullValue(name()).into());
            }
            Some(Bound::Null) | None => {
                return Err(RestrictionError::NullInCondition(name()).into());
            }
        });
    }
    Ok(out)
}

/// Refuses keys longer than a two-byte length can say.
pub(super) fn check_length(values: &[Bytes<'_>]) -> Result<(), RestrictionError> {
    let length: usize = values.iter().map(|v| v.len()).sum();
    if length > usize::from(u16::MAX) {
        return Err(RestrictionError::KeyTooLong(length));
    }
    Ok(())
}

/// The values as plain slices.
pub(super) fn slices<'a>(values: &'a [Bytes<'_>]) -> SmallVec<[&'a [u8]; 4]> {
    values.iter().map(|v| v.as_ref()).collect()
}
