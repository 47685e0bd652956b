//! Every line of values.tsv (type, literal, bytes): the literal gives the bytes, the bytes give a value, and
//! that gives the bytes again. Literals of collections are taken apart by a small reader here.

use cassling_engine::types::{CqlType, UserType, Value, codec, text};
use std::sync::Arc;

mod types_support;
use types_support::{literal_bytes, parse_type, unhex};

#[test]
fn literals_and_bytes_agree_both_ways() {
    let mut lines = 0;
    for line in include_str!("data/values.tsv").lines() {
        let mut columns = line.split('\t');
        let (name, literal) = (columns.next().unwrap(), columns.next().unwrap());
        let bytes = unhex(columns.next().unwrap_or(""));
        let ty = parse_type(name);
        let parsed = literal_bytes(&ty, literal)
            .unwrap_or_else(|error| panic!("{name} {literal}: {error}"))
            .expect("no null at the top");
        assert_eq!(parsed, bytes, "{name} {literal}");
        codec::validate(&ty, &bytes).unwrap_or_else(|error| panic!("{name} {literal}: {error}"));
        assert_eq!(codec::normalise(&ty, bytes.clone()), bytes, "{name} {literal}");
        let value = Value::decode(&ty, &bytes).unwrap();
        assert_eq!(value.encode(&ty).unwrap(), bytes, "{name} {literal} {value:?}");
        lines += 1;
    }
    assert_eq!(lines, 139);
}

#[test]
fn a_type_alias_is_read() {
    let ty = parse_type("udt ks.addr(street text, zip int)");
    let definition = UserType {
        keyspace: "ks".to_string(),
        name: "addr".to_string(),
        fields: vec![("street".to_string(), CqlType::Text), ("zip".to_string(), CqlType::Int)],
    };
    assert_eq!(ty, CqlType::Udt { definition: Arc::new(definition), frozen: true });
    assert_eq!(text::parse(&CqlType::Int, "7", 0).unwrap(), [0, 0, 0, 7]);
}
