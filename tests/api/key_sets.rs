//! Keys that an issuer publishes, against an issuer that is well, slow, broken, hostile, or away.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use coord::auth::{AuthError, Authenticator, IssuerKeys, JwtVerifier, KeySetUrl, KeyTiming};
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::api::{Api, listen};
use crate::signer::Signer;
use crate::tokens::{claims, login};

const ISSUER: &str = "https://login.example.com/";

/// What an issuer answers.
#[derive(Clone)]
enum Says {
    Keys(Value),
    Text(StatusCode, String),
    Redirect(String),
    /// Nothing for so long, and then the keys.
    Late(Duration, Value),
    /// Bytes without end.
    Endless,
}

struct Issuer {
    address: SocketAddr,
    says: Arc<Mutex<Says>>,
    asked: Arc<AtomicUsize>,
}

type Shared = (Arc<Mutex<Says>>, Arc<AtomicUsize>);

async fn answer(State((says, asked)): State<Shared>) -> Response {
    asked.fetch_add(1, Ordering::SeqCst);
    let says = says.lock().unwrap().clone();
    match says {
        Says::Keys(set) => set.to_string().into_response(),
        Says::Text(status, text) => (status, text).into_response(),
        Says::Redirect(to) => (StatusCode::FOUND, [(LOCATION, to)]).into_response(),
        Says::Late(time, set) => {
            tokio::time::sleep(time).await;
            set.to_string().into_response()
        }
        Says::Endless => {
            let chunks = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 16 << 10]));
            axum::body::Body::from_stream(chunks).into_response()
        }
    }
}

impl Issuer {
    async fn start(says: Says) -> Self {
        let shared: Shared = (Arc::new(Mutex::new(says)), Arc::default());
        let router = Router::new().fallback(answer).with_state(shared.clone());
        Issuer {
            address: listen(router).await,
            says: shared.0,
            asked: shared.1,
        }
    }

