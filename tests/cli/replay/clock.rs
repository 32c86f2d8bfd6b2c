//! Simulated time.

use std::cell::RefCell;
use std::time::Duration;

use coord_test_worlds::replay::clock::Clock;

#[tokio::test]
async fn agents_run_one_at_a_time_in_the_order_of_their_times() {
    let clock = Clock::of(3);
    let seen = RefCell::new(Vec::new());
    let agent = async |name: &'static str, naps: &[u64]| {
        for nap in naps {
            clock.sleep_until(clock.now() + Duration::from_secs(*nap)).await;
            seen.borrow_mut().push((clock.now().as_secs(), name));
        }
        clock.ends();
    };
    // The third waits for a minute, and is woken after seven seconds.
    let waits = async {
        assert!(clock.wait_until(Duration::from_secs(60)).await);
        seen.borrow_mut().push((clock.now().as_secs(), "woken"));
        clock.ends();
    };
    let wakes = async {
        clock.sleep_until(Duration::from_secs(7)).await;
        seen.borrow_mut().push((clock.now().as_secs(), "b"));
        clock.wake_waiting();
        clock.ends();
    };
    let all = async { tokio::join!(agent("a", &[5, 5, 0]), wakes, waits) };
    tokio::select! { _ = all => {}, () = clock.run() => {} }
    let expected = [(5, "a"), (7, "b"), (7, "woken"), (10, "a"), (10, "a")];
    assert_eq!(seen.into_inner(), expected);
}

#[tokio::test]
async fn the_store_has_the_time_of_the_clock() {
    let clock = Clock::of(1);
    let store = clock.for_store();
    let before = store();
    // Less than a millisecond is not lost: nobody is woken too early.
    let nap = Duration::from_micros(1_500_900);
    tokio::select! { () = clock.sleep_until(nap) => {}, () = clock.run() => {} }
    assert!(clock.now() >= nap);
    assert_eq!(store().duration_since(before).unwrap(), Duration::from_millis(1_501));
}
