//! Refusals of schema statements: keyspaces, tables, types and their options (sheet A.11).
//!
//! Each group is a table, one line a situation: `Situation { what the text needs } => Code, "Cassandra's text";`.
//!
//! | group | who refuses |
//! |---|---|
//! | [`KeyspaceError`] | CREATE, ALTER and DROP KEYSPACE, replication; also who may change what |
//! | [`TableError`] | columns, keys, clustering order, what ALTER TABLE may do |
//! | [`TypeError`] | type names in declarations; CREATE, ALTER and DROP TYPE |
//! | [`OptionError`] | syntax of properties and the options of a table |
//! | [`CompactionError`] | sub-options of `compaction` |

use super::{Code, Field};
use std::fmt;

macro_rules! refusals {
    ($(#[$meta:meta])* $name:ident {
        $($variant:ident { $($field:ident: $ty:ty),* } => $code:ident, $text:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "the text beside each variant says what it is for")]
        pub enum $name {
            $($variant { $($field: $ty),* },)*
        }

        impl $name {
            /// Code of the native protocol.
            pub fn code(&self) -> crate::error::Code {
                match self {
                    $($name::$variant { .. } => crate::error::Code::$code,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$variant { $($field),* } => write!(out, $text),)*
                }
            }
        }

        impl From<$name> for crate::error::Error {
            fn from(e: $name) -> crate::error::Error {
                crate::error::Error::new(crate::error::schema::SchemaError::from(e))
            }
        }
    };
}

mod compaction;
mod keyspace;
mod options;
mod table;
mod types;

pub use compaction::CompactionError;
pub use keyspace::KeyspaceError;
pub use options::OptionError;
pub use table::TableError;
pub use types::TypeError;

/// A refused schema statement, by the group that refuses.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaError {
    /// Keyspaces, replication, who may change what.
    Keyspace(KeyspaceError),
    /// Tables and their columns.
    Table(TableError),
    /// Types.
    Type(TypeError),
    /// Properties and options of a table.
    Option(OptionError),
    /// Sub-options of compaction.
    Compaction(CompactionError),
}

macro_rules! groups {
    ($($group:ident($ty:ident)),*) => {
        $(impl From<$ty> for SchemaError {
            fn from(e: $ty) -> SchemaError {
                SchemaError::$group(e)
            }
        })*

        impl SchemaError {
            /// Code of the native protocol.
            pub fn code(&self) -> Code {
                match self {
                    $(SchemaError::$group(e) => e.code(),)*
                }
            }
        }

        impl fmt::Display for SchemaError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(SchemaError::$group(e) => e.fmt(f),)*
                }
            }
        }
    };
}

groups! {
    Keyspace(KeyspaceError), Table(TableError), Type(TypeError), Option(OptionError), Compaction(CompactionError)
}

impl SchemaError {
    /// What the error carries beside its message: what exists already, for code 0x2400.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        let named = |keyspace: &str, table: &str| {
            vec![
                ("keyspace", Field::Text(keyspace.to_string())),
                ("table", Field::Text(table.to_string())),
            ]
        };
        match self {
            SchemaError::Keyspace(KeyspaceError::Exists { keyspace }) => named(keyspace, ""),
            SchemaError::Table(TableError::Exists { keyspace, table }) => named(keyspace, table),
            SchemaError::Keyspace(_)
            | SchemaError::Table(_)
            | SchemaError::Type(_)
            | SchemaError::Option(_)
            | SchemaError::Compaction(_) => Vec::new(),
        }
    }
}
