//! The second room: types, markers and headings (Cassandra's `Selectable.newSelectorFactory`).

use super::fit::node_fit;
use super::join;
use super::resolve::{CallShape, MapNode, Node, cell_time_type, function_name, with_arguments};
use super::{
    Aggregate, CellPart, CellTimeSelector, Constant, ConstantRole, Selection, Selector, Shape,
    Source,
};
use crate::analysis::terms::{self, Fit, print};
use crate::analysis::{Context, Receiver};
use crate::ast::{self, CellTime, Name, SelectItem};
use crate::error::Error;
use crate::error::selection::SelectionError;
use crate::functions::{self, Function};
use crate::outcome::ColumnSpec;
use cassling_engine::schema::{Column, ColumnId, ColumnKind, Table};
use cassling_engine::types::{CqlType, UserType};

/// Builds the selection of resolved nodes; none at all stand for `*`.
///
/// # Errors
/// The refusals of sheet A.5 on select lists.
pub fn build(
    cx: &Context<'_>,
    table: &Table,
    items: &[SelectItem],
    nodes: &[Node<'_>],
) -> Result<Selection, Error> {
    let mut builder = Builder::new(cx, table);
    if items.is_empty() {
        return Ok(builder.wildcard());
    }
    let mut columns = Vec::with_capacity(items.len());
    let mut selectors = Vec::with_capacity(items.len());
    let mut is_aggregate = false;
    for (item, node) in items.iter().zip(nodes) {
        let built = builder.build(node, None).map_err(|e| e.or_at(item.selector.span))?;
        is_aggregate |= built.aggregates;
        let name = item.alias.as_ref().map_or(built.name, |alias| alias.text.clone());
        columns.push(builder.spec(name, built.ty));
        selectors.push(built.selector);
    }
    Ok(builder.finish(columns, selectors, is_aggregate))
}

/// Builds one node of GROUP BY: its selector, and the columns in it in the order of their first use.
///
/// # Errors
/// As [`build`].
pub(in crate::analysis) fn build_one(
    cx: &Context<'_>,
    table: &Table,
    node: &Node<'_>,
) -> Result<Selection, Error> {
    let mut builder = Builder::new(cx, table);
    let built = builder.build(node, None)?;
    let spec = builder.spec(built.name, built.ty);
    Ok(builder.finish(vec![spec], vec![built.selector], built.aggregates))
}

/// A selector with what is known of it.
struct Built {
    selector: Selector,
    ty: CqlType,
    name: String,
    aggregates: bool,
}

struct Builder<'b, 'c> {
    cx: &'b Context<'c>,
    table: &'b Table,
    constants: Vec<Constant>,
    aggregates: Vec<Aggregate>,
    requested: Vec<ColumnId>,
}

impl<'b, 'c> Builder<'b, 'c> {
    fn new(cx: &'b Context<'c>, table: &'b Table) -> Builder<'b, 'c> {
        Builder { cx, table, constants: Vec::new(), aggregates: Vec::new(), requested: Vec::new() }
    }

    fn finish(
        self,
        columns: Vec<ColumnSpec>,
        selectors: Vec<Selector>,
        is_aggregate: bool,
    ) -> Selection {
        Selection {
            columns: columns.into(),
            selectors,
            constants: self.constants,
            aggregates: self.aggregates,
            requested: self.requested,
            is_aggregate,
        }
    }

    fn wildcard(mut self) -> Selection {
        let columns = self.table.columns();
        let specs = columns.iter().map(|c| self.spec(c.name.clone(), c.ty.clone())).collect();
        let selectors = columns.iter().map(|c| Selector::Column(self.column(c))).collect();
        self.finish(specs, selectors, false)
    }

    fn spec(&self, name: String, ty: CqlType) -> ColumnSpec {
        ColumnSpec {
            keyspace: self.table.keyspace.clone(),
            table: self.table.name.clone(),
            name,
            ty,
        }
    }

    fn column(&mut self, column: &Column) -> Source {
        if !self.requested.contains(&column.id) {
            self.requested.push(column.id);
        }
        source_of(column)
    }

    fn build(&mut self, node: &Node<'_>, expected: Option<&CqlType>) -> Result<Built, Error> {
        match node {
            Node::Column(column) => {
                let selector = Selector::Column(self.column(column));
                Ok(plain(selector, column.ty.clone(), column.name.clone()))
            }
            Node::Term { raw, text } => self.term(raw, text, expected),
            Node::CountRows => {
                Ok(self.aggregate(None, Vec::new(), CqlType::Bigint, "count".to_string()))
            }
            Node::Call { shape, function, arguments } => self.call(shape, function, arguments),
            Node::Cast { of, ty, written } => self.cast(of, ty, written),
            Node::CellTime { kind, of, column } => self.cell_time(*kind, of, column),
            Node::Element { of, index, text } => self.element(of, index, text),
            Node::Slice { of, from, to, text } => self.slice(of, *from, *to, text),
            Node::Field { of, field } => self.field(of, field),
            Node::Tuple { parts } => self.tuple(node, parts, expected),
            Node::List { items } => self.list(node, items, expected),
            Node::Set { items } => self.set(node, items, expected),
            Node::Map(map) => self.map(node, map, expected),
            Node::TypeHint { ty, ty_text, of } => {
                if node_fit(self.cx, of, ty) == Fit::Not {
                    let (value, ty) = (node.text(), print::cql_type(ty));
                    return Err(SelectionError::CannotAssign { value, ty }.into());
                }
                let built = self.build(of, Some(ty))?;
                let name = format!("({ty_text}){}", built.name);
                Ok(Built { ty: ty.clone(), name, ..built })
            }
        }
    }

    fn build_all<'n>(
        &mut self,
        nodes: impl IntoIterator<Item = (&'n Node<'n>, Option<&'n CqlType>)>,
    ) -> Result<Vec<Built>, Error> {
        nodes.into_iter().map(|(node, expected)| self.build(node, expected)).collect()
    }

    fn constant(
        &mut self,
        raw: &ast::Term,
        receiver: &Receiver,
        role: ConstantRole,
    ) -> Result<usize, Error> {
        let term = terms::prepare(self.cx, raw, receiver)?;
        self.constants.push(Constant { term, role });
        Ok(self.constants.len() - 1)
    }

    fn receiver(&self, name: String, ty: CqlType) -> Receiver {
        Receiver { keyspace: self.table.keyspace.clone(), table: self.table.name.clone(), name, ty }
    }

    fn term(
        &mut self,
        raw: &ast::Term,
        text: &str,
        expected: Option<&CqlType>,
    ) -> Result<Built, Error> {
        let Some(ty) = expected else {
            return Err(Error::at(SelectionError::CannotInferType(text.to_string()), raw.span));
        };
        let receiver = self.receiver("[selection]".to_string(), ty.clone());
        let place = self.constant(raw, &receiver, ConstantRole::Value)?;
        Ok(plain(Selector::Constant(place), ty.clone(), text.to_string()))
    }

    fn aggregate(
        &mut self,
        function: Option<Function>,
        arguments: Vec<Selector>,
        ty: CqlType,
        name: String,
    ) -> Built {
        self.aggregates.push(Aggregate { function, arguments });
        let selector = Selector::Aggregate(self.aggregates.len() - 1);
        Built { selector, ty, name, aggregates: true }
    }

    fn call(
        &mut self,
        shape: &CallShape,
        function: &Function,
        nodes: &[Node<'_>],
    ) -> Result<Built, Error> {
        let built: Vec<Built> = nodes
            .iter()
            .zip(&function.parameters)
            .map(|(node, ty)| self.build(node, Some(ty)))
            .collect::<Result<_, Error>>()?;
        let names: Vec<String> = built.iter().map(|b| b.name.clone()).collect();
        let aggregates = built.iter().any(|b| b.aggregates);
        let arguments: Vec<Selector> = built.into_iter().map(|b| b.selector).collect();
        let (name, ty) = (shape.print(&names), function.returns.clone());
        if !function.is_aggregate {
            let selector = Selector::Call { function: function.clone(), arguments };
            return Ok(Built { selector, ty, name, aggregates });
        }
        if aggregates {
            return Err(SelectionError::NestedAggregate.into());
        }
        let descending = matches!(nodes, [Node::Column(column)] if column.descending);
        let function = if descending { function.clone().reversed() } else { function.clone() };
        Ok(self.aggregate(Some(function), arguments, ty, name))
    }

    fn cast(&mut self, of: &Node<'_>, to: &CqlType, written: &str) -> Result<Built, Error> {
        let built = self.build(of, None)?;
        if built.ty == *to {
            return Ok(built);
        }
        let found =
            with_arguments(self.cx, &self.table.keyspace, std::slice::from_ref(of), |arguments| {
                functions::resolve_cast_as(self.cx, &arguments[0], to, written)
            })?;
        let Some(function) = found else { return Ok(built) };
        let name = format!("cast({} as {to})", built.name);
        let ty = function.returns.clone();
        let selector = Selector::Call { function, arguments: vec![built.selector] };
        Ok(Built { selector, ty, name, aggregates: built.aggregates })
    }

    fn cell_time(
        &mut self,
        kind: CellTime,
        of: &Node<'_>,
        column: &Column,
    ) -> Result<Built, Error> {
        if column.is_primary_key() {
            let (function, column) = (function_name(kind), column.name.clone());
            return Err(SelectionError::CellTimeOfKey { function, column }.into());
        }
        let built = self.build(of, None)?;
        let source = source_of(column);
        let part =
            if column.ty.is_multi_cell() { cell_part(&built.selector) } else { CellPart::Whole };
        let many = built.ty.is_multi_cell();
        let as_list = many && kind != CellTime::MaxWriteTime;
        let name = format!("{}({})", function_name(kind), built.name);
        let ty = cell_time_type(kind, as_list);
        let selector = CellTimeSelector { kind, source, part, as_list, value: built.selector };
        Ok(plain(Selector::CellTime(Box::new(selector)), ty, name))
    }

    fn element(&mut self, of: &Node<'_>, index: &ast::Term, text: &str) -> Result<Built, Error> {
        let built = self.build(of, None)?;
        if !built.ty.is_collection() {
            let (selected, ty) = (of.text(), print::cql_type(&built.ty));
            return Err(SelectionError::ElementOfNoCollection { selected, ty }.into());
        }
        let part = self.part_of(&built, of, "Element")?;
        let role = ConstantRole::Element(of.text());
        let key = self.constant(index, &part.receiver, role)?;
        let (key_ty, is_map) = (part.receiver.ty, part.is_map);
        let selector = Selector::Element { of: Box::new(built.selector), key_ty, is_map, key };
        let aggregates = built.aggregates;
        Ok(Built { selector, ty: part.element, name: text.to_string(), aggregates })
    }

    fn slice(
        &mut self,
        of: &Node<'_>,
        from: Option<&ast::Term>,
        to: Option<&ast::Term>,
        text: &str,
    ) -> Result<Built, Error> {
        let built = self.build(of, None)?;
        if !built.ty.is_collection() {
            let (selected, ty) = (of.text(), print::cql_type(&built.ty));
            return Err(SelectionError::SliceOfNoCollection { selected, ty }.into());
        }
        let part = self.part_of(&built, of, "Slice")?;
        let mut end = |raw: Option<&ast::Term>| {
            let role = ConstantRole::SliceEnd(of.text());
            raw.map(|raw| self.constant(raw, &part.receiver, role)).transpose()
        };
        let (from, to) = (end(from)?, end(to)?);
        let (key_ty, is_map) = (part.receiver.ty, part.is_map);
        let frozen = !built.ty.is_multi_cell();
        let of = Box::new(built.selector);
        let selector = Selector::Slice { of, key_ty, is_map, frozen, from, to };
        let (ty, aggregates) = (built.ty, built.aggregates);
        Ok(Built { selector, ty, name: text.to_string(), aggregates })
    }

    fn part_of(&self, built: &Built, of: &Node<'_>, part: &'static str) -> Result<PartOf, Error> {
        match &built.ty {
            CqlType::Map { key, value, .. } => Ok(PartOf {
                receiver: self.receiver(format!("key({})", built.name), key.as_ref().clone()),
                element: value.as_ref().clone(),
                is_map: true,
            }),
            CqlType::Set { element, .. } => Ok(PartOf {
                receiver: self.receiver(format!("value({})", built.name), element.as_ref().clone()),
                element: element.as_ref().clone(),
                is_map: false,
            }),
            _ => Err(SelectionError::PartOfList { part, selected: of.text() }.into()),
        }
    }

    fn field(&mut self, of: &Node<'_>, field: &Name) -> Result<Built, Error> {
        // A single value in brackets might be a tuple of one; before a field it cannot be.
        let bracketed = match of {
            Node::Tuple { parts } => parts.first().and_then(Node::exact_type),
            _ => None,
        };
        let built = self.build(of, bracketed.as_ref())?;
        let CqlType::Udt { definition, .. } = &built.ty else {
            let (selected, ty) = (of.text(), print::cql_type(&built.ty));
            return Err(Error::at(SelectionError::FieldOfNoUserType { selected, ty }, field.span));
        };
        let Some(index) = field_index(definition, &field.text) else {
            let (selected, ty) = (of.text(), print::cql_type(&built.ty));
            let missing = SelectionError::NoSuchField { selected, ty, field: field.text.clone() };
            return Err(Error::at(missing, field.span));
        };
        let ty = definition.fields[index].1.clone();
        let name = format!("{}.{}", built.name, field.text);
        let selector = Selector::Field { of: Box::new(built.selector), index };
        Ok(Built { selector, ty, name, aggregates: built.aggregates })
    }

    fn type_of(&self, node: &Node<'_>, expected: Option<&CqlType>) -> Result<CqlType, Error> {
        // A list in brackets becomes a vector where one is wanted, whatever its elements say.
        match (node, expected) {
            (Node::List { .. }, Some(vector @ CqlType::Vector { .. })) => Ok(vector.clone()),
            _ => node
                .exact_type()
                .or_else(|| expected.cloned())
                .ok_or_else(|| SelectionError::CannotInferType(node.text()).into()),
        }
    }

    fn tuple(
        &mut self,
        node: &Node<'_>,
        parts: &[Node<'_>],
        expected: Option<&CqlType>,
    ) -> Result<Built, Error> {
        let ty = self.type_of(node, expected)?;
        match (parts, &ty) {
            (_, CqlType::Tuple(types)) => {
                let built = self.build_all(parts.iter().zip(types.iter().map(Some)))?;
                Ok(composed(built, ty, "(", ")", |parts| {
                    Selector::Tuple(parts.into_iter().map(Some).collect())
                }))
            }
            ([only], _) => {
                let built = self.build(only, Some(&ty))?;
                let name = format!("({})", built.name);
                Ok(Built { name, ..built })
            }
            _ => Err(SelectionError::CannotInferType(node.text()).into()),
        }
    }

    fn list(
        &mut self,
        node: &Node<'_>,
        items: &[Node<'_>],
        expected: Option<&CqlType>,
    ) -> Result<Built, Error> {
        let ty = self.type_of(node, expected)?;
        match &ty {
            CqlType::Vector { element, dimensions } => {
                if u32::try_from(items.len()) != Ok(*dimensions) {
                    let count = items.len();
                    return Err(
                        SelectionError::VectorSize { ty: print::cql_type(&ty), count }.into()
                    );
                }
                let built = self.build_all(items.iter().map(|i| (i, Some(element.as_ref()))))?;
                let element = element.as_ref().clone();
                Ok(composed(built, ty, "[", "]", |elements| Selector::Vector { element, elements }))
            }
            CqlType::List { element, .. } => {
                let built = self.build_all(items.iter().map(|i| (i, Some(element.as_ref()))))?;
                Ok(composed(built, ty, "[", "]", Selector::List))
            }
            _ => Err(SelectionError::CannotInferType(node.text()).into()),
        }
    }

    fn set(
        &mut self,
        node: &Node<'_>,
        items: &[Node<'_>],
        expected: Option<&CqlType>,
    ) -> Result<Built, Error> {
        let ty = self.type_of(node, expected)?;
        match &ty {
            CqlType::Set { element, .. } => {
                let built = self.build_all(items.iter().map(|i| (i, Some(element.as_ref()))))?;
                let whole = ty.clone();
                Ok(composed(built, ty, "{", "}", |elements| Selector::Set { ty: whole, elements }))
            }
            CqlType::Map { .. } if items.is_empty() => {
                let selector = Selector::Map { ty: ty.clone(), entries: Vec::new() };
                Ok(plain(selector, ty, "{}".to_string()))
            }
            CqlType::Udt { definition, .. } if items.is_empty() => {
                let fields = definition.fields.iter().map(|_| None).collect();
                Ok(plain(Selector::Tuple(fields), ty, "{}".to_string()))
            }
            _ => Err(SelectionError::CannotInferType(node.text()).into()),
        }
    }

    fn map(
        &mut self,
        node: &Node<'_>,
        map: &MapNode<'_>,
        expected: Option<&CqlType>,
    ) -> Result<Built, Error> {
        let Some(ty) = expected else {
            // Cassandra looks the names up before it says that it knows no type.
            map.check_names(self.cx)?;
            return Err(SelectionError::CannotInferType(node.text()).into());
        };
        match ty {
            CqlType::Udt { definition, .. } => self.user_type(ty, definition, map),
            CqlType::Map { key, value, .. } => {
                let mut entries = Vec::with_capacity(map.entries.len());
                let (mut names, mut aggregates) = (Vec::new(), false);
                for (k, v) in map.pairs(self.cx)? {
                    let (k, v) = (self.build(&k, Some(key))?, self.build(&v, Some(value))?);
                    names.push(format!("{}: {}", k.name, v.name));
                    aggregates |= k.aggregates || v.aggregates;
                    entries.push((k.selector, v.selector));
                }
                let selector = Selector::Map { ty: ty.clone(), entries };
                let name = format!("{{{}}}", join(names));
                Ok(Built { selector, ty: ty.clone(), name, aggregates })
            }
            _ => Err(SelectionError::CannotInferType(node.text()).into()),
        }
    }

    fn user_type(
        &mut self,
        ty: &CqlType,
        definition: &UserType,
        map: &MapNode<'_>,
    ) -> Result<Built, Error> {
        let mut parts: Vec<Option<Selector>> = definition.fields.iter().map(|_| None).collect();
        let (mut names, mut aggregates) = (Vec::new(), false);
        for (field, value) in map.fields(self.cx, &definition.name)? {
            let Some(index) = field_index(definition, &field.text) else {
                let (field_name, ty) = (field.text.clone(), definition.name.clone());
                let unknown = SelectionError::UnknownLiteralField { field: field_name, ty };
                return Err(Error::at(unknown, field.span));
            };
            let built = self.build(&value, Some(&definition.fields[index].1))?;
            names.push(format!("{}: {}", field.text, built.name));
            aggregates |= built.aggregates;
            parts[index] = Some(built.selector);
        }
        let name = format!("{{{}}}", join(names));
        Ok(Built { selector: Selector::Tuple(parts), ty: ty.clone(), name, aggregates })
    }
}

/// What the parts of a set or map are like.
struct PartOf {
    receiver: Receiver,
    element: CqlType,
    is_map: bool,
}

fn plain(selector: Selector, ty: CqlType, name: String) -> Built {
    Built { selector, ty, name, aggregates: false }
}

fn composed(
    built: Vec<Built>,
    ty: CqlType,
    open: &str,
    close: &str,
    make: impl FnOnce(Vec<Selector>) -> Selector,
) -> Built {
    let name = format!("{open}{}{close}", join(built.iter().map(|b| b.name.clone())));
    let aggregates = built.iter().any(|b| b.aggregates);
    let selector = make(built.into_iter().map(|b| b.selector).collect());
    Built { selector, ty, name, aggregates }
}

fn field_index(definition: &UserType, field: &str) -> Option<usize> {
    definition.fields.iter().position(|(name, _)| name == field)
}

/// Which cells of a multi-cell column the innermost step of a path takes.
fn cell_part(selector: &Selector) -> CellPart {
    match selector {
        Selector::Element { of, key_ty, key, .. } => match of.as_ref() {
            Selector::Column(_) => CellPart::Element { key_ty: key_ty.clone(), key: *key },
            inner => cell_part(inner),
        },
        Selector::Slice { of, key_ty, from, to, .. } => match of.as_ref() {
            Selector::Column(_) => CellPart::Slice { key_ty: key_ty.clone(), from: *from, to: *to },
            inner => cell_part(inner),
        },
        Selector::Field { of, index } => match of.as_ref() {
            Selector::Column(_) => CellPart::Field(*index),
            inner => cell_part(inner),
        },
        _ => CellPart::Whole,
    }
}

/// Where the column's value lies.
pub(in crate::analysis) fn source_of(column: &Column) -> Source {
    let is_static = match column.kind {
        ColumnKind::PartitionKey => return Source::PartitionKey(column.position),
        ColumnKind::Clustering => return Source::Clustering(column.position),
        ColumnKind::Static => true,
        ColumnKind::Regular => false,
    };
    let shape = match &column.ty {
        CqlType::List { frozen: false, .. } => Shape::List,
        CqlType::Set { frozen: false, .. } => Shape::Set,
        CqlType::Map { frozen: false, .. } => Shape::Map,
        CqlType::Udt { definition, frozen: false } => Shape::Udt(definition.fields.len()),
        _ => return Source::Cell { column: column.id, is_static },
    };
    Source::Cells { column: column.id, is_static, shape }
}
