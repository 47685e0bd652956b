//! How well a term fits a type, and which type it has or prefers.
//!
//! A literal fits many types: `5` is an int by preference, but also a bigint, a double, a timestamp. Cassandra asks
//! every candidate of an overloaded function how well each argument fits (`testAssignment`), so for nested calls the
//! same question comes again and again; a [`Check`] remembers its answers.
//!
//! ```text
//! term          exact type    preferred type       fits
//! 5             -             int                  int exactly; bigint, float, timestamp ... weakly
//! 'a'           -             ascii                ascii exactly; text, inet, date ... weakly
//! now()         timeuuid      timeuuid             timeuuid exactly, uuid and blob weakly
//! ?             -             -                    anything weakly
//! [1, 2]        -             - (not even list)    lists and vectors of what fits
//! ```

use super::{Error, Fit, print, resolve_type};
use crate::analysis::Context;
use crate::ast::{self, LiteralKind, Term, TermKind};
use crate::error::term::TermError;
use crate::functions::{self, Argument, Function};
use bigdecimal::BigDecimal;
use cassling_engine::schema::Table;
use cassling_engine::types::codec::is_timeuuid;
use cassling_engine::types::{CqlType, UserType, number};
use num_bigint::BigInt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The surroundings of a term being checked, and what was found out already.
pub(super) struct Check<'c> {
    pub(super) cx: &'c Context<'c>,
    pub(super) keyspace: &'c str,
    table: Option<Arc<Table>>,
    /// Answers for calls and operations, by the node's address and the type asked for. Without it nested calls cost the
    /// number of candidates to the power of their depth.
    fits: RefCell<BTreeMap<(usize, CqlType), Fit>>,
    returns: RefCell<BTreeMap<usize, Option<CqlType>>>,
}

impl<'c> Check<'c> {
    pub(super) fn new(cx: &'c Context<'c>, keyspace: &'c str, table: &str) -> Check<'c> {
        Check {
            cx,
            keyspace,
            table: cx.schema.table(keyspace, table).cloned(),
            fits: RefCell::default(),
            returns: RefCell::default(),
        }
    }

    /// How well the term fits.
    ///
    /// # Errors
    /// Where Cassandra's test itself throws: a `[..]` literal for what is neither list nor vector, an unknown type in a
    /// hint.
    pub(super) fn fit(&self, raw: &Term, ty: &CqlType) -> Result<Fit, Error> {
        match &raw.kind {
            TermKind::Literal { kind, text } => Ok(literal(*kind, text, ty)),
            TermKind::Null if *ty == CqlType::Counter => Ok(Fit::Not),
            TermKind::Null | TermKind::Marker(_) => Ok(Fit::Weak),
            TermKind::List(items) => self.fit_array(items, ty, raw.span),
            TermKind::Set(items) => match ty {
                CqlType::Set { .. } | CqlType::Map { .. } if items.is_empty() => Ok(Fit::Weak),
                CqlType::Set { element, .. } => self.fit_all(items, element),
                _ => Ok(Fit::Not),
            },
            TermKind::Map(entries) => self.fit_map(entries, ty),
            TermKind::Udt(fields) => match ty {
                CqlType::Udt { definition, .. } => self.fit_udt(fields, definition),
                _ => Ok(Fit::Not),
            },
            TermKind::Tuple(items) => self.fit_tuple(items, ty),
            TermKind::TypeHint { ty: hint, .. } => {
                Ok(fit_hint(&resolve_type(self.cx, self.keyspace, hint)?, ty))
            }
            TermKind::Function { .. } | TermKind::Negate(_) | TermKind::Operation { .. } => {
                Ok(self.fit_call(raw, ty))
            }
        }
    }

    fn fit_all(&self, items: &[Term], ty: &CqlType) -> Result<Fit, Error> {
        let mut whole = Fit::Exact;
        for item in items {
            match self.fit(item, ty)? {
                Fit::Not => return Ok(Fit::Not),
                fit => whole = whole.min(fit),
            }
        }
        Ok(whole)
    }

    fn fit_array(&self, items: &[Term], ty: &CqlType, span: ast::Span) -> Result<Fit, Error> {
        match ty {
            CqlType::List { .. } if items.is_empty() => Ok(Fit::Weak),
            CqlType::List { element, .. } => self.fit_all(items, element),
            CqlType::Vector { element, dimensions } if items.len() == *dimensions as usize => {
                self.fit_all(items, element)
            }
            CqlType::Vector { .. } => Ok(Fit::Not),
            _ => Err(Error::at(TermError::UnexpectedReceiver { ty: print::cql_type(ty) }, span)),
        }
    }

    fn fit_map(&self, entries: &[(Term, Term)], ty: &CqlType) -> Result<Fit, Error> {
        let CqlType::Map { key, value, .. } = ty else { return Ok(Fit::Not) };
        if entries.is_empty() {
            return Ok(Fit::Weak);
        }
        let mut whole = Fit::Exact;
        for (k, v) in entries {
            let (k, v) = (self.fit(k, key)?, self.fit(v, value)?);
            if k == Fit::Not || v == Fit::Not {
                return Ok(Fit::Not);
            }
            whole = whole.min(k).min(v);
        }
        Ok(whole)
    }

    /// Cassandra runs the checks of `prepare` here and takes any refusal for "does not fit".
    fn fit_tuple(&self, items: &[Term], ty: &CqlType) -> Result<Fit, Error> {
        let fits = match ty {
            CqlType::Tuple(parts) => {
                items.len() <= parts.len() && self.fit_each(items.iter().zip(parts.iter()))
            }
            // There a user-defined type is a tuple type.
            CqlType::Udt { definition, .. } => {
                let types = definition.fields.iter().map(|(_, ty)| ty);
                items.len() <= definition.fields.len() && self.fit_each(items.iter().zip(types))
            }
            // Brackets around a term, not a tuple.
            _ => match items {
                [item] => return self.fit(item, ty),
                _ => false,
            },
        };
        Ok(if fits { Fit::Weak } else { Fit::Not })
    }

    fn fit_udt(&self, fields: &[(ast::Name, Term)], definition: &UserType) -> Result<Fit, Error> {
        let pairs = definition
            .fields
            .iter()
            .filter_map(|(name, ty)| Some((field_value(fields, name)?, ty)));
        Ok(if self.fit_each(pairs) { Fit::Weak } else { Fit::Not })
    }

    fn fit_each<'a>(&self, mut pairs: impl Iterator<Item = (&'a Term, &'a CqlType)>) -> bool {
        pairs.all(|(item, ty)| self.fit(item, ty).is_ok_and(|fit| fit != Fit::Not))
    }

