//! Terms: what stands in VALUES, WHERE, SET.

#![expect(clippy::boxed_local, reason = "a box keeps the frames of the recursive rules small")]

use super::{Parser, Read, is_column, is_function_name, is_name};
use crate::ast::{
    Arithmetic, LiteralKind, Marker, Name, QualifiedName, Span, Term, TermKind, TypeName,
};
use crate::lexer::{Keyword, TokenKind};
use std::collections::BTreeMap;

const FLOAT_OVERFLOW: &str = "NumberFormatException Character I is neither a decimal digit number, decimal point, \
                              nor \"e\" notation exponential mark.";

impl Parser<'_> {
    /// `term, ...`, at least one.
    pub(super) fn terms(&mut self) -> Read<Vec<Term>> {
        let mut items = Vec::new();
        loop {
            let item = self.term()?;
            push(&mut items, item);
            if !self.eat(",") {
                return Ok(items);
            }
        }
    }

    pub(super) fn term(&mut self) -> Read<Box<Term>> {
        let outside = std::mem::take(&mut self.height);
        let mut left = self.term_product()?;
        while let Some(operator) = self.additive_operator()? {
            self.advance();
            let right = self.term_product()?;
            left = operation(operator, left, right);
            self.grow()?;
        }
        self.height = self.height.max(outside);
        Ok(left)
    }

    fn term_product(&mut self) -> Read<Box<Term>> {
        let mut left = self.signed_term()?;
        while let Some(operator) = self.multiplicative_operator() {
            self.advance();
            let right = self.signed_term()?;
            left = operation(operator, left, right);
            self.grow()?;
        }
        Ok(left)
    }

    /// `+` or `-` that goes on with a sum. `1 + c` where a bare column follows ends the term: it may be the end of
    /// `SET c = 1 + c`, and Cassandra's parser looks no farther than the token behind the column to tell.
    fn additive_operator(&self) -> Read<Option<Arithmetic>> {
        if self.is("-") {
            return Ok(Some(Arithmetic::Subtract));
        }
        if !self.is("+") {
            return Ok(None);
        }
        let next = self.peek(1);
        let names_function = is_function_name(next) || is_name(next);
        if !is_column(next) {
            return Ok(Some(Arithmetic::Add));
        }
        if names_function && (self.peek_is(2, "(") || self.peek_is(2, ".")) {
            return Ok(Some(Arithmetic::Add));
        }
        let ends = self.peek_is(2, ",") || self.peek_keyword(2, Keyword::Where);
        if ends || next == TokenKind::EmptyQuotedName {
            return Ok(None);
        }
        Err(self.unexpected_at(2, "a call"))
    }

    pub(super) fn multiplicative_operator(&self) -> Option<Arithmetic> {
        match self.kind() {
            TokenKind::Symbol("*") => Some(Arithmetic::Multiply),
            TokenKind::Symbol("/") => Some(Arithmetic::Divide),
            TokenKind::Symbol("%") => Some(Arithmetic::Modulo),
            _ => None,
        }
    }

    fn signed_term(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        if !self.eat("-") {
            return self.simple_term();
        }
        let term = self.simple_term()?;
        self.grow()?;
        let span = start.to(term.span);
        Ok(boxed(TermKind::Negate(term), span))
    }

    pub(super) fn simple_term(&mut self) -> Read<Box<Term>> {
        if let Some(term) = self.scalar()? {
            return Ok(term);
        }
        let outside = self.enter()?;
        let term = match self.kind() {
            TokenKind::Symbol("(") if self.type_hint_begins() => self.hinted_term()?,
            TokenKind::Symbol("(") => self.tuple_term()?,
            TokenKind::Symbol("[") => self.list_term()?,
            TokenKind::Symbol("{") => self.braces()?,
            TokenKind::Keyword(Keyword::Cast) if self.peek_is(1, "(") => self.cast_term()?,
            _ => self.call()?,
        };
        self.leave(outside)?;
        Ok(term)
    }

    /// A constant, `null` or a marker, if one stands here.
    pub(super) fn scalar(&mut self) -> Read<Option<Box<Term>>> {
        if let Some(literal) = self.constant()? {
            return Ok(Some(Box::new(literal)));
        }
        match self.kind() {
            TokenKind::Keyword(Keyword::Null) => {
                let span = self.advance().span();
                Ok(Some(boxed(TermKind::Null, span)))
            }
            TokenKind::Symbol("?") if self.peek_is(1, ".") => {
                self.no_marker("keyspace")?;
                Ok(None)
            }
            TokenKind::Symbol("?" | ":") => Ok(Some(Box::new(self.marker()?))),
            _ => Ok(None),
        }
    }

    pub(super) fn marker(&mut self) -> Read<Term> {
        let start = self.span();
        let name = if self.eat("?") {
            None
        } else {
            self.expect(":")?;
            Some(self.name("the name of a marker")?)
        };
        let index = self.markers.len();
        self.markers.push(name.clone());
        Ok(Term { kind: TermKind::Marker(Marker { index, name }), span: self.span_from(start) })
    }

    /// A scalar literal, if one stands here.
    pub(super) fn constant(&mut self) -> Read<Option<Term>> {
        let span = self.span();
        let written = |parser: &Self| parser.slice(span).to_string();
        let (kind, text) = match self.kind() {
            TokenKind::String => (LiteralKind::String, self.string_text(self.token(0))),
            TokenKind::Integer => (LiteralKind::Integer, written(self)),
            TokenKind::Float => {
                let text = written(self);
                if text.parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Err(self.failed_parsing(FLOAT_OVERFLOW, span));
                }
                (LiteralKind::Float, text)
            }
            TokenKind::Boolean => (LiteralKind::Boolean, written(self)),
            TokenKind::Duration => (LiteralKind::Duration, written(self)),
            TokenKind::Uuid => (LiteralKind::Uuid, written(self)),
            TokenKind::Hex => (LiteralKind::Hex, written(self)),
            TokenKind::Nan => (LiteralKind::Float, "NaN".to_string()),
            TokenKind::Infinity => (LiteralKind::Float, "Infinity".to_string()),
            TokenKind::NegativeInfinity => (LiteralKind::Float, "-Infinity".to_string()),
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(Term { kind: TermKind::Literal { kind, text }, span }))
    }

    /// An integer literal or a marker: LIMIT, TTL, TIMESTAMP.
    pub(super) fn int_value(&mut self) -> Read<Term> {
        match self.kind() {
            TokenKind::Symbol("?" | ":") => self.marker(),
            TokenKind::Integer => {
                let literal = self.constant()?;
                literal.ok_or_else(|| self.unexpected("an integer"))
            }
            _ => Err(self.unexpected("an integer or a marker")),
        }
    }

    fn hinted_term(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        self.advance();
        let ty = self.type_name()?;
        self.expect(")")?;
        let term = self.simple_term()?;
        Ok(hint(ty, term, self.span_from(start)))
    }

    /// `(a, b)`.
    pub(super) fn tuple_term(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        self.expect("(")?;
        let items = self.terms()?;
        self.expect(")")?;
        Ok(boxed(TermKind::Tuple(items), self.span_from(start)))
    }

    /// Whether the parenthesis here opens `(type) value`, told by the tokens behind it.
    fn type_hint_begins(&self) -> bool {
        match self.peek(1) {
            TokenKind::String => self.peek_is(2, ")") && self.simple_term_begins(3),
            TokenKind::Keyword(Keyword::Set) => true,
            TokenKind::Keyword(
                Keyword::List | Keyword::Map | Keyword::Tuple | Keyword::Frozen | Keyword::Vector,
            ) if self.peek_is(2, "<") => true,
            kind if is_name(kind) => {
                let last = if self.peek_is(2, ".") && is_name(self.peek(3)) { 4 } else { 2 };
                self.peek_is(last, ")")
            }
            _ => false,
        }
    }

    fn simple_term_begins(&self, ahead: usize) -> bool {
        match self.peek(ahead) {
            TokenKind::Symbol(symbol) => matches!(symbol, "(" | "[" | "{" | "?" | ":"),
            TokenKind::Keyword(Keyword::Null) => true,
            TokenKind::End | TokenKind::Error => false,
            kind if is_name(kind) || is_function_name(kind) => {
                self.peek_is(ahead + 1, "(") || self.peek_is(ahead + 1, ".")
            }
            TokenKind::Keyword(_) => false,
            _ => true,
        }
    }

    fn list_term(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        self.advance();
        let items = if self.is("]") { Vec::new() } else { self.terms()? };
        self.expect("]")?;
        Ok(boxed(TermKind::List(items), self.span_from(start)))
    }

    /// A set, a map or a value of a user-defined type.
    fn braces(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        self.advance();
        if is_name(self.kind()) && self.peek_is(1, ":") {
            return self.fields(start);
        }
        let mut items = Vec::new();
        if !self.is("}") {
            let first = self.term()?;
            push(&mut items, first);
        }
        let is_map = !items.is_empty() && self.is(":");
        if is_map {
            self.advance();
            let value = self.term()?;
            push(&mut items, value);
        }
        while !items.is_empty() && self.eat(",") {
            let item = self.term()?;
            push(&mut items, item);
            if is_map {
                self.expect(":")?;
                let value = self.term()?;
                push(&mut items, value);
            }
        }
        self.expect("}")?;
        Ok(set_or_map(items, is_map, self.span_from(start)))
    }

    /// Fields of a user-defined type.
    fn fields(&mut self, start: Span) -> Read<Box<Term>> {
        let mut fields: Vec<(Name, Term)> = Vec::new();
        let mut places = BTreeMap::new();
        loop {
            let name = self.name("a field")?;
            self.expect(":")?;
            let value = self.term()?;
            push_field(&mut fields, &mut places, name, value);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(boxed(TermKind::Udt(fields), self.span_from(start)))
    }

    /// `CAST(a AS type)`: a call of the function `cast_as_...` of that type.
    fn cast_term(&mut self) -> Read<Box<Term>> {
        let start = self.advance().span();
        self.expect("(")?;
        let term = self.simple_term()?;
        self.expect_keyword(Keyword::As)?;
        let (native, _) = self.native_type()?;
        self.expect(")")?;
        Ok(cast(term, &native, start, self.span_from(start)))
    }

    fn call(&mut self) -> Read<Box<Term>> {
        let start = self.span();
        let name = self.function_name("a value")?;
        self.expect("(")?;
        let arguments = if self.is(")") { Vec::new() } else { self.terms()? };
        self.expect(")")?;
        Ok(boxed(TermKind::Function { name, arguments }, self.span_from(start)))
    }

    /// `[keyspace.]function`, followed by a parenthesis.
    pub(super) fn function_name(&mut self, wanted: &str) -> Read<QualifiedName> {
        let mut keyspace = None;
        if self.is("?") && self.peek_is(1, ".") {
            self.no_marker("keyspace")?;
        }
        if is_name(self.kind()) && self.peek_is(1, ".") {
            keyspace = Some(self.take_name());
            self.advance();
        }
        if is_function_name(self.kind()) {
            let name = self.take_name();
            return Ok(QualifiedName { keyspace, name });
        }
        // A word such as `ttl` could still have been a keyspace.
        let ahead = usize::from(keyspace.is_none() && is_name(self.kind()));
        Err(self.unexpected_at(ahead, wanted))
    }

    pub(super) fn text_at(&self, span: Span) -> String {
        self.slice(span).to_string()
    }
}

