//! Changes to the schema as data, and what they make of one.
//!
//! A change never edits: [`Schema::apply`] gives a new schema that shares every keyspace it does not touch. Types are
//! held by value in the columns that use them, so a changed type is put into every table and type that mentions it,
//! however deeply:
//!
//! ```text
//! PutType a (x int, y text)      type b (f frozen<a>)  ->  b's field f holds the new a
//!                                table t (v list<frozen<b>>)  ->  v holds the new b with the new a
//! ```
//!
//! Not here: whether a change may be made (the front end), and how nodes agree on one.

use super::{Keyspace, Schema, Table};
use crate::types::{CqlType, UserType};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// A checked change: the front end has refused what Cassandra refuses.
#[derive(Clone, Debug)]
pub enum SchemaChange {
    /// Add or replace a keyspace's own properties (its tables and types stay).
    PutKeyspace(Arc<Keyspace>),
    /// Remove a keyspace and all in it.
    DropKeyspace(String),
    /// Add or replace a table (same id: altered).
    PutTable(Arc<Table>),
    /// Remove a table.
    DropTable {
        /// Keyspace of the table.
        keyspace: String,
        /// Its name.
        table: String,
    },
    /// Add or replace a type; every table and type that uses it gets the new definition.
    PutType(Arc<UserType>),
    /// Remove a type.
    DropType {
        /// Keyspace of the type.
        keyspace: String,
        /// Its name.
        name: String,
    },
}

impl Schema {
    /// The schema after `change`; its version is derived from this one's version and the change, so that nodes that
    /// apply the same changes agree. A change of what is not there changes the version only.
    pub fn apply(&self, change: &SchemaChange) -> Schema {
        let mut keyspaces = self.keyspaces.clone();
        match change {
            SchemaChange::PutKeyspace(new) => {
                let mut new = new.as_ref().clone();
                if let Some(old) = keyspaces.get(&new.name) {
                    new.tables = old.tables.clone();
                    new.types = old.types.clone();
                }
                keyspaces.insert(new.name.clone(), Arc::new(new));
            }
            SchemaChange::DropKeyspace(name) => {
                keyspaces.remove(name);
            }
            SchemaChange::PutTable(table) => edit(&mut keyspaces, &table.keyspace, |keyspace| {
                keyspace.tables.insert(table.name.clone(), Arc::clone(table));
            }),
            SchemaChange::DropTable { keyspace, table } => {
                edit(&mut keyspaces, keyspace, |keyspace| {
                    keyspace.tables.remove(table);
                });
            }
            SchemaChange::PutType(new) => edit(&mut keyspaces, &new.keyspace, |keyspace| {
                keyspace.types.insert(new.name.clone(), Arc::clone(new));
                refresh_types(keyspace);
            }),
            SchemaChange::DropType { keyspace, name } => {
                edit(&mut keyspaces, keyspace, |keyspace| {
                    keyspace.types.remove(name);
                });
            }
        }
        Schema { version: next_version(self.version, change), keyspaces }
    }
}

/// Replaces a keyspace by an edited copy, if it is there.
fn edit(
    keyspaces: &mut BTreeMap<String, Arc<Keyspace>>,
    name: &str,
    change: impl FnOnce(&mut Keyspace),
) {
    if let Some(keyspace) = keyspaces.get_mut(name) {
        change(Arc::make_mut(keyspace));
    }
}

/// Puts the current definitions into every type and table of the keyspace.
fn refresh_types(keyspace: &mut Keyspace) {
    let old = keyspace.types.clone();
    for definition in keyspace.types.values_mut() {
        let fields: Vec<_> = definition
            .fields
            .iter()
            .map(|(name, ty)| (name.clone(), with_definitions(ty, &old)))
            .collect();
        if fields != definition.fields {
            Arc::make_mut(definition).fields = fields;
        }
    }
    for table in keyspace.tables.values_mut() {
        let changed = table.map_types(|ty| with_definitions(ty, &keyspace.types));
        if changed.columns() != table.columns() {
            *table = Arc::new(changed);
        }
    }
}

/// The type with each user-defined type in it as `types` defines it now. Ends because definitions cannot be circular.
fn with_definitions(ty: &CqlType, types: &BTreeMap<String, Arc<UserType>>) -> CqlType {
    let within = |ty: &CqlType| with_definitions(ty, types);
    match ty {
        CqlType::List { element, frozen } => {
            CqlType::List { element: Arc::new(within(element)), frozen: *frozen }
        }
        CqlType::Set { element, frozen } => {
            CqlType::Set { element: Arc::new(within(element)), frozen: *frozen }
        }
        CqlType::Map { key, value, frozen } => CqlType::Map {
            key: Arc::new(within(key)),
            value: Arc::new(within(value)),
            frozen: *frozen,
        },
        CqlType::Tuple(parts) => CqlType::Tuple(parts.iter().map(within).collect()),
        CqlType::Vector { element, dimensions } => {
            CqlType::Vector { element: Arc::new(within(element)), dimensions: *dimensions }
        }
        CqlType::Udt { definition, frozen } => {
            let current = types.get(&definition.name).unwrap_or(definition);
            let fields = current.fields.iter().map(|(name, ty)| (name.clone(), within(ty)));
            let definition = UserType {
                keyspace: current.keyspace.clone(),
                name: current.name.clone(),
                fields: fields.collect(),
            };
            let ty = CqlType::Udt { definition: Arc::new(definition), frozen: *frozen };
            if *frozen { ty.freeze() } else { ty }
        }
        CqlType::Ascii
        | CqlType::Bigint
        | CqlType::Blob
        | CqlType::Boolean
        | CqlType::Counter
        | CqlType::Date
        | CqlType::Decimal
        | CqlType::Double
        | CqlType::Duration
        | CqlType::Float
        | CqlType::Inet
        | CqlType::Int
        | CqlType::Smallint
        | CqlType::Text
        | CqlType::Time
        | CqlType::Timestamp
        | CqlType::Timeuuid
        | CqlType::Tinyint
        | CqlType::Uuid
        | CqlType::Varint
        | CqlType::Custom(_) => ty.clone(),
    }
}

/// A version-3 UUID, as Cassandra's schema versions are, from the 128-bit FNV-1a hash of the old version and the
/// change as printed (all maps in it are ordered, so equal changes print alike).
fn next_version(version: Uuid, change: &SchemaChange) -> Uuid {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let text = format!("{change:?}");
    let hash = version
        .as_bytes()
        .iter()
        .chain(text.as_bytes())
        .fold(OFFSET, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    uuid::Builder::from_md5_bytes(hash.to_be_bytes()).into_uuid()
}
