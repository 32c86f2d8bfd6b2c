//! Files that were written where no hook was called, as by an interactive shell, and tools that no other test has.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{claude, output_of, session, write};
use crate::texts::assert_has;
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX, COPILOT, GEMINI};
use coord_test_worlds::world::World;

// rule: hooks#unseen-input
#[test]
fn both_sides_are_notified_at_the_end_of_a_turn_that_wrote_others_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let tree = world.worktree("tree");
        let bob = claude(&world, "bob").at(tree.path());
        bob.gets_prompt("Rewrite a.txt and b.txt");
        bob.may_edit("a.txt");
        bob.may_edit("b.txt");
        // Written before the turn: nobody knows by whom.
        write(&world, "b.txt", "old");
        let file = std::fs::File::options()
            .write(true)
            .open(world.clone.path().join("b.txt"));
        let past = SystemTime::now() - Duration::from_secs(100);
        file.unwrap().set_modified(past).unwrap();
        let ada = session(&world, form, Some("ada"));
        ada.gets_prompt("Type into the shell");
        write(&world, "a.txt", "typed");
        write(&world, "c.txt", "typed");
        let output = format!("{}: {}", form.agent, output_of(&ada.ends_turn()));
        assert_has(&output, &["UNCLAIMED: ", "a.txt (held by bob)"]);
        assert!(!output.contains("b.txt") && !output.contains("c.txt"), "{output}");
        let text = ada.text(&ada.has_run("ls")).unwrap_or_default();
        assert_has(&format!("{}: {text}", form.agent), &["UNCLAIMED: ", "a.txt"]);
        let text = bob.text(&bob.gets_prompt("And now?")).unwrap_or_default();
        let notice = "UNCLAIMED: ada changed a.txt";
        assert_has(&format!("{}: {text}", form.agent), &[notice]);
        // Once.
        let ended = ada.ends_turn();
        assert_eq!(ada.text(&ada.has_run("ls")), None, "{}: {ended:?}", form.agent);
    }
}

// rule: hooks#not-caught
#[test]
fn a_holder_is_notified_when_a_command_writes_its_files() {
    let world = World::with(&[("a.txt", "a")]);
    let tree = world.worktree("tree");
    let bob = claude(&world, "bob").at(tree.path());
    bob.gets_prompt("Rewrite a.txt");
    bob.may_edit("a.txt");
    let ada = claude(&world, "ada");
    ada.may_run("make format");
    write(&world, "a.txt", "formatted");
    assert_has(&ada.text(&ada.has_run("make format")).unwrap(), &["UNCLAIMED: "]);
    let text = bob.text(&bob.gets_prompt("And now?")).unwrap();
    assert_has(&text, &["UNCLAIMED: ada changed a.txt"]);
}

/// Copilot CLI hands on what is on standard error beside status 2, and nothing else.
#[test]
fn text_after_a_tool_that_has_failed_is_in_the_form_that_copilot_hands_on() {
    let world = World::with(&[("a.txt", "a")]);
    let tree = world.worktree("tree");
    claude(&world, "bob").at(tree.path()).may_edit("a.txt");
    let ada = session(&world, &COPILOT, Some("ada"));
    ada.may_run("make format");
    write(&world, "a.txt", "formatted");
    let failed = |command: &str| {
        let call = json!({ "sessionId": "s1", "cwd": world.clone.path(), "toolName": "bash",
            "toolArgs": { "command": command }, "error": "status 2" });
        ada.call(("postToolUseFailure", call))
    };
    let answer = failed("make format");
    assert_eq!((answer.status, answer.body), (2, Value::Null));
    assert_has(&answer.aside, &["UNCLAIMED: "]);
    assert_eq!(failed("ls").status, 0, "nothing is to be said");
}

#[test]
fn a_command_of_powershell_is_read_like_one_of_another_shell() {
    let world = World::with(&[("src/a.txt", "a")]);
    claude(&world, "bob").may_edit("src/a.txt");
    let input = json!({ "command": "echo b > src\\a.txt" });
    let folder = world.clone.path();
    let of_copilot = json!({ "cwd": folder, "toolName": "powershell", "toolArgs": input });
    let of_claude = json!({ "cwd": folder, "tool_name": "PowerShell", "tool_input": input });
    for (form, event, call) in [
        (&COPILOT, "preToolUse", of_copilot),
        (&CLAUDE_CODE, "PreToolUse", of_claude),
    ] {
        let answer = session(&world, form, Some("ada")).call((event, call));
        let output = format!("{}: {}", form.agent, output_of(&answer));
        assert_has(&output, &["WAIT: ", "src/a.txt"]);
    }
}

#[test]
fn tools_that_only_read_are_not_counted_and_not_denied_where_an_intent_is_required() {
    let world = World::with(&[("a.txt", "a")]);
    Fake::with_intent(&world, false).require_intents();
    for (form, event, tools) in [
        (
            &CLAUDE_CODE,
            "PreToolUse",
            &["ListAgents", "Monitor", "SendMessage", "TaskOutput"][..],
        ),
        (&GEMINI, "BeforeTool", &["update_topic", "list_background_processes"]),
        (&CODEX, "PreToolUse", &["wait_agent", "update_plan"]),
        (
            &COPILOT,
            "preToolUse",
            &["list_agents", "report_intent", "read_powershell"],
        ),
    ] {
        for tool in tools {
            let call = json!({ "cwd": world.clone.path(), "session_id": "s", "sessionId": "s", "tool_name": tool, "toolName": tool,
                "tool_input": { "command": "make" }, "toolArgs": {} });
            let answer = session(&world, form, None).call((event, call));
            let output = output_of(&answer);
            let outcome = (answer.status, output.contains("deny"));
            assert_eq!(outcome, (0, false), "{} {tool}: {output}", form.agent);
        }
    }
}
