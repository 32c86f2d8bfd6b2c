//! One request at a time: scripts, the commands about scripts, and plain commands.

use super::allowance::{Allowance, Left};
use super::commands;
use super::failure::{Failure, Outcome};
use super::keyspace::{Keyspace, read_u64};
use super::libraries::{self, StoredFunction};
use super::lua::{Interpreter, Metadata, Origin, Registration, ScriptEnd};
use super::number::integer_argument;
use coord_store::script::sha1_hex;
use coord_store::{Request, StoreError, Value};
use parking_lot::Mutex;
use std::sync::Arc;

/// The commands about scripts and functions, which are separate from the plain ones.
#[cfg(test)]
pub(super) const SCRIPTING: [&str; 6] = ["eval", "evalsha", "fcall", "fcall_ro", "function", "script"];

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

/// KEYS or arguments of a call.
type Keys<'a> = &'a [&'a [u8]];

/// A script ready to run: its hash, its KEYS, its ARGV.
type Prepared<'a> = (String, Keys<'a>, Keys<'a>);

impl Engine {
    /// An engine over `keyspace`.
    pub fn new(interpreter: Interpreter, keyspace: Arc<Mutex<Keyspace>>) -> Self {
        Engine { interpreter, keyspace }
    }

    /// Runs one request, with the rest of its call's allowance.
    pub fn run(&mut self, request: &Request, left: Left) -> Result<Answer, StoreError> {
        match request {
            Request::Script { script, keys, args } => {
                let is_reading = script.is_reading();
                {
                    let mut keyspace = self.keyspace.lock();
                    keyspace.refuses_writes = is_reading && keyspace.layers.is_failing();
                }
                let keys = keys.iter().map(String::as_bytes);
                let arguments = args.iter().map(Vec::as_slice);
                let ended = self.interpreter.run_own(script, left, keys, arguments);
                self.answered(ended, is_reading)
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
                    let (keys, arguments) = (keys.iter().copied(), arguments.iter().copied());
                    let ended = self.interpreter.run(Origin::Guest, &sha, left, keys, arguments);
                    return self.answered(ended, false);
                }
                Err(failure) => Err(failure),
            },
            b"script" => self.about_scripts(words),
            b"fcall" | b"fcall_ro" => return self.call(words, left),
            b"function" => {
                return match words {
                    [_, what, options @ .., code] if what.eq_ignore_ascii_case(b"LOAD") => {
                        self.load_library(options, code, left)
                    }
                    [_, what] if what.eq_ignore_ascii_case(b"LOAD") => {
                        self.plain(left, |_| Err(Failure::arity("function|load")))
                    }
                    _ => self.plain(left, |keyspace| libraries::about(keyspace, words)),
                };
            }
            _ => return self.plain(left, |keyspace| commands::run(keyspace, words)),
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

    fn plain(&self, left: Left, run: impl FnOnce(&mut Keyspace) -> Outcome) -> Result<Answer, StoreError> {
        let mut keyspace = self.keyspace.lock();
        keyspace.begin(false, false);
        keyspace.layers.allowance = Allowance::of_command(left);
        let outcome = run(&mut keyspace);
        Self::of_command(&mut keyspace, outcome)
    }

    fn of_command(keyspace: &mut Keyspace, outcome: Outcome) -> Result<Answer, StoreError> {
        match outcome {
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

    /// FUNCTION LOAD.
    fn load_library(&mut self, options: &[&[u8]], code: &[u8], left: Left) -> Result<Answer, StoreError> {
        let left = Left {
            until: Some(left.deadline()),
            ..left
        };
        let keyspace = Arc::clone(&self.keyspace);
        let loaded = self.loaded(options, code, left);
        let mut keyspace = keyspace.lock();
        keyspace.layers.allowance = Allowance::of_command(left);
        let stored = loaded.and_then(|(name, number, functions)| {
            libraries::store(&mut keyspace, (&name, number), code, &functions)?;
            Ok(Value::bulk(name))
        });
        Self::of_command(&mut keyspace, stored)
    }

    /// The name, the number and the functions of a library that may be stored.
    fn loaded(
        &mut self,
        options: &[&[u8]],
        code: &[u8],
        left: Left,
    ) -> Result<(String, u64, Vec<Registration>), Failure> {
        let is_replacing = |option: &&[u8]| option.eq_ignore_ascii_case(b"REPLACE");
        let (name, number) = {
            let mut keyspace = self.keyspace.lock();
            keyspace.begin(false, false);
            keyspace.layers.allowance = Allowance::of_command(left);
            if let Some(other) = options.iter().find(|option| !is_replacing(option)) {
                let shown = String::from_utf8_lossy(other);
                return Err(Failure::reply(format!("ERR Unknown option given: {shown}")));
            }
            let name = Metadata::of(code).map_err(Failure::reply)?.name.to_owned();
            commands::may_write(&keyspace)?;
            if options.is_empty() && libraries::code(&keyspace, &name)?.is_some() {
                return Err(Failure::reply(format!("ERR Library '{name}' already exists")));
            }
            // A new name each time: the previous locals are gone, even if the transaction that loaded it kept nothing.
            let mut digest = sha1_smol::Sha1::from(keyspace.now_us.to_be_bytes());
            digest.update(code);
            let digest = digest.digest().bytes();
            (name, read_u64(&digest, 0).unwrap_or_default())
        };
        let functions = self.interpreter.load_library(number, code, left)?;
        Ok((name, number, functions))
    }

    /// FCALL and FCALL_RO. Like a script, a function is one transaction.
    fn call(&mut self, words: &[&[u8]], left: Left) -> Result<Answer, StoreError> {
        let left = Left {
            until: Some(left.deadline()),
            ..left
        };
        let (function, keys, arguments) = match self.function(words, left) {
            Ok(found) => found,
            Err(failure) => return Self::of_command(&mut self.keyspace.lock(), Err(failure)),
        };
        let found_in = self.keyspace.lock().layers.commit();
        let ended = self.interpreter.call_function(
            (function.number, &function.name),
            function.is_read_only(),
            left,
            keys.iter().copied(),
            arguments.iter().copied(),
        );
        let answer = self.answered(ended, false)?;
        Ok(Answer {
            depends_on: answer.depends_on.max(found_in),
            ..answer
        })
    }

    /// The function that a call names, whose library is compiled, with the KEYS and the arguments of the call.
    fn function<'a>(
        &mut self,
        words: &'a [&'a [u8]],
        left: Left,
    ) -> Result<(StoredFunction, Keys<'a>, Keys<'a>), Failure> {
        let mut keyspace = self.keyspace.lock();
        keyspace.begin(false, false);
        keyspace.layers.allowance = Allowance::of_command(left);
        let is_reading = words[0].eq_ignore_ascii_case(b"FCALL_RO");
        let [_, name, number, rest @ ..] = words else {
            return Err(Failure::arity(if is_reading { "fcall_ro" } else { "fcall" }));
        };
        let not_found = Failure::fixed("ERR Function not found");
        let Some(function) = libraries::find(&keyspace, name)? else {
            return Err(not_found);
        };
        let number = integer_argument(number).map_err(|_| Failure::fixed("ERR Bad number of keys provided"))?;
        let (keys, arguments) = split(number, rest)?;
        if is_reading && !function.is_read_only() {
            let text = "ERR Can not execute a script with write flag using *_ro command.";
            return Err(Failure::fixed(text));
        }
        if !self.interpreter.has_library(function.number) {
            let code = libraries::code(&keyspace, &function.library)?.ok_or(not_found)?;
            drop(keyspace);
            self.interpreter.load_library(function.number, &code, left)?;
        }
        Ok((function, keys, arguments))
    }

    /// Ends the transaction of a script or function. **One script is one transaction**: a script that raises an error leaves
    /// no change. Redis keeps writes before the error; none of our scripts relies on that. While the disk cannot be written,
    /// writes of a reading script are refused, so that it responds without them.
    fn answered(&self, ended: ScriptEnd, is_reading: bool) -> Result<Answer, StoreError> {
        let mut keyspace = self.keyspace.lock();
        keyspace.refuses_writes = false;
        match ended {
            ScriptEnd::Well(value) => Ok(Answer {
                value,
                depends_on: match is_reading && keyspace.layers.is_failing() {
                    true => keyspace.layers.rollback(),
                    false => keyspace.layers.commit(),
                },
                is_script: true,
            }),
            ScriptEnd::Raised(text) => Ok(Answer {
                value: Value::Error(text),
                depends_on: keyspace.layers.rollback(),
                is_script: true,
            }),
            ScriptEnd::Storage(text) => {
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
        let (keys, arguments) = split(integer_argument(number)?, rest)?;
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

/// The first `number` of the words are KEYS, and the others are arguments.
fn split<'a>(number: i64, words: Keys<'a>) -> Result<(Keys<'a>, Keys<'a>), Failure> {
    if number < 0 {
        return Err(Failure::fixed("ERR Number of keys can't be negative"));
    }
    let split = usize::try_from(number)
        .ok()
        .and_then(|number| words.split_at_checked(number));
    split.ok_or(Failure::fixed(
        "ERR Number of keys can't be greater than number of args",
    ))
}

fn sha_of(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => sha1_hex(text),
        Err(_) => sha1_smol::Sha1::from(text).hexdigest(),
    }
}
