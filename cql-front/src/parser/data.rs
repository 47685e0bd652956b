//! INSERT, UPDATE, DELETE and BATCH.

use super::{Parser, Read, is_name};
use crate::ast::{
    Assignment, AssignmentKind, Attributes, Batch, BatchKind, Conditional, Delete, DeletePart,
    DeleteTarget, Insert, InsertSource, LiteralKind, Name, Span, Statement, Term, TermKind, Update,
};
use crate::lexer::{Keyword, TokenKind};
use std::collections::BTreeMap;

impl Parser<'_> {
    /// INSERT, UPDATE or DELETE.
    pub(super) fn modification(&mut self) -> Read<Statement> {
        if self.is_keyword(Keyword::Insert) {
            return self.insert().map(|s| Statement::Insert(Box::new(s)));
        }
        if self.is_keyword(Keyword::Update) {
            return self.update().map(|s| Statement::Update(Box::new(s)));
        }
        self.delete().map(|s| Statement::Delete(Box::new(s)))
    }

    fn insert(&mut self) -> Read<Insert> {
        self.advance();
        self.expect_keyword(Keyword::Into)?;
        let table = self.table_name()?;
        let source = if self.eat_keyword(Keyword::Json) {
            self.json_source()?
        } else {
            let columns = self.columns_in_parentheses()?;
            self.expect_keyword(Keyword::Values)?;
            self.expect("(")?;
            let values = self.terms()?;
            self.expect(")")?;
            InsertSource::Values { columns, values }
        };
        let condition = self.if_not_exists()?.then_some(Conditional::NotExists);
        let attributes = self.using()?;
        Ok(Insert { table, source, condition, attributes })
    }

    fn json_source(&mut self) -> Read<InsertSource> {
        let value = match self.kind() {
            TokenKind::String => self.constant()?,
            TokenKind::Symbol("?" | ":") => Some(self.marker()?),
            _ => None,
        };
        let value = value.ok_or_else(|| self.unexpected("a string or a marker"))?;
        let mut default_unset = false;
        if self.eat_keyword(Keyword::Default) {
            default_unset = self.eat_keyword(Keyword::Unset);
            if !default_unset {
                self.expect_keyword(Keyword::Null)?;
            }
        }
        Ok(InsertSource::Json { value, default_unset })
    }

    /// USING, if it is there; of an attribute given twice the last one counts.
    fn using(&mut self) -> Read<Attributes> {
        let mut attributes = Attributes::default();
        if !self.eat_keyword(Keyword::Using) {
            return Ok(attributes);
        }
        loop {
            if self.eat_keyword(Keyword::Timestamp) {
                attributes.timestamp = Some(self.int_value()?);
            } else if self.eat_keyword(Keyword::Ttl) {
                attributes.ttl = Some(self.int_value()?);
            } else {
                return Err(self.unexpected("TIMESTAMP or TTL"));
            }
            if !self.eat_keyword(Keyword::And) {
                return Ok(attributes);
            }
        }
    }

    fn update(&mut self) -> Read<Update> {
        self.advance();
        let table = self.table_name()?;
        let attributes = self.using()?;
        self.expect_keyword(Keyword::Set)?;
        let mut assignments = Vec::new();
        let mut places = BTreeMap::new();
        loop {
            self.assignment(&mut assignments, &mut places)?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect_keyword(Keyword::Where)?;
        let relations = self.where_clause()?;
        let condition = self.if_clause()?;
        Ok(Update { table, attributes, assignments, relations, condition })
    }

    fn if_clause(&mut self) -> Read<Option<Conditional>> {
        if self.eat_keyword(Keyword::If) { self.conditions().map(Some) } else { Ok(None) }
    }

    fn assignment(
        &mut self,
        assignments: &mut Vec<Assignment>,
        places: &mut BTreeMap<String, Vec<usize>>,
    ) -> Read<()> {
        let start = self.span();
        let column = self.column()?;
        let operation = match self.kind() {
            TokenKind::Symbol("=") => {
                self.advance();
                self.new_value(&column)?
            }
            TokenKind::Symbol("+=") => {
                self.advance();
                AssignmentKind::Add(*self.term()?)
            }
            TokenKind::Symbol("-=") => {
                self.advance();
                AssignmentKind::Subtract(*self.term()?)
            }
            TokenKind::Symbol("[") => {
                self.advance();
                let key = *self.term()?;
                self.expect("]")?;
                self.expect("=")?;
                AssignmentKind::SetElement { key, value: *self.term()? }
            }
            TokenKind::Symbol(".") => {
                self.advance();
                let field = self.name("a field")?;
                self.expect("=")?;
                AssignmentKind::SetField { field, value: *self.term()? }
            }
            _ => return Err(self.unexpected("an assignment")),
        };
        let assignment = Assignment { column, operation, span: self.span_from(start) };
        let known = places.entry(assignment.column.text.clone()).or_default();
        if known.iter().any(|n| !compatible(&assignments[*n].operation, &assignment.operation)) {
            self.term_ends()?;
            let text =
                format!("Multiple incompatible setting of column {}", assignment.column.text);
            return Err(self.check(text, assignment.span));
        }
        // Beside its like an element or sum says nothing new of the next one; fields differ from each other.
        if known.is_empty() || matches!(assignment.operation, AssignmentKind::SetField { .. }) {
            known.push(assignments.len());
        }
        assignments.push(assignment);
        Ok(())
    }

    /// What follows `column =`.
    fn new_value(&mut self, column: &Name) -> Read<AssignmentKind> {
        let start = self.span();
        let named = is_name(self.kind()) || self.kind() == TokenKind::EmptyQuotedName;
        let call = named && (self.peek_is(1, "(") || self.peek_is(1, "."));
        if !named || call {
            let value = *self.term()?;
            if !self.eat("+") {
                return Ok(AssignmentKind::Set(value));
            }
            let other = self.column()?;
            self.same_column(column, &other, "<value> + X", start)?;
            return Ok(AssignmentKind::Prepend(value));
        }
        match self.peek(1) {
            TokenKind::Symbol(sign @ ("+" | "-")) => {
                let other = self.take_name();
                self.advance();
                let value = *self.term()?;
                self.same_column(column, &other, &format!("X {sign}<value>"), start)?;
                let add = sign == "+";
                Ok(if add { AssignmentKind::Add(value) } else { AssignmentKind::Subtract(value) })
            }
            TokenKind::Integer => {
                let other = self.take_name();
                let span = self.span();
                let text = self.text_at(span);
                self.advance();
                let sign = if text.starts_with('-') { '-' } else { '+' };
                self.same_column(column, &other, &format!("X {sign} <value>"), start)?;
                let kind = TermKind::Literal { kind: LiteralKind::Integer, text };
                Ok(AssignmentKind::Add(Term { kind, span }))
            }
            _ => Err(self.unexpected_at(1, "an operator")),
        }
    }

    fn same_column(&self, column: &Name, other: &Name, form: &str, start: Span) -> Read<()> {
        if column.text == other.text {
            return Ok(());
        }
        self.term_ends()?;
        let text = format!("Only expressions of the form X = {form} are supported.");
        Err(self.check(text, self.span_from(start)))
    }

    /// Cassandra looks at the token behind a term before it checks the assignment.
    fn term_ends(&self) -> Read<()> {
        use Keyword as K;
        let ends = match self.kind() {
            TokenKind::End => true,
            TokenKind::Symbol(symbol) => !matches!(symbol, "(" | "[" | "{" | "?" | "." | "="),
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                K::And
                    | K::Allow
                    | K::Limit
                    | K::Order
                    | K::Group
                    | K::Per
                    | K::If
                    | K::As
                    | K::Where
                    | K::Using
                    | K::Apply
                    | K::Asc
                    | K::Desc
                    | K::Primary
                    | K::Insert
                    | K::Update
                    | K::Delete
            ),
            _ => false,
        };
        if ends { Ok(()) } else { Err(self.unexpected("WHERE")) }
    }

    fn delete(&mut self) -> Read<Delete> {
        self.advance();
        let names = is_name(self.kind()) || self.kind() == TokenKind::EmptyQuotedName;
        let targets = if names { self.separated(Self::delete_target)? } else { Vec::new() };
        self.expect_keyword(Keyword::From)?;
        let table = self.table_name()?;
        let mut timestamp = None;
        if self.eat_keyword(Keyword::Using) {
            self.expect_keyword(Keyword::Timestamp)?;
            timestamp = Some(self.int_value()?);
        }
        self.expect_keyword(Keyword::Where)?;
        let relations = self.where_clause()?;
        let condition = self.if_clause()?;
        Ok(Delete { targets, table, timestamp, relations, condition })
    }

    fn delete_target(&mut self) -> Read<DeleteTarget> {
        let start = self.span();
        let column = self.column()?;
        let part = if self.eat("[") {
            let key = *self.term()?;
            self.expect("]")?;
            DeletePart::Element(key)
        } else if self.eat(".") {
            DeletePart::Field(self.name("a field")?)
        } else {
            DeletePart::Whole
        };
        Ok(DeleteTarget { column, part, span: self.span_from(start) })
    }

    pub(super) fn batch(&mut self) -> Read<Batch> {
        self.advance();
        let kind = if self.eat_keyword(Keyword::Unlogged) {
            BatchKind::Unlogged
        } else if self.eat_keyword(Keyword::Counter) {
            BatchKind::Counter
        } else {
            BatchKind::Logged
        };
        self.expect_keyword(Keyword::Batch)?;
        let attributes = self.using()?;
        let mut statements = Vec::new();
        while matches!(
            self.kind(),
            TokenKind::Keyword(Keyword::Insert | Keyword::Update | Keyword::Delete)
        ) {
            statements.push(self.modification()?);
            self.eat(";");
        }
        self.expect_keywords(&[Keyword::Apply, Keyword::Batch])?;
        Ok(Batch { kind, attributes, statements })
    }
}

/// Whether two assignments of one column may stand in one SET: elements beside elements, fields beside other fields,
/// but nothing beside a new value of the whole column.
fn compatible(first: &AssignmentKind, second: &AssignmentKind) -> bool {
    use AssignmentKind::{Set, SetField};
    match (first, second) {
        (Set(_), _) | (_, Set(_)) => false,
        (SetField { field: a, .. }, SetField { field: b, .. }) => a.text != b.text,
        _ => true,
    }
}
