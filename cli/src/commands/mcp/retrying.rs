//! Retries releases that have not reached the server.

use std::time::Duration;

use coord_protocol::ErrorCode;
use tokio::time::{Instant, sleep_until};

use super::backend::Failure;
use super::proxy::Proxy;
use super::release_retries::files_of;
use super::tools::is_offline;

/// Maximum time between two retries.
const MAX_DELAY: Duration = Duration::from_secs(30);

impl Proxy {
    /// Retries releases for as long as it is polled.
    pub async fn retry_releases(&self) {
        loop {
            match self.retries.next_at() {
                None => self.retries.added.notified().await,
                Some(at) => {
                    sleep_until(at).await;
                    let _guard = self.posts.write().await;
                    self.retry_due(Instant::now()).await;
                }
            }
        }
    }

    /// Retries every release now.
    pub(super) async fn retry_all(&self) {
        let latest = self.retries.pending.lock().iter().map(|pending| pending.at).max();
        if let Some(latest) = latest {
            self.retry_due(latest).await;
        }
    }

    async fn retry_due(&self, time: Instant) {
        for mut pending in self.retries.take_due(time) {
            let files = files_of(&pending.request);
            if pending.until <= Instant::now() {
                self.retries.note(format!(
                    "RELEASE_EXPIRED: Coord gave no answer until the locks on {files} had expired."
                ));
                continue;
            }
            let note_refusal = |reason: String| {
                self.retries.note(format!(
                    "RELEASE_REFUSED: The retried release of {files} was refused: {reason}"
                ));
            };
            match self.post_status(&pending.root, &pending.request).await {
                Ok(response) if response.success => self
                    .retries
                    .note(format!("RELEASE_LANDED: {files} released after all.")),
                Ok(response) if !is_offline(&response) => note_refusal(response.orchestration.reason),
                Err(Failure::Refused(error)) if error.error.error != ErrorCode::RateLimited => {
                    note_refusal(error.orchestration.reason);
                }
                Ok(_) | Err(_) => {
                    pending.delay = (pending.delay * 2).min(MAX_DELAY);
                    pending.at = (Instant::now() + pending.delay).min(pending.until);
                    self.retries.pending.lock().push(pending);
                }
            }
        }
    }
}
