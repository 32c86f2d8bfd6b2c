//! `coord guard`, as git runs it.

mod branches;
mod names;
mod past;
mod stale_index;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use crate::hook::{Session, held_files};
use crate::worktree_agent::{path, world_with_guards};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// Installs the hook `name`, which runs `coord guard` with the environment of the tests.
pub fn install(world: &World, name: &str, options: &str) {
    let hooks = world.clone.path().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let program = env!("CARGO_BIN_EXE_coord");
    let text = format!("#!/bin/sh\nexec '{program}' guard {options} {name} \"$@\"\n");
    let path = hooks.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// `git ARGS` in `folder`, with the environment that `coord` gets in tests.
pub fn git(world: &World, folder: &Path, settings: &[(&str, &str)], args: &[&str]) -> Output {
    let coord = world.coord(folder);
    let mut git = Command::new("git");
    for (name, value) in coord.get_envs() {
        match value {
            Some(value) => git.env(name, value),
            None => git.env_remove(name),
        };
    }
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    git.envs(settings.iter().copied())
        .current_dir(folder)
        .args(["-c", "protocol.file.allow=always"])
        .args(identity)
        .args(args)
        .output()
        .unwrap()
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Bob holds `file`.
fn bob_edits(world: &World, file: &str) {
    let bob = Session {
        world,
        form: &CLAUDE_CODE,
        folder: world.clone.path(),
        holder: Some("bob"),
    };
    bob.gets_prompt("Rewrite it all");
    assert_eq!(bob.denial(&bob.edits(file)), None);
}

fn write(world: &World, file: &str) {
    std::fs::write(world.clone.path().join(file), "changed").unwrap();
}

// rule: hooks#pre-commit
#[test]
fn a_commit_of_a_file_that_another_holds_is_refused_and_its_holder_may_commit() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt");
    write(&world, "b.txt");
    let folder = world.clone.path();
    let refused = git(&world, folder, &[], &["commit", "-qam", "Change both"]);
    assert!(!refused.status.success());
    let text = stderr_of(&refused);
    assert!(
        text.contains("a.txt: WRITING by") && text.contains("(bob): \u{201c}Rewrite it all\u{201d}"),
        "{text}"
    );
    assert!(text.contains("COORD_BYPASS=1") && !text.contains("b.txt:"), "{text}");
    // Only the files of this commit count, also where git makes an index for it.
    git(&world, folder, &[], &["add", "a.txt"]);
    let part = git(&world, folder, &[], &["commit", "-qm", "Change b", "b.txt"]);
    assert!(part.status.success(), "{}", stderr_of(&part));
    let of_bob = git(
        &world,
        folder,
        &[("COORD_AGENT", "bob")],
        &["commit", "-qam", "Change a"],
    );
    assert!(of_bob.status.success(), "{}", stderr_of(&of_bob));
}

#[test]
fn the_session_of_the_agent_above_git_is_the_holder() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    let ada = Session {
        world: &world,
        form: &CLAUDE_CODE,
        folder: world.clone.path(),
        holder: None,
    };
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    write(&world, "a.txt");
    let done = git(&world, world.clone.path(), &[], &["commit", "-qam", "Change a"]);
    assert!(done.status.success(), "{}", stderr_of(&done));
}

// rule: hooks#guard-warnings
#[test]
fn a_neighbor_that_another_changes_is_a_warning() {
    let world = World::with(&[
        ("src/db.ts", "export const a = 1;\n"),
        ("src/auth.ts", "import { a } from './db';\n"),
    ]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "src/db.ts");
    write(&world, "src/auth.ts");
    // The graph is built after the first requests.
    let mut text = String::new();
    let started = std::time::Instant::now();
    while !text.contains("src/db.ts") && started.elapsed() < std::time::Duration::from_secs(20) {
        let done = git(
            &world,
            world.clone.path(),
            &[],
            &["commit", "-qam", "Change it", "--allow-empty"],
        );
        assert!(done.status.success(), "{}", stderr_of(&done));
        text = stderr_of(&done);
        git(
            &world,
            world.clone.path(),
            &[("COORD_BYPASS", "1")],
            &["reset", "-q", "HEAD~1"],
        );
    }
    assert!(
        text.contains("warning") && text.contains("src/db.ts: WRITING"),
        "{text}"
    );
}

// rule: hooks#pre-push
#[test]
fn a_push_of_a_file_that_another_holds_is_refused_and_others_pass() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    install(&world, "pre-push", "");
    let folder = world.clone.path();
    world.clone.commit(&[("b.txt", "bb")]);
    bob_edits(&world, "a.txt");
    let passed = git(&world, folder, &[], &["push", "-q"]);
    assert!(passed.status.success(), "{}", stderr_of(&passed));
    world.clone.commit(&[("a.txt", "aa")]);
    world.clone.commit(&[("b.txt", "bbb")]);
    let refused = git(&world, folder, &[], &["push", "-q"]);
    assert!(!refused.status.success());
    assert!(
        stderr_of(&refused).contains("a.txt: WRITING"),
        "{}",
        stderr_of(&refused)
    );
    // The work of another branch is for this one, too.
    let topic = git(&world, folder, &[], &["push", "-q", "origin", "HEAD:refs/heads/topic"]);
    assert!(stderr_of(&topic).contains("a.txt: WRITING"), "{}", stderr_of(&topic));
    let part = git(
        &world,
        folder,
        &[],
        &["push", "-q", "origin", "HEAD~2:refs/heads/topic"],
    );
    assert!(part.status.success(), "{}", stderr_of(&part));
    let deleted = git(&world, folder, &[], &["push", "-q", "origin", ":refs/heads/topic"]);
    assert!(deleted.status.success(), "{}", stderr_of(&deleted));
    let review = git(&world, folder, &[], &["push", "-q", "origin", "HEAD:refs/for/main"]);
    assert!(stderr_of(&review).contains("a.txt: WRITING"), "{}", stderr_of(&review));
    let tag = git(&world, folder, &[], &["push", "-q", "origin", "HEAD:refs/tags/v1"]);
    assert!(tag.status.success(), "{}", stderr_of(&tag));
}

