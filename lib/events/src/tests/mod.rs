//! The hub over a store in memory. Time is tokio's, which passes when nothing else is left to do.

mod lost;

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coord_protocol::Event;
use tokio::time::{Instant, sleep, timeout};

use super::fake::{Fake, event, id};
use super::*;

/// Longer than any wait in this module, except endless ones.
const LONG: Duration = Duration::from_secs(3600);

fn repo() -> RepoId {
    RepoId::parse("https://github.com/acme/shop").unwrap()
}

fn hub(store: &Arc<Fake>) -> Arc<EventHub> {
    EventHub::new(Arc::clone(store) as Arc<dyn Store>)
}

async fn watch(hub: &EventHub, after: Option<u64>) -> EventWatch {
    hub.watch(&repo(), after.map(id)).await.unwrap()
}

/// A store with the events from 1 to `newest` in its log, its hub, and a watcher of what comes later.
async fn watched(newest: u64) -> (Arc<Fake>, Arc<EventHub>, EventWatch) {
    let store = Fake::new();
    (1..=newest).for_each(|number| store.log(number));
    let hub = hub(&store);
    let watcher = watch(&hub, None).await;
    (store, hub, watcher)
}

/// The next item, as a short text: the number of an event, `live`, `away`, `gap`, `slow`, `stopped`; `-` for nothing.
async fn next(watching: &mut EventWatch) -> String {
    match timeout(Duration::from_secs(2), watching.next()).await {
        Err(_) => "-".to_owned(),
        Ok(Err(error)) => panic!("{error}"),
        Ok(Ok(next)) => match next {
            WatchItem::Event(event) => event.id.map_or_else(
                || event.event.branch().unwrap_or_default().to_owned(),
                |id| id.to_string().trim_end_matches("-0").to_owned(),
            ),
            WatchItem::Live(true) => "live".to_owned(),
            WatchItem::Live(false) => "away".to_owned(),
            WatchItem::Gap => "gap".to_owned(),
            WatchItem::Slow => "slow".to_owned(),
            WatchItem::Stopped => "stopped".to_owned(),
        },
    }
}

/// The next `count`, as one text.
async fn take(watching: &mut EventWatch, count: usize) -> String {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(next(watching).await);
    }
    all.join(" ")
}

/// All that comes, until nothing does for a while.
async fn rest(watching: &mut EventWatch) -> String {
    let mut all = Vec::new();
    loop {
        match next(watching).await.as_str() {
            "-" => return all.join(" "),
            other => all.push(other.to_owned()),
        }
    }
}

/// The text of these events.
fn numbers(range: RangeInclusive<u64>) -> String {
    let numbers: Vec<String> = range.map(|number| number.to_string()).collect();
    numbers.join(" ")
}

#[tokio::test(start_paused = true)]
async fn many_watchers_share_one_subscription_and_each_gets_every_event_once() {
    let store = Fake::new();
    store.log(1);
    let hub = hub(&store);
    let mut watchers = futures::future::join_all((0..50).map(|_| watch(&hub, None))).await;
    assert_eq!(store.subscribed(), 1);
    assert!(hub.is_watched());
    (2..=4).for_each(|number| store.emit(number));
    for watcher in &mut watchers {
        assert_eq!(rest(watcher).await, "2 3 4");
        assert_eq!(watcher.position(), id(4));
    }
    let mut later = watch(&hub, None).await;
    store.emit(5);
    assert_eq!(rest(&mut later).await, "5");
    assert_eq!(store.subscribed(), 1);
}

#[tokio::test(start_paused = true)]
async fn repositories_have_a_feed_each() {
    let (store, hub, _watcher) = watched(0).await;
    let other = RepoId::parse("https://github.com/acme/other").unwrap();
    let _other = hub.watch(&other, None).await.unwrap();
    assert_eq!(store.subscribed(), 2);
}

