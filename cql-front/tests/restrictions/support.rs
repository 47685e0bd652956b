//! What a WHERE asks for, in words that fit a line of a table of cases.
//!
//! ```text
//! keys 1,1 2,1; [-5 .. +]; v = 7
//! ```
//!
//! Partitions (`keys` with their components, `all`, or `tokens` with a range), then slices (`-` before, `+` after the
//! rows with that prefix) or `rows`, then the filter.

use cassling::analysis::Context;
use cassling::analysis::restrictions::{
    Restrictions, Setting, StatementKind, Target, analyse, analyse_insert,
};
use cassling::analysis::terms::{BindValue, Env};
use cassling::ast::{InsertSource, SelectorKind, Statement};
use cassling::error::Error;
use cassling::parser;
use cassling_engine::cluster::{Cluster, ClusterConfig};
use cassling_engine::row::clustering::{self, AFTER, BEFORE, Bound, ClusteringKey, Slice};
use cassling_engine::row::filter::{Operator, RowFilter};
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::row::query::{Partitions, RowSelection};
use cassling_engine::schema::{
    Column, ColumnId, ColumnKind, Keyspace, Replication, Schema, Table, TableId, TableOptions,
};
use cassling_engine::types::{CqlType, UserType, order};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// A keyspace `ks` with tables, and a cluster to evaluate on.
pub(crate) struct Fixture {
    schema: Schema,
    cluster: Cluster,
}

/// The user-defined type `u (a int, b text)`, and `ud (d duration)`.
fn user_type(name: &str) -> CqlType {
    let fields = match name {
        "u" => vec![("a".to_string(), CqlType::Int), ("b".to_string(), CqlType::Text)],
        "ud" => vec![("d".to_string(), CqlType::Duration)],
        other => panic!("no such type: {other}"),
    };
    let definition = UserType { keyspace: "ks".to_string(), name: name.to_string(), fields };
    CqlType::Udt { definition: Arc::new(definition), frozen: false }
}

fn parse_type(text: &str) -> CqlType {
    let Some((head, rest)) = text.split_once('<') else {
        return match text {
            "bigint" => CqlType::Bigint,
            "boolean" => CqlType::Boolean,
            "decimal" => CqlType::Decimal,
            "duration" => CqlType::Duration,
            "int" => CqlType::Int,
            "text" => CqlType::Text,
            name => user_type(name),
        };
    };
    let inner = rest.strip_suffix('>').expect("a type ends in >");
    let part = |n: usize| parse_type(inner.split(", ").nth(n).expect("a type of that many parts"));
    match head {
        "frozen" => parse_type(inner).freeze(),
        "list" => CqlType::list(parse_type(inner)),
        "set" => CqlType::set(parse_type(inner)),
        "map" => CqlType::map(part(0), part(1)),
        "tuple" => CqlType::Tuple([part(0), part(1)].into()),
        "vector" => CqlType::Vector { element: Arc::new(part(0)), dimensions: 2 },
        other => panic!("no such type: {other}"),
    }
}

/// A table from `name type [pk|ck|desc|static]; ...`; a blank in a name is written `~`.
fn table(name: &str, columns: &str) -> Arc<Table> {
    let mut counts = BTreeMap::new();
    let columns = columns.split("; ").enumerate().map(|(id, text)| {
        let (name, rest) = text.split_once(' ').expect("a column has a type");
        let roles = [
            (" pk", ColumnKind::PartitionKey),
            (" ck", ColumnKind::Clustering),
            (" desc", ColumnKind::Clustering),
            (" static", ColumnKind::Static),
        ];
        let role = roles.iter().find(|(suffix, _)| rest.ends_with(suffix));
        let (suffix, kind) = role.copied().unwrap_or(("", ColumnKind::Regular));
        let position = match kind {
            ColumnKind::PartitionKey | ColumnKind::Clustering => {
                let count = counts.entry(kind).or_insert(0);
                *count += 1;
                *count - 1
            }
            ColumnKind::Static | ColumnKind::Regular => 0,
        };
        Column {
            id: ColumnId(u16::try_from(id).expect("few columns")),
            name: name.replace('~', " "),
            ty: parse_type(rest.strip_suffix(suffix).expect("found above")),
            kind,
            position,
            descending: suffix == " desc",
            dropped_at_micros: None,
        }
    });
    let columns = columns.collect();
    let id = TableId(Uuid::from_u128(1));
    Arc::new(Table::new(id, "ks", name, columns, BTreeMap::new(), TableOptions::default()))
}

