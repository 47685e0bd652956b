//! Rows for people, as cqlsh prints them.

use super::answer::Answer;
use cassling_engine::types::display;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// The rows of an answer as cqlsh prints them: header, line, rows to the right, count. Empty without rows.
pub fn render(answer: &Answer) -> String {
    let Some(columns) = &answer.columns else { return String::new() };
    let cells: Vec<Vec<String>> = answer
        .rows
        .iter()
        .map(|row| {
            columns
                .iter()
                .zip(row)
                .map(|((_, ty), value)| display::cqlsh(ty, value.as_deref()))
                .collect()
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(place, (name, _))| {
            let widest = cells.iter().map(|row| row[place].width()).max().unwrap_or(0);
            widest.max(name.width())
        })
        .collect();
    let mut out = String::from("\n");
    let header = columns.iter().zip(&widths).map(|((name, _), width)| padded(name, *width, false));
    let _ = writeln!(out, " {}", header.collect::<Vec<_>>().join(" | "));
    let line = widths.iter().map(|width| "-".repeat(width + 2));
    let _ = writeln!(out, "{}", line.collect::<Vec<_>>().join("+"));
    for row in &cells {
        let row = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width, true));
        let _ = writeln!(out, " {}", row.collect::<Vec<_>>().join(" | "));
    }
    let _ = writeln!(out, "\n({} rows)", cells.len());
    if answer.more {
        out.push_str("---MORE---\n");
    }
    out
}

fn padded(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

/// An error with the place in the file under it.
///
/// ```text
/// error 2200: Undefined column name nope in table shop.item
///   --> items.cql:12:8
///    |
/// 12 | SELECT nope FROM item;
///    |        ^^^^
/// ```
pub fn render_error(
    name: &str,
    text: &str,
    statement: &super::split::Statement,
    error: &crate::Error,
) -> String {
    let mut out = format!("error {:04x}: {error}\n", error.code() as u16);
    let Some(span) = error.span else {
        let _ = writeln!(out, "  --> {name}:{}", statement.line);
        return out;
    };
    let start = statement.file_offset(span.start.min(statement.text.len()));
    let end = statement.file_offset(span.end.clamp(span.start, statement.text.len())).max(start);
    let start = text.floor_char_boundary(start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let number = text[..start].matches('\n').count() + 1;
    let end = text.floor_char_boundary(end.clamp(start, line_end));
    let column = text[line_start..start].width();
    let carets = "^".repeat(text[start..end].width().max(1));
    let margin = " ".repeat(number.to_string().len());
    let shown: String = text[line_start..line_end].chars().take(400).collect();
    let _ = writeln!(out, "{margin}--> {name}:{number}:{}", column + 1);
    let _ = writeln!(out, "{margin} |");
    let _ = writeln!(out, "{number} | {shown}");
    let _ = writeln!(out, "{margin} | {}{carets}", " ".repeat(column));
    out
}
