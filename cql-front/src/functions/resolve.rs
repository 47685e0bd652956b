//! Which function a call means (Cassandra's `FunctionResolver`).

use super::{Argument, Function, generic, registry};
use crate::analysis::terms::{Fit, fit_result, print};
use crate::ast::Arithmetic;
use crate::error::Error;
use crate::error::function::FunctionError;
use cassling_engine::schema::Table;
use cassling_engine::types::{CqlType, quote_name};

/// See [`super::find`].
pub(super) fn find(
    keyspace: Option<&str>,
    name: &str,
    arguments: &[Argument<'_>],
    table: Option<&Table>,
    receiver: Option<&CqlType>,
) -> Result<Option<Function>, Error> {
    if keyspace.is_some_and(|it| it != "system") {
        return Ok(None);
    }
    if let Some(feature) = registry::unsupported(name) {
        return Err(Error::from(feature));
    }
    if let Some(built) = generic::build(name, arguments, table, receiver)? {
        check_arguments(&built, arguments)?;
        return Ok(Some(built));
    }
    let mut candidates = registry::named(name);
    match candidates.len() {
        0 => Ok(None),
        1 => {
            let only = candidates.remove(0);
            check_arguments(&only, arguments)?;
            Ok(Some(only))
        }
        _ => {
            let written = match keyspace {
                Some(keyspace) => format!("{keyspace}.{name}"),
                None => name.to_string(),
            };
            pick(&candidates, arguments, receiver).map(Some).map_err(|refusal| {
                let function = written;
                Error::new(match refusal {
                    Refusal::None => {
                        FunctionError::NoMatch { function, known: signatures(&candidates) }
                    }
                    Refusal::Several(matching) => {
                        let matching = matching.into_iter().cloned().collect::<Vec<_>>();
                        FunctionError::Ambiguous { function, matching: signatures(&matching) }
                    }
                })
            })
        }
    }
}

/// See [`super::resolve_operation`].
pub(super) fn operation(
    operator: Arithmetic,
    left: &Argument<'_>,
    right: &Argument<'_>,
    receiver: Option<&CqlType>,
) -> Result<Function, Error> {
    let candidates = registry::operations(operator);
    let pair = [left, right];
    let (symbol, texts) = (symbol(operator), (left.text.clone(), right.text.clone()));
    pick_refs(&candidates, &pair, receiver).or_else(|refusal| {
        let (left, right) = texts;
        let Refusal::Several(matching) = refusal else {
            return Err(Error::new(FunctionError::Unsupported { operator: symbol, left, right }));
        };
        // Literals take the receiver's type; a marker does not, and must be hinted.
        let wanted = receiver.filter(|_| !pair.iter().any(|it| it.text == "?"));
        let typed = wanted
            .and_then(|ty| matching.into_iter().find(|it| it.parameters.iter().all(|p| p == ty)));
        typed.cloned().ok_or_else(|| {
            Error::new(FunctionError::AmbiguousOperation { operator: symbol, left, right })
        })
    })
}

/// See [`super::resolve_negation`].
pub(super) fn negation(
    argument: &Argument<'_>,
    receiver: Option<&CqlType>,
) -> Result<Function, Error> {
    let candidates = registry::negations();
    pick_refs(&candidates, &[argument], receiver).map_err(|refusal| {
        Error::new(match refusal {
            Refusal::None => FunctionError::NoMatch {
                function: "system._negate".to_string(),
                known: signatures(&candidates),
            },
            Refusal::Several(_) => FunctionError::AmbiguousNegation,
        })
    })
}

fn symbol(operator: Arithmetic) -> char {
    operator.to_string().chars().next().expect("an operator is a sign")
}

/// Why no function was picked.
enum Refusal<'f> {
    None,
    Several(Vec<&'f Function>),
}

fn pick<'f>(
    candidates: &'f [Function],
    arguments: &[Argument<'_>],
    receiver: Option<&CqlType>,
) -> Result<Function, Refusal<'f>> {
    pick_refs(candidates, &arguments.iter().collect::<Vec<_>>(), receiver)
}

/// The first candidate that all arguments fit exactly, else the only one that they fit at all, among those whose result
/// fits the receiver.
fn pick_refs<'f>(
    candidates: &'f [Function],
    arguments: &[&Argument<'_>],
    receiver: Option<&CqlType>,
) -> Result<Function, Refusal<'f>> {
    let mut matching: Vec<&Function> = Vec::new();
    for candidate in candidates {
        if receiver.is_some_and(|ty| fit_result(&candidate.returns, ty) == Fit::Not) {
            continue;
        }
        match fit_all(candidate, arguments) {
            Fit::Exact => return Ok(candidate.clone()),
            Fit::Weak => matching.push(candidate),
            Fit::Not => {}
        }
    }
    match matching.as_slice() {
        [] => Err(Refusal::None),
        [only] => Ok((*only).clone()),
        _ => Err(Refusal::Several(matching)),
    }
}

fn fit_all(candidate: &Function, arguments: &[&Argument<'_>]) -> Fit {
    if candidate.parameters.len() != arguments.len() {
        return Fit::Not;
    }
    let mut whole = Fit::Exact;
    for (argument, ty) in arguments.iter().zip(&candidate.parameters) {
        match (argument.fit)(ty) {
            Fit::Not => return Fit::Not,
            fit => whole = whole.min(fit),
        }
    }
    whole
}

/// The checks of a function that is the only one of its name.
fn check_arguments(function: &Function, arguments: &[Argument<'_>]) -> Result<(), Error> {
    let (required, provided) = (function.parameters.len(), arguments.len());
    if required != provided {
        let function = function.full_name();
        return Err(Error::new(FunctionError::ArgumentCount { function, required, provided }));
    }
    for (index, (argument, ty)) in arguments.iter().zip(&function.parameters).enumerate() {
        if (argument.fit)(ty) == Fit::Not {
            return Err(Error::new(FunctionError::ArgumentType {
                argument: argument.text.clone(),
                index,
                function: function.full_name(),
                ty: print::cql_type(ty),
            }));
        }
    }
    Ok(())
}

/// The functions as messages list them. Cassandra's order is that of a hash table; ours is alphabetical.
fn signatures(functions: &[Function]) -> String {
    let mut texts: Vec<String> = functions
        .iter()
        .map(|function| {
            let parameters: Vec<String> = function.parameters.iter().map(print::cql_type).collect();
            let (name, returns) = (quote_name(&function.name), print::cql_type(&function.returns));
            format!("system.{name} : ({}) -> {returns}", parameters.join(", "))
        })
        .collect();
    texts.sort();
    texts.join(", ")
}
