//! The Lua interpreter: Lua 5.1 with the environment of scripts in Redis 7.0, and no more.

mod convert;
mod guest;
mod host;
mod json_decode;
mod json_encode;
mod library;
mod own;
mod patterns;
mod shebang;

use super::allowance::{Allowance, CLIENT_TIME, Left};
use super::deferred_reads::DeferredReads;
use super::failure::OpenError;
use super::keyspace::Keyspace;
use super::worker::SLICE;
use convert::{list, one_line, to_reply};
use coord_store::Value as Reply;
use hashbrown::HashMap;
pub(super) use library::{FLAGS, Metadata, NO_WRITES, Registration};
use library::{FUNCTION_CHUNK, Libraries};
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};
use own::OwnLibraries;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The origin of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Our own scripts.
    Own,
    /// Scripts of clients, which may try to use all time, memory and stack.
    Guest,
}

/// Limits of one script.
struct Bounds {
    /// Our own scripts have the default of Redis, which only warns.
    time: Duration,
    /// Bytes that Lua may allocate.
    memory: usize,
    /// Instructions between two checks of clock and memory. One instruction may take as long as copying all memory.
    check_every: u32,
}

impl Origin {
    fn bounds(self) -> Bounds {
        match self {
            Origin::Own => Bounds {
                time: Duration::from_secs(5),
                memory: 1 << 30,
                check_every: 100_000,
            },
            Origin::Guest => Bounds {
                time: CLIENT_TIME,
                memory: 64 << 20,
                check_every: 100,
            },
        }
    }
}

/// Longest source of a guest's script: the compiler runs no hook, and takes time that grows with the square of the length.
const LONGEST_TEXT: usize = 256 << 10;
/// Most compiled scripts that are kept. We have a dozen of our own; a client that sends new ones all the time must not fill
/// the memory.
const CACHE_LIMIT: usize = 4096;

/// Bytes of garbage that a guest may leave behind.
const GARBAGE: usize = 16 << 20;

/// Largest result of a script. Tables that contain one table twice, and so on, make a result that grows without end.
const LARGEST_RESULT: usize = 64 << 20;

/// The name of a script in error messages.
const CHUNK: &str = "@user_script";

/// A compiled script.
#[derive(Clone)]
struct CompiledScript {
    function: Function,
    is_read_only: bool,
}

/// The end of a script.
pub(super) enum ScriptEnd {
    /// It returned this value.
    Well(Reply),
    /// It raised an error: its changes are dropped.
    Raised(String),
    /// The disk failed while it ran.
    Storage(String),
}

/// The interpreter.
pub(super) struct Interpreter {
    lua: Lua,
    run: Function,
    string_metatable: Table,
    own: Environment,
    own_libraries: OwnLibraries,
    guest: Environment,
    /// Libraries of functions, which are all of guests.
    libraries: Libraries,
    keyspace: Arc<Mutex<Keyspace>>,
    guard: Rc<RefCell<Guard>>,
}

/// The environment of one origin's scripts, and its known scripts by SHA-1 in hex.
struct Environment {
    globals: Table,
    environment: Table,
    strings: Table,
    scripts: HashMap<String, CompiledScript>,
}

impl Environment {
    fn of(table: &Table) -> mlua::Result<Self> {
        Ok(Environment {
            globals: table.raw_get("globals")?,
            environment: table.raw_get("environment")?,
            strings: table.raw_get("strings")?,
            scripts: HashMap::new(),
        })
    }
}

/// Limits of the running script, and errors below it.
struct Guard {
    origin: Origin,
    deadline: Instant,
    /// When reads that wait are answered next.
    gives_way_at: Instant,
    aside: Option<Rc<DeferredReads>>,
    memory: usize,
    /// Bytes that its result may have.
    reply_bytes: usize,
    /// Whether the hook fails at every instruction, and must be set anew for the next script.
    is_tripped: bool,
    storage_failure: Option<String>,
}

impl Guard {
    fn of(origin: Origin, memory: usize, left: Left, aside: Option<Rc<DeferredReads>>) -> Self {
        let now = Instant::now();
        Guard {
            origin,
            deadline: match origin {
                // As outside of a transaction, whose time is looked at before and after them.
                Origin::Own => now + origin.bounds().time,
                Origin::Guest => left.deadline(),
            },
            gives_way_at: now + SLICE,
            aside,
            memory,
            reply_bytes: left.reply_bytes.min(LARGEST_RESULT),
            is_tripped: false,
            storage_failure: None,
        }
    }

