//! The Lua interpreter: Lua 5.1 with the part of Redis 7.0's script environment that Coord's scripts use.
//!
//! Scripts are functions of a library, which is compiled once, at its first call.

mod convert;
mod guard;
mod host;
mod json_decode;
mod json_encode;

use super::deferred_reads::DeferredReads;
use super::failure::OpenError;
use super::keyspace::Keyspace;
use convert::{one_line, to_list, to_reply};
use coord_store::script::Library;
use coord_store::{Script, Value as Reply};
use guard::{CHUNK_NAME, Guard, TIME_LIMIT};
use hashbrown::HashMap;
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Bytes that Lua may allocate.
const MEMORY_LIMIT: usize = 1 << 30;
/// Instructions between two checks of clock and memory.
const CHECK_EVERY: u32 = 100_000;

/// The first line of a library. Its chunk is called with the table that collects its functions.
const HEAD: &str = "local functions = ... local function register(name, run) functions[name] = run end\n";

/// How a script ended.
pub(super) enum ScriptEnd {
    /// It returned this value.
    Returned(Reply),
    /// It raised an error: its changes are dropped.
    Raised(String),
    /// The disk failed while it ran.
    Storage(String),
}

pub(super) struct Interpreter {
    lua: Lua,
    run: Function,
    environment: Table,
    /// The functions of each library, by name. Only tests have more than one library.
    libraries: HashMap<*const Library, HashMap<String, Function>>,
    keyspace: Arc<Mutex<Keyspace>>,
    guard: Rc<RefCell<Guard>>,
}

impl Interpreter {
    /// An interpreter whose scripts run on `keyspace`, and yield to `deferred_reads`.
    pub fn new(keyspace: Arc<Mutex<Keyspace>>, deferred_reads: Option<DeferredReads>) -> Result<Self, OpenError> {
        Self::build(keyspace, deferred_reads.map(Rc::new)).map_err(|error| OpenError::Start(error.to_string()))
    }

    fn build(keyspace: Arc<Mutex<Keyspace>>, deferred_reads: Option<Rc<DeferredReads>>) -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        let guard = Rc::new(RefCell::new(Guard::new(deferred_reads)));
        let host = host::table(&lua, &keyspace, &guard)?;
        enforce_limits(&lua, guard.clone())?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (run, environment) = prelude.call::<(Function, Table)>(host)?;
        Ok(Interpreter {
            lua,
            run,
            environment,
            libraries: HashMap::new(),
            keyspace,
            guard,
        })
    }

    /// Runs a script. Begins the keyspace's transaction; the caller ends it.
    pub fn run<'a>(
        &mut self,
        script: &Script,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> ScriptEnd {
        let Some(library) = script.library() else {
            return ScriptEnd::Raised(format!("ERR {} is in no library", script.name));
        };
        if let Err(end) = self.load(library) {
            return end;
        }
        let functions = self.libraries.get(&std::ptr::from_ref(library));
        let Some(function) = functions.and_then(|functions| functions.get(script.name)) else {
            return ScriptEnd::Raised(format!("ERR {} has no function {}", library.name(""), script.name));
        };
        self.keyspace.lock().begin(true);
        self.run_within_limits(script.name, || {
            let (keys, arguments) = (to_list(&self.lua, keys)?, to_list(&self.lua, arguments)?);
            self.run.call((function, keys, arguments))
        })
    }

    /// Compiles a library and collects its functions, unless that has been done. The error is how the library ended.
    fn load(&mut self, library: &'static Library) -> Result<(), ScriptEnd> {
        if self.libraries.contains_key(&std::ptr::from_ref(library)) {
            return Ok(());
        }
        let storage = |error: mlua::Error| ScriptEnd::Storage(one_line(&error.to_string()));
        let chunk = self.lua.load([HEAD, &*library.functions].concat());
        let main = chunk
            .set_name(CHUNK_NAME)
            .set_mode(mlua::chunk::ChunkMode::Text)
            .set_environment(self.environment.clone())
            .into_function()
            .map_err(|error| ScriptEnd::Raised(format!("ERR Error compiling function: {}", syntax_error(&error))))?;
        let functions = self.lua.create_table().map_err(storage)?;
        let end = self.run_within_limits(&library.name(""), || self.run.call((main, &functions)));
        if !matches!(end, ScriptEnd::Returned(_)) {
            return Err(end);
        }
        let functions: mlua::Result<HashMap<String, Function>> = functions.pairs().collect();
        self.libraries
            .insert(std::ptr::from_ref(library), functions.map_err(storage)?);
        Ok(())
    }

    /// Runs `work` within the limits of one script, which is called `name`. `work` returns whether the script
    /// succeeded, and its result or error.
    fn run_within_limits(&self, name: &str, work: impl FnOnce() -> mlua::Result<(bool, Value)>) -> ScriptEnd {
        let deferred_reads = self.guard.borrow_mut().deferred_reads.take();
        *self.guard.borrow_mut() = Guard::new(deferred_reads);
        let end = work()
            .and_then(|(is_done, value)| script_end(is_done, &value, name))
            .unwrap_or_else(|error| ScriptEnd::Raised(format!("ERR {} script: {name}", one_line(&error.to_string()))));
        let reset = self.reset_if_tripped();
        if let Some(failure) = self.guard.borrow_mut().storage_failure.take() {
            return ScriptEnd::Storage(failure);
        }
        reset.map_or_else(|error| ScriptEnd::Storage(error.to_string()), |()| end)
    }

    /// Sets the hook anew, and frees the memory of a script that exceeded a limit.
    fn reset_if_tripped(&self) -> mlua::Result<()> {
        if !self.guard.borrow().is_tripped {
            return Ok(());
        }
        enforce_limits(&self.lua, self.guard.clone())?;
        self.lua.gc_collect()
    }
}

