//! Harmful requests that anyone on the public internet may send.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_http::endpoint::operation::CRON_CLEANUP;
use coord_http::endpoint::{CHECK_STATUS, GRAPH, POST_STATUS};
use coord_settings::env_vars;
use coord_store::{Request, Store, StoreError, Value as StoreValue};
use futures::stream::BoxStream;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::api::{Api, JSON};

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
    api.check("ann", &["src/auth.ts"], json!({})).await.expect("200");
    let usual = store.take();
    assert_eq!(usual.0, 1);
    let paths: Vec<String> = (0..100_000).map(|number| format!("f{number}")).collect();
    let body = api.post_body("WRITING", &[], json!({ "file_paths": paths }));
    assert!(body.to_string().len() < 1 << 20);
    for path in ["/api/check_status", "/api/post_status"] {
        assert_eq!(
            api.post("ann", path, &body).await.refusal(),
            "400 INVALID_FIELD file_paths: file_paths has 100000 paths; at most 512 distinct ones are allowed"
        );
        assert_eq!(store.take(), (0, 0), "{path}");
    }
    api.check("ann", &["src/auth.ts"], json!({})).await.expect("200");
    assert_eq!(store.take(), usual, "the next check costs what it did");
}

#[tokio::test]
async fn deep_json_costs_the_store_nothing() {
    let (api, store) = counted().await;
    for deep in ["[".repeat(1_000_000), "{\"a\":".repeat(170_000)] {
        for field in ["file_paths", "message", "anything"] {
            let body = format!("{{\"{field}\":{deep}");
            let answer = api.request(Method::POST, "/api/post_status", &[JSON], body).await;
            answer.expect("400 MALFORMED_BODY");
        }
    }
    assert_eq!(store.take(), (0, 0));
}

/// Sends the head of a claim with `headers`, and nothing of its body.
pub(crate) async fn send_head(api: &Api, headers: &str) -> TcpStream {
    let mut connection = TcpStream::connect(api.address).await.unwrap();
    let head =
        format!("POST /api/post_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    connection
}

/// Reads what comes within so many seconds.
pub(crate) async fn read_within(seconds: u64, connection: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut buffer = vec![0; 4096];
    let reading = tokio::time::timeout(Duration::from_secs(seconds), connection.read(&mut buffer));
    let count = reading.await.expect("an answer in time").unwrap();
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
        // Sooner than a body that does not come is given up (10 s).
        let answer = read_within(8, &mut send_head(&api, headers).await).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{headers}: {answer}");
        assert!(answer.contains("BODY_TOO_LARGE"), "{answer}");
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off_at_one_mebibyte() {
    let api = Api::start().await;
    let connection = send_head(&api, "transfer-encoding: chunked\r\n").await;
    let (mut reading, mut writing) = connection.into_split();
    let chunk = [b"10000\r\n", vec![b' '; 0x10000].as_slice(), b"\r\n"].concat();
    let sending = tokio::spawn(async move {
        let mut sent = 0;
        while writing.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let answer = read_within(60, &mut reading).await;
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
    let body = api.check_body(&["src/auth.ts"], json!({}));
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
        let packed = [("content-encoding", encoding)];
        let answer = api.post_with(&packed, "/api/check_status", &body).await;
        assert_eq!(
            answer.refusal(),
            "415 UNSUPPORTED_ENCODING -: send the body uncompressed, without Content-Encoding",
            "{encoding}"
        );
    }
    let plain = [("content-encoding", "identity")];
    api.post_with(&plain, "/api/check_status", &body).await.expect("200");
}

#[tokio::test]
async fn a_header_that_names_a_user_identifies_no_caller_of_a_function() {
    let api = Api::start().await;
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    for environment in [&[][..], &[(env_vars::COORD_JWT_SECRET, crate::identity::SECRET)]] {
        for (endpoint, method) in [
            (CHECK_STATUS, Method::POST),
            (POST_STATUS, Method::POST),
            (GRAPH, Method::GET),
        ] {
            let function = api.function(endpoint, environment).await;
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
                let headers = [
                    JSON,
                    (name, "root"),
                    ("host", "localhost"),
                    ("x-forwarded-for", "127.0.0.1"),
                ];
                let answer = function.request(method.clone(), endpoint.path(), &headers, body.clone());
                let outcome = answer.await.outcome();
                assert!(
                    outcome.starts_with("401 UNAUTHORIZED"),
                    "{endpoint:?} {name}: {outcome}"
                );
            }
        }
    }
    assert_eq!(api.held().await, 0);
}

/// The status of a sweep with this header.
async fn sweep(function: &Api, authorization: &str) -> u16 {
    let headers = [("authorization", authorization)];
    function.get("/api/cron_cleanup", &headers).await.status
}

#[tokio::test]
async fn a_sweep_with_a_short_secret_is_refused_with_the_required_length() {
    let api = Api::start().await;
    let function = api.function(CRON_CLEANUP, &[(env_vars::CRON_SECRET, "hunter2")]).await;
    let headers = [("authorization", "Bearer hunter2")];
    let answer = function.get("/api/cron_cleanup", &headers).await;
    assert_eq!(answer.status, 401);
    let text = answer.text();
    assert!(text.contains("CRON_SECRET must have at least 32 bytes"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_secret_that_a_template_left_empty_opens_no_sweep() {
    let api = Api::start().await;
    for value in ["", " ", "undefined", "null", "Undefined", "NULL"] {
        let function = api.function(CRON_CLEANUP, &[(env_vars::CRON_SECRET, value)]).await;
        for authorization in [
            format!("Bearer {value}").as_str(),
            "Bearer undefined",
            "Bearer null",
            "Bearer ",
            "undefined",
            "",
        ] {
            let status = sweep(&function, authorization).await;
            assert_eq!(status, 401, "{value:?} {authorization:?}");
        }
        // Vercel's own mark of a cron proves nothing: anybody can send it.
        let spoofed = [("user-agent", "vercel-cron/1.0"), ("x-vercel-cron", "1")];
        assert_eq!(function.get("/api/cron_cleanup", &spoofed).await.status, 401);
    }
    let secret = "the secret of the cron, which is long";
    let function = api.function(CRON_CLEANUP, &[(env_vars::CRON_SECRET, secret)]).await;
    for (authorization, status) in [
        ("Bearer the secret of the cron, which is lon", 401),
        ("Bearer the secret of the cron, which is long!", 401),
        ("Bearer undefined", 401),
        // Admitted, and there is no store.
        ("Bearer the secret of the cron, which is long", 503),
    ] {
        assert_eq!(sweep(&function, authorization).await, status, "{authorization}");
    }
}
