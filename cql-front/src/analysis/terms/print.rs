//! Terms and types as Cassandra prints them in its messages: not always CQL that could be read back.
//!
//! `NULL` is in capitals, strings keep their quotes but not the doubling inside, a named marker is `?`, and a user-defined
//! type carries its keyspace even where it was written without.

use crate::ast::{QualifiedName, Term, TermKind, TypeName, TypeNameKind};
use cassling_engine::types::codec::is_timeuuid;
use cassling_engine::types::{CqlType, quote_name};

/// The term as messages print it; `keyspace` is that of unqualified types.
pub fn term(raw: &Term, keyspace: &str) -> String {
    let list =
        |terms: &[Term]| terms.iter().map(|it| term(it, keyspace)).collect::<Vec<_>>().join(", ");
    match &raw.kind {
        TermKind::Literal { kind: crate::ast::LiteralKind::String, text } => format!("'{text}'"),
        TermKind::Literal { text, .. } => text.clone(),
        TermKind::Null => "NULL".to_string(),
        TermKind::Marker(_) => "?".to_string(),
        TermKind::Function { name, arguments } => {
            format!("{}({})", qualified(name), list(arguments))
        }
        TermKind::List(items) => format!("[{}]", list(items)),
        TermKind::Set(items) => format!("{{{}}}", list(items)),
        TermKind::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", term(key, keyspace), term(value, keyspace)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        TermKind::Udt(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", name.text, term(value, keyspace)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        TermKind::Tuple(items) => format!("({})", list(items)),
        TermKind::TypeHint { ty, term: inner } => {
            format!("({}){}", type_name(ty, keyspace), term(inner, keyspace))
        }
        TermKind::Negate(inner) => format!("-{}", term(inner, keyspace)),
        TermKind::Operation { operator, left, right } => {
            format!("{} {operator} {}", term(left, keyspace), term(right, keyspace))
        }
    }
}

fn qualified(name: &QualifiedName) -> String {
    match &name.keyspace {
        Some(keyspace) => format!("{}.{}", quote_name(&keyspace.text), quote_name(&name.name.text)),
        None => quote_name(&name.name.text),
    }
}

/// The type as written; a user-defined one with its keyspace.
pub fn type_name(ty: &TypeName, keyspace: &str) -> String {
    let print = |ty: &TypeName| type_name(ty, keyspace);
    match &ty.kind {
        TypeNameKind::Native(name) => name.clone(),
        TypeNameKind::List(element) => format!("list<{}>", print(element)),
        TypeNameKind::Set(element) => format!("set<{}>", print(element)),
        TypeNameKind::Map(key, value) => format!("map<{}, {}>", print(key), print(value)),
        TypeNameKind::Tuple(parts) => {
            format!("tuple<{}>", parts.iter().map(print).collect::<Vec<_>>().join(", "))
        }
        TypeNameKind::Vector(element, dimensions) => {
            format!("vector<{}, {dimensions}>", print(element))
        }
        TypeNameKind::Frozen(inner) => format!("frozen<{}>", print(inner)),
        TypeNameKind::User(name) => {
            let keyspace = name.keyspace.as_ref().map_or(keyspace, |it| &it.text);
            format!("{keyspace}.{}", name.name.text)
        }
        TypeNameKind::Custom(class) => format!("'{class}'"),
    }
}

/// The type as messages print it: the class that functions announce for timeuuids is `timeuuid` there.
pub fn cql_type(ty: &CqlType) -> String {
    match ty {
        CqlType::Custom(_) if is_timeuuid(ty) => CqlType::Timeuuid.to_string(),
        _ => ty.to_string(),
    }
}
