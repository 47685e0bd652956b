//! CQL types: what a column can hold.
//!
//! A stored value is always its wire bytes (native protocol section 9). This folder says which bytes are
//! legal ([`codec`]), what they mean ([`value`]), which of two comes first ([`order`]), and how people write
//! and read them ([`text`], [`display`]). It knows no table and no statement.

pub mod codec;
pub mod display;
pub mod float;
pub mod number;
pub mod order;
pub mod temporal;
pub mod text;
pub mod value;

pub use codec::MarshalError;
pub use value::Value;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A CQL type, with the frozen-ness that matters for how it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CqlType {
    /// US-ASCII text.
    Ascii,
    /// 64-bit signed integer.
    Bigint,
    /// Any bytes.
    Blob,
    /// `true` or `false`; one byte.
    Boolean,
    /// 64-bit counter.
    Counter,
    /// Days since 1970-01-01, stored unsigned with 2^31 as the epoch.
    Date,
    /// Scale (int32), then the unscaled varint.
    Decimal,
    /// IEEE 754, 64 bits.
    Double,
    /// Months, days, nanoseconds.
    Duration,
    /// IEEE 754, 32 bits.
    Float,
    /// IPv4 (4 bytes) or IPv6 (16 bytes).
    Inet,
    /// 32-bit signed integer.
    Int,
    /// 16-bit signed integer.
    Smallint,
    /// UTF-8 text; `varchar` is the same type.
    Text,
    /// Nanoseconds since midnight.
    Time,
    /// Milliseconds since the epoch.
    Timestamp,
    /// Version 1 UUID, ordered by time.
    Timeuuid,
    /// 8-bit signed integer.
    Tinyint,
    /// Any UUID.
    Uuid,
    /// Integer of any size, shortest two's complement.
    Varint,
    /// List; one cell when frozen, else a cell for each element.
    List {
        /// Type of the elements.
        element: Arc<CqlType>,
        /// Stored as one value.
        frozen: bool,
    },
    /// Set, sorted by its element type.
    Set {
        /// Type of the elements.
        element: Arc<CqlType>,
        /// Stored as one value.
        frozen: bool,
    },
    /// Map, sorted by its key type.
    Map {
        /// Type of the keys.
        key: Arc<CqlType>,
        /// Type of the values.
        value: Arc<CqlType>,
        /// Stored as one value.
        frozen: bool,
    },
    /// Tuple; always stored as one value.
    Tuple(Arc<[CqlType]>),
    /// User-defined type.
    Udt {
        /// Name and fields.
        definition: Arc<UserType>,
        /// Stored as one value.
        frozen: bool,
    },
    /// Vector of a fixed number of elements; always stored as one value.
    Vector {
        /// Type of the elements.
        element: Arc<CqlType>,
        /// Number of elements.
        dimensions: u32,
    },
    /// A type that CQL cannot name, by its class: functions announce `LegacyTimeUUIDType`
    /// (sheet G.1), whose values behave as timeuuid.
    Custom(Arc<str>),
}

/// A user-defined type: its name and its fields in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UserType {
    /// Keyspace that the type belongs to.
    pub keyspace: String,
    /// Name, as stored (case kept).
    pub name: String,
    /// Field names and types.
    pub fields: Vec<(String, CqlType)>,
}

impl CqlType {
    /// A native type by its CQL name, `varchar` included; `None` for any other name.
    pub fn native(name: &str) -> Option<CqlType> {
        Some(match name {
            "ascii" => CqlType::Ascii,
            "bigint" => CqlType::Bigint,
            "blob" => CqlType::Blob,
            "boolean" => CqlType::Boolean,
            "counter" => CqlType::Counter,
            "date" => CqlType::Date,
            "decimal" => CqlType::Decimal,
            "double" => CqlType::Double,
            "duration" => CqlType::Duration,
            "float" => CqlType::Float,
            "inet" => CqlType::Inet,
            "int" => CqlType::Int,
            "smallint" => CqlType::Smallint,
            "text" | "varchar" => CqlType::Text,
            "time" => CqlType::Time,
            "timestamp" => CqlType::Timestamp,
            "timeuuid" => CqlType::Timeuuid,
            "tinyint" => CqlType::Tinyint,
            "uuid" => CqlType::Uuid,
            "varint" => CqlType::Varint,
            _ => return None,
        })
    }

    /// Non-frozen list of `element`.
    pub fn list(element: CqlType) -> CqlType {
        CqlType::List { element: Arc::new(element), frozen: false }
    }

    /// Non-frozen set of `element`.
    pub fn set(element: CqlType) -> CqlType {
        CqlType::Set { element: Arc::new(element), frozen: false }
    }

