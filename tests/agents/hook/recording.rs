//! The entries that the hooks send to the ledger.

use serde_json::{Value, json};

use super::{Session, hook, session};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CURSOR};
use coord_test_worlds::world::World;

pub(super) const OF_B: &str = "sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";

pub(super) fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// File, hash and token of the mutations among `entries`.
pub(super) fn mutations(entries: &[Value]) -> Vec<(String, String)> {
    let mutations = entries.iter().filter(|entry| entry["kind"] == "mutation");
    let shown = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    mutations
        .map(|entry| (shown(entry, "file_path"), shown(entry, "hash")))
        .collect()
}

// rule: hooks#recorded
#[test]
fn each_edit_is_recorded_once_with_its_hash_and_the_token_of_its_lock() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        assert_eq!(ada.denial(&ada.edits("a.txt")), None, "{}", form.agent);
        write(&world, "a.txt", "b");
        fake.paths();
        ada.has_edited("a.txt");
        // A second event of the same edit.
        ada.has_edited("a.txt");
        let entries = fake.recorded();
        assert_eq!(
            mutations(&entries),
            [("a.txt".to_owned(), OF_B.to_owned())],
            "{}",
            form.agent
        );
        assert_eq!(entries[0]["token"], 7, "{}", form.agent);
        assert_eq!(entries[0]["trace_id"].as_str().unwrap().len(), 36);
        // Nothing was changed, whatever the tool says: no line.
        assert_eq!(ada.denial(&ada.edits("a.txt")), None);
        ada.has_edited("a.txt");
        assert_eq!(mutations(&fake.recorded()), [], "{}", form.agent);
    }
}

#[test]
fn a_repository_without_intents_gets_one_request_and_no_records() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::of(&world);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    assert!(fake.paths().contains(&"/api/intents".to_owned()));
    ada.gets_prompt("Change a.txt");
    ada.edits("a.txt");
    write(&world, "a.txt", "b");
    ada.has_edited("a.txt");
    ada.ends();
    let paths = fake.paths();
    assert!(
        paths
            .iter()
            .all(|path| !path.contains("intents") && !path.contains("ledger")),
        "{paths:?}"
    );
}

#[test]
fn a_deleted_file_and_a_renamed_one_are_recorded() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let command = "git mv b.txt c.txt && rm a.txt";
    assert_eq!(ada.denial(&ada.runs(command)), None);
    world.clone.git(&["mv", "b.txt", "c.txt"]);
    std::fs::remove_file(world.clone.path().join("a.txt")).unwrap();
    fake.paths();
    ada.has_run(command);
    let mut found = mutations(&fake.recorded());
    found.sort();
    let deleted = |file: &str| (file.to_owned(), "DELETED".to_owned());
    assert_eq!(
        found,
        [
            deleted("a.txt"),
            deleted("b.txt"),
            ("c.txt".to_owned(), OF_B.to_owned())
        ]
    );
}

// rule: commands#hashed-contents
#[test]
fn the_hash_is_of_what_git_would_commit() {
    let world = World::with(&[(".gitattributes", "*.txt text\n"), ("a.txt", "a\n")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let hash_of = |content: &str| {
        ada.edits("a.txt");
        write(&world, "a.txt", content);
        fake.paths();
        ada.has_edited("a.txt");
        mutations(&fake.recorded())[0].1.clone()
    };
    assert_eq!(hash_of("b\r\nc\r\n"), format!("sha256:{}", super::sha256("b\nc\n")));
    let objects = world.clone.git(&["count-objects"]);
    assert_eq!(hash_of("d\r\n"), format!("sha256:{}", super::sha256("d\n")));
    assert_eq!(
        world.clone.git(&["count-objects"]),
        objects,
        "nothing is written to the repository"
    );
}

// rule: hooks#spool
#[test]
fn unsent_records_wait_in_order_and_go_first() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let down = json!({ "error": "STORE_UNAVAILABLE", "message": "x",
        "orchestration": { "type": "orchestration_command", "action": "STOP", "command": null, "reason": "x" } });
    fake.answer("/api/ledger", 503, down);
    for file in ["a.txt", "b.txt"] {
        ada.edits(file);
        write(&world, file, "new");
        let answer = ada.has_edited(file);
        assert_eq!(answer.status, 0);
        let text = answer.body["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(
            text.contains("events that wait on this machine for the next call: 1"),
            "{text}"
        );
    }
    let up = json!({ "recorded": [], "warnings": [],
        "orchestration": { "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x" } });
    fake.answer("/api/ledger", 200, up);
    ada.edits("c.txt");
    write(&world, "c.txt", "new");
    fake.paths();
    ada.has_edited("c.txt");
    let files: Vec<String> = mutations(&fake.recorded()).into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, ["a.txt", "b.txt", "c.txt"]);
    ada.ends();
    assert_eq!(mutations(&fake.recorded()), []);
}

