//! `/api/teams`, `/api/tasks` and `/api/messages`.

mod attacks;
mod claims;
mod codes;
mod conditional;
mod exact_bounds;
mod files;
mod many_polls;
mod membership;
mod messages;
mod shutdown;
mod tasks;
mod team_warnings;
mod waiting;

use std::time::{SystemTime, UNIX_EPOCH};

use coord_domain::team::TeamName;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api, JSON, REPO_URL, repo};

/// Asserts that JSON has these fields, whatever else it has. A field that is not there counts as null, and lists are
/// compared as a whole.
macro_rules! assert_has {
    ($value:expr, $fields:tt) => {
        $crate::teams::assert_has!($value, $fields, "JSON")
    };
    ($value:expr, $fields:tt, $($case:tt)+) => {{
        let (value, fields) = (&$value, serde_json::json!($fields));
        assert_eq!($crate::teams::part_of(value, &fields), fields, "{}: {value}", format_args!($($case)+));
    }};
}
pub(crate) use assert_has;

/// The part of `value` that has the fields of `fields`.
pub fn part_of(value: &Value, fields: &Value) -> Value {
    let Value::Object(fields) = fields else {
        return value.clone();
    };
    let fields = fields.iter();
    fields
        .map(|(name, inner)| (name.clone(), part_of(&value[name], inner)))
        .collect()
}

/// `value` with the fields of `more`.
pub fn with(mut value: Value, more: Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

/// The texts in the field `name` of each object in a list.
pub fn texts_of<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    let objects = list.as_array().unwrap().iter();
    objects.map(|object| object[name].as_str().unwrap()).collect()
}

/// The field because of which a request was refused as invalid.
#[track_caller]
pub fn wrong_field(answer: &Answer) -> String {
    let body = answer.json();
    assert_eq!(answer.status, 400, "{body}");
    body["field"].as_str().unwrap_or("-").to_owned()
}

/// The login of `who`, and `more` with the repository and, for `ann/one`, the agent.
fn body<'a>(who: &'a str, more: &Value) -> (&'a str, Value) {
    let body = with(json!({ "repo_url": REPO_URL }), more.clone());
    match who.split_once('/') {
        Some((user, agent)) => (user, with(json!({ "agent_id": agent }), body)),
        None => (who, body),
    }
}

/// The time in so many milliseconds, in milliseconds since 1970.
fn in_milliseconds(milliseconds: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap() + milliseconds
}

impl Api {
    /// Any request to `/api/PATH`. `who` is a login, or a login and an agent: `ann/one`.
    async fn sends_by(&self, method: Method, who: &str, path: &str, more: &Value) -> Answer {
        let (user, body) = body(who, more);
        let headers = [("x-coord-user", user), JSON];
        self.request(method, &format!("/api/{path}"), &headers, body.to_string())
            .await
    }

    /// POSTs.
    pub async fn sends(&self, who: &str, path: &str, more: Value) -> Answer {
        self.sends_by(Method::POST, who, path, &more).await
    }

    /// POSTs, which must be accepted.
    pub async fn calls(&self, who: &str, path: &str, more: Value) -> Value {
        self.sends(who, path, more).await.expect("200")
    }

    /// POSTs, which must be refused so: `409 TASK_TAKEN`, or `409 TASK_TAKEN SWITCH_TASK`.
    pub async fn refuses(&self, who: &str, path: &str, more: Value, outcome: &str) -> Value {
        self.sends(who, path, more).await.expect(outcome)
    }

    pub async fn patches(&self, who: &str, path: &str, more: Value) -> Answer {
        self.sends_by(Method::PATCH, who, path, &more).await
    }

    /// The task `id` after an edit that must be accepted.
    pub async fn edits_task(&self, who: &str, id: &str, edit: Value) -> Value {
        let answer = self.patches(who, &format!("tasks/{id}"), edit).await;
        answer.expect("200")["task"].clone()
    }

    pub async fn removes(&self, who: &str, path: &str, query: &str) -> Answer {
        let (user, agent) = match who.split_once('/') {
            Some((user, agent)) => (user, format!("&agent_id={agent}")),
            None => (who, String::new()),
        };
        let path = format!("/api/{path}?repo_url={REPO_URL}{query}{agent}");
        self.request(Method::DELETE, &path, &[("x-coord-user", user)], "").await
    }

    pub async fn gets(&self, user: &str, path: &str, query: &str) -> Answer {
        let path = format!("/api/{path}?repo_url={REPO_URL}{query}");
        self.get(&path, &[("x-coord-user", user)]).await
    }

    /// The same, which must be answered.
    pub async fn shows(&self, user: &str, path: &str, query: &str) -> Value {
        self.gets(user, path, query).await.expect("200")
    }

    /// A server with the team `alpha`, led by `ann/lead`, with `bob/one` and `bob/two`.
    pub async fn with_team() -> Api {
        Self::with_team_where(|_| {}).await
    }

    /// The same with something else in its state.
    pub async fn with_team_where(change: impl FnOnce(&mut coord_server::app::App)) -> Api {
        let api = Api::start_with(change).await;
        api.calls("ann/lead", "teams", json!({ "name": "alpha" })).await;
        for who in ["bob/one", "bob/two"] {
            api.calls(who, "teams/alpha/join", json!({})).await;
        }
        api
    }

    /// The team `alpha`, as `eve` sees it.
    async fn team(&self) -> Value {
        self.shows("eve", "teams/alpha", "").await["team"].clone()
    }

    /// The newest event of the repository.
    async fn newest_event(&self) -> Option<coord_store::Value> {
        let key = coord_state::events::keys::status_log(&repo());
        self.command(["XREVRANGE", &key, "+", "-", "COUNT", "1"]).await
    }

    /// The leader adds tasks; returns their ids.
    pub async fn adds(&self, tasks: Value) -> Vec<String> {
        let added = self.calls("ann/lead", "tasks", json!({ "tasks": tasks })).await;
        serde_json::from_value(added["ids"].clone()).unwrap()
    }

    /// The task `id`, as `eve` sees it.
    async fn task(&self, id: &str) -> Value {
        self.shows("eve", &format!("tasks/{id}"), "&team=alpha").await["task"].clone()
    }

    async fn claims_task(&self, who: &str, id: &str) -> Value {
        self.calls(who, &format!("tasks/{id}/claim"), json!({})).await
    }

    /// Writes into the stored record of a task, as if that had come about.
    async fn alters(&self, id: &str, fields: Value) {
        let key = coord_teams_state::tasks::keys::tasks(&repo(), &TeamName::parse("alpha").unwrap());
        let stored = self.command(["HGET", &key, id]).await.unwrap();
        let task = serde_json::from_str(stored.as_str().unwrap()).unwrap();
        self.command(["HSET", &key, id, &with(task, fields).to_string()]).await;
    }

    /// Expires the claim of a task, as if its time had passed.
    async fn expire_claim(&self, id: &str) {
        self.alters(id, json!({ "expires": 1_000_000_000_000_i64 })).await;
    }

    /// The leader sends a message.
    pub async fn writes_to(&self, recipient: &str, text: &str) {
        let sent = json!({ "to": [recipient], "message": text });
        self.calls("ann/lead", "messages", sent).await;
    }

    async fn inbox(&self, who: &str) -> Value {
        self.calls(who, "messages/read", json!({})).await
    }
}
