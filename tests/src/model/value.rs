//! Values of the model: few types, each with its CQL literal and its wire bytes written out by hand.

use std::collections::{BTreeMap, BTreeSet};

/// Types of columns. Elements are always ints, map keys always texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `int`
    Int,
    /// `text`
    Text,
    /// `set<int>`, cell by cell.
    Set,
    /// `map<text, int>`, cell by cell.
    Map,
    /// `list<int>`, cell by cell.
    List,
    /// `pair`, a user type of an int `a` and a text `b`, cell by cell.
    Udt,
    /// `frozen<set<int>>`: one cell.
    Frozen,
}

impl Type {
    /// Its name in CREATE TABLE.
    pub fn cql(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Text => "text",
            Type::Set => "set<int>",
            Type::Map => "map<text, int>",
            Type::List => "list<int>",
            Type::Udt => "pair",
            Type::Frozen => "frozen<set<int>>",
        }
    }

    /// Whether it is stored as several cells.
    pub fn multi_cell(self) -> bool {
        matches!(self, Type::Set | Type::Map | Type::List | Type::Udt)
    }
}

/// A single value. Ints order as numbers, texts by their bytes: CQL's order of both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum V {
    /// An int.
    Int(i32),
    /// A text.
    Text(String),
}

impl V {
    /// Wire bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            V::Int(n) => n.to_be_bytes().to_vec(),
            V::Text(s) => s.as_bytes().to_vec(),
        }
    }

    /// CQL literal. No text of the model has a quote in it.
    pub fn literal(&self) -> String {
        match self {
            V::Int(n) => n.to_string(),
            V::Text(s) => format!("'{s}'"),
        }
    }
}

/// What is written to a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// `null`
    Null,
    /// A marker without value; only prepared statements have it.
    Unset,
    /// A single value.
    One(V),
    /// A set.
    Set(BTreeSet<V>),
    /// A map.
    Map(BTreeMap<V, V>),
    /// A list.
    List(Vec<V>),
    /// The two fields of a `pair`; a field may be null.
    Udt([Option<V>; 2]),
}

/// Wire bytes of elements: a count, then each with its length.
pub fn collection<'a>(count: usize, elements: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = i32::try_from(count).expect("few elements").to_be_bytes().to_vec();
    for element in elements {
        out.extend_from_slice(&sized(Some(element)));
    }
    out
}

/// A value behind its length; null is -1.
pub fn sized(value: Option<&[u8]>) -> Vec<u8> {
    let len = value.map_or(-1, |v| i32::try_from(v.len()).expect("short"));
    [&len.to_be_bytes()[..], value.unwrap_or(&[])].concat()
}

impl Term {
    /// CQL literal.
    pub fn literal(&self) -> String {
        let join = |values: &mut dyn Iterator<Item = &V>| {
            values.map(V::literal).collect::<Vec<_>>().join(", ")
        };
        match self {
            Term::Null | Term::Unset => "null".to_string(),
            Term::One(v) => v.literal(),
            Term::Set(s) => format!("{{{}}}", join(&mut s.iter())),
            Term::List(l) => format!("[{}]", join(&mut l.iter())),
            Term::Map(m) => {
                let entries = m.iter().map(|(k, v)| format!("{}: {}", k.literal(), v.literal()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Term::Udt([a, b]) => {
                let field = |v: &Option<V>| v.as_ref().map_or("null".to_string(), V::literal);
                format!("{{a: {}, b: {}}}", field(a), field(b))
            }
        }
    }

    /// Wire bytes; `None` for null. Requires: not [`Term::Unset`].
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let all = |values: Vec<&V>| {
            let bytes: Vec<Vec<u8>> = values.iter().map(|v| v.bytes()).collect();
            collection(bytes.len(), bytes.iter().map(Vec::as_slice))
        };
        match self {
            Term::Null | Term::Unset => None,
            Term::One(v) => Some(v.bytes()),
            Term::Set(s) => Some(all(s.iter().collect())),
            Term::List(l) => Some(all(l.iter().collect())),
            Term::Map(m) => {
                let mut out = all(m.iter().flat_map(|(k, v)| [k, v]).collect());
                let count = i32::try_from(m.len()).expect("few entries");
                out[..4].copy_from_slice(&count.to_be_bytes());
                Some(out)
            }
            Term::Udt(fields) => {
                let fields = fields.iter().map(|v| v.as_ref().map(V::bytes));
                Some(fields.flat_map(|v| sized(v.as_deref())).collect())
            }
        }
    }
}
