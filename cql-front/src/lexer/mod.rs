//! Text to tokens with spans.
//!
//! ```text
//! SELECT a-1 FROM t   ->   SELECT  a  -1  FROM  t      (a minus sign belongs to a number that follows)
//! SELECT -n  FROM t   ->   error: -n begins -NaN
//! ```
//!
//! The lexer follows Cassandra's, quirks included: which characters a rule has committed to decides where a syntax
//! error is reported. `-n` and `-i` begin `-NaN` and `-Infinity`; eight hex digits and a minus begin a uuid; digits
//! followed by the letter of a time unit begin a duration; a line comment needs its line end; `expr(` is one token.
//! Texts are cut from the statement only when asked for ([`Token`] is two offsets and a kind).
//!
//! Not here: what a name or number means.

mod keyword;

pub(crate) use keyword::{Class, plain_kind};
pub use keyword::{Keyword, is_plain_name};

use crate::ast::Span;

/// A token of CQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    start: u32,
    /// One past the last byte.
    end: u32,
}

impl Token {
    /// Where it stands.
    pub fn span(self) -> Span {
        Span { start: self.start as usize, end: self.end as usize }
    }
}

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name without quotes that is no keyword.
    Identifier,
    /// `"name"`.
    QuotedName,
    /// `""`: no name, except where Cassandra takes a column of that name.
    EmptyQuotedName,
    /// A keyword.
    Keyword(Keyword),
    /// `'text'` or `$$text$$`.
    String,
    /// `12`, `-12`.
    Integer,
    /// `1.5`, `1e3`.
    Float,
    /// `true`, `false`.
    Boolean,
    /// `1h30m`, `P1Y`, `-PT3S`.
    Duration,
    /// A uuid.
    Uuid,
    /// `0xff`.
    Hex,
    /// `NaN`, `-NaN`.
    Nan,
    /// `Infinity`.
    Infinity,
    /// `-Infinity`.
    NegativeInfinity,
    /// An operator or bracket: its text.
    Symbol(&'static str),
    /// The end of the text; nothing follows.
    End,
    /// A character that no token can hold; nothing follows.
    Error,
}

/// Splits a statement into tokens. The last one is [`TokenKind::End`] or [`TokenKind::Error`].
///
/// Requires: `text` is shorter than 4 GiB (a frame of the protocol is).
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0 };
    let mut out = Vec::with_capacity(text.len() / 6 + 2);
    loop {
        let start = match lexer.skip_blanks() {
            Ok(()) => lexer.at,
            Err(at) => {
                out.push(error_token(at));
                return out;
            }
        };
        match lexer.token() {
            Ok(kind) => {
                out.push(Token { kind, start: start as u32, end: lexer.at as u32 });
                if kind == TokenKind::End {
                    return out;
                }
            }
            Err(at) => {
                out.push(error_token(at));
                return out;
            }
        }
    }
}

fn error_token(at: usize) -> Token {
    Token { kind: TokenKind::Error, start: at as u32, end: at as u32 }
}

/// The inside of a string literal or quoted name, quotes undone.
pub fn unquote(text: &str) -> String {
    if let Some(inside) = text.strip_prefix("$$") {
        return inside[..inside.len() - 2].to_string();
    }
    let quote = &text[..1];
    text[1..text.len() - 1].replace(&quote.repeat(2), quote)
}

