//! Names of types.

#![expect(clippy::boxed_local, reason = "a box keeps the frames of the recursive rules small")]

use super::{Parser, Read, is_name};
use crate::ast::{QualifiedName, Span, TypeName, TypeNameKind};
use crate::error::Error;
use crate::lexer::{Class, Keyword, TokenKind};

/// Words that Cassandra keeps for types to come; `date` has come.
pub(crate) const RESERVED: [&str; 6] =
    ["byte", "complex", "enum", "interval", "macaddr", "bitstring"];

const MARSHAL: &str = "org.apache.cassandra.db.marshal.";

/// Classes of Cassandra that a type may be written as.
const CLASSES: [&str; 33] = [
    "AsciiType",
    "BooleanType",
    "ByteType",
    "BytesType",
    "CompositeType",
    "CounterColumnType",
    "DateType",
    "DecimalType",
    "DoubleType",
    "DurationType",
    "DynamicCompositeType",
    "EmptyType",
    "FloatType",
    "FrozenType",
    "InetAddressType",
    "Int32Type",
    "IntegerType",
    "LegacyTimeUUIDType",
    "LexicalUUIDType",
    "ListType",
    "LongType",
    "MapType",
    "ReversedType",
    "SetType",
    "ShortType",
    "SimpleDateType",
    "TimeType",
    "TimeUUIDType",
    "TimestampType",
    "TupleType",
    "UTF8Type",
    "UUIDType",
    "VectorType",
];

/// What freezing a type that cannot be frozen does inside a tuple: Cassandra runs on with a null.
const NULL_ITEM: &str = "NullPointerException Cannot invoke \"org.apache.cassandra.cql3.CQL3Type$Raw.\
                         supportsFreezing()\" because \"t\" is null";

/// The same inside `frozen<>`.
const NULL_FROZEN: &str = "NullPointerException Cannot invoke \"org.apache.cassandra.cql3.CQL3Type$Raw.\
                           freeze()\" because \"f\" is null";

const FROZEN_FAULT: &str =
    "frozen<> is only allowed on collections, tuples, and user-defined types";

