//! Warnings of a claim that a hook has made reach the model with the next event that takes text, each once.

use serde_json::{Value, json};

use super::looks::context;
use super::{Session, session};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

/// A granted claim of a.txt, with `warnings`.
fn granted(warnings: &[&str]) -> Value {
    let lock = json!({ "status": "WRITING", "message": "m", "timestamp": 1, "expiry": 4_000_000_000_u64, "token": 7 });
    json!({ "success": true, "orphaned_dependencies": [], "repo_head": null, "repo_head_ref": null, "warnings": warnings,
        "locks": { "a.txt": lock },
        "orchestration": { "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x" } })
}

// rule: hooks#told-once
#[test]
fn warnings_of_a_claim_are_shown_once_in_the_form_of_each_agent() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::of(&world);
        let ada = session(&world, form, None);
        let pending = "PENDING: 'a.txt' has unmerged changes by user 'bob' on 'pool': x";
        let neighbor =
            "NEIGHBOR: File 'b.txt', which imports 'a.txt', is being written by user 'bob', who keeps its interface: x";
        let held = "ALREADY_HELD: You have held 'a.txt' since noon.";
        fake.answer("/api/post_status", 200, granted(&[pending, held]));
        let edited = || {
            assert_eq!(ada.denial(&ada.edits("a.txt")), None, "{}", form.agent);
            // The form's tool writes the file.
            std::fs::write(world.clone.path().join("a.txt"), "b").unwrap();
            context(form, &ada.has_edited("a.txt").body)
        };
        assert_eq!(edited(), Some(format!("Coord: {pending}")), "{}", form.agent);
        // The next claim warns of the same, and of something new.
        fake.answer("/api/post_status", 200, granted(&[pending, neighbor]));
        assert_eq!(edited(), Some(format!("Coord: {neighbor}")), "{}", form.agent);
        assert_eq!(edited(), None, "{}", form.agent);
    }
}

#[test]
fn budget_low_is_shown_once_even_for_calls_without_a_claim() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.starts();
    let low = |turns: u32| {
        json!({ "success": true, "state": "ACTION",
            "warnings": [format!("BUDGET_LOW: Intent REQ-1 has used {turns} of 100 turns; finish soon.")],
            "orchestration": { "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x" } })
    };
    fake.answer("/api/intents/REQ-1/usage", 200, low(81));
    assert_eq!(ada.denial(&ada.runs("make one")), None);
    let text = context(&CLAUDE_CODE, &ada.has_run("make one").body).unwrap_or_default();
    assert!(
        text.contains("Coord: BUDGET_LOW: ") && text.contains("81 of 100"),
        "{text}"
    );
    fake.answer("/api/intents/REQ-1/usage", 200, low(82));
    assert_eq!(ada.denial(&ada.runs("make two")), None);
    let text = context(&CLAUDE_CODE, &ada.has_run("make two").body).unwrap_or_default();
    assert!(!text.contains("BUDGET_LOW"), "{text}");
}

/// With the server itself: an unmerged change, and a lock for another branch.
#[test]
fn the_next_writer_is_warned_of_an_unmerged_change_and_of_a_lock_on_another_branch() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let pool = world.worktree("pool");
    pool.git(&["branch", "--quiet", "--unset-upstream"]);
    let at = |folder, holder| Session {
        folder,
        ..session(&world, &CLAUDE_CODE, Some(holder))
    };
    let ada = at(pool.path(), "ada");
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    pool.commit(&[("a.txt", "changed")]);
    pool.git(&["push", "--quiet", "--set-upstream", "origin", "pool"]);
    ada.has_run("git push -u origin pool");
    ada.ends_turn();
    world.clone.git(&["push", "--quiet", "origin", "main:release"]);
    let release = world.folder("release");
    world.clone.git(&["fetch", "--quiet"]);
    let shown = release.join("tree").display().to_string();
    world
        .clone
        .git(&["worktree", "add", "--quiet", "-b", "hotfix", &shown, "origin/release"]);
    let tree = release.join("tree");
    let eve = at(&tree, "eve");
    assert_eq!(eve.denial(&eve.edits("b.txt")), None);

    let bob = at(world.clone.path(), "bob");
    for (file, code) in [("a.txt", "PENDING: "), ("b.txt", "CROSS_BRANCH: ")] {
        assert_eq!(bob.denial(&bob.edits(file)), None, "{file}");
        let text = context(&CLAUDE_CODE, &bob.has_edited(file).body).unwrap_or_default();
        assert!(text.contains(code) && text.contains(file), "{file}: {text}");
    }
}
