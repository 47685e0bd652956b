//! Random schemas and steps. Few keys, few values, few timestamps: so that everything meets everything.

use super::history::{History, Step};
use super::statement::{
    Change, Column, Item, Keys, Op, Read, Relation, Schema, Select, Target, Using, Write,
};
use super::value::{Term, Type, V};
use cassling_engine::sim::rng::Rng;

/// Draws one history.
pub struct Generator {
    rng: Rng,
    schema: Schema,
    /// Texts of some kilobytes, so that a few rows fill a block of an SSTable.
    wide: bool,
    /// Writes without USING TIMESTAMP get the cluster's.
    server_timestamps: bool,
    /// Nodes stop and start, and nothing expires: a replica sends an expired cell as the tombstone it has become, and
    /// that beats an expiring cell of the same timestamp which the replica missed (sheet B.7, B.2). Cassandra's
    /// answer then depends on who was asked, and when; the model knows one answer only.
    stops: bool,
}

fn pick<T: Clone>(rng: &mut Rng, from: &[T]) -> T {
    from[usize::try_from(rng.below(from.len() as u64)).expect("small")].clone()
}

/// The history of a seed; one of five is [`wide`].
pub fn history(seed: u64) -> History {
    let mut rng = Rng::new(seed).fork("history");
    let wide = rng.below(5) == 0;
    draw(seed, rng, wide)
}

/// A history of one wide partition, whose rows fill several blocks of an SSTable.
pub fn wide(seed: u64) -> History {
    draw(seed, Rng::new(seed).fork("wide"), true)
}

fn draw(seed: u64, mut rng: Rng, wide: bool) -> History {
    let mut schema = schema(&mut rng, wide);
    let server_timestamps = rng.below(4) == 0;
    let nodes = if rng.below(8) == 0 { 3 } else { 1 };
    let stops = nodes > 1 && rng.below(2) == 0;
    if stops {
        schema.default_ttl_seconds = 0;
    }
    let mut generator = Generator { rng, schema, wide, server_timestamps, stops };
    let count = generator.below(16) + if wide { 30 } else { 10 };
    let mut down = false;
    let mut steps = Vec::new();
    for _ in 0..count {
        steps.push(generator.step(&mut down));
    }
    // What every history ends with: all of it, from memtables and from SSTables, in both directions.
    steps.extend(generator.finale());
    History { seed, schema: generator.schema, nodes, steps }
}

