//! Single flight: one request for all concurrent callers with the same key. It continues when the first caller is gone, and
//! its error goes to all.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

use crate::source::SourceError;

type Flight<T> = Shared<BoxFuture<'static, Result<T, SourceError>>>;

/// Requests in progress, by key.
#[derive(Debug)]
pub(super) struct SingleFlight<K, T>(Arc<Mutex<HashMap<K, Flight<T>>>>)
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
    /// The result of the request in progress for `key`, or else of `ask`.
    pub(super) async fn join<F>(&self, key: K, ask: impl FnOnce() -> F) -> Result<T, SourceError>
    where
        F: Future<Output = Result<T, SourceError>> + Send + 'static,
    {
        let flight = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match flights.get(&key) {
                Some(flight) => flight.clone(),
                None => {
                    let landing = Landing(Arc::clone(&self.0), key.clone());
                    let asking = ask();
                    let task = tokio::spawn(async move {
                        let _landing = landing;
                        asking.await
                    });
                    let failed = |error| Err(SourceError::Unreachable(format!("a request was not finished: {error}")));
                    let flight = task.map(move |ended| ended.unwrap_or_else(failed)).boxed().shared();
                    flights.insert(key, flight.clone());
                    flight
                }
            }
        };
        flight.await
    }
}

/// Removes a flight from the map when it ends, in any way.
struct Landing<K: Hash + Eq, T: Clone>(Arc<Mutex<HashMap<K, Flight<T>>>>, K);

impl<K: Hash + Eq, T: Clone> Drop for Landing<K, T> {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn callers_at_once_share_one_answer_and_the_next_asks_anew() {
        let flights: Arc<SingleFlight<u8, usize>> = Arc::default();
        let asked = Arc::new(AtomicUsize::new(0));
        for round in 1..=3 {
            let join = |_| {
                let asked = Arc::clone(&asked);
                let ask = || async move {
                    tokio::task::yield_now().await;
                    Ok(asked.fetch_add(1, Ordering::Relaxed) + 1)
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
        assert!(matches!(answer, Err(SourceError::Unreachable(_))), "{answer:?}");
        assert!(flights.join(7, || async { Ok(()) }).await.is_ok());
    }
}
