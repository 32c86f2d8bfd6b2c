//! The records of the file. Every collection has its own number, so that renaming or dropping a key of any size changes
//! only a few records. The elements of a dropped collection are removed later, in small steps.
//!
//! | key | value |
//! |---|---|
//! | `k` NAME | the entry of a name: kind, number, expiry |
//! | `i` NUMBER | NAME (the order of KEYS) |
//! | `e` EXPIRY NAME | empty (the order of expiry) |
//! | `c` NUMBER | number of elements; of a stream also its newest id |
//! | `s` NUMBER | the value of a string |
//! | `h` NUMBER FIELD | a value of a hash |
//! | `m` NUMBER MEMBER | the score of a member of a sorted set |
//! | `o` NUMBER SCORE MEMBER | the score again (the order of a sorted set) |
//! | `x` NUMBER MS SEQ | the fields of a stream entry |
//! | `g` NUMBER | the kind of a dropped collection whose elements are not removed yet |
//!
//! [`is_expendable`] decides for a name and all its records, whose number then has the highest bit set. So the key of a
//! record shows whether a call has to wait for it.
//!
//! Numbers are big-endian, so that they sort as bytes. The count is a separate record, so that a script that reads one
//! field of a hash does not depend on another script that just added a field.

use bytes::Bytes;
use coord_state as state;
use std::collections::BTreeMap;

/// Changed records: a value, or `None` for a removal.
pub(super) type Changes = BTreeMap<Vec<u8>, Option<Bytes>>;

/// The format of the file.
pub(super) const FORMAT: &[u8] = b"\0format";
/// The newest collection number in use.
pub(super) const NEWEST: &[u8] = b"\0newest";

/// The newest among the numbers with the highest bit.
pub(super) const NEWEST_EXPENDABLE: &[u8] = b"\0newest-expendable";

/// Bytes of a probe. On a full disk, the file may have free pages for a small record, but not for a claim, which
/// changes a dozen records.
pub(super) const PROBE_BYTES: usize = 128 << 10;

/// Numbers of collections that may be lost in a crash have this bit.
pub(super) const EXPENDABLE: u64 = 1 << 63;

/// Whether a record with this key may be lost, so that no call waits until it is on the disk.
pub(super) fn is_expendable(key: &[u8]) -> bool {
    let name = match key.first() {
        Some(b'k') => &key[1..],
        Some(b'e') => key.get(9..).unwrap_or_default(),
        Some(b'i' | b'c' | b's' | b'h' | b'm' | b'o' | b'x' | b'g') => {
            return key.get(1).is_some_and(|byte| byte >> 7 == 1);
        }
        _ => return key == NEWEST_EXPENDABLE,
    };
    state::is_expendable(name)
}

/// The first byte of a record's key.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Tag {
    Name = b'k',
    Number = b'i',
    Expiry = b'e',
    Count = b'c',
    Text = b's',
    Field = b'h',
    Member = b'm',
    Order = b'o',
    Entry = b'x',
    Garbage = b'g',
}

impl Tag {
    /// TAG.
    pub fn prefix(self) -> [u8; 1] {
        [self as u8]
    }

    /// TAG NAME.
    pub fn name(self, name: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(1 + name.len());
        key.push(self as u8);
        key.extend_from_slice(name);
        key
    }

    /// TAG NUMBER.
    pub fn number(self, number: u64) -> [u8; 9] {
        let mut key = [self as u8; 9];
        key[1..].copy_from_slice(&number.to_be_bytes());
        key
    }

    /// TAG NUMBER REST.
    pub fn element(self, number: u64, rest: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(9 + rest.len());
        key.extend_from_slice(&self.number(number));
        key.extend_from_slice(rest);
        key
    }
}

/// The first key after all keys that begin with `prefix`, which must have a byte below 255.
pub(super) fn end_of_prefix(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}

/// `e` EXPIRY NAME.
pub(super) fn expiry_key(at_ms: i64, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(9 + name.len());
    key.push(Tag::Expiry as u8);
    key.extend_from_slice(&((at_ms as u64) ^ (1 << 63)).to_be_bytes());
    key.extend_from_slice(name);
    key
}

/// The expiry of an `e` record, in Unix milliseconds.
pub(super) fn expiry_at(key: &[u8]) -> Option<i64> {
    let bits: [u8; 8] = key.get(1..9)?.try_into().ok()?;
    Some((u64::from_be_bytes(bits) ^ (1 << 63)) as i64)
}

/// The bytes of `score`, which sort as the numbers do.
pub(super) fn sortable_bytes(score: f64) -> [u8; 8] {
    // Redis compares scores as numbers, so that 0.0 and -0.0 are equal.
    let bits = if score == 0.0 { 0 } else { score.to_bits() };
    let flipped = if bits >> 63 == 1 { !bits } else { bits ^ (1 << 63) };
    flipped.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_scores_are_in_the_order_of_the_scores() {
        let scores = [
            f64::NEG_INFINITY,
            -1e300,
            -2.5,
            -1.0,
            -1e-300,
            0.0,
            1e-300,
            0.1,
            1.0,
            2.5,
            1e300,
            f64::INFINITY,
        ];
        for pair in scores.windows(2) {
            assert!(sortable_bytes(pair[0]) < sortable_bytes(pair[1]), "{pair:?}");
        }
        assert_eq!(sortable_bytes(-0.0), sortable_bytes(0.0));
    }

    #[test]
    fn the_end_of_a_prefix_is_after_all_keys_that_begin_with_it() {
        assert_eq!(end_of_prefix(b"ab"), b"ac");
        assert_eq!(end_of_prefix(b"a\xff"), b"b");
        assert!(end_of_prefix(&Tag::Field.number(255)) > Tag::Field.element(255, b"\xff\xff\xff"));
        assert!(end_of_prefix(&Tag::Field.number(255)) <= Tag::Field.number(256).to_vec());
    }

    #[test]
    fn a_record_key_shows_whether_the_record_is_expendable() {
        let (limit, lock) = (b"coord:limit:{a/b/c}:all", b"coord:locks:{a/b/c}");
        assert!(is_expendable(&Tag::Name.name(limit)) && is_expendable(&expiry_key(1, limit)));
        assert!(!is_expendable(&Tag::Name.name(lock)) && !is_expendable(&expiry_key(1, lock)));
        assert!(is_expendable(&Tag::Text.number(EXPENDABLE | 5)) && !is_expendable(&Tag::Text.number(5)));
        assert!(is_expendable(NEWEST_EXPENDABLE) && !is_expendable(NEWEST) && !is_expendable(FORMAT));
        for short in [&b""[..], b"k", b"e", b"s", b"e1234567", b"z"] {
            assert!(!is_expendable(short));
        }
    }

    #[test]
    fn an_expiry_record_keeps_its_instant() {
        for at in [i64::MIN, -1, 0, 1, 1_700_000_000_000, i64::MAX] {
            assert_eq!(expiry_at(&expiry_key(at, b"name")), Some(at));
        }
    }
}
