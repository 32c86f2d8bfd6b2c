//! Each side gets the changes of the other.

use coord_test_support::opencode_runs::texts;
use serde_json::{Value, json};

use super::{A, B, C, CONFIG, TeamClone, assert_fields, claimed_by, message, message_texts, refused};
use crate::texts::assert_has;

// rule: files#team-written
#[test]
fn a_team_of_the_server_is_written_as_the_plugin_writes_it() {
    let place = TeamClone::with_team();
    let mut written = texts(&place.sync(0)["written"]);
    written.sort_unstable();
    let [lead, w1] = ["teams/alpha/inboxes/lead.json", "teams/alpha/inboxes/w1.json"];
    assert_eq!(written, [A, B, C, CONFIG, lead, w1]);
    assert_eq!(place.text(w1), "[]");
    let (a, b) = (place.json(A), place.json(B));
    assert_fields(&a, json!({ "description": "First\nof all", "blocks": ["b"] }));
    assert_fields(&b, json!({ "priority": "high", "dependencies": ["a"] }));
    let (text, start) = (place.text(A), "{\n  \"id\": \"a\",\n  \"title\": \"task a\",\n");
    assert!(text.starts_with(start), "{text}");
    place.assert_quiet();
    let left = std::fs::read_dir(place.path("tasks/alpha")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "three tasks and a lock, and nothing temporary: {left:?}");
}

// rule: files#team-edits
// rule: files#team-lease
#[test]
fn work_in_files_is_claimed_completed_and_released_by_the_handle() {
    let place = TeamClone::alike();
    place.edit(A, claimed_by("w1"));
    place.edit(C, claimed_by("w1"));
    let claimed = json!(["task a claimed by w1", "task c claimed by w1"]);
    assert_eq!(place.sync(0)["applied"], claimed);
    let stored = place.stored("a");
    assert_eq!(stored["owner"], "w1");
    assert_eq!(stored["lease"]["state"], "held");
    const DAY: u32 = 24 * 3600;
    let [expires, claimed] = [&stored["lease"]["expires"], &stored["claimedAt"]].map(seconds_of_day);
    // The claim may expire on the next day.
    let left = (DAY + expires - claimed) % DAY;
    assert_eq!(left, 3600, "work in files renews nothing");
    place.edit(A, |task| task["status"] = "completed".into());
    place.edit(C, |task| {
        task["status"] = "pending".into();
        task["warning"] = "Reassigned: previous owner w1 terminated".into();
        task.as_object_mut().unwrap().remove("owner");
    });
    let ended = json!(["task a completed by w1", "task c released by w1"]);
    assert_eq!(place.sync(0)["applied"], ended);
    assert_eq!(place.json(B)["dependencies"], json!([]), "the cascade is in the file");
    assert_eq!(place.stored("c")["status"], "in_progress");
    assert_fields(&place.json(C), json!({ "status": "pending", "owner": null }));
    place.assert_quiet();
}

fn seconds_of_day(time: &Value) -> u32 {
    let parts = time.as_str().unwrap()[11..19].split(':');
    parts.fold(0, |seconds, part| seconds * 60 + part.parse::<u32>().unwrap())
}

// rule: files#team-edits
#[test]
fn tasks_members_messages_and_edges_go_both_ways() {
    let place = TeamClone::alike();
    let mut new = super::task("1795348589271-bfb705e1");
    new["dependencies"] = json!(["c"]);
    place.add_task(&new);
    place.edit(CONFIG, |config| {
        let mut member = config["members"][1].clone();
        (member["agentId"], member["agentName"], member["agentType"]) = ("w2".into(), "Two".into(), "worker".into());
        config["members"].as_array_mut().unwrap().push(member);
        config["dispatchRules"] = json!([{ "id": "r", "rule": 1.50 }]);
    });
    place.append("lead", message("w1", "lead", "to one"));
    for inbox in ["lead", "w1"] {
        place.append(inbox, message("w1", "broadcast", "to all"));
    }
    place.edit(B, |task| task["dependencies"] = json!([]));
    place.edit(A, |task| task["blocks"] = json!([]));
    place.retitles("c", "of the server");
    let sent = json!({ "to": ["w1"], "message": "of the server" });
    place.lead("POST", "messages", sent);
    let added = json!({ "tasks": [{ "title": "added there" }] });
    place.lead("POST", "tasks", added);
    let report = place.sync(0);
    let applied = [
        "w2 joined",
        "task 1795348589271-bfb705e1 created",
        "dependencies of task b changed",
        "message of w1 to lead",
        "message of w1 to all",
    ];
    assert_eq!(report["applied"], json!(applied), "{report}");
    assert_eq!(place.json(C)["title"], "of the server");
    assert_eq!(place.json("tasks/alpha/t4.json")["title"], "added there");
    let rules = json!([{ "id": "r", "rule": 1.50 }]);
    assert_eq!(place.json(CONFIG)["dispatchRules"], rules);
    let inbox = |handle: &str| {
        let messages = place.json(&format!("teams/alpha/inboxes/{handle}.json"));
        message_texts(messages.as_array().unwrap())
    };
    assert_eq!(inbox("lead"), ["to one", "to all"]);
    assert_eq!(inbox("w2"), ["to all"]);
    assert!(inbox("w1").contains(&"of the server".to_owned()));
    let team = place.team();
    let mut members = team["members"].as_array().unwrap().iter();
    let two = members.find(|member| member["agentId"] == "w2").unwrap();
    assert_fields(two, json!({ "agentName": "Two", "agent": "w2" }));
    place.assert_quiet();
    place.edit("teams/alpha/inboxes/lead.json", |inbox| inbox[0]["read"] = true.into());
    assert_eq!(texts(&place.sync(0)["applied"]).len(), 1, "a prefix is read");
    let history = place.server("GET", "messages", json!({ "team": "alpha", "member": "lead" }));
    let mut messages = history["messages"].as_array().unwrap().iter();
    let read = messages.find(|message| message["message"] == "to one").unwrap();
    assert_eq!(read["read"], true);
    place.assert_quiet();
}

