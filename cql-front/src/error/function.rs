//! Refusals and failures of function calls, casts and operators (sheet G).

use super::{Code, Field};
use std::fmt;

/// A call that cannot be resolved or that fails. Names are as messages print them: `system.abs` for the function found,
/// the name as written where none was.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are named as in the texts below")]
pub enum FunctionError {
    /// No such function, in a select list.
    Unknown(String),
    /// No such function, in VALUES, SET, WHERE.
    UnknownCalled(String),
    /// The only function of that name has another number of parameters.
    ArgumentCount { function: String, required: usize, provided: usize },
    /// The same for a generic function, shown with its signature.
    GenericArgumentCount { signature: String },
    /// An argument does not fit the only function of that name.
    ArgumentType { argument: String, index: usize, function: String, ty: String },
    /// None of several functions fits.
    NoMatch { function: String, known: String },
    /// Several functions fit.
    Ambiguous { function: String, matching: String },
    /// A generic function's argument has no type of its own.
    CannotInfer { argument: String, signature: String },
    /// A generic function's argument is of the wrong kind; `wanted` is `a map argument`, `an argument of type int`.
    Requires { function: String, wanted: &'static str, argument: String, ty: String },
    /// Vectors of unlike sizes.
    Dimensions,
    /// A vector of no elements.
    NoDimensions,
    /// token() where no table is at hand.
    NoReceiver { function: String },
    /// token() for a table that is not there.
    NoReceiverTable { keyspace: String, table: String, function: String },
    /// An aggregate in VALUES, SET, WHERE.
    AggregateInWhere,
    /// The result does not fit what receives it; `function` is `function system.now` or `operation +`.
    CannotAssign { function: String, returns: String, name: String, ty: String },
    /// No operation for these operands.
    Unsupported { operator: char, left: String, right: String },
    /// Several operations for these operands.
    AmbiguousOperation { operator: char, left: String, right: String },
    /// Several negations.
    AmbiguousNegation,
    /// No cast to that type at all.
    CannotCast { value: String, ty: String },
    /// An unset argument.
    UnsetArgument { function: String },
    /// `blob_as_x` of bytes that are no x.
    Blob { function: String, value: String, ty: String },
    /// A zero vector for the cosine.
    ZeroVector { function: String },
    /// floor with a negative duration.
    NegativeDuration,
    /// floor with a start after the value.
    FloorStart,
    /// floor of a timestamp by less than milliseconds.
    FloorMillis { duration: String },
    /// floor of a date by less than days.
    FloorDays { ty: String, duration: String },
    /// floor of a time by more than a day.
    FloorTime,
    /// An operation that failed on its operands (0x1400).
    Operation { function: String, operator: char, left: String, right: String, reason: String },
    /// A fault of Cassandra's own, by its Java exception.
    Server(String),
}

impl FunctionError {
    /// Code of the native protocol.
    pub fn code(&self) -> Code {
        match self {
            FunctionError::Operation { .. } => Code::FunctionFailure,
            FunctionError::Server(_) => Code::ServerError,
            _ => Code::Invalid,
        }
    }

    /// What the error carries beside its message.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        match self {
            FunctionError::Operation { function, left, right, .. } => vec![
                ("keyspace", Field::Text("system".to_string())),
                ("function", Field::Text(function.clone())),
                ("arg_types", Field::Texts(vec![left.clone(), right.clone()])),
            ],
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionError::Unknown(name) => write!(f, "Unknown function '{name}'"),
            FunctionError::UnknownCalled(name) => write!(f, "Unknown function {name} called"),
            FunctionError::ArgumentCount { function, required, provided } => write!(
                f,
                "Invalid number of arguments in call to function {function}: {required} required but {provided} provided"
            ),
            FunctionError::GenericArgumentCount { signature } => {
                write!(f, "Invalid number of arguments for function {signature}")
            }
            FunctionError::ArgumentType { argument, index, function, ty } => write!(
                f,
                "Type error: {argument} cannot be passed as argument {index} of function {function} of type {ty}"
            ),
            FunctionError::NoMatch { function, known } => write!(
                f,
                "Invalid call to function {function}, none of its type signatures match (known type signatures: {known})"
            ),
            FunctionError::Ambiguous { function, matching } => write!(
                f,
                "Ambiguous call to function {function} (can be matched by following signatures: {matching}): use type casts to disambiguate"
            ),
            FunctionError::CannotInfer { argument, signature } => write!(
                f,
                "Cannot infer type of argument {argument} in call to function {signature}: use type casts to disambiguate"
            ),
            FunctionError::Requires { function, wanted, argument, ty } => write!(
                f,
                "Function {function} requires {wanted}, but found argument {argument} of type {ty}"
            ),
            FunctionError::Dimensions => {
                f.write_str("All arguments must have the same vector dimensions")
            }
            FunctionError::NoDimensions => {
                f.write_str("vectors may only have positive dimensions; given 0")
            }
            FunctionError::NoReceiver { function } => {
                write!(f, "No receiver keyspace has been specified for function {function}")
            }
            FunctionError::NoReceiverTable { keyspace, table, function } => write!(
                f,
                "The receiver table {keyspace}.{table} specified by call to function {function} hasn't been found"
            ),
            FunctionError::AggregateInWhere => {
                f.write_str("Aggregation function are not supported in the where clause")
            }
            FunctionError::CannotAssign { function, returns, name, ty } => write!(
                f,
                "Type error: cannot assign result of {function} (type {returns}) to {name} (type {ty})"
            ),
            FunctionError::Unsupported { operator, left, right } => {
                write!(f, "the '{operator}' operation is not supported between {left} and {right}")
            }
            FunctionError::AmbiguousOperation { operator, left, right } => write!(
                f,
                "Ambiguous '{operator}' operation with args {left} and {right}: use type hint to disambiguate, example '(int) ?'"
            ),
            FunctionError::AmbiguousNegation => {
                f.write_str("Ambiguous negation: use type casts to disambiguate")
            }
            FunctionError::CannotCast { value, ty } => write!(f, "{value} cannot be cast to {ty}"),
            FunctionError::UnsetArgument { function } => {
                write!(f, "Invalid unset value for argument in call to function {function}")
            }
            FunctionError::Blob { function, value, ty } => write!(
                f,
                "In call to function {function}, value 0x{value} is not a valid binary representation for type {ty}"
            ),
            FunctionError::ZeroVector { function } => {
                write!(f, "Function {function} doesn't support all-zero vectors.")
            }
            FunctionError::NegativeDuration => {
                f.write_str("Negative durations are not supported by the floor function")
            }
            FunctionError::FloorStart => {
                f.write_str("The floor function starting time is greater than the provided time")
            }
            FunctionError::FloorMillis { duration } => write!(
                f,
                "The floor cannot be computed for the {duration} duration as precision is below 1 millisecond"
            ),
            FunctionError::FloorDays { ty, duration } => write!(
                f,
                "The floor on {ty} values cannot be computed for the {duration} duration as precision is below 1 day"
            ),
            FunctionError::FloorTime => f.write_str(
                "For time values, the floor can only be computed for durations smaller that a day",
            ),
            FunctionError::Operation { operator, left, right, reason, .. } => {
                write!(f, "the operation '{left} {operator} {right}' failed: {reason}")
            }
            FunctionError::Server(text) => f.write_str(text),
        }
    }
}
