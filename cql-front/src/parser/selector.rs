//! Selectors: expressions with columns.
//!
//! A selector is tried with its elements and fields first (`a[1].b`). If what follows them cannot follow a selector,
//! Cassandra's parser takes `a` alone and blames the bracket: `SELECT a[1] b` is wrong at `[`.

#![expect(clippy::boxed_local, reason = "a box keeps the frames of the recursive rules small")]

use super::{Parser, Read, is_function_name, is_name};
use crate::ast::{
    Arithmetic, CellTime, LiteralKind, Name, QualifiedName, Selector, SelectorKind, Span, Term,
    TermKind, TypeName, TypeNameKind,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `selector, ...`, at least one.
    pub(super) fn selectors(&mut self) -> Read<Vec<Selector>> {
        let mut items = Vec::new();
        loop {
            let item = self.selector()?;
            push(&mut items, item);
            if !self.eat(",") {
                return Ok(items);
            }
        }
    }

    pub(super) fn selector(&mut self) -> Read<Box<Selector>> {
        let outside = std::mem::take(&mut self.height);
        let mut left = self.selector_product()?;
        while let Some(operator) = self.selector_sum_operator() {
            self.advance();
            let right = self.selector_product()?;
            left = operation(operator, left, right);
            self.grow()?;
        }
        self.height = self.height.max(outside);
        Ok(left)
    }

    fn selector_sum_operator(&self) -> Option<Arithmetic> {
        match self.kind() {
            TokenKind::Symbol("+") => Some(Arithmetic::Add),
            TokenKind::Symbol("-") => Some(Arithmetic::Subtract),
            _ => None,
        }
    }

    fn selector_product(&mut self) -> Read<Box<Selector>> {
        let mut left = self.selector_group()?;
        while let Some(operator) = self.multiplicative_operator() {
            self.advance();
            let right = self.selector_group()?;
            left = operation(operator, left, right);
            self.grow()?;
        }
        Ok(left)
    }

    fn selector_group(&mut self) -> Read<Box<Selector>> {
        if self.is("-") {
            let outside = self.enter()?;
            let start = self.span();
            self.advance();
            let inner = self.selector_group()?;
            self.leave(outside)?;
            return Ok(negate(start, inner));
        }
        let selector = self.simple_selector()?;
        if !self.is(".") && !self.is("[") {
            return Ok(selector);
        }
        let mark = self.mark();
        let parts = self.parts_at_an_end();
        let parts = self.or_back(mark, parts)?.unwrap_or_default();
        self.with_parts(selector, parts)
    }

    /// Elements and fields, and behind them what can follow a selector.
    fn parts_at_an_end(&mut self) -> Read<Vec<Part>> {
        let parts = self.parts()?;
        if self.selector_can_end(0) { Ok(parts) } else { Err(self.unexpected("FROM")) }
    }

    /// `.field`, `[key]`, `[from..to]`, as many as there are.
    fn parts(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            let kind = if self.eat(".") {
                PartKind::Field(self.name("a field")?)
            } else if self.eat("[") {
                let kind = self.subscript()?;
                self.expect("]")?;
                kind
            } else {
                return Ok(parts);
            };
            parts.push(Part { kind, end: self.span_from(Span::default()).end });
        }
    }

    fn subscript(&mut self) -> Read<PartKind> {
        if self.eat("..") {
            return Ok(PartKind::Slice(None, Some(*self.term()?)));
        }
        let index = *self.term()?;
        if !self.eat("..") {
            return Ok(PartKind::Element(index));
        }
        let to = if self.is("]") { None } else { Some(*self.term()?) };
        Ok(PartKind::Slice(Some(index), to))
    }

    /// The selector with what was read behind it.
    fn with_parts(&mut self, mut selector: Box<Selector>, parts: Vec<Part>) -> Read<Box<Selector>> {
        for part in parts {
            self.grow()?;
            selector = with_part(selector, part);
        }
        Ok(selector)
    }

    /// Whether the token `ahead` can follow a selector somewhere in the grammar.
    fn selector_can_end(&self, ahead: usize) -> bool {
        match self.peek(ahead) {
            TokenKind::End => true,
            TokenKind::Symbol(symbol) => {
                matches!(symbol, "+" | "-" | "*" | "/" | "%" | "," | ")" | "]" | "}" | ":" | ";")
            }
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                Keyword::From
                    | Keyword::As
                    | Keyword::Order
                    | Keyword::Per
                    | Keyword::Limit
                    | Keyword::Allow
            ),
            _ => false,
        }
    }

    /// A selector without elements, fields and operators.
    fn simple_selector(&mut self) -> Read<Box<Selector>> {
        if let Some(term) = self.scalar()? {
            return Ok(selector_of_term(term));
        }
        if self.column_stands_here()? {
            return Ok(column(self.take_name()));
        }
        let outside = self.enter()?;
        let selector = match self.kind() {
            TokenKind::Symbol("(") => self.parenthesised_selector()?,
            TokenKind::Symbol("[") => self.selector_list()?,
            TokenKind::Symbol("{") => self.selector_braces()?,
            _ => self.selector_call()?,
        };
        self.leave(outside)?;
        Ok(selector)
    }

    /// Whether a column stands here; if not, the beginning of something else does.
    fn column_stands_here(&self) -> Read<bool> {
        let kind = self.kind();
        if self.is("(") || self.is("[") || self.is("{") {
            return Ok(false);
        }
        if !is_name(kind) && !is_function_name(kind) {
            return Err(self.unexpected("a selector"));
        }
        if self.peek_is(1, "(") {
            return Ok(false);
        }
        if self.is_keyword(Keyword::Token) {
            return Err(self.unexpected_at(1, "("));
        }
        if !self.peek_is(1, ".") {
            let goes_on = self.peek_is(1, "[") || self.selector_can_end(1);
            return if goes_on { Ok(true) } else { Err(self.unexpected_at(1, "FROM")) };
        }
        let field = self.peek(2);
        if !is_name(field) && !is_function_name(field) {
            return Err(self.unexpected_at(2, "a field"));
        }
        if self.peek_is(3, "(") && is_function_name(field) {
            return Ok(false);
        }
        let goes_on = self.peek_is(3, ".") || self.peek_is(3, "[") || self.selector_can_end(3);
        if goes_on { Ok(true) } else { Err(self.unexpected_at(3, "FROM")) }
    }

    fn selector_call(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        let called = self.peek_is(1, "(");
        match self.kind() {
            TokenKind::Keyword(Keyword::Writetime) if called => {
                return self.cell_time(CellTime::WriteTime);
            }
            TokenKind::Keyword(Keyword::Maxwritetime) if called => {
                return self.cell_time(CellTime::MaxWriteTime);
            }
            TokenKind::Keyword(Keyword::Ttl) if called => return self.cell_time(CellTime::Ttl),
            TokenKind::Keyword(Keyword::Cast) if called => return self.selector_cast(),
            TokenKind::Keyword(Keyword::Count) if called && self.peek_is(2, "*") => {
                self.skip(3);
                self.expect(")")?;
                return Ok(count_rows(self.span_from(start)));
            }
            _ => {}
        }
        let name = self.function_name("a selector")?;
        self.expect("(")?;
        let arguments = if self.is(")") { Vec::new() } else { self.selectors()? };
        self.expect(")")?;
        Ok(call(name, arguments, self.span_from(start)))
    }

    fn cell_time(&mut self, kind: CellTime) -> Read<Box<Selector>> {
        let start = self.span();
        self.skip(2);
        if !is_name(self.kind()) {
            return Err(self.unexpected("a column"));
        }
        let of = column(self.take_name());
        let parts = self.parts()?;
        let of = self.with_parts(of, parts)?;
        self.expect(")")?;
        let kind = SelectorKind::CellTime { kind, of };
        Ok(Box::new(Selector { kind, span: self.span_from(start) }))
    }

    fn selector_cast(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        self.skip(2);
        let selector = self.selector()?;
        self.expect_keyword(Keyword::As)?;
        let (native, span) = self.native_type()?;
        self.expect(")")?;
        Ok(cast(selector, native, span, self.span_from(start)))
    }

    /// A type hint if it reads as one, else a tuple or plain parentheses.
    fn parenthesised_selector(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        let mark = self.mark();
        let hint = self.selector_hint();
        if let Some(hint) = self.or_back(mark, hint)? {
            return Ok(hint);
        }
        self.advance();
        let items = self.selectors()?;
        self.expect(")")?;
        Ok(tuple(items, self.span_from(start)))
    }

    fn selector_hint(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        self.advance();
        let ty = self.type_name()?;
        self.expect(")")?;
        let selector = self.simple_selector()?;
        Ok(hint(ty, selector, self.span_from(start)))
    }

    fn selector_list(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        self.advance();
        let items = if self.is("]") { Vec::new() } else { self.selectors()? };
        self.expect("]")?;
        Ok(list(items, self.span_from(start)))
    }

    fn selector_braces(&mut self) -> Read<Box<Selector>> {
        let start = self.span();
        self.advance();
        let mut items = Vec::new();
        if !self.is("}") {
            let first = self.selector()?;
            push(&mut items, first);
        }
        let is_map = !items.is_empty() && self.is(":");
        if is_map {
            self.advance();
            let value = self.selector()?;
            push(&mut items, value);
        }
        while !items.is_empty() && self.eat(",") {
            let item = self.selector()?;
            push(&mut items, item);
            if is_map {
                self.expect(":")?;
                let value = self.selector()?;
                push(&mut items, value);
            }
        }
        self.expect("}")?;
        Ok(braces(items, is_map, self.span_from(start)))
    }
}

