//! `GET /api/locks`.

use std::sync::Arc;

use coord_auth::{Authenticator, JwtVerifier};
use coord_settings::{Rate, Rates};
use insta::{assert_json_snapshot, assert_snapshot};
use secrecy::SecretString;
use serde_json::json;

use crate::api::Api;

const PATH: &str = "/api/locks?repo_url=https://github.com/acme/shop.git";

/// Returns the shown locks: `branch file holder`, a holder being `user/agent`.
async fn held(api: &Api, query: &str, headers: &[(&'static str, &str)]) -> Vec<String> {
    let answer = api.get(&format!("{PATH}{query}"), headers).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.json());
    let body = answer.json();
    let line = |lock: &serde_json::Value| {
        let text = |name: &str| lock[name].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {}/{}",
            text("branch"),
            text("file_path"),
            text("user"),
            text("agent_id")
        )
    };
    body["locks"].as_array().unwrap().iter().map(line).collect()
}

/// Ann has three agents, of which one has no name; Bob reads what one of them reads, on another branch.
async fn populated() -> Api {
    let api = Api::start().await;
    api.git.git(&["branch", "other"]);
    for (user, status, path, more) in [
        ("ann", "WRITING", "src/auth.ts", json!({ "agent_id": "one" })),
        ("ann", "READING", "README.md", json!({ "agent_id": "two" })),
        ("ann", "READING", "README.md", json!({})),
        (
            "bob",
            "READING",
            "README.md",
            json!({ "branch": "other", "agent_id": "one" }),
        ),
    ] {
        let answer = api.post_status(user, status, &[path], more).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
    }
    api
}

#[tokio::test]
async fn locks_are_shown_of_all_branches_or_one() {
    let api = populated().await;
    assert_json_snapshot!(api.get(&format!("{PATH}&branch=main"), &[]).await.snapshot());
    let on_main = [
        "main README.md ann/two",
        "main README.md ann/-",
        "main src/auth.ts ann/one",
    ];
    assert_eq!(held(&api, "&branch=main", &[]).await, on_main);
    let all = held(&api, "", &[]).await;
    assert_eq!(
        (&all[..3], &all[3..]),
        (
            &on_main.map(str::to_owned)[..],
            &["other README.md bob/one".to_owned()][..]
        )
    );
    assert_eq!(held(&api, "&branch=none", &[]).await, [""; 0], "nothing is held there");
    let timing = api.get(PATH, &[]).await;
    let timing = timing.header("server-timing").unwrap();
    assert!(
        timing.contains("\"1 round trip\"") && timing.contains("source;dur=0.000"),
        "{timing}"
    );
    api.expire_locks("src/auth.ts").await;
    assert_eq!(
        held(&api, "&branch=main", &[]).await,
        on_main[..2],
        "what expired is free"
    );
}

#[tokio::test]
async fn locks_on_a_deleted_branch_are_shown() {
    let api = populated().await;
    api.git.git(&["branch", "-D", "other"]);
    assert_eq!(held(&api, "&branch=other", &[]).await, ["other README.md bob/one"]);
}

#[tokio::test]
async fn a_holder_finds_what_is_its_own() {
    let api = populated().await;
    let ann = ("x-coord-user", "ann");
    let of_ann = [
        "main README.md ann/two",
        "main README.md ann/-",
        "main src/auth.ts ann/one",
    ];
    assert_eq!(held(&api, "&holder=me", &[ann]).await, of_ann, "all of its agents");
    assert_eq!(held(&api, "&holder=me&branch=other", &[ann]).await, [""; 0]);
    assert_eq!(
        held(&api, "&holder=me&agent_id=one", &[ann]).await,
        ["main src/auth.ts ann/one"]
    );
    let by_header = [ann, ("x-coord-agent", "two")];
    assert_eq!(held(&api, "&holder=me", &by_header).await, ["main README.md ann/two"]);
    assert_eq!(
        held(&api, "&holder=me&agent_id=one", &by_header).await,
        ["main src/auth.ts ann/one"],
        "the field goes first"
    );
    assert_eq!(held(&api, "", &by_header).await.len(), 4, "the header names who asks");
    assert_eq!(
        held(&api, "&agent_id=one", &[]).await,
        ["main src/auth.ts ann/one", "other README.md bob/one"]
    );
    assert_eq!(held(&api, "&holder=me", &[("x-coord-user", "cid")]).await, [""; 0]);
}

#[tokio::test]
async fn a_query_without_its_parameters_names_the_missing_one() {
    let api = Api::start().await;
    let url = "repo_url=https://github.com/acme/shop.git";
    let mut lines = Vec::new();
    for query in [
        String::new(),
        "?branch=main".to_owned(),
        format!("?{url}&branch="),
        format!("?{url}&holder=ann"),
        format!("?{url}&holder="),
        format!("?{url}&agent_id=a%20b"),
        format!("?{url}&branch=main&branch=other"),
        "?repo_url=shop".to_owned(),
        "?repo_url=https://github.com/acme/other".to_owned(),
    ] {
        let answer = api.get(&format!("/api/locks{query}"), &[]).await;
        lines.push(format!("{query}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
    let header = api.get(PATH, &[("x-coord-agent", "a b")]).await;
    assert_eq!(header.json()["field"], "X-Coord-Agent");
}

#[tokio::test]
async fn the_limits_of_questions_hold_here_too() {
    let api = Api::start_with(|state| {
        state.rates = Rates {
            holder: Rate {
                interval_ms: 60_000,
                burst: 2,
            },
            ..Rates::NONE
        }
    })
    .await;
    for _ in 0..2 {
        assert_eq!(api.get(PATH, &[]).await.status, 200);
    }
    let limited = api.get(PATH, &[]).await;
    assert_eq!(
        (limited.status, &limited.json()["error"]),
        (429, &json!("RATE_LIMITED"))
    );
    assert!(limited.header("retry-after").is_some());
    let branch = api.get(&format!("{PATH}&branch=main"), &[]).await;
    assert_eq!(branch.status, 429, "one limit, whatever the branch");
    assert_eq!(api.get(PATH, &[("x-coord-user", "bob")]).await.status, 200);
}

#[tokio::test]
async fn locks_are_refused_without_a_credential() {
    let verifier = JwtVerifier::hs256(&SecretString::from(crate::identity::SECRET));
    let api = Api::start_with(|state| state.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)))).await;
    for query in ["", "&holder=me"] {
        assert_eq!(api.get(&format!("{PATH}{query}"), &[]).await.status, 401, "{query}");
    }
    let shown = [("authorization", crate::identity::good_token())];
    let shown = shown.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(held(&api, "&holder=me", &shown).await, [""; 0]);
}

#[tokio::test]
async fn the_function_of_the_graph_answers_it() {
    let vercel: serde_json::Value = serde_json::from_str(include_str!("../../vercel.json")).unwrap();
    let rewrite = json!({ "source": "/api/locks", "destination": "/api/graph" });
    assert!(vercel["rewrites"].as_array().unwrap().contains(&rewrite));
    let api = Api::start().await;
    let state = crate::api::state(api.store.clone(), &[api.git.path().to_owned()]);
    let router = coord_http::router(
        state,
        &coord_http::endpoint::GRAPH.of_function(coord_extensions::endpoints()),
    );
    let function = api.elsewhere(crate::api::listen(router).await, api.store.clone());
    assert_eq!(held(&function, "", &[]).await, [""; 0]);
    let graph = "/api/graph?repo_url=https://github.com/acme/shop.git&branch=main";
    assert_eq!(function.get(graph, &[]).await.status, 202);
    assert_eq!(function.get("/api/health", &[]).await.status, 404);
}
