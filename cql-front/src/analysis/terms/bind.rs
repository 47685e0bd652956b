//! Evaluation: markers meet their values, calls are made, literals that had to wait are put together.

use super::{BindValue, Bound, Env, Error, Node, Term};
use crate::error::function::FunctionError;
use crate::error::term::TermError;
use cassling_engine::types::codec;
use cassling_engine::types::{CqlType, order};
use std::borrow::Cow;

impl Term {
    /// A term that is these bytes, or null. They must be a valid value of the receiver's type.
    pub fn constant(value: Option<Vec<u8>>) -> Term {
        Term(value.map_or(Node::Null, |bytes| Node::Constant(bytes.into())))
    }

    /// Evaluates the term. Constants and markers are borrowed, not copied.
    ///
    /// # Errors
    /// A bound value that is not valid for the type, a null or unset value where none may be, a function that fails.
    pub fn bind<'v>(&'v self, env: &Env<'v>) -> Result<Bound<'v>, Error> {
        self.evaluate(Some(env))
    }

    /// Whether it is the literal `null` (not a marker).
    pub fn is_null_literal(&self) -> bool {
        matches!(self.0, Node::Null)
    }

    /// Whether its value depends on a bound value.
    pub fn has_marker(&self) -> bool {
        self.0.any(&mut |node| matches!(node, Node::Marker { .. }))
    }

    /// Its bytes, if it has them without being evaluated.
    pub fn as_constant(&self) -> Option<&[u8]> {
        match &self.0 {
            Node::Constant(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn evaluate<'v>(&'v self, env: Option<&Env<'v>>) -> Result<Bound<'v>, Error> {
        match &self.0 {
            Node::Null => Ok(Bound::Null),
            Node::Constant(bytes) => Ok(Bound::Value(Cow::Borrowed(bytes))),
            Node::Marker { index, ty } => {
                let values = env.map(|env| env.values).unwrap_or_default();
                bind_value(values.get(*index).ok_or_else(|| Error::new(TermError::NoValue))?, ty)
            }
            composed => composed.compose(env),
        }
    }
}

/// A bound value, checked; a list, set or map is written anew as Cassandra does.
fn bind_value<'v>(value: &'v BindValue<'v>, ty: &CqlType) -> Result<Bound<'v>, Error> {
    let Some(bytes) = value.bytes() else {
        return Ok(if *value == BindValue::Unset { Bound::Unset } else { Bound::Null });
    };
    codec::validate(ty, bytes).map_err(|e| Error::new(TermError::Value(e)))?;
    if !ty.is_collection() {
        return Ok(Bound::Value(Cow::Borrowed(bytes)));
    }
    let plain = codec::normalise(ty, bytes.to_vec());
    Ok(Bound::Value(if plain == bytes { Cow::Borrowed(bytes) } else { Cow::Owned(plain) }))
}

/// The elements of a collection literal; `None` if one is unset: then the whole is.
fn elements<'v>(
    items: &'v [Term],
    env: Option<&Env<'v>>,
) -> Result<Option<Vec<Cow<'v, [u8]>>>, Error> {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        match item.evaluate(env)? {
            Bound::Value(bytes) => values.push(bytes),
            Bound::Null => return Err(Error::new(TermError::NullInCollection)),
            Bound::Unset => return Ok(None),
        }
    }
    Ok(Some(values))
}

/// The entries of a map literal, sorted; of a repeated key the last value.
#[expect(clippy::type_complexity, reason = "pairs of borrowed or owned bytes")]
fn entries<'v>(
    key: &CqlType,
    entries: &'v [(Term, Term)],
    env: Option<&Env<'v>>,
) -> Result<Option<Vec<(Cow<'v, [u8]>, Cow<'v, [u8]>)>>, Error> {
    let mut values: Vec<(Cow<'v, [u8]>, Cow<'v, [u8]>)> = Vec::with_capacity(entries.len());
    for (k, v) in entries {
        let k = match k.evaluate(env)? {
            Bound::Value(bytes) => bytes,
            Bound::Null => return Err(Error::new(TermError::NullInCollection)),
            Bound::Unset => return Err(Error::new(TermError::UnsetMapKey)),
        };
        match v.evaluate(env)? {
            Bound::Value(bytes) => values.push((k, bytes)),
            Bound::Null => return Err(Error::new(TermError::NullInCollection)),
            Bound::Unset => return Ok(None),
        }
    }
    values.sort_by(|a, b| order::compare(key, &a.0, &b.0));
    values.dedup_by(|b, a| {
        let same = order::compare(key, &a.0, &b.0).is_eq();
        if same {
            std::mem::swap(&mut a.1, &mut b.1);
        }
        same
    });
    Ok(Some(values))
}

