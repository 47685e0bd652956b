//! Text to syntax: recursive descent over the tokens of [`crate::lexer`]. Nothing is looked up.
//!
//! ```text
//! UPDATE t SET v = v + 1 WHERE k = ?
//! ^      ^     ^           ^
//! |      |     assignment  relations (data.rs, relation.rs), terms (term.rs)
//! |      qualified name (here)
//! statement by its leading words (here)
//! ```
//!
//! Each function is one rule of Cassandra's grammar. An error stands at the token where Cassandra's parser gives up;
//! mostly that is the first token that cannot continue the statement. Where its parser tries one reading and falls
//! back to another (type hints, `JSON`, `DISTINCT`, elements and fields of selectors), so does this one
//! ([`Parser::mark`]), because the fallback decides which token is blamed.
//!
//! Not here: statements that are only recognised ([`unsupported`]).

mod data;
mod relation;
mod schema;
mod select;
mod selector;
mod term;
mod types;
mod unsupported;

pub(crate) use types::RESERVED as RESERVED_TYPES;

use crate::ast::{Attributes, InsertSource, Name, QualifiedName, Span, Statement, Term};
use crate::error::session::SessionError;
use crate::error::syntax::SyntaxError;
use crate::error::{Error, ErrorKind};
use crate::lexer::{self, Class, Keyword, Token, TokenKind};

/// Levels of nesting that are followed. A level costs stack here, in analysis and in printing; in a debug build some
/// 200 of them fit the 2 MiB of a test's thread, and a statement that people write has a dozen.
pub const NESTING_MAX: usize = 128;

/// A parsed statement with its markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// For each bind marker in the order of the text: its name, if it has one.
    pub markers: Vec<Option<Name>>,
}

/// Parses one statement; a `;` at the end is allowed.
///
/// # Errors
/// A syntax error (0x2000) with Cassandra's `line L:C`, or one of the checks that Cassandra's parser makes; 0x0000 for
/// a statement nested deeper than [`NESTING_MAX`].
pub fn parse(text: &str) -> Result<Parsed, Error> {
    let mut parser = Parser {
        text,
        tokens: lexer::tokens(text),
        at: 0,
        markers: Vec::new(),
        depth: 0,
        height: 0,
        guesses: 0,
        doubt: None,
    };
    let statement = parser.statement().map_err(|e| *e)?;
    while parser.eat(";") {}
    if parser.kind() != TokenKind::End {
        return Err(*parser.unexpected("the end"));
    }
    Ok(Parsed { statement, markers: parser.markers })
}

/// Parses one term alone: a literal as it stands in VALUES, without markers.
///
/// # Errors
/// A syntax error if the text is anything else.
pub fn parse_term(text: &str) -> Result<Term, Error> {
    let parsed = parse(&format!("INSERT INTO t (c) VALUES ({text})"))?;
    if let Statement::Insert(insert) = parsed.statement
        && insert.condition.is_none()
        && insert.attributes == Attributes::default()
        && parsed.markers.is_empty()
        && let InsertSource::Values { values, .. } = insert.source
        && let Ok([term]) = <[Term; 1]>::try_from(values)
    {
        return Ok(term);
    }
    Err(SyntaxError::Check("one literal was expected".to_string()).into())
}

/// What a rule reads. The error is boxed, as are trees in recursive rules: frames stay small, so that deep statements
/// fit a small stack in a build that is not optimised.
type Read<T> = Result<T, Box<Error>>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    markers: Vec<Option<Name>>,
    /// Levels of recursion entered.
    depth: usize,
    /// Height of the highest tree built so far inside the current level.
    height: usize,
    /// Readings under way that may be taken back.
    guesses: usize,
    /// A check that failed inside such a reading: raised if the reading stands.
    doubt: Option<Box<Error>>,
}

/// See [`Parser::mark`].
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    markers: usize,
    depth: usize,
    height: usize,
    in_doubt: bool,
}

