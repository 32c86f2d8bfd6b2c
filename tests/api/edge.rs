//! Every answer has a name, headers that keep it from being misused, and its cost, whatever the request was.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_extensions::function_router;
use coord_settings::env_vars;
use coord_store::{Request, Store, StoreError, Value as StoreValue};
use futures::stream::BoxStream;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::json;

use crate::api::{Answer, Api, listen};

const JSON: (&str, &str) = ("content-type", "application/json");
const GRAPH: &str = "/api/graph?repo_url=https://github.com/acme/shop&branch=main";

/// One answer of every kind, with what it is.
async fn answers(api: &Api) -> Vec<(&'static str, Answer)> {
    let check = api.check_body(&["src/auth.ts"], json!({})).to_string();
    let post = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    let ask = async |method: Method, path: &str, body: &str| api.request(method, path, &[JSON], body.to_owned()).await;
    let large = "x".repeat((1 << 20) + 1);
    vec![
        ("check", ask(Method::POST, "/api/check_status", &check).await),
        ("post", ask(Method::POST, "/api/post_status", &post).await),
        ("bad body", ask(Method::POST, "/api/post_status", "rubbish").await),
        ("large body", ask(Method::POST, "/api/post_status", &large).await),
        ("method", ask(Method::PUT, "/api/post_status", "").await),
        ("own method", ask(Method::from_bytes(b"BREW").unwrap(), GRAPH, "").await),
        ("sweep refused", api.get("/api/cron_cleanup", &[]).await),
        (
            "sweep",
            api.get("/api/cron_cleanup", &[("authorization", "Bearer cron")]).await,
        ),
        ("health", api.get("/api/health", &[]).await),
        ("health, HEAD", ask(Method::HEAD, "/api/health", "").await),
        ("bad query", api.get("/api/graph", &[]).await),
        (
            "locks",
            api.get("/api/locks?repo_url=https://github.com/acme/shop", &[]).await,
        ),
        ("no route", api.get("/api/nothing", &[]).await),
        ("no path", api.get("/", &[]).await),
    ]
}

async fn start() -> Api {
    Api::start_with(|state| state.cron_secret = Some(SecretString::from("cron"))).await
}

#[tokio::test]
async fn no_answer_is_stored_guessed_at_or_framed() {
    let api = start().await;
    for (name, answer) in answers(&api).await {
        for (header, value) in [
            ("cache-control", "no-store"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(header), Some(value), "{name}");
        }
        assert_eq!(answer.header("strict-transport-security"), None, "{name}: this is http");
        assert!(answer.header("x-request-id").is_some(), "{name}");
        assert!(answer.header("server-timing").is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_graph_is_revalidated_by_its_etag() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let graph = api.get(GRAPH, &[]).await;
    let tag = graph.header("etag").unwrap().to_owned();
    let known = api.get(GRAPH, &[("if-none-match", &tag)]).await;
    assert_eq!((graph.status, known.status), (200, 304));
    for answer in [graph, known] {
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(answer.header("x-request-id").is_some());
    }
    let missing = api.get(&format!("{GRAPH}&focus=nothing.ts"), &[]).await;
    assert_eq!(
        (missing.status, missing.header("cache-control")),
        (404, Some("no-store"))
    );
}

#[tokio::test]
async fn a_function_reached_by_https_sends_strict_transport_security() {
    let api = Api::start().await;
    let function = listen(function_router(coord_http::endpoint::operation::HEALTH, &|_| None)).await;
    let function = api.elsewhere(function, api.store.clone());
    for (scheme, is_https) in [
        ("https", true),
        ("HTTPS, http", true),
        ("http", false),
        ("http, https", false),
    ] {
        let answer = function.get("/api/health", &[("x-forwarded-proto", scheme)]).await;
        let header = answer.header("strict-transport-security");
        assert_eq!(header, is_https.then_some("max-age=63072000"), "{scheme}");
    }
    assert_eq!(
        function
            .get("/api/health", &[])
            .await
            .header("strict-transport-security"),
        None
    );
    let local = api.get("/api/health", &[("x-forwarded-proto", "https")]).await;
    assert_eq!(
        local.header("strict-transport-security"),
        None,
        "anybody may have written that header"
    );
}

// rule: http#request-id
#[tokio::test]
async fn a_request_keeps_the_id_that_it_came_with_where_it_can_be_used() {
    let api = Api::start().await;
    for id in ["a", "7c2b.A-b_c:9", &"x".repeat(128)] {
        let answer = api.get("/api/nothing", &[("x-request-id", id)]).await;
        assert_eq!(answer.header("x-request-id"), Some(id));
    }
    let mut seen = Vec::new();
    for id in ["", "a b", "a\tb", "\u{1b}[31m", "a,b", "<script>", &"x".repeat(129)] {
        let answer = match reqwest::header::HeaderValue::from_str(id) {
            Ok(_) => api.get("/api/nothing", &[("x-request-id", id)]).await,
            Err(_) => continue,
        };
        let given = answer.header("x-request-id").unwrap().to_owned();
        assert_eq!(given.len(), 36, "{id}: {given}");
        assert!(!seen.contains(&given));
        seen.push(given);
    }
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
    api.post_status("ann", "READING", &["src/db.ts"], json!({})).await;
    let claim = timing(&api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await);
    assert_eq!(claim[0].2.as_deref(), Some("1 round trip"));
}

/// A store that takes its time.
struct Slow(Duration);

#[async_trait]
impl Store for Slow {
    async fn run(&self, _: Vec<Request>) -> Result<Vec<StoreValue>, StoreError> {
        // time: a store that takes its time.
        tokio::time::sleep(self.0).await;
        Err(StoreError::Timeout(self.0))
    }

    async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        Err(StoreError::Timeout(self.0))
    }

    fn describe(&self) -> String {
        "a slow store".to_owned()
    }
}

// rule: settings#durations
#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let api = Api::start_with(|state| {
        state.store = coord_store::TimedStore::over(Arc::new(Slow(Duration::from_secs(3600))));
        state.edge.time_limit = Duration::from_millis(200);
    })
    .await;
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    assert_eq!((check.status, check.header("retry-after")), (503, Some("5")));
    let body = check.json();
    assert_eq!(
        (&body["error"], &body["orchestration"]["action"]),
        (&json!("TIMED_OUT"), &json!("STOP"))
    );
    assert_eq!(check.header("cache-control"), Some("no-store"));
    let parts = timing(&check);
    assert!(
        parts[0].1 >= 100.0 && parts[0].2.as_deref() == Some("1 round trip"),
        "{parts:?}"
    );
    let graph = api.get(GRAPH, &[]).await;
    assert_eq!((graph.status, &graph.json()["error"]), (503, &json!("TIMED_OUT")));
    assert_eq!(graph.json().get("orchestration"), None);
}

#[tokio::test]
async fn a_function_has_the_same_edge() {
    let api = Api::start().await;
    for endpoint in coord_extensions::endpoints().iter().copied() {
        let environment =
            |name: &str| (name == env_vars::COORD_CORS_ORIGINS).then(|| "https://coord.example.com".to_owned());
        let function = listen(function_router(endpoint, &environment)).await;
        let function = api.elsewhere(function, api.store.clone());
        let headers = [("origin", "https://coord.example.com"), ("x-request-id", "mine")];
        let answer = function.get(endpoint.path(), &headers).await;
        assert_eq!(answer.header("x-request-id"), Some("mine"), "{endpoint:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{endpoint:?}");
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("https://coord.example.com"),
            "{endpoint:?}"
        );
        assert!(answer.header("server-timing").is_some(), "{endpoint:?}");
    }
}
