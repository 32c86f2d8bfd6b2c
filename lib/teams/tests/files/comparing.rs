//! Last seen, file and store: applied changes, written files, and mere reports.

use coord_teams::compare::{Change, Kind};
use coord_teams::status::Status;

use super::sync::{Both, append, handle, kinds, send, sync_reports, task};

const A: &str = "tasks/alpha/a.json";
const B: &str = "tasks/alpha/b.json";
const C: &str = "tasks/alpha/c.json";
const CONFIG: &str = "teams/alpha/config.json";
const LEAD: &str = "teams/alpha/inboxes/lead.json";
const W1: &str = "teams/alpha/inboxes/w1.json";

#[test]
fn fields_go_the_way_they_were_changed() {
    let mut both = Both::alike();
    both.edit(A, "task a", "in the file");
    both.edit(A, "normal", "high");
    both.stored("a").description = Some("in the store".to_owned());
    both.stored("c").title = "only in the store".to_owned();
    let done = both.sync();
    let edit = Change::EditTask {
        id: task("a"),
        title: Some("in the file".to_owned()),
        description: None,
        priority: Some(coord_teams::status::Priority::High),
    };
    assert_eq!(
        (&done.taken.changes[..], &done.taken.findings[..]),
        (&[edit][..], &[][..])
    );
    assert_eq!(both.file(A)["description"], "in the store");
    assert_eq!(both.file(A)["title"], "in the file");
    assert_eq!(both.file(C)["title"], "only in the store");
    both.assert_quiet();
}

#[test]
fn the_store_wins_a_conflict_which_is_reported() {
    let mut both = Both::alike();
    both.edit(A, "task a", "in the file");
    both.stored("a").title = "in the store".to_owned();
    assert_eq!(sync_reports(&mut both), [(Kind::Conflict, format!("{A}: title"))]);
    assert_eq!(both.file(A)["title"], "in the store");
    // The same on both sides is none.
    both.edit(A, "in the store", "alike");
    both.stored("a").title = "alike".to_owned();
    assert_eq!(sync_reports(&mut both), []);
    both.assert_quiet();
}

