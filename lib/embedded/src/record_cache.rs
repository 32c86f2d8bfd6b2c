//! A cache of records of the snapshot, absent ones included. Scripts read the same dozen records again and again, and a
//! search in the file costs twenty times as much as one in a hash table.

use super::records::Changes;
use bytes::Bytes;
use hashbrown::HashMap;

/// Maximum bytes of the cache. A full cache drops all records, which costs less than tracking their age.
const MAX_BYTES: usize = 16 << 20;
/// Maximum bytes of a cached record.
const LARGEST: usize = 64 << 10;
/// Overhead of an entry in addition to key and value.
const ENTRY_BYTES: usize = 64;

/// The content of the snapshot under some keys: a value, or none.
#[derive(Default)]
pub(super) struct RecordCache {
    records: HashMap<Box<[u8]>, Option<Bytes>>,
    bytes: usize,
}

impl RecordCache {
    /// The cached content under `key`, if any.
    pub fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.records.get(key)
    }

    /// Caches the content of the snapshot under `key`.
    pub fn put(&mut self, key: &[u8], value: Option<Bytes>) {
        let size = |value: &Option<Bytes>| key.len() + value.as_ref().map_or(0, Bytes::len) + ENTRY_BYTES;
        if size(&value) > LARGEST {
            if let Some(before) = self.records.remove(key) {
                self.bytes -= size(&before);
            }
            return;
        }
        if self.bytes + size(&value) > MAX_BYTES {
            self.clear();
        }
        self.bytes += size(&value);
        if let Some(before) = self.records.insert(key.into(), value) {
            self.bytes -= size(&before);
        }
    }

    /// Applies changes that are in the snapshot now.
    pub fn apply(&mut self, changes: &Changes) {
        for (key, value) in changes {
            self.put(key, value.clone());
        }
    }

    /// Drops all records.
    pub fn clear(&mut self) {
        self.records.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_records_are_bounded_and_counted() {
        let mut cache = RecordCache::default();
        let value = |bytes: usize| Some(Bytes::from(vec![0; bytes]));
        cache.put(b"a", value(100));
        cache.put(b"a", value(10));
        cache.put(b"none", None);
        assert_eq!(cache.bytes, 1 + 10 + 4 + 2 * ENTRY_BYTES);
        assert_eq!(cache.get(b"a"), Some(&value(10)));
        assert_eq!((cache.get(b"none"), cache.get(b"other")), (Some(&None), None));

        cache.put(b"a", value(LARGEST));
        assert_eq!(
            cache.get(b"a"),
            None,
            "too large to be cached, and the value before is out of date"
        );
        for number in 0..10_000_u32 {
            cache.put(&number.to_be_bytes(), value(10_000));
            assert!(cache.bytes <= MAX_BYTES);
        }
        cache.clear();
        assert_eq!((cache.bytes, cache.records.len()), (0, 0));
    }
}
