//! `X-API-Key`: the header of proxies that cannot set `Authorization`.

use std::sync::Arc;

use coord_auth::{Authenticator, Credentials, JwtVerifier};
use coord_domain::UserId;
use coord_test_support::signer::Signer;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{Api, REPO_URL};
use crate::identity::{SECRET, good_token};
use crate::mcp::callers::Nobody;
use crate::token_limits::ask_all;
use crate::tokens::claims;

const GRAPH: &str = "/api/graph?repo_url=https://github.com/acme/shop&branch=main";

fn credentials() -> Credentials {
    Credentials {
        jwt: Some(JwtVerifier::hs256(&SecretString::from(SECRET))),
        ..Credentials::default()
    }
}

async fn start() -> Api {
    let authenticator = Authenticator::ByCredential(credentials());
    Api::start_with(|app| app.authenticator = Arc::new(authenticator)).await
}

/// A JWT of ann's alone.
fn anns_token() -> String {
    good_token().trim_start_matches("Bearer ").to_owned()
}

/// A JWT with other claims than `claims` has.
fn signed(more: &Value) -> String {
    Signer::Secret(SECRET.as_bytes().to_vec()).sign(None, &claims(more))
}

async fn claim(api: &Api, headers: &[(&'static str, &str)]) -> (u16, Value) {
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    let headers = [&[("content-type", "application/json")], headers].concat();
    let answer = api.request(Method::POST, "/api/post_status", &headers, body).await;
    (answer.status, answer.json())
}

// rule: settings#x-api-key
#[tokio::test]
async fn a_token_there_names_the_caller_as_a_bearer_token_does() {
    let api = start().await;
    let (status, _) = claim(&api, &[("x-api-key", &anns_token())]).await;
    assert_eq!(status, 200);
    let (status, renewed) = claim(&api, &[("authorization", &good_token())]).await;
    assert_eq!(status, 200, "the same caller by either header: {renewed}");
    let bob = signed(&json!({ "sub": "bob" }));
    let (status, refused) = claim(&api, &[("x-api-key", &bob), ("x-coord-user", "ann")]).await;
    assert_eq!((status, &refused["error"]), (409, &json!("LOCK_CONFLICT")));
    let lock = &refused["conflicting_locks"]["src/auth.ts"];
    assert_eq!((&lock["user"], &lock["user_name"]), (&json!("ann"), &json!("Ann Lee")));
    // Both headers with one token, in any case of the names.
    let token = anns_token();
    let both = [("authorization", good_token()), ("X-API-KEY", token)];
    let both = [(both[0].0, both[0].1.as_str()), (both[1].0, both[1].1.as_str())];
    assert_eq!(claim(&api, &both).await.0, 200);
}

// rule: http#one-header
#[tokio::test]
async fn every_endpoint_reads_it_and_refuses_what_contradicts_itself() {
    let api = start().await;
    let (token, other) = (anns_token(), signed(&json!({ "sub": "bob" })));
    for (endpoint, answer) in ask_all(&api, &[("x-api-key", &token)], REPO_URL).await {
        // The path names something that does not exist, the caller is in no team, or a field is missing.
        let path = endpoint.path();
        let is_team_rule = ["/api/tasks", "/api/messages"]
            .iter()
            .any(|prefix| path.starts_with(prefix));
        let expected = match path.contains('{') || is_team_rule || endpoint == coord_intents_server::LEDGER_VERIFY {
            true => [400, 404],
            false => [200, 202],
        };
        assert!(expected.contains(&answer.status), "{endpoint:?}: {}", answer.json());
    }
    let bearer = good_token();
    for (headers, sentence) in [
        (
            &[("authorization", bearer.as_str()), ("x-api-key", other.as_str())][..],
            "Authorization and X-API-Key have different tokens; send one of the two headers",
        ),
        (
            &[("x-api-key", token.as_str()), ("x-api-key", other.as_str())],
            "X-API-Key is there twice; send it once",
        ),
        (
            &[("x-api-key", bearer.as_str())],
            "X-API-Key is not a token; send the token alone, without a word such as Bearer before it",
        ),
        (
            &[("x-api-key", "")],
            "X-API-Key is not a token; send the token alone, without a word such as Bearer before it",
        ),
    ] {
        for (endpoint, answer) in ask_all(&api, headers, REPO_URL).await {
            let body = answer.json();
            assert_eq!(
                (answer.status, &body["message"]),
                (401, &json!(sentence)),
                "{endpoint:?}"
            );
            let challenge = answer.header("www-authenticate").unwrap();
            let says_invalid = challenge.contains("error=\"invalid_token\"");
            assert_eq!(
                says_invalid,
                endpoint == coord_http::endpoint::operation::MCP,
                "{endpoint:?}: {challenge}"
            );
        }
    }
    // The claim of the first round is ann's alone.
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn a_bad_api_key_is_refused_and_never_admitted_as_anonymous() {
    let api = start().await;
    for bad in ["undefined", signed(&json!({ "exp": 1_000_000_000 })).as_str()] {
        let (status, body) = claim(&api, &[("x-api-key", bad), ("x-coord-user", "ann")]).await;
        assert_eq!((status, &body["error"]), (401, &json!("UNAUTHORIZED")), "{bad}");
    }
    assert_eq!(api.held().await, 0);
    let public = Api::start_with(|app| {
        app.authenticator = Arc::new(Authenticator::ByCredential(Credentials {
            people: Some(Arc::new(Nobody)),
            is_graph_public: true,
            ..Credentials::default()
        }));
    })
    .await;
    assert_eq!(
        public.get(GRAPH, &[]).await.status,
        403,
        "anybody, whom GitHub refuses here"
    );
    assert_eq!(public.get(GRAPH, &[("x-api-key", "hunter2")]).await.status, 401);
}

#[tokio::test]
async fn on_one_machine_it_counts_as_a_bearer_token_does() {
    let api = Api::start_with(|app| {
        app.authenticator = Arc::new(Authenticator::Local {
            user: UserId::parse("root").unwrap(),
            credentials: credentials(),
        });
    })
    .await;
    let token = anns_token();
    assert_eq!(
        claim(&api, &[("x-api-key", &token), ("x-coord-user", "bob")]).await.0,
        200
    );
    let (status, refused) = claim(&api, &[("x-coord-user", "bob")]).await;
    assert_eq!(status, 409);
    assert_eq!(refused["conflicting_locks"]["src/auth.ts"]["user"], "ann");
    assert_eq!(claim(&api, &[("x-api-key", "undefined")]).await.0, 401);
}

#[tokio::test]
async fn the_secret_of_the_sweep_is_not_taken_from_it() {
    let api = Api::start_with(|app| app.cron_secret = Some(SecretString::from("cron"))).await;
    let sweep = async |header: (&'static str, &str)| api.get("/api/cron_cleanup", &[header]).await.status;
    assert_eq!(sweep(("x-api-key", "cron")).await, 401);
    assert_eq!(sweep(("authorization", "Bearer cron")).await, 200);
}
