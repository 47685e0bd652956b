//! Keyspaces, tables, types and their options: CREATE, ALTER and DROP (sheet A.11).
//!
//! Cassandra looks at a schema statement five times, and a statement with two faults shows the first:
//!
//! ```text
//! 1  parser     PRIMARY KEY missing or double, frozen<int>, masks        analyse
//! 2  names      No keyspace has been specified                           analyse
//! 3  may you    system keyspace is not user-modifiable                   decide
//! 4  values     each property of its kind: maps, numbers, booleans       decide
//! 5  schema     does it exist, unknown properties, bounds, types, rules  decide
//! ```
//!
//! What changes is said as data ([`SchemaChange`]); nothing is applied here. A statement that changes nothing gives no
//! event, as in Cassandra.

mod alter_table;
mod compaction;
mod compression;
mod java;
mod keyspaces;
mod options;
mod properties;
mod speculative;
mod tables;
mod types;

use super::{Context, type_names};
use crate::ast::{self, AlterTableKind, AlterTypeKind, QualifiedName, Statement};
use crate::error::Error;
use crate::error::schema::{KeyspaceError, TableError};
use crate::outcome::SchemaEvent;
use cassling_engine::schema::{SchemaChange, is_system_keyspace};

/// A checked schema statement. Cassandra checks against the schema at execution, so the change is made there.
#[derive(Debug)]
pub struct SchemaPlan {
    /// The statement.
    pub statement: Box<ast::Statement>,
    /// Keyspace that it is about: written, or the session's when it was prepared.
    pub keyspace: String,
}

/// What a schema statement comes to.
#[derive(Debug, Default)]
pub struct SchemaDecision {
    /// What to change, and the event for drivers; `None`: nothing to do (IF NOT EXISTS, IF EXISTS, no difference).
    pub change: Option<(Vec<SchemaChange>, SchemaEvent)>,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

impl SchemaDecision {
    fn one(
        change: SchemaChange,
        what: &'static str,
        target: &'static str,
        keyspace: &str,
        name: Option<&str>,
    ) -> SchemaDecision {
        let event = SchemaEvent {
            change: what,
            target,
            keyspace: keyspace.to_string(),
            name: name.map(str::to_string),
        };
        SchemaDecision { change: Some((vec![change], event)), warnings: Vec::new() }
    }
}

/// What a decision is made with beside the schema.
struct Given<'a> {
    /// Keyspace that the statement is about.
    keyspace: &'a str,
    /// The cluster's time, microseconds.
    now_micros: i64,
    /// Gives table ids.
    new_id: &'a dyn Fn() -> uuid::Uuid,
}

/// Checks a schema statement as PREPARE does (names of keyspaces; what the parser refuses).
///
/// # Errors
/// What Cassandra refuses before execution.
pub fn analyse(cx: &Context<'_>, statement: &ast::Statement) -> Result<SchemaPlan, Error> {
    let keyspace = match statement {
        Statement::CreateKeyspace(ast::CreateKeyspace { name, .. })
        | Statement::AlterKeyspace(ast::AlterKeyspace { name, .. })
        | Statement::DropKeyspace { name, .. } => name.text.clone(),
        Statement::CreateTable(create) => {
            tables::check_written(create)?;
            let keyspace = cx.keyspace_of(&create.name)?;
            if create.primary_keys.is_empty() {
                let table = tables::as_written(&create.name);
                return Err(TableError::NoPrimaryKey { table }.into());
            }
            keyspace
        }
        Statement::AlterTable(alter) => {
            match &alter.change {
                AlterTableKind::Add { columns, .. } => {
                    columns.iter().try_for_each(|c| type_names::check(&c.ty))?;
                }
                AlterTableKind::AlterType { ty, .. } => type_names::check(ty)?,
                AlterTableKind::Mask => return Err(TableError::Masking {}.into()),
                AlterTableKind::Drop { .. }
                | AlterTableKind::Rename { .. }
                | AlterTableKind::With(_)
                | AlterTableKind::DropCompactStorage => {}
            }
            cx.keyspace_of(&alter.name)?
        }
        Statement::CreateType(create) => {
            create.fields.iter().try_for_each(|(_, ty)| type_names::check(ty))?;
            cx.keyspace_of(&create.name)?
        }
        Statement::AlterType(alter) => {
            match &alter.change {
                AlterTypeKind::Add { ty, .. } | AlterTypeKind::AlterField { ty, .. } => {
                    type_names::check(ty)?;
                }
                AlterTypeKind::Rename { .. } => {}
            }
            cx.keyspace_of(&alter.name)?
        }
        Statement::DropTable { name, .. } | Statement::DropType { name, .. } => {
            cx.keyspace_of(name)?
        }
        _ => String::new(),
    };
    Ok(SchemaPlan { statement: Box::new(statement.clone()), keyspace })
}

