//! Syntax trees of CQL statements, as written: names are not looked up, literals not typed.
//!
//! Every node that an error may point at carries a [`Span`] of the statement's text. A tree prints back as CQL
//! ([`std::fmt::Display`]), and what it prints parses to the same tree (spans apart).

mod data;
mod display;
mod schema;
mod select;
mod term;

pub use data::*;
pub use schema::*;
pub use select::*;
pub use term::*;

use std::fmt;

/// A range of bytes of the statement's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// An identifier: folded to lower case unless quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name that it means.
    pub text: String,
    /// Written in double quotes.
    pub quoted: bool,
    /// Where it stands.
    pub span: Span,
}

/// A table, type or function name with or without its keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifiedName {
    /// Keyspace, if written.
    pub keyspace: Option<Name>,
    /// Name inside it.
    pub name: Name,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant names the statement whose struct it holds")]
pub enum Statement {
    Use(Name),
    Select(Box<Select>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Batch(Box<Batch>),
    Truncate(QualifiedName),
    CreateKeyspace(CreateKeyspace),
    AlterKeyspace(AlterKeyspace),
    DropKeyspace {
        name: Name,
        if_exists: bool,
    },
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTable {
        name: QualifiedName,
        if_exists: bool,
    },
    CreateType(CreateType),
    AlterType(AlterType),
    DropType {
        name: QualifiedName,
        if_exists: bool,
    },
    /// In Cassandra's grammar, not supported here: said so by name.
    Unsupported {
        feature: Feature,
        span: Span,
    },
}

/// Parts of Cassandra's grammar that are recognised and refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is named after the feature")]
pub enum Feature {
    LightweightTransactions,
    Counters,
    SecondaryIndexes,
    MaterializedViews,
    UserDefinedFunctions,
    UserDefinedAggregates,
    Triggers,
    Roles,
    Permissions,
    Describe,
    Json,
    GroupBy,
    AnnOrdering,
    CompactStorage,
    DynamicDataMasking,
    CustomTypes,
    CustomIndexExpressions,
    Like,
    VirtualKeyspaces,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::LightweightTransactions => "lightweight transactions (IF ...)",
            Feature::Counters => "counter updates",
            Feature::SecondaryIndexes => "secondary indexes",
            Feature::MaterializedViews => "materialized views",
            Feature::UserDefinedFunctions => "user-defined functions",
            Feature::UserDefinedAggregates => "user-defined aggregates",
            Feature::Triggers => "triggers",
            Feature::Roles => "roles and users",
            Feature::Permissions => "permissions",
            Feature::Describe => "DESCRIBE",
            Feature::Json => "JSON",
            Feature::GroupBy => "GROUP BY",
            Feature::AnnOrdering => "ANN ordering",
            Feature::CompactStorage => "COMPACT STORAGE",
            Feature::DynamicDataMasking => "dynamic data masking",
            Feature::CustomTypes => "custom types",
            Feature::CustomIndexExpressions => "custom index expressions",
            Feature::Like => "LIKE",
            Feature::VirtualKeyspaces => {
                "the virtual keyspaces system_views and system_virtual_schema"
            }
        })
    }
}
