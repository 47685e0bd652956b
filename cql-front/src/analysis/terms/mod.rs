//! Terms: literals, markers and calls, checked against what receives them, then evaluated to wire bytes
//! (sheet A.9).
//!
//! A term is checked once ([`prepare`]) and evaluated with each execution ([`Term::bind`]). Literals become bytes at the
//! first step already, so that an INSERT with five values and two markers looks five times at ready bytes or at the
//! bytes the client sent, and copies none:
//!
//! ```text
//! INSERT INTO t (k, c, s)  VALUES (?,        7,          {'b', 'a'})
//!        prepared:                 Marker 0   00000007    00000002 00000001 61 00000001 62
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `fit` | which types a term fits, has, prefers |
//! | `prepare` | the checks of each kind, in Cassandra's order |
//! | `bind` | evaluation |
//! | [`mod@print`] | terms and types as messages show them |
//!
//! Not here: the right side of IN and of tuple relations (their elements are prepared one by one by
//! [`super::restrictions`]), and expressions with columns ([`super::selection`]).

mod bind;
mod fit;
mod prepare;
pub mod print;

pub use fit::{
    common_type, fit_result, literal as literal_fit, preferred as preferred_literal_type,
};

use super::{Context, Receiver};
use crate::ast;
use crate::error::Error;
use crate::functions::Function;
use cassling_engine::cluster::Cluster;
use cassling_engine::types::{CqlType, UserType};
use fit::Check;
use std::borrow::Cow;
use std::sync::Arc;

/// A value given for a marker. What the caller holds is borrowed, a number is held here: binding allocates nothing.
#[derive(Clone, Debug)]
pub enum BindValue<'v> {
    /// No value at all: the column is left as it is.
    Unset,
    /// Null.
    Null,
    /// Wire bytes.
    Bytes(Cow<'v, [u8]>),
    /// Wire bytes of a number: the first `len` of `bytes`.
    Number {
        /// How many.
        len: u8,
        /// Themselves.
        bytes: [u8; 8],
    },
}

impl BindValue<'_> {
    /// The wire bytes of a number.
    /// Requires: there are at most eight.
    pub fn number<const N: usize>(number: [u8; N]) -> BindValue<'static> {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&number);
        BindValue::Number { len: N as u8, bytes }
    }

    /// The wire bytes; `None` if it is null or unset.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            BindValue::Unset | BindValue::Null => None,
            BindValue::Bytes(bytes) => Some(bytes),
            BindValue::Number { len, bytes } => Some(&bytes[..usize::from(*len)]),
        }
    }

    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> BindValue<'static> {
        match self {
            BindValue::Unset => BindValue::Unset,
            BindValue::Null => BindValue::Null,
            BindValue::Bytes(bytes) => BindValue::Bytes(Cow::Owned(bytes.into_owned())),
            BindValue::Number { len, bytes } => BindValue::Number { len, bytes },
        }
    }
}

impl PartialEq for BindValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (BindValue::Unset, BindValue::Unset) | (BindValue::Null, BindValue::Null) => true,
            (a, b) => a.bytes().is_some() && a.bytes() == b.bytes(),
        }
    }
}

impl Eq for BindValue<'_> {}

/// What a term has become once values are bound: validated wire bytes, sets and maps sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound<'v> {
    /// Unset.
    Unset,
    /// Null.
    Null,
    /// Wire bytes of the receiver's type.
    Value(Cow<'v, [u8]>),
}

/// What a term is evaluated with.
#[derive(Clone, Copy, Debug)]
pub struct Env<'v> {
    /// Values of the markers, as many as the plan has.
    pub values: &'v [BindValue<'v>],
    /// Gives `now()`, `uuid()`, the current time.
    pub cluster: &'v Cluster,
}

/// How well a term fits a type (Cassandra's `AssignmentTestable.TestResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It cannot be assigned.
    Not,
    /// It can, by a conversion or because its type is open.
    Weak,
    /// It has exactly that type.
    Exact,
}

/// A checked term.
#[derive(Clone, Debug)]
pub struct Term(Node);

/// Kinds of checked terms. Composed ones stand only for what cannot be bytes yet: a marker or a call is inside.
#[derive(Clone, Debug)]
enum Node {
    Null,
    Constant(Box<[u8]>),
    Marker { index: usize, ty: CqlType },
    List(Vec<Term>),
    Set { element: Arc<CqlType>, items: Vec<Term> },
    Map { key: Arc<CqlType>, entries: Vec<(Term, Term)> },
    Vector { element: Arc<CqlType>, items: Vec<Term> },
    Tuple(Vec<Term>),
    Udt { definition: Arc<UserType>, frozen: bool, fields: Vec<Term> },
    Call { function: Box<Function>, arguments: Vec<Term> },
}

/// Checks `raw` against what receives it and notes the receivers of markers inside.
///
/// # Errors
/// Cassandra's text, e.g. `Invalid STRING constant (abc) for "c" of type int`.
pub fn prepare(cx: &Context<'_>, raw: &ast::Term, receiver: &Receiver) -> Result<Term, Error> {
    Check::new(cx, &receiver.keyspace, &receiver.table).prepare(raw, receiver)
}

