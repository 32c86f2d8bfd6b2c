//! Commands on keys of any type, and on the server.

use super::options::{Words, count, flag, is, ok};
use crate::failure::{Failure, Outcome};
use crate::glob;
use crate::keyspace::{Keyspace, Kind};
use crate::number::integer_argument;
use crate::pubsub::Message;
use bytes::Bytes;
use coord_store::Value;

pub(super) fn ping(_: &mut Keyspace, words: Words) -> Outcome {
    match words {
        [_] => Ok(Value::Status("PONG".to_owned())),
        [_, message] => Ok(Value::bulk(*message)),
        _ => Err(Failure::arity("ping")),
    }
}

pub(super) fn time(keyspace: &mut Keyspace, _: Words) -> Outcome {
    let now = keyspace.now_us;
    let [seconds, microseconds] = [now / 1_000_000, now % 1_000_000].map(|part| Value::bulk(part.to_string()));
    Ok(Value::Array(vec![seconds, microseconds]))
}

pub(super) fn exists(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut existing = 0;
    for name in &words[1..] {
        existing += usize::from(keyspace.entry(name)?.is_some());
    }
    count(existing)
}

/// The number of elements of the hash, sorted set or stream under `name`; 0 if there is none.
pub(super) fn length(keyspace: &Keyspace, name: &[u8], kind: Kind) -> Outcome {
    match keyspace.find(name, kind)? {
        Some(entry) => Ok(Value::Int(keyspace.count(entry)? as i64)),
        None => Ok(Value::Int(0)),
    }
}

pub(super) fn del(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut dropped = 0;
    for name in &words[1..] {
        dropped += usize::from(keyspace.drop_name(name)?);
    }
    count(dropped)
}

pub(super) fn kind(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let name = keyspace.entry(words[1])?.map_or("none", |entry| entry.kind.name());
    Ok(Value::Status(name.to_owned()))
}

pub(super) fn rename(keyspace: &mut Keyspace, words: Words) -> Outcome {
    if keyspace.rename(words[1], words[2])? {
        ok()
    } else {
        Err(Failure::fixed("ERR no such key"))
    }
}

/// The expiry in Unix milliseconds, `number` units from now (or from 1970).
pub(super) fn expiry_of(
    keyspace: &Keyspace,
    command: &str,
    number: i64,
    unit_ms: i64,
    is_absolute: bool,
) -> Result<i64, Failure> {
    let base = if is_absolute { 0 } else { keyspace.now_ms() };
    let at = number
        .checked_mul(unit_ms)
        .and_then(|duration| duration.checked_add(base));
    at.ok_or_else(|| Failure::reply(format!("ERR invalid expire time in '{command}' command")))
}

fn set_expiry(keyspace: &mut Keyspace, words: Words, command: &str, unit_ms: i64) -> Outcome {
    let (mut is_nx, mut is_xx, mut is_gt, mut is_lt) = (false, false, false, false);
    for word in &words[3..] {
        match *word {
            word if is(word, "NX") => is_nx = true,
            word if is(word, "XX") => is_xx = true,
            word if is(word, "GT") => is_gt = true,
            word if is(word, "LT") => is_lt = true,
            word => {
                let option = String::from_utf8_lossy(word);
                return Err(Failure::reply(format!("ERR Unsupported option {option}")));
            }
        }
    }
    if is_nx && (is_xx || is_gt || is_lt) {
        return Err(Failure::fixed(
            "ERR NX and XX, GT or LT options at the same time are not compatible",
        ));
    }
    if is_gt && is_lt {
        return Err(Failure::fixed(
            "ERR GT and LT options at the same time are not compatible",
        ));
    }
    let at = expiry_of(keyspace, command, integer_argument(words[2])?, unit_ms, false)?;
    let Some(entry) = keyspace.entry(words[1])? else {
        return flag(false);
    };
    let old = entry.expires_at;
    // A key without an expiry counts as one that expires after any time.
    let keeps_old = (is_nx && old.is_some())
        || (is_xx && old.is_none())
        || (is_gt && old.is_none_or(|old| at <= old))
        || (is_lt && old.is_some_and(|old| at >= old));
    if keeps_old {
        return flag(false);
    }
    if at <= keyspace.now_ms() {
        keyspace.drop_name(words[1])?;
    } else {
        keyspace.set_expiry(words[1], entry, Some(at));
    }
    flag(true)
}

