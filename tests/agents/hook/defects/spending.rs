//! Turns and the breaker, over the processes of several sessions.

use super::super::session;
use super::{REQUIRED, count, lines, new_intent, select, shown, started, world};
use coord_test_worlds::hook_forms::CLAUDE_CODE;

/// The breaker marked nothing, and lived in one process.
#[test]
fn the_fourth_identical_call_blocks_the_intent_for_every_process() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    let (ada, bob) = (
        session(&world, &CLAUDE_CODE, Some("one")),
        session(&world, &CLAUDE_CODE, Some("two")),
    );
    for holder in ["one", "two"] {
        select(&world, "REQ-1", holder);
    }
    for one in [&ada, &bob] {
        one.starts();
    }
    for _ in 0..3 {
        assert_eq!(ada.denial(&ada.runs("make")), None);
        ada.has_run("make");
        // Waiting and reading in between are no calls.
        assert_eq!(ada.denial(&ada.runs("sleep 5")), None);
        assert_eq!(ada.denial(&ada.reads("src/a.txt")), None);
    }
    let denied = ada.denial(&ada.runs("make")).unwrap();
    assert!(
        denied.starts_with("STOP: ") && denied.contains("coord intent unblock"),
        "{denied}"
    );
    assert_eq!(shown(&world, "REQ-1")["status"], "BLOCKED");
    let denied = bob.denial(&bob.edits("src/a.txt")).unwrap();
    assert!(
        denied.starts_with("STOP: ") && denied.contains("REQ-1") && denied.contains("BLOCKED"),
        "{denied}"
    );
    let lines = lines(&world, "REQ-1");
    assert_eq!(count(&lines, "BUDGET_EXHAUSTED DENIED"), 1, "{lines:?}");
    for command in ["git push", "cat src/a.txt"] {
        assert_eq!(ada.denial(&ada.runs(command)), None, "{command}");
    }
}

/// Refused calls and reads were counted, and concurrent agents lost counts.
#[test]
fn concurrent_hooks_lose_no_turn_and_what_is_refused_or_reads_is_none() {
    const AGENTS: usize = 4;
    const CALLS: usize = 3;
    let world = started(&[REQUIRED]);
    new_intent(&world, "REQ-1", &["--max-turns", "10"]);
    let holders: Vec<String> = (0..AGENTS).map(|agent| format!("agent-{agent}")).collect();
    for holder in &holders {
        select(&world, "REQ-1", holder);
        session(&world, &CLAUDE_CODE, Some(holder)).starts();
    }
    let act = |holder: &str| {
        let one = session(&world, &CLAUDE_CODE, Some(holder));
        let mut let_in = 0;
        for call in 0..CALLS {
            assert_eq!(one.denial(&one.reads("src/a.txt")), None);
            assert!(one.denial(&one.edits("docs/c.txt")).is_some(), "out of the scope");
            let_in += usize::from(one.denial(&one.runs(&format!("make {holder} {call}"))).is_none());
        }
        let_in
    };
    let act = &act;
    let let_in: usize = std::thread::scope(|scope| {
        let running: Vec<_> = holders.iter().map(|holder| scope.spawn(move || act(holder))).collect();
        running.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let intent = shown(&world, "REQ-1");
    assert_eq!(let_in, 10, "of {} calls", AGENTS * CALLS);
    assert_eq!(intent["budget"]["consumed_turns"], 10, "{intent}");
    assert_eq!(intent["status"], "BLOCKED");
}
