//! `RedisStore` against real servers, which die, forget and refuse.

use std::time::Duration;

use coord_store::redis::{RedisOptions, RedisStore};
use coord_store::{Limits, Request, Store, StoreError, Value};
use futures::StreamExt;
use tokio::io::AsyncWriteExt;

use crate::upstash::scripts::{COUNT, ECHO, FAILS, SPINS, call};
use coord_test_support::real_redis::{RealRedis, make_certificate};
use coord_test_support::redis::free_port;
use coord_test_support::skipping::skip;

fn get(key: &str) -> Request {
    Request::command(["GET", key])
}

#[tokio::test]
async fn a_batch_answers_in_order_with_errors_in_their_places() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = RedisStore::connect(&server.url()).unwrap();
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
    assert_eq!(replies[2], Value::bulk("v"));
    assert_eq!(replies[3], Value::Nil);
    assert!(
        matches!(&replies[4], Value::Error(text) if text.starts_with("ERR unknown command")),
        "{replies:?}"
    );
    assert!(
        matches!(&replies[5], Value::Error(text) if text.starts_with("WRONGTYPE ")),
        "{replies:?}"
    );
    assert_eq!(replies[6], Value::Status("PONG".into()));
    assert_eq!(replies[8], Value::Bulk(vec![0xff, 0, b'\r', b'\n']));
    assert_eq!(store.run(vec![]).await.unwrap(), []);
}

#[tokio::test]
async fn a_script_runs_the_first_time_by_its_sha_afterwards_and_again_after_a_flush() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = RedisStore::connect(&server.url()).unwrap();
    let count = || call(&COUNT, "n", b"2");
    assert_eq!(
        store.run(vec![count(), count(), get("k")]).await.unwrap(),
        [Value::Int(2), Value::Int(4), Value::Nil]
    );
    assert_eq!(store.run(vec![count()]).await.unwrap(), [Value::Int(6)]);
    store.run(vec![Request::command(["SCRIPT", "FLUSH"])]).await.unwrap();
    assert_eq!(store.run(vec![count()]).await.unwrap(), [Value::Int(8)]);
    let stats = store
        .run(vec![Request::command(["INFO", "commandstats"])])
        .await
        .unwrap();
    let stats = stats[0].as_str().unwrap_or_default().to_owned();
    assert!(stats.contains("cmdstat_eval:calls=3,"), "{stats}");
    assert!(stats.contains("cmdstat_evalsha:calls=4,"), "{stats}");
}

#[tokio::test]
async fn every_kind_of_reply_of_a_script_arrives() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = RedisStore::connect(&server.url()).unwrap();
    let replies = store
        .run(vec![call(&ECHO, "k\u{e9}", b"\xff\x00"), call(&FAILS, "k", b"")])
        .await
        .unwrap();
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
    let store = RedisStore::connect(&server.url()).unwrap();
    for batch in [vec![get("k")], vec![call(&COUNT, "n", b"1")]] {
        let outcome = store.run(batch).await;
        assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    }
    assert!(server.run());
    assert_eq!(store.run(vec![call(&COUNT, "n", b"1")]).await.unwrap(), [Value::Int(1)]);
}

#[tokio::test]
async fn a_server_restarted_between_requests_causes_no_failed_request() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let store = RedisStore::connect(&server.url()).unwrap();
    for round in 0..3 {
        // Not repeatable: were it sent on the lost connection, it would fail.
        assert_eq!(
            store.run(vec![call(&COUNT, "n", b"1")]).await.unwrap(),
            [Value::Int(1)],
            "round {round}"
        );
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
    let store = RedisStore::connect(&server.url()).unwrap();
    store.run(vec![get("k")]).await.unwrap();
    let (outcome, ()) = tokio::join!(store.run(vec![call(&SPINS, "k", b"")]), async {
        // time: the script runs by then.
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.kill();
    });
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    assert!(server.run());
    assert_eq!(store.run(vec![call(&COUNT, "n", b"1")]).await.unwrap(), [Value::Int(1)]);
}

