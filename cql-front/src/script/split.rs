//! Finds the statements of a script: top-level semicolons, batches kept whole, comments cut out.
//!
//! The text of a statement is what remains of it without comments, trimmed; blanks are kept, so that
//! `line L:C` of a syntax error counts in that text (contracts.md 3). [`Statement::file_offset`] leads back to the file.

use super::directive::Directive;
use super::expect::Expectation;
use std::fmt;

/// A script, ready to run.
#[derive(Clone, Debug)]
pub struct Script {
    /// Name of the file, for messages.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Statements and directives in order.
    pub items: Vec<Item>,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Item {
    /// A directive and its line (from 1).
    Directive(Directive, usize),
    /// A statement.
    Statement(Statement),
}

/// A statement of a script.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its text without comments and semicolon, trimmed.
    pub text: String,
    /// Line of the file (from 1) on which it begins.
    pub line: usize,
    /// What its answer must be, each with its line.
    pub expectations: Vec<(Expectation, usize)>,
    /// `(offset in text, offset in file)` at which runs of copied text begin, ascending.
    origins: Vec<(usize, usize)>,
}

impl Statement {
    /// Byte offset in the file of byte `offset` of the statement's text.
    pub fn file_offset(&self, offset: usize) -> usize {
        let run = self.origins.partition_point(|&(at, _)| at <= offset).saturating_sub(1);
        self.origins.get(run).map_or(0, |&(at, file)| file + (offset - at))
    }
}

/// A script that cannot be run: a directive or expectation is unknown or malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// File.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.reason)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads a script. Nothing is run before the whole file has been read, so that a bad directive at its end
    /// costs nothing.
    ///
    /// # Errors
    /// The first unknown or malformed directive or expectation.
    pub fn parse(name: &str, text: &str) -> Result<Script, ScriptError> {
        let mut splitter = Splitter {
            name,
            text,
            items: Vec::new(),
            current: Pending::default(),
            line: 1,
            line_at: 0,
        };
        let mut at = 0;
        while at < text.len() {
            let (kind, len) = token(&text[at..]);
            splitter.take(kind, at, len)?;
            at += len;
        }
        splitter.finish_statement();
        let items = splitter.items;
        Ok(Script { name: name.to_string(), text: text.to_string(), items })
    }

    /// The statements, in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.items.iter().filter_map(|item| match item {
            Item::Statement(statement) => Some(statement),
            Item::Directive(..) => None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Comment,
    Semicolon,
    Word,
    Blank,
    Other,
}

/// The token at the start of `text` and its length in bytes. An open string or comment is one character.
fn token(text: &str) -> (TokenKind, usize) {
    let first = text.chars().next().expect("the caller stops at the end");
    let delimited = |open: &str, close: &str| {
        text[open.len()..].find(close).map(|at| open.len() + at + close.len())
    };
    if text.starts_with("--") || text.starts_with("//") {
        return (TokenKind::Comment, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*")
        && let Some(len) = delimited("/*", "*/")
    {
        return (TokenKind::Comment, len);
    }
    if text.starts_with("$$")
        && let Some(len) = delimited("$$", "$$")
    {
        return (TokenKind::Other, len);
    }
    match first {
        '\'' | '"' => (TokenKind::Other, quoted(text, first).unwrap_or(1)),
        ';' => (TokenKind::Semicolon, 1),
        'a'..='z' | 'A'..='Z' | '_' => {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            (TokenKind::Word, text.find(|c| !word(c)).unwrap_or(text.len()))
        }
        c if c.is_whitespace() => {
            (TokenKind::Blank, text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len()))
        }
        c => (TokenKind::Other, c.len_utf8()),
    }
}

/// Length of the quoted token at the start of `text`, doubled quotes inside; `None` if it is not closed.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut at = 1;
    loop {
        at += text[at..].find(quote)? + 1;
        if !text[at..].starts_with(quote) {
            return Some(at);
        }
        at += 1;
    }
}

/// The statement being collected.
#[derive(Default)]
struct Pending {
    text: String,
    origins: Vec<(usize, usize)>,
    /// First and last two words (runs between blanks), upper-cased: enough to know a batch.
    first_word: String,
    words: [String; 2],
    in_word: bool,
    first_done: bool,
    is_batch: bool,
    /// Offset in the file of its first byte that is no blank.
    begins: Option<usize>,
}

impl Pending {
    /// Follows the words of the text: `BEGIN ... BATCH` opens a batch, only `APPLY BATCH` before a `;` closes it.
    fn note_words(&mut self, piece: &str, kind: TokenKind) {
        if kind == TokenKind::Blank {
            self.in_word = false;
            self.first_done |= !self.first_word.is_empty();
            return;
        }
        if !self.is_batch
            && piece.eq_ignore_ascii_case("BATCH")
            && self.first_word.eq_ignore_ascii_case("BEGIN")
            && self.first_done
        {
            self.is_batch = true;
        }
        if !self.in_word {
            self.in_word = true;
            self.words.swap(0, 1);
            self.words[1].clear();
        }
        // Only short words matter; a long one cannot be APPLY or BATCH.
        if self.words[1].len() < 16 {
            self.words[1].push_str(&piece[..piece.floor_char_boundary(16)]);
        }
        if !self.first_done && self.first_word.len() < 16 {
            self.first_word.push_str(&piece[..piece.floor_char_boundary(16)]);
        }
    }

