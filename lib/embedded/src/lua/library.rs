//! Libraries of functions, as Redis 7.0 has them: loaded once, they stay as long as there is room, with their locals.

use super::convert::list;
use super::{Interpreter, LONGEST_TEXT, Left, Origin, ScriptEnd, raised, syntax_error};
use crate::failure::Failure;
use hashbrown::HashMap;
use mlua::{Function, LuaString, Table, Value};

/// The flags of functions, in the order in which Redis lists them.
pub(crate) const FLAGS: [&str; 5] = [
    "no-writes",
    "allow-oom",
    "allow-stale",
    "no-cluster",
    "allow-cross-slot-keys",
];
/// Set where the first flag is. The others permit nothing that is forbidden here.
pub(crate) const NO_WRITES: u8 = 1;

/// The name of a library in error messages.
pub(super) const FUNCTION_CHUNK: &str = "@user_function";

/// Most bytes of libraries that stay compiled, and of Lua's memory while they do: a library may keep any value in its
/// locals. Above it all are dropped, and loaded again from their texts by the next call.
const MOST_KEPT: usize = 16 << 20;
const MOST_MEMORY: usize = 128 << 20;

/// The first line of a library: `#!lua name=LIBRARY`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Metadata<'a> {
    pub name: &'a str,
    /// The part to compile.
    body: &'a [u8],
}

impl<'a> Metadata<'a> {
    /// That of `code`. An error is the text of an error reply.
    pub fn of(code: &'a [u8]) -> Result<Self, String> {
        if !code.starts_with(b"#!") {
            return Err("ERR Missing library metadata".to_owned());
        }
        let invalid = || "ERR Invalid library metadata".to_owned();
        let end = code.iter().position(|byte| *byte == b'\n').ok_or_else(invalid)?;
        let line = std::str::from_utf8(&code[2..end]).map_err(|_| invalid())?;
        let mut words = line.split_ascii_whitespace();
        let engine = match line.starts_with(|first: char| first.is_ascii_whitespace()) {
            true => "",
            false => words.next().unwrap_or_default(),
        };
        let mut name = None;
        for word in words {
            match word.split_at_checked(5) {
                Some((key, value)) if key.eq_ignore_ascii_case("name=") => {
                    if name.replace(value).is_some() {
                        return Err("ERR Invalid metadata value, name argument was given multiple times".to_owned());
                    }
                }
                _ => return Err(format!("ERR Invalid metadata value given: {word}")),
            }
        }
        let name = name.ok_or("ERR Library name was not given")?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let text = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
            return Err(text.to_owned());
        }
        if !engine.eq_ignore_ascii_case("lua") {
            return Err(format!("ERR Engine '{engine}' not found"));
        }
        // The line end stays, so that line numbers in errors are those of the text.
        Ok(Metadata {
            name,
            body: &code[end..],
        })
    }
}

/// The registrations of a library under one name.
pub(crate) struct Registration {
    pub name: String,
    /// A bit for each of [`FLAGS`].
    pub flags: u8,
    pub description: Option<String>,
}

/// The environment of libraries, and those that are compiled, each by its number.
pub(super) struct Libraries {
    environment: Table,
    begin: Function,
    finish: Function,
    compiled: HashMap<u64, HashMap<String, Function>>,
    /// Bytes of their texts.
    kept: usize,
}

impl Libraries {
    pub fn of(table: &Table) -> mlua::Result<Self> {
        Ok(Libraries {
            environment: table.raw_get("environment")?,
            begin: table.raw_get("begin")?,
            finish: table.raw_get("finish")?,
            compiled: HashMap::new(),
            kept: 0,
        })
    }

    fn clear(&mut self) {
        self.compiled.clear();
        self.kept = 0;
    }
}

impl Interpreter {
    /// Whether the library with this number is compiled.
    pub fn has_library(&self, number: u64) -> bool {
        self.libraries.compiled.contains_key(&number)
    }