#[test]
fn contents_and_credentials_do_not_leave_the_machine() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let command = format!("GITHUB_TOKEN={secret} ./build {}", "x".repeat(300));
    ada.runs(&command);
    ada.has_run(&command);
    let command = format!("GITHUB_TOKEN={secret} ./build");
    ada.runs(&command);
    ada.has_run(&command);
    let sent = fake.recorded();
    assert_eq!(sent.len(), 2, "{sent:?}");
    let text = json!(sent).to_string();
    assert!(
        !text.contains(secret) && !text.contains("xxxx") && text.contains("[redacted]"),
        "{text}"
    );
    assert_eq!(sent[0]["tool_input"]["command"]["bytes"], 300 + 62);
}

// rule: hooks#recorded
#[test]
fn reads_are_recorded_only_with_trace_all() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.has_read("a.txt");
    ada.has_run("cat a.txt");
    assert_eq!(fake.recorded(), [Value::Null; 0]);
    let (event, call) = ada.read_call("a.txt", true);
    hook(
        &world,
        ada.folder,
        None,
        &["claude-code", event, "--trace", "all"],
        &call.to_string(),
    );
    assert_eq!(fake.recorded()[0]["kind"], "call");
}

#[test]
fn a_stale_write_is_recorded_once() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    ada.has_read("a.txt");
    write(&world, "a.txt", "theirs");
    fake.paths();
    let reason = ada.denial(&ada.edits("a.txt")).unwrap();
    ada.edits("a.txt");
    let stale: Vec<Value> = fake
        .recorded()
        .into_iter()
        .filter(|entry| entry["kind"] == "stale")
        .collect();
    assert_eq!(stale.len(), 1, "{stale:?}");
    assert_eq!(stale[0]["error_message"], reason.as_str());
    write(&world, "a.txt", "theirs again");
    ada.edits("a.txt");
    assert_eq!(fake.recorded().len(), 1);
}

/// Each writes a file in a way that names it for no list of programs.
const WAYS: [(&str, &str); 6] = [
    ("sed -i \"s/a/b/\" \"$PWD\"/a.txt", "b"),
    ("cat > \"$PWD\"/a.txt <<'EOF'\nb\nEOF", "b"),
    ("python3 -c 'open(\"a.txt\", \"w\").write(\"b\")'", "b"),
    ("git checkout HEAD~1 -- $(echo a.txt)", "b"),
    ("mv \"$PWD\"/b.txt \"$PWD\"/a.txt", "b"),
    ("rm ./a.tx?", ""),
];

