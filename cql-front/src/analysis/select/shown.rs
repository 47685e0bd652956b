//! The select list as Cassandra's messages of a read show it: the columns that the read fetches, without those of the key.
//!
//! ```text
//! SELECT k, v, s, max(w) ...      s, v, w         statics first, each kind by name
//! SELECT k, c ...                 *               nothing but the key is everything
//! SELECT m[1], m[3..5] ...        m[1], m[3:5]    parts of a collection, if no selector wants the whole
//! ```

use crate::analysis::selection::{CellPart, Selection, Selector, Source};
use crate::analysis::terms::{Bound, Env};
use cassling_engine::schema::{ColumnId, ColumnKind, Table};
use cassling_engine::types::display::literal;
use cassling_engine::types::{CqlType, order, quote_name};
use std::sync::Arc;

/// The select list as messages show it.
#[derive(Clone, Debug)]
pub struct ShownSelect {
    /// All of it, where no part of a collection is named.
    fixed: Arc<str>,
    /// Each column with its parts, where some are.
    columns: Vec<(String, Vec<Part>)>,
}

/// A part of a collection: places of its ends in [`Selection::constants`].
#[derive(Clone, Debug)]
enum Part {
    Element(CqlType, usize),
    Slice(CqlType, Option<usize>, Option<usize>),
}

impl ShownSelect {
    /// Of a list that reads `columns`.
    pub fn new(
        table: &Table,
        selection: &Selection,
        columns: &[ColumnId],
        wildcard: bool,
    ) -> ShownSelect {
        let fetched = table.columns().iter().filter(|column| {
            columns.contains(&column.id)
                && matches!(column.kind, ColumnKind::Static | ColumnKind::Regular)
        });
        let parts = |id: ColumnId| {
            let mut uses = Vec::new();
            selection.selectors.iter().for_each(|selector| collect(selector, id, &mut uses));
            let parts: Option<Vec<Part>> = uses.into_iter().collect();
            parts.unwrap_or_default()
        };
        let columns: Vec<(String, Vec<Part>)> = fetched
            .map(|column| {
                let parts = if column.ty.is_multi_cell() { parts(column.id) } else { vec![] };
                (quote_name(&column.name), parts)
            })
            .collect();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let everything = wildcard || names.is_empty();
        let fixed = if everything { "*".to_string() } else { names.join(", ") };
        let in_parts = !everything && columns.iter().any(|(_, parts)| !parts.is_empty());
        ShownSelect {
            fixed: Arc::from(fixed),
            columns: if in_parts { columns } else { Vec::new() },
        }
    }

    /// Its text with the keys bound.
    pub fn text(&self, selection: &Selection, env: &Env<'_>) -> Arc<str> {
        if self.columns.is_empty() {
            return Arc::clone(&self.fixed);
        }
        let key = |place: usize| match selection.constants[place].term.bind(env) {
            Ok(Bound::Value(bytes)) => Some(bytes.into_owned()),
            _ => None,
        };
        let text = |ty: &CqlType, key: &Option<Vec<u8>>| {
            key.as_ref().map(|bytes| literal(ty, Some(bytes))).unwrap_or_default()
        };
        let mut texts = Vec::new();
        for (name, parts) in &self.columns {
            // By their starts; an open one comes first.
            let mut of_column: Vec<(Option<Vec<u8>>, String, &CqlType)> = parts
                .iter()
                .map(|part| match part {
                    Part::Element(ty, place) => {
                        let key = key(*place);
                        let shown = format!("{name}[{}]", text(ty, &key));
                        (key, shown, ty)
                    }
                    Part::Slice(ty, from, to) => {
                        let (from, to) = (from.and_then(key), to.and_then(key));
                        let shown = format!("{name}[{}:{}]", text(ty, &from), text(ty, &to));
                        (from, shown, ty)
                    }
                })
                .collect();
            of_column.sort_by(|(a, _, ty), (b, _, _)| match (a, b) {
                (Some(a), Some(b)) => order::compare(ty, a, b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            });
            let mut of_column: Vec<String> = of_column.into_iter().map(|(_, s, _)| s).collect();
            of_column.dedup();
            if of_column.is_empty() {
                of_column.push(name.clone());
            }
            texts.extend(of_column);
        }
        Arc::from(texts.join(", "))
    }
}

/// Notes how a selector uses a column: a part of it, or (`None`) the whole.
fn collect(selector: &Selector, id: ColumnId, uses: &mut Vec<Option<Part>>) {
    let is_column = |selector: &Selector| match selector {
        Selector::Column(Source::Cells { column, .. }) => *column == id,
        _ => false,
    };
    let mut all = |selectors: &[Selector]| {
        selectors.iter().for_each(|selector| collect(selector, id, uses));
    };
    match selector {
        Selector::Column(_) if is_column(selector) => uses.push(None),
        Selector::Column(_) | Selector::Constant(_) | Selector::Aggregate(_) => {}
        Selector::Element { of, key_ty, key, .. } if is_column(of) => {
            uses.push(Some(Part::Element(key_ty.clone(), *key)));
        }
        Selector::Slice { of, key_ty, from, to, .. } if is_column(of) => {
            uses.push(Some(Part::Slice(key_ty.clone(), *from, *to)));
        }
        Selector::Element { of, .. } | Selector::Slice { of, .. } | Selector::Field { of, .. } => {
            collect(of, id, uses);
        }
        Selector::Call { arguments, .. } => all(arguments),
        Selector::CellTime(time) => {
            let whole = matches!(time.part, CellPart::Whole);
            if whole {
                collect(&Selector::Column(time.source), id, uses);
            } else {
                collect(&time.value, id, uses);
            }
        }
        Selector::Tuple(members) => {
            members.iter().flatten().for_each(|member| collect(member, id, uses));
        }
        Selector::List(elements)
        | Selector::Set { elements, .. }
        | Selector::Vector { elements, .. } => all(elements),
        Selector::Map { entries, .. } => entries.iter().for_each(|(key, value)| {
            collect(key, id, uses);
            collect(value, id, uses);
        }),
    }
}
