//! What can be called: native scalar functions, aggregates, casts and operators (sheet G).
//!
//! A call is resolved once, against the types of its arguments, to a [`Function`]; then it takes wire bytes and gives wire
//! bytes, a row at a time. Which of several functions of a name is meant follows Cassandra's rule:
//!
//! ```text
//! abs(-5)       abs : (int) -> int ... nine of them   5 is an int exactly: taken at once
//! abs(?)        all nine fit weakly                   Ambiguous call to function abs
//! int_as_blob('x')   the only one of its name         Type error: 'x' cannot be passed as argument 0 ...
//! max(x)        built for the type of x               no candidates at all: a generic function
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `registry` | which functions there are, by name |
//! | `resolve` | which of them a call means; the refusals |
//! | `generic` | functions built for their arguments' types |
//! | `number` | Java's numbers: conversions, arithmetic, [`math`] |
//! | `operation`, `cast`, `time`, `scalar`, `vector` | the bodies |
//! | `aggregate` | count, min, max, sum, avg |
//!
//! Not here: writetime, maxwritetime and ttl, which look at cells ([`crate::analysis::selection`]); user-defined functions, JSON and
//! masking, which are refused by name.

mod aggregate;
mod cast;
mod generic;
mod math;
mod number;
mod operation;
mod registry;
mod resolve;
mod scalar;
mod time;
mod vector;

pub use aggregate::Accumulator;

use crate::analysis::Context;
use crate::analysis::terms::{Env, Fit};
use crate::ast::Arithmetic;
use crate::error::Error;
use crate::error::function::FunctionError;
use cassling_engine::schema::Table;
use cassling_engine::types::CqlType;

/// An argument as overload resolution sees it.
pub struct Argument<'a> {
    /// As messages print it.
    pub text: String,
    /// Its type, if it has one of its own (a column, a call, a hint).
    pub ty: Option<CqlType>,
    /// The type that its literal prefers (sheet A.9), if it is one.
    pub preferred: Option<CqlType>,
    /// How well it fits a parameter type.
    pub fit: &'a dyn Fn(&CqlType) -> Fit,
}

impl Argument<'_> {
    /// Its own type, else the one that its literal prefers.
    fn known_type(&self) -> Option<&CqlType> {
        self.ty.as_ref().or(self.preferred.as_ref())
    }
}

/// A resolved native function or aggregate.
#[derive(Clone, Debug)]
pub struct Function {
    /// Keyspace-less name as it heads a column: `max`, `todate` ...
    pub name: String,
    /// Parameter types.
    pub parameters: Vec<CqlType>,
    /// Result type.
    pub returns: CqlType,
    /// Whether it is an aggregate.
    pub is_aggregate: bool,
    body: Body,
}

/// What a function does; the types of its parameters tell it how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Token,
    Uuid,
    Now,
    CurrentTimestamp,
    CurrentDate,
    CurrentTime,
    MinTimeuuid,
    MaxTimeuuid,
    ToDate,
    ToTimestamp,
    ToUnixTimestamp,
    Floor,
    ToBlob,
    FromBlob,
    MapKeys,
    MapValues,
    CollectionCount,
    CollectionMin,
    CollectionMax,
    CollectionSum,
    CollectionAvg,
    Abs,
    Exp,
    Log,
    Log10,
    Round,
    Cosine,
    Euclidean,
    DotProduct,
    Cast,
    Numeric(Arithmetic),
    Temporal(Arithmetic),
    Concatenate,
    Negate,
    CountRows,
    Count,
    Min,
    Max,
    Sum,
    Avg,
}

