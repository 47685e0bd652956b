//! The byte order against an order of decoded values that is written anew here, for every type, ascending and
//! descending, alone and as components of a key.

use cassling_engine::types::{CqlType, UserType, Value, codec, order};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

fn scalars() -> Vec<CqlType> {
    vec![
        CqlType::Ascii,
        CqlType::Bigint,
        CqlType::Blob,
        CqlType::Boolean,
        CqlType::Counter,
        CqlType::Custom("org.apache.cassandra.db.marshal.LegacyTimeUUIDType".into()),
        CqlType::Date,
        CqlType::Decimal,
        CqlType::Double,
        CqlType::Duration,
        CqlType::Float,
        CqlType::Inet,
        CqlType::Int,
        CqlType::Smallint,
        CqlType::Text,
        CqlType::Time,
        CqlType::Timestamp,
        CqlType::Timeuuid,
        CqlType::Tinyint,
        CqlType::Uuid,
        CqlType::Varint,
    ]
}

fn udt(fields: Vec<CqlType>) -> CqlType {
    let fields = fields.into_iter().enumerate().map(|(i, ty)| (format!("f{i}"), ty)).collect();
    let definition = UserType { keyspace: "k".to_string(), name: "u".to_string(), fields };
    CqlType::Udt { definition: Arc::new(definition), frozen: true }
}

fn types() -> impl Strategy<Value = CqlType> {
    let leaf = proptest::sample::select(scalars()).boxed();
    leaf.clone().prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            3 => leaf.clone(),
            1 => inner.clone().prop_map(|it| CqlType::list(it).freeze()),
            1 => inner.clone().prop_map(|it| CqlType::set(it).freeze()),
            1 => (inner.clone(), inner.clone()).prop_map(|(k, v)| CqlType::map(k, v).freeze()),
            1 => vec(inner.clone(), 1..4).prop_map(|it| CqlType::Tuple(it.into())),
            1 => vec(inner.clone(), 1..4).prop_map(udt),
            1 => (inner, 1..3u32).prop_map(|(element, dimensions)| CqlType::Vector {
                element: Arc::new(element),
                dimensions,
            }),
        ]
    })
}

/// Bytes of a number: few of them, so that equal and neighbouring ones meet.
fn number(width: usize) -> BoxedStrategy<Vec<u8>> {
    let wide = vec(any::<u8>(), width);
    let near = (-2..3i64).prop_map(move |it| it.to_be_bytes()[8 - width..].to_vec());
    let edge = prop_oneof![Just(0x7fu8), Just(0x80)].prop_map(move |first| {
        let mut bytes = vec![if first == 0x7f { 0xff } else { 0 }; width];
        bytes[0] = first;
        bytes
    });
    prop_oneof![wide, near, edge].boxed()
}

fn float(width: usize) -> BoxedStrategy<Vec<u8>> {
    let special =
        [0.0, -0.0, 1.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, 1e-310];
    let special = proptest::sample::select(special.to_vec()).prop_map(move |it| match width {
        4 => (it as f32).to_be_bytes().to_vec(),
        _ => it.to_be_bytes().to_vec(),
    });
    prop_oneof![special, vec(any::<u8>(), width)].boxed()
}

fn varint() -> BoxedStrategy<Vec<u8>> {
    let padded = (0..3usize, any::<i16>()).prop_map(|(pad, it)| {
        let mut bytes = vec![if it < 0 { 0xff } else { 0 }; pad];
        bytes.extend(it.to_be_bytes());
        bytes
    });
    prop_oneof![number(1), padded, vec(any::<u8>(), 1..12), vec(any::<u8>(), 120..135)].boxed()
}

