//! `UpstashStore` as a client of the double of Upstash, over a real redis-server.

use std::sync::Arc;

use coord_store::upstash::UpstashStore;
use coord_store::{Request, Store, Value};
use futures::StreamExt;
use secrecy::SecretString;

use crate::upstash::scripts::{ECHO, FAILS, ask, call, calls, connect, count};
use coord_test_support::real_redis::RealRedis;
use coord_test_support::upstash;

struct Both {
    server: RealRedis,
    store: UpstashStore,
}

async fn both() -> Option<Both> {
    let server = RealRedis::start(&[])?;
    let store = upstash::client(Arc::new(connect(&server))).await;
    Some(Both { server, store })
}

#[tokio::test]
async fn a_batch_answers_as_it_would_over_the_redis_protocol() {
    let Some(Both { store, server: _server }) = both().await else {
        return;
    };
    let batch = vec![
        Request::command(["SET", "k", "v\n\u{1F980}\u{0}"]),
        Request::command(["GET", "k"]),
        Request::command(["GET", "none"]),
        Request::command(["LPUSH", "k", "x"]),
        Request::command(["HSET", "h", "OK", "OK"]),
        Request::command(["HGETALL", "h"]),
        Request::command(["SETBIT", "bits", "0", "1"]),
        Request::command(["GET", "bits"]),
    ];
    let replies = store.run(batch).await.unwrap();
    assert_eq!(replies[0], Value::Status("OK".into()));
    assert_eq!(replies[1], Value::bulk("v\n\u{1F980}\u{0}"));
    assert_eq!(replies[2], Value::Nil);
    assert!(
        matches!(&replies[3], Value::Error(text) if text.starts_with("WRONGTYPE ")),
        "{replies:?}"
    );
    assert_eq!(replies[5], Value::Array(vec![Value::bulk("OK"), Value::bulk("OK")]));
    assert_eq!(replies[7], Value::Bulk(vec![0x80]));
}

#[tokio::test]
async fn scripts_run_with_the_flag_of_upstash_taken_out_and_by_their_sha_afterwards() {
    let Some(Both { store, server }) = both().await else {
        return;
    };
    let direct = connect(&server);
    for expected in [1, 2, 3] {
        assert_eq!(count(&store).await.unwrap(), Value::Int(expected));
    }
    assert_eq!((calls(&direct, "eval").await, calls(&direct, "evalsha").await), (1, 3));
    ask(&direct, ["SCRIPT", "FLUSH"]).await;
    assert_eq!(count(&store).await.unwrap(), Value::Int(4));
    let batch = vec![call(&ECHO, "k", b"a"), call(&FAILS, "k", b"")];
    let replies = store.run(batch).await.unwrap();
    let direct = direct.run(vec![call(&ECHO, "k", b"a")]).await.unwrap();
    // The two differ in one thing: a status inside an array has become a string on the way.
    let (Some(over_rest), Some(over_redis)) = (replies[0].as_array(), direct[0].as_array()) else {
        panic!("arrays")
    };
    assert_eq!(over_rest[..5], over_redis[..5]);
    assert_eq!(
        (&over_rest[5], &over_redis[5]),
        (&Value::bulk("OK"), &Value::Status("OK".into()))
    );
    assert_eq!(over_rest[6], over_redis[6]);
    assert!(
        matches!(&replies[1], Value::Error(text) if text.starts_with("ERR ")),
        "{replies:?}"
    );
}

#[tokio::test]
async fn messages_published_after_subscribing_arrive_in_order() {
    let Some(Both { store, mut server }) = both().await else {
        return;
    };
    let channel = "coord:events:{github.com/o/n}";
    let mut messages = store.subscribe(channel).await.unwrap();
    for payload in ["{\"a\":1,\"b\":[2]}", "two\nlines", ""] {
        assert_eq!(ask(&store, ["PUBLISH", channel, payload]).await, Value::Int(1));
        assert_eq!(messages.next().await.as_deref(), Some(payload.as_bytes()));
    }
    server.kill();
    assert_eq!(messages.next().await, None);
}

#[tokio::test]
async fn a_dead_server_behind_rest_is_unreachable_and_found_again() {
    let Some(Both { store, mut server }) = both().await else {
        return;
    };
    server.kill();
    assert_fails!(count(&store).await, Unreachable);
    assert_fails!(store.subscribe("c").await.map(drop), Unreachable);
    assert!(server.run());
    assert_eq!(count(&store).await.unwrap(), Value::Int(1));
}

#[tokio::test]
async fn a_wrong_token_is_denied() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let url = upstash::serve(Arc::new(connect(&server))).await;
    let store = UpstashStore::new(&url, SecretString::from("wrong")).unwrap();
    assert_fails!(store.run(vec![Request::command(["GET", "k"])]).await, Denied);
    assert_fails!(store.subscribe("c").await.map(drop), Denied);
}
