//! WHERE and IF.

use super::{NESTING_MAX, Parser, Read, is_column};
use crate::ast::{Comparison, Conditional, InValues, Relation, RelationKind, Term};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `relation (AND relation)*`.
    pub(super) fn where_clause(&mut self) -> Read<Vec<Relation>> {
        let mut relations = vec![self.relation_or_expression()?];
        while self.eat_keyword(Keyword::And) {
            relations.push(self.relation_or_expression()?);
        }
        Ok(relations)
    }

    fn relation_or_expression(&mut self) -> Read<Relation> {
        let start = self.span();
        if !self.eat("expr(") {
            return self.relation();
        }
        let index = self.index_name()?;
        self.expect(",")?;
        let value = *self.term()?;
        self.expect(")")?;
        let kind = RelationKind::CustomExpression { index, value };
        Ok(Relation { kind, span: self.span_from(start) })
    }

    /// An index without keyspace, as `expr` takes it.
    fn index_name(&mut self) -> Read<crate::ast::QualifiedName> {
        self.no_marker("index")?;
        let name = self.name("an index")?;
        Ok(crate::ast::QualifiedName { keyspace: None, name })
    }

    /// A relation, in as many parentheses as one likes.
    fn relation(&mut self) -> Read<Relation> {
        let mut open = 0;
        while self.is("(") && !self.column_ends_tuple_item(1) {
            open += 1;
            if open > NESTING_MAX {
                return Err(self.too_deep());
            }
            self.advance();
        }
        let relation = self.bare_relation()?;
        for _ in 0..open {
            self.expect(")")?;
        }
        Ok(relation)
    }

    /// Whether a name here is followed as in a tuple of columns.
    fn column_ends_tuple_item(&self, ahead: usize) -> bool {
        is_column(self.peek(ahead))
            && (self.peek_is(ahead + 1, ",") || self.peek_is(ahead + 1, ")"))
    }

    fn bare_relation(&mut self) -> Read<Relation> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Symbol("(") => self.tuple_relation()?,
            TokenKind::Keyword(Keyword::Token) => {
                self.advance();
                let columns = self.columns_in_parentheses()?;
                let operator = self.comparison()?;
                RelationKind::Token { columns, operator, value: *self.term()? }
            }
            _ => self.column_relation()?,
        };
        Ok(Relation { kind, span: self.span_from(start) })
    }

    fn column_relation(&mut self) -> Read<RelationKind> {
        let column = self.column()?;
        Ok(match self.kind() {
            TokenKind::Keyword(Keyword::In) => {
                self.advance();
                RelationKind::In { column, values: self.in_values()? }
            }
            TokenKind::Keyword(Keyword::Contains) => {
                let key = self.contains_key();
                RelationKind::Contains { column, key, value: *self.term()? }
            }
            TokenKind::Keyword(Keyword::Like) => {
                self.advance();
                RelationKind::Like { column, value: *self.term()? }
            }
            TokenKind::Keyword(Keyword::Is) => {
                self.advance();
                self.expect_keywords(&[Keyword::Not, Keyword::Null])?;
                RelationKind::IsNotNull(column)
            }
            TokenKind::Symbol("[") => {
                self.advance();
                let key = *self.term()?;
                self.expect("]")?;
                let operator = self.comparison()?;
                RelationKind::Element { column, key, operator, value: *self.term()? }
            }
            _ => {
                let operator = self.comparison()?;
                RelationKind::Column { column, operator, value: *self.term()? }
            }
        })
    }

    /// CONTAINS and whether KEY belongs to it: `key.f()` is a call.
    fn contains_key(&mut self) -> bool {
        self.advance();
        let key = self.is_keyword(Keyword::Key) && !self.peek_is(1, ".");
        if key {
            self.advance();
        }
        key
    }

    fn comparison(&mut self) -> Read<Comparison> {
        let operator = match self.kind() {
            TokenKind::Symbol("=") => Comparison::Eq,
            TokenKind::Symbol("<") => Comparison::Lt,
            TokenKind::Symbol("<=") => Comparison::Lte,
            TokenKind::Symbol(">") => Comparison::Gt,
            TokenKind::Symbol(">=") => Comparison::Gte,
            TokenKind::Symbol("!=") => Comparison::Neq,
            _ => return Err(self.unexpected("an operator")),
        };
        self.advance();
        Ok(operator)
    }

    fn in_values(&mut self) -> Read<InValues> {
        if self.is_marker() {
            return self.marker().map(InValues::Marker);
        }
        self.expect("(")?;
        let values = if self.is(")") { Vec::new() } else { self.terms()? };
        self.expect(")")?;
        Ok(InValues::List(values))
    }

    fn is_marker(&self) -> bool {
        self.is("?") || self.is(":")
    }

    fn tuple_relation(&mut self) -> Read<RelationKind> {
        let columns = self.columns_in_parentheses()?;
        if !self.eat_keyword(Keyword::In) {
            let operator = self.comparison()?;
            let value = if self.is_marker() { self.marker()? } else { self.tuple_literal()? };
            return Ok(RelationKind::Tuple { columns, operator, value });
        }
        if self.is_marker() {
            return Ok(RelationKind::TupleIn { columns, values: InValues::Marker(self.marker()?) });
        }
        self.expect("(")?;
        // The first value decides for all: literals or markers.
        let values = if self.is(")") {
            Vec::new()
        } else if self.is_marker() {
            self.separated(
                |p| if p.is_marker() { p.marker() } else { Err(p.unexpected("a marker")) },
            )?
        } else {
            self.separated(Self::tuple_literal)?
        };
        self.expect(")")?;
        Ok(RelationKind::TupleIn { columns, values: InValues::List(values) })
    }

    fn tuple_literal(&mut self) -> Read<Term> {
        let outside = self.enter()?;
        let term = self.tuple_term()?;
        self.leave(outside)?;
        Ok(*term)
    }

    /// What follows IF in UPDATE and DELETE.
    pub(super) fn conditions(&mut self) -> Read<Conditional> {
        if self.is_keyword(Keyword::Exists) && !self.condition_goes_on() {
            self.advance();
            return Ok(Conditional::Exists);
        }
        let mut conditions = vec![self.condition()?];
        while self.eat_keyword(Keyword::And) {
            conditions.push(self.condition()?);
        }
        Ok(Conditional::Conditions(conditions))
    }

    /// Whether EXISTS here is a column with a condition.
    fn condition_goes_on(&self) -> bool {
        match self.peek(1) {
            TokenKind::Symbol(symbol) => {
                matches!(symbol, "=" | "<" | "<=" | ">" | ">=" | "!=" | "[" | ".")
            }
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::In | Keyword::Contains),
            _ => false,
        }
    }

    fn condition(&mut self) -> Read<String> {
        let start = self.span();
        self.column()?;
        if self.is_keyword(Keyword::Contains) {
            self.contains_key();
            self.term()?;
            return Ok(self.text_at(self.span_from(start)));
        }
        if self.eat("[") {
            self.term()?;
            self.expect("]")?;
        } else if self.eat(".") {
            self.name("a field")?;
        }
        if self.eat_keyword(Keyword::In) {
            self.in_values()?;
        } else {
            self.comparison()?;
            self.term()?;
        }
        Ok(self.text_at(self.span_from(start)))
    }
}