// Nodes are built outside of the recursive rules: a temporary of each kind would make their frames large.

fn boxed(kind: TermKind, span: Span) -> Box<Term> {
    Box::new(Term { kind, span })
}

fn push(items: &mut Vec<Term>, item: Box<Term>) {
    items.push(*item);
}

/// Of a field given twice the last value counts.
fn push_field(
    fields: &mut Vec<(Name, Term)>,
    places: &mut BTreeMap<String, usize>,
    name: Name,
    value: Box<Term>,
) {
    match places.get(&name.text) {
        Some(known) => fields[*known].1 = *value,
        None => {
            places.insert(name.text.clone(), fields.len());
            fields.push((name, *value));
        }
    }
}

fn operation(operator: Arithmetic, left: Box<Term>, right: Box<Term>) -> Box<Term> {
    let span = left.span.to(right.span);
    boxed(TermKind::Operation { operator, left, right }, span)
}

fn hint(ty: Box<TypeName>, term: Box<Term>, span: Span) -> Box<Term> {
    boxed(TermKind::TypeHint { ty: *ty, term }, span)
}

/// A set, or a map of keys and values in turn.
fn set_or_map(items: Vec<Term>, is_map: bool, span: Span) -> Box<Term> {
    if !is_map {
        return boxed(TermKind::Set(items), span);
    }
    let mut entries = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push((key, value));
    }
    boxed(TermKind::Map(entries), span)
}

fn cast(term: Box<Term>, native: &str, at: Span, span: Span) -> Box<Term> {
    let name = Name { text: format!("cast_as_{native}"), quoted: false, span: at };
    let name = QualifiedName { keyspace: None, name };
    boxed(TermKind::Function { name, arguments: vec![*term] }, span)
}
