//! Every schema statement of the recorded answers of a real Cassandra, run in order on a schema value: the same
//! refusal (code, text, fields), the same warnings, and afterwards the same rows of `system_schema`.
//!
//! Statements of other kinds are skipped, and so is what needs an index, a view, a function or COMPACT STORAGE.

use cassling::analysis::{self, Context, ddl};
use cassling::ast::Statement;
use cassling::error::{Error, Field};
use cassling::parser;
use cassling::plan::PlanKind;
use cassling_engine::schema::{Column, ColumnKind, Schema, Table, TableOptions};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A recorded file while it is run.
struct Replay {
    schema: Schema,
    keyspace: Option<String>,
    /// Tables that Cassandra made and we refused as unsupported: statements on them are skipped.
    unsupported: BTreeSet<String>,
    tables_made: u128,
    failures: Vec<String>,
    compared: usize,
}

/// Runs a recorded file; gives the number of answers compared.
fn replay(file: &str) -> usize {
    let path = format!("{}/../tests/answers/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let records = std::fs::read_to_string(&path).expect("the recorded answers are there");
    let mut replay = Replay {
        schema: Schema { version: Uuid::nil(), keyspaces: BTreeMap::new() },
        keyspace: None,
        unsupported: BTreeSet::new(),
        tables_made: 0,
        failures: Vec::new(),
        compared: 0,
    };
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).expect("a record is JSON");
        replay.record(&record);
    }
    assert!(replay.failures.is_empty(), "{}", replay.failures.join("\n"));
    replay.compared
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

impl Replay {
    fn record(&mut self, record: &Value) {
        let Some(cql) = record["cql"].as_str() else { return };
        let expected = record["error"].as_array().map(|e| (text(&e[0]), text(&e[1])));
        if cql.contains("system_schema.") {
            return self.system_schema(cql, record);
        }
        if expected.is_some_and(|(_, message)| is_not_ours(message)) || self.unsupported(cql) {
            return;
        }
        let parsed = match parser::parse(cql) {
            Ok(parsed) => parsed,
            Err(e) if is_schema_statement(cql) => {
                return self.compare(cql, record, expected, Err(e), &[]);
            }
            Err(_) => return,
        };
        match &parsed.statement {
            Statement::Use(name) if expected.is_none() => {
                self.keyspace = Some(name.text.clone());
            }
            _ if is_schema_statement(cql) => {
                let (outcome, warnings) = self.run(&parsed);
                self.compare(cql, record, expected, outcome, &warnings);
            }
            _ => {}
        }
    }

