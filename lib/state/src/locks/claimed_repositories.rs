use quick_cache::sync::Cache;

use coord_domain::RepoId;

/// Maximum number of repositories that a process remembers.
const MAX_REPOSITORIES: usize = 4_096;

/// Repositories in which this process has seen a claim: they are usually on the due list, so that a claim there need not put
/// them on it. This only saves work for the store.
pub struct ClaimedRepositories(Cache<RepoId, ()>);

impl Default for ClaimedRepositories {
    fn default() -> Self {
        ClaimedRepositories(Cache::new(MAX_REPOSITORIES))
    }
}

impl ClaimedRepositories {
    pub(super) fn contains(&self, repo: &RepoId) -> bool {
        self.0.get(repo).is_some()
    }

    pub(super) fn insert(&self, repo: &RepoId) {
        self.0.insert(repo.clone(), ());
    }
}