#[test]
fn work_in_files_becomes_claims_and_completions() {
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"in_progress\"");
    both.edit(A, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    // The plugin's change of the dependent, two steps of another task at once, and a claim before its time.
    both.edit(C, "\"pending\"", "\"completed\"");
    both.edit(C, "\"blocks\"", "\"owner\": \"lead\", \"blocks\"");
    both.edit(B, "\"pending\"", "\"in_progress\"");
    both.edit(B, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    let done = both.sync();
    assert_eq!(
        done.taken.changes,
        [
            Change::Claim(task("c"), handle("lead")),
            Change::Complete(task("c"), handle("lead")),
            Change::Claim(task("a"), handle("w1")),
            Change::Claim(task("b"), handle("w1")),
        ]
    );
    assert_eq!(
        both.file(B)["warning"],
        "Warning: Task b dependencies are not met. Proceed with caution."
    );
    both.assert_quiet();
    // The plugin's completion takes the dependency out of the dependent, and its warning.
    both.edit(A, "in_progress", "completed");
    both.edit(B, "\n    \"a\"\n  ", "");
    both.sync();
    assert_eq!(both.store.tasks["a"].status, Status::Completed);
    assert!(both.store.tasks["b"].met.contains(&task("a")));
    assert_eq!(both.file(B)["warning"], serde_json::Value::Null);
    assert_eq!(both.file(B)["dependencies"], serde_json::json!([]));
    both.assert_quiet();
}

#[test]
fn a_status_that_goes_back_is_reported_and_put_back() {
    for (from, to) in [
        ("completed", "pending"),
        ("completed", "in_progress"),
        ("in_progress", "pending"),
    ] {
        let mut both = Both::alike();
        both.edit(A, "\"pending\"", &format!("\"{from}\""));
        both.edit(A, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
        both.sync();
        both.edit(A, from, to);
        let done = both.sync();
        assert_eq!(
            kinds(&done.taken.findings),
            [(Kind::Transition, format!("{A}: status"))]
        );
        let message = &done.taken.findings[0].refusal.message;
        assert_eq!(*message, format!("Invalid status transition: {from} -> {to}"));
        assert_eq!(both.file(A)["status"], from);
        assert_eq!(done.taken.changes, []);
        both.assert_quiet();
    }
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"completed\"");
    assert_eq!(sync_reports(&mut both), [(Kind::Transition, format!("{A}: status"))]);
    assert_eq!(both.file(A)["status"], "pending");
}

#[test]
fn an_owner_of_another_login_is_not_spoken_for() {
    let mut both = Both::alike();
    both.store.members.get_mut("w1").expect("a member").ours = false;
    both.edit(A, "\"pending\"", "\"in_progress\"");
    both.edit(A, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    both.edit(C, "\"pending\"", "\"in_progress\"");
    both.edit(C, "\"blocks\"", "\"owner\": \"nobody\", \"blocks\"");
    append(&mut both, LEAD, "w1", "lead", "forged");
    append(&mut both, W1, "ghost", "broadcast", "forged");
    both.edit(
        CONFIG,
        "\"dispatchRules\"",
        "\"shutdownApprovals\": [\"w1\"], \"dispatchRules\"",
    );
    let done = both.sync();
    assert_eq!(
        kinds(&done.taken.findings),
        [
            (Kind::Foreign, format!("{A}: owner")),
            (Kind::Foreign, format!("{C}: owner")),
            (Kind::Foreign, format!("{LEAD}: [0].from")),
            (Kind::Foreign, format!("{W1}: [0].from")),
            (Kind::Foreign, format!("{CONFIG}: shutdownApprovals[0]")),
        ]
    );
    assert_eq!(done.taken.changes, []);
    assert_eq!(both.file(A)["status"], "pending");
    assert_eq!(both.file(CONFIG)["shutdownApprovals"], serde_json::Value::Null);
    both.assert_quiet();
}

#[test]
fn an_owner_is_not_changed_by_a_file() {
    let mut both = Both::alike();
    both.stored("a").status = Status::InProgress;
    both.stored("a").owner = Some(handle("w1"));
    both.sync();
    both.edit(A, "\"w1\"", "\"lead\"");
    assert_eq!(sync_reports(&mut both), [(Kind::NotByFile, format!("{A}: owner"))]);
    assert_eq!(both.file(A)["owner"], "w1");
    both.edit(A, "\"w1\"", "\"lead\"");
    both.edit(A, "in_progress", "completed");
    assert_eq!(sync_reports(&mut both), [(Kind::NotByFile, format!("{A}: owner"))]);
    assert_eq!(both.store.tasks["a"].status, Status::InProgress);
}

#[test]
fn unowned_tasks_are_pending_in_files_with_the_plugins_warning() {
    let mut both = Both::alike();
    both.stored("a").status = Status::InProgress;
    both.stored("a").previous_owner = Some(handle("w1"));
    both.sync();
    let file = both.file(A);
    assert_eq!(
        (&file["status"], &file["owner"]),
        (&"pending".into(), &serde_json::Value::Null)
    );
    assert_eq!(file["warning"], "Reassigned: previous owner w1 terminated");
    both.assert_quiet();
    // Claimed again by the plugin, which keeps the warning, and released by it.
    both.edit(A, "\"pending\"", "\"in_progress\"");
    both.edit(A, "\"blocks\"", "\"owner\": \"lead\", \"blocks\"");
    let done = both.sync();
    assert_eq!(done.taken.changes, [Change::Claim(task("a"), handle("lead"))]);
    both.edit(A, "in_progress", "pending");
    both.edit(A, "\"owner\": \"lead\",", "");
    both.edit(A, "owner w1", "owner lead");
    let done = both.sync();
    assert_eq!(done.taken.changes, [Change::Release(task("a"), handle("lead"))]);
    both.assert_quiet();
}

#[test]
fn a_broken_file_is_reported_and_never_written_over() {
    let mut both = Both::alike();
    for (path, broken) in [(A, "{"), (LEAD, "[{}]"), (CONFIG, "{\"name\": \"alpha\"}")] {
        let mut both = Both::alike();
        both.files.insert(path.to_owned(), broken.to_owned());
        both.stored("a").title = "changed".to_owned();
        send(&mut both.store, "w1", Some("lead"), "hello");
        both.store.closed = true;
        let findings = sync_reports(&mut both);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].0, Kind::Unreadable);
        assert_eq!(both.files[path], broken);
        // Nothing of it was forgotten.
        assert_eq!(sync_reports(&mut both), findings);
    }
    // A configuration that cannot be read keeps nothing else from being read.
    let config = both.files[CONFIG].clone();
    both.files.insert(CONFIG.to_owned(), "{".to_owned());
    both.edit(C, "task c", "taken all the same");
    append(&mut both, LEAD, "w1", "lead", "and this");
    assert_eq!(both.sync().taken.changes.len(), 2);
    assert_eq!(both.file(C)["title"], "taken all the same");
    both.files.insert(CONFIG.to_owned(), config);
    both.assert_quiet();
    // A fix that also changes the file is applied; and the store's change gets there.
    let whole = both.files[A].clone();
    both.files.insert(A.to_owned(), "{".to_owned());
    both.stored("a").description = Some("from the store".to_owned());
    both.sync();
    both.files.insert(A.to_owned(), whole.replace("task a", "mended"));
    assert_eq!(sync_reports(&mut both), []);
    assert_eq!(both.store.tasks["a"].title, "mended");
    assert_eq!(both.file(A)["description"], "from the store");
    assert!(both.store.tasks["b"].dependencies.contains(&task("a")));
    both.assert_quiet();
}