    fn unsupported(&self, cql: &str) -> bool {
        let mut words = cql.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| self.unsupported.contains(word))
    }

    fn run(&mut self, parsed: &parser::Parsed) -> (Result<(), Error>, Vec<String>) {
        let datacenters = [("datacenter1".to_string(), 1)];
        let schema = self.schema.clone();
        let context = || Context::new(&schema, self.keyspace.as_deref(), 0, &datacenters, 0);
        let id = Uuid::from_u128(self.tables_made);
        let decided = analysis::plan(context(), parsed).and_then(|plan| match plan.kind {
            PlanKind::Schema(plan) => ddl::decide(&context(), &plan, 1_000_000, &|| id),
            _ => Ok(ddl::SchemaDecision::default()),
        });
        match decided {
            Ok(decision) => {
                self.tables_made += 1;
                for change in decision.change.iter().flat_map(|(changes, _)| changes) {
                    self.schema = self.schema.apply(change);
                }
                (Ok(()), decision.warnings)
            }
            Err(e) => {
                if let (true, Statement::CreateTable(create)) =
                    (is_unsupported(&e.to_string()), &parsed.statement)
                {
                    self.unsupported.insert(create.name.name.text.clone());
                }
                (Err(e), Vec::new())
            }
        }
    }

    fn compare(
        &mut self,
        cql: &str,
        record: &Value,
        expected: Option<(&str, &str)>,
        outcome: Result<(), Error>,
        warnings: &[String],
    ) {
        let mut fields = Value::Null;
        let got = outcome.err().map(|e| {
            if !e.fields().is_empty() {
                fields = Value::Object(e.fields().into_iter().map(named).collect());
            }
            (format!("{:04x}", e.code() as u16), e.to_string())
        });
        if got.as_ref().is_some_and(|(_, message)| is_unsupported(message)) {
            return;
        }
        self.compared += 1;
        let expected = expected.map(|(code, message)| (code.to_string(), message.to_string()));
        if got != expected {
            self.failures.push(format!("{cql}\n  expected {expected:?}\n  got      {got:?}"));
        } else if fields != record["fields"] {
            self.failures.push(format!("{cql}\n  fields {} not {fields}", record["fields"]));
        }
        let recorded: Vec<&str> =
            record["warnings"].as_array().into_iter().flatten().map(text).collect();
        if warnings != recorded {
            self.failures.push(format!("{cql}\n  warnings {recorded:?}\n  got {warnings:?}"));
        }
    }

    /// `SELECT columns FROM system_schema.what WHERE keyspace_name = '..' AND table_name = '..'`.
    fn system_schema(&mut self, cql: &str, record: &Value) {
        let Some(recorded) = record["rows"].as_array() else { return };
        // Views are not there, and the order of rows is not the question here.
        if cql.contains("'mv'") || cql.contains("ORDER BY") {
            return;
        }
        let quoted: Vec<&str> = cql.split('\'').skip(1).step_by(2).collect();
        let found = quoted.first().and_then(|name| self.schema.keyspace(name));
        let Some(keyspace) = found.filter(|_| !self.unsupported(cql)) else { return };
        let mut tables: Vec<&str> = quoted[1..].to_vec();
        tables.sort_unstable();
        let named = tables.iter().filter_map(|name| keyspace.tables.get(*name));
        let asks = |what: &str, condition: &str| {
            cql.contains(&format!("system_schema.{what} ")) && cql.contains(condition)
        };
        let rows: Vec<BTreeMap<&str, Value>> = if asks("tables", "AND table_name") {
            named.map(|table| table_row(table)).collect()
        } else if asks("columns", "AND table_name") {
            named.flat_map(|table| column_rows(table)).collect()
        } else if asks("keyspaces", "WHERE keyspace_name = ") {
            vec![BTreeMap::from([
                ("keyspace_name", hex(keyspace.name.as_bytes())),
                ("durable_writes", hex(&[u8::from(keyspace.durable_writes)])),
                ("replication", map(&keyspace.replication.as_map())),
            ])]
        } else {
            return;
        };
        let columns = record["columns"].as_array().expect("rows have columns");
        let select = |row: &BTreeMap<&str, Value>| {
            columns.iter().map(|c| row.get(text(&c[0])).cloned()).collect::<Option<Vec<_>>>()
        };
        // A column that no row here has (ids, flags) is not ours to compare.
        let Some(got) = rows.iter().map(select).collect::<Option<Vec<_>>>() else { return };
        self.compared += 1;
        let got: Vec<Value> = got.into_iter().map(Value::from).collect();
        if &got != recorded {
            self.failures.push(format!("{cql}\n  expected {recorded:?}\n  got      {got:?}"));
        }
    }
}

fn named((name, field): (&'static str, Field)) -> (String, Value) {
    let value = match field {
        Field::Text(text) => Value::from(text),
        other => Value::from(format!("{other:?}")),
    };
    (name.to_string(), value)
}

fn is_unsupported(message: &str) -> bool {
    message.starts_with("cassling does not support")
}

/// Texts of the parser, and of features that are not there.
fn is_not_ours(message: &str) -> bool {
    message.starts_with("line ")
        || message.starts_with("Failed parsing")
        || message.contains("secondary indexes")
        || message.contains("aterialized view")
        || message.contains("MATERIALIZED VIEW")
        || message.contains("still used by functions")
}

fn is_schema_statement(cql: &str) -> bool {
    let mut words = cql.split_whitespace().map(str::to_uppercase);
    let mut next = || words.next().unwrap_or_default();
    matches!(next().as_str(), "CREATE" | "ALTER" | "DROP")
        && matches!(next().as_str(), "KEYSPACE" | "TABLE" | "COLUMNFAMILY" | "TYPE")
}

fn hex(bytes: &[u8]) -> Value {
    Value::from(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())
}

fn map(pairs: &BTreeMap<String, String>) -> Value {
    let mut bytes = (pairs.len() as u32).to_be_bytes().to_vec();
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as u32).to_be_bytes());
        bytes.extend(text.as_bytes());
    }
    hex(&bytes)
}

