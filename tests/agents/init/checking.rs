//! The check: each hook is run, and a denial has to deny.

use super::{init, program, run};
use crate::world::World;

/// A `coord hook` that answers an edit so, and everything else with nothing; it writes down what it is called with. `$file` is the
/// name of the file that is edited.
fn hook(world: &World, before_edit: &str) {
    let text = format!(
        "#!/bin/sh\necho \"$3 $COORD_AGENT\" >>\"$HOME/hook.log\"\nfile=$(grep --only-matching 'coord-init-check-[0-9a-f]*.txt' | head -n 1)\ncase $3 in\n\
         PreToolUse|preToolUse|BeforeTool|tool.execute.before) {before_edit} ;;\nesac\n"
    );
    program(&world.folder("bin").join("coord"), &text);
}

fn verdicts(printed: &str) -> String {
    let (_, verdicts) = printed.split_once("another holds:\n").expect("verdicts");
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
fn a_denial_in_the_agents_form_is_one_and_the_lock_is_given_back() {
    let world = World::with(&[("a.txt", "a\n")]);
    for (agent, denial) in DENIALS {
        hook(&world, &format!("cat <<END\n{denial}\nEND\n"));
        let printed = init(&world, &[agent, "--yes", "--no-guard"]);
        assert!(
            verdicts(&printed).ends_with("ok, the edit is denied"),
            "{agent}: {printed}"
        );
        hook(&world, "echo $file >&2; exit 2");
        let printed = init(&world, &[agent, "--yes", "--no-guard"]);
        assert!(
            verdicts(&printed).ends_with("ok, the edit is denied"),
            "{agent}: {printed}"
        );
    }
    // As nobody's session, on a file of nobody.
    let log = std::fs::read_to_string(world.folder("home").join("hook.log")).unwrap();
    assert!(log.lines().all(|line| line.contains(" coord-init-editor-")), "{log}");
    let listening = std::fs::read_to_string(world.clone.path().join(".git/coord/listening")).unwrap();
    let address = listening.split(' ').next().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = coord_protocol::Client::new(address, None, None).unwrap();
    let locks = runtime
        .block_on(client.locks(crate::world::REPO_URL, &Default::default()))
        .unwrap();
    assert!(locks.locks.is_empty(), "{locks:?}");
}

#[test]
fn what_does_not_deny_is_wrong() {
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
fn without_a_server_it_is_said_that_nothing_was_checked() {
    let world = World::with(&[("a.txt", "a\n")]);
    let printed = init(&world, &["codex", "--yes", "--no-guard", "--url", "http://127.0.0.1:9"]);
    assert!(
        printed.contains("  not checked: the server at http://127.0.0.1:9 gives no answer\n"),
        "{printed}"
    );
}
