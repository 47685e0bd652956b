//! Syntax + schema to plan, or the exact refusal.
//!
//! | module | what it checks |
//! |---|---|
//! | [`terms`] | literals, markers, function calls against the type that receives them |
//! | [`restrictions`] | WHERE of all statements: typing, merging, what the key allows (sheet A.2, A.3) |
//! | [`selection`] | select lists: columns, functions, aggregates, their names and types |
//! | [`select`] | SELECT as a whole: DISTINCT, ORDER BY, limits, filtering |
//! | [`modification`] | INSERT, UPDATE, DELETE, BATCH |
//! | [`ddl`] | keyspaces, tables, types and their options |
//! | `type_names` | types as written, resolved |

pub mod ddl;
pub mod modification;
pub mod restrictions;
pub mod select;
pub mod selection;
pub mod terms;
mod type_names;

use crate::ast::Statement;
use crate::ast::{Feature, Name, QualifiedName};
use crate::error::session::SessionError;
use crate::error::{Error, ErrorKind};
use crate::outcome::ColumnSpec;
use crate::parser::Parsed;
use crate::plan::{Plan, PlanKind};
use cassling_engine::schema::{Schema, Table};
use cassling_engine::types::CqlType;
use std::cell::RefCell;
use std::sync::Arc;

/// What analysis looks names up in, and where it notes what each marker receives.
#[derive(Debug)]
pub struct Context<'a> {
    /// Schema of the coordinator.
    pub schema: &'a Schema,
    /// Keyspace of the session (USE).
    pub keyspace: Option<&'a str>,
    /// The cluster's time in milliseconds: what a timestamp literal `now` means.
    pub now_millis: i64,
    /// Data centres with their number of nodes.
    pub datacenters: &'a [(String, usize)],
    /// Data centre of the coordinator... and the receiver of each marker, once known.
    markers: RefCell<Vec<Option<ColumnSpec>>>,
}

/// What a term is for: its name goes into messages and marker specs, its type decides what fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Keyspace of the table concerned.
    pub keyspace: String,
    /// Table concerned.
    pub table: String,
    /// Name: of the column, or as in sheet A.2 (`in(c)`, `value(l)`, `[limit]` ...).
    pub name: String,
    /// Type.
    pub ty: CqlType,
}

impl<'a> Context<'a> {
    /// A context for a statement with this many markers.
    pub fn new(
        schema: &'a Schema,
        keyspace: Option<&'a str>,
        now_millis: i64,
        datacenters: &'a [(String, usize)],
        marker_count: usize,
    ) -> Context<'a> {
        Context {
            schema,
            keyspace,
            now_millis,
            datacenters,
            markers: RefCell::new(vec![None; marker_count]),
        }
    }

    /// Notes what marker `index` receives.
    pub fn bind_marker(&self, index: usize, receiver: &Receiver) {
        self.markers.borrow_mut()[index] = Some(ColumnSpec {
            keyspace: receiver.keyspace.clone(),
            table: receiver.table.clone(),
            name: receiver.name.clone(),
            ty: receiver.ty.clone(),
        });
    }

    /// Keyspace that an unqualified name belongs to.
    ///
    /// # Errors
    /// [`SessionError::NoKeyspace`] before any USE.
    pub fn keyspace_of(&self, name: &QualifiedName) -> Result<String, Error> {
        match (&name.keyspace, self.keyspace) {
            (Some(written), _) => Ok(written.text.clone()),
            (None, Some(used)) => Ok(used.to_string()),
            (None, None) => Err(Error::at(SessionError::NoKeyspace, name.name.span)),
        }
    }

    /// The table that a DML statement or SELECT names.
    ///
    /// # Errors
    /// `keyspace .. does not exist`, `table .. does not exist`.
    pub fn table_of(&self, name: &QualifiedName) -> Result<Arc<Table>, Error> {
        let keyspace = self.keyspace_of(name)?;
        let span = name.keyspace.as_ref().map_or(name.name.span, |k| k.span.to(name.name.span));
        let found = self
            .schema
            .keyspace(&keyspace)
            .ok_or_else(|| Error::at(unknown_keyspace(&keyspace), span))?;
        found
            .tables
            .get(&name.name.text)
            .cloned()
            .ok_or_else(|| Error::at(SessionError::UnknownTable(name.name.text.clone()), span))
    }

    /// What each marker receives; a `:name` marker is called by its own name.
    fn into_markers(self, names: &[Option<Name>]) -> Vec<ColumnSpec> {
        let untyped = || ColumnSpec {
            keyspace: String::new(),
            table: String::new(),
            name: String::new(),
            ty: CqlType::Blob,
        };
        let markers = self.markers.into_inner().into_iter().zip(names);
        let named = markers.map(|(marker, name)| {
            let mut marker = marker.unwrap_or_else(untyped);
            if let Some(name) = name {
                marker.name.clone_from(&name.text);
            }
            marker
        });
        named.collect()
    }
}

/// Why there is no such keyspace: Cassandra has its virtual ones, which are not here.
pub(crate) fn unknown_keyspace(name: &str) -> ErrorKind {
    match name {
        "system_views" | "system_virtual_schema" => {
            ErrorKind::Unsupported(Feature::VirtualKeyspaces)
        }
        _ => ErrorKind::Session(SessionError::UnknownKeyspace(name.to_string())),
    }
}

/// Plans a statement.
///
/// # Errors
/// The refusal that Cassandra gives when it prepares the statement.
pub fn plan(cx: Context<'_>, parsed: &Parsed) -> Result<Plan, Error> {
    let kind = match &parsed.statement {
        Statement::Use(name) => PlanKind::Use(name.text.clone()),
        Statement::Select(select) => PlanKind::Select(Box::new(select::analyse(&cx, select)?)),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
            PlanKind::Modification(Box::new(modification::analyse(&cx, &parsed.statement)?))
        }
        Statement::Batch(batch) => PlanKind::Batch(modification::analyse_batch(&cx, batch)?),
        Statement::Truncate(name) => PlanKind::Truncate(cx.table_of(name)?),
        Statement::CreateKeyspace(_)
        | Statement::AlterKeyspace(_)
        | Statement::DropKeyspace { .. }
        | Statement::CreateTable(_)
        | Statement::AlterTable(_)
        | Statement::DropTable { .. }
        | Statement::CreateType(_)
        | Statement::AlterType(_)
        | Statement::DropType { .. } => PlanKind::Schema(ddl::analyse(&cx, &parsed.statement)?),
        Statement::Unsupported { feature, span } => {
            return Err(Error::at(ErrorKind::Unsupported(*feature), *span));
        }
    };
    Ok(Plan {
        kind,
        markers: cx.into_markers(&parsed.markers),
        marker_names: parsed.markers.clone(),
    })
}
