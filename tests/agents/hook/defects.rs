//! What went wrong where intents were tried before, by a real server and a process for each call of a hook.

use std::fs;

use serde_json::{Value, json};

use super::forms::{ALL, CLAUDE_CODE};
use super::{Answer, Session, hook, session};
use crate::world::World;

/// A clone with files in and out of the scopes.
fn world() -> World {
    World::with(&[
        ("src/a.txt", "a"),
        ("src/b.txt", "b"),
        ("docs/c.txt", "c"),
        ("docs/d.txt", "d"),
        ("docs/e.txt", "e"),
    ])
}

const REQUIRED: (&str, &str) = ("COORD_INTENT_POLICY", "required");

/// The same, with a server that was started with these settings.
fn started(settings: &[(&str, &str)]) -> World {
    let world = world();
    let mut start = world.coord(world.clone.path());
    start.args(["intent", "list"]).envs(settings.iter().copied());
    assert!(start.output().unwrap().status.success());
    world
}

/// What `coord ARGS` prints as JSON; it has to end with `status`.
fn run(world: &World, args: &[&str], status: i32) -> Value {
    let output = world.run(&[args, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}{error}");
    serde_json::from_str(&text).unwrap_or_default()
}

fn new_intent(world: &World, id: &str, more: &[&str]) {
    let args = ["intent", "new", id, "--name", "What it is for", "--scope", "src/**"];
    run(world, &[&args, more].concat(), 0);
}

fn select(world: &World, id: &str, holder: &str) {
    run(world, &["intent", "select", id, "--agent", holder], 0);
}

fn shown(world: &World, id: &str) -> Value {
    run(world, &["intent", "show", id], 0)["intent"].clone()
}

/// Type and status of all lines of the ledger about `id`.
fn lines(world: &World, id: &str) -> Vec<String> {
    let output = world.run(&["ledger", "log", "-n", "500", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_intent = lines.filter(|line| line["intent_id"] == id || line["payload"]["tool_input"]["intent_id"] == id);
    let plain = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_intent
        .map(|line| format!("{} {}", plain(&line["action_type"]), plain(&line["result"]["status"])))
        .collect()
}

fn count(lines: &[String], line: &str) -> usize {
    lines.iter().filter(|found| *found == line).count()
}

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

/// Defects 1 and 27: a list that is missing in the registry, and ids of other forms than `REQ-`.
#[test]
fn an_intent_that_lacks_a_list_is_selected_at_the_first_try_and_written_under() {
    let lists = [
        ("constraints", "constraints: []"),
        ("acceptance_criteria", "acceptance_criteria: []"),
        ("related_specs", "related_specs: []"),
        ("budget", "budget: {}"),
        ("assigned_agent", "assigned_agent: ''"),
    ];
    let ids = [
        "test-intent-1",
        "INT-001",
        "a.b_c",
        "018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10",
        "REQ-1",
    ];
    let world = world();
    let mut registry = String::from("active_intents:\n");
    for (number, (id, (missing, _))) in ids.iter().zip(&lists).enumerate() {
        registry += &format!("  - id: {id}\n    name: One\n    owned_scope: [new/{number}/**]\n");
        for (_, list) in lists.iter().filter(|(name, _)| name != missing) {
            registry += &format!("    {list}\n");
        }
    }
    fs::create_dir(world.clone.path().join(".orchestration")).unwrap();
    fs::write(world.clone.path().join(".orchestration/active_intents.yaml"), registry).unwrap();
    run(&world, &["sync"], 0);
    for (number, id) in ids.iter().enumerate() {
        let selected = run(&world, &["intent", "select", id, "--agent", id], 0);
        assert_eq!(selected["state"], "ACTION", "{id}: {selected}");
        let ada = session(&world, &CLAUDE_CODE, Some(id));
        assert_eq!(ada.denial(&ada.edits(&format!("new/{number}/file.txt"))), None, "{id}");
        assert!(
            ada.denial(&ada.edits("docs/c.txt"))
                .unwrap()
                .contains("Scope Violation"),
            "{id}"
        );
    }
}

/// Defect 2: a selection that did not work was a success in the state and in the ledger.
#[test]
fn a_selection_that_fails_is_neither_in_the_state_nor_a_success_in_the_ledger() {
    let world = world();
    run(&world, &["intent", "new", "BARE"], 0);
    new_intent(&world, "REQ-1", &[]);
    let ada = session(&world, &CLAUDE_CODE, Some("one"));
    for (id, status) in [("BARE", 3), ("NONE", 1)] {
        run(&world, &["intent", "select", id, "--agent", "one"], status);
        assert_eq!(lines(&world, id).last().unwrap(), "INTENT_SELECTION DENIED", "{id}");
        assert_eq!(count(&lines(&world, id), "INTENT_SELECTION SUCCESS"), 0, "{id}");
    }
    assert_eq!(shown(&world, "BARE")["status"], "PENDING");
    let told = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
    assert!(
        told.contains("REQ-1 (PENDING)") && !told.contains("Intent BARE"),
        "{told}"
    );
    select(&world, "REQ-1", "one");
    assert_eq!(count(&lines(&world, "REQ-1"), "INTENT_SELECTION SUCCESS"), 1);
    let told = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
    assert!(told.contains("Intent REQ-1: "), "{told}");
}

/// Defect 10: the breaker marked nothing, and lived in one process.
#[test]
fn the_fourth_identical_call_blocks_the_intent_for_every_process() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    let (ada, bob) = (
        session(&world, &CLAUDE_CODE, Some("one")),
        session(&world, &CLAUDE_CODE, Some("two")),
    );
    for holder in ["one", "two"] {
        select(&world, "REQ-1", holder);
    }
    for one in [&ada, &bob] {
        one.starts();
    }
    for _ in 0..3 {
        assert_eq!(ada.denial(&ada.runs("make")), None);
        ada.has_run("make");
        // Waiting and reading in between are no calls.
        assert_eq!(ada.denial(&ada.runs("sleep 5")), None);
        assert_eq!(ada.denial(&ada.reads("src/a.txt")), None);
    }
    let denied = ada.denial(&ada.runs("make")).unwrap();
    assert!(
        denied.starts_with("STOP: ") && denied.contains("coord intent unblock"),
        "{denied}"
    );
    assert_eq!(shown(&world, "REQ-1")["status"], "BLOCKED");
    let denied = bob.denial(&bob.edits("src/a.txt")).unwrap();
    assert!(
        denied.starts_with("STOP: ") && denied.contains("REQ-1") && denied.contains("BLOCKED"),
        "{denied}"
    );
    let lines = lines(&world, "REQ-1");
    assert_eq!(count(&lines, "BUDGET_EXHAUSTED DENIED"), 1, "{lines:?}");
    for command in ["git push", "cat src/a.txt"] {
        assert_eq!(ada.denial(&ada.runs(command)), None, "{command}");
    }
}

/// Defect 11: refused calls and reads were counted, and concurrent agents lost counts.
#[test]
fn concurrent_hooks_lose_no_turn_and_what_is_refused_or_reads_is_none() {
    const AGENTS: usize = 4;
    const CALLS: usize = 3;
    let world = started(&[REQUIRED]);
    new_intent(&world, "REQ-1", &["--max-turns", "10"]);
    let holders: Vec<String> = (0..AGENTS).map(|agent| format!("agent-{agent}")).collect();
    for holder in &holders {
        select(&world, "REQ-1", holder);
        session(&world, &CLAUDE_CODE, Some(holder)).starts();
    }
    let act = |holder: &str| {
        let one = session(&world, &CLAUDE_CODE, Some(holder));
        let mut let_in = 0;
        for call in 0..CALLS {
            assert_eq!(one.denial(&one.reads("src/a.txt")), None);
            assert!(one.denial(&one.edits("docs/c.txt")).is_some(), "out of the scope");
            let_in += usize::from(one.denial(&one.runs(&format!("make {holder} {call}"))).is_none());
        }
        let_in
    };
    let act = &act;
    let let_in: usize = std::thread::scope(|scope| {
        let running: Vec<_> = holders.iter().map(|holder| scope.spawn(move || act(holder))).collect();
        running.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let intent = shown(&world, "REQ-1");
    assert_eq!(let_in, 10, "of {} calls", AGENTS * CALLS);
    assert_eq!(intent["budget"]["consumed_turns"], 10, "{intent}");
    assert_eq!(intent["status"], "BLOCKED");
}

/// Defect 12: a budget that is missing has no limit, and nothing said so.
#[test]
fn the_model_is_told_what_is_left_of_the_budget_or_that_there_is_none() {
    let world = world();
    new_intent(&world, "FREE", &[]);
    run(
        &world,
        &[
            "intent",
            "new",
            "BOUND",
            "--name",
            "n",
            "--scope",
            "docs/c.txt",
            "--max-turns",
            "9",
        ],
        0,
    );
    for (id, told) in [("FREE", "Budget: no limit"), ("BOUND", "Budget left: 9 of 9 turns")] {
        select(&world, id, id);
        let ada = session(&world, &CLAUDE_CODE, Some(id));
        let context = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
        assert!(context.contains(told), "{context}");
    }
}

/// Defects 24 and 29: the folder of the registry was inside of the scope, and commands and subtasks were held against none.
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

/// Defect 25 (and 7, 8): a deleted folder stopped all work, and a deleted or overwritten map freed all files.
#[test]
fn without_its_files_work_goes_on_and_each_file_keeps_its_owner() {
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

/// Defect 28: every prompt, even "go on", asked for a new selection.
#[test]
fn a_selection_outlives_prompts_unless_the_repository_wants_each_to_ask_anew() {
    for (settings, is_asked_anew) in [
        (&[REQUIRED][..], false),
        (&[REQUIRED, ("COORD_HANDSHAKE", "prompt")], true),
    ] {
        let world = started(settings);
        new_intent(&world, "REQ-1", &[]);
        select(&world, "REQ-1", "one");
        let ada = session(&world, &CLAUDE_CODE, Some("one"));
        ada.starts();
        assert_eq!(ada.denial(&ada.edits("src/a.txt")), None, "{settings:?}");
        ada.has_edited("src/a.txt");
        ada.is_told("go on");
        let denied = ada.denial(&ada.edits("src/b.txt"));
        assert_eq!(denied.is_some(), is_asked_anew, "{settings:?}: {denied:?}");
        if let Some(denied) = denied {
            assert!(denied.contains("select_active_intent"), "{denied}");
            select(&world, "REQ-1", "one");
            assert_eq!(ada.denial(&ada.edits("src/b.txt")), None);
        }
    }
}

/// An agent that unblocks itself, or gives itself more, by the registry's file.
#[test]
fn what_takes_a_person_is_not_taken_from_the_file_without_one() {
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
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(matches!(output.status.code(), Some(1 | 3)), "{name}: {said}");
        assert!(said.contains(name) && said.len() < 2000, "{name}: {said}");
        assert!(fs::read(&path).unwrap() == *hostile, "{name} was changed");
        if name == "agent_trace.jsonl" {
            let output = world.run(&["ledger", "verify", ".orchestration/agent_trace.jsonl"]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!output.status.success() && said.contains("OVERSIZED"), "{said}");
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