#[test]
fn a_push_that_git_refuses_itself_is_nothing_to_the_guard() {
    let world = world_with_guards(&[("a.txt", "a"), ("b.txt", "b")]);
    let other = world.worktree("other");
    other.commit(&[("b.txt", "bb")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    world.clone.commit(&[("a.txt", "aa")]);
    let refused = git(&world, world.clone.path(), &[("PATH", &path(&world))], &["push", "-q"]);
    let errors = stderr_of(&refused);
    assert!(!refused.status.success() && errors.contains("rejected"), "{errors}");
    // Git names the remote, whose path may have the word.
    assert!(!errors.lines().any(|line| line.starts_with("coord")), "{errors}");
}

// rule: hooks#bypass
#[test]
fn the_way_past_the_guard_is_noted() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt");
    let folder = world.clone.path();
    let log = folder.join(".git/coord/bypass.log");
    std::fs::write(&log, "x\n".repeat(32 * 1024)).unwrap();
    let done = git(
        &world,
        folder,
        &[("COORD_BYPASS", "1")],
        &["commit", "-qam", "Change a"],
    );
    assert!(done.status.success(), "{}", stderr_of(&done));
    assert!(stderr_of(&done).contains("COORD_BYPASS=1"), "{}", stderr_of(&done));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.len() < 40 * 1024 && text.lines().last().unwrap().contains("pre-commit head="),
        "{text}"
    );
    std::fs::write(folder.join("a.txt"), "changed again").unwrap();
    let other = git(
        &world,
        folder,
        &[("COORD_BYPASS", "0")],
        &["commit", "-qam", "Change a"],
    );
    assert!(!other.status.success(), "{}", stderr_of(&other));
}

// rule: hooks#guard-warnings
#[test]
fn without_a_server_commits_pass_and_none_is_started() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    write(&world, "a.txt");
    let folder = world.clone.path();
    let done = git(&world, folder, &[], &["commit", "-qam", "Change a"]);
    assert!(
        done.status.success() && stderr_of(&done).is_empty(),
        "{}",
        stderr_of(&done)
    );
    assert_eq!(world.server(), None);
    assert_eq!(held_files(&world), [""; 0]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = [("COORD_URL", nowhere.as_str())];
    write(&world, "b.txt");
    git(&world, folder, &[], &["add", "b.txt"]);
    let done = git(&world, folder, &settings, &["commit", "-qm", "Add b"]);
    assert!(
        done.status.success() && stderr_of(&done).contains("let pass, unchecked"),
        "{}",
        stderr_of(&done)
    );
    install(&world, "pre-commit", "--on-error deny");
    let refused = git(
        &world,
        folder,
        &settings,
        &["commit", "-qm", "Change b", "--allow-empty"],
    );
    assert!(refused.status.success(), "no file, no request: {}", stderr_of(&refused));
    write(&world, "c.txt");
    git(&world, folder, &[], &["add", "c.txt"]);
    let refused = git(&world, folder, &settings, &["commit", "-qm", "Add c"]);
    assert!(
        !refused.status.success() && stderr_of(&refused).contains("--on-error deny"),
        "{}",
        stderr_of(&refused)
    );
}

// rule: hooks#guard-intents
#[test]
fn staged_files_are_compared_with_the_scope_and_the_owners() {
    let world = World::with(&[("a.txt", "a"), (".orchestration/intent_map.md", "x")]);
    install(&world, "pre-commit", "");
    let fake = Fake::with_intent(&world, true);
    let refused = |action: &str, reason: &str| {
        let orchestration =
            json!({ "type": "orchestration_command", "action": action, "command": null, "reason": reason });
        let answer = json!({ "status": "CONFLICT", "repo_head": null, "repo_head_ref": null, "locks": {}, "held": {}, "warnings": [],
            "orchestration": orchestration });
        fake.answer("/api/check_status", 200, answer);
    };
    let commit = || {
        git(
            &world,
            world.clone.path(),
            &[],
            &["commit", "--quiet", "--all", "--message", "Change"],
        )
    };
    // Everybody commits what is written of intents in files.
    refused(
        "STOP",
        "Scope Violation: REQ-1 is not authorized to edit 'a.txt'. Request scope expansion.",
    );
    write(&world, ".orchestration/intent_map.md");
    assert!(commit().status.success());
    write(&world, "a.txt");
    for (action, reason) in [
        (
            "STOP",
            "Scope Violation: REQ-1 is not authorized to edit 'a.txt'. Request scope expansion.",
        ),
        ("SWITCH_TASK", "Governance Violation: File owned by Intent [REQ-2]"),
    ] {
        refused(action, reason);
        let ended = commit();
        assert!(!ended.status.success());
        assert!(
            stderr_of(&ended).contains(&format!("refused: {reason}")),
            "{}",
            stderr_of(&ended)
        );
    }
    // A person has not selected anything, and is told so.
    refused("STOP", "You must cite a valid active Intent ID.");
    let ended = commit();
    assert!(
        ended.status.success() && stderr_of(&ended).contains("warning: You must cite"),
        "{}",
        stderr_of(&ended)
    );
}
