//! Commands that change a whole working copy.

use super::{Session, hook};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

// rule: hooks#whole-copy
#[test]
fn a_working_copy_in_which_another_session_holds_files_is_not_changed_whole() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let at = |holder| Session {
            world: &world,
            form,
            folder: world.clone.path(),
            holder,
        };
        let (ada, bob) = (at(None), at(Some("bob")));
        assert_eq!(ada.denial(&ada.edits("a.txt")), None);
        for command in [
            "git checkout main",
            "git stash",
            "git reset --hard",
            "git pull --rebase",
            "cd . && git switch main",
        ] {
            let answer = bob.runs(command);
            let reason = bob
                .denial(&answer)
                .unwrap_or_else(|| panic!("{} {command}: {answer:?}", form.agent));
            assert!(
                reason.contains("a.txt") && reason.contains("git worktree add"),
                "{reason}"
            );
            // Her own working copy is hers.
            assert_eq!(ada.denial(&ada.runs(command)), None, "{} {command}", form.agent);
        }
        assert_eq!(bob.denial(&bob.runs("git status; git stash list")), None);
        let worktree = world.worktree("bob");
        let elsewhere = Session {
            folder: worktree.path(),
            ..at(Some("bob"))
        };
        assert_eq!(
            elsewhere.denial(&elsewhere.runs("git pull --rebase")),
            None,
            "{}",
            form.agent
        );
        let into = format!("git -C {} stash", world.clone.path().display());
        assert!(elsewhere.denial(&elsewhere.runs(&into)).is_some(), "{}", form.agent);
        // She is done, and holds nothing.
        ada.ends_turn();
        assert_eq!(bob.denial(&bob.runs("git checkout main")), None, "{}", form.agent);
    }
}

#[test]
fn a_command_outside_of_every_repository_is_allowed() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("outside");
    let (event, call) = (CLAUDE_CODE.shell)(&folder, "git checkout main");
    let answer = hook(&world, &folder, None, &["claude-code", event], &call.to_string());
    assert_eq!((answer.status, (CLAUDE_CODE.denial)(&answer)), (0, None));
}
