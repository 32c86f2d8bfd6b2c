//! Waiting: for a condition with an end, or for time that is not waited for.

use std::time::{Duration, Instant};

/// Much longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of a server, which limits how often it is asked.
const PAUSE: Duration = Duration::from_millis(100);
/// Of a process on this machine.
const SHORT_PAUSE: Duration = Duration::from_millis(10);

/// Asks again and again until `found` returns something, which this returns; panics with `what` if it never does.
pub async fn eventually<T>(condition: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found().await {
            return found;
        }
        assert!(Instant::now() < deadline, "never happened: {condition}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// [`eventually`] for a condition.
pub async fn until(condition: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually(condition, async || holds().await.then_some(())).await;
}

/// [`until`] without a runtime, for a process on this machine.
pub fn block_until(condition: &str, holds: impl FnMut() -> bool) {
    block(condition, SHORT_PAUSE, holds);
}

/// [`block_until`] for a server.
pub fn block_until_served(condition: &str, holds: impl FnMut() -> bool) {
    block(condition, PAUSE, holds);
}

fn block(condition: &str, pause: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {condition}");
        std::thread::sleep(pause);
    }
}

/// Lets `time` pass for everything that reads tokio's clock, in a runtime of one thread.
pub async fn let_pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}
