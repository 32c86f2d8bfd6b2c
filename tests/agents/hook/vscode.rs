//! VS Code's own agent has its own tools, and runs the hooks that are written for Claude Code and for Copilot.

use serde_json::{Value, json};

use super::{Answer, claude, held_files, session};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{CLAUDE_CODE, COPILOT, Form};
use coord_test_worlds::world::World;

const HOOKS: [(&Form, &str); 2] = [(&CLAUDE_CODE, "PreToolUse"), (&COPILOT, "preToolUse")];

/// Sends the call of a tool as VS Code does, to the hooks of either agent. Returns the reason of a denial: JSON, or status 2 with
/// standard error.
fn denial(world: &World, (form, event): (&Form, &str), tool: &str, input: &Value) -> Option<String> {
    let call = json!({ "timestamp": "2026-11-27T10:00:00.000Z", "cwd": world.clone.path(), "sessionId": "vs-1",
        "hookEventName": "PreToolUse", "hook_event_name": "PreToolUse", "transcript_path": "/x.json",
        "tool_name": tool, "tool_input": input, "tool_use_id": "tool-123" });
    let Answer { status, body, aside } = session(world, form, None).call((event, call));
    let reason = &body["hookSpecificOutput"]["permissionDecisionReason"];
    match status {
        0 => reason.as_str().map(str::to_owned),
        2 => Some(aside),
        _ => panic!("{status}: {body}{aside}"),
    }
}

fn edits(world: &World) -> Vec<(&'static str, Value)> {
    let file = |name: &str| world.clone.path().join(name).display().to_string();
    let (a, b) = (file("a.txt"), file("b.txt"));
    let patch = format!("*** Begin Patch\n*** Update File: {a}\n@@\n-a\n+b\n*** End Patch\n");
    let replacement = |path: &str| json!({ "filePath": path, "oldString": "a", "newString": "b" });
    let both = [replacement(&b), replacement(&a)];
    let shell = json!({ "command": "echo b > a.txt", "explanation": "x", "isBackground": false });
    vec![
        ("create_file", json!({ "filePath": a, "content": "b" })),
        ("replace_string_in_file", replacement(&a)),
        (
            "multi_replace_string_in_file",
            json!({ "explanation": "x", "replacements": both }),
        ),
        (
            "insert_edit_into_file",
            json!({ "explanation": "x", "filePath": a, "code": "b" }),
        ),
        (
            "edit_notebook_file",
            json!({ "filePath": a, "editType": "edit", "newCode": "b" }),
        ),
        ("editFiles", json!({ "files": ["a.txt"] })),
        ("apply_patch", json!({ "input": patch, "explanation": "x" })),
        ("run_in_terminal", shell),
    ]
}

// rule: hooks#vs-code
#[test]
fn every_tool_that_edits_is_denied_where_another_session_holds_the_file() {
    for hooks in HOOKS {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        claude(&world, "bob").may_edit("a.txt");
        for (tool, input) in edits(&world) {
            let reason = denial(&world, hooks, tool, &input);
            let reason = reason.unwrap_or_else(|| panic!("{} {tool}: not denied", hooks.1));
            assert!(reason.starts_with("WAIT: "), "{tool}: {reason}");
        }
        assert_eq!(held_files(&world), ["a.txt"], "all or none");
        let names_no_file = json!({ "replacements": [] });
        assert!(denial(&world, hooks, "multi_replace_string_in_file", &names_no_file).is_some());
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
            assert_eq!(denial(&world, hooks, tool, &input), None, "{} {tool}", hooks.1);
        }
        assert_eq!(held_files(&world), [""; 0]);
        let (tool, input) = edits(&world).swap_remove(2);
        assert_eq!(denial(&world, hooks, tool, &input), None, "{}", hooks.1);
        assert_eq!(held_files(&world), ["a.txt", "b.txt"]);
    }
}

/// VS Code takes text for the model in the form of Claude Code alone.
#[test]
fn text_for_the_model_is_in_its_form_too() {
    let world = World::with(&[("a.txt", "a")]);
    claude(&world, "bob").may_edit("a.txt");
    let call =
        json!({ "cwd": world.clone.path(), "sessionId": "vs-1", "hookEventName": "SessionStart", "source": "new" });
    let answer = session(&world, &COPILOT, None).call(("sessionStart", call));
    let output = &answer.body["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SessionStart", "{answer:?}");
    assert_has(output["additionalContext"].as_str().unwrap(), &["a.txt"]);
}