    fn ends_batch(&self) -> bool {
        self.words[0].eq_ignore_ascii_case("APPLY") && self.words[1].eq_ignore_ascii_case("BATCH")
    }
}

struct Splitter<'a> {
    name: &'a str,
    text: &'a str,
    items: Vec<Item>,
    current: Pending,
    /// Line of `line_at`, so that lines are counted once over the whole file.
    line: usize,
    line_at: usize,
}

impl Splitter<'_> {
    fn line_of(&mut self, at: usize) -> usize {
        if at < self.line_at {
            return 1 + self.text[..at].matches('\n').count();
        }
        self.line += self.text[self.line_at..at].matches('\n').count();
        self.line_at = at;
        self.line
    }

    fn take(&mut self, kind: TokenKind, at: usize, len: usize) -> Result<(), ScriptError> {
        let piece = &self.text[at..at + len];
        match kind {
            TokenKind::Comment => self.comment(piece, at),
            TokenKind::Semicolon if !self.current.is_batch || self.current.ends_batch() => {
                self.finish_statement();
                Ok(())
            }
            TokenKind::Semicolon | TokenKind::Word | TokenKind::Blank | TokenKind::Other => {
                let current = &mut self.current;
                if kind != TokenKind::Blank {
                    current.begins.get_or_insert(at);
                }
                current.note_words(piece, kind);
                let (to, from) = (current.text.len(), at);
                let joined = current.origins.last().is_some_and(|&(t, f)| from - f == to - t);
                if !joined {
                    current.origins.push((to, from));
                }
                current.text.push_str(piece);
                Ok(())
            }
        }
    }

    fn finish_statement(&mut self) {
        let pending = std::mem::take(&mut self.current);
        let Some(begins) = pending.begins else { return };
        let leading = pending.text.len() - pending.text.trim_start().len();
        let line = self.line_of(begins);
        let text = pending.text.trim().to_string();
        let mut origins: Vec<(usize, usize)> = Vec::new();
        for (at, file) in pending.origins {
            if at <= leading {
                origins.clear();
                origins.push((0, file + (leading - at)));
            } else {
                origins.push((at - leading, file));
            }
        }
        self.items.push(Item::Statement(Statement {
            text,
            line,
            expectations: Vec::new(),
            origins,
        }));
    }

    fn comment(&mut self, comment: &str, at: usize) -> Result<(), ScriptError> {
        let Some(body) = comment.strip_prefix("--") else { return Ok(()) };
        let line = self.line_of(at);
        let fail = |reason: String| ScriptError { name: self.name.to_string(), line, reason };
        if let Some(directive) = body.strip_prefix(" @") {
            let directive = Directive::parse(directive).map_err(fail)?;
            self.items.push(Item::Directive(directive, line));
        } else if let Some(expectation) = Expectation::parse(body).map_err(fail)? {
            let last = self.items.iter_mut().rev().find_map(|item| match item {
                Item::Statement(statement) => Some(statement),
                Item::Directive(..) => None,
            });
            match last {
                Some(statement) if self.current.begins.is_none() => {
                    statement.expectations.push((expectation, line));
                }
                _ => {
                    let reason = "an expectation must follow the statement it is about".to_string();
                    return Err(ScriptError { name: self.name.to_string(), line, reason });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<String> {
        Script::parse("s", script).unwrap().statements().map(|s| s.text.clone()).collect()
    }

    #[test]
    fn statements_end_at_top_level_semicolons() {
        assert_eq!(texts("SELECT 1; ; SELECT ';' ;"), ["SELECT 1", "SELECT ';'"]);
        assert_eq!(texts("INSERT 'it''s;' -- no; end\n x"), ["INSERT 'it''s;' \n x"]);
        assert_eq!(texts("a $$;$$ /* ; */ b;\"x;\""), ["a $$;$$  b", "\"x;\""]);
    }

    #[test]
    fn a_batch_is_one_statement() {
        let batch = "BEGIN UNLOGGED BATCH\n INSERT a; INSERT b; APPLY BATCH";
        assert_eq!(texts(&format!("{batch}; SELECT 1")), [batch, "SELECT 1"]);
        assert_eq!(texts("SELECT batch; SELECT 2"), ["SELECT batch", "SELECT 2"]);
    }

    #[test]
    fn offsets_lead_back_to_the_file() {
        let text = "  SELECT -- why\n  x;";
        let script = Script::parse("s", text).unwrap();
        let statement = script.statements().next().unwrap();
        let x = statement.text.find('x').unwrap();
        assert_eq!(&text[statement.file_offset(x)..], "x;");
        assert_eq!(statement.file_offset(0), 2);
    }
}
