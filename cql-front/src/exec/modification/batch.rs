//! BATCH: statements on one partition share a mutation; size and spread are measured as Cassandra does (sheet E.3).

use super::using::timestamp;
use super::{Request, default_timestamp, finish, mutations, write};
use crate::analysis::modification::BatchPlan;
use crate::analysis::terms::Env;
use crate::ast::BatchKind;
use crate::error::Error;
use crate::error::modification::ModificationError as E;
use crate::outcome::Outcome;
use cassling_engine::error::WriteKind;
use cassling_engine::ring::Consistency;
use cassling_engine::row::mutation::Mutations;
use cassling_engine::row::{Mutation, Row};
use cassling_engine::schema::Table;
use cassling_engine::settings::Settings;
use cassling_engine::types::quote_name;
use std::collections::BTreeSet;

/// Runs a BATCH statement.
///
/// # Errors
/// As [`super::run`], and `Batch too large`.
pub async fn run_batch(plan: &BatchPlan, request: &Request<'_>) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let ran = run_members(plan, request, &mut outcome).await;
    finish(ran, outcome)
}

async fn run_members(
    plan: &BatchPlan,
    request: &Request<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let env = Env { values: request.values, cluster: request.cluster };
    let given = timestamp(plan.timestamp.as_ref(), &env)?;
    let default = given.unwrap_or_else(|| default_timestamp(request));
    let mut all = Mutations::new();
    for member in &plan.members {
        for mutation in mutations(member, request, default, outcome).await? {
            join(&mut all, mutation);
        }
    }
    let is_logged = plan.kind == BatchKind::Logged;
    if is_logged {
        outcome.warnings.extend(gc_grace_warning(plan));
    }
    let partitions: BTreeSet<_> = all.iter().map(|m| (&m.table.keyspace, &m.key)).collect();
    let several = partitions.len() > 1;
    if several {
        let settings = request.cluster.settings();
        size_warning(&all, &settings, &mut outcome.warnings)?;
        if !is_logged {
            let limit = settings.unlogged_batch_across_partitions_warn_threshold;
            outcome.warnings.extend(spread_warning(&all, limit));
        }
    }
    let kind = match (several, is_logged) {
        (false, _) => WriteKind::Simple,
        (true, true) => WriteKind::Batch,
        (true, false) => WriteKind::UnloggedBatch,
    };
    // Cassandra takes a batch at a serial level, and writes it at the quorum of the same reach.
    let consistency = match request.consistency {
        Consistency::Serial => Consistency::Quorum,
        Consistency::LocalSerial => Consistency::LocalQuorum,
        other => other,
    };
    write(request, all, kind, consistency, outcome).await
}

/// Adds a mutation, into the one of the same table and partition if there is one.
fn join(all: &mut Mutations, mutation: Mutation) {
    let same = |m: &&mut Mutation| m.table.id == mutation.table.id && m.key == mutation.key;
    match all.iter_mut().find(same) {
        Some(there) => there.absorb(mutation),
        None => all.push(mutation),
    }
}

fn gc_grace_warning(plan: &BatchPlan) -> Option<String> {
    let tables: Vec<String> = plan
        .members
        .iter()
        .filter(|member| member.table.options.gc_grace_seconds == 0)
        .map(|member| full_name(&member.table))
        .collect();
    if tables.is_empty() {
        return None;
    }
    let tables = java_set(&tables);
    Some(format!(
        "Executing a LOGGED BATCH on table{} {}, configured with a gc_grace_seconds of 0. The gc_grace_seconds is used to TTL batchlog entries, so setting gc_grace_seconds too low on tables involved in an atomic batch might cause batchlog entries to expire before being replayed.",
        if tables.len() == 1 { "" } else { "s" },
        listed(&tables),
    ))
}

