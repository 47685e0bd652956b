//! Schemas and statements of a history, as data, and their CQL.

use super::value::{Term, Type, V};
use cassling::analysis::terms::BindValue;
use std::fmt::Write as _;

/// A regular or static column.
#[derive(Clone, Debug)]
pub struct Column {
    /// `s0`, `s1` ... for statics, `v0`, `v1` ... for others: so they lie in `SELECT *` order.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Whether it belongs to the partition.
    pub is_static: bool,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Types of the partition key `k0`, `k1`.
    pub partition: Vec<Type>,
    /// Types of the clustering `c0`, `c1` ..., and whether it descends.
    pub clustering: Vec<(Type, bool)>,
    /// Other columns: statics first.
    pub columns: Vec<Column>,
    /// `default_time_to_live`, seconds; 0 for none.
    pub default_ttl_seconds: u32,
    /// `gc_grace_seconds`.
    pub gc_grace_seconds: u32,
    /// Further options, each as it stands behind WITH.
    pub options: Vec<String>,
}

impl Schema {
    /// CREATE TABLE.
    pub fn cql(&self) -> String {
        let mut text = "CREATE TABLE t (".to_string();
        for (n, ty) in self.partition.iter().enumerate() {
            let _ = write!(text, "k{n} {}, ", ty.cql());
        }
        for (n, (ty, _)) in self.clustering.iter().enumerate() {
            let _ = write!(text, "c{n} {}, ", ty.cql());
        }
        for column in &self.columns {
            let mark = if column.is_static { " static" } else { "" };
            let _ = write!(text, "{} {}{mark}, ", column.name, column.ty.cql());
        }
        let names = |letter: &str, count| {
            (0..count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>().join(", ")
        };
        let _ = write!(text, "PRIMARY KEY (({})", names("k", self.partition.len()));
        if !self.clustering.is_empty() {
            let _ = write!(text, ", {}", names("c", self.clustering.len()));
        }
        let _ = write!(text, ")) WITH default_time_to_live = {}", self.default_ttl_seconds);
        let _ = write!(text, " AND gc_grace_seconds = {}", self.gc_grace_seconds);
        for option in &self.options {
            let _ = write!(text, " AND {option}");
        }
        if !self.clustering.is_empty() {
            let order = self.clustering.iter().enumerate().map(|(n, (_, descending))| {
                format!("c{n} {}", if *descending { "DESC" } else { "ASC" })
            });
            let _ =
                write!(text, " AND CLUSTERING ORDER BY ({})", order.collect::<Vec<_>>().join(", "));
        }
        text
    }
}

/// Comparison of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Op {
    fn cql(self) -> &'static str {
        match self {
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
        }
    }

    /// Whether `a op b`.
    pub fn holds<T: PartialOrd + ?Sized>(self, a: &T, b: &T) -> bool {
        match self {
            Op::Lt => a < b,
            Op::Le => a <= b,
            Op::Gt => a > b,
            Op::Ge => a >= b,
        }
    }
}

/// A condition on clustering columns (or, [`Relation::Value`], on a regular one).
#[derive(Clone, Debug)]
pub enum Relation {
    /// `cN = v`
    Eq(usize, V),
    /// `cN IN (..)`
    In(usize, Vec<V>),
    /// `cN op v`
    Slice(usize, Op, V),
    /// `(cN, cN+1, ..) op (v, ..)`
    Tuple(usize, Op, Vec<V>),
    /// `column = v`, filtered.
    Value(usize, V),
}

impl Relation {
    /// Whether a row with this clustering is meant. [`Relation::Value`] says nothing about clustering.
    pub fn holds(&self, clustering: &[V]) -> bool {
        match self {
            Relation::Eq(n, v) => clustering[*n] == *v,
            Relation::In(n, list) => list.contains(&clustering[*n]),
            Relation::Slice(n, op, v) => op.holds(&clustering[*n], v),
            Relation::Tuple(n, op, v) => op.holds(&clustering[*n..n + v.len()], &v[..]),
            Relation::Value(..) => true,
        }
    }
}

/// `USING` and what else goes with a write.
#[derive(Clone, Debug, Default)]
pub struct Using {
    /// `USING TIMESTAMP`, microseconds.
    pub timestamp_micros: Option<i64>,
    /// `USING TTL`, seconds.
    pub ttl_seconds: Option<u32>,
}

