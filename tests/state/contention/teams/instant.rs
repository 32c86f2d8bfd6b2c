//! The invariants of a team at every instant, and from one instant to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde_json::Value as Json;

use super::TEAM;
use super::stored::Stored;
use crate::team_model::ring;

fn is_held_back(task: &Json) -> bool {
    task["status"] != "completed" && task["lapses"].as_u64().unwrap_or_default() >= 3
}

fn compare<T: PartialEq + Debug>(subject: &str, stored: &T, expected: &T) -> Result<(), String> {
    match stored == expected {
        true => Ok(()),
        false => Err(format!(
            "{subject}: the store has {stored:?}, and the tasks say {expected:?}"
        )),
    }
}

impl Stored {
    fn status(&self, id: &str) -> Option<&str> {
        self.tasks.get(id)?["status"].as_str()
    }

    /// Task -> what it depends on.
    pub fn dependencies(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for edge in &self.edges {
            if let Some((id, other)) = edge.strip_prefix("d ").and_then(|edge| edge.split_once(' '))
                && other != "!"
            {
                found.entry(id).or_default().insert(other);
            }
        }
        found
    }

    /// Returns an error if the state is impossible, whatever has happened.
    pub fn check(&self) -> Result<(), String> {
        self.check_files()?;
        self.check_edges()?;
        self.check_queues()?;
        self.check_members()?;
        self.check_mail()
    }

    fn check_edges(&self) -> Result<(), String> {
        for edge in &self.edges {
            let (side, rest) = edge.split_once(' ').ok_or("an edge without a side")?;
            if side == "h" {
                let is_held_back = self.tasks.get(rest).is_some_and(is_held_back);
                match is_held_back {
                    true => continue,
                    false => return Err(format!("{rest} is marked as held back in the edges")),
                }
            }
            if side == "i" {
                let is_of_task = self.tasks.keys().any(|id| id.to_lowercase() == rest);
                match is_of_task {
                    true => continue,
                    false => return Err(format!("{rest} is the id of no task")),
                }
            }
            let (id, other) = rest.split_once(' ').ok_or("an edge without an end")?;
            let status = self
                .status(id)
                .ok_or_else(|| format!("the edge {edge} is of no task"))?;
            if other == "!" {
                if status != "completed" {
                    return Err(format!("{id} is marked as completed in the edges, and {status}"));
                }
                continue;
            }
            let seen_by = |dependent: &str| match self.status(dependent) {
                Some("completed") => "c",
                _ => "b",
            };
            let (expected, twin) = match side {
                "d" => ("d", format!("{} {other} {id}", seen_by(id))),
                _ => (seen_by(other), format!("d {other} {id}")),
            };
            if side != expected || !self.edges.contains(&twin) {
                return Err(format!("the edge {edge} is there from one end"));
            }
        }
        for (id, task) in &self.tasks {
            if is_held_back(task) && !self.edges.contains(&format!("h {id}")) {
                return Err(format!("{id} is held back, and has no mark in the edges"));
            }
            let is_marked = ["d", "b"].map(|side| self.edges.contains(&format!("{side} {id} !")));
            if is_marked != [task["status"] == "completed"; 2] {
                return Err(format!(
                    "{id} is {}, its marks in the edges are {is_marked:?}",
                    task["status"]
                ));
            }
        }
        let open: BTreeMap<&str, BTreeSet<&str>> = self
            .dependencies()
            .into_iter()
            .filter(|(id, _)| self.status(id) != Some("completed"))
            .map(|(id, others)| {
                let is_open = |other: &&str| self.status(other) != Some("completed");
                (id, others.into_iter().filter(is_open).collect())
            })
            .collect();
        for (id, task) in &self.tasks {
            let unmet = self.unmet.get(id).copied().unwrap_or_default();
            let expected = open
                .get(id.as_str())
                .map_or(0, |others: &BTreeSet<&str>| others.len() as i64);
            if task["status"] != "completed" && unmet != expected {
                return Err(format!("{id} has {expected} open dependencies, and counts {unmet}"));
            }
        }
        match ring(open) {
            Some(ring) => Err(format!("a ring of dependencies: {ring:?}")),
            None => Ok(()),
        }
    }

