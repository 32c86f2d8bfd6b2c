//! Sorted sets: ranges by place and by score.

use super::Words;
use super::options::{Limit, is};
use super::sorted_sets::{score, take};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind, read_u64};
use crate::number::{integer_argument, range_end, score as shown};
use crate::records::{self, Tag};
use coord::store::Value;
use std::ops::Bound;

/// The bytes of an `o` record's key before the member.
const PREFIX: usize = 17;

/// One end of a range of scores.
#[derive(Clone, Copy)]
struct End {
    score: f64,
    is_exclusive: bool,
}

impl End {
    fn parse(word: &[u8]) -> Result<End, Failure> {
        let (text, is_exclusive) = match word {
            [b'(', rest @ ..] => (rest, true),
            _ => (word, false),
        };
        let score = range_end(text).ok_or(Failure::fixed("ERR min or max is not a float"))?;
        Ok(End { score, is_exclusive })
    }
}

/// Members in order: those between two keys, after `limit`.
fn between(
    keyspace: &Keyspace,
    from: Bound<&[u8]>,
    to: Bound<&[u8]>,
    is_reverse: bool,
    limit: Limit,
) -> Result<Vec<(Vec<u8>, f64)>, Failure> {
    let (offset, count) = limit.bounds();
    let mut members = Vec::new();
    if count == 0 {
        return Ok(members);
    }
    let mut scan = keyspace.layers.scan(from, to, is_reverse)?;
    let mut skipped = 0;
    while let Some((key, score)) = scan.next()? {
        if skipped < offset {
            skipped += 1;
            continue;
        }
        if let (Some(member), Some(bits)) = (key.get(PREFIX..), read_u64(&score, 0)) {
            members.push((member.to_vec(), f64::from_bits(bits)));
        }
        if members.len() >= count {
            break;
        }
    }
    Ok(members)
}

fn by_score(
    keyspace: &Keyspace,
    entry: Entry,
    min: End,
    max: End,
    is_reverse: bool,
    limit: Limit,
) -> Result<Vec<(Vec<u8>, f64)>, Failure> {
    let at = |score: f64| Tag::Order.element(entry.number, &records::ordered(score));
    let from = if min.is_exclusive {
        records::after(&at(min.score))
    } else {
        at(min.score)
    };
    let to = if max.is_exclusive {
        at(max.score)
    } else {
        records::after(&at(max.score))
    };
    between(
        keyspace,
        Bound::Included(&from),
        Bound::Excluded(&to),
        is_reverse,
        limit,
    )
}

fn by_place(
    keyspace: &Keyspace,
    entry: Entry,
    first: i64,
    last: i64,
    is_reverse: bool,
) -> Result<Vec<(Vec<u8>, f64)>, Failure> {
    let count = keyspace.count(entry)? as i64;
    let place = |given: i64| if given < 0 { given.saturating_add(count) } else { given };
    let (first, last) = (place(first).max(0), place(last).min(count - 1));
    if first > last {
        return Ok(Vec::new());
    }
    let prefix = Tag::Order.number(entry.number);
    let end = records::after(&prefix);
    let limit = Limit {
        offset: first,
        count: last - first + 1,
    };
    between(
        keyspace,
        Bound::Included(&prefix),
        Bound::Excluded(&end),
        is_reverse,
        limit,
    )
}

fn answer(members: Vec<(Vec<u8>, f64)>, with_scores: bool) -> Value {
    let mut values = Vec::with_capacity(members.len());
    for (member, score) in members {
        values.push(Value::Bulk(member));
        if with_scores {
            values.push(Value::Bulk(shown(score)));
        }
    }
    Value::Array(values)
}

/// What ZRANGE and its elder sisters were told.
struct RangeOptions {
    is_by_score: bool,
    is_reverse: bool,
    with_scores: bool,
    limit: Option<Limit>,
}

