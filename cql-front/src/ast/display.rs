//! Trees as CQL.
//!
//! Cassandra's messages print relations and terms as CQL, so the spelling is Cassandra's: `NULL` in capitals, names in
//! quotes only where they need them, operators between blanks. What is printed parses to the same tree, spans and needless
//! quotes apart; a tree that no text gives (a product over a bare sum) does not. Kinds of literals are kept, those of
//! property values are not: they print as strings, which mean the same.

use super::*;
use crate::lexer::{self, Class, Keyword, TokenKind};
use std::fmt::{Display, Formatter, Result, Write};

/// `a, b, c`.
fn list<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    mut item: impl FnMut(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    for (n, one) in items.iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        item(f, one)?;
    }
    Ok(())
}

fn displayed<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    list(f, items, |f, item| item.fmt(f))
}

/// ` AND `-joined.
fn conjunction<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    for (n, one) in items.iter().enumerate() {
        f.write_str(if n > 0 { " AND " } else { "" })?;
        one.fmt(f)?;
    }
    Ok(())
}

fn string(f: &mut Formatter<'_>, text: &str) -> Result {
    write!(f, "'{}'", text.replace('\'', "''"))
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> Result {
    write!(f, "\"{}\"", text.replace('"', "\"\""))
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // Without quotes these two could be taken for the keywords of SELECT.
        let keyword = self.quoted && matches!(self.text.as_str(), "json" | "distinct");
        if lexer::is_plain_name(&self.text) && !keyword {
            f.write_str(&self.text)
        } else {
            quoted(f, &self.text)
        }
    }
}

impl Display for QualifiedName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        self.name.fmt(f)
    }
}

/// The name of a function: some words may not stand bare before a parenthesis.
fn function(f: &mut Formatter<'_>, name: &QualifiedName) -> Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    let bare = match lexer::plain_kind(&name.name.text) {
        Some(TokenKind::Identifier) => name.name.text != "expr",
        Some(TokenKind::Keyword(Keyword::Token | Keyword::Count)) => true,
        Some(TokenKind::Keyword(keyword)) => {
            matches!(keyword.class(), Class::Basic | Class::Native)
        }
        _ => false,
    };
    if bare { f.write_str(&name.name.text) } else { quoted(f, &name.name.text) }
}

/// The name of a user-defined type: words of native types need quotes.
fn user_type(f: &mut Formatter<'_>, name: &QualifiedName) -> Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    let bare = match lexer::plain_kind(&name.name.text) {
        Some(TokenKind::Identifier) => {
            !crate::parser::RESERVED_TYPES.contains(&name.name.text.as_str())
        }
        Some(TokenKind::Keyword(Keyword::Key)) => true,
        Some(TokenKind::Keyword(keyword)) => keyword.class() == Class::Basic,
        _ => false,
    };
    if bare { f.write_str(&name.name.text) } else { quoted(f, &name.name.text) }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for TermKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TermKind::Literal { kind: LiteralKind::String, text } => string(f, text),
            TermKind::Literal { text, .. } => f.write_str(text),
            TermKind::Null => f.write_str("NULL"),
            TermKind::Marker(marker) => marker.fmt(f),
            TermKind::Function { name, arguments } => {
                if let Some((argument, ty)) = as_cast(name, arguments) {
                    return write!(f, "cast({argument} as {ty})");
                }
                function(f, name)?;
                f.write_char('(')?;
                displayed(f, arguments)?;
                f.write_char(')')
            }
            TermKind::List(items) => {
                f.write_char('[')?;
                displayed(f, items)?;
                f.write_char(']')
            }
            TermKind::Set(items) => {
                f.write_char('{')?;
                displayed(f, items)?;
                f.write_char('}')
            }
            TermKind::Map(entries) => {
                f.write_char('{')?;
                list(f, entries, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_char('}')
            }
            TermKind::Udt(fields) => {
                f.write_char('{')?;
                list(f, fields, |f, (name, value)| write!(f, "{name}: {value}"))?;
                f.write_char('}')
            }
            TermKind::Tuple(items) => {
                f.write_char('(')?;
                displayed(f, items)?;
                f.write_char(')')
            }
            TermKind::TypeHint { ty, term } => write!(f, "({ty}){term}"),
            TermKind::Negate(term) => negated(f, &term.to_string()),
            TermKind::Operation { operator, left, right } => write!(f, "{left} {operator} {right}"),
        }
    }
}

