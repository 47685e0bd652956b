//! WHERE clauses and what they ask for, table by table.

mod pipeline;
mod slices;
mod support;
mod typing;
