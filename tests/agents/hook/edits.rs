//! Claims before edits, and denials.

use serde_json::json;

use super::{Session, held, held_files, hook, locks, session};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX, CURSOR, OPENCODE};
use coord_test_worlds::world::World;

// rule: hooks#events
#[test]
fn every_agent_claims_what_it_edits_and_is_denied_what_another_session_holds() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        let answer = ada.edits("a.txt");
        assert_eq!(ada.denial(&answer), None, "{}: {answer:?}", form.agent);
        assert_eq!(answer.status, 0, "{}: {answer:?}", form.agent);
        let locks = locks(&world);
        let holder = locks[0].agent_id.clone().unwrap();
        assert_eq!((locks.len(), locks[0].file_path.as_str()), (1, "a.txt"));
        assert!(holder.starts_with(&format!("{}-", form.agent)), "{holder}");
        assert_eq!(locks[0].message, "Editing a.txt");

        let bob = session(&world, form, Some("bob"));
        for answer in [
            bob.edits("a.txt"),
            bob.runs("sed -i s/a/b/ a.txt"),
            bob.runs("echo b >> a.txt"),
        ] {
            let reason = bob
                .denial(&answer)
                .unwrap_or_else(|| panic!("{}: {answer:?}", form.agent));
            assert!(
                reason.starts_with("WAIT: ") && reason.contains("Editing a.txt"),
                "{reason}"
            );
            assert!(reason.contains("`coord wait a.txt` in the background"), "{reason}");
        }
        // His session goes on with another file, and the first with its own.
        assert_eq!(bob.denial(&bob.edits("b.txt")), None, "{}", form.agent);
        assert_eq!(ada.denial(&ada.edits("a.txt")), None, "{}", form.agent);
        assert_eq!(bob.denial(&bob.runs("cat a.txt")), None, "{}", form.agent);
        assert_eq!(
            held(&world),
            [format!("a.txt {holder}"), "b.txt bob".to_owned()],
            "{}",
            form.agent
        );
    }
}

#[test]
fn an_edit_of_a_session_that_is_behind_is_denied_with_pull() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("ada");
    world.clone.commit(&[("b.txt", "b")]);
    world.clone.git(&["push", "--quiet"]);
    let ada = Session {
        folder: worktree.path(),
        ..session(&world, &CLAUDE_CODE, None)
    };
    let reason = ada.denial(&ada.edits("a.txt")).unwrap();
    assert!(
        reason.starts_with("PULL: ") && reason.contains("`git pull --rebase origin main`"),
        "{reason}"
    );
    worktree.git(&["pull", "--quiet", "--rebase", "origin", "main"]);
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
}

// rule: hooks#unpushed-branch
#[test]
fn an_edit_for_a_branch_that_was_never_pushed_is_denied_with_the_command_to_push() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["checkout", "--quiet", "-b", "feature"]);
    world.clone.git(&["config", "coord.branch", "feature"]);
    let ada = session(&world, &CLAUDE_CODE, None);
    let reason = ada.denial(&ada.edits("a.txt")).unwrap();
    assert!(reason.contains("`git push -u origin HEAD`"), "{reason}");
    world.clone.git(&["config", "coord.branch", "main"]);
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
}

#[test]
fn a_patch_is_claimed_whole_or_denied() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let bob = session(&world, &CODEX, Some("bob"));
    assert_eq!(bob.denial(&bob.edits("c.txt")), None);
    let patch = |files: &[&str]| {
        let lines: Vec<String> = files.iter().map(|line| format!("*** {line}\n")).collect();
        let patch = format!("*** Begin Patch\n{}*** End Patch\n", lines.concat());
        let call = json!({ "cwd": world.clone.path(), "session_id": "s", "hook_event_name": "PreToolUse", "model": "x",
            "tool_name": "apply_patch", "tool_input": { "command": patch }, "tool_use_id": "1" });
        hook(
            &world,
            world.clone.path(),
            Some("ada"),
            &["codex", "PreToolUse"],
            &call.to_string(),
        )
    };
    let denied = patch(&["Update File: a.txt", "Update File: b.txt", "Move to: c.txt"]);
    assert!((CODEX.denial)(&denied).is_some(), "{denied:?}");
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
    let at = |folder, holder| Session {
        folder,
        ..session(&world, &CLAUDE_CODE, holder)
    };
    let ada = at(world.clone.path(), None);
    // She works in the clone, and edits in a worktree.
    let file = one.path().join("a.txt");
    assert_eq!(ada.denial(&ada.edits(file.to_str().unwrap())), None);
    let bob = at(two.path(), Some("bob"));
    assert!(bob.denial(&bob.edits("a.txt")).is_some());
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
        let answer = ada.edits(file);
        assert_eq!((answer.status, ada.denial(&answer)), (0, None), "{file}");
    }
    std::fs::create_dir(world.clone.path().join("target")).unwrap();
    assert_eq!(ada.denial(&ada.runs("rm -rf target; git status")), None);
    assert_eq!(world.server(), None);
    // It is tracked, and a rule for files that are not does not matter.
    assert_eq!(ada.denial(&ada.edits("kept.log")), None);
    assert_eq!(held_files(&world), ["kept.log"]);
}

// rule: hooks#parsed-commands
#[test]
fn removing_a_folder_claims_the_tracked_files_in_it() {
    let world = World::with(&[("src/a.txt", "a"), ("src/deep/b.txt", "b"), ("c.txt", "c")]);
    std::fs::write(world.clone.path().join("src/untracked.txt"), "x").unwrap();
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_eq!(ada.denial(&ada.runs("rm -r src")), None);
    assert_eq!(held_files(&world), ["src/a.txt", "src/deep/b.txt"]);
}

#[test]
fn the_message_of_a_claim_is_the_first_sentence_of_the_prompt() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = session(&world, form, None);
        assert_eq!(ada.gets_prompt("Make a.txt longer, please. Then push it.").status, 0);
        assert_eq!(ada.denial(&ada.edits("a.txt")), None);
        assert_eq!(locks(&world)[0].message, "Make a.txt longer, please", "{}", form.agent);
    }
}

#[test]
fn conversations_of_one_process_are_separate_holders() {
    for (form, field) in [(&CURSOR, "conversation_id"), (&OPENCODE, "sessionID")] {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let edit = |conversation: &str, file: &str| {
            let folder = world.clone.path();
            let (event, mut call) = (form.edit)(folder, &folder.join(file));
            call[field] = json!(conversation);
            let answer = hook(&world, folder, None, &[form.agent, event], &call.to_string());
            (form.denial)(&answer)
        };
        assert_eq!(edit("first", "a.txt"), None, "{}", form.agent);
        assert!(edit("second", "a.txt").is_some(), "{}", form.agent);
        assert_eq!(edit("second", "b.txt"), None, "{}", form.agent);
        assert!(edit("first", "b.txt").is_some(), "{}", form.agent);
        assert_eq!(edit("second", "b.txt"), None, "{}", form.agent);
    }
}
