//! The first room: names become columns, calls become functions (Cassandra's `Selectable.Raw.prepare`).
//!
//! What is refused here is refused before WHERE is looked at: `Undefined column name`, `Unknown function`, arguments
//! that no function takes. Everything else waits for [`super::build`].

use super::fit::{node_fit, weak, worst};
use super::join;
use crate::analysis::Context;
use crate::analysis::terms::{self, Fit, print};
use crate::ast::{
    self, Arithmetic, CellTime, Name, SelectItem, SelectorKind, Span, TermKind, TypeName,
};
use crate::error::Error;
use crate::error::selection::SelectionError;
use crate::functions::{self, Argument, Function};
use cassling_engine::schema::{Column, Table};
use cassling_engine::types::{CqlType, quote_name};

/// A selector whose names are looked up (Cassandra's `Selectable`).
pub enum Node<'a> {
    /// A column.
    Column(&'a Column),
    /// A literal, null or marker.
    Term {
        /// As written.
        raw: &'a ast::Term,
        /// As printed.
        text: String,
    },
    /// `count(*)`.
    CountRows,
    /// A function, operation or negation.
    Call {
        /// How it is printed.
        shape: CallShape,
        /// What is called.
        function: Function,
        /// With what.
        arguments: Vec<Node<'a>>,
    },
    /// `CAST(of AS ty)`: its function is looked for in the second room.
    Cast {
        /// What is cast.
        of: Box<Node<'a>>,
        /// To what.
        ty: CqlType,
        /// As written: `varchar` is the type text, but nothing is cast to it.
        written: String,
    },
    /// writetime, maxwritetime, ttl.
    CellTime {
        /// Which.
        kind: CellTime,
        /// Column, or an element, slice or field path of it.
        of: Box<Node<'a>>,
        /// The column at its root.
        column: &'a Column,
    },
    /// `of[index]`.
    Element {
        /// What is selected from.
        of: Box<Node<'a>>,
        /// Key.
        index: &'a ast::Term,
        /// As printed.
        text: String,
    },
    /// `of[from..to]`.
    Slice {
        /// What is selected from.
        of: Box<Node<'a>>,
        /// First key.
        from: Option<&'a ast::Term>,
        /// Last key.
        to: Option<&'a ast::Term>,
        /// As printed.
        text: String,
    },
    /// `of.field`.
    Field {
        /// What is selected from.
        of: Box<Node<'a>>,
        /// Field.
        field: &'a Name,
    },
    /// `(a, b)`; one part alone may be only brackets.
    Tuple {
        /// Parts.
        parts: Vec<Node<'a>>,
    },
    /// `[a, b]`.
    List {
        /// Elements.
        items: Vec<Node<'a>>,
    },
    /// `{a, b}`.
    Set {
        /// Elements.
        items: Vec<Node<'a>>,
    },
    /// `{a: b}`.
    Map(MapNode<'a>),
    /// `(ty) of`.
    TypeHint {
        /// Type, frozen.
        ty: CqlType,
        /// As printed.
        ty_text: String,
        /// What it is put before.
        of: Box<Node<'a>>,
    },
}

/// How a call is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallShape {
    /// `system.f(a, b)`; holds the name with its keyspace.
    Function(String),
    /// `a + b`.
    Operation(Arithmetic),
    /// `-a`.
    Negate,
}

/// `{a: b}`: a map, or a value of a user-defined type. Which one is known when a type hint says so; until then its names
/// are not looked up.
pub struct MapNode<'a> {
    /// Keys and values as written.
    pub entries: &'a [(ast::Selector, ast::Selector)],
    table: &'a Table,
}

/// Resolves a select list.
///
/// # Errors
/// `Undefined column name ..`, `Unknown function ..` and the texts of sheet G.4.
pub fn resolve_all<'a>(
    cx: &Context<'_>,
    table: &'a Table,
    items: &'a [SelectItem],
) -> Result<Vec<Node<'a>>, Error> {
    items.iter().map(|item| resolve(cx, table, &item.selector)).collect()
}

/// The column of that name.
///
/// # Errors
/// `Undefined column name .. in table ..`.
pub fn column_of<'a>(table: &'a Table, name: &Name) -> Result<&'a Column, Error> {
    table.column(&name.text).ok_or_else(|| {
        let undefined = SelectionError::UndefinedColumn {
            column: quote_name(&name.text),
            table: format!("{}.{}", quote_name(&table.keyspace), quote_name(&table.name)),
        };
        Error::at(undefined, name.span)
    })
}

