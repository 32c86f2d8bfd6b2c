//! Our own scripts: functions of a library that is compiled once, with its first call.

use super::convert::list;
use super::{FUNCTION_CHUNK, Interpreter, Left, Origin, ScriptEnd, one_line, syntax_error};
use coord_store::Script;
use coord_store::script::Library;
use hashbrown::HashMap;
use mlua::{Function, Value};

/// The first line of a library: its chunk gets the table that collects its functions.
const HEAD: &str = "local functions = ... local function register(name, run) functions[name] = run end\n";

/// The functions of our own libraries by name. Tests have more libraries than one.
#[derive(Default)]
pub(super) struct OwnLibraries(HashMap<*const Library, HashMap<String, Function>>);

impl Interpreter {
    /// Runs one of our own scripts, with the rest of its call's allowance. Begins the keyspace's transaction; the caller
    /// ends it.
    pub fn run_own<'a>(
        &mut self,
        script: &Script,
        left: Left,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> ScriptEnd {
        let Some(library) = script.library else {
            return match self.load(Origin::Own, &script.sha, script.source.as_bytes()) {
                Ok(()) => self.run(Origin::Own, &script.sha, left, keys, arguments),
                Err(text) => ScriptEnd::Raised(text),
            };
        };
        if let Err(ended) = self.load_own(library, left) {
            return ended;
        }
        let functions = self.own_libraries.0.get(&std::ptr::from_ref(library));
        let Some(function) = functions.and_then(|functions| functions.get(script.name)) else {
            return ScriptEnd::Raised(format!("ERR {} has no function {}", library.name(""), script.name));
        };
        self.keyspace.lock().begin(true, false);
        self.bounded(Origin::Own, left, script.name, || {
            let (keys, arguments) = (list(&self.lua, keys)?, list(&self.lua, arguments)?);
            let (is_done, value) = self.run.call::<(bool, Value)>((function, keys, arguments))?;
            self.ended(is_done, &value, script.name, FUNCTION_CHUNK)
        })
    }

    /// Compiles a library and collects its functions, unless that was done. Otherwise returns how it ended.
    fn load_own(&mut self, library: &'static Library, left: Left) -> Result<(), ScriptEnd> {
        if self.own_libraries.0.contains_key(&std::ptr::from_ref(library)) {
            return Ok(());
        }
        let storage = |error: mlua::Error| ScriptEnd::Storage(one_line(&error.to_string()));
        let chunk = self.lua.load([HEAD, library.functions].concat());
        let main = chunk
            .set_name(FUNCTION_CHUNK)
            .set_mode(mlua::chunk::ChunkMode::Text)
            .set_environment(self.own.environment.clone())
            .into_function()
            .map_err(|error| ScriptEnd::Raised(format!("ERR Error compiling function: {}", syntax_error(&error))))?;
        let functions = self.lua.create_table().map_err(storage)?;
        let name = library.name("");
        let ended = self.bounded(Origin::Own, left, &name, || {
            let (is_done, value) = self.run.call::<(bool, Value)>((main, &functions))?;
            self.ended(is_done, &value, &name, FUNCTION_CHUNK)
        });
        if !matches!(ended, ScriptEnd::Well(_)) {
            return Err(ended);
        }
        let functions: mlua::Result<HashMap<String, Function>> = functions.pairs().collect();
        let functions = functions.map_err(storage)?;
        self.own_libraries.0.insert(std::ptr::from_ref(library), functions);
        Ok(())
    }
}
