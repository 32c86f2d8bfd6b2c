//! The promises of a store, as a function's health reports them for real Redis servers.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use coord_extensions::function_router;
use coord_store::redis::RedisStore;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use coord_test_support::real_redis::RealRedis;
use coord_test_support::upstash;

/// The status of the health of a function with these variables, and `store` of it, without its latency.
async fn health_of(variables: &[(&str, &str)]) -> (u16, Value) {
    let get = |wanted: &str| {
        let variable = variables.iter().find(|(name, _)| *name == wanted);
        variable.map(|(_, value)| (*value).to_owned())
    };
    let request = Request::get("/api/health").body(Body::empty()).unwrap();
    let response = function_router(coord_http::endpoint::operation::HEALTH, &get)
        .oneshot(request)
        .await
        .unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    let store = body["store"].as_object_mut().unwrap();
    assert_eq!(store.remove("latency_ms").is_some(), status == 200);
    (status, body["store"].take())
}

/// The same of a store that is well.
async fn health(variables: &[(&str, &str)]) -> Value {
    let (status, store) = health_of(variables).await;
    assert_eq!(status, 200, "a promise that is not made degrades nothing");
    store
}

#[tokio::test]
async fn health_reports_why_a_redis_cannot_be_written() {
    let busy = "while true do end";
    for (words, status, cause) in [
        (&["CONFIG", "SET", "maxmemory", "1"][..], "read_only", "out_of_memory"),
        (&["REPLICAOF", "127.0.0.1", "1"], "read_only", "replica"),
        (&["CLIENT", "PAUSE", "60000", "WRITE"], "down", "paused"),
        (&["EVAL", busy, "0"], "down", "busy"),
    ] {
        let Some(server) = RealRedis::start(&["--lua-time-limit", "100"]) else {
            return;
        };
        assert_eq!(health(&[("REDIS_URL", &server.url())]).await["status"], "ok");
        let sent = server.send(words).unwrap();
        // time: the server is busy by then.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (code, store) = health_of(&[("REDIS_URL", &server.url())]).await;
        assert_eq!(
            (code, &store["status"], &store["cause"]),
            (503, &json!(status), &json!(cause)),
            "{words:?}"
        );
        drop(sent);
    }
}

const AOF: [&str; 2] = ["--appendonly", "yes"];
const LRU: [&str; 4] = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];

fn kept() -> Value {
    json!({ "status": "ok", "promises": "kept" })
}

fn unknown() -> Value {
    json!({ "status": "ok", "promises": "unknown" })
}

fn broken(promises: &[&str]) -> Value {
    json!({ "status": "ok", "promises": "broken", "broken_promises": promises })
}

#[tokio::test]
async fn health_lists_the_broken_promises_of_a_redis() {
    let with_aof = |options: &[&'static str]| [&AOF, options].concat();
    for (options, expected) in [
        (with_aof(&[]), kept()),
        (vec![], broken(&["not_persistent"])),
        (with_aof(&LRU), broken(&["evicts"])),
        (with_aof(&["--appendfsync", "no"]), broken(&["not_persistent"])),
        (LRU.to_vec(), broken(&["evicts", "not_persistent"])),
        (with_aof(&["--rename-command", "CONFIG", ""]), unknown()),
        (with_aof(&["--rename-command", "INFO", ""]), unknown()),
    ] {
        let Some(server) = RealRedis::start(&options) else {
            return;
        };
        assert_eq!(health(&[("REDIS_URL", &server.url())]).await, expected, "{options:?}");
    }
}

#[tokio::test]
async fn a_rest_store_that_refuses_config_is_unknown_unless_info_shows_a_broken_promise() {
    for (options, expected) in [
        (AOF.to_vec(), unknown()),
        (LRU.to_vec(), broken(&["evicts", "not_persistent"])),
    ] {
        let Some(server) = RealRedis::start(&options) else {
            return;
        };
        let url = upstash::serve(Arc::new(RedisStore::connect(&server.url()).unwrap())).await;
        let variables = [
            ("UPSTASH_REDIS_REST_URL", url.as_str()),
            ("UPSTASH_REDIS_REST_TOKEN", upstash::TOKEN),
        ];
        assert_eq!(health(&variables).await, expected, "{options:?}");
    }
}
