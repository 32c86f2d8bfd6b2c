//! OpenCode's plugin, run by Node in place of OpenCode.

use std::process::{Command, Stdio};

use coord_cli::commands::hook::agents::PLUGIN;
use coord_test_support::skipping::skip;

use super::{held, held_files};
use crate::world::World;

/// Calls the plugin's hooks as OpenCode does, for two sessions and a task of the first.
const DRIVER: &str = r#"
import { CoordPlugin } from "./coord.mjs";
const parents = { task: "one" };
const client = { session: { get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }) } };
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
process.stdout.write(JSON.stringify(said));
"#;

#[test]
fn the_plugin_of_opencode_throws_where_a_tool_is_denied() {
    if Command::new("node").arg("--version").output().is_err() {
        skip("the plugin of OpenCode needs the program node");
        return;
    }
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("plugin");
    std::fs::write(folder.join("coord.mjs"), PLUGIN).unwrap();
    std::fs::write(folder.join("driver.mjs"), DRIVER).unwrap();
    // The environment is that of `coord`.
    let mut coord = world.coord(world.clone.path());
    let program = coord.get_program().to_owned();
    coord.env("COORD_PROGRAM", &program);
    let mut node = Command::new("node");
    for (name, value) in coord.get_envs() {
        match value {
            Some(value) => node.env(name, value),
            None => node.env_remove(name),
        };
    }
    let ended = node
        .arg(folder.join("driver.mjs"))
        .arg(world.clone.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let said: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(said["first"], "allowed", "{said}");
    assert!(said["second"].as_str().unwrap().starts_with("WAIT: "), "{said}");
    assert_eq!(said["task"], "allowed", "{said}");
    assert!(said["context"]["text"].as_str().unwrap().contains("a.txt"), "{said}");
    assert_eq!(said["context"]["synthetic"], true, "{said}");
    // The end of a task releases nothing of the session that gave it.
    assert_eq!(held_files(&world), ["a.txt"]);
    assert!(held(&world)[0].contains("opencode-"));
}
