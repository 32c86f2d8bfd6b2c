//! Selections, and what the model is told of them.

use std::fs;

use super::super::session;
use super::{REQUIRED, count, lines, new_intent, run, select, shown, started, world};
use coord_test_worlds::hook_forms::CLAUDE_CODE;

/// A list that is missing in the registry, and ids of other forms than `REQ-`.
#[test]
fn an_intent_that_lacks_a_list_is_selected_at_the_first_try_and_written_under() {
    let lists = [
        ("constraints", "constraints: []"),
        ("acceptance_criteria", "acceptance_criteria: []"),
        ("related_specs", "related_specs: []"),
        ("budget", "budget: {}"),
        ("assigned_agent", "assigned_agent: ''"),
    ];
    let ids = [
        "test-intent-1",
        "INT-001",
        "a.b_c",
        "018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10",
        "REQ-1",
    ];
    let world = world();
    let mut registry = String::from("active_intents:\n");
    for (number, (id, (missing, _))) in ids.iter().zip(&lists).enumerate() {
        registry += &format!("  - id: {id}\n    name: One\n    owned_scope: [new/{number}/**]\n");
        for (_, list) in lists.iter().filter(|(name, _)| name != missing) {
            registry += &format!("    {list}\n");
        }
    }
    fs::create_dir(world.clone.path().join(".orchestration")).unwrap();
    fs::write(world.clone.path().join(".orchestration/active_intents.yaml"), registry).unwrap();
    run(&world, &["sync"], 0);
    for (number, id) in ids.iter().enumerate() {
        let selected = run(&world, &["intent", "select", id, "--agent", id], 0);
        assert_eq!(selected["state"], "ACTION", "{id}: {selected}");
        let ada = session(&world, &CLAUDE_CODE, Some(id));
        assert_eq!(ada.denial(&ada.edits(&format!("new/{number}/file.txt"))), None, "{id}");
        assert!(
            ada.denial(&ada.edits("docs/c.txt"))
                .unwrap()
                .contains("Scope Violation"),
            "{id}"
        );
    }
}

/// A selection that did not work was a success in the state and in the ledger.
#[test]
fn a_selection_that_fails_is_neither_in_the_state_nor_a_success_in_the_ledger() {
    let world = world();
    run(&world, &["intent", "new", "BARE"], 0);
    new_intent(&world, "REQ-1", &[]);
    let ada = session(&world, &CLAUDE_CODE, Some("one"));
    for (id, status) in [("BARE", 3), ("NONE", 1)] {
        run(&world, &["intent", "select", id, "--agent", "one"], status);
        assert_eq!(lines(&world, id).last().unwrap(), "INTENT_SELECTION DENIED", "{id}");
        assert_eq!(count(&lines(&world, id), "INTENT_SELECTION SUCCESS"), 0, "{id}");
    }
    assert_eq!(shown(&world, "BARE")["status"], "PENDING");
    let context = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
    assert!(
        context.contains("REQ-1 (PENDING)") && !context.contains("Intent BARE"),
        "{context}"
    );
    select(&world, "REQ-1", "one");
    assert_eq!(count(&lines(&world, "REQ-1"), "INTENT_SELECTION SUCCESS"), 1);
    let context = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
    assert!(context.contains("Intent REQ-1: "), "{context}");
}

/// Every prompt, even "go on", asked for a new selection.
// rule: intents#required
#[test]
fn a_selection_outlives_prompts_unless_coord_handshake_is_prompt() {
    for (settings, is_asked_anew) in [
        (&[REQUIRED][..], false),
        (&[REQUIRED, ("COORD_HANDSHAKE", "prompt")], true),
    ] {
        let world = started(settings);
        new_intent(&world, "REQ-1", &[]);
        select(&world, "REQ-1", "one");
        let ada = session(&world, &CLAUDE_CODE, Some("one"));
        ada.starts();
        assert_eq!(ada.denial(&ada.edits("src/a.txt")), None, "{settings:?}");
        ada.has_edited("src/a.txt");
        ada.gets_prompt("go on");
        let denied = ada.denial(&ada.edits("src/b.txt"));
        assert_eq!(denied.is_some(), is_asked_anew, "{settings:?}: {denied:?}");
        if let Some(denied) = denied {
            assert!(denied.contains("select_active_intent"), "{denied}");
            select(&world, "REQ-1", "one");
            assert_eq!(ada.denial(&ada.edits("src/b.txt")), None);
        }
    }
}

/// A budget that is missing has no limit, and nothing said so.
#[test]
fn the_start_context_has_the_budget_left_or_no_limit() {
    let world = world();
    new_intent(&world, "FREE", &[]);
    run(
        &world,
        &[
            "intent",
            "new",
            "BOUND",
            "--name",
            "n",
            "--scope",
            "docs/c.txt",
            "--max-turns",
            "9",
        ],
        0,
    );
    for (id, expected) in [("FREE", "Budget: no limit"), ("BOUND", "Budget left: 9 of 9 turns")] {
        select(&world, id, id);
        let ada = session(&world, &CLAUDE_CODE, Some(id));
        let context = ada.starts().body["hookSpecificOutput"]["additionalContext"].to_string();
        assert!(context.contains(expected), "{context}");
    }
}
