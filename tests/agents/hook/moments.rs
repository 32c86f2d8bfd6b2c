//! Events beside those of the agent's turns and tools: a subagent begins, and a turn is stopped by the user.

use serde_json::{Value, json};

use super::{Answer, held_files, hook, session};
use coord_test_worlds::hook_forms::{CLAUDE_CODE, CODEX, COPILOT, CURSOR};
use coord_test_worlds::world::World;

/// The answer of the session `ada` to `event` with more fields than each event has.
fn answer(world: &World, agent: &str, event: &str, more: Value) -> Answer {
    let mut call = json!({ "session_id": "s", "sessionId": "s", "cwd": world.clone.path(), "hook_event_name": event });
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    hook(
        world,
        world.clone.path(),
        Some("ada"),
        &[agent, event],
        &call.to_string(),
    )
}

#[test]
fn a_starting_subagent_gets_the_locks_of_others() {
    let world = World::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    session(&world, &CLAUDE_CODE, Some("bob")).edits("a.txt");
    let writer = json!({ "agent_id": "7", "agent_type": "general-purpose" });
    for agent in [CLAUDE_CODE.agent, CODEX.agent] {
        let answer = answer(&world, agent, "SubagentStart", writer.clone());
        let output = &answer.body["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "SubagentStart", "{answer:?}");
        assert!(
            output["additionalContext"].as_str().unwrap().contains("a.txt"),
            "{answer:?}"
        );
    }
    let answer = answer(&world, COPILOT.agent, "subagentStart", json!({ "agentName": "task" }));
    assert!(
        answer.body["additionalContext"].as_str().unwrap().contains("a.txt"),
        "{answer:?}"
    );
    assert_eq!(held_files(&world), ["a.txt"]);
}

#[test]
fn an_interrupted_turn_releases_unchanged_files_and_keeps_no_agent_going() {
    let world = World::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let ada = session(&world, &CODEX, Some("ada"));
    ada.edits("a.txt");
    ada.edits("b.txt");
    std::fs::write(world.clone.path().join("b.txt"), "changed\n").unwrap();
    ada.has_edited("b.txt");
    let answer = answer(&world, CODEX.agent, "Interrupt", json!({ "turn_id": "1" }));
    assert_eq!(answer.status, 0, "{answer:?}");
    // Codex refuses every other field.
    let fields: Vec<&String> = answer
        .body
        .as_object()
        .into_iter()
        .flat_map(|body| body.keys())
        .collect();
    assert!(fields.iter().all(|field| *field == "systemMessage"), "{answer:?}");
    assert_eq!(held_files(&world), ["b.txt"]);
}

#[test]
fn a_failed_tool_of_cursor_is_a_tool_that_has_run() {
    let world = World::with(&[("a.txt", "a\n")]);
    session(&world, &CURSOR, Some("ada")).edits("a.txt");
    let more = json!({ "tool_name": "Shell", "tool_input": { "command": "false" }, "error_message": "1" });
    let answer = answer(&world, CURSOR.agent, "postToolUseFailure", more);
    assert_eq!((answer.status, &answer.body), (0, &json!({})), "{answer:?}");
    assert_eq!(held_files(&world), ["a.txt"]);
}
