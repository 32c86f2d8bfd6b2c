//! Sorted sets: members and their scores.

use super::generic::length;
use super::options::{Words, is};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind, read_u64};
use crate::number::{float, format_score};
use crate::records::{self, Tag};
use bytes::Bytes;
use coord_store::Value;

const NOT_A_NUMBER: Failure = Failure::fixed("ERR resulting score is not a number (NaN)");

fn score(keyspace: &Keyspace, entry: Entry, member: &[u8]) -> Result<Option<f64>, Failure> {
    let bits = keyspace.layers.get(&Tag::Member.element(entry.number, member))?;
    Ok(bits.and_then(|bits| read_u64(&bits, 0)).map(f64::from_bits))
}

fn order_key(entry: Entry, score: f64, member: &[u8]) -> Vec<u8> {
    let mut key = Tag::Order.element(entry.number, &records::sortable_bytes(score));
    key.extend_from_slice(member);
    key
}

fn put(keyspace: &mut Keyspace, entry: Entry, member: &[u8], old: Option<f64>, new: f64) {
    if let Some(old) = old {
        keyspace.layers.remove(order_key(entry, old, member));
    }
    // Redis' compact form of a sorted set drops the sign of a zero.
    let new = if new == 0.0 { 0.0 } else { new };
    let bits = Bytes::copy_from_slice(&new.to_bits().to_be_bytes());
    keyspace
        .layers
        .put(Tag::Member.element(entry.number, member), bits.clone());
    keyspace.layers.put(order_key(entry, new, member), bits);
}

#[derive(Clone, Copy, Default)]
struct AddOptions {
    is_nx: bool,
    is_xx: bool,
    is_gt: bool,
    is_lt: bool,
    is_ch: bool,
    is_incr: bool,
}

impl AddOptions {
    /// Sets the option `word`. Returns false if there is no such option.
    fn set(&mut self, word: &[u8]) -> bool {
        let option = match word {
            word if is(word, "NX") => &mut self.is_nx,
            word if is(word, "XX") => &mut self.is_xx,
            word if is(word, "GT") => &mut self.is_gt,
            word if is(word, "LT") => &mut self.is_lt,
            word if is(word, "CH") => &mut self.is_ch,
            word if is(word, "INCR") => &mut self.is_incr,
            _ => return false,
        };
        *option = true;
        true
    }

    fn check(self, pairs: usize) -> Result<(), Failure> {
        if self.is_nx && self.is_xx {
            return Err(Failure::fixed(
                "ERR XX and NX options at the same time are not compatible",
            ));
        }
        if [self.is_nx, self.is_gt, self.is_lt]
            .iter()
            .filter(|is_set| **is_set)
            .count()
            > 1
        {
            return Err(Failure::fixed(
                "ERR GT, LT, and/or NX options at the same time are not compatible",
            ));
        }
        if self.is_incr && pairs > 1 {
            return Err(Failure::fixed(
                "ERR INCR option supports a single increment-element pair",
            ));
        }
        Ok(())
    }
}

pub(super) fn zadd(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let mut options = AddOptions::default();
    let first = words
        .iter()
        .skip(2)
        .position(|word| !options.set(word))
        .map_or(words.len(), |index| index + 2);
    let (pairs, odd) = words[first..].as_chunks::<2>();
    if pairs.is_empty() || !odd.is_empty() {
        return Err(Failure::SYNTAX);
    }
    options.check(pairs.len())?;
    let scores: Vec<f64> = pairs
        .iter()
        .map(|[score, _]| float(score))
        .collect::<Option<_>>()
        .ok_or(Failure::NOT_A_FLOAT)?;
    let members: Vec<&[u8]> = pairs.iter().map(|[_, member]| *member).collect();
    add(keyspace, words[1], options, &scores, &members)
}

fn add(keyspace: &mut Keyspace, name: &[u8], options: AddOptions, scores: &[f64], members: &[&[u8]]) -> Outcome {
    let entry = match keyspace.find(name, Kind::SortedSet)? {
        Some(entry) => entry,
        None if options.is_xx => return Ok(if options.is_incr { Value::Nil } else { Value::Int(0) }),
        None => keyspace.create(name, Kind::SortedSet)?,
    };
    let (mut added, mut updated, mut result) = (0, 0, None);
    for (given, member) in scores.iter().zip(members) {
        let Some(old) = score(keyspace, entry, member)? else {
            if !options.is_xx {
                put(keyspace, entry, member, None, *given);
                added += 1;
                result = Some(*given);
            }
            continue;
        };
        if options.is_nx {
            continue;
        }
        let new = if options.is_incr { old + given } else { *given };
        if new.is_nan() {
            return Err(NOT_A_NUMBER);
        }
        if (options.is_lt && new >= old) || (options.is_gt && new <= old) {
            continue;
        }
        if new != old {
            put(keyspace, entry, member, Some(old), new);
            updated += 1;
        }
        result = Some(new);
    }
    if added > 0 {
        let old = keyspace.count(entry)?;
        keyspace.set_count(name, entry, old + added);
    }
    Ok(match result {
        _ if !options.is_incr => Value::Int((if options.is_ch { added + updated } else { added }) as i64),
        Some(score) => Value::Bulk(format_score(score)),
        None => Value::Nil,
    })
}

pub(super) fn zrem(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Int(0));
    };
    let mut removed = 0;
    for member in &words[2..] {
        // A member that the command names twice no longer exists the second time.
        if let Some(score) = score(keyspace, entry, member)? {
            keyspace.layers.remove(Tag::Member.element(entry.number, member));
            keyspace.layers.remove(order_key(entry, score, member));
            removed += 1;
        }
    }
    if removed > 0 {
        let remaining = keyspace.count(entry)?.saturating_sub(removed);
        keyspace.set_count(words[1], entry, remaining);
    }
    Ok(Value::Int(removed as i64))
}

pub(super) fn zscore(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let score = match keyspace.find(words[1], Kind::SortedSet)? {
        Some(entry) => score(keyspace, entry, words[2])?,
        None => None,
    };
    Ok(score.map_or(Value::Nil, |score| Value::Bulk(format_score(score))))
}

pub(super) fn zcard(keyspace: &mut Keyspace, words: Words) -> Outcome {
    length(keyspace, words[1], Kind::SortedSet)
}
