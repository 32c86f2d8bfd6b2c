//! Streams.

use super::generic::length;
use super::options::{Words, is};
use super::stream_arguments::{End, Id, NewId, Trim, add_arguments, range_end};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind, read_u64};
use crate::number::integer_argument;
use crate::records::Tag;
use coord_store::Value;
use std::ops::Bound;

/// The content of a stream's `c` record.
#[derive(Clone, Copy)]
struct Stream {
    entry: Entry,
    length: u64,
    newest: Id,
}

impl Stream {
    fn load(keyspace: &Keyspace, entry: Entry) -> Result<Stream, Failure> {
        let record = keyspace.layers.get(&Tag::Count.number(entry.number))?;
        let number = |at| record.as_deref().and_then(|record| read_u64(record, at)).unwrap_or(0);
        Ok(Stream {
            entry,
            length: number(0),
            newest: Id {
                ms: number(8),
                seq: number(16),
            },
        })
    }

    fn save(&self, keyspace: &mut Keyspace) {
        let mut record = self.length.to_be_bytes().to_vec();
        record.extend_from_slice(&self.newest.encode());
        keyspace.layers.put(Tag::Count.number(self.entry.number), record);
    }

    fn key(&self, id: Id) -> Vec<u8> {
        Tag::Entry.element(self.entry.number, &id.encode())
    }

    /// The id of a new entry.
    fn new_id(&self, given: NewId, now_ms: i64) -> Result<Id, Failure> {
        const TOO_SMALL: Failure =
            Failure::fixed("ERR The ID specified in XADD is equal or smaller than the target stream top item");
        if self.newest == Id::MAX {
            return Err(Failure::fixed(
                "ERR The stream has exhausted the last possible ID, unable to add more items",
            ));
        }
        match given {
            NewId::Now => {
                let now = Id {
                    ms: u64::try_from(now_ms).unwrap_or(0),
                    seq: 0,
                };
                // Ids grow even if the clock stops or goes back.
                if now.ms > self.newest.ms {
                    Ok(now)
                } else {
                    self.newest.next().ok_or(TOO_SMALL)
                }
            }
            NewId::In(ms) if ms == self.newest.ms => self
                .newest
                .seq
                .checked_add(1)
                .map(|seq| Id { ms, seq })
                .ok_or(TOO_SMALL),
            NewId::In(ms) if ms > self.newest.ms => Ok(Id { ms, seq: 0 }),
            NewId::At(id) if id > self.newest => Ok(id),
            NewId::In(_) | NewId::At(_) => Err(TOO_SMALL),
        }
    }

    /// Removes the oldest entries. Returns how many were removed.
    fn trim(&mut self, keyspace: &mut Keyspace, trim: Trim) -> Result<u64, Failure> {
        let (limit, before) = match trim {
            Trim::Nothing => return Ok(0),
            Trim::ToLength(length) => (self.length.saturating_sub(length), None),
            Trim::Before(id) => (self.length, Some(self.key(id))),
        };
        let mut keys = Vec::new();
        if limit > 0 {
            let mut scan = keyspace.layers.scan_prefix(&Tag::Entry.number(self.entry.number))?;
            while (keys.len() as u64) < limit
                && let Some((key, _)) = scan.next()?
                && before.as_deref().is_none_or(|before| &*key < before)
            {
                keys.push(key.to_vec());
            }
        }
        let removed = keys.len() as u64;
        for key in keys {
            keyspace.layers.remove(key);
        }
        self.length = self.length.saturating_sub(removed);
        Ok(removed)
    }

    /// The reply with up to `count` entries between two ids.
    fn entries(&self, keyspace: &Keyspace, first: Id, last: Id, is_reverse: bool, count: usize) -> Outcome {
        let (from, to) = (self.key(first), self.key(last));
        let mut entries = Vec::new();
        let mut scan = keyspace
            .layers
            .scan(Bound::Included(&from), Bound::Included(&to), is_reverse)?;
        while entries.len() < count
            && let Some((key, fields)) = scan.next()?
        {
            let damaged = || Failure::Storage("an entry of a stream is damaged".to_owned());
            let (ms, seq) = read_u64(&key, 9).zip(read_u64(&key, 17)).ok_or_else(damaged)?;
            let fields = decode(&fields).ok_or_else(damaged)?;
            entries.push(Value::Array(vec![
                Value::Bulk(Id { ms, seq }.format()),
                Value::Array(fields),
            ]));
        }
        Ok(Value::Array(entries))
    }
}

/// The words of an entry, each after its length (4 bytes).
fn encode(words: &[&[u8]]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(words.iter().map(|word| 4 + word.len()).sum());
    for word in words {
        let length = u32::try_from(word.len()).map_err(|_| Failure::fixed("ERR a field of a stream is too long"))?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(word);
    }
    Ok(bytes)
}

/// The words of an entry; None if it is damaged.
fn decode(mut bytes: &[u8]) -> Option<Vec<Value>> {
    let mut words = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (word, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        words.push(Value::bulk(word));
        bytes = rest;
    }
    Some(words)
}

