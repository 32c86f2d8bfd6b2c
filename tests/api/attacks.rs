//! Harmful requests that anyone on the public internet may send.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_extensions::function_router;
use coord_http::Endpoint;
use coord_settings::env_vars;
use coord_store::{Request, Store, StoreError, Value as StoreValue};
use futures::stream::BoxStream;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::api::{Api, listen};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Counts what the store is asked, and the bytes of it.
pub(crate) struct Counted {
    store: Arc<dyn Store>,
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl Counted {
    /// Calls and bytes since the last look.
    pub(crate) fn take(&self) -> (usize, usize) {
        (
            self.calls.swap(0, Ordering::Relaxed),
            self.bytes.swap(0, Ordering::Relaxed),
        )
    }
}

#[async_trait]
impl Store for Counted {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<StoreValue>, StoreError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let size = |request: &Request| match request {
            Request::Command(words) => words.iter().map(Vec::len).sum(),
            Request::Script { args, .. } => args.iter().map(Vec::len).sum::<usize>(),
        };
        self.bytes.fetch_add(batch.iter().map(size).sum(), Ordering::Relaxed);
        self.store.run(batch).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        self.store.subscribe(channel).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

pub(crate) async fn counted() -> (Api, Arc<Counted>) {
    let mut counted = None;
    let api = Api::start_with(|state| {
        let store = Arc::new(Counted {
            store: Arc::clone(&state.store),
            calls: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        });
        counted = Some(Arc::clone(&store));
        state.store = store;
    })
    .await;
    (api, counted.unwrap())
}

#[tokio::test]
async fn a_hundred_thousand_paths_cost_the_store_nothing() {
    let (api, store) = counted().await;
    let usual = {
        assert_eq!(api.check("ann", &["src/auth.ts"], json!({})).await.status, 200);
        store.take()
    };
    assert_eq!(usual.0, 1);
    let paths: Vec<String> = (0..100_000).map(|number| format!("f{number}")).collect();
    for path in ["/api/check_status", "/api/post_status"] {
        let body = api.post_body("WRITING", &[], json!({ "file_paths": paths }));
        assert!(body.to_string().len() < 1 << 20);
        let answer = api.post("ann", path, &body).await;
        assert_eq!(
            answer.refusal(),
            "400 INVALID_FIELD file_paths: file_paths has 100000 paths; at most 512 distinct ones are allowed"
        );
        assert_eq!(store.take(), (0, 0), "{path}");
    }
    assert_eq!(api.check("ann", &["src/auth.ts"], json!({})).await.status, 200);
    assert_eq!(store.take(), usual, "the next check costs what it did");
}

#[tokio::test]
async fn deep_json_costs_the_store_nothing() {
    let (api, store) = counted().await;
    for deep in ["[".repeat(1_000_000), "{\"a\":".repeat(170_000)] {
        for field in ["file_paths", "message", "anything"] {
            let body = format!("{{\"{field}\":{deep}");
            let answer = api.request(Method::POST, "/api/post_status", &[JSON], body).await;
            assert_eq!(
                (answer.status, &answer.json()["error"]),
                (400, &json!("MALFORMED_BODY"))
            );
        }
    }
    assert_eq!(store.take(), (0, 0));
}

/// Sends a head, and reads the answer without sending the body.
async fn answer_to_head(api: &Api, headers: &str) -> String {
    let mut connection = TcpStream::connect(api.address).await.unwrap();
    let head =
        format!("POST /api/post_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut buffer = vec![0; 4096];
    // Sooner than a body that does not come is given up (10 s).
    let count = tokio::time::timeout(Duration::from_secs(8), connection.read(&mut buffer))
        .await
        .expect("the answer waits for no body")
        .unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

#[tokio::test]
async fn ten_mebibytes_are_refused_before_they_come() {
    let api = Api::start().await;
    for headers in [
        "content-length: 10485760\r\n",
        "content-length: 10485760\r\nexpect: 100-continue\r\n",
        "content-length: 9223372036854775807\r\n",
    ] {
        let answer = answer_to_head(&api, headers).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{headers}: {answer}");
        assert!(answer.contains("BODY_TOO_LARGE"), "{answer}");
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off_at_one_mebibyte() {
    let api = Api::start().await;
    let mut connection = TcpStream::connect(api.address).await.unwrap();
    let head = "POST /api/post_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.write_all(head.as_bytes()).await.unwrap();
    let (mut reading, mut writing) = connection.into_split();
    let chunk = [b"10000\r\n", vec![b' '; 0x10000].as_slice(), b"\r\n"].concat();
    let sending = tokio::spawn(async move {
        let mut sent = 0;
        while writing.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let mut answer = vec![0; 4096];
    let count = tokio::time::timeout(Duration::from_secs(60), reading.read(&mut answer))
        .await
        .unwrap()
        .unwrap();
    let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    drop(reading);
    let sent = tokio::time::timeout(Duration::from_secs(60), sending)
        .await
        .unwrap()
        .unwrap();
    assert!(sent < 64 << 20, "the connection took {sent} bytes");
}

#[tokio::test]
async fn packed_bodies_are_not_unpacked() {
    let api = Api::start().await;
    let body = api.check_body(&["src/auth.ts"], json!({})).to_string();
    for encoding in [
        "gzip",
        "GZIP",
        "br",
        "deflate",
        "zstd",
        "gzip, gzip",
        "identity, gzip",
        "x",
        "",
    ] {
        let headers = [JSON, ("content-encoding", encoding)];
        let answer = api
            .request(Method::POST, "/api/check_status", &headers, body.clone())
            .await;
        assert_eq!(
            answer.refusal(),
            "415 UNSUPPORTED_ENCODING -: send the body uncompressed, without Content-Encoding",
            "{encoding}"
        );
    }
    let headers = [JSON, ("content-encoding", "identity")];
    let plain = api.request(Method::POST, "/api/check_status", &headers, body).await;
    assert_eq!(plain.status, 200);
}

/// A function with these settings.
async fn function(api: &Api, endpoint: Endpoint, environment: &[(&str, &str)]) -> Api {
    let get = |wanted: &str| {
        let variable = environment.iter().find(|(name, _)| *name == wanted);
        variable.map(|(_, value)| (*value).to_owned())
    };
    api.elsewhere(listen(function_router(endpoint, &get)).await, api.store.clone())
}

#[tokio::test]
async fn a_header_that_names_a_user_identifies_no_caller_of_a_function() {
    let api = Api::start().await;
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    for environment in [&[][..], &[(env_vars::COORD_JWT_SECRET, crate::identity::SECRET)]] {
        for endpoint in [
            coord_http::endpoint::CHECK_STATUS,
            coord_http::endpoint::POST_STATUS,
            coord_http::endpoint::GRAPH,
        ] {
            let function = function(&api, endpoint, environment).await;
            for name in [
                "x-coord-user",
                "x-forwarded-user",
                "x-forwarded-email",
                "x-remote-user",
                "x-auth-request-user",
                "x-vercel-user",
                "remote-user",
                "cookie",
            ] {
                let method = match endpoint == coord_http::endpoint::GRAPH {
                    true => Method::GET,
                    false => Method::POST,
                };
                let headers = [
                    JSON,
                    (name, "root"),
                    ("host", "localhost"),
                    ("x-forwarded-for", "127.0.0.1"),
                ];
                let answer = function.request(method, endpoint.path(), &headers, body.clone()).await;
                assert_eq!(
                    (answer.status, &answer.json()["error"]),
                    (401, &json!("UNAUTHORIZED")),
                    "{endpoint:?} {name}"
                );
            }
        }
    }
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn a_sweep_with_a_short_secret_is_refused_with_the_required_length() {
    let api = Api::start().await;
    let function = function(
        &api,
        coord_http::endpoint::operation::CRON_CLEANUP,
        &[(env_vars::CRON_SECRET, "hunter2")],
    )
    .await;
    let answer = function
        .get("/api/cron_cleanup", &[("authorization", "Bearer hunter2")])
        .await;
    assert_eq!(answer.status, 401);
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(text.contains("CRON_SECRET must have at least 32 bytes"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_secret_that_a_template_left_empty_opens_no_sweep() {
    let api = Api::start().await;
    for value in ["", " ", "undefined", "null", "Undefined", "NULL"] {
        let function = function(
            &api,
            coord_http::endpoint::operation::CRON_CLEANUP,
            &[(env_vars::CRON_SECRET, value)],
        )
        .await;
        let bearer = format!("Bearer {value}");
        for authorization in [
            bearer.as_str(),
            "Bearer undefined",
            "Bearer null",
            "Bearer ",
            "undefined",
            "",
        ] {
            let answer = function
                .get("/api/cron_cleanup", &[("authorization", authorization)])
                .await;
            assert_eq!(answer.status, 401, "{value:?} {authorization:?}");
        }
        // Vercel's own mark of a cron proves nothing: anybody can send it.
        let spoofed = [("user-agent", "vercel-cron/1.0"), ("x-vercel-cron", "1")];
        assert_eq!(function.get("/api/cron_cleanup", &spoofed).await.status, 401);
    }
    let function = function(
        &api,
        coord_http::endpoint::operation::CRON_CLEANUP,
        &[(env_vars::CRON_SECRET, "the secret of the cron, which is long")],
    )
    .await;
    let ask = async |authorization: &str| {
        function
            .get("/api/cron_cleanup", &[("authorization", authorization)])
            .await
            .status
    };
    assert_eq!(ask("Bearer the secret of the cron, which is lon").await, 401);
    assert_eq!(ask("Bearer the secret of the cron, which is long!").await, 401);
    assert_eq!(ask("Bearer undefined").await, 401);
    assert_eq!(
        ask("Bearer the secret of the cron, which is long").await,
        503,
        "let in, and there is no store"
    );
}
