//! Strings and counters.

use super::generic::expiry_of;
use super::options::{Words, bulk_or_nil, is, ok};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind};
use crate::layers::StoredBytes;
use crate::number::{integer, integer_argument};
use crate::records::Tag;
use coord_store::Value;

/// Redis' limit on a string (`proto-max-bulk-len`).
const MAX_BYTES: usize = 512 * 1024 * 1024;

fn text(keyspace: &Keyspace, name: &[u8]) -> Result<Option<StoredBytes<'static>>, Failure> {
    text_of(keyspace, keyspace.find(name, Kind::Text)?)
}

fn text_of(keyspace: &Keyspace, entry: Option<Entry>) -> Result<Option<StoredBytes<'static>>, Failure> {
    match entry {
        Some(entry) => keyspace.layers.get(&Tag::Text.number(entry.number)),
        None => Ok(None),
    }
}

/// Sets `name`, whatever its type was, and its expiry.
fn replace(keyspace: &mut Keyspace, name: &[u8], value: &[u8], expires_at: Option<i64>) -> Result<(), Failure> {
    let entry = match keyspace.entry(name)? {
        Some(entry) if entry.kind == Kind::Text => entry,
        _ => keyspace.create(name, Kind::Text)?,
    };
    if entry.expires_at != expires_at {
        keyspace.set_expiry(name, entry, expires_at);
    }
    keyspace.layers.put(Tag::Text.number(entry.number), value.to_vec());
    Ok(())
}

/// Sets the string under `name` and keeps its expiry.
fn update(keyspace: &mut Keyspace, name: &[u8], value: Vec<u8>) -> Result<(), Failure> {
    let entry = keyspace.find_or_create(name, Kind::Text)?;
    keyspace.layers.put(Tag::Text.number(entry.number), value);
    Ok(())
}

pub(super) fn get(keyspace: &mut Keyspace, words: Words) -> Outcome {
    Ok(bulk_or_nil(text(keyspace, words[1])?))
}

pub(super) fn strlen(keyspace: &mut Keyspace, words: Words) -> Outcome {
    Ok(Value::Int(
        text(keyspace, words[1])?.map_or(0, |value| value.len() as i64),
    ))
}

pub(super) fn mget(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let values = words[1..].iter().map(|name| {
        let entry = keyspace.entry(name)?.filter(|entry| entry.kind == Kind::Text);
        Ok(bulk_or_nil(text_of(keyspace, entry)?))
    });
    Ok(Value::Array(values.collect::<Result<_, Failure>>()?))
}

pub(super) fn setrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Ok(offset) = usize::try_from(integer_argument(words[2])?) else {
        return Err(Failure::fixed("ERR offset is out of range"));
    };
    let mut value = text(keyspace, words[1])?.map_or_else(Vec::new, |value| value.to_vec());
    if words[3].is_empty() {
        return Ok(Value::Int(value.len() as i64));
    }
    let end = offset.saturating_add(words[3].len());
    if end > MAX_BYTES {
        return Err(Failure::fixed(
            "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
        ));
    }
    if value.len() < end {
        value.resize(end, 0);
    }
    value[offset..end].copy_from_slice(words[3]);
    let length = value.len();
    update(keyspace, words[1], value)?;
    Ok(Value::Int(length as i64))
}

#[derive(Default)]
struct SetOptions<'a> {
    only_if_absent: bool,
    only_if_present: bool,
    returns_old: bool,
    keeps_expiry: bool,
    expiry: Option<(&'a [u8], ExpiryForm)>,
}

#[derive(Clone, Copy)]
struct ExpiryForm {
    unit_ms: i64,
    is_absolute: bool,
}

fn set_options<'a>(words: &[&'a [u8]]) -> Result<SetOptions<'a>, Failure> {
    let mut options = SetOptions::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let form = |unit_ms, is_absolute| Some(ExpiryForm { unit_ms, is_absolute });
        let expiry_form = match *word {
            word if is(word, "EX") => form(1000, false),
            word if is(word, "PX") => form(1, false),
            word if is(word, "EXAT") => form(1000, true),
            word if is(word, "PXAT") => form(1, true),
            _ => None,
        };
        match *word {
            word if is(word, "NX") && !options.only_if_present => options.only_if_absent = true,
            word if is(word, "XX") && !options.only_if_absent => options.only_if_present = true,
            word if is(word, "GET") => options.returns_old = true,
            word if is(word, "KEEPTTL") && options.expiry.is_none() => options.keeps_expiry = true,
            _ => match (expiry_form, rest.next()) {
                (Some(form), Some(at)) if options.expiry.is_none() && !options.keeps_expiry => {
                    options.expiry = Some((at, form));
                }
                _ => return Err(Failure::SYNTAX),
            },
        }
    }
    Ok(options)
}

pub(super) fn set(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let options = set_options(&words[3..])?;
    let expires_at = match options.expiry {
        Some((at, form)) => Some(expiry(keyspace, at, form)?),
        None => None,
    };
    let old = if options.returns_old {
        Some(bulk_or_nil(text(keyspace, words[1])?))
    } else {
        None
    };
    let entry = keyspace.entry(words[1])?;
    if (options.only_if_absent && entry.is_some()) || (options.only_if_present && entry.is_none()) {
        return Ok(old.unwrap_or(Value::Nil));
    }
    let old_expiry = entry
        .and_then(|entry| entry.expires_at)
        .filter(|_| options.keeps_expiry);
    replace(keyspace, words[1], words[2], expires_at.or(old_expiry))?;
    old.map_or_else(ok, Ok)
}

fn expiry(keyspace: &Keyspace, at: &[u8], form: ExpiryForm) -> Result<i64, Failure> {
    let number = integer_argument(at)?;
    if number <= 0 {
        return Err(Failure::fixed("ERR invalid expire time in 'set' command"));
    }
    expiry_of(keyspace, "set", number, form.unit_ms, form.is_absolute)
}

pub(super) fn incr(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let old = match text(keyspace, words[1])? {
        Some(value) => integer(&value).ok_or(Failure::NOT_AN_INTEGER)?,
        None => 0,
    };
    let new = old.checked_add(1).ok_or(Failure::OVERFLOW)?;
    update(keyspace, words[1], new.to_string().into_bytes())?;
    Ok(Value::Int(new))
}
