//! A checked statement with no names left: all that execution needs.
//!
//! A plan is made once (PREPARE) and run many times: names are column ids, terms are typed, what could be refused
//! without values has been refused.

use crate::analysis::ddl::SchemaPlan;
use crate::analysis::modification::{BatchPlan, ModificationPlan};
use crate::analysis::select::SelectPlan;
use crate::ast::Name;
use crate::outcome::ColumnSpec;
use cassling_engine::schema::Table;
use std::sync::Arc;

/// A plan with the markers it needs values for.
#[derive(Debug)]
pub struct Plan {
    /// What to do.
    pub kind: PlanKind,
    /// Markers in the order of the text.
    pub markers: Vec<ColumnSpec>,
    /// For each marker its `:name`, if it has one.
    pub marker_names: Vec<Option<Name>>,
}

/// Kinds of plans.
#[derive(Debug)]
pub enum PlanKind {
    /// SELECT.
    Select(Box<SelectPlan>),
    /// INSERT, UPDATE, DELETE.
    Modification(Box<ModificationPlan>),
    /// BATCH.
    Batch(BatchPlan),
    /// CREATE, ALTER, DROP.
    Schema(SchemaPlan),
    /// USE.
    Use(String),
    /// TRUNCATE.
    Truncate(Arc<Table>),
}
