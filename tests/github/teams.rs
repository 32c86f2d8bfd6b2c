//! Teams of repositories on GitHub.

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::alice;
use crate::cloud::Cloud;
use crate::people::person;

#[tokio::test]
async fn a_reader_sees_the_board_and_messages_but_changes_nothing() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[]).await;
    for (path, body) in [
        ("/api/teams", json!({ "name": "alpha", "handle": "alice" })),
        ("/api/tasks", json!({ "tasks": [{ "title": "A" }] })),
        ("/api/messages", json!({ "to": ["alice"], "message": "To myself" })),
    ] {
        let made = instance.teams(&alice.token, Method::POST, path, &body).await;
        assert_eq!(made.status, 200, "{path}: {made:?}");
    }
    let before = cloud.all_but_limits().await;
    for (path, found) in [
        ("/api/teams", "/teams/0/name"),
        ("/api/teams/alpha", "/team/leader"),
        ("/api/tasks", "/tasks/0/id"),
        ("/api/tasks/t1", "/task/title"),
        ("/api/messages", "/messages/0/message"),
    ] {
        let read = instance.teams(&bob.token, Method::GET, path, &Value::Null).await;
        assert_eq!(read.status, 200, "{path}: {read:?}");
        assert!(read.body.pointer(found).is_some(), "{path}: {}", read.body);
        let unknown = instance.teams("", Method::GET, path, &Value::Null).await;
        assert_eq!(unknown.error(), (401, "UNAUTHORIZED"), "{path}");
    }
    for (method, path, body) in [
        (Method::POST, "/api/teams", json!({ "name": "beta", "handle": "bob" })),
        (Method::POST, "/api/teams/alpha/join", json!({ "handle": "bob" })),
        (Method::POST, "/api/teams/alpha/join", json!({ "handle": "alice" })),
        (Method::POST, "/api/teams/alpha/leave", json!({})),
        (Method::POST, "/api/teams/alpha/shutdown", json!({ "step": "request" })),
        (Method::PATCH, "/api/teams/alpha", json!({ "leader": "bob" })),
        (Method::DELETE, "/api/teams/alpha", Value::Null),
        (Method::POST, "/api/tasks", json!({ "team": "alpha", "tasks": [{}] })),
        (Method::POST, "/api/tasks/next", json!({ "team": "alpha" })),
        (Method::POST, "/api/tasks/t1/claim", json!({ "team": "alpha" })),
        (Method::POST, "/api/tasks/t1/complete", json!({ "team": "alpha" })),
        (Method::POST, "/api/tasks/t1/release", json!({ "team": "alpha" })),
        (Method::PATCH, "/api/tasks/t1", json!({ "team": "alpha", "title": "B" })),
        (Method::DELETE, "/api/tasks/t1", Value::Null),
        (
            Method::POST,
            "/api/messages",
            json!({ "team": "alpha", "to": ["alice"], "message": "x" }),
        ),
        (Method::POST, "/api/messages/read", json!({ "team": "alpha" })),
    ] {
        let refused = instance.teams(&bob.token, method.clone(), path, &body).await;
        assert_eq!(
            refused.error(),
            (403, "FORBIDDEN_REPOSITORY"),
            "{method} {path}: {refused:?}"
        );
    }
    let after = cloud.all_but_limits().await;
    let changed: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    // GitHub's answer about bob is the only new entry.
    assert!(changed.iter().all(|line| line.contains(":identity:")), "{changed:?}");
}