    /// Answers reads that wait, where the script has run for a while. They take half of the time at most, and none of the
    /// script's own.
    fn yield_to_reads(guard: &RefCell<Guard>) {
        let (aside, began) = {
            let guard = guard.borrow();
            let Some(aside) = guard.aside.as_ref().filter(|aside| aside.is_wanted()) else {
                return;
            };
            let now = Instant::now();
            if now < guard.gives_way_at {
                return;
            }
            (Rc::clone(aside), now)
        };
        aside.answer();
        let now = Instant::now();
        let mut guard = guard.borrow_mut();
        guard.deadline += now - began;
        guard.gives_way_at = now + SLICE.max(now - began);
    }

    /// For slow work that runs no hook: fails if a guest's time is up.
    fn check(&self) -> mlua::Result<()> {
        if self.origin == Origin::Guest && Instant::now() > self.deadline {
            return Err(mlua::Error::runtime(self.too_long()));
        }
        Ok(())
    }

    /// The allowance of a command of the script: a reply counts as memory of a guest.
    fn allowance(&self, lua: &Lua) -> Allowance {
        match self.origin {
            Origin::Own => Allowance::unbounded(),
            Origin::Guest => Allowance::until(self.deadline, self.memory.saturating_sub(lua.used_memory())),
        }
    }

    fn too_long(&self) -> String {
        format!(
            "the script ran longer than {} seconds",
            self.origin.bounds().time.as_secs()
        )
    }
}

impl Interpreter {
    /// An interpreter whose scripts act on `keyspace`, and give way to `deferred_reads`.
    pub fn new(keyspace: Arc<Mutex<Keyspace>>, aside: Option<DeferredReads>) -> Result<Self, OpenError> {
        Self::build(keyspace, aside.map(Rc::new)).map_err(|error| OpenError::Start(error.to_string()))
    }