/// Offset at which no rule can go on.
type Stuck = usize;

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Blanks and comments. A comment that does not end is an error at the end of the text.
    fn skip_blanks(&mut self) -> Result<(), Stuck> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t' | b'\n' | b'\r', _) => self.at += 1,
                (b'-', b'-') | (b'/', b'/') => {
                    let rest = &self.bytes[self.at..];
                    match rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
                        Some(n) => self.at += n + 1,
                        None => return Err(self.bytes.len()),
                    }
                }
                (b'/', b'*') => {
                    let rest = &self.bytes[self.at + 2..];
                    match rest.windows(2).position(|w| w == b"*/") {
                        Some(n) => self.at += n + 4,
                        None => return Err(self.bytes.len()),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, Stuck> {
        if self.at >= self.bytes.len() {
            return Ok(TokenKind::End);
        }
        match self.peek(0) {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'\'' => self.quoted(b'\'').map(|()| TokenKind::String),
            b'"' => self.name(),
            b'$' => self.dollars(),
            b'-' => self.minus(),
            b'!' if self.peek(1) != b'=' => Err(self.at + 1),
            _ => self.symbol(),
        }
    }

    fn symbol(&mut self) -> Result<TokenKind, Stuck> {
        const SYMBOLS: [&str; 23] = [
            "!=", "<=", ">=", "+=", "..", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "*",
            "/", "%", "?", "+", "<", ">", "=",
        ];
        let rest = &self.bytes[self.at..];
        for symbol in SYMBOLS {
            if rest.starts_with(symbol.as_bytes()) {
                self.at += symbol.len();
                return Ok(TokenKind::Symbol(symbol));
            }
        }
        Err(self.at)
    }

    /// Words and numbers: what begins with a letter or digit.
    fn word(&mut self) -> Result<TokenKind, Stuck> {
        if self.uuid_begins() {
            return self.uuid();
        }
        if self.peek(0).is_ascii_digit() {
            let start = self.at;
            let read = self.number();
            let end = read.err().unwrap_or(self.at);
            // `1and` is no number and a word: once only a uuid can go on, it must.
            let uuid = end < self.bytes.len()
                && end - start < 8
                && self.bytes[start..=end].iter().all(u8::is_ascii_hexdigit);
            if uuid {
                self.at = start;
                return self.uuid();
            }
            return read;
        }
        if self.bytes[self.at..].starts_with(b"expr(") {
            self.at += 5;
            return Ok(TokenKind::Symbol("expr("));
        }
        let length = self.run(0, |b| b.is_ascii_alphanumeric() || b == b'_');
        if self.peek(0) == b'P' {
            if alternative_period_begins(&self.bytes[self.at..]) {
                return self.period().map(|()| TokenKind::Duration);
            }
            let mut period = Lexer { bytes: &self.bytes[..self.at + length], at: self.at };
            if period.period().is_ok() && period.at == self.at + length {
                self.at = period.at;
                return Ok(TokenKind::Duration);
            }
        }
        let word = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(keyword::kind_of(word))
    }

    /// Length of the bytes from `ahead` on that `accept` takes.
    fn run(&self, ahead: usize, accept: impl Fn(u8) -> bool) -> usize {
        self.bytes[(self.at + ahead).min(self.bytes.len())..]
            .iter()
            .take_while(|b| accept(**b))
            .count()
    }

    fn uuid_begins(&self) -> bool {
        self.bytes.len() > self.at + 8
            && self.bytes[self.at..self.at + 8].iter().all(u8::is_ascii_hexdigit)
            && self.peek(8) == b'-'
    }

    fn uuid(&mut self) -> Result<TokenKind, Stuck> {
        let start = self.at;
        for (group, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
            if group > 0 {
                self.expect(|b| b == b'-')?;
            }
            for _ in 0..digits {
                self.expect(|b| b.is_ascii_hexdigit())?;
            }
        }
        debug_assert_eq!(self.at, start + 36);
        Ok(TokenKind::Uuid)
    }

    fn expect(&mut self, accept: impl Fn(u8) -> bool) -> Result<(), Stuck> {
        if self.at < self.bytes.len() && accept(self.bytes[self.at]) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.at)
        }
    }

    /// What begins with a minus sign.
    fn minus(&mut self) -> Result<TokenKind, Stuck> {
        match self.peek(1) {
            b'0'..=b'9' => {
                self.at += 1;
                self.number()
            }
            b'n' | b'N' => self.negative(b"nan", TokenKind::Nan),
            b'i' | b'I' => self.negative(b"infinity", TokenKind::NegativeInfinity),
            b'P' => {
                self.at += 1;
                self.period().map(|()| TokenKind::Duration)
            }
            b'=' => {
                self.at += 2;
                Ok(TokenKind::Symbol("-="))
            }
            _ => {
                self.at += 1;
                Ok(TokenKind::Symbol("-"))
            }
        }
    }

    fn negative(&mut self, word: &[u8], kind: TokenKind) -> Result<TokenKind, Stuck> {
        self.at += 1;
        for letter in word {
            self.expect(|b| b.to_ascii_lowercase() == *letter)?;
        }
        Ok(kind)
    }

    /// Integers, floats, hex numbers and durations of units; at the first digit.
    fn number(&mut self) -> Result<TokenKind, Stuck> {
        let unsigned = self.at == 0 || self.bytes[self.at - 1] != b'-';
        if unsigned && self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X') {
            self.at += 2;
            self.at += self.run(0, |b| b.is_ascii_hexdigit());
            return Ok(TokenKind::Hex);
        }
        self.at += self.run(0, |b| b.is_ascii_digit());
        if is_unit_start(&self.bytes[self.at..]) {
            self.units()?;
            return Ok(TokenKind::Duration);
        }
        let mut kind = TokenKind::Integer;
        if self.peek(0) == b'.' {
            // `1..5` is a range, `1...5` a float and a range.
            if self.peek(1) == b'.' && self.peek(2) != b'.' {
                return Ok(kind);
            }
            if self.peek(1) == b'.' {
                self.at += 1;
                return Ok(TokenKind::Float);
            }
            kind = TokenKind::Float;
            self.at += 1;
            self.at += self.run(0, |b| b.is_ascii_digit());
        }
        if matches!(self.peek(0), b'e' | b'E') {
            kind = TokenKind::Float;
            self.at += 1;
            if matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
            }
            self.expect(|b| b.is_ascii_digit())?;
            self.at += self.run(0, |b| b.is_ascii_digit());
        }
        Ok(kind)
    }

    /// `(unit digits)* unit`, at a unit.
    fn units(&mut self) -> Result<(), Stuck> {
        loop {
            self.unit()?;
            let digits = self.run(0, |b| b.is_ascii_digit());
            if digits == 0 {
                return Ok(());
            }
            self.at += digits;
        }
    }

    fn unit(&mut self) -> Result<(), Stuck> {
        let (first, second) =
            (self.peek(0).to_ascii_lowercase(), self.peek(1).to_ascii_lowercase());
        match (first, second) {
            (b'm', b'o' | b's') => self.at += 2,
            (b'y' | b'w' | b'd' | b'h' | b'm' | b's', _) => self.at += 1,
            (b'u' | b'n', _) => {
                self.at += 1;
                self.expect(|b| b.eq_ignore_ascii_case(&b's'))?;
            }
            (0xc2, 0xb5) => {
                self.at += 2;
                self.expect(|b| b.eq_ignore_ascii_case(&b's'))?;
            }
            _ => return Err(self.at),
        }
        Ok(())
    }

    /// An ISO 8601 period, at its `P`.
    fn period(&mut self) -> Result<(), Stuck> {
        if alternative_period_begins(&self.bytes[self.at..]) {
            for pattern in *b"P0000-00-00T00:00:00" {
                self.expect(|b| if pattern == b'0' { b.is_ascii_digit() } else { b == pattern })?;
            }
            return Ok(());
        }
        self.at += 1;
        if self.peek(0) == b'T' {
            return self.designators(b"HMS", true);
        }
        if self.run(0, |b| b.is_ascii_digit()) == 0 {
            return Err(self.at);
        }
        let digits = self.run(0, |b| b.is_ascii_digit());
        if self.peek(digits) == b'W' {
            self.at += digits + 1;
            return Ok(());
        }
        self.designators(b"YMD", false)?;
        if self.peek(0) == b'T' && self.peek(1).is_ascii_digit() {
            self.designators(b"HMS", true)?;
        }
        Ok(())
    }

    /// `digits letter` for some of the letters, in their order, at least one of them.
    fn designators(&mut self, letters: &[u8], with_t: bool) -> Result<(), Stuck> {
        if with_t {
            self.at += 1;
        }
        let mut any = false;
        let mut letters = letters;
        loop {
            let digits = self.run(0, |b| b.is_ascii_digit());
            if digits == 0 {
                return if any { Ok(()) } else { Err(self.at) };
            }
            self.at += digits;
            match letters.iter().position(|l| *l == self.peek(0)) {
                Some(n) => letters = &letters[n + 1..],
                None => return Err(self.at),
            }
            self.at += 1;
            any = true;
        }
    }

    /// From one quote to the next that is not doubled.
    fn quoted(&mut self, quote: u8) -> Result<(), Stuck> {
        self.at += 1;
        loop {
            match self.bytes[self.at..].iter().position(|b| *b == quote) {
                None => return Err(self.bytes.len()),
                Some(n) if self.peek(n + 1) == quote => self.at += n + 2,
                Some(n) => {
                    self.at += n + 1;
                    return Ok(());
                }
            }
        }
    }

    fn name(&mut self) -> Result<TokenKind, Stuck> {
        if self.peek(1) == b'"' && self.peek(2) != b'"' {
            self.at += 2;
            return Ok(TokenKind::EmptyQuotedName);
        }
        self.quoted(b'"').map(|()| TokenKind::QuotedName)
    }

    /// `$$text$$`. Without an end Cassandra stumbles over the last character.
    fn dollars(&mut self) -> Result<TokenKind, Stuck> {
        if self.peek(1) != b'$' {
            return Err(self.at + 1);
        }
        self.at += 2;
        match self.bytes[self.at..].windows(2).position(|w| w == b"$$") {
            Some(n) => {
                self.at += n + 2;
                Ok(TokenKind::String)
            }
            None if self.bytes.ends_with(b"$") || self.at == self.bytes.len() => {
                Err(self.bytes.len())
            }
            None => {
                let mut last = self.bytes.len() - 1;
                while self.bytes[last] & 0xc0 == 0x80 {
                    last -= 1;
                }
                Err(last)
            }
        }
    }
}

fn is_unit_start(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [
            b'y' | b'Y'
                | b'm'
                | b'M'
                | b'w'
                | b'W'
                | b'd'
                | b'D'
                | b'h'
                | b'H'
                | b's'
                | b'S'
                | b'u'
                | b'U'
                | b'n'
                | b'N',
            ..
        ] | [0xc2, 0xb5, ..]
    )
}

/// `P`, four digits, a minus: only the alternative format goes on so.
fn alternative_period_begins(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', a, b, c, d, b'-', ..] if [a, b, c, d].into_iter().all(u8::is_ascii_digit))
}
