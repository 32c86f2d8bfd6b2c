//! Hashes.

use super::generic::length;
use super::options::{Words, bulk_or_nil, flag, pairs};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind};
use crate::layers::StoredBytes;
use crate::number::{integer, integer_argument};
use crate::records::Tag;
use coord_store::Value;

/// Length of the key of an `h` record before the field, in bytes.
const PREFIX: usize = 9;

fn value(keyspace: &Keyspace, entry: Option<Entry>, field: &[u8]) -> Result<Option<StoredBytes<'static>>, Failure> {
    match entry {
        Some(entry) => keyspace.layers.get(&Tag::Field.element(entry.number, field)),
        None => Ok(None),
    }
}

/// Sets `fields` and returns how many of them are new.
fn put(keyspace: &mut Keyspace, name: &[u8], fields: &[(&[u8], &[u8])]) -> Result<u64, Failure> {
    let entry = keyspace.find_or_create(name, Kind::Hash)?;
    let mut added = 0;
    for (field, value) in fields {
        let key = Tag::Field.element(entry.number, field);
        added += u64::from(keyspace.layers.get(&key)?.is_none());
        keyspace.layers.put(key, value.to_vec());
    }
    if added > 0 {
        let old = keyspace.count(entry)?;
        keyspace.set_count(name, entry, old + added);
    }
    Ok(added)
}

pub(super) fn hget(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let entry = keyspace.find(words[1], Kind::Hash)?;
    Ok(bulk_or_nil(value(keyspace, entry, words[2])?))
}

pub(super) fn hmget(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let entry = keyspace.find(words[1], Kind::Hash)?;
    let values = words[2..]
        .iter()
        .map(|field| Ok(bulk_or_nil(value(keyspace, entry, field)?)));
    Ok(Value::Array(values.collect::<Result<_, Failure>>()?))
}

pub(super) fn hexists(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let entry = keyspace.find(words[1], Kind::Hash)?;
    flag(value(keyspace, entry, words[2])?.is_some())
}

pub(super) fn hlen(keyspace: &mut Keyspace, words: Words) -> Outcome {
    length(keyspace, words[1], Kind::Hash)
}

/// Calls `each` with every field of a hash and its value, in byte order of the names.
fn for_each_field(keyspace: &Keyspace, name: &[u8], mut each: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
    if let Some(entry) = keyspace.find(name, Kind::Hash)? {
        let mut scan = keyspace.layers.scan_prefix(&Tag::Field.number(entry.number))?;
        while let Some((key, value)) = scan.next()? {
            each(&key[PREFIX..], &value);
        }
    }
    Ok(())
}

pub(super) fn hgetall(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut reply = Vec::new();
    for_each_field(keyspace, words[1], |field, value| {
        reply.extend([Value::bulk(field), Value::bulk(value)]);
    })?;
    Ok(Value::Array(reply))
}

pub(super) fn hkeys(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut reply = Vec::new();
    for_each_field(keyspace, words[1], |field, _| reply.push(Value::bulk(field)))?;
    Ok(Value::Array(reply))
}

pub(super) fn hset(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let added = put(keyspace, words[1], &pairs(&words[2..], "hset")?)?;
    Ok(Value::Int(added as i64))
}

pub(super) fn hdel(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Some(entry) = keyspace.find(words[1], Kind::Hash)? else {
        return Ok(Value::Int(0));
    };
    let mut removed = 0;
    for field in &words[2..] {
        let key = Tag::Field.element(entry.number, field);
        if keyspace.layers.get(&key)?.is_some() {
            keyspace.layers.remove(key);
            removed += 1;
        }
    }
    if removed > 0 {
        let remaining = keyspace.count(entry)?.saturating_sub(removed);
        keyspace.set_count(words[1], entry, remaining);
    }
    Ok(Value::Int(removed as i64))
}

pub(super) fn hincrby(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let increment = integer_argument(words[3])?;
    let entry = keyspace.find(words[1], Kind::Hash)?;
    let old = match value(keyspace, entry, words[2])? {
        Some(value) => integer(&value).ok_or(Failure::fixed("ERR hash value is not an integer"))?,
        None => 0,
    };
    let new = old.checked_add(increment).ok_or(Failure::OVERFLOW)?;
    put(keyspace, words[1], &[(words[2], new.to_string().as_bytes())])?;
    Ok(Value::Int(new))
}
