//! Where a token counts, and what a deployment answers that cannot verify anybody.

use std::sync::Arc;

use coord_auth::{Authenticator, Credentials, JwtVerifier, RepoLimit};
use coord_domain::UserId;
use coord_http::{Audience, Endpoint};
use coord_store::Value as StoreValue;
use insta::assert_json_snapshot;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api, REPO_URL, listen};
use crate::tokens::claims;
use coord_test_support::signer::Signer;

async fn start(signer: &Signer) -> Api {
    Api::start_with_verifier(JwtVerifier::public_key(&signer.public_pem()).unwrap()).await
}

/// A token with these claims over the good ones.
fn bearer(signer: &Signer, more: &Value) -> String {
    format!("Bearer {}", signer.sign(None, &claims(more)))
}

/// Every endpoint that is about a repository, asked about `repo_url`.
pub async fn ask_all(api: &Api, headers: &[(&'static str, &str)], repo_url: &str) -> Vec<(Endpoint, Answer)> {
    let mut answers = Vec::new();
    for endpoint in coord_extensions::endpoints().iter().copied() {
        let route = endpoint.route();
        if route.audience == Audience::Operator {
            // Operator endpoints concern the deployment: they have a separate secret, or are for everybody.
            continue;
        }
        let path = route.path.replace("{id}", "REQ-1");
        let (method, path, body) = if route.methods == "POST" {
            // A check takes what a claim does, and ignores the rest.
            let repo = json!({ "repo_url": repo_url });
            let mut body = api.post_body("WRITING", &["a.ts"], repo);
            if endpoint == coord_http::endpoint::operation::MCP {
                let call = json!({ "name": "post_status", "arguments": body });
                body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
            }
            (Method::POST, path, body)
        } else {
            let path = format!("{path}?repo_url={repo_url}&branch=main");
            (Method::GET, path, Value::Null)
        };
        let mut all = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        let answer = api.request(method, &path, &all, body.to_string()).await;
        answers.push((endpoint, in_http(endpoint, answer)));
    }
    answers
}

/// A refused call of a tool as HTTP would refuse it.
fn in_http(endpoint: Endpoint, answer: Answer) -> Answer {
    if endpoint != coord_http::endpoint::operation::MCP || answer.status != 200 {
        return answer;
    }
    let content = &answer.json()["result"]["structuredContent"];
    let is_forbidden = content["error"] == "FORBIDDEN_REPOSITORY";
    Answer {
        status: if is_forbidden { 403 } else { 200 },
        bytes: content.to_string().into_bytes(),
        ..answer
    }
}

// rule: settings#jwt-claims
#[tokio::test]
async fn a_token_with_repos_counts_there_and_nowhere_else() {
    let signer = Signer::ed25519();
    let api = start(&signer).await;
    for (repos, counts) in [
        (json!(["github.com/acme/shop"]), true),
        (json!(["git@github.com:Acme/Shop.git"]), true),
        (json!(["github.com/other/one", "github.com/acme/*"]), true),
        (Value::Null, true),
        (json!(["github.com/acme/sho"]), false),
        (json!(["github.com/acme/shop/*"]), false),
        (json!([]), false),
    ] {
        let token = bearer(&signer, &json!({ "repos": repos }));
        let headers = [("authorization", token.as_str()), ("x-coord-user", "root")];
        for (endpoint, answer) in ask_all(&api, &headers, REPO_URL).await {
            // Some acts take a person in any case.
            let is_allowed = answer.status != 403 || answer.json()["error"] == "PERSON_REQUIRED";
            assert_eq!(is_allowed, counts, "{endpoint:?} {repos}: {}", answer.json());
            if !counts {
                assert_eq!(answer.json()["error"], "FORBIDDEN_REPOSITORY");
                assert_eq!(answer.json()["field"], "repo_url");
            }
        }
    }
}

#[tokio::test]
async fn a_repository_that_the_deployment_does_not_list_is_served_by_no_endpoint() {
    let signer = Signer::ed25519();
    let verifier = JwtVerifier::public_key(&signer.public_pem()).unwrap();
    let api = Api::start_with(|state| {
        state.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)));
        state.source = None;
        state.repositories = RepoLimit::of_host("acme/*", "github.com");
    })
    .await;
    let token = bearer(&signer, &json!({}));
    let headers = [("authorization", token.as_str())];
    let mut refused = 0;
    for (endpoint, answer) in ask_all(&api, &headers, "https://github.com/other/made-up").await {
        match answer.json()["error"].as_str() {
            Some("UNKNOWN_REPOSITORY") => refused += 1,
            // Requests that do not fit the endpoint, or need a person, are refused earlier.
            Some("PERSON_REQUIRED" | "INVALID_FIELD" | "MALFORMED_BODY") => {}
            _ => panic!("{endpoint:?}: {}", answer.json()),
        }
    }
    assert!(refused >= 15, "{refused}");
    let keys = api.command(["KEYS", "*"]).await;
    assert_eq!(keys, Some(StoreValue::Array(Vec::new())));
}

