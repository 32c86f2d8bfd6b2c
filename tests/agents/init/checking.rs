//! The check: each hook is run, and a denial has to deny.

use super::{init, program, run};
use coord_test_worlds::world::World;

/// A `coord hook` that answers an edit so, and everything else with nothing; it writes down what it is called with. `$file` is the
/// name of the file that is edited.
fn hook(world: &World, before_edit: &str) {
    let text = format!(
        "#!/bin/sh\necho \"$3 $COORD_AGENT\" >>\"$HOME/hook.log\"\nfile=$(grep --only-matching 'self-test.txt' | head -n 1)\ncase $3 in\n\
         PreToolUse|preToolUse|BeforeTool|tool.execute.before) {before_edit} ;;\nesac\n"
    );
    program(&world.folder("bin").join("coord"), &text);
}

fn verdicts(printed: &str) -> String {
    let (_, verdicts) = printed.split_once("has locked):\n").expect("verdicts");
    verdicts.split("\n\n").next().unwrap().to_owned()
}

const DENIALS: [(&str, &str); 6] = [
    (
        "claude-code",
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"$file"}}"#,
    ),
    (
        "codex",
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"$file"}}"#,
    ),
    ("opencode", r#"{"deny":"$file"}"#),
    ("cursor", r#"{"permission":"deny","agent_message":"$file"}"#),
    ("gemini", r#"{"decision":"deny","reason":"$file"}"#),
    (
        "copilot",
        r#"{"permissionDecision":"deny","permissionDecisionReason":"$file"}"#,
    ),
];

#[test]
fn a_denial_in_the_form_of_the_agent_counts_and_the_lock_is_released() {
    let world = World::with(&[("a.txt", "a\n")]);
    for (agent, denial) in DENIALS {
        hook(&world, &format!("cat <<END\n{denial}\nEND\n"));
        let printed = init(&world, &[agent, "--yes", "--no-guard"]);
        assert!(
            verdicts(&printed).ends_with("ok, the hook denied it"),
            "{agent}: {printed}"
        );
        hook(&world, "echo $file >&2; exit 2");
        let printed = init(&world, &[agent, "--yes", "--no-guard"]);
        assert!(
            verdicts(&printed).ends_with("ok, the hook denied it"),
            "{agent}: {printed}"
        );
    }
    let log = std::fs::read_to_string(world.folder("home").join("hook.log")).unwrap();
    assert!(log.lines().all(|line| line.ends_with(" editor")), "{log}");
}

/// The real program, by its name on the path.
fn install(world: &World) {
    let program = world.folder("bin").join("coord");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_coord"), program).unwrap();
}

#[test]
fn the_self_test_leaves_no_event_no_server_and_no_run_of_a_hook() {
    let world = World::with(&[("a.txt", "a\n")]);
    install(&world);
    let temporary = world.folder("tmp");
    let mut command = super::coord(&world);
    // The user has set these for their own repositories; this server is unreachable.
    command
        .env("COORD_URL", "http://127.0.0.1:9")
        .env("COORD_BRANCH", "other");
    let command = command.env("TMPDIR", &temporary).arg("init").args(super::AGENTS);
    let output = command.args(["--yes", "--no-guard"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.matches("ok, the hook denied it").count(), 6, "{printed}");
    assert!(output.status.success(), "{printed}");
    let in_git = world.clone.path().join(".git/coord");
    let names: Vec<_> = std::fs::read_dir(in_git)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names, ["init.json"]);
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0);
    let found = super::coord(&world).arg("doctor").output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).replace('\n', " ");
    assert_eq!(
        found.matches("denies edits of locked files, not run by ").count(),
        6,
        "{found}"
    );
}

#[test]
fn a_hook_that_does_not_deny_fails_the_check() {
    let world = World::with(&[("a.txt", "a\n")]);
    let mut found = Vec::new();
    for answer in [
        "exit 0",
        r#"echo '{"decision":"deny"}'"#,
        "echo denied",
        r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"OFFLINE_MODE"}}'"#,
        "echo no server >&2; exit 2",
        "echo 'no server' >&2; exit 1",
    ] {
        hook(&world, answer);
        let output = run(&world, &["claude-code", "vscode", "--yes", "--no-guard"]);
        assert_eq!(output.status.code(), Some(1), "{answer}");
        found.push(verdicts(&String::from_utf8_lossy(&output.stdout)));
    }
    std::fs::remove_file(world.folder("bin").join("coord")).unwrap();
    let output = run(&world, &["codex", "--yes", "--no-guard"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("coord is not on your PATH."), "{printed}");
    found.push(verdicts(&printed));
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn the_self_test_needs_no_server_of_the_users() {
    let world = World::with(&[("a.txt", "a\n")]);
    install(&world);
    let printed = init(&world, &["codex", "--yes", "--no-guard", "--url", "http://127.0.0.1:9"]);
    assert!(verdicts(&printed).ends_with("ok, the hook denied it"), "{printed}");
}

#[test]
fn a_self_test_that_cannot_run_is_reported_as_not_checked() {
    let world = World::with(&[("a.txt", "a\n")]);
    let mut command = super::coord(&world);
    let command = command.env("TMPDIR", world.folder("home").join("missing"));
    let output = command.args(["init", "codex", "--yes", "--no-guard"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("  not checked: "),
        "{printed}"
    );
}
