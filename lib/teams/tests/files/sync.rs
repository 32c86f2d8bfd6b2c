//! A sync without a disk and without a store: files in memory, and an obedient store.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use coord_teams::compare::{
    AgreedState, Change, FileExport, FileImport, Finding, FindingKind, Folder, Recipient, SentNumbers, StoreMember,
    StoreMessage, StoreTask, StoreTeam, export_files, import_files,
};
use coord_teams::layout::{PathKind, path_kind};
use coord_teams::names::{Handle, TaskId, TeamName};
use coord_teams::status::Status;
use coord_teams::time::Time;
use serde_json::{Value, json};

pub const A: &str = "tasks/alpha/a.json";
pub const B: &str = "tasks/alpha/b.json";
pub const C: &str = "tasks/alpha/c.json";
pub const CONFIG: &str = "teams/alpha/config.json";
pub const LEAD: &str = "teams/alpha/inboxes/lead.json";
pub const W1: &str = "teams/alpha/inboxes/w1.json";

const SAMPLE: &[u8] = include_bytes!("data/opencode-teams-sample.tar.gz");

pub type Files = BTreeMap<String, String>;

/// The folder as the plugin wrote it, by path below the root.
pub fn sample() -> Files {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(SAMPLE));
    let mut files = Files::new();
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("text");
        if let Some(path) = path
            .strip_prefix(".opencode/opencode-teams/")
            .filter(|path| !path.is_empty() && !path.ends_with('/'))
        {
            files.insert(path.to_owned(), text);
        }
    }
    files
}

pub fn team(name: &str) -> TeamName {
    TeamName::parse(name).expect("a name")
}

pub fn handle(name: &str) -> Handle {
    Handle::parse(name).expect("a handle")
}

pub fn task(id: &str) -> TaskId {
    TaskId::parse(id).expect("an id")
}

/// A dependency of a task is completed.
pub fn meet(task: &mut StoreTask, id: &TaskId) {
    let before = task.dependencies.len();
    task.dependencies.retain(|on| on != id);
    if task.dependencies.len() < before {
        task.met.push(id.clone());
    }
}

/// A dependency of a task, open or met, is gone.
pub fn forget(task: &mut StoreTask, id: &TaskId) {
    task.dependencies.retain(|on| on != id);
    task.met.retain(|on| on != id);
}

pub fn folder(name: &str, files: &Files) -> Folder {
    let ours = files.iter().filter_map(|(path, text)| match path_kind(path) {
        PathKind::Ours(entry) => Some((entry, Ok(text.clone().into_bytes()))),
        _ => None,
    });
    Folder::read(&team(name), ours)
}

pub fn now() -> Time {
    Time::parse("2026-12-01T00:00:00.000Z").expect("a time")
}

fn member(kind: &str, joined: u64) -> StoreMember {
    StoreMember {
        name: kind.to_owned(),
        kind: kind.to_owned(),
        joined_at: now(),
        joined,
        read_to: 0,
        ours: true,
    }
}

/// A team of one login, with a leader alone.
pub fn store(name: &str, leader: &str) -> StoreTeam {
    StoreTeam {
        name: team(name),
        created: now(),
        leader: handle(leader),
        description: None,
        members: BTreeMap::from([(handle(leader), member("leader", 0))]),
        approvals: BTreeSet::new(),
        shutdown_open: false,
        closed: false,
        tasks: BTreeMap::new(),
        messages: BTreeMap::new(),
    }
}

pub fn send(store: &mut StoreTeam, from: &str, to: Option<&str>, message: &str) -> u64 {
    let sequence = store.messages.len() as u64 + 1;
    let message = StoreMessage {
        from: handle(from),
        to: to.map(handle).into_iter().collect(),
        recipients: store.members.keys().cloned().collect(),
        kind: Default::default(),
        message: message.to_owned(),
        summary: None,
        timestamp: now(),
    };
    store.messages.insert(sequence, message);
    sequence
}

