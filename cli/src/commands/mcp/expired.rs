//! Notes for the agent about locks that have expired.

use std::path::Path;

use super::holder_key::HolderKey;
use super::proxy::Proxy;
use super::release_retries::list_paths;

impl Proxy {
    /// Notes for the next response which locks of `holder` have expired while nothing renewed them, such as while the
    /// machine slept.
    pub(super) async fn note_expired(&self, holder: &HolderKey, root: &Path) {
        if self.claims.is_overdue(holder)
            && let Ok(held) = self.held_by(holder, root).await
        {
            self.warn_of_expiry(&self.claims.take_expired(holder, &held));
        }
    }

    /// Notes that the locks on `files` have expired.
    pub(super) fn warn_of_expiry(&self, files: &[String]) {
        if !files.is_empty() {
            self.retries.note(format!(
                "LOCK_EXPIRED: The locks on {} ended before they were renewed; claim these files again.",
                list_paths(files)
            ));
        }
    }
}
