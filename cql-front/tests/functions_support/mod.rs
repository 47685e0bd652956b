//! A small stand-in for the whole server: CREATE, INSERT ... VALUES with literals, and SELECT of expressions over the rows
//! of a map. Just enough to put terms and functions to Cassandra's recorded answers.

use cassling::Error;
use cassling::analysis::terms::{self, BindValue, Bound, Env, Fit};
use cassling::analysis::{Context, Receiver, ddl};
use cassling::ast::{
    AssignmentKind, Comparison, InsertSource, Relation, RelationKind, Select, Selector,
    SelectorKind, Statement, Term, TermKind,
};
use cassling::functions::{self, Argument, Function};
use cassling::parser::parse;
use cassling_engine::cluster::{Cluster, ClusterConfig};
use cassling_engine::ring::token::murmur3_token;
use cassling_engine::schema::{ColumnKind, Schema, Table};
use cassling_engine::types::{CqlType, codec, order};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) type Row = BTreeMap<String, Vec<u8>>;

/// Rows by the order-keeping encodings of their primary key.
type Stored = BTreeMap<Vec<Option<Vec<u8>>>, Row>;

/// What a statement gives: rows of values, or nothing.
pub(crate) type Rows = Vec<Vec<Option<Vec<u8>>>>;

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) schema: Schema,
    pub(crate) keyspace: Option<String>,
    /// Rows by table and primary key.
    pub(crate) rows: BTreeMap<String, Stored>,
    /// Tables that a statement wrote to which the stand-in could not run.
    pub(crate) stale: BTreeSet<String>,
}

/// A select list item made ready.
enum Expr {
    Column(String, CqlType),
    /// A literal or marker that takes its type from what it is passed to.
    Term(Term),
    CountRows(Function),
    Call(Function, Vec<Expr>),
    Tuple(Vec<Expr>),
    Hint(CqlType, Term),
    Skipped,
}

/// The statement uses what the stand-in does not have.
pub(crate) struct Skipped;

pub(crate) type Outcome = Result<Result<Rows, Error>, Skipped>;

impl World {
    pub(crate) fn new() -> World {
        World {
            cluster: Cluster::build(ClusterConfig::default()).expect("the default makes a cluster"),
            schema: Schema { version: uuid::Uuid::nil(), keyspaces: BTreeMap::new() },
            keyspace: None,
            rows: BTreeMap::new(),
            stale: BTreeSet::new(),
        }
    }

    /// Runs a statement. What it cannot run it skips.
    pub(crate) fn run(&mut self, cql: &str, values: &[BindValue]) -> Outcome {
        let parsed = parse(cql).map_err(|_| Skipped)?;
        let schema = self.schema.clone();
        let keyspace = self.keyspace.clone();
        let markers = parsed.markers.len();
        let cx = Context::new(&schema, keyspace.as_deref(), 1_700_000_000_000, &[], markers);
        match &parsed.statement {
            Statement::Use(name) => {
                self.keyspace = Some(name.text.clone());
                Ok(Ok(Vec::new()))
            }
            Statement::CreateKeyspace(_) | Statement::CreateTable(_) | Statement::CreateType(_) => {
                let plan = ddl::analyse(&cx, &parsed.statement).map_err(|_| Skipped)?;
                let id = || self.cluster.random_uuid();
                let decision = ddl::decide(&cx, &plan, 0, &id).map_err(|_| Skipped)?;
                for change in decision.change.into_iter().flat_map(|(changes, _)| changes) {
                    self.schema = self.schema.apply(&change);
                }
                Ok(Ok(Vec::new()))
            }
            Statement::Insert(insert) => {
                let InsertSource::Values { columns, values: given, .. } = &insert.source else {
                    return Err(Skipped);
                };
                let table = cx.table_of(&insert.table).map_err(|_| Skipped)?;
                let pairs = columns.iter().map(|it| it.text.as_str()).zip(given).collect();
                self.insert(&cx, &table, pairs, values)
            }
            Statement::Update(update) => {
                let table = cx.table_of(&update.table).map_err(|_| Skipped)?;
                if update.condition.is_some() {
                    return Err(Skipped);
                }
                let mut pairs = Vec::new();
                for assignment in &update.assignments {
                    let AssignmentKind::Set(term) = &assignment.operation else {
                        return Err(Skipped);
                    };
                    pairs.push((assignment.column.text.as_str(), term));
                }
                pairs.extend(equalities(&update.relations)?);
                self.insert(&cx, &table, pairs, values)
            }
            Statement::Delete(delete) => {
                let table = cx.table_of(&delete.table).map_err(|_| Skipped)?;
                if !delete.targets.is_empty() || delete.condition.is_some() {
                    return Err(Skipped);
                }
                let matching = match self.filters(&cx, &table, &delete.relations, values)? {
                    Ok(filters) => filters,
                    Err(error) => return Ok(Err(error)),
                };
                if let Some(rows) = self.rows.get_mut(&table.cql_name()) {
                    rows.retain(|_, row| !matches(row, &matching));
                }
                Ok(Ok(Vec::new()))
            }
            Statement::Select(select) => {
                let table = cx.table_of(&select.table).map_err(|_| Skipped)?;
                self.select(&cx, &table, select, values)
            }
            _ => Err(Skipped),
        }
    }

