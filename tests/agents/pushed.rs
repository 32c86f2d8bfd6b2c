//! The rules for pushed files, wherever the commits have gone and however they have come to the branch.

use std::path::Path;

use crate::hook::{Session, held_files};
use crate::worktree_agent::{path, world_with_guards};
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

const FILES: [(&str, &str); 2] = [("a.txt", "a\n"), ("b.txt", "b\n")];

fn shell(world: &World, folder: &Path, command: &str) {
    let ended = world.in_shell(folder, command);
    assert!(
        ended.status.success(),
        "{command}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// Ada edits a.txt in the clone, after `before`, and runs `push`.
fn is_released_after(world: &World, before: &str, push: &str) -> Vec<String> {
    let folder = world.clone.path();
    shell(world, folder, before);
    let ada = Session {
        world,
        form: &CLAUDE_CODE,
        folder,
        holder: Some("ada"),
    };
    assert_eq!(ada.denial(&ada.edits("a.txt")), None, "{before}");
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
    for (options, before, push) in [
        (
            &["--depth", "1"][..],
            "git switch -qc topic",
            "git push -q origin topic",
        ),
        (
            &["--single-branch"],
            "git switch -qc topic",
            "git push -qu origin topic",
        ),
        (&["--single-branch"], "git switch -qc topic", "git push -q origin HEAD"),
    ] {
        let world = World::cloned(&FILES, options);
        assert_eq!(is_released_after(&world, before, push), [""; 0], "{options:?} {push}");
        shell(&world, world.clone.path(), "git switch -q main");
        let pending = world.run(&["check", "a.txt", "--agent", "bob"]);
        let text = String::from_utf8_lossy(&pending.stdout).into_owned();
        assert!(
            text.contains("PENDING: 'a.txt'"),
            "others are told of the change: {text}"
        );
    }
    let world = World::cloned(&FILES, &["--depth", "1"]);
    let unpushed = is_released_after(&world, "git switch -qc topic", "git push -q --dry-run origin topic");
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
        assert_eq!(is_released_after(&world, before, push), [""; 0], "{before}; {push}");
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
        assert_eq!(
            is_released_after(&world, before, "git push -q fork HEAD"),
            [""; 0],
            "{setting}"
        );
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
    let held = is_released_after(&world, "git switch -qc topic", &push("--dry-run"));
    assert_eq!(held, ["a.txt"]);
    let ada = Session {
        world: &world,
        form: &CLAUDE_CODE,
        folder: world.clone.path(),
        holder: Some("ada"),
    };
    shell(&world, world.clone.path(), &push(""));
    ada.has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
}

// rule: locks#squash
#[test]
fn a_file_equal_to_the_head_is_released_whatever_commit_brought_it() {
    let squash = |world: &World| world.others_push("main", &[("a.txt", "changed\n"), ("b.txt", "bb\n")]);
    for is_deleted in [false, true] {
        let world = World::with(&FILES);
        let folder = world.clone.path();
        shell(&world, folder, "git switch -qc topic");
        let claim = ["claim", "a.txt", "-m", "Change a"];
        assert!(world.run(&claim).status.success());
        shell(&world, folder, "echo changed >a.txt && git commit -qam Change");
        if is_deleted {
            shell(&world, folder, "git push -q origin topic && git push -q origin :topic");
        }
        assert_eq!(world.run(&["release", "a.txt"]).status.code(), Some(3));
        squash(&world);
        shell(&world, folder, "git fetch -q --prune");
        let released = world.run(&["release", "a.txt"]);
        assert!(
            released.status.success(),
            "{}",
            String::from_utf8_lossy(&released.stdout)
        );
        assert_eq!(held_files(&world), [""; 0]);
    }
    let world = World::with(&FILES);
    let folder = world.clone.path();
    let ada = Session {
        world: &world,
        form: &CLAUDE_CODE,
        folder,
        holder: Some("ada"),
    };
    shell(&world, folder, "git switch -qc topic");
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    shell(&world, folder, "echo changed >a.txt && git commit -qam Change");
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
    assert_eq!(kept["orchestration"]["command"], serde_json::Value::Null, "{kept}");
    assert_eq!(held_files(&world), ["b.txt"]);
}
