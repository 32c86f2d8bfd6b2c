//! The promises of the store. They are read rarely, because they are settings, which seldom change.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coord_runtime::mutex::lock;
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
                *lock(&promises) = Some(current);
            });
            if let Ok(Err(error)) = tokio::time::timeout(MAX_WAIT, read).await {
                tracing::error!(%error, "the promises of the store could not be read");
            }
        }
        let promises = lock(&self.promises);
        promises.clone().unwrap_or(Promises::Unknown)
    }

    /// Notes the time of a read if one is due, and returns whether it is: once in [`MAX_AGE`].
    fn begin_read_if_due(&self) -> bool {
        let mut read_at = lock(&self.read_at);
        let is_due = read_at.is_none_or(|at| at.elapsed() >= MAX_AGE);
        if is_due {
            *read_at = Some(Instant::now());
        }
        is_due
    }
}
