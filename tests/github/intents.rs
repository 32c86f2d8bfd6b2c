//! Intents and the ledger of repositories on GitHub.

use serde_json::{Value, json};

use crate::building::Deployment;
use crate::callers::alice;
use crate::cloud::{Cloud, URL, merged};
use crate::people::person;
use crate::serving::question;

#[tokio::test]
async fn a_reader_sees_intents_and_the_ledger_but_changes_nothing() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[]).await;
    let intent = json!({ "repo_url": URL, "id": "REQ-1", "name": "Pool", "owned_scope": ["src/a.ts"] });
    let written = instance.intents(&alice.token, "/api/intents", Some(&intent)).await;
    written.expect_ok();
    let before = cloud.all_but_limits().await;
    for (path, found) in [
        ("/api/intents", "/intents/0/id"),
        ("/api/intents/REQ-1", "/intent/name"),
        ("/api/ledger", "/lines/0"),
        // Of text.
        ("/api/ledger/checkpoint", ""),
        ("/api/ledger/map", "/files"),
    ] {
        let read = instance.intents(&bob.token, path, None).await;
        assert_eq!(read.status, 200, "{path}: {read:?}");
        assert!(read.body.pointer(found).is_some(), "{path}: {}", read.body);
        let unknown = instance.intents("", path, None).await;
        assert_eq!(unknown.error(), (401, "UNAUTHORIZED"), "{path}");
    }
    let change = json!({ "trace_id": "t", "kind": "mutation", "file_path": "src/a.ts", "hash": "DELETED" });
    for (path, more) in [
        ("/api/intents", json!({ "id": "REQ-2" })),
        ("/api/intents/REQ-1/select", json!({})),
        ("/api/intents/REQ-1/abandon", json!({ "reason": "no" })),
        ("/api/intents/REQ-1/complete", json!({ "force": true, "reason": "no" })),
        ("/api/intents/REQ-1/block", json!({ "reason": "no" })),
        (
            "/api/intents/REQ-1/take_over",
            json!({ "file_paths": ["src/a.ts"], "reason": "no" }),
        ),
        (
            "/api/intents/REQ-1/usage",
            json!({ "tokens": { "session_id": "s", "total": 1 } }),
        ),
        ("/api/ledger", json!({ "entries": [change] })),
    ] {
        let body = merged(json!({ "repo_url": URL }), &more);
        let refused = instance.intents(&bob.token, path, Some(&body)).await;
        assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{path}: {refused:?}");
    }
    let after = cloud.all_but_limits().await;
    // That the lines were sealed and counted for alice before they were read, and what GitHub says of bob, is all that is new.
    let is_expected = |line: &str| {
        ["coord:seal:", "coord:shares:"].iter().any(|key| line.starts_with(key))
            || [":identity:", " alice "].iter().any(|word| line.contains(word))
    };
    let changed = after.iter().filter(|line| !before.contains(line));
    let unexpected: Vec<_> = changed.filter(|line| !is_expected(line)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_the_head_on_github_ignores_are_in_no_scope() {
    let deployment = Deployment::new().await;
    let head = deployment.repo.commit(&[
        (".intentignore", "# generated\ngen/*\n!gen/by-hand.ts\n"),
        ("gen/a.ts", ""),
        ("gen/by-hand.ts", ""),
    ]);
    let mut graph = deployment.instance(coord_http::endpoint::GRAPH);
    graph.graph().await;
    graph.run().await;
    assert_eq!(graph.graph().await.1["state"], "ready");
    let intents = deployment.instance(coord_intents_server::INTENTS);
    let send = async |path: &str, body: Value| {
        let (status, body) = intents.post(path, &body).await;
        assert_eq!(status, 200, "{body}");
    };
    let intent = json!({ "repo_url": URL, "id": "REQ-1", "name": "Pool", "owned_scope": ["gen/**"] });
    send("/api/intents", intent).await;
    let selection = json!({ "repo_url": URL, "branch": "main" });
    send("/api/intents/REQ-1/select", selection).await;
    let post = deployment.instance(coord_http::endpoint::POST_STATUS);
    let claim = async |path: &str| {
        let claim = json!({ "file_paths": [path], "status": "WRITING", "message": "Writing what is generated" });
        post.post("/api/post_status", &merged(question(&head), &claim)).await
    };
    let (status, refused) = claim("gen/a.ts").await;
    let outcome = (status, &refused["error"]);
    assert_eq!(outcome, (409, &json!("SCOPE_VIOLATION")), "{refused}");
    assert!(refused.to_string().contains(".intentignore"), "{refused}");
    let (status, granted) = claim("gen/by-hand.ts").await;
    assert_eq!(status, 200, "{granted}");
}
