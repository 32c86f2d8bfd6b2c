//! Last seen, file and store: what is applied, what is written, and what is only said.

use coord_teams::compare::{Change, Kind, To};
use coord_teams::status::Status;

use super::sync::{Both, handle, kinds, send, task};

const A: &str = "tasks/alpha/a.json";
const B: &str = "tasks/alpha/b.json";
const C: &str = "tasks/alpha/c.json";
const CONFIG: &str = "teams/alpha/config.json";
const LEAD: &str = "teams/alpha/inboxes/lead.json";
const W1: &str = "teams/alpha/inboxes/w1.json";

/// The message as the plugin appends it.
pub fn append(both: &mut Both, inbox: &str, from: &str, to: &str, message: &str) {
    let text = both.files.get_mut(inbox).expect("the inbox");
    let mut messages: Vec<serde_json::Value> = serde_json::from_str(text).expect("messages");
    messages.push(serde_json::json!({
        "from": from, "to": to, "message": message, "timestamp": "2026-12-01T01:02:03.004Z", "read": false,
    }));
    *text = serde_json::to_string_pretty(&messages).expect("JSON");
}

fn said(both: &mut Both) -> Vec<(Kind, String)> {
    kinds(&both.sync().taken.findings)
}

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
    assert_eq!(said(&mut both), [(Kind::Conflict, format!("{A}: title"))]);
    assert_eq!(both.file(A)["title"], "in the store");
    // The same on both sides is none.
    both.edit(A, "in the store", "alike");
    both.stored("a").title = "alike".to_owned();
    assert_eq!(said(&mut both), []);
    both.assert_quiet();
}

#[test]
fn work_in_files_becomes_claims_and_completions() {
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"in_progress\"");
    both.edit(A, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    // What the plugin does to the dependent, two steps of another task at once, and a claim before its time.
    both.edit(C, "\"pending\"", "\"completed\"");
    both.edit(C, "\"blocks\"", "\"owner\": \"lead\", \"blocks\"");
    both.edit(B, "\"pending\"", "\"in_progress\"");
    both.edit(B, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    let done = both.sync();
    assert_eq!(
        done.taken.changes,
        [
            Change::Claim(task("a"), handle("w1")),
            Change::Claim(task("b"), handle("w1")),
            Change::Claim(task("c"), handle("lead")),
            Change::Complete(task("c"), handle("lead")),
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
    assert!(both.store.tasks["b"].met.contains("a"));
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
        let message = &done.taken.findings[0].what.message;
        assert_eq!(*message, format!("Invalid status transition: {from} -> {to}"));
        assert_eq!(both.file(A)["status"], from);
        assert_eq!(done.taken.changes, []);
        both.assert_quiet();
    }
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"completed\"");
    assert_eq!(said(&mut both), [(Kind::Transition, format!("{A}: status"))]);
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
    assert_eq!(said(&mut both), [(Kind::NotByFile, format!("{A}: owner"))]);
    assert_eq!(both.file(A)["owner"], "w1");
    both.edit(A, "\"w1\"", "\"lead\"");
    both.edit(A, "in_progress", "completed");
    assert_eq!(said(&mut both), [(Kind::NotByFile, format!("{A}: owner"))]);
    assert_eq!(both.store.tasks["a"].status, Status::InProgress);
}

#[test]
fn what_nobody_owns_is_pending_in_files_with_the_plugins_warning() {
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
    // Claimed again by the plugin, which keeps the warning, and given back by it.
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
fn edges_are_one_set_that_either_end_may_change() {
    let mut both = Both::alike();
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"b\", \"b\"]");
    let done = both.sync();
    let edit = |id: &str, add: &[&str], remove: &[&str]| Change::EditDependencies {
        id: task(id),
        add: add.iter().copied().map(task).collect(),
        remove: remove.iter().copied().map(task).collect(),
    };
    assert_eq!(done.taken.changes, [edit("c", &["b"], &[])]);
    assert_eq!(both.file(B)["blocks"], serde_json::json!(["c"]));
    both.assert_quiet();
    // `blocks` alone, both ways.
    both.edit(B, "\n    \"c\"\n  ", "");
    both.edit(A, "\"b\"", "\"b\", \"c\"");
    let done = both.sync();
    assert_eq!(done.taken.changes, [edit("c", &["a"], &["b"])]);
    assert_eq!(both.file(C)["dependencies"], serde_json::json!(["a"]));
    both.assert_quiet();
    // The store's change meanwhile is kept beside the file's.
    both.stored("b").dependencies.clear();
    both.edit(C, "\"a\"", "\"a\", \"b\"");
    both.sync();
    assert_eq!(both.store.tasks["c"].dependencies.len(), 2);
    assert_eq!(both.file(A)["blocks"], serde_json::json!(["c"]));
    both.assert_quiet();
}

#[test]
fn a_ring_is_named_whole_and_put_back() {
    let mut both = Both::alike();
    both.edit(A, "\"dependencies\": []", "\"dependencies\": [\"c\"]");
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"b\"]");
    let done = both.sync();
    // One edge less, and there is no ring any longer.
    assert_eq!(
        kinds(&done.taken.findings),
        [(Kind::Cycle, format!("{A}: dependencies"))]
    );
    let message = &done.taken.findings[0].what.message;
    assert_eq!(message, "Circular dependency detected: a -> c -> b -> a");
    assert_eq!(done.taken.changes.len(), 1);
    assert_eq!(both.file(A)["dependencies"], serde_json::json!([]));
    assert_eq!(both.file(C)["dependencies"], serde_json::json!(["b"]));
    both.assert_quiet();
    both.edit(C, "\"b\"", "");
    both.sync();
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"c\"]");
    assert_eq!(said(&mut both), [(Kind::Cycle, format!("{C}: dependencies"))]);
    both.assert_quiet();
}

