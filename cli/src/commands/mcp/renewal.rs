//! Renews the locks of the session in the background, for as long as the agent makes calls. So the agent need not think
//! of expiry, and an agent that hangs loses its locks. Notes for the agent name locks that have expired.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_domain::{AgentId, Branch};
use coord_protocol::{HeldLock, LockMode, LocksFilter, OwnLock, PostRequest};

use super::backend::Failure;
use super::claims::HolderKey;
use super::proxy::Proxy;
use super::release_retries::list_paths;

/// Number of checks of the locks during their time to live: every 30 s of 300.
const CHECKS_PER_TTL: u32 = 10;

const MAX_INTERVAL: Duration = Duration::from_secs(30);
const MIN_INTERVAL: Duration = Duration::from_millis(100);

impl Proxy {
    /// Renews locks for as long as it is polled.
    pub async fn renew_locks(&self) {
        let mut ttl = self.ttl.subscribe();
        loop {
            let interval = *ttl.borrow_and_update() / CHECKS_PER_TTL;
            let interval = interval.clamp(MIN_INTERVAL, MAX_INTERVAL);
            if let Ok(Ok(())) = tokio::time::timeout(interval, ttl.changed()).await {
                continue;
            }
            if !self.is_active() {
                continue;
            }
            for (holder, roots) in self.holders() {
                if let Some(root) = roots.first()
                    && let Err(failure) = self.renew_locks_of(&holder, root).await
                {
                    // The agent's own calls report such failures, too, and the next check may succeed.
                    tracing::debug!(?failure, "locks are not renewed");
                }
            }
        }
    }

    async fn renew_locks_of(&self, holder: &HolderKey, root: &Path) -> Result<(), Failure> {
        let _guard = self.posts.write().await;
        let held = self.held_by(holder, root).await?;
        self.warn_of_expiry(&self.claims.take_expired(holder, &held));
        let mut due: BTreeMap<(String, &'static str, String), Vec<String>> = BTreeMap::new();
        for lock in held.into_iter().filter(is_due) {
            let group = (lock.branch, lock.status.as_str(), lock.message);
            due.entry(group).or_default().push(lock.file_path);
        }
        for ((branch, mode, message), paths) in due {
            let Some(work) = self.work_in(root, holder, &branch) else {
                continue;
            };
            let mode = match mode == LockMode::Reading.as_str() {
                true => LockMode::Reading,
                false => LockMode::Writing,
            };
            self.renew(holder, &work, root, (paths, mode, message)).await?;
        }
        Ok(())
    }

    /// Claims `paths` again. If a lock has expired meanwhile, or another process of the session has released it, the
    /// claim acquires a new lock. A changed fencing token shows such a lock, and it is released.
    async fn renew(
        &self,
        holder: &HolderKey,
        work: &Work,
        root: &Path,
        (paths, mode, message): (Vec<String>, LockMode, String),
    ) -> Result<(), Failure> {
        let check = work.check(paths, Some(mode));
        let before = self
            .backend
            .ask(root, async |client| client.check_status(&check).await)
            .await?;
        // The declared interfaces stay, because a renewal edits nothing.
        let claim = PostRequest {
            interface: None,
            interface_changes: None,
            ..work.claim(before.held.keys().cloned().collect(), mode, message.clone())
        };
        if before.held.is_empty() {
            return Ok(());
        }
        let after = self.post_in_background(root, &claim).await?.unwrap_or_default();
        let is_new =
            |(path, lock): &(&String, &OwnLock)| before.held.get(*path).is_some_and(|old| old.token != lock.token);
        let new: Vec<String> = after.iter().filter(is_new).map(|(path, _)| path.clone()).collect();
        if !new.is_empty() {
            self.warn_of_expiry(&new);
            self.claims.forget(holder, work.branch.as_str(), &new);
            self.post_in_background(root, &work.abandon(new, message)).await?;
        }
        Ok(())
    }

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
    fn warn_of_expiry(&self, files: &[String]) {
        if !files.is_empty() {
            self.retries.note(format!(
                "LOCK_EXPIRED: The locks on {} ended before they were renewed; claim these files again.",
                list_paths(files)
            ));
        }
    }

    /// The locks of `holder`, on every branch.
    pub(super) async fn held_by(&self, holder: &HolderKey, root: &Path) -> Result<Vec<HeldLock>, Failure> {
        let HolderKey { repo_url, agent_id, .. } = holder;
        let filter = LocksFilter::held_by(agent_id);
        let response = self
            .backend
            .ask(root, async |client| client.locks(repo_url, &filter).await);
        Ok(response.await?.locks)
    }

    /// The work of `holder` for `branch`, in the working copy at `root`. `None` if that no longer exists.
    pub(super) fn work_in(&self, root: &Path, holder: &HolderKey, branch: &str) -> Option<Work> {
        let mut work = Work::in_folder(
            root,
            &AgentArgs {
                branch: Some(branch.to_owned()),
                ..self.args.clone()
            },
        )
        .ok()?;
        work.branch = Branch::parse(branch).ok()?;
        work.agent_id = AgentId::parse(&holder.agent_id).ok();
        Some(work)
    }

    /// The caller's locks on the files of `request` after it; `None` if the request is refused.
    async fn post_in_background(
        &self,
        root: &Path,
        request: &PostRequest,
    ) -> Result<Option<BTreeMap<String, OwnLock>>, Failure> {
        let response = self.post_status(root, request).await?;
        Ok(response.locks.filter(|_| response.success))
    }
}

/// Whether less than half of the time to live remains: 150 s of 300. The clocks of this machine and the server may
/// differ by as much.
fn is_due(lock: &HeldLock) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    lock.expiry - now <= (lock.expiry - lock.timestamp) / 2
}
