//! Warnings of a claim that a hook has made reach the model with the next event that takes text, each once.

use serde_json::{Value, json};

use super::{claude, session, write};
use crate::texts::{assert_has, assert_lacks};
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
            ada.may_edit("a.txt");
            // The form's tool writes the file.
            write(&world, "a.txt", "b");
            ada.text(&ada.has_edited("a.txt"))
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
    let text_after = |turns: u32, command: &str| {
        let low = format!("BUDGET_LOW: Intent REQ-1 has used {turns} of 100 turns; finish soon.");
        let answer = json!({ "success": true, "state": "ACTION", "warnings": [low],
            "orchestration": { "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x" } });
        fake.answer("/api/intents/REQ-1/usage", 200, answer);
        ada.may_run(command);
        ada.text(&ada.has_run(command)).unwrap_or_default()
    };
    let first = text_after(81, "make one");
    assert_has(&first, &["Coord: BUDGET_LOW: ", "81 of 100"]);
    assert_lacks(&text_after(82, "make two"), &["BUDGET_LOW"]);
}

/// With the server itself: an unmerged change, and a lock for another branch.
#[test]
fn the_next_writer_is_warned_of_an_unmerged_change_and_of_a_lock_on_another_branch() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let pool = world.worktree("pool");
    pool.git(&["branch", "--quiet", "--unset-upstream"]);
    let ada = claude(&world, "ada").at(pool.path());
    ada.may_edit("a.txt");
    pool.commit(&[("a.txt", "changed")]);
    pool.git(&["push", "--quiet", "--set-upstream", "origin", "pool"]);
    ada.has_run("git push -u origin pool");
    ada.ends_turn();
    world.clone.git(&["push", "--quiet", "origin", "main:release"]);
    world.clone.git(&["fetch", "--quiet"]);
    let tree = world.folder("release").join("tree");
    let shown = tree.display().to_string();
    let add = ["worktree", "add", "--quiet", "-b", "hotfix", &shown, "origin/release"];
    world.clone.git(&add);
    claude(&world, "eve").at(&tree).may_edit("b.txt");

    let bob = claude(&world, "bob");
    for (file, code) in [("a.txt", "PENDING: "), ("b.txt", "CROSS_BRANCH: ")] {
        bob.may_edit(file);
        let text = bob.text(&bob.has_edited(file)).unwrap_or_default();
        assert_has(&text, &[code, file]);
    }
}