/// The components of a tuple or user-defined type. An unset one is refused as `unset` says, or written as an empty value.
fn components<'v>(
    items: &'v [Term],
    env: Option<&Env<'v>>,
    unset: impl Fn(usize) -> Option<TermError>,
) -> Result<Bound<'v>, Error> {
    let mut values = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        values.push(match item.evaluate(env)? {
            Bound::Value(bytes) => Some(bytes),
            Bound::Null => None,
            Bound::Unset => match unset(index) {
                Some(refusal) => return Err(Error::new(refusal)),
                None => Some(Cow::Borrowed(&[][..])),
            },
        });
    }
    let bytes = codec::write_components(values.iter().map(|it| it.as_deref()));
    Ok(Bound::Value(Cow::Owned(bytes)))
}

impl Node {
    /// Evaluates what has parts.
    pub(super) fn compose<'v>(&'v self, env: Option<&Env<'v>>) -> Result<Bound<'v>, Error> {
        let value = |bytes: Option<Vec<u8>>| {
            Ok(bytes.map_or(Bound::Unset, |bytes| Bound::Value(Cow::Owned(bytes))))
        };
        match self {
            Node::List(items) => {
                let items = elements(items, env)?;
                value(items.map(|it| codec::write_elements(it.iter().map(|it| it.as_ref()))))
            }
            Node::Set { element, items } => value(elements(items, env)?.map(|mut items| {
                items.sort_by(|a, b| order::compare(element, a, b));
                items.dedup_by(|b, a| order::compare(element, a, b).is_eq());
                codec::write_elements(items.iter().map(|it| it.as_ref()))
            })),
            Node::Map { key, entries: pairs } => value(entries(key, pairs, env)?.map(|pairs| {
                codec::write_entries(pairs.iter().map(|(k, v)| (k.as_ref(), v.as_ref())))
            })),
            Node::Vector { element, items } => vector(element, items, env),
            Node::Tuple(items) => {
                components(items, env, |index| Some(TermError::UnsetComponent(index)))
            }
            // Cassandra refuses an unset field of a frozen one only; of one of cells it takes the field for empty.
            Node::Udt { definition, frozen, fields } => components(fields, env, |index| {
                frozen.then(|| TermError::UnsetField {
                    field: definition.fields[index].0.clone(),
                    ty: definition.name.clone(),
                })
            }),
            Node::Call { function, arguments } => {
                let env = env.ok_or_else(|| Error::new(TermError::NoValue))?;
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(match argument.bind(env)? {
                        Bound::Value(bytes) => Some(bytes),
                        Bound::Null => None,
                        Bound::Unset => {
                            let function = function.name.clone();
                            return Err(Error::new(FunctionError::UnsetArgument { function }));
                        }
                    });
                }
                let values: Vec<Option<&[u8]>> = values.iter().map(|it| it.as_deref()).collect();
                let result = function.call(env, &values)?;
                Ok(result.map_or(Bound::Null, |bytes| Bound::Value(Cow::Owned(bytes))))
            }
            Node::Null | Node::Constant(_) | Node::Marker { .. } => {
                unreachable!("evaluated by the term itself")
            }
        }
    }

    /// Whether all parts are bytes or null, so that the whole can be put together without values.
    pub(super) fn parts_are_constant(&self) -> bool {
        let constant = |term: &Term| matches!(term.0, Node::Null | Node::Constant(_));
        match self {
            Node::List(items) | Node::Set { items, .. } | Node::Vector { items, .. } => {
                items.iter().all(constant)
            }
            Node::Tuple(items) | Node::Udt { fields: items, .. } => items.iter().all(constant),
            Node::Map { entries, .. } => entries.iter().all(|(k, v)| constant(k) && constant(v)),
            Node::Null | Node::Constant(_) => true,
            Node::Marker { .. } | Node::Call { .. } => false,
        }
    }

    /// Whether the node or one inside it is as asked.
    fn any(&self, is: &mut impl FnMut(&Node) -> bool) -> bool {
        if is(self) {
            return true;
        }
        match self {
            Node::Null | Node::Constant(_) | Node::Marker { .. } => false,
            Node::List(items)
            | Node::Set { items, .. }
            | Node::Vector { items, .. }
            | Node::Tuple(items)
            | Node::Udt { fields: items, .. }
            | Node::Call { arguments: items, .. } => items.iter().any(|it| it.0.any(is)),
            Node::Map { entries, .. } => entries.iter().any(|(k, v)| k.0.any(is) || v.0.any(is)),
        }
    }
}

fn vector<'v>(
    element: &CqlType,
    items: &'v [Term],
    env: Option<&Env<'v>>,
) -> Result<Bound<'v>, Error> {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let Bound::Value(bytes) = item.evaluate(env)? else {
            return Err(Error::new(TermError::NullInVector));
        };
        values.push(bytes);
    }
    let bytes = codec::write_vector(element, values.iter().map(|it| it.as_ref()));
    Ok(Bound::Value(Cow::Owned(bytes)))
}
