//! Syncs that are cut off, and files that are not written because they were changed meanwhile.

use std::collections::BTreeSet;

use coord_teams::compare::{
    AgreedState, AppliedChange, Change, ComparisonInput, SentNumbers, StoreTeam, agreed_before, agreed_state,
    export_files, import_files,
};

use super::sync::{A, Both, C, LEAD, W1, append, apply, folder, handle, send, task};

const D: &str = "tasks/alpha/d.json";
const W2: &str = "teams/alpha/inboxes/w2.json";

/// Applies changes; returns their records.
fn apply_all<'a>(store: &mut StoreTeam, changes: impl IntoIterator<Item = &'a Change>) -> Vec<AppliedChange> {
    let records = changes.into_iter().filter_map(|change| {
        let mut sent = SentNumbers::new();
        apply(store, change, &mut sent);
        AppliedChange::of(change, sent.into_values().flatten().next())
    });
    records.collect()
}

/// A task of the files alone, and messages to one and to all.
fn with_news() -> Both {
    let mut both = Both::alike();
    let member = both.store.members["w1"].clone();
    both.store.members.insert(handle("w2"), member);
    both.sync();
    let new = both.files[A]
        .replace("\"a\"", "\"d\"")
        .replace("pending", "in_progress")
        .replace("\"status\"", "\"owner\": \"w1\", \"status\"");
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
        let changes = import_files(Some(&seen), &files, &both.store).changes;
        let done = apply_all(&mut both.store, &changes[..cut_after]);
        // The next one, which knows the finished steps.
        let kept = serde_json::to_string(&done).expect("JSON");
        let mut done: Vec<AppliedChange> = serde_json::from_str(&kept).expect("what was done");
        let taken = import_files(Some(&seen.after(&done)), &files, &both.store);
        assert_eq!(taken.changes, whole[cut_after..], "{cut_after}");
        assert_eq!(taken.findings, [], "{cut_after}");
        done.extend(apply_all(&mut both.store, &taken.changes));
        let sent = AppliedChange::sent(&done);
        both.write(&export_files(Some(&seen), &files, &both.store, &taken, &sent));
        both.assert_quiet();
        assert_eq!(both.stored_texts(), ["one", "all"], "{cut_after}");
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
        both.files.remove(C);
        both.edit_work(A, "completed", "w1");
        both.store.tasks.remove(&task("a"));
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
        let mut done = apply_all(&mut both.store, &taken.changes[..cut_after]);
        let taken = import_files(Some(&seen.after(&done)), &files, &both.store);
        // A text that is not new any more may have another place.
        let named =
            |changes: &[Change]| -> BTreeSet<String> { changes.iter().map(|change| format!("{change:?}")).collect() };
        assert_eq!(named(&taken.changes), named(&whole[cut_after..]), "{cut_after}");
        assert_eq!(taken.findings, [], "{cut_after}");
        done.extend(apply_all(&mut both.store, &taken.changes));
        let (seen, sent) = (seen.with_created(&done), AppliedChange::sent(&done));
        both.write(&export_files(Some(&seen), &files, &both.store, &taken, &sent));
        both.assert_quiet();
        assert_eq!(both.store.messages.len(), 3, "{cut_after}");
        assert!(both.files.contains_key(C));
    }
}

#[test]
fn a_step_that_the_store_refused_is_tried_again_and_its_file_stays() {
    let mut both = with_news();
    both.edit_work(C, "completed", "w1");
    let seen = both.seen.clone().expect("it was synced");
    let files = folder("alpha", &both.files);
    let mut taken = import_files(Some(&seen), &files, &both.store);
    let is_refused = |change: &&Change| matches!(change, Change::Claim(..) | Change::Complete(..));
    let (refused, others): (Vec<&Change>, Vec<&Change>) = taken.changes.iter().partition(is_refused);
    let refused: Vec<Change> = refused.into_iter().cloned().collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    let done = apply_all(&mut both.store, others);
    taken.held.extend(["c", "d"].map(task));
    let (seen, sent) = (seen.with_created(&done), AppliedChange::sent(&done));
    both.write(&export_files(Some(&seen), &files, &both.store, &taken, &sent));
    assert_eq!(both.file(C)["status"], "completed");
    assert_eq!(both.file(D)["status"], "in_progress");
    assert_eq!(both.sync().taken.changes, refused);
    both.assert_quiet();
}

/// Syncs, but writes nothing; returns the seen records.
fn without_writing(both: &mut Both) -> AgreedState {
    let folder = &folder("alpha", &both.files);
    let seen = both.seen.as_ref();
    let taken = &import_files(seen, folder, &both.store);
    let done = &apply_all(&mut both.store, &taken.changes);
    let store = &both.store;
    let given = export_files(seen, folder, store, taken, &AppliedChange::sent(done));
    let stay: BTreeSet<_> = given.writes.keys().chain(&given.removals).cloned().collect();
    let round = ComparisonInput {
        seen,
        applied: done,
        folder,
        store,
        import: taken,
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
    let mut taken = both.sync().taken;
    assert_eq!(taken.findings, []);
    taken.changes.retain(|change| !matches!(change, Change::ReadTo(..)));
    let [
        Change::EditTask {
            title: None,
            description: None,
            priority: Some(_),
            ..
        },
    ] = taken.changes[..]
    else {
        panic!("{:?}", taken.changes)
    };
    let task = both.file(A);
    assert_eq!(task["title"], "of the store");
    assert_eq!(task["priority"], "low");
    let inbox = both.file(W1);
    let messages = inbox.as_array().expect("messages").iter();
    let of_store = messages.filter(|message| message["message"] == "of the store");
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
    both.assert_imports(&[]);
    assert!(!both.files.contains_key(C));
    both.assert_quiet();
}
