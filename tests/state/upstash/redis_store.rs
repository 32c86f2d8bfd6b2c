//! `RedisStore` against real servers, which die, forget and refuse.

use std::sync::Arc;
use std::time::Duration;

use coord_store::redis::{RedisOptions, RedisStore};
use coord_store::{Limits, Request, Store, StoreError, Value};
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::upstash::scripts::{COUNT, ECHO, FAILS, SPINS, ask, call, calls, connect, count};
use coord_test_support::real_redis::{RealRedis, make_certificate};
use coord_test_support::redis::free_port;
use coord_test_support::skipping::skip;

fn get(key: &str) -> Request {
    Request::command(["GET", key])
}

fn connect_within(url: &str, limits: Limits) -> RedisStore {
    let options = RedisOptions {
        limits,
        extra_roots: vec![],
    };
    RedisStore::with_options(url, options).unwrap()
}

#[tokio::test]
async fn a_batch_answers_in_order_with_errors_in_their_places() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    let batch = vec![
        Request::command(["SET", "k", "v"]),
        Request::command(["INCR", "k"]),
        get("k"),
        get("none"),
        Request::command(["NOSUCH", "command"]),
        Request::command(["LPUSH", "k", "x"]),
        Request::command(["PING"]),
        Request::Command(vec![b"SET".to_vec(), b"b".to_vec(), vec![0xff, 0, b'\r', b'\n']]),
        get("b"),
    ];
    let replies = store.run(batch).await.unwrap();
    assert_eq!(replies[0], Value::Status("OK".into()));
    assert_eq!(
        replies[1],
        Value::Error("ERR value is not an integer or out of range".into())
    );
    assert_eq!(replies[2..4], [Value::bulk("v"), Value::Nil]);
    for (place, error) in [(4, "ERR unknown command"), (5, "WRONGTYPE ")] {
        assert!(
            matches!(&replies[place], Value::Error(text) if text.starts_with(error)),
            "{replies:?}"
        );
    }
    assert_eq!(replies[6], Value::Status("PONG".into()));
    assert_eq!(replies[8], Value::Bulk(vec![0xff, 0, b'\r', b'\n']));
    assert_eq!(store.run(vec![]).await.unwrap(), []);
}

#[tokio::test]
async fn a_script_runs_the_first_time_by_its_sha_afterwards_and_again_after_a_flush() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    let batch = || vec![call(&COUNT, "n", b"1"), call(&COUNT, "n", b"1"), get("k")];
    assert_eq!(
        store.run(batch()).await.unwrap(),
        [Value::Int(1), Value::Int(2), Value::Nil]
    );
    assert_eq!(count(&store).await.unwrap(), Value::Int(3));
    ask(&store, ["SCRIPT", "FLUSH"]).await;
    assert_eq!(count(&store).await.unwrap(), Value::Int(4));
    assert_eq!((calls(&store, "eval").await, calls(&store, "evalsha").await), (3, 4));
}

#[tokio::test]
async fn every_kind_of_reply_of_a_script_arrives() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let batch = vec![call(&ECHO, "k\u{e9}", b"\xff\x00"), call(&FAILS, "k", b"")];
    let replies = connect(&server).run(batch).await.unwrap();
    let expected = Value::Array(vec![
        Value::bulk("k\u{e9}"),
        Value::Bulk(vec![0xff, 0]),
        Value::Int(7),
        Value::Nil,
        Value::Array(vec![Value::bulk("nested"), Value::Array(vec![])]),
        Value::Status("OK".into()),
        Value::Error("MINE it failed".into()),
    ]);
    assert_eq!(replies[0], expected);
    assert!(
        matches!(&replies[1], Value::Error(text) if text.starts_with("ERR ")),
        "{replies:?}"
    );
}

#[tokio::test]
async fn a_store_is_made_while_its_server_is_down_and_works_when_it_comes_up() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    server.kill();
    let store = connect(&server);
    assert_fails!(store.run(vec![get("k")]).await, Unreachable);
    assert_fails!(count(&store).await, Unreachable);
    assert!(server.run());
    assert_eq!(count(&store).await.unwrap(), Value::Int(1));
}

#[tokio::test]
async fn a_server_restarted_between_requests_causes_no_failed_request() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let store = connect(&server);
    for round in 0..3 {
        // Not repeatable: were it sent on the lost connection, it would fail.
        assert_eq!(count(&store).await.unwrap(), Value::Int(1), "round {round}");
        server.kill();
        // The end of the connection reaches the task that drives it, as it does in the pause between two requests.
        // time: the task of the connection notices its end.
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(server.run());
    }
}

#[tokio::test]
async fn a_server_that_dies_under_a_request_is_unreachable_and_the_next_request_finds_it_again() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let store = connect(&server);
    store.run(vec![get("k")]).await.unwrap();
    let (outcome, ()) = tokio::join!(store.run(vec![call(&SPINS, "k", b"")]), async {
        // time: the script runs by then.
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.kill();
    });
    assert_fails!(outcome, Unreachable);
    assert!(server.run());
    assert_eq!(count(&store).await.unwrap(), Value::Int(1));
}

#[tokio::test]
async fn a_server_that_is_busy_too_long_is_a_timeout() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let limits = Limits {
        request: Duration::from_millis(300),
        ..Limits::default()
    };
    let store = connect_within(&server.url(), limits);
    assert_fails!(store.run(vec![call(&SPINS, "k", b"")]).await, Timeout);
}