    fn check_queues(&self) -> Result<(), String> {
        let (mut ready, mut leases, mut order) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut done, mut tokens) = (BTreeSet::new(), BTreeSet::new());
        for (id, task) in &self.tasks {
            let number = task["number"].as_i64().ok_or("a task without a number")?;
            order.insert(id.clone(), number);
            let (status, is_owned) = (task["status"].as_str().unwrap_or_default(), task["owner"].is_string());
            match (status, is_owned) {
                ("completed", true) => drop(done.insert(id.clone())),
                ("in_progress", true) => {
                    leases.insert(id.clone(), task["expires"].as_i64().ok_or("a claim without an end")?);
                    if !tokens.insert(task["token"].as_i64()) {
                        return Err(format!("the token of {id} is another's, too"));
                    }
                }
                ("pending" | "in_progress", false) => {
                    let is_held_back = task["lapses"].as_i64().unwrap_or_default() >= 3;
                    let rank = match task["priority"].as_str() {
                        Some("high") => 0,
                        Some("normal") => 1,
                        _ => 2,
                    };
                    if !self.unmet.contains_key(id) && !is_held_back {
                        ready.insert(id.clone(), rank * 10_000_000_000 + number);
                    }
                }
                _ => return Err(format!("{id} is {status}, owned: {is_owned}")),
            }
        }
        let counts = ((self.tasks.len() - done.len()) as i64, done.len() as i64);
        compare("ready tasks", &self.ready, &ready)?;
        compare("claims", &self.leases, &leases)?;
        compare("the order", &self.order, &order)?;
        compare("completed tasks", &self.done, &done)?;
        compare("counts", &self.counts, &counts)
    }

    /// Whether a claim of the task, if it has one, lasts.
    fn is_held(&self, task: &Json) -> bool {
        task["status"] == "in_progress" && task["expires"].as_i64() > Some(self.now_ms)
    }

    /// The files of a claim that was made with them are locked for it, and for nobody else, as long as it lasts.
    fn check_files(&self) -> Result<(), String> {
        let mut out: BTreeMap<&str, &str> = BTreeMap::new();
        for (id, task) in &self.tasks {
            let is_out = task["owner"].is_string() && task["locked"].is_string() && self.is_held(task);
            let files = task["files"].as_array().filter(|_| is_out).into_iter().flatten();
            for file in files.filter_map(Json::as_str) {
                if let Some(other) = out.insert(file, id) {
                    return Err(format!("{other} and {id} are out with {file}"));
                }
                let is_live =
                    |lock: &&Json| lock["branch"] == task["locked"] && lock["expiry_ms"].as_i64() >= Some(self.now_ms);
                let locks: Vec<&Json> = self.locks.get(file).into_iter().flatten().filter(is_live).collect();
                let is_of_task = |lock: &Json| {
                    lock["task"] == format!("{TEAM}/{id}")
                        && lock["user_id"] == task["login"]
                        && lock["status"] == "WRITING"
                        && lock["expiry_ms"].as_i64() >= task["expires"].as_i64()
                };
                if !matches!(locks[..], [lock] if is_of_task(lock)) {
                    return Err(format!("{id} is out with {file}, whose locks are {locks:?}: {task}"));
                }
            }
        }
        Ok(())
    }

    /// A member that stops or leaves releases everything it has: so the owner of a task is an active member that has
    /// its claim.
    fn check_members(&self) -> Result<(), String> {
        if self.members.len() != self.member_count {
            return Err(format!(
                "{} members are counted {}",
                self.members.len(),
                self.member_count
            ));
        }
        let is_led = self.leader.is_empty() || self.members.contains_key(&self.leader);
        if !is_led {
            return Err(format!("{:?} leads, and is not a member", self.leader));
        }
        for (id, task) in &self.tasks {
            if let (Some(owner), true) = (task["owner"].as_str(), self.is_held(task)) {
                let Some(member) = self.members.get(owner) else {
                    return Err(format!("{owner} owns {id}, and is not a member"));
                };
                let claims = member["claims"].as_str().unwrap_or_default();
                if !claims.split(' ').any(|claim| claim == id) {
                    return Err(format!("{owner} owns {id}, and has the claims {claims:?}"));
                }
                if member["ended"].is_i64() {
                    return Err(format!("{owner} has stopped, and owns {id}"));
                }
            }
        }
        Ok(())
    }

    /// Each message is in an inbox, and each of an inbox is there; who has left has no inbox.
    fn check_mail(&self) -> Result<(), String> {
        let readers = self
            .mail
            .iter()
            .filter_map(|entry| entry.split(' ').next()?.strip_prefix('='));
        if let Some(reader) = readers.into_iter().find(|reader| !self.members.contains_key(*reader)) {
            return Err(format!("{reader} has an inbox, and is not a member"));
        }
        let entries = self.mail.iter().filter(|entry| !entry.starts_with('>'));
        let sequence = |entry: &String| entry.split(' ').nth(1).and_then(|text| text.parse::<u64>().ok());
        let in_inboxes: BTreeSet<Option<u64>> = entries.map(sequence).collect();
        let bodies: BTreeSet<Option<u64>> = self.bodies.keys().copied().map(Some).collect();
        if in_inboxes != bodies {
            return Err(format!(
                "inboxes have the messages {in_inboxes:?}, and there are {bodies:?}"
            ));
        }
        Ok(())
    }

    /// Returns an error if the state cannot follow `before`.
    pub fn follows(&self, before: &Stored) -> Result<(), String> {
        const WAY: [&str; 3] = ["pending", "in_progress", "completed"];
        for (id, task) in &self.tasks {
            let Some(earlier) = before.tasks.get(id) else { continue };
            let place = |task: &Json| WAY.iter().position(|status| task["status"] == *status);
            if place(task) < place(earlier) {
                return Err(format!("{id} went from {} to {}", earlier["status"], task["status"]));
            }
            let is_changed = |name: &str| task[name] != earlier[name];
            if is_changed("number") || is_changed("created") || is_changed("by") {
                return Err(format!("{id} was {earlier}, and is {task}"));
            }
            if earlier["status"] == "completed" && (is_changed("owner") || is_changed("completed")) {
                return Err(format!("{id} was completed twice: {earlier}, {task}"));
            }
        }
        if self.leader.is_empty() && !before.leader.is_empty() {
            return Err("the team is gone".to_owned());
        }
        if self.sequence < before.sequence {
            return Err(format!("{} messages after {}", self.sequence, before.sequence));
        }
        Ok(())
    }
}