/// Finds the function a call means.
///
/// `keyspace` is the one written before the name; `table` is the table of the statement (for `token`); `receiver` is the
/// type the result goes to, if known.
///
/// # Errors
/// The texts of sheet G.4.
pub fn resolve(
    cx: &Context<'_>,
    keyspace: Option<&str>,
    name: &str,
    arguments: &[Argument<'_>],
    table: Option<&Table>,
    receiver: Option<&CqlType>,
) -> Result<Function, Error> {
    let _ = cx;
    find(keyspace, name, arguments, table, receiver)?.ok_or_else(|| {
        let name = match keyspace {
            Some(keyspace) => format!("{keyspace}.{name}"),
            None => name.to_string(),
        };
        Error::new(FunctionError::Unknown(name))
    })
}

/// [`resolve`]; `None` if there is no function of that name.
///
/// # Errors
/// As [`resolve`].
pub fn find(
    keyspace: Option<&str>,
    name: &str,
    arguments: &[Argument<'_>],
    table: Option<&Table>,
    receiver: Option<&CqlType>,
) -> Result<Option<Function>, Error> {
    resolve::find(keyspace, name, arguments, table, receiver)
}

/// Finds the function of an arithmetic operation `+ - * / %`.
///
/// # Errors
/// `the '+' operation is not supported between ..`, `Ambiguous '+' operation ..`.
pub fn resolve_operation(
    cx: &Context<'_>,
    operator: Arithmetic,
    left: &Argument<'_>,
    right: &Argument<'_>,
    receiver: Option<&CqlType>,
) -> Result<Function, Error> {
    let _ = cx;
    resolve::operation(operator, left, right, receiver)
}

/// Finds the function of a unary minus.
///
/// # Errors
/// `Ambiguous negation: use type casts to disambiguate` and the texts of sheet G.5.
pub fn resolve_negation(
    cx: &Context<'_>,
    argument: &Argument<'_>,
    receiver: Option<&CqlType>,
) -> Result<Function, Error> {
    let _ = cx;
    resolve::negation(argument, receiver)
}

/// Finds the function of `CAST(argument AS to)`; `None` if the type is already that (the cast is ignored).
///
/// # Errors
/// `%s cannot be cast to %s` and the texts of sheet G.3.
pub fn resolve_cast(
    cx: &Context<'_>,
    argument: &Argument<'_>,
    to: &CqlType,
) -> Result<Option<Function>, Error> {
    resolve_cast_as(cx, argument, to, &to.to_string())
}

/// [`resolve_cast`] with the target as written: `varchar` is the type text, but nothing is cast to it.
///
/// # Errors
/// As [`resolve_cast`].
pub fn resolve_cast_as(
    cx: &Context<'_>,
    argument: &Argument<'_>,
    to: &CqlType,
    written: &str,
) -> Result<Option<Function>, Error> {
    let _ = cx;
    if argument.ty.as_ref() == Some(to) {
        return Ok(None);
    }
    let name = format!("cast_as_{written}");
    match resolve::find(Some("system"), &name, std::slice::from_ref(argument), None, None)? {
        Some(function) => Ok(Some(function)),
        None => {
            let (value, ty) = (argument.text.clone(), written.to_string());
            Err(Error::new(FunctionError::CannotCast { value, ty }))
        }
    }
}

impl Function {
    fn new(name: &str, parameters: Vec<CqlType>, returns: CqlType, body: Body) -> Function {
        let is_aggregate = matches!(
            body,
            Body::CountRows | Body::Count | Body::Min | Body::Max | Body::Sum | Body::Avg
        );
        Function { name: name.to_string(), parameters, returns, is_aggregate, body }
    }

    /// The name with its keyspace, as messages print it.
    pub fn full_name(&self) -> String {
        format!("system.{}", self.name)
    }

    /// `min` for `max` and the other way round, under the same name: what Cassandra computes on a clustering column in
    /// descending order (a fault, sheet G.2).
    #[must_use]
    pub fn reversed(mut self) -> Function {
        self.body = match self.body {
            Body::Min => Body::Max,
            Body::Max => Body::Min,
            other => other,
        };
        self
    }

    /// Whether it was built for the types of its arguments.
    pub(crate) fn is_generic(&self) -> bool {
        generic::is_generic(self.body)
    }

    /// How a refused assignment names it.
    pub(crate) fn described(&self) -> String {
        match operation::operator(self.body) {
            Some(operator) => format!("operation {operator}"),
            None => format!("function {}", self.full_name()),
        }
    }

    /// Calls a scalar function; `None` is null.
    ///
    /// # Errors
    /// FUNCTION_FAILURE (0x1400) and the like.
    pub fn call(
        &self,
        env: &Env<'_>,
        arguments: &[Option<&[u8]>],
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.body {
            Body::Uuid => Ok(Some(env.cluster.random_uuid().into_bytes().to_vec())),
            Body::Now => Ok(Some(env.cluster.next_timeuuid().into_bytes().to_vec())),
            Body::CurrentTimestamp | Body::CurrentDate | Body::CurrentTime => {
                Ok(Some(time::current(self.body, env.cluster.clock().now_micros())))
            }
            _ => self.apply(arguments),
        }
    }

    /// Calls a scalar function whose result depends on its arguments alone.
    ///
    /// # Errors
    /// As [`Function::call`].
    pub fn apply(&self, arguments: &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, Error> {
        let mut values: Vec<&[u8]> = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let Some(bytes) = argument else { return Ok(None) };
            if bytes.is_empty() && self.empty_is_null(index) {
                return Ok(None);
            }
            values.push(bytes);
        }
        self.run(&values).map_err(Error::new)
    }

    /// Whether an empty value counts as null: for types that give it no meaning, unless bytes are passed on as they are.
    fn empty_is_null(&self, index: usize) -> bool {
        let meaningful = matches!(
            self.parameters.get(index),
            Some(CqlType::Ascii | CqlType::Text | CqlType::Blob) | None
        );
        !meaningful && !matches!(self.body, Body::Token | Body::ToBlob | Body::FromBlob)
    }

    fn run(&self, values: &[&[u8]]) -> Result<Option<Vec<u8>>, FunctionError> {
        match self.body {
            Body::Token => Ok(Some(scalar::token(values))),
            Body::ToBlob => Ok(Some(values[0].to_vec())),
            Body::FromBlob => scalar::from_blob(self, values[0]).map(Some),
            Body::MapKeys
            | Body::MapValues
            | Body::CollectionCount
            | Body::CollectionMin
            | Body::CollectionMax
            | Body::CollectionSum
            | Body::CollectionAvg => scalar::collection(self.body, &self.parameters[0], values[0]),
            Body::Abs | Body::Exp | Body::Log | Body::Log10 | Body::Round => {
                math::call(self.body, &self.parameters[0], values[0]).map(Some)
            }
            Body::Cosine | Body::Euclidean | Body::DotProduct => {
                vector::similarity(self, values[0], values[1]).map(Some)
            }
            Body::Cast => cast::cast(&self.parameters[0], &self.returns, values[0]),
            Body::Numeric(_) | Body::Temporal(_) | Body::Concatenate | Body::Negate => {
                operation::call(self, values)
            }
            Body::MinTimeuuid
            | Body::MaxTimeuuid
            | Body::ToDate
            | Body::ToTimestamp
            | Body::ToUnixTimestamp => {
                Ok(Some(time::convert(self.body, &self.parameters[0], values[0])))
            }
            Body::Floor => time::floor(&self.parameters[0], values).map(Some),
            Body::Uuid
            | Body::Now
            | Body::CurrentTimestamp
            | Body::CurrentDate
            | Body::CurrentTime => {
                unreachable!("these look at the cluster")
            }
            Body::CountRows | Body::Count | Body::Min | Body::Max | Body::Sum | Body::Avg => {
                let mut state = self.accumulator();
                let values: Vec<Option<&[u8]>> = values.iter().copied().map(Some).collect();
                state.take(&values)?;
                state.value()
            }
        }
    }

    /// A fresh state of an aggregate.
    pub fn accumulator(&self) -> Accumulator {
        Accumulator::new(self.body, self.parameters.first())
    }
}
