//! CREATE TABLE and DROP TABLE.

use super::properties::Properties;
use super::{Given, SchemaDecision, is_word, options};
use crate::analysis::{Context, type_names};
use crate::ast::{ColumnDefinition, CreateTable, Feature, Name, QualifiedName};
use crate::error::Error;
use crate::error::schema::{KeyspaceError, TableError};
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, SchemaChange, Table, TableId, TableOptions,
};
use cassling_engine::types::{CqlType, quote_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name as it was written: with its keyspace only if that was.
pub(super) fn as_written(name: &QualifiedName) -> String {
    match &name.keyspace {
        Some(keyspace) => format!("{}.{}", keyspace.text, name.name.text),
        None => name.name.text.clone(),
    }
}

/// What Cassandra's parser refuses: doubles, masks, types that cannot be.
pub(super) fn check_written(create: &CreateTable) -> Result<(), Error> {
    let table = as_written(&create.name);
    let mut names = BTreeSet::new();
    for column in &create.columns {
        type_names::check(&column.ty)?;
        if column.masked {
            return Err(Error::from(TableError::Masking {}).or_at(column.name.span));
        }
        if !names.insert(&column.name.text) {
            let e = TableError::DuplicateColumn { column: column.name.text.clone(), table };
            return Err(Error::from(e).or_at(column.name.span));
        }
    }
    if create.primary_keys.len() > 1 {
        return Err(TableError::SeveralPrimaryKeys { table }.into());
    }
    let mut ordered = BTreeSet::new();
    for (column, _) in &create.clustering_order {
        if !ordered.insert(&column.text) {
            let e = TableError::DuplicateOrder { column: column.text.clone(), table };
            return Err(Error::from(e).or_at(column.span));
        }
    }
    Ok(())
}

/// CREATE TABLE.
pub(super) fn create(
    cx: &Context<'_>,
    given: &Given<'_>,
    create: &CreateTable,
) -> Result<SchemaDecision, Error> {
    let (keyspace, name) = (given.keyspace, &create.name.name.text);
    let properties = Properties(&create.properties);
    let read = options::read(properties, &TableOptions::default())?;
    let Some(found) = cx.schema.keyspace(keyspace) else {
        return Err(KeyspaceError::Missing { keyspace: keyspace.to_string() }.into());
    };
    if found.tables.contains_key(name) {
        return match create.if_not_exists {
            true => Ok(SchemaDecision::default()),
            false => {
                let (keyspace, table) = (keyspace.to_string(), name.clone());
                let e = TableError::Exists { keyspace, table };
                Err(Error::from(e).or_at(create.name.name.span))
            }
        };
    }
    properties.check_known(options::KNOWN)?;
    options::check_bounds(properties)?;
    let options = read.finish();
    let columns = columns(cx, keyspace, create)?;
    counters(&columns, &options)?;
    if create.compact_storage {
        return Err(compact(create, &columns));
    }
    let id = table_id(cx, given, create, properties)?;
    if !is_word(name) {
        let (keyspace, table) = (keyspace.to_string(), name.clone());
        let e = TableError::Name { keyspace, table };
        return Err(Error::from(e).or_at(create.name.name.span));
    }
    let table = Table::new(id, keyspace, name, columns, BTreeMap::new(), options);
    let change = SchemaChange::PutTable(Arc::new(table));
    Ok(SchemaDecision::one(change, "CREATED", "TABLE", keyspace, Some(name)))
}

/// DROP TABLE.
pub(super) fn drop(
    cx: &Context<'_>,
    keyspace: &str,
    name: &str,
    if_exists: bool,
) -> Result<SchemaDecision, Error> {
    let (of, table) = (keyspace.to_string(), name.to_string());
    match cx.schema.table(keyspace, name) {
        None if if_exists => Ok(SchemaDecision::default()),
        None => Err(TableError::Missing { keyspace: of, table }.into()),
        Some(_) => {
            let change = SchemaChange::DropTable { keyspace: of, table };
            Ok(SchemaDecision::one(change, "DROPPED", "TABLE", keyspace, Some(name)))
        }
    }
}

/// The columns, checked in Cassandra's order: types (by name), key, clustering order, statics.
fn columns(cx: &Context<'_>, keyspace: &str, create: &CreateTable) -> Result<Vec<Column>, Error> {
    // Ids of columns have 16 bits, of which the last value is kept free.
    if create.columns.len() > usize::from(u16::MAX) {
        return Err(TableError::TooManyColumns {}.into());
    }
    let mut declared: BTreeMap<&str, (CqlType, &ColumnDefinition)> = BTreeMap::new();
    let by_name: BTreeMap<&str, &ColumnDefinition> =
        create.columns.iter().map(|c| (c.name.text.as_str(), c)).collect();
    for (name, column) in by_name {
        let ty = type_names::resolve(cx, keyspace, &column.ty)?;
        declared.insert(name, (ty, column));
    }
    for (ty, column) in declared.values() {
        if has_nested_multi_cell(ty) {
            return Err(Error::from(TableError::NestedMultiCell {}).or_at(column.ty.span));
        }
    }
    let empty: &[Name] = &[];
    let (partition, clustering) =
        create.primary_keys.first().map_or((empty, empty), |k| (&k.partition, &k.clustering));
    let table = &create.name.name.text;
    let mut in_key = BTreeSet::new();
    for name in partition.iter().chain(clustering) {
        let (column, table) = (name.text.clone(), table.clone());
        let Some((ty, definition)) = declared.get(name.text.as_str()) else {
            let e = TableError::UnknownKeyColumn { column, table };
            return Err(Error::from(e).or_at(name.span));
        };
        if !in_key.insert(name.text.as_str()) {
            let e = TableError::DuplicateKeyColumn { column, table };
            return Err(Error::from(e).or_at(name.span));
        }
        check_key(name, ty, definition.is_static)?;
    }
    check_order(create, clustering)?;
    if clustering.is_empty()
        && let Some(column) = create.columns.iter().find(|c| c.is_static)
    {
        let e = TableError::StaticWithoutClustering {};
        return Err(Error::from(e).or_at(column.name.span));
    }
    let position = |names: &[Name], name: &str| names.iter().position(|n| n.text == name);
    let descending =
        |name: &str| create.clustering_order.iter().any(|(c, desc)| c.text == name && *desc);
    let columns = create.columns.iter().enumerate().map(|(place, definition)| {
        let name = definition.name.text.as_str();
        let (kind, position) = if let Some(at) = position(partition, name) {
            (ColumnKind::PartitionKey, at)
        } else if let Some(at) = position(clustering, name) {
            (ColumnKind::Clustering, at)
        } else if definition.is_static {
            (ColumnKind::Static, 0)
        } else {
            (ColumnKind::Regular, 0)
        };
        Column {
            id: ColumnId(u16::try_from(place).unwrap_or(u16::MAX)),
            name: name.to_string(),
            ty: declared[name].0.clone(),
            kind,
            position,
            descending: kind == ColumnKind::Clustering && descending(name),
            dropped_at_micros: None,
        }
    });
    Ok(columns.collect())
}

/// Whether it is a non-frozen user-defined type that holds a non-frozen collection.
pub(super) fn has_nested_multi_cell(ty: &CqlType) -> bool {
    match ty {
        CqlType::Udt { definition, frozen: false } => {
            definition.fields.iter().any(|(_, field)| field.is_multi_cell())
        }
        _ => false,
    }
}

/// What a column of the primary key may not be.
fn check_key(name: &Name, ty: &CqlType, is_static: bool) -> Result<(), Error> {
    let column = name.text.clone();
    let e = match ty {
        CqlType::Udt { definition, frozen: false } => {
            let ty = format!("{}.{}", definition.keyspace, definition.name);
            TableError::KeyUserType { ty: quote_name(&ty), column }
        }
        _ if ty.is_multi_cell() => TableError::KeyCollection { ty: ty.to_string(), column },
        CqlType::Counter => TableError::KeyCounter { column },
        _ if has_duration(ty) => TableError::KeyDuration { column },
        _ if is_static => TableError::KeyStatic { column },
        _ => return Ok(()),
    };
    Err(Error::from(e).or_at(name.span))
}

fn has_duration(ty: &CqlType) -> bool {
    match ty {
        CqlType::Duration => true,
        CqlType::List { element, .. }
        | CqlType::Set { element, .. }
        | CqlType::Vector { element, .. } => has_duration(element),
        CqlType::Map { key, value, .. } => has_duration(key) || has_duration(value),
        CqlType::Tuple(parts) => parts.iter().any(has_duration),
        CqlType::Udt { definition, .. } => definition.fields.iter().any(|(_, f)| has_duration(f)),
        _ => false,
    }
}

/// CLUSTERING ORDER BY names a prefix of the clustering columns, in their order.
fn check_order(create: &CreateTable, clustering: &[Name]) -> Result<(), Error> {
    let order = &create.clustering_order;
    let is_clustering = |name: &Name| clustering.iter().any(|c| c.text == name.text);
    let others: Vec<&str> =
        order.iter().filter(|(c, _)| !is_clustering(c)).map(|(c, _)| c.text.as_str()).collect();
    if !others.is_empty() {
        return Err(TableError::OrderOfOthers { columns: others.join(", ") }.into());
    }
    for ((written, _), column) in order.iter().zip(clustering) {
        if written.text == column.text {
            continue;
        }
        let e = if order.iter().any(|(c, _)| c.text == column.text) {
            let (first, second) = (column.text.clone(), written.text.clone());
            TableError::OrderOutOfOrder { first, second }
        } else {
            TableError::OrderMissing { column: column.text.clone() }
        };
        return Err(Error::from(e).or_at(written.span));
    }
    Ok(())
}

fn counters(columns: &[Column], options: &TableOptions) -> Result<(), Error> {
    let values = || columns.iter().filter(|c| !c.is_primary_key());
    if !values().any(|c| c.ty == CqlType::Counter) {
        return Ok(());
    }
    if values().any(|c| c.ty != CqlType::Counter) {
        return Err(TableError::MixedCounters {}.into());
    }
    if options.default_time_to_live_seconds > 0 {
        return Err(TableError::CounterTtl {}.into());
    }
    Ok(())
}

/// Cassandra's own refusals of COMPACT STORAGE, then ours.
fn compact(create: &CreateTable, columns: &[Column]) -> Error {
    let values: Vec<&Column> = columns.iter().filter(|c| !c.is_primary_key()).collect();
    let composite = columns.iter().any(|c| c.kind == ColumnKind::Clustering);
    if values.iter().any(|c| c.ty.is_multi_cell()) {
        return TableError::CompactMultiCell {}.into();
    }
    if values.iter().any(|c| c.kind == ColumnKind::Static) {
        return TableError::CompactStatic {}.into();
    }
    if !composite && values.is_empty() {
        return TableError::CompactNoValue {}.into();
    }
    if composite && values.len() > 1 {
        let mut names: Vec<&str> = values.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        return TableError::CompactSeveralValues { columns: names.join(", ") }.into();
    }
    Error::at(Feature::CompactStorage, create.name.name.span)
}

/// The id that WITH ID gives, or a new one.
fn table_id(
    cx: &Context<'_>,
    given: &Given<'_>,
    create: &CreateTable,
    properties: Properties<'_>,
) -> Result<TableId, Error> {
    let Some(text) = properties.string("id")? else { return Ok(TableId((given.new_id)())) };
    let id = uuid::Uuid::parse_str(text).map_err(|_| TableError::InvalidId {})?;
    let tables = cx.schema.keyspaces.values().flat_map(|k| k.tables.values());
    match tables.into_iter().find(|table| table.id.0 == id) {
        None => Ok(TableId(id)),
        Some(old) => {
            let keyspace = quote_name(given.keyspace);
            let new = format!("{keyspace}.{}", quote_name(&create.name.name.text));
            let (id, old) = (id.to_string(), old.cql_name());
            Err(TableError::IdTaken { id, new, old }.into())
        }
    }
}
