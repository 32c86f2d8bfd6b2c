//! `coord guard`, as git runs it.

mod branches;
mod names;
mod past;
mod stale_index;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hook::{claude, held_files, session};
use crate::processes::{assert_success, program_like};
use crate::texts::{assert_has, assert_lacks};
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
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    program_like(&world.coord(folder), "git")
        .envs(settings.iter().copied())
        .args(["-c", "protocol.file.allow=always"])
        .args(identity)
        .args(args)
        .output()
        .unwrap()
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `git ARGS` in the clone with these settings, which must succeed; returns its standard error.
#[track_caller]
fn passes(world: &World, settings: &[(&str, &str)], args: &[&str]) -> String {
    let output = git(world, world.clone.path(), settings, args);
    assert_success(&output);
    stderr_of(&output)
}

/// `git ARGS` in the clone with these settings, which must fail; returns its standard error.
#[track_caller]
fn fails(world: &World, settings: &[(&str, &str)], args: &[&str]) -> String {
    let output = git(world, world.clone.path(), settings, args);
    assert!(!output.status.success(), "{args:?}: {output:?}");
    stderr_of(&output)
}

/// Bob holds `file`.
fn bob_edits(world: &World, file: &str) {
    let bob = claude(world, "bob");
    bob.gets_prompt("Rewrite it all");
    bob.may_edit(file);
}

fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

// rule: hooks#pre-commit
#[test]
fn a_commit_of_a_file_that_another_holds_is_refused_and_its_holder_may_commit() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt", "changed");
    write(&world, "b.txt", "changed");
    let text = fails(&world, &[], &["commit", "-qam", "Change both"]);
    let reason = "(bob): \u{201c}Rewrite it all\u{201d}";
    assert_has(&text, &["a.txt: WRITING by", reason, "COORD_BYPASS=1"]);
    assert_lacks(&text, &["b.txt:"]);
    // Only the files of this commit count, also where git makes an index for it.
    passes(&world, &[], &["add", "a.txt"]);
    passes(&world, &[], &["commit", "-qm", "Change b", "b.txt"]);
    let bob = [("COORD_AGENT", "bob")];
    passes(&world, &bob, &["commit", "-qam", "Change a"]);
}

#[test]
fn the_session_of_the_agent_above_git_is_the_holder() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    session(&world, &CLAUDE_CODE, None).may_edit("a.txt");
    write(&world, "a.txt", "changed");
    passes(&world, &[], &["commit", "-qam", "Change a"]);
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
    write(&world, "src/auth.ts", "changed");
    // The graph is built after the first requests.
    let mut text = String::new();
    let started = Instant::now();
    while !text.contains("src/db.ts") && started.elapsed() < Duration::from_secs(20) {
        text = passes(&world, &[], &["commit", "-qam", "Change it", "--allow-empty"]);
        let bypass = [("COORD_BYPASS", "1")];
        passes(&world, &bypass, &["reset", "-q", "HEAD~1"]);
    }
    assert_has(&text, &["warning", "src/db.ts: WRITING"]);
}

// rule: hooks#pre-push
#[test]
fn a_push_of_a_file_that_another_holds_is_refused_and_others_pass() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    install(&world, "pre-push", "");
    world.clone.commit(&[("b.txt", "bb")]);
    bob_edits(&world, "a.txt");
    passes(&world, &[], &["push", "-q"]);
    world.clone.commit(&[("a.txt", "aa")]);
    world.clone.commit(&[("b.txt", "bbb")]);
    assert_has(&fails(&world, &[], &["push", "-q"]), &["a.txt: WRITING"]);
    for (reference, is_refused) in [
        // The work of another branch is for this one, too.
        ("HEAD:refs/heads/topic", true),
        ("HEAD~2:refs/heads/topic", false),
        (":refs/heads/topic", false),
        ("HEAD:refs/for/main", true),
        ("HEAD:refs/tags/v1", false),
    ] {
        let push = ["push", "-q", "origin", reference];
        match is_refused {
            true => assert_has(&fails(&world, &[], &push), &["a.txt: WRITING"]),
            false => _ = passes(&world, &[], &push),
        }
    }
}