#[tokio::test]
async fn a_silent_peer_is_a_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://:hunter2@{}", silent.local_addr().unwrap());
    let limits = Limits {
        connect: Duration::from_millis(200),
        ..Limits::default()
    };
    assert_fails!(count(&connect_within(&url, limits)).await, Timeout);
}

#[tokio::test]
async fn a_peer_that_speaks_something_else_is_no_store() {
    let web = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let store = RedisStore::connect(&format!("redis://{}", web.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        let mut streams = Vec::new();
        while let Ok((mut stream, _)) = web.accept().await {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
            streams.push(stream);
        }
    });
    let outcome = store.run(vec![get("k")]).await;
    assert!(
        matches!(outcome, Err(StoreError::Malformed(_) | StoreError::Unreachable(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_wrong_or_missing_password_is_denied_and_never_shown() {
    let Some(server) = RealRedis::start(&["--requirepass", "right"]) else {
        return;
    };
    let with = |login: &str| RedisStore::connect(&format!("redis://{login}127.0.0.1:{}/2", server.port())).unwrap();
    for login in [":hunter2@", "hunter2:hunter2@", ""] {
        let store = with(login);
        let error = store.run(vec![get("k")]).await.unwrap_err();
        assert!(matches!(error, StoreError::Denied(_)), "{login}: {error:?}");
        let refused = store.subscribe("c").await.err();
        assert!(refused.is_some());
        let texts = format!("{error} {error:?} {refused:?} {store:?} {}", store.describe());
        assert!(!texts.contains("hunter2"), "{texts}");
    }
    let store = with(":right@");
    assert_eq!(ask(&store, ["SET", "k", "v"]).await, Value::Status("OK".into()));
    assert_eq!(
        store.describe(),
        format!("Redis at redis://127.0.0.1:{}/2", server.port())
    );
    // A password that is set right on the server later is taken without a new store.
    let late = with(":later@");
    assert!(late.run(vec![get("k")]).await.is_err());
    ask(&store, ["CONFIG", "SET", "requirepass", "later"]).await;
    assert_eq!(late.run(vec![get("k")]).await.unwrap(), [Value::bulk("v")]);
}

#[tokio::test]
async fn many_requests_at_once_share_one_connection() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = Arc::new(connect(&server));
    let requests = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { count(&*store).await.unwrap() })
    });
    futures::future::join_all(requests).await;
    assert_eq!(ask(&*store, ["GET", "n"]).await, Value::bulk("64"));
    let stats = ask(&*store, ["INFO", "stats"]).await;
    let stats = stats.as_str().unwrap_or_default();
    assert!(stats.contains("total_connections_received:1\r\n"), "{stats}");
}

#[tokio::test]
async fn a_subscription_carries_bytes_and_ends_with_its_server() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let store = connect(&server);
    let mut messages = store.subscribe("c").await.unwrap();
    let publish = Request::Command(vec![b"PUBLISH".to_vec(), b"c".to_vec(), vec![0xff, b'\n']]);
    assert_eq!(store.run(vec![publish]).await.unwrap(), [Value::Int(1)]);
    assert_eq!(messages.next().await.as_deref(), Some(&[0xff, b'\n'][..]));
    server.kill();
    assert_eq!(messages.next().await, None);
    assert_fails!(store.subscribe("c").await.map(drop), Unreachable);
}

#[tokio::test]
async fn a_unix_socket_is_reached_like_a_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redis.sock");
    let Some(_server) = RealRedis::start(&["--unixsocket", &path.display().to_string()]) else {
        return;
    };
    let store = RedisStore::connect(&format!("unix://{}", path.display())).unwrap();
    assert_eq!(ask(&store, ["PING"]).await, Value::Status("PONG".into()));
}

#[tokio::test]
async fn tls_is_spoken_with_a_trusted_server_and_refused_with_any_other() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificate(folder.path()) {
        return skip("openssl is not installed");
    }
    let file = |name: &str| folder.path().join(name).display().to_string();
    let options = [
        "--tls-cert-file",
        &file("cert.pem"),
        "--tls-key-file",
        &file("key.pem"),
        "--tls-auth-clients",
        "no",
    ];
    let Some(server) = RealRedis::start(&options) else {
        return;
    };
    let trusting = |root: Vec<u8>| RedisOptions {
        extra_roots: vec![root],
        ..RedisOptions::default()
    };
    let root = std::fs::read(file("ca.der")).unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("rediss://{host}:{}", server.port());
        let store = RedisStore::with_options(&url, trusting(root.clone())).unwrap();
        let replies = store.run(vec![call(&COUNT, host, b"1")]).await.unwrap();
        assert_eq!(replies, [Value::Int(1)]);
        let mut messages = store.subscribe("c").await.unwrap();
        ask(&store, ["PUBLISH", "c", "m"]).await;
        assert_eq!(messages.next().await.as_deref(), Some(&b"m"[..]));

        let stranger = RedisStore::connect(&url).unwrap();
        assert_fails!(stranger.run(vec![get("k")]).await, Unreachable, "certificate");
    }
    let bad = trusting(b"no certificate".to_vec());
    assert_fails!(RedisStore::with_options("rediss://h", bad), NotConfigured);
}

#[tokio::test]
async fn a_redis_without_a_listener_is_unreachable_within_the_limit() {
    let store = RedisStore::connect(&format!("redis://127.0.0.1:{}", free_port())).unwrap();
    assert_fails!(store.run(vec![get("k")]).await, Unreachable);
}
