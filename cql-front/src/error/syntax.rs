//! Text that is no CQL (0x2000): `line L:C` is Cassandra's, the rest of the text is ours.

use std::fmt;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub enum SyntaxError {
    /// A token that cannot stand where it stands. `line` counts from 1, `column` from 0; at the end of
    /// input Cassandra says `line 0:-1`.
    Unexpected {
        /// Line.
        line: usize,
        /// Column; -1 at the end of input.
        column: i64,
        /// What is wrong, in our words.
        reason: String,
    },
    /// A check that Cassandra's parser makes on what it has parsed; its text to the letter.
    Check(String),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SyntaxError::Unexpected { line, column, reason } => {
                write!(f, "line {line}:{column} {reason}")
            }
            SyntaxError::Check(text) => f.write_str(text),
        }
    }
}
