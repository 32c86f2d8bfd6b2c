//! The plugin opencode-teams beside a synchronization: each act by the plugin's rules, under its locks, to a hidden file that is
//! renamed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;

use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::{Value, json};

use super::{TeamClone, message};

/// Tasks by their ids.
pub type Tasks = BTreeMap<String, Value>;

/// One act of a side.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Created(String),
    Titled(String, String),
    Described(String, String),
    /// The first waits for the second.
    Depends(String, String),
    Claimed(String, &'static str),
    Completed(String),
    Deleted(String),
    Sent {
        from: &'static str,
        to: &'static str,
        text: String,
    },
    /// A status was seen that is before the one seen last.
    WentBack(String),
}

/// Each status that was seen last.
#[derive(Default)]
pub struct Statuses(BTreeMap<String, usize>);

impl Statuses {
    /// The tasks whose status has gone back since the last look.
    pub fn look(&mut self, tasks: &Tasks) -> Vec<Act> {
        let rank = |task: &Value| {
            let all = ["pending", "in_progress", "completed"];
            all.iter()
                .position(|status| task["status"] == *status)
                .expect("a status")
        };
        let mut before = |id: &String, rank| self.0.insert(id.clone(), rank).unwrap_or_default();
        let gone_back = tasks.iter().filter(|(id, task)| before(id, rank(task)) > rank(task));
        gone_back.map(|(id, _)| Act::WentBack(id.clone())).collect()
    }
}

/// Whether a task has this one among its `dependencies` or `blocks`.
fn lists(task: &Value, list: &str, id: &str) -> bool {
    task[list].as_array().unwrap().iter().any(|other| other == id)
}

/// The files of tasks; each has to be whole.
pub fn read_tasks(place: &TeamClone) -> Tasks {
    let entries = fs::read_dir(place.path("tasks/alpha")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ids = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
    let read = |id: String| match fs::read_to_string(place.path(&format!("tasks/alpha/{id}.json"))) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        text => Some((id, serde_json::from_str(&text.unwrap()).expect("a whole file"))),
    };
    ids.filter_map(read).collect()
}

pub struct Plugin<'a> {
    place: &'a TeamClone,
    statuses: Statuses,
    /// Its acts, in order.
    pub acts: Vec<Act>,
}

impl<'a> Plugin<'a> {
    pub fn new(place: &'a TeamClone) -> Self {
        Plugin {
            place,
            statuses: Statuses::default(),
            acts: Vec::new(),
        }
    }

    fn lock(&self, lock: &str) -> File {
        let lock = File::options().write(true).open(self.place.path(lock)).unwrap();
        fcntl_lock(&lock, FlockOperation::LockExclusive).unwrap();
        lock
    }

    fn put(&self, file: &str, value: &Value) {
        let path = self.place.path(file);
        let temporary = path.with_file_name(format!(".{}.1.1.tmp", path.file_name().unwrap().display()));
        fs::write(&temporary, serde_json::to_string_pretty(value).unwrap()).unwrap();
        fs::rename(&temporary, &path).unwrap();
    }

    /// Reads all tasks, and writes those that `change` has changed.
    pub fn tasks(&mut self, change: impl FnOnce(&mut Tasks) -> Vec<Act>) {
        let _lock = self.lock("tasks/alpha/.lock");
        let before = read_tasks(self.place);
        let mut after = before.clone();
        self.acts.extend(self.statuses.look(&before));
        self.acts.extend(change(&mut after));
        self.statuses.look(&after);
        let file = |id: &String| format!("tasks/alpha/{id}.json");
        for (id, task) in after.iter().filter(|(id, task)| before.get(*id) != Some(task)) {
            self.put(&file(id), task);
        }
        for id in before.keys().filter(|id| !after.contains_key(*id)) {
            fs::remove_file(self.place.path(&file(id))).unwrap();
        }
    }

    pub fn send(&mut self, to: &'static str, kind: &str, text: String) {
        let _lock = self.lock("teams/alpha/.lock");
        let inboxes = if to == "broadcast" {
            vec!["lead", "w2"]
        } else {
            vec![to]
        };
        for inbox in inboxes {
            let file = format!("teams/alpha/inboxes/{inbox}.json");
            let mut messages = self.place.json(&file);
            let mut new = message("w1", to, &text);
            new["type"] = kind.into();
            if to == "broadcast" {
                new["recipients"] = json!(["lead", "w1", "w2"]);
            }
            messages.as_array_mut().unwrap().push(new);
            self.put(&file, &messages);
        }
        self.acts.push(Act::Sent { from: "w1", to, text });
    }
}

pub fn create(tasks: &mut Tasks, id: &str) -> Vec<Act> {
    let new = json!({
        "id": id, "title": id, "priority": "normal", "status": "pending", "createdAt": "2026-12-01T00:00:00.000Z",
        "dependencies": [], "blocks": [],
    });
    tasks.insert(id.to_owned(), new);
    vec![Act::Created(id.to_owned())]
}

/// An edge, at both ends.
pub fn depend(tasks: &mut Tasks, id: &str, on: &str) -> Vec<Act> {
    if lists(&tasks[id], "dependencies", on) {
        return Vec::new();
    }
    for (task, list, other) in [(id, "dependencies", on), (on, "blocks", id)] {
        let list = &mut tasks.get_mut(task).unwrap()[list];
        list.as_array_mut().unwrap().push(other.into());
    }
    vec![Act::Depends(id.to_owned(), on.to_owned())]
}

pub fn claim(tasks: &mut Tasks, id: &str) -> Vec<Act> {
    let Some(task) = tasks.get_mut(id).filter(|task| task["status"] == "pending") else {
        return Vec::new();
    };
    (task["status"], task["owner"]) = ("in_progress".into(), "w1".into());
    task["claimedAt"] = "2026-12-01T00:00:01.000Z".into();
    vec![Act::Claimed(id.to_owned(), "w1")]
}

/// Completes a task, and removes it from the dependencies and `blocks` of other tasks.
pub fn complete(tasks: &mut Tasks, id: &str) -> Vec<Act> {
    let is_ours = |task: &&mut Value| task["status"] == "in_progress" && task["owner"] == "w1";
    let Some(task) = tasks.get_mut(id).filter(is_ours) else {
        return Vec::new();
    };
    task["status"] = "completed".into();
    task["completedAt"] = "2026-12-01T00:00:02.000Z".into();
    for (_, other) in tasks.iter_mut().filter(|(other, _)| *other != id) {
        for list in ["dependencies", "blocks"] {
            other[list].as_array_mut().unwrap().retain(|listed| listed != id);
        }
    }
    vec![Act::Completed(id.to_owned())]
}

/// Deletes a task without dependencies or dependents; the `blocks` of others stay as they are.
pub fn delete(tasks: &mut Tasks, id: &str) -> Vec<Act> {
    let is_needed = tasks.values().any(|task| lists(task, "dependencies", id));
    if is_needed || tasks.get(id).is_none_or(|task| task["status"] != "pending") {
        return Vec::new();
    }
    tasks.remove(id);
    vec![Act::Deleted(id.to_owned())]
}