    fn env<'v>(&'v self, values: &'v [BindValue]) -> Env<'v> {
        Env { values, cluster: &self.cluster }
    }

    /// Notes that what the table holds is no longer known.
    pub(crate) fn distrust(&mut self, cql: &str) {
        let name = match parse(cql).map(|it| it.statement) {
            Ok(Statement::Update(it)) => it.table,
            Ok(Statement::Insert(it)) => it.table,
            Ok(Statement::Delete(it)) => it.table,
            Ok(Statement::Truncate(it)) => it,
            _ => return,
        };
        let keyspace =
            name.keyspace.map(|it| it.text).or(self.keyspace.clone()).unwrap_or_default();
        self.stale.insert(format!("{keyspace}.{}", name.name.text));
    }

    #[expect(clippy::type_complexity, reason = "a refusal of ours or of Cassandra's kind")]
    fn filters(
        &self,
        cx: &Context<'_>,
        table: &Table,
        relations: &[Relation],
        values: &[BindValue],
    ) -> Result<Result<Vec<(String, CqlType, Vec<u8>)>, Error>, Skipped> {
        let mut filters = Vec::new();
        for (name, raw) in equalities(relations)? {
            let ty = &table.column(name).ok_or(Skipped)?.ty;
            let term = match terms::prepare(cx, raw, &receiver(table, name, ty)) {
                Ok(term) => term,
                Err(error) => return Ok(Err(error)),
            };
            match term.bind(&self.env(values)) {
                Ok(Bound::Value(bytes)) => {
                    filters.push((name.to_string(), ty.clone(), bytes.into_owned()))
                }
                Ok(_) => return Err(Skipped),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(filters))
    }

    fn insert(
        &mut self,
        cx: &Context<'_>,
        table: &Arc<Table>,
        pairs: Vec<(&str, &Term)>,
        values: &[BindValue],
    ) -> Outcome {
        let mut row = Row::new();
        let mut prepared = Vec::new();
        for (name, raw) in pairs {
            let column = table.column(name).ok_or(Skipped)?;
            let receiver = receiver(table, name, &column.ty);
            match terms::prepare(cx, raw, &receiver) {
                Ok(term) => prepared.push((name.to_string(), term)),
                Err(error) => return Ok(Err(error)),
            }
        }
        let mut unset = Vec::new();
        for (name, term) in &prepared {
            match term.bind(&self.env(values)) {
                Ok(Bound::Value(bytes)) => {
                    // A collection of cells without a cell is no collection.
                    let ty = &table.column(name).ok_or(Skipped)?.ty;
                    if !ty.is_multi_cell() || (!bytes.is_empty() && *bytes != [0; 4]) {
                        row.insert(name.clone(), bytes.into_owned());
                    }
                }
                Ok(Bound::Null) => {}
                Ok(Bound::Unset) => unset.push(name.as_str()),
                Err(error) => return Ok(Err(error)),
            }
        }
        let key = table
            .columns()
            .iter()
            .filter(|column| column.is_primary_key())
            .map(|column| {
                row.get(&column.name).map(|bytes| {
                    let mut encoded = Vec::new();
                    order::encode(&column.ty, bytes, false, &mut encoded);
                    encoded
                })
            })
            .collect();
        let set: Vec<&str> = prepared.iter().map(|(name, _)| name.as_str()).collect();
        let kept = self.rows.entry(table.cql_name()).or_default().entry(key).or_default();
        for name in set.into_iter().filter(|name| !unset.contains(name)) {
            match row.remove(name) {
                // Of equal keys the first written stays.
                Some(_)
                    if kept.contains_key(name)
                        && table.column(name).is_some_and(|it| it.is_primary_key()) => {}
                Some(bytes) => {
                    kept.insert(name.to_string(), bytes);
                }
                None => {
                    kept.remove(name);
                }
            }
        }
        Ok(Ok(Vec::new()))
    }

    fn select(
        &self,
        cx: &Context<'_>,
        table: &Arc<Table>,
        select: &Select,
        values: &[BindValue],
    ) -> Outcome {
        if self.stale.contains(&table.cql_name()) && !select.selectors.is_empty() {
            return Err(Skipped);
        }
        if select.json
            || select.distinct
            || select.selectors.is_empty()
            || !select.group_by.is_empty()
            || select.limit.is_some()
            || select.per_partition_limit.is_some()
            || !select.order_by.is_empty()
            || table.columns().iter().any(|it| it.kind == ColumnKind::Static)
            || table.columns().iter().any(|it| it.ty == CqlType::Counter)
        {
            return Err(Skipped);
        }
        let mut exprs = Vec::new();
        for item in &select.selectors {
            match compile(cx, table, &item.selector) {
                Ok(expr) if expr.is_supported() => exprs.push(expr),
                Ok(_) => return Err(Skipped),
                Err(error) => return Ok(Err(error)),
            }
        }
        let filters = match self.filters(cx, table, &select.relations, values)? {
            Ok(filters) => filters,
            Err(error) => return Ok(Err(error)),
        };
        let env = self.env(values);
        let empty = BTreeMap::new();
        let mut rows: Vec<&Row> = self
            .rows
            .get(&table.cql_name())
            .unwrap_or(&empty)
            .values()
            .filter(|row| matches(row, &filters))
            .collect();
        // Sums of floating numbers depend on the order, which is that of the tokens.
        let key: Vec<&str> = table.partition_key().iter().map(|it| it.name.as_str()).collect();
        if let [only] = key.as_slice() {
            rows.sort_by_key(|row| murmur3_token(&row[*only]));
        }
        let aggregate = exprs.iter().any(Expr::has_aggregate);
        let groups: Vec<Vec<&Row>> =
            if aggregate { vec![rows] } else { rows.into_iter().map(|row| vec![row]).collect() };
        let evaluated: Result<Rows, Error> = groups
            .iter()
            .map(|group| exprs.iter().map(|expr| expr.value(cx, &env, group, None)).collect())
            .collect();
        Ok(evaluated)
    }
}

/// The columns that WHERE sets equal to something; nothing else may stand there.
fn equalities(relations: &[Relation]) -> Result<Vec<(&str, &Term)>, Skipped> {
    relations
        .iter()
        .map(|relation| match &relation.kind {
            RelationKind::Column { column, operator: Comparison::Eq, value } => {
                Ok((column.text.as_str(), value))
            }
            _ => Err(Skipped),
        })
        .collect()
}

fn matches(row: &Row, filters: &[(String, CqlType, Vec<u8>)]) -> bool {
    filters.iter().all(|(name, ty, bytes)| {
        row.get(name).is_some_and(|it| order::compare(ty, it, bytes).is_eq())
    })
}

fn receiver(table: &Table, name: &str, ty: &CqlType) -> Receiver {
    Receiver {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name: name.to_string(),
        ty: ty.clone(),
    }
}

/// Resolves a select list item.
fn compile(cx: &Context<'_>, table: &Table, selector: &Selector) -> Result<Expr, Error> {
    let all =
        |of: &[Selector]| of.iter().map(|it| compile(cx, table, it)).collect::<Result<Vec<_>, _>>();
    let call = |texts: Vec<String>,
                arguments: Vec<Expr>,
                find: &dyn Fn(&[Argument<'_>]) -> Result<Function, Error>|
     -> Result<Expr, Error> {
        if arguments.iter().any(|it| !it.is_supported()) {
            return Ok(Expr::Skipped);
        }
        let fits: Vec<_> = arguments
            .iter()
            .map(|it| move |ty: &CqlType| it.fit(cx, &table.keyspace, ty))
            .collect();
        let shown: Vec<Argument<'_>> = arguments
            .iter()
            .zip(&fits)
            .zip(texts)
            .map(|((it, fit), text)| Argument {
                text,
                ty: it.ty(),
                preferred: it.preferred(cx, &table.keyspace),
                fit,
            })
            .collect();
        let function = find(&shown);
        drop(shown);
        drop(fits);
        Ok(Expr::Call(function?, arguments))
    };
    Ok(match &selector.kind {
        SelectorKind::Column(name) => match table.column(&name.text) {
            Some(column) => Expr::Column(name.text.clone(), column.ty.clone()),
            None => Expr::Skipped,
        },
        SelectorKind::Term(term) => Expr::Term(term.clone()),
        SelectorKind::CountRows => {
            Expr::CountRows(functions::resolve(cx, None, "count_rows", &[], None, None)?)
        }
        SelectorKind::Function { name, arguments } => {
            let keyspace = name.keyspace.as_ref().map(|it| it.text.as_str());
            let literal = matches!(
                arguments.as_slice(),
                [Selector {
                    kind: SelectorKind::Term(Term { kind: TermKind::Literal { .. }, .. }),
                    ..
                }]
            );
            if name.name.text == "count" && literal {
                let rows = functions::resolve(cx, None, "count_rows", &[], None, None)?;
                return Ok(Expr::CountRows(rows));
            }
            let texts = arguments.iter().map(|it| text(table, it)).collect();
            call(texts, all(arguments)?, &|arguments| {
                functions::resolve(cx, keyspace, &name.name.text, arguments, Some(table), None)
            })?
        }
        SelectorKind::Cast { selector, ty } => {
            let of = compile(cx, table, selector)?;
            if !of.is_supported() || of.ty().is_none() {
                return Ok(Expr::Skipped);
            }
            let to = terms::resolve_type(cx, &table.keyspace, ty)?;
            if of.ty().as_ref() == Some(&to) {
                return Ok(of);
            }
            let written = terms::print::type_name(ty, &table.keyspace);
            call(vec![text(table, selector)], vec![of], &|arguments| {
                functions::resolve_cast_as(cx, &arguments[0], &to, &written)
                    .map(|found| found.expect("types differ"))
            })?
        }
        SelectorKind::Negate(of) => {
            call(vec![text(table, of)], vec![compile(cx, table, of)?], &|arguments| {
                functions::resolve_negation(cx, &arguments[0], None)
            })?
        }
        SelectorKind::Operation { operator, left, right } => {
            let texts = vec![text(table, left), text(table, right)];
            let sides = vec![compile(cx, table, left)?, compile(cx, table, right)?];
            call(texts, sides, &|arguments| {
                functions::resolve_operation(cx, *operator, &arguments[0], &arguments[1], None)
            })?
        }
        SelectorKind::Tuple(parts) if parts.len() == 1 => compile(cx, table, &parts[0])?,
        SelectorKind::Tuple(parts) => Expr::Tuple(all(parts)?),
        SelectorKind::TypeHint { ty, selector } => match (&selector.kind, literal(selector)) {
            (_, Some(term)) => Expr::Hint(terms::resolve_type(cx, &table.keyspace, ty)?, term),
            _ => Expr::Skipped,
        },
        SelectorKind::List(_) | SelectorKind::Set(_) | SelectorKind::Map { .. } => {
            literal(selector).map_or(Expr::Skipped, Expr::Term)
        }
        _ => Expr::Skipped,
    })
}

/// A selector without columns as a term.
fn literal(selector: &Selector) -> Option<Term> {
    let all = |of: &[Selector]| of.iter().map(literal).collect::<Option<Vec<Term>>>();
    let kind = match &selector.kind {
        SelectorKind::Term(term) => return Some(term.clone()),
        SelectorKind::List(items) => TermKind::List(all(items)?),
        SelectorKind::Set(items) => TermKind::Set(all(items)?),
        SelectorKind::Tuple(items) => TermKind::Tuple(all(items)?),
        SelectorKind::Map { entries } => TermKind::Map(
            entries
                .iter()
                .map(|(k, v)| Some((literal(k)?, literal(v)?)))
                .collect::<Option<Vec<_>>>()?,
        ),
        _ => return None,
    };
    Some(Term { kind, span: selector.span })
}

/// The selector as messages print it.
fn text(table: &Table, selector: &Selector) -> String {
    let all = |of: &[Selector]| of.iter().map(|it| text(table, it)).collect::<Vec<_>>().join(", ");
    match &selector.kind {
        SelectorKind::Column(name) => name.text.clone(),
        SelectorKind::Term(term) => terms::print::term(term, &table.keyspace),
        SelectorKind::Function { name, arguments } => {
            format!("system.{}({})", name.name.text, all(arguments))
        }
        SelectorKind::Negate(of) => format!("-{}", text(table, of)),
        SelectorKind::Operation { operator, left, right } => {
            format!("{} {operator} {}", text(table, left), text(table, right))
        }
        SelectorKind::List(items) => format!("[{}]", all(items)),
        SelectorKind::Set(items) => format!("{{{}}}", all(items)),
        SelectorKind::Tuple(items) => format!("({})", all(items)),
        SelectorKind::Map { entries } => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", text(table, k), text(table, v)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        SelectorKind::TypeHint { ty, selector } => {
            format!("({}){}", terms::print::type_name(ty, &table.keyspace), text(table, selector))
        }
        _ => "?".to_string(),
    }
}

impl Expr {
    fn is_supported(&self) -> bool {
        match self {
            Expr::Skipped => false,
            Expr::Call(_, of) | Expr::Tuple(of) => of.iter().all(Expr::is_supported),
            _ => true,
        }
    }

    fn has_aggregate(&self) -> bool {
        match self {
            Expr::CountRows(_) => true,
            Expr::Call(function, of) => function.is_aggregate || of.iter().any(Expr::has_aggregate),
            _ => false,
        }
    }

    fn ty(&self) -> Option<CqlType> {
        match self {
            Expr::Column(_, ty) | Expr::Hint(ty, _) => Some(ty.clone()),
            Expr::Call(function, _) | Expr::CountRows(function) => Some(function.returns.clone()),
            Expr::Tuple(of) => {
                let parts: Option<Vec<CqlType>> = of.iter().map(Expr::ty).collect();
                Some(CqlType::Tuple(parts?.into()))
            }
            Expr::Term(_) | Expr::Skipped => None,
        }
    }

    fn preferred(&self, cx: &Context<'_>, keyspace: &str) -> Option<CqlType> {
        match self {
            Expr::Term(Term { kind: TermKind::List(items), .. }) => {
                let types = items.iter().map(|it| terms::preferred_type(cx, keyspace, it));
                terms::common_type(types)
                    .map(|element| CqlType::List { element: Arc::new(element), frozen: true })
            }
            Expr::Term(Term { kind: TermKind::Map(_), .. }) => None,
            Expr::Term(term) => terms::preferred_type(cx, keyspace, term),
            other => other.ty(),
        }
    }

    fn fit(&self, cx: &Context<'_>, keyspace: &str, ty: &CqlType) -> Fit {
        match self {
            Expr::Term(term) => terms::try_test(cx, keyspace, term, ty).unwrap_or(Fit::Not),
            other => other.ty().map_or(Fit::Not, |given| terms::fit_result(&given, ty)),
        }
    }

    fn value(
        &self,
        cx: &Context<'_>,
        env: &Env<'_>,
        group: &[&Row],
        wanted: Option<&CqlType>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self {
            Expr::Column(name, _) => Ok(group.first().and_then(|row| row.get(name).cloned())),
            Expr::Hint(ty, term) => constant(cx, env, term, ty),
            Expr::Term(term) => {
                constant(cx, env, term, wanted.expect("a bare literal is an argument"))
            }
            Expr::CountRows(function) => {
                let mut state = function.accumulator();
                for _ in group {
                    state.add(&[])?;
                }
                state.result()
            }
            Expr::Call(function, of) if function.is_aggregate => {
                let mut state = function.accumulator();
                for row in group {
                    let values = arguments(cx, env, &[*row], function, of)?;
                    let values: Vec<Option<&[u8]>> =
                        values.iter().map(|it| it.as_deref()).collect();
                    state.add(&values)?;
                }
                state.result()
            }
            Expr::Call(function, of) => {
                let values = arguments(cx, env, group, function, of)?;
                let values: Vec<Option<&[u8]>> = values.iter().map(|it| it.as_deref()).collect();
                function.call(env, &values)
            }
            Expr::Tuple(of) => {
                let values: Result<Vec<Option<Vec<u8>>>, Error> =
                    of.iter().map(|it| it.value(cx, env, group, None)).collect();
                let values = values?;
                Ok(Some(codec::write_components(values.iter().map(|it| it.as_deref()))))
            }
            Expr::Skipped => unreachable!("checked before"),
        }
    }
}

fn arguments(
    cx: &Context<'_>,
    env: &Env<'_>,
    group: &[&Row],
    function: &Function,
    of: &[Expr],
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    of.iter().zip(&function.parameters).map(|(it, ty)| it.value(cx, env, group, Some(ty))).collect()
}

fn constant(
    cx: &Context<'_>,
    env: &Env<'_>,
    term: &Term,
    ty: &CqlType,
) -> Result<Option<Vec<u8>>, Error> {
    let receiver = Receiver {
        keyspace: String::new(),
        table: String::new(),
        name: "[selection]".to_string(),
        ty: ty.clone(),
    };
    let term = terms::prepare(cx, term, &receiver)?;
    Ok(match term.bind(env)? {
        Bound::Value(bytes) => Some(bytes.into_owned()),
        Bound::Null => None,
        Bound::Unset => Some(Vec::new()),
    })
}
