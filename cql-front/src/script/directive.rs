//! Directives: lines `-- @NAME WORDS` that steer what follows them.

use super::nodetool::Nodetool;
use crate::analysis::terms::BindValue;
use cassling_engine::ring::Consistency;
use cassling_engine::settings::{self, Settings};
use std::time::Duration;

/// A directive, checked before anything runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// `@volatile [NAME ...]`: the next answer's values differ from run to run (all, or these columns).
    Volatile(Vec<String>),
    /// `@trace`: the next answer says what was read.
    Trace,
    /// `@bind [..]`: the next statement is prepared and run with these values.
    Bind(Vec<BindValue<'static>>),
    /// `@repeat N`: the next statement runs N times, `:i` bound to 0 .. N-1.
    Repeat(u64),
    /// `@consistency LEVEL`; `off`: LOCAL_ONE again.
    Consistency(Option<Consistency>),
    /// `@serial LEVEL`: the serial level of what follows.
    Serial(Option<Consistency>),
    /// `@page N`: rows of a page; 0 or less: no paging (0); `off`: 5000 again.
    Page(Option<u32>),
    /// `@all-pages on`: the pages' rows are joined.
    AllPages(bool),
    /// `@prepare on`: every statement is prepared first.
    Prepare(bool),
    /// `@flush [TABLE]`: memtables of the current keyspace become SSTables.
    Flush(Option<String>),
    /// `@nodetool WORDS`.
    Nodetool(Nodetool),
    /// `@compact [TABLE]`: the table, or all of the current keyspace, as one.
    Compact(Option<String>),
    /// `@compact-files TABLE 1 [3 ...]`: these SSTables of the table; 1 is the oldest file.
    CompactFiles {
        /// Table of the current keyspace.
        table: String,
        /// Places in the order of creation, from 1.
        places: Vec<usize>,
    },
    /// `@sstables TABLE`: prints the number of the table's SSTables.
    SsTables(String),
    /// `@sleep SECONDS`, `@advance 11d`: the clock moves.
    Advance(Duration),
    /// `@nodes N [per DC ...]`: the cluster's nodes; read before anything runs.
    Nodes {
        /// Number of nodes (of each data centre).
        nodes: usize,
        /// Data centres; none: `datacenter1`.
        datacenters: Vec<String>,
    },
    /// `@node N stop|start`.
    Node {
        /// Node, from 1.
        node: usize,
        /// `start`.
        up: bool,
    },
    /// `@coordinator N`: the node that coordinates what follows.
    Coordinator(usize),
    /// `@set KEY: VALUE`: a setting of cassandra.yaml for the rest of the file.
    Set {
        /// Cassandra's name of the setting.
        key: String,
        /// Its value as in cassandra.yaml.
        value: String,
    },
    /// `@hints on|off`: accepted, so that scripts survive hints; there are none yet.
    Hints(bool),
    /// `@replicas TABLE KEY`: prints the nodes that hold the partition (a component a word).
    Replicas {
        /// Table of the current keyspace, or `keyspace.table`.
        table: String,
        /// Components of the key, as CQL literals.
        key: Vec<String>,
    },
}

impl Directive {
    /// Reads what follows `-- @`.
    ///
    /// # Errors
    /// An unknown name or a malformed value.
    pub fn parse(text: &str) -> Result<Directive, String> {
        let (name, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let value = value.trim();
        let words = || value.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let malformed = |expected: &str| format!("@{name} takes {expected}, not '{value}'");
        let switch = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(malformed("on or off")),
        };
        let number =
            |text: &str, expected: &str| text.parse::<usize>().map_err(|_| malformed(expected));
        match name {
            "volatile" => Ok(Directive::Volatile(words())),
            "trace" => Ok(Directive::Trace),
            "bind" => bind_values(value).map(Directive::Bind),
            "repeat" => value.parse().map(Directive::Repeat).map_err(|_| malformed("a number")),
            "consistency" | "serial" => {
                let level = match value {
                    "off" => None,
                    level => Some(
                        Consistency::from_name(level)
                            .ok_or_else(|| malformed("a consistency level"))?,
                    ),
                };
                Ok(if name == "serial" {
                    Directive::Serial(level)
                } else {
                    Directive::Consistency(level)
                })
            }
            "page" if value == "off" => Ok(Directive::Page(None)),
            "page" => {
                // A driver's negative page size means none, as 0 does.
                let rows = value.parse::<i32>().map_err(|_| malformed("a number of rows"))?;
                Ok(Directive::Page(Some(u32::try_from(rows).unwrap_or(0))))
            }
            "all-pages" => switch().map(Directive::AllPages),
            "prepare" => switch().map(Directive::Prepare),
            "flush" => match words().as_slice() {
                [] => Ok(Directive::Flush(None)),
                [table] => Ok(Directive::Flush(Some(table.clone()))),
                _ => Err(malformed("one table or none")),
            },
            "nodetool" => Nodetool::parse(&words()).map(Directive::Nodetool),
            "compact" => match words().as_slice() {
                [] => Ok(Directive::Compact(None)),
                [table] => Ok(Directive::Compact(Some(table.clone()))),
                _ => Err(malformed("one table or none")),
            },
            "compact-files" => match words().split_first() {
                Some((table, places)) if !places.is_empty() => Ok(Directive::CompactFiles {
                    table: table.clone(),
                    places: places
                        .iter()
                        .map(|place| number(place, "TABLE and numbers from 1"))
                        .collect::<Result<_, _>>()?,
                }),
                _ => Err(malformed("TABLE 1 [3 ...]")),
            },
            "sstables" => match words().as_slice() {
                [table] => Ok(Directive::SsTables(table.clone())),
                _ => Err(malformed("one table")),
            },
            "sleep" => value
                .parse::<f64>()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .map(Directive::Advance)
                .ok_or_else(|| malformed("seconds")),
            "advance" => span(value)
                .map(Directive::Advance)
                .ok_or_else(|| malformed("a number and one of s, m, h, d")),
            "nodes" => nodes(value).ok_or_else(|| malformed("N [per DC ...]")),
            "node" => match words().as_slice() {
                [node, state] if state == "stop" || state == "start" => Ok(Directive::Node {
                    node: number(node, "N stop|start")?,
                    up: state == "start",
                }),
                _ => Err(malformed("N stop|start")),
            },
            "coordinator" => number(value, "the number of a node").map(Directive::Coordinator),
            "hints" => switch().map(Directive::Hints),
            "set" => {
                let (key, value) = settings::split(value).ok_or_else(|| malformed("KEY: VALUE"))?;
                Settings::default().change(key, value).map_err(|e| e.to_string())?;
                Ok(Directive::Set { key: key.to_string(), value: value.to_string() })
            }
            "replicas" => match words().split_first() {
                Some((table, key)) if !key.is_empty() => {
                    Ok(Directive::Replicas { table: table.clone(), key: key.to_vec() })
                }
                _ => Err(malformed("TABLE KEY")),
            },
            _ => Err(format!("unknown directive @{name}")),
        }
    }
}

