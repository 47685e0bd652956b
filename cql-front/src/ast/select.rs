//! SELECT: selectors, relations, orderings.

use super::{Arithmetic, Name, QualifiedName, Span, Term, TypeName};
use std::fmt;

/// SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// `SELECT JSON`.
    pub json: bool,
    /// `SELECT DISTINCT`.
    pub distinct: bool,
    /// What is selected; empty for `*`.
    pub selectors: Vec<SelectItem>,
    /// FROM.
    pub table: QualifiedName,
    /// WHERE.
    pub relations: Vec<Relation>,
    /// GROUP BY.
    pub group_by: Vec<Selector>,
    /// ORDER BY.
    pub order_by: Vec<Ordering>,
    /// PER PARTITION LIMIT: an integer literal or a marker.
    pub per_partition_limit: Option<Term>,
    /// LIMIT: an integer literal or a marker.
    pub limit: Option<Term>,
    /// ALLOW FILTERING.
    pub allow_filtering: bool,
}

/// A selector with its alias.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectItem {
    /// Selector.
    pub selector: Selector,
    /// Name after AS.
    pub alias: Option<Name>,
}

/// An expression with columns: what stands in a select list.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// What it is.
    pub kind: SelectorKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of [`Selector`].
#[derive(Clone, Debug, PartialEq)]
pub enum SelectorKind {
    /// A column.
    Column(Name),
    /// A literal, `null` or a marker (never a composed term).
    Term(Term),
    /// `f(a, b)`; `count(*)` and `count(1)` are [`SelectorKind::CountRows`].
    Function {
        /// Name.
        name: QualifiedName,
        /// Arguments.
        arguments: Vec<Selector>,
    },
    /// `count(*)`, `count(1)`.
    CountRows,
    /// `CAST(a AS type)`.
    Cast {
        /// What is cast.
        selector: Box<Selector>,
        /// To what.
        ty: TypeName,
    },
    /// `writetime(a)`, `maxwritetime(a)`, `ttl(a)`.
    CellTime {
        /// Which.
        kind: CellTime,
        /// Column, element, slice or field.
        of: Box<Selector>,
    },
    /// `a[index]`.
    Element {
        /// Collection.
        of: Box<Selector>,
        /// Index or key.
        index: Term,
    },
    /// `a[from..to]`.
    Slice {
        /// Collection.
        of: Box<Selector>,
        /// First key, inclusive.
        from: Option<Term>,
        /// Last key, inclusive.
        to: Option<Term>,
    },
    /// `a.field`.
    Field {
        /// Value of a user-defined type.
        of: Box<Selector>,
        /// Field.
        field: Name,
    },
    /// `(a, b)`, also `(a)`.
    Tuple(Vec<Selector>),
    /// `[a, b]`.
    List(Vec<Selector>),
    /// `{a, b}`.
    Set(Vec<Selector>),
    /// `{a: b}`; with bare names as keys it may be a user-defined type: `names` holds them then.
    Map {
        /// Keys and values.
        entries: Vec<(Selector, Selector)>,
    },
    /// `(type) a`.
    TypeHint {
        /// Type.
        ty: TypeName,
        /// Selector.
        selector: Box<Selector>,
    },
    /// `- a`.
    Negate(Box<Selector>),
    /// `a + b`.
    Operation {
        /// Operator.
        operator: Arithmetic,
        /// Left side.
        left: Box<Selector>,
        /// Right side.
        right: Box<Selector>,
    },
}

/// Which time of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CellTime {
    WriteTime,
    MaxWriteTime,
    Ttl,
}

/// An element of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub enum Ordering {
    /// `c`, `c ASC`, `c DESC`.
    Column {
        /// Column.
        column: Name,
        /// DESC.
        descending: bool,
    },
    /// `c ANN OF term`.
    Ann {
        /// Column.
        column: Name,
        /// Vector.
        vector: Term,
    },
}

/// A comparison operator of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
    Neq,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Eq => "=",
            Comparison::Lt => "<",
            Comparison::Lte => "<=",
            Comparison::Gt => ">",
            Comparison::Gte => ">=",
            Comparison::Neq => "!=",
        })
    }
}

/// One condition of WHERE.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// What it is.
    pub kind: RelationKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of [`Relation`].
#[derive(Clone, Debug, PartialEq)]
pub enum RelationKind {
    /// `c < a`.
    Column {
        /// Column.
        column: Name,
        /// Operator.
        operator: Comparison,
        /// Value.
        value: Term,
    },
    /// `c IN (a, b)` or `c IN ?`.
    In {
        /// Column.
        column: Name,
        /// Values.
        values: InValues,
    },
    /// `c CONTAINS a`, `c CONTAINS KEY a`.
    Contains {
        /// Column.
        column: Name,
        /// KEY.
        key: bool,
        /// Value.
        value: Term,
    },
    /// `c LIKE a`.
    Like {
        /// Column.
        column: Name,
        /// Pattern.
        value: Term,
    },
    /// `c IS NOT NULL`.
    IsNotNull(Name),
    /// `c[k] = a`.
    Element {
        /// Column.
        column: Name,
        /// Key or index.
        key: Term,
        /// Operator.
        operator: Comparison,
        /// Value.
        value: Term,
    },
    /// `(c, d) < (a, b)` or `(c, d) < ?`.
    Tuple {
        /// Columns.
        columns: Vec<Name>,
        /// Operator.
        operator: Comparison,
        /// A tuple literal or a marker.
        value: Term,
    },
    /// `(c, d) IN ((a, b), ?)` or `(c, d) IN ?`.
    TupleIn {
        /// Columns.
        columns: Vec<Name>,
        /// Tuple literals or markers, or one marker for all.
        values: InValues,
    },
    /// `token(c, d) < a`.
    Token {
        /// Columns.
        columns: Vec<Name>,
        /// Operator.
        operator: Comparison,
        /// Value.
        value: Term,
    },
    /// `expr(index, a)`.
    CustomExpression {
        /// Index.
        index: QualifiedName,
        /// Value.
        value: Term,
    },
}

/// The right side of IN.
#[derive(Clone, Debug, PartialEq)]
pub enum InValues {
    /// `(a, b)`, also `()`.
    List(Vec<Term>),
    /// `?`.
    Marker(Term),
}
