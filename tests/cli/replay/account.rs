//! What is made of the times of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bench::account::{Account, Played};
use super::bench::history::Task;

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// A task with so many files.
fn task(files: usize) -> Task {
    Task {
        commit: String::new(),
        parent: String::new(),
        files: (0..files)
            .map(|number| (number.to_string(), (None, None)))
            .collect::<BTreeMap<_, _>>(),
    }
}

#[test]
fn figures_count_from_the_first_claim_to_the_last_push() {
    // Two minutes, and three.
    let tasks = [task(1), task(4)];
    let mut account = Account::of(2);
    account.claims = 7;
    account.refusals = 5;
    account.tasks[0].started = Some(minutes(0));
    account.tasks[0].pushed = Some(minutes(2));
    account.tasks[1].waited = minutes(2);
    account.idle = minutes(2);
    account.tasks[1].started = Some(minutes(2));
    account.tasks[1].pushed = Some(minutes(5));
    account.tasks[1].met_hazard = true;
    let figures = account.figures(&tasks, 2, 1);
    assert_eq!(
        figures.wall_over_ideal, 2.0,
        "five minutes where two agents need two and a half"
    );
    assert_eq!(figures.waiting, 0.2, "two of ten minutes");
    assert_eq!(figures.longest_wait, 0.8, "two minutes of two and a half");
    assert_eq!((figures.claims_per_task, figures.refusals), (3.5, 5));
    assert_eq!((figures.conflicts, figures.hazards), (0.5, 0.5));
}

#[test]
fn tasks_overlap_where_both_are_worked_on() {
    let by = |agent: usize, started: u64, landed: u64| Played {
        agent,
        started: Some(minutes(started)),
        landed: Some(minutes(landed)),
        ..Played::default()
    };
    let played = |started, landed| by(1, started, landed);
    let one = by(0, 2, 4);
    for (other, expected) in [
        (played(0, 2), false),
        (played(4, 6), false),
        (played(3, 6), true),
        (played(0, 3), true),
        (played(0, 9), true),
        (played(3, 3), true),
        (by(0, 3, 6), false),
        (Played::default(), false),
    ] {
        assert_eq!(one.overlaps(&other), expected, "{other:?}");
        assert_eq!(other.overlaps(&one), expected, "{other:?}");
    }
}