    /// A call that cannot be resolved fits weakly: preparing it will say what is wrong.
    fn fit_call(&self, raw: &Term, ty: &CqlType) -> Fit {
        let key = (address(raw), ty.clone());
        if let Some(fit) = self.fits.borrow().get(&key) {
            return *fit;
        }
        let fit = match self.resolve(raw, Some(ty)) {
            // Cassandra does not look at the result of a generic function here.
            Ok(Some(function)) if function.is_generic() => Fit::Weak,
            Ok(Some(function)) => fit_receiver(&function.returns, ty),
            Ok(None) | Err(_) => Fit::Weak,
        };
        self.fits.borrow_mut().insert(key, fit);
        fit
    }

    /// The function of a call, an operation or a negation; `None` if there is none of that name.
    pub(super) fn resolve(
        &self,
        raw: &Term,
        receiver: Option<&CqlType>,
    ) -> Result<Option<Function>, Error> {
        match &raw.kind {
            TermKind::Function { name, arguments } => {
                let arguments: Vec<&Term> = arguments.iter().collect();
                self.with_arguments(&arguments, |arguments| {
                    functions::find(
                        name.keyspace.as_ref().map(|it| it.text.as_str()),
                        &name.name.text,
                        arguments,
                        receiver.and(self.table.as_deref()),
                        receiver,
                    )
                })
            }
            TermKind::Negate(inner) => self.with_arguments(&[inner], |arguments| {
                functions::resolve_negation(self.cx, &arguments[0], receiver).map(Some)
            }),
            TermKind::Operation { operator, left, right } => {
                self.with_arguments(&[left, right], |arguments| {
                    let [left, right] = arguments else { return Ok(None) };
                    functions::resolve_operation(self.cx, *operator, left, right, receiver)
                        .map(Some)
                })
            }
            _ => Ok(None),
        }
    }

