//! CREATE, ALTER and DROP of keyspaces, tables and types.

use super::{Name, QualifiedName, Term, TypeName};

/// `key = value` after WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name of the property (folded unless quoted).
    pub name: Name,
    /// Value.
    pub value: PropertyValue,
}

/// Value of a [`Property`].
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// A literal or keyword: its text (inside of a string, else as written).
    Simple(String),
    /// `{a: b}`: keys and values as text.
    Map(Vec<(String, String)>),
}

/// CREATE KEYSPACE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateKeyspace {
    /// Name.
    pub name: Name,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// WITH.
    pub properties: Vec<Property>,
}

/// ALTER KEYSPACE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterKeyspace {
    /// Name.
    pub name: Name,
    /// IF EXISTS.
    pub if_exists: bool,
    /// WITH.
    pub properties: Vec<Property>,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Name.
    pub name: QualifiedName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Column declarations.
    pub columns: Vec<ColumnDefinition>,
    /// Each PRIMARY KEY clause: `(partition key columns, clustering columns)`; also a column's inline `PRIMARY KEY`.
    pub primary_keys: Vec<PrimaryKey>,
    /// CLUSTERING ORDER BY, all clauses joined.
    pub clustering_order: Vec<(Name, bool)>,
    /// COMPACT STORAGE.
    pub compact_storage: bool,
    /// Other properties.
    pub properties: Vec<Property>,
}

/// A column declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: TypeName,
    /// STATIC.
    pub is_static: bool,
    /// MASKED WITH.
    pub masked: bool,
}

/// A PRIMARY KEY clause.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryKey {
    /// Partition key columns.
    pub partition: Vec<Name>,
    /// Clustering columns.
    pub clustering: Vec<Name>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// Name.
    pub name: QualifiedName,
    /// IF EXISTS before the name.
    pub if_exists: bool,
    /// What is changed.
    pub change: AlterTableKind,
}

/// Kinds of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTableKind {
    /// ALTER c TYPE t.
    AlterType {
        /// Column.
        column: Name,
        /// Type.
        ty: TypeName,
    },
    /// ADD.
    Add {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Columns.
        columns: Vec<ColumnDefinition>,
    },
    /// DROP.
    Drop {
        /// IF EXISTS.
        if_exists: bool,
        /// Columns.
        columns: Vec<Name>,
        /// USING TIMESTAMP.
        timestamp: Option<Term>,
    },
    /// RENAME a TO b AND ...
    Rename {
        /// IF EXISTS.
        if_exists: bool,
        /// From and to.
        renames: Vec<(Name, Name)>,
    },
    /// WITH.
    With(Vec<Property>),
    /// DROP COMPACT STORAGE.
    DropCompactStorage,
    /// ALTER c MASKED WITH / DROP MASKED.
    Mask,
}

/// CREATE TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// Name.
    pub name: QualifiedName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Fields.
    pub fields: Vec<(Name, TypeName)>,
}

/// ALTER TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterType {
    /// Name.
    pub name: QualifiedName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// What is changed.
    pub change: AlterTypeKind,
}

/// Kinds of ALTER TYPE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTypeKind {
    /// ALTER f TYPE t.
    AlterField {
        /// Field.
        field: Name,
        /// Type.
        ty: TypeName,
    },
    /// ADD f t.
    Add {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Field.
        field: Name,
        /// Type.
        ty: TypeName,
    },
    /// RENAME a TO b AND ...
    Rename {
        /// IF EXISTS.
        if_exists: bool,
        /// From and to.
        renames: Vec<(Name, Name)>,
    },
}
