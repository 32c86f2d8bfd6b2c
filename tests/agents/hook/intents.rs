//! Hooks in a repository with intents.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Answer, Session, session};
use crate::texts::assert_has;
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX};
use coord_test_worlds::world::World;

/// The conversation of the forms, which is the holder.
const CONVERSATION: &str = "00893aaf-19fa-41d2-8238-13269b9b3ca0";

const USAGE: &str = "/api/intents/REQ-1/usage";

fn refusal(code: &str, action: &str, reason: &str) -> Value {
    json!({ "success": false, "orphaned_dependencies": [], "repo_head": null, "repo_head_ref": null, "warnings": [],
        "error": code, "message": reason, "state": "REASONING",
        "orchestration": { "type": "orchestration_command", "action": action, "command": null, "reason": reason } })
}

impl Session<'_> {
    /// Before a tool of Claude Code that writes no file which it names.
    fn calls(&self, name: &str, input: &Value) -> Answer {
        let call = json!({ "session_id": CONVERSATION, "cwd": self.folder, "hook_event_name": "PreToolUse", "tool_name": name,
            "tool_input": input });
        self.call(("PreToolUse", call))
    }
}

/// A session of Claude Code that has started where an intent is selected.
fn started(world: &World) -> (Fake, Session<'_>) {
    let fake = Fake::with_intent(world, true);
    let ada = session(world, &CLAUDE_CODE, None);
    ada.starts();
    fake.paths();
    (fake, ada)
}

#[test]
fn each_refusal_is_a_denial_with_the_next_step_in_the_form_of_each_agent() {
    let uncited = "You must cite a valid active Intent ID.";
    let outside = "Scope Violation: REQ-1 is not authorized to edit 'a.txt'. Request scope expansion.";
    let owned = "Governance Violation: File owned by Intent [REQ-2]";
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        for (code, action, reason, next) in [
            ("INTENT_REQUIRED", "STOP", uncited, "select_active_intent"),
            ("INTENT_NOT_ACTIVE", "STOP", uncited, "select_active_intent"),
            (
                "INTENT_BLOCKED",
                "STOP",
                "Intent REQ-1 is blocked",
                "coord intent unblock",
            ),
            ("SCOPE_VIOLATION", "STOP", outside, "--supplements"),
            ("FILE_OWNED", "SWITCH_TASK", owned, "something else"),
            ("BUDGET_EXHAUSTED", "STOP", "The budget is spent", "ask your user"),
            ("CIRCUIT_OPEN", "STOP", "The same call again", "ask your user"),
        ] {
            fake.answer("/api/post_status", 409, refusal(code, action, reason));
            let denied = ada.assert_denied(&ada.edits("a.txt"), code);
            let beginning = format!("{action}: {}", reason.trim_end_matches('.'));
            assert!(denied.starts_with(&beginning), "{code}: {denied}");
            assert!(denied.contains(next), "{code}: {denied}");
            // Reading goes on.
            ada.may_read("a.txt");
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
    let digest = &one["tool_call"]["digest"];
    assert_eq!(one["tool_call"]["name"], "apply_patch");
    assert_eq!(one["session"]["session_id"], CONVERSATION);
    assert_eq!(one["session"]["contributor"], "x");
    assert_eq!(*digest, same["tool_call"]["digest"]);
    assert_ne!(*digest, other["tool_call"]["digest"], "other arguments are other work");
    ada.edits("a.txt");
    assert_eq!(fake.paths(), ["/api/post_status"]);
}

#[test]
fn a_command_that_may_change_something_is_a_turn_and_waiting_is_none() {
    let world = World::with(&[("a.txt", "a")]);
    let (fake, ada) = started(&world);
    for command in [
        "sleep 5",
        "git pull --rebase",
        "git push",
        "coord claim a.txt",
        "cat a.txt",
        "ls",
    ] {
        ada.may_run(command);
        assert_eq!(fake.requests_to(USAGE), [Value::Null; 0], "{command}");
    }
    for name in ["mcp__coord__check_status", "Grep", "TodoWrite"] {
        ada.calls(name, &json!({}));
        assert_eq!(fake.requests_to(USAGE), [Value::Null; 0], "{name}");
    }
    ada.runs("make");
    let usage = fake.requests_to(USAGE);
    assert_eq!((usage.len(), &usage[0]["tool_call"]["name"]), (1, &json!("Bash")));
    ada.calls("mcp__tracker__close", &json!({ "id": 1 }));
    assert_eq!(fake.requests_to(USAGE).len(), 1, "an unknown tool may change something");
    let open = refusal("CIRCUIT_OPEN", "STOP", "Three identical calls of Bash");
    fake.answer(USAGE, 409, open);
    let denied = ada.may_not_run("make");
    let beginning = "STOP: Three identical calls of Bash. Next: ";
    assert!(denied.starts_with(beginning), "{denied}");
}

// rule: hooks#intent-required
#[test]
fn before_an_intent_is_selected_only_what_reads_may_run_where_one_is_required() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, false);
    fake.require_intents();
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_eq!(ada.text(&ada.starts()).unwrap(), "Select one: REQ-1");
    for answer in [
        ada.edits("a.txt"),
        ada.runs("make"),
        ada.calls("mcp__tracker__close", &json!({})),
    ] {
        let denied = ada.assert_denied(&answer, "no intent is selected");
        assert!(denied.starts_with("State Violation: "), "{denied}");
        assert_has(&denied, &["select_active_intent"]);
    }
    let select = json!({ "intent_id": "REQ-1" });
    for answer in [
        ada.reads("a.txt"),
        ada.runs("cat a.txt && git status"),
        ada.runs("coord intent select REQ-1"),
        ada.calls("mcp__coord__select_active_intent", &select),
        ada.calls("WebSearch", &json!({})),
    ] {
        ada.assert_allowed(&answer, "no write");
    }
    // The intent was selected, but no hook has seen that.
    fake.select();
    ada.may_run("make");
}

