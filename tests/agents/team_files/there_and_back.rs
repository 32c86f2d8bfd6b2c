//! Random teams of a store, written to files, taken into an empty store, and written again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::sample::timeless;
use super::{TeamClone, assert_fields, files, refused};

/// Teams of a run: each is made from its number.
const TEAMS: u64 = 12;
const ACTS: usize = 35;

const MEMBERS: [&str; 3] = ["lead", "w1", "w2"];

/// The words that make up texts.
const WORDS: [&str; 12] = [
    "größe",
    "名前",
    "🦀",
    "e\u{301}",
    "שלום",
    "\"quoted\"",
    "back\\slash",
    "{}",
    "</task>",
    "'",
    "ﬁ",
    "a  b",
];

/// A team that its members make over HTTP, without the operations that the rules refuse.
struct Maker<'a> {
    place: &'a TeamClone,
    team: String,
    random: fastrand::Rng,
    tasks: Vec<String>,
}

impl Maker<'_> {
    fn sends(&self, agent: &str, method: &str, path: &str, mut body: Value) -> Value {
        (body["team"], body["agent_id"]) = (self.team.clone().into(), agent.into());
        self.place.server(method, path, body)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    fn line(&mut self) -> String {
        let words = (0..self.random.usize(1..5)).map(|_| self.one(&WORDS));
        words.collect::<Vec<_>>().join(" ")
    }

    fn text(&mut self) -> String {
        let lines: Vec<_> = (0..self.random.usize(1..20)).map(|_| self.line()).collect();
        lines.join(self.one(&["\n", "\r\n", "\n\n\t"]))
    }

    fn makes(mut self, does_end: bool) {
        let named = json!({ "name": self.team, "description": self.text(), "agent_name": self.line() });
        self.sends("lead", "POST", "teams", named);
        for member in &MEMBERS[1..] {
            let named = json!({ "agent_name": self.line(), "agent_type": self.line() });
            self.sends(member, "POST", &format!("teams/{}/join", self.team), named);
        }
        self.adds();
        for _ in 0..ACTS {
            self.acts();
        }
        if does_end {
            self.ends();
        }
    }

    fn adds(&mut self) {
        let on: BTreeSet<_> = (0..self.random.usize(..4))
            .filter_map(|_| self.random.choice(&self.tasks))
            .collect();
        let mut task =
            json!({ "dependencies": on, "title": self.line(), "priority": self.one(&["low", "normal", "high"]) });
        if self.random.bool() {
            task["description"] = self.text().into();
            task["files"] = json!(["src/größe.rs"]);
        }
        if self.random.bool() {
            task["id"] = format!("1795348589271-{:08x}", self.random.u32(..)).into();
        }
        let added = self.sends("lead", "POST", "tasks", json!({ "tasks": [task] }));
        self.tasks.extend(added["ids"][0].as_str().map(str::to_owned));
    }

    fn acts(&mut self) {
        let (mut member, other, task) = (
            self.one(&MEMBERS),
            self.one(&MEMBERS),
            self.random.usize(..self.tasks.len()),
        );
        let (line, text, of_task) = (self.line(), self.text(), format!("tasks/{}", self.tasks[task]));
        let message = |body: Value| ("POST", "messages".to_owned(), body);
        let (method, path, body) = match self.random.u32(..16) {
            0..3 => return self.adds(),
            3..5 => ("POST", format!("{of_task}/claim"), json!({ "claim_files": false })),
            step @ 5..8 => {
                let shown = self.sends("lead", "GET", &of_task, json!({}));
                let mut members = MEMBERS.into_iter();
                let owner = members.find(|member| shown["task"]["owner"] == *member);
                member = owner.unwrap_or(member);
                match step {
                    5 => ("POST", format!("{of_task}/release"), json!({ "note": text })),
                    _ => ("POST", format!("{of_task}/complete"), json!({ "result": text })),
                }
            }
            8 => ("PATCH", of_task, json!({ "title": line, "note": text })),
            9 => ("PATCH", of_task, json!({ "assignee": other })),
            10 => ("DELETE", of_task, json!({})),
            11 => message(json!({ "to": [other], "message": text, "summary": line })),
            12 => message(json!({ "to": ["broadcast"], "message": text })),
            13 => message(json!({ "type": "idle", "message": line })),
            _ => {
                let read = self.sends(member, "POST", "messages/read", json!({ "limit": 2 }));
                ("POST", "messages/read".to_owned(), json!({ "cursor": read["cursor"] }))
            }
        };
        self.sends(member, method, &path, body);
    }

    fn ends(&mut self) {
        let (member, reason, path) = (self.one(&MEMBERS), self.line(), format!("teams/{}/shutdown", self.team));
        let response = self.sends(member, "POST", &path, json!({ "step": "request", "reason": reason }));
        for member in MEMBERS {
            let step = self.one(&["approve", "approve", "reject"]);
            let answer = json!({ "step": step, "shutdown_id": response["shutdown_id"], "reason": reason });
            self.sends(member, "POST", &path, answer);
        }
    }
}

