//! The functions that Rust provides to scripts: `redis.call`, `redis.pcall`, `redis.sha1hex` and `cjson`.

use super::convert::{one_line, to_lua};
use super::guard::{CHUNK_NAME, Guard};
use super::json_encode::Problem;
use super::{json_decode, json_encode};
use crate::commands;
use crate::failure::Failure;
use crate::keyspace::Keyspace;
use crate::number::format_general;
use mlua::{Error, Function, Lua, LuaString, MultiValue, Result, Table, Value};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// An error of one of these functions. Rust raises it, and not Lua code around the function: a tail call in Lua
/// (`return redis.call(...)`) replaces its caller on the stack, so that the line would be lost.
#[derive(Clone, Debug, thiserror::Error)]
enum RaisedError {
    /// The error reply of a command: scripts see a table with `err`.
    #[error("{0}")]
    Reply(String),
    /// A wrong use of a function: scripts see a text.
    #[error("{0}")]
    Misuse(String),
}

impl RaisedError {
    fn reply(text: impl Into<String>) -> Error {
        Error::external(RaisedError::Reply(text.into()))
    }

    /// A misuse. The text begins with the position of the call, as in `luaL_error`.
    fn misuse(lua: &Lua, text: &str) -> Error {
        let position = lua.inspect_stack(1, |caller| {
            let source = caller.source().short_src?.into_owned();
            Some(format!("{source}:{}: ", caller.current_line()?))
        });
        Error::external(RaisedError::Misuse(position.flatten().unwrap_or_default() + text))
    }
}

/// The table of functions that the prelude gets.
pub(super) fn table(lua: &Lua, keyspace: &Arc<Mutex<Keyspace>>, guard: &Rc<RefCell<Guard>>) -> Result<Table> {
    let caller = Caller {
        keyspace: keyspace.clone(),
        guard: guard.clone(),
    };
    let host = lua.create_table()?;
    host.raw_set("null", Value::NULL)?;
    host.raw_set("call", caller.clone().call_function(lua)?)?;
    host.raw_set("pcall", caller.pcall_function(lua)?)?;
    host.raw_set("encode", lua.create_function(encode)?)?;
    host.raw_set("decode", lua.create_function(decode)?)?;
    host.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    host.raw_set("plain", lua.create_function(plain_error)?)?;
    host.raw_set("locate", lua.create_function(locate)?)?;
    Ok(host)
}

/// The implementation of `redis.call` and `redis.pcall`.
#[derive(Clone)]
struct Caller {
    keyspace: Arc<Mutex<Keyspace>>,
    guard: Rc<RefCell<Guard>>,
}

impl Caller {
    /// The reply of a command, or the text of its error.
    fn run(&self, lua: &Lua, words: &MultiValue) -> Result<std::result::Result<Value, String>> {
        Guard::yield_to_reads(&self.guard);
        let arguments: Option<Vec<Argument>> = words.iter().map(argument).collect();
        let Some(arguments) = arguments else {
            return Ok(Err(
                "ERR Lua redis lib command arguments must be strings or integers".to_owned()
            ));
        };
        let words: Vec<&[u8]> = arguments.iter().map(|argument| &**argument).collect();
        if words.is_empty() {
            return Ok(Err(
                "ERR Please specify at least one argument for this redis lib call".to_owned()
            ));
        }
        let outcome = commands::run(&mut self.keyspace.lock(), &words);
        match outcome {
            Ok(reply) => to_lua(lua, reply).map(Ok),
            Err(Failure::Reply(text)) => Ok(Err(text.into_owned())),
            Err(Failure::Storage(text)) => {
                self.guard.borrow_mut().storage_failure.get_or_insert(text);
                Ok(Err("ERR the store failed".to_owned()))
            }
        }
    }

    fn call_function(self, lua: &Lua) -> Result<Function> {
        lua.create_function(move |lua, words: MultiValue| self.run(lua, &words)?.map_err(RaisedError::reply))
    }

