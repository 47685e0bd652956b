//! What the model answers to a SELECT: filter, order, cut, project, each in one plain step.

use super::statement::{Item, Keys, Read, Relation, Schema, Select};
use super::store::{Partition, Seen, Store};
use super::value::V;
use cassling_engine::row::DecoratedKey;
use std::cmp::Ordering;

/// A row of a result: wire bytes, `None` is null.
pub type Answer = Vec<Option<Vec<u8>>>;

fn decorated(key: &[V]) -> DecoratedKey {
    let bytes: Vec<Vec<u8>> = key.iter().map(V::bytes).collect();
    DecoratedKey::from_components(&bytes.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The order of clusterings in results. A missing one (statics without rows) is before all others in the table's own
/// order, whether that ascends or descends.
fn compare(schema: &Schema, a: Option<&Vec<V>>, b: Option<&Vec<V>>, reversed: bool) -> Ordering {
    let forward = match (a, b) {
        (Some(a), Some(b)) => {
            let columns = schema.clustering.iter().enumerate().map(|(n, (_, descending))| {
                let order = a[n].cmp(&b[n]);
                if *descending { order.reverse() } else { order }
            });
            columns.fold(Ordering::Equal, Ordering::then)
        }
        _ => a.is_some().cmp(&b.is_some()),
    };
    if reversed { forward.reverse() } else { forward }
}

/// The partitions asked for, in the order of the answer.
fn keys(store: &Store, keys: &Keys) -> Vec<Vec<V>> {
    let by_token = |keep: &dyn Fn(&DecoratedKey) -> bool| {
        let mut found: Vec<_> = store.partitions.keys().map(|k| (decorated(k), k)).collect();
        found.retain(|(key, _)| keep(key));
        found.sort();
        found.into_iter().map(|(_, key)| key.clone()).collect()
    };
    match keys {
        Keys::One(key) => vec![key.clone()],
        Keys::All => by_token(&|_| true),
        Keys::Token(op, than) => {
            let than = decorated(than).token;
            by_token(&|key| op.holds(&key.token, &than))
        }
        // All combinations, sorted by component, each once.
        Keys::In(components) => {
            let mut found: Vec<Vec<V>> = vec![Vec::new()];
            for values in components {
                let longer = found.iter().flat_map(|key| {
                    values.iter().map(|v| [key.as_slice(), std::slice::from_ref(v)].concat())
                });
                found = longer.collect();
            }
            found.sort();
            found.dedup();
            found
        }
    }
}

/// The answer to a read.
pub fn answer(store: &Store, read: &Read) -> Vec<Answer> {
    let (schema, now) = (&store.schema, store.now_seconds);
    let nothing = Partition::default();
    let keys = keys(store, &read.keys);
    let mut found: Vec<(&Vec<V>, Seen<'_>)> = Vec::new();
    for key in &keys {
        let partition = store.partitions.get(key).unwrap_or(&nothing);
        let mut rows = partition.existing(schema, now);
        rows.retain(|row| read.relations.iter().all(|relation| holds(store, relation, row)));
        rows.sort_by(|a, b| compare(schema, a.clustering, b.clustering, read.order == Some(true)));
        if rows.is_empty() && read.relations.is_empty() {
            rows.extend(partition.statics(schema, now));
        }
        let most = match read.select {
            Select::Distinct(_) => 1,
            _ => read.per_partition.unwrap_or(usize::MAX),
        };
        rows.truncate(most);
        found.extend(rows.into_iter().map(|row| (key, row)));
    }
    if let (Select::Count, count) = (&read.select, found.len()) {
        let count = i64::try_from(count).expect("few rows");
        return vec![vec![Some(count.to_be_bytes().to_vec())]];
    }
    if let Some(reversed) = read.order.filter(|_| keys.len() > 1) {
        found.sort_by(|(_, a), (_, b)| compare(schema, a.clustering, b.clustering, reversed));
    }
    found.truncate(read.limit.unwrap_or(usize::MAX));
    found.iter().map(|(key, row)| project(store, &read.select, key, row)).collect()
}

fn holds(store: &Store, relation: &Relation, row: &Seen<'_>) -> bool {
    match relation {
        Relation::Value(column, v) => {
            row.value(&store.schema, *column, store.now_seconds) == Some(v.bytes())
        }
        _ => row.clustering.is_some_and(|clustering| relation.holds(clustering)),
    }
}

fn project(store: &Store, select: &Select, key: &[V], row: &Seen<'_>) -> Answer {
    let (schema, now) = (&store.schema, store.now_seconds);
    let one = |item: &Item| match item {
        Item::Partition(n) => Some(key[*n].bytes()),
        Item::Clustering(n) => row.clustering.map(|c| c[*n].bytes()),
        Item::Column(n) => row.value(schema, *n, now),
        Item::WriteTime(n) => {
            row.cell(schema, *n, now).map(|c| c.timestamp_micros.to_be_bytes().to_vec())
        }
        Item::Ttl(n) => {
            let end = row.cell(schema, *n, now).and_then(|c| c.expires_seconds);
            end.map(|end| i32::try_from(end - now).expect("short").to_be_bytes().to_vec())
        }
    };
    let keys = (0..schema.partition.len()).map(Item::Partition);
    match select {
        Select::Items(items) => items.iter().map(one).collect(),
        Select::Distinct(statics) => {
            let items = keys.chain(statics.iter().copied().map(Item::Column));
            items.map(|item| one(&item)).collect()
        }
        Select::Star => {
            let items = keys.chain((0..schema.clustering.len()).map(Item::Clustering));
            let items = items.chain((0..schema.columns.len()).map(Item::Column));
            items.map(|item| one(&item)).collect()
        }
        Select::Count => unreachable!("counts are answered before"),
    }
}