/// Applies a change, as the scripts would.
pub fn apply(store: &mut StoreTeam, change: &Change, sent: &mut SentNumbers) {
    match change {
        Change::Join { handle, name, kind } => {
            let mut member = member(kind, store.messages.len() as u64);
            member.name.clone_from(name);
            assert!(store.members.insert(handle.clone(), member).is_none());
        }
        Change::CreateTask {
            id,
            title,
            description,
            priority,
            dependencies,
        } => {
            let completed = |id: &&TaskId| store.tasks[*id].status == Status::Completed;
            let (met, dependencies) = dependencies.iter().partition::<Vec<&TaskId>, _>(completed);
            let new = StoreTask {
                title: title.clone(),
                description: description.clone(),
                priority: *priority,
                status: Status::Pending,
                created_at: now(),
                updated_at: None,
                claimed_at: None,
                completed_at: None,
                owner: None,
                previous_owner: None,
                lapsed: false,
                dependencies: dependencies.into_iter().cloned().collect(),
                met: met.into_iter().cloned().collect(),
                blocks: Vec::new(),
            };
            assert!(store.tasks.insert(id.clone(), new).is_none());
        }
        Change::EditTask {
            id,
            title,
            description,
            priority,
        } => {
            let task = store.tasks.get_mut(id).expect("the task");
            task.title = title.clone().unwrap_or(task.title.clone());
            task.description = description.clone().unwrap_or(task.description.clone());
            task.priority = priority.unwrap_or(task.priority);
        }
        Change::EditDependencies { id, add, remove } => {
            assert!(add.iter().all(|on| store.tasks.contains_key(on)), "{add:?}");
            let task = store.tasks.get_mut(id).expect("the task");
            task.dependencies.retain(|on| !remove.contains(on) && !add.contains(on));
            task.dependencies.extend(add.iter().cloned());
        }
        Change::Claim(id, handle) => {
            let task = store.tasks.get_mut(id).expect("the task");
            assert!(task.owner.is_none() && task.status != Status::Completed);
            (task.status, task.owner, task.claimed_at) = (Status::InProgress, Some(handle.clone()), Some(now()));
            task.lapsed = false;
        }
        Change::Complete(id, handle) => {
            let task = store.tasks.get_mut(id).expect("the task");
            let owner = match task.lapsed {
                true => &task.previous_owner,
                false => &task.owner,
            };
            assert_eq!((task.status, owner), (Status::InProgress, &Some(handle.clone())));
            (task.status, task.completed_at) = (Status::Completed, Some(now()));
            (task.owner, task.lapsed) = (Some(handle.clone()), false);
            for task in store.tasks.values_mut() {
                meet(task, id);
            }
        }
        Change::Release(id, handle) => {
            let task = store.tasks.get_mut(id).expect("the task");
            assert_eq!(task.owner.as_ref(), Some(handle));
            task.previous_owner = task.owner.take();
        }
        Change::DeleteTask(id) => {
            assert!(store.tasks.remove(id).is_some());
            store.tasks.values_mut().for_each(|task| forget(task, id));
        }
        Change::Send {
            from,
            to,
            kind,
            message,
            summary,
            digest,
        } => {
            let to = match to {
                Recipient::One(handle) => Some(handle.as_str()),
                Recipient::All => None,
            };
            let sequence = send(store, from.as_str(), to, message);
            let stored = store.messages.get_mut(&sequence).expect("the message");
            (stored.kind, stored.summary) = (*kind, summary.clone());
            sent.entry(digest.clone()).or_default().push_back(sequence);
        }
        Change::ReadTo(handle, sequence) => {
            let member = store.members.get_mut(handle).expect("the member");
            assert!(*sequence > member.read_to);
            member.read_to = *sequence;
        }
        Change::RequestShutdown(handle) | Change::ApproveShutdown(handle) => {
            assert_eq!(store.shutdown_open, matches!(change, Change::ApproveShutdown(_)));
            store.shutdown_open = true;
            store.approvals.insert(handle.clone());
        }
    }
}

/// A team's files, its store, and the last seen records.
pub struct Both {
    pub files: Files,
    pub store: StoreTeam,
    pub seen: Option<AgreedState>,
}

/// The steps of one sync.
pub struct Done {
    pub taken: FileImport,
    pub given: FileExport,
}

impl Both {
    /// Two members, `lead` and `w1`, and tasks `a`, `b` and `c`, of which `b` waits for `a`; alike on both sides.
    pub fn alike() -> Self {
        let mut store = store("alpha", "lead");
        let mut sent = SentNumbers::new();
        let worker = Change::Join {
            handle: handle("w1"),
            name: "w1".to_owned(),
            kind: "worker".to_owned(),
        };
        apply(&mut store, &worker, &mut sent);
        for (id, dependencies) in [("a", vec![]), ("b", vec![task("a")]), ("c", vec![])] {
            let create = Change::CreateTask {
                id: task(id),
                title: format!("task {id}"),
                description: None,
                priority: Default::default(),
                dependencies,
            };
            apply(&mut store, &create, &mut sent);
        }
        let mut both = Self::new(Files::new(), store);
        both.sync();
        both.assert_quiet();
        both
    }

    /// Files and a store that were never synced.
    pub fn new(files: Files, store: StoreTeam) -> Self {
        let seen = None;
        Self { files, store, seen }
    }