impl Parser<'_> {
    /// A type. `frozen<..>` around something else is no level of its own: it is how a level is written.
    pub(super) fn type_name(&mut self) -> Read<Box<TypeName>> {
        let start = self.span();
        let is_frozen = |ahead| self.peek(ahead) == TokenKind::Keyword(Keyword::Frozen);
        if is_frozen(0) && self.peek_is(1, "<") && !is_frozen(2) {
            return self.frozen_type(start);
        }
        let outside = self.enter()?;
        let ty = self.type_inside(start)?;
        self.leave(outside)?;
        Ok(ty)
    }

    fn type_inside(&mut self, start: Span) -> Read<Box<TypeName>> {
        let opens = self.peek_is(1, "<");
        match self.kind() {
            TokenKind::Keyword(Keyword::Set) => self.one_parameter(start, TypeNameKind::Set),
            TokenKind::Keyword(Keyword::List) if opens => {
                self.one_parameter(start, TypeNameKind::List)
            }
            TokenKind::Keyword(Keyword::Map) if opens => self.map_type(start),
            TokenKind::Keyword(Keyword::Tuple) if opens => self.tuple_type(start),
            TokenKind::Keyword(Keyword::Vector) if opens => self.vector_type(start),
            TokenKind::Keyword(Keyword::Frozen) if opens => self.frozen_type(start),
            _ => {
                let kind = self.simple_type()?;
                Ok(boxed(kind, self.span_from(start)))
            }
        }
    }

    fn simple_type(&mut self) -> Read<TypeNameKind> {
        match self.kind() {
            TokenKind::String => self.custom_type(),
            TokenKind::Keyword(k) if k.class() == Class::Native && !self.peek_is(1, ".") => {
                self.native_type().map(|(name, _)| TypeNameKind::Native(name))
            }
            _ => self.user_type_name().map(TypeNameKind::User),
        }
    }

    fn one_parameter(
        &mut self,
        start: Span,
        kind: fn(Box<TypeName>) -> TypeNameKind,
    ) -> Read<Box<TypeName>> {
        self.advance();
        self.expect("<")?;
        let inner = self.type_name()?;
        self.expect(">")?;
        Ok(boxed(kind(inner), self.span_from(start)))
    }

    fn map_type(&mut self, start: Span) -> Read<Box<TypeName>> {
        self.skip(2);
        let key = self.type_name()?;
        self.expect(",")?;
        let value = self.type_name()?;
        self.expect(">")?;
        Ok(boxed(TypeNameKind::Map(key, value), self.span_from(start)))
    }

    fn tuple_type(&mut self, start: Span) -> Read<Box<TypeName>> {
        self.skip(2);
        if self.is(">") {
            // The grammar wants a type here, but Cassandra falls over the missing one before it says so.
            return Err(self.failed_parsing(NULL_ITEM, start));
        }
        let mut items = Vec::new();
        loop {
            let item = self.type_inside_another(NULL_ITEM)?;
            push(&mut items, item);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">")?;
        Ok(boxed(TypeNameKind::Tuple(items), self.span_from(start)))
    }

    /// A type inside a tuple or `frozen<>`, where Cassandra's check of `frozen<int>` leaves a null behind.
    fn type_inside_another(&mut self, fault: &str) -> Read<Box<TypeName>> {
        let start = self.span();
        let read = self.type_name();
        read.map_err(|e| if is_frozen_fault(&e) { self.failed_parsing(fault, start) } else { e })
    }

    fn vector_type(&mut self, start: Span) -> Read<Box<TypeName>> {
        self.skip(2);
        let element = self.type_name()?;
        self.expect(",")?;
        let token = self.expect_kind(TokenKind::Integer, "an integer")?;
        let dimension = self.text_at(token.span());
        if dimension.parse::<i32>().is_err() {
            let reason = format!("NumberFormatException For input string: \"{dimension}\"");
            return Err(self.failed_parsing(&reason, token.span()));
        }
        self.expect(">")?;
        Ok(boxed(TypeNameKind::Vector(element, dimension), self.span_from(start)))
    }

    fn frozen_type(&mut self, start: Span) -> Read<Box<TypeName>> {
        self.skip(2);
        let inner = self.type_inside_another(NULL_FROZEN)?;
        self.expect(">")?;
        let span = self.span_from(start);
        if matches!(inner.kind, TypeNameKind::Native(_)) {
            let check = self.check(format!("{FROZEN_FAULT} (got {inner})"), span);
            self.raise(check)?;
        }
        Ok(boxed(TypeNameKind::Frozen(inner), span))
    }

    /// The name of a native type in lower case.
    pub(super) fn native_type(&mut self) -> Read<(String, Span)> {
        match self.kind() {
            TokenKind::Keyword(keyword) if keyword.class() == Class::Native => {
                let name = self.take_name();
                Ok((name.text, name.span))
            }
            _ => Err(self.unexpected("a native type")),
        }
    }

    /// `[keyspace.]type`.
    pub(super) fn user_type_name(&mut self) -> Read<QualifiedName> {
        let mut keyspace = None;
        if is_name(self.kind()) && self.peek_is(1, ".") {
            keyspace = Some(self.take_name());
            self.advance();
        }
        let span = self.span();
        let plain = match self.kind() {
            TokenKind::QuotedName => true,
            TokenKind::Identifier => {
                let written = self.slice(span);
                if RESERVED.contains(&written) {
                    let text = format!("Invalid (reserved) user type name {written}");
                    let check = self.check(text, span);
                    self.raise(check)?;
                }
                true
            }
            TokenKind::Keyword(Keyword::Key) => true,
            TokenKind::Keyword(keyword) => keyword.class() == Class::Basic,
            _ => false,
        };
        if !plain {
            // A native type or a word such as `ttl` could still have been a keyspace.
            let ahead = usize::from(keyspace.is_none() && is_name(self.kind()));
            return Err(self.unexpected_at(ahead, "a type"));
        }
        let name = self.take_name();
        Ok(QualifiedName { keyspace, name })
    }

    /// A class of Cassandra's, which must be one of those it has.
    fn custom_type(&mut self) -> Read<TypeNameKind> {
        let token = self.advance();
        let text = self.string_text(token);
        let class = text.split('(').next().unwrap_or_default().trim();
        let full =
            if class.contains('.') { class.to_string() } else { format!("{MARSHAL}{class}") };
        if full.strip_prefix(MARSHAL).is_none_or(|name| !CLASSES.contains(&name)) {
            let message =
                format!("Error setting type {text}: Unable to find abstract-type class '{full}'");
            let check = self.check(message, token.span());
            self.raise(check)?;
        }
        Ok(TypeNameKind::Custom(text))
    }
}

fn boxed(kind: TypeNameKind, span: Span) -> Box<TypeName> {
    Box::new(TypeName { kind, span })
}

fn push(items: &mut Vec<TypeName>, item: Box<TypeName>) {
    items.push(*item);
}

fn is_frozen_fault(e: &Error) -> bool {
    e.to_string().starts_with(FROZEN_FAULT)
}