fn decimal() -> BoxedStrategy<Vec<u8>> {
    let unscaled = prop_oneof![
        3 => proptest::sample::select(vec![0i64, 1, 10, 100, 1000, -1, -10, -100, 15, 150, 99, 101]),
        1 => any::<i64>(),
    ];
    let scaled = (-4..5i32, unscaled).prop_map(|(scale, unscaled)| {
        let mut bytes = scale.to_be_bytes().to_vec();
        bytes.extend(unscaled.to_be_bytes());
        bytes
    });
    let far = (-200..200i32, varint()).prop_map(|(scale, unscaled)| {
        let mut bytes = scale.to_be_bytes().to_vec();
        bytes.extend(unscaled);
        bytes
    });
    prop_oneof![3 => scaled, 1 => far].boxed()
}

fn uuid(version: Option<u8>) -> BoxedStrategy<Vec<u8>> {
    let loose = prop_oneof![vec(any::<u8>(), 16), vec(prop_oneof![Just(0x7fu8), Just(0x80)], 16)];
    let versions = proptest::sample::select(match version {
        Some(version) => vec![version],
        None => vec![0, 1, 3, 4, 7, 15],
    });
    (loose, versions)
        .prop_map(|(mut bytes, version)| {
            bytes[6] = bytes[6] & 0xf | version << 4;
            bytes
        })
        .boxed()
}

/// Valid bytes of a type, in forms that Cassandra accepts and not only those that it writes.
fn bytes_of(ty: &CqlType) -> BoxedStrategy<Vec<u8>> {
    let or_empty = |it: BoxedStrategy<Vec<u8>>| prop_oneof![8 => it, 1 => Just(Vec::new())].boxed();
    let item = |ty: &CqlType| bytes_of(ty);
    match ty {
        CqlType::Ascii => "[\u{0}\u{1}\u{2}ab\u{7f}]{0,4}".prop_map(String::into_bytes).boxed(),
        CqlType::Text => {
            "[\u{0}\u{1}ab\u{7f}é\u{ffff}😀]{0,4}".prop_map(String::into_bytes).boxed()
        }
        CqlType::Blob => vec(prop_oneof![0..4u8, 0xfdu8..=0xff], 0..5).boxed(),
        CqlType::Boolean => {
            or_empty(prop_oneof![0..3u8, Just(0xff)].prop_map(|it| vec![it]).boxed())
        }
        CqlType::Bigint | CqlType::Counter | CqlType::Timestamp => or_empty(number(8)),
        CqlType::Int => or_empty(number(4)),
        CqlType::Date => number(4),
        CqlType::Time => number(8),
        CqlType::Smallint => number(2),
        CqlType::Tinyint => number(1),
        CqlType::Double => or_empty(float(8)),
        CqlType::Float => or_empty(float(4)),
        CqlType::Varint => or_empty(varint()),
        CqlType::Decimal => or_empty(decimal()),
        CqlType::Duration => (0..300i32, 0..3i32, 0..1000i64, any::<bool>())
            .prop_map(|(months, days, nanos, negative)| {
                let it = cassling_engine::types::temporal::Duration { months, days, nanos };
                if negative { it.negated() } else { it }.to_bytes()
            })
            .boxed(),
        CqlType::Inet => {
            or_empty(prop_oneof![vec(prop_oneof![0..3u8, Just(0xff)], 4), vec(0..2u8, 16)].boxed())
        }
        CqlType::Uuid => or_empty(uuid(None)),
        CqlType::Timeuuid | CqlType::Custom(_) => or_empty(uuid(Some(1))),
        CqlType::List { element, .. } => vec(item(element), 0..4)
            .prop_map(|items| codec::write_elements(items.iter().map(Vec::as_slice)))
            .boxed(),
        CqlType::Set { element, .. } => {
            let ty = ty.clone();
            vec(item(element), 0..4)
                .prop_map(move |items| {
                    let bytes = codec::write_elements(items.iter().map(Vec::as_slice));
                    codec::normalise(&ty, bytes)
                })
                .boxed()
        }
        CqlType::Map { key, value, .. } => {
            let ty = ty.clone();
            vec((item(key), item(value)), 0..3)
                .prop_map(move |items| {
                    let items = items.iter().map(|(k, v)| (k.as_slice(), v.as_slice()));
                    codec::normalise(&ty, codec::write_entries(items))
                })
                .boxed()
        }
        CqlType::Tuple(parts) => components(parts.to_vec()),
        CqlType::Udt { definition, .. } => {
            components(definition.fields.iter().map(|(_, ty)| ty.clone()).collect())
        }
        CqlType::Vector { element, dimensions } => {
            let ty = element.clone();
            let fixed = codec::fixed_size(&ty);
            // Elements of a fixed size have no room for the empty value.
            let items =
                item(element).prop_filter("fits", move |it| fixed.is_none_or(|n| it.len() == n));
            vec(items, *dimensions as usize)
                .prop_map(move |items| codec::write_vector(&ty, items.iter().map(Vec::as_slice)))
                .prop_filter("Cassandra refuses a vector of no bytes", |it| !it.is_empty())
                .boxed()
        }
    }
}

