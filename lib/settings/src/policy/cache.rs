//! The policies that a process knows. It is only a guess: scripts compare digests.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::{Policy, PolicyText};
use coord_domain::{Branch, RepoId};

/// Most policies that a process remembers.
const MOST_POLICIES: usize = 256;
/// Most branches.
const MOST_BRANCHES: usize = 4_096;

/// Policies by digest, and the latest digest of each branch.
pub struct PolicyCache {
    policies: Cache<String, Arc<Policy>>,
    of_branches: Cache<(RepoId, Branch), String>,
    /// The policy where there is none.
    none: Arc<Policy>,
}

impl Default for PolicyCache {
    fn default() -> Self {
        PolicyCache {
            policies: Cache::new(MOST_POLICIES),
            of_branches: Cache::new(MOST_BRANCHES),
            none: Arc::default(),
        }
    }
}

impl PolicyCache {
    /// The policy that was seen last, and its digest.
    pub fn guess(&self, repo: &RepoId, branch: &Branch) -> (String, Arc<Policy>) {
        let digest = self
            .of_branches
            .get(&(repo.clone(), branch.clone()))
            .unwrap_or_default();
        match self.policies.get(&digest) {
            Some(policy) => (digest, policy),
            None => (String::new(), Arc::clone(&self.none)),
        }
    }

    /// The policy with `digest`, if it is known.
    pub fn get(&self, digest: &str) -> Option<Arc<Policy>> {
        match digest {
            "" => Some(Arc::clone(&self.none)),
            _ => self.policies.get(digest),
        }
    }

    /// Notes the policy of a branch, as a store has it; an empty digest stands for none.
    pub fn learn(&self, repo: &RepoId, branch: &Branch, digest: &str, text: &str) -> Arc<Policy> {
        self.of_branches
            .insert((repo.clone(), branch.clone()), digest.to_owned());
        if let Some(known) = self.get(digest) {
            return known;
        }
        let policy = Arc::new(Policy::of(PolicyText::of_stored(text)));
        self.policies.insert(digest.to_owned(), Arc::clone(&policy));
        policy
    }
}