fn size_warning(
    all: &[Mutation],
    settings: &Settings,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let size = all.iter().map(data_size).sum::<usize>() as u64;
    let threshold = settings.batch_size_warn_threshold;
    if size > settings.batch_size_fail_threshold {
        return Err(Error::new(E::BatchTooLarge));
    }
    if size > threshold {
        let names: Vec<String> = all.iter().map(|m| full_name(&m.table)).collect();
        warnings.push(format!(
            "Batch for {} is of size {size}, exceeding specified threshold of {threshold} by {}.",
            listed(&java_set(&names)),
            size - threshold,
        ));
    }
    Ok(())
}

fn spread_warning(all: &[Mutation], limit: i64) -> Option<String> {
    let keys: BTreeSet<_> = all.iter().map(|m| &m.key).collect();
    let names: Vec<String> = all.iter().map(|m| full_name(&m.table)).collect();
    let names = java_set(&names);
    (i64::try_from(keys.len()).unwrap_or(i64::MAX) > limit).then(|| {
        format!(
            "Unlogged batch covering {} partitions detected against table{} {}. You should use a logged batch for atomicity, or asynchronous writes for performance.",
            keys.len(),
            if names.len() == 1 { "" } else { "s" },
            listed(&names),
        )
    })
}

fn full_name(table: &Table) -> String {
    format!("{}.{}", quote_name(&table.keyspace), quote_name(&table.name))
}

fn listed(names: &[String]) -> String {
    format!("[{}]", names.join(", "))
}

/// The names without duplicates in the order in which a Java `HashSet<String>` gives them: by the low bits of the
/// spread hash, in a table that doubles at three quarters full.
fn java_set(names: &[String]) -> Vec<String> {
    let unique: BTreeSet<&String> = names.iter().collect();
    let mut buckets = 16;
    while unique.len() * 4 > buckets * 3 {
        buckets *= 2;
    }
    let mut order: Vec<(usize, usize, &String)> = unique
        .into_iter()
        .map(|name| {
            let hash =
                name.encode_utf16().fold(0_u32, |h, c| h.wrapping_mul(31).wrapping_add(c.into()));
            let spread = hash ^ (hash >> 16);
            let first = names.iter().position(|n| n == name).unwrap_or(0);
            (spread as usize & (buckets - 1), first, name)
        })
        .collect();
    order.sort();
    order.into_iter().map(|(_, _, name)| name.clone()).collect()
}

/// Cassandra's `PartitionUpdate.dataSize`, bytes: the key is not counted.
fn data_size(mutation: &Mutation) -> usize {
    let partition = 8 + mutation.static_row.as_ref().map_or(21, |row| row_size(row, 0));
    let rows: usize = mutation
        .rows
        .iter()
        .map(|row| {
            let values = cassling_engine::row::clustering::values(
                &mutation.table,
                row.position(),
                row.raw_clustering(),
            );
            row_size(row, values.iter().map(Vec::len).sum())
        })
        .sum();
    partition + rows
}

fn row_size(row: &Row, clustering_bytes: usize) -> usize {
    let marker = if row.marker().is_some_and(|marker| marker.ttl_seconds > 0) { 20 } else { 8 };
    let cells: usize = row
        .cells()
        .map(|cell| 20 + cell.value.len() + cell.path.map_or(0, |path| path.value.len()))
        .sum();
    let mut columns: Vec<_> = row.cells().filter(|c| c.path.is_some()).map(|c| c.column).collect();
    columns.extend(row.complex_deletions().map(|(column, _)| column));
    columns.sort_unstable();
    columns.dedup();
    clustering_bytes + marker + 13 + cells + 12 * columns.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_javas_order() {
        // Recorded: `[d_batch.g2, d_batch.g]` and `[d_batch.t2, d_batch.g]` (answers/batch).
        let set =
            |names: &[&str]| java_set(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(set(&["d_batch.g", "d_batch.g2", "d_batch.g"]), ["d_batch.g2", "d_batch.g"]);
        assert_eq!(set(&["d_batch.t2", "d_batch.g"]), ["d_batch.t2", "d_batch.g"]);
    }
}