/// What an UPDATE does to a column, given by its number.
#[derive(Clone, Debug)]
pub enum Change {
    /// `c = term`
    Set(usize, Term),
    /// `c = c + term`
    Add(usize, Term),
    /// `c = list + c`
    Prepend(usize, Vec<V>),
    /// `c = c - term` (a set for sets and maps, a list for lists)
    Remove(usize, Vec<V>),
    /// `c[key] = value`
    Put(usize, V, Option<V>),
    /// `c[index] = value`
    Index(usize, usize, V),
    /// `c.field = value`
    Field(usize, usize, Option<V>),
}

/// What a DELETE names.
#[derive(Clone, Debug)]
pub enum Target {
    /// `c`
    Column(usize),
    /// `c[key]`
    Element(usize, V),
    /// `c[index]`
    Index(usize, usize),
    /// `c.field`
    Field(usize, usize),
}

/// A write.
#[derive(Clone, Debug)]
pub enum Write {
    /// INSERT; without clustering values only statics are written.
    Insert {
        /// Partition key.
        key: Vec<V>,
        /// Clustering, or nothing.
        clustering: Vec<V>,
        /// Columns by number.
        values: Vec<(usize, Term)>,
        /// USING.
        using: Using,
    },
    /// UPDATE; without clustering values only statics are written.
    Update {
        /// Partition key.
        key: Vec<V>,
        /// Clustering, or nothing.
        clustering: Vec<V>,
        /// SET.
        changes: Vec<Change>,
        /// USING.
        using: Using,
    },
    /// DELETE.
    Delete {
        /// Partition key.
        key: Vec<V>,
        /// Rows; none: the partition, or statics.
        rows: Vec<Relation>,
        /// Columns; none: all.
        targets: Vec<Target>,
        /// USING.
        using: Using,
    },
}

/// Which partitions a read is about.
#[derive(Clone, Debug)]
pub enum Keys {
    /// One.
    One(Vec<V>),
    /// All combinations of these component values, by IN.
    In(Vec<Vec<V>>),
    /// All.
    All,
    /// Those whose token compares so with the token of a key.
    Token(Op, Vec<V>),
}

/// An entry of a select list.
#[derive(Clone, Debug)]
pub enum Item {
    /// `kN`
    Partition(usize),
    /// `cN`
    Clustering(usize),
    /// A column by number.
    Column(usize),
    /// `writetime(column)`
    WriteTime(usize),
    /// `ttl(column)`
    Ttl(usize),
}

/// What a read selects.
#[derive(Clone, Debug)]
pub enum Select {
    /// `*`
    Star,
    /// A list.
    Items(Vec<Item>),
    /// `DISTINCT` key and these statics.
    Distinct(Vec<usize>),
    /// `count(*)`
    Count,
}

/// A SELECT.
#[derive(Clone, Debug)]
pub struct Read {
    /// Select list.
    pub select: Select,
    /// Partitions.
    pub keys: Keys,
    /// Rows.
    pub relations: Vec<Relation>,
    /// ORDER BY all clustering columns; `true`: reversed.
    pub order: Option<bool>,
    /// LIMIT.
    pub limit: Option<usize>,
    /// PER PARTITION LIMIT.
    pub per_partition: Option<usize>,
    /// Rows a page; read page by page to the end.
    pub page: Option<u32>,
}

/// A statement's text and, if it is prepared, the values of its markers.
#[derive(Clone, Debug, Default)]
pub struct Cql {
    /// Text.
    pub text: String,
    /// Values of markers; `None`: literals stand in the text.
    pub values: Option<Vec<BindValue<'static>>>,
}

impl Cql {
    /// For a prepared statement or a plain text.
    pub fn new(prepared: bool) -> Cql {
        Cql { text: String::new(), values: prepared.then(Vec::new) }
    }

    fn push(&mut self, text: &str) -> &mut Cql {
        self.text.push_str(text);
        self
    }

    fn term(&mut self, term: &Term) -> &mut Cql {
        match &mut self.values {
            None => self.text.push_str(&term.literal()),
            Some(values) => {
                self.text.push('?');
                values.push(match (term, term.bytes()) {
                    (Term::Unset, _) => BindValue::Unset,
                    (_, None) => BindValue::Null,
                    (_, Some(bytes)) => BindValue::Bytes(bytes.into()),
                });
            }
        }
        self
    }