fn components(types: Vec<CqlType>) -> BoxedStrategy<Vec<u8>> {
    let count = types.len();
    let parts: Vec<_> =
        types.iter().map(|ty| proptest::option::weighted(0.8, bytes_of(ty))).collect();
    (parts, 0..=count)
        .prop_map(|(parts, missing)| {
            let keep = parts.len() - if missing == parts.len() { 0 } else { missing };
            codec::write_components(parts[..keep].iter().map(Option::as_deref))
        })
        .boxed()
}

/// The order of two values of one type, from Cassandra's rules. Null is before empty, empty before the rest.
fn expected(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Empty, Value::Empty) => Ordering::Equal,
        (Value::Empty, _) => Ordering::Less,
        (_, Value::Empty) => Ordering::Greater,
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Bigint(a), Value::Bigint(b)) | (Value::Timestamp(a), Value::Timestamp(b)) => {
            a.cmp(b)
        }
        (Value::Date(a), Value::Date(b)) | (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Smallint(a), Value::Smallint(b)) => a.cmp(b),
        (Value::Tinyint(a), Value::Tinyint(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => (*a as u64).cmp(&(*b as u64)),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Varint(a), Value::Varint(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => java_compare(*a, *b),
        (Value::Float(a), Value::Float(b)) => java_compare(f64::from(*a), f64::from(*b)),
        (Value::Duration(a), Value::Duration(b)) => a.to_bytes().cmp(&b.to_bytes()),
        (Value::Inet(a), Value::Inet(b)) => octets(a).cmp(&octets(b)),
        (Value::Uuid(a), Value::Uuid(b)) => {
            let key = |it: &uuid::Uuid| (it.get_version_num(), ticks(it));
            match key(a).0 {
                1 => key(a).cmp(&key(b)).then(a.as_bytes()[8..].cmp(&b.as_bytes()[8..])),
                _ => key(a).0.cmp(&key(b).0).then(a.cmp(b)),
            }
        }
        (Value::Timeuuid(a), Value::Timeuuid(b)) => {
            let signed =
                |it: &uuid::Uuid| it.as_bytes()[8..].iter().map(|it| *it as i8).collect::<Vec<_>>();
            ticks(a).cmp(&ticks(b)).then_with(|| signed(a).cmp(&signed(b)))
        }
        (Value::List(a), Value::List(b))
        | (Value::Set(a), Value::Set(b))
        | (Value::Vector(a), Value::Vector(b)) => pairwise(a, b, expected),
        (Value::Map(a), Value::Map(b)) => {
            pairwise(a, b, |a, b| expected(&a.0, &b.0).then_with(|| expected(&a.1, &b.1)))
        }
        (Value::Tuple(a), Value::Tuple(b)) => pairwise(a, b, nullable),
        (Value::Udt(a), Value::Udt(b)) => pairwise(a, b, |a, b| nullable(&a.1, &b.1)),
        _ => panic!("values of two types: {a:?}, {b:?}"),
    }
}

fn nullable(a: &Option<Value>, b: &Option<Value>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => expected(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

fn pairwise<T>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    for (a, b) in a.iter().zip(b) {
        let order = compare(a, b);
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

fn java_compare(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) if a == b => b.is_sign_negative().cmp(&a.is_sign_negative()),
        (false, false) => a.partial_cmp(&b).expect("neither is a NaN"),
        (a, b) => a.cmp(&b),
    }
}

fn octets(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(it) => it.octets().to_vec(),
        IpAddr::V6(it) => it.octets().to_vec(),
    }
}

fn ticks(uuid: &uuid::Uuid) -> u64 {
    let (low, mid, high, _) = uuid.as_fields();
    u64::from(high & 0xfff) << 48 | u64::from(mid) << 32 | u64::from(low)
}

fn encoded(ty: &CqlType, bytes: &[u8], descending: bool) -> Vec<u8> {
    let mut out = Vec::new();
    order::encode(ty, bytes, descending, &mut out);
    out
}

fn check_pair(ty: &CqlType, a: &[u8], b: &[u8]) -> Result<(), TestCaseError> {
    let (left, right) = (Value::decode(ty, a), Value::decode(ty, b));
    let want = expected(&left.expect("valid"), &right.expect("valid"));
    prop_assert_eq!(order::compare(ty, a, b), want, "compare");
    prop_assert_eq!(encoded(ty, a, false).cmp(&encoded(ty, b, false)), want, "ascending");
    prop_assert_eq!(encoded(ty, a, true).cmp(&encoded(ty, b, true)), want.reverse(), "descending");
    for descending in [false, true] {
        let encoding = encoded(ty, a, descending);
        prop_assert!(![0x00, 0x80, 0xff].contains(&encoding[0]), "header");
        let tail = [0x80, 0x01, 0xff];
        let whole = [&encoding[..], &tail].concat();
        let mut rest = &whole[..];
        order::skip(ty, &mut rest, descending);
        prop_assert_eq!(rest, tail, "skip");
        let (mut rest, mut back) = (&whole[..], Vec::new());
        order::decode(ty, &mut rest, descending, &mut back);
        prop_assert_eq!(rest, tail, "decode");
        codec::validate(ty, &back).expect("decoded bytes are valid");
        prop_assert_eq!(order::compare(ty, a, &back), Ordering::Equal, "an equal value");
        prop_assert_eq!(encoded(ty, &back, descending), encoding, "the same encoding");
        if order::is_lossless(ty) {
            prop_assert_eq!(&back[..], a, "lossless");
        }
    }
    Ok(())
}

fn type_and_pair() -> impl Strategy<Value = (CqlType, Vec<u8>, Vec<u8>)> {
    types().prop_flat_map(|ty| {
        let bytes = bytes_of(&ty);
        (Just(ty), bytes.clone(), bytes)
    })
}

/// A component of a key: its type, whether it descends, and its value in either of two keys.
fn component() -> impl Strategy<Value = (CqlType, bool, Vec<u8>, Vec<u8>)> {
    (type_and_pair(), any::<bool>(), any::<bool>()).prop_map(|((ty, a, b), descending, same)| {
        let b = if same { a.clone() } else { b };
        (ty, descending, a, b)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn encodings_keep_the_order_of_values((ty, a, b) in type_and_pair()) {
        check_pair(&ty, &a, &b)?;
        check_pair(&ty, &a, &a)?;
    }

    #[test]
    fn keys_of_several_components_compare_component_by_component(parts in vec(component(), 1..4)) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut want = Ordering::Equal;
        for (ty, descending, a, b) in &parts {
            order::encode(ty, a, *descending, &mut left);
            order::encode(ty, b, *descending, &mut right);
            let one = order::compare(ty, a, b);
            want = want.then(if *descending { one.reverse() } else { one });
        }
        prop_assert_eq!(left.cmp(&right), want);
        if want.is_ne() {
            prop_assert!(!left.starts_with(&right) && !right.starts_with(&left), "prefix");
        }
        let (all, mut rest) = (parts.len(), &left[..]);
        for (ty, descending, ..) in &parts[..all] {
            order::skip(ty, &mut rest, *descending);
        }
        prop_assert!(rest.is_empty());
    }
}

/// Each scalar type by itself, so that none is rare.
#[test]
fn every_scalar_type_keeps_its_order() {
    for ty in scalars() {
        let config = ProptestConfig::with_cases(500);
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(
                proptest::test_runner::RngAlgorithm::ChaCha,
            ),
        );
        let pairs = (bytes_of(&ty), bytes_of(&ty));
        runner
            .run(&pairs, |(a, b)| check_pair(&ty, &a, &b))
            .unwrap_or_else(|error| panic!("{ty}: {error}"));
    }
}

fn decimal_with(scale: i32, unscaled: &[u8]) -> Vec<u8> {
    [&scale.to_be_bytes()[..], unscaled].concat()
}

#[test]
fn decimals_at_the_ends_of_the_scale_compare_without_writing_out_zeros() {
    // From the least to the greatest; bytes on one line are equal.
    let rising: Vec<Vec<Vec<u8>>> = vec![
        vec![decimal_with(i32::MIN, &[0xff])],
        vec![decimal_with(0, &[0x9c]), decimal_with(-2, &[0xff]), decimal_with(1, &[0xfc, 0x18])],
        vec![decimal_with(i32::MAX, &[0xff])],
        vec![decimal_with(i32::MIN, &[0]), decimal_with(i32::MAX, &[0]), decimal_with(0, &[])],
        vec![decimal_with(i32::MAX, &[1])],
        vec![decimal_with(i32::MAX, &[10]), decimal_with(i32::MAX - 1, &[1])],
        vec![decimal_with(0, &[1])],
        vec![decimal_with(i32::MIN + 1, &[1])],
        vec![decimal_with(i32::MIN, &[1]), decimal_with(i32::MIN + 1, &[10])],
        vec![decimal_with(i32::MIN, &[10])],
    ];
    let flat: Vec<(usize, &Vec<u8>)> = rising
        .iter()
        .enumerate()
        .flat_map(|(rank, equal)| equal.iter().map(move |it| (rank, it)))
        .collect();
    for (rank_a, a) in &flat {
        let mut back = Vec::new();
        order::decode(
            &CqlType::Decimal,
            &mut &encoded(&CqlType::Decimal, a, false)[..],
            false,
            &mut back,
        );
        assert_eq!(order::compare(&CqlType::Decimal, a, &back), Ordering::Equal, "{a:?} {back:?}");
        for (rank_b, b) in &flat {
            let want = rank_a.cmp(rank_b);
            assert_eq!(order::compare(&CqlType::Decimal, a, b), want, "{a:?} {b:?}");
            let encodings =
                encoded(&CqlType::Decimal, a, false).cmp(&encoded(&CqlType::Decimal, b, false));
            assert_eq!(encodings, want, "{a:?} {b:?}");
        }
    }
}

#[test]
fn text_that_is_no_utf8_keeps_its_bytes() {
    // Cassandra accepts a surrogate and a zero in two bytes.
    for bytes in [&b"\xed\xa0\x80"[..], b"\xc0\x80", b"\x00\x01\x00"] {
        codec::validate(&CqlType::Text, bytes).unwrap();
        let mut back = Vec::new();
        order::decode(
            &CqlType::Text,
            &mut &encoded(&CqlType::Text, bytes, true)[..],
            true,
            &mut back,
        );
        assert_eq!(back, bytes);
    }
}
