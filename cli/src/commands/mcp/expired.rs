//! Notes for the agent about locks that have expired.

use std::path::Path;

use super::holder_key::HolderKey;
use super::proxy::Proxy;

impl Proxy {
    /// Notes for the next answer which locks of `holder` have expired while nothing renewed them, as after a night of the machine.
    pub(super) async fn note_expired(&self, holder: &HolderKey, root: &Path) {
        if self.claims.is_overdue(holder)
            && let Ok(held) = self.held_by(holder, root).await
        {
            self.warn_of_expiry(&self.claims.compare(holder, &held));
        }
    }

    /// Notes that the locks on `files` have expired.
    pub(super) fn warn_of_expiry(&self, files: &[String]) {
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|file| format!("'{file}'")).collect();
            self.retries.note(format!(
                "LOCK_EXPIRED: The locks on {} ended before they were renewed; claim these files again.",
                files.join(", ")
            ));
        }
    }
}
