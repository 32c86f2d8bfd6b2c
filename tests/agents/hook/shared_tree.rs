//! Commands that change a whole working copy.

use super::session;
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

// rule: hooks#whole-copy
#[test]
fn a_working_copy_in_which_another_session_holds_files_is_not_changed_whole() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let (ada, bob) = (session(&world, form, None), session(&world, form, Some("bob")));
        ada.may_edit("a.txt");
        for command in [
            "git checkout main",
            "git stash",
            "git reset --hard",
            "git pull --rebase",
            "cd . && git switch main",
        ] {
            assert_has(&bob.may_not_run(command), &["a.txt", "git worktree add"]);
            // Her own working copy is hers.
            ada.may_run(command);
        }
        bob.may_run("git status; git stash list");
        let worktree = world.worktree("bob");
        let elsewhere = bob.at(worktree.path());
        elsewhere.may_run("git pull --rebase");
        elsewhere.may_not_run(&format!("git -C {} stash", world.clone.path().display()));
        // She is done, and holds nothing.
        ada.ends_turn();
        bob.may_run("git checkout main");
    }
}

#[test]
fn a_command_outside_of_every_repository_is_allowed() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("outside");
    let ada = session(&world, &CLAUDE_CODE, None).at(&folder);
    ada.may_run("git checkout main");
}
