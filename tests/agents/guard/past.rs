//! An agent does not go past the guard, and gets no hint how; a person may, and it is noted.

use super::{bob_edits, fails, install, passes, write};
use crate::commands::parts;
use crate::hook::claude;
use crate::texts::{assert_has, assert_lacks};
use crate::worktree_agent::world_with_guards;
use coord_test_worlds::world::World;

#[test]
fn an_agent_cannot_bypass_the_guard_and_gets_no_hint() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt", "changed");
    let commit = ["commit", "-qam", "Change a"];
    let (agent, bypass) = (("COORD_AGENT", "ada"), ("COORD_BYPASS", "1"));
    let errors = fails(&world, &[agent], &commit);
    assert_has(&errors, &["a.txt: WRITING"]);
    assert_lacks(&errors, &["COORD_BYPASS"]);
    assert_has(&fails(&world, &[agent, bypass], &commit), &["checked anyway"]);
    passes(&world, &[bypass], &commit);
    for command in ["status", "log", "doctor"] {
        let (_, text, _) = parts(&world.run(&[command]));
        assert_has(&text, &["bypasses of the guard", "pre-commit head="]);
    }
}

// rule: hooks#bypass
#[test]
fn a_shell_command_that_goes_past_the_guard_is_denied_where_git_runs_one() {
    let commands = [
        "git commit --no-verify -m x",
        "COORD_BYPASS=1 git commit -m x",
        "git -c core.hooksPath=/dev/null commit -m x",
        "rm -f .git/hooks/pre-commit",
    ];
    let without_guard = World::with(&[("a.txt", "a")]);
    for command in commands {
        claude(&without_guard, "ada").may_run(command);
    }
    let world = world_with_guards(&[("a.txt", "a")]);
    let ada = claude(&world, "ada");
    for command in commands {
        assert_has(&ada.may_not_run(command), &["bypasses `coord guard`"]);
    }
    ada.may_run("git commit -m x");
    let reason = ada.may_not_edit(".git/hooks/pre-commit");
    assert_has(&reason, &["bypasses `coord guard`"]);
}

// rule: hooks#lost-guard
#[test]
fn a_session_start_warns_once_that_git_no_longer_runs_the_guard() {
    let world = world_with_guards(&[("a.txt", "a")]);
    let hooks = world.clone.path().join(".git/hooks");
    let aside = world.folder("aside").join("hooks");
    let ada = claude(&world, "ada");
    let is_warned = || ada.starts().body.to_string().contains("no longer runs `coord guard`");
    std::fs::rename(&hooks, &aside).unwrap();
    assert!(!is_warned(), "no session knows that it did");
    std::fs::rename(&aside, &hooks).unwrap();
    assert!(!is_warned());
    std::fs::rename(&hooks, &aside).unwrap();
    assert!(is_warned());
    assert!(!is_warned(), "once");
}
