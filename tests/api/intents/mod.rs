//! `/api/intents`: the registry of intents.

mod acting;
mod attacks;
mod reading;
mod selecting;
mod using;
mod writing;

use reqwest::Method;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::api::{Api, REPO_URL};

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

impl Api {
    /// Writes an intent; it must be written.
    pub async fn writes_intent(&self, user: &str, body: &Value) -> Value {
        let answer = self.post(user, "/api/intents", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()["intent"].clone()
    }

    /// An act or `usage`.
    pub async fn acts(&self, user: &str, act: &str, id: &str, more: Value) -> Answer {
        let mut body = json!({ "repo_url": REPO_URL });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post(user, &format!("/api/intents/{id}/{act}"), &body).await
    }

    /// An act that must be done.
    pub async fn does(&self, user: &str, act: &str, id: &str, more: Value) -> Value {
        let answer = self.acts(user, act, id, more).await;
        assert_eq!(answer.status, 200, "{act} {id}: {}", answer.json());
        answer.json()
    }

    pub async fn edits(&self, user: &str, id: &str, more: Value) -> Answer {
        let mut body = json!({ "repo_url": REPO_URL });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let headers = [("x-coord-user", user), ("content-type", "application/json")];
        self.request(Method::PATCH, &format!("/api/intents/{id}"), &headers, body.to_string())
            .await
    }

    pub async fn reads_intents(&self, user: &str, query: &str) -> Value {
        let headers = [("x-coord-user", user)];
        let answer = self
            .get(&format!("/api/intents?repo_url={REPO_URL}{query}"), &headers)
            .await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    /// The lines of the ledger: intent, state, action type, status, and what they are about.
    pub async fn ledger_lines(&self) -> Vec<String> {
        let key = coord_intents_state::ledger::keys::ledger(&crate::api::repo());
        let entries = self.command(["XRANGE", &key, "-", "+"]).await.unwrap();
        let line = |entry: &coord_store::Value| {
            let text = entry.as_array().unwrap()[1].as_array().unwrap()[1].as_str().unwrap();
            let parsed = coord_intents::ledger::Entry::parse(text.as_bytes());
            assert!(parsed.is_ok(), "{text}: {parsed:?}");
            let line: Value = serde_json::from_str(text).unwrap();
            let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).unwrap_or("-").to_owned();
            let about = [
                text("/payload/reasoning"),
                text("/payload/tool_name"),
                text("/result/error_message"),
            ];
            format!(
                "{} {} {} {} {}: {}",
                text("/agent_id"),
                text("/intent_id"),
                text("/state"),
                text("/action_type"),
                text("/result/status"),
                about
                    .into_iter()
                    .filter(|text| text != "-")
                    .collect::<Vec<_>>()
                    .join("; ")
            )
        };
        entries.as_array().unwrap().iter().map(line).collect()
    }
}
