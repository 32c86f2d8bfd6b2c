//! Synchronizations that are cut off, and changes of the server while one runs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use coord_test_support::waiting::block_until;
use serde_json::{Value, json};

use super::between::between;
use super::{A, B, CONFIG, TeamClone, assert_fields, message, message_texts, refused, task};

/// Writes a team of files alone: forty tasks of w1 that are completed, one that waits, and three messages.
fn write_team(place: &TeamClone) {
    let member =
        |id: &str| json!({ "agentId": id, "agentName": id, "agentType": "worker", "joinedAt": "2026-12-01T00:00:00Z" });
    let config = json!({
        "name": "alpha", "created": "2026-12-01T00:00:00Z", "leader": "lead", "members": [member("lead"), member("w1")],
    });
    place.write(CONFIG, &config.to_string());
    for number in 0..40 {
        let mut task = task(&format!("n{number}"));
        (task["status"], task["owner"]) = ("completed".into(), "w1".into());
        place.add_task(&task);
    }
    place.add_task(&task("open"));
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
    let ended = place.run(&["team", "sync"]);
    let errors = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{errors}");
    assert_eq!(errors, "coord: the server's rate limit is reached; waiting\n");
    assert_eq!(place.stored("n39")["status"], "completed");
}

// rule: files#team-memory
#[test]
fn a_first_sync_that_is_killed_or_gets_no_response_resumes_where_it_was() {
    // In the middle of the work, and of the messages.
    for (words, count) in [("/complete", 21), ("/api/messages ", 2)] {
        let place = TeamClone::empty();
        place.coord(&["team", "list"], 0);
        write_team(&place);
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
            let report = place.report(&["sync", "--url", url], 4);
            assert_ne!(report["applied"], json!([]), "{report}");
        });
        let report = place.sync(0);
        assert_eq!(report["refused"], json!([]), "{report}");
        place.sync(0);
        place.assert_quiet();
        for number in 0..40 {
            let id = format!("n{number}");
            assert_eq!(place.stored(&id)["status"], "completed");
            assert_eq!(place.json(&format!("tasks/alpha/{id}.json"))["status"], "completed");
        }
        let texts = message_texts(&place.messages());
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
    place.edit(A, |task| task["title"] = "in the file".into());
    let report = sync_with(&place, "a", 3, || place.retitles("a", "of the server"));
    assert_eq!(refused(&report), [format!("conflict {A}: title")]);
    assert_eq!(place.stored("a")["title"], "of the server");
    assert_eq!(place.json(A)["title"], "of the server");
    // Another field, and another edge, are no conflict.
    place.edit(A, |task| {
        task["description"] = "of the file".into();
        task["dependencies"] = json!(["c"]);
    });
    let new = json!({ "tasks": [{ "id": "d", "title": "task d" }] });
    place.lead("POST", "tasks", new);
    sync_with(&place, "a", 0, || {
        let change = json!({ "priority": "high", "dependencies": ["d"] });
        place.lead("PATCH", "tasks/a", change);
    });
    place.sync(0);
    // In the order in which the edges came to the server.
    let edges = json!(["d", "c"]);
    let merged = json!({ "description": "of the file", "priority": "high", "dependencies": edges });
    assert_fields(&place.stored("a"), merged);
    assert_eq!(place.json(A)["dependencies"], edges);
    // A deletion of what the server changes.
    place.remove(B);
    let report = sync_with(&place, "b", 3, || place.retitles("b", "needed"));
    assert_eq!(refused(&report), [format!("conflict {B}")]);
    assert_eq!(place.stored("b")["title"], "needed");
    assert_eq!(place.json(B)["title"], "needed");
    place.assert_quiet();
}

#[test]
fn a_completion_in_a_file_is_applied_after_the_claim_has_expired() {
    let place = TeamClone::alike();
    let claim = json!({ "lease_seconds": 30 });
    place.agent("w1", "POST", "tasks/a/claim", claim);
    place.sync(0);
    assert_eq!(place.json(A)["owner"], "w1");
    // time: 30 seconds is the shortest claim.
    std::thread::sleep(Duration::from_secs(30));
    block_until("it has expired", || place.stored("a")["lease"]["state"] == "lapsed");
    place.edit(A, |task| task["status"] = "completed".into());
    let report = place.sync(0);
    assert_eq!(report["applied"], json!(["task a completed by w1"]), "{report}");
    assert_eq!(place.stored("a")["owner"], "w1");
    assert_eq!(place.json(A)["status"], "completed");
    place.assert_quiet();
}