// rule: hooks#parsed-commands
#[test]
fn every_way_to_write_through_a_shell_is_found_afterwards() {
    for form in ALL {
        for (command, content) in WAYS {
            let world = World::with(&[("a.txt", "a"), ("z.txt", "z")]);
            let fake = Fake::with_intent(&world, true);
            let ada = session(&world, form, None);
            assert_eq!(ada.denial(&ada.runs(command)), None, "{command}");
            match content {
                "" => std::fs::remove_file(world.clone.path().join("a.txt")).unwrap(),
                content => write(&world, "a.txt", content),
            }
            fake.paths();
            let answer = ada.has_run(command);
            assert_eq!(answer.status, 0);
            let output = format!("{} {}", answer.body, answer.aside);
            let expected = if content.is_empty() { "DELETED" } else { OF_B };
            assert_eq!(
                mutations(&fake.recorded()),
                [("a.txt".to_owned(), expected.to_owned())],
                "{} {command}",
                form.agent
            );
            // OpenCode tells its model something at a prompt alone, and its user the rest.
            assert!(
                output.contains("UNCLAIMED") && output.contains("a.txt") && !output.contains("z.txt"),
                "{}: {output}",
                form.agent
            );
        }
    }
}

#[test]
fn claimed_pulled_or_touched_files_are_no_unclaimed_changes() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let fake = Fake::with_intent(&world, true);
    let other = world.worktree("other");
    other.commit(&[("b.txt", "theirs")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.edits("a.txt");
    let text_after = |command: &str, done: &dyn Fn()| {
        ada.runs(command);
        done();
        let answer = ada.has_run(command);
        answer.body["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let claimed = text_after("make format", &|| write(&world, "a.txt", "b"));
    assert_eq!(claimed, "");
    world.clone.git(&["checkout", "--", "a.txt"]);
    let touched = text_after("make", &|| write(&world, "b.txt", "b"));
    assert_eq!(touched, "");
    let pulled = text_after("make update", &|| {
        world.clone.git(&["pull", "--quiet", "--rebase"]);
    });
    assert!(!pulled.contains("UNCLAIMED"), "{pulled}");
    assert!(!mutations(&fake.recorded()).iter().any(|(file, _)| file == "b.txt"));
}

// rule: hooks#compared-after
#[test]
fn a_repository_without_intents_warns_only_of_files_that_others_hold() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let fake = Fake::of(&world);
    fake.hold("a.txt", "bob");
    let ada = session(&world, &CLAUDE_CODE, None);
    let text_about = |file: &str| {
        ada.runs("make");
        write(&world, file, "new");
        ada.has_run("make").body["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(text_about("b.txt"), None);
    assert!(text_about("a.txt").unwrap().contains("a.txt (held by bob)"));
}

#[test]
fn the_two_events_of_cursor_before_a_command_are_one_call() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CURSOR, None);
    ada.starts();
    fake.paths();
    let before = |event: &str| {
        let call = match event {
            "preToolUse" => json!({ "conversation_id": "conv-1", "workspace_roots": [ada.folder], "tool_name": "Shell",
                "tool_input": { "command": "make", "working_directory": ada.folder } }),
            _ => {
                json!({ "conversation_id": "conv-1", "workspace_roots": [ada.folder], "command": "make", "cwd": ada.folder })
            }
        };
        hook(&world, ada.folder, None, &["cursor", event], &call.to_string())
    };
    before("preToolUse");
    before("beforeShellExecution");
    assert_eq!(fake.requests_to("/api/intents/REQ-1/usage").len(), 1);
    ada.has_run("make");
    fake.paths();
    before("preToolUse");
    assert_eq!(fake.requests_to("/api/intents/REQ-1/usage").len(), 1);
}

#[test]
fn a_worktree_and_a_folder_below_are_compared_too() {
    let world = World::with(&[("a.txt", "a"), ("sub/b.txt", "b")]);
    let fake = Fake::with_intent(&world, true);
    let worktree = world.worktree("two");
    let sub = worktree.path().join("sub");
    let ada = Session {
        folder: &sub,
        ..session(&world, &CLAUDE_CODE, None)
    };
    ada.runs("make");
    std::fs::write(worktree.path().join("a.txt"), "b").unwrap();
    std::fs::write(worktree.path().join("new file.txt"), "b").unwrap();
    fake.paths();
    ada.has_run("make");
    let found: Vec<String> = mutations(&fake.recorded()).into_iter().map(|(file, _)| file).collect();
    assert_eq!(found, ["a.txt", "new file.txt"]);
}