/// How the script `name` ended.
fn script_end(is_done: bool, value: &Value, name: &str) -> mlua::Result<ScriptEnd> {
    if is_done {
        return Ok(ScriptEnd::Returned(to_reply(value)?));
    }
    Ok(ScriptEnd::Raised(match error_text(value)? {
        (text, Some(line)) => format!("{text} script: {name}, on {CHUNK_NAME}:{line}."),
        (text, None) if value.is_table() => text,
        (text, None) => format!("{text} script: {name}"),
    }))
}

/// The text of a raised error, and its line in the script if it is known.
fn error_text(value: &Value) -> mlua::Result<(String, Option<usize>)> {
    Ok(match value {
        Value::Table(error) => {
            let text = error.raw_get::<Option<LuaString>>("err")?;
            let text = text.map_or_else(
                || "ERR unknown error".to_owned(),
                |text| one_line(&text.to_string_lossy()),
            );
            (text, error.raw_get("line")?)
        }
        // Without memory, or without stack for the handler, Lua raises its own text.
        Value::String(text) => (format!("ERR {}", one_line(&text.to_string_lossy())), None),
        other => (format!("ERR {}", one_line(&other.to_string()?)), None),
    })
}

/// The message of a syntax error.
fn syntax_error(error: &mlua::Error) -> String {
    one_line(&match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    })
}

/// Sets a hook that ends a script that exceeds its limit of time or memory.
fn enforce_limits(lua: &Lua, guard: Rc<RefCell<Guard>>) -> mlua::Result<()> {
    let triggers = HookTriggers::new().every_nth_instruction(CHECK_EVERY);
    lua.set_global_hook(triggers, move |lua, _| {
        Guard::yield_to_reads(&guard);
        let reason = if Instant::now() > guard.borrow().deadline {
            format!("the script ran longer than {} seconds", TIME_LIMIT.as_secs())
        } else if lua.used_memory() > MEMORY_LIMIT {
            format!("the script used more than {} MiB of memory", MEMORY_LIMIT >> 20)
        } else {
            return Ok(VmState::Continue);
        };
        guard.borrow_mut().is_tripped = true;
        let repeated_reason = reason.clone();
        // From now on every instruction fails, so that no `pcall` keeps the script running.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), move |_, _| {
            Err(mlua::Error::runtime(&repeated_reason))
        })?;
        Err(mlua::Error::runtime(reason))
    })
}
