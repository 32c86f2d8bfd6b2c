//! Callers who show a token of GitHub's, or anything else, over HTTP.

use std::io::Write;

use coord_test_support::github::{Fault, Person};
use serde_json::{Value, json};

use crate::cloud::{Answer, Cloud, Instance, jwt};
use crate::people::person;

/// Counts the requests for a caller's identity since the last call.
fn identity_requests(cloud: &Cloud) -> usize {
    let requests = cloud.fake.requested_paths();
    let is_about_a_person = |target: &str| ["", "/api/v3/user", "/api/graphql"].contains(&target);
    requests.iter().filter(|target| is_about_a_person(target)).count()
}

pub fn alice() -> Person {
    person("ghp_", "alice", Some("push"))
}

impl Instance {
    /// A check, a claim, and a request for the graph: each is served by another function.
    pub async fn ask_each(&self, token: &str) -> [Answer; 3] {
        [
            self.check(token, json!({})).await,
            self.post(token, json!({})).await,
            self.graph(token).await,
        ]
    }
}

pub fn sha256(text: &str) -> String {
    let mut hash = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    hash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let printed = hash.wait_with_output().unwrap().stdout;
    String::from_utf8(printed).unwrap()[..64].to_owned()
}

// rule: settings#github-tokens
#[tokio::test]
async fn a_caller_with_push_rights_claims_under_its_github_login() {
    let alice = Person {
        name: Some("Alice Liddell".to_owned()),
        ..alice()
    };
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    let claimed = instance.post(&alice.token, json!({})).await;
    claimed.expect_action("PROCEED");
    let seen = instance.check(&jwt("bob"), json!({})).await;
    let lock = &seen.body["locks"]["src/a.ts"];
    let holder = (&lock["user"], &lock["user_name"]);
    assert_eq!(holder, (&json!("alice"), &json!("Alice Liddell")), "{seen:?}");
    let abandon = json!({"status": "OPEN", "abandon": true});
    instance.post(&alice.token, abandon).await.expect_ok();
    assert!(!cloud.is_locked("src/a.ts").await);
}

// rule: settings#github-tokens
#[tokio::test]
async fn a_reader_can_look_but_not_claim() {
    let bob = person("ghp_", "bob", Some("pull"));
    let cloud = Cloud::start(std::slice::from_ref(&bob)).await;
    let instance = cloud.instance(&[]).await;
    let checked = instance.check(&bob.token, json!({})).await;
    checked.expect_action("PROCEED");
    assert_eq!(instance.graph(&bob.token).await.status, 202);
    for more in [json!({}), json!({"status": "READING"}), json!({"status": "OPEN"})] {
        let refused = instance.post(&bob.token, more).await;
        let refused = refused.expect_error(403, "FORBIDDEN_REPOSITORY");
        assert_eq!(refused.body["orchestration"]["type"], "orchestration_command");
        assert_eq!(refused.action(), "STOP");
        assert!(refused.message().contains("bob"), "{refused:?}");
    }
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn a_token_that_github_does_not_know_is_refused_and_remembered_for_a_while() {
    let cloud = Cloud::start(&[alice()]).await;
    let instance = cloud.instance(&[]).await;
    let wrong = "ghp_0123456789012345678901234567890123456789";
    let refused = instance.check(wrong, json!({})).await;
    let refused = refused.expect_error(401, "UNAUTHORIZED");
    assert!(refused.header("www-authenticate").starts_with("Bearer"));
    assert_eq!(refused.action(), "STOP");
    assert!(identity_requests(&cloud) > 0);
    for round in 0..2 {
        for answer in instance.ask_each(wrong).await {
            answer.expect_error(401, "UNAUTHORIZED");
        }
        // Each function is a separate process with a separate memory.
        assert!(round == 0 || cloud.fake.requested_paths().is_empty());
        cloud.fake.seen();
    }
    let name = sha256(wrong);
    let keys = cloud.keys().await;
    assert!(keys.iter().all(|key| !key.contains(&name)), "in memory alone");
    // Where nothing is remembered GitHub is asked again, which by then may know the token.
    cloud.fake.behave(|behavior| {
        behavior.people.push(Person {
            token: wrong.to_owned(),
            ..person("ghp_", "carol", Some("push"))
        });
    });
    let other = cloud.instance(&[]).await;
    other.check(wrong, json!({})).await.expect_ok();
}

#[tokio::test]
async fn a_private_repository_that_is_not_shown_is_forbidden() {
    let mallory = person("gho_", "mallory", None);
    let cloud = Cloud::start(std::slice::from_ref(&mallory)).await;
    let instance = cloud.instance(&[]).await;
    for round in 0..2 {
        for answer in instance.ask_each(&mallory.token).await {
            let answer = answer.expect_error(403, "FORBIDDEN_REPOSITORY");
            assert!(answer.body.get("repo_head").is_none_or(Value::is_null), "{answer:?}");
        }
        // Each of the three functions asks for itself.
        assert_eq!(identity_requests(&cloud), if round == 0 { 6 } else { 0 });
    }
    assert!(!cloud.everything().await.contains(&cloud.head));
}

#[tokio::test]
async fn a_github_verdict_on_a_caller_is_shared_by_all_instances() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let (one, other) = (cloud.instance(&[]).await, cloud.instance(&[]).await);
    one.check(&alice.token, json!({})).await.expect_ok();
    assert_eq!(identity_requests(&cloud), 2);
    // A process that has not seen the credential yet reads what is remembered of it first.
    for instance in [&one, &other] {
        instance.ask_each(&alice.token).await;
    }
    for instance in [&one, &other] {
        for answer in [
            instance.check(&alice.token, json!({})).await,
            instance.post(&alice.token, json!({})).await,
        ] {
            assert_eq!((answer.status, answer.round_trips()), (200, 1), "{answer:?}");
        }
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}

#[tokio::test]
async fn identity_unavailable_refuses_every_caller_and_stores_no_verdict() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    for (part, fault) in [
        ("/user", Fault::status(502)),
        ("/repos/acme/widgets", Fault::status(500)),
        ("/user", Fault::with(200, &[], "<html>")),
        ("/repos/acme/widgets", Fault::Cut),
    ] {
        cloud.fake.fail(part, 3, fault.clone());
        let refused = instance.post(&alice.token, json!({})).await;
        assert_eq!(refused.error(), (503, "IDENTITY_UNAVAILABLE"), "{fault:?}: {refused:?}");
        assert_eq!(refused.action(), "STOP");
        assert!(!refused.header("retry-after").is_empty());
        cloud.fake.behave(|behavior| behavior.forget_faults());
    }
    let keys = cloud.keys().await;
    assert!(keys.iter().all(|key| !key.contains(":identity:")), "{keys:?}");
    instance.post(&alice.token, json!({})).await.expect_ok();
}
