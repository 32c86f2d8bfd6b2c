//! The state of a team as it was at one instant, and what must hold of it whatever has happened.

use std::collections::{BTreeMap, BTreeSet};

use coord::domain::RepoId;
use coord::domain::team::TeamName;
use coord::state;
use coord::store::{Request, Store, Value};
use serde_json::Value as Json;

use super::super::arena::REPO_URL;
use super::TEAM;

/// All of the keys at once.
const READ: &str = "
local time, found = redis.call('TIME'), {}
found[1] = time[1] * 1000 + math.floor(time[2] / 1000)
for index, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then
    found[index + 1] = redis.call('HGETALL', key)
  elseif kind == 'zset' then
    found[index + 1] = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  else
    found[index + 1] = {}
  end
end
return found";

/// Lets one claim lapse, as if its time had passed.
const LAPSE: &str = "
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
local id = ids[ARGV[1] % math.max(#ids, 1) + 1]
local task = id and cjson.decode(redis.call('HGET', KEYS[1], id))
if not (task and task.owner) then
  return 0
end
task.expires = 1000000000000
redis.call('HSET', KEYS[1], id, cjson.encode(task))
redis.call('ZADD', KEYS[2], 1000000000000, id)
return 1";

/// A team, by its keys.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub now_ms: i64,
    /// Id -> task.
    pub tasks: BTreeMap<String, Json>,
    pub edges: BTreeSet<String>,
    pub unmet: BTreeMap<String, i64>,
    pub ready: BTreeMap<String, i64>,
    pub leases: BTreeMap<String, i64>,
    pub order: BTreeMap<String, i64>,
    pub done: BTreeSet<String>,
    /// Key of a handle -> member.
    pub members: BTreeMap<String, Json>,
    /// Sequence of the newest message.
    pub sequence: u64,
    /// Open and completed tasks, as a listing counts them.
    pub counts: (i64, i64),
    pub mail: BTreeSet<String>,
    /// Sequence -> text.
    pub bodies: BTreeMap<u64, String>,
    /// In the order of the log; only at the end.
    pub events: Vec<Json>,
}

fn keys() -> [String; 12] {
    let (repo, team) = (RepoId::parse(REPO_URL).unwrap(), TeamName::parse(TEAM).unwrap());
    [
        state::tasks::keys::tasks(&repo, &team),
        state::tasks::keys::edges(&repo, &team),
        state::tasks::keys::unmet(&repo, &team),
        state::tasks::keys::ready(&repo, &team),
        state::tasks::keys::leases(&repo, &team),
        state::tasks::keys::order(&repo, &team),
        state::tasks::keys::done(&repo, &team),
        state::teams::keys::team(&repo, &team),
        state::teams::keys::teams(&repo),
        state::mail::keys::mail(&repo, &team),
        state::mail::keys::bodies(&repo, &team),
        state::events::keys::status_log(&repo),
    ]
}

async fn eval(store: &dyn Store, script: &str, keys: &[String], argument: &str) -> Value {
    let count = keys.len().to_string();
    let words = ["EVAL", script, &count].into_iter();
    let words = words.chain(keys.iter().map(String::as_str)).chain([argument]);
    let words = words.map(|word| word.as_bytes().to_vec()).collect();
    let reply = store
        .run(vec![Request::Command(words)])
        .await
        .expect("the store answers");
    let reply = reply.into_iter().next().expect("an answer");
    assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
    reply
}

/// Lets a claim lapse, if there is one.
pub async fn lapse(store: &dyn Store, random: &mut fastrand::Rng) {
    let keys = keys();
    let keys = [keys[0].clone(), keys[4].clone()];
    eval(store, LAPSE, &keys, &random.u32(..1000).to_string()).await;
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().expect("a list").iter();
    items.map(|item| item.as_str().expect("text").to_owned()).collect()
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let texts = texts(value);
    let pairs = texts.as_chunks::<2>().0.iter();
    pairs.map(|[name, value]| (name.clone(), value.clone())).collect()
}

fn numbers(value: &Value) -> BTreeMap<String, i64> {
    let number = |text: &str| text.parse::<f64>().expect("a number") as i64;
    pairs(value)
        .into_iter()
        .map(|(name, score)| (name, number(&score)))
        .collect()
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

impl Stored {
    pub async fn read(store: &dyn Store) -> Stored {
        let replies = eval(store, READ, &keys()[..11], "").await;
        let replies = replies.as_array().expect("a list");
        let team = pairs(&replies[8]);
        let count = |name: &str| numbers_of(&replies[9], name);
        let is_member = |name: &&(String, String)| name.0.starts_with('=');
        let field = |wanted: &str| {
            team.iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.as_str())
        };
        Stored {
            now_ms: replies[0].as_int().expect("a time"),
            tasks: pairs(&replies[1])
                .into_iter()
                .map(|(id, task)| (id, json(&task)))
                .collect(),
            edges: numbers(&replies[2]).into_keys().collect(),
            unmet: numbers(&replies[3]),
            ready: numbers(&replies[4]),
            leases: numbers(&replies[5]),
            order: numbers(&replies[6]),
            done: numbers(&replies[7]).into_keys().collect(),
            members: team
                .iter()
                .filter(is_member)
                .map(|(name, member)| (name[1..].to_owned(), json(member)))
                .collect(),
            sequence: field("sequence").map_or(0, |text| text.parse().expect("a number")),
            counts: (count("/open"), count("/done")),
            mail: numbers(&replies[10]).into_keys().collect(),
            bodies: pairs(&replies[11])
                .into_iter()
                .filter_map(|(sequence, body)| {
                    let text = json(&body)["message"].as_str()?.to_owned();
                    Some((sequence.parse().ok()?, text))
                })
                .collect(),
            events: Vec::new(),
        }
    }

    /// The same with the log.
    pub async fn read_with_events(store: &dyn Store) -> Stored {
        let log = store.run(vec![Request::command(["XRANGE", &keys()[11], "-", "+"])]);
        let log = log.await.expect("the store answers").remove(0);
        let event = |entry: &Value| json(&texts(&entry.as_array().expect("an entry")[1])[1]);
        Stored {
            events: log.as_array().expect("a list").iter().map(event).collect(),
            ..Stored::read(store).await
        }
    }

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

    /// What cannot be, whatever has happened.
    pub fn check(&self) -> Result<(), String> {
        self.check_edges()?;
        self.check_queues()?;
        self.check_members()?;
        self.check_mail()
    }

    fn check_edges(&self) -> Result<(), String> {
        for edge in &self.edges {
            let (side, rest) = edge.split_once(' ').ok_or("an edge without a side")?;
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
            let twin = format!("{} {other} {id}", if side == "d" { "b" } else { "d" });
            if !self.edges.contains(&twin) {
                return Err(format!("the edge {edge} is there from one end"));
            }
        }
        for (id, task) in &self.tasks {
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
        let differs = |what: &str, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
            Err(format!("{what}: the store has {one:?}, and the tasks say {other:?}"))
        };
        if self.ready != ready {
            return differs("ready tasks", &self.ready, &ready);
        }
        if self.leases != leases {
            return differs("claims", &self.leases, &leases);
        }
        if self.order != order {
            return differs("the order", &self.order, &order);
        }
        if self.done != done {
            return differs("completed tasks", &self.done, &done);
        }
        let counts = ((self.tasks.len() - done.len()) as i64, done.len() as i64);
        if self.counts != counts {
            return differs("counts", &self.counts, &counts);
        }
        Ok(())
    }

    /// Who stops gives back what it has: so each has all that is its own.
    fn check_members(&self) -> Result<(), String> {
        for (id, task) in &self.tasks {
            let is_held = task["status"] == "in_progress" && task["expires"].as_i64() > Some(self.now_ms);
            if let (Some(owner), true) = (task["owner"].as_str(), is_held) {
                let member = &self.members[&owner.to_ascii_lowercase()];
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

    /// Each message is in an inbox, and each of an inbox is there.
    fn check_mail(&self) -> Result<(), String> {
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

    /// What cannot follow on `before`.
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
        if self.sequence < before.sequence {
            return Err(format!("{} messages after {}", self.sequence, before.sequence));
        }
        Ok(())
    }
}

fn numbers_of(value: &Value, suffix: &str) -> i64 {
    let field = format!("{TEAM}{suffix}");
    let found = pairs(value).into_iter().find(|(name, _)| *name == field);
    found.map_or(0, |(_, count)| count.parse().expect("a number"))
}

/// What is left of a graph when all that depends on nothing is taken away, again and again: its rings, and what leads to them.
pub fn ring<T: Ord + Clone>(mut left: BTreeMap<T, BTreeSet<T>>) -> Option<Vec<T>> {
    loop {
        let blocked: BTreeSet<T> = left
            .iter()
            .filter(|(_, on)| !on.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        if blocked.is_empty() {
            return None;
        }
        let before = left.len();
        left.retain(|id, _| blocked.contains(id));
        left.values_mut()
            .for_each(|on| on.retain(|other| blocked.contains(other)));
        if left.len() == before && left.values().all(|on| !on.is_empty()) {
            return Some(left.into_keys().collect());
        }
    }
}