pub(super) fn xadd(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let arguments = add_arguments(words, true)?;
    let fields = words.get(arguments.id_at + 1..).unwrap_or_default();
    if fields.is_empty() || fields.len() % 2 == 1 {
        return Err(Failure::arity("xadd"));
    }
    if matches!(arguments.id, NewId::At(Id::MIN)) {
        return Err(Failure::fixed("ERR The ID specified in XADD must be greater than 0-0"));
    }
    let entry = match keyspace.find(words[1], Kind::Stream)? {
        Some(entry) => entry,
        None if arguments.is_existing_only => return Ok(Value::Nil),
        None => keyspace.create(words[1], Kind::Stream)?,
    };
    let mut stream = Stream::load(keyspace, entry)?;
    let id = stream.new_id(arguments.id, keyspace.now_ms())?;
    keyspace.layers.put(stream.key(id), encode(fields)?);
    stream.length += 1;
    stream.newest = id;
    stream.trim(keyspace, arguments.trim)?;
    stream.save(keyspace);
    Ok(Value::Bulk(id.format()))
}

pub(super) fn xtrim(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let arguments = add_arguments(words, false)?;
    let Some(entry) = keyspace.find(words[1], Kind::Stream)? else {
        return Ok(Value::Int(0));
    };
    let mut stream = Stream::load(keyspace, entry)?;
    let removed = stream.trim(keyspace, arguments.trim)?;
    if removed > 0 {
        stream.save(keyspace);
    }
    Ok(Value::Int(removed as i64))
}

pub(super) fn xdel(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Some(entry) = keyspace.find(words[1], Kind::Stream)? else {
        return Ok(Value::Int(0));
    };
    let ids = words[2..].iter().map(|word| Id::parse(word, 0));
    let ids = ids.collect::<Result<Vec<Id>, Failure>>()?;
    let mut stream = Stream::load(keyspace, entry)?;
    let before = stream.length;
    for id in ids {
        let key = stream.key(id);
        if keyspace.layers.get(&key)?.is_some() {
            keyspace.layers.remove(key);
            stream.length -= 1;
        }
    }
    let removed = before - stream.length;
    if removed > 0 {
        stream.save(keyspace);
    }
    Ok(Value::Int(removed as i64))
}

pub(super) fn xlen(keyspace: &mut Keyspace, words: Words) -> Outcome {
    length(keyspace, words[1], Kind::Stream)
}

fn range(keyspace: &Keyspace, words: Words, is_reverse: bool) -> Outcome {
    let (start, last) = if is_reverse {
        (words[3], words[2])
    } else {
        (words[2], words[3])
    };
    let (start, last) = (range_end(start, End::Start)?, range_end(last, End::Last)?);
    let mut count = usize::MAX;
    let mut rest = words[4..].iter();
    while let Some(word) = rest.next() {
        let Some(number) = rest.next().filter(|_| is(word, "COUNT")) else {
            return Err(Failure::SYNTAX);
        };
        count = usize::try_from(integer_argument(number)?).unwrap_or(0);
    }
    let Some(entry) = keyspace.find(words[1], Kind::Stream)? else {
        return Ok(Value::Array(Vec::new()));
    };
    if count == 0 {
        return Ok(Value::Nil);
    }
    Stream::load(keyspace, entry)?.entries(keyspace, start, last, is_reverse, count)
}

pub(super) fn xrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    range(keyspace, words, false)
}

pub(super) fn xrevrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    range(keyspace, words, true)
}

pub(super) fn xread(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut count = usize::MAX;
    let mut at = 1;
    let streams = loop {
        match words.get(at) {
            Some(word) if is(word, "STREAMS") && at + 1 < words.len() => break &words[at + 1..],
            Some(word) if is(word, "COUNT") && at + 1 < words.len() => {
                count = match integer_argument(words[at + 1])? {
                    number @ 1.. => usize::try_from(number).unwrap_or(usize::MAX),
                    _ => usize::MAX,
                };
                at += 2;
            }
            Some(word) if is(word, "BLOCK") => {
                return Err(Failure::fixed(
                    "ERR XREAD with BLOCK is not supported by the embedded store; subscribe instead",
                ));
            }
            _ => return Err(Failure::SYNTAX),
        }
    };
    if streams.len() % 2 == 1 {
        return Err(Failure::fixed(
            "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
        ));
    }
    let (names, ids) = streams.split_at(streams.len() / 2);
    let mut replies = Vec::new();
    for (name, id) in names.iter().zip(ids) {
        let entry = keyspace.find(name, Kind::Stream)?;
        let after = if *id == b"$" { None } else { Some(Id::parse(id, 0)?) };
        let Some((entry, first)) = entry.zip(after.and_then(Id::next)) else {
            continue;
        };
        let entries = Stream::load(keyspace, entry)?.entries(keyspace, first, Id::MAX, false, count)?;
        if entries.as_array().is_some_and(|entries| !entries.is_empty()) {
            replies.push(Value::Array(vec![Value::bulk(*name), entries]));
        }
    }
    Ok(if replies.is_empty() {
        Value::Nil
    } else {
        Value::Array(replies)
    })
}
