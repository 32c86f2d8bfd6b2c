//! The commands that are forwarded: all, except those that make no sense for single requests on a shared connection, and
//! those that operate the server itself, which Upstash does not offer either.

use super::answer::Refusal;

/// Not offered: commands that change the connection, wait, stream, or operate the server. All requests share one connection,
/// so that one of these would stop or confuse all callers.
const REFUSED: &[&[&str]] = &[
    // The state of a connection.
    &[
        "AUTH",
        "HELLO",
        "SELECT",
        "QUIT",
        "RESET",
        "CLIENT",
        "ASKING",
        "READONLY",
        "READWRITE",
    ],
    // Transactions: use `/multi-exec`.
    &["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"],
    // Streams of messages: use `/subscribe`.
    &[
        "SUBSCRIBE",
        "PSUBSCRIBE",
        "SSUBSCRIBE",
        "UNSUBSCRIBE",
        "PUNSUBSCRIBE",
        "SUNSUBSCRIBE",
        "MONITOR",
    ],
    // Waiting.
    &[
        "BLPOP",
        "BRPOP",
        "BLMOVE",
        "BLMPOP",
        "BRPOPLPUSH",
        "BZPOPMIN",
        "BZPOPMAX",
        "BZMPOP",
        "WAIT",
        "WAITAOF",
    ],
    // Operating the server.
    &[
        "ACL",
        "BGREWRITEAOF",
        "BGSAVE",
        "CLUSTER",
        "CONFIG",
        "DEBUG",
        "FAILOVER",
        "MIGRATE",
        "MODULE",
        "REPLICAOF",
    ],
    &["PSYNC", "REPLCONF", "SAVE", "SHUTDOWN", "SLAVEOF", "SWAPDB", "SYNC"],
];

/// A command that may be forwarded. It has at least its name.
#[derive(Debug)]
pub(super) struct Command {
    /// The name in upper case, for comparing.
    pub name: String,
    /// The words as received, name first.
    pub words: Vec<Vec<u8>>,
}

impl Command {
    /// Checks that `words` may be forwarded.
    ///
    /// # Errors
    /// 400 when there is no word, or the command is not offered.
    pub fn parse(words: Vec<Vec<u8>>) -> Result<Self, Refusal> {
        let name = match words.first() {
            Some(name) if !name.is_empty() => String::from_utf8_lossy(name).to_ascii_uppercase(),
            _ => return Err(Refusal::bad("ERR empty command")),
        };
        let blocks = match name.as_str() {
            "XREAD" | "XREADGROUP" => waits(&words),
            "SCRIPT" => has_subcommand(&words, "DEBUG"),
            _ => REFUSED.iter().any(|group| group.contains(&name.as_str())),
        };
        if blocks {
            return Err(Refusal::unavailable(&name));
        }
        Ok(Command { name, words })
    }
}

/// Whether a read of streams waits: `BLOCK` comes before `STREAMS`, after which come keys.
fn waits(words: &[Vec<u8>]) -> bool {
    let options = words
        .iter()
        .skip(1)
        .take_while(|word| !word.eq_ignore_ascii_case(b"STREAMS"));
    options.into_iter().any(|word| word.eq_ignore_ascii_case(b"BLOCK"))
}

fn has_subcommand(words: &[Vec<u8>], name: &str) -> bool {
    words
        .get(1)
        .is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(line: &str) -> bool {
        Command::parse(line.split(' ').map(|word| word.as_bytes().to_vec()).collect()).is_ok()
    }

    #[test]
    fn commands_that_wait_or_change_the_connection_are_refused_in_any_case() {
        let lines = [
            "BLPOP k 0",
            "blpop k 0",
            "Select 1",
            "MULTI",
            "hello 3",
            "CLIENT REPLY OFF",
            "MONITOR",
            "SUBSCRIBE c",
            "SHUTDOWN",
            "SCRIPT debug YES",
            "XREAD BLOCK 0 STREAMS s $",
            "xreadgroup GROUP g c block 5 STREAMS s >",
            "",
        ];
        for line in lines {
            assert!(!passes(line), "{line}");
        }
    }

    #[test]
    fn other_commands_pass_known_or_not() {
        let lines = [
            "GET k",
            "EVAL x 0",
            "SCRIPT LOAD x",
            "PUBLISH c m",
            "XREAD COUNT 1 STREAMS block 0",
            "JSON.GET k",
            "FLUSHDB",
            "PING",
            "NEW.COMMAND",
        ];
        for line in lines {
            assert!(passes(line), "{line}");
        }
    }
}
