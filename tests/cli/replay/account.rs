//! Tests of the account of a run's times.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coord_graph::ImportGraph;

use coord_test_worlds::replay::account::{Account, Edit, TaskRun};
use coord_test_worlds::replay::history::Task;

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
    account.tasks[0].landed = Some(minutes(2));
    account.tasks[1].waited = minutes(2);
    account.idle = minutes(2);
    account.tasks[1].started = Some(minutes(2));
    account.tasks[1].landed = Some(minutes(5));
    account.tasks[1].met_hazard = true;
    let figures = account.figures(&tasks, 2, 1);
    assert_eq!(
        figures.wall_over_ideal, 2.0,
        "five minutes where two agents need two and a half"
    );
    assert_eq!(figures.waiting, 0.2, "two of ten minutes");
    assert_eq!(figures.longest_wait, 0.8, "two minutes of two and a half");
    assert_eq!(figures.long_waits, 0.0);
    assert_eq!((figures.claims_per_task, figures.refusals), (3.5, 5));
    assert_eq!((figures.conflicts, figures.hazards, figures.outdated), (0.5, 0.5, 0.0));
    account.tasks[1].waited = minutes(8);
    account.tasks[0].is_outdated = true;
    let figures = account.figures(&tasks, 2, 1);
    assert_eq!((figures.long_waits, figures.outdated), (0.5, 0.5));
}

/// A change of a file, by a graph without any.
pub fn edit(pulled: Duration) -> Edit {
    let graph = ImportGraph::new(Arc::default(), Vec::new(), [], Default::default());
    Edit {
        pulled,
        claim: 0,
        graph: Arc::new(graph),
    }
}

/// A task that one agent began and landed then, with the files that it changed after pulls.
fn played(agent: usize, (started, landed): (u64, u64), edits: &[(&str, u64)]) -> TaskRun {
    let edit = |(path, pulled): &(&str, u64)| ((*path).to_owned(), edit(minutes(*pulled)));
    TaskRun {
        agent,
        started: Some(minutes(started)),
        landed: Some(minutes(landed)),
        edits: edits.iter().map(edit).collect(),
        ..TaskRun::default()
    }
}

#[test]
fn tasks_are_beside_each_other_where_both_are_worked_on() {
    let one = played(0, (2, 4), &[]);
    let by = |agent, started, landed| played(agent, (started, landed), &[]);
    for (other, expected) in [
        (by(1, 0, 2), false),
        (by(1, 4, 6), false),
        (by(1, 3, 6), true),
        (by(1, 0, 3), true),
        (by(1, 0, 9), true),
        (by(1, 3, 3), true),
        (by(0, 3, 6), false),
        (TaskRun::default(), false),
    ] {
        assert_eq!(one.is_beside(&other), expected, "{other:?}");
        assert_eq!(other.is_beside(&one), expected, "{other:?}");
    }
}

#[test]
fn changes_of_a_file_overlap_unless_one_was_pulled_before_the_other_edit() {
    let one = played(0, (0, 4), &[("a", 0), ("b", 3)]);
    for (other, path, expected) in [
        (played(1, (0, 6), &[("a", 3)]), "a", true),
        (played(1, (0, 6), &[("a", 4)]), "a", false),
        (played(1, (0, 3), &[("b", 0)]), "b", false),
        (played(1, (0, 6), &[("b", 0)]), "a", false),
        (played(0, (0, 6), &[("a", 3)]), "a", false),
    ] {
        assert_eq!(one.overlaps(&other, path), expected, "{other:?}");
        assert_eq!(other.overlaps(&one, path), expected, "{other:?}");
    }
}
