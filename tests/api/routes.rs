//! Paths and methods that are not there.

use insta::assert_snapshot;
use reqwest::Method;

use crate::api::Api;

// rule: http#statuses
#[tokio::test]
async fn other_methods_are_refused_with_those_that_are_taken() {
    let api = Api::start().await;
    let mut lines = Vec::new();
    for (path, allowed) in [
        ("/api/check_status", "POST"),
        ("/api/post_status", "POST"),
        ("/api/graph", "GET, HEAD"),
        ("/api/locks", "GET, HEAD"),
        ("/api/activity", "GET, HEAD"),
        ("/api/cron_cleanup", "GET, HEAD"),
        ("/api/health", "GET, HEAD"),
    ] {
        for method in [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
            Method::OPTIONS,
        ] {
            if allowed.split(", ").any(|name| name == method.as_str()) {
                continue;
            }
            let answer = api
                .request(method.clone(), path, &[("content-type", "application/json")], "{}")
                .await;
            assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
            assert_eq!(answer.status, 405, "{method} {path}");
            let is_for_agents = answer.json()["orchestration"]["action"] == "STOP";
            assert_eq!(is_for_agents, allowed == "POST", "{method} {path}");
            if method == Method::PUT {
                lines.push(format!("{path}\n    {}", answer.refusal()));
            }
        }
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn an_unknown_path_lists_the_endpoints() {
    let api = Api::start().await;
    let mut lines = Vec::new();
    for path in [
        "/api",
        "/api/check_status/",
        "/api/checkstatus",
        "/api/chat",
        "/api/lock",
        "/api/heartbeat",
        "/api/state",
        "/API/graph",
        "/../etc/passwd",
    ] {
        let answer = api.get(path, &[]).await;
        assert_eq!(answer.status, 404, "{path}");
        lines.push(answer.refusal());
    }
    lines.dedup();
    assert_snapshot!(lines.join("\n"));
}
