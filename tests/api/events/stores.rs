//! Each kind of store, and connections to it that are lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::real_redis::RealRedis;
use coord_test_support::upstash;
use serde_json::json;

use super::{Client, Kind, NEWEST, PATH, over, start};
use crate::api::Api;

const FILES: usize = 40;

fn file(number: usize) -> String {
    format!("new/file{number}.ts")
}

async fn claim_all(api: &Api) {
    for number in 0..FILES {
        api.claim("ann", "WRITING", &[&file(number)]).await;
    }
}

/// A client that is cut off again and again gets every claim once, in order.
async fn nothing_is_lost_or_repeated(api: &Api, kind: Kind) {
    // Its subscription may still be behind the log.
    let newest = api.get(NEWEST, &[]).await.json()["cursor"].as_str().unwrap().to_owned();
    let from_newest = format!("{PATH}&last_event_id={newest}");
    let mut client = Client::open(kind, api.address, &from_newest, &[]).await;
    let opened = client.expect("stream_opened").await;
    let mut last = opened["cursor"].as_str().unwrap().to_owned();
    let mut seen = Vec::new();
    let watching = async {
        while seen.len() < FILES {
            for event in client.lock_events(3.min(FILES - seen.len())).await {
                last = event["id"].as_str().unwrap().to_owned();
                seen.push(event["files"][0].as_str().unwrap().to_owned());
            }
            let target = format!("{PATH}&last_event_id={last}");
            client = Client::open(kind, api.address, &target, &[]).await;
        }
    };
    tokio::join!(claim_all(api), watching);
    let claimed: Vec<String> = (0..FILES).map(file).collect();
    assert_eq!(seen, claimed, "{kind:?}");
    let all: Vec<&str> = claimed.iter().map(String::as_str).collect();
    let released = api.post_status("ann", "OPEN", &all, json!({ "abandon": true })).await;
    assert_eq!(released.status, 200, "{}", released.json());
}

#[tokio::test]
async fn clients_that_are_cut_off_lose_nothing_on_the_embedded_store() {
    let api = start(|_| {}).await;
    for kind in Kind::BOTH {
        nothing_is_lost_or_repeated(&api, kind).await;
    }
}

#[tokio::test]
async fn clients_that_are_cut_off_lose_nothing_on_redis() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let store: Arc<dyn Store> = Arc::new(RedisStore::connect(&redis.url()).unwrap());
    let api = start(|app| over(app, store)).await;
    for kind in Kind::BOTH {
        nothing_is_lost_or_repeated(&api, kind).await;
    }
}

#[tokio::test]
async fn clients_that_are_cut_off_lose_nothing_over_rest() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let behind = Arc::new(RedisStore::connect(&redis.url()).unwrap());
    let store: Arc<dyn Store> = Arc::new(upstash::client(behind).await);
    let api = start(|app| over(app, store)).await;
    for kind in Kind::BOTH {
        nothing_is_lost_or_repeated(&api, kind).await;
    }
}

#[tokio::test]
async fn a_subscription_that_redis_drops_loses_nothing() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let store: Arc<dyn Store> = Arc::new(RedisStore::connect(&redis.url()).unwrap());
    let api = start(|app| over(app, store)).await;
    let mut clients = Vec::new();
    for kind in Kind::BOTH {
        clients.push(Client::open(kind, api.address, PATH, &[]).await);
    }
    let dropping = async {
        for _ in 0..10 {
            api.command(["CLIENT", "KILL", "TYPE", "pubsub"]).await;
            // time: connections are cut again and again.
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        }
    };
    tokio::join!(claim_all(&api), dropping);
    for client in &mut clients {
        let events = client.lock_events(FILES).await;
        let seen: Vec<_> = events.iter().map(|event| event["files"][0].as_str().unwrap()).collect();
        assert_eq!(seen, (0..FILES).map(file).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_redis_that_is_killed_is_away_and_back_again() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let Some(mut redis) = RealRedis::start(&options) else {
        return;
    };
    let store: Arc<dyn Store> = Arc::new(RedisStore::connect(&redis.url()).unwrap());
    let api = start(|app| over(app, store)).await;
    let mut client = Client::open(Kind::Socket, api.address, PATH, &[]).await;
    client.expect("stream_opened").await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    assert_eq!(client.lock_events(1).await.len(), 1);
    redis.kill();
    while client.message().await.unwrap()["is_live"] != false {}
    assert!(redis.run());
    api.claim("ann", "WRITING", &["src/page.ts"]).await;
    let (mut is_live, mut files) = (false, BTreeSet::new());
    while !is_live || files.is_empty() {
        let message = client.message().await.unwrap();
        assert_ne!(message["type"], "resync", "the log has all that there was");
        is_live |= message["is_live"] == true;
        files.extend(message["files"][0].as_str().map(str::to_owned));
    }
    assert_eq!(files, BTreeSet::from(["src/page.ts".to_owned()]));
}
