//! Relations as Cassandra prints them in its messages: names quoted where CQL needs it, `NULL` in capitals.

use crate::analysis::terms::print;
use crate::ast::{InValues, Name, Relation, RelationKind, Term};
use cassling_engine::types::quote_name;

/// The relation; `keyspace` is that of unqualified types in it.
pub(super) fn relation(relation: &Relation, keyspace: &str) -> String {
    let term = |raw: &Term| print::term(raw, keyspace);
    let among = |values: &InValues| match values {
        InValues::List(list) => {
            format!("({})", list.iter().map(term).collect::<Vec<_>>().join(", "))
        }
        InValues::Marker(marker) => term(marker),
    };
    match &relation.kind {
        RelationKind::Column { column, operator, value } => {
            format!("{} {operator} {}", name(column), term(value))
        }
        RelationKind::In { column, values } => format!("{} IN {}", name(column), among(values)),
        RelationKind::Contains { column, key, value } => {
            let key = if *key { " KEY" } else { "" };
            format!("{} CONTAINS{key} {}", name(column), term(value))
        }
        RelationKind::Like { column, value } => format!("{} LIKE {}", name(column), term(value)),
        RelationKind::IsNotNull(column) => format!("{} IS NOT NULL", name(column)),
        RelationKind::Element { column, key, operator, value } => {
            format!("{}[{}] {operator} {}", name(column), term(key), term(value))
        }
        RelationKind::Tuple { columns, operator, value } => {
            format!("({}) {operator} {}", names(columns), term(value))
        }
        RelationKind::TupleIn { columns, values } => {
            format!("({}) IN {}", names(columns), among(values))
        }
        RelationKind::Token { columns, operator, value } => {
            format!("token({}) {operator} {}", names(columns), term(value))
        }
        RelationKind::CustomExpression { index, value } => {
            format!("expr({}, {})", name(&index.name), term(value))
        }
    }
}

fn name(name: &Name) -> String {
    quote_name(&name.text)
}

fn names(columns: &[Name]) -> String {
    columns.iter().map(name).collect::<Vec<_>>().join(", ")
}