    pub fn sync(&mut self) -> Done {
        let name = self.store.name.to_string();
        let before = folder(&name, &self.files);
        let taken = import_files(self.seen.as_ref(), &before, &self.store);
        let mut sent = SentNumbers::new();
        for change in &taken.changes {
            apply(&mut self.store, change, &mut sent);
        }
        let given = export_files(self.seen.as_ref(), &before, &self.store, &taken, &sent);
        self.write(&given);
        Done { taken, given }
    }

    /// Writes the files, and stores what was seen as it is stored between two syncs.
    pub fn write(&mut self, given: &FileExport) {
        for (entry, text) in &given.writes {
            self.files.insert(entry.path(), text.clone());
        }
        for entry in &given.removals {
            self.files.remove(&entry.path());
        }
        let seen = serde_json::to_string(&given.seen).expect("JSON");
        self.seen = Some(serde_json::from_str(&seen).expect("what was seen"));
    }

    /// The next sync imports these changes, and reports nothing.
    #[track_caller]
    pub fn assert_imports(&mut self, changes: &[Change]) {
        let taken = self.sync().taken;
        assert_eq!((&taken.changes[..], &taken.findings[..]), (changes, &[][..]));
    }

    /// Another sync finds nothing to do.
    #[track_caller]
    pub fn assert_quiet(&mut self) {
        let Done { taken, given } = self.sync();
        assert_eq!(taken, FileImport::default());
        assert!(given.writes.is_empty() && given.removals.is_empty(), "{given:?}");
    }

    /// Replaces text in a file, which has to be there.
    #[track_caller]
    pub fn edit(&mut self, path: &str, from: &str, to: &str) {
        let text = self.files.get_mut(path).unwrap_or_else(|| panic!("{path}"));
        assert!(text.contains(from), "{from} in {text}");
        *text = text.replacen(from, to, 1);
    }

    /// Gives a pending task without an owner another status and an owner, in its file.
    pub fn edit_work(&mut self, path: &str, status: &str, owner: &str) {
        self.edit(path, "\"pending\"", &format!("\"{status}\""));
        self.edit(path, "\"status\"", &format!("\"owner\": \"{owner}\", \"status\""));
    }

    /// Gives a task without dependencies these, in its file.
    pub fn edit_dependencies(&mut self, path: &str, dependencies: &[&str]) {
        let new = format!("\"dependencies\": {}", json!(dependencies));
        self.edit(path, "\"dependencies\": []", &new);
    }

    /// Lists members that approve the shutdown, in the configuration.
    pub fn edit_approvals(&mut self, handles: &[&str]) {
        let new = format!("\"shutdownApprovals\": {}, \"dispatchRules\"", json!(handles));
        self.edit(CONFIG, "\"dispatchRules\"", &new);
    }

    /// Adds the file of a task of team `alpha`.
    pub fn add_task(&mut self, id: &str, status: &str, owner: Option<&str>, dependencies: &[&str]) {
        let mut task = json!({
            "id": id, "title": id, "status": status, "createdAt": "2026-12-01T00:00:00Z", "dependencies": dependencies,
        });
        if let Some(owner) = owner {
            task["owner"] = owner.into();
        }
        self.files.insert(task_path(id), task.to_string());
    }

    pub fn stored(&mut self, id: &str) -> &mut StoreTask {
        self.store.tasks.get_mut(id).expect("the task")
    }

    pub fn file(&self, path: &str) -> Value {
        serde_json::from_str(&self.files[path]).expect("JSON")
    }

    /// The texts of all messages in the store.
    pub fn stored_texts(&self) -> Vec<&str> {
        self.store.messages.values().map(|message| &*message.message).collect()
    }
}

pub fn task_path(id: &str) -> String {
    format!("tasks/alpha/{id}.json")
}

/// Findings as (kind, file and field).
pub fn kinds(findings: &[Finding]) -> Vec<(FindingKind, String)> {
    let place = |finding: &Finding| match &*finding.refusal.field {
        "" => finding.refusal.file.clone(),
        field => format!("{}: {field}", finding.refusal.file),
    };
    findings.iter().map(|finding| (finding.kind, place(finding))).collect()
}

/// The reports of the next sync.
pub fn sync_reports(both: &mut Both) -> Vec<(FindingKind, String)> {
    kinds(&both.sync().taken.findings)
}

/// The message as the plugin appends it.
pub fn append(both: &mut Both, inbox: &str, from: &str, to: &str, message: &str) {
    let text = both.files.get_mut(inbox).expect("the inbox");
    let mut messages: Vec<Value> = serde_json::from_str(text).expect("messages");
    messages.push(json!({
        "from": from, "to": to, "message": message, "timestamp": "2026-12-01T01:02:03.004Z", "read": false,
    }));
    *text = serde_json::to_string_pretty(&messages).expect("JSON");
}
