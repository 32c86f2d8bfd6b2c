//! The promises of the store, read rarely: they are settings, which seldom change.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use coord_store::{Promises, Store};

/// How long the promises are reused, and the pause after a failed read.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Maximum wait for the promises. Later ones are in the next report.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Remembers the promises.
#[derive(Default)]
pub(super) struct PromiseKeeper {
    read_at: Mutex<Option<Instant>>,
    known: Arc<Mutex<Option<Promises>>>,
}

impl PromiseKeeper {
    /// The known promises of `store`. If that is due and `is_answering`, a separate task reads them again.
    pub(super) async fn current_promises(&self, store: &Arc<dyn Store>, is_answering: bool) -> Promises {
        if is_answering && self.is_due() {
            let (store, known) = (Arc::clone(store), Arc::clone(&self.known));
            let asking = tokio::spawn(async move {
                let promises = store.promises().await;
                *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(promises);
            });
            if let Ok(Err(error)) = tokio::time::timeout(MAX_WAIT, asking).await {
                tracing::error!(%error, "the promises of the store could not be read");
            }
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone().unwrap_or(Promises::Unknown)
    }

    /// True once in [`MAX_AGE`].
    fn is_due(&self) -> bool {
        let mut read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = read_at.is_none_or(|at| at.elapsed() >= MAX_AGE);
        if is_due {
            *read_at = Some(Instant::now());
        }
        is_due
    }
}
