//! Last seen, file and store: applied changes, written files, and mere reports.

use coord_teams::compare::{Change, FindingKind};
use coord_teams::status::{Priority, Status};
use serde_json::{Value, json};

use super::sync::{A, B, Both, C, CONFIG, LEAD, W1, append, handle, kinds, send, sync_reports, task};

#[test]
fn fields_go_the_way_they_were_changed() {
    let mut both = Both::alike();
    both.edit(A, "task a", "in the file");
    both.edit(A, "normal", "high");
    both.stored("a").description = Some("in the store".to_owned());
    both.stored("c").title = "only in the store".to_owned();
    both.assert_imports(&[Change::EditTask {
        id: task("a"),
        title: Some("in the file".to_owned()),
        description: None,
        priority: Some(Priority::High),
    }]);
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
    assert_eq!(
        sync_reports(&mut both),
        [(FindingKind::Conflict, format!("{A}: title"))]
    );
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
    both.edit_work(A, "in_progress", "w1");
    // The plugin's change of the dependent, two steps of another task at once, and a claim before its time.
    both.edit_work(C, "completed", "lead");
    both.edit_work(B, "in_progress", "w1");
    let changes = [
        Change::Claim(task("c"), handle("lead")),
        Change::Complete(task("c"), handle("lead")),
        Change::Claim(task("a"), handle("w1")),
        Change::Claim(task("b"), handle("w1")),
    ];
    assert_eq!(both.sync().taken.changes, changes);
    let warning = "Warning: Task b dependencies are not met. Proceed with caution.";
    assert_eq!(both.file(B)["warning"], warning);
    both.assert_quiet();
    // The plugin's completion takes the dependency out of the dependent, and its warning.
    both.edit(A, "in_progress", "completed");
    both.edit(B, "\n    \"a\"\n  ", "");
    both.sync();
    assert_eq!(both.store.tasks["a"].status, Status::Completed);
    assert!(both.store.tasks["b"].met.contains(&task("a")));
    assert_eq!(both.file(B)["warning"], Value::Null);
    assert_eq!(both.file(B)["dependencies"], json!([]));
    both.assert_quiet();
}

#[test]
fn a_status_that_goes_back_is_reported_and_put_back() {
    let refused = [(FindingKind::Transition, format!("{A}: status"))];
    for (from, to) in [
        ("completed", "pending"),
        ("completed", "in_progress"),
        ("in_progress", "pending"),
    ] {
        let mut both = Both::alike();
        both.edit_work(A, from, "w1");
        both.sync();
        both.edit(A, from, to);
        let taken = both.sync().taken;
        assert_eq!(kinds(&taken.findings), refused);
        let message = &taken.findings[0].refusal.message;
        assert_eq!(*message, format!("Invalid status transition: {from} -> {to}"));
        assert_eq!(both.file(A)["status"], from);
        assert_eq!(taken.changes, []);
        both.assert_quiet();
    }
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"completed\"");
    assert_eq!(sync_reports(&mut both), refused);
    assert_eq!(both.file(A)["status"], "pending");
}

#[test]
fn an_owner_of_another_login_is_not_spoken_for() {
    let mut both = Both::alike();
    both.store.members.get_mut("w1").expect("a member").ours = false;
    both.edit_work(A, "in_progress", "w1");
    both.edit_work(C, "in_progress", "nobody");
    append(&mut both, LEAD, "w1", "lead", "forged");
    append(&mut both, W1, "ghost", "broadcast", "forged");
    both.edit_approvals(&["w1"]);
    let taken = both.sync().taken;
    let places = [
        format!("{A}: owner"),
        format!("{C}: owner"),
        format!("{LEAD}: [0].from"),
        format!("{W1}: [0].from"),
        format!("{CONFIG}: shutdownApprovals[0]"),
    ];
    assert_eq!(
        kinds(&taken.findings),
        places.map(|place| (FindingKind::Foreign, place))
    );
    assert_eq!(taken.changes, []);
    assert_eq!(both.file(A)["status"], "pending");
    assert_eq!(both.file(CONFIG)["shutdownApprovals"], Value::Null);
    both.assert_quiet();
}

#[test]
fn an_owner_is_not_changed_by_a_file() {
    let mut both = Both::alike();
    both.stored("a").status = Status::InProgress;
    both.stored("a").owner = Some(handle("w1"));
    both.sync();
    let refused = [(FindingKind::NotByFile, format!("{A}: owner"))];
    both.edit(A, "\"w1\"", "\"lead\"");
    assert_eq!(sync_reports(&mut both), refused);
    assert_eq!(both.file(A)["owner"], "w1");
    both.edit(A, "\"w1\"", "\"lead\"");
    both.edit(A, "in_progress", "completed");
    assert_eq!(sync_reports(&mut both), refused);
    assert_eq!(both.store.tasks["a"].status, Status::InProgress);
}

