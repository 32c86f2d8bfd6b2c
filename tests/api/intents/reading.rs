//! Reads of the registry, and who may.

use coord_auth::JwtVerifier;
use coord_test_support::signer::Signer;
use serde_json::json;

use super::intent;
use crate::api::{Api, REPO_URL};
use crate::teams::{texts_of, wrong_field};

#[tokio::test]
async fn intents_are_listed_in_the_order_of_writing_or_by_status() {
    let api = Api::start().await;
    for id in ["Z", "A", "M"] {
        api.writes_intent("ann", &intent(id, &[&format!("src/{id}.ts")])).await;
    }
    api.does("ann", "select", "A", json!({})).await;
    for (query, ids) in [("", &["Z", "A", "M"][..]), ("&status=PENDING", &["Z", "M"])] {
        let read = api.reads_intents("bob", query).await;
        assert_eq!(texts_of(&read["intents"], "id"), ids, "{query}");
    }
    for (query, field) in [
        ("&status=OPEN", "status"),
        ("&view=all", "view"),
        ("&branch=a..b", "branch"),
    ] {
        let answer = api.gets("bob", "intents", query).await;
        assert_eq!(wrong_field(&answer), field, "{query}");
    }
    let twice = api.gets("bob", "intents", "&view=state&view=context").await;
    assert_eq!(twice.status, 400);
}

// rule: intents#context
#[tokio::test]
async fn the_context_is_of_the_selected_intent_or_of_what_can_be_selected() {
    let api = Api::start().await;
    let context = async || {
        let body = api.reads_intents("ann", "&view=context").await;
        body["context"].as_str().unwrap().to_owned()
    };
    assert!(context().await.contains("there is none that can be"));
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    assert!(
        context()
            .await
            .contains("- REQ-1 (PENDING), login ann: \u{201c}The name of REQ-1\u{201d}; \u{201c}src/db.ts\u{201d}\n")
    );
    api.does("ann", "select", "REQ-1", json!({})).await;
    api.claim("bob", "READING", &["src/auth.ts"]).await;
    let text = context().await;
    assert!(text.starts_with("Intent REQ-1: "), "{text}");
    for part in ["Last in the ledger:\n", "- bob reads src/auth.ts: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let abandon = json!({ "reason": "Not needed" });
    api.does("ann", "abandon", "REQ-1", abandon).await;
    assert!(context().await.contains("there is none that can be"));
    let one = api.shows("ann", "intents/REQ-1", "&view=context").await;
    assert_eq!(one["intent"]["status"], "ABANDONED");
    assert!(one["context"].as_str().unwrap().contains("Reason: Not needed\n"));
    let none = api.gets("ann", "intents/REQ-2", "").await;
    none.expect("404 UNKNOWN_INTENT");
}

#[tokio::test]
async fn nothing_of_it_is_public_where_graphs_are() {
    let verifier = JwtVerifier::public_key(&Signer::ed25519().public_pem()).unwrap();
    let api = Api::start_with_verifier(verifier).await;
    for path in ["/api/intents", "/api/intents/REQ-1"] {
        let answer = api.get(&format!("{path}?repo_url={REPO_URL}"), &[]).await;
        answer.expect("401 UNAUTHORIZED STOP");
    }
    let answer = api.post("ann", "/api/intents", &intent("REQ-1", &["src/db.ts"])).await;
    assert_eq!(answer.status, 401);
}
