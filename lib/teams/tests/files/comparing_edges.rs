//! Dependencies in files and in the store: one set of edges without a ring.

use coord_teams::compare::{Change, FindingKind};
use serde_json::json;

use super::sync::{A, B, Both, C, kinds, sync_reports, task, task_path};

#[test]
fn both_sides_keep_the_order_that_the_other_gave() {
    let mut both = Both::alike();
    let (d, e) = (task_path("d"), task_path("e"));
    // A new file, and its task in the store.
    both.add_task("d", "pending", None, &["c", "a", "b"]);
    both.sync();
    assert_eq!(both.store.tasks["d"].dependencies, ["c", "a", "b"].map(task));
    assert_eq!(both.file(&d)["dependencies"], json!(["c", "a", "b"]));
    // The store's order, in files that it changes.
    both.stored("d").dependencies = ["b", "a"].map(task).into();
    both.store.tasks.insert(task("e"), both.store.tasks["d"].clone());
    both.stored("a").blocks = ["e", "d", "b"].map(task).into();
    both.sync();
    assert_eq!(both.file(&d)["dependencies"], json!(["b", "a"]));
    assert_eq!(both.file(&e)["dependencies"], json!(["b", "a"]));
    assert_eq!(both.file(A)["blocks"], json!(["e", "d", "b"]));
    both.assert_quiet();
}

#[test]
fn edges_are_one_set_that_either_end_may_change() {
    let mut both = Both::alike();
    let edit = |id: &str, add: &[&str], remove: &[&str]| Change::EditDependencies {
        id: task(id),
        add: add.iter().copied().map(task).collect(),
        remove: remove.iter().copied().map(task).collect(),
    };
    both.edit_dependencies(C, &["b", "b"]);
    assert_eq!(both.sync().taken.changes, [edit("c", &["b"], &[])]);
    assert_eq!(both.file(B)["blocks"], json!(["c"]));
    both.assert_quiet();
    // `blocks` alone, both ways.
    both.edit(B, "\n    \"c\"\n  ", "");
    both.edit(A, "\"b\"", "\"b\", \"c\"");
    assert_eq!(both.sync().taken.changes, [edit("c", &["a"], &["b"])]);
    assert_eq!(both.file(C)["dependencies"], json!(["a"]));
    both.assert_quiet();
    // The store's change meanwhile is kept beside the file's.
    both.stored("b").dependencies.clear();
    both.edit(C, "\"a\"", "\"a\", \"b\"");
    both.sync();
    assert_eq!(both.store.tasks["c"].dependencies.len(), 2);
    assert_eq!(both.file(A)["blocks"], json!(["c"]));
    both.assert_quiet();
}

#[test]
fn a_completed_task_has_the_blocks_of_the_store() {
    let mut both = Both::alike();
    both.edit_work(A, "completed", "w1");
    both.sync();
    assert_eq!(both.file(A)["blocks"], json!(["b"]));
    both.edit(A, "\n    \"b\"\n  ", "");
    assert_eq!(both.sync().taken.changes, []);
    assert_eq!(both.file(A)["blocks"], json!(["b"]));
    both.assert_quiet();
}

#[test]
fn a_ring_is_named_whole_and_put_back() {
    let mut both = Both::alike();
    both.edit_dependencies(A, &["c"]);
    both.edit_dependencies(C, &["b"]);
    let taken = both.sync().taken;
    // One edge less, and there is no ring any longer.
    assert_eq!(
        kinds(&taken.findings),
        [(FindingKind::Cycle, format!("{A}: dependencies"))]
    );
    let message = &taken.findings[0].refusal.message;
    assert_eq!(message, "Circular dependency detected: a -> c -> b -> a");
    assert_eq!(taken.changes.len(), 1);
    assert_eq!(both.file(A)["dependencies"], json!([]));
    assert_eq!(both.file(C)["dependencies"], json!(["b"]));
    both.assert_quiet();
    both.edit(C, "\"b\"", "");
    both.sync();
    both.edit_dependencies(C, &["c"]);
    assert_eq!(
        sync_reports(&mut both),
        [(FindingKind::Cycle, format!("{C}: dependencies"))]
    );
    both.assert_quiet();
}

