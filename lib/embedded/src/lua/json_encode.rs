//! `cjson.encode`, with the results of lua-cjson 2.1 in Redis 7.0.

use crate::number::format_general;
use mlua::{Table, Value};

/// Significant digits of a number.
const PRECISION: usize = 14;
/// Deepest nesting of tables.
const MAX_DEPTH: usize = 1000;
/// Maximum bytes of a text before its last value. Nested tables that each contain a table twice make texts of any size.
const MAX_BYTES: usize = 16 << 20;
/// A table whose highest index is above this, and above twice the number of its elements, is not an array.
const SPARSE_SAFE: f64 = 10.0;
const SPARSE_RATIO: f64 = 2.0;
/// Down to this depth, objects are read in a way that is twice as fast, but nests C calls. Lua allows 200 of these.
const SHALLOW: usize = 32;

/// Why a value cannot be encoded.
pub(super) enum Problem {
    /// An error of cjson, in its words.
    Refused(String),
    Lua(mlua::Error),
}

impl From<mlua::Error> for Problem {
    fn from(error: mlua::Error) -> Self {
        Problem::Lua(error)
    }
}

fn refused(text: &str) -> Problem {
    Problem::Refused(text.to_owned())
}

pub(super) fn encode(value: &Value) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(256);
    encode_at(value, 0, &mut out)?;
    Ok(out)
}

fn encode_at(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    if out.len() > MAX_BYTES {
        return Err(refused("Cannot serialise, the text is too long"));
    }
    match value {
        Value::String(text) => quote(&text.as_bytes(), out),
        Value::Integer(number) => encode_number(*number as f64, out)?,
        Value::Number(number) => encode_number(*number, out)?,
        Value::Boolean(true) => out.extend_from_slice(b"true"),
        Value::Boolean(false) => out.extend_from_slice(b"false"),
        Value::Nil => out.extend_from_slice(b"null"),
        Value::LightUserData(pointer) if pointer.0.is_null() => out.extend_from_slice(b"null"),
        Value::Table(table) => {
            if depth >= MAX_DEPTH {
                return Err(Problem::Refused(format!(
                    "Cannot serialise, excessive nesting ({})",
                    depth + 1
                )));
            }
            match array_length(table)? {
                Some(length) => encode_array(table, length, depth + 1, out)?,
                None => encode_object(table, depth + 1, out)?,
            }
        }
        other => {
            return Err(Problem::Refused(format!(
                "Cannot serialise {}: type not supported",
                type_name(other)
            )));
        }
    }
    Ok(())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Function(_) => "function",
        Value::Thread(_) => "thread",
        Value::Boolean(_) => "boolean",
        Value::Table(_) => "table",
        _ => "userdata",
    }
}

/// The highest index, if every key is a positive integer and there is at least one.
fn array_length(table: &Table) -> Result<Option<usize>, Problem> {
    let (mut highest, mut count) = (0.0_f64, 0.0_f64);
    for pair in table.pairs::<Value, Value>() {
        let index = match pair?.0 {
            Value::Integer(index) => index as f64,
            Value::Number(index) if index.floor() == index => index,
            _ => return Ok(None),
        };
        if index < 1.0 {
            return Ok(None);
        }
        highest = highest.max(index);
        count += 1.0;
    }
    if highest > SPARSE_SAFE && highest > count * SPARSE_RATIO {
        return Err(refused("Cannot serialise table: excessively sparse array"));
    }
    Ok((highest > 0.0).then_some(highest as usize))
}

fn encode_array(table: &Table, length: usize, depth: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    out.push(b'[');
    for index in 1..=length {
        if index > 1 {
            out.push(b',');
        }
        encode_at(&table.raw_get(index)?, depth, out)?;
    }
    out.push(b']');
    Ok(())
}

fn encode_object(table: &Table, depth: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    out.push(b'{');
    let start = out.len();
    if depth <= SHALLOW {
        let mut problem = None;
        let outcome = table.for_each(|key: Value, value: Value| {
            encode_member(&key, &value, depth, start, out).map_err(|error| {
                // Only a Lua error ends the iteration; which one does not matter.
                problem = Some(error);
                mlua::Error::StackError
            })
        });
        match problem {
            Some(problem) => return Err(problem),
            None => outcome?,
        }
    } else {
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            encode_member(&key, &value, depth, start, out)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends a member of the object whose first member is at `start`.
fn encode_member(key: &Value, value: &Value, depth: usize, start: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    if out.len() > start {
        out.push(b',');
    }
    match key {
        Value::String(text) => quote(&text.as_bytes(), out),
        Value::Integer(_) | Value::Number(_) => {
            out.push(b'"');
            encode_at(key, depth, out)?;
            out.push(b'"');
        }
        other => {
            return Err(Problem::Refused(format!(
                "Cannot serialise {}: table key must be a number or string",
                type_name(other)
            )));
        }
    }
    out.push(b':');
    encode_at(value, depth, out)
}

fn encode_number(number: f64, out: &mut Vec<u8>) -> Result<(), Problem> {
    if !number.is_finite() {
        return Err(refused("Cannot serialise number: must not be NaN or Inf"));
    }
    out.extend_from_slice(format_general(number, PRECISION).as_bytes());
    Ok(())
}

/// Which bytes are escaped.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 32 {
        escaped[byte] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped[b'/' as usize] = true;
    escaped[127] = true;
    escaped
};

fn quote(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| ESCAPED[usize::from(*byte)]) {
        out.extend_from_slice(&rest[..at]);
        let byte = rest[at];
        match byte {
            b'"' | b'\\' | b'/' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