/// The argument and type of a call that CAST was read as.
fn as_cast<'a>(name: &'a QualifiedName, arguments: &'a [Term]) -> Option<(&'a Term, &'a str)> {
    let ty = name.name.text.strip_prefix("cast_as_")?;
    let native =
        matches!(lexer::plain_kind(ty), Some(TokenKind::Keyword(k)) if k.class() == Class::Native);
    let [argument] = arguments else { return None };
    let simple = !matches!(argument.kind, TermKind::Operation { .. } | TermKind::Negate(_));
    (native && simple && name.keyspace.is_none() && !name.name.quoted).then_some((argument, ty))
}

/// A minus sign, set apart where it would melt into what follows (`-5`, `-NaN`, `--`).
fn negated(f: &mut Formatter<'_>, inner: &str) -> Result {
    let melts = matches!(
        inner.as_bytes().first(),
        Some(b'0'..=b'9' | b'-' | b'n' | b'i' | b'N' | b'I' | b'P')
    );
    write!(f, "{}{inner}", if melts { "- " } else { "-" })
}

impl Display for Marker {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.name {
            Some(name) => write!(f, ":{name}"),
            None => f.write_char('?'),
        }
    }
}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TypeNameKind::Native(name) => f.write_str(name),
            TypeNameKind::List(element) => write!(f, "list<{element}>"),
            TypeNameKind::Set(element) => write!(f, "set<{element}>"),
            TypeNameKind::Map(key, value) => write!(f, "map<{key}, {value}>"),
            TypeNameKind::Tuple(items) => {
                f.write_str("tuple<")?;
                displayed(f, items)?;
                f.write_char('>')
            }
            TypeNameKind::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            TypeNameKind::Frozen(inner) => write!(f, "frozen<{inner}>"),
            TypeNameKind::User(name) => user_type(f, name),
            TypeNameKind::Custom(class) => string(f, class),
        }
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.selector.fmt(f)?;
        match &self.alias {
            Some(alias) => write!(f, " AS {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for SelectorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SelectorKind::Column(name) => name.fmt(f),
            SelectorKind::Term(term) => term.fmt(f),
            SelectorKind::Function { name, arguments } => {
                function(f, name)?;
                f.write_char('(')?;
                displayed(f, arguments)?;
                f.write_char(')')
            }
            SelectorKind::CountRows => f.write_str("count(*)"),
            SelectorKind::Cast { selector, ty } => write!(f, "cast({selector} as {ty})"),
            SelectorKind::CellTime { kind, of } => write!(f, "{kind}({of})"),
            SelectorKind::Element { of, index } => write!(f, "{of}[{index}]"),
            SelectorKind::Slice { of, from, to } => {
                write!(f, "{of}[")?;
                from.as_ref().map_or(Ok(()), |from| from.fmt(f))?;
                f.write_str("..")?;
                to.as_ref().map_or(Ok(()), |to| to.fmt(f))?;
                f.write_char(']')
            }
            SelectorKind::Field { of, field } => write!(f, "{of}.{field}"),
            SelectorKind::Tuple(items) => {
                f.write_char('(')?;
                displayed(f, items)?;
                f.write_char(')')
            }
            SelectorKind::List(items) => {
                f.write_char('[')?;
                displayed(f, items)?;
                f.write_char(']')
            }
            SelectorKind::Set(items) => {
                f.write_char('{')?;
                displayed(f, items)?;
                f.write_char('}')
            }
            SelectorKind::Map { entries } => {
                f.write_char('{')?;
                list(f, entries, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_char('}')
            }
            SelectorKind::TypeHint { ty, selector } => write!(f, "({ty}){selector}"),
            SelectorKind::Negate(selector) => negated(f, &selector.to_string()),
            SelectorKind::Operation { operator, left, right } => {
                write!(f, "{left} {operator} {right}")
            }
        }
    }
}

impl Display for CellTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            CellTime::WriteTime => "writetime",
            CellTime::MaxWriteTime => "maxwritetime",
            CellTime::Ttl => "ttl",
        })
    }
}