    fn value(&mut self, v: &V) -> &mut Cql {
        self.term(&Term::One(v.clone()))
    }

    fn optional(&mut self, v: Option<&V>) -> &mut Cql {
        self.term(&v.map_or(Term::Null, |v| Term::One(v.clone())))
    }

    fn list(&mut self, values: &[V]) -> &mut Cql {
        self.push("(");
        for (n, v) in values.iter().enumerate() {
            self.push(if n > 0 { ", " } else { "" }).value(v);
        }
        self.push(")")
    }

    /// `USING ...`; the timestamp is always a literal.
    fn using(&mut self, using: &Using) -> &mut Cql {
        let timestamp = using.timestamp_micros.map(|t| format!("TIMESTAMP {t}"));
        let ttl = using.ttl_seconds.map(|t| format!("TTL {t}"));
        let parts: Vec<String> = timestamp.into_iter().chain(ttl).collect();
        if !parts.is_empty() {
            self.push(&format!(" USING {}", parts.join(" AND ")));
        }
        self
    }

    fn key(&mut self, key: &[V]) -> &mut Cql {
        self.push(" WHERE ");
        for (n, v) in key.iter().enumerate() {
            self.push(if n > 0 { " AND " } else { "" }).push(&format!("k{n} = ")).value(v);
        }
        self
    }

    fn clustering(&mut self, clustering: &[V]) -> &mut Cql {
        for (n, v) in clustering.iter().enumerate() {
            self.push(&format!(" AND c{n} = ")).value(v);
        }
        self
    }

    fn relation(&mut self, schema: &Schema, relation: &Relation) -> &mut Cql {
        match relation {
            Relation::Eq(n, v) => self.push(&format!("c{n} = ")).value(v),
            Relation::In(n, list) => self.push(&format!("c{n} IN ")).list(list),
            Relation::Slice(n, op, v) => self.push(&format!("c{n} {} ", op.cql())).value(v),
            Relation::Tuple(n, op, v) => {
                let names: Vec<String> = (*n..n + v.len()).map(|n| format!("c{n}")).collect();
                self.push(&format!("({}) {} ", names.join(", "), op.cql())).list(v)
            }
            Relation::Value(n, v) => self.push(&format!("{} = ", schema.columns[*n].name)).value(v),
        }
    }

    /// Adds a write.
    pub fn write(&mut self, schema: &Schema, write: &Write) {
        let name = |n: &usize| schema.columns[*n].name.as_str();
        match write {
            Write::Insert { key, clustering, values, using } => {
                let names = (0..key.len()).map(|n| format!("k{n}"));
                let names = names.chain((0..clustering.len()).map(|n| format!("c{n}")));
                let names = names.chain(values.iter().map(|(n, _)| name(n).to_string()));
                let names = names.collect::<Vec<_>>().join(", ");
                self.push(&format!("INSERT INTO t ({names}) VALUES ("));
                for (n, v) in key.iter().chain(clustering).enumerate() {
                    self.push(if n > 0 { ", " } else { "" }).value(v);
                }
                for (_, term) in values {
                    self.push(", ").term(term);
                }
                self.push(")").using(using);
            }
            Write::Update { key, clustering, changes, using } => {
                self.push("UPDATE t").using(using).push(" SET ");
                for (n, change) in changes.iter().enumerate() {
                    self.push(if n > 0 { ", " } else { "" });
                    self.change(schema, change);
                }
                self.key(key).clustering(clustering);
            }
            Write::Delete { key, rows, targets, using } => {
                self.push("DELETE ");
                for (n, target) in targets.iter().enumerate() {
                    self.push(if n > 0 { ", " } else { "" });
                    match target {
                        Target::Column(n) => self.push(name(n)),
                        Target::Element(n, v) => self.push(name(n)).push("[").value(v).push("]"),
                        Target::Index(n, i) => self.push(&format!("{}[{i}]", name(n))),
                        Target::Field(n, f) => self.push(&format!("{}.{}", name(n), FIELDS[*f])),
                    };
                }
                self.push(if targets.is_empty() { "FROM t" } else { " FROM t" });
                self.using(using).key(key);
                for relation in rows {
                    self.push(" AND ").relation(schema, relation);
                }
            }
        }
    }

