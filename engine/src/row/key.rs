//! The partition key and its token.

use crate::ring::Token;
use crate::ring::token::murmur3_token;
use bytes::Bytes;

/// A partition key with its token; ordered by token, then by the unsigned bytes of the key
/// (Cassandra's `DecoratedKey`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecoratedKey {
    /// Place on the ring.
    pub token: Token,
    /// Serialised key: the value's bytes for one column; for several, each as short length, bytes, zero byte.
    pub bytes: Bytes,
}

impl DecoratedKey {
    /// Hashes a serialised key.
    pub fn new(bytes: Bytes) -> DecoratedKey {
        DecoratedKey { token: murmur3_token(&bytes), bytes }
    }

    /// The key of these component values, in key order.
    pub fn from_components(components: &[&[u8]]) -> DecoratedKey {
        DecoratedKey::new(serialise(components))
    }

    /// The component at a place, given their number. The empty key, which no partition has, has none.
    pub fn component(&self, place: usize, count: usize) -> Option<&[u8]> {
        if self.bytes.is_empty() {
            return None;
        }
        if count == 1 {
            return (place == 0).then_some(&self.bytes[..]);
        }
        let mut rest = &self.bytes[..];
        for at in 0.. {
            let (len, tail) = rest.split_first_chunk::<2>()?;
            let (value, tail) = tail.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
            if at == place {
                return Some(value);
            }
            rest = tail.get(1..)?;
        }
        None
    }

    /// The component values, given their number.
    pub fn components(&self, count: usize) -> Vec<Bytes> {
        if count == 1 {
            return vec![self.bytes.clone()];
        }
        let mut parts = Vec::with_capacity(count);
        let mut at = 0;
        while at + 3 <= self.bytes.len() {
            let len = usize::from(u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]));
            parts.push(self.bytes.slice(at + 2..at + 2 + len));
            at += len + 3;
        }
        parts
    }
}

/// Serialises a partition key. Requires: each component is at most 65535 bytes if there are several.
pub fn serialise(components: &[&[u8]]) -> Bytes {
    match components {
        [one] => Bytes::copy_from_slice(one),
        several => {
            let mut out = Vec::with_capacity(several.iter().map(|c| c.len() + 3).sum());
            for component in several {
                let len =
                    u16::try_from(component.len()).expect("key lengths are checked by the caller");
                out.extend_from_slice(&len.to_be_bytes());
                out.extend_from_slice(component);
                out.push(0);
            }
            Bytes::from(out)
        }
    }
}
