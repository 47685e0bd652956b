//! Random schemas and steps. Few keys, few values, few timestamps: so that everything meets everything.
//!
//! Two families of histories:
//!
//! | family | files | clock | what it is after |
//! |---|---|---|---|
//! | [`calm`] | written, never merged | a few seconds | reads of every form, ties, expiry |
//! | [`storm`] | merged by every strategy, picked at random, lost with the power and found again | to beyond gc_grace | that nothing returns, and nothing goes that is needed |
//!
//! In a storm, timestamps rise with the clock, so that most writes are still admitted ([`super::admit`]) after
//! gc_grace; and `Generator::episode` ([`storm`]) draws the sequences in which a wrong purge shows.

mod reads;
mod storm;
mod values;
mod writes;

use super::history::{History, Step};
use super::statement::{Column, Keys, Read, Schema, Select, Using};
use super::value::{Type, V};
use super::work::Work;
use cassling_engine::sim::rng::Rng;
pub use storm::storm;

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
    /// What only a storm has.
    storm: Option<storm::Storm>,
}

fn pick<T: Clone>(rng: &mut Rng, from: &[T]) -> T {
    from[usize::try_from(rng.below(from.len() as u64)).expect("small")].clone()
}

/// The history of a seed: two of three are a [`storm`].
pub fn history(seed: u64) -> History {
    if seed.is_multiple_of(3) { calm(seed) } else { storm(seed) }
}

/// A history whose files are never merged; one of five is [`wide`].
pub fn calm(seed: u64) -> History {
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
    let mut generator = Generator { rng, schema, wide, server_timestamps, stops, storm: None };
    let count = generator.below(16) + if wide { 30 } else { 10 };
    let mut down = false;
    let mut steps = Vec::new();
    for _ in 0..count {
        steps.push(generator.step(&mut down));
    }
    // What every history ends with: all of it, from memtables and from SSTables, in both directions.
    steps.extend(generator.finale());
    History { seed, schema: generator.schema, nodes, compacts: false, steps }
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
    Schema {
        partition,
        clustering,
        columns,
        default_ttl_seconds,
        gc_grace_seconds: 864_000,
        options: Vec::new(),
    }
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.rng.below(bound as u64)).expect("small")
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn using(&mut self, in_batch: bool, delete: bool) -> Using {
        let timestamp_micros =
            (!in_batch && self.chance(if self.server_timestamps { 20 } else { 60 })).then(|| {
                let is_low = delete && self.wide && self.storm.is_none();
                if is_low { 1 + self.below(4) as i64 } else { self.small_timestamp() }
            });
        let ttl_seconds =
            (!delete && !self.stops && self.chance(25)).then(|| [0, 3, 5, 5, 8, 20][self.below(6)]);
        Using { timestamp_micros, ttl_seconds }
    }

    fn small_timestamp(&mut self) -> i64 {
        let drawn = i64::try_from(1 + self.below(9)).expect("small");
        match &mut self.storm {
            None => drawn,
            Some(storm) => storm.timestamp_micros(drawn, &mut self.rng),
        }
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

    fn step(&mut self, down: &mut bool) -> Step {
        let prepared = self.chance(40);
        if self.stops && self.chance(12) {
            *down = !*down;
            return if *down { Step::Stop(2 + self.below(2)) } else { Step::Start };
        }
        match self.below(100) {
            0..8 => Step::Work(Work::Flush),
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
            steps.push(Step::Work(Work::Flush));
        }
        steps.pop();
        steps
    }
}
