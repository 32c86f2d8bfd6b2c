//! OpenCode's plugin, run by Node in place of OpenCode.

use std::process::{Command, Stdio};

use coord_hooks::hook::agents::{PLUGIN, STRICT_PLUGIN};
use coord_test_support::skipping::skip;
use serde_json::{Value, json};

use super::{held, held_files};
use crate::processes::{assert_success, program_like};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// Calls the plugin's hooks as OpenCode does, for two sessions and a task of the first.
const DRIVER: &str = r#"
import { CoordPlugin } from "./coord.mjs";
const parents = { task: "one" };
const asked = new Set();
const client = { session: { get: async ({ path }) => (asked.add(path.id), { data: { id: path.id, parentID: parents[path.id] } }) } };
const directory = process.argv[2];
const plugin = await CoordPlugin({ client, directory });
const edit = async (sessionID, file) => {
  const output = { args: { filePath: `${directory}/${file}`, content: "x" } };
  try {
    await plugin["tool.execute.before"]({ tool: "write", sessionID, callID: "c" }, output);
    return "allowed";
  } catch (error) {
    return error.message;
  }
};
const parts = [{ id: "prt_1", sessionID: "two", messageID: "msg_1", type: "text", text: "Do it" }];
const said = {
  first: await edit("one", "a.txt"),
  second: await edit("two", "a.txt"),
  task: await edit("task", "a.txt"),
};
await plugin["chat.message"]({ sessionID: "two" }, { message: {}, parts });
said.context = parts.at(-1);
await plugin.event({ event: { type: "session.idle", properties: { sessionID: "task" } } });
await plugin.event({ event: { type: "message.updated", properties: { info: { id: "msg_1" } } } });
said.asked = [...asked].sort();
process.stdout.write(JSON.stringify(said));
"#;

fn has_node() -> bool {
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if !has_node {
        skip("the plugin of OpenCode needs the program node");
    }
    has_node
}

