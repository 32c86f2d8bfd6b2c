//! Git's hooks: new ones, and lines in those that are there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{coord, init, program, read, write};
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
    let git = |args: &[&str]| {
        let mut command = coord(&world);
        let path = command
            .get_envs()
            .find(|(name, _)| *name == "PATH")
            .unwrap()
            .1
            .unwrap()
            .to_owned();
        command = std::process::Command::new("git");
        let command = command.current_dir(world.clone.path()).args(args).env("PATH", path);
        command.env("HOME", &home).output().unwrap()
    };
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let commit = [&identity[..], &["commit", "--allow-empty", "--quiet", "--message", "b"]].concat();
    let committed = git(&commit);
    assert!(
        committed.status.success(),
        "{}",
        String::from_utf8_lossy(&committed.stderr)
    );
    let pushed = git(&["push", "--quiet"]);
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let log = fs::read_to_string(home.join("guard.log")).unwrap();
    let expected = "guard pre-commit\nguard commit-msg .git/COMMIT_EDITMSG\nguard pre-push origin ";
    assert!(log.starts_with(expected), "{log}");
    assert!(log.contains("refs/heads/main"), "{log}");
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
    let home = world.folder("home");
    let path = format!("{}:/usr/bin:/bin", world.folder("bin").display());
    let sent = "refs/heads/a 1 refs/heads/a 0\nrefs/heads/$HOME 1 refs/heads/b 0\n";
    let mut hook = std::process::Command::new(hooks.join("pre-push"))
        .args(["origin", "url"])
        .env("HOME", &home)
        .env("PATH", path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), sent.as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    assert_eq!(fs::read_to_string(home.join("mine.log")).unwrap(), sent);
    assert_eq!(
        fs::read_to_string(home.join("guard.log")).unwrap(),
        format!("guard pre-push origin url\n{sent}")
    );

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
    assert!(
        printed.contains("pre-commit is not a script of a shell: run `coord guard pre-commit` there yourself"),
        "{printed}"
    );
    assert!(
        printed.contains("pre-push is not executable, so git does not run it"),
        "{printed}"
    );
    assert_eq!(read(&world.clone, ".git/hooks/pre-push"), "#!/bin/sh\n");

    let shared = world.folder("shared-hooks").display().to_string();
    world.clone.git(&["config", "core.hooksPath", &shared]);
    let printed = init(&world, &ARGUMENTS);
    assert!(
        printed.contains("(core.hooksPath) has the hooks of other repositories too"),
        "{printed}"
    );
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn no_guard_adds_none() {
    let world = World::with(&[("a.txt", "a\n")]);
    init(&world, &["vscode", "--yes", "--no-check", "--no-guard"]);
    assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
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
