//! Git's hooks: new ones, and lines in those that are there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{coord, init, program, read, write};
use crate::processes::{assert_success, output_with, program_like};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

const ARGUMENTS: [&str; 3] = ["vscode", "--yes", "--no-check"];

/// A guard that writes down how it was called, and refuses where a file says so.
const GUARD: &str = "#!/bin/sh\n{ echo \"$@\"; cat; } >>\"$HOME/guard.log\"\n[ ! -e \"$HOME/refuse\" ]\n";

#[test]
fn new_hooks_run_the_guard_and_refuse_where_it_does() {
    let world = World::with(&[("a.txt", "a\n")]);
    init(&world, &ARGUMENTS);
    let home = world.folder("home");
    program(&world.folder("bin").join("coord"), GUARD);
    let git = |args: &[&str]| program_like(&coord(&world), "git").args(args).output().unwrap();
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let commit = [&identity[..], &["commit", "--allow-empty", "--quiet", "--message", "b"]].concat();
    assert_success(&git(&commit));
    assert_success(&git(&["push", "--quiet"]));
    let log = fs::read_to_string(home.join("guard.log")).unwrap();
    let expected = "guard pre-commit\nguard commit-msg .git/COMMIT_EDITMSG\nguard pre-push origin ";
    assert!(log.starts_with(expected), "{log}");
    assert_has(&log, &["refs/heads/main"]);
    fs::write(home.join("refuse"), "").unwrap();
    assert!(!git(&commit).status.success());
    // A machine without coord goes on.
    fs::remove_file(world.folder("bin").join("coord")).unwrap();
    assert!(git(&commit).status.success());
}

#[test]
fn hooks_that_are_there_get_lines_and_still_read_what_git_sends() {
    let world = World::with(&[("a.txt", "a\n")]);
    let hooks = world.clone.path().join(".git/hooks");
    let mine = "#!/usr/bin/env bash\nset -eu\ncat >\"$HOME/mine.log\"\nexit 0\n";
    program(&hooks.join("pre-push"), mine);
    init(&world, &ARGUMENTS);
    insta::assert_snapshot!(read(&world.clone, ".git/hooks/pre-push"));
    let mode = fs::metadata(hooks.join("pre-push")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    program(&world.folder("bin").join("coord"), GUARD);
    let sent = "refs/heads/a 1 refs/heads/a 0\nrefs/heads/$HOME 1 refs/heads/b 0\n";
    let mut hook = program_like(&coord(&world), hooks.join("pre-push").to_str().unwrap());
    hook.args(["origin", "url"]);
    assert_success(&output_with(hook, sent));
    let logged = |name: &str| fs::read_to_string(world.folder("home").join(name)).unwrap();
    assert_eq!(logged("mine.log"), sent);
    assert_eq!(logged("guard.log"), format!("guard pre-push origin url\n{sent}"));

    assert!(init(&world, &ARGUMENTS).contains("nothing to change"));
    init(&world, &["--undo", "--yes"]);
    assert_eq!(read(&world.clone, ".git/hooks/pre-push"), mine);
    assert!(!hooks.join("pre-commit").exists());
}

#[test]
fn the_folder_of_hooks_is_the_one_that_git_uses() {
    let world = World::with(&[(".husky/pre-commit", "npm test\n")]);
    world.clone.git(&["config", "core.hooksPath", ".husky/_"]);
    init(&world, &ARGUMENTS);
    assert_eq!(
        read(&world.clone, ".husky/pre-commit"),
        "# coord init: begin\nif command -v coord >/dev/null 2>&1; then coord guard pre-commit || exit $?; fi\n\
         # coord init: end\nnpm test\n"
    );
    assert!(world.clone.path().join(".husky/pre-push").exists());
    assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
    init(&world, &["--undo", "--yes"]);
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
}

#[test]
fn hooks_that_cannot_have_the_lines_are_left_with_a_note() {
    let world = World::with(&[("a.txt", "a\n")]);
    let hooks = world.clone.path().join(".git/hooks");
    program(&hooks.join("pre-commit"), "#!/usr/bin/env python3\nprint(1)\n");
    write(&world.clone, ".git/hooks/pre-push", "#!/bin/sh\n");
    let printed = init(&world, &ARGUMENTS);
    let by_hand = "pre-commit is not a script of a shell: run `coord guard pre-commit` there yourself";
    assert_has(
        &printed,
        &[by_hand, "pre-push is not executable, so git does not run it"],
    );
    assert_eq!(read(&world.clone, ".git/hooks/pre-push"), "#!/bin/sh\n");

    let shared = world.folder("shared-hooks").display().to_string();
    world.clone.git(&["config", "core.hooksPath", &shared]);
    let printed = init(&world, &ARGUMENTS);
    assert_has(&printed, &["(core.hooksPath) has the hooks of other repositories too"]);
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn doctor_looks_at_the_file_that_git_runs_in_this_worktree() {
    let world = World::with(&[
        (".husky/pre-commit", "coord guard pre-commit\n"),
        (".gitignore", "_/\n"),
    ]);
    world.clone.git(&["config", "core.hooksPath", ".husky/_"]);
    let husky = world.clone.path().join(".husky/_");
    fs::create_dir_all(&husky).unwrap();
    program(&husky.join("pre-commit"), "#!/bin/sh\n. \"$(dirname \"$0\")/h\"\n");
    let worktree = world.worktree("ada");
    let runs = |folder: &std::path::Path| {
        let output = world.coord(folder).arg("doctor").output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("coord guard runs at pre-commit")
    };
    assert!(runs(world.clone.path()));
    assert!(!runs(worktree.path()), "Husky has made nothing there");
}
