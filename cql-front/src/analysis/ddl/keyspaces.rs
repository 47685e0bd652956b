//! CREATE, ALTER and DROP KEYSPACE; replication.
//!
//! `NetworkTopologyStrategy` with a bare `replication_factor` is spelt out for the data centres known at that moment:
//!
//! ```text
//! {'class': 'NetworkTopologyStrategy', 'replication_factor': 3, 'east': 2}   data centres east, west
//!   -> {east: 2, west: 3}
//! ```
//!
//! ALTER leaves a data centre that the keyspace lists already as it is; 0 takes one out.

use super::properties::Properties;
use super::{SchemaDecision, is_word};
use crate::analysis::Context;
use crate::ast::{AlterKeyspace, CreateKeyspace};
use crate::error::Error;
use crate::error::schema::KeyspaceError;
use cassling_engine::schema::{Keyspace, Replication, SchemaChange, is_system_keyspace};
use std::collections::BTreeMap;
use std::sync::Arc;

const PACKAGE: &str = "org.apache.cassandra.locator.";
const FACTOR: &str = "replication_factor";
/// `default_keyspace_rf` of cassandra.yaml.
const DEFAULT_FACTOR: &str = "1";

/// CREATE KEYSPACE.
pub(super) fn create(cx: &Context<'_>, create: &CreateKeyspace) -> Result<SchemaDecision, Error> {
    let name = &create.name.text;
    let refuse = |e: KeyspaceError| Err(Error::from(e).or_at(create.name.span));
    if is_system_keyspace(name) && !super::is_replicated_system(name) {
        return refuse(KeyspaceError::System { keyspace: name.clone() });
    }
    if !is_word(name) || name.len() > 48 {
        return refuse(KeyspaceError::Name { keyspace: name.clone() });
    }
    let properties = Properties(&create.properties);
    let written = check(properties)?;
    let Some(written) = written else { return refuse(KeyspaceError::NoReplication {}) };
    if cx.schema.keyspace(name).is_some() || super::is_replicated_system(name) {
        return match create.if_not_exists {
            true => Ok(SchemaDecision::default()),
            false => refuse(KeyspaceError::Exists { keyspace: name.clone() }),
        };
    }
    let durable_writes = properties.boolean("durable_writes")?.unwrap_or(true);
    if written.is_empty() {
        return refuse(KeyspaceError::EmptyReplication {});
    }
    let replication = replication(cx, name, written, None)?;
    let warnings = too_few_nodes(cx, name, &replication);
    let keyspace = Keyspace {
        name: name.clone(),
        replication,
        durable_writes,
        tables: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    let change = SchemaChange::PutKeyspace(Arc::new(keyspace));
    let mut decision = SchemaDecision::one(change, "CREATED", "KEYSPACE", name, None);
    decision.warnings = warnings;
    Ok(decision)
}

/// ALTER KEYSPACE.
pub(super) fn alter(cx: &Context<'_>, alter: &AlterKeyspace) -> Result<SchemaDecision, Error> {
    let name = &alter.name.text;
    let properties = Properties(&alter.properties);
    let written = check(properties)?;
    let Some(old) = cx.schema.keyspace(name) else {
        return missing(name, alter.if_exists);
    };
    let durable_writes = properties.boolean("durable_writes")?.unwrap_or(old.durable_writes);
    let replication = match written {
        Some(pairs) if !pairs.is_empty() => replication(cx, name, pairs, Some(&old.replication))?,
        _ => old.replication.clone(),
    };
    let mut warnings = too_few_nodes(cx, name, &replication);
    let same = replication == old.replication && durable_writes == old.durable_writes;
    if total(&replication) > total(&old.replication) {
        warnings.push(
            "When increasing replication factor you need to run a full (-full) repair to distribute the data."
                .to_string(),
        );
    }
    if same {
        return Ok(SchemaDecision { change: None, warnings });
    }
    let keyspace = Keyspace { replication, durable_writes, ..old.as_ref().clone() };
    let change = SchemaChange::PutKeyspace(Arc::new(keyspace));
    let mut decision = SchemaDecision::one(change, "UPDATED", "KEYSPACE", name, None);
    decision.warnings = warnings;
    Ok(decision)
}

/// DROP KEYSPACE.
pub(super) fn drop(cx: &Context<'_>, name: &str, if_exists: bool) -> Result<SchemaDecision, Error> {
    match cx.schema.keyspace(name) {
        None => missing(name, if_exists),
        Some(_) => {
            let change = SchemaChange::DropKeyspace(name.to_string());
            Ok(SchemaDecision::one(change, "DROPPED", "KEYSPACE", name, None))
        }
    }
}

fn missing(name: &str, if_exists: bool) -> Result<SchemaDecision, Error> {
    match if_exists {
        true => Ok(SchemaDecision::default()),
        false => Err(KeyspaceError::Missing { keyspace: name.to_string() }.into()),
    }
}

/// Unknown properties and a replication without class; gives the replication as written, if there is one.
fn check(properties: Properties<'_>) -> Result<Option<&[(String, String)]>, Error> {
    properties.check_known(&["replication", "durable_writes"])?;
    let written = properties.map("replication")?;
    match written {
        Some(pairs) if !pairs.is_empty() && !pairs.iter().any(|(k, _)| k == "class") => {
            Err(KeyspaceError::NoClass {}.into())
        }
        _ => Ok(written),
    }
}

/// The replication that the map means; `old` is what it replaces.
fn replication(
    cx: &Context<'_>,
    keyspace: &str,
    written: &[(String, String)],
    old: Option<&Replication>,
) -> Result<Replication, Error> {
    let class = written.iter().find(|(k, _)| k == "class").map_or("", |(_, v)| v);
    let options: BTreeMap<String, String> =
        written.iter().filter(|(k, _)| k != "class").cloned().collect();
    let full = if class.contains('.') { class.to_string() } else { format!("{PACKAGE}{class}") };
    match full.strip_prefix(PACKAGE) {
        Some("SimpleStrategy") => simple(keyspace, options, old),
        Some("NetworkTopologyStrategy") => network_topology(cx, keyspace, options, old),
        Some("LocalStrategy") => Err(KeyspaceError::LocalStrategy {}.into()),
        Some("OldNetworkTopologyStrategy") => Err(KeyspaceError::OldStrategy {}.into()),
        _ if full.starts_with("java.lang.") => {
            Err(KeyspaceError::NotAStrategy { class: full }.into())
        }
        _ => Err(KeyspaceError::UnknownClass { class: full }.into()),
    }
}

fn simple(
    keyspace: &str,
    options: BTreeMap<String, String>,
    old: Option<&Replication>,
) -> Result<Replication, Error> {
    let before = match old {
        Some(Replication::Simple { replication_factor }) => replication_factor.to_string(),
        _ => DEFAULT_FACTOR.to_string(),
    };
    let replication_factor = factor(options.get(FACTOR).unwrap_or(&before))?;
    if let Some(option) = options.keys().find(|k| *k != FACTOR) {
        return Err(unknown(option, "SimpleStrategy", keyspace));
    }
    Ok(Replication::Simple { replication_factor })
}

fn network_topology(
    cx: &Context<'_>,
    keyspace: &str,
    mut options: BTreeMap<String, String>,
    old: Option<&Replication>,
) -> Result<Replication, Error> {
    let mut everywhere = options.remove(FACTOR);
    let listed = match old {
        Some(Replication::NetworkTopology { datacenters }) => datacenters.clone(),
        _ => BTreeMap::new(),
    };
    if everywhere.is_some() || options.is_empty() {
        for (dc, rf) in &listed {
            options.entry(dc.clone()).or_insert_with(|| rf.to_string());
        }
    }
    if everywhere.is_none() && options.is_empty() {
        everywhere = Some(match old {
            Some(Replication::Simple { replication_factor }) => replication_factor.to_string(),
            _ => DEFAULT_FACTOR.to_string(),
        });
    }
    if let Some(everywhere) = everywhere {
        for (dc, _) in cx.datacenters {
            options.entry(dc.clone()).or_insert_with(|| everywhere.clone());
        }
    }
    options.retain(|_, rf| rf != "0");
    let datacenters = options
        .iter()
        .map(|(dc, rf)| Ok((dc.clone(), factor(rf)?)))
        .collect::<Result<BTreeMap<_, _>, Error>>()?;
    if datacenters.is_empty() {
        return Err(KeyspaceError::NoDatacenter {}.into());
    }
    let known = |dc: &str| cx.datacenters.iter().any(|(known, _)| known == dc);
    match datacenters.keys().find(|dc| !known(dc)) {
        Some(dc) => Err(unknown(dc, "NetworkTopologyStrategy", keyspace)),
        None => Ok(Replication::NetworkTopology { datacenters }),
    }
}

fn unknown(option: &str, strategy: &'static str, keyspace: &str) -> Error {
    let (option, keyspace) = (option.to_string(), keyspace.to_string());
    KeyspaceError::UnknownOption { option, strategy, keyspace }.into()
}

/// A replication factor; `3/1` asks for transient replicas.
fn factor(text: &str) -> Result<usize, Error> {
    let number = |text: &str| {
        text.parse::<i32>().map_err(|_| KeyspaceError::NotANumber { text: text.to_string() })
    };
    if let Some((all, transient)) = text.split_once('/') {
        number(all)?;
        number(transient)?;
        return Err(KeyspaceError::Transient {}.into());
    }
    let factor = number(text)?;
    usize::try_from(factor)
        .map_err(|_| KeyspaceError::Negative { factor: i64::from(factor) }.into())
}

/// Replicas of a partition in the whole cluster.
fn total(replication: &Replication) -> usize {
    match replication {
        Replication::Local => 1,
        Replication::Simple { replication_factor } => *replication_factor,
        Replication::NetworkTopology { datacenters } => datacenters.values().sum(),
    }
}

/// The warnings about more replicas than nodes, which come with every CREATE and ALTER.
fn too_few_nodes(cx: &Context<'_>, keyspace: &str, replication: &Replication) -> Vec<String> {
    let warning = |rf: usize, nodes: usize| {
        format!(
            "Your replication factor {rf} for keyspace {keyspace} is higher than the number of nodes {nodes}"
        )
    };
    match replication {
        Replication::Local => Vec::new(),
        Replication::Simple { replication_factor } => {
            let nodes = cx.datacenters.iter().map(|(_, nodes)| nodes).sum();
            let too_many = *replication_factor > nodes;
            too_many.then(|| warning(*replication_factor, nodes)).into_iter().collect()
        }
        Replication::NetworkTopology { datacenters } => cx
            .datacenters
            .iter()
            .filter_map(|(dc, nodes)| {
                let rf = *datacenters.get(dc)?;
                (rf > *nodes).then(|| format!("{} for datacenter {dc}", warning(rf, *nodes)))
            })
            .collect(),
    }
}
