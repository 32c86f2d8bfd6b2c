//! The folder of a process was removed, as a worktree is, or is none of a repository, as editors start their servers in.

use std::process::Command;

use serde_json::{Value, json};

use crate::commands::{parts, printed};
use crate::mcp::{Agent, action};
use crate::processes::{output_with, program_like};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// `COMMAND` of a shell whose folder was removed.
fn from_removed_folder(world: &World, command: &str, input: &Value) -> (i32, String, String) {
    let gone = world.folder("gone");
    let coord = world.coord(&gone);
    let script = format!("rmdir '{}' && exec \"$0\" {command}", gone.display());
    let mut shell = program_like(&coord, "sh");
    shell.args(["-c", &script]).arg(coord.get_program());
    parts(&output_with(shell, &input.to_string()))
}

/// Whether a hook of Claude Code denies a tool with this `input`, by a call that names `folder`.
fn is_denied(world: &World, tool: &str, folder: Option<&str>, input: &Value) -> (bool, String) {
    let mut call = json!({
        "session_id": "ada", "hook_event_name": "PreToolUse", "transcript_path": "", "tool_name": tool, "tool_input": input,
    });
    if let Some(folder) = folder {
        call["cwd"] = folder.into();
    }
    let (status, out, error) = from_removed_folder(world, "hook claude-code PreToolUse", &call);
    assert_eq!(status, 0, "{out}{error}");
    (out.contains("\"deny\""), out)
}

// rule: servers#lost-folder
#[test]
fn a_hook_decides_by_the_path_that_it_is_given_and_denies_without_one() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let claim = ["claim", "a.txt", "-m", "Adding a line", "--agent", "bob"];
    printed(&world, &claim, 0);
    let root = world.clone.path().display().to_string();
    let gone = world.folder("gone").display().to_string();
    let write = |file: &str| json!({ "file_path": file, "content": "x" });
    for folder in [Some(root.as_str()), Some(&gone), None] {
        for (file, expected) in [("a.txt", true), ("b.txt", false)] {
            let (denied, reason) = is_denied(&world, "Write", folder, &write(&format!("{root}/{file}")));
            assert_eq!(denied, expected, "{folder:?} {file}: {reason}");
        }
    }
    let command = json!({ "command": format!("sed -i s/a/b/ {root}/a.txt") });
    let (denied, reason) = is_denied(&world, "Bash", Some(&root), &command);
    assert!(denied && reason.contains("bob"), "{reason}");
    for (tool, input) in [("Write", write("a.txt")), ("Bash", json!({ "command": "touch a.txt" }))] {
        let (denied, reason) = is_denied(&world, tool, None, &input);
        assert!(denied && reason.contains("was removed"), "{tool}: {reason}");
    }
}

/// `coord mcp` in `folder`.
fn mcp(world: &World, folder: &std::path::Path) -> Command {
    let mut command = world.coord(folder);
    command.arg("mcp");
    command
}

#[test]
fn the_mcp_server_keeps_working_when_its_folder_is_removed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let worktree = world.worktree("ada");
    let mut agent = Agent::start(mcp(&world, worktree.path()));
    assert_eq!(action(&agent.claim(&["a.txt"])), "PROCEED");
    let path = worktree.path().display().to_string();
    world.clone.git(&["worktree", "remove", "--force", &path]);
    let whole = world.clone.path().join("b.txt").display().to_string();
    assert_eq!(action(&agent.claim(&[&whole])), "PROCEED");
    let uri = format!("file://{whole}");
    assert_eq!(action(&agent.check(&[&uri])), "PROCEED");
}

#[test]
fn outside_of_a_repository_the_environment_and_the_client_name_the_folder() {
    let world = World::with(&[("a.txt", "a")]);
    let elsewhere = world.folder("elsewhere");
    let root = world.clone.path().display().to_string();
    for variable in ["CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"] {
        let mut command = mcp(&world, &elsewhere);
        command.env(variable, &root);
        let mut agent = Agent::start(command);
        assert_eq!(action(&agent.check(&["a.txt"])), "PROCEED", "{variable}");
    }
    let mut agent = Agent::silent(mcp(&world, &elsewhere));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "roots": {} }, "clientInfo": { "name": "editor", "version": "1" },
    });
    agent.ask("initialize", hello);
    agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    let id = agent.send(
        "tools/call",
        json!({ "name": "check_status", "arguments": { "file_paths": ["a.txt"] } }),
    );
    let request = agent.answer();
    assert_eq!(request["method"], "roots/list", "{request}");
    let roots = json!({ "roots": [{ "uri": "file:///nowhere" }, { "uri": format!("file://{root}") }] });
    agent.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": roots }).to_string());
    let answer = agent.answer();
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(action(&answer["result"]["structuredContent"]), "PROCEED", "{answer}");
    // A client that names no folders gets an answer that says what is missing.
    let mut agent = Agent::start(mcp(&world, &elsewhere));
    let answer = agent.call("check_status", json!({ "file_paths": ["a.txt"] }));
    assert_has(&answer.to_string(), &["is in no git repository"]);
}