    fn pcall_function(self, lua: &Lua) -> Result<Function> {
        lua.create_function(move |lua, words: MultiValue| match self.run(lua, &words)? {
            Ok(value) => Ok(value),
            Err(text) => error_table(lua, &text).map(Value::Table),
        })
    }
}

fn error_table(lua: &Lua, text: &str) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("err", text)?;
    table.raw_set("ignore_error_stats_update", true)?;
    Ok(table)
}

/// One argument of a command.
enum Argument {
    Text(mlua::BorrowedBytes),
    Number(String),
}

impl Deref for Argument {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Argument::Text(text) => text,
            Argument::Number(text) => text.as_bytes(),
        }
    }
}

fn argument(value: &Value) -> Option<Argument> {
    match value {
        Value::String(text) => Some(Argument::Text(text.as_bytes())),
        Value::Integer(number) => Some(Argument::Number(format_general(*number as f64, 17))),
        Value::Number(number) => Some(Argument::Number(format_general(*number, 17))),
        _ => None,
    }
}

fn json_error(lua: &Lua, problem: Problem) -> Error {
    match problem {
        Problem::Refused(text) => RaisedError::misuse(lua, &text),
        Problem::Lua(error) => error,
    }
}

fn encode(lua: &Lua, arguments: MultiValue) -> Result<LuaString> {
    let [value] = arguments.as_slices().0 else {
        return Err(RaisedError::misuse(
            lua,
            "bad argument #1 to 'encode' (expected 1 argument)",
        ));
    };
    let text = json_encode::encode(value).map_err(|problem| json_error(lua, problem))?;
    lua.create_string(text)
}

fn decode(lua: &Lua, arguments: MultiValue) -> Result<Value> {
    let [value] = arguments.as_slices().0 else {
        return Err(RaisedError::misuse(
            lua,
            "bad argument #1 to 'decode' (expected 1 argument)",
        ));
    };
    let text = match value {
        // Lua's C functions convert a number to text, with 14 digits.
        Value::Integer(number) => Argument::Number(format_general(*number as f64, 14)),
        Value::Number(number) => Argument::Number(format_general(*number, 14)),
        Value::String(text) => Argument::Text(text.as_bytes()),
        other => {
            let text = format!(
                "bad argument #1 to 'decode' (string expected, got {})",
                other.type_name()
            );
            return Err(RaisedError::misuse(lua, &text));
        }
    };
    json_decode::decode(lua, &text).map_err(|problem| json_error(lua, problem))
}

fn sha1hex(_: &Lua, text: LuaString) -> Result<String> {
    Ok(sha1_smol::Sha1::from(&*text.as_bytes()).hexdigest())
}

/// An error as a Lua value, which a script may see. An error that Rust raises is not one.
fn plain_error(lua: &Lua, problem: Value) -> Result<Value> {
    let Value::Error(error) = &problem else {
        return Ok(problem);
    };
    match error.downcast_ref::<RaisedError>() {
        Some(RaisedError::Reply(text)) => error_table(lua, text).map(Value::Table),
        Some(RaisedError::Misuse(text)) => lua.create_string(text).map(Value::String),
        None => lua.create_string(first_line(error)).map(Value::String),
    }
}

/// The first line of an error: Lua appends its traceback to errors that pass through it.
fn first_line(error: &Error) -> String {
    match error {
        Error::CallbackError { cause, .. } => first_line(cause),
        Error::RuntimeError(text) => text.lines().next().unwrap_or_default().to_owned(),
        other => one_line(&other.to_string()),
    }
}

/// The error handler around a script: every error becomes `{err=TEXT, line=LINE}`.
fn locate(lua: &Lua, problem: Value) -> Result<Table> {
    let table = match plain_error(lua, problem)? {
        Value::Table(table) => table,
        other => {
            let text = match &other {
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
        let script_line = lua.inspect_stack(level, |frame| {
            let source = frame.source().source;
            let is_script = source.is_some_and(|source| source == CHUNK_NAME);
            is_script.then(|| frame.current_line())
        });
        match script_line {
            None => break None,
            Some(Some(line)) => break line,
            Some(None) => level += 1,
        }
    };
    table.raw_set("line", line)?;
    Ok(table)
}
