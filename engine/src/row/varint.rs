//! Numbers of variable length: seven bits a byte, the lowest first, the top bit set on all but the last byte.
//! Signed numbers are folded first (0, -1, 1, -2 ... become 0, 1, 2, 3 ...), so that small ones stay short.

/// Appends an unsigned number.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads from the front of bytes that may be damaged: every step says `None` rather than run over the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    /// What is left.
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let first = self.u8()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.u8()?;
            if shift > 63 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Option<i64> {
        let folded = self.u64()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u64()?).ok()?;
        self.take(len)
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub(crate) fn fixed_i64(&mut self) -> Option<i64> {
        let (head, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(i64::from_le_bytes(*head))
    }

    /// Four bytes, little-endian.
    pub(crate) fn fixed_u32(&mut self) -> Option<u32> {
        let (head, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_cut_ones_do_not() {
        for value in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, i64::MIN + 1] {
            let mut out = Vec::new();
            put_signed(&mut out, value);
            assert_eq!(Reader::new(&out).i64(), Some(value));
            assert_eq!(Reader::new(&out[..out.len() - 1]).i64(), None, "{value}");
        }
        assert_eq!(Reader::new(&[0xff; 12]).u64(), None);
    }
}
