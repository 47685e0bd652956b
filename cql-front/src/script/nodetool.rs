//! `@nodetool WORDS`: the words of Cassandra's nodetool that scripts use.
//!
//! Each is checked when the script is read; whether its keyspace and table are there is seen when it runs.

use crate::cluster::Cluster;
use crate::error::Error;
use cassling_engine::cluster::NodeHandle;
use cassling_engine::lsm::compaction::OverlappingTombstones;
use cassling_engine::lsm::scrub::{FileReport, ScrubReport};
use cassling_engine::ring::NodeId;

/// A command of nodetool.
#[derive(Clone, Debug, PartialEq)]
pub enum Nodetool {
    /// `flush [KEYSPACE [TABLE ...]]`.
    Flush(Tables),
    /// `compact [-s] [KEYSPACE [TABLE ...]]`.
    Compact {
        /// `-s`: not all into one file.
        split: bool,
        /// Which.
        tables: Tables,
    },
    /// `garbagecollect [-g CELL|ROW] [KEYSPACE [TABLE ...]]`.
    GarbageCollect {
        /// What of it goes.
        granularity: OverlappingTombstones,
        /// Which.
        tables: Tables,
    },
    /// `forcecompact KEYSPACE TABLE KEY ...`.
    ForceCompact {
        /// Keyspace.
        keyspace: String,
        /// Table.
        table: String,
        /// Partition keys; components of one are split by `:`.
        keys: Vec<String>,
    },
    /// `enableautocompaction`, `disableautocompaction [KEYSPACE [TABLE ...]]`.
    AutoCompaction {
        /// Enable.
        on: bool,
        /// Which.
        tables: Tables,
    },
    /// `scrub [KEYSPACE [TABLE ...]]`.
    Scrub(Tables),
    /// `verify [KEYSPACE [TABLE ...]]`.
    Verify(Tables),
    /// `tablestats [KEYSPACE|KEYSPACE.TABLE ...]`: prints.
    TableStats(Vec<String>),
    /// `tablehistograms KEYSPACE TABLE|KEYSPACE.TABLE`: prints.
    TableHistograms {
        /// Keyspace.
        keyspace: String,
        /// Table.
        table: String,
    },
    /// `invalidatecountercache`: there is no such cache.
    Nothing,
}

/// Tables of a keyspace, all tables of it, or all of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    keyspace: Option<String>,
    tables: Vec<String>,
}

const KNOWN: &str = "flush, compact, garbagecollect, forcecompact, enableautocompaction, \
    disableautocompaction, scrub, verify, tablestats, tablehistograms, invalidatecountercache";

impl Nodetool {
    /// Reads the words.
    ///
    /// # Errors
    /// An unknown command or option, or words that are missing.
    pub fn parse(words: &[String]) -> Result<Nodetool, String> {
        let (command, rest) = words.split_first().ok_or("@nodetool takes a command")?;
        let command = command.as_str();
        let (options, rest) = options(command, rest)?;
        let tables = Tables {
            keyspace: rest.first().cloned(),
            tables: rest.iter().skip(1).cloned().collect(),
        };
        match command {
            "flush" => Ok(Nodetool::Flush(tables)),
            "scrub" => Ok(Nodetool::Scrub(tables)),
            "verify" => Ok(Nodetool::Verify(tables)),
            "compact" => Ok(Nodetool::Compact { split: options.split, tables }),
            "garbagecollect" => {
                Ok(Nodetool::GarbageCollect { granularity: options.granularity, tables })
            }
            "enableautocompaction" | "disableautocompaction" => {
                Ok(Nodetool::AutoCompaction { on: command == "enableautocompaction", tables })
            }
            "forcecompact" => match rest.as_slice() {
                [keyspace, table, keys @ ..] if !keys.is_empty() => Ok(Nodetool::ForceCompact {
                    keyspace: keyspace.clone(),
                    table: table.clone(),
                    keys: keys.to_vec(),
                }),
                _ => Err("@nodetool forcecompact takes KEYSPACE TABLE KEY ...".to_string()),
            },
            "tablestats" => Ok(Nodetool::TableStats(rest)),
            "tablehistograms" => table_histograms(&rest),
            "invalidatecountercache" => Ok(Nodetool::Nothing),
            _ => Err(format!("@nodetool {command} is not supported; it knows: {KNOWN}")),
        }
    }

