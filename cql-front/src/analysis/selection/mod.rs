//! Select lists: which columns and computed values make a result row (sheet A.5).
//!
//! A list goes through two rooms, because Cassandra checks WHERE between them:
//!
//! ```text
//! SELECT max(v) + 1, (int) ?        resolve: names, functions      Unknown function, Undefined column
//!        WHERE k = 1                (restrictions)                 ALLOW FILTERING ...
//!                                   build: types, markers, names   Cannot infer type, is not a collection
//!
//!   => columns    [ "system.max(v) + 1" int, "(int)?" int ]
//!      selectors  [ Call(_add, [Aggregate(0), Constant(0)]), Constant(1) ]
//!      aggregates [ max(Column v) ]      constants [ 1, ? ]
//! ```
//!
//! [`resolve`] gives a tree of [`Node`](resolve::Node)s, [`build`] the [`Selection`] that execution walks. A
//! [`Selector`] knows column ids and places in the key only, no names.
//!
//! Not here: how a selector is evaluated ([`crate::exec::select`]).

mod build;
mod fit;
pub mod resolve;

pub use build::build;
pub(in crate::analysis) use build::build_one;

use crate::analysis::terms::Term;
use crate::ast::CellTime;
use crate::functions::Function;
use crate::outcome::ColumnSpec;
use cassling_engine::schema::ColumnId;
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// A checked select list.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Columns of the result.
    pub columns: Arc<[ColumnSpec]>,
    /// How each is made.
    pub selectors: Vec<Selector>,
    /// Terms without columns, bound once for each execution.
    pub constants: Vec<Constant>,
    /// Aggregates, in the order of the text.
    pub aggregates: Vec<Aggregate>,
    /// Columns that are needed, in the order of their first use (messages name the first offender).
    pub requested: Vec<ColumnId>,
    /// Whether some selector aggregates: the answer is one row, or one for each group.
    pub is_aggregate: bool,
}

/// A term of a select list and what may not be bound to it.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The term.
    pub term: Term,
    /// Its use.
    pub role: ConstantRole,
}

/// What a term of a select list is for.
#[derive(Clone, Debug)]
pub enum ConstantRole {
    /// A value: null is null, unset is the zero-byte value.
    Value,
    /// The key of `m[?]`: neither null nor unset; holds the text of what is selected from.
    Element(String),
    /// An end of `m[?..?]`: unset is open; holds the text of what is selected from.
    SliceEnd(String),
}

/// An aggregate of a select list.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// The function; `None` counts rows.
    pub function: Option<Function>,
    /// Its arguments.
    pub arguments: Vec<Selector>,
}

/// One value of a result row.
#[derive(Clone, Debug)]
pub enum Selector {
    /// A column as it stands.
    Column(Source),
    /// A term: place in [`Selection::constants`].
    Constant(usize),
    /// Result of an aggregate: place in [`Selection::aggregates`].
    Aggregate(usize),
    /// A scalar function, operation, negation or cast.
    Call {
        /// What is called.
        function: Function,
        /// With what.
        arguments: Vec<Selector>,
    },
    /// writetime, maxwritetime, ttl.
    CellTime(Box<CellTimeSelector>),
    /// `of[key]`.
    Element {
        /// A set or map.
        of: Box<Selector>,
        /// Type of the elements or keys.
        key_ty: CqlType,
        /// Whether it is a map.
        is_map: bool,
        /// The key: place in [`Selection::constants`].
        key: usize,
    },
    /// `of[from..to]`.
    Slice {
        /// A set or map.
        of: Box<Selector>,
        /// Type of the elements or keys.
        key_ty: CqlType,
        /// Whether it is a map.
        is_map: bool,
        /// Whether it is one value: an empty slice is then an empty collection, not null.
        frozen: bool,
        /// First key: place in [`Selection::constants`].
        from: Option<usize>,
        /// Last key.
        to: Option<usize>,
    },
    /// `of.field`.
    Field {
        /// A value of a user-defined type.
        of: Box<Selector>,
        /// Place of the field.
        index: usize,
    },
    /// A tuple or value of a user-defined type; `None` is a field left out.
    Tuple(Vec<Option<Selector>>),
    /// A list.
    List(Vec<Selector>),
    /// A set.
    Set {
        /// Type of the whole, for its order.
        ty: CqlType,
        /// Elements.
        elements: Vec<Selector>,
    },
    /// A map.
    Map {
        /// Type of the whole, for its order.
        ty: CqlType,
        /// Keys and values.
        entries: Vec<(Selector, Selector)>,
    },
    /// A vector.
    Vector {
        /// Type of the elements.
        element: CqlType,
        /// Elements, as many as the vector has.
        elements: Vec<Selector>,
    },
}

/// Where a column's value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Component of the partition key.
    PartitionKey(usize),
    /// Clustering column.
    Clustering(usize),
    /// One cell.
    Cell {
        /// Column.
        column: ColumnId,
        /// In the static row.
        is_static: bool,
    },
    /// A cell for each element or field.
    Cells {
        /// Column.
        column: ColumnId,
        /// In the static row.
        is_static: bool,
        /// How they make up a value.
        shape: Shape,
    },
}

/// How the cells of a column make up its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The values, by path.
    List,
    /// The paths.
    Set,
    /// Paths and values.
    Map,
    /// The values, each at the place its path says; holds the number of fields.
    Udt(usize),
}

/// writetime, maxwritetime or ttl of a column or a part of it.
#[derive(Clone, Debug)]
pub struct CellTimeSelector {
    /// Which.
    pub kind: CellTime,
    /// The column.
    pub source: Source,
    /// Which of its cells.
    pub part: CellPart,
    /// A list with an entry for each cell, as writetime and ttl of several cells give.
    pub as_list: bool,
    /// The value that is selected: where it is null there is no time either, be the cell there or not.
    pub value: Selector,
}

/// Which cells of a column.
#[derive(Clone, Debug)]
pub enum CellPart {
    /// All of them.
    Whole,
    /// The one at a key.
    Element {
        /// Type of the keys.
        key_ty: CqlType,
        /// The key: place in [`Selection::constants`].
        key: usize,
    },
    /// Those from key to key.
    Slice {
        /// Type of the keys.
        key_ty: CqlType,
        /// First key.
        from: Option<usize>,
        /// Last key.
        to: Option<usize>,
    },
    /// The one of a field.
    Field(usize),
}

/// The items with `, ` between them.
fn join(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(", ")
}
