//! The locks that this process has claimed for its agent and not released. Other processes of the session claim and
//! release, too, so only the server knows the locks. This list shows which locks the process may release when it ends,
//! and which locks the agent believes it holds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coord_domain::FilePaths;
use coord_protocol::{HeldLock, LockStatus, PostRequest, PostResponse};
use parking_lot::Mutex;

/// A holder of locks at the server of a clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HolderKey {
    /// The repository, as requests name it.
    pub repo_url: String,
    pub agent_id: String,
    /// The folder that the worktrees of the clone share: another clone may have another server.
    pub clone: PathBuf,
}

/// A branch and a file.
type LockKey = (String, String);

/// By holder, when each lock expires unless it is renewed. Wall-clock time goes on while the machine sleeps.
#[derive(Default)]
pub struct Claims(Mutex<BTreeMap<HolderKey, BTreeMap<LockKey, SystemTime>>>);

impl Claims {
    /// Notes the outcome of a claim or a release.
    pub fn note(&self, holder: &HolderKey, request: &PostRequest, response: &PostResponse) {
        let (true, Some(branch)) = (response.success, &request.branch) else {
            return;
        };
        let mut claims = self.0.lock();
        let own = claims.entry(holder.clone()).or_default();
        if request.status == Some(LockStatus::Open) {
            let released = request.file_paths.as_deref().unwrap_or_default();
            let is_everything = released.iter().any(|path| path == FilePaths::EVERYTHING);
            own.retain(|(lock_branch, path), _| lock_branch != branch || !(is_everything || released.contains(path)));
            return;
        }
        for (path, lock) in response.locks.iter().flatten() {
            let ttl = u64::try_from(lock.expiry - lock.timestamp).unwrap_or_default();
            let expiry = SystemTime::now() + Duration::from_secs(ttl);
            own.insert((branch.clone(), path.clone()), expiry);
        }
    }

    /// Whether `holder` has claimed the file of `lock` by this process.
    pub fn has(&self, holder: &HolderKey, lock: &HeldLock) -> bool {
        let key = (lock.branch.clone(), lock.file_path.clone());
        self.0.lock().get(holder).is_some_and(|own| own.contains_key(&key))
    }

    /// Whether `holder` has claimed anything that it has not released.
    pub fn has_any(&self, holder: &HolderKey) -> bool {
        self.0.lock().get(holder).is_some_and(|own| !own.is_empty())
    }

    /// Forgets files of `branch`.
    pub fn forget(&self, holder: &HolderKey, branch: &str, paths: &[String]) {
        if let Some(own) = self.0.lock().get_mut(holder) {
            own.retain(|(lock_branch, path), _| lock_branch != branch || !paths.contains(path));
        }
    }

    /// Whether a lock of `holder` has expired by now, as far as this process knows.
    pub fn is_overdue(&self, holder: &HolderKey) -> bool {
        let now = SystemTime::now();
        let claims = self.0.lock();
        claims
            .get(holder)
            .is_some_and(|own| own.values().any(|expiry| *expiry <= now))
    }

    /// Updates the claims of `holder` from its `held` locks, and returns the files whose locks have expired, each once.
    /// A lock that ended before its time was released by another process of the session, so the session knows.
    pub fn take_expired(&self, holder: &HolderKey, held: &[HeldLock]) -> Vec<String> {
        let now = SystemTime::now();
        let held: BTreeMap<(&str, &str), &HeldLock> = held
            .iter()
            .map(|lock| ((lock.branch.as_str(), lock.file_path.as_str()), lock))
            .collect();
        let (mut expired, mut claims) = (Vec::new(), self.0.lock());
        let Some(own) = claims.get_mut(holder) else {
            return expired;
        };
        own.retain(|(branch, path), expiry| {
            match held.get(&(branch.as_str(), path.as_str())) {
                Some(lock) => {
                    let new_expiry = UNIX_EPOCH + Duration::from_secs(u64::try_from(lock.expiry).unwrap_or_default());
                    // The clocks of this machine and the server may differ.
                    *expiry = new_expiry.max(now + Duration::from_secs(1));
                    true
                }
                None => {
                    if *expiry <= now {
                        expired.push(path.clone());
                    }
                    false
                }
            }
        });
        expired
    }
}
