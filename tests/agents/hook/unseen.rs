//! Files that were written where no hook was called, as by an interactive shell, and tools that no other test has.

use serde_json::json;

use super::looks::context;
use super::{Session, hook, session};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, COPILOT};
use coord_test_worlds::world::World;

// rule: hooks#unseen-input
#[test]
fn both_sides_are_notified_at_the_end_of_a_turn_that_wrote_others_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let tree = world.worktree("tree");
        let bob = Session {
            folder: tree.path(),
            ..session(&world, &CLAUDE_CODE, Some("bob"))
        };
        bob.gets_prompt("Rewrite a.txt and b.txt");
        assert_eq!(bob.denial(&bob.edits("a.txt")), None);
        assert_eq!(bob.denial(&bob.edits("b.txt")), None);
        // Written before the turn: nobody knows by whom.
        std::fs::write(world.clone.path().join("b.txt"), "old").unwrap();
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
        let file = std::fs::File::options()
            .write(true)
            .open(world.clone.path().join("b.txt"))
            .unwrap();
        file.set_modified(past).unwrap();
        let ada = session(&world, form, Some("ada"));
        ada.gets_prompt("Type into the shell");
        std::fs::write(world.clone.path().join("a.txt"), "typed").unwrap();
        std::fs::write(world.clone.path().join("c.txt"), "typed").unwrap();
        let ended = ada.ends_turn();
        let output = format!("{}{}", ended.body, ended.aside);
        assert!(
            output.contains("UNCLAIMED: ") && output.contains("a.txt (held by bob)"),
            "{}: {output}",
            form.agent
        );
        assert!(
            !output.contains("b.txt") && !output.contains("c.txt"),
            "{}: {output}",
            form.agent
        );
        let text = context(form, &ada.has_run("ls").body).unwrap_or_default();
        assert!(
            text.contains("UNCLAIMED: ") && text.contains("a.txt"),
            "{}: {text}",
            form.agent
        );
        let text = context(&CLAUDE_CODE, &bob.gets_prompt("And now?").body).unwrap_or_default();
        assert!(text.contains("UNCLAIMED: ada changed a.txt"), "{}: {text}", form.agent);
        // Once.
        let ended = ada.ends_turn();
        assert_eq!(
            context(form, &ada.has_run("ls").body),
            None,
            "{}: {ended:?}",
            form.agent
        );
    }
}

// rule: hooks#not-caught
#[test]
fn a_holder_is_notified_when_a_command_writes_its_files() {
    let world = World::with(&[("a.txt", "a")]);
    let tree = world.worktree("tree");
    let bob = Session {
        folder: tree.path(),
        ..session(&world, &CLAUDE_CODE, Some("bob"))
    };
    bob.gets_prompt("Rewrite a.txt");
    assert_eq!(bob.denial(&bob.edits("a.txt")), None);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    assert_eq!(ada.denial(&ada.runs("make format")), None);
    std::fs::write(world.clone.path().join("a.txt"), "formatted").unwrap();
    let text = context(&CLAUDE_CODE, &ada.has_run("make format").body).unwrap_or_default();
    assert!(text.contains("UNCLAIMED: "), "{text}");
    let text = context(&CLAUDE_CODE, &bob.gets_prompt("And now?").body).unwrap_or_default();
    assert!(text.contains("UNCLAIMED: ada changed a.txt"), "{text}");
}

/// Copilot CLI hands on what is on standard error beside status 2, and nothing else.
#[test]
fn text_after_a_tool_that_has_failed_is_in_the_form_that_copilot_hands_on() {
    let world = World::with(&[("a.txt", "a")]);
    let tree = world.worktree("tree");
    let bob = Session {
        folder: tree.path(),
        ..session(&world, &CLAUDE_CODE, Some("bob"))
    };
    assert_eq!(bob.denial(&bob.edits("a.txt")), None);
    let ada = session(&world, &COPILOT, Some("ada"));
    assert_eq!(ada.denial(&ada.runs("make format")), None);
    std::fs::write(world.clone.path().join("a.txt"), "formatted").unwrap();
    let failed = |command: &str| {
        let call = json!({ "sessionId": "s1", "cwd": world.clone.path(), "toolName": "bash",
            "toolArgs": { "command": command }, "error": "status 2" });
        hook(
            &world,
            ada.folder,
            ada.holder,
            &["copilot", "postToolUseFailure"],
            &call.to_string(),
        )
    };
    let answer = failed("make format");
    assert_eq!((answer.status, answer.body), (2, serde_json::Value::Null));
    assert!(answer.aside.contains("UNCLAIMED: "), "{}", answer.aside);
    assert_eq!(failed("ls").status, 0, "nothing is to be said");
}

#[test]
fn a_command_of_powershell_is_read_like_one_of_another_shell() {
    let world = World::with(&[("src/a.txt", "a")]);
    let bob = session(&world, &CLAUDE_CODE, Some("bob"));
    assert_eq!(bob.denial(&bob.edits("src/a.txt")), None);
    for (agent, event, call) in [
        (
            "copilot",
            "preToolUse",
            json!({ "toolName": "powershell", "toolArgs": { "command": "echo b > src\\a.txt" } }),
        ),
        (
            "claude-code",
            "PreToolUse",
            json!({ "tool_name": "PowerShell", "tool_input": { "command": "echo b > src\\a.txt" } }),
        ),
    ] {
        let mut call = call;
        call["cwd"] = json!(world.clone.path());
        let answer = hook(
            &world,
            world.clone.path(),
            Some("ada"),
            &[agent, event],
            &call.to_string(),
        );
        let output = format!("{}{}", answer.body, answer.aside);
        assert!(
            output.contains("WAIT: ") && output.contains("src/a.txt"),
            "{agent}: {output}"
        );
    }
}

#[test]
fn tools_that_only_read_are_not_counted_and_not_denied_where_an_intent_is_required() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = coord_test_worlds::fake_server::Fake::with_intent(&world, false);
    fake.require_intents();
    for (agent, event, tools) in [
        (
            "claude-code",
            "PreToolUse",
            &["ListAgents", "Monitor", "SendMessage", "TaskOutput"][..],
        ),
        ("gemini", "BeforeTool", &["update_topic", "list_background_processes"]),
        ("codex", "PreToolUse", &["wait_agent", "update_plan"]),
        (
            "copilot",
            "preToolUse",
            &["list_agents", "report_intent", "read_powershell"],
        ),
    ] {
        for tool in tools {
            let call = json!({ "cwd": world.clone.path(), "session_id": "s", "sessionId": "s", "tool_name": tool, "toolName": tool,
                "tool_input": { "command": "make" }, "toolArgs": {} });
            let answer = hook(&world, world.clone.path(), None, &[agent, event], &call.to_string());
            let output = format!("{}{}", answer.body, answer.aside);
            assert_eq!(
                (answer.status, output.contains("deny")),
                (0, false),
                "{agent} {tool}: {output}"
            );
        }
    }
}
