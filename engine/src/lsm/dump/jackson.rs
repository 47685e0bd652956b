//! JSON laid out as Cassandra's tools lay it out: Jackson's pretty printer with an indenter that can be told, for
//! objects and for arrays, to stay on the line.
//!
//! ```text
//! { "name" : "v", "deletion_info" : { "local_delete_time" : "…" },     the indenter of objects stays on the line
//!   "tstamp" : "…"                                                     and was told not to, behind the inner object
//! }
//! ```

use crate::types::display::json_string;
use std::io::{self, Write};

/// What is open: the number of entries so far, and whether a field's value is due.
#[derive(Debug, Default)]
struct Level {
    entries: usize,
    value_due: bool,
    is_array: bool,
}

/// Writes JSON, one token after the other.
pub(super) struct Json<'w> {
    out: &'w mut dyn Write,
    levels: Vec<Level>,
    roots: usize,
    /// No blanks at all, root values on lines of their own.
    minimal: bool,
    pub(super) objects_compact: bool,
    pub(super) arrays_compact: bool,
}

impl<'w> Json<'w> {
    pub(super) fn new(out: &'w mut dyn Write, minimal: bool) -> Json<'w> {
        Json {
            out,
            levels: Vec::new(),
            roots: 0,
            minimal,
            objects_compact: false,
            arrays_compact: false,
        }
    }

    fn indent(&mut self, compact: bool) -> io::Result<()> {
        if self.minimal {
            return Ok(());
        }
        if compact {
            return self.out.write_all(b" ");
        }
        write!(self.out, "\n{:1$}", "", 2 * self.levels.len())
    }

    /// What stands before a value.
    fn before_value(&mut self) -> io::Result<()> {
        let compact = self.arrays_compact;
        let Some(level) = self.levels.last_mut() else {
            self.roots += 1;
            return if self.roots > 1 { self.out.write_all(b"\n") } else { Ok(()) };
        };
        if std::mem::take(&mut level.value_due) {
            return self.out.write_all(if self.minimal { b":" } else { b" : " });
        }
        level.entries += 1;
        if level.entries > 1 {
            self.out.write_all(b",")?;
        }
        self.indent(compact)
    }

    /// The name of the next value of an object.
    pub(super) fn field(&mut self, name: &str) -> io::Result<&mut Json<'w>> {
        let compact = self.objects_compact;
        let level = self.levels.last_mut().expect("a field stands in an object");
        level.entries += 1;
        level.value_due = true;
        if level.entries > 1 {
            self.out.write_all(b",")?;
        }
        self.indent(compact)?;
        self.out.write_all(json_string(name).as_bytes())?;
        Ok(self)
    }

    /// A value that is JSON already.
    pub(super) fn raw(&mut self, json: &str) -> io::Result<()> {
        self.before_value()?;
        self.out.write_all(json.as_bytes())
    }

    pub(super) fn string(&mut self, text: &str) -> io::Result<()> {
        self.raw(&json_string(text))
    }

    pub(super) fn begin_object(&mut self) -> io::Result<()> {
        self.before_value()?;
        self.levels.push(Level::default());
        self.out.write_all(b"{")
    }

    pub(super) fn begin_array(&mut self) -> io::Result<()> {
        self.before_value()?;
        self.levels.push(Level { is_array: true, ..Level::default() });
        self.out.write_all(b"[")
    }

    /// Ends the innermost object or array.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let level = self.levels.pop().expect("what ends has begun");
        let compact = if level.is_array { self.arrays_compact } else { self.objects_compact };
        // Even an empty one holds a blank.
        self.indent(compact || level.entries == 0)?;
        self.out.write_all(if level.is_array { b"]" } else { b"}" })
    }
}
