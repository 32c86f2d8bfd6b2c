//! Compares files and store, and checks that all acts of both sides are there.

use std::collections::{BTreeMap, BTreeSet};

use coord_test_support::opencode_runs::{text, texts};
use serde_json::{Value, json};

use super::plugin::{Act, Tasks, read_tasks};
use super::{CONFIG, TeamClone, files, message_texts};

/// Tasks that wait, and what they wait for.
type Edges = BTreeSet<(String, String)>;

/// The messages of one side.
#[derive(Debug, PartialEq)]
pub struct Side {
    /// The fields of a task that both sides have.
    tasks: Tasks,
    /// The edges between open tasks, by `dependencies` and by `blocks`.
    edges: [Edges; 2],
    /// The texts of the messages to each member, sorted.
    inboxes: BTreeMap<String, Vec<String>>,
}

/// The tasks of the store.
pub fn stored(place: &TeamClone) -> Tasks {
    let query = json!({ "team": "alpha", "limit": "500", "descriptions": "true" });
    let listed = place.server("GET", "tasks", query);
    let tasks = listed["tasks"].as_array().unwrap().iter();
    tasks.map(|task| (text(task, "id").to_owned(), task.clone())).collect()
}

impl Side {
    pub fn of_files(place: &TeamClone) -> Side {
        let inbox = |handle: &str| {
            let messages = place.json(&format!("teams/alpha/inboxes/{handle}.json"));
            message_texts(messages.as_array().unwrap())
        };
        Side::of(&read_tasks(place), inbox)
    }

    pub fn of_store(place: &TeamClone) -> Side {
        let messages = place.messages();
        let inbox = |handle: &str| {
            let mut inbox = messages.clone();
            inbox.retain(|message| match text(message, "to") {
                "broadcast" => message["from"] != handle,
                to => to == handle,
            });
            message_texts(&inbox)
        };
        Side::of(&stored(place), inbox)
    }

    fn of(tasks: &Tasks, inbox: impl Fn(&str) -> Vec<String>) -> Side {
        let is_open = |id: &String| tasks.get(id).is_some_and(|task| task["status"] != "completed");
        let listed = |list: &str| {
            let open = tasks.iter().filter(|(id, _)| is_open(id));
            let pairs = open.flat_map(|(id, task)| texts(&task[list]).into_iter().map(|other| (id.clone(), other)));
            pairs.filter(|(_, other)| is_open(other)).collect::<Edges>()
        };
        let blocks = listed("blocks").into_iter().map(|(on, id)| (id, on)).collect();
        let members = ["title", "description", "priority", "status", "owner"];
        let shown = |task: &Value| json!(members.map(|member| &task[member]));
        let inboxes = ["lead", "w1", "w2"].map(|handle| {
            let mut texts = inbox(handle);
            texts.sort();
            (handle.to_owned(), texts)
        });
        Side {
            tasks: tasks.iter().map(|(id, task)| (id.clone(), shown(task))).collect(),
            edges: [listed("dependencies"), blocks],
            inboxes: inboxes.into(),
        }
    }
}

/// The acts of both sides, and the reports of the synchronizations.
pub struct Ran {
    pub by_files: Vec<Act>,
    pub by_store: Vec<Act>,
    pub reports: Vec<Value>,
}

impl Ran {
    /// Both sides are alike, and have all that was done but for what was refused by a rule.
    pub fn judge(&self, place: &TeamClone) {
        let (side, tasks) = (Side::of_store(place), stored(place));
        assert_eq!(Side::of_files(place), side);
        assert_eq!(side.edges[0], side.edges[1]);
        self.assert_once();
        let refused = self.refused();
        let is_met = refused.iter().any(|id| id.starts_with("both"));
        assert!(is_met, "both sides claim the same at times: {refused:?}");
        for act in &self.by_files {
            let id = match act {
                Act::Claimed(id, _) | Act::Completed(id) | Act::Deleted(id) | Act::WentBack(id) => id,
                _ => "",
            };
            assert!(
                self.holds(act, &tasks, &side) || refused.contains(id),
                "{act:?}: {refused:?}"
            );
        }
        for act in &self.by_store {
            assert!(self.holds(act, &tasks, &side), "{act:?}");
        }
        assert_only_whole_files(place, &tasks);
    }

