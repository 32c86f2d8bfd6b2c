//! Sorted sets: ranges by rank, by score, and by member.

use super::options::{Limit, Words, count, is};
use crate::failure::{Failure, Outcome};
use crate::keyspace::{Entry, Keyspace, Kind, read_u64};
use crate::layers::scan::Scan;
use crate::number::{format_score, integer_argument, range_end};
use crate::records::{self, Tag};
use coord_store::Value;
use std::ops::Bound;

/// Length of the key of an `o` record before the member, in bytes.
const ORDER_PREFIX: usize = 17;
/// Length of the key of an `m` record before the member, in bytes.
const MEMBER_PREFIX: usize = 9;

/// Members with their scores, in the requested order.
type Members = Vec<(Vec<u8>, f64)>;

/// The order that a range refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeOrder {
    Rank,
    Score,
    Member,
}

/// The keys of the records between two ends.
struct Span {
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    /// Length of a key before the member, in bytes.
    prefix: usize,
}

impl Span {
    fn scan<'a>(&self, keyspace: &'a Keyspace, is_reverse: bool) -> Result<Scan<'a>, Failure> {
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        keyspace
            .layers
            .scan(from.map(Vec::as_slice), to.map(Vec::as_slice), is_reverse)
    }

    /// The members in this span in order, with `limit` applied.
    fn members(&self, keyspace: &Keyspace, is_reverse: bool, limit: Limit) -> Result<Members, Failure> {
        let (offset, count) = limit.bounds();
        let mut members = Vec::new();
        if count == 0 {
            return Ok(members);
        }
        let mut scan = self.scan(keyspace, is_reverse)?;
        let mut skipped = 0;
        while let Some((key, score)) = scan.next()? {
            if skipped < offset {
                skipped += 1;
                continue;
            }
            if let (Some(member), Some(bits)) = (key.get(self.prefix..), read_u64(&score, 0)) {
                members.push((member.to_vec(), f64::from_bits(bits)));
            }
            if members.len() >= count {
                break;
            }
        }
        Ok(members)
    }
}

/// One end of a range of scores.
#[derive(Clone, Copy)]
struct ScoreEnd {
    score: f64,
    is_exclusive: bool,
}

impl ScoreEnd {
    fn parse(word: &[u8]) -> Result<ScoreEnd, Failure> {
        let (text, is_exclusive) = match word {
            [b'(', rest @ ..] => (rest, true),
            _ => (word, false),
        };
        let score = range_end(text).ok_or(Failure::fixed("ERR min or max is not a float"))?;
        Ok(ScoreEnd { score, is_exclusive })
    }
}

fn score_span(entry: Entry, min: ScoreEnd, max: ScoreEnd) -> Span {
    let start_of = |score: f64| Tag::Order.element(entry.number, &records::sortable_bytes(score));
    let end_of = |score: f64| records::end_of_prefix(&start_of(score));
    Span {
        from: Bound::Included(match min.is_exclusive {
            true => end_of(min.score),
            false => start_of(min.score),
        }),
        to: Bound::Excluded(match max.is_exclusive {
            true => start_of(max.score),
            false => end_of(max.score),
        }),
        prefix: ORDER_PREFIX,
    }
}

/// One end of a range of members.
#[derive(Clone, Copy)]
enum MemberEnd<'a> {
    /// `-`
    First,
    /// `[MEMBER`
    Included(&'a [u8]),
    /// `(MEMBER`
    Excluded(&'a [u8]),
    /// `+`
    Last,
}

impl MemberEnd<'_> {
    fn parse(word: &[u8]) -> Result<MemberEnd<'_>, Failure> {
        match word {
            b"-" => Ok(MemberEnd::First),
            b"+" => Ok(MemberEnd::Last),
            [b'[', member @ ..] => Ok(MemberEnd::Included(member)),
            [b'(', member @ ..] => Ok(MemberEnd::Excluded(member)),
            _ => Err(Failure::fixed("ERR min or max not valid string range item")),
        }
    }

    /// The bound among the records of `entry`. `to_bound` makes the bound for `-` and `+`.
    fn bound(self, entry: Entry, to_bound: fn(Vec<u8>) -> Bound<Vec<u8>>) -> Bound<Vec<u8>> {
        match self {
            MemberEnd::First => to_bound(Tag::Member.number(entry.number).to_vec()),
            MemberEnd::Included(member) => Bound::Included(Tag::Member.element(entry.number, member)),
            MemberEnd::Excluded(member) => Bound::Excluded(Tag::Member.element(entry.number, member)),
            MemberEnd::Last => to_bound(records::end_of_prefix(&Tag::Member.number(entry.number))),
        }
    }
}

/// A span in the order of members. Redis guarantees this order only if all scores are equal.
fn member_span(entry: Entry, min: MemberEnd, max: MemberEnd) -> Span {
    Span {
        from: min.bound(entry, Bound::Included),
        to: max.bound(entry, Bound::Excluded),
        prefix: MEMBER_PREFIX,
    }
}

