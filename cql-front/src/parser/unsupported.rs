//! Statements of Cassandra's grammar that are recognised and refused by name.
//!
//! Each is read to its end, so that a broken one is a syntax error as in Cassandra and a sound one says what is not
//! supported.

use super::{Parser, Read, is_name};
use crate::ast::{Feature, Span, Statement};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    fn refuse(&self, feature: Feature, start: Span) -> Statement {
        Statement::Unsupported { feature, span: self.span_from(start) }
    }

    pub(super) fn create_unsupported(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        let feature = match self.kind() {
            TokenKind::Keyword(Keyword::Custom) => {
                self.advance();
                self.create_index()?
            }
            TokenKind::Keyword(Keyword::Index) => self.create_index()?,
            TokenKind::Keyword(Keyword::Materialized) => self.create_view()?,
            TokenKind::Keyword(Keyword::Trigger) => {
                self.advance();
                self.if_not_exists()?;
                self.name("a trigger")?;
                self.expect_keyword(Keyword::On)?;
                self.table_name()?;
                self.expect_keyword(Keyword::Using)?;
                self.expect_kind(TokenKind::String, "a class in quotes")?;
                Feature::Triggers
            }
            TokenKind::Keyword(Keyword::User) => {
                self.advance();
                self.if_not_exists()?;
                self.user_options()?
            }
            TokenKind::Keyword(Keyword::Role) => {
                self.advance();
                self.if_not_exists()?;
                self.role_options()?
            }
            TokenKind::Keyword(Keyword::Function) => self.create_function()?,
            TokenKind::Keyword(Keyword::Aggregate) => self.create_aggregate()?,
            TokenKind::Keyword(Keyword::Or) => {
                self.advance();
                self.expect_keyword(Keyword::Replace)?;
                if self.is_keyword(Keyword::Aggregate) {
                    self.create_aggregate()?
                } else {
                    self.create_function()?
                }
            }
            _ => return Err(self.unexpected("what is created")),
        };
        Ok(self.refuse(feature, start))
    }

    pub(super) fn alter_unsupported(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        let feature = match self.kind() {
            TokenKind::Keyword(Keyword::Materialized) => {
                self.advance();
                self.expect_keyword(Keyword::View)?;
                self.if_exists()?;
                self.table_name()?;
                self.expect_keyword(Keyword::With)?;
                self.properties()?;
                Feature::MaterializedViews
            }
            TokenKind::Keyword(Keyword::User) => {
                self.advance();
                self.if_exists()?;
                self.user_options()?
            }
            TokenKind::Keyword(Keyword::Role) => {
                self.advance();
                self.if_exists()?;
                self.role_options()?
            }
            _ => return Err(self.unexpected("what is altered")),
        };
        Ok(self.refuse(feature, start))
    }

    pub(super) fn drop_unsupported(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        let TokenKind::Keyword(keyword) = self.kind() else {
            return Err(self.unexpected("what is dropped"));
        };
        let feature = match keyword {
            Keyword::Index => Feature::SecondaryIndexes,
            Keyword::Materialized => Feature::MaterializedViews,
            Keyword::Trigger => Feature::Triggers,
            Keyword::Function => Feature::UserDefinedFunctions,
            Keyword::Aggregate => Feature::UserDefinedAggregates,
            Keyword::User | Keyword::Role | Keyword::Identity => Feature::Roles,
            _ => return Err(self.unexpected("what is dropped")),
        };
        self.advance();
        if keyword == Keyword::Materialized {
            self.expect_keyword(Keyword::View)?;
        }
        self.if_exists()?;
        match keyword {
            Keyword::Index => self.qualified("index").map(|_| ())?,
            Keyword::Materialized => self.table_name().map(|_| ())?,
            Keyword::Trigger => {
                self.name("a trigger")?;
                self.expect_keyword(Keyword::On)?;
                self.table_name()?;
            }
            Keyword::Function | Keyword::Aggregate => {
                self.function_name("a function")?;
                if self.is("(") {
                    self.argument_types()?;
                }
            }
            Keyword::Role => self.role_name()?,
            Keyword::User => {
                self.plain_role("user names and USER is deprecated, please use ROLE")?
            }
            _ => self.plain_role("identity")?,
        }
        Ok(self.refuse(feature, start))
    }

    pub(super) fn add_identity(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        self.expect_keyword(Keyword::Identity)?;
        self.if_not_exists()?;
        self.plain_role("identity")?;
        self.expect_keywords(&[Keyword::To, Keyword::Role])?;
        self.plain_role("identity")?;
        Ok(self.refuse(Feature::Roles, start))
    }

    fn create_index(&mut self) -> Read<Feature> {
        self.expect_keyword(Keyword::Index)?;
        self.if_not_exists()?;
        if !self.is_keyword(Keyword::On) {
            self.no_marker("index")?;
            self.name("an index")?;
        }
        self.expect_keyword(Keyword::On)?;
        self.table_name()?;
        self.expect("(")?;
        if !self.is(")") {
            self.separated(Self::index_target)?;
        }
        self.expect(")")?;
        if self.eat_keyword(Keyword::Using) {
            self.expect_kind(TokenKind::String, "a class in quotes")?;
        }
        if self.eat_keyword(Keyword::With) {
            self.properties()?;
        }
        Ok(Feature::SecondaryIndexes)
    }

    fn index_target(&mut self) -> Read<()> {
        let part = matches!(
            self.kind(),
            TokenKind::Keyword(Keyword::Values | Keyword::Keys | Keyword::Entries | Keyword::Full)
        );
        let reserved = matches!(self.kind(), TokenKind::Keyword(Keyword::Entries | Keyword::Full));
        if part && (reserved || self.peek_is(1, "(")) {
            self.advance();
            self.expect("(")?;
            self.column()?;
            return self.expect(")");
        }
        self.column().map(|_| ())
    }

    fn create_view(&mut self) -> Read<Feature> {
        self.advance();
        self.expect_keyword(Keyword::View)?;
        self.if_not_exists()?;
        self.table_name()?;
        self.expect_keywords(&[Keyword::As, Keyword::Select])?;
        self.select_items()?;
        self.expect_keyword(Keyword::From)?;
        self.table_name()?;
        if self.eat_keyword(Keyword::Where) {
            self.where_clause()?;
        }
        self.primary_key()?;
        if self.eat_keyword(Keyword::With) {
            let mut properties = Vec::new();
            loop {
                if self.is_keyword(Keyword::Compact) && !self.peek_is(1, "=") {
                    let span = self.span();
                    self.expect_keywords(&[Keyword::Compact, Keyword::Storage])?;
                    let text = "COMPACT STORAGE tables are not allowed starting with version 4.0";
                    return Err(self.check(text, span));
                }
                if self.is_keyword(Keyword::Clustering) && !self.peek_is(1, "=") {
                    self.clustering_order()?;
                } else {
                    self.property(&mut properties)?;
                }
                if !self.eat_keyword(Keyword::And) {
                    break;
                }
            }
        }
        Ok(Feature::MaterializedViews)
    }

    fn argument_types(&mut self) -> Read<()> {
        self.expect("(")?;
        if !self.is(")") {
            self.separated(Self::type_name)?;
        }
        self.expect(")")
    }

    fn create_function(&mut self) -> Read<Feature> {
        self.expect_keyword(Keyword::Function)?;
        self.if_not_exists()?;
        self.function_name("a function")?;
        self.expect("(")?;
        if !self.is(")") {
            self.separated(|p| {
                p.name("an argument")?;
                p.type_name()
            })?;
        }
        self.expect(")")?;
        if self.eat_keyword(Keyword::Returns) {
            self.expect_keyword(Keyword::Null)?;
        } else {
            self.expect_keyword(Keyword::Called)?;
        }
        self.expect_keywords(&[Keyword::On, Keyword::Null, Keyword::Input, Keyword::Returns])?;
        self.type_name()?;
        self.expect_keyword(Keyword::Language)?;
        self.expect_kind(TokenKind::Identifier, "a language")?;
        self.expect_keyword(Keyword::As)?;
        self.expect_kind(TokenKind::String, "a body in quotes")?;
        Ok(Feature::UserDefinedFunctions)
    }

    fn create_aggregate(&mut self) -> Read<Feature> {
        self.expect_keyword(Keyword::Aggregate)?;
        self.if_not_exists()?;
        self.function_name("a function")?;
        self.argument_types()?;
        self.expect_keyword(Keyword::Sfunc)?;
        self.own_function()?;
        self.expect_keyword(Keyword::Stype)?;
        self.type_name()?;
        if self.eat_keyword(Keyword::Finalfunc) {
            self.own_function()?;
        }
        if self.eat_keyword(Keyword::Initcond) {
            self.term()?;
        }
        Ok(Feature::UserDefinedAggregates)
    }

    /// A function without keyspace.
    fn own_function(&mut self) -> Read<()> {
        if super::is_function_name(self.kind()) {
            self.advance();
            Ok(())
        } else {
            Err(self.unexpected("a function"))
        }
    }

    /// The name of a role.
    fn role_name(&mut self) -> Read<()> {
        self.no_marker("role")?;
        if self.kind() == TokenKind::String {
            self.advance();
            return Ok(());
        }
        self.name("a role").map(|_| ())
    }

    /// The name of a user or identity, which is not written in double quotes.
    fn plain_role(&mut self, what: &str) -> Read<()> {
        match self.kind() {
            TokenKind::Identifier | TokenKind::String => {
                self.advance();
                Ok(())
            }
            TokenKind::QuotedName => {
                let text = format!("Quoted strings are are not supported for {what}");
                Err(self.check(text, self.span()))
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn user_options(&mut self) -> Read<Feature> {
        self.plain_role("user names and USER is deprecated, please use ROLE")?;
        if self.eat_keyword(Keyword::With) {
            self.eat_keyword(Keyword::Hashed);
            self.expect_keyword(Keyword::Password)?;
            self.expect_kind(TokenKind::String, "a password in quotes")?;
        }
        if !self.eat_keyword(Keyword::Superuser) {
            self.eat_keyword(Keyword::Nosuperuser);
        }
        Ok(Feature::Roles)
    }

    fn role_options(&mut self) -> Read<Feature> {
        let start = self.span();
        self.role_name()?;
        let mut passwords = [false; 2];
        if self.eat_keyword(Keyword::With) {
            loop {
                self.role_option(&mut passwords)?;
                if !self.eat_keyword(Keyword::And) {
                    break;
                }
            }
        }
        if passwords == [true; 2] {
            let text = "Options 'password' and 'hashed password' are mutually exclusive";
            return Err(self.check(text, self.span_from(start)));
        }
        Ok(Feature::Roles)
    }

    fn role_option(&mut self, passwords: &mut [bool; 2]) -> Read<()> {
        let TokenKind::Keyword(keyword) = self.kind() else {
            return Err(self.unexpected("an option of a role"));
        };
        self.advance();
        match keyword {
            Keyword::Password | Keyword::Hashed => {
                passwords[usize::from(keyword == Keyword::Hashed)] = true;
                if keyword == Keyword::Hashed {
                    self.expect_keyword(Keyword::Password)?;
                }
                self.expect("=")?;
                self.expect_kind(TokenKind::String, "a password in quotes").map(|_| ())
            }
            Keyword::Options => {
                self.expect("=")?;
                self.property_map().map(|_| ())
            }
            Keyword::Superuser | Keyword::Login => {
                self.expect("=")?;
                self.expect_kind(TokenKind::Boolean, "true or false").map(|_| ())
            }
            Keyword::Access => {
                let from = self.eat_keyword(Keyword::From);
                if !from {
                    self.expect_keyword(Keyword::To)?;
                }
                let list = if from { Keyword::Cidrs } else { Keyword::Datacenters };
                if self.eat_keyword(Keyword::All) {
                    return self.expect_keyword(list);
                }
                self.expect_keyword(list)?;
                self.expect("{")?;
                self.separated(|p| p.expect_kind(TokenKind::String, "a name in quotes"))?;
                self.expect("}")
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("an option of a role"))
            }
        }
    }

    /// GRANT and REVOKE of permissions on a resource or of a role.
    pub(super) fn grant_or_revoke(&mut self) -> Read<Statement> {
        let start = self.span();
        let last = if self.is_keyword(Keyword::Grant) { Keyword::To } else { Keyword::From };
        self.advance();
        let feature = if is_permission(self.kind()) && !self.peek_keyword(1, last) {
            self.permissions()?;
            self.expect_keyword(Keyword::On)?;
            self.resource()?;
            Feature::Permissions
        } else {
            self.role_name()?;
            Feature::Roles
        };
        self.expect_keyword(last)?;
        self.role_name()?;
        Ok(self.refuse(feature, start))
    }

    fn permissions(&mut self) -> Read<()> {
        if self.eat_keyword(Keyword::All) {
            self.eat_keyword(Keyword::Permissions);
            return Ok(());
        }
        self.separated(|p| {
            if !is_permission(p.kind()) || p.is_keyword(Keyword::All) {
                return Err(p.unexpected("a permission"));
            }
            p.advance();
            p.eat_keyword(Keyword::Permission);
            Ok(())
        })
        .map(|_| ())
    }

    fn resource(&mut self) -> Read<()> {
        let TokenKind::Keyword(keyword) = self.kind() else {
            return self.table_name().map(|_| ());
        };
        let called =
            matches!(keyword, Keyword::Role | Keyword::Function | Keyword::Mbean | Keyword::Mbeans)
                && !self.peek_is(1, ".")
                && !matches!(self.peek(1), TokenKind::Keyword(Keyword::To | Keyword::From));
        match keyword {
            Keyword::All
                if !matches!(self.peek(1), TokenKind::Keyword(Keyword::To | Keyword::From)) =>
            {
                self.advance();
                self.all_of()
            }
            Keyword::Keyspace => {
                self.advance();
                self.keyspace_name().map(|_| ())
            }
            Keyword::Table => {
                self.advance();
                self.table_name().map(|_| ())
            }
            Keyword::Role if called => {
                self.advance();
                self.role_name()
            }
            Keyword::Function if called => {
                self.advance();
                self.function_name("a function")?;
                self.argument_types()
            }
            Keyword::Mbean | Keyword::Mbeans if called => {
                self.advance();
                self.expect_kind(TokenKind::String, "a name in quotes").map(|_| ())
            }
            _ => self.table_name().map(|_| ()),
        }
    }

    /// What follows ALL in a resource.
    fn all_of(&mut self) -> Read<()> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Keyspaces | Keyword::Mbeans | Keyword::Roles) => {
                self.advance();
                Ok(())
            }
            TokenKind::Keyword(kind @ (Keyword::Functions | Keyword::Tables)) => {
                self.advance();
                if kind == Keyword::Tables || self.is_keyword(Keyword::In) {
                    self.expect_keywords(&[Keyword::In, Keyword::Keyspace])?;
                    self.keyspace_name()?;
                }
                Ok(())
            }
            _ => Err(self.unexpected("a kind of resource")),
        }
    }

    pub(super) fn list_statement(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        let feature = match self.kind() {
            TokenKind::Keyword(Keyword::Users) => {
                self.advance();
                return Ok(self.refuse(Feature::Roles, start));
            }
            TokenKind::Keyword(Keyword::Roles) => {
                self.advance();
                Feature::Roles
            }
            kind if is_permission(kind) => {
                self.permissions()?;
                if self.eat_keyword(Keyword::On) {
                    self.resource()?;
                }
                Feature::Permissions
            }
            _ => return Err(self.unexpected("what is listed")),
        };
        if self.eat_keyword(Keyword::Of) {
            self.role_name()?;
        }
        self.eat_keyword(Keyword::Norecursive);
        Ok(self.refuse(feature, start))
    }

    pub(super) fn describe(&mut self) -> Read<Statement> {
        let start = self.span();
        self.advance();
        self.described()?;
        if self.eat_keyword(Keyword::With) {
            self.expect_keyword(Keyword::Internals)?;
        }
        Ok(self.refuse(Feature::Describe, start))
    }

    fn described(&mut self) -> Read<()> {
        let TokenKind::Keyword(keyword) = self.kind() else { return self.described_by_name() };
        match keyword {
            Keyword::Full => {
                self.advance();
                self.expect_keyword(Keyword::Schema)
            }
            Keyword::Only if self.peek_keyword(1, Keyword::Keyspace) => {
                self.advance();
                self.described()
            }
            Keyword::Keyspace => {
                self.advance();
                if is_name(self.kind()) || self.is("?") {
                    self.keyspace_name()?;
                }
                Ok(())
            }
            Keyword::Schema
            | Keyword::Cluster
            | Keyword::Keyspaces
            | Keyword::Tables
            | Keyword::Types
            | Keyword::Functions
            | Keyword::Aggregates => {
                self.advance();
                Ok(())
            }
            Keyword::Table | Keyword::Index => {
                self.advance();
                self.table_name().map(|_| ())
            }
            Keyword::Materialized => {
                self.advance();
                self.expect_keyword(Keyword::View)?;
                self.table_name().map(|_| ())
            }
            Keyword::Type if self.names_follow() => {
                self.advance();
                self.user_type_name().map(|_| ())
            }
            Keyword::Function | Keyword::Aggregate if self.names_follow() => {
                self.advance();
                self.function_name("a function").map(|_| ())
            }
            _ => self.described_by_name(),
        }
    }

    /// Whether the word here says of what kind the name behind it is.
    fn names_follow(&self) -> bool {
        is_name(self.peek(1)) || super::is_function_name(self.peek(1))
    }

    fn described_by_name(&mut self) -> Read<()> {
        if is_name(self.kind()) && self.peek_is(1, ".") {
            self.skip(2);
        }
        self.name("a name").map(|_| ())
    }
}

fn is_permission(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Keyword(
            Keyword::All
                | Keyword::Create
                | Keyword::Alter
                | Keyword::Drop
                | Keyword::Select
                | Keyword::Modify
                | Keyword::Authorize
                | Keyword::Describe
                | Keyword::Execute
                | Keyword::Unmask
                | Keyword::SelectMasked
        )
    )
}
