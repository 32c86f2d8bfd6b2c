//! If the rules, the schema or the login refuse a change, the report names file and field, and none of the change is
//! applied.

use coord_test_support::opencode_runs::texts;
use serde_json::json;

use super::{A, B, C, CONFIG, TeamClone, add_members, assert_refused, claimed_by, message, refused, task};

// rule: files#team-left
// rule: files#team-put-back
#[test]
fn a_change_that_breaks_a_rule_is_reported_and_reverted_or_left() {
    let place = TeamClone::alike();
    place.edit(A, claimed_by("lead"));
    place.sync(0);
    place.edit(A, |task| task["status"] = "completed".into());
    place.sync(0);
    // Backward; a ring; an owner that is not a member; a title that is not a line.
    place.edit(A, |task| task["status"] = "pending".into());
    place.edit(B, |task| {
        task["dependencies"] = json!(["c"]);
        task["title"] = "two\nlines".into();
    });
    place.edit(C, |task| task["dependencies"] = json!(["b", "gone"]));
    place.edit(C, claimed_by("ghost"));
    let report = place.sync(3);
    let expected = [
        "transition tasks/alpha/a.json: status",
        "refused tasks/alpha/b.json: title",
        "foreign tasks/alpha/c.json: owner",
        "missing tasks/alpha/c.json: dependencies[1]",
    ];
    assert_refused(&report, &expected);
    let mut all = report["refused"].as_array().unwrap().iter();
    let ring = all.find(|one| one["reason"] == "cycle").unwrap();
    let ring = ring["message"].as_str().unwrap();
    assert!(ring.starts_with("Circular dependency detected: "), "{ring}");
    assert_eq!(place.json(A)["status"], "completed");
    assert_eq!(place.json(C)["status"], "pending");
    // A change that the server refused stays in the file, and every run reports it until someone has read it.
    assert_eq!(place.json(B)["title"], "two\nlines");
    assert_refused(&place.sync(3), &["refused tasks/alpha/b.json: title"]);
    place.edit(B, |task| {
        task["dependencies"] = json!([]);
        task["title"] = "two words".into();
    });
    place.sync(0);
    assert_eq!(place.stored("b")["title"], "two words");
    place.assert_quiet();
}

// rule: files#team-put-back
#[test]
fn the_server_wins_a_conflict() {
    let place = TeamClone::alike();
    place.edit(A, |task| task["title"] = "in the file".into());
    place.retitles("a", "of the server");
    assert_eq!(refused(&place.sync(3)), ["conflict tasks/alpha/a.json: title"]);
    assert_eq!(place.json(A)["title"], "of the server");
    place.assert_quiet();
}

// rule: files#team-attribution
#[test]
fn no_login_acts_for_the_handle_of_another_login() {
    let place = TeamClone::with_team();
    let eve = json!({ "agent_id": "eve-1", "handle": "eve" });
    place.server_as(Some("eve"), "POST", "teams/alpha/join", eve);
    place.sync(0);
    place.append("lead", message("eve", "lead", "forged"));
    place.append("lead", message("ghost", "lead", "forged"));
    place.append("lead", message("Lead", "w1", "to another"));
    place.append("eve", message("w1", "eve", "meant so"));
    place.edit(A, claimed_by("eve"));
    place.edit(CONFIG, |config| {
        config["shutdownApprovals"] = json!(["eve"]);
        config["leader"] = "w1".into();
    });
    place.edit(CONFIG, add_members(&["EVE"]));
    let report = place.sync(3);
    let expected = [
        "foreign teams/alpha/inboxes/lead.json: [0].from",
        "foreign teams/alpha/inboxes/lead.json: [1].from",
        "foreign teams/alpha/inboxes/lead.json: [2].from",
        "foreign tasks/alpha/a.json: owner",
        "foreign teams/alpha/config.json: shutdownApprovals[0]",
        "foreign teams/alpha/config.json: members[3].agentId",
        "not_by_file teams/alpha/config.json: leader",
    ];
    assert_refused(&report, &expected);
    assert_eq!(report["applied"], json!(["message of w1 to eve"]));
    let messages = place.messages();
    let senders = messages.iter().map(|message| &message["from"]);
    assert_eq!(senders.collect::<Vec<_>>(), ["w1"]);
    assert_eq!(place.stored("a")["owner"], json!(null));
    let again = refused(&place.sync(3));
    let is_message = |refusal: &String| refusal.contains("inboxes");
    assert!(!again.iter().any(is_message), "a message is reported once: {again:?}");
    // A login without a handle changes nothing.
    let place = TeamClone::empty();
    place.coord(&["team", "list"], 0);
    let team = json!({ "name": "alpha", "agent_id": "eve-1", "handle": "eve" });
    place.server_as(Some("eve"), "POST", "teams", team);
    place.sync(0);
    let task = task("n");
    place.add_task(&task);
    assert_eq!(refused(&place.sync(3)), ["refused tasks/alpha/n.json"]);
    assert_eq!(place.text("tasks/alpha/n.json"), task.to_string());
}

#[test]
fn a_task_that_is_refused_takes_those_that_need_it_along_and_no_other() {
    let place = TeamClone::alike();
    for number in 0..30 {
        let mut task = task(&format!("n{number}"));
        match number {
            7 => task["title"] = "with a bell \u{7}".into(),
            8 => task["dependencies"] = json!(["n7"]),
            _ => {}
        }
        place.add_task(&task);
    }
    let report = place.sync(3);
    assert_eq!(texts(&report["applied"]).len(), 28, "{report}");
    let expected = [
        "refused tasks/alpha/n7.json: title",
        "refused tasks/alpha/n8.json: dependencies",
    ];
    assert_eq!(refused(&report), expected);
    assert!(place.text("tasks/alpha/n7.json").contains("bell"));
}
