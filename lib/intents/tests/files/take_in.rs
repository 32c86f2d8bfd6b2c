use coord_intents::files::import::{FileChanges, Reason, import_changes};
use coord_intents::intent::{Budget, Criterion, CriterionProof, Intent, Status, TransitionActor};

use crate::{FACTS, parse};

/// The changes that are taken if the file is FACTS after `in_file`, and the store's intent is that of FACTS after
/// `in_store`.
fn taken(in_file: &[(&str, &str)], in_store: impl FnOnce(&mut Intent)) -> FileChanges {
    let base = parse(FACTS);
    let mut file = FACTS.to_owned();
    for (from, to) in in_file {
        assert!(file.contains(from), "{from}");
        file = file.replace(from, to);
    }
    let mut stored = base.intents().to_vec();
    in_store(&mut stored[0]);
    import_changes(Some(&base), &parse(&file), &stored)
}

/// Nothing is taken, because of these members.
#[track_caller]
fn assert_problems(result: &FileChanges, expected: &[(&str, Reason)]) {
    assert_eq!(result.changes, []);
    let problems = result.problems.iter().map(|problem| (problem.member, problem.reason));
    assert_eq!(problems.collect::<Vec<_>>(), expected);
}

#[test]
fn nothing_changed_is_nothing_taken() {
    assert_eq!(taken(&[], |_| ()), FileChanges::default());
    let store = |intent: &mut Intent| {
        intent.status = Status::Blocked;
        intent.name = "Renamed".into();
        intent.budget = None;
    };
    let result = taken(&[], store);
    assert_eq!(result, FileChanges::default(), "it is written to the file");
}

// rule: files#yaml-edited
#[test]
fn people_edit_texts_lists_and_limits_beside_changes_of_the_store() {
    let edits = [
        ("Connection pooling", "Pool"),
        ("No new dependency", "No dependency"),
        ("max_turns: 50", "max_turns: 40"),
        ("Tests in tests/db pass", "Tests pass"),
    ];
    let result = taken(&edits, |intent| {
        intent.status = Status::Blocked;
        intent.budget.as_mut().unwrap().consumed_turns = 30;
    });
    assert_eq!((result.problems.len(), result.put_back.len()), (0, 0));
    let [change] = result.changes.as_slice() else {
        panic!("{result:?}")
    };
    let members = ["name", "constraints", "acceptance_criteria", "budget.max_turns"];
    assert_eq!(change.members, members);
    assert_eq!(change.intent.status, Status::Blocked);
    let budget = change.intent.budget.unwrap();
    assert_eq!((budget.max_turns, budget.consumed_turns), (Some(40), 30));
    assert!(!change.needs_person);
}

// rule: files#yaml-edited
#[test]
fn consumption_times_and_agent_in_the_file_are_put_back() {
    let edits = [
        ("consumed_turns: 12", "consumed_turns: 0"),
        ("08:55:00Z", "08:56:00Z"),
        ("claude-opus-4-5", "x"),
    ];
    let result = taken(&edits, |_| ());
    assert_eq!(result.changes, []);
    let members: Vec<_> = result.put_back.iter().map(|(_, member)| *member).collect();
    assert_eq!(members, ["budget.consumed_turns", "assigned_agent", "created_at"]);
}

// rule: files#yaml-conflicts
#[test]
fn one_conflict_is_listed_and_nothing_is_taken() {
    let edits = [("Connection pooling", "Pool"), ("No new dependency", "None")];
    let result = taken(&edits, |intent| intent.name = "Pooling".into());
    assert_problems(&result, &[("name", Reason::Conflict)]);
    // The same change on both sides is none.
    let result = taken(&edits[..1], |intent| intent.name = "Pool".into());
    assert_eq!(result, FileChanges::default());
}

