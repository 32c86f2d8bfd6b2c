//! Tools, whose results are what HTTP says.

use std::sync::Arc;
use std::time::Duration;

use coord_settings::{Rate, Rates};
use coord_store::Limits;
use coord_store::redis::{RedisOptions, RedisStore};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{ask, ask_as, call, error, result, text, without_commits};
use crate::api::{Api, REPO_URL, hide_times};
use crate::teams::assert_has;

/// A claim does the same by HTTP and by MCP: each is made on a separate server.
// rule: mcp#tools
#[tokio::test]
async fn a_tool_returns_what_http_returns() {
    let (by_tool, by_http) = (Api::start().await, Api::start().await);
    for api in [&by_tool, &by_http] {
        api.publish_graph(&api.head).await;
        api.claim("bob", "WRITING", &["src/db.ts"]).await;
    }
    let check = |api: &Api, paths: &[&str], more: Value| ("check_status", api.check_body(paths, more));
    let post =
        |api: &Api, status: &str, paths: &[&str], more: Value| ("post_status", api.post_body(status, paths, more));
    let requests = |api: &Api| {
        let (first, head) = (api.first.clone(), api.head.clone());
        vec![
            check(api, &["src/page.ts"], json!({})),
            check(api, &["src/auth.ts"], json!({})),
            check(api, &["src/auth.ts"], json!({ "intent": "READING" })),
            check(api, &["src/page.ts"], json!({ "agent_head": first })),
            post(api, "WRITING", &["src/page.ts"], json!({ "agent_id": "one" })),
            post(
                api,
                "WRITING",
                &["src/page.ts"],
                json!({ "agent_id": "one", "message": "src/page.ts" }),
            ),
            post(api, "WRITING", &["src/auth.ts"], json!({})),
            post(api, "READING", &["src/db.ts"], json!({})),
            post(api, "WRITING", &["new.ts"], json!({ "agent_head": first })),
            post(
                api,
                "OPEN",
                &["src/page.ts"],
                json!({ "agent_id": "one", "new_repo_head": head }),
            ),
            post(
                api,
                "OPEN",
                &["src/page.ts"],
                json!({ "agent_id": "one", "abandon": true }),
            ),
            post(api, "OPEN", &["src/db.ts"], json!({ "abandon": true })),
            check(api, &["../etc/passwd"], json!({})),
            check(api, &[], json!({})),
            check(api, &["a"], json!({ "branch": null })),
            check(api, &["a"], json!({ "branch": 7 })),
            check(api, &["a"], json!({ "intent": "BREW" })),
            check(api, &["a"], json!({ "branch": "none" })),
            check(api, &["a"], json!({ "repo_url": "https://github.com/acme/other" })),
            post(api, "WRITING", &["a"], json!({ "message": "" })),
            post(api, "WRITING", &["a"], json!({ "agent_id": "a b" })),
            post(api, "OPEN", &["*"], json!({})),
        ]
    };
    let mut lines = Vec::new();
    for ((tool, arguments), (_, body)) in requests(&by_tool).into_iter().zip(requests(&by_http)) {
        let result = call(&by_tool, "ann", tool, &arguments).await;
        let expected = by_http.post("ann", &format!("/api/{tool}"), &body).await.snapshot();
        let mut content = result["structuredContent"].clone();
        hide_times(&mut content);
        assert_eq!(
            without_commits(&content, &by_tool),
            without_commits(&expected["body"], &by_http),
            "{tool} {arguments}"
        );
        let is_error = result["isError"] == true;
        assert_eq!(is_error, expected["status"] == 400, "{tool} {arguments}: {result}");
        let text = text(&result);
        let action = match result["structuredContent"]["error"].as_str() {
            Some("INVALID_FIELD" | "MALFORMED_BODY") => "FIX",
            _ => result["structuredContent"]["orchestration"]["action"].as_str().unwrap(),
        };
        assert!(text.starts_with(&format!("{action}: ")), "{text}");
        lines.push(format!(
            "{} {tool}{}\n{text}",
            expected["status"],
            if is_error { ", an error" } else { "" }
        ));
    }
    let mut text: Vec<Value> = lines.join("\n\n").lines().map(Value::from).collect();
    text.iter_mut().for_each(hide_times);
    let text: Vec<&str> = text.iter().filter_map(Value::as_str).collect();
    assert_snapshot!(without_commits(&json!(text.join("\n")), &by_tool));
}

