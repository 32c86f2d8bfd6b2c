//! GitHub's possible faults when asked for the holder of a token.

use std::time::{Duration, Instant};

use coord_auth::{AuthError, TokenVerifier};
use coord_sources::github::GithubSource;

use crate::people::{Verified, app, assert_unavailable, member, person, verify, with};
use crate::{config, id, main_head};
use coord_test_support::github::Fault;
use coord_test_support::log::Log;

/// Whether there is no verdict, and the caller learns when to try again.
fn has_wait(verdict: &Verified) -> bool {
    matches!(verdict, Err(AuthError::Unavailable(why)) if why.contains("try again in") && why.contains(" s"))
}

#[tokio::test]
async fn a_limited_token_limits_no_other_caller() {
    let (alice, bob) = (
        person("ghp_", "alice", Some("push")),
        person("ghp_", "bob", Some("push")),
    );
    let bot = app("github-actions[bot]");
    let people = [alice.clone(), bob.clone(), bot.clone()];
    let secondary = r#"{"message": "You have exceeded a secondary rate limit"}"#;
    let attempts = r#"{"message": "Maximum number of login attempts exceeded. Please try again later."}"#;
    let spent = r#"{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}"#;
    let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "99999999999")];
    let later = [("retry-after", "70")];
    for (part, fault, shown) in [
        ("/user", Fault::with(403, &used_up, "{}"), &alice.token),
        ("/user", Fault::with(429, &later, "{}"), &alice.token),
        ("/repos/acme/widgets", Fault::with(403, &[], secondary), &alice.token),
        ("/user", Fault::with(403, &[], attempts), &alice.token),
        ("/graphql", Fault::with(200, &[], spent), &bot.token),
        ("/graphql", Fault::with(200, &used_up, spent), &bot.token),
    ] {
        let (_temp, fake, source) = with(&people, true).await;
        fake.fail(part, 1, fault.clone());
        for round in 0..5 {
            let verdict = verify(&source, shown).await;
            assert!(has_wait(&verdict), "{fault:?}: {verdict:?}");
            let requests = fake.seen();
            assert!(round == 0 || requests.is_empty(), "{fault:?}: {requests:?}");
        }
        assert_eq!(verify(&source, &bob.token).await.unwrap(), member("bob", "bob", true));
        assert!(main_head(&source).await.is_ok());
        assert!(source.verify_without_token(&id()).await.is_ok());
    }
    // And a limit of the service does not keep callers out.
    let (_temp, fake, source) = with(&people, true).await;
    fake.fail("/commits/", 1, Fault::with(429, &later, "{}"));
    assert!(main_head(&source).await.is_err());
    let verdict = verify(&source, &alice.token).await.unwrap();
    assert_eq!(verdict, member("alice", "alice", true));
    let anybody = source.verify_without_token(&id()).await;
    assert!(has_wait(&anybody), "{anybody:?}");
}

#[tokio::test]
async fn an_undecodable_answer_is_no_verdict() {
    let alice = person("ghp_", "alice", Some("push"));
    let bot = app("github-actions[bot]");
    let (_temp, fake, source) = with(&[alice.clone(), bot.clone()], true).await;
    let large = format!(
        r#"{{"login": "alice", "private": false, "x": "{}"}}"#,
        "x".repeat(2 << 20)
    );
    let deep = "[".repeat(15_000);
    for body in [
        "",
        "null",
        "{}",
        "[]",
        "<html>",
        "\u{0}",
        r#"{"login": 7, "private": "no"}"#,
        r#"{"login": "a b", "private": 0}"#,
        r#"{"data": null}"#,
        r#"{"data": {"viewer": {"login": ""}}}"#,
        &deep,
        &large,
    ] {
        for (part, shown) in [
            ("/user", &alice.token),
            ("/repos/", &alice.token),
            ("/graphql", &bot.token),
        ] {
            fake.behave(|behavior| behavior.forget_faults());
            fake.fail(part, 1, Fault::with(200, &[], body));
            let case = format!("{part} {body:.40}");
            assert_unavailable(&verify(&source, shown).await, case);
        }
    }
    for fault in [
        Fault::status(304),
        Fault::status(418),
        Fault::Stall,
        Fault::with(301, &[], ""),
    ] {
        fake.fail("/user", 1, fault.clone());
        assert_unavailable(&verify(&source, &alice.token).await, fault);
    }
    let verdict = verify(&source, &alice.token).await.unwrap();
    assert_eq!(verdict, member("alice", "alice", true));
}

#[tokio::test]
async fn a_passing_failure_is_retried_and_an_unreachable_github_is_no_verdict() {
    let alice = person("ghp_", "alice", Some("push"));
    let (_temp, fake, source) = with(std::slice::from_ref(&alice), true).await;
    for fault in [Fault::status(500), Fault::status(502), Fault::status(503), Fault::Cut] {
        fake.fail("/user", 1, fault.clone());
        fake.fail("/repos/", 1, fault.clone());
        let expected = member("alice", "alice", true);
        assert_eq!(verify(&source, &alice.token).await.unwrap(), expected, "{fault:?}");
    }
    fake.seen();
    fake.fail("/user", 3, Fault::status(503));
    assert_unavailable(&verify(&source, &alice.token).await, "503");
    assert_eq!(fake.seen().len(), 4);

    let mut hasty = config(&fake);
    hasty.limits.small = Duration::from_millis(200);
    let hasty = GithubSource::new(hasty).unwrap();
    fake.fail("/user", 1, Fault::Slow(Duration::from_secs(30)));
    let started = Instant::now();
    assert_unavailable(&verify(&hasty, &alice.token).await, "slow");
    assert!(started.elapsed() < Duration::from_secs(5));

    drop(fake);
    // time: the listener closes.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_unavailable(&verify(&source, &alice.token).await, "gone");
    assert_unavailable(&source.verify_without_token(&id()).await, "gone");
}

#[tokio::test]
async fn a_token_is_in_no_log_and_no_text() {
    let (log, _guard) = Log::text("trace");
    let alice = person("ghp_", "hunter2", Some("push"));
    let (_temp, fake, source) = with(std::slice::from_ref(&alice), true).await;
    // A GitHub that sends the token back, in whatever it can.
    let echo = format!(
        r#"{{"login": {{"{0}": "{0}"}}, "private": "{0}", "message": 7}}"#,
        alice.token
    );
    let location = format!("https://example.com/{}", alice.token);
    let mut texts = String::new();
    for fault in [
        Fault::with(200, &[], &echo),
        Fault::status(500),
        Fault::status(404),
        Fault::status(401),
        Fault::with(301, &[("location", &location)], ""),
        Fault::with(429, &[("retry-after", "1")], ""),
    ] {
        for part in ["/user", "/repos/acme/widgets"] {
            fake.behave(|behavior| behavior.forget_faults());
            fake.fail(part, 3, fault.clone());
            texts += &format!("{:?}", verify(&source, &alice.token).await);
        }
    }
    texts += &format!("{source:?} {source:#?} {}", log.read());
    assert!(texts.contains("GitHub limits"), "{texts}");
    assert!(!texts.contains(&alice.token[..16]), "{texts}");
}
