//! `GET /api/health`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use coord_settings::env_vars;
use coord_store::redis::RedisStore;
use coord_store::{Request, Store, StoreError, Value as StoreValue};
use coord_test_support::real_redis::RealRedis;
use coord_test_support::waiting::let_pass;
use futures::stream::BoxStream;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api};

/// Counts writes, and takes a moment for each.
#[derive(Default)]
struct Probed {
    writes: AtomicUsize,
    /// How often it was asked what it promises.
    promises_read: AtomicUsize,
    takes: Duration,
    /// The error that writes get in place of success.
    refuses: Option<&'static str>,
    /// Whether PING gets that error too, or no answer where there is none.
    is_silent: bool,
}

#[async_trait]
impl Store for Probed {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<StoreValue>, StoreError> {
        let error = self.refuses.map(|error| StoreValue::Error(error.to_owned()));
        match &batch[..] {
            [Request::Script { script, .. }] => {
                assert_eq!(script.name, "probe");
                self.writes.fetch_add(1, Ordering::Relaxed);
                // time: a store that takes its time.
                tokio::time::sleep(self.takes).await;
                let written = vec![StoreValue::bulk("WRITTEN"), StoreValue::Int(1)];
                Ok(vec![error.unwrap_or(StoreValue::Array(written))])
            }
            [info, save, fsync] => {
                let requests = [info, save, fsync].map(|request| format!("{request:?}"));
                let questions = [
                    Request::command(["INFO"]),
                    Request::command(["CONFIG", "GET", "save"]),
                    Request::command(["CONFIG", "GET", "appendfsync"]),
                ];
                assert_eq!(requests, questions.map(|request| format!("{request:?}")));
                self.promises_read.fetch_add(1, Ordering::Relaxed);
                Ok(vec![StoreValue::Error("NOPERM not for you".to_owned()); 3])
            }
            [ping] => {
                assert_eq!(format!("{ping:?}"), format!("{:?}", Request::command(["PING"])));
                match error {
                    _ if !self.is_silent => Ok(vec![StoreValue::Status("PONG".to_owned())]),
                    Some(error) => Ok(vec![error]),
                    None => std::future::pending().await,
                }
            }
            other => panic!("{other:?}"),
        }
    }

    async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        Err(StoreError::Unreachable("not here".to_owned()))
    }

    fn describe(&self) -> String {
        "a store that counts".to_owned()
    }
}

/// A server over `store`, and its store.
async fn over(store: Probed) -> (Api, Arc<Probed>) {
    let store = Arc::new(store);
    let of_server = Arc::clone(&store);
    (Api::start_with(|state| state.store = of_server).await, store)
}

/// A function in this environment.
async fn function(environment: &[(&str, &str)]) -> Api {
    let api = Api::start().await;
    api.function(coord_http::endpoint::operation::HEALTH, environment).await
}

async fn health(api: &Api) -> Answer {
    api.get("/api/health", &[]).await
}

/// The body without what differs from run to run.
fn body(answer: &Answer) -> Value {
    let mut body = answer.json();
    let latency = body["store"]
        .as_object_mut()
        .and_then(|store| store.remove("latency_ms"));
    let is_ok = body["store"]["status"] == "ok";
    assert_eq!(latency.is_some_and(|latency| latency.as_f64().unwrap() >= 0.0), is_ok);
    assert_eq!(body["version"], env!("CARGO_PKG_VERSION"));
    body.as_object_mut().unwrap().remove("version");
    body
}

// rule: http#health
#[tokio::test]
async fn the_health_of_a_store_that_cannot_be_written_has_its_cause() {
    let memory = "OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:3.";
    let replica = "READONLY You can't write against a read only replica.";
    let saving = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.";
    let busy = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    let disk = "ERR the disk failed: no space left";
    let loading = "LOADING Redis is loading the dataset in memory";
    for (error, is_silent, status, cause) in [
        (memory, false, "read_only", "out_of_memory"),
        (replica, false, "read_only", "replica"),
        (saving, true, "read_only", "not_saved"),
        (disk, false, "read_only", "disk"),
        (busy, true, "down", "busy"),
        (loading, true, "down", "loading"),
    ] {
        let store = Probed {
            refuses: Some(error),
            is_silent,
            ..Probed::default()
        };
        let answer = health(&over(store).await.0).await;
        assert_eq!(answer.status, 503, "{error}");
        assert_eq!(
            body(&answer),
            json!({
                "status": "down",
                "store": { "status": status, "cause": cause, "promises": "unknown" },
                "source": { "status": "ok" }
            })
        );
    }
}

#[tokio::test]
async fn the_health_of_a_store_with_paused_writes_is_down_and_paused() {
    let store = Probed {
        takes: Duration::from_secs(3600),
        ..Probed::default()
    };
    let answer = health(&over(store).await.0).await;
    assert_eq!(
        body(&answer)["store"],
        json!({ "status": "down", "cause": "paused", "promises": "unknown" })
    );
}

#[tokio::test]
async fn the_pause_of_a_redis_is_reported_for_as_long_as_it_lasts() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let store: Arc<dyn Store> = Arc::new(RedisStore::connect(&redis.url()).unwrap());
    redis.command(&["CLIENT", "PAUSE", "600000", "WRITE"]);
    // A change that waits is before whatever is sent on its connection.
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { coord_state::health::probe(&*store).await }
    });
    // time: the change waits in the store.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let responded = tokio::time::timeout(Duration::from_secs(4), store.responds()).await;
    assert!(matches!(responded, Ok(Ok(()))), "{responded:?}");
    assert!(!waiting.is_finished());
    let api = Api::start_with(|app| app.store = store).await;
    assert_eq!(body(&health(&api).await)["store"]["cause"], "paused");
    waiting.abort();
}

