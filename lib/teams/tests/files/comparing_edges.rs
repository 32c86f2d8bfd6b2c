//! Dependencies in files and in the store: one set of edges without a ring.

use coord_teams::compare::{Change, Kind};

use super::sync::{Both, kinds, sync_reports, task};

const A: &str = "tasks/alpha/a.json";
const B: &str = "tasks/alpha/b.json";
const C: &str = "tasks/alpha/c.json";

#[test]
fn both_sides_keep_the_order_that_the_other_gave() {
    let mut both = Both::alike();
    // A new file, and its task in the store.
    let new = r#"{"id": "d", "title": "d", "status": "pending", "createdAt": "2026-12-01T00:00:00Z", "dependencies": ["c", "a", "b"]}"#;
    both.files.insert("tasks/alpha/d.json".to_owned(), new.to_owned());
    both.sync();
    assert_eq!(both.store.tasks["d"].dependencies, ["c", "a", "b"].map(task));
    assert_eq!(
        both.file("tasks/alpha/d.json")["dependencies"],
        serde_json::json!(["c", "a", "b"])
    );
    // The store's order, in files that it changes.
    both.stored("d").dependencies = ["b", "a"].map(task).into();
    both.store.tasks.insert(task("e"), both.store.tasks["d"].clone());
    both.stored("a").blocks = ["e", "d", "b"].map(task).into();
    both.sync();
    assert_eq!(
        both.file("tasks/alpha/d.json")["dependencies"],
        serde_json::json!(["b", "a"])
    );
    assert_eq!(
        both.file("tasks/alpha/e.json")["dependencies"],
        serde_json::json!(["b", "a"])
    );
    assert_eq!(both.file(A)["blocks"], serde_json::json!(["e", "d", "b"]));
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
fn a_completed_task_has_the_blocks_of_the_store() {
    let mut both = Both::alike();
    both.edit(A, "\"pending\"", "\"completed\"");
    both.edit(A, "\"blocks\"", "\"owner\": \"w1\", \"blocks\"");
    both.sync();
    assert_eq!(both.file(A)["blocks"], serde_json::json!(["b"]));
    both.edit(A, "\n    \"b\"\n  ", "");
    assert_eq!(both.sync().taken.changes, []);
    assert_eq!(both.file(A)["blocks"], serde_json::json!(["b"]));
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
    let message = &done.taken.findings[0].refusal.message;
    assert_eq!(message, "Circular dependency detected: a -> c -> b -> a");
    assert_eq!(done.taken.changes.len(), 1);
    assert_eq!(both.file(A)["dependencies"], serde_json::json!([]));
    assert_eq!(both.file(C)["dependencies"], serde_json::json!(["b"]));
    both.assert_quiet();
    both.edit(C, "\"b\"", "");
    both.sync();
    both.edit(C, "\"dependencies\": []", "\"dependencies\": [\"c\"]");
    assert_eq!(sync_reports(&mut both), [(Kind::Cycle, format!("{C}: dependencies"))]);
    both.assert_quiet();
}

#[test]
fn a_ring_over_a_task_that_only_the_file_calls_completed_is_found() {
    let mut both = Both::alike();
    both.stored("a").dependencies.push(task("c"));
    both.edit(B, "\"blocks\": []", "\"blocks\": [\"c\"]");
    both.edit(A, "\"pending\"", "\"completed\"");
    let refused = [
        (Kind::Transition, format!("{A}: status")),
        (Kind::Cycle, format!("{C}: dependencies")),
    ];
    assert_eq!(sync_reports(&mut both), refused);
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
    // The first by its ring, all others by their dependencies.
    let cycles = done.taken.findings.iter().filter(|finding| finding.kind == Kind::Cycle);
    let cycles: Vec<_> = cycles
        .map(|finding| finding.refusal.message.matches(" -> ").count())
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
        .map(|finding| finding.refusal.message.as_str())
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
    let mut findings = sync_reports(&mut both);
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
