//! The files that rule over intents, and the files of the folder.

use std::fs;

use serde_json::{Value, json};

use super::super::{Answer, Session, hook, locks, session};
use super::{new_intent, run, select, shown, world};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

/// An event of Claude Code with a tool that writes no file which it names.
fn event(ada: &Session<'_>, event: &str, tool: &str, input: &Value) -> Answer {
    let call = json!({ "session_id": "s", "cwd": ada.folder, "hook_event_name": event, "tool_name": tool, "tool_input": input });
    hook(
        ada.world,
        ada.folder,
        ada.holder,
        &["claude-code", event],
        &call.to_string(),
    )
}

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
        run(&world, &["intent", "select", "REQ-1", "--agent", &holder], 0);
        let ada = session(&world, form, Some(&holder));
        let own = format!("src/of-{}.txt", form.agent);
        for answer in [ada.edits(&own), ada.runs(&format!("echo x >> {own}"))] {
            assert_eq!(ada.denial(&answer), None, "{}: {answer:?}", form.agent);
        }
        let locks = locks(&world);
        let lock = locks.iter().find(|lock| lock.file_path == own).unwrap();
        assert_eq!(lock.intent_id.as_deref(), Some("REQ-1"), "{}", form.agent);
        for file in [
            ".orchestration/intent_map.md",
            ".intentignore",
            ".claude/settings.json",
            "docs/c.txt",
        ] {
            for answer in [
                ada.edits(file),
                ada.runs(&format!("echo x > {file}")),
                ada.runs(&format!("cd src && sed -i s/a/b/ ../{file}")),
                ada.runs(&format!("bash -c 'rm {file}'")),
            ] {
                let denied = ada
                    .denial(&answer)
                    .unwrap_or_else(|| panic!("{} {file}: {answer:?}", form.agent));
                assert!(
                    denied.contains(&format!("Scope Violation: REQ-1 is not authorized to edit '{file}'.")),
                    "{} {denied}",
                    form.agent
                );
            }
        }
    }
    // A subagent's calls are those of its session.
    let ada = session(&world, &CLAUDE_CODE, Some("of-claude-code"));
    assert_eq!(
        ada.denial(&event(
            &ada,
            "PreToolUse",
            "Task",
            &json!({ "prompt": "Change docs/c.txt" })
        )),
        None
    );
    let call = json!({ "session_id": "s", "cwd": ada.folder, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "agent_id": "agent-abc123", "agent_type": "general-purpose",
        "tool_input": { "file_path": ada.folder.join("docs/c.txt"), "content": "x" } });
    let answer = hook(
        &world,
        ada.folder,
        ada.holder,
        &["claude-code", "PreToolUse"],
        &call.to_string(),
    );
    assert!(ada.denial(&answer).unwrap().contains("Scope Violation"), "{answer:?}");
}

/// A deleted folder stopped all work, and a deleted or overwritten map freed all files.
#[test]
fn work_continues_without_the_synced_files_and_owners_stay() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    select(&world, "REQ-1", "one");
    let ada = session(&world, &CLAUDE_CODE, Some("one"));
    assert_eq!(ada.denial(&ada.edits("src/a.txt")), None);
    fs::write(world.clone.path().join("src/a.txt"), "b").unwrap();
    ada.has_edited("src/a.txt");
    world.clone.git(&["commit", "--quiet", "--all", "--message", "Change"]);
    world.clone.git(&["push", "--quiet"]);
    ada.ends_turn();
    run(&world, &["sync"], 0);
    let bob = session(&world, &CLAUDE_CODE, Some("two"));
    let folder = world.clone.path().join(".orchestration");
    let owned = "Governance Violation: File owned by Intent [REQ-1]";
    fs::write(folder.join("intent_map.md"), "All is done: `src/a.txt` is free.\n").unwrap();
    assert!(bob.denial(&bob.edits("src/a.txt")).unwrap().contains(owned));
    fs::remove_dir_all(&folder).unwrap();
    assert!(bob.denial(&bob.edits("src/a.txt")).unwrap().contains(owned));
    assert_eq!(ada.denial(&ada.edits("src/b.txt")), None, "who has an intent goes on");
    assert_eq!(bob.denial(&bob.edits("docs/c.txt")), None, "and so does who needs none");
    let map = run(&world, &["map"], 0).to_string();
    assert!(map.contains("src/a.txt"), "{map}");
}

/// An agent that unblocks itself, or gives itself more, by the registry's file.
#[test]
fn a_change_reserved_for_people_is_not_applied_from_a_file_without_one() {
    let world = world();
    new_intent(&world, "REQ-1", &["--max-turns", "5"]);
    select(&world, "REQ-1", "one");
    run(&world, &["sync"], 0);
    run(
        &world,
        &["intent", "block", "REQ-1", "--reason", "Wait", "--agent", "one"],
        0,
    );
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
            assert_eq!(
                (&intent["status"], &intent["budget"]["max_turns"]),
                (&json!("BLOCKED"), &json!(5)),
                "{to} {agent:?}"
            );
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                edited,
                "{to}: what a person has to decide stays to be seen"
            );
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
    let started = std::time::Instant::now();
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
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!output.status.success() && printed.contains("OVERSIZED"), "{printed}");
        }
        fs::write(&path, before).unwrap();
    }
    assert!(
        started.elapsed() < std::time::Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
    run(&world, &["sync"], 0);
    assert_eq!(shown(&world, "REQ-1")["status"], "PENDING");
}
