//! If the rules, the schema or the login refuse a change, the report names file and field, and none of the change is
//! applied.

use serde_json::json;

use super::{TeamClone, message, refused};

const A: &str = "tasks/alpha/a.json";

fn of(reason: &str, place: &str) -> (String, String) {
    (reason.to_owned(), place.to_owned())
}

// rule: files#team-left
// rule: files#team-put-back
#[test]
fn a_change_that_breaks_a_rule_is_reported_and_reverted_or_left() {
    let place = TeamClone::alike();
    place.edit(A, |task| {
        task["status"] = "in_progress".into();
        task["owner"] = "lead".into();
    });
    place.sync(0);
    place.edit(A, |task| task["status"] = "completed".into());
    place.sync(0);
    // Backward; a ring; an owner that is not a member; a title that is not a line.
    place.edit(A, |task| task["status"] = "pending".into());
    place.edit("tasks/alpha/b.json", |task| {
        task["dependencies"] = json!(["c"]);
        task["title"] = "two\nlines".into();
    });
    place.edit("tasks/alpha/c.json", |task| {
        task["dependencies"] = json!(["b", "gone"]);
        task["status"] = "in_progress".into();
        task["owner"] = "ghost".into();
    });
    let report = place.sync(3);
    let refusals = refused(&report);
    for expected in [
        of("transition", "tasks/alpha/a.json: status"),
        of("refused", "tasks/alpha/b.json: title"),
        of("foreign", "tasks/alpha/c.json: owner"),
        of("missing", "tasks/alpha/c.json: dependencies[1]"),
    ] {
        assert!(refusals.contains(&expected), "{expected:?}: {report}");
    }
    let ring = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["reason"] == "cycle");
    let ring = ring.unwrap()["message"].as_str().unwrap();
    assert!(ring.starts_with("Circular dependency detected: "), "{ring}");
    assert_eq!(place.json(A)["status"], "completed");
    assert_eq!(place.json("tasks/alpha/c.json")["status"], "pending");
    // A change that the server refused stays in the file, and every run reports it until someone has read it.
    assert_eq!(place.json("tasks/alpha/b.json")["title"], "two\nlines");
    assert!(refused(&place.sync(3)).contains(&of("refused", "tasks/alpha/b.json: title")));
    place.edit("tasks/alpha/b.json", |task| {
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
    assert_eq!(refused(&place.sync(3)), [of("conflict", "tasks/alpha/a.json: title")]);
    assert_eq!(place.json(A)["title"], "of the server");
    place.assert_quiet();
}

// rule: files#team-attribution
#[test]
fn no_login_acts_for_the_handle_of_another_login() {
    let place = TeamClone::with_team();
    place.server(
        Some("eve"),
        "POST",
        "teams/alpha/join",
        &json!({ "agent_id": "eve-1", "handle": "eve" }),
    );
    place.sync(0);
    place.append("lead", message("eve", "lead", "forged"));
    place.append("lead", message("ghost", "lead", "forged"));
    place.append("lead", message("Lead", "w1", "to another"));
    place.append("eve", message("w1", "eve", "meant so"));
    place.edit(A, |task| {
        task["status"] = "in_progress".into();
        task["owner"] = "eve".into();
    });
    place.edit("teams/alpha/config.json", |config| {
        config["shutdownApprovals"] = json!(["eve"]);
        config["leader"] = "w1".into();
        let mut member = config["members"][1].clone();
        member["agentId"] = "EVE".into();
        config["members"].as_array_mut().unwrap().push(member);
    });
    let report = place.sync(3);
    let refusals = refused(&report);
    for expected in [
        of("foreign", "teams/alpha/inboxes/lead.json: [0].from"),
        of("foreign", "teams/alpha/inboxes/lead.json: [1].from"),
        of("foreign", "teams/alpha/inboxes/lead.json: [2].from"),
        of("foreign", "tasks/alpha/a.json: owner"),
        of("foreign", "teams/alpha/config.json: shutdownApprovals[0]"),
        of("foreign", "teams/alpha/config.json: members[3].agentId"),
        of("not_by_file", "teams/alpha/config.json: leader"),
    ] {
        assert!(refusals.contains(&expected), "{expected:?}: {report}");
    }
    assert_eq!(report["applied"], json!(["message of w1 to eve"]));
    let history = place.server(None, "GET", "messages", &json!({ "team": "alpha" }));
    let senders: Vec<_> = history["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["from"].clone())
        .collect();
    assert_eq!(senders, ["w1"]);
    assert_eq!(place.stored("a")["owner"], json!(null));
    let again = refused(&place.sync(3));
    assert!(
        !again.iter().any(|(_, place)| place.contains("inboxes")),
        "a message is said once: {again:?}"
    );
    // A login without a handle changes nothing.
    let place = TeamClone::empty();
    place.coord(&["team", "list"], 0);
    place.server(
        Some("eve"),
        "POST",
        "teams",
        &json!({ "name": "alpha", "agent_id": "eve-1", "handle": "eve" }),
    );
    place.sync(0);
    let task = json!({ "id": "n", "title": "N", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" });
    place.write("tasks/alpha/n.json", &task.to_string());
    assert_eq!(refused(&place.sync(3)), [of("refused", "tasks/alpha/n.json")]);
    assert_eq!(place.text("tasks/alpha/n.json"), task.to_string());
}

#[test]
fn a_task_that_is_refused_takes_those_that_need_it_along_and_no_other() {
    let place = TeamClone::alike();
    for number in 0..30 {
        let mut task = json!({ "id": format!("n{number}"), "title": "N", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" });
        if number == 7 {
            task["title"] = "with a bell \u{7}".into();
        }
        if number == 8 {
            task["dependencies"] = json!(["n7"]);
        }
        place.write(&format!("tasks/alpha/n{number}.json"), &task.to_string());
    }
    let report = place.sync(3);
    assert_eq!(report["applied"].as_array().map(Vec::len), Some(28), "{report}");
    assert_eq!(
        refused(&report),
        [
            of("refused", "tasks/alpha/n7.json: title"),
            of("refused", "tasks/alpha/n8.json: dependencies")
        ]
    );
    assert!(place.text("tasks/alpha/n7.json").contains("bell"));
}
