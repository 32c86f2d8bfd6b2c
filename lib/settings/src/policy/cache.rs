//! The policies that a process knows. A cached policy may be outdated: scripts compare digests.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::{Policy, PolicyText};
use coord_domain::{Branch, RepoId};

/// Maximum number of policies that a process remembers.
const MAX_POLICIES: usize = 256;
/// Maximum number of branches.
const MAX_BRANCHES: usize = 4_096;

/// Policies by digest, and the latest digest of each branch.
pub struct PolicyCache {
    policies: Cache<String, Arc<Policy>>,
    digests: Cache<(RepoId, Branch), String>,
    /// The policy of a branch that has none.
    default_policy: Arc<Policy>,
}

impl Default for PolicyCache {
    fn default() -> Self {
        PolicyCache {
            policies: Cache::new(MAX_POLICIES),
            digests: Cache::new(MAX_BRANCHES),
            default_policy: Arc::default(),
        }
    }
}

impl PolicyCache {
    /// The last known policy of a branch, and its digest.
    pub fn guess(&self, repo: &RepoId, branch: &Branch) -> (String, Arc<Policy>) {
        let digest = self.digests.get(&(repo.clone(), branch.clone())).unwrap_or_default();
        match self.policies.get(&digest) {
            Some(policy) => (digest, policy),
            None => (String::new(), Arc::clone(&self.default_policy)),
        }
    }

    /// The policy with `digest`, if it is known.
    pub fn get(&self, digest: &str) -> Option<Arc<Policy>> {
        match digest {
            "" => Some(Arc::clone(&self.default_policy)),
            _ => self.policies.get(digest),
        }
    }

    /// Remembers the stored policy of a branch; an empty digest means no policy.
    pub fn learn(&self, repo: &RepoId, branch: &Branch, digest: &str, text: &str) -> Arc<Policy> {
        self.digests.insert((repo.clone(), branch.clone()), digest.to_owned());
        if let Some(policy) = self.get(digest) {
            return policy;
        }
        let policy = Arc::new(Policy::of(PolicyText::from_stored(text)));
        self.policies.insert(digest.to_owned(), Arc::clone(&policy));
        policy
    }
}
