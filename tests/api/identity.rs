//! The identity of callers.

use std::sync::Arc;

use coord_auth::{Authenticator, JwtVerifier};
use insta::{assert_json_snapshot, assert_snapshot};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{Answer, Api};

/// The key that signs the tokens of the tests.
pub const SECRET: &str = "a secret that only the test knows";

async fn start() -> Api {
    let verifier = JwtVerifier::hs256(&SecretString::from(SECRET));
    Api::start_with(|state| state.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)))).await
}

fn token(secret: &str, algorithm: Algorithm, claims: &Value) -> String {
    encode(
        &Header::new(algorithm),
        claims,
        &EncodingKey::from_secret(secret.as_bytes()),
    )
    .unwrap()
}

/// A token of ann's.
pub fn good_token() -> String {
    let claims = json!({ "sub": "ann", "name": "Ann Lee", "aud": "coord", "exp": 4_000_000_000_u64 });
    format!("Bearer {}", token(SECRET, Algorithm::HS256, &claims))
}

async fn claim(api: &Api, headers: &[(&'static str, &str)]) -> Answer {
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    let mut all = vec![("content-type", "application/json")];
    all.extend(headers);
    api.request(Method::POST, "/api/post_status", &all, body).await
}

#[tokio::test]
async fn a_token_identifies_its_caller() {
    let api = start().await;
    assert_eq!(claim(&api, &[("authorization", &good_token())]).await.status, 200);
    let other = json!({ "sub": "bob", "aud": ["other", "coord"], "exp": 4_000_000_000_u64 });
    let other = format!("bearer {}", token(SECRET, Algorithm::HS256, &other));
    let refused = claim(&api, &[("authorization", &other), ("x-coord-user", "ann")]).await;
    assert_eq!(refused.status, 409, "nobody names himself");
    let lock = refused.json()["conflicting_locks"]["src/auth.ts"].clone();
    assert_eq!((&lock["user"], &lock["user_name"]), (&json!("ann"), &json!("Ann Lee")));
}

#[tokio::test]
async fn every_other_credential_is_refused() {
    let api = start().await;
    let good = json!({ "sub": "ann", "aud": "coord", "exp": 4_000_000_000_u64 });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        format!("Bearer {}", token(SECRET, Algorithm::HS256, &claims))
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        format!("Bearer {}", token(SECRET, Algorithm::HS256, &claims))
    };
    // {"alg":"none"} and no signature.
    let unsigned = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJhdWQiOiJjb29yZCIsImV4cCI6NDAwMDAwMDAwMH0.".to_owned();
    let mut lines = Vec::new();
    for (name, authorization) in [
        ("no token", String::new()),
        ("another scheme", "Basic YW5uOmFubg==".to_owned()),
        ("no JWT", "Bearer undefined".to_owned()),
        (
            "another secret",
            format!("Bearer {}", token("another secret", Algorithm::HS256, &good)),
        ),
        (
            "another algorithm",
            format!("Bearer {}", token(SECRET, Algorithm::HS512, &good)),
        ),
        ("no signature", unsigned),
        ("expired", with("exp", json!(1_000_000_000))),
        ("not yet valid", with("nbf", json!(3_900_000_000_u64))),
        ("for somebody else", with("aud", json!("other"))),
        ("no exp", without("exp")),
        ("no aud", without("aud")),
        ("no sub", without("sub")),
        ("empty sub", with("sub", json!(""))),
        ("sub with a space", with("sub", json!("ann lee"))),
        ("sub of a wrong type", with("sub", json!(5))),
        ("very long", format!("Bearer {}", "x".repeat(9000))),
    ] {
        let answer = claim(&api, &[("authorization", &authorization), ("x-coord-user", "ann")]).await;
        assert_eq!(
            answer.header("www-authenticate"),
            Some("Bearer realm=\"coord\""),
            "{name}"
        );
        assert_eq!(answer.json()["orchestration"]["action"], "STOP", "{name}");
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
    assert_eq!(api.held().await, 0);
    let graph = api
        .get("/api/graph?repo_url=https://github.com/acme/shop&branch=main", &[])
        .await;
    assert_eq!(graph.status, 401);
}

#[tokio::test]
async fn a_deployment_without_a_secret_refuses_every_caller() {
    let api = Api::start_with(|state| state.authenticator = Arc::new(Authenticator::by_jwt(None))).await;
    assert_json_snapshot!(claim(&api, &[("authorization", &good_token())]).await.snapshot());
    assert_eq!(claim(&api, &[("x-coord-user", "ann")]).await.status, 401);
}

#[tokio::test]
async fn credentials_come_before_everything_else() {
    let api = start().await;
    let answer = api
        .request(
            Method::POST,
            "/api/check_status",
            &[("content-type", "text/plain")],
            "rubbish",
        )
        .await;
    assert_eq!(answer.status, 401);
}

// rule: http#loopback
#[tokio::test]
async fn the_user_on_one_machine_comes_from_the_header_or_the_system() {
    let api = Api::start().await;
    assert_eq!(claim(&api, &[]).await.status, 200);
    let refused = claim(&api, &[("x-coord-user", "ann")]).await.json();
    assert_eq!(refused["conflicting_locks"]["src/auth.ts"]["user"], "root");
    for bad in ["", "two words"] {
        assert_eq!(claim(&api, &[("x-coord-user", bad)]).await.status, 401, "{bad:?}");
    }
    assert_snapshot!(claim(&api, &[("x-coord-user", "two words")]).await.refusal());
}

// rule: http#loopback
#[tokio::test]
async fn a_page_elsewhere_cannot_reach_a_server_of_this_machine() {
    let api = Api::start().await;
    let state = crate::api::state(api.store.clone(), &[api.git.path().to_owned()]);
    let router = coord_http::router(state, coord_extensions::endpoints()).layer(axum::middleware::from_fn_with_state(
        Arc::new(coord_http::Edge::default()),
        coord_serve::local_guard::require_local_caller,
    ));
    let guarded = crate::api::listen(router).await;
    let url = format!("http://{guarded}/api/graph?repo_url=https://github.com/acme/shop&branch=main");
    for (host, status) in [
        ("evil.example", 403),
        ("localhost.evil.example:3000", 403),
        ("localhost:3000", 202),
        ("127.0.0.1", 202),
    ] {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(&url).header("host", host).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{host}");
        if status == 403 {
            let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!(body["error"], "FORBIDDEN");
        }
    }
    // A page elsewhere may send a form or plain text without asking; neither is JSON, and no answer gives leave to ask.
    let preflight = api
        .request(
            Method::OPTIONS,
            "/api/post_status",
            &[
                ("origin", "https://evil.example"),
                ("access-control-request-method", "POST"),
            ],
            "",
        )
        .await;
    assert_eq!(preflight.status, 405);
    assert_eq!(preflight.header("access-control-allow-origin"), None);
}
