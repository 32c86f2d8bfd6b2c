//! The rules for callers: credentials, hosts, origins; and that no credential is logged.

use std::sync::Arc;

use coord_auth::{AuthError, Authenticator, Credentials, JwtVerifier, TokenVerifier, Verdict};
use coord_domain::RepoId;
use coord_settings::edge::AllowedOrigins;
use coord_settings::service_hosts::ServiceHosts;
use coord_test_support::log::Log;
use coord_test_support::signer::Signer;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::json;

use super::{METADATA, PATH, ask, check_of, newest, send};
use crate::api::{Api, REPO_URL};
use crate::tokens::{ISSUER, claims};

/// A server that accepts only callers with a token, under the name `coord.example.com`.
async fn guarded() -> Api {
    Api::start_with(|app| {
        let verifier = JwtVerifier::hs256(&SecretString::from(SECRET)).with_issuer(ISSUER);
        app.authenticator = Arc::new(Authenticator::ByCredential(Credentials {
            jwt: Some(verifier),
            ..Credentials::default()
        }));
        let hosts = |name: &str| (name == "COORD_HOSTS").then(|| "coord.example.com".to_owned());
        app.edge.own_hosts = ServiceHosts::from_env(&hosts).unwrap();
        let origins = |name: &str| (name == "COORD_CORS_ORIGINS").then(|| "https://app.example.com".to_owned());
        app.edge.cors = AllowedOrigins::from_env(&origins).unwrap();
    })
    .await
}

const SECRET: &str = "a secret that only the test knows";

fn bearer_by(secret: &str) -> String {
    let signer = Signer::Secret(secret.as_bytes().to_vec());
    format!("Bearer {}", signer.sign(None, &claims(&json!({}))))
}

fn bearer() -> String {
    bearer_by(SECRET)
}

// rule: mcp#mcp-credentials
#[tokio::test]
async fn a_bad_credential_gets_a_pointer_to_the_issuer() {
    let api = guarded().await;
    let list = newest("tools/list", json!({})).to_string();
    let forged = bearer_by("another secret of thirty-two bytes");
    let mut challenges = Vec::new();
    for credential in [
        None,
        Some("Bearer undefined"),
        Some(forged.as_str()),
        Some("Basic YTpi"),
    ] {
        let mut headers = vec![("host", "coord.example.com"), ("x-coord-user", "ann")];
        headers.extend(credential.map(|credential| ("authorization", credential)));
        let answer = send(&api, &headers, list.clone()).await;
        answer.expect("401 UNAUTHORIZED");
        challenges.push(answer.header("www-authenticate").unwrap().to_owned());
    }
    challenges.dedup();
    let metadata = "resource_metadata=\"http://coord.example.com/.well-known/oauth-protected-resource/api/mcp\"";
    assert_eq!(
        challenges,
        [
            format!("Bearer realm=\"coord\", {metadata}"),
            format!("Bearer realm=\"coord\", error=\"invalid_token\", {metadata}")
        ]
    );
    let described = api.get(METADATA, &[("host", "coord.example.com")]).await;
    assert_eq!(
        described.json(),
        json!({
            "resource": "http://coord.example.com/api/mcp",
            "resource_name": "Coord",
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
        })
    );
    let token = bearer();
    let headers = [("host", "coord.example.com"), ("authorization", token.as_str())];
    assert_eq!(ask(&api, &headers, "tools/list", json!({})).await.status, 200);
}

/// GitHub, which knows nobody.
pub struct Nobody;

#[async_trait::async_trait]
impl TokenVerifier for Nobody {
    async fn verify(&self, _: &SecretString, _: &RepoId) -> Result<Verdict, AuthError> {
        Ok(Verdict::Refused("GitHub does not take this token".to_owned()))
    }

    async fn verify_without_token(&self, _: &RepoId) -> Result<Verdict, AuthError> {
        Ok(Verdict::NoRight("nobody may".to_owned()))
    }

