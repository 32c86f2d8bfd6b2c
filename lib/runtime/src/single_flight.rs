//! Single flight: concurrent callers with the same key share one request, which continues if the first caller leaves.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use crate::mutex::lock;

/// A request in progress. Clones wait for the same result; the request continues without any.
pub type Flight<T> = Shared<BoxFuture<'static, Result<T, Unfinished>>>;

/// A request ended without a result: it panicked, or the runtime stopped.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a request was not finished: {0}")]
pub struct Unfinished(String);

/// Requests in progress, by key.
#[derive(Debug)]
pub struct SingleFlight<K, T>(Arc<Mutex<HashMap<K, Flight<T>>>>)
where
    T: Clone;

impl<K, T: Clone> Default for SingleFlight<K, T> {
    fn default() -> Self {
        SingleFlight(Arc::default())
    }
}

impl<K, T> SingleFlight<K, T>
where
    K: Hash + Eq + Clone + Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// The result of the request in progress for `key`, or else of `request`.
    pub async fn join<F>(&self, key: K, request: impl FnOnce() -> F) -> Result<T, Unfinished>
    where
        F: Future<Output = T> + Send + 'static,
    {
        self.start(key, request).await
    }

    /// The request in progress for `key`.
    pub fn in_progress(&self, key: &K) -> Option<Flight<T>> {
        lock(&self.0).get(key).cloned()
    }

    /// The request in progress for `key`, or else `request`, which starts at once in its own task.
    pub fn start<F>(&self, key: K, request: impl FnOnce() -> F) -> Flight<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.get(&key) {
            return flight.clone();
        }
        let guard = FlightGuard(Arc::clone(&self.0), key.clone());
        let future = request();
        let task = tokio::spawn(async move {
            let _guard = guard;
            future.await
        });
        let flight = task.map(|outcome| outcome.map_err(|error| Unfinished(error.to_string())));
        let flight = flight.boxed().shared();
        flights.insert(key, flight.clone());
        flight
    }
}

/// Removes a request from the list when it ends in any way.
struct FlightGuard<K: Hash + Eq, T: Clone>(Arc<Mutex<HashMap<K, Flight<T>>>>, K);

impl<K: Hash + Eq, T: Clone> Drop for FlightGuard<K, T> {
    fn drop(&mut self) {
        lock(&self.0).remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn concurrent_callers_share_one_reply_and_the_next_call_starts_anew() {
        let flights: Arc<SingleFlight<u8, usize>> = Arc::default();
        let requests = Arc::new(AtomicUsize::new(0));
        for round in 1..=3 {
            let join = |_| {
                let requests = Arc::clone(&requests);
                let ask = || async move {
                    tokio::task::yield_now().await;
                    requests.fetch_add(1, Ordering::Relaxed) + 1
                };
                flights.join(7, ask)
            };
            let answers = futures::future::join_all((0..64).map(join)).await;
            assert!(
                answers
                    .into_iter()
                    .all(|answer| answer.is_ok_and(|number| number == round))
            );
        }
        assert!(flights.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_request_that_panics_is_an_error_and_is_forgotten() {
        let flights: SingleFlight<u8, ()> = SingleFlight::default();
        let answer = flights.join(7, || async { panic!("a defect") }).await;
        assert!(answer.is_err(), "{answer:?}");
        assert!(flights.join(7, || async {}).await.is_ok());
    }

    #[tokio::test]
    async fn a_request_without_a_waiting_caller_continues_and_can_be_joined() {
        let flights: SingleFlight<u8, u8> = SingleFlight::default();
        let (go_on, reply) = tokio::sync::oneshot::channel();
        drop(flights.start(7, || async { reply.await.unwrap() }));
        assert!(flights.in_progress(&8).is_none());
        let running = flights.in_progress(&7).expect("it has begun");
        let joined = flights.start(7, || async { panic!("another one is in progress") });
        go_on.send(1).unwrap();
        assert!(matches!((running.await, joined.await), (Ok(1), Ok(1))));
        assert!(flights.in_progress(&7).is_none());
    }
}
