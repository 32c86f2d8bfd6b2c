//! The entries that the hooks send to the ledger.

use serde_json::{Value, json};

use super::{output_of, session, sha256, write};
use crate::texts::{assert_has, assert_lacks};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CURSOR};
use coord_test_worlds::world::World;

pub(super) const OF_B: &str = "sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";

const USAGE: &str = "/api/intents/REQ-1/usage";

/// File and hash of the mutations among `entries`.
pub(super) fn mutations(entries: &[Value]) -> Vec<(&str, &str)> {
    let mutations = entries.iter().filter(|entry| entry["kind"] == "mutation");
    let fields = mutations.map(|entry| (entry["file_path"].as_str(), entry["hash"].as_str()));
    fields
        .map(|(file, hash)| (file.unwrap_or_default(), hash.unwrap_or_default()))
        .collect()
}

// rule: hooks#recorded
#[test]
fn each_edit_is_recorded_once_with_its_hash_and_the_token_of_its_lock() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        ada.may_edit("a.txt");
        write(&world, "a.txt", "b");
        fake.paths();
        ada.has_edited("a.txt");
        // A second event of the same edit.
        ada.has_edited("a.txt");
        let entries = fake.recorded();
        assert_eq!(mutations(&entries), [("a.txt", OF_B)], "{}", form.agent);
        assert_eq!(entries[0]["token"], 7, "{}", form.agent);
        assert_eq!(entries[0]["trace_id"].as_str().unwrap().len(), 36);
        // Nothing was changed, whatever the tool says: no line.
        ada.may_edit("a.txt");
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
    assert_lacks(&fake.paths().join(" "), &["intents", "ledger"]);
}

#[test]
fn a_deleted_file_and_a_renamed_one_are_recorded() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let command = "git mv b.txt c.txt && rm a.txt";
    ada.may_run(command);
    world.clone.git(&["mv", "b.txt", "c.txt"]);
    std::fs::remove_file(world.clone.path().join("a.txt")).unwrap();
    fake.paths();
    ada.has_run(command);
    let entries = fake.recorded();
    let mut found = mutations(&entries);
    found.sort();
    let expected = [("a.txt", "DELETED"), ("b.txt", "DELETED"), ("c.txt", OF_B)];
    assert_eq!(found, expected);
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
        mutations(&fake.recorded())[0].1.to_owned()
    };
    assert_eq!(hash_of("b\r\nc\r\n"), format!("sha256:{}", sha256("b\nc\n")));
    let objects = || world.clone.git(&["count-objects"]);
    let before = objects();
    assert_eq!(hash_of("d\r\n"), format!("sha256:{}", sha256("d\n")));
    assert_eq!(objects(), before, "nothing is written to the repository");
}

