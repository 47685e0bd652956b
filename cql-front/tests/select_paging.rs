//! Paging states: what was written comes back, and nothing else is taken.

use bytes::Bytes;
use cassling::exec::select::paging::{PagingState, less};
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::schema::TableId;
use uuid::Uuid;

fn table(n: u128) -> TableId {
    TableId(Uuid::from_u128(n))
}

fn states() -> Vec<PagingState> {
    let key = |bytes: &'static [u8]| DecoratedKey::new(Bytes::from_static(bytes));
    vec![
        PagingState {
            key: key(b"k"),
            position: Some(vec![2, 0x80, 0, 0, 1, 0x80]),
            remaining: u64::MAX,
            remaining_in_partition: u64::MAX,
        },
        PagingState { key: key(b"k"), position: None, remaining: 1, remaining_in_partition: 0 },
        PagingState {
            key: key(&[0xff; 300]),
            position: Some(Vec::new()),
            remaining: 7,
            remaining_in_partition: 3,
        },
    ]
}

#[test]
fn comes_back_as_written() {
    for state in states() {
        let bytes = state.encode(table(1));
        assert_eq!(PagingState::decode(&bytes, table(1)), Ok(state));
    }
}

#[test]
fn bytes_are_those_of_the_picture() {
    let bytes = states()[1].encode(table(0x0102));
    let mut expected = vec![1];
    expected.extend_from_slice(&0x0102_u128.to_be_bytes());
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]);
    expected.extend_from_slice(&[0; 8]);
    expected.extend_from_slice(&[0, 0, 0, 1, b'k', 0]);
    assert_eq!(&bytes[..bytes.len() - 8], expected);
}

#[test]
fn each_changed_bit_is_refused() {
    for state in states() {
        let bytes = state.encode(table(1));
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_refused(&changed);
        }
    }
}

#[test]
fn cut_longer_or_foreign_bytes_are_refused() {
    let bytes = states()[0].encode(table(1));
    for len in 0..bytes.len() {
        assert_refused(&bytes[..len]);
    }
    assert_refused(&[bytes.as_slice(), &[0]].concat());
    assert_refused(&states()[0].encode(table(2)));
    assert_refused(b"what a real Cassandra sends is no state of ours");
}

fn assert_refused(bytes: &[u8]) {
    let error =
        PagingState::decode(bytes, table(1)).expect_err("it was not written for this table");
    assert_eq!(error.code() as u16, 0x000a);
    assert_eq!(error.to_string(), "Invalid value for the paging state");
}

#[test]
fn no_limit_is_never_used_up() {
    assert_eq!(less(u64::MAX, 5), u64::MAX);
    assert_eq!(less(5, 2), 3);
    assert_eq!(less(5, 6), 0);
}
