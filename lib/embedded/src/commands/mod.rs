//! The commands, each as in Redis 7.0. `docs/internals/embedded.md` lists them with their purpose.

mod generic;
mod hashes;
mod options;
mod sorted_set_ranges;
mod sorted_sets;
mod stream_arguments;
mod streams;
mod strings;

use super::failure::{Failure, Outcome};
use super::keyspace::Keyspace;
use options::Words;
use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) struct Command {
    /// In lower case, as in error replies.
    name: &'static str,
    /// Number of words, the name included. A negative number is a minimum.
    arity: i32,
    /// Whether it can change the state.
    is_write: bool,
    run: fn(&mut Keyspace, Words) -> Outcome,
}

const fn read(name: &'static str, arity: i32, run: fn(&mut Keyspace, Words) -> Outcome) -> Command {
    Command {
        name,
        arity,
        is_write: false,
        run,
    }
}

const fn write(name: &'static str, arity: i32, run: fn(&mut Keyspace, Words) -> Outcome) -> Command {
    Command {
        name,
        arity,
        is_write: true,
        run,
    }
}

static COMMANDS: [Command; 46] = [
    write("del", -2, generic::del),
    read("exists", -2, generic::exists),
    write("expire", -3, generic::expire),
    write("flushall", -1, generic::flush),
    read("get", 2, strings::get),
    write("hdel", -3, hashes::hdel),
    read("hexists", 3, hashes::hexists),
    read("hget", 3, hashes::hget),
    read("hgetall", 2, hashes::hgetall),
    write("hincrby", 4, hashes::hincrby),
    read("hkeys", 2, hashes::hkeys),
    read("hlen", 2, hashes::hlen),
    read("hmget", -3, hashes::hmget),
    write("hset", -4, hashes::hset),
    write("incr", 2, strings::incr),
    read("keys", 2, generic::keys),
    read("mget", -2, strings::mget),
    write("persist", 2, generic::persist),
    write("pexpire", -3, generic::pexpire),
    read("ping", -1, generic::ping),
    read("pttl", 2, generic::pttl),
    write("publish", 3, generic::publish),
    write("rename", 3, generic::rename),
    read("scan", -2, generic::scan),
    write("set", -3, strings::set),
    write("setrange", 4, strings::setrange),
    read("strlen", 2, strings::strlen),
    read("time", 1, generic::time),
    read("ttl", 2, generic::ttl),
    read("type", 2, generic::kind),
    write("unlink", -2, generic::del),
    write("xadd", -5, streams::xadd),
    write("xdel", -3, streams::xdel),
    read("xlen", 2, streams::xlen),
    read("xrange", -4, streams::xrange),
    read("xread", -4, streams::xread),
    read("xrevrange", -4, streams::xrevrange),
    write("xtrim", -4, streams::xtrim),
    write("zadd", -4, sorted_sets::zadd),
    read("zcard", 2, sorted_sets::zcard),
    read("zlexcount", 4, sorted_set_ranges::zlexcount),
    read("zrange", -4, sorted_set_ranges::zrange),
    read("zrangebylex", -4, sorted_set_ranges::zrangebylex),
    read("zrangebyscore", -4, sorted_set_ranges::zrangebyscore),
    write("zrem", -3, sorted_sets::zrem),
    read("zscore", 3, sorted_sets::zscore),
];

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Command>> = LazyLock::new(|| {
    COMMANDS
        .iter()
        .map(|command| (command.name.as_bytes(), command))
        .collect()
});

/// Maximum bytes that one script may write. They stay in memory until they are on the disk.
const MAX_WRITTEN: usize = 64 << 20;

/// Runs the command in `words`, which has at least one.
pub(super) fn run(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Some((name, arguments)) = words.split_first() else {
        return Err(Failure::fixed("ERR empty command"));
    };
    let is_script = keyspace.is_script;
    let Some(command) = find(name) else {
        return Err(match is_script {
            true => Failure::fixed("ERR Unknown Redis command called from script"),
            false => unknown_command(name, arguments),
        });
    };
    let count = words.len() as i64;
    let arity = i64::from(command.arity);
    if (arity > 0 && count != arity) || count < -arity {
        return Err(match is_script {
            true => Failure::fixed("ERR Wrong number of args calling Redis command from script"),
            false => Failure::arity(command.name),
        });
    }
    if command.is_write {
        check_may_write(keyspace)?;
    }
    (command.run)(keyspace, words)
}

/// Fails where the running script or command must not write, or has written too much.
fn check_may_write(keyspace: &Keyspace) -> Result<(), Failure> {
    if keyspace.refuses_writes {
        return Err(Failure::fixed("MISCONF the disk cannot be written"));
    }
    if keyspace.layers.script_bytes() > MAX_WRITTEN {
        return Err(Failure::fixed("OOM more than 64 MiB are written at once"));
    }
    Ok(())
}

/// The names of the commands, in lower case.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// Whether `name` is a command that changes nothing.
pub(super) fn is_read(name: &[u8]) -> bool {
    find(name).is_some_and(|command| !command.is_write)
}

fn find(name: &[u8]) -> Option<&'static Command> {
    let mut lower = [0_u8; 16];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    BY_NAME.get(&*lower).copied()
}

/// The error reply as Redis words it: at most 128 bytes of name and of arguments, each up to a NUL.
fn unknown_command(name: &[u8], arguments: Words) -> Failure {
    let truncate = |bytes: &[u8], max_bytes: usize| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end.min(max_bytes)]).into_owned()
    };
    let mut quoted = String::new();
    for argument in arguments {
        if quoted.len() >= 128 {
            break;
        }
        let text = truncate(argument, 128 - quoted.len());
        quoted = format!("{quoted}'{text}' ");
    }
    let name = truncate(name, 128);
    Failure::reply(format!(
        "ERR unknown command '{name}', with args beginning with: {quoted}"
    ))
}
