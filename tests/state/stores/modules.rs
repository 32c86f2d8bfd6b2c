//! Modules by themselves: what they keep between calls, and the search in what is stored.

use coord_protocol::InterfacePromise;
use coord_state::locks::keys::locks;
use serde_json::json;

use crate::world::World;

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
    let mut keeps = world.agent("keeper").with_message(quoting);
    keeps.interface = Some(InterfacePromise::Keeps);
    keeps.writes(&["written.ts", "both.ts"]).await;
    let far = world.agent("far/away").on_branch("pool/a").with_message(quoting);
    far.writes(&["both.ts"]).await;
    for name in ["ann", "bob"] {
        world.agent(name).with_message(quoting).reads(&["read.ts"]).await;
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
