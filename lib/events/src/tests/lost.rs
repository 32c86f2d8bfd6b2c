//! Subscriptions that are lost, and stores that are away.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_lost_subscription_is_replaced_and_the_gap_filled_from_the_log() {
    let (store, _hub, mut watcher) = watched(0).await;
    store.emit(1);
    assert_eq!(next(&mut watcher).await, "1");
    store.lose();
    (2..=450).for_each(|number| store.log(number));
    assert_eq!(next(&mut watcher).await, "away");
    assert!(!watcher.is_live());
    assert_eq!(take(&mut watcher, 449).await, numbers(2..=450));
    assert_eq!(next(&mut watcher).await, "live");
    store.emit(451);
    assert_eq!(rest(&mut watcher).await, "451");
    assert_eq!(store.subscribed(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_delivers_nothing_is_noticed_and_replaced() {
    let (store, _hub, mut watcher) = watched(0).await;
    store.is_silent.store(true, Ordering::SeqCst);
    store.emit(1);
    assert_eq!(next(&mut watcher).await, "-");
    // The check finds it in the log, and the next one that it never came.
    sleep(Duration::from_secs(15)).await;
    assert_eq!(next(&mut watcher).await, "1");
    assert_eq!(store.subscribed(), 1);
    store.is_silent.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(take(&mut watcher, 2).await, "away live");
    assert_eq!((store.subscribed(), store.open()), (2, 1));
    store.emit(2);
    assert_eq!(rest(&mut watcher).await, "2");
    sleep(LONG).await;
    assert_eq!(store.subscribed(), 2);
}

#[tokio::test(start_paused = true)]
async fn watchers_get_away_while_the_store_is_away_and_live_afterwards() {
    let (store, _hub, mut watcher) = watched(0).await;
    store.is_away.store(true, Ordering::SeqCst);
    store.lose();
    assert_eq!(rest(&mut watcher).await, "away");
    sleep(LONG).await;
    store.log(1);
    store.is_away.store(false, Ordering::SeqCst);
    let returned = Instant::now();
    while next(&mut watcher).await != "1" {
        let waited = returned.elapsed();
        assert!(waited < Duration::from_secs(20), "it is asked every ten seconds");
    }
    assert_eq!(next(&mut watcher).await, "live");
    assert!(watcher.is_live());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stops_to_respond_is_noticed_by_the_check() {
    let (store, hub, mut watcher) = watched(0).await;
    // The connection of the subscription stays open, as behind a router that drops packets.
    store.is_away.store(true, Ordering::SeqCst);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(next(&mut watcher).await, "away");
    assert!(hub.watch(&repo(), None).await.is_ok_and(|watching| !watching.is_live()));
}

#[tokio::test(start_paused = true)]
async fn watchers_get_a_gap_when_the_log_lacks_the_missed_events() {
    let (store, _hub, mut watcher) = watched(0).await;
    store.emit(1);
    assert_eq!(next(&mut watcher).await, "1");
    store.lose();
    (2..=30).for_each(|number| store.log(number));
    store.trim(20);
    assert_eq!(take(&mut watcher, 3).await, "away gap live");
    assert_eq!(watcher.position(), id(30));
    store.emit(31);
    assert_eq!(rest(&mut watcher).await, "31");
}

#[tokio::test(start_paused = true)]
async fn a_feed_backs_off_when_its_subscriptions_end_at_once() {
    let (store, _hub, mut watcher) = watched(0).await;
    store.is_ending.store(true, Ordering::SeqCst);
    store.lose();
    let notifications = tokio::spawn(async move {
        let mut notifications = 0;
        while timeout(Duration::from_secs(120), watcher.next()).await.is_ok() {
            notifications += 1;
            if notifications > 1000 {
                break;
            }
        }
    });
    sleep(Duration::from_secs(600)).await;
    assert!(store.subscribed() < 100, "{} in ten minutes", store.subscribed());
    notifications.abort();
}

#[tokio::test(start_paused = true)]
async fn watching_fails_when_the_store_is_away_from_the_start() {
    let store = Fake::new();
    store.is_away.store(true, Ordering::SeqCst);
    let hub = hub(&store);
    let repo = repo();
    let watched = futures::future::join_all((0..10).map(|_| hub.watch(&repo, None))).await;
    assert!(watched.iter().all(|watching| watching.is_err()));
    assert_eq!(hub.lock().len(), 0);
    store.is_away.store(false, Ordering::SeqCst);
    let mut watcher = watch(&hub, None).await;
    store.emit(1);
    assert_eq!(rest(&mut watcher).await, "1");
}

#[tokio::test(start_paused = true)]
async fn an_unwatched_feed_that_loses_its_store_ends() {
    let (store, hub, watcher) = watched(0).await;
    drop(watcher);
    store.is_away.store(true, Ordering::SeqCst);
    store.lose();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(hub.lock().len(), 0);
}
