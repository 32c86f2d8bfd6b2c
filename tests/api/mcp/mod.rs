//! `POST /api/mcp`: both generations of the protocol, and that a tool says what HTTP says.
//!
//! - `protocol`: revisions, methods, bodies
//! - `tools`: results against HTTP
//! - `intents`: tools of intents
//! - `teams`: tools of teams
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

/// Sends such a request to `path` with `more` headers. The header `Mcp-Name` repeats what it is about.
async fn ask_at(api: &Api, path: &str, more: &[(&'static str, &str)], method: &str, params: Value) -> Answer {
    let name = params["name"].as_str().or(params["uri"].as_str());
    let name = name.map(str::to_owned);
    let of_request = [("mcp-protocol-version", NEWEST), ("mcp-method", method)];
    let mut headers = [&PROTOCOL[..], &of_request, more].concat();
    headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
    let body = newest(method, params).to_string();
    api.request(Method::POST, path, &headers, body).await
}

/// Sends such a request with `more` headers.
async fn ask(api: &Api, more: &[(&'static str, &str)], method: &str, params: Value) -> Answer {
    ask_at(api, PATH, more, method, params).await
}

/// Sends such a request as `user`.
async fn ask_as(api: &Api, user: &str, method: &str, params: Value) -> Answer {
    ask(api, &[("x-coord-user", user)], method, params).await
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
    answer.expect("200")["result"].clone()
}

/// The parameters of a check of a file by the tool.
fn check_of(api: &Api) -> Value {
    json!({ "name": "check_status", "arguments": api.check_body(&["src/auth.ts"], json!({})) })
}

/// The text of a result, which a model reads.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Asserts that the text of a result has this part.
#[track_caller]
fn assert_says(result: &Value, part: &str) {
    assert!(text(result).contains(part), "no {part:?} in {result}");
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
