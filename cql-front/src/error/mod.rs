//! Every refusal: Cassandra's code and text, and the place in the statement.
//!
//! One variant for each situation, grouped by the part of the language that raises it; the wording of a group stands
//! in one `Display` beside it, Cassandra's text letter for letter (sheet A, E, G; answers/).

pub mod function;
pub mod modification;
pub mod restriction;
pub mod schema;
pub mod selection;
pub mod session;
pub mod syntax;
pub mod term;

use crate::ast::{Feature, Span};
use cassling_engine::error::FailureReason;
use cassling_engine::metrics::Cost;
use cassling_engine::ring::Consistency;
use cassling_engine::trace::Trace;
use std::fmt;
use std::net::IpAddr;

/// Error codes of the native protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub enum Code {
    ServerError = 0x0000,
    ProtocolError = 0x000a,
    Unavailable = 0x1000,
    Overloaded = 0x1001,
    TruncateError = 0x1003,
    WriteTimeout = 0x1100,
    ReadTimeout = 0x1200,
    ReadFailure = 0x1300,
    FunctionFailure = 0x1400,
    WriteFailure = 0x1500,
    Syntax = 0x2000,
    Unauthorized = 0x2100,
    Invalid = 0x2200,
    Config = 0x2300,
    AlreadyExists = 0x2400,
    Unprepared = 0x2500,
}

/// A refused or failed statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What is wrong.
    pub kind: Box<ErrorKind>,
    /// Where in the statement's text, if a place is to blame.
    pub span: Option<Span>,
    /// Warnings that came beside the error.
    pub warnings: Vec<String>,
    /// What was spent until then, where nodes had been asked.
    pub spent: Option<Box<Spent>>,
}

/// What a statement had cost when it failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// Counters.
    pub cost: Cost,
    /// Trace lines, as those of [`crate::Outcome`].
    pub trace: Trace,
}

/// What is wrong, by the part of the language that says so.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorKind {
    /// The text is no CQL.
    Syntax(syntax::SyntaxError),
    /// WHERE, ORDER BY, LIMIT and what they restrict.
    Restriction(restriction::RestrictionError),
    /// The select list, DISTINCT, aggregates.
    Selection(selection::SelectionError),
    /// INSERT, UPDATE, DELETE, BATCH.
    Modification(modification::ModificationError),
    /// Keyspaces, tables, types, options.
    Schema(schema::SchemaError),
    /// Literals, markers, values.
    Term(term::TermError),
    /// Function calls, casts, operators.
    Function(function::FunctionError),
    /// Names of keyspaces and tables, prepared statements, paging, consistency.
    Session(session::SessionError),
    /// In Cassandra's grammar, not supported here (0x0000 `cassling does not support ...`).
    Unsupported(Feature),
    /// The engine could not do it.
    Engine(cassling_engine::error::Error),
}

impl ErrorKind {
    /// The error without a place.
    pub fn into_error(self) -> Error {
        Error::new(self)
    }
}

impl Error {
    /// An error at a place.
    pub fn at(kind: impl Into<ErrorKind>, span: Span) -> Error {
        Error { kind: Box::new(kind.into()), span: Some(span), warnings: Vec::new(), spent: None }
    }

    /// An error without a place.
    pub fn new(kind: impl Into<ErrorKind>) -> Error {
        Error { kind: Box::new(kind.into()), span: None, warnings: Vec::new(), spent: None }
    }

    /// The same with a place, unless it has one already.
    pub fn or_at(mut self, span: Span) -> Error {
        self.span.get_or_insert(span);
        self
    }

