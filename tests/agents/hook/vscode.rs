//! VS Code's own agent has its own tools, and runs the hooks that are written for Claude Code and for Copilot.

use serde_json::{Value, json};

use super::{Answer, held_files, hook, session};
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// Sends the call of a tool as VS Code does, to the hooks of either agent.
fn calls(world: &World, hooks: (&str, &str), tool: &str, input: &Value) -> Answer {
    let call = json!({ "timestamp": "2026-11-27T10:00:00.000Z", "cwd": world.clone.path(), "sessionId": "vs-1",
        "hookEventName": "PreToolUse", "hook_event_name": "PreToolUse", "transcript_path": "/x.json",
        "tool_name": tool, "tool_input": input, "tool_use_id": "tool-123" });
    hook(world, world.clone.path(), None, &[hooks.0, hooks.1], &call.to_string())
}

const HOOKS: [(&str, &str); 2] = [("claude-code", "PreToolUse"), ("copilot", "preToolUse")];

/// The reason of a denial: JSON, or status 2 with standard error.
fn denial(answer: &Answer) -> Option<String> {
    let reason = &answer.body["hookSpecificOutput"]["permissionDecisionReason"];
    match answer.status {
        0 => reason.as_str().map(str::to_owned),
        2 => Some(answer.aside.clone()),
        _ => panic!("{answer:?}"),
    }
}

fn edits(world: &World) -> Vec<(&'static str, Value)> {
    let file = |name: &str| world.clone.path().join(name).display().to_string();
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n",
        file("a.txt")
    );
    let replacement = |name: &str| json!({ "filePath": file(name), "oldString": "a", "newString": "b" });
    vec![
        ("create_file", json!({ "filePath": file("a.txt"), "content": "b" })),
        ("replace_string_in_file", replacement("a.txt")),
        (
            "multi_replace_string_in_file",
            json!({ "explanation": "x", "replacements": [replacement("b.txt"), replacement("a.txt")] }),
        ),
        (
            "insert_edit_into_file",
            json!({ "explanation": "x", "filePath": file("a.txt"), "code": "b" }),
        ),
        (
            "edit_notebook_file",
            json!({ "filePath": file("a.txt"), "editType": "edit", "newCode": "b" }),
        ),
        ("editFiles", json!({ "files": ["a.txt"] })),
        ("apply_patch", json!({ "input": patch, "explanation": "x" })),
        (
            "run_in_terminal",
            json!({ "command": "echo b > a.txt", "explanation": "x", "isBackground": false }),
        ),
    ]
}

// rule: hooks#vs-code
#[test]
fn every_tool_that_edits_is_denied_where_another_session_holds_the_file() {
    for hooks in HOOKS {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let bob = session(&world, &CLAUDE_CODE, Some("bob"));
        assert_eq!(bob.denial(&bob.edits("a.txt")), None);
        for (tool, input) in edits(&world) {
            let reason = denial(&calls(&world, hooks, tool, &input));
            let reason = reason.unwrap_or_else(|| panic!("{hooks:?} {tool}: not denied"));
            assert!(reason.starts_with("WAIT: "), "{tool}: {reason}");
        }
        assert_eq!(held_files(&world), ["a.txt"], "all or none");
        // It names no file.
        assert!(
            denial(&calls(
                &world,
                hooks,
                "multi_replace_string_in_file",
                &json!({ "replacements": [] })
            ))
            .is_some()
        );
    }
}

#[test]
fn a_free_file_is_claimed_and_a_read_is_neither_claimed_nor_denied() {
    for hooks in HOOKS {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let file = world.clone.path().join("a.txt").display().to_string();
        for (tool, input) in [
            ("read_file", json!({ "filePath": file, "startLine": 1, "endLine": 2 })),
            ("grep_search", json!({ "query": "x" })),
            ("manage_todo_list", json!({ "todoList": [] })),
            ("get_terminal_output", json!({ "id": "1" })),
        ] {
            assert_eq!(denial(&calls(&world, hooks, tool, &input)), None, "{hooks:?} {tool}");
        }
        assert_eq!(held_files(&world), [""; 0]);
        let (tool, input) = edits(&world).swap_remove(2);
        assert_eq!(denial(&calls(&world, hooks, tool, &input)), None, "{hooks:?}");
        assert_eq!(held_files(&world), ["a.txt", "b.txt"]);
    }
}

/// VS Code takes text for the model in the form of Claude Code alone.
#[test]
fn text_for_the_model_is_in_its_form_too() {
    let world = World::with(&[("a.txt", "a")]);
    let bob = session(&world, &CLAUDE_CODE, Some("bob"));
    assert_eq!(bob.denial(&bob.edits("a.txt")), None);
    let call =
        json!({ "cwd": world.clone.path(), "sessionId": "vs-1", "hookEventName": "SessionStart", "source": "new" });
    let answer = hook(
        &world,
        world.clone.path(),
        None,
        &["copilot", "sessionStart"],
        &call.to_string(),
    );
    let output = &answer.body["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SessionStart", "{answer:?}");
    assert!(
        output["additionalContext"].as_str().unwrap().contains("a.txt"),
        "{answer:?}"
    );
}
