//! The identity of callers.

use std::sync::Arc;

use coord_auth::{Authenticator, JwtVerifier};
use insta::{assert_json_snapshot, assert_snapshot};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{Answer, Api, GRAPH};

/// The key that signs the tokens of the tests.
pub const SECRET: &str = "a secret that only the test knows";

async fn start() -> Api {
    Api::start_with_verifier(JwtVerifier::hs256(&SecretString::from(SECRET))).await
}

fn bearer(secret: &str, algorithm: Algorithm, claims: &Value) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes());
    format!("Bearer {}", encode(&Header::new(algorithm), claims, &key).unwrap())
}

/// A token of ann's.
pub fn good_token() -> String {
    let claims = json!({ "sub": "ann", "name": "Ann Lee", "aud": "coord", "exp": 4_000_000_000_u64 });
    bearer(SECRET, Algorithm::HS256, &claims)
}

async fn claim(api: &Api, headers: &[(&'static str, &str)]) -> Answer {
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    api.post_with(headers, "/api/post_status", &body).await
}

#[tokio::test]
async fn a_token_identifies_its_caller() {
    let api = start().await;
    let granted = claim(&api, &[("authorization", &good_token())]).await;
    granted.expect("200");
    let other = json!({ "sub": "bob", "aud": ["other", "coord"], "exp": 4_000_000_000_u64 });
    let other = bearer(SECRET, Algorithm::HS256, &other).replace("Bearer", "bearer");
    // Nobody names himself.
    let refused = claim(&api, &[("authorization", &other), ("x-coord-user", "ann")]).await;
    let lock = &refused.expect("409")["conflicting_locks"]["src/auth.ts"];
    assert_eq!((&lock["user"], &lock["user_name"]), (&json!("ann"), &json!("Ann Lee")));
}

#[tokio::test]
async fn every_other_credential_is_refused() {
    let api = start().await;
    let good = json!({ "sub": "ann", "aud": "coord", "exp": 4_000_000_000_u64 });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        bearer(SECRET, Algorithm::HS256, &claims)
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        bearer(SECRET, Algorithm::HS256, &claims)
    };
    // {"alg":"none"} and no signature.
    let unsigned = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJhdWQiOiJjb29yZCIsImV4cCI6NDAwMDAwMDAwMH0.".to_owned();
    let mut lines = Vec::new();
    for (name, authorization) in [
        ("no token", String::new()),
        ("another scheme", "Basic YW5uOmFubg==".to_owned()),
        ("no JWT", "Bearer undefined".to_owned()),
        ("another secret", bearer("another secret", Algorithm::HS256, &good)),
        ("another algorithm", bearer(SECRET, Algorithm::HS512, &good)),
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
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge, Some("Bearer realm=\"coord\""), "{name}");
        assert_eq!(answer.json()["orchestration"]["action"], "STOP", "{name}");
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
    assert_eq!(api.held().await, 0);
    assert_eq!(api.get(GRAPH, &[]).await.status, 401);
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
    let text = [("content-type", "text/plain")];
    let answer = api.request(Method::POST, "/api/check_status", &text, "rubbish");
    assert_eq!(answer.await.status, 401);
}

// rule: http#loopback
#[tokio::test]
async fn the_user_on_one_machine_comes_from_the_header_or_the_system() {
    let api = Api::start().await;
    claim(&api, &[]).await.expect("200");
    let refused = claim(&api, &[("x-coord-user", "ann")]).await.json();
    assert_eq!(refused["conflicting_locks"]["src/auth.ts"]["user"], "root");
    for bad in ["", "two words"] {
        assert_eq!(claim(&api, &[("x-coord-user", bad)]).await.status, 401, "{bad:?}");
    }
    assert_snapshot!(claim(&api, &[("x-coord-user", "two words")]).await.refusal());
}
