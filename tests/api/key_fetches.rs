//! When keys are fetched from their issuer, and what holds while they cannot be.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use coord_auth::KeyTiming;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::{Api, GRAPH};
use crate::issuer::{Issuer, IssuerReply, eager, good, is_refused, is_unavailable, set, verifier};
use crate::tokens::login;
use coord_test_support::signer::Signer;
use coord_test_support::waiting::{let_pass, until};

#[tokio::test]
async fn sixty_four_requests_at_once_make_one_fetch() {
    let (old, new) = (Signer::ed25519(), Signer::ed25519());
    let late =
        |signer: &Signer, kid| IssuerReply::Late(Duration::from_millis(300), json!({ "keys": [signer.jwk(kid)] }));
    let issuer = Issuer::start(late(&old, "old")).await;
    let timing = KeyTiming {
        pause: Duration::from_millis(500),
        ..KeyTiming::default()
    };
    let verifier = issuer.verifier(timing);
    let token = old.sign(Some("old"), &good());
    let all = futures::future::join_all((0..64).map(|_| login(&verifier, &token))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(issuer.request_count(), 1);

    // The same when the keys have changed, and everybody comes with the new one.
    issuer.answer_with(late(&new, "new"));
    let_pass(Duration::from_millis(600)).await;
    let token = new.sign(Some("new"), &good());
    let all = futures::future::join_all((0..64).map(|_| login(&verifier, &token))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(issuer.request_count(), 2);
    assert!(
        is_refused(&verifier, &old.sign(Some("old"), &good())).await,
        "the old key is gone"
    );
}

#[tokio::test]
async fn a_request_that_goes_away_does_not_take_the_fetch_with_it() {
    let signer = Signer::ed25519();
    let keys = json!({ "keys": [signer.jwk("one")] });
    let issuer = Issuer::start(IssuerReply::Late(Duration::from_millis(300), keys)).await;
    let verifier = issuer.verifier(KeyTiming::default());
    let token = signer.sign(Some("one"), &good());
    let gone = tokio::time::timeout(Duration::from_millis(100), login(&verifier, &token)).await;
    assert!(gone.is_err());
    assert!(login(&verifier, &token).await.is_ok());
    assert_eq!(issuer.request_count(), 1);
}

#[tokio::test]
async fn unknown_keys_make_no_more_than_one_fetch_in_a_while() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let timing = KeyTiming {
        pause: Duration::from_millis(400),
        ..KeyTiming::default()
    };
    let verifier = issuer.verifier(timing);
    let start = Instant::now();
    let mut tokens = 0;
    while start.elapsed() < Duration::from_millis(1000) {
        let kid = format!("made-up-{tokens}");
        assert!(is_refused(&verifier, &signer.sign(Some(&kid), &good())).await);
        tokens += 1;
        // time: how often keys are fetched within a second.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        (2..=3).contains(&issuer.request_count()),
        "{} for {tokens} tokens",
        issuer.request_count()
    );
}

// rule: settings#key-sets
#[tokio::test]
async fn old_keys_are_renewed_while_requests_are_answered() {
    let (old, new) = (Signer::ed25519(), Signer::ed25519());
    let issuer = Issuer::start(set(&[old.jwk("old")])).await;
    let timing = KeyTiming {
        lifetime: Duration::from_millis(200),
        pause: Duration::from_millis(50),
        ..KeyTiming::default()
    };
    let verifier = issuer.verifier(timing);
    let token = old.sign(Some("old"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    issuer.answer_with(IssuerReply::Late(
        Duration::from_secs(3),
        json!({ "keys": [new.jwk("new")] }),
    ));
    let_pass(Duration::from_millis(250)).await;
    let start = Instant::now();
    assert!(
        login(&verifier, &token).await.is_ok(),
        "the old key counts until the new ones are there"
    );
    assert!(start.elapsed() < Duration::from_secs(2), "nobody waits for them");
    until("the new keys are there", async || {
        login(&verifier, &new.sign(Some("new"), &good())).await.is_ok()
    })
    .await;
    assert!(is_refused(&verifier, &token).await);
}

/// Everything that is not a key set, and comes within its time.
fn troubles(elsewhere: &Issuer) -> Vec<(&'static str, IssuerReply)> {
    let text = |text: &str| IssuerReply::Text(StatusCode::OK, text.to_owned());
    vec![
        (
            "an error",
            IssuerReply::Text(StatusCode::INTERNAL_SERVER_ERROR, "{\"keys\":[]}".to_owned()),
        ),
        (
            "not there",
            IssuerReply::Text(StatusCode::NOT_FOUND, "{\"keys\":[]}".to_owned()),
        ),
        (
            "a redirect",
            IssuerReply::Redirect(format!("http://{}/", elsewhere.address)),
        ),
        (
            "a redirect to a file",
            IssuerReply::Redirect("file:///etc/passwd".to_owned()),
        ),
        ("a page", text("<html>log in</html>")),
        ("nothing", text("")),
        ("no list", text("{\"keys\":{}}")),
        ("no keys", text("{}")),
        ("a list", text("[]")),
        ("cut off", text("{\"keys\":[{\"kty\":\"RSA\"")),
        ("very deep", text(&"[".repeat(100_000))),
        ("very long", text(&format!("{{\"keys\":[{}]}}", " ".repeat(300 << 10)))),
        ("endless", IssuerReply::Endless),
    ]
}

#[tokio::test]
async fn while_the_issuer_is_in_trouble_known_keys_count_and_unknown_ones_are_no_refusal() {
    let (signer, evil) = (Signer::ed25519(), Signer::ed25519());
    let elsewhere = Issuer::start(set(&[evil.jwk("evil"), signer.jwk("one")])).await;
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(KeyTiming {
        lifetime: Duration::ZERO,
        ..eager()
    });
    let token = signer.sign(Some("one"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    for (name, trouble) in troubles(&elsewhere) {
        issuer.answer_with(trouble.clone());
        assert!(
            is_unavailable(&verifier, &evil.sign(Some("evil"), &good())).await,
            "{name}"
        );
        assert!(login(&verifier, &token).await.is_ok(), "{name}");
        // With no key at hand nothing can be said of anybody.
        let cold = issuer.verifier(eager());
        assert!(is_unavailable(&cold, &token).await, "{name}");
        issuer.answer_with(set(&[signer.jwk("one")]));
        assert!(login(&cold, &token).await.is_ok(), "{name} is over");
    }
    assert_eq!(elsewhere.request_count(), 0, "no redirect was followed");
}

#[tokio::test]
async fn a_slow_issuer_is_waited_for_no_longer_than_it_may_take() {
    let signer = Signer::ed25519();
    let keys = json!({ "keys": [signer.jwk("one")] });
    let issuer = Issuer::start(IssuerReply::Late(Duration::from_secs(30), keys)).await;
    let timing = KeyTiming {
        fetch: Duration::from_millis(200),
        ..KeyTiming::default()
    };
    let verifier = issuer.verifier(timing);
    let token = signer.sign(Some("one"), &good());
    let start = Instant::now();
    assert!(is_unavailable(&verifier, &token).await);
    // It has just failed: the next one is told at once.
    assert!(is_unavailable(&verifier, &token).await);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(issuer.request_count(), 1);
}

#[tokio::test]
async fn an_issuer_takes_its_keys_back_by_an_empty_set() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(eager());
    let token = signer.sign(Some("one"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    issuer.answer_with(set(&[]));
    assert!(is_refused(&verifier, &signer.sign(Some("two"), &good())).await);
    assert!(is_refused(&verifier, &token).await);
}

#[tokio::test]
async fn keys_of_an_issuer_that_is_away_count_for_a_bounded_time() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(KeyTiming {
        lifetime: Duration::from_millis(50),
        max_age: Duration::from_millis(800),
        ..eager()
    });
    let token = signer.sign(Some("one"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    issuer.answer_with(IssuerReply::Text(StatusCode::BAD_GATEWAY, String::new()));
    let_pass(Duration::from_millis(100)).await;
    assert!(login(&verifier, &token).await.is_ok());
    let_pass(Duration::from_millis(800)).await;
    assert!(is_unavailable(&verifier, &token).await);
    issuer.answer_with(set(&[signer.jwk("one")]));
    assert!(login(&verifier, &token).await.is_ok());
}

// rule: settings#key-sets
#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_offline_and_no_refusal() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(IssuerReply::Text(StatusCode::BAD_GATEWAY, String::new())).await;
    // Nobody listens on port 1 of this machine.
    for address in [issuer.address, SocketAddr::from(([127, 0, 0, 1], 1))] {
        let api = Api::start_with_verifier(verifier(address, eager())).await;
        let token = format!("Bearer {}", signer.sign(Some("one"), &good()));
        let headers = [("authorization", token.as_str())];
        let check = api.check_body(&["src/auth.ts"], json!({}));
        let check = async || api.post_with(&headers, "/api/check_status", &check).await;
        let claim = api.post_body("WRITING", &["src/auth.ts"], json!({}));
        let checked = check().await;
        let claimed = api.post_with(&headers, "/api/post_status", &claim).await;
        let graph = api.get(GRAPH, &headers).await;
        for answer in [&checked, &claimed, &graph] {
            answer.expect("503 IDENTITY_UNAVAILABLE");
            assert_eq!(answer.header("retry-after"), Some("5"));
        }
        if address == issuer.address {
            assert_json_snapshot!("check", checked.snapshot());
            assert_json_snapshot!("claim", claimed.snapshot());
            issuer.answer_with(set(&[signer.jwk("one")]));
            check().await.expect("200");
        }
        // No credential, and one that no key could verify, are refused whatever the issuer does.
        for headers in [&[][..], &[("authorization", "Bearer undefined")]] {
            let refused = api.get("/api/graph?repo_url=x&branch=main", headers).await;
            assert_eq!(refused.status, 401, "{headers:?}");
        }
    }
}
