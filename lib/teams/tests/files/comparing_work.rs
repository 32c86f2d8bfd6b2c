//! Much work at once, and work that came late.

use std::collections::BTreeSet;

use coord_teams::compare::{Change, Kind};
use coord_teams::status::Status;
use serde_json::json;

use super::sync::{Both, Files, handle, store, sync_reports, task};

const A: &str = "tasks/alpha/a.json";

fn file(id: &str, status: &str, owner: Option<&str>, dependencies: &[&str]) -> String {
    let mut task = json!({
        "id": id, "title": id, "status": status, "createdAt": "2026-12-01T00:00:00Z", "dependencies": dependencies,
    });
    if let Some(owner) = owner {
        task["owner"] = owner.into();
    }
    task.to_string()
}

#[test]
fn finished_work_of_a_first_sync_takes_one_claim_at_a_time_and_no_room_of_open_tasks() {
    let mut files = Files::new();
    let mut add = |id: String, text: String| files.insert(format!("tasks/alpha/{id}.json"), text);
    for number in 0..450 {
        let (id, before) = (format!("done-{number}"), format!("done-{}", (number + 449) % 450));
        add(id.clone(), file(&id, "completed", Some("lead"), &[&before]));
    }
    for number in 0..50 {
        let id = format!("claimed-{number}");
        add(id.clone(), file(&id, "in_progress", Some("lead"), &["done-7"]));
    }
    add(
        "open".to_owned(),
        file("open", "pending", None, &["claimed-0", "done-3"]),
    );
    let mut both = Both {
        files,
        store: store("alpha", "lead"),
        seen: None,
    };
    let done = both.sync();
    assert_eq!(done.taken.findings, []);
    let (mut claimed, mut open) = (BTreeSet::new(), BTreeSet::new());
    let (mut most_open, mut most_claimed_before_open) = (0, 0);
    for change in &done.taken.changes {
        match change {
            Change::CreateTask { id, .. } => drop(open.insert(id.clone())),
            Change::Claim(id, _) => drop(claimed.insert(id.clone())),
            Change::Complete(id, _) => assert!(claimed.remove(id) && open.remove(id)),
            other => panic!("{other:?}"),
        }
        if !open.contains("open") {
            most_open = most_open.max(open.len());
            most_claimed_before_open = most_claimed_before_open.max(claimed.len());
        }
    }
    assert!(
        most_open <= 250 && most_claimed_before_open == 1,
        "{most_open} {most_claimed_before_open}"
    );
    assert_eq!((open.len(), claimed.len()), (51, 50));
    let completed = both
        .store
        .tasks
        .values()
        .filter(|task| task.status == Status::Completed);
    assert_eq!(completed.count(), 450);
    both.assert_quiet();
}

#[test]
fn changes_that_end_a_claim_come_before_lasting_claims() {
    let mut both = Both::alike();
    both.stored("c").status = Status::InProgress;
    both.stored("c").owner = Some(handle("w1"));
    both.sync();
    both.files
        .insert(A.to_owned(), file("a", "in_progress", Some("w1"), &[]));
    both.edit(A, "\"title\":\"a\"", "\"title\":\"task a\",\"blocks\":[\"b\"]");
    both.edit("tasks/alpha/c.json", "in_progress", "completed");
    let done = both.sync();
    let work = [
        Change::Complete(task("c"), handle("w1")),
        Change::Claim(task("a"), handle("w1")),
    ];
    assert_eq!(done.taken.changes, work);
    both.assert_quiet();
}

/// `a` is in progress by w1 on both sides; then the claim expires in the store.
fn with_expired_claim() -> Both {
    let mut both = Both::alike();
    both.stored("a").status = Status::InProgress;
    both.stored("a").owner = Some(handle("w1"));
    both.sync();
    let stored = both.stored("a");
    (stored.previous_owner, stored.owner, stored.lapsed) = (stored.owner.take(), None, true);
    both
}

#[test]
fn a_completion_in_a_file_counts_after_the_claim_has_expired() {
    let mut both = with_expired_claim();
    both.edit(A, "in_progress", "completed");
    let done = both.sync();
    assert_eq!(
        (&done.taken.changes[..], &done.taken.findings[..]),
        (&[Change::Complete(task("a"), handle("w1"))][..], &[][..])
    );
    assert_eq!(both.file(A)["status"], "completed");
    assert!(both.store.tasks["b"].met.contains(&task("a")));
    both.assert_quiet();
    // Not another member's, not a released one, and not for another login.
    let mut of_another = with_expired_claim();
    of_another.edit(A, "\"w1\"", "\"lead\"");
    let mut released = with_expired_claim();
    released.stored("a").lapsed = false;
    let mut foreign = with_expired_claim();
    foreign.store.members.get_mut("w1").expect("a member").ours = false;
    for mut both in [of_another, released, foreign] {
        both.edit(A, "in_progress", "completed");
        assert_eq!(sync_reports(&mut both), [(Kind::Conflict, format!("{A}: status"))]);
        assert_eq!(both.file(A)["status"], "pending");
    }
}
