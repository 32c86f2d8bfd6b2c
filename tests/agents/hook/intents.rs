//! Hooks in a repository with intents.

use serde_json::{Value, json};

use super::{Answer, Session, hook, session};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX};
use coord_test_worlds::world::World;

/// The conversation of the forms, which is the holder.
const CONVERSATION: &str = "00893aaf-19fa-41d2-8238-13269b9b3ca0";

fn refusal(code: &str, action: &str, reason: &str) -> Value {
    json!({ "success": false, "orphaned_dependencies": [], "repo_head": null, "repo_head_ref": null, "warnings": [],
        "error": code, "message": reason, "state": "REASONING",
        "orchestration": { "type": "orchestration_command", "action": action, "command": null, "reason": reason } })
}

fn context(answer: &Answer) -> String {
    let text = answer.body["hookSpecificOutput"]["additionalContext"].as_str();
    text.unwrap_or_default().to_owned()
}

/// A call of a tool that writes no file which it names.
fn tool(ada: &Session<'_>, name: &str, event: &str, input: &Value) -> Answer {
    let call = json!({ "session_id": CONVERSATION, "cwd": ada.folder, "hook_event_name": event, "tool_name": name, "tool_input": input });
    hook(
        ada.world,
        ada.folder,
        ada.holder,
        &["claude-code", event],
        &call.to_string(),
    )
}

#[test]
fn each_refusal_is_a_denial_with_the_next_step_in_the_form_of_each_agent() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        for (code, action, reason, next) in [
            (
                "INTENT_REQUIRED",
                "STOP",
                "You must cite a valid active Intent ID.",
                "select_active_intent",
            ),
            (
                "INTENT_NOT_ACTIVE",
                "STOP",
                "You must cite a valid active Intent ID.",
                "select_active_intent",
            ),
            (
                "INTENT_BLOCKED",
                "STOP",
                "Intent REQ-1 is blocked",
                "coord intent unblock",
            ),
            (
                "SCOPE_VIOLATION",
                "STOP",
                "Scope Violation: REQ-1 is not authorized to edit 'a.txt'. Request scope expansion.",
                "--supplements",
            ),
            (
                "FILE_OWNED",
                "SWITCH_TASK",
                "Governance Violation: File owned by Intent [REQ-2]",
                "something else",
            ),
            ("BUDGET_EXHAUSTED", "STOP", "The budget is spent", "ask your user"),
            ("CIRCUIT_OPEN", "STOP", "The same call again", "ask your user"),
        ] {
            fake.answer("/api/post_status", 409, refusal(code, action, reason));
            let denied = ada
                .denial(&ada.edits("a.txt"))
                .unwrap_or_else(|| panic!("{} {code}", form.agent));
            assert!(
                denied.starts_with(&format!("{action}: {}", reason.trim_end_matches('.'))),
                "{denied}"
            );
            assert!(denied.contains(next), "{denied}");
            // Reading goes on.
            assert_eq!(ada.denial(&ada.reads("a.txt")), None, "{} {code}", form.agent);
        }
    }
}

// rule: hooks#intent-hooks
#[test]
fn a_claim_carries_the_call_and_the_session_and_no_second_request_is_made() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CODEX, None);
    ada.edits("a.txt");
    fake.paths();
    let claims = |file: &str| {
        ada.edits(file);
        fake.requests_to("/api/post_status").remove(0)
    };
    let (one, same, other) = (claims("a.txt"), claims("a.txt"), claims("b.txt"));
    assert_eq!(one["tool_call"]["name"], "apply_patch");
    assert_eq!(one["session"]["session_id"], "00893aaf-19fa-41d2-8238-13269b9b3ca0");
    assert_eq!(one["session"]["contributor"], "x");
    assert_eq!(one["tool_call"]["digest"], same["tool_call"]["digest"]);
    assert_ne!(
        one["tool_call"]["digest"], other["tool_call"]["digest"],
        "other arguments are other work"
    );
    ada.edits("a.txt");
    assert_eq!(fake.paths(), ["/api/post_status"]);
}