pub(super) fn expire(keyspace: &mut Keyspace, words: Words) -> Outcome {
    set_expiry(keyspace, words, "expire", 1000)
}

pub(super) fn pexpire(keyspace: &mut Keyspace, words: Words) -> Outcome {
    set_expiry(keyspace, words, "pexpire", 1)
}

/// Milliseconds until expiry; -1 without an expiry, -2 without a key.
fn remaining_ms(keyspace: &Keyspace, name: &[u8]) -> Result<i64, Failure> {
    Ok(match keyspace.entry(name)?.map(|entry| entry.expires_at) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => at.saturating_sub(keyspace.now_ms()).max(0),
    })
}

pub(super) fn ttl(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let remaining = remaining_ms(keyspace, words[1])?;
    Ok(Value::Int(if remaining < 0 {
        remaining
    } else {
        remaining.saturating_add(500) / 1000
    }))
}

pub(super) fn pttl(keyspace: &mut Keyspace, words: Words) -> Outcome {
    Ok(Value::Int(remaining_ms(keyspace, words[1])?))
}

pub(super) fn persist(keyspace: &mut Keyspace, words: Words) -> Outcome {
    match keyspace.entry(words[1])? {
        Some(entry) if entry.expires_at.is_some() => {
            keyspace.set_expiry(words[1], entry, None);
            flag(true)
        }
        _ => flag(false),
    }
}

pub(super) fn publish(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let subscribers = keyspace.channels.subscriber_count(words[1]);
    if subscribers > 0 {
        let message = Message {
            channel: words[1].to_vec(),
            payload: Bytes::copy_from_slice(words[2]),
        };
        keyspace.layers.publish(message);
    }
    count(subscribers)
}

pub(super) fn keys(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let (_, names) = keyspace.names(0, usize::MAX, |name| glob::matches(words[1], name))?;
    Ok(Value::Array(names.into_iter().map(Value::Bulk).collect()))
}

/// Unlike in Redis, COUNT is the number of names in the reply, and each name that exists all the time is returned once.
pub(super) fn scan(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let cursor = std::str::from_utf8(words[1])
        .ok()
        .and_then(|cursor| cursor.parse().ok());
    let cursor = cursor.ok_or(Failure::fixed("ERR invalid cursor"))?;
    let (mut pattern, mut limit): (&[u8], usize) = (b"*", 10);
    let (options, rest) = words[2..].as_chunks::<2>();
    for [name, value] in options {
        match *name {
            name if is(name, "MATCH") => pattern = value,
            name if is(name, "COUNT") => {
                limit = usize::try_from(integer_argument(value)?).unwrap_or_default();
            }
            _ => return Err(Failure::SYNTAX),
        }
    }
    if !rest.is_empty() || limit == 0 {
        return Err(Failure::SYNTAX);
    }
    let (next, names) = keyspace.names(cursor, limit, |name| glob::matches(pattern, name))?;
    Ok(Value::Array(vec![
        Value::bulk(next.to_string()),
        Value::Array(names.into_iter().map(Value::Bulk).collect()),
    ]))
}

pub(super) fn flush(keyspace: &mut Keyspace, words: Words) -> Outcome {
    match words {
        [_] => {}
        [_, mode] if is(mode, "ASYNC") || is(mode, "SYNC") => {}
        _ => return Err(Failure::SYNTAX),
    }
    // The next cleaning removes names that have already expired.
    for name in keyspace.names(0, usize::MAX, |_| true)?.1 {
        keyspace.drop_name(&name)?;
    }
    ok()
}
