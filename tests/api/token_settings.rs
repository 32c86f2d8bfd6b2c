//! Which keys, issuers and audiences the environment may set.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use coord_auth::JwtVerifier;
use coord_settings::ConfigError;
use coord_test_support::signer::{Signer, pem};
use serde_json::json;

use crate::tokens::{ISSUER, claims, login, refusal};

#[test]
fn a_key_that_cannot_be_used_is_refused_without_being_shown() {
    let Signer::Ed25519(pair) = Signer::ed25519() else {
        unreachable!()
    };
    let private: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let whole = Signer::rsa().public_pem();
    for (text, part) in [
        (pem("PRIVATE KEY", private.as_ref()), "holds a private key"),
        ("-----BEGIN RSA PRIVATE KEY-----".to_owned(), "holds a private key"),
        (pem("RSA PUBLIC KEY", &rsa_of_bytes(128)), "1024 bits"),
        (pem("RSA PUBLIC KEY", &rsa_of_bytes(1024)), "not a supported public key"),
        (Signer::p384().public_pem(), "not a supported public key"),
        (
            pem("CERTIFICATE", &Signer::p256().public_der()),
            "not a supported public key",
        ),
        (pem("PUBLIC KEY", b"rubbish"), "not a supported public key"),
        (whole[..200].to_owned(), "not a supported public key"),
        (
            "sesame, sesame, sesame, sesame, sesame".to_owned(),
            "not a supported public key",
        ),
    ] {
        let error = JwtVerifier::public_key(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(
            !error.contains("sesame, sesame, sesame, sesame, sesame") && !error.contains("MC4CAQ"),
            "{error}"
        );
    }
}

/// An RSA public key of that length in DER, PKCS#1.
fn rsa_of_bytes(bytes: usize) -> Vec<u8> {
    let length = |bytes: usize| match u8::try_from(bytes) {
        Ok(byte) => vec![0x81, byte],
        Err(_) => [&[0x82][..], &u16::try_from(bytes).unwrap().to_be_bytes()].concat(),
    };
    let mut modulus = vec![0xff; bytes];
    modulus.insert(0, 0);
    let n = [&[2][..], &length(modulus.len()), &modulus].concat();
    let both = [&n[..], &[2, 3, 1, 0, 1]].concat();
    [&[0x30][..], &length(both.len()), &both].concat()
}

fn from_env(set: &[(&str, &str)]) -> Result<Option<JwtVerifier>, ConfigError> {
    JwtVerifier::from_env(&|name| {
        let found = set.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[tokio::test]
async fn an_unset_secret_admits_no_request() {
    for nothing in ["", "  ", "undefined", "null", "NULL"] {
        let keys = ["COORD_JWT_SECRET", "COORD_JWT_PUBLIC_KEY", "COORD_JWT_JWKS_URL"].map(|name| (name, nothing));
        assert!(from_env(&keys).unwrap().is_none(), "{nothing:?}");
        // Nor does an issuer that is not set: it does not mean any issuer.
        let key = Signer::ed25519().public_pem();
        for key in [
            ("COORD_JWT_PUBLIC_KEY", key.as_str()),
            ("COORD_JWT_JWKS_URL", "https://login.example.com/jwks"),
        ] {
            let error = from_env(&[key, ("COORD_JWT_ISSUER", nothing)]).unwrap_err();
            assert_eq!(error.variable, "COORD_JWT_ISSUER", "{error}");
        }
        // An audience that is not set is coord.
        let verifier = from_env(&[("COORD_JWT_SECRET", &"s".repeat(32)), ("COORD_JWT_AUDIENCE", nothing)]);
        let verifier = verifier.unwrap().unwrap();
        let signer = Signer::Secret(vec![b's'; 32]);
        assert!(login(&verifier, &signer.sign(None, &claims(&json!({})))).await.is_ok());
        refusal(&verifier, &signer.sign(None, &claims(&json!({ "aud": nothing })))).await;
    }
}

#[test]
fn a_secret_that_can_be_guessed_is_refused() {
    for secret in ["s".repeat(31), "\u{fc}".repeat(15), "short".to_owned()] {
        let error = from_env(&[("COORD_JWT_SECRET", &secret)]).unwrap_err();
        assert_eq!(error.variable, "COORD_JWT_SECRET", "{error}");
        assert!(
            error.to_string().contains("32 bytes") && !error.to_string().contains(&secret),
            "{error}"
        );
    }
    assert!(
        from_env(&[("COORD_JWT_SECRET", &"\u{fc}".repeat(16))])
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn the_environment_sets_key_issuer_and_audience() {
    let signer = Signer::rsa();
    let one_line = signer.public_pem().replace('\n', "\\n");
    let set = [
        ("COORD_JWT_PUBLIC_KEY", one_line.as_str()),
        ("COORD_JWT_ISSUER", ISSUER),
        ("COORD_JWT_AUDIENCE", "staging"),
        ("COORD_JWT_SECRET", "undefined"),
    ];
    let verifier = from_env(&set).unwrap().unwrap();
    let token = |more| signer.sign(None, &claims(&more));
    assert_eq!(
        login(&verifier, &token(json!({ "aud": "staging" }))).await.as_deref(),
        Ok("ann")
    );
    refusal(&verifier, &token(json!({}))).await;
    refusal(&verifier, &token(json!({ "aud": "staging", "iss": "other" }))).await;

    let secret = Signer::Secret(b"sesame, sesame, sesame, sesame, sesame".to_vec());
    let pinned = from_env(&[
        ("COORD_JWT_SECRET", "sesame, sesame, sesame, sesame, sesame"),
        ("COORD_JWT_ISSUER", ISSUER),
    ])
    .unwrap()
    .unwrap();
    assert!(login(&pinned, &secret.sign(None, &claims(&json!({})))).await.is_ok());
    refusal(&pinned, &secret.sign(None, &claims(&json!({ "iss": "other" })))).await;
    refusal(&pinned, &secret.sign(None, &claims(&json!({ "iss": null })))).await;
    let open = from_env(&[("COORD_JWT_SECRET", "sesame, sesame, sesame, sesame, sesame")])
        .unwrap()
        .unwrap();
    assert!(
        login(&open, &secret.sign(None, &claims(&json!({ "iss": null }))))
            .await
            .is_ok()
    );
    assert!(!format!("{pinned:?}{pinned:#?}").contains("sesame, sesame, sesame, sesame, sesame"));
    let url = ("COORD_JWT_JWKS_URL", "https://login.example.com/jwks");
    let of_issuer = from_env(&[url, ("COORD_JWT_ISSUER", ISSUER)]).unwrap().unwrap();
    // Nothing is asked of the issuer for a token that none of its keys could have signed.
    refusal(&of_issuer, &secret.sign(None, &claims(&json!({})))).await;
}

#[test]
fn a_configuration_that_cannot_be_meant_is_an_error_that_names_its_variables() {
    let key = Signer::ed25519().public_pem();
    let issuer = ("COORD_JWT_ISSUER", ISSUER);
    let (secret, public) = (
        ("COORD_JWT_SECRET", "sesame, sesame, sesame, sesame, sesame"),
        ("COORD_JWT_PUBLIC_KEY", key.as_str()),
    );
    let url = ("COORD_JWT_JWKS_URL", "https://login.example.com/jwks");
    for (set, names) in [
        (
            &[secret, public, issuer][..],
            &["COORD_JWT_SECRET", "COORD_JWT_PUBLIC_KEY"][..],
        ),
        (&[secret, url, issuer], &["COORD_JWT_SECRET", "COORD_JWT_JWKS_URL"]),
        (&[public, url, issuer], &["COORD_JWT_PUBLIC_KEY", "COORD_JWT_JWKS_URL"]),
        (
            &[secret, public, url],
            &["COORD_JWT_SECRET", "COORD_JWT_PUBLIC_KEY", "COORD_JWT_JWKS_URL"],
        ),
        (
            &[("COORD_JWT_SECRET", key.as_str())],
            &["COORD_JWT_SECRET", "COORD_JWT_PUBLIC_KEY"],
        ),
        (
            &[
                ("COORD_JWT_PUBLIC_KEY", "sesame, sesame, sesame, sesame, sesame"),
                issuer,
            ],
            &["COORD_JWT_PUBLIC_KEY"],
        ),
        (
            &[("COORD_JWT_JWKS_URL", "http://login.example.com/jwks"), issuer],
            &["COORD_JWT_JWKS_URL", "https://"],
        ),
        (
            &[("COORD_JWT_JWKS_URL", "http://127.0.0.1/jwks"), issuer],
            &["COORD_JWT_JWKS_URL"],
        ),
        (
            &[("COORD_JWT_JWKS_URL", "https://me:sesame@example.com/"), issuer],
            &["COORD_JWT_JWKS_URL"],
        ),
    ] {
        let error = from_env(set).unwrap_err().to_string();
        for name in names {
            assert!(error.contains(name), "{error}");
        }
        assert!(
            !error.contains("sesame, sesame, sesame, sesame, sesame") && !error.contains("MCow"),
            "{error}"
        );
    }
}
