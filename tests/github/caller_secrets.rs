//! A caller's credential stays nowhere: not in the store, not in a log, and no header identifies a person.

use coord_test_support::github::Fault;
use coord_test_support::log::Log;
use serde_json::json;

use crate::callers::{alice, sha256};
use crate::cloud::{Cloud, jwt};
use crate::people::person;

#[tokio::test]
async fn the_name_of_a_token_is_not_the_token() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    instance.post(&alice.token, json!({})).await.expect_ok();
    let name = sha256(&alice.token);
    assert!(cloud.keys().await.iter().any(|key| key.ends_with(&name)), "{name}");
    for shown in ["anybody", &name, &name[..40], &format!("ghp_{name}")] {
        for answer in instance.ask_each(shown).await {
            assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{shown}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_header_that_names_a_user_identifies_no_caller() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[]).await;
    let claim_with_headers = async |token: &str| {
        let more = json!({"status": "WRITING", "message": "Changing what the module exports to callers"});
        let mut request = instance.question(coord_http::endpoint::POST_STATUS, token, &more);
        for name in [
            "x-coord-user",
            "x-forwarded-user",
            "x-remote-user",
            "x-auth-request-user",
            "x-github-user",
            "remote-user",
        ] {
            request = request.header(name, "root");
        }
        instance.send(request).await
    };
    claim_with_headers("").await.expect_error(401, "UNAUTHORIZED");
    let refused = claim_with_headers(&bob.token).await;
    refused.expect_error(403, "FORBIDDEN_REPOSITORY");
    claim_with_headers(&alice.token).await.expect_ok();
    let seen = instance.check(&bob.token, json!({})).await;
    assert_eq!(seen.body["locks"]["src/a.ts"]["user"], "alice", "{seen:?}");
    assert!(!cloud.everything().await.contains("root"));
}

#[tokio::test]
async fn a_token_is_neither_in_the_store_nor_in_a_log() {
    // The functions run on this thread.
    let (log, _guard) = Log::json("trace");
    let unlucky = |number: usize| format!("ghp_{}", format!("unlucky{number}").repeat(5));
    let (alice, mallory) = (alice(), person("ghp_", "mallory", None));
    let wrong = "ghp_9876543210987654321098765432109876543210";
    let cloud = Cloud::start(&[alice.clone(), mallory.clone()]).await;
    let instance = cloud.instance(&[]).await;
    for token in [alice.token.as_str(), &mallory.token, wrong, &jwt("dave")] {
        instance.ask_each(token).await;
        instance.check(token, json!({"agent_id": "no agent's"})).await;
    }
    // GitHub is down, limited, or says what it is not asked.
    let faults = [
        Fault::status(500),
        Fault::with(429, &[("retry-after", "9")], "{}"),
        Fault::with(200, &[], "no JSON"),
        Fault::Cut,
    ];
    let mut tokens = vec![alice.token, mallory.token, wrong.to_owned()];
    for (number, fault) in faults.into_iter().enumerate() {
        cloud.fake.fail("/user", 3, fault);
        instance.check(&unlucky(number), json!({})).await;
        tokens.push(unlucky(number));
    }
    let (logged, stored) = (log.read(), cloud.everything().await);
    assert!(
        logged.contains("/api/check_status") && stored.contains("alice"),
        "{logged}"
    );
    for token in tokens {
        // Not the half of it either.
        let part = &token[4..24];
        assert!(!stored.contains(part), "{stored}");
        let line = logged.lines().find(|line| line.contains(part));
        assert_eq!(line, None);
    }
    assert!(!stored.contains("eyJ") && !logged.contains("eyJ"));
}
