//! Defects found where intents were tried before, tested by a real server and a process for each call of a hook.

mod files;
mod selecting;
mod spending;

use serde_json::Value;

use crate::commands::printed;
use crate::processes::assert_success;
use coord_test_worlds::world::World;

/// A clone with files in and out of the scopes.
fn world() -> World {
    World::with(&[
        ("src/a.txt", "a"),
        ("src/b.txt", "b"),
        ("docs/c.txt", "c"),
        ("docs/d.txt", "d"),
        ("docs/e.txt", "e"),
    ])
}

const REQUIRED: (&str, &str) = ("COORD_INTENT_POLICY", "required");

/// The same, with a server that was started with these settings.
fn started(settings: &[(&str, &str)]) -> World {
    let world = world();
    let mut start = world.coord(world.clone.path());
    start.args(["intent", "list"]).envs(settings.iter().copied());
    assert_success(&start.output().unwrap());
    world
}

/// Returns the JSON that `coord ARGS` prints; it must exit with `status`.
fn run(world: &World, args: &[&str], status: i32) -> Value {
    let text = printed(world, &[args, &["--json"]].concat(), status);
    serde_json::from_str(&text).unwrap_or_default()
}

fn new_intent(world: &World, id: &str, more: &[&str]) {
    let args = ["intent", "new", id, "--name", "What it is for", "--scope", "src/**"];
    run(world, &[&args, more].concat(), 0);
}

fn select(world: &World, id: &str, holder: &str) {
    run(world, &["intent", "select", id, "--agent", holder], 0);
}

fn shown(world: &World, id: &str) -> Value {
    run(world, &["intent", "show", id], 0)["intent"].clone()
}

/// Type and status of all lines of the ledger about `id`.
fn lines(world: &World, id: &str) -> Vec<String> {
    let text = printed(world, &["ledger", "log", "-n", "500", "--json"], 0);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_intent = lines.filter(|line| line["intent_id"] == id || line["payload"]["tool_input"]["intent_id"] == id);
    let plain = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_intent
        .map(|line| format!("{} {}", plain(&line["action_type"]), plain(&line["result"]["status"])))
        .collect()
}

fn count(lines: &[String], line: &str) -> usize {
    lines.iter().filter(|found| *found == line).count()
}
