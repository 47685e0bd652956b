//! Random writes: of every kind, to few places.

use super::Generator;
use crate::model::statement::{Change, Relation, Target, Write};
use crate::model::value::{Term, Type, V};

impl Generator {
    pub(super) fn write(&mut self, in_batch: bool, prepared: bool) -> Write {
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

    pub(super) fn change(&mut self, n: usize, in_batch: bool) -> Change {
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

    pub(super) fn delete(&mut self, in_batch: bool, has_statics: bool) -> Write {
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

    pub(super) fn target(&mut self, n: usize, in_batch: bool) -> Target {
        let part = self.chance(60);
        match self.schema.columns[n].ty {
            Type::Set if part => Target::Element(n, self.scalar(Type::Int)),
            Type::Map if part => Target::Element(n, self.map_key()),
            Type::List if part && !in_batch => Target::Index(n, self.below(3)),
            Type::Udt if part => Target::Field(n, self.below(2)),
            _ => Target::Column(n),
        }
    }
}
