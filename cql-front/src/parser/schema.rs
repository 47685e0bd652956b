//! Keyspaces, tables and types.

use super::{Parser, Read, is_name};
use crate::ast::{
    AlterKeyspace, AlterTable, AlterTableKind, AlterType, AlterTypeKind, ColumnDefinition,
    CreateKeyspace, CreateTable, CreateType, Name, PrimaryKey, Property, PropertyValue, Statement,
    Term, TermKind,
};
use crate::lexer::{Keyword, TokenKind};
use std::collections::BTreeSet;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Read<Statement> {
        match self.peek(1) {
            TokenKind::Keyword(Keyword::Keyspace) => {
                self.skip(2);
                self.create_keyspace().map(Statement::CreateKeyspace)
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.skip(2);
                self.create_table().map(|s| Statement::CreateTable(Box::new(s)))
            }
            TokenKind::Keyword(Keyword::Type) => {
                self.skip(2);
                self.create_type().map(Statement::CreateType)
            }
            _ => self.create_unsupported(),
        }
    }

    pub(super) fn alter(&mut self) -> Read<Statement> {
        match self.peek(1) {
            TokenKind::Keyword(Keyword::Keyspace) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                let name = self.keyspace_name()?;
                self.expect_keyword(Keyword::With)?;
                let properties = self.properties()?;
                Ok(Statement::AlterKeyspace(AlterKeyspace { name, if_exists, properties }))
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                let name = self.table_name()?;
                let change = self.table_change()?;
                Ok(Statement::AlterTable(Box::new(AlterTable { name, if_exists, change })))
            }
            TokenKind::Keyword(Keyword::Type) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                let name = self.user_type_name()?;
                let change = self.type_change()?;
                Ok(Statement::AlterType(AlterType { name, if_exists, change }))
            }
            _ => self.alter_unsupported(),
        }
    }

    pub(super) fn drop_statement(&mut self) -> Read<Statement> {
        match self.peek(1) {
            TokenKind::Keyword(Keyword::Keyspace) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                Ok(Statement::DropKeyspace { name: self.keyspace_name()?, if_exists })
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                Ok(Statement::DropTable { name: self.table_name()?, if_exists })
            }
            TokenKind::Keyword(Keyword::Type) => {
                self.skip(2);
                let if_exists = self.if_exists()?;
                Ok(Statement::DropType { name: self.user_type_name()?, if_exists })
            }
            _ => self.drop_unsupported(),
        }
    }

    pub(super) fn skip(&mut self, tokens: usize) {
        for _ in 0..tokens {
            self.advance();
        }
    }

    fn create_keyspace(&mut self) -> Read<CreateKeyspace> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.keyspace_name()?;
        self.expect_keyword(Keyword::With)?;
        let properties = self.properties()?;
        Ok(CreateKeyspace { name, if_not_exists, properties })
    }

    fn create_table(&mut self) -> Read<CreateTable> {
        let if_not_exists = self.if_not_exists()?;
        let mut table = CreateTable {
            name: self.table_name()?,
            if_not_exists,
            columns: Vec::new(),
            primary_keys: Vec::new(),
            clustering_order: Vec::new(),
            compact_storage: false,
            properties: Vec::new(),
        };
        self.expect("(")?;
        self.table_item(&mut table)?;
        while self.eat(",") {
            if is_name(self.kind()) || self.is_keyword(Keyword::Primary) {
                self.table_item(&mut table)?;
            }
        }
        self.expect(")")?;
        if self.eat_keyword(Keyword::With) {
            self.table_property(&mut table)?;
            while self.eat_keyword(Keyword::And) {
                self.table_property(&mut table)?;
            }
        }
        Ok(table)
    }

    fn table_item(&mut self, table: &mut CreateTable) -> Read<()> {
        if self.is_keyword(Keyword::Primary) {
            table.primary_keys.push(self.primary_key()?);
            return Ok(());
        }
        let column = self.column_definition()?;
        if self.eat_keyword(Keyword::Primary) {
            self.expect_keyword(Keyword::Key)?;
            let key = PrimaryKey { partition: vec![column.name.clone()], clustering: Vec::new() };
            table.primary_keys.push(key);
        }
        table.columns.push(column);
        Ok(())
    }

    /// `PRIMARY KEY (a, b)` or `PRIMARY KEY ((a, b), c)`.
    pub(super) fn primary_key(&mut self) -> Read<PrimaryKey> {
        self.expect_keywords(&[Keyword::Primary, Keyword::Key])?;
        self.expect("(")?;
        let partition = if self.eat("(") {
            let columns = self.separated(|p| p.name("a column"))?;
            self.expect(")")?;
            columns
        } else {
            vec![self.name("a column")?]
        };
        let mut clustering = Vec::new();
        while self.eat(",") {
            clustering.push(self.name("a column")?);
        }
        self.expect(")")?;
        Ok(PrimaryKey { partition, clustering })
    }

    /// `name type [STATIC] [MASKED WITH ...]`.
    fn column_definition(&mut self) -> Read<ColumnDefinition> {
        let name = self.name("a column")?;
        let ty = *self.type_name()?;
        let is_static = self.eat_keyword(Keyword::Static);
        let masked = self.is_keyword(Keyword::Masked);
        if masked {
            self.mask()?;
        }
        Ok(ColumnDefinition { name, ty, is_static, masked })
    }

    /// `MASKED WITH DEFAULT` or `MASKED WITH f(a, b)`. What cannot follow MASKED WITH makes Cassandra blame the
    /// token behind MASKED only if it is no WITH.
    fn mask(&mut self) -> Read<()> {
        self.expect_keywords(&[Keyword::Masked, Keyword::With])?;
        if self.is_keyword(Keyword::Default) && !self.peek_is(1, "(") && !self.peek_is(1, ".") {
            self.advance();
            return Ok(());
        }
        self.function_name("a masking function")?;
        self.expect("(")?;
        if !self.is(")") {
            self.terms()?;
        }
        self.expect(")")
    }

    fn table_property(&mut self, table: &mut CreateTable) -> Read<()> {
        if self.is_keyword(Keyword::Compact) && !self.peek_is(1, "=") {
            self.advance();
            self.expect_keyword(Keyword::Storage)?;
            table.compact_storage = true;
            return Ok(());
        }
        if self.is_keyword(Keyword::Clustering) && !self.peek_is(1, "=") {
            let order = self.clustering_order()?;
            table.clustering_order.extend(order);
            return Ok(());
        }
        self.property(&mut table.properties)
    }

    /// `CLUSTERING ORDER BY (a ASC, b DESC)`: columns and whether they descend.
    pub(super) fn clustering_order(&mut self) -> Read<Vec<(Name, bool)>> {
        self.expect_keywords(&[Keyword::Clustering, Keyword::Order, Keyword::By])?;
        self.expect("(")?;
        let order = self.separated(|p| {
            let column = p.name("a column")?;
            let descending = p.eat_keyword(Keyword::Desc);
            if !descending {
                p.expect_keyword(Keyword::Asc)?;
            }
            Ok((column, descending))
        })?;
        self.expect(")")?;
        Ok(order)
    }

    /// `key = value (AND key = value)*`.
    pub(super) fn properties(&mut self) -> Read<Vec<Property>> {
        let mut properties = Vec::new();
        self.property(&mut properties)?;
        while self.eat_keyword(Keyword::And) {
            self.property(&mut properties)?;
        }
        Ok(properties)
    }

    pub(super) fn property(&mut self, properties: &mut Vec<Property>) -> Read<()> {
        let name = self.name("a property")?;
        self.expect("=")?;
        let value = if self.is("{") {
            PropertyValue::Map(self.property_map()?)
        } else if let Some(literal) = self.constant()? {
            PropertyValue::Simple(raw_text(&literal))
        } else {
            PropertyValue::Simple(self.name_keyword()?)
        };
        if properties.iter().any(|known| known.name.text == name.text) {
            let text = format!("Multiple definitions for property '{}'", name.text);
            return Err(self.check(text, name.span));
        }
        properties.push(Property { name, value });
        Ok(())
    }

    /// A keyword as the value of a property: any that may be a name.
    fn name_keyword(&mut self) -> Read<String> {
        if matches!(self.kind(), TokenKind::Keyword(_)) && is_name(self.kind()) {
            let span = self.span();
            self.advance();
            return Ok(self.text_at(span));
        }
        Err(self.unexpected("a value"))
    }

    /// `{key: value, ...}` of literals, each key once.
    pub(super) fn property_map(&mut self) -> Read<Vec<(String, String)>> {
        let start = self.span();
        self.expect("{")?;
        let mut entries = Vec::new();
        if !self.is("}") {
            entries = self.separated(|p| {
                let key = *p.term()?;
                p.expect(":")?;
                Ok((key, *p.term()?))
            })?;
        }
        self.expect("}")?;
        let span = self.span_from(start);
        let mut map: Vec<(String, String)> = Vec::new();
        let mut names = BTreeSet::new();
        for (key, value) in &entries {
            if let Some(text) = property_fault(key, value) {
                return Err(self.check(text, span));
            }
            let name = raw_text(key);
            if !names.insert(name.clone()) {
                return Err(self.check(format!("Multiple definition for property {name}"), span));
            }
            map.push((name, raw_text(value)));
        }
        Ok(map)
    }

    fn create_type(&mut self) -> Read<CreateType> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.user_type_name()?;
        self.expect("(")?;
        let mut fields = vec![self.field_definition()?];
        while self.eat(",") {
            if is_name(self.kind()) {
                fields.push(self.field_definition()?);
            }
        }
        self.expect(")")?;
        Ok(CreateType { name, if_not_exists, fields })
    }

    fn field_definition(&mut self) -> Read<(Name, crate::ast::TypeName)> {
        Ok((self.name("a field")?, *self.type_name()?))
    }

    fn table_change(&mut self) -> Read<AlterTableKind> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Alter) => self.alter_column(),
            TokenKind::Keyword(Keyword::Add) => {
                self.advance();
                let if_not_exists = self.if_not_exists()?;
                let columns = if self.eat("(") {
                    let columns = self.separated(Self::column_definition)?;
                    self.expect(")")?;
                    columns
                } else {
                    vec![self.column_definition()?]
                };
                Ok(AlterTableKind::Add { if_not_exists, columns })
            }
            TokenKind::Keyword(Keyword::Drop) => self.drop_columns(),
            TokenKind::Keyword(Keyword::Rename) => {
                self.advance();
                let if_exists = self.if_exists()?;
                Ok(AlterTableKind::Rename { if_exists, renames: self.renames()? })
            }
            TokenKind::Keyword(Keyword::With) => {
                self.advance();
                self.properties().map(AlterTableKind::With)
            }
            _ => Err(self.unexpected("ALTER, ADD, DROP, RENAME or WITH")),
        }
    }

    fn alter_column(&mut self) -> Read<AlterTableKind> {
        self.advance();
        let if_exists = self.if_exists()?;
        let column = self.column()?;
        if !if_exists && self.eat_keyword(Keyword::Type) {
            return Ok(AlterTableKind::AlterType { column, ty: *self.type_name()? });
        }
        if self.eat_keyword(Keyword::Drop) {
            self.expect_keyword(Keyword::Masked)?;
        } else {
            self.mask()?;
        }
        Ok(AlterTableKind::Mask)
    }

    fn drop_columns(&mut self) -> Read<AlterTableKind> {
        self.advance();
        if self.is_keyword(Keyword::Compact) && self.peek_keyword(1, Keyword::Storage) {
            self.skip(2);
            return Ok(AlterTableKind::DropCompactStorage);
        }
        let if_exists = self.if_exists()?;
        let columns = if self.eat("(") {
            let columns = self.separated(|p| p.name("a column"))?;
            self.expect(")")?;
            columns
        } else {
            vec![self.name("a column")?]
        };
        let mut timestamp = None;
        if self.eat_keyword(Keyword::Using) {
            self.expect_keyword(Keyword::Timestamp)?;
            timestamp = Some(self.long_literal()?);
        }
        Ok(AlterTableKind::Drop { if_exists, columns, timestamp })
    }

    /// An integer that Java's `Long.parseLong` takes.
    fn long_literal(&mut self) -> Read<Term> {
        let token = self.expect_kind(TokenKind::Integer, "an integer")?;
        let span = token.span();
        let text = self.text_at(span);
        if text.parse::<i64>().is_err() {
            let reason = format!("NumberFormatException For input string: \"{text}\"");
            return Err(self.failed_parsing(&reason, span));
        }
        let kind = TermKind::Literal { kind: crate::ast::LiteralKind::Integer, text };
        Ok(Term { kind, span })
    }

    fn renames(&mut self) -> Read<Vec<(Name, Name)>> {
        let mut renames = Vec::new();
        loop {
            let from = self.name("a name")?;
            self.expect_keyword(Keyword::To)?;
            renames.push((from, self.name("a name")?));
            if !self.eat_keyword(Keyword::And) {
                return Ok(renames);
            }
        }
    }

    fn type_change(&mut self) -> Read<AlterTypeKind> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Alter) => {
                self.advance();
                let field = self.name("a field")?;
                self.expect_keyword(Keyword::Type)?;
                Ok(AlterTypeKind::AlterField { field, ty: *self.type_name()? })
            }
            TokenKind::Keyword(Keyword::Add) => {
                self.advance();
                let if_not_exists = self.if_not_exists()?;
                let (field, ty) = self.field_definition()?;
                Ok(AlterTypeKind::Add { if_not_exists, field, ty })
            }
            TokenKind::Keyword(Keyword::Rename) => {
                self.advance();
                let if_exists = self.if_exists()?;
                Ok(AlterTypeKind::Rename { if_exists, renames: self.renames()? })
            }
            _ => Err(self.unexpected("ALTER, ADD or RENAME")),
        }
    }
}

/// What is wrong with an entry of a property map: only literals may stand there.
fn property_fault(key: &Term, value: &Term) -> Option<String> {
    let hint = |term: &Term| match term.kind {
        TermKind::Marker(_) => " (bind variables are not supported in DDL queries)",
        _ => "",
    };
    if !matches!(key.kind, TermKind::Literal { .. }) {
        return Some(format!("Invalid property name: {}{}", spelled(key), hint(key)));
    }
    if matches!(value.kind, TermKind::Literal { .. }) {
        return None;
    }
    let (name, hint) = (spelled(key), hint(value));
    Some(format!("Invalid property value: {} for property: {name}{hint}", spelled(value)))
}

/// A term as Cassandra prints it in the messages of property maps: it knows no names of markers there.
fn spelled(term: &Term) -> String {
    match &term.kind {
        TermKind::Marker(_) => "?".to_string(),
        _ => term.to_string(),
    }
}

/// Text of a literal: the inside of a string, else as written.
fn raw_text(literal: &Term) -> String {
    match &literal.kind {
        TermKind::Literal { text, .. } => text.clone(),
        _ => literal.to_string(),
    }
}
