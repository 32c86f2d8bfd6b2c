//! Between what commands answer and what Lua has, in both directions, exactly as Redis converts (RESP2).

use crate::embedded::number::{general, truncated};
use coord::store::Value as Reply;
use mlua::{Lua, Result, Value};

/// How deep tables that a script returns may be nested.
const MAX_DEPTH: usize = 1000;

/// The answer of a command as a script gets it. An error reply is the text of `{err=...}`.
pub(super) fn to_lua(lua: &Lua, reply: Reply) -> Result<Value> {
    Ok(match reply {
        Reply::Nil => Value::Boolean(false),
        Reply::Int(number) => Value::Number(number as f64),
        Reply::Bulk(bytes) => Value::String(lua.create_string(bytes)?),
        Reply::Status(text) => Value::Table(lua.create_table_from([("ok", text)])?),
        Reply::Error(text) => Value::Table(lua.create_table_from([("err", text)])?),
        Reply::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (place, item) in items.into_iter().enumerate() {
                table.raw_set(place + 1, to_lua(lua, item)?)?;
            }
            Value::Table(table)
        }
    })
}

/// What a script returned, as its caller gets it.
pub(super) fn to_reply(value: &Value) -> Result<Reply> {
    to_reply_at(value, 0)
}

fn to_reply_at(value: &Value, depth: usize) -> Result<Reply> {
    Ok(match value {
        Value::Boolean(true) => Reply::Int(1),
        Value::Integer(number) => Reply::Int(*number),
        Value::Number(number) => Reply::Int(truncated(*number)),
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
                Value::Integer(number) => return Ok(Reply::Bulk(general(number as f64, 17).into_bytes())),
                Value::Number(number) => return Ok(Reply::Bulk(general(number, 17).into_bytes())),
                _ => {}
            }
            let mut items = Vec::new();
            for place in 1_usize.. {
                match table.raw_get(place)? {
                    Value::Nil => break,
                    item => items.push(to_reply_at(&item, depth + 1)?),
                }
            }
            Reply::Array(items)
        }
        _ => Reply::Nil,
    })
}

/// Status and error replies are one line.
pub(super) fn one_line(text: &str) -> String {
    text.trim_end_matches(['\r', '\n']).replace(['\r', '\n'], " ")
}