#[test]
fn the_scope_is_frozen_once_work_has_begun() {
    let widen = ("- src/db.ts", "- src/*.ts");
    let result = taken(&[widen], |_| ());
    assert_problems(&result, &[("owned_scope", Reason::Frozen)]);
    let result = taken(&[widen, ("IN_PROGRESS", "PENDING")], |_| ());
    assert_eq!(result.problems.len(), 2, "a status that goes back does not thaw it");
    let pending = FACTS.replace("IN_PROGRESS", "PENDING");
    let base = parse(&pending);
    let widened = parse(&pending.replace(widen.0, widen.1));
    let result = import_changes(Some(&base), &widened, base.intents());
    assert_eq!(result.changes[0].members, ["owned_scope"]);
}

#[test]
fn a_status_change_follows_transitions_and_marks_those_that_need_a_person() {
    for from in Status::ALL {
        for to in Status::ALL {
            let file = |status: Status| FACTS.replace("IN_PROGRESS", status.as_str());
            let base = parse(&file(from));
            let result = import_changes(Some(&base), &parse(&file(to)), base.intents());
            match TransitionActor::of(from, to) {
                None if from == to => assert_eq!(result, FileChanges::default()),
                None => assert_eq!(result.problems[0].reason, Reason::Transition { from, to }),
                Some(_) => {
                    let needs_person = from == Status::Blocked || to == Status::Completed;
                    assert_eq!(
                        (result.changes[0].intent.status, result.changes[0].needs_person),
                        (to, needs_person),
                        "{from:?} {to:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn completion_without_a_person_needs_each_criterion_of_the_store() {
    let met = CriterionProof {
        by: "ada".into(),
        at: "2026-11-22T09:30:00Z".into(),
        evidence: "log".into(),
    };
    let is_met = |intent: &mut Intent| intent.acceptance_criteria[0].met = Some(met.clone());
    let complete = ("IN_PROGRESS", "COMPLETED");
    assert!(!taken(&[complete], is_met).changes[0].needs_person);
    let result = taken(&[complete, ("Tests in tests/db pass", "Anything")], is_met);
    assert!(result.changes[0].needs_person, "other words are not met");
    let forged = "pass\n      criteria: [{criterion: Tests in tests/db pass, by: eve, at: now, evidence: none}]";
    let result = taken(&[complete, ("pass", forged)], |_| ());
    let change = &result.changes[0];
    assert!(change.needs_person, "a proof is not taken from the file");
    let criteria = [Criterion::new("Tests in tests/db pass")];
    assert_eq!(change.intent.acceptance_criteria, criteria);
    assert_eq!(result.put_back[0].1, "criteria");
}

#[test]
fn a_raised_limit_takes_a_person() {
    for (to, needs_person) in [
        ("max_turns: 51", true),
        ("max_turns: 49", false),
        ("max_turns: ~", true),
    ] {
        let result = taken(&[("max_turns: 50", to)], |_| ());
        assert_eq!(result.changes[0].needs_person, needs_person, "{to}");
    }
}

#[test]
fn new_intents_are_taken_and_removed_ones_stay() {
    let base = parse(FACTS);
    let file =
        parse("intents:\n  - id: a\n    name: A\n  - id: b\n    status: COMPLETED\n    budget: {consumed_turns: 3}\n");
    let result = import_changes(Some(&base), &file, base.intents());
    assert_eq!(result.removed, ["018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10"]);
    let taken = result
        .changes
        .iter()
        .map(|change| (change.intent.id.as_str(), change.needs_person));
    assert_eq!(taken.collect::<Vec<_>>(), [("a", false), ("b", true)]);
    let budget = Budget {
        consumed_turns: 3,
        ..Budget::default()
    };
    assert_eq!(result.changes[1].intent.budget, Some(budget));
    // A deleted file does not block.
    let result = import_changes(Some(&base), &parse(""), base.intents());
    assert_eq!((result.changes.len(), result.problems.len()), (0, 0));
}

// rule: files#yaml-conflicts
#[test]
fn without_a_base_each_difference_that_people_can_make_is_a_conflict() {
    let file = FACTS
        .replace("Connection pooling", "Pool")
        .replace("consumed_turns: 12", "consumed_turns: 1");
    let result = import_changes(None, &parse(&file), parse(FACTS).intents());
    assert_problems(&result, &[("name", Reason::Conflict)]);
}