impl Fixture {
    /// Tables by name and columns.
    pub(crate) fn new(tables: &[(&str, &str)]) -> Fixture {
        let tables =
            tables.iter().map(|(name, columns)| (name.to_string(), table(name, columns))).collect();
        let types = ["u", "ud"].into_iter().map(|name| {
            let CqlType::Udt { definition, .. } = user_type(name) else { unreachable!() };
            (name.to_string(), definition)
        });
        let keyspace = Keyspace {
            name: "ks".to_string(),
            replication: Replication::Simple { replication_factor: 1 },
            durable_writes: true,
            tables,
            types: types.collect(),
        };
        let keyspaces = BTreeMap::from([("ks".to_string(), Arc::new(keyspace))]);
        let schema = Schema { version: Uuid::from_u128(7), keyspaces };
        let cluster =
            Cluster::build(ClusterConfig::default()).expect("the defaults make a cluster");
        Fixture { schema, cluster }
    }

    /// What `statement` asks for with these values, or the text of the refusal.
    pub(crate) fn ask(&self, statement: &str, values: &[BindValue]) -> String {
        self.answer(statement, values).unwrap_or_else(|e| e.to_string())
    }

    /// The text that the refusal points at.
    pub(crate) fn blamed<'t>(&self, statement: &'t str) -> &'t str {
        let error = self.answer(statement, &[]).expect_err("a refusal");
        error.span.map_or("", |span| &statement[span.start..span.end])
    }

    fn analyse(&self, statement: &Statement, markers: usize) -> Result<Restrictions, Error> {
        let cx = Context::new(&self.schema, Some("ks"), 0, &[], markers);
        match statement {
            Statement::Select(select) => {
                let table = cx.table_of(&select.table)?;
                let mut statics = 0;
                let only_key_and_statics = select.selectors.iter().all(|item| {
                    let SelectorKind::Column(name) = &item.selector.kind else { return false };
                    let kind = table.column(&name.text).map(|c| c.kind);
                    statics += usize::from(kind == Some(ColumnKind::Static));
                    matches!(kind, Some(ColumnKind::Static | ColumnKind::PartitionKey))
                });
                let setting = Setting {
                    kind: StatementKind::Select,
                    allow_filtering: select.allow_filtering,
                    only_statics: only_key_and_statics && statics > 0,
                    updates_regulars: false,
                    distinct: select.distinct,
                };
                let restrictions = analyse(&cx, &table, &select.relations, setting)?;
                restrictions.check_needs_filtering()?;
                Ok(restrictions)
            }
            Statement::Update(update) => {
                let table = cx.table_of(&update.table)?;
                let names = update.assignments.iter().map(|a| a.column.text.as_str());
                let setting = modification(&table, StatementKind::Update, names);
                analyse(&cx, &table, &update.relations, setting)
            }
            Statement::Delete(delete) => {
                let table = cx.table_of(&delete.table)?;
                let names = delete.targets.iter().map(|t| t.column.text.as_str());
                let setting = modification(&table, StatementKind::Delete, names);
                analyse(&cx, &table, &delete.relations, setting)
            }
            Statement::Insert(insert) => {
                let table = cx.table_of(&insert.table)?;
                let InsertSource::Values { columns, values } = &insert.source else {
                    panic!("JSON is not asked here")
                };
                let is = |kind| move |name: &&str| column_kind(&table, name) == kind;
                let names: Vec<&str> = columns.iter().map(|c| c.text.as_str()).collect();
                let table = cx.table_of(&insert.table)?;
                let clustering = names.iter().any(is(ColumnKind::Clustering));
                let written = names.iter().copied().filter(|name| !is_key(&table, name));
                let setting = modification(&table, StatementKind::Insert, written);
                let setting =
                    Setting { only_statics: setting.only_statics && !clustering, ..setting };
                let pairs: Vec<_> = columns.iter().cloned().zip(values.iter().cloned()).collect();
                analyse_insert(&cx, &table, &pairs, setting)
            }
            other => panic!("not asked here: {other:?}"),
        }
    }

    fn answer(&self, statement: &str, values: &[BindValue]) -> Result<String, Error> {
        let parsed = parser::parse(statement)?;
        let restrictions = self.analyse(&parsed.statement, parsed.markers.len())?;
        let env = Env { values, cluster: &self.cluster };
        let table = &restrictions.table;
        if matches!(parsed.statement, Statement::Select(_)) {
            let filter = restrictions.filter(&env)?;
            let partitions = restrictions.partitions(&env)?;
            if matches!(&partitions, Partitions::Keys(keys) if keys.is_empty()) {
                return Ok("nothing".to_string());
            }
            let rows = restrictions.rows(&env)?;
            let filter = show_filter(table, &filter);
            let parts = [show_partitions(table, &partitions), show_rows(table, &rows), filter];
            return Ok(parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("; "));
        }
        let keys = restrictions.partition_keys(&env)?;
        let target = match restrictions.target(&env)? {
            Target::Static => "statics".to_string(),
            Target::Partition => "partition".to_string(),
            Target::Rows(rows) => show_names(table, &rows),
            Target::Ranges(slices) => show_slices(table, &slices),
        };
        Ok(format!("{}; {target}", show_keys(table, &keys)))
    }
}

