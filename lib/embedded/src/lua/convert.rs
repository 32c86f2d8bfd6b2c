//! Conversion between replies of commands and values of Lua, in both directions, exactly as Redis converts (RESP2).

use crate::number::{format_general, truncate_to_i64};
use coord_store::Value as Reply;
use mlua::{Either, Error, IntoLua, Lua, LuaString, Result, Table, Value};

/// Maximum bytes of a script's result. Nested tables that each contain one table twice make a result of any size.
const LARGEST_RESULT: usize = 64 << 20;

/// Bytes that each element of a result counts for in addition to its text.
const ITEM_BYTES: usize = 32;

/// Deepest nesting of tables that a script returns.
const MAX_DEPTH: usize = 1000;

/// The reply of a command as a script gets it. An error reply is the text of `{err=...}`.
pub(super) fn to_lua(lua: &Lua, reply: Reply) -> Result<Value> {
    Ok(match reply {
        Reply::Nil => Value::Boolean(false),
        Reply::Int(number) => Value::Number(number as f64),
        Reply::Bulk(bytes) => Value::String(lua.create_string(bytes)?),
        Reply::Status(text) => Value::Table(lua.create_table_from([("ok", text)])?),
        Reply::Error(text) => Value::Table(lua.create_table_from([("err", text)])?),
        Reply::Array(items) => Value::Table(lua.create_sequence_from(items.into_iter().map(element))?),
    })
}

/// A reply within an array.
struct Element(Reply);

impl IntoLua for Element {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        to_lua(lua, self.0)
    }
}

/// An element of a Lua list. Most texts are UTF-8, and pass to Lua without a handle on the string.
fn element(reply: Reply) -> Either<String, Element> {
    match reply {
        Reply::Bulk(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Either::Left(text),
            Err(error) => Either::Right(Element(Reply::Bulk(error.into_bytes()))),
        },
        other => Either::Right(Element(other)),
    }
}

pub(super) fn to_list<'a>(lua: &Lua, texts: impl Iterator<Item = &'a [u8]>) -> Result<Table> {
    lua.create_sequence_from(texts.map(|bytes| match std::str::from_utf8(bytes) {
        Ok(text) => Either::Left(text),
        Err(_) => Either::Right(LuaString::wrap(bytes)),
    }))
}

/// The result of a script, as its caller gets it.
pub(super) fn to_reply(value: &Value) -> Result<Reply> {
    to_reply_at(value, 0, &mut 0)
}

fn to_reply_at(value: &Value, depth: usize, bytes: &mut usize) -> Result<Reply> {
    *bytes += ITEM_BYTES + value.as_string().map_or(0, |text| text.as_bytes().len());
    if *bytes > LARGEST_RESULT {
        return Err(Error::runtime("the result of the script is too large"));
    }
    Ok(match value {
        Value::Boolean(true) => Reply::Int(1),
        Value::Integer(number) => Reply::Int(*number),
        Value::Number(number) => Reply::Int(truncate_to_i64(*number)),
        Value::String(text) => Reply::bulk(&*text.as_bytes()),
        Value::Table(_) if depth >= MAX_DEPTH => Reply::Error("ERR reached lua stack limit".to_owned()),
        Value::Table(table) => {
            if let Value::String(text) = table.raw_get("err")? {
                return Ok(Reply::Error(one_line(&text.to_string_lossy())));
            }
            if let Value::String(text) = table.raw_get("ok")? {
                return Ok(Reply::Status(one_line(&text.to_string_lossy())));
            }
            match table.raw_get("double")? {
                Value::Integer(number) => return Ok(Reply::bulk(format_general(number as f64, 17))),
                Value::Number(number) => return Ok(Reply::bulk(format_general(number, 17))),
                _ => {}
            }
            let mut items = Vec::new();
            for item in table.sequence_values::<Value>() {
                items.push(match item? {
                    Value::Nil => break,
                    item @ Value::Table(_) => to_reply_at(&item, depth + 1, bytes)?,
                    item => to_reply_at(&item, depth, bytes)?,
                });
            }
            Reply::Array(items)
        }
        _ => Reply::Nil,
    })
}

/// `text` on one line, as status and error replies must be.
pub(super) fn one_line(text: &str) -> String {
    text.trim_end_matches(['\r', '\n']).replace(['\r', '\n'], " ")
}
