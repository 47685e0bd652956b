//! Where a page ends, as bytes that a client hands back to get the next.
//!
//! ```text
//! version 1 | table id 16 | remaining 8 | remaining in partition 8 | key length 4, key
//!           | 1 position length 4, position   or   0  | check 8
//! ```
//!
//! Numbers are big-endian. The next page begins strictly after the last row of this one: after `position` in the
//! partition `key`, or with the next partition where `position` is missing (the row of a partition with only statics)
//! or nothing remains in the partition. Rows that are written meanwhile before that place are not seen, rows after it
//! are, as in Cassandra.
//!
//! The check is a hash over all before it: bytes that a client made up, cut or changed are refused, and so are those
//! of another table. It is no protection against someone who wants to forge a state, and need not be: a state names
//! nothing that its owner could not ask for.

use crate::error::Error;
use crate::error::session::SessionError;
use bytes::Bytes;
use cassling_engine::row::key::DecoratedKey;
use cassling_engine::row::query::Resume;
use cassling_engine::schema::TableId;

const VERSION: u8 = 1;
const UNLIMITED: u64 = u64::MAX;

/// Where a page ended, and what LIMIT and PER PARTITION LIMIT still allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagingState {
    /// Partition of the last row.
    pub key: DecoratedKey,
    /// Position of the last row; `None` if it was that of a partition with only statics.
    pub position: Option<Vec<u8>>,
    /// Rows (or groups) that LIMIT still allows; `u64::MAX` without LIMIT.
    pub remaining: u64,
    /// Rows (or groups) that PER PARTITION LIMIT still allows in that partition; `u64::MAX` without; 0: the next page
    /// goes on with the next partition.
    pub remaining_in_partition: u64,
}

impl PagingState {
    /// A fresh start has no state; this is the place to resume at.
    pub fn resume(&self, remaining_in_partition: u64) -> Resume {
        Resume { key: self.key.clone(), position: self.position.clone(), remaining_in_partition }
    }

    /// The bytes for the client.
    pub fn encode(&self, table: TableId) -> Vec<u8> {
        let position_len = self.position.as_ref().map_or(0, |p| p.len() + 4);
        let mut out = Vec::with_capacity(46 + self.key.bytes.len() + position_len);
        out.push(VERSION);
        out.extend_from_slice(table.0.as_bytes());
        out.extend_from_slice(&self.remaining.to_be_bytes());
        out.extend_from_slice(&self.remaining_in_partition.to_be_bytes());
        put(&mut out, &self.key.bytes);
        out.push(u8::from(self.position.is_some()));
        if let Some(position) = &self.position {
            put(&mut out, position);
        }
        let check = hash(&out);
        out.extend_from_slice(&check.to_be_bytes());
        out
    }

    /// The state that the bytes of a client hold.
    ///
    /// # Errors
    /// [`SessionError::InvalidPagingState`] for anything that [`PagingState::encode`] did not write for this table.
    pub fn decode(bytes: &[u8], table: TableId) -> Result<PagingState, Error> {
        parse(bytes, table).ok_or_else(|| SessionError::InvalidPagingState.into())
    }
}

/// Takes `count` of `limit` away, where there is one.
pub fn less(limit: u64, count: u64) -> u64 {
    if limit == UNLIMITED { UNLIMITED } else { limit.saturating_sub(count) }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).expect("keys and positions are far below 4 GiB");
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(bytes);
}

fn parse(bytes: &[u8], table: TableId) -> Option<PagingState> {
    let (body, check) = bytes.split_last_chunk::<8>()?;
    if u64::from_be_bytes(*check) != hash(body) {
        return None;
    }
    let (version, rest) = body.split_first()?;
    let (id, rest) = rest.split_first_chunk::<16>()?;
    if *version != VERSION || id != table.0.as_bytes() {
        return None;
    }
    let (remaining, rest) = rest.split_first_chunk::<8>()?;
    let (in_partition, rest) = rest.split_first_chunk::<8>()?;
    let (key, rest) = take(rest)?;
    let (has_position, rest) = rest.split_first()?;
    let (position, rest) = match has_position {
        0 => (None, rest),
        1 => take(rest).map(|(position, rest)| (Some(position.to_vec()), rest))?,
        _ => return None,
    };
    rest.is_empty().then(|| PagingState {
        key: DecoratedKey::new(Bytes::copy_from_slice(key)),
        position,
        remaining: u64::from_be_bytes(*remaining),
        remaining_in_partition: u64::from_be_bytes(*in_partition),
    })
}

fn take(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