/// `N`, or `N per DC DC ...`.
fn nodes(value: &str) -> Option<Directive> {
    let mut words = value.split_whitespace();
    let nodes = words.next()?.parse().ok().filter(|&n| n > 0)?;
    let datacenters: Vec<String> = match words.next() {
        None => Vec::new(),
        Some("per") => words.map(str::to_string).collect(),
        Some(_) => return None,
    };
    (datacenters.is_empty() == (value.split_whitespace().count() == 1))
        .then_some(Directive::Nodes { nodes, datacenters })
}

/// `11d`, `30s`, `5m`, `2h`.
fn span(value: &str) -> Option<Duration> {
    let unit = match value.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let count: u64 = value[..value.len() - 1].parse().ok()?;
    Some(Duration::from_secs(count.checked_mul(unit)?))
}

/// A JSON array of hex texts, `null` and `"unset"`.
fn bind_values(value: &str) -> Result<Vec<BindValue<'static>>, String> {
    let wrong =
        || format!("@bind takes a JSON array of hex texts, null and \"unset\", not '{value}'");
    let parsed: Vec<Option<String>> = if value.is_empty() {
        Vec::new()
    } else {
        serde_json::from_str(value).map_err(|_| wrong())?
    };
    parsed
        .into_iter()
        .map(|item| match item.as_deref() {
            None => Ok(BindValue::Null),
            Some("unset") => Ok(BindValue::Unset),
            Some(hex) => super::answer::from_hex(hex)
                .map(|bytes| BindValue::Bytes(bytes.into()))
                .ok_or_else(wrong),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed() {
        let day = Duration::from_secs(86_400);
        for (text, directive) in [
            ("advance 11d", Directive::Advance(day * 11)),
            ("sleep 0.5", Directive::Advance(Duration::from_millis(500))),
            ("page 0", Directive::Page(Some(0))),
            ("page -1", Directive::Page(Some(0))),
            ("page off", Directive::Page(None)),
            ("consistency local_quorum", Directive::Consistency(Some(Consistency::LocalQuorum))),
            ("node 3 stop", Directive::Node { node: 3, up: false }),
            ("nodes 3", Directive::Nodes { nodes: 3, datacenters: vec![] }),
            (
                "nodes 2 per dc1 dc2",
                Directive::Nodes { nodes: 2, datacenters: vec!["dc1".into(), "dc2".into()] },
            ),
            (
                "bind [\"00ff\", null, \"unset\"]",
                Directive::Bind(vec![
                    BindValue::Bytes(vec![0, 255].into()),
                    BindValue::Null,
                    BindValue::Unset,
                ]),
            ),
        ] {
            assert_eq!(Directive::parse(text), Ok(directive), "{text}");
        }
    }

    #[test]
    fn malformed_ones_say_what_is_expected() {
        for (text, part) in [
            ("frobnicate", "unknown directive @frobnicate"),
            ("compact t u", "one table or none"),
            ("compact-files t", "TABLE 1 [3 ...]"),
            ("sstables", "one table"),
            ("nodetool repair", "@nodetool repair is not supported"),
            ("advance 3", "a number and one of s, m, h, d"),
            ("page many", "a number of rows"),
            ("bind [1]", "hex texts"),
            ("node 3", "N stop|start"),
            ("nodes 0", "N [per DC ...]"),
            ("consistency MOST", "a consistency level"),
        ] {
            let error = Directive::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
