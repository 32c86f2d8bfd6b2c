//! The state of a team as it was at one instant, and the passing of its time.

use std::collections::{BTreeMap, BTreeSet};

use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_state as state;
use coord_store::{Request, Store, Value};
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

/// Expires one claim with its locks, as if its time had passed: any, or one of the task with the most expired claims;
/// and ends all locks that are of no claim.
const LAPSE: &str = "
local PAST = 1000000000000
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
local id, most = ids[ARGV[1] % math.max(#ids, 1) + 1], 0
for _, other in ipairs(ARGV[1] % 4 > 0 and ids or {}) do
  local lapses = cjson.decode(redis.call('HGET', KEYS[1], other)).lapses or 0
  if lapses > most then
    id, most = other, lapses
  end
end
local task = id and cjson.decode(redis.call('HGET', KEYS[1], id))
if task and task.owner then
  task.expires = PAST
  redis.call('HSET', KEYS[1], id, cjson.encode(task))
  redis.call('ZADD', KEYS[2], PAST, id)
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local function is_claimed(entry)
  local of = string.match(entry.task or '', '/(.+)$')
  local stored = of and redis.call('HGET', KEYS[1], of)
  local task = stored and cjson.decode(stored)
  return task and task.status == 'in_progress' and task.owner and task.locked and task.expires > now_ms
end
local locks = redis.call('HGETALL', KEYS[3])
for index = 1, #locks, 2 do
  local entries = cjson.decode(locks[index + 1])
  for _, entry in ipairs(entries) do
    if not is_claimed(entry) then
      entry.expiry_ms, entry.expiry = PAST, PAST / 1000
      redis.call('ZADD', KEYS[4], PAST / 1000, locks[index])
    end
  end
  redis.call('HSET', KEYS[3], locks[index], cjson.encode(entries))
end
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
    /// Members, as the team counts them.
    pub member_count: usize,
    /// Handle of the leader.
    pub leader: String,
    /// Sequence of the newest message.
    pub sequence: u64,
    /// Open and completed tasks, as a listing counts them.
    pub counts: (i64, i64),
    pub mail: BTreeSet<String>,
    /// Sequence -> text.
    pub bodies: BTreeMap<u64, String>,
    /// Sequence -> who has left without having read it.
    pub left: BTreeMap<u64, Vec<String>>,
    /// File -> locks.
    pub locks: BTreeMap<String, Vec<Json>>,
    /// In the order of the log; only at the end.
    pub events: Vec<Json>,
}

fn keys() -> [String; 14] {
    let (repo, team) = (RepoId::parse(REPO_URL).unwrap(), TeamName::parse(TEAM).unwrap());
    [
        coord_teams_state::tasks::keys::tasks(&repo, &team),
        coord_teams_state::tasks::keys::edges(&repo, &team),
        coord_teams_state::tasks::keys::unmet(&repo, &team),
        coord_teams_state::tasks::keys::ready(&repo, &team),
        coord_teams_state::tasks::keys::leases(&repo, &team),
        coord_teams_state::tasks::keys::order(&repo, &team),
        coord_teams_state::tasks::keys::done(&repo, &team),
        coord_teams_state::teams::keys::team(&repo, &team),
        coord_teams_state::teams::keys::teams(&repo),
        coord_teams_state::mail::keys::mail(&repo, &team),
        coord_teams_state::mail::keys::bodies(&repo, &team),
        state::locks::keys::locks(&repo),
        state::locks::keys::expiries(&repo),
        state::events::keys::status_log(&repo),
    ]
}

async fn eval(store: &dyn Store, script: &str, keys: &[String], argument: &str) -> Value {
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let call = coord_test_support::script::call(script, &keys, &[argument.as_bytes()]);
    let reply = store.run(vec![call]).await.expect("the store answers");
    let reply = reply.into_iter().next().expect("an answer");
    assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
    reply
}

/// Expires a claim, if there is one, and locks that are of none.
pub async fn expire_some(store: &dyn Store, random: &mut fastrand::Rng) {
    let keys = keys();
    let keys = [0, 4, 11, 12].map(|place| keys[place].clone());
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
        let replies = eval(store, READ, &keys()[..12], "").await;
        let replies = replies.as_array().expect("a list");
        let team = pairs(&replies[8]);
        let count = |name: &str| numbers_of(&replies[9], name);
        // Beside a message there is what it counts, and who has left.
        let messages: Vec<(u64, Json)> = pairs(&replies[11])
            .into_iter()
            .filter_map(|(sequence, body)| Some((sequence.parse().ok()?, json(&body))))
            .collect();
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
            member_count: field("members").map_or(0, |text| text.parse().expect("a number")),
            leader: field("team").map_or_else(String::new, |team| {
                json(team)["leader"].as_str().expect("a handle").to_owned()
            }),
            sequence: field("sequence").map_or(0, |text| text.parse().expect("a number")),
            counts: (count("/open"), count("/done")),
            mail: numbers(&replies[10]).into_keys().collect(),
            bodies: messages
                .iter()
                .map(|(number, message)| (*number, message["message"].as_str().expect("a text").to_owned()))
                .collect(),
            left: left_of(&pairs(&replies[11])),
            locks: pairs(&replies[12])
                .into_iter()
                .map(|(file, locks)| (file, serde_json::from_str(&locks).expect("JSON")))
                .collect(),
            events: Vec::new(),
        }
    }

    /// The same with the log.
    pub async fn read_with_events(store: &dyn Store) -> Stored {
        let log = store.run(vec![Request::command(["XRANGE", &keys()[13], "-", "+"])]);
        let log = log.await.expect("the store answers").remove(0);
        let event = |entry: &Value| json(&texts(&entry.as_array().expect("an entry")[1])[1]);
        Stored {
            events: log.as_array().expect("a list").iter().map(event).collect(),
            ..Stored::read(store).await
        }
    }
}

/// The fields `SEQUENCE left` of the messages.
fn left_of(bodies: &[(String, String)]) -> BTreeMap<u64, Vec<String>> {
    let left = bodies.iter().filter_map(|(name, handles)| {
        let sequence = name.strip_suffix(" left")?.parse().ok()?;
        Some((sequence, super::model::texts(&json(&format!("[{handles}]"))).collect()))
    });
    left.collect()
}

fn numbers_of(value: &Value, suffix: &str) -> i64 {
    let field = format!("{TEAM}{suffix}");
    let found = pairs(value).into_iter().find(|(name, _)| *name == field);
    found.map_or(0, |(_, count)| count.parse().expect("a number"))
}
