//! `GET /api/locks`.

use coord_auth::JwtVerifier;
use coord_settings::{Rate, Rates};
use insta::{assert_json_snapshot, assert_snapshot};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{ACTIVITY, Api, GRAPH, LOCKS, listen, state};

/// Returns the shown locks: `branch file holder`, a holder being `user/agent`.
async fn held(api: &Api, query: &str, headers: &[(&'static str, &str)]) -> Vec<String> {
    let body = api.get(&format!("{LOCKS}{query}"), headers).await.expect("200");
    let line = |lock: &Value| {
        let [branch, file, user, agent] =
            ["branch", "file_path", "user", "agent_id"].map(|name| lock[name].as_str().unwrap_or("-"));
        format!("{branch} {file} {user}/{agent}")
    };
    body["locks"].as_array().unwrap().iter().map(line).collect()
}

/// Ann has three agents, of which one has no name; Bob reads what one of them reads, on another branch.
async fn populated() -> Api {
    let api = Api::start().await;
    api.git.git(&["branch", "other"]);
    let elsewhere = json!({ "branch": "other", "agent_id": "one" });
    for (user, status, path, more) in [
        ("ann", "WRITING", "src/auth.ts", json!({ "agent_id": "one" })),
        ("ann", "READING", "README.md", json!({ "agent_id": "two" })),
        ("ann", "READING", "README.md", json!({})),
        ("bob", "READING", "README.md", elsewhere),
    ] {
        api.granted(user, status, &[path], more).await;
    }
    api
}

const ON_MAIN: [&str; 3] = [
    "main README.md ann/two",
    "main README.md ann/-",
    "main src/auth.ts ann/one",
];
const ON_OTHER: &str = "other README.md bob/one";

#[tokio::test]
async fn locks_are_shown_of_all_branches_or_one() {
    let api = populated().await;
    assert_json_snapshot!(api.get(&format!("{LOCKS}&branch=main"), &[]).await.snapshot());
    assert_eq!(held(&api, "&branch=main", &[]).await, ON_MAIN);
    assert_eq!(held(&api, "", &[]).await, [&ON_MAIN[..], &[ON_OTHER]].concat());
    assert_eq!(held(&api, "&branch=none", &[]).await, [""; 0], "nothing is held there");
    let timing = api.get(LOCKS, &[]).await;
    let timing = timing.header("server-timing").unwrap();
    assert!(
        timing.contains("\"1 round trip\"") && timing.contains("source;dur=0.000"),
        "{timing}"
    );
    api.expire_locks("src/auth.ts").await;
    let left = held(&api, "&branch=main", &[]).await;
    assert_eq!(left, ON_MAIN[..2], "an expired lock is not shown");
    api.git.git(&["branch", "-D", "other"]);
    assert_eq!(
        held(&api, "&branch=other", &[]).await,
        [ON_OTHER],
        "the branch is deleted"
    );
}

#[tokio::test]
async fn a_holder_finds_what_is_its_own() {
    let api = populated().await;
    let ann = ("x-coord-user", "ann");
    let two = [ann, ("x-coord-agent", "two")];
    let cid = ("x-coord-user", "cid");
    for (query, headers, expected) in [
        ("&holder=me", &[ann][..], &ON_MAIN[..]),
        ("&holder=me&branch=other", &[ann], &[]),
        ("&holder=me&agent_id=one", &[ann], &ON_MAIN[2..]),
        ("&holder=me", &two, &ON_MAIN[..1]),
        // The field goes before the header.
        ("&holder=me&agent_id=one", &two, &ON_MAIN[2..]),
        // The header names the caller, and selects nothing.
        ("", &two, &[ON_MAIN[0], ON_MAIN[1], ON_MAIN[2], ON_OTHER]),
        ("&agent_id=one", &[], &[ON_MAIN[2], ON_OTHER]),
        ("&holder=me", &[cid], &[]),
    ] {
        assert_eq!(held(&api, query, headers).await, expected, "{query} {headers:?}");
    }
}

// rule: locks#entry
#[tokio::test]
async fn a_stored_lock_is_the_documented_entry() {
    let api = Api::start().await;
    let claimed = api.granted("ann", "WRITING", &["src/auth.ts"], json!({})).await;
    let entry = api.stored("src/auth.ts").await.remove(0);
    let time = entry["timestamp"].as_i64().unwrap();
    let end = entry["expiry_ms"].as_i64().unwrap();
    assert!(time > 1_700_000_000, "{time}");
    assert_eq!((end - 300_000) / 1000, time);
    assert_eq!(
        entry,
        json!({
            "key": "github.com/acme/shop:main:src/auth.ts", "file_path": "src/auth.ts", "branch": "main",
            "user_id": "ann", "user_name": "ann", "status": "WRITING", "agent_head": api.head,
            "message": "Moving sessions from cookies to tokens", "timestamp": time, "expiry": end / 1000,
            "token": entry["token"],
            "expiry_ms": end, "granted_at": time,
        })
    );
    let shown = &claimed["locks"]["src/auth.ts"];
    assert_eq!(
        (&shown["timestamp"], &shown["expiry"]),
        (&json!(time), &json!(end / 1000))
    );
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
    let header = api.get(LOCKS, &[("x-coord-agent", "a b")]).await;
    assert_eq!(header.json()["field"], "X-Coord-Agent");
}

#[tokio::test]
async fn locks_and_activity_have_one_limit_whatever_the_branch() {
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
    api.get(LOCKS, &[]).await.expect("200");
    api.get(ACTIVITY, &[]).await.expect("200");
    for path in [LOCKS, &format!("{LOCKS}&branch=main"), ACTIVITY] {
        let limited = api.get(path, &[]).await;
        limited.expect("429 RATE_LIMITED");
        assert!(limited.header("retry-after").is_some(), "{path}");
    }
    api.get(LOCKS, &[("x-coord-user", "bob")]).await.expect("200");
}

#[tokio::test]
async fn locks_and_activity_are_refused_without_a_credential() {
    let verifier = JwtVerifier::hs256(&SecretString::from(crate::identity::SECRET));
    let api = Api::start_with_verifier(verifier).await;
    let token = crate::identity::good_token();
    for path in [LOCKS, &format!("{LOCKS}&holder=me"), ACTIVITY] {
        assert_eq!(api.get(path, &[]).await.status, 401, "{path}");
        let shown = api.get(path, &[("authorization", &token)]).await.expect("200");
        let list = shown.get("locks").or(shown.get("events"));
        assert_eq!(list, Some(&json!([])), "{path}");
    }
}

#[tokio::test]
async fn the_function_of_the_graph_answers_locks_and_activity_too() {
    let api = Api::start().await;
    let endpoints = coord_http::endpoint::GRAPH.of_function(coord_extensions::endpoints());
    let router = coord_http::router(state(api.store.clone(), &[api.git.path().to_owned()]), &endpoints);
    let function = api.elsewhere(listen(router).await, api.store.clone());
    assert_eq!(held(&function, "", &[]).await, [""; 0]);
    assert_eq!(function.get_json(ACTIVITY).await["events"], json!([]));
    assert_eq!(function.get(GRAPH, &[]).await.status, 202);
    assert_eq!(function.get("/api/health", &[]).await.status, 404);
}
