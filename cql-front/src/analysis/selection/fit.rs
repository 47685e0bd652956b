//! Whether a selector may stand where a type is wanted (Cassandra's `Selectable.testAssignment`).

use super::resolve::Node;
use crate::analysis::Context;
use crate::analysis::terms::{self, Fit, fit_result};
use cassling_engine::types::CqlType;

/// How well the node fits `ty` (Cassandra's `Selectable.testAssignment`).
pub(super) fn node_fit(cx: &Context<'_>, node: &Node<'_>, ty: &CqlType) -> Fit {
    match node {
        Node::Term { raw, .. } => terms::test(cx, raw, ty),
        Node::Tuple { parts, .. } => match (parts.as_slice(), ty) {
            (parts, CqlType::Tuple(types)) => {
                let fits = |(part, ty): (&Node<'_>, &CqlType)| node_fit(cx, part, ty) != Fit::Not;
                weak(parts.len() <= types.len() && parts.iter().zip(types.iter()).all(fits))
            }
            ([only], _) => node_fit(cx, only, ty),
            _ => Fit::Not,
        },
        Node::List { items, .. } => match ty {
            CqlType::List { element, .. } | CqlType::Vector { element, .. } => {
                worst(items.iter().map(|item| node_fit(cx, item, element)))
            }
            _ => Fit::Not,
        },
        Node::Set { items, .. } => match ty {
            CqlType::Set { element, .. } => {
                worst(items.iter().map(|item| node_fit(cx, item, element)))
            }
            CqlType::Map { .. } | CqlType::Udt { .. } => weak(items.is_empty()),
            _ => Fit::Not,
        },
        Node::Map(map) => map.fit(cx, ty),
        Node::Column(_)
        | Node::CountRows
        | Node::Call { .. }
        | Node::Cast { .. }
        | Node::CellTime { .. }
        | Node::Element { .. }
        | Node::Slice { .. }
        | Node::Field { .. }
        | Node::TypeHint { .. } => {
            node.exact_type().map_or(Fit::Not, |exact| fit_result(&exact, ty))
        }
    }
}

/// [`Fit::Weak`] if it holds.
pub(super) fn weak(fits: bool) -> Fit {
    if fits { Fit::Weak } else { Fit::Not }
}

/// The worst of the fits of a collection's elements; an empty one fits weakly.
pub(super) fn worst(fits: impl Iterator<Item = Fit>) -> Fit {
    fits.min().unwrap_or(Fit::Weak)
}
