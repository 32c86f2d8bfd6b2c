//! The Lua interpreter: Lua 5.1 with what a script finds in Redis 7.0, and no more.

mod convert;
mod json_decode;
mod json_encode;
mod shebang;

use super::commands;
use super::failure::{Failure, OpenError};
use super::keyspace::Keyspace;
use super::number::general;
use convert::{one_line, to_lua, to_reply};
use coord::store::Value as Reply;
use json_encode::Problem;
use mlua::{Function, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, Value, VmState};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one script may run. Redis has the same default, but only warns.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// How much memory (bytes) Lua may hold while a script runs.
const MEMORY_LIMIT: usize = 1 << 30;
/// How many instructions run between two looks at the clock.
const CHECK_EVERY: u32 = 100_000;
/// How many compiled scripts are kept. Ours are a dozen; a client that makes new ones all the time must not fill the memory.
const CACHE_LIMIT: usize = 4096;

/// The name of a script in error messages.
const CHUNK: &str = "@user_script";

/// A compiled script.
#[derive(Clone)]
struct Compiled {
    function: Function,
    is_read_only: bool,
}

/// How a script ended.
pub(super) enum Ended {
    /// With this answer.
    Well(Reply),
    /// With an error that it raised: its changes are to be dropped.
    Raised(String),
    /// The disk failed while it ran.
    Storage(String),
}

/// The interpreter.
pub(super) struct Interpreter {
    lua: Lua,
    globals: Table,
    environment: Table,
    run: Function,
    cache: HashMap<String, Compiled>,
    keyspace: Arc<Mutex<Keyspace>>,
    guard: Arc<Mutex<Guard>>,
}

/// What the running script may not exceed, and what went wrong beneath it.
struct Guard {
    deadline: Instant,
    storage_failure: Option<String>,
}

impl Interpreter {
    /// An interpreter whose scripts act on `keyspace`.
    pub fn new(keyspace: Arc<Mutex<Keyspace>>) -> Result<Self, OpenError> {
        Self::build(keyspace).map_err(|error| OpenError::Start(error.to_string()))
    }

    fn build(keyspace: Arc<Mutex<Keyspace>>) -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        let guard = Arc::new(Mutex::new(Guard {
            deadline: Instant::now(),
            storage_failure: None,
        }));
        let host = lua.create_table()?;
        host.raw_set("null", Value::NULL)?;
        host.raw_set("call", call_function(&lua, keyspace.clone(), guard.clone())?)?;
        host.raw_set(
            "encode",
            lua.create_function(|lua, value: Value| {
                let mut text = Vec::with_capacity(256);
                match json_encode::encode(&value, &mut text) {
                    Ok(()) => Ok((Value::String(lua.create_string(text)?), None)),
                    Err(problem) => Ok((Value::Nil, Some(text_of(problem)?))),
                }
            })?,
        )?;
        host.raw_set(
            "decode",
            lua.create_function(
                |lua, text: mlua::LuaString| match json_decode::decode(lua, &text.as_bytes()) {
                    Ok(value) => Ok((value, None)),
                    Err(problem) => Ok((Value::Nil, Some(text_of(problem)?))),
                },
            )?,
        )?;
        host.raw_set(
            "sha1hex",
            lua.create_function(|_, value: Value| {
                let bytes = argument(&value).unwrap_or_default();
                Ok(sha1_smol::Sha1::from(&*bytes).hexdigest())
            })?,
        )?;
        host.raw_set(
            "log",
            lua.create_function(|_, words: MultiValue| {
                log(&words);
                Ok(())
            })?,
        )?;
        host.raw_set("locate", lua.create_function(locate)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (globals, environment, run) = prelude.call::<(Table, Table, Function)>(host)?;
        Ok(Interpreter {
            lua,
            globals,
            environment,
            run,
            cache: HashMap::new(),
            keyspace,
            guard,
        })
    }

