//! Selections, and the text that the model gets about them.

use std::fs;

use super::super::claude;
use super::{REQUIRED, count, lines, new_intent, run, select, shown, started, world};
use crate::texts::{assert_has, assert_lacks};

/// A list that is missing in the registry, and ids of other forms than `REQ-`.
#[test]
fn an_intent_that_lacks_a_list_is_selected_at_the_first_try_and_written_under() {
    let lists = [
        "constraints: []",
        "acceptance_criteria: []",
        "related_specs: []",
        "budget: {}",
        "assigned_agent: ''",
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
    for (number, (id, missing)) in ids.iter().zip(&lists).enumerate() {
        registry += &format!("  - id: {id}\n    name: One\n    owned_scope: [new/{number}/**]\n");
        for list in lists.iter().filter(|list| *list != missing) {
            registry += &format!("    {list}\n");
        }
    }
    let folder = world.clone.path().join(".orchestration");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("active_intents.yaml"), registry).unwrap();
    run(&world, &["sync"], 0);
    for (number, id) in ids.iter().enumerate() {
        let selected = run(&world, &["intent", "select", id, "--agent", id], 0);
        assert_eq!(selected["state"], "ACTION", "{id}: {selected}");
        let ada = claude(&world, id);
        ada.may_edit(&format!("new/{number}/file.txt"));
        assert_has(&ada.may_not_edit("docs/c.txt"), &["Scope Violation"]);
    }
}

/// A selection that did not work was a success in the state and in the ledger.
#[test]
fn a_selection_that_fails_is_neither_in_the_state_nor_a_success_in_the_ledger() {
    let world = world();
    run(&world, &["intent", "new", "BARE"], 0);
    new_intent(&world, "REQ-1", &[]);
    let ada = claude(&world, "one");
    for (id, status) in [("BARE", 3), ("NONE", 1)] {
        run(&world, &["intent", "select", id, "--agent", "one"], status);
        assert_eq!(lines(&world, id).last().unwrap(), "INTENT_SELECTION DENIED", "{id}");
        assert_eq!(count(&lines(&world, id), "INTENT_SELECTION SUCCESS"), 0, "{id}");
    }
    assert_eq!(shown(&world, "BARE")["status"], "PENDING");
    let context = ada.text(&ada.starts()).unwrap();
    assert_has(&context, &["REQ-1 (PENDING)"]);
    assert_lacks(&context, &["Intent BARE"]);
    select(&world, "REQ-1", "one");
    assert_eq!(count(&lines(&world, "REQ-1"), "INTENT_SELECTION SUCCESS"), 1);
    assert_has(&ada.text(&ada.starts()).unwrap(), &["Intent REQ-1: "]);
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
        let ada = claude(&world, "one");
        ada.starts();
        ada.may_edit("src/a.txt");
        ada.has_edited("src/a.txt");
        ada.gets_prompt("go on");
        if is_asked_anew {
            assert_has(&ada.may_not_edit("src/b.txt"), &["select_active_intent"]);
            select(&world, "REQ-1", "one");
        }
        ada.may_edit("src/b.txt");
    }
}

/// A budget that is missing has no limit, and nothing said so.
#[test]
fn the_start_context_has_the_budget_left_or_no_limit() {
    let world = world();
    new_intent(&world, "FREE", &[]);
    let bound = ["intent", "new", "BOUND", "--name", "n", "--scope", "docs/c.txt"];
    run(&world, &[&bound[..], &["--max-turns", "9"]].concat(), 0);
    for (id, expected) in [("FREE", "Budget: no limit"), ("BOUND", "Budget left: 9 of 9 turns")] {
        select(&world, id, id);
        let ada = claude(&world, id);
        assert_has(&ada.text(&ada.starts()).unwrap(), &[expected]);
    }
}
