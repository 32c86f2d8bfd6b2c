//! Syncs that are cut off, and files that are not written because they were changed meanwhile.

use std::collections::BTreeSet;

use coord_teams::compare::{
    AgreedState, AppliedChange, Change, ComparisonInput, SentNumbers, StoreTeam, agreed_before, agreed_state,
    export_files, import_files,
};

use super::sync::{Both, append, apply, folder, handle, send};

const A: &str = "tasks/alpha/a.json";
const D: &str = "tasks/alpha/d.json";
const LEAD: &str = "teams/alpha/inboxes/lead.json";
const W1: &str = "teams/alpha/inboxes/w1.json";
const W2: &str = "teams/alpha/inboxes/w2.json";

/// Applies a change; returns its record.
fn applied(store: &mut StoreTeam, change: &Change) -> Option<AppliedChange> {
    let mut sent = SentNumbers::new();
    apply(store, change, &mut sent);
    AppliedChange::of(change, sent.into_values().flatten().next())
}

/// A task of the files alone, and messages to one and to all.
fn with_news() -> Both {
    let mut both = Both::alike();
    let member = both.store.members["w1"].clone();
    both.store.members.insert(handle("w2"), member);
    both.sync();
    let new = both.files[A]
        .replace("\"a\"", "\"d\"")
        .replace("pending", "in_progress");
    let new = new.replace("\"status\"", "\"owner\": \"w1\", \"status\"");
    both.files
        .insert(D.to_owned(), new.replace("\"b\"\n", "").replace("[\n    ]", "[]"));
    append(&mut both, LEAD, "w1", "lead", "one");
    append(&mut both, LEAD, "w1", "broadcast", "all");
    both
}

#[test]
fn steps_before_a_cut_off_sync_are_not_repeated() {
    let whole = with_news().sync().taken.changes;
    assert_eq!(whole.len(), 4, "{whole:?}");
    for cut_after in 0..=whole.len() {
        let mut both = with_news();
        let seen = both.seen.clone().expect("it was synced");
        let files = folder("alpha", &both.files);
        let mut done = Vec::new();
        for change in &import_files(Some(&seen), &files, &both.store).changes[..cut_after] {
            done.extend(applied(&mut both.store, change));
        }
        // The next one, which knows the finished steps.
        let kept = serde_json::to_string(&done).expect("JSON");
        let mut done: Vec<AppliedChange> = serde_json::from_str(&kept).expect("what was done");
        let taken = import_files(Some(&seen.after(&done)), &files, &both.store);
        assert_eq!(taken.changes, whole[cut_after..], "{cut_after}");
        assert!(taken.findings.is_empty(), "{:?}", taken.findings);
        for change in &taken.changes {
            done.extend(applied(&mut both.store, change));
        }
        let given = export_files(Some(&seen), &files, &both.store, &taken, &AppliedChange::sent(&done));
        for (entry, text) in &given.writes {
            both.files.insert(entry.path(), text.clone());
        }
        both.seen = Some(given.seen);
        both.assert_quiet();
        let messages: Vec<_> = both.store.messages.values().map(|message| &*message.message).collect();
        assert_eq!(messages, ["one", "all"], "{cut_after}");
        let copies = [LEAD, W1, W2].map(|inbox| both.file(inbox).as_array().map(Vec::len));
        assert_eq!(copies, [Some(2), Some(0), Some(1)], "one copy of each");
    }
}

#[test]
fn an_interrupted_first_sync_resumes_where_it_was() {
    let first = || {
        let mut both = with_news();
        // A team that the store made on its own account, of which the files know a part.
        both.seen = None;
        both.files.remove("tasks/alpha/c.json");
        both.edit(A, "pending", "completed");
        both.edit(A, "\"status\"", "\"owner\": \"w1\", \"status\"");
        let id = coord_teams::names::TaskId::parse("a").expect("an id");
        both.store.tasks.remove(&id);
        for task in both.store.tasks.values_mut() {
            task.dependencies.retain(|on| on.as_str() != "a");
        }
        send(&mut both.store, "lead", Some("w1"), "of the store");
        both
    };
    let whole = first().sync().taken.changes;
    assert_eq!(whole.len(), 7, "{whole:?}");
    for cut_after in 0..=whole.len() {
        let mut both = first();
        let files = folder("alpha", &both.files);
        let taken = import_files(None, &files, &both.store);
        let seen = agreed_before(&files, &both.store, &taken);
        let mut done = Vec::new();
        for change in &taken.changes[..cut_after] {
            done.extend(applied(&mut both.store, change));
        }
        let taken = import_files(Some(&seen.after(&done)), &files, &both.store);
        // A text that is not new any more may have another place.
        let named = |changes: &[Change]| {
            let named = changes.iter().map(|change| format!("{change:?}"));
            named.collect::<BTreeSet<_>>()
        };
        assert_eq!(named(&taken.changes), named(&whole[cut_after..]), "{cut_after}");
        assert_eq!(taken.findings, [], "{cut_after}");
        for change in &taken.changes {
            done.extend(applied(&mut both.store, change));
        }
        let seen = seen.with_created(&done);
        let given = export_files(Some(&seen), &files, &both.store, &taken, &AppliedChange::sent(&done));
        for (entry, text) in &given.writes {
            both.files.insert(entry.path(), text.clone());
        }
        both.seen = Some(given.seen);
        both.assert_quiet();
        assert_eq!(both.store.messages.len(), 3, "{cut_after}");
        assert!(both.files.contains_key("tasks/alpha/c.json"));
    }
}

