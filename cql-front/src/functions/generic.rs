//! Functions that are built for the types of their arguments (Cassandra's `FunctionFactory`): token, min, max, those of
//! maps and collections, similarities of vectors.

use super::{Argument, Body, Function, registry};
use crate::analysis::terms::print;
use crate::error::Error;
use crate::error::function::FunctionError;
use cassling_engine::schema::Table;
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// Whether the body belongs to a function built here.
pub(super) fn is_generic(body: Body) -> bool {
    matches!(
        body,
        Body::Token
            | Body::Min
            | Body::Max
            | Body::MapKeys
            | Body::MapValues
            | Body::CollectionCount
            | Body::CollectionMin
            | Body::CollectionMax
            | Body::CollectionSum
            | Body::CollectionAvg
            | Body::Cosine
            | Body::Euclidean
            | Body::DotProduct
    )
}

/// The function of that name for these arguments; `None` if no generic function has the name.
pub(super) fn build(
    name: &str,
    arguments: &[Argument<'_>],
    table: Option<&Table>,
    receiver: Option<&CqlType>,
) -> Result<Option<Function>, Error> {
    let collection = |kind: Kind, body: Body| one(name, arguments, kind, body).map(Some);
    match name {
        "token" => token(table).map(Some),
        "min" => collection(Kind::Any, Body::Min),
        "max" => collection(Kind::Any, Body::Max),
        "map_keys" => collection(Kind::Map, Body::MapKeys),
        "map_values" => collection(Kind::Map, Body::MapValues),
        "collection_count" => collection(Kind::Collection, Body::CollectionCount),
        "collection_min" => collection(Kind::SetOrList, Body::CollectionMin),
        "collection_max" => collection(Kind::SetOrList, Body::CollectionMax),
        "collection_sum" => collection(Kind::Numeric, Body::CollectionSum),
        "collection_avg" => collection(Kind::Numeric, Body::CollectionAvg),
        "similarity_cosine" => similarity(name, arguments, receiver, Body::Cosine).map(Some),
        "similarity_euclidean" => similarity(name, arguments, receiver, Body::Euclidean).map(Some),
        "similarity_dot_product" => {
            similarity(name, arguments, receiver, Body::DotProduct).map(Some)
        }
        _ => Ok(None),
    }
}

/// token() takes the partition key of the statement's table.
fn token(table: Option<&Table>) -> Result<Function, Error> {
    let Some(table) = table else {
        return Err(Error::new(FunctionError::NoReceiver { function: "token".to_string() }));
    };
    let parameters = table.partition_key().iter().map(|column| column.ty.clone()).collect();
    Ok(Function::new("token", parameters, CqlType::Bigint, Body::Token))
}

/// What the one argument may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Map,
    Collection,
    SetOrList,
    Numeric,
}

impl Kind {
    /// The parameter as a signature shows it: both kinds of sets and lists alike.
    fn parameter(self) -> &'static str {
        match self {
            Kind::Any => "any",
            Kind::Map => "map",
            Kind::Collection => "collection",
            Kind::SetOrList | Kind::Numeric => "numeric_set_or_list",
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Kind::Any => "an argument",
            Kind::Map => "a map argument",
            Kind::Collection => "a collection argument",
            Kind::SetOrList => "a set or list argument",
            Kind::Numeric => "a numeric set/list argument",
        }
    }

    fn admits(self, ty: &CqlType) -> bool {
        match (self, ty) {
            (Kind::Any, _) | (Kind::Map, CqlType::Map { .. }) => true,
            (Kind::Collection, _) => ty.is_collection(),
            (Kind::SetOrList, CqlType::List { .. } | CqlType::Set { .. }) => true,
            (Kind::Numeric, CqlType::List { element, .. } | CqlType::Set { element, .. }) => {
                registry::NUMERIC.contains(element)
            }
            _ => false,
        }
    }
}

