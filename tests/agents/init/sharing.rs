//! How others get the files: git's ignored files, those that a worktree of Codex reads, and the next steps.

use super::{coord, init, read};
use coord_test_worlds::world::World;

#[test]
fn files_that_git_ignores_are_named_with_what_that_means() {
    let world = World::with(&[(".gitignore", ".claude/\n.mcp.json\n"), (".mcp.json", "{}\n")]);
    world.clone.git(&["add", "--force", ".mcp.json"]);
    world.clone.git(&["commit", "--quiet", "--message", "Track it"]);
    let printed = init(&world, &["claude-code", "--yes", "--no-check"]);
    // A tracked file is shared, whatever the rules say.
    let note = "Note: git ignores .claude/settings.json, .claude/skills/coord/SKILL.md: other worktrees and your teammates do not get them. \
                Share them with `git add -f .claude/settings.json .claude/skills/coord/SKILL.md`, or write your own files for all \
                repositories with `coord init --user`.\n";
    assert!(printed.contains(note), "{printed}");
    assert!(
        printed.contains("- Commit the shared files: git add .mcp.json CLAUDE.md\n"),
        "{printed}"
    );
    // A second run says it as well.
    let again = init(&world, &["claude-code", "--yes", "--no-check"]);
    assert!(again.contains(note), "{again}");
    let other = World::with(&[("a.txt", "a\n")]);
    let printed = init(&other, &["claude-code", "--yes", "--no-check"]);
    assert!(!printed.contains("git ignores"), "{printed}");
    let own = init(&world, &["claude-code", "--user", "--yes", "--no-check"]);
    assert!(!own.contains("git ignores") && !own.contains("git add"), "{own}");
}

#[test]
fn in_a_worktree_codex_gets_the_hooks_of_the_main_checkout() {
    let world = World::with(&[("a.txt", "a\n")]);
    let worktree = world.worktree("ada");
    let run = |folder: &std::path::Path, args: &[&str]| {
        let output = coord(&world)
            .current_dir(folder)
            .arg("init")
            .args(args)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        printed
    };
    let arguments = ["codex", "--yes", "--no-check", "--no-guard"];
    let printed = run(worktree.path(), &arguments);
    let main = world.clone.path().join(".codex/hooks.json");
    let note = format!("Codex reads its hooks from the main checkout alone: {}", main.display());
    assert!(printed.contains(&note), "{printed}");
    assert!(read(&world.clone, ".codex/hooks.json").contains("coord hook codex PreToolUse"));
    assert!(read(&worktree, ".codex/config.toml").contains("mcp_servers.coord"));
    assert!(!worktree.path().join(".codex/hooks.json").exists());
    assert!(!world.clone.path().join(".codex/config.toml").exists());
    assert!(run(worktree.path(), &arguments).contains("nothing to change"));
    let output = coord(&world)
        .current_dir(worktree.path())
        .arg("doctor")
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(found.replace('\n', "").contains("codex"), "{found}");
    // The main checkout's own run finds them, and other worktrees keep them.
    assert!(!run(world.clone.path(), &arguments).contains("main checkout alone"));
    let printed = run(worktree.path(), &["--undo", "--yes"]);
    assert!(printed.contains("is for all worktrees, and was left"), "{printed}");
    assert!(main.exists() && !worktree.path().join(".codex").exists());
    run(world.clone.path(), &["--undo", "--yes"]);
    assert!(!world.clone.path().join(".codex").exists());
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_next_step_is_printed_at_the_end() {
    let world = World::with(&[("a.txt", "a\n")]);
    let printed = init(
        &world,
        &["vscode", "--yes", "--no-check", "--url", "http://127.0.0.1:9"],
    );
    let (_, next) = printed.split_once("\nNext:\n").unwrap();
    insta::assert_snapshot!(next, @r"
    - Commit the shared files: git add .vscode/mcp.json
    - Teammates need coord on their PATH: without it, their agents work without locks. Git's hooks are not shared: each runs `coord init`.
    - See who works on what: http://127.0.0.1:9
    - In each agent, the next time it starts:
      vscode       start the server coord when VS Code asks
    ");
}
