//! Synchronizations that are cut off, and changes of the server while one runs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use coord_test_support::waiting::block_until;
use serde_json::{Value, json};

use super::between::between;
use super::{TeamClone, message, refused};

const A: &str = "tasks/alpha/a.json";

/// A team of files alone: forty tasks of w1 that are completed, one that waits, and three messages.
fn of_files() -> TeamClone {
    let place = TeamClone::empty();
    place.coord(&["team", "list"], 0);
    write_team(&place);
    place
}

fn write_team(place: &TeamClone) {
    let member =
        |id: &str| json!({ "agentId": id, "agentName": id, "agentType": "worker", "joinedAt": "2026-12-01T00:00:00Z" });
    let config = json!({
        "name": "alpha", "created": "2026-12-01T00:00:00Z", "leader": "lead", "members": [member("lead"), member("w1")],
    });
    place.write("teams/alpha/config.json", &config.to_string());
    for number in 0..40 {
        let task = json!({
            "id": format!("n{number}"), "title": "N", "status": "completed", "owner": "w1", "createdAt": "2026-12-01T00:00:00Z",
        });
        place.write(&format!("tasks/alpha/n{number}.json"), &task.to_string());
    }
    let open = json!({ "id": "open", "title": "O", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" });
    place.write("tasks/alpha/open.json", &open.to_string());
    let inbox = ["one", "two", "three"].map(|text| message("w1", "lead", text));
    place.write("teams/alpha/inboxes/lead.json", &json!(inbox).to_string());
}

#[test]
fn a_wait_for_the_limits_of_the_server_is_printed_once() {
    let place = TeamClone::empty();
    let mut first = place.command();
    first.env("COORD_LIMIT_HOLDER_PER_MINUTE", "110");
    assert!(first.args(["team", "list"]).status().unwrap().success());
    write_team(&place);
    let ended = place.command().args(["team", "sync"]).output().unwrap();
    let errors = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{errors}");
    assert_eq!(errors, "coord: the server's limits of requests make this wait\n");
    assert_eq!(place.stored("n39")["status"], "completed");
}

// rule: files#team-memory
#[test]
fn a_first_sync_that_is_killed_or_gets_no_response_resumes_where_it_was() {
    // In the middle of the work, and of the messages.
    for (words, count) in [("/complete", 21), ("/api/messages ", 2)] {
        let place = of_files();
        let (count_sent, is_there) = (AtomicUsize::new(0), AtomicBool::new(false));
        // One that is killed.
        let admits = |request: &str| {
            let is_one = request.starts_with("POST") && format!("{request} ").contains(words);
            if is_one && count_sent.fetch_add(1, Ordering::AcqRel) + 1 == count {
                is_there.store(true, Ordering::Release);
            }
            !is_there.load(Ordering::Acquire)
        };
        between(&place, admits, |url| {
            let mut command = place.command();
            let mut child = command.args(["team", "sync", "--url", url]).spawn().unwrap();
            block_until("it is there", || is_there.load(Ordering::Acquire));
            child.kill().unwrap();
            child.wait().unwrap();
        });
        // One without an answer says what it had done.
        let completions = AtomicUsize::new(0);
        let admits = |request: &str| {
            let is_one = request.contains("/complete") || request == "POST /api/messages";
            !is_one || completions.fetch_add(1, Ordering::AcqRel) < 1
        };
        between(&place, admits, |url| {
            let ended = place
                .command()
                .args(["team", "sync", "--json", "--url", url])
                .output()
                .unwrap();
            assert_eq!(ended.status.code(), Some(4), "{ended:?}");
            let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
            assert_ne!(report["applied"], json!([]), "{report}");
        });
        let report = place.sync(0);
        assert_eq!(report["refused"], json!([]), "{report}");
        place.sync(0);
        place.assert_quiet();
        for number in 0..40 {
            assert_eq!(place.stored(&format!("n{number}"))["status"], "completed");
            assert_eq!(
                place.json(&format!("tasks/alpha/n{number}.json"))["status"],
                "completed"
            );
        }
        let history = place.server(None, "GET", "messages", &json!({ "team": "alpha" }));
        let messages = history["messages"].as_array().unwrap().iter();
        let texts: Vec<_> = messages.map(|message| message["message"].as_str().unwrap()).collect();
        assert_eq!(texts.len(), 3, "each once: {texts:?}");
    }
}

/// Does `meanwhile` before the server sees the first request about the task.
fn sync_with(place: &TeamClone, id: &str, status: i32, meanwhile: impl Fn() + Sync) -> Value {
    let is_done = AtomicBool::new(false);
    let path = format!("/api/tasks/{id}");
    let admits = |request: &str| {
        if request.contains(&path) && !is_done.swap(true, Ordering::AcqRel) {
            meanwhile();
        }
        true
    };
    between(place, admits, |url| place.report(&["sync", "--url", url], status))
}

#[test]
fn server_changes_while_files_are_applied_are_not_lost() {
    let place = TeamClone::alike();
    let server = |change: Value| {
        place.server(None, "PATCH", "tasks/a", &change);
    };
    place.edit(A, |task| task["title"] = "in the file".into());
    let report = sync_with(&place, "a", 3, || place.retitles("a", "of the server"));
    assert_eq!(refused(&report), [("conflict".to_owned(), format!("{A}: title"))]);
    assert_eq!(place.stored("a")["title"], "of the server");
    assert_eq!(place.json(A)["title"], "of the server");
    // Another field, and another edge, are no conflict.
    place.edit(A, |task| {
        task["description"] = "of the file".into();
        task["dependencies"] = json!(["c"]);
    });
    place.server(
        None,
        "POST",
        "tasks",
        &json!({ "team": "alpha", "agent_id": "lead", "tasks": [{ "id": "d", "title": "task d" }] }),
    );
    let change = json!({ "team": "alpha", "agent_id": "lead", "priority": "high", "dependencies": ["d"] });
    sync_with(&place, "a", 0, || server(change.clone()));
    place.sync(0);
    let stored = place.stored("a");
    assert_eq!(
        (&stored["description"], &stored["priority"], &stored["dependencies"]),
        // In the order in which the edges came to the server.
        (&json!("of the file"), &json!("high"), &json!(["d", "c"]))
    );
    assert_eq!(place.json(A)["dependencies"], json!(["d", "c"]));
    // A deletion of what the server changes.
    std::fs::remove_file(place.path("tasks/alpha/b.json")).unwrap();
    let report = sync_with(&place, "b", 3, || place.retitles("b", "needed"));
    assert_eq!(
        refused(&report),
        [("conflict".to_owned(), "tasks/alpha/b.json".to_owned())]
    );
    assert_eq!(place.stored("b")["title"], "needed");
    assert_eq!(place.json("tasks/alpha/b.json")["title"], "needed");
    place.assert_quiet();
}

#[test]
fn a_completion_in_a_file_is_applied_after_the_claim_has_expired() {
    let place = TeamClone::alike();
    let claim = json!({ "team": "alpha", "agent_id": "w1", "lease_seconds": 30 });
    place.server(None, "POST", "tasks/a/claim", &claim);
    place.sync(0);
    assert_eq!(place.json(A)["owner"], "w1");
    // time: 30 seconds is the shortest claim.
    std::thread::sleep(Duration::from_secs(30));
    block_until("it has lapsed", || place.stored("a")["lease"]["state"] == "lapsed");
    place.edit(A, |task| task["status"] = "completed".into());
    let report = place.sync(0);
    assert_eq!(report["applied"], json!(["task a completed by w1"]), "{report}");
    assert_eq!(place.stored("a")["owner"], "w1");
    assert_eq!(place.json(A)["status"], "completed");
    place.assert_quiet();
}