#[test]
fn a_command_that_may_change_something_is_a_turn_and_waiting_is_none() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    fake.paths();
    for command in [
        "sleep 5",
        "git pull --rebase",
        "git push",
        "coord claim a.txt",
        "cat a.txt",
        "ls",
    ] {
        assert_eq!(ada.denial(&ada.runs(command)), None, "{command}");
        assert_eq!(
            fake.requests_to("/api/intents/REQ-1/usage"),
            [Value::Null; 0],
            "{command}"
        );
    }
    for name in ["mcp__coord__check_status", "Grep", "TodoWrite"] {
        tool(&ada, name, "PreToolUse", &json!({}));
        assert_eq!(fake.requests_to("/api/intents/REQ-1/usage"), [Value::Null; 0], "{name}");
    }
    ada.runs("make");
    let usage = fake.requests_to("/api/intents/REQ-1/usage");
    assert_eq!((usage.len(), &usage[0]["tool_call"]["name"]), (1, &json!("Bash")));
    tool(&ada, "mcp__tracker__close", "PreToolUse", &json!({ "id": 1 }));
    assert_eq!(
        fake.requests_to("/api/intents/REQ-1/usage").len(),
        1,
        "what nobody knows changes something"
    );
    fake.answer(
        "/api/intents/REQ-1/usage",
        409,
        refusal("CIRCUIT_OPEN", "STOP", "Three identical calls of Bash"),
    );
    let denied = ada.denial(&ada.runs("make")).unwrap();
    assert!(
        denied.starts_with("STOP: Three identical calls of Bash. Next: "),
        "{denied}"
    );
}

// rule: hooks#intent-required
#[test]
fn before_an_intent_is_selected_only_what_reads_may_run_where_one_is_required() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, false);
    fake.require_intents();
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_eq!(context(&ada.starts()), "Select one: REQ-1");
    for answer in [
        ada.edits("a.txt"),
        ada.runs("make"),
        tool(&ada, "mcp__tracker__close", "PreToolUse", &json!({})),
    ] {
        let denied = ada.denial(&answer).unwrap();
        assert!(
            denied.starts_with("State Violation: ") && denied.contains("select_active_intent"),
            "{denied}"
        );
    }
    for answer in [
        ada.reads("a.txt"),
        ada.runs("cat a.txt && git status"),
        ada.runs("coord intent select REQ-1"),
        tool(
            &ada,
            "mcp__coord__select_active_intent",
            "PreToolUse",
            &json!({ "intent_id": "REQ-1" }),
        ),
        tool(&ada, "WebSearch", "PreToolUse", &json!({})),
    ] {
        assert_eq!(ada.denial(&answer), None, "{answer:?}");
    }
    // The intent was selected, but no hook has seen that.
    fake.select();
    assert_eq!(ada.denial(&ada.runs("make")), None);
}

// rule: hooks#events
#[test]
fn the_repository_lists_unknown_tools_that_read_and_a_damaged_list_denies() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    std::fs::create_dir(world.clone.path().join(".orchestration")).unwrap();
    let settings = world.clone.path().join(".orchestration/coord.toml");
    std::fs::write(&settings, "[tools]\nreads = [\"mcp__tracker__get_*\"]\n").unwrap();
    fake.paths();
    for (name, turns) in [("mcp__tracker__get_issue", 0), ("mcp__tracker__close", 1)] {
        assert_eq!(ada.denial(&tool(&ada, name, "PreToolUse", &json!({}))), None);
        assert_eq!(fake.requests_to("/api/intents/REQ-1/usage").len(), turns, "{name}");
    }
    std::fs::write(&settings, "[tools]\nreads = [\"a\"\n").unwrap();
    for answer in [
        tool(&ada, "mcp__tracker__get_issue", "PreToolUse", &json!({})),
        ada.edits("a.txt"),
    ] {
        let denied = ada.denial(&answer).unwrap();
        assert!(
            denied.contains(".orchestration/coord.toml, line 2, column 13: "),
            "{denied}"
        );
    }
    assert_eq!(ada.denial(&ada.reads("a.txt")), None);
    // A folder that is gone stops nobody.
    std::fs::remove_dir_all(world.clone.path().join(".orchestration")).unwrap();
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
}

