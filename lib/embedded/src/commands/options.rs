//! Arguments and replies that several commands share.

use crate::failure::{Failure, Outcome};
use coord_store::Value;
use std::ops::Deref;

/// The words of a command, name first.
pub(crate) type Words<'a> = &'a [&'a [u8]];

/// Whether `word` is the option `name`, in any case.
pub(super) fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// The reply `OK`.
pub(super) fn ok() -> Outcome {
    Ok(Value::Status("OK".to_owned()))
}

/// The reply 1 or 0.
pub(super) fn flag(is_set: bool) -> Outcome {
    Ok(Value::Int(i64::from(is_set)))
}

/// The reply with a count.
pub(super) fn count(number: usize) -> Outcome {
    Ok(Value::Int(number as i64))
}

/// The reply with a text, or nil.
pub(super) fn bulk_or_nil(text: Option<impl Deref<Target = [u8]>>) -> Value {
    text.map_or(Value::Nil, |text| Value::bulk(&*text))
}

/// Two words that belong together: field and value, key and value.
pub(super) type WordPair<'a> = (&'a [u8], &'a [u8]);

/// The words in pairs. An odd number of them is an arity error of `command`.
pub(super) fn pairs<'a>(words: &'a [&'a [u8]], command: &str) -> Result<Vec<WordPair<'a>>, Failure> {
    match words.as_chunks::<2>() {
        (pairs, []) => Ok(pairs.iter().map(|[first, second]| (*first, *second)).collect()),
        _ => Err(Failure::arity(command)),
    }
}

/// The arguments of LIMIT: elements to skip, and elements to return.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub offset: i64,
    /// Negative is no limit.
    pub count: i64,
}

impl Limit {
    pub const NONE: Limit = Limit { offset: 0, count: -1 };

    /// Elements to skip and elements to return. A negative offset returns none, as in Redis.
    pub fn bounds(self) -> (usize, usize) {
        let count = if self.offset < 0 {
            0
        } else {
            usize::try_from(self.count).unwrap_or(usize::MAX)
        };
        (usize::try_from(self.offset).unwrap_or(0), count)
    }
}
