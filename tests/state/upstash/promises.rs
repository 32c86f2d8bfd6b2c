//! What a store promises, as a function's health tells it of real Redis servers.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use coord::function::function_router;
use coord::http::Endpoint;
use coord::store::redis::RedisStore;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::upstash::through_listener::serve;
use coord_test_support::real_redis::RealRedis;

/// `store` of the health of a function with these variables, without its latency.
async fn health(variables: &[(&str, &str)]) -> Value {
    let get = |asked: &str| {
        let variable = variables.iter().find(|(name, _)| *name == asked);
        variable.map(|(_, value)| (*value).to_owned())
    };
    let request = Request::get("/api/health").body(Body::empty()).unwrap();
    let response = function_router(Endpoint::Health, &get).oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200, "a promise that is not made degrades nothing");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    let store = body["store"].as_object_mut().unwrap();
    assert!(store.remove("latency_ms").is_some());
    body["store"].take()
}

const AOF: [&str; 2] = ["--appendonly", "yes"];
const LRU: [&str; 4] = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];

#[tokio::test]
async fn health_says_what_a_redis_does_not_promise() {
    for (options, told) in [
        (AOF.to_vec(), json!({ "status": "ok", "promises": "kept" })),
        (
            vec![],
            json!({ "status": "ok", "promises": "broken", "broken_promises": ["not_persistent"] }),
        ),
        (
            [&AOF[..], &LRU].concat(),
            json!({ "status": "ok", "promises": "broken", "broken_promises": ["evicts"] }),
        ),
        (
            [&AOF[..], &["--appendfsync", "no"]].concat(),
            json!({ "status": "ok", "promises": "broken", "broken_promises": ["not_persistent"] }),
        ),
        (
            LRU.to_vec(),
            json!({ "status": "ok", "promises": "broken", "broken_promises": ["evicts", "not_persistent"] }),
        ),
        (
            [&AOF[..], &["--rename-command", "CONFIG", ""]].concat(),
            json!({ "status": "ok", "promises": "unknown" }),
        ),
        (
            [&AOF[..], &["--rename-command", "INFO", ""]].concat(),
            json!({ "status": "ok", "promises": "unknown" }),
        ),
    ] {
        let Some(server) = RealRedis::start(&options) else {
            return;
        };
        assert_eq!(health(&[("REDIS_URL", &server.url())]).await, told, "{options:?}");
    }
}

#[tokio::test]
async fn a_store_over_rest_that_refuses_config_is_unknown_unless_info_tells_of_a_broken_one() {
    for (options, told) in [
        (AOF.to_vec(), json!({ "status": "ok", "promises": "unknown" })),
        (
            LRU.to_vec(),
            json!({ "status": "ok", "promises": "broken", "broken_promises": ["evicts", "not_persistent"] }),
        ),
    ] {
        let Some(server) = RealRedis::start(&options) else {
            return;
        };
        let url = serve(Arc::new(RedisStore::connect(&server.url()).unwrap()), "secret").await;
        let variables = [
            ("UPSTASH_REDIS_REST_URL", url.as_str()),
            ("UPSTASH_REDIS_REST_TOKEN", "secret"),
        ];
        assert_eq!(health(&variables).await, told, "{options:?}");
    }
}
