//! Random changes of both sides, and one sync: both say the same, and a second sync has nothing to do.

use std::collections::BTreeSet;

use coord_teams::compare::FindingKind;
use coord_teams::rings::ring;
use coord_teams::status::Status;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::sync::{Both, forget, handle, meet, send, task};

const IDS: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Clone, Debug)]
enum Step {
    File(usize, &'static str, Value),
    NewFile(usize, Value),
    RemoveFile(usize),
    Message(bool, bool),
    StoreTitle(usize),
    StoreClaim(usize),
    StoreComplete(usize),
    StoreRelease(usize),
    StoreDepend(usize, usize),
    StoreDelete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0..IDS.len();
    let ids = || vec(prop::sample::select(vec!["a", "b", "c", "d", "e", "nope"]), 0..3);
    let status = prop::sample::select(vec!["pending", "in_progress", "completed"]);
    let owner = prop::sample::select(vec![json!("lead"), json!("w1"), json!("ghost"), Value::Null]);
    prop_oneof![
        (id(), "[xyz]").prop_map(|(id, title)| Step::File(id, "title", json!(title))),
        (id(), status).prop_map(|(id, status)| Step::File(id, "status", json!(status))),
        (id(), owner).prop_map(|(id, owner)| Step::File(id, "owner", owner)),
        (id(), ids()).prop_map(|(id, ids)| Step::File(id, "dependencies", json!(ids))),
        (id(), ids()).prop_map(|(id, ids)| Step::File(id, "blocks", json!(ids))),
        (id(), ids()).prop_map(|(id, ids)| Step::NewFile(id, json!(ids))),
        id().prop_map(Step::RemoveFile),
        (any::<bool>(), any::<bool>()).prop_map(|(file, all)| Step::Message(file, all)),
        id().prop_map(Step::StoreTitle),
        id().prop_map(Step::StoreClaim),
        id().prop_map(Step::StoreComplete),
        id().prop_map(Step::StoreRelease),
        (id(), id()).prop_map(|(id, on)| Step::StoreDepend(id, on)),
        id().prop_map(Step::StoreDelete),
    ]
}

fn path(id: usize) -> String {
    format!("tasks/alpha/{}.json", IDS[id])
}

fn has_ring(both: &Both) -> bool {
    let tasks = &both.store.tasks;
    let of = |id: &str| {
        tasks
            .get(id)
            .into_iter()
            .flat_map(|task| task.dependencies.iter().map(|on| on.as_str()))
    };
    let edges = tasks
        .iter()
        .flat_map(|(id, task)| task.dependencies.iter().map(move |on| (id.as_str(), on.as_str())));
    edges.into_iter().any(|(id, on)| ring(id, on, of).is_some())
}

fn act(both: &mut Both, step: Step) {
    match step {
        Step::File(id, member, value) => {
            if let Some(text) = both.files.get_mut(&path(id)) {
                let mut file: Value = serde_json::from_str(text).expect("JSON");
                file[member] = value;
                file.as_object_mut()
                    .expect("a task")
                    .retain(|_, value| !value.is_null());
                *text = file.to_string();
            }
        }
        Step::NewFile(id, ids) => {
            let new = json!({"id": IDS[id], "title": "new", "status": "pending", "createdAt": "2026-12-01T00:00:00Z", "dependencies": ids});
            both.files.entry(path(id)).or_insert(new.to_string());
        }
        Step::RemoveFile(id) => drop(both.files.remove(&path(id))),
        Step::Message(true, all) => {
            let inbox = both.files.get_mut("teams/alpha/inboxes/w1.json").expect("the inbox");
            let mut messages: Vec<Value> = serde_json::from_str(inbox).expect("messages");
            let to = if all { "broadcast" } else { "w1" };
            messages.push(json!({"from": "lead", "to": to, "message": "m", "timestamp": "2026-12-01T00:00:00Z"}));
            *inbox = json!(messages).to_string();
        }
        Step::Message(false, all) => drop(send(&mut both.store, "lead", (!all).then_some("w1"), "m")),
        Step::StoreDepend(id, on) => {
            let open = |id: usize| {
                both.store
                    .tasks
                    .get(IDS[id])
                    .is_some_and(|task| task.status != Status::Completed)
            };
            if open(id) && open(on) {
                let before = both.stored(IDS[id]).dependencies.clone();
                if !before.contains(&task(IDS[on])) {
                    both.stored(IDS[id]).dependencies.push(task(IDS[on]));
                }
                if has_ring(both) {
                    both.stored(IDS[id]).dependencies = before;
                }
            }
        }
        Step::StoreDelete(id) => {
            both.store.tasks.remove(IDS[id]);
            let gone = task_id(id);
            both.store.tasks.values_mut().for_each(|task| forget(task, &gone));
        }
        Step::StoreTitle(id) | Step::StoreClaim(id) | Step::StoreComplete(id) | Step::StoreRelease(id) => {
            let Some(stored) = both.store.tasks.get_mut(IDS[id]) else {
                return;
            };
            match (step, stored.status, &stored.owner) {
                (Step::StoreTitle(_), ..) => stored.title = "in the store".to_owned(),
                (Step::StoreClaim(_), Status::Pending | Status::InProgress, None) => {
                    (stored.status, stored.owner) = (Status::InProgress, Some(handle("w1")));
                }
                (Step::StoreRelease(_), Status::InProgress, Some(_)) => stored.previous_owner = stored.owner.take(),
                (Step::StoreComplete(_), Status::InProgress, Some(_)) => {
                    stored.status = Status::Completed;
                    let met = task_id(id);
                    both.store.tasks.values_mut().for_each(|task| meet(task, &met));
                }
                _ => {}
            }
        }
    }
}

fn task_id(id: usize) -> coord_teams::names::TaskId {
    task(IDS[id])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn after_any_changes_one_sync_makes_both_sides_alike(rounds in vec(vec(step(), 0..8), 1..4)) {
        let mut both = Both::alike();
        for steps in rounds {
            for step in steps {
                act(&mut both, step);
            }
            let before = both.store.clone();
            let done = both.sync();
            prop_assert!(!has_ring(&both));
            for (id, task) in &before.tasks {
                // Statuses go forward only, and no task goes without its file having gone.
                let gone = |found: &&coord_teams::compare::Finding| found.kind == FindingKind::Vanished;
                match both.store.tasks.get(id) {
                    Some(after) => prop_assert!(after.status >= task.status, "{}", id),
                    None => prop_assert_eq!(done.taken.findings.iter().filter(gone).count(), 0),
                }
            }
            let forms = both.store.task_files();
            for (id, form) in forms.iter().filter(|(id, _)| !done.taken.held.contains(*id)) {
                let file = both.file(&format!("tasks/alpha/{id}.json"));
                prop_assert_eq!(&file["title"], &json!(form.title));
                prop_assert_eq!(&file["status"], form.status.as_str());
                prop_assert_eq!(file["owner"].as_str(), form.owner.as_deref());
                if form.status != Status::Completed {
                    let set = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
                    let there: Vec<String> = serde_json::from_value(file["dependencies"].clone()).unwrap_or_default();
                    prop_assert_eq!(set(&there), set(&form.dependencies));
                    let there: Vec<String> = serde_json::from_value(file["blocks"].clone()).unwrap_or_default();
                    prop_assert_eq!(set(&there), set(&form.blocks));
                }
            }
            let inbox = both.file("teams/alpha/inboxes/w1.json");
            prop_assert_eq!(inbox.as_array().map(Vec::len), Some(both.store.messages.len()));
            let again = both.sync();
            prop_assert_eq!(&again.taken.changes, &[]);
            prop_assert!(again.given.writes.is_empty() && again.given.removals.is_empty(), "{:?}", again.given);
        }
    }
}