/// Resolves one selector.
///
/// # Errors
/// As [`resolve_all`].
pub fn resolve<'a>(
    cx: &Context<'_>,
    table: &'a Table,
    raw: &'a ast::Selector,
) -> Result<Node<'a>, Error> {
    let inner = |raw: &'a ast::Selector| resolve(cx, table, raw).map(Box::new);
    let several = |raws: &'a [ast::Selector]| -> Result<Vec<Node<'a>>, Error> {
        raws.iter().map(|raw| resolve(cx, table, raw)).collect()
    };
    let keyspace = table.keyspace.as_str();
    Ok(match &raw.kind {
        SelectorKind::Column(name) => Node::Column(column_of(table, name)?),
        SelectorKind::Term(term) => Node::Term { raw: term, text: print::term(term, keyspace) },
        SelectorKind::CountRows => Node::CountRows,
        SelectorKind::Function { name, arguments } => {
            call(cx, table, name, several(arguments)?, raw.span)?
        }
        SelectorKind::Negate(of) => negation(cx, keyspace, *inner(of)?, raw.span)?,
        SelectorKind::Operation { operator, left, right } => {
            operation(cx, keyspace, *operator, [*inner(left)?, *inner(right)?], raw.span)?
        }
        SelectorKind::Cast { selector, ty } => {
            let of = inner(selector)?;
            let written = print::type_name(ty, keyspace);
            Node::Cast { of, ty: terms::resolve_type(cx, keyspace, ty)?, written }
        }
        SelectorKind::CellTime { kind, of } => {
            let of = inner(of)?;
            let column = of.root_column().expect("the grammar lets only paths of a column in");
            Node::CellTime { kind: *kind, of, column }
        }
        SelectorKind::Element { of, index } => {
            let of = inner(of)?;
            let text = format!("{}[{}]", of.text(), print::term(index, keyspace));
            Node::Element { of, index, text }
        }
        SelectorKind::Slice { of, from, to } => {
            let of = inner(of)?;
            let end = |term: &Option<ast::Term>| {
                term.as_ref().map_or(String::new(), |t| print::term(t, keyspace))
            };
            let text = format!("{}[{}..{}]", of.text(), end(from), end(to));
            Node::Slice { of, from: from.as_ref(), to: to.as_ref(), text }
        }
        SelectorKind::Field { of, field } => Node::Field { of: inner(of)?, field },
        SelectorKind::Tuple(parts) => Node::Tuple { parts: several(parts)? },
        SelectorKind::List(items) => Node::List { items: several(items)? },
        SelectorKind::Set(items) => Node::Set { items: several(items)? },
        SelectorKind::Map { entries } => Node::Map(MapNode { entries, table }),
        SelectorKind::TypeHint { ty, selector } => hint(cx, table, ty, inner(selector)?)?,
    })
}

fn hint<'a>(
    cx: &Context<'_>,
    table: &Table,
    ty: &TypeName,
    of: Box<Node<'a>>,
) -> Result<Node<'a>, Error> {
    let ty_text = print::type_name(ty, &table.keyspace);
    let ty = terms::resolve_type(cx, &table.keyspace, ty)?.freeze();
    Ok(Node::TypeHint { ty, ty_text, of })
}

fn call<'a>(
    cx: &Context<'_>,
    table: &Table,
    name: &ast::QualifiedName,
    arguments: Vec<Node<'a>>,
    span: Span,
) -> Result<Node<'a>, Error> {
    let keyspace = name.keyspace.as_ref().map(|k| k.text.as_str());
    // count(1) counts rows, and so does count of any other literal: it is never null.
    let native = keyspace.is_none_or(|k| k == "system") && name.name.text == "count";
    if native && arguments.len() == 1 && arguments[0].is_literal() {
        return Ok(Node::CountRows);
    }
    let function = with_arguments(cx, &table.keyspace, &arguments, |arguments| {
        functions::resolve(cx, keyspace, &name.name.text, arguments, Some(table), None)
    })
    .map_err(|e| e.or_at(span))?;
    let shape = CallShape::Function(function.full_name());
    Ok(Node::Call { shape, function, arguments })
}

