//! The promises of the store. They are read rarely, because they are settings, which seldom change.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use coord_store::{Promises, Store};

/// How long the promises are reused, and the pause after a failed read.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Maximum wait for the promises. The next report has promises that arrive later.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Remembers the promises.
#[derive(Default)]
pub(super) struct PromiseKeeper {
    read_at: Mutex<Option<Instant>>,
    promises: Arc<Mutex<Option<Promises>>>,
}

impl PromiseKeeper {
    /// The known promises of `store`. If a read is due and the store is responding, a separate task reads them again.
    pub(super) async fn current_promises(&self, store: &Arc<dyn Store>, is_responding: bool) -> Promises {
        if is_responding && self.begin_read_if_due() {
            let (store, promises) = (Arc::clone(store), Arc::clone(&self.promises));
            let read = tokio::spawn(async move {
                let current = store.promises().await;
                *promises.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
            });
            if let Ok(Err(error)) = tokio::time::timeout(MAX_WAIT, read).await {
                tracing::error!(%error, "the promises of the store could not be read");
            }
        }
        let promises = self.promises.lock().unwrap_or_else(PoisonError::into_inner);
        promises.clone().unwrap_or(Promises::Unknown)
    }

    /// Notes the time of a read if one is due, and returns whether it is: once in [`MAX_AGE`].
    fn begin_read_if_due(&self) -> bool {
        let mut read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = read_at.is_none_or(|at| at.elapsed() >= MAX_AGE);
        if is_due {
            *read_at = Some(Instant::now());
        }
        is_due
    }
}
