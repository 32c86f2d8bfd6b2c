//! Resources, which are what HTTP shows, and the prompt.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use super::{error, result, without_commits};
use crate::api::{Api, REPO_URL};
use crate::teams::assert_has;

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
        let expected = api.gets("ann", "locks", query).await.json();
        let locks = read(format!("coord://locks?{repo}{query}")).await;
        assert_eq!(locks, expected, "{query}");
    }
    let query = "&branch=main&focus=src/auth.ts&depth=2";
    let graph = api.gets("ann", "graph", query).await.json();
    assert_eq!(graph["nodes"].as_array().map(Vec::len), Some(3));
    for path in ["src/auth.ts", "src%2Fauth.ts"] {
        let part = read(format!("coord://graph/{path}?{repo}&branch=main&depth=2")).await;
        assert_eq!(part, graph, "{path}");
    }
    let activity = read(format!("coord://activity?{repo}&branch=main")).await;
    assert_has!(activity["events"][0], { "type": "lock_granted", "files": ["src/db.ts"] });
    let other = read(format!("coord://activity?{repo}&branch=other")).await;
    assert_eq!(other, json!({ "events": [], "cursor": activity["cursor"] }));
    api.calls("ann/lead", "teams", json!({ "name": "alpha" })).await;
    api.adds(json!([{ "title": "A" }])).await;
    for (resource, path, query) in [
        ("ledger", "ledger", "&last=5"),
        ("team/alpha", "teams/alpha", ""),
        ("tasks/t1", "tasks/t1", "&team=alpha"),
    ] {
        let expected = api.shows("ann", path, query).await;
        let found = read(format!("coord://{resource}?{repo}{query}")).await;
        assert_eq!(found, expected, "{path}");
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
    let params = json!({ "name": "coordinate", "arguments": arguments });
    let prompt = result(&api, "prompts/get", params).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    for part in [
        "Orchestration commands are law",
        "branch: main.",
        "git remote get-url origin",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.ends_with("The task: Add a pool"), "{text}");
}