    /// Compiles a library and runs its text, within the limits of a script. Returns its functions. The library is compiled
    /// until it is dropped, whether or not the caller stores it.
    pub fn load_library(&mut self, number: u64, code: &[u8], left: Left) -> Result<Vec<Registration>, Failure> {
        if code.len() > LONGEST_TEXT {
            return Err(Failure::reply(format!(
                "ERR a library is longer than {LONGEST_TEXT} bytes"
            )));
        }
        let metadata = Metadata::of(code).map_err(Failure::reply)?;
        let chunk = self.lua.load(metadata.body).set_name(FUNCTION_CHUNK);
        let main = chunk
            .set_mode(mlua::chunk::ChunkMode::Text)
            .set_environment(self.libraries.environment.clone())
            .into_function()
            .map_err(|error| Failure::reply(format!("ERR Error compiling function: {}", syntax_error(&error))))?;
        let failed = |error: mlua::Error| Failure::Storage(error.to_string());
        let registered: Table = self.libraries.begin.call(()).map_err(failed)?;
        let mut problem = None;
        let ended = self.bounded(Origin::Guest, left, "", || {
            let (is_done, value) = self.run.call::<(bool, Value)>(&main)?;
            if !is_done {
                problem = Some(raised(&value)?.0);
            }
            Ok(ScriptEnd::Well(coord_store::Value::Nil))
        });
        self.libraries.finish.call::<()>(()).map_err(failed)?;
        match ended {
            ScriptEnd::Well(_) => {}
            ScriptEnd::Raised(text) => problem = Some(text),
            ScriptEnd::Storage(text) => return Err(Failure::Storage(text)),
        }
        if let Some(text) = problem {
            return Err(Failure::reply(format!("ERR Error registering functions: {text}")));
        }
        let (functions, list) = read(&registered).map_err(failed)?;
        if list.is_empty() {
            return Err(Failure::fixed("ERR No functions registered"));
        }
        if self.libraries.kept + code.len() > MOST_KEPT || self.lua.used_memory() > MOST_MEMORY {
            self.libraries.clear();
            self.lua.gc_collect().map_err(failed)?;
        }
        self.libraries.kept += code.len();
        self.libraries.compiled.insert(number, functions);
        Ok(list)
    }

    /// Runs the function `name` of the compiled library with this number. Begins the keyspace's transaction; the caller ends
    /// it.
    pub fn call_function<'a>(
        &mut self,
        (number, name): (u64, &str),
        is_read_only: bool,
        left: Left,
        keys: impl Iterator<Item = &'a [u8]>,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> ScriptEnd {
        let found = self
            .libraries
            .compiled
            .get(&number)
            .and_then(|library| library.get(name));
        let Some(function) = found.cloned() else {
            return ScriptEnd::Raised("ERR Function not found".to_owned());
        };
        self.keyspace.lock().begin(true, is_read_only);
        let ended = self.bounded(Origin::Guest, left, name, || {
            let (keys, arguments) = (list(&self.lua, keys)?, list(&self.lua, arguments)?);
            let (is_done, value) = self.run.call::<(bool, Value)>((&function, keys, arguments))?;
            self.ended(is_done, &value, name, FUNCTION_CHUNK)
        });
        drop(function);
        if self.lua.used_memory() > MOST_MEMORY {
            self.libraries.clear();
            if let Err(error) = self.lua.gc_collect() {
                return ScriptEnd::Storage(error.to_string());
            }
        }
        ended
    }
}

/// Reads the entries that register_function has put into the table.
fn read(registered: &Table) -> mlua::Result<(HashMap<String, Function>, Vec<Registration>)> {
    let (mut functions, mut list) = (HashMap::new(), Vec::new());
    for pair in registered.pairs::<String, Table>() {
        let (name, read) = pair?;
        let flags = match read.raw_get::<Option<Table>>("flags")? {
            Some(set) => flag_bits(&set)?,
            None => 0,
        };
        let description = read.raw_get::<Option<LuaString>>("description")?;
        functions.insert(name.clone(), read.raw_get("callback")?);
        list.push(Registration {
            name,
            flags,
            description: description.map(|text| text.to_string_lossy()),
        });
    }
    Ok((functions, list))
}

fn flag_bits(set: &Table) -> mlua::Result<u8> {
    let mut bits = 0;
    for (place, flag) in FLAGS.into_iter().enumerate() {
        bits |= u8::from(set.raw_get::<bool>(flag)?) << place;
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::Metadata;

    #[test]
    fn the_first_line_of_a_library_is_read_as_in_redis() {
        let name = |code: &str| Metadata::of(code.as_bytes()).map(|metadata| metadata.name.to_owned());
        assert_eq!(name("#!lua name=a_1\n"), Ok("a_1".to_owned()));
        assert_eq!(name("#!LUA   NAME=a\nreturn 1"), Ok("a".to_owned()));
        let names = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
        for (code, expected) in [
            ("return 1", "ERR Missing library metadata"),
            ("#!lua name=a", "ERR Invalid library metadata"),
            ("#!lua\n", "ERR Library name was not given"),
            (
                "#!lua name=a name=b\n",
                "ERR Invalid metadata value, name argument was given multiple times",
            ),
            ("#!lua name=a x=1\n", "ERR Invalid metadata value given: x=1"),
            ("#! lua name=a\n", "ERR Invalid metadata value given: lua"),
            ("#!lua name=\n", names),
            ("#!js name=a-b\n", names),
            ("#!js name=a\n", "ERR Engine 'js' not found"),
        ] {
            assert_eq!(name(code), Err(expected.to_owned()), "{code:?}");
        }
    }
}
