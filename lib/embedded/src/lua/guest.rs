//! The Rust functions that `guest.lua` uses, for scripts of clients of the store's port.

use super::Guard;
use super::patterns::{self, Capture, Problem};
use mlua::{Error, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// The longest text that `string.rep` makes.
const MOST_REPEATED: usize = 32 << 20;

/// Adds them to the host table, which the prelude gets.
pub(super) fn add(lua: &Lua, host: &Table, guard: &Rc<RefCell<Guard>>) -> Result<()> {
    let ended = guard.clone();
    host.raw_set(
        "is_ended",
        lua.create_function(move |_, ()| Ok(ended.borrow().is_tripped))?,
    )?;
    let clock = guard.clone();
    host.raw_set("tick", lua.create_function(move |_, ()| clock.borrow().check())?)?;
    let clock = guard.clone();
    host.raw_set(
        "search",
        lua.create_function(
            move |lua, (subject, pattern, init, has_anchor): (LuaString, LuaString, f64, bool)| {
                clock.borrow().check()?;
                search(lua, &clock, &subject, &pattern, init, has_anchor)
            },
        )?,
    )?;
    let clock = guard.clone();
    host.raw_set(
        "find_plain",
        lua.create_function(move |_, (subject, text, init): (LuaString, LuaString, f64)| {
            clock.borrow().check()?;
            let (subject, text) = (subject.as_bytes(), text.as_bytes());
            let init = offset(init, subject.len());
            let found = memchr::memmem::find(&subject[init..], &text).map(|at| init + at);
            Ok((found.map(|at| at + 1), found.map(|at| at + text.len())))
        })?,
    )?;
    let clock = guard.clone();
    host.raw_set(
        "rep",
        lua.create_function(move |lua, (text, count): (LuaString, f64)| {
            clock.borrow().check()?;
            let text = text.as_bytes();
            let count = count.max(0.0) as usize;
            match text.len().checked_mul(count) {
                Some(0) => lua.create_string(""),
                Some(length) if length <= MOST_REPEATED => lua.create_string(text.repeat(count)),
                _ => Err(Error::runtime("resulting string too large")),
            }
        })?,
    )?;
    host.raw_set(
        "guest",
        lua.load(include_str!("guest.lua")).set_name("=guest").into_function()?,
    )
}

/// The offset of Lua's `init`, which counts from 1, or from the end where it is negative.
fn offset(init: f64, length: usize) -> usize {
    let from = if init < 0.0 { length as f64 + init } else { init - 1.0 };
    (from.max(0.0) as usize).min(length)
}

/// The first and last position of the match and its captures, or nothing.
fn search(
    lua: &Lua,
    guard: &RefCell<Guard>,
    subject: &LuaString,
    pattern: &LuaString,
    init: f64,
    has_anchor: bool,
) -> Result<MultiValue> {
    let (subject, pattern) = (subject.as_bytes(), pattern.as_bytes());
    let init = offset(init, subject.len());
    let mut may_go_on = || guard.borrow().check().is_ok();
    let found = match patterns::search(&subject, &pattern, init, has_anchor, &mut may_go_on) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(MultiValue::new()),
        Err(Problem::Malformed(text)) => return Err(Error::runtime(text)),
        Err(Problem::Ended) => {
            guard.borrow().check()?;
            return Err(Error::runtime("the search was ended"));
        }
    };
    let place = |at: usize| Value::Integer(at as i64);
    let mut values = MultiValue::with_capacity(2 + found.captures.len());
    values.push_back(place(found.start + 1));
    values.push_back(place(found.end));
    for capture in &found.captures {
        values.push_back(match *capture {
            Capture::Text(start, end) => Value::String(lua.create_string(&subject[start..end])?),
            Capture::Position(at) | Capture::Open(at) => place(at + 1),
        });
    }
    Ok(values)
}
