//! The features of repositories that a process knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quick_cache::sync::Cache;

use coord_domain::RepoId;

/// Maximum number of repositories that a process remembers.
const MAX_REPOSITORIES: usize = 4_096;

/// Whether a repository is known to use rare features: intents, or work branches with pending changes. Until then, requests about
/// locks have no keys for these, and no terms of intents. A function that meets one asks for all keys: `locks/modules/admitted.lua`.
#[derive(Debug)]
pub struct RepositoryUses(AtomicBool);

/// The uses of a repository that may use everything.
pub static USES_EVERYTHING: RepositoryUses = RepositoryUses(AtomicBool::new(true));

impl RepositoryUses {
    pub(crate) fn uses_all(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set_uses_all(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The features that the repositories of this process use. A forgotten entry costs a round trip.
pub struct RememberedUses(Cache<RepoId, Arc<RepositoryUses>>);

impl Default for RememberedUses {
    fn default() -> Self {
        RememberedUses(Cache::new(MAX_REPOSITORIES))
    }
}

impl RememberedUses {
    /// The known features of `repo`.
    pub fn of(&self, repo: &RepoId) -> Arc<RepositoryUses> {
        let unknown = || Ok::<_, std::convert::Infallible>(Arc::new(RepositoryUses(AtomicBool::new(false))));
        let Ok(uses) = self.0.get_or_insert_with(repo, unknown);
        uses
    }
}
