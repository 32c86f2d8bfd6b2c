//! `X-API-Key`: the header of proxies that cannot set `Authorization`.

use std::sync::Arc;

use coord_auth::{Authenticator, Credentials, JwtVerifier};
use coord_domain::UserId;
use coord_test_support::signer::Signer;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{Answer, Api, GRAPH, REPO_URL};
use crate::identity::{SECRET, good_token};
use crate::mcp::callers::Nobody;
use crate::token_limits::ask_all;
use crate::tokens::claims;

fn credentials() -> Credentials {
    Credentials {
        jwt: Some(JwtVerifier::hs256(&SecretString::from(SECRET))),
        ..Credentials::default()
    }
}

async fn start_with(authenticator: Authenticator) -> Api {
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

async fn claim(api: &Api, headers: &[(&'static str, &str)]) -> Answer {
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    api.post_with(headers, "/api/post_status", &body).await
}

// rule: settings#x-api-key
#[tokio::test]
async fn a_token_there_names_the_caller_as_a_bearer_token_does() {
    let api = start_with(Authenticator::ByCredential(credentials())).await;
    let (token, bearer) = (anns_token(), good_token());
    claim(&api, &[("x-api-key", &token)]).await.expect("200");
    // The same caller by either header.
    claim(&api, &[("authorization", &bearer)]).await.expect("200");
    let bob = signed(&json!({ "sub": "bob" }));
    let refused = claim(&api, &[("x-api-key", &bob), ("x-coord-user", "ann")]).await;
    let lock = &refused.expect("409 LOCK_CONFLICT")["conflicting_locks"]["src/auth.ts"];
    assert_eq!((&lock["user"], &lock["user_name"]), (&json!("ann"), &json!("Ann Lee")));
    // Both headers with one token, in any case of the names.
    let both = claim(&api, &[("authorization", &bearer), ("X-API-KEY", &token)]).await;
    both.expect("200");
}

// rule: http#one-header
#[tokio::test]
async fn every_endpoint_reads_it_and_refuses_what_contradicts_itself() {
    let api = start_with(Authenticator::ByCredential(credentials())).await;
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
    let no_token = "X-API-Key is not a token; send the token alone, without a word such as Bearer before it";
    for (headers, sentence) in [
        (
            &[("authorization", bearer.as_str()), ("x-api-key", other.as_str())][..],
            "Authorization and X-API-Key have different tokens; send one of the two headers",
        ),
        (
            &[("x-api-key", token.as_str()), ("x-api-key", other.as_str())],
            "X-API-Key was sent twice; send it once",
        ),
        (&[("x-api-key", bearer.as_str())], no_token),
        (&[("x-api-key", "")], no_token),
    ] {
        for (endpoint, answer) in ask_all(&api, headers, REPO_URL).await {
            let message = answer.json()["message"].take();
            assert_eq!((answer.status, message), (401, json!(sentence)), "{endpoint:?}");
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
    let api = start_with(Authenticator::ByCredential(credentials())).await;
    for bad in ["undefined", &signed(&json!({ "exp": 1_000_000_000 }))] {
        let refused = claim(&api, &[("x-api-key", bad), ("x-coord-user", "ann")]).await;
        refused.expect("401 UNAUTHORIZED");
    }
    assert_eq!(api.held().await, 0);
    let public = start_with(Authenticator::ByCredential(Credentials {
        people: Some(Arc::new(Nobody)),
        is_graph_public: true,
        ..Credentials::default()
    }))
    .await;
    // GitHub refuses anonymous callers here.
    assert_eq!(public.get(GRAPH, &[]).await.status, 403);
    assert_eq!(public.get(GRAPH, &[("x-api-key", "hunter2")]).await.status, 401);
}

#[tokio::test]
async fn on_one_machine_it_counts_as_a_bearer_token_does() {
    let api = start_with(Authenticator::Local {
        user: UserId::parse("root").unwrap(),
        credentials: credentials(),
    })
    .await;
    let granted = claim(&api, &[("x-api-key", &anns_token()), ("x-coord-user", "bob")]).await;
    granted.expect("200");
    let refused = claim(&api, &[("x-coord-user", "bob")]).await.expect("409");
    assert_eq!(refused["conflicting_locks"]["src/auth.ts"]["user"], "ann");
    claim(&api, &[("x-api-key", "undefined")]).await.expect("401");
}

#[tokio::test]
async fn the_secret_of_the_sweep_is_not_taken_from_it() {
    let api = Api::start_with(|app| app.cron_secret = Some(SecretString::from("cron"))).await;
    let sweep = async |header: (&'static str, &str)| api.get("/api/cron_cleanup", &[header]).await.status;
    assert_eq!(sweep(("x-api-key", "cron")).await, 401);
    assert_eq!(sweep(("authorization", "Bearer cron")).await, 200);
}