// rule: files#team-no-deletion
#[test]
fn a_file_that_is_deleted_deletes_its_task_and_a_folder_that_vanishes_deletes_nothing() {
    let place = TeamClone::alike();
    place.remove(C);
    assert_eq!(place.sync(0)["applied"], json!(["task c deleted"]));
    // An export writes it anew.
    assert_eq!(place.report(&["export"], 0)["refused"], json!([]));
    assert_eq!(place.json(A)["title"], "task a");
    place.assert_quiet();
}

// rule: files#team-projection
#[test]
fn a_team_ends_on_both_sides_and_its_leader_is_in_the_list_only_then() {
    let place = TeamClone::alike();
    let approvals = || place.json(CONFIG)["shutdownApprovals"].clone();
    place.edit(CONFIG, |config| config["shutdownApprovals"] = json!(["w1"]));
    assert_eq!(place.sync(0)["applied"], json!(["shutdown requested by w1"]));
    let shutdown = place.team()["shutdown"].clone();
    assert_eq!(shutdown["by"], "w1");
    assert_eq!(approvals(), json!(["w1"]));
    let approval = json!({ "step": "approve", "shutdown_id": shutdown["id"] });
    let closed = place.lead("POST", "teams/alpha/shutdown", approval);
    assert_eq!(closed["shutdown_state"], "closed", "{closed}");
    place.sync(0);
    assert_eq!(approvals(), json!(["lead", "w1"]));
    // The plugin deletes such a team.
    place.assert_quiet();
    place.edit(A, |task| task["title"] = "after the end".into());
    assert_eq!(refused(&place.sync(3)), [format!("refused {A}")]);
    let title = &place.json(A)["title"];
    assert_eq!(title, "after the end", "nothing is written over unread");
    assert_eq!(place.stored("a")["title"], "task a");
}

#[test]
fn one_way_leaves_the_other_side_alone() {
    let place = TeamClone::alike();
    place.edit(A, |task| task["title"] = "in the file".into());
    place.retitles("c", "of the server");
    let note = "1 file change was left for coord team sync or import";
    let exported = place.report(&["export"], 0);
    assert_fields(&exported, json!({ "applied": [], "written": [C], "notes": [note] }));
    assert_eq!(place.json(A)["title"], "in the file");
    assert_eq!(place.stored("a")["title"], "task a");
    place.retitles("c", "once more");
    let imported = place.report(&["import"], 0);
    assert_fields(&imported, json!({ "applied": ["task a changed"], "written": [] }));
    assert_eq!(place.json(C)["title"], "of the server");
    assert_fields(&place.sync(0), json!({ "applied": [], "written": [C] }));
    place.assert_quiet();
}

// rule: files#team-memory
#[test]
fn without_what_was_last_seen_it_only_adds() {
    let place = TeamClone::alike();
    place.edit(A, |task| task["title"] = "in the file".into());
    place.remove(C);
    std::fs::remove_dir_all(place.memory()).unwrap();
    assert_eq!(refused(&place.sync(3)), [format!("unknown {A}")]);
    assert_eq!(place.json(A)["title"], "in the file");
    assert_eq!(place.stored("a")["title"], "task a");
    assert_eq!(place.json(C)["title"], "task c");
    // A team that was deleted, and another one of its name: its tasks are not those that were seen.
    place.edit(A, |task| task["title"] = "task a".into());
    place.sync(0);
    place.agent("w1", "POST", "teams/alpha/leave", json!({}));
    let deleted = place.server("DELETE", "teams/alpha", json!({ "agent_id": "lead" }));
    assert_eq!(deleted["team"], "alpha", "{deleted}");
    assert_eq!(refused(&place.sync(3)), [format!("vanished {CONFIG}")]);
    assert!(place.path(A).exists());
    place.coord(&["team", "create", "alpha", "--agent", "lead"], 0);
    assert_fields(&place.sync(0), json!({ "removed": [] }));
    assert_eq!(place.stored("a")["title"], "task a");
}

#[test]
fn the_folder_is_found_as_the_plugin_finds_it_and_a_worktree_has_its_own() {
    let place = TeamClone::alike();
    let worktree = place.world.worktree("ada");
    let mut in_worktree = place.command();
    in_worktree.current_dir(worktree.path()).args(["team", "sync"]);
    let ended = in_worktree.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(worktree.path().join(super::ROOT).join(A).exists());
    let other = place.world.folder("other");
    let mut export = place.command();
    export.env("OPENCODE_TEAMS_DIR", &other).args(["team", "export"]);
    let ended = export.output().unwrap();
    assert!(ended.status.success() && other.join(A).exists(), "{ended:?}");
    let text = place.coord(&["team", "sync"], 0);
    assert_has(&text, &["team alpha and its files in", "are in sync"]);
    place.coord(&["team", "sync", "--url", "http://127.0.0.1:1"], 4);
}