    fn build(keyspace: Arc<Mutex<Keyspace>>, aside: Option<Rc<DeferredReads>>) -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        let guard = Guard::of(Origin::Own, usize::MAX, Left::after(0), aside);
        let guard = Rc::new(RefCell::new(guard));
        let host = host::table(&lua, &keyspace, &guard)?;
        guest::add(&lua, &host, &guard)?;
        host.raw_set("longest_text", LONGEST_TEXT)?;
        host.raw_set("function_flags", lua.create_table_from(FLAGS.map(|flag| (flag, true)))?)?;
        watch(&lua, guard.clone(), Origin::Own)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let (run, string_metatable, own, guest, libraries) =
            prelude.call::<(Function, Table, Table, Table, Table)>(host)?;
        Ok(Interpreter {
            own: Environment::of(&own)?,
            own_libraries: OwnLibraries::default(),
            guest: Environment::of(&guest)?,
            libraries: Libraries::of(&libraries)?,
            lua,
            run,
            string_metatable,
            keyspace,
            guard,
        })
    }

    fn around(&self, origin: Origin) -> &Environment {
        match origin {
            Origin::Own => &self.own,
            Origin::Guest => &self.guest,
        }
    }

    /// Whether a guest's script with this hash is known.
    pub fn knows(&self, sha: &str) -> bool {
        self.guest.scripts.contains_key(sha)
    }

    /// Forgets all guests' scripts.
    pub fn forget(&mut self) {
        self.guest.scripts.clear();
    }

    /// Compiles `source`, whose SHA-1 in hex is `sha`, unless it is known. An error is the text of an error reply.
    pub fn load(&mut self, origin: Origin, sha: &str, source: &[u8]) -> Result<(), String> {
        if self.around(origin).scripts.contains_key(sha) {
            return Ok(());
        }
        if origin == Origin::Guest && source.len() > LONGEST_TEXT {
            return Err(format!("ERR a script is longer than {LONGEST_TEXT} bytes"));
        }
        let (flags, body) = shebang::read(source)?;
        let chunk = self
            .lua
            .load(body)
            .set_name(CHUNK)
            .set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk
            .set_environment(self.around(origin).environment.clone())
            .into_function()
            .map_err(|error| format!("ERR Error compiling script (new function): {}", syntax_error(&error)))?;
        let scripts = match origin {
            Origin::Own => &mut self.own.scripts,
            Origin::Guest => &mut self.guest.scripts,
        };
        if scripts.len() >= CACHE_LIMIT {
            scripts.clear();
        }
        scripts.insert(
            sha.to_owned(),
            CompiledScript {
                function,
                is_read_only: flags.is_read_only,
            },
        );
        Ok(())
    }

    /// Runs the known script with this hash, with the rest of its call's allowance. Begins the keyspace's transaction; the
    /// caller ends it.
    pub fn run<'a>(
        &self,
        origin: Origin,
        sha: &str,
        left: Left,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> ScriptEnd {
        let Some(script) = self.around(origin).scripts.get(sha).cloned() else {
            return ScriptEnd::Raised("NOSCRIPT No matching script. Please use EVAL.".to_owned());
        };
        self.keyspace.lock().begin(true, script.is_read_only);
        self.bounded(origin, left, sha, || {
            let globals = &self.around(origin).globals;
            globals.raw_set("KEYS", list(&self.lua, keys)?)?;
            globals.raw_set("ARGV", list(&self.lua, arguments)?)?;
            let (is_done, value) = self.run.call::<(bool, Value)>(&script.function)?;
            self.ended(is_done, &value, sha, CHUNK)
        })
    }

    /// Runs `work` within the limits of one script, which is called `name`.
    fn bounded(
        &self,
        origin: Origin,
        left: Left,
        name: &str,
        work: impl FnOnce() -> mlua::Result<ScriptEnd>,
    ) -> ScriptEnd {
        if let Err(error) = self.admit(origin, left) {
            return ScriptEnd::Storage(error.to_string());
        }
        let ended = work()
            .unwrap_or_else(|error| ScriptEnd::Raised(format!("ERR {} script: {name}", one_line(&error.to_string()))));
        let dismissed = self.dismiss(origin);
        if let Some(failure) = self.guard.borrow_mut().storage_failure.take() {
            return ScriptEnd::Storage(failure);
        }
        dismissed.map_or_else(|error| ScriptEnd::Storage(error.to_string()), |()| ended)
    }

    /// Sets the limits of the next script.
    fn admit(&self, origin: Origin, left: Left) -> mlua::Result<()> {
        let mut memory = origin.bounds().memory;
        if origin == Origin::Guest {
            memory += self.lua.used_memory();
            self.string_metatable.raw_set("__index", &self.guest.strings)?;
            watch(&self.lua, self.guard.clone(), origin)?;
            // Our own scripts run without a limit: with one, every call into Lua has to handle running out of memory.
            self.lua.set_memory_limit(memory)?;
        }
        let aside = self.guard.borrow_mut().aside.take();
        *self.guard.borrow_mut() = Guard::of(origin, memory, left, aside);
        Ok(())
    }

    /// Removes the limits of a guest, or of a script that was ended.
    fn dismiss(&self, origin: Origin) -> mlua::Result<()> {
        let is_tripped = self.guard.borrow().is_tripped;
        if origin == Origin::Own && !is_tripped {
            return Ok(());
        }
        self.lua.set_memory_limit(0)?;
        watch(&self.lua, self.guard.clone(), Origin::Own)?;
        self.string_metatable.raw_set("__index", &self.own.strings)?;
        self.around(origin).globals.raw_set("KEYS", Value::Nil)?;
        self.around(origin).globals.raw_set("ARGV", Value::Nil)?;
        if is_tripped || self.lua.used_memory() > GARBAGE {
            self.lua.gc_collect()?;
        }
        Ok(())
    }

    /// The outcome of a run of the script `name`, whose text is `chunk`.
    fn ended(&self, is_done: bool, value: &Value, name: &str, chunk: &str) -> mlua::Result<ScriptEnd> {
        if is_done {
            return Ok(ScriptEnd::Well(to_reply(value, &self.guard)?));
        }
        Ok(ScriptEnd::Raised(match raised(value)? {
            (text, Some(line)) => format!("{text} script: {name}, on {chunk}:{line}."),
            (text, None) if value.is_table() => text,
            (text, None) => format!("{text} script: {name}"),
        }))
    }
}

/// The text of a raised error, and its line in the script if it is known.
fn raised(value: &Value) -> mlua::Result<(String, Option<usize>)> {
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

/// Why a text is no Lua.
fn syntax_error(error: &mlua::Error) -> String {
    one_line(&match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    })
}

/// Ends a script that exceeds its limit of time or memory.
fn watch(lua: &Lua, guard: Rc<RefCell<Guard>>, origin: Origin) -> mlua::Result<()> {
    let triggers = HookTriggers::new().every_nth_instruction(origin.bounds().check_every);
    lua.set_global_hook(triggers, move |lua, _| {
        Guard::yield_to_reads(&guard);
        let reason = {
            let guard = guard.borrow();
            if Instant::now() > guard.deadline {
                guard.too_long()
            } else if lua.used_memory() > guard.memory {
                format!(
                    "the script used more than {} MiB of memory",
                    guard.origin.bounds().memory >> 20
                )
            } else {
                return Ok(VmState::Continue);
            }
        };
        guard.borrow_mut().is_tripped = true;
        let again = reason.clone();
        // From now on every instruction fails, so that no `pcall` keeps the script running.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), move |_, _| {
            Err(mlua::Error::runtime(&again))
        })?;
        Err(mlua::Error::runtime(reason))
    })
}

/// Calls code that nests as deep as its input. A thread of the server has a stack of 2 MiB.
fn deep<R>(call: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, call)
}