/// The files of an export.
fn exported(place: &TeamClone, team: &str, folder: &Path) -> BTreeMap<String, Vec<u8>> {
    place.report(&["export", "--team", team, "--dir", &folder.display().to_string()], 0);
    let mut files = files(folder);
    files.retain(|file, _| file.ends_with(".json"));
    files
}

/// The report of an import.
fn imported(place: &TeamClone, team: &str, folder: &Path) -> Value {
    let folder = folder.display().to_string();
    let ended = place.run(&["team", "import", "--json", "--team", team, "--dir", &folder]);
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{team}: {ended:?}"))
}

/// Returns the parts of a file to compare. "Times of the files are not taken", and `updatedAt` is there after a change
/// alone; the messages of a shutdown "are not sent: the approvals are its calls", which send their own.
fn shown(bytes: &[u8]) -> Value {
    let mut value = timeless(bytes);
    match &mut value {
        Value::Array(messages) => {
            messages.retain(|message| message["type"] != "shutdown_request" && message["type"] != "shutdown_approved");
        }
        Value::Object(members) => drop(members.remove("updatedAt")),
        _ => {}
    }
    value
}

/// Returns the parts that survive in a store that was filled from files, by docs/reference/files.md.
fn kept(mut value: Value) -> Value {
    if let Value::Array(messages) = &mut value {
        messages.retain(|message| !is_foreign(message));
        // "`idle` to the leader, all others as `plain`."
        for message in messages {
            if message["type"] == "task_assignment" {
                message["type"] = "plain".into();
            }
        }
    } else if value["shutdownApprovals"].is_array() {
        // "Names that were there before the first sync ask for no shutdown."
        value.as_object_mut().unwrap().remove("shutdownApprovals");
    } else if value["status"] == "completed" {
        // "Dependencies that are met are left out."
        value["blocks"] = json!([]);
    } else if value["status"] == "pending" {
        // "A task in progress without owner is `pending`, with 'Reassigned: previous owner {handle} terminated'."
        let is_reassigned = |warning: &Value| warning.as_str().is_some_and(|text| text.starts_with("Reassigned: "));
        let members = value.as_object_mut().unwrap();
        members.retain(|member, value| member != "warning" || !is_reassigned(value));
    }
    value
}

/// Messages that Coord itself sends a member have a sender that is nobody's handle.
fn is_foreign(message: &Value) -> bool {
    message["from"] == "coord"
}

/// Statuses, and types of messages.
fn kinds(value: &Value) -> Vec<String> {
    let one = [value.clone()];
    let all = value.as_array().map_or(&one[..], Vec::as_slice).iter();
    let kinds = all.filter_map(|one| one["status"].as_str().or(one["type"].as_str()));
    kinds.map(str::to_owned).collect()
}

#[test]
fn a_random_team_is_the_same_after_it_was_in_files() {
    let (first, second) = (TeamClone::empty(), TeamClone::empty());
    first.coord(&["team", "list"], 0);
    let mut met = BTreeSet::new();
    for seed in 0..TEAMS {
        let team = format!("team{seed}");
        let maker = Maker {
            place: &first,
            team: team.clone(),
            random: fastrand::Rng::with_seed(seed),
            tasks: Vec::new(),
        };
        maker.makes(seed % 3 == 0);
        let [out, copy, again] = ["out", "copy", "again"].map(|name| first.world.folder(name).join(&team));
        let before = exported(&first, &team, &out);
        let parsed = before.values().map(|bytes| serde_json::from_slice(bytes).unwrap());
        let parsed: Vec<Value> = parsed.collect();
        met.extend(parsed.iter().flat_map(kinds));

        // In its own store, nothing is new, also where nothing was seen before.
        exported(&first, &team, &copy);
        std::fs::remove_dir_all(first.memory()).unwrap();
        for folder in [&out, &copy] {
            let report = imported(&first, &team, folder);
            assert_fields(&report, json!({ "applied": [], "refused": [] }));
        }
        assert_eq!(exported(&first, &team, &out), before, "seed {seed}");

        let report = imported(&second, &team, &out);
        let messages = parsed.iter().filter_map(Value::as_array).flatten();
        let foreign_count = messages.filter(|message| is_foreign(message)).count();
        let refused = refused(&report);
        let is_of_sender = |refusal: &String| refusal.starts_with("foreign ") && refusal.ends_with(".from");
        assert!(refused.iter().all(is_of_sender), "seed {seed}: {report}");
        assert_eq!(refused.len(), foreign_count, "seed {seed}: {report}");
        assert_eq!(imported(&second, &team, &out)["applied"], json!([]), "seed {seed}");

        let after = exported(&second, &team, &again);
        let [files, files_after] = [&before, &after].map(|files| files.keys().collect::<Vec<_>>());
        assert_eq!(files, files_after, "seed {seed}");
        for (file, bytes) in &before {
            assert_eq!(shown(&after[file]), kept(shown(bytes)), "seed {seed}: {file}");
        }
    }
    let all = [
        "completed",
        "idle",
        "in_progress",
        "pending",
        "plain",
        "shutdown_approved",
        "shutdown_request",
        "task_assignment",
    ];
    assert_eq!(met, all.map(str::to_owned).into());
}
