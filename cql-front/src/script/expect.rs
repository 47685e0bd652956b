//! Expectations: comment lines after a statement that say what its answer must be (contracts.md 9).
//!
//! ```text
//! --> k | v             the header, then a line for each row; order matters
//! --> 1 | 'x'
//! --> (0 rows)          no row
//! --! 2200 text         the error, whole; `text...` (with an ellipsis character) a prefix
//! --~ text              a warning
//! --= rows_read <= 20   a counter of the result, or of the statement's table (`disk_bytes`)
//! ```
//!
//! A statement with any expectation fails on a warning that none names.

use super::answer::{Answer, from_hex};
use crate::ast::TermKind;
use crate::parser;
use cassling_engine::types::{CqlType, display, text};
use std::fmt;

/// Counters of a table's state, over all nodes, as they are after the statement.
pub const TABLE_COUNTERS: [&str; 3] = ["sstables_total", "disk_bytes", "memtable_bytes"];

/// One line of expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// `--> ` header, row, or `(0 rows)`.
    Row(String),
    /// `--! ` code and text.
    Error(String),
    /// `--~ ` a warning.
    Warning(String),
    /// `--= ` a counter, a comparison, a number.
    Counter {
        /// Name of the counter (docs/scripts.md).
        name: String,
        /// Comparison.
        comparison: Comparison,
        /// Number.
        value: u64,
    },
}

/// How a counter is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::AtMost => "<=",
            Comparison::AtLeast => ">=",
        })
    }
}

impl Expectation {
    /// Whether it asks for one of [`TABLE_COUNTERS`].
    pub fn of_table(&self) -> bool {
        matches!(self, Expectation::Counter { name, .. } if TABLE_COUNTERS.contains(&name.as_str()))
    }

    /// Reads what follows `--`; `None` if the comment is no expectation.
    ///
    /// # Errors
    /// A `--=` line that is malformed or names no counter.
    pub fn parse(comment: &str) -> Result<Option<Expectation>, String> {
        let mark = comment.chars().next();
        let body = comment.get(1..).unwrap_or("");
        if !body.starts_with(' ') && !body.is_empty() {
            return Ok(None);
        }
        let body = body.trim().to_string();
        Ok(match mark {
            Some('>') => Some(Expectation::Row(body)),
            Some('!') => Some(Expectation::Error(body)),
            Some('~') => Some(Expectation::Warning(body)),
            Some('=') => Some(counter(&body)?),
            _ => None,
        })
    }
}

fn counter(body: &str) -> Result<Expectation, String> {
    let words: Vec<&str> = body.split_whitespace().collect();
    let [name, comparison, value] = words.as_slice() else {
        return Err(format!("--= takes COUNTER <=|=|>= N, not '{body}'"));
    };
    let comparison = match *comparison {
        "=" => Comparison::Equal,
        "<=" => Comparison::AtMost,
        ">=" => Comparison::AtLeast,
        other => return Err(format!("--= knows =, <= and >=, not '{other}'")),
    };
    let costs = cassling_engine::metrics::Cost::default().named();
    let names: Vec<&str> = costs.iter().map(|(name, _)| *name).chain(TABLE_COUNTERS).collect();
    if !names.contains(name) {
        return Err(format!("no counter is called '{name}'; there are: {}", names.join(", ")));
    }
    let value = value.parse().map_err(|_| format!("'{value}' is no number"))?;
    Ok(Expectation::Counter { name: name.to_string(), comparison, value })
}

/// What of the answer is not as expected: each failure with the line of its expectation (or of the statement).
pub fn check(
    answer: &Answer,
    expectations: &[(Expectation, usize)],
    statement_line: usize,
) -> Vec<(usize, String)> {
    let mut failures = Vec::new();
    check_error(answer, expectations, statement_line, &mut failures);
    check_rows(answer, expectations, &mut failures);
    check_warnings(answer, expectations, statement_line, &mut failures);
    for (expectation, line) in expectations {
        if let Expectation::Counter { name, comparison, value } = expectation {
            let named = answer.cost.named();
            let mut known = named.iter().chain(&answer.table_state);
            let Some(found) = known.find(|(known, _)| known == name).map(|(_, n)| *n) else {
                failures.push((
                    *line,
                    format!("{name} is of a table: the statement names none that is there"),
                ));
                continue;
            };
            let holds = match comparison {
                Comparison::Equal => found == *value,
                Comparison::AtMost => found <= *value,
                Comparison::AtLeast => found >= *value,
            };
            if !holds {
                failures.push((
                    *line,
                    format!("{name} {comparison} {value} was expected, it is {found}"),
                ));
            }
        }
    }
    failures
}

fn check_error(
    answer: &Answer,
    expectations: &[(Expectation, usize)],
    statement_line: usize,
    failures: &mut Vec<(usize, String)>,
) {
    let expected = expectations.iter().find_map(|(expectation, line)| match expectation {
        Expectation::Error(text) => Some((text, *line)),
        _ => None,
    });
    let got = answer.error.as_ref().map(|e| format!("{:04x} {e}", e.code() as u16));
    match (expected, got) {
        (None, None) => {}
        (None, Some(got)) => {
            failures.push((statement_line, format!("no error was expected: {got}")))
        }
        (Some((text, line)), None) => {
            failures
                .push((line, format!("the error '{text}' was expected, the statement succeeded")));
        }
        (Some((text, line)), Some(got)) => {
            let holds = match text.strip_suffix('…') {
                Some(prefix) => got.starts_with(prefix),
                None => got.trim_end() == text.trim_end(),
            };
            if !holds {
                failures.push((line, format!("the error '{text}' was expected, it is: {got}")));
            }
        }
    }
}

