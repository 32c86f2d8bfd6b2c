//! Reads of the registry, and who may.

use std::sync::Arc;

use coord_auth::{Authenticator, JwtVerifier};
use coord_test_support::signer::Signer;
use serde_json::json;

use super::intent;
use crate::api::{Api, REPO_URL};

#[tokio::test]
async fn intents_are_listed_in_the_order_of_writing_or_by_status() {
    let api = Api::start().await;
    for id in ["Z", "A", "M"] {
        api.writes_intent("ann", &intent(id, &[&format!("src/{id}.ts")])).await;
    }
    api.does("ann", "select", "A", json!({})).await;
    let ids = |body: serde_json::Value| -> Vec<String> {
        let intents = body["intents"].as_array().unwrap().clone();
        intents
            .iter()
            .map(|intent| intent["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(api.reads_intents("bob", "").await), ["Z", "A", "M"]);
    assert_eq!(ids(api.reads_intents("bob", "&status=PENDING").await), ["Z", "M"]);
    for (query, field) in [
        ("&status=OPEN", "status"),
        ("&view=all", "view"),
        ("&branch=a..b", "branch"),
    ] {
        let answer = api.get(&format!("/api/intents?repo_url={REPO_URL}{query}"), &[]).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (400, &json!(field)),
            "{query}"
        );
    }
    let twice = api
        .get(
            &format!("/api/intents?repo_url={REPO_URL}&view=state&view=context"),
            &[],
        )
        .await;
    assert_eq!(twice.status, 400);
}

// rule: intents#context
#[tokio::test]
async fn the_context_is_of_the_selected_intent_or_of_what_can_be_selected() {
    let api = Api::start().await;
    let context = async |user: &str| {
        let body = api.reads_intents(user, "&view=context").await;
        body["context"].as_str().unwrap().to_owned()
    };
    assert!(context("ann").await.contains("there is none that can be"));
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    assert!(
        context("ann")
            .await
            .contains("- REQ-1 (PENDING), login ann: \u{201c}The name of REQ-1\u{201d}; \u{201c}src/db.ts\u{201d}\n")
    );
    api.does("ann", "select", "REQ-1", json!({})).await;
    api.claim("bob", "READING", &["src/auth.ts"]).await;
    let text = context("ann").await;
    assert!(text.starts_with("Intent REQ-1: "), "{text}");
    assert!(
        text.contains("Last in the ledger:\n") && text.contains("- bob reads src/auth.ts: "),
        "{text}"
    );
    api.does("ann", "abandon", "REQ-1", json!({ "reason": "Not needed" }))
        .await;
    assert!(context("ann").await.contains("there is none that can be"));
    let headers = [("x-coord-user", "ann")];
    let one = api
        .get(
            &format!("/api/intents/REQ-1?repo_url={REPO_URL}&view=context"),
            &headers,
        )
        .await;
    assert_eq!(one.json()["intent"]["status"], "ABANDONED");
    assert!(one.json()["context"].as_str().unwrap().contains("Reason: Not needed\n"));
    let none = api
        .get(&format!("/api/intents/REQ-2?repo_url={REPO_URL}"), &headers)
        .await;
    assert_eq!((none.status, &none.json()["error"]), (404, &json!("UNKNOWN_INTENT")));
}

#[tokio::test]
async fn nothing_of_it_is_public_where_graphs_are() {
    let signer = Signer::ed25519();
    let api = Api::start_with(|app| {
        let verifier = JwtVerifier::public_key(&signer.public_pem()).unwrap();
        app.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)));
    })
    .await;
    for path in ["/api/intents", "/api/intents/REQ-1"] {
        let answer = api.get(&format!("{path}?repo_url={REPO_URL}"), &[]).await;
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.json()["orchestration"]["action"], "STOP");
    }
    let answer = api.post("ann", "/api/intents", &intent("REQ-1", &["src/db.ts"])).await;
    assert_eq!(answer.status, 401);
}
