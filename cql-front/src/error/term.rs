//! Refusals of literals, markers and values (sheet A.9).

use super::Code;
use crate::ast::LiteralKind;
use cassling_engine::types::MarshalError;
use std::fmt;

/// A literal, marker or value that does not fit what receives it. Types and terms are kept as messages print them.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are named as in the texts below")]
pub enum TermError {
    /// A scalar literal for a type of another kind.
    Constant { kind: LiteralKind, text: String, name: String, ty: String },
    /// Text or bytes that are no value of the type.
    Value(MarshalError),
    /// `null` for a counter.
    NullCounter,
    /// `[a, b]` for what is neither list nor vector.
    UnexpectedReceiver { ty: String },
    /// A literal of the wrong shape; `shape` is `set`, `map`, `user type`, `tuple type`.
    Shape { shape: &'static str, name: String, ty: String },
    /// An element, key or field of the wrong type; `part` is `value 'a'`, `key 1`, `field street`.
    Part { shape: &'static str, name: String, part: String, ty: String },
    /// A marker inside a collection literal.
    MarkerInCollection { shape: &'static str, name: String },
    /// A null inside a collection.
    NullInCollection,
    /// A null or unset element of a vector.
    NullInVector,
    /// An unset key of a map literal.
    UnsetMapKey,
    /// A vector literal of another size.
    VectorSize { name: String, ty: String, expected: u32, given: usize },
    /// More components than the tuple has.
    TupleSize { name: String, ty: String, expected: usize, given: usize },
    /// An unset component of a tuple.
    UnsetComponent(usize),
    /// A field that the user-defined type does not have.
    UnknownField { field: String, ty: String },
    /// An unset field of a user-defined type.
    UnsetField { field: String, ty: String },
    /// A tuple literal for a user-defined type: a fault of Cassandra's own.
    TupleForUserType,
    /// `(type) term` where the term is not of that type.
    HintedValue { value: String, ty: String },
    /// `(type) term` where that type is not the receiver's.
    Hint { value: String, name: String, ty: String },
    /// A marker without a value.
    NoValue,
}

impl TermError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            TermError::Value(e) if e.server_error => Code::ServerError,
            TermError::TupleForUserType => Code::ServerError,
            _ => Code::Invalid,
        }
    }
}

impl fmt::Display for TermError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermError::Constant { kind, text, name, ty } => {
                write!(f, "Invalid {kind} constant ({text}) for \"{name}\" of type {ty}")
            }
            TermError::Value(e) => e.fmt(f),
            TermError::NullCounter => {
                f.write_str("Invalid null value for counter increment/decrement")
            }
            TermError::UnexpectedReceiver { ty } => {
                write!(f, "Unexpected receiver type '{ty}'; only list and vector are expected")
            }
            TermError::Shape { shape, name, ty } => {
                write!(f, "Invalid {shape} literal for {name} of type {ty}")
            }
            TermError::Part { shape, name, part, ty } => {
                write!(f, "Invalid {shape} literal for {name}: {part} is not of type {ty}")
            }
            TermError::MarkerInCollection { shape, name } => write!(
                f,
                "Invalid {shape} literal for {name}: bind variables are not supported inside collection literals"
            ),
            TermError::NullInCollection => f.write_str("null is not supported inside collections"),
            TermError::NullInVector => f.write_str("null is not supported inside vectors"),
            TermError::UnsetMapKey => f.write_str("unset value is not supported for map keys"),
            TermError::VectorSize { name, ty, expected, given } => write!(
                f,
                "Invalid vector literal for {name} of type {ty}; expected {expected} elements, but given {given}"
            ),
            TermError::TupleSize { name, ty, expected, given } => write!(
                f,
                "Invalid tuple literal for {name}: too many elements. Type {ty} expects {expected} but got {given}"
            ),
            TermError::UnsetComponent(index) => {
                write!(f, "Invalid unset value for tuple field number {index}")
            }
            TermError::UnknownField { field, ty } => {
                write!(f, "Unknown field '{field}' in value of user defined type {ty}")
            }
            TermError::UnsetField { field, ty } => {
                write!(f, "Invalid unset value for field '{field}' of user defined type {ty}")
            }
            TermError::TupleForUserType => f.write_str(
                "java.lang.ClassCastException: class org.apache.cassandra.cql3.Tuples$Value cannot be cast to class org.apache.cassandra.cql3.UserTypes$Value",
            ),
            TermError::HintedValue { value, ty } => write!(f, "Cannot cast value {value} to type {ty}"),
            TermError::Hint { value, name, ty } => {
                write!(f, "Cannot assign value {value} to {name} of type {ty}")
            }
            TermError::NoValue => f.write_str("Invalid amount of bind variables"),
        }
    }
}
