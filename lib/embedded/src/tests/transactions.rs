//! Transactions: all of their requests or none, in bounded time.

use super::{EmbeddedStore, ask, say, shown, words};
use crate::disk::Disk;
use crate::layers::Layers;
use coord_store::{Request, Store};
use futures::StreamExt;
use redb::backends::InMemoryBackend;
use std::time::{Duration, Instant};

/// The replies to a transaction, or the text of its error.
async fn transact(store: &EmbeddedStore, requests: Vec<Request>) -> String {
    match store.run_atomically(requests).await {
        Ok(values) => values.iter().map(shown).collect::<Vec<_>>().join(" "),
        Err(error) => format!("!{error}"),
    }
}

fn endless() -> Request {
    words(&["EVAL", "while true do end", "0"])
}

/// Keys that a search looks through in vain, and as many searches as take much longer than a transaction may.
async fn searches(store: &EmbeddedStore) -> Vec<Request> {
    let filling = "for i = 1, 5000 do redis.call('SET', 'key' .. i, '') end";
    assert_eq!(shown(&super::eval(store, filling).await), "nil");
    std::iter::repeat_with(|| words(&["KEYS", "*none"]))
        .take(100_000)
        .collect()
}

#[tokio::test]
async fn requests_see_what_was_changed_before_them_and_a_failed_script_leaves_nothing() {
    let store = EmbeddedStore::in_memory().unwrap();
    say(&store, "HSET h old 0").await;
    let failing = "redis.call('SET', 'a', 2) redis.call('SET', 'x', 1) error('no')";
    let requests = vec![
        words(&["SET", "a", "1"]),
        words(&["HSET", "h", "new", "1"]),
        words(&["EVAL", failing, "0"]),
        words(&["GET", "a"]),
        words(&["HGETALL", "h"]),
        words(&["DEL", "h"]),
        words(&["KEYS", "*"]),
    ];
    let replies = transact(&store, requests).await;
    assert!(replies.starts_with("OK 1 !ERR user_script:1: no"), "{replies}");
    let seen = "\"1\" [\"new\" \"1\" \"old\" \"0\"] 1 [\"a\"]";
    assert!(replies.ends_with(seen), "{replies}");
    assert_eq!(shown(&say(&store, "KEYS *").await), "[\"a\"]");
}

#[tokio::test]
async fn a_transaction_that_takes_too_long_is_ended_and_leaves_nothing() {
    let store = EmbeddedStore::in_memory().unwrap();
    let searches = searches(&store).await;
    for slow in [vec![endless(); 8], searches, vec![endless()]] {
        let commits = store.stats().commits;
        let began = Instant::now();
        let set = words(&["SET", "a", "1"]);
        let replies = transact(&store, [vec![set], slow].concat()).await;
        assert!(
            replies.contains("ERR the transaction ran longer than 2 seconds"),
            "{replies}"
        );
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert_eq!(shown(&say(&store, "EXISTS a").await), "0");
        assert_eq!(store.stats().commits, commits, "nothing of it is on the disk");
    }
}

#[tokio::test]
async fn a_transaction_ends_with_its_caller() {
    let store = EmbeddedStore::in_memory().unwrap();
    let set = words(&["SET", "a", "1"]);
    let requests = [vec![set], searches(&store).await].concat();
    let mut waited = Vec::new();
    // It would end by itself after two seconds. On a busy machine others may wait as long for a processor.
    while waited.len() < 10 {
        let caller = tokio::time::timeout(Duration::from_millis(100), store.run_atomically(requests.clone()));
        assert!(caller.await.is_err(), "it takes longer");
        let began = Instant::now();
        assert_eq!(shown(&say(&store, "EXISTS a").await), "0");
        assert_eq!(shown(&say(&store, "SET b 1").await), "OK");
        waited.push(began.elapsed());
        if began.elapsed() < Duration::from_secs(1) {
            return;
        }
    }
    panic!("others waited {waited:?}");
}

#[tokio::test]
async fn nothing_of_a_transaction_is_seen_before_its_end() {
    let store = EmbeddedStore::in_memory().unwrap();
    let until_heard = "while redis.call('PUBLISH', 'channel', 'message') == 0 do end";
    let requests = vec![
        words(&["SET", "a", "1"]),
        words(&["EVAL", until_heard, "0"]),
        words(&["SET", "b", "2"]),
    ];
    let running = tokio::spawn({
        let store = store.clone();
        async move { transact(&store, requests).await }
    });
    while store.stats().commands == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(shown(&say(&store, "GET a").await), "nil");
    assert!(!running.is_finished(), "it was read beside it");
    let mut messages = store.subscribe("channel").await.unwrap();
    assert_eq!(running.await.unwrap(), "OK nil OK");
    assert_eq!(messages.next().await.as_deref(), Some(&b"message"[..]));
    assert_eq!(shown(&say(&store, "MGET a b").await), "[\"1\" \"2\"]");
}

#[tokio::test]
async fn other_calls_wait_for_one_transaction_or_search_at_most() {
    let store = EmbeddedStore::in_memory().unwrap();
    let searches = searches(&store).await;
    let slow: Vec<_> = [vec![endless()], searches.clone(), searches]
        .into_iter()
        .map(|requests| {
            let store = store.clone();
            tokio::spawn(async move { transact(&store, requests).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(shown(&ask(&store, &["SET", "a", "1"]).await), "OK");
    let left = slow.iter().filter(|slow| !slow.is_finished()).count();
    assert!(left >= 2, "{left} are left");
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn the_writes_of_a_transaction_are_bounded_together() {
    let store = EmbeddedStore::in_memory().unwrap();
    let writing = "local s = string.rep('x', 1000000) for i = 1, 40 do redis.call('SET', ARGV[1] .. i, s) end";
    let requests = ["a", "b"].map(|name| words(&["EVAL", writing, "0", name]));
    let replies = transact(&store, requests.to_vec()).await;
    assert!(replies.starts_with("nil !OOM more than 64 MiB"), "{replies}");
}

#[test]
fn a_transaction_that_a_failing_disk_has_torn_is_lost_as_a_whole() {
    let disk = Disk::over(InMemoryBackend::new()).unwrap();
    let mut layers = Layers::new(disk.snapshot().unwrap());
    layers.begin_transaction();
    layers.begin();
    layers.put(*b"sone", Vec::new());
    assert_eq!((layers.commit(), layers.has_gathered()), (0, false));
    let lost = layers.fail("no space".to_owned());
    layers.reread(disk.snapshot().ok());
    layers.begin();
    layers.put(*b"stwo", Vec::new());
    layers.commit();
    assert_eq!(layers.commit_transaction(), lost, "its answer waits for what is lost");
    assert!(!layers.has_gathered());

    layers.begin_transaction();
    layers.begin();
    layers.put(*b"sone", Vec::new());
    layers.commit();
    assert_eq!(layers.commit_transaction(), lost + 1);
    assert!(layers.has_gathered());
}
