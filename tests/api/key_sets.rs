//! Which key of a set verifies a token, and which none.

use coord_auth::KeyTiming;
use serde_json::json;

use crate::issuer::{Issuer, eager, good, is_refused, set};
use crate::tokens::{claims, login};
use coord_test_support::signer::Signer;

#[tokio::test]
async fn every_key_verifies_its_own_tokens_and_is_fetched_once() {
    let signers = [Signer::rsa(), Signer::p256(), Signer::ed25519()];
    let issuer = Issuer::start(set(&[signers[0].jwk("r"), signers[1].jwk("p"), signers[2].jwk("e")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    assert_eq!(issuer.request_count(), 0, "nothing is fetched before it is needed");
    for (signer, kid) in signers.iter().zip(["r", "p", "e"]) {
        assert_eq!(
            login(&verifier, &signer.sign(Some(kid), &good())).await.as_deref(),
            Ok("ann")
        );
        // One key of each kind: a token without a kid fits one.
        assert_eq!(
            login(&verifier, &signer.sign(None, &good())).await.as_deref(),
            Ok("ann")
        );
        for other in ["r", "p", "e"].into_iter().filter(|other| *other != kid) {
            assert!(
                is_refused(&verifier, &signer.sign(Some(other), &good())).await,
                "{kid} {other}"
            );
        }
        let stranger = signer.sign(Some(kid), &claims(&json!({ "iss": "https://evil.example.com/" })));
        assert!(is_refused(&verifier, &stranger).await);
    }
    assert_eq!(issuer.request_count(), 1);
}

#[tokio::test]
async fn no_key_is_taken_for_a_secret_and_no_secret_for_a_key() {
    let (rsa, secret) = (Signer::rsa(), Signer::Secret(b"published by mistake".to_vec()));
    let issuer = Issuer::start(set(&[rsa.jwk("r"), secret.jwk("s")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    assert!(is_refused(&verifier, &secret.sign(Some("s"), &good())).await);
    assert!(is_refused(&verifier, &secret.sign(None, &good())).await);
    assert_eq!(issuer.request_count(), 0, "such a token is not worth a fetch");
    for bytes in [
        rsa.public_pem().into_bytes(),
        rsa.public_der(),
        rsa.jwk("r").to_string().into(),
    ] {
        let confused = Signer::Secret(bytes);
        for algorithm in ["HS256", "HS512", "RS256"] {
            let token = confused.token(&json!({ "alg": algorithm, "kid": "r" }), &good());
            assert!(is_refused(&verifier, &token).await, "{algorithm}");
        }
    }
    for algorithm in ["none", "None", "NONE", "RS384", "PS256", "ES256", "EdDSA"] {
        let token = rsa.token(&json!({ "alg": algorithm, "kid": "r" }), &good());
        assert!(is_refused(&verifier, &token).await, "{algorithm}");
    }
    assert!(login(&verifier, &rsa.sign(Some("r"), &good())).await.is_ok());
}

#[tokio::test]
async fn a_key_for_another_purpose_verifies_nothing() {
    for (member, value, is_taken) in [
        ("use", json!("sig"), true),
        ("use", json!("enc"), false),
        ("use", json!("SIG"), false),
        ("use", json!(1), false),
        ("alg", json!("RS256"), true),
        ("alg", json!("RS384"), false),
        ("alg", json!("PS256"), false),
        ("alg", json!("HS256"), false),
        ("alg", json!("RSA-OAEP"), false),
        ("key_ops", json!(["verify"]), true),
        ("key_ops", json!(["encrypt"]), false),
        ("key_ops", json!([]), false),
        ("kty", json!("EC"), false),
        ("n", json!("_____w"), false),
        ("n", json!("not base64!"), false),
        ("e", json!(""), false),
        ("x5u", json!("http://127.0.0.1:9/"), true),
    ] {
        let signer = Signer::rsa();
        let mut jwk = signer.jwk("one");
        jwk[member] = value.clone();
        // A key that is not a key does not spoil the set.
        let other = Signer::ed25519();
        let issuer = Issuer::start(set(&[json!(7), json!({}), jwk, other.jwk("other")])).await;
        let verifier = issuer.verifier(KeyTiming::default());
        assert!(login(&verifier, &other.sign(Some("other"), &good())).await.is_ok());
        let answer = login(&verifier, &signer.sign(Some("one"), &good())).await;
        assert_eq!(answer.is_ok(), is_taken, "{member} {value}: {answer:?}");
    }
}

#[tokio::test]
async fn other_curves_and_short_keys_are_not_taken() {
    let p384 = Signer::p384();
    let p256 = Signer::p256();
    let mut mislabelled = p384.jwk("mislabelled");
    mislabelled["crv"] = "P-256".into();
    let mut off_the_curve = p256.jwk("off");
    off_the_curve["y"] = off_the_curve["x"].clone();
    // The neutral element: signatures for it can be made by anybody.
    let weak = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "weak", "x": format!("AQ{}", "A".repeat(41)) });
    let short = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "short", "x": "AAAA" });
    let issuer = Issuer::start(set(&[p384.jwk("p384"), mislabelled, off_the_curve, weak, short])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    for kid in ["p384", "mislabelled", "off", "weak", "short"] {
        for signer in [&p384, &p256, &Signer::ed25519()] {
            assert!(is_refused(&verifier, &signer.sign(Some(kid), &good())).await, "{kid}");
            let token = signer.token(&json!({ "alg": "ES256", "kid": kid }), &good());
            assert!(is_refused(&verifier, &token).await, "{kid}");
        }
    }
    let signed = p256.token(&json!({ "alg": "EdDSA", "kid": "weak" }), &good());
    let (message, _) = signed.rsplit_once('.').unwrap();
    // The neutral element and zero, which fit every message under such a key.
    let forged = format!("{message}.AQ{}", "A".repeat(84));
    assert!(is_refused(&verifier, &forged).await);
}

#[tokio::test]
async fn a_kid_is_a_name_and_nothing_else() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    for kid in [
        "two",
        "",
        "ONE",
        "one ",
        "../../../../etc/passwd",
        "http://127.0.0.1:9/jwks",
        "one' OR '1'='1",
        "one\0",
        "\u{202e}one",
    ] {
        assert!(is_refused(&verifier, &signer.sign(Some(kid), &good())).await, "{kid}");
    }
    assert!(is_refused(&verifier, &signer.sign(Some(&"k".repeat(4000)), &good())).await);
    let token = signer.token(&json!({ "alg": "EdDSA", "kid": ["one"] }), &good());
    assert!(is_refused(&verifier, &token).await);
    assert_eq!(issuer.request_count(), 1, "the first fetch was just now");
}

#[tokio::test]
async fn keys_with_the_same_kid_and_kind_verify_nothing() {
    let (one, two, third) = (Signer::ed25519(), Signer::ed25519(), Signer::p256());
    let issuer = Issuer::start(set(&[one.jwk("same"), two.jwk("same"), third.jwk("same")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    for token in [
        one.sign(Some("same"), &good()),
        two.sign(Some("same"), &good()),
        one.sign(None, &good()),
    ] {
        assert!(is_refused(&verifier, &token).await);
    }
    // RFC 7517, section 4.5: keys of different kinds may share a kid.
    assert!(login(&verifier, &third.sign(Some("same"), &good())).await.is_ok());
}

#[tokio::test]
async fn nothing_that_a_token_names_is_fetched() {
    let (mine, evil) = (Signer::rsa(), Signer::rsa());
    let issuer = Issuer::start(set(&[mine.jwk("one")])).await;
    let elsewhere = Issuer::start(set(&[evil.jwk("one")])).await;
    let verifier = issuer.verifier(eager());
    let url = format!("http://{}/jwks", elsewhere.address);
    for kid in ["one", "two", &url] {
        let header = json!({ "alg": "RS256", "kid": kid, "jku": url, "x5u": url, "jwk": evil.jwk(kid), "url": url });
        let lured = claims(&json!({ "iss": format!("http://{}/", elsewhere.address) }));
        assert!(is_refused(&verifier, &evil.token(&header, &good())).await);
        assert!(is_refused(&verifier, &evil.token(&header, &lured)).await);
    }
    assert_eq!(elsewhere.request_count(), 0);
    let header = json!({ "alg": "RS256", "kid": "one", "jku": url, "jwk": evil.jwk("one") });
    assert!(login(&verifier, &mine.token(&header, &good())).await.is_ok());
}