/// What stands behind a selector.
struct Part {
    kind: PartKind,
    /// One past its last byte.
    end: usize,
}

enum PartKind {
    Field(Name),
    Element(Term),
    Slice(Option<Term>, Option<Term>),
}

fn with_part(of: Box<Selector>, part: Part) -> Box<Selector> {
    let span = Span { start: of.span.start, end: part.end };
    let kind = match part.kind {
        PartKind::Field(field) => SelectorKind::Field { of, field },
        PartKind::Element(index) => SelectorKind::Element { of, index },
        PartKind::Slice(from, to) => SelectorKind::Slice { of, from, to },
    };
    Box::new(Selector { kind, span })
}

// Nodes are built outside of the recursive rules: a temporary of each kind would make their frames large.

fn push(items: &mut Vec<Selector>, item: Box<Selector>) {
    items.push(*item);
}

fn operation(operator: Arithmetic, left: Box<Selector>, right: Box<Selector>) -> Box<Selector> {
    let span = left.span.to(right.span);
    Box::new(Selector { kind: SelectorKind::Operation { operator, left, right }, span })
}

fn negate(start: Span, inner: Box<Selector>) -> Box<Selector> {
    let span = start.to(inner.span);
    Box::new(Selector { kind: SelectorKind::Negate(inner), span })
}

