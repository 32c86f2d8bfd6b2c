//! `coord intent`: an intent from its first line to its end.

use serde_json::json;

use super::{error, json as json_of, printed, world};
use crate::texts::assert_has;

// rule: commands#other-json
#[test]
fn an_intent_is_written_checked_selected_met_and_completed() {
    let world = world();
    let new = ["intent", "new", "INT-001", "--name", "Pool", "--scope", "src/db.ts"];
    let more = ["--criterion", "Tests pass", "--max-turns", "5", "--json"];
    let written = json_of(&world, &[&new[..], &more].concat(), 0);
    assert_eq!(written["intent"]["status"], "PENDING", "{written}");
    let check = json_of(&world, &["intent", "check", "INT-001", "--json"], 0);
    assert_eq!(check["covered"], json!(["src/db.ts"]));
    let select = ["intent", "select", "INT-001", "--agent", "one", "--json"];
    let selected = json_of(&world, &select, 0);
    assert_eq!(selected["state"], "ACTION", "{selected}");
    assert_eq!(selected["intent"]["status"], "IN_PROGRESS");

    let second = ["intent", "new", "INT-002", "--name", "Types", "--scope", "src/db.ts"];
    printed(&world, &second, 0);
    let refused = printed(&world, &["intent", "select", "INT-002"], 3);
    assert_has(&refused, &["SCOPE_OVERLAP"]);
    let check = json_of(&world, &["intent", "check", "INT-002", "--json"], 3);
    assert_eq!(check["overlaps"][0][0], "INT-001");

    printed(&world, &["intent", "complete", "INT-001"], 3);
    let met = ["--met", "Tests pass", "--evidence", "npm test"];
    printed(&world, &[&["intent", "edit", "INT-001"][..], &met].concat(), 0);
    let completed = json_of(&world, &["intent", "complete", "INT-001", "--json"], 0);
    assert_eq!(completed["intent"]["status"], "COMPLETED", "{completed}");
    let listed = printed(&world, &["intent", "list"], 0);
    assert_has(&listed, &["INT-002", "1 that have ended"]);
    let shown = printed(&world, &["intent", "show", "INT-001"], 0);
    assert_has(&shown, &["[x] \u{201c}Tests pass\u{201d}"]);
}

// rule: commands#person
#[test]
fn an_act_reserved_for_people_is_refused_without_a_terminal() {
    let world = world();
    let new = ["intent", "new", "a", "--name", "A", "--scope", "src/db.ts"];
    printed(&world, &[&new[..], &["--max-turns", "5"]].concat(), 0);
    printed(&world, &["intent", "select", "a"], 0);
    for act in [
        &["intent", "unblock", "a", "--yes"][..],
        &["intent", "allow", "a", "b", "--yes"],
        &["intent", "take-over", "a", "src/db.ts", "--yes"],
        &["intent", "complete", "a", "--force", "--reason", "why", "--yes"],
        &["intent", "edit", "a", "--max-turns", "6", "--yes"],
        &["intent", "edit", "a", "--max-turns", "none", "--yes"],
    ] {
        let error = error(&world, act, 1);
        let expected = "this takes a person: run it in a terminal";
        assert!(error.contains(expected), "{act:?}: {error}");
    }
    printed(&world, &["intent", "edit", "a", "--max-turns", "4"], 0);
    let shown = json_of(&world, &["intent", "show", "a", "--json"], 0);
    assert_eq!(shown["intent"]["budget"]["max_turns"], 4);
    assert_eq!(shown["intent"]["status"], "IN_PROGRESS");
}

#[test]
fn an_intent_is_written_from_a_file_in_the_form_of_the_registry() {
    let world = world();
    let file = world.clone.path().join("intent.yaml");
    let text = "# Ours\nintents:\n  - id: REQ-1\n    name: Login\n    owned_scope: [src/auth/**]\n    budget:\n      max_turns: 7\n";
    std::fs::write(&file, text).unwrap();
    printed(&world, &["intent", "new", "--from", "intent.yaml"], 0);
    let shown = json_of(&world, &["intent", "show", "REQ-1", "--json"], 0);
    assert_eq!(shown["intent"]["budget"]["max_turns"], 7);
    std::fs::write(&file, text.replace("Login", "7")).unwrap();
    let edit = ["intent", "edit", "REQ-1", "--from", "intent.yaml"];
    assert_has(&error(&world, &edit, 1), &["line 4, column 11"]);
}