    /// Whether a script of this name is known.
    pub fn knows(&self, sha: &str) -> bool {
        self.cache.contains_key(sha)
    }

    /// Forgets all scripts.
    pub fn forget(&mut self) {
        self.cache.clear();
    }

    /// Compiles `source`, whose SHA-1 in hex is `sha`, unless it is known. Gives the text of an error reply.
    pub fn load(&mut self, sha: &str, source: &[u8]) -> Result<(), String> {
        if self.knows(sha) {
            return Ok(());
        }
        if self.cache.len() >= CACHE_LIMIT {
            self.forget();
        }
        let (flags, body) = shebang::read(source)?;
        let chunk = self
            .lua
            .load(body)
            .set_name(CHUNK)
            .set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk
            .set_environment(self.environment.clone())
            .into_function()
            .map_err(|error| {
                let text = match &error {
                    mlua::Error::SyntaxError { message, .. } => message.clone(),
                    other => other.to_string(),
                };
                format!("ERR Error compiling script (new function): {}", one_line(&text))
            })?;
        self.cache.insert(
            sha.to_owned(),
            Compiled {
                function,
                is_read_only: flags.is_read_only,
            },
        );
        Ok(())
    }

    /// Runs the script of this name, which is known. Begins the keyspace's transaction and leaves its end to the caller.
    pub fn run<'a>(
        &self,
        sha: &str,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> Ended {
        let Some(script) = self.cache.get(sha).cloned() else {
            return Ended::Raised("NOSCRIPT No matching script. Please use EVAL.".to_owned());
        };
        self.keyspace.lock().begin(true, script.is_read_only);
        *self.guard.lock() = Guard {
            deadline: Instant::now() + TIME_LIMIT,
            storage_failure: None,
        };
        let ended = self
            .execute(sha, &script, keys, arguments)
            .unwrap_or_else(|error| Ended::Raised(format!("ERR {} script: {sha}", one_line(&error.to_string()))));
        match self.guard.lock().storage_failure.take() {
            Some(failure) => Ended::Storage(failure),
            None => ended,
        }
    }

    fn execute<'a>(
        &self,
        sha: &str,
        script: &Compiled,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> mlua::Result<Ended> {
        self.globals
            .raw_set("KEYS", self.lua.create_sequence_from(keys.map(mlua::LuaString::wrap))?)?;
        self.globals.raw_set(
            "ARGV",
            self.lua.create_sequence_from(arguments.map(mlua::LuaString::wrap))?,
        )?;
        watch(&self.lua, self.guard.clone(), CHECK_EVERY)?;
        let (is_done, value) = self.run.call::<(bool, Value)>(&script.function)?;
        if is_done {
            return Ok(Ended::Well(to_reply(&value)?));
        }
        Ok(Ended::Raised(match value {
            Value::Table(error) => {
                let text = error.raw_get::<Option<mlua::LuaString>>("err")?;
                let text = text.map_or_else(
                    || "ERR unknown error".to_owned(),
                    |text| one_line(&text.to_string_lossy()),
                );
                match error.raw_get::<Option<usize>>("line")? {
                    Some(line) => format!("{text} script: {sha}, on {CHUNK}:{line}."),
                    None => text,
                }
            }
            other => format!("ERR {other:?}"),
        }))
    }
}

/// Ends a script that exceeds its time or memory. Once it does, every instruction fails, so that no `pcall` keeps it alive.
fn watch(lua: &Lua, guard: Arc<Mutex<Guard>>, every: u32) -> mlua::Result<()> {
    let triggers = HookTriggers::new().every_nth_instruction(every);
    lua.set_global_hook(triggers, move |lua, _| {
        let reason = if Instant::now() > guard.lock().deadline {
            "the script ran longer than 5 seconds"
        } else if lua.used_memory() > MEMORY_LIMIT {
            "the script used more than 1 GiB of memory"
        } else {
            return Ok(VmState::Continue);
        };
        if every > 1 {
            guard.lock().deadline = Instant::now() - Duration::from_nanos(1);
            watch(lua, guard.clone(), 1)?;
        }
        Err(mlua::Error::runtime(reason))
    })
}