#[tokio::test]
async fn an_unauthorized_caller_does_not_learn_whether_a_repository_exists() {
    let signer = Signer::ed25519();
    let api = start(&signer).await;
    let token = bearer(&signer, &json!({ "repos": ["github.com/other/*"] }));
    let headers = [("authorization", token.as_str())];
    let there = ask_all(&api, &headers, "https://github.com/acme/shop").await;
    let not_there = ask_all(&api, &headers, "https://github.com/acme/nowhere").await;
    for ((endpoint, there), (_, not_there)) in there.iter().zip(&not_there) {
        assert_eq!((there.status, not_there.status), (403, 403), "{endpoint:?}");
        assert_eq!(
            there.refusal().replace("acme/shop", "acme/nowhere"),
            not_there.refusal(),
            "{endpoint:?}"
        );
    }
    assert_json_snapshot!(there[0].1.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn a_token_for_one_repository_does_not_learn_which_others_are_served() {
    let signer = Signer::ed25519();
    let api = start(&signer).await;
    let token = bearer(&signer, &json!({ "repos": ["github.com/acme/unserved"] }));
    for name in ["unserved", "shop", "nothing"] {
        let repo_url = format!("https://github.com/acme/{name}");
        for (endpoint, answer) in ask_all(&api, &[("authorization", &token)], &repo_url).await {
            let text = answer.text();
            assert!(name == "shop" || !text.contains("shop"), "{endpoint:?} {name}: {text}");
        }
    }
    let ask = async |name: &str| {
        let path = format!("/api/locks?repo_url=https://github.com/acme/{name}");
        let answer = api.get(&path, &[("authorization", &token)]).await;
        (answer.status, answer.text().replace(name, "NAME"))
    };
    assert_eq!(ask("shop").await, ask("nothing").await);
}

#[tokio::test]
async fn a_claim_repos_that_cannot_be_read_makes_the_token_worthless() {
    let signer = Signer::ed25519();
    let api = start(&signer).await;
    for repos in [
        json!("github.com/acme/shop"),
        json!({}),
        json!(["*"]),
        json!(["github.com/*"]),
        json!(["github.com/acme/shop", 7]),
        // It is a claim too: it is there.
        Value::Null,
    ] {
        let mut claims = claims(&json!({}));
        claims["repos"] = repos.clone();
        let token = format!("Bearer {}", signer.sign(None, &claims));
        for (endpoint, answer) in ask_all(&api, &[("authorization", &token)], REPO_URL).await {
            assert_eq!(answer.status, 401, "{endpoint:?} {repos}");
        }
    }
}

#[tokio::test]
async fn a_header_that_names_a_user_changes_nothing_beside_a_token() {
    let signer = Signer::p256();
    let verifier = JwtVerifier::public_key(&signer.public_pem()).unwrap();
    let local = Authenticator::Local {
        user: UserId::parse("root").unwrap(),
        credentials: Credentials {
            jwt: Some(verifier.clone()),
            ..Credentials::default()
        },
    };
    for authenticator in [Authenticator::by_jwt(Some(verifier)), local] {
        let api = Api::start_with(|state| state.authenticator = Arc::new(authenticator)).await;
        let claim = async |signer: &Signer, login: &str, user: &str| {
            let body = api.post_body("WRITING", &["src/auth.ts"], json!({}));
            let token = bearer(signer, &json!({ "sub": login }));
            let headers = [
                ("authorization", token.as_str()),
                ("x-coord-user", user),
                ("x-forwarded-user", user),
            ];
            api.post_with(&headers, "/api/post_status", &body).await
        };
        claim(&Signer::p256(), "ann", "ann").await.expect("401");
        claim(&signer, "ann", "bob").await.expect("200");
        let refused = claim(&signer, "bob", "ann").await.expect("409");
        assert_eq!(refused["conflicting_locks"]["src/auth.ts"]["user"], "ann");
    }
}

#[tokio::test]
async fn a_function_with_contradictory_settings_answers_identity_unavailable() {
    let set = |name: &str| match name {
        "COORD_JWT_SECRET" => Some("sesame".repeat(6)),
        "COORD_JWT_JWKS_URL" => Some("https://login.example.com/jwks".to_owned()),
        _ => None,
    };
    let api = Api::start().await;
    let token = bearer(&Signer::Secret(b"sesame".to_vec()), &json!({}));
    let of_callers = |endpoint: &Endpoint| endpoint.route().audience != Audience::Operator;
    for endpoint in coord_extensions::endpoints().iter().copied().filter(of_callers) {
        let router = coord_extensions::function_router(endpoint, &set);
        let address = listen(router.layer(axum::Extension(coord_tools::protocol()))).await;
        let function = api.elsewhere(address, Arc::clone(&api.store));
        let answers = ask_all(&function, &[("authorization", &token)], REPO_URL).await;
        let mut answers = answers.iter();
        let (_, answer) = answers.find(|(requested, _)| *requested == endpoint).unwrap();
        let body = answer.expect("503 IDENTITY_UNAVAILABLE");
        let message = body["message"].as_str().unwrap();
        assert!(
            message.contains("COORD_JWT_SECRET") && message.contains("COORD_JWT_JWKS_URL"),
            "{message}"
        );
        assert!(!message.contains("sesame"));
    }
}