#[test]
fn a_push_that_git_refuses_itself_is_nothing_to_the_guard() {
    let world = world_with_guards(&[("a.txt", "a"), ("b.txt", "b")]);
    let other = world.worktree("other");
    other.commit(&[("b.txt", "bb")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    world.clone.commit(&[("a.txt", "aa")]);
    let errors = fails(&world, &[("PATH", &path(&world))], &["push", "-q"]);
    assert_has(&errors, &["rejected"]);
    // Git names the remote, whose path may have the word.
    assert!(!errors.lines().any(|line| line.starts_with("coord")), "{errors}");
}

// rule: hooks#bypass
#[test]
fn the_way_past_the_guard_is_noted() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt", "changed");
    let commit = ["commit", "-qam", "Change a"];
    let log = world.clone.path().join(".git/coord/bypass.log");
    std::fs::write(&log, "x\n".repeat(32 * 1024)).unwrap();
    let errors = passes(&world, &[("COORD_BYPASS", "1")], &commit);
    assert_has(&errors, &["COORD_BYPASS=1"]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.len() < 40 * 1024, "{text}");
    assert_has(text.lines().last().unwrap(), &["pre-commit head="]);
    write(&world, "a.txt", "changed again");
    fails(&world, &[("COORD_BYPASS", "0")], &commit);
}

// rule: hooks#guard-warnings
#[test]
fn without_a_server_commits_pass_and_none_is_started() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    write(&world, "a.txt", "changed");
    assert_eq!(passes(&world, &[], &["commit", "-qam", "Change a"]), "");
    assert_eq!(world.server(), None);
    assert_eq!(held_files(&world), [""; 0]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = [("COORD_URL", nowhere.as_str())];
    write(&world, "b.txt", "changed");
    passes(&world, &[], &["add", "b.txt"]);
    let errors = passes(&world, &settings, &["commit", "-qm", "Add b"]);
    assert_has(&errors, &["allowed without a check"]);
    install(&world, "pre-commit", "--on-error deny");
    // No file, no request.
    passes(&world, &settings, &["commit", "-qm", "Change b", "--allow-empty"]);
    write(&world, "c.txt", "changed");
    passes(&world, &[], &["add", "c.txt"]);
    let errors = fails(&world, &settings, &["commit", "-qm", "Add c"]);
    assert_has(&errors, &["--on-error deny"]);
}

// rule: hooks#guard-intents
#[test]
fn staged_files_are_compared_with_the_scope_and_the_owners() {
    let world = World::with(&[("a.txt", "a"), (".orchestration/intent_map.md", "x")]);
    install(&world, "pre-commit", "");
    let fake = Fake::with_intent(&world, true);
    let refuse = |action: &str, reason: &str| {
        let orchestration =
            json!({ "type": "orchestration_command", "action": action, "command": null, "reason": reason });
        let answer = json!({ "status": "CONFLICT", "repo_head": null, "repo_head_ref": null, "locks": {}, "held": {}, "warnings": [],
            "orchestration": orchestration });
        fake.answer("/api/check_status", 200, answer);
    };
    let commit = ["commit", "--quiet", "--all", "--message", "Change"];
    let outside = "Scope Violation: REQ-1 is not authorized to edit 'a.txt'. Request scope expansion.";
    let owned = "Governance Violation: File owned by Intent [REQ-2]";
    // Everybody commits what is written of intents in files.
    refuse("STOP", outside);
    write(&world, ".orchestration/intent_map.md", "changed");
    passes(&world, &[], &commit);
    write(&world, "a.txt", "changed");
    for (action, reason) in [("STOP", outside), ("SWITCH_TASK", owned)] {
        refuse(action, reason);
        let refusal = format!("refused: {reason}");
        assert_has(&fails(&world, &[], &commit), &[&refusal]);
    }
    // A person has not selected anything, and gets a warning.
    refuse("STOP", "You must cite a valid active Intent ID.");
    assert_has(&passes(&world, &[], &commit), &["warning: You must cite"]);
}
