//! Much work at once, and work that came late.

use std::collections::BTreeSet;

use coord_teams::compare::{Change, FindingKind};
use coord_teams::status::Status;

use super::sync::{A, Both, C, Files, handle, store, sync_reports, task};

#[test]
fn finished_work_of_a_first_sync_takes_one_claim_at_a_time_and_no_room_of_open_tasks() {
    let mut both = Both::new(Files::new(), store("alpha", "lead"));
    for number in 0..450 {
        let (id, before) = (format!("done-{number}"), format!("done-{}", (number + 449) % 450));
        both.add_task(&id, "completed", Some("lead"), &[&before]);
    }
    for number in 0..50 {
        both.add_task(&format!("claimed-{number}"), "in_progress", Some("lead"), &["done-7"]);
    }
    both.add_task("open", "pending", None, &["claimed-0", "done-3"]);
    let taken = both.sync().taken;
    assert_eq!(taken.findings, []);
    let (mut claimed, mut open) = (BTreeSet::new(), BTreeSet::new());
    let (mut most_open, mut most_claimed_before_open) = (0, 0);
    for change in &taken.changes {
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
    let mut tasks: Vec<_> = both.store.tasks.values().collect();
    tasks.retain(|task| task.status == Status::Completed);
    assert_eq!(tasks.len(), 450);
    both.assert_quiet();
}

#[test]
fn changes_that_end_a_claim_come_before_lasting_claims() {
    let mut both = Both::alike();
    both.stored("c").status = Status::InProgress;
    both.stored("c").owner = Some(handle("w1"));
    both.sync();
    both.add_task("a", "in_progress", Some("w1"), &[]);
    both.edit(A, "\"title\":\"a\"", "\"title\":\"task a\",\"blocks\":[\"b\"]");
    both.edit(C, "in_progress", "completed");
    let work = [
        Change::Complete(task("c"), handle("w1")),
        Change::Claim(task("a"), handle("w1")),
    ];
    assert_eq!(both.sync().taken.changes, work);
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
    both.assert_imports(&[Change::Complete(task("a"), handle("w1"))]);
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
        assert_eq!(
            sync_reports(&mut both),
            [(FindingKind::Conflict, format!("{A}: status"))]
        );
        assert_eq!(both.file(A)["status"], "pending");
    }
}
