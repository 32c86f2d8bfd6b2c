//! Symbols in place of files, and fields that a request does not have.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::api::Api;

/// The warnings that begin with `code`.
fn warnings(answer: &Answer, code: &str) -> Vec<String> {
    let all = answer.json()["warnings"].clone();
    let all: Vec<String> = serde_json::from_value(all).unwrap();
    all.into_iter().filter(|warning| warning.starts_with(code)).collect()
}

#[tokio::test]
async fn a_symbol_claims_its_file_and_warns_whole_file() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    for symbol in [
        "src/auth.ts:login",
        "src/auth.ts#login",
        "src/auth.ts::Session::login",
        "src/auth.ts:12-20",
    ] {
        let answer = api.post_status("bob", "WRITING", &[symbol], json!({})).await;
        assert_eq!(answer.status, 409, "{symbol}: {}", answer.json());
        assert_eq!(
            answer.json()["orchestration"]["metadata"]["conflicts"],
            json!(["src/auth.ts"])
        );
        let expected = format!("WHOLE_FILE: Coord locks whole files, so '{symbol}' stands for 'src/auth.ts'.");
        assert_eq!(warnings(&answer, "WHOLE_FILE"), [expected]);
        let checked = api.check("bob", &[symbol], json!({})).await;
        assert_eq!(warnings(&checked, "WHOLE_FILE").len(), 1, "{}", checked.json());
    }
    // Names that have no file before the sign are names of files.
    for file in ["notes#1", "#draft.md", "src/a:b", "src/auth.ts:"] {
        let answer = api.post_status("bob", "WRITING", &[file], json!({})).await;
        assert_eq!(answer.status, 200, "{file}: {}", answer.json());
        assert_eq!(warnings(&answer, "WHOLE_FILE"), [""; 0]);
    }
}

// rule: locks#vague-message
#[tokio::test]
async fn fields_that_a_request_does_not_have_are_named() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let more = json!({ "filez": ["a"], "ttl": 600 });
    for answer in [
        api.check("ann", &["src/auth.ts"], more.clone()).await,
        api.post_status("ann", "WRITING", &["src/auth.ts"], more.clone()).await,
    ] {
        assert_eq!(answer.status, 200, "{}", answer.json());
        let named = warnings(&answer, "UNKNOWN_FIELD");
        for name in ["'filez'", "'ttl'"] {
            assert!(named.iter().any(|warning| warning.contains(name)), "{name}: {named:?}");
        }
    }
    let many: serde_json::Map<String, Value> = (0..100).map(|number| (format!("f{number}"), json!(1))).collect();
    let answer = api.check("ann", &["src/auth.ts"], Value::Object(many)).await;
    assert_eq!(warnings(&answer, "UNKNOWN_FIELD").len(), 10);
    let known = api.check("ann", &["src/auth.ts"], json!({})).await;
    assert_eq!(warnings(&known, "UNKNOWN_FIELD"), [""; 0]);
}

#[tokio::test]
async fn symbols_is_the_older_name_of_the_files() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let body = json!({
        "repo_url": api.repo_url, "branch": "main", "agent_head": api.head, "symbols": ["src/auth.ts:login"],
    });
    let answer = api.post("bob", "/api/check_status", &body).await;
    assert_eq!(answer.json()["status"], "CONFLICT", "{}", answer.json());
}

#[tokio::test]
async fn a_budget_with_an_unknown_limit_is_refused() {
    let api = Api::start().await;
    let body = json!({
        "repo_url": api.repo_url, "name": "Pool the connections", "description": "A pool",
        "owned_scope": ["src/**"], "budget": { "turns": 1 },
    });
    let answer = api.post("ann", "/api/intents", &body).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (400, &json!("MALFORMED_BODY")),
        "{}",
        answer.json()
    );
    assert!(
        answer.json()["message"].as_str().unwrap().contains("turns"),
        "{}",
        answer.json()
    );
}