fn one(name: &str, arguments: &[Argument<'_>], kind: Kind, body: Body) -> Result<Function, Error> {
    let signature = format!("system.{name}({})", kind.parameter());
    let [argument] = arguments else {
        return Err(Error::new(FunctionError::GenericArgumentCount { signature }));
    };
    let Some(ty) = argument.known_type() else {
        let argument = argument.text.clone();
        return Err(Error::new(FunctionError::CannotInfer { argument, signature }));
    };
    if !kind.admits(ty) {
        return Err(requires(name, kind.wanted(), argument, ty));
    }
    let returns = match (body, ty) {
        (Body::Min | Body::Max, ty) => registry::announced(ty),
        (Body::MapKeys, CqlType::Map { key, .. }) => {
            CqlType::Set { element: Arc::clone(key), frozen: true }
        }
        (Body::MapValues, CqlType::Map { value, .. }) => {
            CqlType::List { element: Arc::clone(value), frozen: true }
        }
        (Body::CollectionCount, _) => CqlType::Int,
        (_, CqlType::List { element, .. } | CqlType::Set { element, .. }) => {
            element.as_ref().clone()
        }
        (_, other) => other.clone(),
    };
    Ok(Function::new(name, vec![ty.clone()], returns, body))
}

fn requires(name: &str, wanted: &'static str, argument: &Argument<'_>, ty: &CqlType) -> Error {
    Error::new(FunctionError::Requires {
        function: format!("system.{name}"),
        wanted,
        argument: argument.text.clone(),
        ty: print::cql_type(ty),
    })
}

fn float_vector(dimensions: u32) -> CqlType {
    CqlType::Vector { element: Arc::new(CqlType::Float), dimensions }
}

fn similarity(
    name: &str,
    arguments: &[Argument<'_>],
    receiver: Option<&CqlType>,
    body: Body,
) -> Result<Function, Error> {
    let signature = || format!("system.{name}(vector<float, n>, vector<float, n>)");
    let [left, right] = arguments else {
        return Err(Error::new(FunctionError::GenericArgumentCount { signature: signature() }));
    };
    let types = [vector_type(left, receiver)?, vector_type(right, receiver)?];
    let mut sizes = [0; 2];
    for (index, argument) in [left, right].into_iter().enumerate() {
        // An argument without a type takes that of the other.
        let Some(ty) = types[index].as_ref().or(types[1 - index].as_ref()) else {
            let argument = argument.text.clone();
            return Err(Error::new(FunctionError::CannotInfer {
                argument,
                signature: signature(),
            }));
        };
        sizes[index] = match ty {
            CqlType::Vector { element, dimensions } if **element == CqlType::Float => *dimensions,
            CqlType::List { .. } => {
                return Err(Error::new(FunctionError::Server(
                    "java.lang.ClassCastException: class org.apache.cassandra.db.marshal.ListType cannot be cast to class org.apache.cassandra.db.marshal.VectorType".to_string(),
                )));
            }
            ty => return Err(requires(name, "a float vector argument", argument, ty)),
        };
    }
    if sizes[0] != sizes[1] {
        return Err(Error::new(FunctionError::Dimensions));
    }
    let vector = float_vector(sizes[0]);
    Ok(Function::new(name, vec![vector.clone(), vector], CqlType::Float, body))
}

/// Type of an argument of a similarity. In a select list a literal `[..]` is a float vector of as many elements, whatever
/// they are; elsewhere it has no type and the receiver's is taken, as in Cassandra.
fn vector_type(
    argument: &Argument<'_>,
    receiver: Option<&CqlType>,
) -> Result<Option<CqlType>, Error> {
    if argument.ty.is_none() && receiver.is_none() && argument.text.starts_with('[') {
        return match count_elements(&argument.text) {
            0 => Err(Error::new(FunctionError::NoDimensions)),
            count => Ok(Some(float_vector(count))),
        };
    }
    Ok(argument.known_type().or(receiver).cloned())
}

/// Number of elements of a printed `[..]` literal. Strings in it are not told apart: a vector of them is refused anyway.
fn count_elements(text: &str) -> u32 {
    let (mut depth, mut count) = (0, 0);
    for sign in text.chars() {
        match sign {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth == 1 => count += 1,
            _ => {}
        }
    }
    if text == "[]" { 0 } else { count + 1 }
}