/// How well `raw` fits the type. Where Cassandra's test throws ([`try_test`]) it does not fit.
pub fn test(cx: &Context<'_>, raw: &ast::Term, ty: &CqlType) -> Fit {
    try_test(cx, cx.keyspace.unwrap_or_default(), raw, ty).unwrap_or(Fit::Not)
}

/// How well `raw` fits the type; types in hints belong to `keyspace`.
///
/// # Errors
/// `Unexpected receiver type ..` for a `[..]` literal that meets neither list nor vector, and the texts of
/// [`resolve_type`] for a hint.
pub fn try_test(
    cx: &Context<'_>,
    keyspace: &str,
    raw: &ast::Term,
    ty: &CqlType,
) -> Result<Fit, Error> {
    Check::new(cx, keyspace, "").fit(raw, ty)
}

/// The type that `raw` has whatever receives it (Cassandra's `getExactTypeIfKnown`): that of a call or hint.
pub fn exact_type(cx: &Context<'_>, keyspace: &str, raw: &ast::Term) -> Option<CqlType> {
    Check::new(cx, keyspace, "").exact_type(raw)
}

/// The type that `raw` has, or that its literals prefer (Cassandra's `getCompatibleTypeIfKnown`). `[1, 2]` has none:
/// it may be a list or a vector.
pub fn preferred_type(cx: &Context<'_>, keyspace: &str, raw: &ast::Term) -> Option<CqlType> {
    Check::new(cx, keyspace, "").preferred_type(raw)
}

/// The type as written, resolved: user-defined types looked up in `keyspace`, frozen-ness as Cassandra sees it.
///
/// # Errors
/// `Unknown type ks.t` and the texts of sheet A.11 about nested, frozen, vector, counter and duration types.
pub fn resolve_type(
    cx: &Context<'_>,
    keyspace: &str,
    raw: &ast::TypeName,
) -> Result<CqlType, Error> {
    super::type_names::resolve(cx, keyspace, raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{InsertSource, Statement};
    use cassling_engine::cluster::ClusterConfig;
    use cassling_engine::schema::Schema;
    use std::collections::BTreeMap;

    fn term(literal: &str) -> ast::Term {
        let text = format!("INSERT INTO t (c) VALUES ({literal})");
        let Statement::Insert(insert) = crate::parser::parse(&text).unwrap().statement else {
            panic!("an INSERT");
        };
        let InsertSource::Values { mut values, .. } = insert.source else { panic!("VALUES") };
        values.remove(0)
    }

    /// Name and type of the first marker, as a real server announced them.
    #[test]
    fn markers_are_named_after_what_they_are_part_of() {
        let tuple = CqlType::Tuple([CqlType::Int, CqlType::Text].into());
        let nested = CqlType::Tuple([CqlType::Int, tuple.clone()].into());
        let vector = CqlType::Vector { element: Arc::new(CqlType::Float), dimensions: 2 };
        let fields = vec![("street".to_string(), CqlType::Text), ("no".to_string(), CqlType::Int)];
        let definition = UserType { keyspace: "ks".into(), name: "addr".into(), fields };
        let udt = CqlType::Udt { definition: Arc::new(definition), frozen: true };
        let cases = [
            (CqlType::Int, "?", "c int"),
            (CqlType::Int, "(?)", "c int"),
            (CqlType::Int, "-?", "arg0(system._negate) int"),
            (CqlType::Int, "(int)? + 1", "arg0(system._add) int"),
            (CqlType::Int, "abs((int)?)", "arg0(system.abs) int"),
            (CqlType::Text, "'a' + (text)?", "arg1(system._add) text"),
            (CqlType::Blob, "intAsBlob(?)", "arg0(system.intasblob) int"),
            (tuple, "(1, ?)", "c[1] text"),
            (nested, "(1, (?, 'a'))", "c[1][0] int"),
            (vector, "[?, 1]", "value(c) float"),
            (udt, "{no: ?}", "c.no int"),
        ];
        let schema = Schema { version: uuid::Uuid::nil(), keyspaces: BTreeMap::new() };
        for (ty, literal, expected) in cases {
            let cx = Context::new(&schema, Some("ks"), 0, &[], 1);
            let (keyspace, table, name) = ("ks".to_string(), "t".to_string(), "c".to_string());
            prepare(&cx, &term(literal), &Receiver { keyspace, table, name, ty }).unwrap();
            let marker = cx.into_markers(&[None]).remove(0);
            assert_eq!(format!("{} {}", marker.name, marker.ty), expected, "{literal}");
        }
    }

    #[test]
    fn constants_and_markers_are_not_copied() {
        let schema = Schema { version: uuid::Uuid::nil(), keyspaces: BTreeMap::new() };
        let cx = Context::new(&schema, None, 0, &[], 1);
        let receiver = Receiver {
            keyspace: String::new(),
            table: String::new(),
            name: "c".to_string(),
            ty: CqlType::Int,
        };
        let cluster = Cluster::build(ClusterConfig::default()).unwrap();
        let values = [BindValue::Bytes(vec![0, 0, 0, 7].into())];
        for literal in ["7", "?"] {
            let term = prepare(&cx, &term(literal), &receiver).unwrap();
            let bound = term.bind(&Env { values: &values, cluster: &cluster }).unwrap();
            assert!(matches!(bound, Bound::Value(Cow::Borrowed([0, 0, 0, 7]))), "{literal}");
        }
    }
}