    fn change(&mut self, schema: &Schema, change: &Change) {
        let column = |n: &usize| &schema.columns[*n];
        match change {
            Change::Set(n, term) => self.push(&format!("{} = ", column(n).name)).term(term),
            Change::Add(n, term) => {
                let name = &column(n).name;
                self.push(&format!("{name} = {name} + ")).term(term)
            }
            Change::Prepend(n, values) => {
                let name = &column(n).name;
                self.push(&format!("{name} = "));
                self.term(&Term::List(values.clone())).push(&format!(" + {name}"))
            }
            Change::Remove(n, values) => {
                let name = &column(n).name;
                let term = match column(n).ty {
                    Type::List => Term::List(values.clone()),
                    _ => Term::Set(values.iter().cloned().collect()),
                };
                self.push(&format!("{name} = {name} - ")).term(&term)
            }
            Change::Put(n, key, v) => {
                self.push(&format!("{}[", column(n).name)).value(key);
                self.push("] = ").optional(v.as_ref())
            }
            Change::Index(n, i, v) => self.push(&format!("{}[{i}] = ", column(n).name)).value(v),
            Change::Field(n, f, v) => {
                self.push(&format!("{}.{} = ", column(n).name, FIELDS[*f])).optional(v.as_ref())
            }
        };
    }

    /// Adds a SELECT.
    pub fn read(&mut self, schema: &Schema, read: &Read) {
        let keys: Vec<String> = (0..schema.partition.len()).map(|n| format!("k{n}")).collect();
        self.push("SELECT ").push(&select_list(schema, &read.select)).push(" FROM t");
        match &read.keys {
            Keys::One(key) => {
                self.key(key);
            }
            Keys::In(components) => {
                for (n, values) in components.iter().enumerate() {
                    let joint = if n > 0 { " AND" } else { " WHERE" };
                    self.push(&format!("{joint} k{n} IN ")).list(values);
                }
            }
            Keys::All => {}
            Keys::Token(op, key) => {
                self.push(&format!(" WHERE token({}) {} token", keys.join(", "), op.cql()));
                self.list(key);
            }
        }
        for (n, relation) in read.relations.iter().enumerate() {
            let first = n == 0 && matches!(read.keys, Keys::All);
            self.push(if first { " WHERE " } else { " AND " }).relation(schema, relation);
        }
        if let Some(reversed) = read.order {
            let order = schema.clustering.iter().enumerate().map(|(n, (_, descending))| {
                format!("c{n} {}", if *descending != reversed { "DESC" } else { "ASC" })
            });
            self.push(&format!(" ORDER BY {}", order.collect::<Vec<_>>().join(", ")));
        }
        if let Some(limit) = read.per_partition {
            self.push(&format!(" PER PARTITION LIMIT {limit}"));
        }
        if let Some(limit) = read.limit {
            self.push(&format!(" LIMIT {limit}"));
        }
        let scan = matches!(read.keys, Keys::All | Keys::Token(..));
        let filtered = read.relations.iter().any(|r| matches!(r, Relation::Value(..)));
        if filtered || (scan && !read.relations.is_empty()) {
            self.push(" ALLOW FILTERING");
        }
    }
}

/// Fields of `pair`.
const FIELDS: [&str; 2] = ["a", "b"];

fn select_list(schema: &Schema, select: &Select) -> String {
    let name = |n: &usize| schema.columns[*n].name.as_str();
    match select {
        Select::Star => "*".to_string(),
        Select::Count => "count(*)".to_string(),
        Select::Distinct(statics) => {
            let keys = (0..schema.partition.len()).map(|n| format!("k{n}"));
            let names = keys.chain(statics.iter().map(|n| name(n).to_string()));
            format!("DISTINCT {}", names.collect::<Vec<_>>().join(", "))
        }
        Select::Items(items) => {
            let names = items.iter().map(|item| match item {
                Item::Partition(n) => format!("k{n}"),
                Item::Clustering(n) => format!("c{n}"),
                Item::Column(n) => name(n).to_string(),
                Item::WriteTime(n) => format!("writetime({})", name(n)),
                Item::Ttl(n) => format!("ttl({})", name(n)),
            });
            names.collect::<Vec<_>>().join(", ")
        }
    }
}
