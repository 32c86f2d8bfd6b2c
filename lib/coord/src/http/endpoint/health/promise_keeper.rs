//! What the store promises, asked seldom: its answers are settings, which rarely change.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::{Promises, Store};

/// How long an answer counts, and how soon a store that gave none is asked again.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Longest wait for an answer. What comes later is in the next report.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Remembers what was told.
#[derive(Default)]
pub(super) struct PromiseKeeper {
    asked: Mutex<Option<Instant>>,
    told: Arc<Mutex<Option<Promises>>>,
}

impl PromiseKeeper {
    /// What `store` has told. It is asked, in a task of its own, where that is due and `is_answering`.
    pub(super) async fn told(&self, store: &Arc<dyn Store>, is_answering: bool) -> Promises {
        if is_answering && self.is_due() {
            let (store, told) = (Arc::clone(store), Arc::clone(&self.told));
            let asking = tokio::spawn(async move {
                let promises = store.promises().await;
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(promises);
            });
            if let Ok(Err(error)) = tokio::time::timeout(MAX_WAIT, asking).await {
                tracing::error!(%error, "the store could not be asked what it promises");
            }
        }
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.clone().unwrap_or(Promises::Unknown)
    }

    /// Once in [`MAX_AGE`].
    fn is_due(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = asked.is_none_or(|at| at.elapsed() >= MAX_AGE);
        if is_due {
            *asked = Some(Instant::now());
        }
        is_due
    }
}
