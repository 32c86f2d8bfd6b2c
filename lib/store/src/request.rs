//! A request to a store.

use super::script::Script;

/// One request to a store.
#[derive(Clone, Debug)]
pub enum Request {
    /// A plain command, name first: `["HGETALL", key]`.
    Command(Vec<Vec<u8>>),
    /// A Lua script with its KEYS and ARGV.
    Script {
        script: &'static Script,
        /// KEYS: every key that the script touches.
        keys: Vec<String>,
        /// ARGV.
        args: Vec<Vec<u8>>,
    },
}

impl Request {
    /// A plain command from its words.
    pub fn command<const N: usize>(words: [&str; N]) -> Self {
        Request::Command(words.iter().map(|word| word.as_bytes().to_vec()).collect())
    }

    /// Whether running it twice has the effect of running it once, so that it may be repeated after a lost reply.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Request::Command(words) => words.first().is_some_and(|name| {
                const READS: [&str; 14] = [
                    "EXISTS",
                    "GET",
                    "HGET",
                    "HGETALL",
                    "HKEYS",
                    "HLEN",
                    "HMGET",
                    "PING",
                    "TIME",
                    "XRANGE",
                    "XREVRANGE",
                    "ZCARD",
                    "ZRANGE",
                    "ZSCORE",
                ];
                READS.iter().any(|read| name.eq_ignore_ascii_case(read.as_bytes()))
            }),
            Request::Script { script, .. } => script.is_repeatable,
        }
    }
}