    fn authorization_server(&self) -> Option<String> {
        Some("https://github.com/login/oauth".to_owned())
    }
}

#[tokio::test]
async fn a_token_that_github_refuses_is_a_401_as_with_http() {
    let api = Api::start_with(|app| {
        app.authenticator = Arc::new(Authenticator::ByCredential(Credentials {
            people: Some(Arc::new(Nobody)),
            ..Credentials::default()
        }));
    })
    .await;
    let token = format!("Bearer ghp_{}", "a".repeat(36));
    let read = json!({ "uri": format!("coord://locks?repo_url={REPO_URL}") });
    for (method, params) in [("tools/call", check_of(&api)), ("resources/read", read)] {
        let answer = ask(&api, &[("authorization", token.as_str())], method, params).await;
        answer.expect("401 UNAUTHORIZED");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"invalid_token\""), "{method}: {challenge}");
    }
    let described = api.get(METADATA, &[]).await.json();
    assert_eq!(
        described["authorization_servers"],
        json!(["https://github.com/login/oauth"])
    );
}

// rule: mcp#mcp-host
#[tokio::test]
async fn other_hosts_and_pages_of_other_sites_are_refused_before_anything_else() {
    let api = guarded().await;
    let list = async |headers: &[(&'static str, &str)]| {
        let token = bearer();
        let headers = [headers, &[("authorization", token.as_str())]].concat();
        ask(&api, &headers, "tools/list", json!({})).await
    };
    for host in [
        "rebound.example.com",
        "coord.example.com.evil.example",
        "evil\"quote",
        "a@coord.example.com",
    ] {
        let refused = list(&[("host", host)]).await.expect("403 FORBIDDEN");
        assert!(refused["message"].as_str().unwrap().contains("COORD_HOSTS"));
        assert_eq!(api.get(METADATA, &[("host", host)]).await.status, 403, "{host}");
    }
    for (origin, expected) in [
        ("https://coord.example.com", 200),
        ("http://coord.example.com", 200),
        ("https://app.example.com", 200),
        ("https://evil.example.com", 403),
        ("https://coord.example.com:8443", 403),
        ("https://coord.example.com.evil.example", 403),
        ("null", 403),
        ("", 403),
    ] {
        let answer = list(&[("host", "coord.example.com"), ("origin", origin)]).await;
        assert_eq!(answer.status, expected, "{origin}: {}", answer.json());
    }
    assert_eq!(list(&[("host", "localhost:3000")]).await.status, 200);
}

#[tokio::test]
async fn an_allowed_page_may_send_the_headers_of_the_protocol() {
    let api = guarded().await;
    let preflight = [
        ("host", "coord.example.com"),
        ("origin", "https://app.example.com"),
        ("access-control-request-method", "POST"),
    ];
    let answer = api.request(Method::OPTIONS, PATH, &preflight, "").await;
    assert_eq!(answer.status, 204);
    let sent = answer.header("access-control-allow-headers").unwrap();
    for name in [
        "authorization",
        "x-api-key",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
    ] {
        assert!(sent.split(", ").any(|allowed| allowed == name), "{sent}");
    }
}

#[tokio::test]
async fn no_credential_is_in_the_log_at_any_level() {
    let (log, _guard) = Log::json("trace");
    let api = guarded().await;
    let token = bearer();
    for credential in [
        ("authorization", token.as_str()),
        ("x-api-key", token.trim_start_matches("Bearer ")),
    ] {
        let answer = ask(&api, &[credential], "tools/call", check_of(&api)).await;
        assert_eq!(answer.json()["result"]["structuredContent"]["status"], "OK");
    }
    let log = log.read();
    assert!(log.contains("/api/mcp") && log.contains("rmcp"), "{log}");
    let signature = token.rsplit('.').next().unwrap();
    assert!(!log.contains(signature), "{log}");
}