fn selector_of_term(term: Box<Term>) -> Box<Selector> {
    let span = term.span;
    Box::new(Selector { kind: SelectorKind::Term(*term), span })
}

fn column(name: Name) -> Box<Selector> {
    let span = name.span;
    Box::new(Selector { kind: SelectorKind::Column(name), span })
}

fn count_rows(span: Span) -> Box<Selector> {
    Box::new(Selector { kind: SelectorKind::CountRows, span })
}

fn call(name: QualifiedName, arguments: Vec<Selector>, span: Span) -> Box<Selector> {
    if name.keyspace.is_none() && name.name.text == "count" && is_one(&arguments) {
        return count_rows(span);
    }
    Box::new(Selector { kind: SelectorKind::Function { name, arguments }, span })
}

fn cast(selector: Box<Selector>, native: String, at: Span, span: Span) -> Box<Selector> {
    let ty = TypeName { kind: TypeNameKind::Native(native), span: at };
    Box::new(Selector { kind: SelectorKind::Cast { selector, ty }, span })
}

fn tuple(items: Vec<Selector>, span: Span) -> Box<Selector> {
    Box::new(Selector { kind: SelectorKind::Tuple(items), span })
}

fn hint(ty: Box<TypeName>, selector: Box<Selector>, span: Span) -> Box<Selector> {
    Box::new(Selector { kind: SelectorKind::TypeHint { ty: *ty, selector }, span })
}

fn list(items: Vec<Selector>, span: Span) -> Box<Selector> {
    Box::new(Selector { kind: SelectorKind::List(items), span })
}

/// A set, or a map of keys and values in turn.
fn braces(items: Vec<Selector>, is_map: bool, span: Span) -> Box<Selector> {
    if !is_map {
        return Box::new(Selector { kind: SelectorKind::Set(items), span });
    }
    let mut entries = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push((key, value));
    }
    Box::new(Selector { kind: SelectorKind::Map { entries }, span })
}

/// The argument of `count(1)`.
fn is_one(arguments: &[Selector]) -> bool {
    matches!(arguments, [Selector { kind: SelectorKind::Term(term), .. }]
        if matches!(&term.kind, TermKind::Literal { text, kind: LiteralKind::Integer } if text == "1"))
}
