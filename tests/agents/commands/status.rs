//! `coord status`.

use super::{json, printed, run, world};
use coord_test_worlds::fake_server::Fake;

#[test]
fn the_locks_of_all_are_shown_with_ones_own_first() {
    let world = world();
    printed(
        &world,
        &["claim", "README.md", "-m", "Describing the pool", "--agent", "two"],
        0,
    );
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    let status = json(&world, &["status", "--json", "--agent", "one"], 0);
    let field = |name: &str| -> Vec<String> {
        let locks = status["locks"].as_array().unwrap().iter();
        locks.map(|lock| lock[name].to_string()).collect()
    };
    assert_eq!(field("file_path"), ["\"src/db.ts\"", "\"README.md\""]);
    assert_eq!(field("is_own"), ["true", "false"]);
    assert_eq!(status["branch"], "main");
    assert_eq!(status["branch_head_ref"], "refs/remotes/origin/main");
    assert_eq!(
        (&status["standing"], &status["is_local"]),
        (&"at_head".into(), &true.into())
    );
    assert_eq!(status["hooks"], serde_json::json!([]));
    let text = printed(&world, &["status", "--agent", "one"], 0);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("github.com/team/project at http://127.0.0.1:"),
        "{text}"
    );
    assert!(
        lines[1].starts_with("main is at ") && lines[1].ends_with(" (origin/main)"),
        "{text}"
    );
    assert_eq!(
        lines[2..5],
        ["your working copy contains that commit", "you are the agent one", ""]
    );
    assert!(lines[5].starts_with("FILE       HOLDER"), "{text}");
    assert!(
        lines[6].starts_with("src/db.ts  you") && lines[6].ends_with("\u{201c}Adding a pool\u{201d}"),
        "{text}"
    );
    assert!(
        lines[7].contains("  two  ") && lines[7].ends_with("\u{201c}Describing the pool\u{201d}"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "no colors for a program");
}

// rule: commands#status-json
#[test]
fn the_standing_of_the_working_copy_is_shown() {
    let world = world();
    let standing = || {
        json(&world, &["status", "--json"], 0)["standing"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(standing(), "at_head");
    world.clone.commit(&[("README.md", "# A shop\n")]);
    assert_eq!(standing(), "ahead");
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    assert_eq!(standing(), "behind");
    let text = printed(&world, &["status"], 0);
    assert!(
        text.contains("\nyour working copy is behind, at ") && text.contains(": git pull --rebase"),
        "{text}"
    );
}

#[test]
fn hooks_are_shown_with_the_time_of_their_last_call() {
    let world = world();
    let folder = world.clone.path().join(".git/coord/hooks/claude-code");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("PreToolUse"), "").unwrap();
    let hook = json(&world, &["status", "--json"], 0)["hooks"][0].clone();
    assert_eq!(
        (&hook["agent"], &hook["event"]),
        (&"claude-code".into(), &"PreToolUse".into())
    );
    let text = printed(&world, &["status"], 0);
    assert!(
        text.contains("Nobody holds anything.") && text.contains("hooks: claude-code PreToolUse "),
        "{text}"
    );
}

#[test]
fn a_live_table_needs_a_terminal() {
    let world = world();
    let (code, _, error) = run(&world, &["status", "--watch"]);
    assert_eq!(code, 1);
    assert!(error.starts_with("coord: --watch needs a terminal"), "{error}");
}

#[test]
fn a_server_without_intents_shows_the_locks() {
    let world = world();
    let fake = Fake::of(&world);
    fake.hold("src/db.ts", "bob");
    let none = serde_json::json!({ "error": "UNKNOWN_ROUTE", "message": "no such route" });
    fake.answer("/api/intents", 404, none);
    let status = json(&world, &["status", "--json", "--agent", "one"], 0);
    assert_eq!(status["locks"][0]["file_path"], "src/db.ts", "{status}");
    let text = printed(&world, &["status", "--agent", "one"], 0);
    assert!(text.contains("src/db.ts") && !text.contains("intent"), "{text}");
}
