//! A caller's credential stays nowhere: not in the store, not in a log, and no header identifies a person.

use std::io::Write;
use std::sync::{Arc, Mutex};

use coord_test_support::github::Fault;
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::callers::{alice, sha256};
use crate::cloud::{Cloud, jwt};
use crate::people::person;

#[tokio::test]
async fn the_name_of_a_token_is_not_the_token() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 200);
    let name = sha256(&alice.token);
    assert!(cloud.keys().await.iter().any(|key| key.ends_with(&name)), "{name}");
    for shown in [
        name.clone(),
        name[..40].to_owned(),
        format!("ghp_{name}"),
        "anybody".to_owned(),
    ] {
        for answer in [
            instance.check(&shown, json!({})).await,
            instance.post(&shown, json!({})).await,
            instance.graph(&shown).await,
        ] {
            assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{shown}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_header_that_names_a_user_identifies_no_caller() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[]).await;
    let with_headers = async |token: &str, status: &str| {
        let more = json!({"status": status, "message": "Changing what the module exports to callers"});
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
    assert_eq!(with_headers("", "WRITING").await.error(), (401, "UNAUTHORIZED"));
    assert_eq!(
        with_headers(&bob.token, "WRITING").await.error(),
        (403, "FORBIDDEN_REPOSITORY")
    );
    assert_eq!(with_headers(&alice.token, "WRITING").await.status, 200);
    let seen = instance.check(&bob.token, json!({})).await;
    assert_eq!(seen.body["locks"]["src/a.ts"]["user"], "alice", "{seen:?}");
    assert!(!cloud.everything().await.contains("root"));
}

/// Captures the log of this thread, where the functions run.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_token_is_neither_in_the_store_nor_in_a_log() {
    // Whether an event is wanted is decided once for all threads, so that all have to want it.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
    let log = Log::default();
    let writer = log.clone();
    let subscriber = coord_runtime::logging::json(EnvFilter::new("trace"), move || writer.clone());
    let _guard = tracing::subscriber::set_default(subscriber);

    let unlucky = |number: usize| format!("ghp_{}", format!("unlucky{number}").repeat(5));
    let (alice, mallory) = (alice(), person("ghp_", "mallory", None));
    let wrong = "ghp_9876543210987654321098765432109876543210";
    let cloud = Cloud::start(&[alice.clone(), mallory.clone()]).await;
    let instance = cloud.instance(&[]).await;
    for token in [alice.token.as_str(), &mallory.token, wrong, &jwt("dave")] {
        instance.check(token, json!({})).await;
        instance.post(token, json!({})).await;
        instance.graph(token).await;
        instance.check(token, json!({"agent_id": "no agent's"})).await;
    }
    // GitHub is down, limited, or says what it is not asked.
    for (number, fault) in [
        Fault::status(500),
        Fault::with(429, &[("retry-after", "9")], "{}"),
        Fault::with(200, &[], "no JSON"),
        Fault::Cut,
    ]
    .into_iter()
    .enumerate()
    {
        cloud.fake.fail("/user", 3, fault);
        instance.check(&unlucky(number), json!({})).await;
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let stored = cloud.everything().await;
    assert!(
        logged.contains("/api/check_status") && stored.contains("alice"),
        "{logged}"
    );
    for token in [
        alice.token,
        mallory.token,
        wrong.to_owned(),
        unlucky(0),
        unlucky(1),
        unlucky(2),
        unlucky(3),
    ] {
        // Not the half of it either.
        let part = &token[4..24];
        assert!(!stored.contains(part), "{stored}");
        let line = logged.lines().find(|line| line.contains(part));
        assert_eq!(line, None);
    }
    assert!(!stored.contains("eyJ") && !logged.contains("eyJ"));
}