/// Models of some agents read the structured content from its beginning, and no text.
// rule: mcp#results
#[tokio::test]
async fn the_command_comes_first_in_every_result() {
    let api = Api::start().await;
    let claim = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    let malformed = api.post_body("BREW", &["src/auth.ts"], json!({}));
    let select = json!({ "repo_url": REPO_URL, "agent_id": "one" });
    let create = json!({ "repo_url": REPO_URL, "agent_id": "one", "action": "create", "team": "alpha" });
    for (user, tool, arguments) in [
        ("bob", "post_status", &claim),
        ("ann", "post_status", &claim),
        ("ann", "check_status", &api.check_body(&["src/auth.ts"], json!({}))),
        ("ann", "post_status", &malformed),
        ("ann", "select_active_intent", &select),
        ("ann", "team", &create),
    ] {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = ask_as(&api, user, "tools/call", params).await;
        let text = String::from_utf8(answer.bytes).unwrap();
        assert!(
            text.contains("\"structuredContent\":{\"orchestration\":{\"action\":"),
            "{tool}: {text}"
        );
    }
}

#[tokio::test]
async fn results_match_the_schemas_of_their_tools() {
    let api = Api::start().await;
    let tools = result(&api, "tools/list", json!({})).await["tools"].clone();
    let valid = |kind: &str, tool: &str, value: &Value| {
        let mut tools = tools.as_array().unwrap().iter();
        let tool = tools.find(|listed| listed["name"] == tool).unwrap();
        jsonschema::draft202012::new(&tool[kind]).unwrap().is_valid(value)
    };
    let check = |more: Value| api.check_body(&["src/auth.ts"], more);
    let post = |status: &str| api.post_body(status, &["src/auth.ts"], json!({}));
    for (user, tool, arguments, is_good) in [
        ("bob", "post_status", post("WRITING"), true),
        ("ann", "post_status", post("WRITING"), true),
        ("ann", "check_status", check(json!({})), true),
        ("ann", "check_status", check(json!({ "branch": null })), false),
        ("ann", "post_status", post("BREW"), false),
    ] {
        assert_eq!(valid("inputSchema", tool, &arguments), is_good, "{arguments}");
        let result = call(&api, user, tool, &arguments).await;
        assert!(valid("outputSchema", tool, &result["structuredContent"]), "{result}");
    }
    assert!(!valid("outputSchema", "post_status", &json!({ "success": true })));
}

#[tokio::test]
async fn claims_of_several_agents_are_distinguished_by_field_and_by_header() {
    let api = Api::start().await;
    let claim = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    let params = json!({ "name": "post_status", "arguments": claim });
    for (agent, expected) in [("one", true), ("two", false), ("one", true)] {
        let answer = ask(&api, &[("x-coord-agent", agent)], "tools/call", params.clone()).await;
        let result = &answer.json()["result"];
        assert_eq!(result["structuredContent"]["success"], expected, "{agent}: {result}");
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_offline_in_a_result() {
    let nowhere = RedisOptions {
        limits: Limits {
            call: Duration::from_secs(2),
            ..Limits::default()
        },
        ..RedisOptions::default()
    };
    // Nobody listens on that port.
    let store = RedisStore::with_options("redis://127.0.0.1:1", nowhere).unwrap();
    let api = Api::start_with(|app| app.store = Arc::new(store)).await;
    let check = api.check_body(&["src/auth.ts"], json!({}));
    let check = call(&api, "ann", "check_status", &check).await;
    assert_has!(check, { "isError": false, "structuredContent": { "status": "OFFLINE" } });
    let text = text(&check);
    assert!(
        text.starts_with("STOP: ") && text.contains("\nOFFLINE_MODE: "),
        "{text}"
    );
    let claim = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    let claim = call(&api, "ann", "post_status", &claim).await;
    assert_eq!(claim["structuredContent"]["orchestration"]["action"], "STOP");
    let uri = format!("coord://locks?repo_url={REPO_URL}");
    let refused = error(&api, "resources/read", json!({ "uri": uri })).await;
    assert!(refused.starts_with("200 -32000: the store"), "{refused}");
}

#[tokio::test]
async fn a_caller_over_its_rate_limit_gets_rate_limited_and_wait() {
    let once = Rate {
        interval_ms: 60_000,
        burst: 1,
    };
    let api = Api::start_with(|app| {
        app.rates = Rates {
            holder: once,
            ..Rates::NONE
        };
    })
    .await;
    let body = api.check_body(&["src/auth.ts"], json!({}));
    let granted = call(&api, "ann", "check_status", &body).await;
    assert_eq!(granted["structuredContent"]["status"], "OK");
    let refused = call(&api, "ann", "check_status", &body).await;
    assert_has!(refused, { "isError": false, "structuredContent": { "error": "RATE_LIMITED" } });
    assert!(text(&refused).starts_with("WAIT: "), "{refused}");
}
