//! A store or a source that does not answer: OFFLINE, in time, with what is still allowed.

use std::sync::Arc;
use std::time::Duration;

use coord_domain::CommitSha;
use coord_server::app::App;
use coord_state::heads::{FetchedHead, record_head};
use coord_store::redis::{RedisOptions, RedisStore};
use coord_store::upstash::UpstashStore;
use coord_store::{Limits, Store};
use insta::assert_json_snapshot;
use secrecy::SecretString;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::api::{Api, GRAPH, main_branch};

/// A server that reads and answers every connection with `answer`, over and over; nothing means that it never answers.
async fn stub(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 65536];
                while matches!(stream.read(&mut buffer).await, Ok(1..)) {
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

/// A port that nobody listens on.
async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Limits that end soon: what is tested is that they end.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_millis(500),
        request: Duration::from_millis(500),
        call: Duration::from_secs(2),
        ..Limits::default()
    }
}

fn redis(port: u16) -> Arc<dyn Store> {
    let options = RedisOptions {
        limits: limits(),
        ..RedisOptions::default()
    };
    Arc::new(RedisStore::with_options(&format!("redis://127.0.0.1:{port}"), options).unwrap())
}

fn upstash(port: u16) -> Arc<dyn Store> {
    let token = SecretString::from("token");
    Arc::new(UpstashStore::with_limits(&format!("http://127.0.0.1:{port}"), token, limits()).unwrap())
}

async fn with_store(store: Arc<dyn Store>) -> Api {
    Api::start_with(|state: &mut App| state.store = store).await
}

// rule: messages#offline
#[tokio::test]
async fn a_store_that_is_down_is_offline() {
    let api = with_store(redis(free_port().await)).await;
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    assert_eq!(check.header("retry-after"), Some("5"));
    assert_json_snapshot!("check", check.snapshot());
    for status in ["READING", "WRITING", "OPEN"] {
        let post = api.post_status("ann", status, &["src/auth.ts"], json!({})).await;
        assert_eq!((post.status, post.header("retry-after")), (503, Some("5")));
        assert_json_snapshot!("post", post.snapshot());
    }
    assert_json_snapshot!("graph", api.get(GRAPH, &[]).await.snapshot());
}

#[tokio::test]
async fn a_store_that_is_slow_or_answers_rubbish_is_offline_too() {
    let script_answers: &[u8] = b"*2\r\n$7\r\nCHECKED\r\n:1\r\n";
    let http = |body: &str| -> &'static [u8] {
        let text = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Box::leak(text.into_bytes().into_boxed_slice())
    };
    let stores: Vec<(&str, Arc<dyn Store>)> = vec![
        ("redis, silent", redis(stub(b"").await)),
        ("redis, rubbish", redis(stub(b"\x00\xff rubbish \r\n\r\n").await)),
        ("redis, HTTP", redis(stub(b"HTTP/1.1 400 Bad Request\r\n\r\n").await)),
        ("redis, half a reply", redis(stub(script_answers).await)),
        (
            "redis, an error",
            redis(stub(b"-LOADING Redis is loading the dataset in memory\r\n").await),
        ),
        ("redis, endless", redis(stub(b"*1000000000\r\n").await)),
        ("upstash, silent", upstash(stub(b"").await)),
        ("upstash, rubbish", upstash(stub(b"\x00\xff rubbish \r\n\r\n").await)),
        ("upstash, a page", upstash(stub(http("<html>It works!</html>")).await)),
        ("upstash, another shape", upstash(stub(http("{\"hello\":1}")).await)),
        (
            "upstash, an outcome that no script has",
            upstash(stub(http("[{\"result\":[\"TVVESVIK\",1]},{\"result\":[\"TVVESVIK\",1]}]")).await),
        ),
        ("upstash, too few replies", upstash(stub(http("[]")).await)),
    ];
    for (name, store) in stores {
        let api = with_store(store).await;
        let check = api.check("ann", &["src/auth.ts"], json!({})).await;
        assert_eq!(check.outcome(), "503 STORE_UNAVAILABLE STOP", "{name}");
        assert_eq!(check.json()["status"], "OFFLINE", "{name}");
        assert_eq!(check.json()["repo_head"], json!(api.head), "{name}");
        let post = api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await;
        assert_eq!(post.outcome(), "503 STORE_UNAVAILABLE STOP", "{name}");
        let text = post.text();
        assert!(
            !text.contains("rubbish") && !text.contains("127.0.0.1"),
            "causes go to the log: {text}"
        );
    }
}

#[tokio::test]
async fn a_function_that_is_not_configured_names_the_variables_to_set() {
    let api = Api::start().await;
    let body = api.check_body(&["src/auth.ts"], json!({}));
    for (name, variable, value) in [
        ("no_store", "", ""),
        ("half_a_pair", "UPSTASH_REDIS_REST_URL", "https://example.upstash.io"),
        ("no_url", "REDIS_URL", "localhost:6379"),
        ("bad_ttl", "COORD_LOCK_TTL_SECONDS", "five minutes"),
    ] {
        let environment = [("COORD_JWT_SECRET", crate::identity::SECRET), (variable, value)];
        let function = api.function(coord_http::endpoint::CHECK_STATUS, &environment).await;
        let token = crate::identity::good_token();
        let headers = [("authorization", token.as_str())];
        let answer = function.post_with(&headers, "/api/check_status", &body).await;
        assert_json_snapshot!(name, answer.snapshot());
        assert_eq!(
            function.get("/api/graph", &[]).await.status,
            404,
            "one function serves one endpoint"
        );
    }
}

#[tokio::test]
async fn a_function_without_a_source_knows_what_the_store_knows() {
    let api = Api::start_with(|state| state.source = None).await;
    let file = &["src/auth.ts"];
    assert_json_snapshot!("nothing", api.check("ann", file, json!({})).await.snapshot());
    let claim = api.post_status("ann", "WRITING", file, json!({})).await;
    let graph = api.get(GRAPH, &[]).await;
    assert_eq!((claim.status, graph.status), (503, 503));

    let record = async |head: &CommitSha, recent: &[CommitSha]| {
        let head = FetchedHead::of(head, recent);
        let recorded = record_head(&*api.store, &api.repo(), &main_branch(), &head).await;
        recorded.unwrap();
    };
    let [first, head] = [&api.first, &api.head].map(|text| CommitSha::parse(text).unwrap());
    record(&first, &[]).await;
    let at_first = json!({ "agent_head": api.first });
    api.check("ann", file, at_first.clone()).await.expect("200 OK");
    api.granted("ann", "WRITING", file, at_first).await;
    let release = json!({ "new_repo_head": api.head });
    let kept = api.post_status("ann", "OPEN", file, release.clone()).await;
    kept.expect("409 NOT_PUSHED");
    record(&head, &[head.clone(), first]).await;
    api.granted("ann", "OPEN", file, release).await;
}
