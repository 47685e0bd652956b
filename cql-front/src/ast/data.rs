//! INSERT, UPDATE, DELETE, BATCH.

use super::{Name, QualifiedName, Relation, Span, Statement, Term};

/// USING TTL and TIMESTAMP: integer literals or markers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// TIMESTAMP.
    pub timestamp: Option<Term>,
    /// TTL.
    pub ttl: Option<Term>,
}

/// IF of a conditional statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Conditional {
    /// IF NOT EXISTS.
    NotExists,
    /// IF EXISTS.
    Exists,
    /// IF c = 1 AND ...: the text of each condition as written.
    Conditions(Vec<String>),
}

/// INSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// INTO.
    pub table: QualifiedName,
    /// What is inserted.
    pub source: InsertSource,
    /// IF NOT EXISTS.
    pub condition: Option<Conditional>,
    /// USING.
    pub attributes: Attributes,
}

/// The values of an INSERT.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `(columns) VALUES (values)`.
    Values {
        /// Columns.
        columns: Vec<Name>,
        /// Values.
        values: Vec<Term>,
    },
    /// `JSON value [DEFAULT UNSET]`.
    Json {
        /// A string literal or marker.
        value: Term,
        /// DEFAULT UNSET.
        default_unset: bool,
    },
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Table.
    pub table: QualifiedName,
    /// USING.
    pub attributes: Attributes,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub relations: Vec<Relation>,
    /// IF.
    pub condition: Option<Conditional>,
}

/// One assignment of SET.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Column.
    pub column: Name,
    /// What is done to it.
    pub operation: AssignmentKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of [`Assignment`].
#[derive(Clone, Debug, PartialEq)]
pub enum AssignmentKind {
    /// `c = a`.
    Set(Term),
    /// `c = c + a`, `c += a`.
    Add(Term),
    /// `c = c - a`, `c -= a`.
    Subtract(Term),
    /// `c = a + c`.
    Prepend(Term),
    /// `c[k] = a`.
    SetElement {
        /// Key or index.
        key: Term,
        /// Value.
        value: Term,
    },
    /// `c.field = a`.
    SetField {
        /// Field.
        field: Name,
        /// Value.
        value: Term,
    },
}

/// DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// What is deleted; empty: rows.
    pub targets: Vec<DeleteTarget>,
    /// FROM.
    pub table: QualifiedName,
    /// USING TIMESTAMP.
    pub timestamp: Option<Term>,
    /// WHERE.
    pub relations: Vec<Relation>,
    /// IF.
    pub condition: Option<Conditional>,
}

/// One target of DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteTarget {
    /// Column.
    pub column: Name,
    /// Part of it.
    pub part: DeletePart,
    /// Where it stands.
    pub span: Span,
}

/// Which part of a column is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum DeletePart {
    /// All of it.
    Whole,
    /// `c[k]`.
    Element(Term),
    /// `c.field`.
    Field(Name),
}

/// Kind of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BatchKind {
    Logged,
    Unlogged,
    Counter,
}

/// BATCH.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Kind.
    pub kind: BatchKind,
    /// USING of the batch.
    pub attributes: Attributes,
    /// INSERT, UPDATE and DELETE statements.
    pub statements: Vec<Statement>,
}