#[test]
fn a_folder_that_vanishes_deletes_nothing() {
    let mut both = Both::alike();
    both.files.clear();
    let done = both.sync();
    assert_eq!(kinds(&done.taken.findings), [(Kind::Vanished, CONFIG.to_owned())]);
    assert_eq!(done.taken.changes, []);
    assert!(done.given.writes.is_empty());
    assert_eq!(both.store.tasks.len(), 3);
    // The tasks' folder alone, too; these are written again.
    let mut both = Both::alike();
    both.files.retain(|path, _| path.starts_with("teams/"));
    let done = both.sync();
    assert_eq!(done.taken.findings.len(), 3);
    assert_eq!(done.taken.changes, []);
    assert!(both.files.contains_key(A));
}

#[test]
fn a_deleted_task_is_deleted_on_the_other_side_unless_it_changed() {
    let mut both = Both::alike();
    both.files.remove(C);
    assert_eq!(both.sync().taken.changes, [Change::DeleteTask(task("c"))]);
    both.assert_quiet();
    both.store.tasks.remove("b");
    let done = both.sync();
    assert_eq!(done.given.removals.len(), 1);
    assert!(!both.files.contains_key(B));
    assert_eq!(both.file(A)["blocks"], serde_json::json!([]));
    both.assert_quiet();

    let mut both = Both::alike();
    both.files.remove(C);
    both.stored("c").title = "changed".to_owned();
    both.edit(B, "task b", "changed");
    both.store.tasks.remove("b");
    let conflicts = [(Kind::Conflict, B.to_owned()), (Kind::Conflict, C.to_owned())];
    assert_eq!(sync_reports(&mut both), conflicts);
    assert!(both.files.contains_key(C) && !both.files.contains_key(B));
    both.assert_quiet();
}

#[test]
fn a_new_file_does_not_take_the_place_of_a_task_whose_id_differs_in_case() {
    let mut both = Both::alike();
    let text = both.files[C].replace("\"c\"", "\"C\"");
    both.files.insert("tasks/alpha/C.json".to_owned(), text);
    let expected = [
        (Kind::Unreadable, C.to_owned()),
        (Kind::Unreadable, "tasks/alpha/C.json".to_owned()),
    ];
    assert_eq!(sync_reports(&mut both), expected);
    assert_eq!(both.store.tasks.len(), 3);
    both.files.remove("tasks/alpha/C.json");
    both.assert_quiet();
}

#[test]
fn unknown_members_stay_in_their_place() {
    let mut both = Both::alike();
    both.edit(A, "\"title\"", "\"labels\": [1.50, {\"x\": null}],\n  \"title\"");
    both.edit(
        CONFIG,
        "\"dispatchRules\": []",
        "\"topology\": \"flat\",\n  \"roles\": [{\"name\": \"r\"}],\n  \"dispatchRules\": [{\"id\": 1}]",
    );
    both.edit(CONFIG, "\"name\": \"alpha\"", "\"first\": 1e3,\n  \"name\": \"alpha\"");
    both.assert_quiet();
    both.stored("a").title = "changed".to_owned();
    both.store.approvals.insert(handle("w1"));
    both.sync();
    let a = &both.files[A];
    assert!(a.starts_with("{\n  \"id\": \"a\",\n  \"labels\": [\n    1.50,\n    {\n      \"x\": null\n    }\n  ],\n  \"title\": \"changed\""), "{a}");
    let config = &both.files[CONFIG];
    assert!(
        config.starts_with("{\n  \"first\": 1e3,\n  \"name\": \"alpha\""),
        "{config}"
    );
    for kept in [
        "\"topology\": \"flat\"",
        "\"name\": \"r\"",
        "\"id\": 1",
        "\"dispatchLog\": []",
    ] {
        assert!(config.contains(kept), "{config}");
    }
}

#[test]
fn changes_beyond_the_bounds_are_reported_and_reverted() {
    let mut both = Both::alike();
    both.edit(A, "task a", &"x".repeat(201));
    both.edit(
        C,
        "\"title\"",
        &format!("\"description\": \"{}\", \"title\"", "x".repeat(16_385)),
    );
    append(&mut both, LEAD, "w1", "lead", &"x".repeat(16_385));
    assert_eq!(
        sync_reports(&mut both),
        [
            (Kind::Bounds, format!("{A}: title")),
            (Kind::Bounds, format!("{C}: description")),
            (Kind::Bounds, format!("{LEAD}: [0].message")),
        ]
    );
    assert_eq!(both.file(A)["title"], "task a");
    both.assert_quiet();
}