    /// Hands the terms to overload resolution. A test that throws ends it in Cassandra; here the first such refusal is
    /// kept and wins over whatever came after.
    fn with_arguments<R>(
        &self,
        raws: &[&Term],
        resolve: impl FnOnce(&[Argument<'_>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let thrown: RefCell<Option<Error>> = RefCell::new(None);
        let fits: Vec<_> = raws
            .iter()
            .map(|raw| {
                |ty: &CqlType| {
                    self.fit(raw, ty).unwrap_or_else(|error| {
                        thrown.borrow_mut().get_or_insert(error);
                        Fit::Not
                    })
                }
            })
            .collect();
        let arguments: Vec<Argument<'_>> = raws
            .iter()
            .zip(&fits)
            .map(|(raw, fit)| Argument {
                text: print::term(raw, self.keyspace),
                ty: self.exact_type(raw),
                preferred: self.preferred_type(raw),
                fit,
            })
            .collect();
        let resolved = resolve(&arguments);
        match thrown.take() {
            Some(error) => Err(error),
            None => resolved,
        }
    }

    /// The type that the term has whatever receives it (`getExactTypeIfKnown`).
    pub(super) fn exact_type(&self, raw: &Term) -> Option<CqlType> {
        match &raw.kind {
            TermKind::Set(items) => items.iter().find_map(|it| self.exact_type(it)).map(frozen_set),
            TermKind::Map(entries) => {
                let key = entries.iter().find_map(|(key, _)| self.exact_type(key))?;
                let value = entries.iter().find_map(|(_, value)| self.exact_type(value))?;
                Some(frozen_map(key, value))
            }
            TermKind::Tuple(items) if items.len() > 1 => {
                let parts: Option<Vec<CqlType>> =
                    items.iter().map(|it| self.exact_type(it)).collect();
                Some(CqlType::Tuple(parts?.into()))
            }
            TermKind::TypeHint { ty, .. } => resolve_type(self.cx, self.keyspace, ty).ok(),
            TermKind::Function { .. } | TermKind::Negate(_) | TermKind::Operation { .. } => {
                let key = address(raw);
                if let Some(known) = self.returns.borrow().get(&key) {
                    return known.clone();
                }
                let returns = self.resolve(raw, None).ok().flatten().map(|it| it.returns);
                self.returns.borrow_mut().insert(key, returns.clone());
                returns
            }
            _ => None,
        }
    }

    /// The type that the term has, or that its literals prefer (`getCompatibleTypeIfKnown`).
    pub(super) fn preferred_type(&self, raw: &Term) -> Option<CqlType> {
        match &raw.kind {
            TermKind::Literal { kind, text } => Some(preferred(*kind, text)),
            TermKind::Set(items) => {
                common_type(items.iter().map(|it| self.preferred_type(it))).map(frozen_set)
            }
            TermKind::Map(entries) => {
                let keys = entries.iter().map(|(key, _)| self.preferred_type(key));
                let values = entries.iter().map(|(_, value)| self.preferred_type(value));
                Some(frozen_map(common_type(keys)?, common_type(values)?))
            }
            _ => self.exact_type(raw),
        }
    }
}

fn address(raw: &Term) -> usize {
    std::ptr::from_ref(raw).addr()
}

fn frozen_set(element: CqlType) -> CqlType {
    CqlType::Set { element: Arc::new(element), frozen: true }
}

fn frozen_map(key: CqlType, value: CqlType) -> CqlType {
    CqlType::Map { key: Arc::new(key), value: Arc::new(value), frozen: true }
}

/// The one type of those known that all others fit, if there is one.
pub fn common_type(types: impl Iterator<Item = Option<CqlType>>) -> Option<CqlType> {
    let known: Vec<CqlType> = types.flatten().collect();
    known.iter().find(|ty| known.iter().all(|other| fit_result(other, ty) != Fit::Not)).cloned()
}

/// The value given for a field of a user-defined type; of a field given twice the last.
pub(super) fn field_value<'t>(fields: &'t [(ast::Name, Term)], name: &str) -> Option<&'t Term> {
    fields.iter().rev().find(|(given, _)| given.text == name).map(|(_, value)| value)
}

/// The type that a scalar literal prefers (sheet A.9).
pub fn preferred(kind: LiteralKind, text: &str) -> CqlType {
    match kind {
        LiteralKind::String if text.is_ascii() => CqlType::Ascii,
        LiteralKind::String => CqlType::Text,
        LiteralKind::Integer => match number::parse_varint(text) {
            Some(it) if i32::try_from(&it).is_ok() => CqlType::Int,
            Some(it) if i64::try_from(&it).is_ok() => CqlType::Bigint,
            _ => CqlType::Varint,
        },
        LiteralKind::Uuid if text.as_bytes().get(14) == Some(&b'1') => CqlType::Timeuuid,
        LiteralKind::Uuid => CqlType::Uuid,
        LiteralKind::Float if is_double(text) => CqlType::Double,
        LiteralKind::Float => CqlType::Decimal,
        LiteralKind::Boolean => CqlType::Boolean,
        // Cassandra's slip.
        LiteralKind::Hex => CqlType::Tinyint,
        LiteralKind::Duration => CqlType::Duration,
    }
}