fn schema(rng: &mut Rng, wide: bool) -> Schema {
    let types = [Type::Int, Type::Text];
    let partition = if rng.below(4) == 0 { vec![Type::Int, Type::Text] } else { vec![Type::Int] };
    let most = if wide { 1 + rng.below(2) } else { 3 };
    let mut clustering = Vec::new();
    let count = if wide { 1 } else { u64::from(rng.below(8) > 0) } + rng.below(most);
    for n in 0..count.min(3) {
        let ty = if wide && n == 0 { Type::Int } else { pick(rng, &types) };
        clustering.push((ty, rng.below(2) == 0));
    }
    let any = [Type::Int, Type::Text, Type::Set, Type::Map, Type::List, Type::Udt, Type::Frozen];
    let mut columns = Vec::new();
    let statics = if clustering.is_empty() { 0 } else { rng.below(3) };
    for n in 0..statics {
        columns.push(Column { name: format!("s{n}"), ty: pick(rng, &any), is_static: true });
    }
    for n in 0..1 + rng.below(4) {
        let ty = if wide && n == 0 { Type::Text } else { pick(rng, &any) };
        columns.push(Column { name: format!("v{n}"), ty, is_static: false });
    }
    let default_ttl_seconds = if rng.below(6) == 0 { 12 } else { 0 };
    Schema { partition, clustering, columns, default_ttl_seconds }
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.rng.below(bound as u64)).expect("small")
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn key_value(&mut self, ty: Type) -> V {
        match ty {
            Type::Text => V::Text(pick(&mut self.rng, &["", "a", "b", "é"]).to_string()),
            _ => V::Int(pick(&mut self.rng, &[-7, 0, 1, 2, 300])),
        }
    }

    fn partition(&mut self) -> Vec<V> {
        let types = self.schema.partition.clone();
        let spread = if self.wide { 1 } else { 3 };
        let mut value = |ty| match ty {
            Type::Text => V::Text(["a", "b"][self.below(2)].to_string()),
            _ => V::Int([1, 2, 3][self.below(spread)]),
        };
        types.into_iter().map(&mut value).collect()
    }

    fn clustering(&mut self) -> Vec<V> {
        let types: Vec<Type> = self.schema.clustering.iter().map(|(ty, _)| *ty).collect();
        let wide = self.wide;
        types
            .into_iter()
            .map(|ty| match ty {
                Type::Int if wide => V::Int(i32::try_from(self.below(12)).expect("small")),
                ty => self.key_value(ty),
            })
            .collect()
    }

    fn scalar(&mut self, ty: Type) -> V {
        match ty {
            Type::Text if self.wide => {
                V::Text(["x", "y"][self.below(2)].repeat(4_000 + 2_000 * self.below(3)))
            }
            Type::Text => V::Text(["", "a", "ab", "b"][self.below(4)].to_string()),
            _ => V::Int([-1, 0, 1, 2, 5][self.below(5)]),
        }
    }

    fn ints(&mut self, least: usize) -> Vec<V> {
        let count = least + self.below(3);
        (0..count).map(|_| self.scalar(Type::Int)).collect()
    }

    fn map_key(&mut self) -> V {
        V::Text(["a", "b", "c"][self.below(3)].to_string())
    }

    fn term(&mut self, ty: Type) -> Term {
        match ty {
            Type::Int | Type::Text => Term::One(self.scalar(ty)),
            Type::Set | Type::Frozen => Term::Set(self.ints(0).into_iter().collect()),
            Type::List => Term::List(self.ints(0)),
            Type::Map => {
                let values = self.ints(0);
                Term::Map(values.into_iter().map(|v| (self.map_key(), v)).collect())
            }
            Type::Udt => Term::Udt([
                self.chance(70).then(|| self.scalar(Type::Int)),
                self.chance(70).then(|| V::Text(["a", "b"][self.below(2)].to_string())),
            ]),
        }
    }

    fn using(&mut self, in_batch: bool, delete: bool) -> Using {
        let timestamp_micros =
            (!in_batch && self.chance(if self.server_timestamps { 20 } else { 60 })).then(|| {
                if delete && self.wide { 1 + self.below(4) as i64 } else { self.small_timestamp() }
            });
        let ttl_seconds =
            (!delete && !self.stops && self.chance(25)).then(|| [0, 3, 5, 5, 8, 20][self.below(6)]);
        Using { timestamp_micros, ttl_seconds }
    }

    fn small_timestamp(&mut self) -> i64 {
        i64::try_from(1 + self.below(9)).expect("small")
    }

    fn columns(&mut self, statics: bool) -> Vec<usize> {
        let of = |c: &Column| c.is_static == statics;
        (0..self.schema.columns.len()).filter(|n| of(&self.schema.columns[*n])).collect()
    }

    /// Some of the columns, at least one if there is one.
    fn some(&mut self, from: Vec<usize>) -> Vec<usize> {
        if from.is_empty() {
            return from;
        }
        let sure = pick(&mut self.rng, &from);
        from.into_iter().filter(|n| *n == sure || self.chance(40)).collect()
    }

    fn write(&mut self, in_batch: bool, prepared: bool) -> Write {
        let has_statics = !self.columns(true).is_empty();
        let choice = if self.wide { [0, 0, 0, 35, 70][self.below(5)] } else { self.below(100) };
        match choice {
            ..35 => {
                let only_statics = has_statics && self.chance(20);
                let mut columns = if only_statics {
                    Vec::new()
                } else {
                    let from = self.columns(false);
                    let share = if self.wide { 90 } else { 60 };
                    from.into_iter().filter(|_| self.chance(share)).collect()
                };
                let statics = self.columns(true);
                if only_statics || self.chance(30) {
                    columns.splice(0..0, self.some(statics));
                }
                let values = columns
                    .into_iter()
                    .map(|n| {
                        let term = match self.below(12) {
                            0 => Term::Null,
                            1 if prepared => Term::Unset,
                            _ => self.term(self.schema.columns[n].ty),
                        };
                        (n, term)
                    })
                    .collect();
                let clustering = if only_statics { Vec::new() } else { self.clustering() };
                let (key, using) = (self.partition(), self.using(in_batch, false));
                Write::Insert { key, clustering, values, using }
            }
            35..70 => {
                let only_statics = has_statics && self.chance(30);
                let columns = self.columns(only_statics);
                let columns = self.some(columns);
                let changes = columns.into_iter().map(|n| self.change(n, in_batch)).collect();
                let clustering = if only_statics { Vec::new() } else { self.clustering() };
                let (key, using) = (self.partition(), self.using(in_batch, false));
                Write::Update { key, clustering, changes, using }
            }
            _ => self.delete(in_batch, has_statics),
        }
    }

    fn change(&mut self, n: usize, in_batch: bool) -> Change {
        let ty = self.schema.columns[n].ty;
        let choice = self.below(6);
        match (ty, choice) {
            (Type::Set | Type::Map, 0 | 1) | (Type::List, 0) => {
                let term = self.term(ty);
                Change::Add(n, term)
            }
            (Type::Set, 2) => Change::Remove(n, self.ints(1)),
            (Type::Map, 2) => Change::Remove(n, vec![self.map_key()]),
            (Type::Map, 3 | 4) => {
                let (key, value) = (self.map_key(), self.scalar(Type::Int));
                Change::Put(n, key, self.chance(80).then_some(value))
            }
            (Type::List, 1) => Change::Prepend(n, self.ints(1)),
            (Type::List, 2) if !in_batch => Change::Remove(n, self.ints(1)),
            (Type::List, 3) if !in_batch => Change::Index(n, self.below(3), self.scalar(Type::Int)),
            (Type::Udt, 0..=3) => {
                let field = self.below(2);
                let value = match field {
                    0 => self.scalar(Type::Int),
                    _ => V::Text(["a", "b"][self.below(2)].to_string()),
                };
                Change::Field(n, field, self.chance(80).then_some(value))
            }
            (_, 4 | 5) => Change::Set(n, Term::Null),
            _ => {
                let term = self.term(ty);
                Change::Set(n, term)
            }
        }
    }

    fn delete(&mut self, in_batch: bool, has_statics: bool) -> Write {
        let (key, using) = (self.partition(), self.using(in_batch, true));
        let clustered = !self.schema.clustering.is_empty();
        let all = |clustering: Vec<V>| {
            clustering.into_iter().enumerate().map(|(n, v)| Relation::Eq(n, v)).collect()
        };
        let choice = if self.wide && self.chance(70) { 3 } else { self.below(12) };
        let (rows, targets) = match choice {
            0 | 10 => (Vec::new(), Vec::new()),
            1 | 2 | 11 => (all(self.clustering()), Vec::new()),
            3..6 if clustered => (self.relations(false), Vec::new()),
            _ => {
                let statics = has_statics && self.chance(35);
                let columns = self.columns(statics);
                let columns = self.some(columns);
                let targets = columns.into_iter().map(|n| self.target(n, in_batch)).collect();
                (if statics { Vec::new() } else { all(self.clustering()) }, targets)
            }
        };
        Write::Delete { key, rows, targets, using }
    }

    fn target(&mut self, n: usize, in_batch: bool) -> Target {
        let part = self.chance(60);
        match self.schema.columns[n].ty {
            Type::Set if part => Target::Element(n, self.scalar(Type::Int)),
            Type::Map if part => Target::Element(n, self.map_key()),
            Type::List if part && !in_batch => Target::Index(n, self.below(3)),
            Type::Udt if part => Target::Field(n, self.below(2)),
            _ => Target::Column(n),
        }
    }

    /// Conditions on clustering columns: some equal ones, then IN, a slice, or tuples. At least one.
    fn relations(&mut self, read: bool) -> Vec<Relation> {
        let clustering = self.clustering();
        let broad = self.wide && self.chance(60);
        let equal = if broad { 0 } else { self.below(clustering.len()) };
        let eq = |(n, v): (usize, &V)| Relation::Eq(n, v.clone());
        let mut relations: Vec<Relation> = clustering[..equal].iter().enumerate().map(eq).collect();
        let rest = clustering.len() - equal;
        match if broad { 2 } else { self.below(if read { 5 } else { 4 }) } {
            0 if rest > 1 || equal == 0 => {
                relations.push(Relation::Eq(equal, clustering[equal].clone()))
            }
            1 if rest > 1 => {
                let op = pick(&mut self.rng, &[Op::Lt, Op::Le, Op::Gt, Op::Ge]);
                let length = 1 + self.below(rest);
                let values = clustering[equal..equal + length].to_vec();
                relations.push(Relation::Tuple(equal, op, values));
            }
            4 => {
                let values = (0..2 + self.below(2)).map(|_| self.clustering()[equal].clone());
                relations.push(Relation::In(equal, values.collect()));
            }
            _ => {
                let (low, high) = (self.below(3), self.below(3));
                let other = self.clustering()[equal].clone();
                let (least, most) = if other < clustering[equal] {
                    (other, clustering[equal].clone())
                } else {
                    (clustering[equal].clone(), other)
                };
                if low < 2 || high == 2 {
                    let op = if low == 0 { Op::Gt } else { Op::Ge };
                    relations.push(Relation::Slice(equal, op, least));
                }
                if high < 2 {
                    let op = if high == 0 { Op::Lt } else { Op::Le };
                    relations.push(Relation::Slice(equal, op, most));
                }
            }
        }
        relations
    }

    fn read(&mut self) -> Read {
        let clustered = !self.schema.clustering.is_empty();
        let keys = match self.below(10) {
            0..5 => Keys::One(self.partition()),
            5..7 => {
                let types = self.schema.partition.len();
                let (a, b, c) = (self.partition(), self.partition(), self.partition());
                Keys::In(
                    (0..types).map(|n| vec![a[n].clone(), b[n].clone(), c[n].clone()]).collect(),
                )
            }
            7 => {
                let op = pick(&mut self.rng, &[Op::Lt, Op::Le, Op::Gt, Op::Ge]);
                Keys::Token(op, self.partition())
            }
            _ => Keys::All,
        };
        let scan = matches!(keys, Keys::All | Keys::Token(..));
        let mut read = Read {
            select: self.select(),
            keys,
            relations: Vec::new(),
            order: None,
            limit: None,
            per_partition: None,
            page: None,
        };
        let distinct = matches!(read.select, Select::Distinct(_));
        let count = matches!(read.select, Select::Count);
        if clustered && !distinct {
            if self.chance(if scan { 20 } else { 50 }) {
                read.relations = self.relations(true);
            }
            if !scan && !count && self.chance(50) {
                read.order = Some(self.chance(75));
            }
        }
        let filterable: Vec<usize> = (0..self.schema.columns.len())
            .filter(|n| {
                let column = &self.schema.columns[*n];
                !column.is_static && matches!(column.ty, Type::Int | Type::Text)
            })
            .collect();
        if !distinct && !filterable.is_empty() && self.chance(8) {
            let column = pick(&mut self.rng, &filterable);
            let v = self.scalar(self.schema.columns[column].ty);
            read.relations.push(Relation::Value(column, v));
        }
        if !count {
            read.limit = self.chance(25).then(|| 1 + self.below(5));
            if !distinct {
                read.per_partition = self.chance(20).then(|| 1 + self.below(3));
            }
            // Cassandra refuses to page where the whole answer is sorted.
            let sorted = read.order.is_some() && matches!(read.keys, Keys::In(_));
            read.page = (!sorted && self.chance(45)).then(|| [1, 1, 2, 3, 5][self.below(5)]);
        }
        read
    }

    fn select(&mut self) -> Select {
        match self.below(10) {
            0..5 => Select::Star,
            5 => {
                let statics = self.columns(true);
                Select::Distinct(statics.into_iter().filter(|_| self.chance(60)).collect())
            }
            6 => Select::Count,
            _ => {
                let mut items: Vec<Item> =
                    (0..self.schema.clustering.len()).map(Item::Clustering).collect();
                items.extend((0..self.schema.partition.len()).map(Item::Partition));
                for n in 0..self.schema.columns.len() {
                    if self.chance(50) {
                        items.push(Item::Column(n));
                    }
                    if !self.schema.columns[n].ty.multi_cell() {
                        if !self.server_timestamps && self.chance(50) {
                            items.push(Item::WriteTime(n));
                        }
                        if self.chance(50) {
                            items.push(Item::Ttl(n));
                        }
                    }
                }
                Select::Items(items)
            }
        }
    }

    fn step(&mut self, down: &mut bool) -> Step {
        let prepared = self.chance(40);
        if self.stops && self.chance(12) {
            *down = !*down;
            return if *down { Step::Stop(2 + self.below(2)) } else { Step::Start };
        }
        match self.below(100) {
            0..8 => Step::Flush,
            8..14 => Step::Advance(1 + self.below(6) as u64),
            14..52 => {
                let write = self.write(false, prepared);
                Step::Write {
                    writes: vec![write],
                    batch: false,
                    timestamp: self.client(),
                    prepared,
                }
            }
            52..57 => {
                // A batch of several wide rows would be refused: more than 50 KiB.
                let count = 1 + self.below(if self.wide { 1 } else { 3 });
                let writes = (0..count).map(|_| self.write(true, prepared)).collect();
                Step::Write { writes, batch: true, timestamp: self.client(), prepared }
            }
            _ => Step::Read { read: self.read(), prepared },
        }
    }

    fn client(&mut self) -> Option<i64> {
        (!self.server_timestamps).then(|| self.small_timestamp())
    }

    fn finale(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let order = (!self.schema.clustering.is_empty()).then_some(true);
        let components = match self.schema.partition.len() {
            1 => vec![vec![V::Int(1), V::Int(2), V::Int(3)]],
            _ => vec![
                vec![V::Int(1), V::Int(2), V::Int(3)],
                vec![V::Text("a".to_string()), V::Text("b".to_string())],
            ],
        };
        let read = |keys, order, page| {
            let relations = Vec::new();
            let (limit, per_partition, select) = (None, None, Select::Star);
            let read = Read { select, keys, relations, order, limit, per_partition, page };
            Step::Read { read, prepared: false }
        };
        for _ in 0..2 {
            steps.push(read(Keys::All, None, Some(2)));
            steps.push(read(Keys::In(components.clone()), order, None));
            steps.push(read(Keys::One(self.partition()), order, Some(1)));
            steps.push(Step::Flush);
        }
        steps.pop();
        steps
    }
}
