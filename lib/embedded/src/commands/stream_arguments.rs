//! Arguments of stream commands: ids, ends of ranges, trimming.

use super::options::{Words, is};
use crate::failure::Failure;
use crate::number::integer_argument;

const INVALID_ID: Failure = Failure::fixed("ERR Invalid stream ID specified as stream command argument");

/// The id of a stream entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Id {
    pub ms: u64,
    pub seq: u64,
}

impl Id {
    pub const MIN: Id = Id { ms: 0, seq: 0 };
    pub const MAX: Id = Id {
        ms: u64::MAX,
        seq: u64::MAX,
    };

    /// The bytes of the id, which sort as ids do.
    pub fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.ms.to_be_bytes());
        bytes[8..].copy_from_slice(&self.seq.to_be_bytes());
        bytes
    }

    /// The id in replies: `MS-SEQ`.
    pub fn format(self) -> Vec<u8> {
        format!("{}-{}", self.ms, self.seq).into_bytes()
    }

    /// The id right after this one.
    pub fn next(self) -> Option<Id> {
        match self.seq.checked_add(1) {
            Some(seq) => Some(Id { seq, ..self }),
            None => Some(Id {
                ms: self.ms.checked_add(1)?,
                seq: 0,
            }),
        }
    }

    /// The id right before this one.
    pub fn previous(self) -> Option<Id> {
        match self.seq.checked_sub(1) {
            Some(seq) => Some(Id { seq, ..self }),
            None => Some(Id {
                ms: self.ms.checked_sub(1)?,
                seq: u64::MAX,
            }),
        }
    }

    /// `MS` or `MS-SEQ`.
    pub fn parse(word: &[u8], missing_seq: u64) -> Result<Id, Failure> {
        let text = std::str::from_utf8(word).map_err(|_| INVALID_ID)?;
        let (ms, seq) = match text.split_once('-') {
            Some((ms, seq)) => (ms, unsigned(seq)?),
            None => (text, missing_seq),
        };
        Ok(Id { ms: unsigned(ms)?, seq })
    }
}

/// A number as Redis' `string2ull` reads it: digits, no sign.
fn unsigned(text: &str) -> Result<u64, Failure> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain {
        text.parse().map_err(|_| INVALID_ID)
    } else {
        Err(INVALID_ID)
    }
}

/// The id that XADD asks for.
#[derive(Clone, Copy)]
pub(super) enum NewId {
    /// `*`
    Now,
    /// `MS-*`
    In(u64),
    /// `MS-SEQ`
    At(Id),
}

impl NewId {
    fn parse(word: &[u8]) -> Result<NewId, Failure> {
        match word.strip_suffix(b"-*") {
            Some(ms) => Ok(NewId::In(Id::parse(ms, 0)?.ms)),
            None => Ok(NewId::At(Id::parse(word, 0)?)),
        }
    }
}

/// The part of a stream to keep.
#[derive(Clone, Copy)]
pub(super) enum Trim {
    Nothing,
    /// The newest entries, this many.
    ToLength(u64),
    /// The entries from this id on.
    Before(Id),
}

/// The arguments of XADD and XTRIM after the key.
pub(super) struct AddArguments {
    pub trim: Trim,
    pub is_existing_only: bool,
    /// Index of the id among the words of XADD.
    pub id_at: usize,
    /// The id of XADD.
    pub id: NewId,
}

/// Parses the arguments of XADD (`is_add`) or XTRIM. `~` counts as `=`: it only allows Redis to keep more entries.
pub(super) fn add_arguments(words: Words, is_add: bool) -> Result<AddArguments, Failure> {
    let mut arguments = AddArguments {
        trim: Trim::Nothing,
        is_existing_only: false,
        id_at: words.len(),
        id: NewId::Now,
    };
    let (mut is_approximate, mut limit) = (false, None);
    let mut at = 2;
    while let Some(word) = words.get(at) {
        let remaining = words.len() - 1 - at;
        match *word {
            b"*" if is_add => {
                arguments.id_at = at;
                break;
            }
            word if (is(word, "MAXLEN") || is(word, "MINID")) && remaining > 0 => {
                if !matches!(arguments.trim, Trim::Nothing) {
                    return Err(Failure::fixed(
                        "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
                    ));
                }
                is_approximate = remaining >= 2 && words[at + 1] == b"~";
                if remaining >= 2 && (is_approximate || words[at + 1] == b"=") {
                    at += 1;
                }
                arguments.trim = if is(word, "MAXLEN") {
                    let length = integer_argument(words[at + 1])?;
                    Trim::ToLength(
                        u64::try_from(length).map_err(|_| Failure::fixed("ERR The MAXLEN argument must be >= 0."))?,
                    )
                } else {
                    Trim::Before(Id::parse(words[at + 1], 0)?)
                };
                at += 1;
            }
            word if is(word, "LIMIT") && remaining > 0 => {
                let number = integer_argument(words[at + 1])?;
                if number < 0 {
                    return Err(Failure::fixed("ERR The LIMIT argument must be >= 0."));
                }
                limit = Some(number);
                at += 1;
            }
            word if is_add && is(word, "NOMKSTREAM") => arguments.is_existing_only = true,
            word if is_add => {
                arguments.id = NewId::parse(word)?;
                arguments.id_at = at;
                break;
            }
            _ => return Err(Failure::SYNTAX),
        }
        at += 1;
    }
    let is_trimming = !matches!(arguments.trim, Trim::Nothing);
    match limit {
        Some(1..) if !is_trimming => Err(Failure::fixed(
            "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
        )),
        _ if !is_add && !is_trimming => Err(Failure::fixed(
            "ERR syntax error, XTRIM must be called with a trimming strategy",
        )),
        Some(_) if !is_approximate => Err(Failure::fixed(
            "ERR syntax error, LIMIT cannot be used without the special ~ option",
        )),
        _ => Ok(arguments),
    }
}

/// The end of an XRANGE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Start,
    Last,
}

/// One end of an XRANGE, inclusive: `-`, `+`, `MS`, `MS-SEQ`, and `(` before either.
pub(super) fn range_end(word: &[u8], end: End) -> Result<Id, Failure> {
    let missing_seq = if end == End::Start { 0 } else { u64::MAX };
    match word {
        b"-" => Ok(Id::MIN),
        b"+" => Ok(Id::MAX),
        [b'(', rest @ ..] => {
            let id = Id::parse(rest, missing_seq)?;
            match end {
                End::Start => id.next().ok_or(Failure::fixed("ERR invalid start ID for the interval")),
                End::Last => id
                    .previous()
                    .ok_or(Failure::fixed("ERR invalid end ID for the interval")),
            }
        }
        _ => Id::parse(word, missing_seq),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_and_their_bytes_are_in_order() {
        let parse = |text: &str| Id::parse(text.as_bytes(), 7).ok();
        assert_eq!(parse("5"), Some(Id { ms: 5, seq: 7 }));
        assert_eq!(parse("5-0"), Some(Id { ms: 5, seq: 0 }));
        for wrong in ["", "-", "5-", "-5", "+5", "a", "5-a", "99999999999999999999"] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
        assert!(Id { ms: 1, seq: u64::MAX }.encode() < Id { ms: 2, seq: 0 }.encode());
        assert_eq!(Id::MAX.next(), None);
        assert_eq!(Id::MIN.previous(), None);
        assert_eq!(Id { ms: 1, seq: u64::MAX }.next(), Some(Id { ms: 2, seq: 0 }));
    }
}
