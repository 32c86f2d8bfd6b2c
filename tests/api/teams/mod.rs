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

use reqwest::Method;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::api::{Api, REPO_URL, repo};

/// `more` with the repository and, for `ann/one`, the agent.
pub fn body(who: &str, more: Value) -> (String, Value) {
    let mut body = json!({ "repo_url": REPO_URL });
    let (user, agent) = who
        .split_once('/')
        .map_or((who, None), |(user, agent)| (user, Some(agent)));
    if let Some(agent) = agent {
        body["agent_id"] = json!(agent);
    }
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (user.to_owned(), body)
}

/// Code and message of an error.
pub fn error(answer: &Answer) -> (u16, String, String) {
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap_or("-").to_owned();
    (answer.status, text("error"), text("message"))
}

impl Api {
    /// `who` is a login, or a login and an agent: `ann/one`.
    pub async fn sends(&self, who: &str, path: &str, more: Value) -> Answer {
        let (user, body) = body(who, more);
        self.post(&user, path, &body).await
    }

    /// The same, which must be accepted.
    pub async fn does_in_team(&self, who: &str, path: &str, more: Value) -> Value {
        let answer = self.sends(who, path, more).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json());
        answer.json()
    }

    pub async fn patches(&self, who: &str, path: &str, more: Value) -> Answer {
        let (user, body) = body(who, more);
        let headers = [("x-coord-user", user.as_str()), ("content-type", "application/json")];
        self.request(Method::PATCH, path, &headers, body.to_string()).await
    }

    pub async fn removes(&self, who: &str, path: &str, query: &str) -> Answer {
        let (user, agent) = who.split_once('/').unwrap_or((who, ""));
        let agent = if agent.is_empty() {
            String::new()
        } else {
            format!("&agent_id={agent}")
        };
        let path = format!("{path}?repo_url={REPO_URL}{query}{agent}");
        self.request(Method::DELETE, &path, &[("x-coord-user", user)], "").await
    }

    pub async fn gets(&self, user: &str, path: &str, query: &str) -> Answer {
        let path = format!("{path}?repo_url={REPO_URL}{query}");
        self.get(&path, &[("x-coord-user", user)]).await
    }

    /// The same, which must be answered.
    pub async fn shows(&self, user: &str, path: &str, query: &str) -> Value {
        let answer = self.gets(user, path, query).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json());
        answer.json()
    }

    /// A server with the team `alpha`, led by `ann/lead`, with `bob/one` and `bob/two`.
    pub async fn with_team() -> Api {
        Self::with_team_where(|_| {}).await
    }

    /// The same with something else in its state.
    pub async fn with_team_where(change: impl FnOnce(&mut coord_server::app::App)) -> Api {
        let api = Api::start_with(change).await;
        api.does_in_team("ann/lead", "/api/teams", json!({ "name": "alpha" }))
            .await;
        for who in ["bob/one", "bob/two"] {
            api.does_in_team(who, "/api/teams/alpha/join", json!({})).await;
        }
        api
    }

    /// The newest event of the repository.
    pub async fn newest_event(&self) -> Option<coord_store::Value> {
        let key = coord_state::events::keys::status_log(&repo());
        self.command(["XREVRANGE", &key, "+", "-", "COUNT", "1"]).await
    }

    /// Adds tasks; returns their ids.
    pub async fn adds(&self, tasks: Value) -> Vec<String> {
        let added = self
            .does_in_team("ann/lead", "/api/tasks", json!({ "tasks": tasks }))
            .await;
        let ids = added["ids"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    }
}