/// Returns the output of `driver`, which Node runs beside `plugin` with `variable` in the environment.
fn drive(world: &World, plugin: &str, driver: &str, variable: Option<(&str, &str)>) -> Value {
    let folder = world.folder("plugin");
    std::fs::write(folder.join("coord.mjs"), plugin).unwrap();
    std::fs::write(folder.join("driver.mjs"), driver).unwrap();
    // The environment is that of `coord`.
    let mut coord = world.coord(world.clone.path());
    let program = coord.get_program().to_owned();
    coord.env("COORD_PROGRAM", &program);
    if let Some((variable, value)) = variable {
        coord.env(variable, value);
    }
    let mut node = program_like(&coord, "node");
    node.arg(folder.join("driver.mjs")).arg(world.clone.path());
    let ended = node.stdin(Stdio::null()).output().unwrap();
    assert_success(&ended);
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[test]
fn the_plugin_of_opencode_throws_where_a_tool_is_denied() {
    if !has_node() {
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    let results = drive(&world, PLUGIN, DRIVER, None);
    assert_eq!(results["first"], "allowed", "{results}");
    assert!(results["second"].as_str().unwrap().starts_with("WAIT: "), "{results}");
    assert_eq!(results["task"], "allowed", "{results}");
    // Not for events of messages, whose ids no session has.
    assert_eq!(results["asked"], json!(["one", "task", "two"]), "{results}");
    assert_has(results["context"]["text"].as_str().unwrap(), &["a.txt"]);
    assert_eq!(results["context"]["synthetic"], true, "{results}");
    // The end of a task releases nothing of the session that gave it.
    assert_eq!(held_files(&world), ["a.txt"]);
    assert!(held(&world)[0].contains("opencode-"));
}

/// Hooks held files as the conversation, and the commands of the same agent were refused them.
#[test]
fn hooks_are_the_agent_of_opencode_teams_as_commands_are() {
    if !has_node() {
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    let results = drive(&world, PLUGIN, DRIVER, Some(("OPENCODE_AGENT_ID", "wren")));
    assert_eq!(results["first"], "allowed", "{results}");
    assert_eq!(results["second"], "allowed", "{results}");
    assert!(held(&world)[0].contains("wren"), "{:?}", held(&world));
    let mut claim = world.coord(world.clone.path());
    claim.args(["claim", "a.txt", "--message", "Change a"]);
    assert_success(&claim.env("OPENCODE_AGENT_ID", "wren").output().unwrap());
}

/// Runs a command, and ends its turn, as a member of a team.
const MEMBER: &str = r#"
import { CoordPlugin } from "./coord.mjs";
const prompts = [];
const session = {
  get: async ({ path }) => ({ data: { id: path.id } }),
  prompt: async ({ path, body }) => { prompts.push({ id: path.id, ...body.parts[0] }); },
};
const directory = process.argv[2];
const plugin = await CoordPlugin({ client: { session }, directory });
const runs = async () => {
  const output = { args: { command: "ls" } };
  await plugin["tool.execute.before"]({ tool: "bash", sessionID: "one", callID: "c" }, output);
  const result = { title: "ls", output: "a.txt", metadata: {} };
  await plugin["tool.execute.after"]({ tool: "bash", sessionID: "one", callID: "c" }, result);
  return result.output;
};
const said = { first: await runs(), second: await runs() };
for (let turn = 0; turn < 2; turn++) await plugin.event({ event: { type: "session.idle", properties: { sessionID: "one" } } });
process.stdout.write(JSON.stringify({ ...said, prompts }));
"#;

#[test]
fn the_plugin_of_opencode_hands_messages_over_with_the_result_of_a_tool_and_prompts_once() {
    if !has_node() {
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    for (who, args) in [
        ("lead", vec!["team", "create", "alpha"]),
        ("ada", vec!["team", "join", "alpha"]),
        ("lead", vec!["message", "send", "--to", "ada", "Hello"]),
        ("lead", vec!["task", "add", "Mend the pool"]),
    ] {
        assert_success(&world.run(&[args, vec!["--agent", who]].concat()));
    }
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let results = drive(&world, PLUGIN, MEMBER, Some(("OPENCODE_AGENT_ID", "ada")));
    let first = results["first"].as_str().unwrap();
    assert!(first.starts_with("a.txt\n\nCoord: "), "{results}");
    assert!(first.ends_with("\n> Hello"), "{results}");
    assert_eq!(results["second"], "a.txt", "{results}");
    let prompts = results["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 1, "{results}");
    assert_eq!(prompts[0]["id"], "one", "{results}");
    assert_has(prompts[0]["text"].as_str().unwrap(), &["task t1"]);
}

/// Calls tools of each kind; prints the outcome of each, and the messages to the user.
const TOOLS: &str = r#"
import { CoordPlugin } from "./coord.mjs";
const told = [];
const client = {
  session: { get: async () => ({ data: {} }) },
  app: { log: async ({ body }) => void told.push(body.message) },
};
const directory = process.argv[2];
const plugin = await CoordPlugin({ client, directory });
const said = { told };
for (const tool of ["read", "grep", "edit", "bash"]) {
  const args = { filePath: `${directory}/a.txt`, pattern: "a", command: "touch b.txt" };
  const input = { tool, sessionID: "one", callID: tool };
  said[tool] = await plugin["tool.execute.before"](input, { args }).then(() => "runs", (error) => error.message);
  await plugin["tool.execute.after"](input, { output: "" });
}
process.stdout.write(JSON.stringify(said));
"#;

#[test]
fn the_opencode_plugin_without_coord_allows_tools_and_warns_once() {
    if !has_node() {
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    let missing = Some(("COORD_PROGRAM", "coord-that-is-not-here"));
    let warning = "Coord is not installed on this machine: files are edited without locks";
    let denied =
        "Coord is not installed on this machine, and this repository requires it for edits: put coord on the PATH";
    for (plugin, warnings, write) in [
        (PLUGIN, vec![warning], "runs"),
        (STRICT_PLUGIN.as_str(), vec![], denied),
    ] {
        let results = drive(&world, plugin, TOOLS, missing);
        let expected = json!({ "told": warnings, "read": "runs", "grep": "runs", "edit": write, "bash": write });
        assert_eq!(results, expected);
    }
}

#[test]
fn a_program_that_cannot_be_run_stops_no_tool_that_only_reads() {
    if !has_node() {
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("bin").display().to_string();
    let results = drive(&world, PLUGIN, TOOLS, Some(("COORD_PROGRAM", &folder)));
    assert_eq!(results["read"], "runs", "{results}");
    assert_eq!(results["grep"], "runs", "{results}");
    assert_has(results["edit"].as_str().unwrap(), &["cannot be run"]);
}