    /// Whether what was done is there.
    fn holds(&self, act: &Act, tasks: &Tasks, side: &Side) -> bool {
        let is_deleted = |id: &String| {
            let deleted = Act::Deleted(id.clone());
            !tasks.contains_key(id) && (self.by_files.contains(&deleted) || self.by_store.contains(&deleted))
        };
        let member = |id: &String, member: &str, value: &str| tasks.get(id).is_some_and(|task| task[member] == value);
        let is_last = |act: &Act| {
            let same = |other: &&Act| match (other, act) {
                (Act::Titled(one, _), Act::Titled(id, _)) | (Act::Described(one, _), Act::Described(id, _)) => {
                    one == id
                }
                _ => false,
            };
            self.by_files.iter().chain(&self.by_store).rfind(same) == Some(act)
        };
        match act {
            Act::Created(id) => tasks.contains_key(id) || is_deleted(id),
            Act::Titled(id, title) => !is_last(act) || is_deleted(id) || member(id, "title", title),
            Act::Described(id, description) => !is_last(act) || member(id, "description", description),
            // A completed task neither waits nor is waited for.
            Act::Depends(id, on) => {
                let edge = (id.clone(), on.clone());
                let is_over = |id: &String| member(id, "status", "completed") || is_deleted(id);
                is_over(id) || is_over(on) || side.edges[0].contains(&edge)
            }
            Act::Claimed(id, owner) => member(id, "owner", owner),
            Act::Completed(id) => member(id, "status", "completed"),
            Act::Deleted(id) => is_deleted(id),
            Act::Sent { from, to, text } => side.inboxes.iter().all(|(handle, inbox)| {
                let is_for = handle == to || (*to == "broadcast" && handle != from);
                inbox.iter().filter(|other| *other == text).count() == usize::from(is_for)
            }),
            Act::WentBack(_) => false,
        }
    }

    /// The tasks of whose files something was refused. That takes a rule: both sides have claimed the task, or one has deleted it
    /// while the other changed it, or needed it; or `blocks` still names what was deleted.
    fn refused(&self) -> BTreeSet<String> {
        let mut tasks = BTreeSet::new();
        let is_deleted = |task: &str| self.by_files.contains(&Act::Deleted(task.to_owned()));
        let reports = self.reports.iter();
        for refusal in reports.flat_map(|report| report["refused"].as_array().unwrap()) {
            let [reason, file, field] = ["reason", "file", "field"].map(|name| text(refusal, name));
            let task = file.trim_start_matches("tasks/alpha/").trim_end_matches(".json");
            let is_of_claims = task.starts_with("both") && field == "status";
            match reason {
                "conflict" | "refused" if is_of_claims || is_deleted(task) => drop(tasks.insert(task.to_owned())),
                "missing" => {
                    let is_of_deletion = text(refusal, "message").split_whitespace().any(is_deleted);
                    assert!(is_of_deletion && field.starts_with("blocks["), "{refusal}");
                }
                _ => panic!("{refusal}"),
            }
        }
        tasks
    }

    /// Each item from the files was taken exactly once.
    fn assert_once(&self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for sentence in self.reports.iter().flat_map(|report| texts(&report["applied"])) {
            *counts.entry(sentence).or_default() += 1;
        }
        let once = [" created", " claimed by w1", " completed by w1", " deleted"];
        for (sentence, count) in &counts {
            assert!(
                *count == 1 || !once.iter().any(|end| sentence.ends_with(end)),
                "{count} times: {sentence}"
            );
        }
        for (name, to) in [("lead", "lead"), ("all", "broadcast")] {
            let is_sent = |act: &&Act| matches!(act, Act::Sent { to: handle, .. } if *handle == to);
            let sent = self.by_files.iter().filter(is_sent).count();
            assert_eq!(counts[&format!("message of w1 to {name}")], sent);
        }
    }
}

/// Nothing is left but the files of the team, and each is JSON.
fn assert_only_whole_files(place: &TeamClone, tasks: &Tasks) {
    let inboxes = ["lead", "w1", "w2"].map(|handle| format!("teams/alpha/inboxes/{handle}.json"));
    let locks = ["tasks", "teams"].map(|folder| format!("{folder}/alpha/.lock"));
    let tasks = tasks.keys().map(|id| format!("tasks/alpha/{id}.json"));
    let all = tasks.chain(inboxes).chain(locks);
    let expected: BTreeSet<_> = all.chain([CONFIG.to_owned()]).collect();
    let found = files(&place.root);
    assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), expected);
    for (file, bytes) in found.iter().filter(|(file, _)| file.ends_with(".json")) {
        serde_json::from_slice::<Value>(bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}