/// Whether the shortest digits of the nearest double are the literal's own.
fn is_double(text: &str) -> bool {
    let decimal = |text: &str| {
        number::parse_decimal(text).map(|(scale, unscaled): (i32, BigInt)| {
            BigDecimal::new(unscaled, i64::from(scale)).normalized().into_bigint_and_exponent()
        })
    };
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => decimal(text) == decimal(&format!("{double:e}")),
        _ => true,
    }
}

/// How well a scalar literal fits a type.
pub fn literal(kind: LiteralKind, text: &str, ty: &CqlType) -> Fit {
    use CqlType::{
        Ascii, Bigint, Blob, Counter, Date, Decimal, Double, Duration, Float, Inet, Int, Smallint,
        Text, Time, Timestamp, Timeuuid, Tinyint, Uuid, Varint,
    };
    if matches!(ty, CqlType::Tuple(_)) || (matches!(ty, CqlType::Custom(_)) && !is_timeuuid(ty)) {
        return Fit::Weak;
    }
    if preferred(kind, text) == *ty {
        return Fit::Exact;
    }
    let fits = match kind {
        LiteralKind::String => matches!(ty, Ascii | Text | Inet | Date | Time | Timestamp),
        LiteralKind::Integer => matches!(
            ty,
            Bigint
                | Counter
                | Date
                | Decimal
                | Double
                | Duration
                | Float
                | Int
                | Smallint
                | Time
                | Timestamp
                | Tinyint
                | Varint
        ),
        LiteralKind::Uuid => matches!(ty, Uuid | Timeuuid) || is_timeuuid(ty),
        LiteralKind::Float => matches!(ty, Decimal | Double | Float),
        LiteralKind::Boolean => false,
        LiteralKind::Hex => matches!(ty, Blob),
        LiteralKind::Duration => matches!(ty, Duration),
    };
    if fits { Fit::Weak } else { Fit::Not }
}

/// How well a value of type `given` fits a parameter or receiver: frozen or not is no matter at the top.
pub fn fit_result(given: &CqlType, receiver: &CqlType) -> Fit {
    if given == receiver || (given.freeze() == receiver.freeze()) {
        return Fit::Exact;
    }
    if *receiver == CqlType::Timeuuid && is_timeuuid(given) {
        return Fit::Exact;
    }
    if reads(receiver, given) { Fit::Weak } else { Fit::Not }
}

/// How well the result of a call fits what receives it: a frozen result does not fit a column of cells.
pub(super) fn fit_receiver(given: &CqlType, receiver: &CqlType) -> Fit {
    if receiver.is_multi_cell() && given != receiver {
        return if reads(receiver, given) { Fit::Weak } else { Fit::Not };
    }
    fit_result(given, receiver)
}

/// How well a hinted term fits a receiver: there frozen and not frozen are two.
fn fit_hint(hint: &CqlType, receiver: &CqlType) -> Fit {
    match () {
        () if hint == receiver => Fit::Exact,
        () if reads(receiver, hint) => Fit::Weak,
        () => Fit::Not,
    }
}

/// Whether a receiver's type can read the bytes of a given type (`isValueCompatibleWith`).
fn reads(receiver: &CqlType, given: &CqlType) -> bool {
    use CqlType::{
        Ascii, Bigint, Blob, Date, Int, List, Map, Set, Text, Time, Timestamp, Timeuuid, Tuple,
        Udt, Uuid, Varint, Vector,
    };
    match (receiver, given) {
        (Blob, _)
        | (Text, Ascii)
        | (Bigint, Timestamp)
        | (Varint, Int | Bigint | Timestamp)
        | (Uuid, Timeuuid)
        | (Timestamp | Time, Bigint)
        | (Date, Int) => true,
        (Timeuuid, _) => is_timeuuid(given),
        (List { element: a, frozen: x }, List { element: b, frozen: y })
        | (Set { element: a, frozen: x }, Set { element: b, frozen: y }) => x == y && reads(a, b),
        (Map { key: a, value: c, frozen: x }, Map { key: b, value: d, frozen: y }) => {
            x == y && reads(a, b) && reads(c, d)
        }
        (Tuple(a), Tuple(b)) => {
            b.len() <= a.len() && a.iter().zip(b.iter()).all(|(a, b)| reads(a, b))
        }
        (Udt { definition: a, frozen: x }, Udt { definition: b, frozen: y }) => {
            x == y && a.keyspace == b.keyspace && a.name == b.name
        }
        (Vector { element: a, dimensions: m }, Vector { element: b, dimensions: n }) => {
            m == n && reads(a, b)
        }
        _ => receiver == given,
    }
}
