//! `--user`: the user's own files, and none of the repository.

use super::{coord, files, init};
use coord_test_worlds::world::World;

#[test]
fn the_files_in_the_home_folder_are_written_and_removed() {
    let world = World::with(&[("a.txt", "a\n")]);
    let home = world.folder("home");
    std::fs::write(home.join(".gitconfig"), "").unwrap();
    let mut arguments = super::AGENTS.to_vec();
    arguments.extend(["--user", "--yes", "--no-check"]);
    let printed = init(&world, &arguments);
    assert!(printed.contains("To undo: `coord init --user --undo`."), "{printed}");
    let written = files(&home);
    let names: Vec<&str> = written.lines().filter(|line| line.starts_with("=== ")).collect();
    insta::assert_snapshot!(names.join("\n"));
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
    assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
    init(&world, &["--user", "--undo", "--yes"]);
    assert_eq!(files(&home), "=== .gitconfig\n");
}

#[test]
fn outside_of_a_repository_only_the_users_files_can_be_written() {
    let world = World::with(&[("a.txt", "a\n")]);
    let outside = world.folder("outside");
    let run = |args: &[&str]| {
        coord(&world)
            .current_dir(&outside)
            .arg("init")
            .args(args)
            .output()
            .unwrap()
    };
    assert_eq!(run(&["codex", "--yes"]).status.code(), Some(1));
    let program = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_coord"));
    super::program(&world.folder("bin").join("coord"), &program);
    let output = run(&["codex", "--user", "--yes"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_checked = printed.contains("  codex        ok, the hook denied it\n");
    assert!(output.status.success() && is_checked, "{printed}");
}