    /// The same with what was spent.
    pub fn with_spent(mut self, cost: Cost, trace: Trace) -> Error {
        if cost != Cost::default() || !trace.is_empty() {
            self.spent = Some(Box::new(Spent { cost, trace }));
        }
        self
    }

    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        use cassling_engine::error::Error as Engine;
        match self.kind.as_ref() {
            ErrorKind::Syntax(_) => Code::Syntax,
            ErrorKind::Restriction(e) => e.code(),
            ErrorKind::Selection(e) => e.code(),
            ErrorKind::Modification(e) => e.code(),
            ErrorKind::Schema(e) => e.code(),
            ErrorKind::Term(e) => e.code(),
            ErrorKind::Function(e) => e.code(),
            ErrorKind::Session(e) => e.code(),
            ErrorKind::Unsupported(_) => Code::ServerError,
            ErrorKind::Engine(e) => match e {
                Engine::Unavailable { .. } => Code::Unavailable,
                Engine::WriteTimeout { .. } => Code::WriteTimeout,
                Engine::ReadTimeout { .. } => Code::ReadTimeout,
                Engine::ReadFailure { .. } => Code::ReadFailure,
                Engine::Truncate(_) => Code::TruncateError,
                Engine::Oversized { .. } => Code::Invalid,
                Engine::Invalid(_) | Engine::Storage { .. } | Engine::Aborted(_) => {
                    Code::ServerError
                }
            },
        }
    }

    /// What the error carries beside its message, with the names of the Python driver
    /// (contracts.md 7): consistency levels as codes.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        use cassling_engine::error::Error as Engine;
        let level = |c: &Consistency| Field::Int(i64::from(c.code()));
        let count = |n: usize| Field::Int(n as i64);
        match self.kind.as_ref() {
            ErrorKind::Schema(e) => e.fields(),
            ErrorKind::Function(e) => e.fields(),
            ErrorKind::Engine(Engine::Unavailable { consistency, required, alive, .. }) => vec![
                ("consistency", level(consistency)),
                ("required_replicas", count(*required)),
                ("alive_replicas", count(*alive)),
            ],
            ErrorKind::Engine(Engine::WriteTimeout { consistency, received, required, .. }) => {
                vec![
                    ("consistency", level(consistency)),
                    ("required_responses", count(*required)),
                    ("received_responses", count(*received)),
                ]
            }
            ErrorKind::Engine(Engine::ReadTimeout {
                consistency,
                received,
                required,
                data_present,
            }) => vec![
                ("consistency", level(consistency)),
                ("required_responses", count(*required)),
                ("received_responses", count(*received)),
                ("data_retrieved", Field::Bool(*data_present)),
            ],
            ErrorKind::Engine(Engine::ReadFailure {
                consistency,
                received,
                required,
                failures,
                data_present,
                ..
            }) => {
                let code = |(address, reason): &(IpAddr, FailureReason)| {
                    (address.to_string(), i64::from(*reason as u16))
                };
                vec![
                    ("consistency", level(consistency)),
                    ("required_responses", count(*required)),
                    ("received_responses", count(*received)),
                    ("failures", count(failures.len())),
                    ("error_code_map", Field::Codes(failures.iter().map(code).collect())),
                    ("data_retrieved", Field::Bool(*data_present)),
                ]
            }
            _ => Vec::new(),
        }
    }
}

/// Value of one of an error's fields.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Field {
    Int(i64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Codes(Vec<(String, i64)>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind.as_ref() {
            ErrorKind::Syntax(e) => e.fmt(f),
            ErrorKind::Restriction(e) => e.fmt(f),
            ErrorKind::Selection(e) => e.fmt(f),
            ErrorKind::Modification(e) => e.fmt(f),
            ErrorKind::Schema(e) => e.fmt(f),
            ErrorKind::Term(e) => e.fmt(f),
            ErrorKind::Function(e) => e.fmt(f),
            ErrorKind::Session(e) => e.fmt(f),
            ErrorKind::Unsupported(feature) => write!(f, "cassling does not support {feature}"),
            ErrorKind::Engine(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! from_group {
    ($($group:ident: $ty:ty),* $(,)?) => {
        $(
            impl From<$ty> for ErrorKind {
                fn from(e: $ty) -> ErrorKind {
                    ErrorKind::$group(e)
                }
            }
            impl From<$ty> for Error {
                fn from(e: $ty) -> Error {
                    Error::new(e)
                }
            }
        )*
    };
}

from_group! {
    Syntax: syntax::SyntaxError,
    Restriction: restriction::RestrictionError,
    Selection: selection::SelectionError,
    Modification: modification::ModificationError,
    Schema: schema::SchemaError,
    Term: term::TermError,
    Function: function::FunctionError,
    Session: session::SessionError,
    Unsupported: Feature,
    Engine: cassling_engine::error::Error,
}