impl Display for Ordering {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Ordering::Column { column, descending: false } => write!(f, "{column} ASC"),
            Ordering::Column { column, descending: true } => write!(f, "{column} DESC"),
            Ordering::Ann { column, vector } => write!(f, "{column} ANN OF {vector}"),
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for RelationKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let columns = |f: &mut Formatter<'_>, columns: &[Name]| {
            f.write_char('(')?;
            displayed(f, columns)?;
            f.write_char(')')
        };
        match self {
            RelationKind::Column { column, operator, value } => {
                write!(f, "{column} {operator} {value}")
            }
            RelationKind::In { column, values } => write!(f, "{column} IN {values}"),
            RelationKind::Contains { column, key, value } => {
                write!(f, "{column} CONTAINS {}{value}", if *key { "KEY " } else { "" })
            }
            RelationKind::Like { column, value } => write!(f, "{column} LIKE {value}"),
            RelationKind::IsNotNull(column) => write!(f, "{column} IS NOT NULL"),
            RelationKind::Element { column, key, operator, value } => {
                write!(f, "{column}[{key}] {operator} {value}")
            }
            RelationKind::Tuple { columns: names, operator, value } => {
                columns(f, names)?;
                write!(f, " {operator} {value}")
            }
            RelationKind::TupleIn { columns: names, values } => {
                columns(f, names)?;
                write!(f, " IN {values}")
            }
            RelationKind::Token { columns: names, operator, value } => {
                f.write_str("token")?;
                columns(f, names)?;
                write!(f, " {operator} {value}")
            }
            RelationKind::CustomExpression { index, value } => write!(f, "expr({index}, {value})"),
        }
    }
}

impl Display for InValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            InValues::Marker(marker) => marker.fmt(f),
            InValues::List(items) => {
                f.write_char('(')?;
                displayed(f, items)?;
                f.write_char(')')
            }
        }
    }
}

fn where_clause(f: &mut Formatter<'_>, relations: &[Relation]) -> Result {
    if relations.is_empty() {
        return Ok(());
    }
    f.write_str(" WHERE ")?;
    conjunction(f, relations)
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SELECT ")?;
        f.write_str(if self.json { "JSON " } else { "" })?;
        f.write_str(if self.distinct { "DISTINCT " } else { "" })?;
        if self.selectors.is_empty() {
            f.write_char('*')?;
        }
        displayed(f, &self.selectors)?;
        write!(f, " FROM {}", self.table)?;
        where_clause(f, &self.relations)?;
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            displayed(f, &self.group_by)?;
        }
        if !self.order_by.is_empty() {
            f.write_str(" ORDER BY ")?;
            displayed(f, &self.order_by)?;
        }
        if let Some(limit) = &self.per_partition_limit {
            write!(f, " PER PARTITION LIMIT {limit}")?;
        }
        if let Some(limit) = &self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        f.write_str(if self.allow_filtering { " ALLOW FILTERING" } else { "" })
    }
}

impl Display for Attributes {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (&self.timestamp, &self.ttl) {
            (None, None) => Ok(()),
            (Some(timestamp), None) => write!(f, " USING TIMESTAMP {timestamp}"),
            (None, Some(ttl)) => write!(f, " USING TTL {ttl}"),
            (Some(timestamp), Some(ttl)) => {
                // Markers are counted in the order of the text.
                match (marker_index(timestamp), marker_index(ttl)) {
                    (Some(a), Some(b)) if b < a => {
                        write!(f, " USING TTL {ttl} AND TIMESTAMP {timestamp}")
                    }
                    _ => write!(f, " USING TIMESTAMP {timestamp} AND TTL {ttl}"),
                }
            }
        }
    }
}

fn marker_index(term: &Term) -> Option<usize> {
    match &term.kind {
        TermKind::Marker(marker) => Some(marker.index),
        _ => None,
    }
}

impl Display for Conditional {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Conditional::NotExists => f.write_str(" IF NOT EXISTS"),
            Conditional::Exists => f.write_str(" IF EXISTS"),
            Conditional::Conditions(conditions) => {
                f.write_str(" IF ")?;
                conjunction(f, conditions)
            }
        }
    }
}