#[tokio::test]
async fn the_health_of_a_working_service_is_ok_without_credentials() {
    let api = Api::start().await;
    let answer = api
        .get("/api/health", &[("x-coord-user", "nobody in particular")])
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        body(&answer),
        json!({ "status": "ok", "store": { "status": "ok", "promises": "kept" }, "source": { "status": "ok" } })
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let head = api.request(Method::HEAD, "/api/health", &[], "").await;
    assert_eq!((head.status, head.bytes.len()), (200, 0));
}

// rule: http#health
#[tokio::test]
async fn a_repository_that_cannot_be_read_makes_it_degraded() {
    let api = Api::start().await;
    std::fs::remove_dir_all(api.git.path()).unwrap();
    let answer = health(&api).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        body(&answer),
        json!({ "status": "degraded", "store": { "status": "ok", "promises": "kept" }, "source": { "status": "unreachable" } })
    );
}

#[tokio::test]
async fn a_store_that_is_away_makes_it_down_and_is_not_named() {
    for (name, variables) in [
        (
            "no server listens",
            &[("REDIS_URL", "redis://:hunter2@127.0.0.1:1/3")][..],
        ),
        (
            "Upstash",
            &[
                ("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:1"),
                ("UPSTASH_REDIS_REST_TOKEN", "hunter2"),
            ],
        ),
    ] {
        let api = function(variables).await;
        for method in [Method::HEAD, Method::GET] {
            let answer = api.request(method.clone(), "/api/health", &[], "").await;
            let retry = answer.header("retry-after");
            assert_eq!((answer.status, retry), (503, Some("5")), "{name}");
            if method == Method::GET {
                assert_eq!(
                    body(&answer),
                    json!({ "status": "down", "store": { "status": "down", "promises": "unknown" }, "source": { "status": "none" } }),
                    "{name}"
                );
            }
            let text = format!("{:?} {}", answer.headers, answer.text());
            assert!(!text.contains("hunter2") && !text.contains("127.0.0.1"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_waited_for_two_seconds() {
    let store = Probed {
        takes: Duration::from_secs(3600),
        is_silent: true,
        ..Probed::default()
    };
    let (api, _) = over(store).await;
    let started = Instant::now();
    let answer = health(&api).await;
    assert_eq!((answer.status, &body(&answer)["status"]), (503, &json!("down")));
    assert!(started.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn a_missing_configuration_is_reported_without_its_details() {
    let secret = "a secret of this deployment that nobody may see";
    let api = function(&[(env_vars::COORD_JWT_SECRET, secret), (env_vars::CRON_SECRET, secret)]).await;
    let answer = health(&api).await;
    assert_eq!(answer.status, 503);
    assert_eq!(
        body(&answer),
        json!({ "status": "down", "store": { "status": "not_configured", "promises": "unknown" }, "source": { "status": "none" } })
    );
    assert!(!answer.text().contains(secret));
    // A setting that cannot be used puts every function out of action, and so this one too.
    for (variable, value, problem) in [
        (env_vars::COORD_CORS_ORIGINS, "*", "invalid"),
        (env_vars::COORD_LOCK_TTL_SECONDS, "0", "invalid"),
        (env_vars::CRON_SECRET, "hunter2", "too_short"),
        (env_vars::COORD_JWT_SECRET, "hunter2", "too_short"),
    ] {
        let api = function(&[("REDIS_URL", "redis://127.0.0.1:1"), (variable, value)]).await;
        let answer = health(&api).await;
        let body = body(&answer);
        assert_eq!(answer.status, 503, "{variable}");
        assert_eq!(body["store"]["status"], "not_configured", "{variable}");
        let named = json!({ "variable": variable, "problem": problem });
        assert_eq!(body["misconfigured"], named);
        assert!(!answer.text().contains("hunter2"));
    }
}

#[tokio::test]
async fn health_sends_no_request_to_a_source_that_is_still_unknown() {
    for (url, status) in [
        // No server listens there: the source would be unreachable.
        ("http://127.0.0.1:1", "unknown"),
        ("not a url", "not_configured"),
    ] {
        let api = function(&[("GITHUB_API_URL", url), ("GITHUB_TOKEN", "ghp_hunter2")]).await;
        let answer = health(&api).await;
        assert_eq!(body(&answer)["source"], json!({ "status": status }));
        assert!(!answer.text().contains("hunter2"));
    }
}

#[tokio::test]
async fn many_health_polls_cost_the_store_one_write() {
    let store = Probed {
        takes: Duration::from_millis(50),
        ..Probed::default()
    };
    let (api, store) = over(store).await;
    let polls = futures::future::join_all((0..50).map(|_| health(&api))).await;
    assert!(polls.iter().all(|answer| answer.status == 200));
    assert_eq!(store.writes.load(Ordering::Relaxed), 1);
    let_pass(Duration::from_secs(3)).await;
    assert_eq!(health(&api).await.status, 200);
    assert_eq!(store.writes.load(Ordering::Relaxed), 2);
    let promises_read = store.promises_read.load(Ordering::Relaxed);
    assert_eq!(promises_read, 1, "once in ten minutes");
}

#[tokio::test]
async fn a_caller_that_leaves_affects_no_waiting_ones() {
    let store = Probed {
        takes: Duration::from_millis(1500),
        ..Probed::default()
    };
    let (api, store) = over(store).await;
    for _ in 0..20 {
        let impatient = tokio::time::timeout(Duration::from_millis(10), health(&api));
        assert!(impatient.await.is_err());
    }
    assert_eq!(health(&api).await.status, 200);
    assert_eq!(store.writes.load(Ordering::Relaxed), 1);
}