#[test]
fn a_step_that_the_store_refused_is_tried_again_and_its_file_stays() {
    let mut both = with_news();
    both.edit("tasks/alpha/c.json", "pending", "completed");
    both.edit("tasks/alpha/c.json", "\"status\"", "\"owner\": \"w1\", \"status\"");
    let seen = both.seen.clone().expect("it was synced");
    let files = folder("alpha", &both.files);
    let mut taken = import_files(Some(&seen), &files, &both.store);
    let steps = |change: &&Change| matches!(change, Change::Claim(..) | Change::Complete(..));
    let refused: Vec<_> = taken.changes.iter().filter(steps).cloned().collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    let mut done = Vec::new();
    for change in taken.changes.iter().filter(|change| !steps(change)) {
        done.extend(applied(&mut both.store, change));
    }
    taken.held.extend(["c", "d"].map(super::sync::task));
    let given = export_files(
        Some(&seen.with_created(&done)),
        &files,
        &both.store,
        &taken,
        &AppliedChange::sent(&done),
    );
    for (entry, text) in &given.writes {
        both.files.insert(entry.path(), text.clone());
    }
    both.seen = Some(given.seen);
    assert_eq!(both.file("tasks/alpha/c.json")["status"], "completed");
    assert_eq!(both.file(D)["status"], "in_progress");
    let again = both.sync();
    assert_eq!(again.taken.changes, refused);
    both.assert_quiet();
}

/// Syncs, but writes nothing; returns the seen records.
fn without_writing(both: &mut Both) -> AgreedState {
    let folder = &folder("alpha", &both.files);
    let seen = both.seen.as_ref();
    let taken = &import_files(seen, folder, &both.store);
    let mut done = Vec::new();
    for change in &taken.changes {
        done.extend(applied(&mut both.store, change));
    }
    let (store, done) = (&both.store, &done[..]);
    let given = export_files(seen, folder, store, taken, &AppliedChange::sent(done));
    let stay: BTreeSet<_> = given.writes.keys().chain(&given.removals).cloned().collect();
    let round = ComparisonInput {
        seen,
        done,
        folder,
        store,
        taken,
    };
    agreed_state(round, &given, &stay)
}

#[test]
fn an_unwritten_file_keeps_its_content_and_reverts_nothing() {
    let mut both = with_news();
    both.stored("a").title = "of the store".to_owned();
    both.stored("a").description = Some("of the store".to_owned());
    both.edit(A, "normal", "high");
    send(&mut both.store, "lead", Some("w1"), "of the store");
    let seen = without_writing(&mut both);
    assert_eq!(seen.tasks["a"].title, "task a");
    assert_eq!(seen.inboxes["w1"], []);
    both.seen = Some(seen);
    // Changed once more in the file, which still has the old title.
    both.edit(A, "high", "low");
    let done = both.sync();
    assert_eq!(done.taken.findings, []);
    let edits: Vec<_> = done
        .taken
        .changes
        .iter()
        .filter(|change| !matches!(change, Change::ReadTo(..)))
        .collect();
    assert!(
        matches!(
            edits[..],
            [Change::EditTask {
                title: None,
                description: None,
                priority: Some(_),
                ..
            }]
        ),
        "{edits:?}"
    );
    let task = both.file(A);
    assert_eq!(
        (&task["title"], &task["priority"]),
        (&"of the store".into(), &"low".into())
    );
    let inbox = both.file(W1);
    let of_store = inbox
        .as_array()
        .expect("messages")
        .iter()
        .filter(|message| message["message"] == "of the store");
    assert_eq!(of_store.count(), 1, "{inbox}");
    assert_eq!(both.store.messages.len(), 3, "nothing is sent twice");
    both.assert_quiet();
}

#[test]
fn a_member_that_left_and_a_task_that_was_deleted_do_not_come_back_from_a_file_that_was_not_written() {
    let mut both = Both::alike();
    both.store.members.remove("w1");
    both.store.tasks.remove("c");
    let seen = without_writing(&mut both);
    assert!(seen.members.contains("w1") && seen.tasks.contains_key("c"));
    both.seen = Some(seen);
    let done = both.sync();
    assert_eq!((&done.taken.changes[..], &done.taken.findings[..]), (&[][..], &[][..]));
    assert!(!both.files.contains_key("tasks/alpha/c.json"));
    both.assert_quiet();
}
