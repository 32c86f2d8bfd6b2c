//! Names and the values under them: kinds, counts, expiry, removal. The commands build on this.

use super::failure::Failure;
use super::layers::Layers;
use super::pubsub::Channels;
use super::records::{self, Tag};
use std::ops::Bound;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A dropped collection with at most this many elements is removed at once, a larger one later in steps.
const DROP_AT_ONCE: u64 = 64;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Text = 1,
    Hash = 2,
    SortedSet = 3,
    Stream = 4,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Kind> {
        [Kind::Text, Kind::Hash, Kind::SortedSet, Kind::Stream]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }

    /// The name in a reply of TYPE.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Hash => "hash",
            Kind::SortedSet => "zset",
            Kind::Stream => "stream",
        }
    }

    /// The tags of the records of its elements.
    fn element_tags(self) -> &'static [Tag] {
        match self {
            Kind::Text => &[Tag::Text],
            Kind::Hash => &[Tag::Field],
            Kind::SortedSet => &[Tag::Member, Tag::Order],
            Kind::Stream => &[Tag::Entry],
        }
    }
}

/// The value under a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub kind: Kind,
    pub number: u64,
    /// Unix milliseconds.
    pub expires_at: Option<i64>,
}

impl Entry {
    fn decode(bytes: &[u8]) -> Result<Entry, Failure> {
        let damaged = || Failure::Storage("a record of the store is damaged".to_owned());
        let kind = bytes.first().copied().and_then(Kind::from_byte).ok_or_else(damaged)?;
        let number = read_u64(bytes, 1).ok_or_else(damaged)?;
        let expires_at = read_u64(bytes, 9).map(|at| at as i64);
        Ok(Entry {
            kind,
            number,
            expires_at,
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(17);
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.number.to_be_bytes());
        if let Some(at) = self.expires_at {
            bytes.extend_from_slice(&at.to_be_bytes());
        }
        bytes
    }
}

/// The big-endian number at `at`.
pub(super) fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The state as commands see it, at one instant.
pub(super) struct Keyspace {
    pub layers: Layers,
    pub channels: Arc<Channels>,
    /// Unix microseconds. Does not advance while a script runs, as in Redis 7.
    pub now_us: i64,
    /// Set while a query script runs and the disk cannot be written: its writes fail, and it goes on without them.
    pub refuses_writes: bool,
    /// Set while a script runs.
    pub is_script: bool,
    clock: Clock,
}

/// The time of a store.
pub(super) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

impl Keyspace {
    /// A keyspace over `layers`.
    pub fn new(layers: Layers, channels: Arc<Channels>, clock: Clock) -> Self {
        Keyspace {
            layers,
            channels,
            now_us: 0,
            refuses_writes: false,
            is_script: false,
            clock,
        }
    }

    /// Begins a script or a plain command.
    pub fn begin(&mut self, is_script: bool) {
        self.layers.begin();
        self.is_script = is_script;
        self.now_us = (self.clock)()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
    }

    /// Runs `read`, which changes nothing, as if the running script had not begun. Also returns the batch that must be
    /// durable before the result is sent.
    pub fn read_before_script<R>(&mut self, read: impl FnOnce(&mut Keyspace) -> R) -> (R, u64) {
        let suspended = self.layers.suspend();
        let is_script = std::mem::replace(&mut self.is_script, false);
        let result = read(self);
        self.is_script = is_script;
        (result, self.layers.resume(suspended))
    }

    /// The current time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.now_us / 1000
    }

    /// The entry under `name`, unless it has expired.
    pub fn entry(&self, name: &[u8]) -> Result<Option<Entry>, Failure> {
        let entry = self.entry_or_expired(name)?;
        Ok(entry.filter(|entry| entry.expires_at.is_none_or(|at| at > self.now_ms())))
    }

    fn entry_or_expired(&self, name: &[u8]) -> Result<Option<Entry>, Failure> {
        match self.layers.get(&Tag::Name.name(name))? {
            Some(bytes) => Entry::decode(&bytes).map(Some),
            None => Ok(None),
        }
    }

    /// The entry under `name`. An error if it is not of `kind`.
    pub fn find(&self, name: &[u8], kind: Kind) -> Result<Option<Entry>, Failure> {
        match self.entry(name)? {
            Some(entry) if entry.kind != kind => Err(Failure::WRONG_TYPE),
            found => Ok(found),
        }
    }

    /// The entry under `name`, created empty if it does not exist.
    pub fn find_or_create(&mut self, name: &[u8], kind: Kind) -> Result<Entry, Failure> {
        match self.find(name, kind)? {
            Some(entry) => Ok(entry),
            None => self.create(name, kind),
        }
    }

    /// A new, empty entry under `name`, which replaces any other.
    pub fn create(&mut self, name: &[u8], kind: Kind) -> Result<Entry, Failure> {
        self.drop_name(name)?;
        let (newest, first) = if coord_state::is_expendable(name) {
            (records::NEWEST_EXPENDABLE, records::EXPENDABLE)
        } else {
            (records::NEWEST, 0)
        };
        let last = self.layers.get(newest)?.and_then(|newest| read_u64(&newest, 0));
        let number = last.unwrap_or(first) + 1;
        self.layers.put(newest, number.to_be_bytes().to_vec());
        let entry = Entry {
            kind,
            number,
            expires_at: None,
        };
        self.put_entry(name, entry);
        Ok(entry)
    }

