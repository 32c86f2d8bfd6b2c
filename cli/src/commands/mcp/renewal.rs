//! Renews the locks of the session in the background, for as long as the agent makes calls: it never has to think of the time that
//! a lock is held, and an agent that hangs keeps nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_domain::{AgentId, Branch};
use coord_protocol::{HeldLock, LockMode, LocksFilter, OwnLock, PostRequest};

use super::backend::Failure;
use super::holder_key::HolderKey;
use super::proxy::Proxy;

/// Interval of looks at the locks, as a part of the time that they are held: 30 s of 300.
const LOOKS: u32 = 10;

/// Longest and shortest interval.
const LONGEST_INTERVAL: Duration = Duration::from_secs(30);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

impl Proxy {
    /// Renews locks for as long as it is polled.
    pub async fn renew_locks(&self) {
        let mut ttl = self.ttl.subscribe();
        loop {
            let interval = *ttl.borrow_and_update() / LOOKS;
            let interval = interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
            if let Ok(Ok(())) = tokio::time::timeout(interval, ttl.changed()).await {
                continue;
            }
            if !self.is_working() {
                continue;
            }
            for (holder, roots) in self.holders() {
                if let Some(root) = roots.first()
                    && let Err(failure) = self.renew_locks_of(&holder, root).await
                {
                    // Calls of the agent say so as well, and the next look may be luckier.
                    tracing::debug!(?failure, "locks are not renewed");
                }
            }
        }
    }

    async fn renew_locks_of(&self, holder: &HolderKey, root: &Path) -> Result<(), Failure> {
        let _alone = self.posts.write().await;
        let held = self.held_by(holder, root).await?;
        self.warn_of_expiry(&self.claims.compare(holder, &held));
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

    /// Claims `paths` again. A lock that expired meanwhile, or was released by another process of the session, would be claimed
    /// anew by that: its fencing token shows it, and it is released.
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
        // The declared interfaces stay: a renewal edits nothing.
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

    /// The locks of `holder`, on every branch.
    pub(super) async fn held_by(&self, holder: &HolderKey, root: &Path) -> Result<Vec<HeldLock>, Failure> {
        let HolderKey { repo_url, agent_id, .. } = holder;
        let own = LocksFilter::held_by(agent_id);
        let held = self
            .backend
            .ask(root, async |client| client.locks(repo_url, &own).await);
        Ok(held.await?.locks)
    }

    /// The work of `holder` for `branch`, in the working copy at `root`. `None` where that is gone.
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

    /// The locks on the files of `request` after it; none if it is refused.
    pub(super) async fn post_in_background(
        &self,
        root: &Path,
        request: &PostRequest,
    ) -> Result<Option<BTreeMap<String, OwnLock>>, Failure> {
        let answer = self.backend.ask(root, async |client| client.post_status(request).await);
        let answer = answer.await?;
        Ok(answer.locks.filter(|_| answer.success))
    }
}

/// Whether less than half of its time is left: 150 s of 300. The clocks of this machine and the server may differ by as much.
fn is_due(lock: &HeldLock) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    lock.expiry - now <= (lock.expiry - lock.timestamp) / 2
}
