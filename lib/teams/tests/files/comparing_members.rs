//! Members, messages and shutdowns in files and in the store.

use coord_teams::compare::{Change, FindingKind, Recipient, export_files, import_files};
use serde_json::json;

use super::sync::{Both, CONFIG, LEAD, W1, append, folder, handle, send, sync_reports};

fn count(both: &Both, inbox: &str) -> usize {
    both.file(inbox).as_array().expect("messages").len()
}

#[test]
fn messages_go_both_ways_once() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "same words");
    append(&mut both, LEAD, "w1", "lead", "same words");
    append(&mut both, W1, "lead", "broadcast", "to all");
    send(&mut both.store, "w1", Some("lead"), "same words");
    let changes = both.sync().taken.changes;
    let sent = changes.iter().map(|change| match change {
        Change::Send { to, message, .. } => (to.clone(), message.as_str()),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        sent.collect::<Vec<_>>(),
        [
            (Recipient::One(handle("lead")), "same words"),
            (Recipient::One(handle("lead")), "same words"),
            (Recipient::All, "to all"),
        ]
    );
    assert_eq!(both.store.messages.len(), 4);
    assert_eq!((count(&both, LEAD), count(&both, W1)), (3, 1));
    both.assert_quiet();
    // Another folder of the same team gets each once.
    let mut other = Both::new(Default::default(), both.store.clone());
    other.sync();
    assert_eq!(count(&other, LEAD), 3);
    other.assert_quiet();
    // Messages that were removed from an inbox are not put back.
    both.files.insert(W1.to_owned(), "[]".to_owned());
    both.sync();
    assert_eq!(both.files[W1], "[]");
}

#[test]
fn a_message_that_the_store_refused_is_new_again() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "refused");
    let (folder, seen) = (folder("alpha", &both.files), both.seen.as_ref());
    let taken = import_files(seen, &folder, &both.store);
    assert_eq!(taken.changes.len(), 1);
    let given = export_files(seen, &folder, &both.store, &taken, &Default::default());
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
    // A reader of the third message has not read the second one.
    both.edit(LEAD, "\"read\": false", "\"read\": true");
    let inbox = both.files.get_mut(LEAD).expect("the inbox");
    let third = inbox.rfind("\"read\": false").expect("the third");
    inbox.replace_range(third..third + 13, "\"read\": true");
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
fn a_first_sync_takes_the_read_marks_of_messages_that_both_sides_have() {
    let mut both = Both::alike();
    send(&mut both.store, "w1", Some("lead"), "one");
    both.sync();
    both.edit(LEAD, "\"read\": false", "\"read\": true");
    both.seen = None;
    assert_eq!(both.sync().taken.changes, [Change::ReadTo(handle("lead"), 1)]);
    both.assert_quiet();
}

#[test]
fn approvals_from_before_a_first_sync_request_no_shutdown() {
    let mut both = Both::alike();
    both.edit_approvals(&["w1"]);
    both.seen = None;
    let taken = both.sync().taken;
    assert_eq!((taken.changes, taken.findings), (vec![], vec![]));
    assert_eq!(taken.old_approvals, ["w1"]);
    assert!(both.file(CONFIG)["shutdownApprovals"].is_null(), "the leftover is gone");
    both.assert_quiet();
}

#[test]
fn members_join_by_files_and_leave_by_calls() {
    let mut both = Both::alike();
    let w2 =
        r#"{"agentId": "w2", "agentName": "Two", "agentType": "worker", "joinedAt": "2026-12-01T00:00:00Z", "x": 1}"#;
    for member in [w2, &w2.replace("w2", "W1"), &w2.replace("w2", "../x")] {
        both.edit(CONFIG, "\"members\": [", &format!("\"members\": [{member},"));
    }
    let refused = [
        (FindingKind::Unreadable, format!("{CONFIG}: members[0].agentId")),
        (FindingKind::Foreign, format!("{CONFIG}: members[1].agentId")),
    ];
    assert_eq!(sync_reports(&mut both), refused);
    assert_eq!(both.store.members["w2"].name, "Two");
    assert!(both.files.contains_key("teams/alpha/inboxes/w2.json"));
    both.store.members.remove("w1");
    both.sync();
    assert!(!both.files[CONFIG].contains("\"w1\""));
    // Unknown fields of a member stay.
    assert!(both.files[CONFIG].contains("\"x\": 1"));
    both.edit(CONFIG, "\"leader\": \"lead\"", "\"leader\": \"w2\"");
    let findings = sync_reports(&mut both);
    let refused = (FindingKind::NotByFile, format!("{CONFIG}: leader"));
    assert!(findings.contains(&refused), "{findings:?}");
    assert_eq!(both.file(CONFIG)["leader"], "lead");
}

#[test]
fn the_sender_of_a_request_in_files_is_the_requester() {
    let mut both = Both::alike();
    append(&mut both, LEAD, "w1", "lead", "Agent w1 requests team shutdown");
    both.edit(LEAD, "\"read\"", "\"type\": \"shutdown_request\", \"read\"");
    both.edit_approvals(&["lead", "w1"]);
    let calls = [
        Change::RequestShutdown(handle("w1")),
        Change::ApproveShutdown(handle("lead")),
    ];
    assert_eq!(both.sync().taken.changes, calls);
}

#[test]
fn approvals_are_calls_and_the_leader_is_among_them_only_at_the_end() {
    let mut both = Both::alike();
    both.edit_approvals(&["w1"]);
    assert_eq!(both.sync().taken.changes, [Change::RequestShutdown(handle("w1"))]);
    both.store.approvals.insert(handle("lead"));
    both.assert_quiet();
    assert_eq!(both.file(CONFIG)["shutdownApprovals"], json!(["w1"]));
    both.store.closed = true;
    both.sync();
    assert_eq!(both.file(CONFIG)["shutdownApprovals"], json!(["lead", "w1"]));
    both.assert_quiet();
}
