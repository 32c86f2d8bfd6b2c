//! Resources, which are what HTTP shows, and the prompt.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use super::{error, result, without_commits};
use crate::api::{Api, REPO_URL};

// rule: mcp#resources
#[tokio::test]
async fn resources_are_what_http_shows() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    let templates = result(&api, "resources/templates/list", json!({})).await;
    assert_json_snapshot!("templates", templates);
    assert_eq!(result(&api, "resources/list", json!({})).await["resources"], json!([]));
    let read = async |uri: String| {
        let contents = result(&api, "resources/read", json!({ "uri": uri })).await["contents"][0].clone();
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        serde_json::from_str::<Value>(contents["text"].as_str().unwrap()).unwrap()
    };
    let repo = format!("repo_url={REPO_URL}");
    for query in ["", "&branch=main", "&branch=other", "&holder=me"] {
        let expected = api
            .get(&format!("/api/locks?{repo}{query}"), &[("x-coord-user", "ann")])
            .await;
        assert_eq!(
            read(format!("coord://locks?{repo}{query}")).await,
            expected.json(),
            "{query}"
        );
    }
    let graph = api
        .get(&format!("/api/graph?{repo}&branch=main&focus=src/auth.ts&depth=2"), &[])
        .await
        .json();
    assert_eq!(graph["nodes"].as_array().map(Vec::len), Some(3));
    for path in ["src/auth.ts", "src%2Fauth.ts"] {
        assert_eq!(
            read(format!("coord://graph/{path}?{repo}&branch=main&depth=2")).await,
            graph,
            "{path}"
        );
    }
    let activity = read(format!("coord://activity?{repo}&branch=main")).await;
    let event = &activity["events"][0];
    assert_eq!(
        (&event["type"], &event["files"]),
        (&json!("lock_granted"), &json!(["src/db.ts"])),
        "{activity}"
    );
    let other = read(format!("coord://activity?{repo}&branch=other")).await;
    assert_eq!(other, json!({ "events": [], "cursor": activity["cursor"] }));
    api.does_in_team("ann/lead", "/api/teams", json!({ "name": "alpha" }))
        .await;
    api.adds(json!([{ "title": "A" }])).await;
    let headers = [("x-coord-user", "ann")];
    for (uri, path) in [
        (
            format!("coord://ledger?{repo}&last=5"),
            format!("/api/ledger?{repo}&last=5"),
        ),
        (format!("coord://team/alpha?{repo}"), format!("/api/teams/alpha?{repo}")),
        (
            format!("coord://tasks/t1?{repo}&team=alpha"),
            format!("/api/tasks/t1?{repo}&team=alpha"),
        ),
    ] {
        let expected = api.get(&path, &headers).await;
        assert_eq!((expected.status, read(uri).await), (200, expected.json()), "{path}");
    }
    let mut lines = Vec::new();
    for uri in [
        "coord://team/..?repo_url=https://github.com/acme/shop.git",
        "coord://tasks/t9?repo_url=https://github.com/acme/shop.git&team=alpha",
        "coord://locks",
        "coord://locks?repo_url=x",
        "coord://locks?repo_url=a&repo_url=b",
        "coord://graph/src/auth.ts",
        "coord://graph/src/none.ts?repo_url=https://github.com/acme/shop&branch=main",
        "coord://graph/src/auth.ts?repo_url=https://github.com/acme/shop&branch=none",
        "coord://graph/%ff?repo_url=https://github.com/acme/shop&branch=main",
        "coord://graph/?repo_url=https://github.com/acme/shop&branch=main",
        "coord://activity?branch=main",
    ] {
        lines.push(format!(
            "{uri}\n    {}",
            error(&api, "resources/read", json!({ "uri": uri })).await
        ));
    }
    assert_snapshot!("unreadable", without_commits(&json!(lines.join("\n")), &api));
}

// rule: mcp#resources
#[tokio::test]
async fn the_prompt_has_the_rules_and_the_task() {
    let api = Api::start().await;
    assert_json_snapshot!("prompts", result(&api, "prompts/list", json!({})).await);
    let arguments = json!({ "task": "Add a pool", "branch": "main" });
    let prompt = result(
        &api,
        "prompts/get",
        json!({ "name": "coordinate", "arguments": arguments }),
    )
    .await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("Orchestration commands are law") && text.ends_with("The task: Add a pool"),
        "{text}"
    );
    assert!(
        text.contains("branch: main.") && text.contains("git remote get-url origin"),
        "{text}"
    );
}
