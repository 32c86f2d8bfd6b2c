//! The parts that all contests share: clients that play at once, each with its own random numbers, requests that are killed, a store that
//! becomes quiet, and events that have to happen.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::embedded;
use coord_test_support::real_redis::RealRedis;

/// Two connections to one store.
pub type Connections = [Arc<dyn Store>; 2];

pub fn connect(redis: &RealRedis) -> Arc<dyn Store> {
    coord_extensions::register_state();
    Arc::new(RedisStore::connect(&redis.url()).expect("a URL"))
}

/// A store on disk; the folder goes when it is dropped.
pub fn embedded() -> (tempfile::TempDir, Connections) {
    coord_extensions::register_state();
    let folder = tempfile::tempdir().expect("a folder");
    let store: Arc<dyn Store> = Arc::new(embedded::open(&folder.path().join("store.redb")));
    (folder, [Arc::clone(&store), store])
}

/// Plays on the embedded store and on redis-server, with the seeds of each: a function of [`Connections`] and a seed.
macro_rules! contests {
    ($($test:ident: $play:path, $embedded:expr, $redis:expr;)*) => {
        $(mod $test {
            use coord_test_support::real_redis::RealRedis;

            use crate::contention::harness::{connect, embedded};

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn on_the_embedded_store() {
                for seed in $embedded {
                    let (_folder, connections) = embedded();
                    $play(connections, seed).await;
                }
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn on_redis() {
                for seed in $redis {
                    let Some(redis) = RealRedis::start(&[]) else { return };
                    $play([connect(&redis), connect(&redis)], seed).await;
                }
            }
        })*
    };
}
pub(super) use contests;

/// Runs `count` clients at once, and returns their results when each has come to its end.
pub async fn all_at_once<T, C>(count: usize, seed: u64, client: impl Fn(usize, fastrand::Rng) -> C) -> Vec<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..count {
        clients.spawn(client(number, fastrand::Rng::with_seed(seed * 1000 + number as u64)));
    }
    clients.join_all().await
}

/// The answer of `asking`, or none if the client is killed before: within `patience` microseconds.
pub async fn until_killed<T>(
    random: &mut fastrand::Rng,
    patience: u64,
    asking: impl Future<Output = Option<T>>,
) -> Option<T> {
    let patience = Duration::from_micros(random.u64(..patience));
    tokio::time::timeout(patience, asking).await.ok().flatten()
}

/// Reads until the result is the same twice: requests of killed clients may still be on their way through a server.
pub async fn once_quiet<T>(mut read: impl AsyncFnMut() -> T, is_same: impl Fn(&T, &T) -> bool) -> T {
    let mut last = read().await;
    loop {
        // time: requests of killed clients end.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let next = read().await;
        if is_same(&last, &next) {
            return next;
        }
        last = next;
    }
}

/// Asserts that the contest was about something: each event happened.
pub fn assert_all_happened(tally: &impl Debug, counts: &[(&str, usize)]) {
    eprintln!("{tally:?}");
    for (name, count) in counts {
        assert!(*count > 0, "no {name} in {tally:?}");
    }
}
