//! `--undo` removes the files that `coord init` wrote, and leaves later changes by people.

use super::{files, init, read, without_rules, write};
use coord_test_worlds::world::World;

#[test]
fn files_changed_since_are_left_with_a_note() {
    let world = World::with(&[("a.txt", "a\n")]);
    init(&world, &["claude-code", "codex", "--yes", "--no-check", "--no-guard"]);
    let edit = |path: &str, from: &str, to: &str| {
        let text = read(&world.clone, path);
        assert!(text.contains(from), "{path}: {text}");
        write(&world.clone, path, &text.replacen(from, to, 1));
    };
    edit(
        ".mcp.json",
        "\"mcpServers\": {",
        "\"mcpServers\": {\n    \"mine\": { \"command\": \"mine\" },",
    );
    edit(".claude/settings.json", "\"timeout\": 15", "\"timeout\": 60");
    edit(".codex/config.toml", "command", "startup_timeout_sec = 5\ncommand");
    edit(
        "CLAUDE.md",
        "<!-- coord init: begin -->",
        "# Mine\n\n<!-- coord init: begin -->",
    );
    edit(".claude/skills/coord/SKILL.md", "# Coord", "# Our Coord");
    let printed = init(&world, &["--undo", "--yes"]);
    let notes: Vec<&str> = printed.lines().filter(|line| line.starts_with("Note: ")).collect();
    insta::assert_snapshot!(format!(
        "{}\n\n{}",
        notes.join("\n"),
        without_rules(&files(world.clone.path()))
    ));
}

#[test]
fn undo_in_another_clone_removes_what_was_committed() {
    let world = World::with(&[("a.txt", "a\n")]);
    init(
        &world,
        &["claude-code", "cursor", "opencode", "--yes", "--no-check", "--no-guard"],
    );
    world.clone.git(&["add", "."]);
    world.clone.git(&["commit", "--quiet", "--message", "coord init"]);
    // It has no record of what was made.
    std::fs::remove_file(world.clone.path().join(".git/coord/init.json")).unwrap();
    init(&world, &["--undo", "--yes"]);
    assert_eq!(files(world.clone.path()), "=== a.txt\na\n");
}

#[test]
fn undo_of_files_that_are_not_there_changes_nothing() {
    let world = World::with(&[(".mcp.json", "{\"mcpServers\": {}}\n"), ("AGENTS.md", "# Ours\n")]);
    let before = files(world.clone.path());
    let printed = init(&world, &["--undo", "--yes"]);
    assert!(printed.contains("nothing to change"), "{printed}");
    assert_eq!(files(world.clone.path()), before);
}

#[test]
fn undo_leaves_a_malformed_file_of_the_user_and_removes_the_rest() {
    let world = World::with(&[("a.txt", "a\n"), (".gemini/settings.json", "{ mine\n")]);
    std::fs::create_dir(world.clone.path().join("opencode.json")).unwrap();
    init(&world, &["vscode", "--yes", "--no-check"]);
    let printed = init(&world, &["--undo", "--yes"]);
    assert!(
        printed.contains("Note: opencode.json is a folder, and Coord opens regular files only"),
        "{printed}"
    );
    assert!(!world.clone.path().join(".vscode").exists());
    assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
    assert_eq!(read(&world.clone, ".gemini/settings.json"), "{ mine\n");
}