/// Decides what the statement changes. `now_micros` is the time of a column's drop; `new_id` gives a table id.
///
/// # Errors
/// The refusals of sheet A.11, in Cassandra's order.
pub fn decide(
    cx: &Context<'_>,
    plan: &SchemaPlan,
    now_micros: i64,
    new_id: &dyn Fn() -> uuid::Uuid,
) -> Result<SchemaDecision, Error> {
    let given = Given { keyspace: &plan.keyspace, now_micros, new_id };
    let keyspace = given.keyspace;
    match plan.statement.as_ref() {
        Statement::CreateKeyspace(create) => keyspaces::create(cx, create),
        Statement::AlterKeyspace(alter) => {
            may_change(keyspace, "ALTER", None)?;
            keyspaces::alter(cx, alter)
        }
        Statement::DropKeyspace { name, if_exists } => {
            may_change(keyspace, "DROP", Some(format!("<keyspace {keyspace}>")))?;
            keyspaces::drop(cx, &name.text, *if_exists)
        }
        Statement::CreateTable(create) => {
            may_change(keyspace, "CREATE", Some(all_tables(keyspace)))?;
            tables::create(cx, &given, create)
        }
        Statement::AlterTable(alter) => {
            may_change(keyspace, "ALTER", Some(one_table(keyspace, &alter.name)))?;
            alter_table::alter(cx, &given, alter)
        }
        Statement::DropTable { name, if_exists } => {
            may_change(keyspace, "DROP", Some(one_table(keyspace, name)))?;
            tables::drop(cx, keyspace, &name.name.text, *if_exists)
        }
        Statement::CreateType(create) => {
            may_change(keyspace, "CREATE", Some(all_tables(keyspace)))?;
            types::create(cx, keyspace, create)
        }
        Statement::AlterType(alter) => {
            may_change(keyspace, "ALTER", Some(all_tables(keyspace)))?;
            types::alter(cx, keyspace, alter)
        }
        Statement::DropType { name, if_exists } => {
            may_change(keyspace, "DROP", Some(all_tables(keyspace)))?;
            types::drop(cx, keyspace, &name.name.text, *if_exists)
        }
        // Only schema statements come here (`analysis::plan`).
        _ => Ok(SchemaDecision::default()),
    }
}

fn all_tables(keyspace: &str) -> String {
    format!("<all tables in {keyspace}>")
}

fn one_table(keyspace: &str, name: &QualifiedName) -> String {
    format!("<table {keyspace}.{}>", name.name.text)
}

/// Local and virtual system keyspaces cannot be changed at all; of the replicated ones only the replication can
/// (`resource` is `None` then).
fn may_change(
    keyspace: &str,
    permission: &'static str,
    resource: Option<String>,
) -> Result<(), Error> {
    if !is_system_keyspace(keyspace) {
        return Ok(());
    }
    if !is_replicated_system(keyspace) {
        return Err(KeyspaceError::Unmodifiable { keyspace: keyspace.to_string() }.into());
    }
    match resource {
        None => Ok(()),
        Some(resource) => Err(KeyspaceError::Forbidden { permission, resource }.into()),
    }
}

fn is_replicated_system(keyspace: &str) -> bool {
    matches!(keyspace, "system_auth" | "system_distributed" | "system_traces")
}

/// Java's `\w+`.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
