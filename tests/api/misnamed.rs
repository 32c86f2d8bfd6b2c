//! Symbols in place of files, and fields that a request does not have.

use serde_json::{Value, json};

use crate::api::Api;

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
        let refused = api.post_status("bob", "WRITING", &[symbol], json!({})).await;
        assert_eq!(
            refused.expect("409")["orchestration"]["metadata"]["conflicts"],
            json!(["src/auth.ts"])
        );
        let expected = format!("WHOLE_FILE: Coord locks whole files, so '{symbol}' stands for 'src/auth.ts'.");
        assert_eq!(refused.warnings("WHOLE_FILE"), [expected]);
        let checked = api.check("bob", &[symbol], json!({})).await;
        assert_eq!(checked.warnings("WHOLE_FILE").len(), 1, "{}", checked.json());
    }
    // Names that have no file before the sign are names of files.
    for file in ["notes#1", "#draft.md", "src/a:b", "src/auth.ts:"] {
        let granted = api.post_status("bob", "WRITING", &[file], json!({})).await;
        granted.expect("200");
        assert_eq!(granted.warnings("WHOLE_FILE"), [""; 0], "{file}");
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
        api.post_status("ann", "WRITING", &["src/auth.ts"], more).await,
    ] {
        answer.expect("200");
        let named = answer.warnings("UNKNOWN_FIELD");
        for name in ["'filez'", "'ttl'"] {
            assert!(named.iter().any(|warning| warning.contains(name)), "{name}: {named:?}");
        }
    }
    let many = (0..100).map(|number| (format!("f{number}"), json!(1)));
    for (more, count) in [(Value::Object(many.collect()), 10), (json!({}), 0)] {
        let answer = api.check("ann", &["src/auth.ts"], more).await;
        assert_eq!(answer.warnings("UNKNOWN_FIELD").len(), count);
    }
}

#[tokio::test]
async fn symbols_is_the_older_name_of_the_files() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let older = json!({ "file_paths": null, "symbols": ["src/auth.ts:login"] });
    api.check("bob", &[], older).await.expect("200 CONFLICT");
}

#[tokio::test]
async fn a_budget_with_an_unknown_limit_is_refused() {
    let api = Api::start().await;
    let body = json!({
        "repo_url": api.repo_url, "name": "Pool the connections", "description": "A pool",
        "owned_scope": ["src/**"], "budget": { "turns": 1 },
    });
    let refused = api
        .post("ann", "/api/intents", &body)
        .await
        .expect("400 MALFORMED_BODY");
    assert!(refused["message"].as_str().unwrap().contains("turns"), "{refused}");
}
