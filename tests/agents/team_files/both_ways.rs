//! Each side gets the changes of the other.

use serde_json::json;

use super::{TeamClone, message};

const A: &str = "tasks/alpha/a.json";
const B: &str = "tasks/alpha/b.json";

// rule: files#team-written
#[test]
fn a_team_of_the_server_is_written_as_the_plugin_writes_it() {
    let place = TeamClone::with_team();
    let report = place.sync(0);
    let mut written: Vec<&str> = report["written"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect();
    written.sort_unstable();
    let all = [
        "tasks/alpha/a.json",
        "tasks/alpha/b.json",
        "tasks/alpha/c.json",
        "teams/alpha/config.json",
        "teams/alpha/inboxes/lead.json",
        "teams/alpha/inboxes/w1.json",
    ];
    assert_eq!(written, all);
    assert_eq!(place.text("teams/alpha/inboxes/w1.json"), "[]");
    let (a, b) = (place.json(A), place.json(B));
    assert_eq!(
        (&a["description"], &a["blocks"]),
        (&json!("First\nof all"), &json!(["b"]))
    );
    assert_eq!((&b["priority"], &b["dependencies"]), (&json!("high"), &json!(["a"])));
    assert!(
        place
            .text(A)
            .starts_with("{\n  \"id\": \"a\",\n  \"title\": \"task a\",\n"),
        "{}",
        place.text(A)
    );
    place.assert_quiet();
    let left: Vec<_> = std::fs::read_dir(place.path("tasks/alpha"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 4, "three tasks and a lock, and nothing temporary: {left:?}");
}

// rule: files#team-edits
// rule: files#team-lease
#[test]
fn work_in_files_is_claimed_completed_and_released_by_the_handle() {
    let place = TeamClone::alike();
    let claim = |task: &mut serde_json::Value| {
        task["status"] = "in_progress".into();
        task["owner"] = "w1".into();
    };
    place.edit(A, claim);
    place.edit("tasks/alpha/c.json", claim);
    assert_eq!(
        place.sync(0)["applied"],
        json!(["task a claimed by w1", "task c claimed by w1"])
    );
    let stored = place.stored("a");
    assert_eq!(
        (&stored["owner"], &stored["lease"]["state"]),
        (&json!("w1"), &json!("held"))
    );
    let expires = stored["lease"]["expires"].as_str().unwrap();
    const DAY: u32 = 24 * 3600;
    // The claim may expire on the next day.
    let left = (DAY + chrono_seconds(expires) - chrono_seconds(stored["claimedAt"].as_str().unwrap())) % DAY;
    assert_eq!(left, 3600, "who works by files renews nothing");
    place.edit(A, |task| task["status"] = "completed".into());
    place.edit("tasks/alpha/c.json", |task| {
        task["status"] = "pending".into();
        task["warning"] = "Reassigned: previous owner w1 terminated".into();
        task.as_object_mut().unwrap().remove("owner");
    });
    let report = place.sync(0);
    assert_eq!(
        report["applied"],
        json!(["task a completed by w1", "task c released by w1"])
    );
    assert_eq!(place.json(B)["dependencies"], json!([]), "the cascade is in the file");
    assert_eq!(place.stored("c")["status"], "in_progress");
    let unowned = place.json("tasks/alpha/c.json");
    assert_eq!(
        (&unowned["status"], &unowned["owner"]),
        (&json!("pending"), &json!(null))
    );
    place.assert_quiet();
}

/// Seconds of a day.
fn chrono_seconds(time: &str) -> u32 {
    let parts = time[11..19].split(':').map(|part| part.parse::<u32>().unwrap());
    parts.fold(0, |seconds, part| seconds * 60 + part)
}

// rule: files#team-edits
#[test]
fn tasks_members_messages_and_edges_go_both_ways() {
    let place = TeamClone::alike();
    let new = json!({ "id": "1795348589271-bfb705e1", "title": "New", "status": "pending", "createdAt": "2026-12-01T00:00:00Z", "dependencies": ["c"] });
    place.write(
        "tasks/alpha/1795348589271-bfb705e1.json",
        &serde_json::to_string_pretty(&new).unwrap(),
    );
    place.edit("teams/alpha/config.json", |config| {
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
    place.server(
        None,
        "POST",
        "messages",
        &json!({ "team": "alpha", "agent_id": "lead", "to": ["w1"], "message": "of the server" }),
    );
    place.server(
        None,
        "POST",
        "tasks",
        &json!({ "team": "alpha", "agent_id": "lead", "tasks": [{ "title": "added there" }] }),
    );
    let report = place.sync(0);
    let applied = [
        "w2 joined",
        "task 1795348589271-bfb705e1 created",
        "dependencies of task b changed",
        "message of w1 to lead",
        "message of w1 to all",
    ];
    assert_eq!(report["applied"], json!(applied), "{report}");
    assert_eq!(place.json("tasks/alpha/c.json")["title"], "of the server");
    assert_eq!(place.json("tasks/alpha/t4.json")["title"], "added there");
    assert_eq!(
        place.json("teams/alpha/config.json")["dispatchRules"],
        json!([{ "id": "r", "rule": 1.50 }])
    );
    let texts = |inbox: &str| {
        let inbox = place.json(&format!("teams/alpha/inboxes/{inbox}.json"));
        let texts = inbox
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["message"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(texts("lead"), ["to one", "to all"]);
    assert_eq!(texts("w2"), ["to all"]);
    assert!(texts("w1").contains(&"of the server".to_owned()));
    let team = place.server(None, "GET", "teams/alpha", &json!({}))["team"].clone();
    let two = team["members"]
        .as_array()
        .unwrap()
        .iter()
        .find(|member| member["agentId"] == "w2")
        .unwrap();
    assert_eq!((&two["agentName"], &two["agent"]), (&json!("Two"), &json!("w2")));
    place.assert_quiet();
    place.edit("teams/alpha/inboxes/lead.json", |inbox| inbox[0]["read"] = true.into());
    assert_eq!(
        place.sync(0)["applied"].as_array().map(Vec::len),
        Some(1),
        "a prefix is read"
    );
    let history = place.server(None, "GET", "messages", &json!({ "team": "alpha", "member": "lead" }));
    let read = history["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|message| message["message"] == "to one")
        .unwrap();
    assert_eq!(read["read"], true);
    place.assert_quiet();
}

// rule: files#team-no-deletion
#[test]
fn a_file_that_is_deleted_deletes_its_task_and_a_folder_that_vanishes_deletes_nothing() {
    let place = TeamClone::alike();
    std::fs::remove_file(place.path("tasks/alpha/c.json")).unwrap();
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
    place.edit("teams/alpha/config.json", |config| {
        config["shutdownApprovals"] = json!(["w1"]);
    });
    assert_eq!(place.sync(0)["applied"], json!(["shutdown requested by w1"]));
    let shutdown = place.server(None, "GET", "teams/alpha", &json!({}))["team"]["shutdown"].clone();
    assert_eq!(shutdown["by"], "w1");
    let approval = json!({ "agent_id": "lead", "step": "approve", "shutdown_id": shutdown["id"] });
    assert_eq!(
        place.json("teams/alpha/config.json")["shutdownApprovals"],
        json!(["w1"])
    );
    let closed = place.server(None, "POST", "teams/alpha/shutdown", &approval);
    assert_eq!(closed["shutdown_state"], "closed", "{closed}");
    place.sync(0);
    assert_eq!(
        place.json("teams/alpha/config.json")["shutdownApprovals"],
        json!(["lead", "w1"])
    );
    // The plugin deletes such a team.
    place.assert_quiet();
    place.edit(A, |task| task["title"] = "after the end".into());
    let report = place.sync(3);
    assert_eq!(super::refused(&report), [("refused".to_owned(), A.to_owned())]);
    assert_eq!(
        place.json(A)["title"],
        "after the end",
        "nothing is written over unread"
    );
    assert_eq!(place.stored("a")["title"], "task a");
}

#[test]
fn one_way_leaves_the_other_side_alone() {
    let place = TeamClone::alike();
    place.edit(A, |task| task["title"] = "in the file".into());
    place.retitles("c", "of the server");
    let exported = place.report(&["export"], 0);
    assert_eq!(
        (&exported["applied"], &exported["written"]),
        (&json!([]), &json!(["tasks/alpha/c.json"])),
        "{exported}"
    );
    assert_eq!(
        exported["notes"],
        json!(["1 changes of files were left for coord team sync or import"])
    );
    assert_eq!(
        (&place.json(A)["title"], &place.stored("a")["title"]),
        (&json!("in the file"), &json!("task a"))
    );
    place.retitles("c", "once more");
    let imported = place.report(&["import"], 0);
    assert_eq!(
        (&imported["applied"], &imported["written"]),
        (&json!(["task a changed"]), &json!([])),
        "{imported}"
    );
    assert_eq!(place.json("tasks/alpha/c.json")["title"], "of the server");
    let both = place.sync(0);
    assert_eq!(
        (&both["applied"], &both["written"]),
        (&json!([]), &json!(["tasks/alpha/c.json"])),
        "{both}"
    );
    place.assert_quiet();
}

// rule: files#team-memory
#[test]
fn without_what_was_last_seen_it_only_adds() {
    let place = TeamClone::alike();
    place.edit(A, |task| task["title"] = "in the file".into());
    std::fs::remove_file(place.path("tasks/alpha/c.json")).unwrap();
    std::fs::remove_dir_all(place.world.clone.path().join(".git/coord/teams")).unwrap();
    let report = place.sync(3);
    assert_eq!(super::refused(&report), [("unknown".to_owned(), A.to_owned())]);
    assert_eq!(
        (&place.json(A)["title"], &place.stored("a")["title"]),
        (&json!("in the file"), &json!("task a"))
    );
    assert_eq!(place.json("tasks/alpha/c.json")["title"], "task c");
    // A team that was deleted, and another one of its name: its tasks are not those that were seen.
    place.edit(A, |task| task["title"] = "task a".into());
    place.sync(0);
    place.server(None, "POST", "teams/alpha/leave", &json!({ "agent_id": "w1" }));
    let deleted = place.server(None, "DELETE", "teams/alpha", &json!({ "agent_id": "lead" }));
    assert_eq!(deleted["team"], "alpha", "{deleted}");
    let report = place.sync(3);
    assert_eq!(
        super::refused(&report),
        [("vanished".to_owned(), "teams/alpha/config.json".to_owned())]
    );
    assert!(place.path(A).exists());
    place.coord(&["team", "create", "alpha", "--agent", "lead"], 0);
    let report = place.sync(0);
    assert_eq!(report["removed"], json!([]), "{report}");
    assert_eq!(place.stored("a")["title"], "task a");
}

#[test]
fn the_folder_is_found_as_the_plugin_finds_it_and_a_worktree_has_its_own() {
    let place = TeamClone::alike();
    let worktree = place.world.worktree("ada");
    let mut command = place.command();
    let ended = command
        .current_dir(worktree.path())
        .args(["team", "sync"])
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(worktree.path().join(super::ROOT).join(A).exists());
    let other = place.world.folder("other");
    let mut command = place.command();
    let ended = command
        .env("OPENCODE_TEAMS_DIR", &other)
        .args(["team", "export"])
        .output()
        .unwrap();
    assert!(ended.status.success() && other.join(A).exists(), "{ended:?}");
    let text = place.coord(&["team", "sync"], 0);
    assert!(
        text.contains("team alpha and its files in") && text.contains("are alike"),
        "{text}"
    );
    let args = ["team", "sync", "--url", "http://127.0.0.1:1"];
    let away = place.command().args(args).output().unwrap();
    assert_eq!(away.status.code(), Some(4), "{away:?}");
}
