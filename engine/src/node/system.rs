//! Cassandra's own keyspaces: what they hold and how their tables are defined.
//!
//! Drivers read `system.local`, `system.peers` and all of `system_schema` before their first statement, by name and by
//! `SELECT *`, so names, types and order must be exact. The definitions are data, taken from a running Cassandra 5.0.2
//! (`system_tables.tsv`, tab separated):
//!
//! ```text
//! table          system  local  7ad5...  default TTL  gc_grace  flush period  compaction  comment
//! partition_key  key     text
//! regular        tokens  set<text>
//! ```
//!
//! | keyspace | replication | rows |
//! |---|---|---|
//! | system, system_schema | local | made from topology and schema when read (`Table::is_virtual`) |
//! | system_auth, system_distributed, system_traces | SimpleStrategy 1, 3, 2 | none, unless somebody writes them |
//!
//! Of `system`, the tables `local`, `peers` and `peers_v2` have rows; of `system_schema`, `keyspaces`, `tables`,
//! `columns`, `dropped_columns` and `types`. The others are there and empty. Missing: the virtual keyspaces `system_views` and
//! `system_virtual_schema`, which `system_schema` does not list either.

use crate::schema::{
    Column, ColumnId, ColumnKind, Keyspace, Replication, Schema, Table, TableId, TableOptions,
};
use crate::types::CqlType;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use uuid::{Uuid, uuid};

/// Cassandra's version that is spoken: `release_version`.
pub const RELEASE_VERSION: &str = "5.0.2";
/// Version of the CQL language: `cql_version`.
pub const CQL_VERSION: &str = "3.4.7";
/// Newest native protocol: `native_protocol_version`.
pub const NATIVE_PROTOCOL_VERSION: &str = "5";
/// Port between nodes that the tables show.
pub const STORAGE_PORT: i32 = 7000;
/// Port for clients that the tables show, until a server says which it listens on.
pub const NATIVE_PORT: i32 = 9042;

/// The schema of a new cluster: Cassandra's own keyspaces alone. The version is that of Cassandra's empty schema.
pub fn initial_schema() -> Schema {
    Schema {
        version: uuid!("59adb24e-f3cd-3e02-97f0-5b395827453f"),
        keyspaces: KEYSPACES.iter().map(|k| (k.name.clone(), Arc::clone(k))).collect(),
    }
}

static KEYSPACES: LazyLock<Vec<Arc<Keyspace>>> = LazyLock::new(|| {
    let mut tables = parse_tables(include_str!("system_tables.tsv"));
    let simple = |replication_factor| Replication::Simple { replication_factor };
    [
        ("system", Replication::Local),
        ("system_schema", Replication::Local),
        ("system_auth", simple(1)),
        ("system_distributed", simple(3)),
        ("system_traces", simple(2)),
    ]
    .into_iter()
    .map(|(name, replication)| {
        Arc::new(Keyspace {
            name: name.to_string(),
            replication,
            durable_writes: true,
            tables: tables.remove(name).unwrap_or_default(),
            types: BTreeMap::new(),
        })
    })
    .collect()
});

type Tables = BTreeMap<String, Arc<Table>>;

/// Tables by keyspace and name. Requires: the text is our own file, whose faults are ours.
fn parse_tables(text: &str) -> BTreeMap<String, Tables> {
    let mut keyspaces: BTreeMap<String, Tables> = BTreeMap::new();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).peekable();
    while let Some(head) = lines.next() {
        let mut columns = Vec::new();
        while let Some(line) = lines.next_if(|line| line[0] != "table") {
            columns.push(parse_column(&line, &columns));
        }
        let table = parse_table(&head, columns);
        keyspaces
            .entry(table.keyspace.clone())
            .or_default()
            .insert(table.name.clone(), Arc::new(table));
    }
    keyspaces
}

