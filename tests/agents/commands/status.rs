//! `coord status`.

use serde_json::json;

use super::{claim, error, json as json_of, printed, world};
use crate::texts::{assert_has, assert_lacks};
use coord_test_worlds::fake_server::Fake;

#[test]
fn the_locks_of_all_are_shown_with_ones_own_first() {
    let world = world();
    claim(&world, "two", "README.md", "Describing the pool", 0);
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    let status = json_of(&world, &["status", "--json", "--agent", "one"], 0);
    let locks = status["locks"].as_array().unwrap().iter();
    let shown: Vec<_> = locks.map(|lock| json!([lock["file_path"], lock["is_own"]])).collect();
    assert_eq!(shown, [json!(["src/db.ts", true]), json!(["README.md", false])]);
    assert_eq!(status["branch"], "main");
    assert_eq!(status["branch_head_ref"], "refs/remotes/origin/main");
    assert_eq!(status["standing"], "at_head");
    assert_eq!(status["is_local"], true);
    assert_eq!(status["hooks"], json!([]));
    let text = printed(&world, &["status", "--agent", "one"], 0);
    let lines: Vec<&str> = text.lines().collect();
    for (line, beginning, end) in [
        (0, "github.com/team/project at http://127.0.0.1:", ""),
        (1, "main is at ", " (origin/main)"),
        (5, "FILE       HOLDER", ""),
        (6, "src/db.ts  you", "\u{201c}Adding a pool\u{201d}"),
        (7, "README.md  ", "\u{201c}Describing the pool\u{201d}"),
    ] {
        assert!(
            lines[line].starts_with(beginning) && lines[line].ends_with(end),
            "{line}: {text}"
        );
    }
    assert_eq!(
        lines[2..5],
        ["your working copy contains that commit", "you are the agent one", ""]
    );
    assert_has(lines[7], &["  two  "]);
    assert!(!text.contains('\u{1b}'), "no colors for a program");
}

// rule: commands#status-json
#[test]
fn the_standing_of_the_working_copy_is_shown() {
    let world = world();
    let standing = || json_of(&world, &["status", "--json"], 0)["standing"].clone();
    assert_eq!(standing(), "at_head");
    world.clone.commit(&[("README.md", "# A shop\n")]);
    assert_eq!(standing(), "ahead");
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    assert_eq!(standing(), "behind");
    let text = printed(&world, &["status"], 0);
    assert_has(&text, &["\nyour working copy is behind, at ", ": git pull --rebase"]);
}

#[test]
fn hooks_are_shown_with_the_time_of_their_last_call() {
    let world = world();
    let folder = world.clone.path().join(".git/coord/hooks/claude-code");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("PreToolUse"), "").unwrap();
    let hook = json_of(&world, &["status", "--json"], 0)["hooks"][0].clone();
    assert_eq!(hook["agent"], "claude-code");
    assert_eq!(hook["event"], "PreToolUse");
    let text = printed(&world, &["status"], 0);
    assert_has(&text, &["No files are locked.", "hooks: claude-code PreToolUse "]);
}

#[test]
fn a_live_table_needs_a_terminal() {
    let error = error(&world(), &["status", "--watch"], 1);
    assert!(error.starts_with("coord: --watch needs a terminal"), "{error}");
}

#[test]
fn a_server_without_intents_shows_the_locks() {
    let world = world();
    let fake = Fake::of(&world);
    fake.hold("src/db.ts", "bob");
    let none = json!({ "error": "UNKNOWN_ROUTE", "message": "no such route" });
    fake.answer("/api/intents", 404, none);
    let status = json_of(&world, &["status", "--json", "--agent", "one"], 0);
    assert_eq!(status["locks"][0]["file_path"], "src/db.ts", "{status}");
    let text = printed(&world, &["status", "--agent", "one"], 0);
    assert_has(&text, &["src/db.ts"]);
    assert_lacks(&text, &["intent"]);
}
