//! `GET /api/graph`.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::api::Api;

const PATH: &str = "/api/graph?repo_url=https://github.com/acme/shop.git&branch=main";

#[tokio::test]
async fn a_graph_that_is_not_built_yet_is_accepted() {
    let api = Api::start().await;
    assert_json_snapshot!(api.get(PATH, &[]).await.snapshot());
}

#[tokio::test]
async fn a_graph_comes_with_the_locks_of_its_branch() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "other"]);
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    for user in ["cid", "dan"] {
        api.claim(user, "READING", &["src/db.ts"]).await;
    }
    let elsewhere = json!({ "branch": "other" });
    assert_eq!(api.tell("eve", "WRITING", &["README.md"], elsewhere).await.status, 200);
    assert_json_snapshot!("whole", api.get(PATH, &[]).await.snapshot());
    let compact = api.get(&format!("{PATH}&format=compact"), &[]).await.json();
    assert_eq!(compact["edges"], json!([[0, 1], [2, 0]]));
    assert_eq!(
        api.get(&format!("{PATH}&format=full"), &[]).await.json()["edges"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    api.lapse("src/auth.ts").await;
    let locks = api.get(PATH, &[]).await.json()["locks"].clone();
    assert_eq!(
        locks.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["src/db.ts"],
        "what expired is free"
    );
}

#[tokio::test]
async fn a_graph_of_an_older_commit_is_stale() {
    let api = Api::start().await;
    api.publish_graph(&api.first).await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        (&answer.json()["state"], &answer.json()["version"]),
        (&json!("stale"), &json!(api.first))
    );
    api.publish_graph(&api.head).await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(
        (&answer.json()["state"], &answer.json()["version"]),
        (&json!("ready"), &json!(api.head))
    );
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let first = api.get(PATH, &[]).await;
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    for known in [
        tag.clone(),
        tag.trim_start_matches("W/").to_owned(),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let again = api.get(PATH, &[("if-none-match", &known)]).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag.as_str()));
    }
    let known = [("if-none-match", tag.as_str())];
    assert_eq!(
        api.get(&format!("{PATH}&format=compact"), &known).await.status,
        200,
        "another form is another entity"
    );
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let changed = api.get(PATH, &known).await;
    assert_eq!(changed.status, 200, "a lock is a change");
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn a_graph_is_compressed_for_who_can_read_that() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let plain = api.get(PATH, &[]).await;
    assert_eq!(plain.header("content-encoding"), None);
    let packed = api.get(PATH, &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.bytes[..2], [0x1f, 0x8b]);
    assert!(packed.header("vary").unwrap().contains("accept-encoding"));
    let tag = packed.header("etag").unwrap();
    assert_eq!(api.get(PATH, &[("if-none-match", tag)]).await.status, 304);
}

#[tokio::test]
async fn a_question_without_its_parts_says_which() {
    let api = Api::start().await;
    let url = "repo_url=https://github.com/acme/shop.git";
    let mut lines = Vec::new();
    for query in [
        String::new(),
        "?".to_owned(),
        "?branch=main".to_owned(),
        format!("?{url}"),
        format!("?{url}&branch="),
        format!("?{url}&branch=a%20b"),
        format!("?{url}&branch=main&format=xml"),
        format!("?{url}&branch=%ff"),
        format!("?{url}&branch=main&branch=other"),
        "?repo_url=shop&branch=main".to_owned(),
        "?repo_url=https://github.com/acme/other&branch=main".to_owned(),
        format!("?{url}&branch=mian"),
    ] {
        let answer = api.get(&format!("/api/graph{query}"), &[]).await;
        lines.push(format!("{query}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_failed_build_says_why() {
    let api = Api::start().await;
    let key = coord::store::keys::graph(&crate::api::repo(), &crate::api::main_branch());
    api.command(["HSET", &key, "failure", "the repository has more than 500,000 files"])
        .await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(
        (answer.status, &answer.json()["failure"]),
        (202, &json!("the repository has more than 500,000 files"))
    );
}