fn operation<'a>(
    cx: &Context<'_>,
    keyspace: &str,
    operator: Arithmetic,
    sides: [Node<'a>; 2],
    span: Span,
) -> Result<Node<'a>, Error> {
    let arguments = Vec::from(sides);
    let function = with_arguments(cx, keyspace, &arguments, |sides| {
        functions::resolve_operation(cx, operator, &sides[0], &sides[1], None)
    })
    .map_err(|e| e.or_at(span))?;
    Ok(Node::Call { shape: CallShape::Operation(operator), function, arguments })
}

fn negation<'a>(
    cx: &Context<'_>,
    keyspace: &str,
    of: Node<'a>,
    span: Span,
) -> Result<Node<'a>, Error> {
    let arguments = vec![of];
    let function = with_arguments(cx, keyspace, &arguments, |of| {
        functions::resolve_negation(cx, &of[0], None)
    })
    .map_err(|e| e.or_at(span))?;
    Ok(Node::Call { shape: CallShape::Negate, function, arguments })
}

/// Shows nodes to overload resolution.
pub(super) fn with_arguments<R>(
    cx: &Context<'_>,
    keyspace: &str,
    nodes: &[Node<'_>],
    then: impl FnOnce(&[Argument<'_>]) -> R,
) -> R {
    let fits: Vec<_> =
        nodes.iter().map(|node| move |ty: &CqlType| node_fit(cx, node, ty)).collect();
    let arguments: Vec<Argument<'_>> = nodes
        .iter()
        .zip(&fits)
        .map(|(node, fit)| Argument {
            text: node.text(),
            ty: node.exact_type(),
            preferred: node.preferred_type(cx, keyspace),
            fit,
        })
        .collect();
    then(&arguments)
}

impl<'a> Node<'a> {
    /// The node as messages and headings print it.
    pub fn text(&self) -> String {
        let all = |nodes: &[Node<'a>]| join(nodes.iter().map(Node::text));
        match self {
            Node::Column(column) => column.name.clone(),
            Node::Term { text, .. } | Node::Element { text, .. } | Node::Slice { text, .. } => {
                text.clone()
            }
            Node::CountRows => "count".to_string(),
            Node::Call { shape, arguments, .. } => {
                let arguments: Vec<String> = arguments.iter().map(Node::text).collect();
                shape.print(&arguments)
            }
            Node::Cast { of, ty, .. } => format!("cast({} as {ty})", of.text()),
            Node::CellTime { kind, of, .. } => format!("{}({})", function_name(*kind), of.text()),
            Node::Field { of, field } => format!("{}.{}", of.text(), field.text),
            Node::Tuple { parts } => format!("({})", all(parts)),
            Node::List { items } => format!("[{}]", all(items)),
            Node::Set { items } => format!("{{{}}}", all(items)),
            Node::Map(map) => map.text(),
            Node::TypeHint { ty_text, of, .. } => format!("({ty_text}){}", of.text()),
        }
    }

    /// The type that the node has by itself (Cassandra's `getExactTypeIfKnown`).
    pub fn exact_type(&self) -> Option<CqlType> {
        match self {
            Node::Column(column) => Some(column.ty.clone()),
            Node::Term { .. } | Node::Map(_) => None,
            Node::CountRows => Some(CqlType::Bigint),
            Node::Call { function, .. } => Some(function.returns.clone()),
            Node::Cast { ty, .. } | Node::TypeHint { ty, .. } => Some(ty.clone()),
            // Cassandra looks at the column even where only an element is meant, so that `ttl(m['a']) / 60` is refused.
            Node::CellTime { kind, column, .. } => {
                let many = *kind != CellTime::MaxWriteTime && column.ty.is_multi_cell();
                Some(cell_time_type(*kind, many))
            }
            Node::Element { of, .. } => match of.exact_type()? {
                CqlType::Map { value, .. } => Some(value.as_ref().clone()),
                CqlType::Set { element, .. } => Some(element.as_ref().clone()),
                _ => None,
            },
            Node::Slice { of, .. } => of.exact_type().filter(CqlType::is_collection),
            Node::Field { of, field } => match of.exact_type()? {
                CqlType::Udt { definition, .. } => definition
                    .fields
                    .iter()
                    .find(|(name, _)| *name == field.text)
                    .map(|(_, ty)| ty.clone()),
                _ => None,
            },
            Node::Tuple { parts } if parts.len() == 1 => None,
            Node::Tuple { parts } => Some(CqlType::Tuple(
                parts.iter().map(|p| Some(p.exact_type()?.freeze())).collect::<Option<_>>()?,
            )),
            Node::List { items } => Some(CqlType::list(items.iter().find_map(Node::exact_type)?)),
            Node::Set { items } => Some(CqlType::set(items.iter().find_map(Node::exact_type)?)),
        }
    }

    /// The type to assume where several would do (Cassandra's `getCompatibleTypeIfKnown`).
    pub fn preferred_type(&self, cx: &Context<'_>, keyspace: &str) -> Option<CqlType> {
        let inner = |node: &Node<'a>| node.preferred_type(cx, keyspace);
        match self {
            Node::Term { raw, .. } => terms::preferred_type(cx, keyspace, raw),
            Node::Tuple { parts } => match parts.as_slice() {
                [only] => inner(only),
                _ => self.exact_type(),
            },
            Node::List { items } => Some(CqlType::list(items.iter().find_map(inner)?)),
            Node::Set { items } => Some(CqlType::set(items.iter().find_map(inner)?)),
            _ => self.exact_type(),
        }
    }

    /// A scalar literal, not null.
    fn is_literal(&self) -> bool {
        matches!(self, Node::Term { raw, .. } if matches!(raw.kind, TermKind::Literal { .. }))
    }

    /// The column that a path of elements, slices and fields begins with.
    fn root_column(&self) -> Option<&'a Column> {
        match self {
            Node::Column(column) => Some(column),
            Node::Element { of, .. } | Node::Slice { of, .. } | Node::Field { of, .. } => {
                of.root_column()
            }
            _ => None,
        }
    }

    /// Calls `see` with every column inside.
    pub fn visit_columns(&self, see: &mut dyn FnMut(&'a Column)) {
        match self {
            Node::Column(column) => see(column),
            Node::Term { .. } | Node::CountRows => {}
            Node::Call { arguments: nodes, .. }
            | Node::Tuple { parts: nodes }
            | Node::List { items: nodes }
            | Node::Set { items: nodes } => {
                nodes.iter().for_each(|node| node.visit_columns(see));
            }
            Node::Cast { of, .. }
            | Node::CellTime { of, .. }
            | Node::Element { of, .. }
            | Node::Slice { of, .. }
            | Node::Field { of, .. }
            | Node::TypeHint { of, .. } => of.visit_columns(see),
            Node::Map(map) => {
                let names = map.entries.iter().flat_map(|(key, value)| [key, value]);
                for raw in names {
                    if let SelectorKind::Column(name) = &raw.kind
                        && let Some(column) = map.table.column(&name.text)
                    {
                        see(column);
                    }
                }
            }
        }
    }
}

impl CallShape {
    /// The call with these arguments.
    pub fn print(&self, arguments: &[String]) -> String {
        match self {
            CallShape::Function(name) => format!("{name}({})", arguments.join(", ")),
            CallShape::Operation(operator) => {
                format!("{} {operator} {}", arguments[0], arguments[1])
            }
            CallShape::Negate => format!("-{}", arguments[0]),
        }
    }
}

impl<'a> MapNode<'a> {
    /// Keys and values of a map.
    ///
    /// # Errors
    /// As [`resolve_all`].
    pub fn pairs(&self, cx: &Context<'_>) -> Result<Vec<(Node<'a>, Node<'a>)>, Error> {
        self.entries
            .iter()
            .map(|(key, value)| {
                Ok((resolve(cx, self.table, key)?, resolve(cx, self.table, value)?))
            })
            .collect()
    }

    /// Looks up what can be looked up without a type: keys that are mere names might be fields.
    ///
    /// # Errors
    /// As [`resolve_all`].
    pub fn check_names(&self, cx: &Context<'_>) -> Result<(), Error> {
        for (key, value) in self.entries {
            if !matches!(key.kind, SelectorKind::Column(_)) {
                resolve(cx, self.table, key)?;
            }
            resolve(cx, self.table, value)?;
        }
        Ok(())
    }

    /// Fields of a value of a user-defined type of that name.
    ///
    /// # Errors
    /// A key that is no name; as [`resolve_all`] for the values.
    pub fn fields(&self, cx: &Context<'_>, ty: &str) -> Result<Vec<(&'a Name, Node<'a>)>, Error> {
        self.entries
            .iter()
            .map(|(key, value)| match &key.kind {
                SelectorKind::Column(name) => Ok((name, resolve(cx, self.table, value)?)),
                _ => {
                    let field = resolve(cx, self.table, key)?.text();
                    let invalid = SelectionError::InvalidFieldName { field, ty: ty.to_string() };
                    Err(Error::at(invalid, key.span))
                }
            })
            .collect()
    }

    /// How well it fits; a name in it that is not there counts as fitting, so that it is refused as what it is.
    pub(super) fn fit(&self, cx: &Context<'_>, ty: &CqlType) -> Fit {
        match ty {
            CqlType::Udt { definition, .. } => {
                let Ok(fields) = self.fields(cx, &definition.name) else { return Fit::Weak };
                weak(fields.iter().all(|(name, value)| {
                    let known = definition.fields.iter().find(|(field, _)| *field == name.text);
                    known.is_none_or(|(_, ty)| node_fit(cx, value, ty) != Fit::Not)
                }))
            }
            CqlType::Map { key, value, .. } => {
                let Ok(pairs) = self.pairs(cx) else { return Fit::Weak };
                worst(
                    pairs.iter().flat_map(|(k, v)| [node_fit(cx, k, key), node_fit(cx, v, value)]),
                )
            }
            _ => Fit::Not,
        }
    }

    fn text(&self) -> String {
        let entry = |(key, value): &(ast::Selector, ast::Selector)| {
            format!("{}: {}", raw_text(self.table, key), raw_text(self.table, value))
        };
        format!("{{{}}}", join(self.entries.iter().map(entry)))
    }
}

/// A selector that is not looked up yet, as printed; only inside of a [`MapNode`].
fn raw_text(table: &Table, raw: &ast::Selector) -> String {
    let keyspace = table.keyspace.as_str();
    let inner = |raw: &ast::Selector| raw_text(table, raw);
    let all = |raws: &[ast::Selector]| join(raws.iter().map(inner));
    let end =
        |t: &Option<ast::Term>| t.as_ref().map_or(String::new(), |t| print::term(t, keyspace));
    match &raw.kind {
        SelectorKind::Column(name) => name.text.clone(),
        SelectorKind::Term(term) => print::term(term, keyspace),
        SelectorKind::CountRows => "count".to_string(),
        SelectorKind::Function { name, arguments } => {
            let written = name.keyspace.as_ref().map_or("system", |k| k.text.as_str());
            format!("{written}.{}({})", name.name.text, all(arguments))
        }
        SelectorKind::Cast { selector, ty } => {
            format!("cast({} as {})", inner(selector), print::type_name(ty, keyspace))
        }
        SelectorKind::CellTime { kind, of } => format!("{}({})", function_name(*kind), inner(of)),
        SelectorKind::Element { of, index } => {
            format!("{}[{}]", inner(of), print::term(index, keyspace))
        }
        SelectorKind::Slice { of, from, to } => {
            format!("{}[{}..{}]", inner(of), end(from), end(to))
        }
        SelectorKind::Field { of, field } => format!("{}.{}", inner(of), field.text),
        SelectorKind::Tuple(parts) => format!("({})", all(parts)),
        SelectorKind::List(items) => format!("[{}]", all(items)),
        SelectorKind::Set(items) => format!("{{{}}}", all(items)),
        SelectorKind::Map { entries } => {
            let entry =
                |(k, v): &(ast::Selector, ast::Selector)| format!("{}: {}", inner(k), inner(v));
            format!("{{{}}}", join(entries.iter().map(entry)))
        }
        SelectorKind::TypeHint { ty, selector } => {
            format!("({}){}", print::type_name(ty, keyspace), inner(selector))
        }
        SelectorKind::Negate(of) => format!("-{}", inner(of)),
        SelectorKind::Operation { operator, left, right } => {
            format!("{} {operator} {}", inner(left), inner(right))
        }
    }
}

/// The name of the function as written in headings and messages.
pub fn function_name(kind: CellTime) -> &'static str {
    match kind {
        CellTime::WriteTime => "writetime",
        CellTime::MaxWriteTime => "maxwritetime",
        CellTime::Ttl => "ttl",
    }
}

/// Type of a time of one cell, or of many.
pub fn cell_time_type(kind: CellTime, many: bool) -> CqlType {
    let one = match kind {
        CellTime::WriteTime | CellTime::MaxWriteTime => CqlType::Bigint,
        CellTime::Ttl => CqlType::Int,
    };
    if many { CqlType::list(one) } else { one }
}
