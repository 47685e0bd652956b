//! Random keys, values and terms: few, so that everything meets everything.

use super::{Generator, pick};
use crate::model::value::{Term, Type, V};

impl Generator {
    pub(super) fn key_value(&mut self, ty: Type) -> V {
        // In a storm fewer still: what matters there is that the same place is met again.
        let few = if self.storm.is_some() { 2 } else { 5 };
        match ty {
            Type::Text => {
                V::Text(pick(&mut self.rng, &["", "a", "b", "é"][..few.min(4)]).to_string())
            }
            _ => V::Int(pick(&mut self.rng, &[-7, 0, 1, 2, 300][..few])),
        }
    }

    pub(super) fn partition(&mut self) -> Vec<V> {
        let types = self.schema.partition.clone();
        let (spread, texts) = match &self.storm {
            Some(storm) if storm.focus => (1, 1),
            _ if self.wide => (1, 2),
            Some(_) => (2, 2),
            None => (3, 2),
        };
        let mut value = |ty| match ty {
            Type::Text => V::Text(["a", "b"][self.below(texts)].to_string()),
            _ => V::Int([1, 2, 3][self.below(spread)]),
        };
        types.into_iter().map(&mut value).collect()
    }

    pub(super) fn clustering(&mut self) -> Vec<V> {
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

    pub(super) fn scalar(&mut self, ty: Type) -> V {
        match ty {
            Type::Text if self.wide => {
                V::Text(["x", "y"][self.below(2)].repeat(4_000 + 2_000 * self.below(3)))
            }
            Type::Text => V::Text(["", "a", "ab", "b"][self.below(4)].to_string()),
            _ => V::Int([-1, 0, 1, 2, 5][self.below(5)]),
        }
    }

    pub(super) fn ints(&mut self, least: usize) -> Vec<V> {
        let count = least + self.below(3);
        (0..count).map(|_| self.scalar(Type::Int)).collect()
    }

    pub(super) fn map_key(&mut self) -> V {
        V::Text(["a", "b", "c"][self.below(3)].to_string())
    }

    pub(super) fn term(&mut self, ty: Type) -> Term {
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
}
