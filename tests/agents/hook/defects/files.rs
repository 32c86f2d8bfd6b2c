//! The files that rule over intents, and the files of the folder.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::{claude, locks, session, write};
use super::{new_intent, run, select, shown, world};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::ALL;
use coord_test_worlds::world::World;

/// The folder of the registry was inside of the scope, and commands and subtasks were held against none.
#[test]
fn no_tool_command_or_subtask_writes_the_files_that_rule_over_intents() {
    let world = World::with(&[
        ("src/a.txt", "a"),
        (".orchestration/intent_map.md", "# Intent Map\n"),
        (".intentignore", "*.lock\n"),
        (".claude/settings.json", "{}"),
        ("docs/c.txt", "c"),
        ("docs/d.txt", "d"),
        ("docs/e.txt", "e"),
        ("docs/f.txt", "f"),
        ("docs/g.txt", "g"),
    ]);
    let args = ["intent", "new", "REQ-1", "--name", "n"];
    let scope = ["src/**", ".orchestration/**", ".intentignore", ".claude/**"];
    let scope: Vec<&str> = scope.iter().flat_map(|pattern| ["--scope", pattern]).collect();
    run(&world, &[&args[..], &scope].concat(), 0);
    for form in ALL {
        let holder = format!("of-{}", form.agent);
        select(&world, "REQ-1", &holder);
        let ada = session(&world, form, Some(&holder));
        let own = format!("src/of-{}.txt", form.agent);
        ada.may_edit(&own);
        ada.may_run(&format!("echo x >> {own}"));
        let locks = locks(&world);
        let lock = locks.iter().find(|lock| lock.file_path == own).unwrap();
        assert_eq!(lock.intent_id.as_deref(), Some("REQ-1"), "{}", form.agent);
        for file in [
            ".orchestration/intent_map.md",
            ".intentignore",
            ".claude/settings.json",
            "docs/c.txt",
        ] {
            let violation = format!("Scope Violation: REQ-1 is not authorized to edit '{file}'.");
            for denied in [
                ada.may_not_edit(file),
                ada.may_not_run(&format!("echo x > {file}")),
                ada.may_not_run(&format!("cd src && sed -i s/a/b/ ../{file}")),
                ada.may_not_run(&format!("bash -c 'rm {file}'")),
            ] {
                assert!(denied.contains(&violation), "{} {denied}", form.agent);
            }
        }
    }
    // A subagent's calls are those of its session.
    let ada = claude(&world, "of-claude-code");
    let task = json!({ "session_id": "s", "cwd": ada.folder, "hook_event_name": "PreToolUse", "tool_name": "Task",
        "tool_input": { "prompt": "Change docs/c.txt" } });
    ada.assert_allowed(&ada.call(("PreToolUse", task)), "a subtask");
    let write = json!({ "session_id": "s", "cwd": ada.folder, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "agent_id": "agent-abc123", "agent_type": "general-purpose",
        "tool_input": { "file_path": ada.folder.join("docs/c.txt"), "content": "x" } });
    let denied = ada.assert_denied(&ada.call(("PreToolUse", write)), "a write of a subagent");
    assert_has(&denied, &["Scope Violation"]);
}

/// A deleted folder stopped all work, and a deleted or overwritten map freed all files.
#[test]
fn work_continues_without_the_synced_files_and_owners_stay() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    select(&world, "REQ-1", "one");
    let (ada, bob) = (claude(&world, "one"), claude(&world, "two"));
    ada.may_edit("src/a.txt");
    write(&world, "src/a.txt", "b");
    ada.has_edited("src/a.txt");
    world.clone.git(&["commit", "--quiet", "--all", "--message", "Change"]);
    world.clone.git(&["push", "--quiet"]);
    ada.ends_turn();
    run(&world, &["sync"], 0);
    let owned = "Governance Violation: File owned by Intent [REQ-1]";
    let map = ".orchestration/intent_map.md";
    write(&world, map, "All is done: `src/a.txt` is free.\n");
    assert_has(&bob.may_not_edit("src/a.txt"), &[owned]);
    fs::remove_dir_all(world.clone.path().join(".orchestration")).unwrap();
    assert_has(&bob.may_not_edit("src/a.txt"), &[owned]);
    // An agent with an intent goes on, and so does one that needs none.
    ada.may_edit("src/b.txt");
    bob.may_edit("docs/c.txt");
    assert_has(&run(&world, &["map"], 0).to_string(), &["src/a.txt"]);
}

/// An agent that unblocks itself, or gives itself more, by the registry's file.
#[test]
fn a_change_reserved_for_people_is_not_applied_from_a_file_without_one() {
    let world = world();
    new_intent(&world, "REQ-1", &["--max-turns", "5"]);
    select(&world, "REQ-1", "one");
    run(&world, &["sync"], 0);
    let block = ["intent", "block", "REQ-1", "--reason", "Wait", "--agent", "one"];
    run(&world, &block, 0);
    run(&world, &["sync"], 0);
    let path = world.clone.path().join(".orchestration/active_intents.yaml");
    let registry = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("status: BLOCKED", "status: IN_PROGRESS"),
        ("status: BLOCKED", "status: COMPLETED"),
        ("max_turns: 5", "max_turns: 500"),
    ] {
        let edited = registry.replace(from, to);
        assert_ne!(edited, registry, "{from}");
        fs::write(&path, &edited).unwrap();
        for agent in [&["--agent", "one"][..], &[]] {
            let output = world.run(&[&["sync"], agent].concat());
            assert_ne!(output.status.code(), Some(0), "{to} {agent:?}: {output:?}");
            let intent = shown(&world, "REQ-1");
            assert_eq!(intent["status"], "BLOCKED", "{to} {agent:?}");
            assert_eq!(intent["budget"]["max_turns"], 5, "{to} {agent:?}");
            // The change stays to be seen by a person, who has to decide.
            assert_eq!(fs::read_to_string(&path).unwrap(), edited, "{to}");
        }
    }
}

/// Files that were made to hurt: a line of 100 MB, a billion laughs, a registry without an end.
#[test]
fn hostile_files_are_refused_by_name_and_stay_as_they_are() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    run(&world, &["sync"], 0);
    let folder = world.clone.path().join(".orchestration");
    let laughs = (1..30).fold(String::from("a0: &a0 [lol]\n"), |text, level| {
        text + &format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}]\n", level - 1)
    });
    let mut deep = b"intents: ".to_vec();
    deep.resize(1 << 20, b'[');
    let long = vec![b'x'; 100 << 20];
    let started = Instant::now();
    for (name, hostile) in [
        ("agent_trace.jsonl", &long),
        ("active_intents.yaml", &long),
        ("active_intents.yaml", &laughs.into_bytes()),
        ("active_intents.yaml", &deep),
        ("intent_map.md", &long),
    ] {
        let path = folder.join(name);
        let before = fs::read(&path).unwrap();
        fs::write(&path, hostile).unwrap();
        let output = world.run(&["sync"]);
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(matches!(output.status.code(), Some(1 | 3)), "{name}: {printed}");
        assert!(printed.contains(name) && printed.len() < 2000, "{name}: {printed}");
        assert!(fs::read(&path).unwrap() == *hostile, "{name} was changed");
        if name == "agent_trace.jsonl" {
            let output = world.run(&["ledger", "verify", ".orchestration/agent_trace.jsonl"]);
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(!output.status.success() && printed.contains("OVERSIZED"), "{printed}");
        }
        fs::write(&path, before).unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    run(&world, &["sync"], 0);
    assert_eq!(shown(&world, "REQ-1")["status"], "PENDING");
}