/// Files without an end, and far too large ones, are read no further than their bounds.
#[cfg(unix)]
#[test]
fn files_of_the_repository_that_have_no_end_keep_no_hook_waiting() {
    let world = World::with(&[("a.txt", "a")]);
    let _fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    let root = world.clone.path();
    std::fs::create_dir(root.join(".orchestration")).unwrap();
    let started = std::time::Instant::now();
    for file in [".intentignore", ".orchestration/coord.toml"] {
        let path = root.join(file);
        let refused = || {
            let denied = ada.denial(&ada.edits("a.txt")).unwrap();
            assert!(denied.contains(file), "{denied}");
            std::fs::remove_file(&path).unwrap();
        };
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused();
        let pipe = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(pipe.success());
        refused();
        std::fs::write(&path, vec![b'#'; 100 << 20]).unwrap();
        refused();
    }
    assert!(
        started.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
}

#[test]
fn files_that_the_working_copys_own_list_ignores_are_refused() {
    let world = World::with(&[("a.txt", "a"), ("b.lock", "b")]);
    let _fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    std::fs::write(world.clone.path().join(".intentignore"), "# generated\n*.lock\n").unwrap();
    let denied = ada.denial(&ada.edits("b.lock")).unwrap();
    assert!(
        denied.contains("Scope Violation: REQ-1 is not authorized to edit 'b.lock'. Request scope expansion."),
        "{denied}"
    );
    assert!(denied.contains("line 2 of .intentignore"), "{denied}");
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
}

// rule: hooks#person-acts
#[test]
fn an_agent_is_refused_the_acts_of_a_person_in_its_shell() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        for command in [
            "coord intent unblock REQ-1".to_owned(),
            format!("COORD_AGENT= curl -X POST {}/api/intents/REQ-1/unblock", fake.address),
        ] {
            let denied = ada
                .denial(&ada.runs(&command))
                .unwrap_or_else(|| panic!("{} {command}", form.agent));
            assert!(denied.contains("reserved for people"), "{denied}");
        }
    }
}

#[test]
fn the_model_gets_its_intent_at_start_at_a_prompt_and_after_compaction() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_eq!(context(&ada.starts()), "Intent REQ-1: n");
    fake.paths();
    assert_eq!(context(&ada.gets_prompt("Go on")), "Intent REQ-1: n");
    let kinds: Vec<Value> = fake.recorded().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(
        kinds,
        ["context", "prompt"],
        "what was given before waits until something is recorded"
    );
    let compacted =
        json!({ "session_id": CONVERSATION, "cwd": ada.folder, "hook_event_name": "PostCompact", "trigger": "auto" });
    let answer = hook(
        &world,
        ada.folder,
        None,
        &["claude-code", "PostCompact"],
        &compacted.to_string(),
    );
    assert_eq!(context(&answer), "Intent REQ-1: n");
    ada.ends();
    let last = fake.recorded();
    assert_eq!(last.last().unwrap()["kind"], "end");
}

// rule: hooks#tokens
#[test]
fn tokens_are_reported_as_a_running_total_once() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    let transcript = world.folder("transcripts").join("s.jsonl");
    let line = |id: &str, received: u64| {
        let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 900, "output_tokens": received });
        json!({ "requestId": "r", "message": { "id": id, "usage": usage } }).to_string()
    };
    let stop = || {
        let call = json!({ "session_id": CONVERSATION, "cwd": ada.folder, "transcript_path": transcript, "hook_event_name": "Stop" });
        hook(&world, ada.folder, None, &["claude-code", "Stop"], &call.to_string());
        fake.requests_to("/api/intents/REQ-1/usage")
    };
    std::fs::write(&transcript, [line("m", 1), line("m", 50)].join("\n")).unwrap();
    fake.paths();
    assert_eq!(stop()[0]["tokens"], json!({ "session_id": CONVERSATION, "total": 60 }));
    assert_eq!(stop(), [Value::Null; 0]);
    std::fs::write(&transcript, [line("m", 50), line("n", 5)].join("\n")).unwrap();
    assert_eq!(stop()[0]["tokens"]["total"], 75);
}