#[test]
fn a_ring_over_a_task_that_only_the_file_calls_completed_is_found() {
    let mut both = Both::alike();
    both.stored("a").dependencies.insert(task("c"));
    both.edit(B, "\"blocks\": []", "\"blocks\": [\"c\"]");
    both.edit(A, "\"pending\"", "\"completed\"");
    let refused = [
        (Kind::Transition, format!("{A}: status")),
        (Kind::Cycle, format!("{C}: dependencies")),
    ];
    assert_eq!(said(&mut both), refused);
    both.assert_quiet();
}

#[test]
fn a_ring_of_200_new_tasks_is_refused_and_a_chain_of_10_000_is_taken() {
    let new = |id: usize, on: Option<usize>| {
        let on = on.map(|on| format!("\"n{on}\"")).unwrap_or_default();
        let created = "2026-12-01T00:00:00Z";
        format!(
            "{{\"id\": \"n{id}\", \"status\": \"pending\", \"createdAt\": \"{created}\", \"dependencies\": [{on}]}}"
        )
    };
    let mut both = Both::alike();
    for id in 0..200 {
        both.files
            .insert(format!("tasks/alpha/n{id}.json"), new(id, Some((id + 1) % 200)));
    }
    let done = both.sync();
    assert_eq!(done.taken.changes, []);
    assert_eq!(done.taken.held.len(), 200);
    // The first by its ring, all others by what they need.
    let cycles = done.taken.findings.iter().filter(|finding| finding.kind == Kind::Cycle);
    let cycles: Vec<_> = cycles
        .map(|finding| finding.what.message.matches(" -> ").count())
        .collect();
    assert_eq!((cycles, done.taken.findings.len()), (vec![200], 200));
    assert_eq!(both.store.tasks.len(), 3);

    let mut both = Both::alike();
    for id in 0..10_000 {
        both.files.insert(
            format!("tasks/alpha/n{id}.json"),
            new(id, (id < 9_999).then_some(id + 1)),
        );
    }
    let done = both.sync();
    assert_eq!(kinds(&done.taken.findings), []);
    // `apply` takes a task only if its dependencies are there.
    assert_eq!(both.store.tasks.len(), 10_003);
    both.assert_quiet();
}

#[test]
fn a_dependency_that_is_nowhere_is_reported() {
    let mut both = Both::alike();
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"nope\"]");
    both.edit(A, "\"b\"", "\"b\", \"nope\"");
    let done = both.sync();
    assert_eq!(
        kinds(&done.taken.findings),
        [
            (Kind::Missing, format!("{A}: blocks[1]")),
            (Kind::Missing, format!("{C}: dependencies[0]")),
        ]
    );
    let messages: Vec<_> = done
        .taken
        .findings
        .iter()
        .map(|finding| finding.what.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "Blocked task nope does not exist",
            "Dependency task nope does not exist"
        ]
    );
    assert_eq!(both.file(C)["dependencies"], serde_json::json!([]));
    both.assert_quiet();
}

