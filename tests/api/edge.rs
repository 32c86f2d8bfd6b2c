//! Every answer has a name, headers that keep it from being misused, and its cost, whatever the request was.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_settings::env_vars;
use coord_store::{Request, Store, StoreError, Value as StoreValue};
use futures::stream::BoxStream;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::json;

use crate::api::{Answer, Api, GRAPH, JSON, LOCKS};

/// One answer of every kind, with what it is.
async fn answers(api: &Api) -> Vec<(&'static str, Answer)> {
    let check = api.check_body(&["src/auth.ts"], json!({})).to_string();
    let post = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    let ask = async |method: Method, path: &str, body: &str| api.request(method, path, &[JSON], body.to_owned()).await;
    let large = "x".repeat((1 << 20) + 1);
    let secret = [("authorization", "Bearer cron")];
    vec![
        ("check", ask(Method::POST, "/api/check_status", &check).await),
        ("post", ask(Method::POST, "/api/post_status", &post).await),
        ("bad body", ask(Method::POST, "/api/post_status", "rubbish").await),
        ("large body", ask(Method::POST, "/api/post_status", &large).await),
        ("method", ask(Method::PUT, "/api/post_status", "").await),
        ("own method", ask(Method::from_bytes(b"BREW").unwrap(), GRAPH, "").await),
        ("sweep refused", api.get("/api/cron_cleanup", &[]).await),
        ("sweep", api.get("/api/cron_cleanup", &secret).await),
        ("health", api.get("/api/health", &[]).await),
        ("health, HEAD", ask(Method::HEAD, "/api/health", "").await),
        ("bad query", api.get("/api/graph", &[]).await),
        ("locks", api.get(LOCKS, &[]).await),
        ("no route", api.get("/api/nothing", &[]).await),
        ("no path", api.get("/", &[]).await),
    ]
}

#[tokio::test]
async fn no_answer_is_stored_guessed_at_or_framed() {
    let api = Api::start_with(|state| state.cron_secret = Some(SecretString::from("cron"))).await;
    for (name, answer) in answers(&api).await {
        for (header, value) in [
            ("cache-control", Some("no-store")),
            (
                "content-security-policy",
                Some("default-src 'none'; frame-ancestors 'none'"),
            ),
            ("cross-origin-resource-policy", Some("same-origin")),
            ("referrer-policy", Some("no-referrer")),
            ("x-content-type-options", Some("nosniff")),
            // This is http.
            ("strict-transport-security", None),
        ] {
            assert_eq!(answer.header(header), value, "{name}: {header}");
        }
        assert!(answer.header("x-request-id").is_some(), "{name}");
        assert!(answer.header("server-timing").is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_function_reached_by_https_sends_strict_transport_security() {
    let api = Api::start().await;
    let function = api.function(coord_http::endpoint::operation::HEALTH, &[]).await;
    for (server, schemes, is_https) in [
        (&function, &["https"][..], true),
        (&function, &["HTTPS, http"], true),
        (&function, &["http"], false),
        (&function, &["http, https"], false),
        (&function, &[], false),
        // Before a server of this machine anybody may have written that header.
        (&api, &["https"], false),
    ] {
        let headers: Vec<_> = schemes.iter().map(|scheme| ("x-forwarded-proto", *scheme)).collect();
        let answer = server.get("/api/health", &headers).await;
        let header = answer.header("strict-transport-security");
        assert_eq!(header, is_https.then_some("max-age=63072000"), "{schemes:?}");
    }
}

/// Which ids can be used is tested beside the function that decides it.
// rule: http#request-id
#[tokio::test]
async fn a_request_keeps_the_id_that_it_came_with_where_it_can_be_used() {
    let api = Api::start().await;
    let answered = async |id: &str| {
        let answer = api.get("/api/nothing", &[("x-request-id", id)]).await;
        answer.header("x-request-id").unwrap().to_owned()
    };
    let longest = "x".repeat(128);
    assert_eq!(answered(&longest).await, longest);
    let (first, second) = (answered("a b").await, answered(&format!("{longest}x")).await);
    assert_eq!((first.len(), second.len()), (36, 36), "{first} {second}");
    assert_ne!(first, second);
}

/// The parts of `Server-Timing`: name, milliseconds, description.
fn timing(answer: &Answer) -> Vec<(String, f64, Option<String>)> {
    let header = answer.header("server-timing").unwrap();
    let part = |part: &str| {
        let mut fields = part.trim().split(';');
        let name = fields.next().unwrap().to_owned();
        let fields: Vec<(&str, &str)> = fields.map(|field| field.split_once('=').unwrap()).collect();
        let value = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
        let description = value("desc").map(|text| text.trim_matches('"').to_owned());
        (name, value("dur").unwrap().parse().unwrap(), description)
    };
    header.split(',').map(part).collect()
}

#[tokio::test]
async fn a_response_has_its_server_timing() {
    let api = Api::start().await;
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    let parts = timing(&check);
    let names: Vec<&str> = parts.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["store", "source", "total"]);
    assert_eq!(parts[0].2.as_deref(), Some("1 round trip"));
    assert!(parts[0].1 > 0.0 && parts[1].1 > 0.0, "{parts:?}");
    assert!(parts[2].1 >= parts[0].1 + parts[1].1, "{parts:?}");
    let nothing = timing(&api.get("/api/nothing", &[]).await);
    assert_eq!((nothing[0].1, nothing[0].2.as_deref()), (0.0, Some("0 round trips")));
    // The first claim in a repository may find it missing on the list of the sweep, which costs a separate round trip.
    api.claim("ann", "READING", &["src/db.ts"]).await;
    let claim = timing(&api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await);
    assert_eq!(claim[0].2.as_deref(), Some("1 round trip"));
}

/// A store that never answers in time.
struct Slow;

#[async_trait]
impl Store for Slow {
    async fn run(&self, _: Vec<Request>) -> Result<Vec<StoreValue>, StoreError> {
        std::future::pending().await
    }

    async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        std::future::pending().await
    }

    fn describe(&self) -> String {
        "a slow store".to_owned()
    }
}

// rule: settings#durations
#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let api = Api::start_with(|state| {
        state.store = coord_store::TimedStore::over(Arc::new(Slow));
        state.edge.time_limit = Duration::from_millis(200);
    })
    .await;
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    check.expect("503 TIMED_OUT STOP");
    assert_eq!(check.header("retry-after"), Some("5"));
    assert_eq!(check.header("cache-control"), Some("no-store"));
    let parts = timing(&check);
    assert!(
        parts[0].1 >= 100.0 && parts[0].2.as_deref() == Some("1 round trip"),
        "{parts:?}"
    );
    let graph = api.get(GRAPH, &[]).await;
    assert_eq!(graph.outcome(), "503 TIMED_OUT", "without a command");
}

#[tokio::test]
async fn a_function_has_the_same_edge() {
    let api = Api::start().await;
    let page = "https://coord.example.com";
    for endpoint in coord_extensions::endpoints().iter().copied() {
        let environment = [(env_vars::COORD_CORS_ORIGINS, page)];
        let function = api.function(endpoint, &environment).await;
        let headers = [("origin", page), ("x-request-id", "mine")];
        let answer = function.get(endpoint.path(), &headers).await;
        for (header, value) in [
            ("x-request-id", "mine"),
            ("cache-control", "no-store"),
            ("access-control-allow-origin", page),
        ] {
            assert_eq!(answer.header(header), Some(value), "{endpoint:?} {header}");
        }
        assert!(answer.header("server-timing").is_some(), "{endpoint:?}");
    }
}
