//! Turns and the breaker, over the processes of several sessions.

use super::super::claude;
use super::{REQUIRED, count, lines, new_intent, select, shown, started, world};
use crate::texts::assert_has;

/// The breaker marked nothing, and lived in one process.
#[test]
fn the_fourth_identical_call_blocks_the_intent_for_every_process() {
    let world = world();
    new_intent(&world, "REQ-1", &[]);
    let (ada, bob) = (claude(&world, "one"), claude(&world, "two"));
    for (one, holder) in [(&ada, "one"), (&bob, "two")] {
        select(&world, "REQ-1", holder);
        one.starts();
    }
    for _ in 0..3 {
        ada.may_run("make");
        ada.has_run("make");
        // Waiting and reading in between are no calls.
        ada.may_run("sleep 5");
        ada.may_read("src/a.txt");
    }
    let denied = ada.may_not_run("make");
    assert!(denied.starts_with("STOP: "), "{denied}");
    assert_has(&denied, &["coord intent unblock"]);
    assert_eq!(shown(&world, "REQ-1")["status"], "BLOCKED");
    let denied = bob.may_not_edit("src/a.txt");
    assert!(denied.starts_with("STOP: "), "{denied}");
    assert_has(&denied, &["REQ-1", "BLOCKED"]);
    let lines = lines(&world, "REQ-1");
    assert_eq!(count(&lines, "BUDGET_EXHAUSTED DENIED"), 1, "{lines:?}");
    for command in ["git push", "cat src/a.txt"] {
        ada.may_run(command);
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
        claude(&world, holder).starts();
    }
    let act = |holder: &str| {
        let one = claude(&world, holder);
        let mut granted = 0;
        for call in 0..CALLS {
            one.may_read("src/a.txt");
            one.may_not_edit("docs/c.txt");
            granted += usize::from(one.denial(&one.runs(&format!("make {holder} {call}"))).is_none());
        }
        granted
    };
    let act = &act;
    let granted: usize = std::thread::scope(|scope| {
        let running: Vec<_> = holders.iter().map(|holder| scope.spawn(move || act(holder))).collect();
        running.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let intent = shown(&world, "REQ-1");
    assert_eq!(granted, 10, "of {} calls", AGENTS * CALLS);
    assert_eq!(intent["budget"]["consumed_turns"], 10, "{intent}");
    assert_eq!(intent["status"], "BLOCKED");
}