fn condition(f: &mut Formatter<'_>, condition: &Option<Conditional>) -> Result {
    condition.as_ref().map_or(Ok(()), |condition| condition.fmt(f))
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INSERT INTO {} ", self.table)?;
        match &self.source {
            InsertSource::Values { columns, values } => {
                f.write_char('(')?;
                displayed(f, columns)?;
                f.write_str(") VALUES (")?;
                displayed(f, values)?;
                f.write_char(')')?;
            }
            InsertSource::Json { value, default_unset } => {
                write!(f, "JSON {value}")?;
                f.write_str(if *default_unset { " DEFAULT UNSET" } else { "" })?;
            }
        }
        condition(f, &self.condition)?;
        self.attributes.fmt(f)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "UPDATE {}{} SET ", self.table, self.attributes)?;
        displayed(f, &self.assignments)?;
        where_clause(f, &self.relations)?;
        condition(f, &self.condition)
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let column = &self.column;
        match &self.operation {
            AssignmentKind::Set(value) => write!(f, "{column} = {value}"),
            AssignmentKind::Add(value) => write!(f, "{column} += {value}"),
            AssignmentKind::Subtract(value) => write!(f, "{column} -= {value}"),
            AssignmentKind::Prepend(value) => write!(f, "{column} = {value} + {column}"),
            AssignmentKind::SetElement { key, value } => write!(f, "{column}[{key}] = {value}"),
            AssignmentKind::SetField { field, value } => write!(f, "{column}.{field} = {value}"),
        }
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DELETE ")?;
        displayed(f, &self.targets)?;
        f.write_str(if self.targets.is_empty() { "" } else { " " })?;
        write!(f, "FROM {}", self.table)?;
        if let Some(timestamp) = &self.timestamp {
            write!(f, " USING TIMESTAMP {timestamp}")?;
        }
        where_clause(f, &self.relations)?;
        condition(f, &self.condition)
    }
}

impl Display for DeleteTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.column.fmt(f)?;
        match &self.part {
            DeletePart::Whole => Ok(()),
            DeletePart::Element(key) => write!(f, "[{key}]"),
            DeletePart::Field(field) => write!(f, ".{field}"),
        }
    }
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let kind = match self.kind {
            BatchKind::Logged => "",
            BatchKind::Unlogged => "UNLOGGED ",
            BatchKind::Counter => "COUNTER ",
        };
        write!(f, "BEGIN {kind}BATCH{}", self.attributes)?;
        for statement in &self.statements {
            write!(f, " {statement};")?;
        }
        f.write_str(" APPLY BATCH")
    }
}

fn properties(f: &mut Formatter<'_>, properties: &[Property]) -> Result {
    if properties.is_empty() {
        return Ok(());
    }
    f.write_str(" WITH ")?;
    conjunction(f, properties)
}

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} = ", self.name)?;
        match &self.value {
            PropertyValue::Simple(text) => string(f, text),
            PropertyValue::Map(entries) => {
                f.write_char('{')?;
                list(f, entries, |f, (key, value)| {
                    string(f, key)?;
                    f.write_str(": ")?;
                    string(f, value)
                })?;
                f.write_char('}')
            }
        }
    }
}

fn clause(present: bool, text: &'static str) -> &'static str {
    if present { text } else { "" }
}

const IF_EXISTS: &str = "IF EXISTS ";
const IF_NOT_EXISTS: &str = "IF NOT EXISTS ";

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE TABLE {}{} (", clause(self.if_not_exists, IF_NOT_EXISTS), self.name)?;
        displayed(f, &self.columns)?;
        for (n, key) in self.primary_keys.iter().enumerate() {
            f.write_str(clause(n > 0 || !self.columns.is_empty(), ", "))?;
            key.fmt(f)?;
        }
        f.write_char(')')?;
        let mut joint = " WITH ";
        if self.compact_storage {
            write!(f, "{joint}COMPACT STORAGE")?;
            joint = " AND ";
        }
        if !self.clustering_order.is_empty() {
            write!(f, "{joint}CLUSTERING ORDER BY (")?;
            list(f, &self.clustering_order, |f, (column, descending)| {
                write!(f, "{column} {}", if *descending { "DESC" } else { "ASC" })
            })?;
            f.write_char(')')?;
            joint = " AND ";
        }
        for property in &self.properties {
            write!(f, "{joint}{property}")?;
            joint = " AND ";
        }
        Ok(())
    }
}

impl Display for ColumnDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (fixed, masked) =
            (clause(self.is_static, " STATIC"), clause(self.masked, " MASKED WITH DEFAULT"));
        write!(f, "{} {}{fixed}{masked}", self.name, self.ty)
    }
}