fn by_rank(keyspace: &Keyspace, entry: Entry, first: i64, last: i64, is_reverse: bool) -> Result<Members, Failure> {
    let count = keyspace.count(entry)? as i64;
    let rank = |index: i64| if index < 0 { index.saturating_add(count) } else { index };
    let (first, last) = (rank(first).max(0), rank(last).min(count - 1));
    if first > last {
        return Ok(Vec::new());
    }
    let prefix = Tag::Order.number(entry.number);
    let span = Span {
        from: Bound::Included(prefix.to_vec()),
        to: Bound::Excluded(records::end_of_prefix(&prefix)),
        prefix: ORDER_PREFIX,
    };
    let limit = Limit {
        offset: first,
        count: last - first + 1,
    };
    span.members(keyspace, is_reverse, limit)
}

fn reply(members: Members, with_scores: bool) -> Outcome {
    let mut values = Vec::with_capacity(members.len());
    for (member, score) in members {
        values.push(Value::Bulk(member));
        if with_scores {
            values.push(Value::Bulk(format_score(score)));
        }
    }
    Ok(Value::Array(values))
}

/// The options of a range command. An option is `None` until the command or one of its words sets it.
#[derive(Default)]
struct RangeOptions {
    by: Option<RangeOrder>,
    is_reverse: Option<bool>,
    with_scores: bool,
    limit: Option<Limit>,
}

impl RangeOptions {
    /// The options of a command that always refers to this order.
    fn by(order: RangeOrder) -> RangeOptions {
        RangeOptions {
            by: Some(order),
            is_reverse: Some(false),
            ..RangeOptions::default()
        }
    }

    /// Adds the options in `words`.
    fn parse(mut self, words: &[&[u8]]) -> Result<RangeOptions, Failure> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match *word {
                word if is(word, "WITHSCORES") => self.with_scores = true,
                word if is(word, "BYSCORE") && self.by.is_none() => self.by = Some(RangeOrder::Score),
                word if is(word, "BYLEX") && self.by.is_none() => self.by = Some(RangeOrder::Member),
                word if is(word, "REV") && self.is_reverse.is_none() => self.is_reverse = Some(true),
                word if is(word, "LIMIT") => match (rest.next(), rest.next()) {
                    (Some(offset), Some(count)) => {
                        let (offset, count) = (integer_argument(offset)?, integer_argument(count)?);
                        self.limit = Some(Limit { offset, count });
                    }
                    _ => return Err(Failure::SYNTAX),
                },
                _ => return Err(Failure::SYNTAX),
            }
        }
        let by = self.by.unwrap_or(RangeOrder::Rank);
        if by == RangeOrder::Rank && self.limit.is_some_and(|limit| limit.count != -1) {
            return Err(Failure::fixed(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            ));
        }
        if by == RangeOrder::Member && self.with_scores {
            return Err(Failure::fixed(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        Ok(self)
    }
}

fn range(keyspace: &Keyspace, words: Words, options: RangeOptions) -> Outcome {
    /// The two parsed ends of a range.
    enum RangeEnds<'a> {
        Rank(i64, i64),
        Score(ScoreEnd, ScoreEnd),
        Member(MemberEnd<'a>, MemberEnd<'a>),
    }

    let options = options.parse(&words[4..])?;
    let is_reverse = options.is_reverse.unwrap_or(false);
    let limit = options.limit.unwrap_or(Limit::NONE);
    let (first, last) = (words[2], words[3]);
    let (min, max) = if is_reverse { (last, first) } else { (first, last) };
    let ends = match options.by.unwrap_or(RangeOrder::Rank) {
        RangeOrder::Rank => RangeEnds::Rank(integer_argument(first)?, integer_argument(last)?),
        RangeOrder::Score => RangeEnds::Score(ScoreEnd::parse(min)?, ScoreEnd::parse(max)?),
        RangeOrder::Member => RangeEnds::Member(MemberEnd::parse(min)?, MemberEnd::parse(max)?),
    };
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Array(Vec::new()));
    };
    let members = match ends {
        RangeEnds::Rank(first, last) => by_rank(keyspace, entry, first, last, is_reverse)?,
        RangeEnds::Score(min, max) => score_span(entry, min, max).members(keyspace, is_reverse, limit)?,
        RangeEnds::Member(min, max) => member_span(entry, min, max).members(keyspace, is_reverse, limit)?,
    };
    reply(members, options.with_scores)
}

pub(super) fn zrange(keyspace: &mut Keyspace, words: Words) -> Outcome {
    range(keyspace, words, RangeOptions::default())
}

pub(super) fn zrangebyscore(keyspace: &mut Keyspace, words: Words) -> Outcome {
    range(keyspace, words, RangeOptions::by(RangeOrder::Score))
}

pub(super) fn zlexcount(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let (min, max) = (MemberEnd::parse(words[2])?, MemberEnd::parse(words[3])?);
    let Some(entry) = keyspace.find(words[1], Kind::SortedSet)? else {
        return Ok(Value::Int(0));
    };
    let mut scan = member_span(entry, min, max).scan(keyspace, false)?;
    let mut members = 0;
    while scan.next()?.is_some() {
        members += 1;
    }
    count(members)
}

pub(super) fn zrangebylex(keyspace: &mut Keyspace, words: Words) -> Outcome {
    range(keyspace, words, RangeOptions::by(RangeOrder::Member))
}
