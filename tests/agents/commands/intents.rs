//! `coord intent`: an intent from its first line to its end.

use super::{json, printed, run, world};

// rule: commands#other-json
#[test]
fn an_intent_is_written_checked_selected_met_and_completed() {
    let world = world();
    let new = [
        "intent",
        "new",
        "INT-001",
        "--name",
        "Pool",
        "--scope",
        "src/db.ts",
        "--criterion",
        "Tests pass",
        "--max-turns",
        "5",
        "--json",
    ];
    let written = json(&world, &new, 0);
    assert_eq!(written["intent"]["status"], "PENDING", "{written}");
    let check = json(&world, &["intent", "check", "INT-001", "--json"], 0);
    assert_eq!(check["covered"], serde_json::json!(["src/db.ts"]));
    let selected = json(&world, &["intent", "select", "INT-001", "--agent", "one", "--json"], 0);
    assert_eq!(selected["state"], "ACTION", "{selected}");
    assert_eq!(selected["intent"]["status"], "IN_PROGRESS");

    let second = ["intent", "new", "INT-002", "--name", "Types", "--scope", "src/db.ts"];
    printed(&world, &second, 0);
    let refused = printed(&world, &["intent", "select", "INT-002"], 3);
    assert!(refused.contains("SCOPE_OVERLAP"), "{refused}");
    let check = json(&world, &["intent", "check", "INT-002", "--json"], 3);
    assert_eq!(check["overlaps"][0][0], "INT-001");

    printed(&world, &["intent", "complete", "INT-001"], 3);
    let met = [
        "intent",
        "edit",
        "INT-001",
        "--met",
        "Tests pass",
        "--evidence",
        "npm test",
    ];
    printed(&world, &met, 0);
    let completed = json(&world, &["intent", "complete", "INT-001", "--json"], 0);
    assert_eq!(completed["intent"]["status"], "COMPLETED", "{completed}");
    let listed = printed(&world, &["intent", "list"], 0);
    assert!(
        listed.contains("INT-002") && listed.contains("1 that have ended"),
        "{listed}"
    );
    assert!(printed(&world, &["intent", "show", "INT-001"], 0).contains("[x] \u{201c}Tests pass\u{201d}"));
}

// rule: commands#person
#[test]
fn an_act_reserved_for_people_is_refused_without_a_terminal() {
    let world = world();
    printed(
        &world,
        &[
            "intent",
            "new",
            "a",
            "--name",
            "A",
            "--scope",
            "src/db.ts",
            "--max-turns",
            "5",
        ],
        0,
    );
    printed(&world, &["intent", "select", "a"], 0);
    for act in [
        &["intent", "unblock", "a", "--yes"][..],
        &["intent", "allow", "a", "b", "--yes"],
        &["intent", "take-over", "a", "src/db.ts", "--yes"],
        &["intent", "complete", "a", "--force", "--reason", "why", "--yes"],
        &["intent", "edit", "a", "--max-turns", "6", "--yes"],
        &["intent", "edit", "a", "--max-turns", "none", "--yes"],
    ] {
        let (status, _, error) = run(&world, act);
        assert_eq!(status, 1, "{act:?}: {error}");
        assert!(
            error.contains("this takes a person: run it in a terminal"),
            "{act:?}: {error}"
        );
    }
    printed(&world, &["intent", "edit", "a", "--max-turns", "4"], 0);
    let shown = json(&world, &["intent", "show", "a", "--json"], 0);
    assert_eq!(shown["intent"]["budget"]["max_turns"], 4);
    assert_eq!(shown["intent"]["status"], "IN_PROGRESS");
}

#[test]
fn an_intent_is_written_from_a_file_in_the_form_of_the_registry() {
    let world = world();
    let text = "# Ours\nintents:\n  - id: REQ-1\n    name: Login\n    owned_scope: [src/auth/**]\n    budget:\n      max_turns: 7\n";
    std::fs::write(world.clone.path().join("intent.yaml"), text).unwrap();
    printed(&world, &["intent", "new", "--from", "intent.yaml"], 0);
    let shown = json(&world, &["intent", "show", "REQ-1", "--json"], 0);
    assert_eq!(shown["intent"]["budget"]["max_turns"], 7);
    std::fs::write(world.clone.path().join("intent.yaml"), text.replace("Login", "7")).unwrap();
    let (status, _, error) = run(&world, &["intent", "edit", "REQ-1", "--from", "intent.yaml"]);
    assert_eq!(status, 1);
    assert!(error.contains("line 4, column 11"), "{error}");
}
