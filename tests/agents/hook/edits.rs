//! Claims before edits, and denials.

use serde_json::json;

use super::{claude, held, held_files, locks, session};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX};
use coord_test_worlds::world::World;

// rule: hooks#events
#[test]
fn every_agent_claims_what_it_edits_and_is_denied_what_another_session_holds() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        ada.may_edit("a.txt");
        let locks = locks(&world);
        let holder = locks[0].agent_id.clone().unwrap();
        assert_eq!((locks.len(), locks[0].file_path.as_str()), (1, "a.txt"));
        assert!(holder.starts_with(&format!("{}-", form.agent)), "{holder}");
        assert_eq!(locks[0].message, "Editing a.txt");

        let bob = session(&world, form, Some("bob"));
        for reason in [
            bob.may_not_edit("a.txt"),
            bob.may_not_run("sed -i s/a/b/ a.txt"),
            bob.may_not_run("echo b >> a.txt"),
        ] {
            assert!(reason.starts_with("WAIT: "), "{reason}");
            assert_has(&reason, &["Editing a.txt", "`coord wait a.txt` in the background"]);
        }
        // His session goes on with another file, and the first with its own.
        bob.may_edit("b.txt");
        ada.may_edit("a.txt");
        bob.may_run("cat a.txt");
        let expected = [format!("a.txt {holder}"), "b.txt bob".to_owned()];
        assert_eq!(held(&world), expected, "{}", form.agent);
    }
}

#[test]
fn an_edit_of_a_session_that_is_behind_is_denied_with_pull() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("ada");
    world.clone.commit(&[("b.txt", "b")]);
    world.clone.git(&["push", "--quiet"]);
    let ada = session(&world, &CLAUDE_CODE, None).at(worktree.path());
    let reason = ada.may_not_edit("a.txt");
    assert!(reason.starts_with("PULL: "), "{reason}");
    assert_has(&reason, &["`git pull --rebase origin main`"]);
    worktree.git(&["pull", "--quiet", "--rebase", "origin", "main"]);
    ada.may_edit("a.txt");
}

// rule: hooks#unpushed-branch
#[test]
fn an_edit_for_a_branch_that_was_never_pushed_is_denied_with_the_command_to_push() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["checkout", "--quiet", "-b", "feature"]);
    world.clone.git(&["config", "coord.branch", "feature"]);
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_has(&ada.may_not_edit("a.txt"), &["`git push -u origin HEAD`"]);
    world.clone.git(&["config", "coord.branch", "main"]);
    ada.may_edit("a.txt");
}

#[test]
fn a_patch_is_claimed_whole_or_denied() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    session(&world, &CODEX, Some("bob")).may_edit("c.txt");
    let ada = session(&world, &CODEX, Some("ada"));
    let patch = |files: &[&str]| {
        let lines: String = files.iter().map(|line| format!("*** {line}\n")).collect();
        let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
        let call = json!({ "cwd": world.clone.path(), "session_id": "s", "hook_event_name": "PreToolUse", "model": "x",
            "tool_name": "apply_patch", "tool_input": { "command": patch }, "tool_use_id": "1" });
        ada.call(("PreToolUse", call))
    };
    let denied = patch(&["Update File: a.txt", "Update File: b.txt", "Move to: c.txt"]);
    ada.assert_denied(&denied, "a patch of a file that bob holds");
    assert_eq!(held_files(&world), ["c.txt"]);
    let allowed = patch(&[
        "Update File: a.txt",
        "Move to: d/e.txt",
        "Add File: new.txt",
        "Delete File: b.txt",
    ]);
    // A bare `allow` would be rejected by Codex.
    assert_eq!((allowed.status, &allowed.body), (0, &serde_json::Value::Null));
    assert_eq!(held_files(&world), ["a.txt", "b.txt", "c.txt", "d/e.txt", "new.txt"]);
}

// rule: hooks#paths
#[test]
fn a_file_counts_where_it_is_and_worktrees_share_locks() {
    let world = World::with(&[("a.txt", "a")]);
    let (one, two) = (world.worktree("one"), world.worktree("two"));
    // She works in the clone, and edits in a worktree.
    let file = one.path().join("a.txt");
    session(&world, &CLAUDE_CODE, None).may_edit(file.to_str().unwrap());
    claude(&world, "bob").at(two.path()).may_not_edit("a.txt");
    assert_eq!(held_files(&world), ["a.txt"]);
}

// rule: hooks#paths
#[test]
fn ignored_and_outside_files_are_edited_without_a_claim_or_a_server() {
    let world = World::with(&[(".gitignore", "target/\n*.log\n"), ("kept.log", "x")]);
    world.clone.git(&["add", "--force", "kept.log"]);
    world.clone.git(&["commit", "--quiet", "--message", "Keep a log"]);
    world.clone.git(&["push", "--quiet"]);
    let ada = session(&world, &CLAUDE_CODE, None);
    let outside = world.folder("outside").join("x.txt");
    for file in ["target/debug/x", "x.log", ".git/config", outside.to_str().unwrap()] {
        ada.may_edit(file);
    }
    std::fs::create_dir(world.clone.path().join("target")).unwrap();
    ada.may_run("rm -rf target; git status");
    assert_eq!(world.server(), None);
    // It is tracked, and a rule for files that are not does not matter.
    ada.may_edit("kept.log");
    assert_eq!(held_files(&world), ["kept.log"]);
}

// rule: hooks#parsed-commands
#[test]
fn removing_a_folder_claims_the_tracked_files_in_it() {
    let world = World::with(&[("src/a.txt", "a"), ("src/deep/b.txt", "b"), ("c.txt", "c")]);
    super::write(&world, "src/untracked.txt", "x");
    session(&world, &CLAUDE_CODE, None).may_run("rm -r src");
    assert_eq!(held_files(&world), ["src/a.txt", "src/deep/b.txt"]);
}

#[test]
fn the_message_of_a_claim_is_the_first_sentence_of_the_prompt() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = session(&world, form, None);
        assert_eq!(ada.gets_prompt("Make a.txt longer, please. Then push it.").status, 0);
        ada.may_edit("a.txt");
        assert_eq!(locks(&world)[0].message, "Make a.txt longer, please", "{}", form.agent);
    }
}