impl Parser<'_> {
    fn statement(&mut self) -> Read<Statement> {
        let TokenKind::Keyword(keyword) = self.kind() else {
            return Err(self.unexpected("a statement"));
        };
        match keyword {
            Keyword::Select => self.select().map(|s| Statement::Select(Box::new(s))),
            Keyword::Insert | Keyword::Update | Keyword::Delete => self.modification(),
            Keyword::Begin => self.batch().map(|b| Statement::Batch(Box::new(b))),
            Keyword::Use => {
                self.advance();
                self.keyspace_name().map(Statement::Use)
            }
            Keyword::Truncate => {
                self.advance();
                self.eat_keyword(Keyword::Table);
                self.table_name().map(Statement::Truncate)
            }
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop_statement(),
            Keyword::Grant | Keyword::Revoke => self.grant_or_revoke(),
            Keyword::List => self.list_statement(),
            Keyword::Add => self.add_identity(),
            Keyword::Describe | Keyword::Desc => self.describe(),
            _ => Err(self.unexpected("a statement")),
        }
    }

    // Tokens.

    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn peek(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    fn span(&self) -> Span {
        self.token(0).span()
    }

    /// From the start of a token to the end of the last one taken.
    fn span_from(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span();
        Span { start: start.start, end: last.end.max(start.start) }
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    fn advance(&mut self) -> Token {
        let token = self.token(0);
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.kind(), TokenKind::Symbol(s) if s == symbol)
    }

    fn peek_is(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek(ahead), TokenKind::Symbol(s) if s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Read<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(symbol)) }
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    fn peek_keyword(&self, ahead: usize, keyword: Keyword) -> bool {
        self.peek(ahead) == TokenKind::Keyword(keyword)
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> Read<()> {
        if self.eat_keyword(keyword) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("{keyword:?}").to_uppercase()))
        }
    }

    fn expect_keywords(&mut self, keywords: &[Keyword]) -> Read<()> {
        keywords.iter().try_for_each(|keyword| self.expect_keyword(*keyword))
    }

    fn expect_kind(&mut self, kind: TokenKind, wanted: &str) -> Read<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.unexpected(wanted)) }
    }

    /// `item (, item)*`.
    fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    // Errors.

    /// The current token cannot stand here.
    fn unexpected(&self, wanted: &str) -> Box<Error> {
        self.unexpected_at(0, wanted)
    }

    /// The token `ahead` of the current one cannot stand there.
    fn unexpected_at(&self, ahead: usize, wanted: &str) -> Box<Error> {
        let token = self.token(ahead);
        let span = token.span();
        let (line, column) = match token.kind {
            TokenKind::End => (0, -1),
            _ => position(self.text, span.start),
        };
        let reason = match token.kind {
            TokenKind::End => format!("the statement ends where {wanted} should follow"),
            TokenKind::Error => match self.text[span.start..].chars().next() {
                Some(character) => format!("unexpected character {character:?}"),
                None => "the statement ends inside a literal or comment".to_string(),
            },
            _ => format!("unexpected {} where {wanted} should stand", self.slice(span)),
        };
        Box::new(Error::at(SyntaxError::Unexpected { line, column, reason }, span))
    }

    fn check(&self, text: impl Into<String>, span: Span) -> Box<Error> {
        Box::new(Error::at(SyntaxError::Check(text.into()), span))
    }

    /// A number that Java cannot hold makes Cassandra's parser itself fail.
    fn failed_parsing(&self, reason: &str, span: Span) -> Box<Error> {
        self.check(format!("Failed parsing statement: [{}] reason: {reason}", self.text), span)
    }

    /// Begins a reading that may be taken back; [`Parser::or_back`] ends it.
    fn mark(&mut self) -> Mark {
        self.guesses += 1;
        Mark {
            at: self.at,
            markers: self.markers.len(),
            depth: self.depth,
            height: self.height,
            in_doubt: self.doubt.is_some(),
        }
    }

    /// What was read since the mark; or everything is taken back if a token cannot stand where it stands.
    fn or_back<T>(&mut self, mark: Mark, read: Read<T>) -> Read<Option<T>> {
        self.guesses -= 1;
        match read {
            Ok(read) if self.guesses > 0 => Ok(Some(read)),
            Ok(read) => self.doubt.take().map_or(Ok(Some(read)), Err),
            Err(e) if matches!(*e.kind, ErrorKind::Syntax(SyntaxError::Unexpected { .. })) => {
                self.at = mark.at;
                self.markers.truncate(mark.markers);
                (self.depth, self.height) = (mark.depth, mark.height);
                if !mark.in_doubt {
                    self.doubt = None;
                }
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Raises a failed check of a type, at once or when the reading it stands in is sure.
    fn raise(&mut self, check: Box<Error>) -> Read<()> {
        if self.guesses == 0 {
            return Err(check);
        }
        self.doubt.get_or_insert(check);
        Ok(())
    }

    // Depth.

    /// Begins a level; gives the height outside for [`Parser::leave`].
    fn enter(&mut self) -> Read<usize> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            Err(self.too_deep())
        } else {
            Ok(std::mem::take(&mut self.height))
        }
    }

    /// Ends a level.
    fn leave(&mut self, outside: usize) -> Read<()> {
        self.grow()?;
        self.height = self.height.max(outside);
        self.depth -= 1;
        Ok(())
    }

    /// A chain without recursion in the text (`a + b + c`) is a tree all the same.
    fn grow(&mut self) -> Read<()> {
        self.height += 1;
        if self.height > NESTING_MAX { Err(self.too_deep()) } else { Ok(()) }
    }

    fn too_deep(&self) -> Box<Error> {
        Box::new(Error::at(SessionError::TooDeeplyNested { limit: NESTING_MAX }, self.span()))
    }

    // Names.

    /// The name that the current token means; REQUIRES: the token can be a name.
    fn take_name(&mut self) -> Name {
        let token = self.advance();
        let span = token.span();
        let written = self.slice(span);
        match token.kind {
            TokenKind::QuotedName | TokenKind::EmptyQuotedName => {
                Name { text: lexer::unquote(written), quoted: true, span }
            }
            _ => Name { text: written.to_ascii_lowercase(), quoted: false, span },
        }
    }

    /// Any name but that of a column.
    fn name(&mut self, wanted: &str) -> Read<Name> {
        if is_name(self.kind()) { Ok(self.take_name()) } else { Err(self.unexpected(wanted)) }
    }

    /// A column where Cassandra takes `""` too.
    fn column(&mut self) -> Read<Name> {
        if is_column(self.kind()) { Ok(self.take_name()) } else { Err(self.unexpected("a column")) }
    }

    /// `(a, b)`.
    fn columns_in_parentheses(&mut self) -> Read<Vec<Name>> {
        self.expect("(")?;
        let columns = self.separated(Self::column)?;
        self.expect(")")?;
        Ok(columns)
    }

    fn no_marker(&self, names: &str) -> Read<()> {
        if self.is("?") {
            let text = format!("Bind variables cannot be used for {names} names");
            return Err(self.check(text, self.span()));
        }
        Ok(())
    }

    fn keyspace_name(&mut self) -> Read<Name> {
        self.no_marker("keyspace")?;
        self.name("a keyspace")
    }

    fn table_name(&mut self) -> Read<QualifiedName> {
        self.qualified("table")
    }

    /// `[keyspace.]name`, where `names` says of what kind the name is.
    fn qualified(&mut self, names: &str) -> Read<QualifiedName> {
        let mut keyspace = None;
        if self.peek_is(1, ".") && (is_name(self.kind()) || self.is("?")) {
            keyspace = Some(self.keyspace_name()?);
            self.advance();
        }
        if self.is("?") && names == "table" && !self.table_name_can_end(1) {
            return Err(self.unexpected_at(1, "the end of the name"));
        }
        self.no_marker(names)?;
        let name = self.name(&format!("a name ({names})"))?;
        Ok(QualifiedName { keyspace, name })
    }

    /// Whether the token `ahead` can follow the name of a table somewhere in the grammar.
    fn table_name_can_end(&self, ahead: usize) -> bool {
        use Keyword as K;
        match self.peek(ahead) {
            TokenKind::End | TokenKind::Symbol("(" | ";" | ".") => true,
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                K::Where
                    | K::Group
                    | K::Order
                    | K::Per
                    | K::Limit
                    | K::Allow
                    | K::Json
                    | K::Using
                    | K::Set
                    | K::As
                    | K::Primary
                    | K::Alter
                    | K::Add
                    | K::Drop
                    | K::Rename
                    | K::With
                    | K::To
                    | K::From
                    | K::Of
                    | K::Norecursive
            ),
            _ => false,
        }
    }

    /// `IF NOT EXISTS`, if it is there.
    fn if_not_exists(&mut self) -> Read<bool> {
        if !self.eat_keyword(Keyword::If) {
            return Ok(false);
        }
        self.expect_keywords(&[Keyword::Not, Keyword::Exists])?;
        Ok(true)
    }

    /// `IF EXISTS`, if it is there.
    fn if_exists(&mut self) -> Read<bool> {
        if !self.eat_keyword(Keyword::If) {
            return Ok(false);
        }
        self.expect_keyword(Keyword::Exists)?;
        Ok(true)
    }

    /// The inside of a string literal; REQUIRES: the token is one.
    fn string_text(&self, token: Token) -> String {
        lexer::unquote(self.slice(token.span()))
    }
}

fn is_name(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Identifier | TokenKind::QuotedName => true,
        TokenKind::Keyword(keyword) => keyword.class() != Class::Reserved,
        _ => false,
    }
}

fn is_column(kind: TokenKind) -> bool {
    kind == TokenKind::EmptyQuotedName || is_name(kind)
}

/// What may name a function without its keyspace.
fn is_function_name(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(Keyword::Token | Keyword::Count) => true,
        TokenKind::Keyword(keyword) => matches!(keyword.class(), Class::Basic | Class::Native),
        _ => is_name(kind),
    }
}

/// Line from 1 and column from 0, in units of UTF-16, as Java counts.
fn position(text: &str, offset: usize) -> (usize, i64) {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    (line, before[line_start..].encode_utf16().count() as i64)
}