impl Display for PrimaryKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("PRIMARY KEY ((")?;
        displayed(f, &self.partition)?;
        f.write_char(')')?;
        for column in &self.clustering {
            write!(f, ", {column}")?;
        }
        f.write_char(')')
    }
}

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER TABLE {}{}{}", clause(self.if_exists, IF_EXISTS), self.name, self.change)
    }
}

fn renames(f: &mut Formatter<'_>, renames: &[(Name, Name)]) -> Result {
    for (n, (from, to)) in renames.iter().enumerate() {
        write!(f, "{}{from} TO {to}", clause(n > 0, " AND "))?;
    }
    Ok(())
}

impl Display for AlterTableKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            AlterTableKind::AlterType { column, ty } => write!(f, " ALTER {column} TYPE {ty}"),
            AlterTableKind::Add { if_not_exists, columns } => {
                write!(f, " ADD {}(", clause(*if_not_exists, IF_NOT_EXISTS))?;
                displayed(f, columns)?;
                f.write_char(')')
            }
            AlterTableKind::Drop { if_exists, columns, timestamp } => {
                write!(f, " DROP {}(", clause(*if_exists, IF_EXISTS))?;
                displayed(f, columns)?;
                f.write_char(')')?;
                timestamp.as_ref().map_or(Ok(()), |at| write!(f, " USING TIMESTAMP {at}"))
            }
            AlterTableKind::Rename { if_exists, renames: pairs } => {
                write!(f, " RENAME {}", clause(*if_exists, IF_EXISTS))?;
                renames(f, pairs)
            }
            AlterTableKind::With(pairs) => properties(f, pairs),
            AlterTableKind::DropCompactStorage => f.write_str(" DROP COMPACT STORAGE"),
            AlterTableKind::Mask => f.write_str(" ALTER masked_column DROP MASKED"),
        }
    }
}

impl Display for CreateType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE TYPE {}", clause(self.if_not_exists, IF_NOT_EXISTS))?;
        user_type(f, &self.name)?;
        f.write_str(" (")?;
        list(f, &self.fields, |f, (name, ty)| write!(f, "{name} {ty}"))?;
        f.write_char(')')
    }
}

impl Display for AlterType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER TYPE {}", clause(self.if_exists, IF_EXISTS))?;
        user_type(f, &self.name)?;
        match &self.change {
            AlterTypeKind::AlterField { field, ty } => write!(f, " ALTER {field} TYPE {ty}"),
            AlterTypeKind::Add { if_not_exists, field, ty } => {
                write!(f, " ADD {}{field} {ty}", clause(*if_not_exists, IF_NOT_EXISTS))
            }
            AlterTypeKind::Rename { if_exists, renames: pairs } => {
                write!(f, " RENAME {}", clause(*if_exists, IF_EXISTS))?;
                renames(f, pairs)
            }
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Use(name) => write!(f, "USE {name}"),
            Statement::Select(s) => s.fmt(f),
            Statement::Insert(s) => s.fmt(f),
            Statement::Update(s) => s.fmt(f),
            Statement::Delete(s) => s.fmt(f),
            Statement::Batch(s) => s.fmt(f),
            Statement::Truncate(name) => write!(f, "TRUNCATE {name}"),
            Statement::CreateKeyspace(s) => {
                write!(f, "CREATE KEYSPACE {}{}", clause(s.if_not_exists, IF_NOT_EXISTS), s.name)?;
                properties(f, &s.properties)
            }
            Statement::AlterKeyspace(s) => {
                write!(f, "ALTER KEYSPACE {}{}", clause(s.if_exists, IF_EXISTS), s.name)?;
                properties(f, &s.properties)
            }
            Statement::DropKeyspace { name, if_exists } => {
                write!(f, "DROP KEYSPACE {}{name}", clause(*if_exists, IF_EXISTS))
            }
            Statement::CreateTable(s) => s.fmt(f),
            Statement::AlterTable(s) => s.fmt(f),
            Statement::DropTable { name, if_exists } => {
                write!(f, "DROP TABLE {}{name}", clause(*if_exists, IF_EXISTS))
            }
            Statement::CreateType(s) => s.fmt(f),
            Statement::AlterType(s) => s.fmt(f),
            Statement::DropType { name, if_exists } => {
                write!(f, "DROP TYPE {}", clause(*if_exists, IF_EXISTS))?;
                user_type(f, name)
            }
            Statement::Unsupported { feature, .. } => write!(f, "/* {feature} */"),
        }
    }
}
