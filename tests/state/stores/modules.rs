//! Modules by themselves: what the build refuses, what they keep between calls, and the search in what is stored.

use std::collections::BTreeMap;

use coord_library::{Source, in_order};
use coord_protocol::InterfacePromise;
use coord_state::locks::keys::locks;
use serde_json::json;

use crate::world::World;

/// These files, each a name and what it requires.
fn files<'f>(files: &[(&'f str, &'f [&'f str])]) -> BTreeMap<&'f str, Source<'f>> {
    let source = |(name, requires): &(&'f str, &'f [&'f str])| (*name, Source::known(requires, "return {}\n"));
    files.iter().map(source).collect()
}

#[test]
fn a_module_comes_behind_those_that_it_requires() {
    let modules = files(&[("a", &["c", "b"]), ("b", &["c"]), ("c", &[]), ("unused", &["a"])]);
    assert_eq!(in_order(&modules, ["a"]), ["c", "b", "a"]);
    assert_eq!(in_order(&modules, ["b", "a"]), ["c", "b", "a"]);
}

#[test]
fn functions_that_extensions_put_into_a_seam_come_with_it() {
    let modules = files(&[
        ("locks/claim", &["seams/gate"]),
        ("locks/read", &[]),
        ("seams/gate", &[]),
        ("intents/records", &[]),
        ("intents/seams", &["intents/records", "seams/gate"]),
    ]);
    assert_eq!(
        in_order(&modules, ["locks/claim"]),
        ["seams/gate", "locks/claim", "intents/records", "intents/seams"]
    );
    assert_eq!(in_order(&modules, ["locks/read"]), ["locks/read"]);
}

#[test]
#[should_panic(expected = r#"["a"] require gone, and there is no such module"#)]
fn the_build_refuses_an_unknown_module() {
    in_order(&files(&[("a", &["gone"])]), ["a"]);
}

#[test]
#[should_panic(expected = r#"a uses itself: ["a", "b", "c"]"#)]
fn the_build_refuses_a_module_that_uses_itself_through_others() {
    in_order(&files(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]), ["a"]);
}

#[test]
#[should_panic(expected = "a.lua: put its requires at its head, a line each: local Late = require('b')")]
fn the_build_refuses_a_require_that_is_not_at_the_head() {
    Source::of(
        "a.lua",
        "local One = require('c')\nlocal A = {}\nlocal Late = require('b')\nreturn A\n",
    );
}

#[test]
#[should_panic(expected = "a.lua: put its requires at its head, a line each:   local b = require('b')")]
fn the_build_refuses_a_require_inside_of_a_function() {
    Source::of("a.lua", "return function()\n  local b = require('b')\nend\n");
}

#[test]
#[should_panic(expected = "a.lua: it requires a module twice")]
fn the_build_refuses_a_module_that_is_required_twice() {
    Source::of(
        "a.lua",
        "local One = require('b')\nlocal Two = require('b')\nreturn One\n",
    );
}

#[test]
fn comments_are_no_code() {
    let source = Source::of(
        "a.lua",
        "-- local B = require('b')\nlocal C = require('c')\n\n  -- what it is\nreturn C\n",
    );
    assert_eq!(source.requires, ["c"]);
    assert_eq!(source.code, "local C = require('c')\nreturn C\n");
}

/// The modules that read requests, where a list of names that is split counts.
const MEMO: &str = include_str!("../../../lib/state/src/modules/memo.lua");
const REQUEST: &str = include_str!("../../../lib/state/src/admission/modules/request.lua");

/// How many lists were split, by a function that is called with `lists`, one after the other.
async fn lists_split(world: &World, lists: &[usize]) -> i64 {
    let script = format!(
        "local split = 0
        local string = {{ gmatch = function(...) split = split + 1 return string.gmatch(...) end }}
        local Memo = (function() {MEMO} end)()
        local function require() return Memo end
        local Request = (function(...) {REQUEST} end)()
        for number in string.gmatch(ARGV[1], '%d+') do
          local call = Request.read({{ 'the key' }}, {{ cjson.encode({{ keys = 'key' .. number .. ' other' }}) }})
          assert(call.keys['key' .. number] == 'the key' and call.request.key_count == 2)
        end
        return split - 1"
    );
    world
        .script(&script, &[], &[&json!(lists).to_string()])
        .await
        .as_int()
        .unwrap()
}

async fn at_most_64_lists_of_names_stay(world: World) {
    let first: Vec<usize> = (0..64).collect();
    let twice = [&first[..], &first].concat();
    assert_eq!(lists_split(&world, &twice).await, 64, "each list is split once");
    let and_one = [&twice[..], &[64], &first].concat();
    assert_eq!(
        lists_split(&world, &and_one).await,
        64 + 1 + 64,
        "one more drops them all"
    );
}

/// The module that searches stored entries without decoding them.
const ENTRIES: &str = include_str!("../../../lib/state/src/locks/modules/entries.lua");

/// Compares each answer of a search in a stored value with that of its decoded entries. Returns the number of answers.
const SEARCHES: &str = "
local value, fields, count = ARGV[1], cjson.decode(ARGV[2]), 0
local entries = cjson.decode(value)
local function has(entry, field)
  return entry[field[1]] == field[2]
end
local function same(found, holds, ...)
  local expected = false
  for _, entry in ipairs(entries) do
    expected = expected or holds(entry)
  end
  assert(found == expected, cjson.encode({ value, ... }))
  count = count + 1
end
for _, one in ipairs(fields) do
  local text = Entries.field(unpack(one))
  same(Entries.any_has(value, text), function(entry) return has(entry, one) end, one)
  for _, other in ipairs(fields) do
    local both = function(entry) return has(entry, one) and has(entry, other) end
    local other_text = Entries.field(unpack(other))
    same(Entries.one_has(value, text, other_text), both, one, other)
    for _, without in ipairs(fields) do
      local spared = function(entry) return both(entry) and not has(entry, without) end
      same(Entries.one_has(value, text, other_text, Entries.field(unpack(without))), spared, one, other, without)
    end
  end
end
assert(Entries.is_single(value) == (#entries == 1))
local writing = false
for _, entry in ipairs(entries) do
  writing = writing or entry.status == 'WRITING'
end
assert(Entries.may_write(value) or not writing)
return count";

async fn a_search_finds_in_stored_entries_what_they_have(world: World) {
    let quoting = r#"{"status":"WRITING","branch":"main","interface":"keeps"},{"branch":"pool/a" \" WRITING"#;
    let mut keeps = world.agent("keeper").saying(quoting);
    keeps.interface = Some(InterfacePromise::Keeps);
    keeps.writes(&["written.ts", "both.ts"]).await;
    let far = world.agent("far/away").on_branch("pool/a").saying(quoting);
    far.writes(&["both.ts"]).await;
    for name in ["ann", "bob"] {
        world.agent(name).saying(quoting).reads(&["read.ts"]).await;
    }
    far.reads(&["read.ts"]).await;
    // The name of one field ends with that of another.
    let eve = world.agent("eve").on_branch("pool/a").working_on("main");
    eve.writes(&["work.ts"]).await;
    let fields = json!([
        ["branch", "main"],
        ["branch", "pool/a"],
        ["branch", "none"],
        ["status", "WRITING"],
        ["status", "READING"],
        ["interface", "keeps"],
        ["user_id", "ann"],
        ["user_id", "keeper"],
        ["message", quoting],
    ]);
    let script = format!("local Entries = (function(...) {ENTRIES} end)()\n{SEARCHES}");
    for path in ["written.ts", "both.ts", "read.ts", "work.ts"] {
        let value = world.command(["HGET", &locks(&world.repo), path]).await;
        let value = value.as_str().expect("entries");
        let answers = world.script(&script, &[], &[value, &fields.to_string()]).await;
        assert_eq!(answers.as_int().unwrap(), 9 + 9 * 9 + 9 * 9 * 9);
    }
}

on_every_store!(
    a_search_finds_in_stored_entries_what_they_have,
    at_most_64_lists_of_names_stay
);