#[tokio::test]
async fn a_server_that_is_busy_too_long_is_a_timeout() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let limits = Limits {
        request: Duration::from_millis(300),
        ..Limits::default()
    };
    let store = RedisStore::with_options(
        &server.url(),
        RedisOptions {
            limits,
            extra_roots: vec![],
        },
    )
    .unwrap();
    let outcome = store.run(vec![call(&SPINS, "k", b"")]).await;
    assert!(matches!(outcome, Err(StoreError::Timeout(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_silent_peer_is_a_timeout() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://:hunter2@{}", silent.local_addr().unwrap());
    let limits = Limits {
        connect: Duration::from_millis(200),
        ..Limits::default()
    };
    let store = RedisStore::with_options(
        &url,
        RedisOptions {
            limits,
            extra_roots: vec![],
        },
    )
    .unwrap();
    let outcome = store.run(vec![call(&COUNT, "n", b"1")]).await;
    assert!(matches!(outcome, Err(StoreError::Timeout(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_peer_that_speaks_something_else_is_no_store() {
    let web = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
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
    let with = |login: &str| format!("redis://{login}127.0.0.1:{}/2", server.port());
    for login in [":hunter2@", "hunter2:hunter2@", ""] {
        let store = RedisStore::connect(&with(login)).unwrap();
        let error = store.run(vec![get("k")]).await.unwrap_err();
        assert!(matches!(error, StoreError::Denied(_)), "{login}: {error:?}");
        let refused = store.subscribe("c").await.err();
        assert!(refused.is_some());
        let texts = format!("{error} {error:?} {refused:?} {store:?} {}", store.describe());
        assert!(!texts.contains("hunter2"), "{texts}");
    }
    let store = RedisStore::connect(&with(":right@")).unwrap();
    assert_eq!(
        store.run(vec![Request::command(["SET", "k", "v"])]).await.unwrap(),
        [Value::Status("OK".into())]
    );
    assert_eq!(
        store.describe(),
        format!("Redis at redis://127.0.0.1:{}/2", server.port())
    );
    // A password that is set right on the server later is taken without a new store.
    let late = RedisStore::connect(&with(":later@")).unwrap();
    assert!(late.run(vec![get("k")]).await.is_err());
    store
        .run(vec![Request::command(["CONFIG", "SET", "requirepass", "later"])])
        .await
        .unwrap();
    assert_eq!(late.run(vec![get("k")]).await.unwrap(), [Value::bulk("v")]);
}

#[tokio::test]
async fn many_requests_at_once_share_one_connection() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = std::sync::Arc::new(RedisStore::connect(&server.url()).unwrap());
    let requests = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.run(vec![call(&COUNT, "n", b"1")]).await.unwrap() })
    });
    futures::future::join_all(requests).await;
    let replies = store
        .run(vec![get("n"), Request::command(["INFO", "stats"])])
        .await
        .unwrap();
    assert_eq!(replies[0], Value::bulk("64"));
    let stats = replies[1].as_str().unwrap_or_default();
    assert!(stats.contains("total_connections_received:1\r\n"), "{stats}");
}

#[tokio::test]
async fn a_subscription_carries_bytes_and_ends_with_its_server() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let store = RedisStore::connect(&server.url()).unwrap();
    let mut messages = store.subscribe("c").await.unwrap();
    let publish = Request::Command(vec![b"PUBLISH".to_vec(), b"c".to_vec(), vec![0xff, b'\n']]);
    assert_eq!(store.run(vec![publish]).await.unwrap(), [Value::Int(1)]);
    assert_eq!(messages.next().await.as_deref(), Some(&[0xff, b'\n'][..]));
    server.kill();
    assert_eq!(messages.next().await, None);
    assert!(matches!(
        store.subscribe("c").await.err(),
        Some(StoreError::Unreachable(_))
    ));
}

#[tokio::test]
async fn a_unix_socket_is_reached_like_a_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redis.sock");
    let Some(_server) = RealRedis::start(&["--unixsocket", &path.display().to_string()]) else {
        return;
    };
    let store = RedisStore::connect(&format!("unix://{}", path.display())).unwrap();
    assert_eq!(
        store.run(vec![Request::command(["PING"])]).await.unwrap(),
        [Value::Status("PONG".into())]
    );
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
    let root = std::fs::read(file("ca.der")).unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("rediss://{host}:{}", server.port());
        let options = RedisOptions {
            extra_roots: vec![root.clone()],
            ..RedisOptions::default()
        };
        let store = RedisStore::with_options(&url, options).unwrap();
        assert_eq!(
            store.run(vec![call(&COUNT, host, b"1")]).await.unwrap(),
            [Value::Int(1)]
        );
        let mut messages = store.subscribe("c").await.unwrap();
        store.run(vec![Request::command(["PUBLISH", "c", "m"])]).await.unwrap();
        assert_eq!(messages.next().await.as_deref(), Some(&b"m"[..]));

        let stranger = RedisStore::connect(&url).unwrap().run(vec![get("k")]).await;
        assert!(
            matches!(&stranger, Err(StoreError::Unreachable(text)) if text.contains("certificate")),
            "{stranger:?}"
        );
    }
    let bad = RedisOptions {
        extra_roots: vec![b"no certificate".to_vec()],
        ..RedisOptions::default()
    };
    assert!(matches!(
        RedisStore::with_options("rediss://h", bad),
        Err(StoreError::NotConfigured(_))
    ));
}

#[tokio::test]
async fn a_redis_without_a_listener_is_unreachable_within_the_limit() {
    let store = RedisStore::connect(&format!("redis://127.0.0.1:{}", free_port())).unwrap();
    let outcome = store.run(vec![get("k")]).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
}
