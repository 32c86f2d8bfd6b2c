//! A folder that was handed over with its `.git` and what Coord keeps there.

use std::fs;
use std::path::Path;
use std::process::Command;

use coord_test_support::git::Repo;
use serde_json::json;

use super::sandbox::Sandbox;

/// A conversation's edit of `file`, before or after it.
fn edit(sandbox: &Sandbox, folder: &Path, event: &str, file: &str) -> String {
    let call = json!({
        "session_id": "s", "cwd": folder, "hook_event_name": event, "tool_name": "Edit", "tool_use_id": "1",
        "tool_input": { "file_path": folder.join(file), "old_string": "a", "new_string": "b" }, "tool_response": {},
    });
    let words = ["hook", "claude-code", event, "--agent", "one"]
        .map(str::to_owned)
        .to_vec();
    sandbox.coord(folder, &(words, call.to_string()))
}

/// The edit as it happens: the hooks, and the file.
fn edited(sandbox: &Sandbox, folder: &Path, file: &str) {
    edit(sandbox, folder, "PreToolUse", file);
    fs::write(folder.join(file), "changed\n").unwrap();
    edit(sandbox, folder, "PostToolUse", file);
}

// rule: commands#archives
#[test]
fn events_that_came_with_an_archive_are_not_recorded_and_those_of_the_folder_itself_are() {
    let sandbox = Sandbox::new();
    let theirs = sandbox.path("theirs");
    let repo = Repo::init(&theirs, &[]);
    // The copy is the same repository by its remote.
    repo.git(&["remote", "add", "origin", "https://github.com/acme/theirs"]);
    // A scope may not have most of the files.
    repo.commit(&[
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        ("c/1", ""),
        ("c/2", ""),
        ("c/3", ""),
        ("c/4", ""),
    ]);
    sandbox.run(&theirs, &["intent", "new", "INT-1", "--name", "x", "--scope", "*.txt"]);
    let selected = sandbox.run(&theirs, &["intent", "select", "INT-1", "--agent", "one"]);
    assert!(selected.contains("PROCEED"), "{selected}");
    edit(&sandbox, &theirs, "PreToolUse", "a.txt");
    sandbox.end_servers();
    fs::write(theirs.join("a.txt"), "changed\n").unwrap();
    edit(&sandbox, &theirs, "PostToolUse", "a.txt");
    let spool = fs::read_to_string(theirs.join(".git/coord/ledger-spool.jsonl")).unwrap();
    assert!(spool.contains("a.txt"), "{spool}");

    let ours = sandbox.path("ours");
    let copied = Command::new("cp").arg("-a").args([&theirs, &ours]).status().unwrap();
    assert!(copied.success());
    let log = |folder: &Path| {
        edited(&sandbox, folder, "b.txt");
        sandbox.run(folder, &["ledger", "log"])
    };
    let of_ours = log(&ours);
    assert!(of_ours.contains("b.txt") && !of_ours.contains("a.txt"), "{of_ours}");
    let of_theirs = log(&theirs);
    assert!(
        of_theirs.contains("b.txt") && of_theirs.contains("a.txt"),
        "{of_theirs}"
    );
}

#[test]
fn undo_with_the_init_record_of_an_archive_removes_no_folder_outside() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("clone");
    Repo::init(&folder, &[]).commit(&[("a.txt", "a\n")]);
    let empty = sandbox.path("outside/empty");
    fs::create_dir(&empty).unwrap();
    fs::create_dir_all(folder.join(".git/coord")).unwrap();
    let (inside, up) = (folder.join("empty"), folder.join("../outside/empty"));
    fs::create_dir(&inside).unwrap();
    sandbox.run(&folder, &["init", "codex", "--yes", "--no-check"]);
    let record = folder.join(".git/coord/init.json");
    let mut made: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    made["folders"] = json!([empty, up, inside]);
    fs::write(&record, made.to_string()).unwrap();
    let printed = sandbox.run(&folder, &["init", "--undo", "--yes"]);
    assert!(!inside.exists(), "{printed}");
    assert!(empty.exists(), "{printed}");
}
