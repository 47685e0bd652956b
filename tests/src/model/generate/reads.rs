//! Random reads: of every form of key, row and list that the model answers.

use super::{Generator, pick};
use crate::model::statement::{Item, Keys, Op, Read, Relation, Select};
use crate::model::value::{Type, V};

impl Generator {
    /// Conditions on clustering columns: some equal ones, then IN, a slice, or tuples. At least one.
    pub(super) fn relations(&mut self, read: bool) -> Vec<Relation> {
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

    pub(super) fn read(&mut self) -> Read {
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

    pub(super) fn select(&mut self) -> Select {
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
}
