//! `POST /api/mcp`: both generations of the protocol, and that a tool says what HTTP says.
//!
//! - `protocol`: revisions, methods, bodies
//! - `tools`: results against HTTP
//! - `intents`: tools of intents
//! - `opencode`: tools of the plugin opencode-teams
//! - `resources`: resources and the prompt
//! - `callers`: credentials, hosts, origins, the log

pub mod callers;
mod intents;
mod opencode;
mod protocol;
mod resources;
mod teams;
mod tools;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api};

const PATH: &str = "/api/mcp";
const METADATA: &str = "/.well-known/oauth-protected-resource/api/mcp";
const NEWEST: &str = "2026-07-28";
const OLDER: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const PROTOCOL: [(&str, &str); 2] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

/// Sends `body` with the headers that every client sends, and `more`.
async fn send(api: &Api, more: &[(&'static str, &str)], body: impl Into<reqwest::Body>) -> Answer {
    let headers = [&PROTOCOL[..], more].concat();
    api.request(Method::POST, PATH, &headers, body).await
}

/// A request of the newest revision: all that the server must know is in it.
fn newest(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// Sends such a request as `user`. The header `Mcp-Name` repeats what it is about.
async fn ask_as(api: &Api, user: &str, method: &str, params: Value) -> Answer {
    let name = params["name"]
        .as_str()
        .or(params["uri"].as_str())
        .unwrap_or_default()
        .to_owned();
    let mut headers = vec![
        ("mcp-protocol-version", NEWEST),
        ("mcp-method", method),
        ("x-coord-user", user),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    send(api, &headers, newest(method, params).to_string()).await
}

/// The result of such a request.
async fn result(api: &Api, method: &str, params: Value) -> Value {
    let answer = ask_as(api, "ann", method, params).await;
    let body = answer.json();
    assert_eq!((answer.status, &body["id"]), (200, &json!(7)), "{body}");
    assert!(body["result"].is_object(), "{body}");
    body["result"].clone()
}

/// The error of such a request, as `status code: message`.
async fn error(api: &Api, method: &str, params: Value) -> String {
    let answer = ask_as(api, "ann", method, params).await;
    let body = answer.json();
    let message = body["error"]["message"].as_str().unwrap_or_else(|| panic!("{body}"));
    format!("{} {}: {message}", answer.status, body["error"]["code"])
}

/// Calls `tool` as `user`.
async fn call(api: &Api, user: &str, tool: &str, arguments: &Value) -> Value {
    let answer = ask_as(api, user, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["result"].clone()
}

/// `value` as text, whose commits are those of every run.
fn without_commits(value: &Value, api: &Api) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    [(&api.head, "head"), (&api.first, "first")]
        .iter()
        .fold(text, |text, (commit, name)| {
            text.replace(commit.as_str(), &format!("[{name}]"))
                .replace(&commit[..7], &format!("[{name}]"))
        })
}