#[test]
fn a_new_task_that_cannot_be_created_takes_those_with_it_that_need_it() {
    let mut both = Both::alike();
    for (id, on) in [
        ("n1", "[\"nope\"]"),
        ("n2", "[\"nope\", \"n1\"]"),
        ("n3", "[\"n2\"]"),
        ("n4", "[]"),
    ] {
        let created = "2026-12-01T00:00:00Z";
        let new = format!(
            "{{\"id\": \"{id}\", \"status\": \"pending\", \"createdAt\": \"{created}\", \"dependencies\": {on}}}"
        );
        both.files.insert(format!("tasks/alpha/{id}.json"), new);
    }
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"n3\"]");
    let files = both.files.clone();
    let mut findings = said(&mut both);
    findings.sort();
    let places = [
        format!("{C}: dependencies[0]"),
        "tasks/alpha/n1.json: dependencies[0]".to_owned(),
        "tasks/alpha/n2.json: dependencies[1]".to_owned(),
        "tasks/alpha/n3.json: dependencies[0]".to_owned(),
    ];
    assert_eq!(findings, places.map(|place| (Kind::Missing, place)));
    assert_eq!(both.store.tasks.len(), 4);
    for id in ["n1", "n2", "n3"] {
        let path = format!("tasks/alpha/{id}.json");
        assert_eq!(both.files[&path], files[&path]);
    }
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
        let findings = said(&mut both);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].0, Kind::Unreadable);
        assert_eq!(both.files[path], broken);
        // Nothing of it was forgotten.
        assert_eq!(said(&mut both), findings);
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
    // Whoever mends it, and changes it too, is heard; and the store's change gets there.
    let whole = both.files[A].clone();
    both.files.insert(A.to_owned(), "{".to_owned());
    both.stored("a").description = Some("from the store".to_owned());
    both.sync();
    both.files.insert(A.to_owned(), whole.replace("task a", "mended"));
    assert_eq!(said(&mut both), []);
    assert_eq!(both.store.tasks["a"].title, "mended");
    assert_eq!(both.file(A)["description"], "from the store");
    assert!(both.store.tasks["b"].dependencies.contains("a"));
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
    assert_eq!(said(&mut both), conflicts);
    assert!(both.files.contains_key(C) && !both.files.contains_key(B));
    both.assert_quiet();
}

#[test]
fn messages_go_both_ways_once() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "same words");
    append(&mut both, LEAD, "w1", "lead", "same words");
    append(&mut both, W1, "lead", "broadcast", "to all");
    send(&mut both.store, "w1", Some("lead"), "same words");
    let done = both.sync();
    let to = |change: &Change| match change {
        Change::Send { to, message, .. } => (to.clone(), message.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        done.taken.changes.iter().map(to).collect::<Vec<_>>(),
        [
            (To::One(handle("lead")), "same words".to_owned()),
            (To::One(handle("lead")), "same words".to_owned()),
            (To::All, "to all".to_owned()),
        ]
    );
    assert_eq!(both.store.messages.len(), 4);
    assert_eq!(both.file(LEAD).as_array().map(Vec::len), Some(3));
    assert_eq!(both.file(W1).as_array().map(Vec::len), Some(1));
    both.assert_quiet();
    // Another folder of the same team gets each once.
    let mut other = Both {
        files: Default::default(),
        store: both.store.clone(),
        seen: None,
    };
    other.sync();
    assert_eq!(other.file(LEAD).as_array().map(Vec::len), Some(3));
    other.assert_quiet();
    // What somebody took out of an inbox is not put back.
    both.files.insert(W1.to_owned(), "[]".to_owned());
    both.sync();
    assert_eq!(both.files[W1], "[]");
}

#[test]
fn a_message_that_the_store_refused_is_new_again() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "refused");
    let folder = super::sync::folder("alpha", &both.files);
    let taken = coord_teams::compare::take_in(both.seen.as_ref(), &folder, &both.store);
    assert_eq!(taken.changes.len(), 1);
    let given = coord_teams::compare::give_out(both.seen.as_ref(), &folder, &both.store, &taken, &Default::default());
    both.seen = Some(given.seen);
    assert_eq!(both.sync().taken.changes, taken.changes);
    both.assert_quiet();
}

#[test]
fn reading_goes_both_ways_and_never_back() {
    let mut both = Both::alike();
    for message in ["one", "two", "three"] {
        send(&mut both.store, "w1", Some("lead"), message);
    }
    both.sync();
    // The second one is not read by whoever has read the third.
    both.edit(LEAD, "\"read\": false", "\"read\": true");
    let third = both.files[LEAD].rfind("\"read\": false").expect("the third");
    both.files
        .get_mut(LEAD)
        .expect("the inbox")
        .replace_range(third..third + 13, "\"read\": true");
    assert_eq!(both.sync().taken.changes, [Change::ReadTo(handle("lead"), 1)]);
    both.store.members.get_mut("lead").expect("a member").read_to = 2;
    both.sync();
    assert!(!both.files[LEAD].contains("\"read\": false"));
    assert_eq!(both.store.members["lead"].read_to, 3);
    both.edit(LEAD, "\"read\": true", "\"read\": false");
    both.sync();
    assert!(!both.files[LEAD].contains("\"read\": false"));
    both.assert_quiet();
}

