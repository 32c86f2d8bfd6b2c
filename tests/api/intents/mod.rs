//! `/api/intents`: the registry of intents.

mod acting;
mod attacks;
mod reading;
mod selecting;
mod using;
mod writing;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api, JSON, REPO_URL, repo};
use crate::teams::with;

/// An intent with this id and scope, which lacks nothing.
pub fn intent(id: &str, scope: &[&str]) -> Value {
    json!({
        "repo_url": REPO_URL,
        "id": id,
        "name": format!("The name of {id}"),
        "description": "Why it is done.",
        "owned_scope": scope,
        "acceptance_criteria": ["Tests pass", "Documented"],
    })
}

fn about_repo(more: Value) -> Value {
    with(json!({ "repo_url": REPO_URL }), more)
}

/// The reason of the command in a response.
fn reason(body: &Value) -> &str {
    body["orchestration"]["reason"].as_str().unwrap()
}

impl Api {
    /// Writes an intent; it must be written.
    pub async fn writes_intent(&self, user: &str, body: &Value) -> Value {
        let answer = self.post(user, "/api/intents", body).await;
        answer.expect("200")["intent"].clone()
    }

    /// `ann` writes the intent `REQ-1` about `src/db.ts`, with these fields too, and selects it.
    async fn begins_intent(&self, more: Value) {
        self.writes_intent("ann", &with(intent("REQ-1", &["src/db.ts"]), more))
            .await;
        self.does("ann", "select", "REQ-1", json!({})).await;
    }

    /// An act or `usage`.
    async fn acts(&self, user: &str, act: &str, id: &str, more: Value) -> Answer {
        self.post(user, &format!("/api/intents/{id}/{act}"), &about_repo(more))
            .await
    }

    /// An act that must be done.
    pub async fn does(&self, user: &str, act: &str, id: &str, more: Value) -> Value {
        self.acts(user, act, id, more).await.expect("200")
    }

    /// An act that must be refused so: `409 INTENT_BLOCKED`.
    async fn denies(&self, user: &str, act: &str, id: &str, more: Value, outcome: &str) -> Value {
        self.acts(user, act, id, more).await.expect(outcome)
    }

    async fn edits(&self, user: &str, id: &str, more: Value) -> Answer {
        let headers = [("x-coord-user", user), JSON];
        let path = format!("/api/intents/{id}");
        self.request(Method::PATCH, &path, &headers, about_repo(more).to_string())
            .await
    }

    /// The intent after an edit that must be accepted.
    async fn edited(&self, user: &str, id: &str, more: Value) -> Value {
        let answer = self.edits(user, id, more).await;
        answer.expect("200")["intent"].clone()
    }

    async fn reads_intents(&self, user: &str, query: &str) -> Value {
        self.shows(user, "intents", query).await
    }

    /// The lines of the ledger: intent, state, action type, status, and what they are about.
    async fn ledger_lines(&self) -> Vec<String> {
        let key = coord_intents_state::ledger::keys::ledger(&repo());
        let entries = self.command(["XRANGE", &key, "-", "+"]).await.unwrap();
        let line = |entry: &coord_store::Value| {
            let text = entry.as_array().unwrap()[1].as_array().unwrap()[1].as_str().unwrap();
            let parsed = coord_intents::ledger::Entry::parse(text.as_bytes());
            assert!(parsed.is_ok(), "{text}: {parsed:?}");
            let line: Value = serde_json::from_str(text).unwrap();
            let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str);
            let parts = ["/agent_id", "/intent_id", "/state", "/action_type", "/result/status"];
            let about = ["/payload/reasoning", "/payload/tool_name", "/result/error_message"];
            format!(
                "{}: {}",
                parts.map(|part| text(part).unwrap_or("-")).join(" "),
                about.into_iter().filter_map(text).collect::<Vec<_>>().join("; ")
            )
        };
        entries.as_array().unwrap().iter().map(line).collect()
    }

    async fn last_line(&self) -> String {
        self.ledger_lines().await.pop().unwrap()
    }
}
