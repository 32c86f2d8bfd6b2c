//! The files of each agent, in a repository without any.

use super::{AGENTS, files, init, run, without_rules};
use coord_test_worlds::world::World;

#[test]
fn each_agent_gets_its_files_once_and_undo_leaves_none() {
    for agent in AGENTS {
        let world = World::with(&[("a.txt", "a\n")]);
        let arguments = [agent, "--yes", "--no-check", "--no-guard"];
        let first = init(&world, &arguments);
        assert!(first.contains("To undo: `coord init --undo`."), "{first}");
        let written = files(world.clone.path());
        insta::assert_snapshot!(agent, without_rules(&written));
        let guard = world.clone.path().join(".git/hooks/pre-commit");
        assert!(!guard.exists(), "{agent}: --no-guard adds none");

        let second = init(&world, &arguments);
        assert!(
            second.contains("Everything is written already: nothing to change."),
            "{second}"
        );
        assert_eq!(files(world.clone.path()), written, "{agent}");

        init(&world, &["--undo", "--yes"]);
        assert_eq!(files(world.clone.path()), "=== a.txt\na\n", "{agent}");
        let folders = std::fs::read_dir(world.clone.path()).unwrap().count();
        assert_eq!(folders, 2, "{agent} leaves a folder");
        let again = init(&world, &["--undo", "--yes"]);
        assert!(
            again.contains("Nothing of coord init is here: nothing to change."),
            "{again}"
        );
    }
}

#[test]
fn all_agents_together_share_the_text_and_the_skill() {
    let world = World::with(&[("a.txt", "a\n")]);
    let mut arguments = AGENTS.to_vec();
    arguments.extend(["--yes", "--no-check", "--no-guard"]);
    init(&world, &arguments);
    let written = files(world.clone.path());
    let names: Vec<&str> = written.lines().filter(|line| line.starts_with("=== ")).collect();
    insta::assert_snapshot!(names.join("\n"));
    init(&world, &["--undo", "--yes"]);
    assert_eq!(files(world.clone.path()), "=== a.txt\na\n");
}

#[test]
fn agents_are_found_by_files_of_the_repository_and_of_the_user_and_by_programs() {
    let world = World::with(&[(".cursor/rules/a.mdc", "a\n")]);
    std::fs::create_dir_all(world.folder("home").join(".gemini")).unwrap();
    super::program(&world.folder("bin").join("codex"), "#!/bin/sh\n");
    let printed = init(&world, &["--dry-run"]);
    let (found, _) = printed.split_once("\n\n").unwrap();
    insta::assert_snapshot!(found, @"
    Detected agents:
      codex        program codex
      cursor       .cursor
      gemini       ~/.gemini
    ");
}

#[test]
fn without_an_agent_the_names_are_given() {
    let world = World::with(&[("a.txt", "a\n")]);
    let output = run(&world, &["--yes"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"coord: no agent was found here; name those that you use: claude-code, codex, cursor, gemini, copilot, opencode, vscode");
    let unknown = world.run(&["init", "emacs"]);
    assert_eq!(unknown.status.code(), Some(2));
}