    /// Carries it out on every node; gives what it prints.
    ///
    /// # Errors
    /// If a keyspace or table is not there, or a disk fails.
    pub fn run(&self, cluster: &Cluster) -> Result<Option<String>, Error> {
        let mut lines = Vec::new();
        let mut say = |reports: Vec<(NodeId, ScrubReport)>| {
            for (node, report) in reports {
                let line = |file: &FileReport| format!("node {}: {file}", node.0);
                lines.extend(report.files.iter().map(line));
            }
        };
        match self {
            Nodetool::Scrub(tables) => tables.each(|k, t| cluster.scrub(k, t).map(&mut say))?,
            Nodetool::Verify(tables) => tables.each(|k, t| cluster.verify(k, t).map(&mut say))?,
            other => other.act(cluster)?,
        }
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    /// Carries out what prints nothing.
    fn act(&self, cluster: &Cluster) -> Result<(), Error> {
        match self {
            Nodetool::Flush(tables) => tables.each(|k, t| cluster.flush(k, t)),
            Nodetool::Compact { split, tables } => {
                tables.each(|k, t| cluster.compact_split(k, t, *split))
            }
            Nodetool::GarbageCollect { granularity, tables } => {
                tables.each(|k, t| cluster.garbage_collect(k, t, *granularity))
            }
            Nodetool::AutoCompaction { on, tables } => {
                tables.each(|k, t| cluster.set_auto_compaction(k, t, *on))
            }
            Nodetool::ForceCompact { keyspace, table, keys } => {
                let keys: Vec<Vec<String>> =
                    keys.iter().map(|key| key.split(':').map(str::to_string).collect()).collect();
                cluster.force_compact(keyspace, table, &keys)
            }
            Nodetool::TableStats(_)
            | Nodetool::TableHistograms { .. }
            | Nodetool::Scrub(_)
            | Nodetool::Verify(_)
            | Nodetool::Nothing => Ok(()),
        }
    }

    /// What it prints of a node, as nodetool does; nothing for a command that only acts.
    ///
    /// # Errors
    /// nodetool's text if a keyspace or table is not there.
    pub fn text(&self, node: &NodeHandle) -> Result<Option<String>, String> {
        let text = match self {
            Nodetool::TableStats(names) => node.tablestats(names)?,
            Nodetool::TableHistograms { keyspace, table } => {
                node.tablehistograms(keyspace, table)?
            }
            _ => return Ok(None),
        };
        Ok(Some(text.trim_end().to_string()))
    }
}

fn table_histograms(words: &[String]) -> Result<Nodetool, String> {
    let (keyspace, table) = match words {
        [keyspace, table] => (keyspace.as_str(), table.as_str()),
        [name] => name.split_once('.').ok_or("@nodetool tablehistograms takes KEYSPACE TABLE")?,
        _ => return Err("@nodetool tablehistograms takes KEYSPACE TABLE".to_string()),
    };
    Ok(Nodetool::TableHistograms { keyspace: keyspace.to_string(), table: table.to_string() })
}

impl Tables {
    fn each(
        &self,
        mut f: impl FnMut(Option<&str>, Option<&str>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let keyspace = self.keyspace.as_deref();
        if self.tables.is_empty() {
            return f(keyspace, None);
        }
        self.tables.iter().try_for_each(|table| f(keyspace, Some(table)))
    }
}

#[derive(Default)]
struct Options {
    split: bool,
    granularity: OverlappingTombstones,
}

/// Takes the options of a command off its words.
fn options(command: &str, words: &[String]) -> Result<(Options, Vec<String>), String> {
    let mut found = Options { granularity: OverlappingTombstones::Row, ..Options::default() };
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (command, word.as_str()) {
            ("compact", "-s" | "--split-output") => found.split = true,
            ("garbagecollect", "-g" | "--granularity") => {
                found.granularity = match words.next().map(String::as_str) {
                    Some("CELL") => OverlappingTombstones::Cell,
                    Some("ROW") => OverlappingTombstones::Row,
                    _ => return Err("@nodetool garbagecollect -g takes CELL or ROW".to_string()),
                }
            }
            // A negative key of forcecompact is no option.
            (_, option) if option.starts_with('-') && command != "forcecompact" => {
                return Err(format!("@nodetool {command} {option} is not supported"));
            }
            _ => rest.push(word.clone()),
        }
    }
    Ok((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Nodetool, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        Nodetool::parse(&words)
    }

    #[test]
    fn words_are_checked() {
        let tables = Tables { keyspace: Some("k".to_string()), tables: vec!["t".to_string()] };
        assert_eq!(
            parse("compact -s k t"),
            Ok(Nodetool::Compact { split: true, tables: tables.clone() })
        );
        assert_eq!(parse("scrub k t"), Ok(Nodetool::Scrub(tables.clone())));
        assert_eq!(parse("verify k t"), Ok(Nodetool::Verify(tables.clone())));
        let granularity = OverlappingTombstones::Cell;
        assert_eq!(
            parse("garbagecollect -g CELL k t"),
            Ok(Nodetool::GarbageCollect { granularity, tables })
        );
        let histograms =
            Nodetool::TableHistograms { keyspace: "k".to_string(), table: "t".to_string() };
        assert_eq!(parse("tablehistograms k t"), Ok(histograms.clone()));
        assert_eq!(parse("tablehistograms k.t"), Ok(histograms));
        assert_eq!(parse("tablestats k.t"), Ok(Nodetool::TableStats(vec!["k.t".to_string()])));
        for wrong in [
            "",
            "status",
            "tablehistograms",
            "tablehistograms k",
            "tablestats -H",
            "compact -x",
            "garbagecollect -g",
            "forcecompact k t",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