    fn say(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn verifier(&self, timing: KeyTiming) -> JwtVerifier {
        verifier(self.address, timing)
    }
}

fn verifier(address: SocketAddr, timing: KeyTiming) -> JwtVerifier {
    let url = KeySetUrl::loopback(address, "/.well-known/jwks.json").unwrap();
    JwtVerifier::key_set(IssuerKeys::new(url, timing).unwrap(), ISSUER)
}

fn set(keys: &[Value]) -> Says {
    Says::Keys(json!({ "keys": keys }))
}

/// Fetches again at once.
fn eager() -> KeyTiming {
    KeyTiming {
        pause: Duration::ZERO,
        pause_without_keys: Duration::ZERO,
        ..KeyTiming::default()
    }
}

fn good() -> Value {
    claims(&json!({}))
}

async fn is_refused(verifier: &JwtVerifier, token: &str) -> bool {
    matches!(login(verifier, token).await, Err(AuthError::Refused(_)))
}

async fn is_unavailable(verifier: &JwtVerifier, token: &str) -> bool {
    matches!(login(verifier, token).await, Err(AuthError::Unavailable(_)))
}

#[tokio::test]
async fn every_key_verifies_its_own_tokens_and_is_fetched_once() {
    let signers = [Signer::rsa(), Signer::p256(), Signer::ed25519()];
    let issuer = Issuer::start(set(&[signers[0].jwk("r"), signers[1].jwk("p"), signers[2].jwk("e")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    assert_eq!(issuer.asked(), 0, "nothing is fetched before it is needed");
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
    assert_eq!(issuer.asked(), 1);
}

#[tokio::test]
async fn no_key_is_taken_for_a_secret_and_no_secret_for_a_key() {
    let (rsa, secret) = (Signer::rsa(), Signer::Secret(b"published by mistake".to_vec()));
    let issuer = Issuer::start(set(&[rsa.jwk("r"), secret.jwk("s")])).await;
    let verifier = issuer.verifier(KeyTiming::default());
    assert!(is_refused(&verifier, &secret.sign(Some("s"), &good())).await);
    assert!(is_refused(&verifier, &secret.sign(None, &good())).await);
    assert_eq!(issuer.asked(), 0, "such a token is not worth a fetch");
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
        // A key that is no key does not spoil the set.
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
    assert_eq!(issuer.asked(), 1, "the first fetch was just now");
}

#[tokio::test]
async fn keys_that_cannot_be_told_apart_verify_nothing() {
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
    assert_eq!(elsewhere.asked(), 0);
    let header = json!({ "alg": "RS256", "kid": "one", "jku": url, "jwk": evil.jwk("one") });
    assert!(login(&verifier, &mine.token(&header, &good())).await.is_ok());
}

#[tokio::test]
async fn sixty_four_requests_at_once_make_one_fetch() {
    let (old, new) = (Signer::ed25519(), Signer::ed25519());
    let late = |signer: &Signer, kid| Says::Late(Duration::from_millis(300), json!({ "keys": [signer.jwk(kid)] }));
    let issuer = Issuer::start(late(&old, "old")).await;
    let timing = KeyTiming {
        pause: Duration::from_millis(500),
        ..KeyTiming::default()
    };
    let verifier = issuer.verifier(timing);
    let token = old.sign(Some("old"), &good());
    let all = futures::future::join_all((0..64).map(|_| login(&verifier, &token))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(issuer.asked(), 1);

    // The same when the keys have changed, and everybody comes with the new one.
    issuer.say(late(&new, "new"));
    tokio::time::sleep(Duration::from_millis(600)).await;
    let token = new.sign(Some("new"), &good());
    let all = futures::future::join_all((0..64).map(|_| login(&verifier, &token))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(issuer.asked(), 2);
    assert!(
        is_refused(&verifier, &old.sign(Some("old"), &good())).await,
        "the old key is gone"
    );
}

#[tokio::test]
async fn a_request_that_goes_away_does_not_take_the_fetch_with_it() {
    let signer = Signer::ed25519();
    let keys = json!({ "keys": [signer.jwk("one")] });
    let issuer = Issuer::start(Says::Late(Duration::from_millis(300), keys)).await;
    let verifier = issuer.verifier(KeyTiming::default());
    let token = signer.sign(Some("one"), &good());
    let gone = tokio::time::timeout(Duration::from_millis(100), login(&verifier, &token)).await;
    assert!(gone.is_err());
    assert!(login(&verifier, &token).await.is_ok());
    assert_eq!(issuer.asked(), 1);
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
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        (2..=3).contains(&issuer.asked()),
        "{} for {tokens} tokens",
        issuer.asked()
    );
}

#[tokio::test]
async fn old_keys_are_renewed_while_requests_go_on() {
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
    issuer.say(Says::Late(
        Duration::from_millis(300),
        json!({ "keys": [new.jwk("new")] }),
    ));
    tokio::time::sleep(Duration::from_millis(250)).await;
    let start = Instant::now();
    assert!(
        login(&verifier, &token).await.is_ok(),
        "the old key counts until the new ones are there"
    );
    assert!(start.elapsed() < Duration::from_millis(200), "nobody waits for them");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(login(&verifier, &new.sign(Some("new"), &good())).await.is_ok());
    assert!(is_refused(&verifier, &token).await);
}

/// Everything that is no key set, and comes within its time.
fn troubles(elsewhere: &Issuer) -> Vec<(&'static str, Says)> {
    let text = |text: &str| Says::Text(StatusCode::OK, text.to_owned());
    vec![
        (
            "an error",
            Says::Text(StatusCode::INTERNAL_SERVER_ERROR, "{\"keys\":[]}".to_owned()),
        ),
        (
            "not there",
            Says::Text(StatusCode::NOT_FOUND, "{\"keys\":[]}".to_owned()),
        ),
        ("a redirect", Says::Redirect(format!("http://{}/", elsewhere.address))),
        ("a redirect to a file", Says::Redirect("file:///etc/passwd".to_owned())),
        ("a page", text("<html>log in</html>")),
        ("nothing", text("")),
        ("no list", text("{\"keys\":{}}")),
        ("no keys", text("{}")),
        ("a list", text("[]")),
        ("cut off", text("{\"keys\":[{\"kty\":\"RSA\"")),
        ("very deep", text(&"[".repeat(100_000))),
        ("very long", text(&format!("{{\"keys\":[{}]}}", " ".repeat(300 << 10)))),
        ("endless", Says::Endless),
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
        issuer.say(trouble.clone());
        assert!(
            is_unavailable(&verifier, &evil.sign(Some("evil"), &good())).await,
            "{name}"
        );
        assert!(login(&verifier, &token).await.is_ok(), "{name}");
        // With no key at hand nothing can be said of anybody.
        let cold = issuer.verifier(eager());
        assert!(is_unavailable(&cold, &token).await, "{name}");
        issuer.say(set(&[signer.jwk("one")]));
        assert!(login(&cold, &token).await.is_ok(), "{name} is over");
    }
    assert_eq!(elsewhere.asked(), 0, "no redirect was followed");
}

#[tokio::test]
async fn a_slow_issuer_is_waited_for_no_longer_than_it_may_take() {
    let signer = Signer::ed25519();
    let keys = json!({ "keys": [signer.jwk("one")] });
    let issuer = Issuer::start(Says::Late(Duration::from_secs(30), keys)).await;
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
    assert_eq!(issuer.asked(), 1);
}

#[tokio::test]
async fn an_issuer_takes_its_keys_back_by_an_empty_set() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(eager());
    let token = signer.sign(Some("one"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    issuer.say(set(&[]));
    assert!(is_refused(&verifier, &signer.sign(Some("two"), &good())).await);
    assert!(is_refused(&verifier, &token).await);
}

#[tokio::test]
async fn keys_of_an_issuer_that_is_away_count_for_a_bounded_time() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(set(&[signer.jwk("one")])).await;
    let verifier = issuer.verifier(KeyTiming {
        lifetime: Duration::from_millis(50),
        most_age: Duration::from_millis(800),
        ..eager()
    });
    let token = signer.sign(Some("one"), &good());
    assert!(login(&verifier, &token).await.is_ok());
    issuer.say(Says::Text(StatusCode::BAD_GATEWAY, String::new()));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(login(&verifier, &token).await.is_ok());
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(is_unavailable(&verifier, &token).await);
    issuer.say(set(&[signer.jwk("one")]));
    assert!(login(&verifier, &token).await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_offline_and_no_refusal() {
    let signer = Signer::ed25519();
    let issuer = Issuer::start(Says::Text(StatusCode::BAD_GATEWAY, String::new())).await;
    // Nobody listens on port 1 of this machine.
    for address in [issuer.address, SocketAddr::from(([127, 0, 0, 1], 1))] {
        let verifier = verifier(address, eager());
        let api = Api::start_with(|state| state.authenticator = Arc::new(Authenticator::Jwt(Some(verifier)))).await;
        let token = format!("Bearer {}", signer.sign(Some("one"), &good()));
        let headers = [("content-type", "application/json"), ("authorization", token.as_str())];
        let post = async |path: &str, body: Value| {
            api.request(reqwest::Method::POST, path, &headers, body.to_string())
                .await
        };
        let check = post("/api/check_status", api.check_body(&["src/auth.ts"], json!({}))).await;
        let claim = post(
            "/api/post_status",
            api.post_body("WRITING", &["src/auth.ts"], json!({})),
        )
        .await;
        let graph = api
            .get("/api/graph?repo_url=https://github.com/acme/shop&branch=main", &headers)
            .await;
        for answer in [&check, &claim, &graph] {
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
            assert_eq!(answer.json()["error"], "IDENTITY_UNAVAILABLE");
        }
        if address == issuer.address {
            assert_json_snapshot!("check", check.snapshot());
            assert_json_snapshot!("claim", claim.snapshot());
            issuer.say(set(&[signer.jwk("one")]));
            let check = post("/api/check_status", api.check_body(&["src/auth.ts"], json!({}))).await;
            assert_eq!(check.status, 200);
        }
        // No credential, and one that no key could verify, are refused whatever the issuer does.
        assert_eq!(api.get("/api/graph?repo_url=x&branch=main", &[]).await.status, 401);
        assert_eq!(
            api.get(
                "/api/graph?repo_url=x&branch=main",
                &[("authorization", "Bearer undefined")]
            )
            .await
            .status,
            401
        );
    }
}