fn text_of(problem: Problem) -> mlua::Result<String> {
    match problem {
        Problem::Refused(text) => Ok(text),
        Problem::Lua(error) => Err(error),
    }
}

/// `redis.call` without its raising: the answer, or nil and the text of the error.
fn call_function(lua: &Lua, keyspace: Arc<Mutex<Keyspace>>, guard: Arc<Mutex<Guard>>) -> mlua::Result<Function> {
    lua.create_function(move |lua, words: MultiValue| {
        let failed = |text: &str| Ok((Value::Nil, Some(lua.create_string(text)?)));
        if words.is_empty() {
            return failed("ERR Please specify at least one argument for this redis lib call");
        }
        let held: Option<Vec<Argument>> = words.iter().map(argument).collect();
        let Some(held) = held else {
            return failed("ERR Lua redis lib command arguments must be strings or integers");
        };
        let words: Vec<&[u8]> = held.iter().map(|word| &**word).collect();
        let outcome = commands::run(&mut keyspace.lock(), &words);
        match outcome {
            Ok(reply) => Ok((to_lua(lua, reply)?, None)),
            Err(Failure::Reply(text)) => failed(&text),
            Err(Failure::Storage(text)) => {
                guard.lock().storage_failure.get_or_insert(text);
                failed("ERR the store failed")
            }
        }
    })
}

/// A word of a command.
#[derive(Default)]
enum Argument {
    #[default]
    None,
    Text(mlua::BorrowedBytes),
    Number(String),
}

impl std::ops::Deref for Argument {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Argument::None => &[],
            Argument::Text(text) => text,
            Argument::Number(text) => text.as_bytes(),
        }
    }
}

fn argument(value: &Value) -> Option<Argument> {
    match value {
        Value::String(text) => Some(Argument::Text(text.as_bytes())),
        Value::Integer(number) => Some(Argument::Number(general(*number as f64, 17))),
        Value::Number(number) => Some(Argument::Number(general(*number, 17))),
        _ => None,
    }
}

fn log(words: &MultiValue) {
    let level = words.front().and_then(Value::as_f64).unwrap_or(0.0);
    let texts = words.iter().skip(1).filter_map(argument);
    let text = texts
        .map(|word| String::from_utf8_lossy(&word).into_owned())
        .collect::<Vec<_>>()
        .join(" ");
    match level {
        3.0.. => tracing::warn!(target: "coord::script", "{text}"),
        2.0.. => tracing::info!(target: "coord::script", "{text}"),
        _ => tracing::debug!(target: "coord::script", "{text}"),
    }
}

/// The error handler around a script: any error becomes `{err=TEXT, line=LINE}`.
fn locate(lua: &Lua, problem: Value) -> mlua::Result<Table> {
    let table = match problem {
        Value::Table(table) => table,
        other => {
            let text = match &other {
                Value::Error(error) => one_line(error.to_string().lines().next().unwrap_or_default()).into_bytes(),
                Value::String(text) => text.as_bytes().to_vec(),
                other => other.to_string()?.into_bytes(),
            };
            let table = lua.create_table()?;
            table.raw_set("err", lua.create_string([b"ERR ", text.as_slice()].concat())?)?;
            table
        }
    };
    let mut level = 1;
    let line = loop {
        let found = lua.inspect_stack(level, |frame| {
            let is_script = frame.source().source.as_deref() == Some(CHUNK);
            is_script.then(|| frame.current_line())
        });
        match found {
            None => break None,
            Some(Some(line)) => break line,
            Some(None) => level += 1,
        }
    };
    table.raw_set("line", line)?;
    Ok(table)
}
