//! Revisions, methods and bodies.

use insta::{assert_json_snapshot, assert_snapshot};
use reqwest::Method;
use serde_json::json;

use super::{NEWEST, OLDER, PATH, PROTOCOL, ask_as, check_of, error, newest, result, send};
use crate::api::Api;

// rule: mcp#revisions
#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let api = Api::start().await;
    let discovered = result(&api, "server/discover", json!({})).await;
    assert!(
        discovered["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(NEWEST))
    );
    assert_json_snapshot!("discover", discovered, { ".**.version" => "[version]" });
    assert_json_snapshot!("tools", result(&api, "tools/list", json!({})).await);
}

#[tokio::test]
async fn older_revisions_begin_with_a_handshake_that_leaves_nothing_behind() {
    let api = Api::start().await;
    for version in OLDER {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
        let answer = send(&api, &[], hello.to_string()).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        assert_eq!(answer.header("mcp-session-id"), None);
        let later = [("mcp-protocol-version", version)];
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = send(&api, &later, ready.to_string()).await;
        assert_eq!((answer.status, answer.bytes.len()), (202, 0), "{version}");
        let list = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
        let answer = send(&api, &later, list.to_string()).await;
        assert_eq!(
            answer.json()["result"]["tools"].as_array().map(Vec::len),
            Some(11),
            "{version}"
        );
        let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
        assert_eq!(send(&api, &later, ping.to_string()).await.json()["result"], json!({}));
        let check = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": check_of(&api) });
        let answer = send(&api, &later, check.to_string()).await.json();
        assert_eq!(answer["result"]["structuredContent"]["status"], "OK", "{answer}");
    }
}

// rule: mcp#results
#[tokio::test]
async fn a_tool_or_method_that_is_not_there_is_an_error_of_the_protocol() {
    let api = Api::start().await;
    let mut lines = Vec::new();
    for (method, params) in [
        ("tools/call", json!({ "name": "lock_everything", "arguments": {} })),
        (
            "tools/call",
            json!({ "name": "check_status", "arguments": "src/auth.ts" }),
        ),
        ("resources/read", json!({ "uri": "coord://secrets" })),
        ("resources/read", json!({ "uri": "file:///etc/passwd" })),
        ("prompts/get", json!({ "name": "other" })),
        ("prompts/get", json!({ "name": "coordinate" })),
        (
            "prompts/get",
            json!({ "name": "coordinate", "arguments": { "task": 7 } }),
        ),
        ("resources/subscribe", json!({ "uri": "coord://locks" })),
        ("subscriptions/listen", json!({ "notifications": {} })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "coordinate" }, "argument": { "name": "task", "value": "" } }),
        ),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("tasks/get", json!({ "taskId": "1" })),
        ("ping", json!({})),
        ("brew/coffee", json!({})),
    ] {
        lines.push(format!(
            "{method} {params}\n    {}",
            error(&api, method, params.clone()).await
        ));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_body_that_is_no_request_is_refused_in_the_form_of_the_protocol() {
    let api = Api::start().await;
    let list = newest("tools/list", json!({})).to_string();
    let headers = |version, method| vec![("mcp-protocol-version", version), ("mcp-method", method)];
    let usual = || headers(NEWEST, "tools/list");
    let future = "2099-01-01";
    let mut lines = Vec::new();
    for (name, more, body) in [
        ("rubbish", usual(), "rubbish".to_owned()),
        ("a batch", usual(), format!("[{list}]")),
        ("no version of JSON-RPC", usual(), list.replace("\"2.0\"", "\"1.0\"")),
        ("no method", usual(), "{\"jsonrpc\":\"2.0\",\"id\":1}".to_owned()),
        ("deep", usual(), "[".repeat(100_000)),
        (
            "a response",
            usual(),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".to_owned(),
        ),
        (
            "another version in the header",
            headers("2025-11-25", "tools/list"),
            list.clone(),
        ),
        (
            "another method in the header",
            headers(NEWEST, "tools/call"),
            list.clone(),
        ),
        ("no headers", Vec::new(), list.clone()),
        (
            "a version of the future",
            headers(future, "tools/list"),
            list.replace(NEWEST, future),
        ),
    ] {
        let answer = send(&api, &more, body).await;
        let body = answer.json();
        assert_eq!(answer.header("content-type"), Some("application/json"), "{name}");
        lines.push(format!("{name}: {} {}", answer.status, body["error"]));
    }
    for (name, value) in [("accept", "application/json"), ("content-type", "text/plain")] {
        let mut sent = PROTOCOL.to_vec();
        sent.retain(|(other, _)| *other != name);
        sent.push((name, value));
        let answer = api.request(Method::POST, PATH, &sent, list.clone()).await;
        lines.push(format!("{name} {value}: {} {}", answer.status, answer.json()["error"]));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_body_is_bounded() {
    let api = Api::start().await;
    let padded = |bytes: usize| {
        let mut request = newest("tools/list", json!({})).to_string();
        request.push_str(&" ".repeat(bytes - request.len()));
        request
    };
    let headers = [("mcp-protocol-version", NEWEST), ("mcp-method", "tools/list")];
    assert_eq!(send(&api, &headers, padded(4 << 20)).await.status, 200);
    let refused = send(&api, &headers, padded((4 << 20) + 1)).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (413, &json!("BODY_TOO_LARGE"))
    );
    // Without a Content-Length it is counted as it comes.
    let chunks = (0..5).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20]));
    let refused = send(
        &api,
        &headers,
        reqwest::Body::wrap_stream(futures::stream::iter(chunks)),
    )
    .await;
    assert_eq!(refused.status, 413);
    let packed = [headers[0], headers[1], ("content-encoding", "gzip")];
    assert_eq!(send(&api, &packed, padded(1000)).await.status, 415);
}

// rule: mcp#revisions
#[tokio::test]
async fn only_posts_are_taken() {
    let api = Api::start().await;
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let answer = api.request(method.clone(), PATH, &PROTOCOL, "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
        assert_eq!(answer.json()["orchestration"]["action"], "STOP", "{method}");
    }
}

#[tokio::test]
async fn a_call_is_a_request_like_any_other() {
    let api = Api::start().await;
    let answer = ask_as(&api, "ann", "tools/call", check_of(&api)).await;
    let timing = answer.header("server-timing").unwrap();
    assert!(timing.contains("desc=\"1 round trip\""), "{timing}");
    for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert!(answer.header("x-request-id").is_some());
}