fn table_row(table: &Table) -> BTreeMap<&'static str, Value> {
    let options: &TableOptions = &table.options;
    let int = |value: u32| hex(&value.to_be_bytes());
    let double = |value: f64| hex(&value.to_be_bytes());
    let boolean = |value: Option<bool>| value.map_or(Value::Null, |b| hex(&[u8::from(b)]));
    BTreeMap::from([
        ("table_name", hex(table.name.as_bytes())),
        ("additional_write_policy", hex(options.additional_write_policy.as_bytes())),
        ("allow_auto_snapshot", boolean(options.allow_auto_snapshot_shown())),
        ("bloom_filter_fp_chance", double(options.bloom_filter())),
        ("caching", map(&options.caching)),
        ("cdc", boolean(options.cdc_shown())),
        ("comment", hex(options.comment.as_bytes())),
        ("compaction", map(&options.compaction)),
        ("compression", map(&options.compression)),
        ("crc_check_chance", double(options.crc_check_chance)),
        ("default_time_to_live", int(options.default_time_to_live_seconds)),
        ("extensions", map(&BTreeMap::new())),
        ("gc_grace_seconds", int(options.gc_grace_seconds)),
        ("incremental_backups", boolean(options.incremental_backups_shown())),
        ("max_index_interval", int(options.max_index_interval)),
        ("memtable", options.memtable.as_ref().map_or(Value::Null, |m| hex(m.as_bytes()))),
        ("memtable_flush_period_in_ms", int(options.memtable_flush_period_millis)),
        ("min_index_interval", int(options.min_index_interval)),
        ("read_repair", hex(options.read_repair.as_bytes())),
        ("speculative_retry", hex(options.speculative_retry.as_bytes())),
    ])
}

fn column_rows(table: &Table) -> Vec<BTreeMap<&'static str, Value>> {
    let mut columns: Vec<&Column> = table.columns().iter().collect();
    columns.sort_by_key(|column| column.name.as_bytes());
    let row = |column: &&Column| {
        let position = if column.is_primary_key() { column.position as i32 } else { -1 };
        let order = match (column.kind, column.descending) {
            (ColumnKind::Clustering, true) => "desc",
            (ColumnKind::Clustering, false) => "asc",
            _ => "none",
        };
        BTreeMap::from([
            ("keyspace_name", hex(table.keyspace.as_bytes())),
            ("table_name", hex(table.name.as_bytes())),
            ("column_name", hex(column.name.as_bytes())),
            ("column_name_bytes", hex(column.name.as_bytes())),
            ("clustering_order", hex(order.as_bytes())),
            ("kind", hex(column.kind.to_string().as_bytes())),
            ("position", hex(&position.to_be_bytes())),
            ("type", hex(column.ty.to_string().as_bytes())),
        ])
    };
    columns.iter().map(row).collect()
}

/// The numbers guard against a harness that skips: each is a little under what is compared.
#[test]
fn keyspaces_answer_as_recorded() {
    let compared = replay("keyspaces");
    assert!(compared > 80, "{compared}");
}

#[test]
fn tables_answer_as_recorded() {
    let compared = replay("tables-ddl");
    assert!(compared > 120, "{compared}");
}

#[test]
fn table_options_answer_as_recorded() {
    let compared = replay("table-options");
    assert!(compared > 150, "{compared}");
}

#[test]
fn alter_table_answers_as_recorded() {
    let compared = replay("alter-table");
    assert!(compared > 80, "{compared}");
}

#[test]
fn compaction_options_answer_as_recorded() {
    let compared = replay("compaction-options");
    assert!(compared > 150, "{compared}");
}

#[test]
fn types_answer_as_recorded() {
    let compared = replay("types-udt-ddl");
    assert!(compared > 70, "{compared}");
}

#[test]
fn names_and_system_schema_answer_as_recorded() {
    let compared = replay("names") + replay("system-schema");
    assert!(compared > 30, "{compared}");
}