#[test]
fn members_join_by_files_and_leave_by_calls() {
    let mut both = Both::alike();
    let joined = "{\"agentId\": \"w2\", \"agentName\": \"Two\", \"agentType\": \"worker\", \"joinedAt\": \"2026-12-01T00:00:00Z\", \"x\": 1}";
    both.edit(CONFIG, "\"members\": [", &format!("\"members\": [{joined},"));
    let other_case = joined.replace("w2", "W1");
    both.edit(CONFIG, "\"members\": [", &format!("\"members\": [{other_case},"));
    both.edit(
        CONFIG,
        "\"members\": [",
        &format!("\"members\": [{},", joined.replace("w2", "../x")),
    );
    let done = both.sync();
    assert_eq!(
        kinds(&done.taken.findings),
        [
            (Kind::Unreadable, format!("{CONFIG}: members[0].agentId")),
            (Kind::Foreign, format!("{CONFIG}: members[1].agentId")),
        ]
    );
    assert_eq!(both.store.members["w2"].name, "Two");
    assert!(both.files.contains_key("teams/alpha/inboxes/w2.json"));
    both.store.members.remove("w1");
    both.sync();
    assert!(!both.files[CONFIG].contains("\"w1\""));
    // What is unknown of a member stays.
    assert!(both.files[CONFIG].contains("\"x\": 1"));
    both.edit(CONFIG, "\"leader\": \"lead\"", "\"leader\": \"w2\"");
    let findings = said(&mut both);
    assert!(
        findings.contains(&(Kind::NotByFile, format!("{CONFIG}: leader"))),
        "{findings:?}"
    );
    assert_eq!(both.file(CONFIG)["leader"], "lead");
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
    assert_eq!(said(&mut both), expected);
    assert_eq!(both.store.tasks.len(), 3);
    both.files.remove("tasks/alpha/C.json");
    both.assert_quiet();
}

#[test]
fn who_sent_the_request_in_the_files_requests() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "Agent w1 requests team shutdown");
    both.edit(LEAD, "\"read\"", "\"type\": \"shutdown_request\", \"read\"");
    both.edit(
        CONFIG,
        "\"dispatchRules\"",
        "\"shutdownApprovals\": [\"lead\", \"w1\"], \"dispatchRules\"",
    );
    let calls = [
        Change::RequestShutdown(handle("w1")),
        Change::ApproveShutdown(handle("lead")),
    ];
    assert_eq!(both.sync().taken.changes, calls);
}

#[test]
fn approvals_are_calls_and_the_leader_is_among_them_only_at_the_end() {
    let mut both = Both::alike();
    both.edit(
        CONFIG,
        "\"dispatchRules\"",
        "\"shutdownApprovals\": [\"w1\"], \"dispatchRules\"",
    );
    assert_eq!(both.sync().taken.changes, [Change::RequestShutdown(handle("w1"))]);
    both.store.approvals.insert(handle("lead"));
    both.assert_quiet();
    assert_eq!(both.file(CONFIG)["shutdownApprovals"], serde_json::json!(["w1"]));
    both.store.closed = true;
    both.sync();
    assert_eq!(
        both.file(CONFIG)["shutdownApprovals"],
        serde_json::json!(["lead", "w1"])
    );
    both.assert_quiet();
}

#[test]
fn what_is_not_ours_stays_in_its_place() {
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
fn what_is_more_than_the_store_takes_is_reported_and_put_back() {
    let mut both = Both::alike();
    both.edit(A, "task a", &"x".repeat(201));
    both.edit(
        C,
        "\"title\"",
        &format!("\"description\": \"{}\", \"title\"", "x".repeat(16_385)),
    );
    append(&mut both, LEAD, "w1", "lead", &"x".repeat(16_385));
    assert_eq!(
        said(&mut both),
        [
            (Kind::Bounds, format!("{A}: title")),
            (Kind::Bounds, format!("{C}: description")),
            (Kind::Bounds, format!("{LEAD}: [0].message")),
        ]
    );
    assert_eq!(both.file(A)["title"], "task a");
    both.assert_quiet();
}
