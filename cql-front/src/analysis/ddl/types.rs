//! CREATE, ALTER and DROP TYPE.

use super::SchemaDecision;
use crate::analysis::{Context, type_names};
use crate::ast::{AlterType, AlterTypeKind, CreateType, Name, TypeName, TypeNameKind};
use crate::error::Error;
use crate::error::schema::{KeyspaceError, TypeError};
use cassling_engine::schema::{Keyspace, SchemaChange, Table};
use cassling_engine::types::{CqlType, UserType, quote_name};
use std::collections::BTreeSet;
use std::sync::Arc;

/// CREATE TYPE.
pub(super) fn create(
    cx: &Context<'_>,
    keyspace: &str,
    create: &CreateType,
) -> Result<SchemaDecision, Error> {
    let name = &create.name.name;
    let Some(found) = cx.schema.keyspace(keyspace) else {
        return Err(KeyspaceError::Missing { keyspace: keyspace.to_string() }.into());
    };
    if found.types.contains_key(&name.text) {
        return match create.if_not_exists {
            true => Ok(SchemaDecision::default()),
            false => {
                Err(Error::from(TypeError::Exists { name: name.text.clone() }).or_at(name.span))
            }
        };
    }
    let mut seen = BTreeSet::new();
    for (field, _) in &create.fields {
        if !seen.insert(&field.text) {
            let (field_name, name) = (field.text.clone(), name.text.clone());
            let e = TypeError::DuplicateField { field: field_name, name };
            return Err(Error::from(e).or_at(field.span));
        }
    }
    create.fields.iter().try_for_each(|(_, ty)| check_field(ty))?;
    let fields = create
        .fields
        .iter()
        .map(|(field, ty)| Ok((field.text.clone(), type_names::resolve(cx, keyspace, ty)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    Ok(put(UserType { keyspace: keyspace.to_string(), name: name.text.clone(), fields }, "CREATED"))
}

fn put(definition: UserType, what: &'static str) -> SchemaDecision {
    let (keyspace, name) = (definition.keyspace.clone(), definition.name.clone());
    let change = SchemaChange::PutType(Arc::new(definition));
    SchemaDecision::one(change, what, "TYPE", &keyspace, Some(&name))
}

/// What no field may be, whatever the names in it mean: a bare name counts as a non-frozen type.
fn check_field(ty: &TypeName) -> Result<(), Error> {
    let refuse = |e: TypeError| Err(Error::from(e).or_at(ty.span));
    if type_names::is_counter(ty) {
        return refuse(TypeError::CounterField {});
    }
    match ty.kind {
        TypeNameKind::User(_) => refuse(TypeError::MultiCellField {}),
        _ => Ok(()),
    }
}

/// ALTER TYPE.
pub(super) fn alter(
    cx: &Context<'_>,
    keyspace: &str,
    alter: &AlterType,
) -> Result<SchemaDecision, Error> {
    let name = &alter.name.name;
    let found = cx.schema.keyspace(keyspace);
    let Some((found, old)) = found.and_then(|k| k.types.get(&name.text).map(|t| (k, t))) else {
        return match alter.if_exists {
            true => Ok(SchemaDecision::default()),
            false => {
                let (keyspace, missing) = (keyspace.to_string(), name.text.clone());
                let e = TypeError::AlterMissing { keyspace, name: missing };
                Err(Error::from(e).or_at(name.span))
            }
        };
    };
    let new = match &alter.change {
        AlterTypeKind::AlterField { field, .. } => {
            return Err(Error::from(TypeError::AlterFieldType {}).or_at(field.span));
        }
        AlterTypeKind::Add { if_not_exists, field, ty } => {
            add_field(cx, found, old, field, ty, *if_not_exists)?
        }
        AlterTypeKind::Rename { if_exists, renames } => rename_fields(old, renames, *if_exists)?,
    };
    Ok(if new == **old { SchemaDecision::default() } else { put(new, "UPDATED") })
}

fn cql_name(ty: &UserType) -> String {
    format!("{}.{}", quote_name(&ty.keyspace), quote_name(&ty.name))
}

fn add_field(
    cx: &Context<'_>,
    keyspace: &Keyspace,
    old: &UserType,
    field: &Name,
    raw: &TypeName,
    if_not_exists: bool,
) -> Result<UserType, Error> {
    let refuse = |e: TypeError| Err(Error::from(e).or_at(field.span));
    let ty = cql_name(old);
    if old.fields.iter().any(|(name, _)| *name == field.text) {
        return match if_not_exists {
            true => Ok(old.clone()),
            false => refuse(TypeError::FieldExists { field: field.text.clone(), ty }),
        };
    }
    check_field(raw)?;
    let added = type_names::resolve(cx, &old.keyspace, raw)?;
    let field_ty = type_names::written(raw, false, Some(&old.keyspace));
    let field_name = field.text.clone();
    if mentions(&added, &old.name) {
        return refuse(TypeError::Circular { field: field_name, field_ty, ty });
    }
    let in_key = |table: &&Arc<Table>| {
        table.partition_key().iter().any(|column| mentions(&column.ty, &old.name))
    };
    let tables: Vec<String> =
        keyspace.tables.values().filter(in_key).map(|table| table.cql_name()).collect();
    if !tables.is_empty() {
        let tables = tables.join(", ");
        return refuse(TypeError::InPartitionKey { field: field_name, field_ty, ty, tables });
    }
    let mut new = old.clone();
    new.fields.push((field_name, added));
    Ok(new)
}

fn rename_fields(
    old: &UserType,
    renames: &[(Name, Name)],
    if_exists: bool,
) -> Result<UserType, Error> {
    let mut new = old.clone();
    for (from, to) in renames {
        match old.fields.iter().position(|(name, _)| *name == from.text) {
            Some(place) => new.fields[place].0 = to.text.clone(),
            None if if_exists => {}
            None => {
                let e = TypeError::UnknownField { field: from.text.clone(), ty: cql_name(old) };
                return Err(Error::from(e).or_at(from.span));
            }
        }
    }
    for (place, (name, _)) in new.fields.iter().enumerate() {
        if new.fields[..place].iter().any(|(other, _)| other == name) {
            let (field, keyspace) = (name.clone(), old.keyspace.clone());
            return Err(TypeError::RenamedTwice { field, keyspace }.into());
        }
    }
    Ok(new)
}

/// DROP TYPE.
pub(super) fn drop(
    cx: &Context<'_>,
    keyspace: &str,
    name: &str,
    if_exists: bool,
) -> Result<SchemaDecision, Error> {
    let found = cx.schema.keyspace(keyspace).filter(|k| k.types.contains_key(name));
    let (of, dropped) = (keyspace.to_string(), name.to_string());
    let Some(found) = found else {
        return match if_exists {
            true => Ok(SchemaDecision::default()),
            false => Err(TypeError::DropMissing { keyspace: of, name: dropped }.into()),
        };
    };
    let uses = |ty: &UserType| ty.fields.iter().any(|(_, field)| mentions(field, name));
    let types: Vec<&str> =
        found.types.values().filter(|ty| uses(ty)).map(|ty| ty.name.as_str()).collect();
    let tables: Vec<&str> = found
        .tables
        .values()
        .filter(|table| table.columns().iter().any(|column| mentions(&column.ty, name)))
        .map(|table| table.name.as_str())
        .collect();
    let users = if !types.is_empty() {
        format!("user types {}", types.join(", "))
    } else if !tables.is_empty() {
        format!("tables {}", tables.join(", "))
    } else {
        let change = SchemaChange::DropType { keyspace: of, name: dropped };
        return Ok(SchemaDecision::one(change, "DROPPED", "TYPE", keyspace, Some(name)));
    };
    Err(TypeError::UsedBy { keyspace: of, name: dropped, users }.into())
}

/// Whether the type is, or holds, the user-defined type of that name. Cassandra does not look into vectors, so a type
/// that only vectors use may be dropped.
fn mentions(ty: &CqlType, name: &str) -> bool {
    match ty {
        CqlType::List { element, .. } | CqlType::Set { element, .. } => mentions(element, name),
        CqlType::Map { key, value, .. } => mentions(key, name) || mentions(value, name),
        CqlType::Tuple(parts) => parts.iter().any(|part| mentions(part, name)),
        CqlType::Udt { definition, .. } => {
            definition.name == name || definition.fields.iter().any(|(_, f)| mentions(f, name))
        }
        _ => false,
    }
}
