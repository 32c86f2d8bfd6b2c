//! Tokens, good ones and forged ones, against each kind of key.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::KeyPair;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use coord_auth::{AuthError, JwtVerifier};
use coord_test_support::signer::{Signer, pem};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::repo;

/// The issuer of the tokens.
pub const ISSUER: &str = "https://login.example.com/";

/// Claims that are good for an hour, with those of `more` put over them; `null` takes one away.
pub fn claims(more: &Value) -> Value {
    let mut claims = json!({ "sub": "ann", "aud": "coord", "iss": ISSUER, "exp": in_seconds(3600) });
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
        };
    }
    claims
}

pub fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap() + seconds
}

/// The login that the verifier finds in `token`, or why there is none.
pub async fn login(verifier: &JwtVerifier, token: &str) -> Result<String, AuthError> {
    let caller = verifier.verify(token).await?;
    let caller = caller.in_repository(&repo())?;
    Ok(caller.verified().unwrap().user_id.to_string())
}

pub async fn refusal(verifier: &JwtVerifier, token: &str) -> String {
    match login(verifier, token).await {
        Err(AuthError::Refused(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}

fn verifier_of(signer: &Signer) -> JwtVerifier {
    let verifier = match signer {
        Signer::Secret(secret) => JwtVerifier::hs256(&SecretString::from(String::from_utf8(secret.clone()).unwrap())),
        signer => JwtVerifier::public_key(&signer.public_pem()).unwrap(),
    };
    verifier.with_issuer(ISSUER)
}

fn signers() -> [Signer; 4] {
    let secret = Signer::Secret(b"a secret that only the test knows".to_vec());
    [secret, Signer::rsa(), Signer::p256(), Signer::ed25519()]
}

#[tokio::test]
async fn each_kind_of_key_verifies_the_tokens_of_its_algorithm() {
    for signer in signers() {
        let verifier = verifier_of(&signer);
        for kid in [None, Some("any"), Some("../../etc/passwd")] {
            // One key is configured, so that there is nothing to choose by a kid.
            let token = signer.sign(kid, &claims(&json!({})));
            assert_eq!(
                login(&verifier, &token).await.as_deref(),
                Ok("ann"),
                "{}",
                signer.algorithm()
            );
        }
    }
}

#[tokio::test]
async fn a_public_key_may_be_written_as_environments_need_it() {
    let signer = Signer::rsa();
    let Signer::Rsa(pair) = &signer else { unreachable!() };
    let spki = signer.public_pem();
    let token = signer.sign(None, &claims(&json!({})));
    for text in [
        spki.replace('\n', "\\n"),
        spki.replace('\n', "\r\n"),
        format!("\n  {}", spki.trim()),
        pem("RSA PUBLIC KEY", pair.public_key().as_ref()),
    ] {
        let verifier = JwtVerifier::public_key(&text).unwrap();
        assert_eq!(login(&verifier, &token).await.as_deref(), Ok("ann"), "{text}");
    }
}

// rule: settings#jwt
#[tokio::test]
async fn no_algorithm_but_that_of_the_key_is_taken() {
    let good = claims(&json!({}));
    for signer in signers() {
        let verifier = verifier_of(&signer);
        for algorithm in [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "ES256",
            "ES384", "ES512", "EdDSA", "Ed25519", "hs256",
        ] {
            if algorithm == signer.algorithm() {
                continue;
            }
            let signed = signer.token(&json!({ "typ": "JWT", "alg": algorithm }), &good);
            let unsigned = format!("{}.", signed.rsplit_once('.').unwrap().0);
            for token in [&signed, &unsigned] {
                refusal(&verifier, token).await;
            }
        }
        for header in [json!({}), json!({ "alg": null }), json!({ "alg": ["none"] }), json!([])] {
            refusal(&verifier, &signer.token(&header, &good)).await;
        }
    }
}

#[tokio::test]
async fn a_public_key_is_never_a_secret() {
    for signer in [Signer::rsa(), Signer::p256(), Signer::ed25519()] {
        let (der, text, jwk) = (signer.public_der(), signer.public_pem(), signer.jwk("one"));
        let raw = match &signer {
            Signer::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Signer::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Signer::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
            Signer::Secret(_) => unreachable!(),
        };
        let verifier = verifier_of(&signer);
        for secret in [
            text.clone().into_bytes(),
            text.trim().into(),
            text.replace('\n', "\\n").into(),
            der,
            raw,
            jwk.to_string().into_bytes(),
            Vec::new(),
        ] {
            let confused = Signer::Secret(secret);
            for algorithm in ["HS256", "HS384", "HS512", signer.algorithm()] {
                let token = confused.token(&json!({ "alg": algorithm }), &claims(&json!({})));
                refusal(&verifier, &token).await;
            }
        }
    }
}

#[tokio::test]
async fn a_token_signed_by_another_key_of_the_same_kind_is_refused() {
    for (mine, other) in [
        (Signer::Secret(b"mine".to_vec()), Signer::Secret(b"other".to_vec())),
        (Signer::rsa(), Signer::rsa()),
        (Signer::p256(), Signer::p256()),
        (Signer::p256(), Signer::p384()),
        (Signer::ed25519(), Signer::ed25519()),
    ] {
        let verifier = verifier_of(&mine);
        refusal(&verifier, &other.sign(None, &claims(&json!({})))).await;
        // A header that brings its own key, or says where to fetch one, changes nothing either way.
        let mut header = json!({
            "alg": other.algorithm(), "jku": "http://127.0.0.1:9/jwks", "x5u": "http://127.0.0.1:9/x5u",
        });
        if !matches!(other, Signer::Secret(_)) {
            header["jwk"] = other.jwk("mine");
        }
        refusal(&verifier, &other.token(&header, &claims(&json!({})))).await;
        header["alg"] = mine.algorithm().into();
        let token = mine.token(&header, &claims(&json!({})));
        assert_eq!(login(&verifier, &token).await.as_deref(), Ok("ann"));
        // The signature of one token under the claims of another.
        let (good, ann) = (
            mine.sign(None, &claims(&json!({ "sub": "bob" }))),
            mine.sign(None, &claims(&json!({}))),
        );
        let (_, signature) = good.rsplit_once('.').unwrap();
        let (message, _) = ann.rsplit_once('.').unwrap();
        refusal(&verifier, &format!("{message}.{signature}")).await;
    }
}

// rule: settings#jwt-claims
#[tokio::test]
async fn claims_are_held_to_what_is_pinned() {
    for signer in signers() {
        let verifier = verifier_of(&signer);
        for (more, refused) in [
            (json!({ "exp": in_seconds(-30) }), None),
            (json!({ "exp": in_seconds(-90) }), Some("expired")),
            (json!({ "exp": null }), Some("no exp")),
            (json!({ "exp": "4000000000" }), Some("no exp")),
            (json!({ "exp": -1 }), Some("no exp")),
            (json!({ "nbf": in_seconds(30) }), None),
            (json!({ "nbf": in_seconds(90) }), Some("not valid yet")),
            (json!({ "nbf": "soon" }), Some("must be a JWT")),
            (json!({ "aud": ["other", "coord"] }), None),
            (json!({ "aud": ["other"] }), Some("audience")),
            (json!({ "aud": [] }), Some("audience")),
            (json!({ "aud": "Coord" }), Some("audience")),
            (json!({ "aud": "coord " }), Some("audience")),
            (json!({ "aud": "" }), Some("audience")),
            (json!({ "aud": null }), Some("no aud")),
            (json!({ "aud": 1 }), Some("no aud")),
            (json!({ "iss": "https://login.example.com" }), Some("issuer")),
            (json!({ "iss": "https://evil.example.com/" }), Some("issuer")),
            (json!({ "iss": "" }), Some("issuer")),
            (json!({ "iss": null }), Some("no iss")),
            (
                json!({ "iss": ["https://evil.example.com/", ISSUER] }),
                Some("must be a JWT"),
            ),
            (json!({ "sub": null }), Some("must be a JWT")),
            (json!({ "sub": "" }), Some("sub")),
            (json!({ "sub": "a\nb" }), Some("sub")),
            (json!({ "sub": 7 }), Some("must be a JWT")),
        ] {
            let answer = login(&verifier, &signer.sign(None, &claims(&more))).await;
            match refused {
                None => assert_eq!(answer.as_deref(), Ok("ann"), "{more}"),
                Some(part) => {
                    let error = answer.unwrap_err();
                    assert!(
                        matches!(&error, AuthError::Refused(sentence) if sentence.contains(part)),
                        "{more}: {error}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn another_audience_may_be_required() {
    let signer = Signer::ed25519();
    let verifier = verifier_of(&signer).with_audience("coord-staging");
    let token = signer.sign(None, &claims(&json!({ "aud": "coord-staging" })));
    assert_eq!(login(&verifier, &token).await.as_deref(), Ok("ann"));
    let sentence = refusal(&verifier, &signer.sign(None, &claims(&json!({})))).await;
    assert!(sentence.contains("coord-staging"), "{sentence}");
}

#[tokio::test]
async fn unknown_critical_headers_are_refused() {
    let signer = Signer::p256();
    let verifier = verifier_of(&signer);
    for crit in [json!(["b64"]), json!(["exp"]), json!([]), json!("b64"), json!([1])] {
        let token = signer.token(
            &json!({ "alg": "ES256", "crit": crit, "b64": true }),
            &claims(&json!({})),
        );
        refusal(&verifier, &token).await;
    }
}

#[tokio::test]
async fn rubbish_of_every_size_is_refused() {
    let signer = Signer::ed25519();
    let verifier = verifier_of(&signer);
    let good = signer.sign(None, &claims(&json!({})));
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, body) = message.split_once('.').unwrap();
    let deep = URL_SAFE_NO_PAD.encode("[".repeat(4000));
    for token in [
        String::new(),
        "undefined".to_owned(),
        ".".to_owned(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        format!("{header}.{body}"),
        format!("{message}."),
        format!("{message}.{}", &signature[..20]),
        format!("{message}.{signature}="),
        format!("{message}.{signature}.{signature}"),
        format!("{header}..{signature}"),
        format!("{deep}.{body}.{signature}"),
        format!("{header}.{deep}.{signature}"),
        good.replace('.', " ."),
        "x".repeat(100_000),
        signer.sign(None, &claims(&json!({ "more": "x".repeat(9000) }))),
        signer.sign(Some(&"k".repeat(9000)), &claims(&json!({}))),
    ] {
        refusal(&verifier, &token).await;
    }
}
