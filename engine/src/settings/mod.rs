//! Settings: the part of cassandra.yaml that is honoured, under Cassandra's names.
//!
//! ```
//! use cassling_engine::settings::Settings;
//! let mut settings = Settings::default();
//! settings.set("tombstone_warn_threshold", "10")?;
//! settings.set("batch_size_warn_threshold", "1KiB")?;
//! assert_eq!(settings.batch_size_warn_threshold, 1024);
//! assert!(settings.set("tombstone_warn_treshold", "10").is_err());
//! # Ok::<(), cassling_engine::settings::SettingError>(())
//! ```
//!
//! A value is immutable while it is in force: every node's view holds one ([`crate::node::View::settings`]), so a request
//! reads it for nothing and sees one set of settings to its end. [`crate::cluster::Cluster::set`] makes a new one and gives it to all nodes.
//!
//! Each setting says from when it acts ([`Acts`]): the next request on, the building of the cluster on, or not at all yet.
//! One that does not act is refused when a user sets it, so that nothing is silently accepted; whoever builds its part
//! changes the word in the table of `mod table`. Guardrails (`..._threshold` of tables, columns, sizes; `..._enabled`) act
//! here for everyone once set, where Cassandra spares superusers; left alone they act for nobody, as there without a login.
//!
//! Not here: options of tables ([`crate::schema::options`]); what a threshold does (whoever reads it).

mod table;
mod value;

pub use table::{CommitLogSync, Settings, Thresholds};

use std::fmt;

/// From when a setting acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    /// The next request sees a change.
    AtOnce,
    /// It is read when the nodes are made; it cannot be changed later.
    WhenBuilt,
    /// Not at all yet: its part is not built.
    NotYet,
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is no setting of that name here.
    Unknown(String),
    /// Its part is not built yet.
    NotYet(&'static str),
    /// It can be set only before the cluster is built.
    WhenBuilt(&'static str),
    /// The text is no value of its kind.
    Malformed {
        /// Name of the setting.
        key: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A threshold that warns lies on the wrong side of the one that fails.
    Order {
        /// Name without `_warn_threshold`.
        name: &'static str,
        /// The threshold that warns.
        warn: u64,
        /// The threshold that fails.
        fail: u64,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unknown(key) => {
                write!(
                    f,
                    "cassling does not support the setting {key}: docs/settings.md lists those it knows"
                )
            }
            SettingError::NotYet(key) => {
                write!(
                    f,
                    "cassling does not support the setting {key} yet: it would have no effect"
                )
            }
            SettingError::WhenBuilt(key) => {
                write!(
                    f,
                    "the setting {key} is read when the cluster is built: give it to the builder, or with --set"
                )
            }
            SettingError::Malformed { key, value, takes } => {
                write!(f, "the setting {key} takes {takes}, not '{value}'")
            }
            // Cassandra's texts.
            SettingError::Order { name, warn, fail } => {
                let order = if warn > fail { "lower" } else { "greater" };
                write!(
                    f,
                    "The warn threshold {warn} for {name}_warn_threshold should be {order} than the fail threshold {fail}"
                )
            }
        }
    }
}

impl std::error::Error for SettingError {}

impl From<SettingError> for crate::error::Error {
    fn from(error: SettingError) -> crate::error::Error {
        crate::error::Error::Invalid(error.to_string())
    }
}

/// Splits `KEY: VALUE`, a line of cassandra.yaml.
pub fn split(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}