#[test]
fn a_ring_over_a_task_that_only_the_file_calls_completed_is_found() {
    let mut both = Both::alike();
    both.stored("a").dependencies.push(task("c"));
    both.edit(B, "\"blocks\": []", "\"blocks\": [\"c\"]");
    both.edit(A, "\"pending\"", "\"completed\"");
    let refused = [
        (FindingKind::Transition, format!("{A}: status")),
        (FindingKind::Cycle, format!("{C}: dependencies")),
    ];
    assert_eq!(sync_reports(&mut both), refused);
    both.assert_quiet();
}

#[test]
fn a_ring_of_200_new_tasks_is_refused_and_a_chain_of_10_000_is_taken() {
    let name = |id: usize| format!("n{id}");
    let mut both = Both::alike();
    for id in 0..200 {
        both.add_task(&name(id), "pending", None, &[&name((id + 1) % 200)]);
    }
    let taken = both.sync().taken;
    assert_eq!(taken.changes, []);
    assert_eq!(taken.held.len(), 200);
    // The first by its ring, all others by their dependencies.
    let cycles = taken
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Cycle);
    let lengths: Vec<usize> = cycles
        .map(|finding| finding.refusal.message.matches(" -> ").count())
        .collect();
    assert_eq!((lengths, taken.findings.len()), (vec![200], 200));
    assert_eq!(both.store.tasks.len(), 3);

    let mut both = Both::alike();
    for id in 0..9_999 {
        both.add_task(&name(id), "pending", None, &[&name(id + 1)]);
    }
    both.add_task(&name(9_999), "pending", None, &[]);
    assert_eq!(sync_reports(&mut both), []);
    // `apply` takes a task only if its dependencies are there.
    assert_eq!(both.store.tasks.len(), 10_003);
    both.assert_quiet();
}

#[test]
fn a_dependency_that_is_nowhere_is_reported() {
    let mut both = Both::alike();
    both.edit_dependencies(C, &["nope"]);
    both.edit(A, "\"b\"", "\"b\", \"nope\"");
    let findings = both.sync().taken.findings;
    let places = [format!("{A}: blocks[1]"), format!("{C}: dependencies[0]")];
    assert_eq!(kinds(&findings), places.map(|place| (FindingKind::Missing, place)));
    let messages: Vec<_> = findings.iter().map(|finding| &*finding.refusal.message).collect();
    assert_eq!(
        messages,
        [
            "Blocked task nope does not exist",
            "Dependency task nope does not exist"
        ]
    );
    assert_eq!(both.file(C)["dependencies"], json!([]));
    both.assert_quiet();
}

#[test]
fn a_new_task_that_cannot_be_created_takes_those_with_it_that_need_it() {
    let mut both = Both::alike();
    both.add_task("n1", "pending", None, &["nope"]);
    both.add_task("n2", "pending", None, &["nope", "n1"]);
    both.add_task("n3", "pending", None, &["n2"]);
    both.add_task("n4", "pending", None, &[]);
    both.edit_dependencies(C, &["n3"]);
    let files = both.files.clone();
    let mut findings = sync_reports(&mut both);
    findings.sort();
    let places = [
        format!("{C}: dependencies[0]"),
        "tasks/alpha/n1.json: dependencies[0]".to_owned(),
        "tasks/alpha/n2.json: dependencies[1]".to_owned(),
        "tasks/alpha/n3.json: dependencies[0]".to_owned(),
    ];
    assert_eq!(findings, places.map(|place| (FindingKind::Missing, place)));
    assert_eq!(both.store.tasks.len(), 4);
    for path in ["n1", "n2", "n3"].map(task_path) {
        assert_eq!(both.files[&path], files[&path]);
    }
}