#[test]
fn unowned_tasks_are_pending_in_files_with_the_plugins_warning() {
    let mut both = Both::alike();
    both.stored("a").status = Status::InProgress;
    both.stored("a").previous_owner = Some(handle("w1"));
    both.sync();
    let file = both.file(A);
    assert_eq!(file["status"], "pending");
    assert_eq!(file["owner"], Value::Null);
    assert_eq!(file["warning"], "Reassigned: previous owner w1 terminated");
    both.assert_quiet();
    // Claimed again by the plugin, which keeps the warning, and released by it.
    both.edit_work(A, "in_progress", "lead");
    let changes = both.sync().taken.changes;
    assert_eq!(changes, [Change::Claim(task("a"), handle("lead"))]);
    both.edit(A, "in_progress", "pending");
    both.edit(A, "\"owner\": \"lead\",", "");
    both.edit(A, "owner w1", "owner lead");
    let changes = both.sync().taken.changes;
    assert_eq!(changes, [Change::Release(task("a"), handle("lead"))]);
    both.assert_quiet();
}

#[test]
fn a_broken_file_is_reported_and_never_written_over() {
    for (path, broken) in [(A, "{"), (LEAD, "[{}]"), (CONFIG, "{\"name\": \"alpha\"}")] {
        let mut both = Both::alike();
        both.files.insert(path.to_owned(), broken.to_owned());
        both.stored("a").title = "changed".to_owned();
        send(&mut both.store, "w1", Some("lead"), "hello");
        both.store.closed = true;
        let findings = sync_reports(&mut both);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].0, FindingKind::Unreadable);
        assert_eq!(both.files[path], broken);
        // Nothing of it was forgotten.
        assert_eq!(sync_reports(&mut both), findings);
    }
    // A configuration that cannot be read keeps nothing else from being read.
    let mut both = Both::alike();
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
    both.files.insert(A.to_owned(), whole.replace("task a", "fixed"));
    assert_eq!(sync_reports(&mut both), []);
    assert_eq!(both.store.tasks["a"].title, "fixed");
    assert_eq!(both.file(A)["description"], "from the store");
    assert!(both.store.tasks["b"].dependencies.contains(&task("a")));
    both.assert_quiet();
}

#[test]
fn a_folder_that_vanishes_deletes_nothing() {
    let mut both = Both::alike();
    both.files.clear();
    let done = both.sync();
    assert_eq!(
        kinds(&done.taken.findings),
        [(FindingKind::Vanished, CONFIG.to_owned())]
    );
    assert_eq!(done.taken.changes, []);
    assert!(done.given.writes.is_empty());
    assert_eq!(both.store.tasks.len(), 3);
    // The tasks' folder alone, too; these are written again.
    let mut both = Both::alike();
    both.files.retain(|path, _| path.starts_with("teams/"));
    let taken = both.sync().taken;
    assert_eq!((taken.findings.len(), taken.changes), (3, vec![]));
    assert!(both.files.contains_key(A));
}

#[test]
fn a_deleted_task_is_deleted_on_the_other_side_unless_it_changed() {
    let mut both = Both::alike();
    both.files.remove(C);
    assert_eq!(both.sync().taken.changes, [Change::DeleteTask(task("c"))]);
    both.assert_quiet();
    both.store.tasks.remove("b");
    assert_eq!(both.sync().given.removals.len(), 1);
    assert!(!both.files.contains_key(B));
    assert_eq!(both.file(A)["blocks"], json!([]));
    both.assert_quiet();

    let mut both = Both::alike();
    both.files.remove(C);
    both.stored("c").title = "changed".to_owned();
    both.edit(B, "task b", "changed");
    both.store.tasks.remove("b");
    let conflicts = [B, C].map(|path| (FindingKind::Conflict, path.to_owned()));
    assert_eq!(sync_reports(&mut both), conflicts);
    assert!(both.files.contains_key(C) && !both.files.contains_key(B));
    both.assert_quiet();
}

#[test]
fn a_new_file_does_not_take_the_place_of_a_task_whose_id_differs_in_case() {
    let mut both = Both::alike();
    let text = both.files[C].replace("\"c\"", "\"C\"");
    let new = "tasks/alpha/C.json";
    both.files.insert(new.to_owned(), text);
    let refused = [C, new].map(|path| (FindingKind::Unreadable, path.to_owned()));
    assert_eq!(sync_reports(&mut both), refused);
    assert_eq!(both.store.tasks.len(), 3);
    both.files.remove(new);
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
    let (a, config) = (&both.files[A], &both.files[CONFIG]);
    assert!(a.starts_with("{\n  \"id\": \"a\",\n  \"labels\": [\n    1.50,\n    {\n      \"x\": null\n    }\n  ],\n  \"title\": \"changed\""), "{a}");
    let first = "{\n  \"first\": 1e3,\n  \"name\": \"alpha\"";
    assert!(config.starts_with(first), "{config}");
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
    let long = "x".repeat(16_385);
    both.edit(A, "task a", &"x".repeat(201));
    both.edit(C, "\"title\"", &format!("\"description\": \"{long}\", \"title\""));
    append(&mut both, LEAD, "w1", "lead", &long);
    let places = [
        format!("{A}: title"),
        format!("{C}: description"),
        format!("{LEAD}: [0].message"),
    ];
    assert_eq!(
        sync_reports(&mut both),
        places.map(|place| (FindingKind::Bounds, place))
    );
    assert_eq!(both.file(A)["title"], "task a");
    both.assert_quiet();
}
