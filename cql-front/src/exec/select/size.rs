//! `coordinator_read_size_warn_threshold` and `..._fail_threshold`: how large an answer may become (sheet E.2).
//!
//! ```text
//! fail at 60 bytes    rows of 18    18 36 54 72 |         the fourth row may pass it, a fifth is not added: refused
//! ```
//!
//! Bytes are those of the values, before a sort cuts the rows. They are looked at only with `read_thresholds_enabled`.

use crate::error::Error;
use crate::exec::Request;
use cassling_engine::error::{Error as EngineError, FailureReason};
use cassling_engine::row::ReadCommand;
use cassling_engine::row::query::Partitions;
use cassling_engine::settings::Thresholds;

/// What the answer of one SELECT is held to.
#[derive(Debug)]
pub(super) struct SizeLimit {
    thresholds: Thresholds,
    /// `Read on table ks.t has exceeded the size %s threshold of ...`: table and tokens.
    table: String,
    tokens: String,
}

impl SizeLimit {
    /// The limit in force, if there is one.
    pub(super) fn of(request: &Request<'_>, command: &ReadCommand) -> Option<SizeLimit> {
        if !request.cluster.tracks_reads() {
            return None;
        }
        let thresholds = request.cluster.settings().coordinator_read_size;
        thresholds.warn.or(thresholds.fail)?;
        let table = format!("{}.{}", command.table.keyspace, command.table.name);
        Some(SizeLimit { thresholds, table, tokens: tokens(&command.partitions) })
    }

    /// Checks an answer of so many bytes, the last row of which has `last_row` of them.
    ///
    /// # Errors
    /// READ_FAILURE if a row was added to an answer that was too large already.
    pub(super) fn check(
        &self,
        request: &Request<'_>,
        bytes: u64,
        last_row: u64,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        let Thresholds { warn, fail } = self.thresholds;
        if let Some(fail) = fail.filter(|fail| bytes - last_row > *fail) {
            let text = self.text("failure", fail);
            warnings.push(text.clone());
            let node = request.cluster.topology().node(request.node);
            let address = node.expect("the coordinator is in the topology").address;
            return Err(Error::new(EngineError::ReadFailure {
                consistency: request.consistency,
                received: 0,
                required: 1,
                failures: vec![(address, FailureReason::ReadSize)],
                summary: Some(text),
                data_present: true,
            }));
        }
        warnings.extend(warn.filter(|warn| bytes > *warn).map(|warn| self.text("warning", warn)));
        Ok(())
    }

    fn text(&self, kind: &str, threshold: u64) -> String {
        let SizeLimit { table, tokens, .. } = self;
        let threshold = grouped(threshold);
        format!(
            "Read on table {table} has exceeded the size {kind} threshold of {threshold} bytes with {tokens}"
        )
    }
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |place: usize| place > 0 && (digits.len() - place).is_multiple_of(3);
    digits
        .char_indices()
        .flat_map(|(place, digit)| comma(place).then_some(',').into_iter().chain([digit]))
        .collect()
}

fn tokens(partitions: &Partitions) -> String {
    match partitions {
        Partitions::Keys(keys) => match &keys[..] {
            [key] => format!("token: {}", key.token.0),
            keys => {
                let tokens: Vec<String> = keys.iter().map(|key| key.token.0.to_string()).collect();
                format!("tokens: [{}]", tokens.join(", "))
            }
        },
        Partitions::Range(range) => {
            let place = |edge: Option<(cassling_engine::ring::Token, bool)>| {
                edge.map_or(i64::MIN, |(token, _)| token.0)
            };
            let from = if range.start.is_some_and(|(_, included)| included) { '[' } else { '(' };
            let open = match (range.start, range.end) {
                (None, None) => true,
                (_, end) => end.is_some_and(|(_, included)| !included),
            };
            let to = if open { ')' } else { ']' };
            format!("token range: {from}{}, {}{to}", place(range.start), place(range.end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