#[tokio::test(start_paused = true)]
async fn repeated_or_late_messages_are_delivered_once_and_in_order() {
    let (store, _hub, mut watcher) = watched(1).await;
    // Published before the log was read, but delivered afterwards.
    store.publish(1);
    store.emit(2);
    store.publish(2);
    // The check finds 3 in the log before the channel delivers it.
    store.log(3);
    sleep(Duration::from_secs(16)).await;
    store.publish(3);
    store.emit(4);
    assert_eq!(rest(&mut watcher).await, "2 3 4");
    assert_eq!(store.subscribed(), 1, "a late message is none that is lost");
    sleep(LONG).await;
    assert_eq!(store.subscribed(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_watcher_resumes_from_memory_without_a_request() {
    let (store, hub, mut first) = watched(1).await;
    (2..=6).for_each(|number| store.emit(number));
    rest(&mut first).await;
    let request_count = store.request_count();
    let mut resumed = watch(&hub, Some(3)).await;
    assert_eq!(take(&mut resumed, 3).await, "4 5 6");
    store.emit(7);
    assert_eq!(next(&mut resumed).await, "7");
    assert_eq!(store.request_count(), request_count, "the feed had them all");
}

#[tokio::test(start_paused = true)]
async fn a_watcher_resumes_from_the_log_over_several_pages() {
    let store = Fake::new();
    (1..=950).for_each(|number| store.log(number));
    let hub = hub(&store);
    let mut watcher = watch(&hub, Some(7)).await;
    // Meanwhile more happens.
    store.emit(951);
    assert_eq!(rest(&mut watcher).await, numbers(8..=951));
    let mut from_the_start = watch(&hub, Some(0)).await;
    assert!(rest(&mut from_the_start).await.starts_with("1 2 3 "));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_older_than_the_memory_resumes_from_the_log() {
    let (store, hub, mut first) = watched(1).await;
    for number in 2..=2000 {
        store.emit(number);
        if number.is_multiple_of(100) {
            let count = rest(&mut first).await.split(' ').count();
            assert_eq!(count, 99 + usize::from(number > 100));
        }
    }
    let mut resumed = watch(&hub, Some(5)).await;
    assert_eq!(rest(&mut resumed).await, numbers(6..=2000));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_no_longer_reaches_back_is_a_gap() {
    let store = Fake::new();
    (1..=20).for_each(|number| store.log(number));
    store.trim(10);
    let hub = hub(&store);
    let mut watcher = watch(&hub, Some(5)).await;
    assert_eq!(next(&mut watcher).await, "gap");
    assert_eq!(watcher.position(), id(20));
    store.emit(21);
    assert_eq!(rest(&mut watcher).await, "21");
    let mut reaches = watch(&hub, Some(10)).await;
    assert_eq!(rest(&mut reaches).await, numbers(11..=21));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_ahead_of_the_log_gets_a_gap() {
    let store = Fake::new();
    store.log(3);
    let hub = hub(&store);
    // The state was lost, or replaced.
    let mut watcher = watch(&hub, Some(1000)).await;
    assert_eq!(next(&mut watcher).await, "gap");
    assert_eq!(watcher.position(), id(3));
    store.emit(4);
    assert_eq!(rest(&mut watcher).await, "4");
}

/// Such as the cursor of `GET /api/activity`, or of a stream of another process: the channel may be later than either.
#[tokio::test(start_paused = true)]
async fn a_watcher_who_is_ahead_of_the_feed_alone_has_lost_nothing() {
    let (store, hub, mut first) = watched(1).await;
    store.log(2);
    store.log(3);
    let mut ahead = watch(&hub, Some(2)).await;
    assert_eq!(next(&mut ahead).await, "-");
    store.publish(2);
    store.publish(3);
    assert_eq!(rest(&mut ahead).await, "3");
    assert_eq!(rest(&mut first).await, "2 3");
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_is_dropped_and_the_others_miss_nothing() {
    let (store, hub, mut slow) = watched(0).await;
    let mut quick = watch(&hub, None).await;
    for round in 0..20 {
        (1..=100).for_each(|number| store.emit(round * 100 + number));
        assert_eq!(rest(&mut quick).await.split(' ').count(), 100);
    }
    assert_eq!(next(&mut slow).await, "slow");
    // It comes back, and has missed nothing.
    let after = slow.position();
    drop(slow);
    let mut again = hub.watch(&repo(), Some(after)).await.unwrap();
    assert_eq!(rest(&mut again).await.split(' ').count(), 2000);
}

#[tokio::test(start_paused = true)]
async fn an_unwatched_feed_ends_after_a_while() {
    let (store, hub, watcher) = watched(0).await;
    drop(watcher);
    assert!(!hub.is_watched());
    sleep(Duration::from_secs(20)).await;
    assert_eq!(store.open(), 1, "whoever comes back soon finds it");
    let returned = watch(&hub, None).await;
    assert_eq!(store.subscribed(), 1);
    sleep(LONG).await;
    assert_eq!(store.open(), 1, "it is watched");
    drop(returned);
    sleep(Duration::from_secs(61)).await;
    assert_eq!((store.open(), hub.lock().len()), (0, 0));
    let request_count = store.request_count();
    sleep(LONG).await;
    assert_eq!(store.request_count(), request_count, "nothing is left that asks");
}

/// Watchers come and go around the instant at which the feed ends, and never wait for one that has.
#[tokio::test(start_paused = true)]
async fn a_watcher_who_comes_while_the_feed_ends_gets_events_all_the_same() {
    for milliseconds in 0..40 {
        let (store, hub, first) = watched(0).await;
        drop(first);
        // The third check ends it, at 45 s.
        sleep(Duration::from_millis(44_980 + milliseconds)).await;
        let mut watcher = watch(&hub, None).await;
        let number = milliseconds + 1;
        store.emit(number);
        assert_eq!(rest(&mut watcher).await, number.to_string());
        assert_eq!((store.open(), hub.lock().len()), (1, 1), "after {milliseconds} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn events_of_unknown_types_are_passed_over() {
    let (store, hub, mut watcher) = watched(1).await;
    store.emit(2);
    store.emit_unknown(3);
    assert_eq!(rest(&mut watcher).await, "2");
    // As the newest event for hours, it is no sign of a channel that delivers nothing.
    for _ in 0..100 {
        sleep(Duration::from_secs(60)).await;
        assert_eq!(next(&mut watcher).await, "-");
    }
    assert_eq!(store.subscribed(), 1);
    store.emit(4);
    assert_eq!(rest(&mut watcher).await, "4");
    let unknown = format!("{{{}", fake::UNKNOWN);
    (5..=800).for_each(|number| store.log_as(number, &unknown));
    store.log(801);
    sleep(Duration::from_secs(16)).await;
    store.publish(801);
    assert_eq!(rest(&mut watcher).await, "801");
    let mut resumed = watch(&hub, Some(2)).await;
    assert_eq!(rest(&mut resumed).await, "4 801");
    let mut at_the_start = watch(&hub, Some(0)).await;
    assert_eq!(rest(&mut at_the_start).await, "1 2 4 801");
}

#[tokio::test(start_paused = true)]
async fn an_unlogged_event_has_no_id_and_moves_no_watcher() {
    let (store, hub, mut watcher) = watched(1).await;
    let progress =
        r#"{"type":"graph_progress","branch":"topic","version":"9bee4e1","files":3,"wanted":2,"scanned":1,"time":1}"#;
    store.publish_as(progress);
    store.emit(2);
    assert_eq!(take(&mut watcher, 2).await, "topic 2");
    store.publish_as(progress);
    let WatchItem::Event(published) = watcher.next().await.unwrap() else {
        panic!("no event");
    };
    assert!(matches!(published.event, Event::GraphProgress(_)));
    assert!(!published.text.contains("\"id\"") && !published.frame.starts_with(b"id:"));
    assert_eq!(watcher.position(), id(2));
    let mut resumed = watch(&hub, Some(1)).await;
    assert_eq!(rest(&mut resumed).await, "2", "only those who watch get it");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_event_is_skipped() {
    let (store, _hub, mut watcher) = watched(0).await;
    for message in ["", "{", "null", r#"{"id":7}"#, r#"{"id":"x","type":"graph_update"}"#] {
        store.publish_as(message);
    }
    store.emit(1);
    assert_eq!(rest(&mut watcher).await, "1");
}

#[tokio::test(start_paused = true)]
async fn close_ends_all_that_watch_and_refuses_all_that_come_later() {
    let (store, hub, mut watcher) = watched(0).await;
    let mut from_the_start = watch(&hub, Some(0)).await;
    store.emit(1);
    hub.close();
    for watcher in [&mut watcher, &mut from_the_start] {
        assert_eq!(take(watcher, 2).await, "stopped stopped");
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(store.open(), 0);
    let later = timeout(LONG, hub.watch(&repo(), None)).await;
    assert!(later.expect("an answer at once").is_err());
    assert_eq!(store.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_frame_has_the_id_the_type_and_one_line_of_json() {
    let published = EncodedEvent::from_message(event(Some("5-1"), "a\\nb").as_bytes()).unwrap();
    let frame = String::from_utf8(published.frame.to_vec()).unwrap();
    let start = "id: 5-1\nevent: graph_update\ndata: {\"id\":\"5-1\",";
    assert!(frame.starts_with(start), "{frame}");
    assert_eq!((frame.lines().count(), &frame[frame.len() - 2..]), (4, "\n\n"));
    assert!(frame.contains(published.text.as_str()));
}