fn parse_table(line: &[&str], columns: Vec<Column>) -> Table {
    let &[_, keyspace, name, id, time_to_live, gc_grace, flush_period, compaction, comment] = line
    else {
        panic!("a line of a table has nine fields: {line:?}")
    };
    let number = |text: &str| text.parse::<u32>().expect("the file holds numbers here");
    let options = TableOptions {
        comment: comment.to_string(),
        compaction: parse_compaction(compaction),
        bloom_filter_fp_chance: Some(0.01),
        default_time_to_live_seconds: number(time_to_live),
        gc_grace_seconds: number(gc_grace),
        memtable_flush_period_millis: number(flush_period),
        ..TableOptions::default()
    };
    let id = TableId(Uuid::parse_str(id).expect("the file holds uuids here"));
    let mut table = Table::new(id, keyspace, name, columns, BTreeMap::new(), options);
    table.is_virtual = matches!(keyspace, "system" | "system_schema");
    table
}

fn parse_column(line: &[&str], before: &[Column]) -> Column {
    let &[kind, name, ty] = line else { panic!("a line of a column has three fields: {line:?}") };
    let kind = match kind {
        "partition_key" => ColumnKind::PartitionKey,
        "clustering" => ColumnKind::Clustering,
        "static" => ColumnKind::Static,
        "regular" => ColumnKind::Regular,
        other => panic!("no kind of column: {other}"),
    };
    let is_key = matches!(kind, ColumnKind::PartitionKey | ColumnKind::Clustering);
    Column {
        id: ColumnId(u16::try_from(before.len()).expect("a table has few columns")),
        name: name.to_string(),
        ty: parse_type(ty),
        kind,
        position: if is_key { before.iter().filter(|c| c.kind == kind).count() } else { 0 },
        descending: false,
        dropped_at_micros: None,
    }
}

fn parse_compaction(text: &str) -> BTreeMap<String, String> {
    let (class, options) = text.split_once(' ').unwrap_or((text, ""));
    let class = format!("org.apache.cassandra.db.compaction.{class}");
    let options = options.split_whitespace().filter_map(|option| option.split_once('='));
    let options = options.map(|(name, value)| (name.to_string(), value.to_string()));
    [("class".to_string(), class)].into_iter().chain(options).collect()
}

/// The few types that system tables use.
fn parse_type(text: &str) -> CqlType {
    if let Some((outer, inner)) = text.strip_suffix('>').and_then(|t| t.split_once('<')) {
        let parts = || split_arguments(inner).into_iter().map(parse_type);
        let mut of = parts();
        let mut next = || of.next().expect("the type has its arguments");
        return match outer {
            "frozen" => next().freeze(),
            "list" => CqlType::list(next()),
            "set" => CqlType::set(next()),
            "map" => CqlType::map(next(), next()),
            "tuple" => CqlType::Tuple(parts().collect()),
            other => panic!("no type of system tables: {other}"),
        };
    }
    match text {
        "text" => CqlType::Text,
        "int" => CqlType::Int,
        "bigint" => CqlType::Bigint,
        "smallint" => CqlType::Smallint,
        "double" => CqlType::Double,
        "boolean" => CqlType::Boolean,
        "blob" => CqlType::Blob,
        "inet" => CqlType::Inet,
        "uuid" => CqlType::Uuid,
        "timeuuid" => CqlType::Timeuuid,
        "timestamp" => CqlType::Timestamp,
        other => panic!("no type of system tables: {other}"),
    }
}

/// Splits at the commas that lie in no inner pair of brackets.
fn split_arguments(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column types print back as the file (that is, Cassandra) writes them: nothing was misread.
    #[test]
    fn every_definition_prints_back() {
        let schema = initial_schema();
        let (mut tables, mut columns) = (0, 0);
        let mut lines = include_str!("system_tables.tsv").lines().peekable();
        while let Some(head) = lines.next() {
            let head: Vec<&str> = head.split('\t').collect();
            let table = schema.table(head[1], head[2]).unwrap();
            let expected: Vec<String> =
                std::iter::from_fn(|| lines.next_if(|l| !l.starts_with("table\t")))
                    .map(str::to_string)
                    .collect();
            let found: Vec<String> = table
                .columns()
                .iter()
                .map(|c| format!("{}\t{}\t{}", c.kind, c.name, c.ty))
                .collect();
            assert_eq!(found, expected, "{}.{}", table.keyspace, table.name);
            tables += 1;
            columns += found.len();
        }
        assert_eq!((tables, columns), (48, 313), "as counted on a running Cassandra 5.0.2");
    }
}