fn column_kind(table: &Table, name: &str) -> ColumnKind {
    table.column(name).expect("the column exists").kind
}

fn is_key(table: &Table, name: &str) -> bool {
    table.column(name).is_some_and(Column::is_primary_key)
}

fn modification<'n>(
    table: &Table,
    kind: StatementKind,
    names: impl Iterator<Item = &'n str>,
) -> Setting {
    let kinds: Vec<ColumnKind> = names.map(|name| column_kind(table, name)).collect();
    let regulars = kinds.contains(&ColumnKind::Regular);
    Setting {
        kind,
        allow_filtering: false,
        only_statics: kinds.contains(&ColumnKind::Static) && !regulars,
        updates_regulars: regulars,
        distinct: false,
    }
}

fn show(ty: &CqlType, bytes: &[u8]) -> String {
    match ty {
        CqlType::Int if bytes.len() == 4 => {
            i32::from_be_bytes(bytes.try_into().expect("four bytes")).to_string()
        }
        CqlType::Text => format!("'{}'", String::from_utf8_lossy(bytes)),
        _ => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn show_all<'b>(columns: &[Column], values: impl Iterator<Item = &'b [u8]>) -> String {
    let shown: Vec<String> = columns.iter().zip(values).map(|(c, v)| show(&c.ty, v)).collect();
    shown.join(",")
}

fn show_keys(table: &Table, keys: &[DecoratedKey]) -> String {
    let columns = table.partition_key();
    let mut out = "keys".to_string();
    for key in keys {
        let components = key.components(columns.len());
        out += &format!(" {}", show_all(columns, components.iter().map(|c| c.as_ref())));
    }
    out
}

fn show_partitions(table: &Table, partitions: &Partitions) -> String {
    match partitions {
        Partitions::Keys(keys) => show_keys(table, keys),
        Partitions::Range(range) => {
            let start = range.start.map_or("(-".to_string(), |(token, inclusive)| {
                format!("{}{}", if inclusive { '[' } else { '(' }, token.0)
            });
            let end = range.end.map_or("-)".to_string(), |(token, inclusive)| {
                format!("{}{}", token.0, if inclusive { ']' } else { ')' })
            });
            let open = range.start.is_none() && range.end.is_none();
            if open { "all".to_string() } else { format!("tokens {start}, {end}") }
        }
    }
}

fn show_rows(table: &Table, rows: &RowSelection) -> String {
    match rows {
        RowSelection::Slices(slices) => show_slices(table, slices),
        RowSelection::Names(names) => show_names(table, names),
    }
}

fn show_names(table: &Table, names: &[ClusteringKey]) -> String {
    let mut out = "rows".to_string();
    for key in names {
        let values = clustering::values(table, &key.position, &key.raw);
        out += &format!(" {}", show_all(table.clustering(), values.iter().map(Vec::as_slice)));
    }
    out
}

fn show_slices(table: &Table, slices: &[Slice]) -> String {
    let shown: Vec<String> = slices
        .iter()
        .map(|s| format!("[{} .. {}]", show_bound(table, &s.start), show_bound(table, &s.end)))
        .collect();
    if shown.is_empty() { "no rows".to_string() } else { shown.join(" ") }
}

fn show_bound(table: &Table, bound: &Bound) -> String {
    let mut rest = bound.0.as_slice();
    let mut values: Vec<Vec<u8>> = Vec::new();
    for column in table.clustering() {
        if rest.len() == 1 {
            break;
        }
        let mut value = Vec::new();
        order::decode(&column.ty, &mut rest, column.descending, &mut value);
        values.push(value);
    }
    let sign = match rest {
        [BEFORE] => '-',
        [AFTER] => '+',
        other => panic!("no bound ends in {other:?}"),
    };
    format!("{sign}{}", show_all(table.clustering(), values.iter().map(Vec::as_slice)))
}

fn show_filter(table: &Table, filter: &RowFilter) -> String {
    let conditions = filter.conditions.iter().map(|condition| {
        let column = table.column_by_id(condition.column).expect("a column of the table");
        let operator = match condition.operator {
            Operator::Eq => "=",
            Operator::Lt => "<",
            Operator::Lte => "<=",
            Operator::Gt => ">",
            Operator::Gte => ">=",
            Operator::In => "IN",
            Operator::Contains => "CONTAINS",
            Operator::ContainsKey => "CONTAINS KEY",
        };
        let (key_type, value_type) = match &column.ty {
            CqlType::List { element, .. } | CqlType::Set { element, .. } => {
                (&column.ty, &**element)
            }
            CqlType::Map { key, value, .. } => (&**key, &**value),
            ty => (ty, ty),
        };
        let contains = matches!(condition.operator, Operator::Contains);
        let ty = match condition.operator {
            Operator::ContainsKey => key_type,
            _ if contains || condition.map_key.is_some() => value_type,
            _ => &column.ty,
        };
        let values: Vec<String> = condition.values.iter().map(|v| show(ty, v)).collect();
        let key = condition.map_key.as_ref().map(|k| format!("[{}]", show(key_type, k)));
        format!("{}{} {operator} {}", column.name, key.unwrap_or_default(), values.join(" "))
    });
    conditions.collect::<Vec<_>>().join(" AND ")
}

/// Checks a table of statements and what they ask for.
pub(crate) fn check(fixture: &Fixture, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (statement, expected) in cases {
        let asked = fixture.ask(statement, &[]);
        if asked != *expected {
            wrong += &format!("{statement}\n  expected {expected}\n  asked    {asked}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A bound int.
pub(crate) fn int(value: i32) -> BindValue<'static> {
    BindValue::Bytes(value.to_be_bytes().to_vec().into())
}
