//! An agent does not go past the guard, and is not told how; a person may, and it is said.

use super::{bob_edits, git, install, stderr_of, write};
use crate::hook::session;
use crate::worktree_agent::world_with_guards;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

#[test]
fn an_agent_cannot_bypass_the_guard_and_gets_no_hint() {
    let world = World::with(&[("a.txt", "a")]);
    install(&world, "pre-commit", "");
    bob_edits(&world, "a.txt");
    write(&world, "a.txt");
    let folder = world.clone.path();
    let commit = |settings: &[(&str, &str)]| git(&world, folder, settings, &["commit", "-qam", "Change a"]);
    let refused = commit(&[("COORD_AGENT", "ada")]);
    assert!(
        stderr_of(&refused).contains("a.txt: WRITING") && !stderr_of(&refused).contains("COORD_BYPASS"),
        "{}",
        stderr_of(&refused)
    );
    let refused = commit(&[("COORD_AGENT", "ada"), ("COORD_BYPASS", "1")]);
    assert!(!refused.status.success(), "{}", stderr_of(&refused));
    assert!(
        stderr_of(&refused).contains("checked anyway"),
        "{}",
        stderr_of(&refused)
    );
    let passed = commit(&[("COORD_BYPASS", "1")]);
    assert!(passed.status.success(), "{}", stderr_of(&passed));
    for command in ["status", "log", "doctor"] {
        let text = world.run(&[command]).stdout;
        let text = String::from_utf8_lossy(&text);
        assert!(
            text.contains("bypasses of the guard") && text.contains("pre-commit head="),
            "{command}: {text}"
        );
    }
}

// rule: hooks#bypass
#[test]
fn a_shell_command_that_goes_past_the_guard_is_denied_where_git_runs_one() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let commands = [
        "git commit --no-verify -m x",
        "COORD_BYPASS=1 git commit -m x",
        "git -c core.hooksPath=/dev/null commit -m x",
        "rm -f .git/hooks/pre-commit",
    ];
    for command in commands {
        assert_eq!(ada.denial(&ada.runs(command)), None, "there is no guard: {command}");
    }
    let world = world_with_guards(&[("a.txt", "a")]);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    for command in commands {
        let reason = ada.denial(&ada.runs(command)).unwrap_or_else(|| panic!("{command}"));
        assert!(reason.contains("goes past `coord guard`"), "{reason}");
    }
    assert_eq!(ada.denial(&ada.runs("git commit -m x")), None);
    let reason = ada.denial(&ada.edits(".git/hooks/pre-commit")).unwrap();
    assert!(reason.contains("goes past `coord guard`"), "{reason}");
}

// rule: hooks#lost-guard
#[test]
fn a_session_start_warns_once_that_git_no_longer_runs_the_guard() {
    let world = world_with_guards(&[("a.txt", "a")]);
    let hooks = world.clone.path().join(".git/hooks");
    let aside = world.folder("aside").join("hooks");
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let is_warned = || ada.starts().body.to_string().contains("no longer runs `coord guard`");
    std::fs::rename(&hooks, &aside).unwrap();
    assert!(!is_warned(), "no session knows that it did");
    std::fs::rename(&aside, &hooks).unwrap();
    assert!(!is_warned());
    std::fs::rename(&hooks, &aside).unwrap();
    assert!(is_warned());
    assert!(!is_warned(), "once");
}