    fn put_entry(&mut self, name: &[u8], entry: Entry) {
        self.layers.put(Tag::Name.name(name), entry.encode());
        self.layers.put(Tag::Number.number(entry.number), name.to_vec());
        if let Some(at) = entry.expires_at {
            self.layers.put(records::expiry_key(at, name), Vec::new());
        }
    }

    /// Sets or clears the expiry of `name`.
    pub fn set_expiry(&mut self, name: &[u8], entry: Entry, expires_at: Option<i64>) {
        if let Some(at) = entry.expires_at {
            self.layers.remove(records::expiry_key(at, name));
        }
        self.put_entry(name, Entry { expires_at, ..entry });
    }

    /// Drops the value under `name`. Returns whether it existed and had not expired.
    pub fn drop_name(&mut self, name: &[u8]) -> Result<bool, Failure> {
        let Some(entry) = self.entry_or_expired(name)? else {
            return Ok(false);
        };
        self.detach(name, entry);
        let count = if entry.kind == Kind::Text {
            1
        } else {
            self.count(entry)?
        };
        if count <= DROP_AT_ONCE {
            self.clear_elements(entry.kind, entry.number, u64::MAX)?;
        } else {
            self.layers
                .put(Tag::Garbage.number(entry.number), vec![entry.kind as u8]);
        }
        Ok(entry.expires_at.is_none_or(|at| at > self.now_ms()))
    }

    fn detach(&mut self, name: &[u8], entry: Entry) {
        self.layers.remove(Tag::Name.name(name));
        self.layers.remove(Tag::Number.number(entry.number));
        if let Some(at) = entry.expires_at {
            self.layers.remove(records::expiry_key(at, name));
        }
    }

    /// Moves the value under `from` to `to`. Returns false if there is no value.
    pub fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<bool, Failure> {
        let Some(entry) = self.entry(from)? else {
            return Ok(false);
        };
        if from != to {
            self.drop_name(to)?;
            self.detach(from, entry);
            self.put_entry(to, entry);
        }
        Ok(true)
    }

    /// Number of elements in `entry`.
    pub fn count(&self, entry: Entry) -> Result<u64, Failure> {
        let count = self.layers.get(&Tag::Count.number(entry.number))?;
        Ok(count.and_then(|count| read_u64(&count, 0)).unwrap_or(0))
    }

    /// Sets the number of elements of the hash or sorted set under `name`. Removes an empty one.
    pub fn set_count(&mut self, name: &[u8], entry: Entry, count: u64) {
        if count == 0 {
            self.detach(name, entry);
            self.layers.remove(Tag::Count.number(entry.number));
        } else {
            self.layers
                .put(Tag::Count.number(entry.number), count.to_be_bytes().to_vec());
        }
    }

    /// Removes up to `limit` records of a dropped collection. Returns the number of removed records.
    fn clear_elements(&mut self, kind: Kind, number: u64, limit: u64) -> Result<u64, Failure> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for tag in kind.element_tags() {
            let mut scan = self.layers.scan_prefix(&tag.number(number))?;
            while (keys.len() as u64) < limit
                && let Some((key, _)) = scan.next()?
            {
                keys.push(key.to_vec());
            }
        }
        let cleared = keys.len() as u64;
        for key in keys {
            self.layers.remove(key);
        }
        if cleared < limit {
            self.layers.remove(Tag::Count.number(number));
            self.layers.remove(Tag::Garbage.number(number));
        }
        Ok(cleared)
    }

    /// Removes expired names and dropped elements, at most about `limit` records. Returns whether there may be more.
    pub fn clean(&mut self, limit: u64) -> Result<bool, Failure> {
        let mut remaining = limit;
        let now = self.now_ms();
        while remaining > 0 {
            let next = self
                .layers
                .scan_prefix(&Tag::Expiry.prefix())?
                .next()?
                .map(|(key, _)| key.to_vec());
            let Some(key) = next.filter(|key| records::expiry_at(key).is_some_and(|at| at <= now)) else {
                break;
            };
            let name = &key[9..];
            let entry = self.entry_or_expired(name)?;
            if entry.and_then(|entry| entry.expires_at).is_some_and(|at| at <= now) {
                self.drop_name(name)?;
            }
            // Removed even if the name has another expiry: otherwise every cleaning would find this record first.
            self.layers.remove(key);
            remaining -= 1;
        }
        while remaining > 0 {
            let next = self.layers.scan_prefix(&Tag::Garbage.prefix())?.next()?;
            let next = next.and_then(|(key, kind)| Some((read_u64(&key, 1)?, Kind::from_byte(*kind.first()?)?)));
            let Some((number, kind)) = next else { break };
            remaining -= self.clear_elements(kind, number, remaining)?.clamp(1, remaining);
        }
        Ok(remaining == 0)
    }

    /// Up to `limit` names that `is_wanted` accepts and that have not expired, in order of creation, and the cursor of
    /// the next page. The cursor is 0 at the beginning, and again at the end.
    pub fn names(
        &self,
        cursor: u64,
        limit: usize,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        let from = Tag::Number.number(cursor.saturating_add(1));
        let end = records::end_of_prefix(&Tag::Number.prefix());
        let mut scan = self.layers.scan(Bound::Included(&from), Bound::Excluded(&end), false)?;
        let mut names = Vec::new();
        while let Some((key, name)) = scan.next()? {
            if is_wanted(&name) && self.entry(&name)?.is_some() {
                names.push(name.to_vec());
                if names.len() >= limit {
                    return Ok((read_u64(&key, 1).unwrap_or_default(), names));
                }
            }
        }
        Ok((0, names))
    }
}
