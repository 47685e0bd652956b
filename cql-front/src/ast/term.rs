//! Terms and types as written: what stands in VALUES, WHERE, SET, and behind a column's name.

use super::{Name, QualifiedName, Span};
use std::fmt;

/// Kind of a scalar literal, as Cassandra names it in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Cassandra's")]
pub enum LiteralKind {
    String,
    Integer,
    Uuid,
    Float,
    Boolean,
    Hex,
    Duration,
}

impl fmt::Display for LiteralKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LiteralKind::String => "STRING",
            LiteralKind::Integer => "INTEGER",
            LiteralKind::Uuid => "UUID",
            LiteralKind::Float => "FLOAT",
            LiteralKind::Boolean => "BOOLEAN",
            LiteralKind::Hex => "HEX",
            LiteralKind::Duration => "DURATION",
        })
    }
}

/// An expression without columns: what stands in VALUES, WHERE, SET.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of [`Term`].
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A scalar literal; `text` is the inside of a string (quotes undone), else the literal as written
    /// (hex with its `0x`; a minus sign belongs to the literal).
    Literal {
        /// Kind.
        kind: LiteralKind,
        /// Text.
        text: String,
    },
    /// `null`.
    Null,
    /// `?` or `:name`.
    Marker(Marker),
    /// `f(a, b)`.
    Function {
        /// Name.
        name: QualifiedName,
        /// Arguments.
        arguments: Vec<Term>,
    },
    /// `[a, b]`: list or vector.
    List(Vec<Term>),
    /// `{a, b}`, also `{}`.
    Set(Vec<Term>),
    /// `{a: b}`.
    Map(Vec<(Term, Term)>),
    /// `{field: a}`.
    Udt(Vec<(Name, Term)>),
    /// `(a, b)`, also `(a)`.
    Tuple(Vec<Term>),
    /// `(type) a`.
    TypeHint {
        /// Type.
        ty: TypeName,
        /// Term.
        term: Box<Term>,
    },
    /// `- a`, where `a` is no literal.
    Negate(Box<Term>),
    /// `a + b`.
    Operation {
        /// Operator.
        operator: Arithmetic,
        /// Left side.
        left: Box<Term>,
        /// Right side.
        right: Box<Term>,
    },
}

/// A bind marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Its place among the markers of the statement, from 0, in the order of the text.
    pub index: usize,
    /// Name of a `:name` marker.
    pub name: Option<Name>,
}

/// `+ - * / %`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
        })
    }
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// What it is.
    pub kind: TypeNameKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of [`TypeName`].
#[derive(Clone, Debug, PartialEq)]
pub enum TypeNameKind {
    /// A native type, in lower case: `int`, `varchar` ...
    Native(String),
    /// `list<t>`.
    List(Box<TypeName>),
    /// `set<t>`.
    Set(Box<TypeName>),
    /// `map<k, v>`.
    Map(Box<TypeName>, Box<TypeName>),
    /// `tuple<a, b>`.
    Tuple(Vec<TypeName>),
    /// `vector<t, n>`: the dimension as written (Java int syntax is checked later).
    Vector(Box<TypeName>, String),
    /// `frozen<t>`.
    Frozen(Box<TypeName>),
    /// A user-defined type.
    User(QualifiedName),
    /// `'org.apache...Type'`.
    Custom(String),
}
