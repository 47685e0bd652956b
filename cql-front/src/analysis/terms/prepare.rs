//! From a term as written to a checked one: each kind's checks, in Cassandra's order.

use super::fit::{Check, field_value};
use super::{Bound, Error, Fit, Node, Receiver, Term, print, resolve_type};
use crate::ast::{self, LiteralKind, Span, TermKind};
use crate::error::function::FunctionError;
use crate::error::term::TermError;
use cassling_engine::types::{CqlType, MarshalError, UserType, text};
use std::sync::Arc;

/// What receives a part of a literal.
fn part(receiver: &Receiver, name: String, ty: &CqlType) -> Receiver {
    Receiver {
        keyspace: receiver.keyspace.clone(),
        table: receiver.table.clone(),
        name,
        ty: ty.clone(),
    }
}

fn value_of(receiver: &Receiver, ty: &CqlType) -> Receiver {
    part(receiver, format!("value({})", receiver.name), ty)
}

fn shape(shape: &'static str, receiver: &Receiver, span: Span) -> Error {
    let (name, ty) = (receiver.name.clone(), print::cql_type(&receiver.ty));
    Error::at(TermError::Shape { shape, name, ty }, span)
}

impl Check<'_> {
    /// See [`super::prepare`].
    pub(super) fn prepare(&self, raw: &ast::Term, receiver: &Receiver) -> Result<Term, Error> {
        match &raw.kind {
            TermKind::Literal { kind, text } => self.scalar(*kind, text, raw.span, receiver),
            TermKind::Null if receiver.ty == CqlType::Counter => {
                Err(Error::at(TermError::NullCounter, raw.span))
            }
            TermKind::Null => Ok(Term(Node::Null)),
            TermKind::Marker(marker) => {
                self.cx.bind_marker(marker.index, receiver);
                Ok(Term(Node::Marker { index: marker.index, ty: receiver.ty.clone() }))
            }
            TermKind::List(items) => match receiver.ty.clone() {
                CqlType::List { element, .. } => self.list(items, &element, receiver),
                CqlType::Vector { element, dimensions } => {
                    self.vector(items, &element, dimensions, raw.span, receiver)
                }
                ty => Err(Error::at(
                    TermError::UnexpectedReceiver { ty: print::cql_type(&ty) },
                    raw.span,
                )),
            },
            TermKind::Set(items) => match receiver.ty.clone() {
                CqlType::Set { element, .. } => self.set(items, &element, receiver),
                CqlType::Map { .. } if items.is_empty() => Ok(Term(Node::Constant([0; 4].into()))),
                _ => Err(shape("set", receiver, raw.span)),
            },
            TermKind::Map(entries) => match receiver.ty.clone() {
                CqlType::Map { key, value, .. } => self.map(entries, &key, &value, receiver),
                _ => Err(shape("map", receiver, raw.span)),
            },
            TermKind::Udt(fields) => match receiver.ty.clone() {
                CqlType::Udt { definition, .. } => self.udt(fields, &definition, receiver),
                _ => Err(shape("user type", receiver, raw.span)),
            },
            TermKind::Tuple(items) => self.tuple(items, raw.span, receiver),
            TermKind::TypeHint { ty, term } => self.hint(raw, ty, term, receiver),
            TermKind::Function { .. } | TermKind::Negate(_) | TermKind::Operation { .. } => {
                self.call(raw, receiver)
            }
        }
    }

    fn scalar(
        &self,
        kind: LiteralKind,
        text: &str,
        span: Span,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        let ty = &receiver.ty;
        if super::fit::literal(kind, text, ty) == Fit::Not {
            let (name, ty) = (receiver.name.clone(), print::cql_type(ty));
            return Err(Error::at(
                TermError::Constant { kind, text: text.to_string(), name, ty },
                span,
            ));
        }
        // Hex is kept as it is, whatever the type: a tinyint may get two bytes that way.
        let ty = if kind == LiteralKind::Hex { &CqlType::Blob } else { ty };
        let text = if kind == LiteralKind::Hex { text.get(2..).unwrap_or_default() } else { text };
        let bytes = text::parse(ty, text, self.cx.now_millis)
            .map_err(|e: MarshalError| Error::at(TermError::Value(e), span))?;
        Ok(Term(Node::Constant(bytes.into())))
    }

    /// Refuses the first element that does not fit, before any is prepared.
    fn check_parts<'a>(
        &self,
        shape: &'static str,
        parts: impl Iterator<Item = (&'static str, &'a ast::Term, &'a CqlType)>,
        receiver: &Receiver,
    ) -> Result<(), Error> {
        for (what, item, ty) in parts {
            if self.fit(item, ty)? == Fit::Not {
                let part = format!("{what} {}", print::term(item, self.keyspace));
                let (name, ty) = (receiver.name.clone(), print::cql_type(ty));
                return Err(Error::at(TermError::Part { shape, name, part, ty }, item.span));
            }
        }
        Ok(())
    }

    /// Prepares an element of a collection literal, where no marker may be.
    fn element(
        &self,
        shape: &'static str,
        item: &ast::Term,
        element: &Receiver,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        let term = self.prepare(item, element)?;
        if term.has_marker() {
            let name = receiver.name.clone();
            return Err(Error::at(TermError::MarkerInCollection { shape, name }, item.span));
        }
        Ok(term)
    }

    fn list(
        &self,
        items: &[ast::Term],
        element: &CqlType,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        self.check_parts("list", items.iter().map(|it| ("value", it, element)), receiver)?;
        let spec = value_of(receiver, element);
        let items = items.iter().map(|it| self.element("list", it, &spec, receiver));
        finish(Node::List(items.collect::<Result<_, _>>()?))
    }

    fn set(
        &self,
        items: &[ast::Term],
        element: &Arc<CqlType>,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        let ty = element.as_ref();
        self.check_parts("set", items.iter().map(|it| ("value", it, ty)), receiver)?;
        let spec = value_of(receiver, ty);
        let items = items.iter().map(|it| self.element("set", it, &spec, receiver));
        let items = items.collect::<Result<_, _>>()?;
        finish(Node::Set { element: Arc::clone(element), items })
    }

    fn map(
        &self,
        entries: &[(ast::Term, ast::Term)],
        key: &Arc<CqlType>,
        value: &CqlType,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        let parts =
            entries.iter().flat_map(|(k, v)| [("key", k, key.as_ref()), ("value", v, value)]);
        self.check_parts("map", parts, receiver)?;
        let key_spec = part(receiver, format!("key({})", receiver.name), key);
        let value_spec = value_of(receiver, value);
        let entries = entries
            .iter()
            .map(|(k, v)| {
                let k = self.element("map", k, &key_spec, receiver)?;
                Ok((k, self.element("map", v, &value_spec, receiver)?))
            })
            .collect::<Result<_, Error>>()?;
        finish(Node::Map { key: Arc::clone(key), entries })
    }

    fn vector(
        &self,
        items: &[ast::Term],
        element: &Arc<CqlType>,
        dimensions: u32,
        span: Span,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        if items.len() != dimensions as usize {
            let (name, ty) = (receiver.name.clone(), print::cql_type(&receiver.ty));
            let (expected, given) = (dimensions, items.len());
            return Err(Error::at(TermError::VectorSize { name, ty, expected, given }, span));
        }
        let spec = value_of(receiver, element);
        let items = items
            .iter()
            .map(|item| {
                let parts = [("value", item, element.as_ref())];
                self.check_parts("vector", parts.into_iter(), receiver)?;
                self.prepare(item, &spec)
            })
            .collect::<Result<_, Error>>()?;
        finish(Node::Vector { element: Arc::clone(element), items })
    }

    fn tuple(&self, items: &[ast::Term], span: Span, receiver: &Receiver) -> Result<Term, Error> {
        let parts: Vec<&CqlType> = match (&receiver.ty, items) {
            (CqlType::Tuple(parts), _) => parts.iter().collect(),
            (CqlType::Udt { definition, .. }, _) => {
                definition.fields.iter().map(|(_, ty)| ty).collect()
            }
            // Brackets around a term, not a tuple.
            (_, [item]) => return self.prepare(item, receiver),
            _ => return Err(shape("tuple type", receiver, span)),
        };
        for (index, item) in items.iter().enumerate() {
            let name = receiver.name.clone();
            let Some(ty) = parts.get(index) else {
                let ty = print::cql_type(&receiver.ty);
                let (expected, given) = (parts.len(), items.len());
                return Err(Error::at(TermError::TupleSize { name, ty, expected, given }, span));
            };
            if self.fit(item, ty)? == Fit::Not {
                let (part, ty) = (format!("component {index}"), print::cql_type(ty));
                return Err(Error::at(
                    TermError::Part { shape: "tuple", name, part, ty },
                    item.span,
                ));
            }
        }
        if matches!(receiver.ty, CqlType::Udt { .. }) {
            return Err(Error::at(TermError::TupleForUserType, span));
        }
        let items = items
            .iter()
            .zip(parts)
            .enumerate()
            .map(|(index, (item, ty))| {
                self.prepare(item, &part(receiver, format!("{}[{index}]", receiver.name), ty))
            })
            .collect::<Result<_, _>>()?;
        finish(Node::Tuple(items))
    }

    fn udt(
        &self,
        fields: &[(ast::Name, ast::Term)],
        definition: &Arc<UserType>,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        for (name, ty) in &definition.fields {
            let Some(value) = field_value(fields, name) else { continue };
            if self.fit(value, ty)? == Fit::Not {
                let (part, ty) = (format!("field {name}"), print::cql_type(ty));
                let name = receiver.name.clone();
                return Err(Error::at(
                    TermError::Part { shape: "user type", name, part, ty },
                    value.span,
                ));
            }
        }
        let terms = definition
            .fields
            .iter()
            .map(|(name, ty)| match field_value(fields, name) {
                Some(value) => {
                    self.prepare(value, &part(receiver, format!("{}.{name}", receiver.name), ty))
                }
                None => Ok(Term(Node::Null)),
            })
            .collect::<Result<_, _>>()?;
        let known = |name: &str| definition.fields.iter().any(|(field, _)| field == name);
        if let Some((name, _)) = fields.iter().find(|(name, _)| !known(&name.text)) {
            let (field, ty) = (name.text.clone(), definition.name.clone());
            return Err(Error::at(TermError::UnknownField { field, ty }, name.span));
        }
        let (definition, frozen) = (Arc::clone(definition), !receiver.ty.is_multi_cell());
        finish(Node::Udt { definition, frozen, fields: terms })
    }

    fn hint(
        &self,
        raw: &ast::Term,
        hint: &ast::TypeName,
        term: &ast::Term,
        receiver: &Receiver,
    ) -> Result<Term, Error> {
        let ty = resolve_type(self.cx, self.keyspace, hint)?;
        if self.fit(term, &ty)? == Fit::Not {
            let value = print::term(term, self.keyspace);
            let ty = print::type_name(hint, self.keyspace);
            return Err(Error::at(TermError::HintedValue { value, ty }, term.span));
        }
        if self.fit(raw, &receiver.ty)? == Fit::Not {
            let value = print::term(raw, self.keyspace);
            let (name, ty) = (receiver.name.clone(), print::cql_type(&receiver.ty));
            return Err(Error::at(TermError::Hint { value, name, ty }, raw.span));
        }
        self.prepare(term, receiver)
    }

    fn call(&self, raw: &ast::Term, receiver: &Receiver) -> Result<Term, Error> {
        let function = self.resolve(raw, Some(&receiver.ty)).map_err(|e| e.or_at(raw.span))?;
        let (arguments, written): (Vec<&ast::Term>, String) = match &raw.kind {
            TermKind::Function { name, arguments } => {
                let written = match &name.keyspace {
                    Some(keyspace) => format!("{}.{}", keyspace.text, name.name.text),
                    None => name.name.text.clone(),
                };
                (arguments.iter().collect(), written)
            }
            TermKind::Operation { left, right, .. } => (vec![left, right], String::new()),
            TermKind::Negate(inner) => (vec![inner], String::new()),
            _ => unreachable!("only calls and operations come here"),
        };
        let refuse = |error: FunctionError| Err(Error::at(error, raw.span));
        let Some(function) = function else {
            return refuse(FunctionError::UnknownCalled(written));
        };
        if function.is_aggregate {
            return refuse(FunctionError::AggregateInWhere);
        }
        if super::fit::fit_receiver(&function.returns, &receiver.ty) == Fit::Not {
            return refuse(FunctionError::CannotAssign {
                function: function.described(),
                returns: print::cql_type(&function.returns),
                name: receiver.name.clone(),
                ty: print::cql_type(&receiver.ty),
            });
        }
        let full_name = function.full_name().to_lowercase();
        let arguments = arguments
            .into_iter()
            .zip(&function.parameters)
            .enumerate()
            .map(|(index, (argument, ty))| {
                self.prepare(argument, &part(receiver, format!("arg{index}({full_name})"), ty))
            })
            .collect::<Result<_, _>>()?;
        Ok(Term(Node::Call { function: Box::new(function), arguments }))
    }
}

/// A literal all of whose parts are known becomes bytes at once.
fn finish(node: Node) -> Result<Term, Error> {
    if !node.parts_are_constant() {
        return Ok(Term(node));
    }
    let value = match node.compose(None)? {
        Bound::Value(bytes) => Node::Constant(bytes.into_owned().into()),
        Bound::Null | Bound::Unset => Node::Null,
    };
    Ok(Term(value))
}
