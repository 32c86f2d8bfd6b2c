//! Events beside those of the agent's turns and tools: a subagent begins, and a turn is stopped by the user.

use serde_json::{Value, json};

use super::{Answer, claude, held_files, session, write};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{CLAUDE_CODE, CODEX, COPILOT, CURSOR, Form};
use coord_test_worlds::world::World;

/// The answer of the session `ada` to `event` with more fields than each event has.
fn answer(world: &World, form: &Form, event: &str, more: Value) -> Answer {
    let mut call = json!({ "session_id": "s", "sessionId": "s", "cwd": world.clone.path(), "hook_event_name": event });
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    session(world, form, Some("ada")).call((event, call))
}

#[test]
fn a_starting_subagent_gets_the_locks_of_others() {
    let world = World::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    claude(&world, "bob").edits("a.txt");
    let writer = json!({ "agent_id": "7", "agent_type": "general-purpose" });
    for form in [&CLAUDE_CODE, &CODEX] {
        let answer = answer(&world, form, "SubagentStart", writer.clone());
        let output = &answer.body["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "SubagentStart", "{answer:?}");
        assert_has(output["additionalContext"].as_str().unwrap(), &["a.txt"]);
    }
    let answer = answer(&world, &COPILOT, "subagentStart", json!({ "agentName": "task" }));
    assert_has(answer.body["additionalContext"].as_str().unwrap(), &["a.txt"]);
    assert_eq!(held_files(&world), ["a.txt"]);
}

#[test]
fn an_interrupted_turn_releases_unchanged_files_and_keeps_no_agent_going() {
    let world = World::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let ada = session(&world, &CODEX, Some("ada"));
    ada.edits("a.txt");
    ada.edits("b.txt");
    write(&world, "b.txt", "changed\n");
    ada.has_edited("b.txt");
    let answer = answer(&world, &CODEX, "Interrupt", json!({ "turn_id": "1" }));
    assert_eq!(answer.status, 0, "{answer:?}");
    // Codex refuses every other field.
    let mut fields = answer.body.as_object().into_iter().flat_map(|body| body.keys());
    assert!(fields.all(|field| field == "systemMessage"), "{answer:?}");
    assert_eq!(held_files(&world), ["b.txt"]);
}

#[test]
fn a_failed_tool_of_cursor_is_a_tool_that_has_run() {
    let world = World::with(&[("a.txt", "a\n")]);
    session(&world, &CURSOR, Some("ada")).edits("a.txt");
    let more = json!({ "tool_name": "Shell", "tool_input": { "command": "false" }, "error_message": "1" });
    let answer = answer(&world, &CURSOR, "postToolUseFailure", more);
    assert_eq!((answer.status, &answer.body), (0, &json!({})), "{answer:?}");
    assert_eq!(held_files(&world), ["a.txt"]);
}