/// `forms` are the options that only ZRANGE has.
fn range_options(words: &[&[u8]], mut options: RangeOptions, has_forms: bool) -> Result<RangeOptions, Failure> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            word if is(word, "WITHSCORES") => options.with_scores = true,
            word if is(word, "BYSCORE") && has_forms => options.is_by_score = true,
            word if is(word, "REV") && has_forms => options.is_reverse = true,
            word if is(word, "LIMIT") => match (rest.next(), rest.next()) {
                (Some(offset), Some(count)) => {
                    let (offset, count) = (integer_argument(offset)?, integer_argument(count)?);
                    options.limit = Some(Limit { offset, count });
                }
                _ => return Err(Failure::SYNTAX),
            },
            _ => return Err(Failure::SYNTAX),
        }
    }
    if options.limit.is_some() && !options.is_by_score {
        return Err(Failure::fixed(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ));
    }
    Ok(options)
}

fn range(keyspace: &Keyspace, words: Words, options: RangeOptions) -> Outcome {
    if options.is_by_score {
        let (min, max) = if options.is_reverse {
            (words[3], words[2])
        } else {
            (words[2], words[3])
        };
        let (min, max) = (End::parse(min)?, End::parse(max)?);
        let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
            return Ok(Value::Array(Vec::new()));
        };
        let limit = options.limit.unwrap_or(Limit::NONE);
        let members = by_score(keyspace, entry, min, max, options.is_reverse, limit)?;
        Ok(answer(members, options.with_scores))
    } else {
        let (first, last) = (integer_argument(words[2])?, integer_argument(words[3])?);
        let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
            return Ok(Value::Array(Vec::new()));
        };
        Ok(answer(
            by_place(keyspace, entry, first, last, options.is_reverse)?,
            options.with_scores,
        ))
    }
}

pub(super) fn zrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let options = RangeOptions {
        is_by_score: false,
        is_reverse: false,
        with_scores: false,
        limit: None,
    };
    range(keyspace, words, range_options(&words[4..], options, true)?)
}

pub(super) fn zrevrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let options = RangeOptions {
        is_by_score: false,
        is_reverse: true,
        with_scores: false,
        limit: None,
    };
    range(keyspace, words, range_options(&words[4..], options, false)?)
}

pub(super) fn zrangebyscore(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let options = RangeOptions {
        is_by_score: true,
        is_reverse: false,
        with_scores: false,
        limit: None,
    };
    range(keyspace, words, range_options(&words[4..], options, false)?)
}

pub(super) fn zrevrangebyscore(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let options = RangeOptions {
        is_by_score: true,
        is_reverse: true,
        with_scores: false,
        limit: None,
    };
    range(keyspace, words, range_options(&words[4..], options, false)?)
}

pub(super) fn zcount(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let (min, max) = (End::parse(words[2])?, End::parse(words[3])?);
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Int(0));
    };
    let members = by_score(keyspace, entry, min, max, false, Limit::NONE)?;
    Ok(Value::Int(members.len() as i64))
}

pub(super) fn zremrangebyscore(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let (min, max) = (End::parse(words[2])?, End::parse(words[3])?);
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Int(0));
    };
    let members = by_score(keyspace, entry, min, max, false, Limit::NONE)?;
    take(keyspace, words[1], entry, &members)?;
    Ok(Value::Int(members.len() as i64))
}

pub(super) fn zremrangebyrank(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let (first, last) = (integer_argument(words[2])?, integer_argument(words[3])?);
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Int(0));
    };
    let members = by_place(keyspace, entry, first, last, false)?;
    take(keyspace, words[1], entry, &members)?;
    Ok(Value::Int(members.len() as i64))
}

/// How many members are before `member`.
fn rank(keyspace: &Keyspace, words: Words, is_reverse: bool) -> Outcome {
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Nil);
    };
    let Some(score) = score(keyspace, entry, words[2])? else {
        return Ok(Value::Nil);
    };
    let mut key = Tag::Order.element(entry.number, &records::ordered(score));
    key.extend_from_slice(words[2]);
    let prefix = Tag::Order.number(entry.number);
    let mut scan = keyspace
        .layers
        .scan(Bound::Included(&prefix), Bound::Excluded(&key), false)?;
    let mut before = 0;
    while scan.next()?.is_some() {
        before += 1;
    }
    Ok(Value::Int(if is_reverse {
        keyspace.count(entry)? as i64 - 1 - before
    } else {
        before
    }))
}

pub(super) fn zrank(keyspace: &mut Keyspace, words: Words) -> Outcome {
    rank(keyspace, words, false)
}

pub(super) fn zrevrank(keyspace: &mut Keyspace, words: Words) -> Outcome {
    rank(keyspace, words, true)
}
