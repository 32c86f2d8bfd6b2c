//! The rules for pushed files, wherever the commits have gone and however they have come to the branch.

use std::path::Path;

use serde_json::Value;

use crate::commands::{parts, printed};
use crate::hook::{claude, held_files};
use crate::texts::assert_has;
use crate::worktree_agent::{path, world_with_guards};
use coord_test_worlds::world::World;

const FILES: [(&str, &str); 2] = [("a.txt", "a\n"), ("b.txt", "b\n")];

/// Runs `command` as a person does, which must succeed.
#[track_caller]
pub fn shell(world: &World, folder: &Path, command: &str) {
    let (status, _, errors) = parts(&world.in_shell(folder, command));
    assert_eq!(status, 0, "{command}: {errors}");
}

/// Ada edits a.txt in the clone, after `before`, and runs `push`; returns the files that are still held.
fn held_after(world: &World, before: &str, push: &str) -> Vec<String> {
    let folder = world.clone.path();
    shell(world, folder, before);
    let ada = claude(world, "ada");
    ada.may_edit("a.txt");
    shell(world, folder, "echo changed >a.txt");
    ada.has_edited("a.txt");
    shell(world, folder, "git commit -qam Change");
    ada.has_run("git commit -qam Change");
    assert_eq!(held_files(world), ["a.txt"], "committed is not pushed");
    shell(world, folder, push);
    ada.has_run(push);
    ada.ends_turn();
    held_files(world)
}

// rule: locks#known-pushes
#[test]
fn a_branch_that_no_reference_follows_is_pushed_where_the_remote_has_it() {
    let before = "git switch -qc topic";
    for (options, push) in [
        (&["--depth", "1"][..], "git push -q origin topic"),
        (&["--single-branch"], "git push -qu origin topic"),
        (&["--single-branch"], "git push -q origin HEAD"),
    ] {
        let world = World::cloned(&FILES, options);
        assert_eq!(held_after(&world, before, push), [""; 0], "{options:?} {push}");
        shell(&world, world.clone.path(), "git switch -q main");
        // Others get the change as a warning.
        let (_, text, _) = parts(&world.run(&["check", "a.txt", "--agent", "bob"]));
        assert_has(&text, &["PENDING: 'a.txt'"]);
    }
    let world = World::cloned(&FILES, &["--depth", "1"]);
    let unpushed = held_after(&world, before, "git push -q --dry-run origin topic");
    assert_eq!(unpushed, ["a.txt"], "nothing was pushed");
}

#[test]
fn a_push_by_another_name_or_from_no_branch_counts() {
    for (before, push) in [
        (":", "git push -q origin HEAD:refs/heads/other"),
        ("git switch -qc topic", "git push -q origin HEAD:other"),
        ("git checkout -q --detach", "git push -q origin HEAD:refs/heads/other"),
    ] {
        let world = World::with(&FILES);
        assert_eq!(held_after(&world, before, push), [""; 0], "{before}; {push}");
    }
}

// rule: locks#known-pushes
#[test]
fn a_push_to_a_fork_counts() {
    for (setting, before) in [
        ("remote.pushDefault", "git switch -qc topic"),
        ("branch.topic.pushRemote", "git switch -qc topic"),
        ("branch.main.pushRemote", ":"),
    ] {
        let world = World::with(&FILES);
        let fork = world.folder("fork.git").display().to_string();
        let make = format!(
            "git clone -q --bare \"$(git remote get-url origin)\" '{fork}' && git remote add fork '{fork}' && git config {setting} fork"
        );
        shell(&world, world.clone.path(), &make);
        let held = held_after(&world, before, "git push -q fork HEAD");
        assert_eq!(held, [""; 0], "{setting}");
    }
}

#[test]
fn a_push_for_review_counts_once_the_remote_has_the_commit() {
    let world = world_with_guards(&FILES);
    let push = |options: &str| {
        format!(
            "COORD_AGENT=ada PATH='{}' git push -q {options} origin HEAD:refs/for/main",
            path(&world)
        )
    };
    // The hook ran before the push, and the push failed.
    let held = held_after(&world, "git switch -qc topic", &push("--dry-run"));
    assert_eq!(held, ["a.txt"]);
    shell(&world, world.clone.path(), &push(""));
    claude(&world, "ada").has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
}

// rule: locks#squash
#[test]
fn a_file_equal_to_the_head_is_released_whatever_commit_brought_it() {
    let change = "echo changed >a.txt && git commit -qam Change";
    let squash = |world: &World| world.others_push("main", &[("a.txt", "changed\n"), ("b.txt", "bb\n")]);
    for is_deleted in [false, true] {
        let world = World::with(&FILES);
        let folder = world.clone.path();
        shell(&world, folder, "git switch -qc topic");
        printed(&world, &["claim", "a.txt", "-m", "Change a"], 0);
        shell(&world, folder, change);
        if is_deleted {
            shell(&world, folder, "git push -q origin topic && git push -q origin :topic");
        }
        printed(&world, &["release", "a.txt"], 3);
        squash(&world);
        shell(&world, folder, "git fetch -q --prune");
        printed(&world, &["release", "a.txt"], 0);
        assert_eq!(held_files(&world), [""; 0]);
    }
    let world = World::with(&FILES);
    let folder = world.clone.path();
    let ada = claude(&world, "ada");
    shell(&world, folder, "git switch -qc topic");
    ada.may_edit("a.txt");
    shell(&world, folder, change);
    squash(&world);
    shell(&world, folder, "git fetch -q");
    ada.has_run("git fetch");
    ada.ends_turn();
    assert_eq!(held_files(&world), [""; 0]);
}

#[test]
fn the_tool_releases_what_was_never_changed_as_the_command_does() {
    let world = World::with(&FILES);
    let mut agent = crate::mcp::agent(&world);
    let claimed = agent.claim(&["a.txt", "b.txt"]);
    assert_eq!(claimed["success"], true, "{claimed}");
    shell(&world, world.clone.path(), "echo changed >b.txt");
    let released = agent.post(&["a.txt"], "OPEN", "Done");
    assert_eq!(released["success"], true, "{released}");
    let kept = agent.post(&["b.txt"], "OPEN", "Done");
    assert_eq!(kept["orchestration"]["action"], "PUSH", "{kept}");
    assert_eq!(kept["orchestration"]["command"], Value::Null, "{kept}");
    assert_eq!(held_files(&world), ["b.txt"]);
}