fn check_warnings(
    answer: &Answer,
    expectations: &[(Expectation, usize)],
    statement_line: usize,
    failures: &mut Vec<(usize, String)>,
) {
    if expectations.is_empty() {
        return;
    }
    let mut left: Vec<&String> = answer.warnings.iter().collect();
    for (expectation, line) in expectations {
        if let Expectation::Warning(text) = expectation {
            match left.iter().position(|warning| *warning == text) {
                Some(at) => {
                    left.remove(at);
                }
                None => failures.push((*line, format!("the warning '{text}' was expected"))),
            }
        }
    }
    for warning in left {
        failures.push((statement_line, format!("unexpected warning: {warning}")));
    }
}

fn check_rows(
    answer: &Answer,
    expectations: &[(Expectation, usize)],
    failures: &mut Vec<(usize, String)>,
) {
    let lines: Vec<(&str, usize)> = expectations
        .iter()
        .filter_map(|(expectation, line)| match expectation {
            Expectation::Row(text) => Some((text.as_str(), *line)),
            _ => None,
        })
        .collect();
    let Some(&(first, first_line)) = lines.first() else { return };
    let Some(columns) = &answer.columns else {
        if answer.error.is_none() {
            failures.push((first_line, "rows were expected, the statement gives none".to_string()));
        }
        return;
    };
    if first == "(0 rows)" {
        if !answer.rows.is_empty() {
            failures.push((
                first_line,
                format!("no row was expected, there are {}", answer.rows.len()),
            ));
        }
        return;
    }
    let header: Vec<&str> = cells(first);
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    if header != names {
        failures.push((first_line, format!("the columns are: {}", names.join(" | "))));
        return;
    }
    let expected = &lines[1..];
    for (row, (text, line)) in answer.rows.iter().zip(expected) {
        if !same_row(text, columns, row) {
            failures.push((*line, format!("the row is: {}", row_text(columns, row))));
        }
    }
    if answer.rows.len() != expected.len() {
        let rest: Vec<String> = answer.rows[expected.len().min(answer.rows.len())..]
            .iter()
            .map(|row| format!("\n    {}", row_text(columns, row)))
            .collect();
        let counts =
            format!("{} rows were expected, there are {}", expected.len(), answer.rows.len());
        failures.push((first_line, format!("{counts}{}", rest.concat())));
    }
}

fn row_text(columns: &[(String, CqlType)], row: &[Option<Vec<u8>>]) -> String {
    let texts =
        columns.iter().zip(row).map(|((_, ty), value)| display::cqlsh(ty, value.as_deref()));
    texts.collect::<Vec<_>>().join(" | ")
}

/// Whether a line stands for a row. A quote in a line may open a literal or be part of a text that cqlsh prints bare
/// (`it's`), so both readings count.
fn same_row(line: &str, columns: &[(String, CqlType)], row: &[Option<Vec<u8>>]) -> bool {
    let same = |wanted: Vec<&str>| {
        wanted.len() == row.len()
            && wanted
                .iter()
                .zip(row)
                .zip(columns)
                .all(|((cell, value), (_, ty))| same_cell(cell, ty, value.as_deref()))
    };
    same(cells(line)) || (line.contains('\'') && same(line.split(" |").map(str::trim).collect()))
}

/// Cells of a line, split at ` | ` outside quotes, trimmed.
fn cells(line: &str) -> Vec<&str> {
    let (mut cells, mut begin, mut quoted) = (Vec::new(), 0, false);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'|' if !quoted && at > 0 && bytes[at - 1] == b' ' => {
                cells.push(line[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    cells.push(line[begin..].trim());
    cells
}

/// A cell equals cqlsh's text, or, if it begins with `'` or `0x`, is a literal compared by bytes.
fn same_cell(cell: &str, ty: &CqlType, value: Option<&[u8]>) -> bool {
    if display::cqlsh(ty, value).trim() == cell {
        return true;
    }
    let Some(value) = value else { return false };
    if let Some(digits) = cell.strip_prefix("0x") {
        return from_hex(digits).as_deref() == Some(value);
    }
    if cell.starts_with('\'') {
        return literal_text(cell)
            .and_then(|inside| text::parse(ty, &inside, 0).ok())
            .is_some_and(|bytes| bytes == value);
    }
    false
}

/// The inside of a string literal.
fn literal_text(cell: &str) -> Option<String> {
    match &parser::parse_term(cell).ok()?.kind {
        TermKind::Literal { text, .. } => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let row = |text: &str| Some(Expectation::Row(text.to_string()));
        assert_eq!(Expectation::parse("> a | b").unwrap(), row("a | b"));
        assert_eq!(Expectation::parse(" an ordinary comment").unwrap(), None);
        assert_eq!(Expectation::parse("----").unwrap(), None);
        assert_eq!(Expectation::parse(">>x").unwrap(), None);
        assert!(Expectation::parse("= rows_red = 1").unwrap_err().contains("no counter"));
        assert!(Expectation::parse("= rows_read 1").is_err());
    }

    #[test]
    fn cells_split_outside_quotes() {
        assert_eq!(cells("1 | 'a | b' |  x"), ["1", "'a | b'", "x"]);
        assert_eq!(cells("a|b"), ["a|b"]);
        let columns: Vec<_> = ["a", "b"].map(|name| (name.to_string(), CqlType::Text)).into();
        let row = ["it's", "x"].map(|text| Some(text.as_bytes().to_vec()));
        assert!(same_row("it's | x", &columns, &row));
        assert!(!same_row("it's | y", &columns, &row));
    }
}
