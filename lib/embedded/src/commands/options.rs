//! What several commands need of their words and answers.

use crate::failure::{Failure, Outcome};
use coord::store::Value;

/// Whether `word` is the option `name`, in any case.
pub(super) fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// `OK`.
pub(super) fn ok() -> Outcome {
    Ok(Value::Status("OK".to_owned()))
}

/// 1 or 0.
pub(super) fn flag(is_set: bool) -> Outcome {
    Ok(Value::Int(i64::from(is_set)))
}

/// How many.
pub(super) fn count(number: usize) -> Outcome {
    Ok(Value::Int(number as i64))
}

/// Two words that belong together: field and value, key and value.
pub(super) type Two<'a> = (&'a [u8], &'a [u8]);

/// The words two by two. An odd one is an error of `command`'s arity.
pub(super) fn pairs<'a>(words: &'a [&'a [u8]], command: &str) -> Result<Vec<Two<'a>>, Failure> {
    match words.as_chunks::<2>() {
        (pairs, []) => Ok(pairs.iter().map(|[first, second]| (*first, *second)).collect()),
        _ => Err(Failure::arity(command)),
    }
}

/// What is left of a LIMIT: elements to skip, and then how many to give.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub offset: i64,
    /// Negative is no limit.
    pub count: i64,
}

impl Limit {
    pub const NONE: Limit = Limit { offset: 0, count: -1 };

    /// How many to skip and how many to give. A negative offset gives nothing, as in Redis.
    pub fn bounds(self) -> (usize, usize) {
        let count = if self.offset < 0 {
            0
        } else {
            usize::try_from(self.count).unwrap_or(usize::MAX)
        };
        (usize::try_from(self.offset).unwrap_or(0), count)
    }
}