// rule: hooks#events
#[test]
fn the_repository_lists_unknown_tools_that_read_and_a_damaged_list_denies() {
    let world = World::with(&[("a.txt", "a")]);
    let (fake, ada) = started(&world);
    let folder = world.clone.path().join(".orchestration");
    fs::create_dir(&folder).unwrap();
    let settings = folder.join("coord.toml");
    fs::write(&settings, "[tools]\nreads = [\"mcp__tracker__get_*\"]\n").unwrap();
    for (name, turns) in [("mcp__tracker__get_issue", 0), ("mcp__tracker__close", 1)] {
        ada.assert_allowed(&ada.calls(name, &json!({})), name);
        assert_eq!(fake.requests_to(USAGE).len(), turns, "{name}");
    }
    fs::write(&settings, "[tools]\nreads = [\"a\"\n").unwrap();
    for answer in [ada.calls("mcp__tracker__get_issue", &json!({})), ada.edits("a.txt")] {
        let denied = ada.assert_denied(&answer, "a damaged list");
        assert_has(&denied, &[".orchestration/coord.toml, line 2, column 13: "]);
    }
    ada.may_read("a.txt");
    // A folder that is gone stops nobody.
    fs::remove_dir_all(folder).unwrap();
    ada.may_edit("a.txt");
}

/// Files without an end, and far too large ones, are read no further than their bounds.
#[cfg(unix)]
#[test]
fn files_of_the_repository_that_have_no_end_keep_no_hook_waiting() {
    let world = World::with(&[("a.txt", "a")]);
    let (_fake, ada) = started(&world);
    let root = world.clone.path();
    fs::create_dir(root.join(".orchestration")).unwrap();
    let begun = Instant::now();
    for file in [".intentignore", ".orchestration/coord.toml"] {
        let path = root.join(file);
        let refused = || {
            assert_has(&ada.may_not_edit("a.txt"), &[file]);
            fs::remove_file(&path).unwrap();
        };
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused();
        let pipe = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(pipe.success());
        refused();
        fs::write(&path, vec![b'#'; 100 << 20]).unwrap();
        refused();
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    ada.may_edit("a.txt");
}

#[test]
fn files_that_the_working_copys_own_list_ignores_are_refused() {
    let world = World::with(&[("a.txt", "a"), ("b.lock", "b")]);
    let (_fake, ada) = started(&world);
    super::write(&world, ".intentignore", "# generated\n*.lock\n");
    let violation = "Scope Violation: REQ-1 is not authorized to edit 'b.lock'. Request scope expansion.";
    assert_has(&ada.may_not_edit("b.lock"), &[violation, "line 2 of .intentignore"]);
    ada.may_edit("a.txt");
}

// rule: hooks#person-acts
#[test]
fn an_agent_is_refused_the_acts_of_a_person_in_its_shell() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        let by_http = format!("COORD_AGENT= curl -X POST {}/api/intents/REQ-1/unblock", fake.address);
        for command in ["coord intent unblock REQ-1", &by_http] {
            assert_has(&ada.may_not_run(command), &["reserved for people"]);
        }
    }
}

#[test]
fn the_model_gets_its_intent_at_start_at_a_prompt_and_after_compaction() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let expected = Some("Intent REQ-1: n".to_owned());
    assert_eq!(ada.text(&ada.starts()), expected);
    fake.paths();
    assert_eq!(ada.text(&ada.gets_prompt("Go on")), expected);
    let recorded = fake.recorded();
    let kinds: Vec<&Value> = recorded.iter().map(|entry| &entry["kind"]).collect();
    let message = "the context of the start waits until something is recorded";
    assert_eq!(kinds, ["context", "prompt"], "{message}");
    let compacted =
        json!({ "session_id": CONVERSATION, "cwd": ada.folder, "hook_event_name": "PostCompact", "trigger": "auto" });
    assert_eq!(ada.text(&ada.call(("PostCompact", compacted))), expected);
    ada.ends();
    assert_eq!(fake.recorded().last().unwrap()["kind"], "end");
}

// rule: hooks#tokens
#[test]
fn tokens_are_reported_as_a_running_total_once() {
    let world = World::with(&[("a.txt", "a")]);
    let (fake, ada) = started(&world);
    let transcript = world.folder("transcripts").join("s.jsonl");
    let line = |id: &str, received: u64| {
        let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 900, "output_tokens": received });
        json!({ "requestId": "r", "message": { "id": id, "usage": usage } }).to_string()
    };
    let stop = || {
        let call = json!({ "session_id": CONVERSATION, "cwd": ada.folder, "transcript_path": transcript, "hook_event_name": "Stop" });
        ada.call(("Stop", call));
        fake.requests_to(USAGE)
    };
    fs::write(&transcript, [line("m", 1), line("m", 50)].join("\n")).unwrap();
    assert_eq!(stop()[0]["tokens"], json!({ "session_id": CONVERSATION, "total": 60 }));
    assert_eq!(stop(), [Value::Null; 0]);
    fs::write(&transcript, [line("m", 50), line("n", 5)].join("\n")).unwrap();
    assert_eq!(stop()[0]["tokens"]["total"], 75);
}
