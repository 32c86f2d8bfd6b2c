//! One request at a time: scripts, the commands about scripts, and plain commands.

use super::allowance::{Allowance, Left};
use super::commands;
use super::failure::Failure;
use super::keyspace::Keyspace;
use super::lua::{Ended, Interpreter, Origin};
use super::number::integer_argument;
use coord::store::script::sha1_hex;
use coord::store::{Request, StoreError, Value};
use parking_lot::Mutex;
use std::sync::Arc;

/// The commands about scripts, which are separate from the plain ones.
#[cfg(test)]
pub(super) const SCRIPTING: [&str; 3] = ["eval", "evalsha", "script"];

/// Runs requests. Only one thread at a time holds it.
pub(super) struct Engine {
    interpreter: Interpreter,
    keyspace: Arc<Mutex<Keyspace>>,
}

/// A result, and the batch that must be durable before it is sent.
pub(super) struct Answer {
    pub value: Value,
    pub depends_on: u64,
    /// Whether the request was a script.
    pub is_script: bool,
}

/// A script ready to run: its hash, its KEYS, its ARGV.
type Prepared<'a> = (String, &'a [&'a [u8]], &'a [&'a [u8]]);

impl Engine {
    /// An engine over `keyspace`.
    pub fn new(interpreter: Interpreter, keyspace: Arc<Mutex<Keyspace>>) -> Self {
        Engine { interpreter, keyspace }
    }

    /// Runs one request, with what is `left` of its call.
    pub fn run(&mut self, request: &Request, left: Left) -> Result<Answer, StoreError> {
        match request {
            Request::Script { script, keys, args } => {
                match self
                    .interpreter
                    .load(Origin::Own, &script.sha, script.source.as_bytes())
                {
                    Ok(()) => self.script(
                        Origin::Own,
                        &script.sha,
                        script.is_reading(),
                        left,
                        keys.iter().map(String::as_bytes),
                        args.iter().map(Vec::as_slice),
                    ),
                    Err(text) => Ok(Answer {
                        value: Value::Error(text),
                        depends_on: 0,
                        is_script: true,
                    }),
                }
            }
            Request::Command(words) => {
                let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                self.command(&words, left)
            }
        }
    }

    fn command(&mut self, words: &[&[u8]], left: Left) -> Result<Answer, StoreError> {
        let name = words.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        let outcome = match name.as_slice() {
            b"eval" | b"evalsha" => match self.prepare(&name, words) {
                Ok((sha, keys, arguments)) => {
                    return self.script(
                        Origin::Guest,
                        &sha,
                        false,
                        left,
                        keys.iter().copied(),
                        arguments.iter().copied(),
                    );
                }
                Err(failure) => Err(failure),
            },
            b"script" => self.about_scripts(words),
            _ => return self.plain(words, left),
        };
        match outcome {
            Ok(value) => Ok(Answer {
                value,
                depends_on: 0,
                is_script: false,
            }),
            Err(Failure::Reply(text)) => Ok(Answer {
                value: Value::Error(text.into_owned()),
                depends_on: 0,
                is_script: false,
            }),
            Err(Failure::Storage(text)) => Err(StoreError::Failed(text)),
        }
    }

    fn plain(&mut self, words: &[&[u8]], left: Left) -> Result<Answer, StoreError> {
        let mut keyspace = self.keyspace.lock();
        keyspace.begin(false, false);
        keyspace.layers.allowance = Allowance::of_command(left);
        match commands::run(&mut keyspace, words) {
            Ok(value) => Ok(Answer {
                value,
                depends_on: keyspace.layers.commit(),
                is_script: false,
            }),
            Err(Failure::Reply(text)) => {
                let depends_on = keyspace.layers.rollback();
                Ok(Answer {
                    value: Value::Error(text.into_owned()),
                    depends_on,
                    is_script: false,
                })
            }
            Err(Failure::Storage(text)) => {
                keyspace.layers.rollback();
                Err(StoreError::Failed(text))
            }
        }
    }

    /// **One script is one transaction**: a script that raises an error leaves no change. Redis keeps what was written
    /// before the error; none of our scripts relies on that. While the disk cannot be written, writes of a reading script
    /// are refused, so that it responds without them.
    fn script<'a>(
        &self,
        origin: Origin,
        sha: &str,
        is_reading: bool,
        left: Left,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Answer, StoreError> {
        {
            let mut keyspace = self.keyspace.lock();
            keyspace.refuses_writes = is_reading && keyspace.layers.is_failing();
        }
        let ended = self.interpreter.run(origin, sha, left, keys, arguments);
        let mut keyspace = self.keyspace.lock();
        keyspace.refuses_writes = false;
        match ended {
            Ended::Well(value) => Ok(Answer {
                value,
                depends_on: match is_reading && keyspace.layers.is_failing() {
                    true => keyspace.layers.rollback(),
                    false => keyspace.layers.commit(),
                },
                is_script: true,
            }),
            Ended::Raised(text) => Ok(Answer {
                value: Value::Error(text),
                depends_on: keyspace.layers.rollback(),
                is_script: true,
            }),
            Ended::Storage(text) => {
                keyspace.layers.rollback();
                Err(StoreError::Failed(text))
            }
        }
    }

    /// The script that EVAL or EVALSHA names.
    fn prepare<'a>(&mut self, name: &[u8], words: &'a [&'a [u8]]) -> Result<Prepared<'a>, Failure> {
        let [_, text, number, rest @ ..] = words else {
            return Err(Failure::arity(if name == b"eval" { "eval" } else { "evalsha" }));
        };
        let number = integer_argument(number)?;
        if number < 0 {
            return Err(Failure::fixed("ERR Number of keys can't be negative"));
        }
        let Some((keys, arguments)) = usize::try_from(number)
            .ok()
            .and_then(|number| rest.split_at_checked(number))
        else {
            return Err(Failure::fixed(
                "ERR Number of keys can't be greater than number of args",
            ));
        };
        let sha = if name == b"eval" {
            let sha = sha_of(text);
            self.interpreter
                .load(Origin::Guest, &sha, text)
                .map_err(Failure::reply)?;
            sha
        } else {
            String::from_utf8_lossy(text).to_ascii_lowercase()
        };
        if !self.interpreter.knows(&sha) {
            return Err(Failure::fixed("NOSCRIPT No matching script. Please use EVAL."));
        }
        Ok((sha, keys, arguments))
    }

    /// SCRIPT LOAD, EXISTS and FLUSH.
    fn about_scripts(&mut self, words: &[&[u8]]) -> Result<Value, Failure> {
        let Some(what) = words.get(1) else {
            return Err(Failure::arity("script"));
        };
        let rest = &words[2..];
        match what.to_ascii_lowercase().as_slice() {
            b"load" => match rest {
                [text] => {
                    let sha = sha_of(text);
                    self.interpreter
                        .load(Origin::Guest, &sha, text)
                        .map_err(Failure::reply)?;
                    Ok(Value::bulk(sha))
                }
                _ => Err(Failure::arity("script|load")),
            },
            b"exists" if rest.is_empty() => Err(Failure::arity("script|exists")),
            b"exists" => {
                let is_known = |sha: &&[u8]| {
                    self.interpreter
                        .knows(&String::from_utf8_lossy(sha).to_ascii_lowercase())
                };
                Ok(Value::Array(
                    rest.iter().map(|sha| Value::Int(i64::from(is_known(sha)))).collect(),
                ))
            }
            b"flush" => match rest {
                [] => self.forget(),
                [how] if how.eq_ignore_ascii_case(b"ASYNC") || how.eq_ignore_ascii_case(b"SYNC") => self.forget(),
                _ => Err(Failure::fixed("ERR SCRIPT FLUSH only support SYNC|ASYNC option")),
            },
            _ => {
                let shown = String::from_utf8_lossy(what);
                Err(Failure::reply(format!(
                    "ERR unknown subcommand '{shown}'. Try SCRIPT HELP."
                )))
            }
        }
    }

    fn forget(&mut self) -> Result<Value, Failure> {
        self.interpreter.forget();
        Ok(Value::Status("OK".to_owned()))
    }
}

fn sha_of(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => sha1_hex(text),
        Err(_) => sha1_smol::Sha1::from(text).hexdigest(),
    }
}