// rule: hooks#spool
#[test]
fn unsent_records_wait_in_order_and_go_first() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let command =
        |action: &str| json!({ "type": "orchestration_command", "action": action, "command": null, "reason": "x" });
    let down = json!({ "error": "STORE_UNAVAILABLE", "message": "x", "orchestration": command("STOP") });
    fake.answer("/api/ledger", 503, down);
    for file in ["a.txt", "b.txt"] {
        ada.edits(file);
        write(&world, file, "new");
        let answer = ada.has_edited(file);
        assert_eq!(answer.status, 0);
        let note = "events that wait on this machine for the next call: 1";
        assert_has(&ada.text(&answer).unwrap(), &[note]);
    }
    let up = json!({ "recorded": [], "warnings": [], "orchestration": command("PROCEED") });
    fake.answer("/api/ledger", 200, up);
    ada.edits("c.txt");
    write(&world, "c.txt", "new");
    fake.paths();
    ada.has_edited("c.txt");
    let entries = fake.recorded();
    let files: Vec<&str> = mutations(&entries).into_iter().map(|(file, _)| file).collect();
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
    let long = format!("GITHUB_TOKEN={secret} ./build {}", "x".repeat(300));
    for command in [long, format!("GITHUB_TOKEN={secret} ./build")] {
        ada.runs(&command);
        ada.has_run(&command);
    }
    let sent = fake.recorded();
    assert_eq!(sent.len(), 2, "{sent:?}");
    let text = json!(sent).to_string();
    assert_lacks(&text, &[secret, "xxxx"]);
    assert_has(&text, &["[redacted]"]);
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
    ada.call_with(ada.read_call("a.txt", true), &["--trace", "all"]);
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
    let reason = ada.may_not_edit("a.txt");
    ada.edits("a.txt");
    let mut stale = fake.recorded();
    stale.retain(|entry| entry["kind"] == "stale");
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
            ada.may_run(command);
            match content {
                "" => std::fs::remove_file(world.clone.path().join("a.txt")).unwrap(),
                content => write(&world, "a.txt", content),
            }
            fake.paths();
            let answer = ada.has_run(command);
            assert_eq!(answer.status, 0);
            let case = format!("{} {command}", form.agent);
            let hash = if content.is_empty() { "DELETED" } else { OF_B };
            assert_eq!(mutations(&fake.recorded()), [("a.txt", hash)], "{case}");
            // OpenCode tells its model something at a prompt alone, and its user the rest.
            let output = output_of(&answer);
            let is_named = output.contains("UNCLAIMED") && output.contains("a.txt");
            assert!(is_named && !output.contains("z.txt"), "{case}: {output}");
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
        ada.text(&ada.has_run(command)).unwrap_or_default()
    };
    let claimed = text_after("make format", &|| write(&world, "a.txt", "b"));
    assert_eq!(claimed, "");
    world.clone.git(&["checkout", "--", "a.txt"]);
    let touched = text_after("make", &|| write(&world, "b.txt", "b"));
    assert_eq!(touched, "");
    let pulled = text_after("make update", &|| {
        world.clone.git(&["pull", "--quiet", "--rebase"]);
    });
    assert_lacks(&pulled, &["UNCLAIMED"]);
    assert!(!mutations(&fake.recorded()).iter().any(|(file, _)| *file == "b.txt"));
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
        ada.text(&ada.has_run("make"))
    };
    assert_eq!(text_about("b.txt"), None);
    assert_has(&text_about("a.txt").unwrap(), &["a.txt (held by bob)"]);
}

#[test]
fn the_two_events_of_cursor_before_a_command_are_one_call() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CURSOR, None);
    ada.starts();
    fake.paths();
    let before_tool = || {
        let input = json!({ "command": "make", "working_directory": ada.folder });
        let call = json!({ "conversation_id": "conv-1", "workspace_roots": [ada.folder], "tool_name": "Shell",
            "tool_input": input });
        ada.call(("preToolUse", call))
    };
    before_tool();
    let call =
        json!({ "conversation_id": "conv-1", "workspace_roots": [ada.folder], "command": "make", "cwd": ada.folder });
    ada.call(("beforeShellExecution", call));
    assert_eq!(fake.requests_to(USAGE).len(), 1);
    ada.has_run("make");
    fake.paths();
    before_tool();
    assert_eq!(fake.requests_to(USAGE).len(), 1);
}

#[test]
fn a_worktree_and_a_folder_below_are_compared_too() {
    let world = World::with(&[("a.txt", "a"), ("sub/b.txt", "b")]);
    let fake = Fake::with_intent(&world, true);
    let worktree = world.worktree("two");
    let sub = worktree.path().join("sub");
    let ada = session(&world, &CLAUDE_CODE, None).at(&sub);
    ada.runs("make");
    for file in ["a.txt", "new file.txt"] {
        std::fs::write(worktree.path().join(file), "b").unwrap();
    }
    fake.paths();
    ada.has_run("make");
    let expected = [("a.txt", OF_B), ("new file.txt", OF_B)];
    assert_eq!(mutations(&fake.recorded()), expected);
}