    /// Non-frozen map.
    pub fn map(key: CqlType, value: CqlType) -> CqlType {
        CqlType::Map { key: Arc::new(key), value: Arc::new(value), frozen: false }
    }

    /// Whether a column of this type has a cell for each element or field.
    pub fn is_multi_cell(&self) -> bool {
        match self {
            CqlType::List { frozen, .. }
            | CqlType::Set { frozen, .. }
            | CqlType::Map { frozen, .. }
            | CqlType::Udt { frozen, .. } => !frozen,
            _ => false,
        }
    }

    /// List, set or map, frozen or not.
    pub fn is_collection(&self) -> bool {
        matches!(self, CqlType::List { .. } | CqlType::Set { .. } | CqlType::Map { .. })
    }

    /// The type with everything frozen, itself and all inside.
    pub fn freeze(&self) -> CqlType {
        match self {
            CqlType::List { element, .. } => {
                CqlType::List { element: Arc::new(element.freeze()), frozen: true }
            }
            CqlType::Set { element, .. } => {
                CqlType::Set { element: Arc::new(element.freeze()), frozen: true }
            }
            CqlType::Map { key, value, .. } => CqlType::Map {
                key: Arc::new(key.freeze()),
                value: Arc::new(value.freeze()),
                frozen: true,
            },
            CqlType::Tuple(parts) => CqlType::Tuple(parts.iter().map(CqlType::freeze).collect()),
            CqlType::Udt { definition, .. } => CqlType::Udt {
                definition: Arc::new(UserType {
                    keyspace: definition.keyspace.clone(),
                    name: definition.name.clone(),
                    fields: definition
                        .fields
                        .iter()
                        .map(|(name, ty)| (name.clone(), ty.freeze()))
                        .collect(),
                }),
                frozen: true,
            },
            CqlType::Vector { element, dimensions } => {
                CqlType::Vector { element: Arc::new(element.freeze()), dimensions: *dimensions }
            }
            other => other.clone(),
        }
    }
}

/// `name`, quoted if CQL needs it: anything but a lower-case identifier that is not reserved
/// (Cassandra's `ColumnIdentifier.maybeQuote`).
pub fn quote_name(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !is_reserved(name);
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Whether CQL reserves the word, so that it needs quotes as a name (Cassandra's `ReservedKeywords`).
pub fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok()
}

/// Sorted, for the binary search.
const RESERVED: &[&str] = &[
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "default",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "replace",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "unset",
    "update",
    "use",
    "using",
    "view",
    "where",
    "with",
];

/// The type as Cassandra prints it in its messages and in `system_schema`.
impl fmt::Display for CqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frozen = |f: &mut fmt::Formatter<'_>, frozen: bool, inner: String| {
            if frozen { write!(f, "frozen<{inner}>") } else { f.write_str(&inner) }
        };
        match self {
            CqlType::Ascii => f.write_str("ascii"),
            CqlType::Bigint => f.write_str("bigint"),
            CqlType::Blob => f.write_str("blob"),
            CqlType::Boolean => f.write_str("boolean"),
            CqlType::Counter => f.write_str("counter"),
            CqlType::Date => f.write_str("date"),
            CqlType::Decimal => f.write_str("decimal"),
            CqlType::Double => f.write_str("double"),
            CqlType::Duration => f.write_str("duration"),
            CqlType::Float => f.write_str("float"),
            CqlType::Inet => f.write_str("inet"),
            CqlType::Int => f.write_str("int"),
            CqlType::Smallint => f.write_str("smallint"),
            CqlType::Text => f.write_str("text"),
            CqlType::Time => f.write_str("time"),
            CqlType::Timestamp => f.write_str("timestamp"),
            CqlType::Timeuuid => f.write_str("timeuuid"),
            CqlType::Tinyint => f.write_str("tinyint"),
            CqlType::Uuid => f.write_str("uuid"),
            CqlType::Varint => f.write_str("varint"),
            CqlType::List { element, frozen: z } => frozen(f, *z, format!("list<{element}>")),
            CqlType::Set { element, frozen: z } => frozen(f, *z, format!("set<{element}>")),
            CqlType::Map { key, value, frozen: z } => frozen(f, *z, format!("map<{key}, {value}>")),
            CqlType::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(CqlType::to_string).collect();
                write!(f, "frozen<tuple<{}>>", parts.join(", "))
            }
            CqlType::Udt { definition, frozen: z } => frozen(f, *z, quote_name(&definition.name)),
            CqlType::Vector { element, dimensions } => write!(f, "vector<{element}, {dimensions}>"),
            CqlType::Custom(class) => write!(f, "'{class}'"),
        }
    }
}
