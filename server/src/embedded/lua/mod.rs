//! The Lua interpreter: Lua 5.1 with what a script finds in Redis 7.0, and no more.

mod convert;
mod host;
mod json_decode;
mod json_encode;
mod shebang;

use super::failure::OpenError;
use super::keyspace::Keyspace;
use convert::{one_line, to_reply};
use coord::store::Value as Reply;
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
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
    guard: Rc<RefCell<Guard>>,
}

/// What the running script may not exceed, and what went wrong beneath it.
struct Guard {
    deadline: Instant,
    /// The hook fails at every instruction, and must be set anew for the next script.
    is_tripped: bool,
    storage_failure: Option<String>,
}

impl Guard {
    fn new() -> Self {
        Guard {
            deadline: Instant::now() + TIME_LIMIT,
            is_tripped: false,
            storage_failure: None,
        }
    }
}

impl Interpreter {
    /// An interpreter whose scripts act on `keyspace`.
    pub fn new(keyspace: Arc<Mutex<Keyspace>>) -> Result<Self, OpenError> {
        Self::build(keyspace).map_err(|error| OpenError::Start(error.to_string()))
    }

    fn build(keyspace: Arc<Mutex<Keyspace>>) -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        let guard = Rc::new(RefCell::new(Guard::new()));
        let host = host::table(&lua, &keyspace, &guard)?;
        watch(&lua, guard.clone())?;
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
        let was_tripped = std::mem::replace(&mut *self.guard.borrow_mut(), Guard::new()).is_tripped;
        if was_tripped
            && let Err(error) = self
                .lua
                .gc_collect()
                .and_then(|()| watch(&self.lua, self.guard.clone()))
        {
            return Ended::Storage(error.to_string());
        }
        let ended = self
            .execute(sha, &script, keys, arguments)
            .unwrap_or_else(|error| Ended::Raised(format!("ERR {} script: {sha}", one_line(&error.to_string()))));
        match self.guard.borrow_mut().storage_failure.take() {
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
            .raw_set("KEYS", self.lua.create_sequence_from(keys.map(LuaString::wrap))?)?;
        self.globals
            .raw_set("ARGV", self.lua.create_sequence_from(arguments.map(LuaString::wrap))?)?;
        let (is_done, value) = self.run.call::<(bool, Value)>(&script.function)?;
        if is_done {
            return Ok(Ended::Well(to_reply(&value)?));
        }
        Ok(Ended::Raised(match value {
            Value::Table(error) => {
                let text = error.raw_get::<Option<LuaString>>("err")?;
                let text = text.map_or_else(
                    || "ERR unknown error".to_owned(),
                    |text| one_line(&text.to_string_lossy()),
                );
                match error.raw_get::<Option<usize>>("line")? {
                    Some(line) => format!("{text} script: {sha}, on {CHUNK}:{line}."),
                    None => text,
                }
            }
            // Without memory, or without stack for the handler, Lua gives its own text.
            Value::String(text) => format!("ERR {} script: {sha}", one_line(&text.to_string_lossy())),
            other => format!("ERR {} script: {sha}", one_line(&other.to_string()?)),
        }))
    }
}

/// Ends a script that exceeds its time or memory.
fn watch(lua: &Lua, guard: Rc<RefCell<Guard>>) -> mlua::Result<()> {
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(CHECK_EVERY), move |lua, _| {
        let reason = if Instant::now() > guard.borrow().deadline {
            "the script ran longer than 5 seconds"
        } else if lua.used_memory() > MEMORY_LIMIT {
            "the script used more than 1 GiB of memory"
        } else {
            return Ok(VmState::Continue);
        };
        guard.borrow_mut().is_tripped = true;
        // From now on every instruction fails, so that no `pcall` keeps the script alive.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), move |_, _| {
            Err(mlua::Error::runtime(reason))
        })?;
        Err(mlua::Error::runtime(reason))
    })
}

/// Calls what nests as deep as its input does. A thread of the server has a stack of 2 MiB.
fn deep<R>(call: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, call)
}
