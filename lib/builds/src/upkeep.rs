//! Keeps the graph of a branch up to date: chooses the head to build, builds it, and says when the next attempt is due.
//! A server runs it in a loop ([`super::background`]), a function after its response ([`super::deferred`]).

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::builder::{BuildPermit, GraphBuilder};
use super::error::BuildError;
use super::head_observer::HeadObserver;
use super::schedule::{BuildClaim, Pace, RepoBranch, Schedule};
use coord_domain::{Branch, CommitSha, RepoId};
use coord_runtime::after_response::TimeAllotment;
use coord_sources::SourceError;
use coord_state::builds::{BuildLease, graph_hash};
use coord_state::heads::{FetchedHead, forget_head, record_head, stored_head};
use coord_store::StoreError;

/// Commits recorded with a head. A function without a source uses them to prove that a commit was pushed.
const RECENT_COMMITS: usize = 200;

/// The graphs of the branches that this process has seen.
pub(super) struct Upkeep {
    builder: GraphBuilder,
    schedule: Arc<Schedule>,
}

/// A kind of process that keeps graphs up to date.
pub(super) trait Driver: Send + Sync + 'static {
    fn upkeep(&self) -> &Upkeep;

    /// Starts [`Upkeep::update`] soon, without waiting for it.
    fn start(&self, claim: BuildClaim);
}

impl<D: Driver> HeadObserver for D {
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        let claim = self.upkeep().schedule.claim(&(repo.clone(), branch.clone()), head);
        if let Some(claim) = claim {
            self.start(claim);
        }
    }

    fn saw_move(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        let claim = self
            .upkeep()
            .schedule
            .claim_moved(&(repo.clone(), branch.clone()), head);
        if let Some(claim) = claim {
            self.start(claim);
        }
    }

    fn report_missing_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        self.upkeep().schedule.doubt(&(repo.clone(), branch.clone()));
        self.saw_head(repo, branch, head);
    }

    /// Covers only the branches that this process has seen, because the store does not list branches. The next request
    /// about another branch updates its graph.
    fn recheck_all(&self) {
        for ((repo, branch), head) in self.upkeep().schedule.doubt_all() {
            self.saw_move(&repo, &branch, &head);
        }
    }
}

/// The remaining work for a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemainingWork {
    /// Nothing, until another head is seen or a request misses the graph.
    Nothing,
    /// Another attempt, after this time.
    Retry(Duration),
    /// Nothing: the branch has not been requested for so long that its graph has expired.
    Unused,
    /// Nothing: the branch is gone.
    Gone,
}

/// Why the graph of a branch could not be updated.
#[derive(Debug, thiserror::Error)]
enum UpkeepError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Upkeep {
    pub(super) fn new(builder: GraphBuilder, pace: Pace) -> Self {
        Upkeep {
            builder,
            schedule: Schedule::new(pace),
        }
    }

    pub(super) fn builder(&self) -> &GraphBuilder {
        &self.builder
    }

    pub(super) fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    /// Removes a branch that is gone, from this process and from the store.
    pub(super) async fn forget(&self, key: &RepoBranch) {
        self.drop_unused(key).await;
        let (repo, branch) = key;
        if let Err(error) = forget_head(self.builder.store(), repo, branch).await {
            tracing::debug!(%error, %repo, %branch, "a deleted branch could not be forgotten");
        }
    }

    /// Removes an unused branch from this process.
    pub(super) async fn drop_unused(&self, key: &RepoBranch) {
        self.schedule.forget(key);
        self.builder.forget(key).await;
    }

    /// Updates the graph of the claimed branch. With a time limit, no build begins in its second half: it would be
    /// stopped early, and count as failed.
    pub(super) async fn update(&self, mut claim: BuildClaim, allotted: Option<TimeAllotment>) -> RemainingWork {
        let (repo, branch) = claim.branch().clone();
        let begin_by = allotted.map(|allotted| allotted.began + (allotted.end_by - allotted.began) / 2);
        let permit = match begin_by {
            None => Ok(self.builder.begin().await),
            Some(begin_by) => timeout_at(begin_by, self.builder.begin()).await,
        };
        let Ok(mut permit) = permit else {
            tracing::info!(%repo, %branch, "no time is left to begin this build");
            return RemainingWork::Nothing;
        };
        if !claim.is_newest() {
            return RemainingWork::Nothing;
        }
        let end_by = allotted.map(|allotted| allotted.end_by);
        let mut head = claim.head().clone();
        loop {
            match self.build_once(&mut permit, &mut claim, head, end_by).await {
                Ok(ControlFlow::Break(remaining)) => return remaining,
                Ok(ControlFlow::Continue(next)) if begin_by.is_none_or(|begin_by| Instant::now() < begin_by) => {
                    head = next;
                }
                Ok(ControlFlow::Continue(_)) => return RemainingWork::Nothing,
                Err(UpkeepError::Source(SourceError::UnknownBranch { .. } | SourceError::UnknownRepository { .. })) => {
                    return RemainingWork::Gone;
                }
                Err(error) => {
                    tracing::warn!(%error, %repo, %branch, "the import graph could not be brought up to date");
                    return RemainingWork::Retry(self.schedule.pace().failed);
                }
            }
        }
    }

    /// One build, if it is due. Returns the remaining work, or the head to build next.
    async fn build_once(
        &self,
        permit: &mut BuildPermit<'_>,
        claim: &mut BuildClaim,
        seen_head: CommitSha,
        end_by: Option<Instant>,
    ) -> Result<ControlFlow<RemainingWork, CommitSha>, UpkeepError> {
        let key = claim.branch().clone();
        let ((repo, branch), pace) = (&key, self.schedule.pace());
        if !claim.is_recently_requested() {
            let stored = graph_hash(repo, branch).run(self.builder.store()).await?;
            if stored.version.is_none() {
                return Ok(ControlFlow::Break(RemainingWork::Unused));
            }
        }
        let head = self.choose_head(&key, seen_head).await?;
        let lease = permit.build(&key, &head, end_by).await?;
        match lease {
            BuildLease::Granted | BuildLease::Current => {}
            BuildLease::Busy { .. } => {
                tracing::debug!(%repo, %branch, "another builder has the lease");
                claim.rest_for(pace.busy);
                return Ok(ControlFlow::Break(RemainingWork::Retry(pace.busy)));
            }
            BuildLease::BackingOff { reason, .. } => {
                tracing::debug!(%reason, %repo, %branch, "the last build failed; backing off");
                return Ok(ControlFlow::Break(RemainingWork::Retry(pace.failed)));
            }
        }
        if lease == BuildLease::Granted
            && self.builder.source().keeps_heads_in_store(repo)
            && let Some(newer) = self.newer_head(&key, &head).await
        {
            claim.rest_for(pace.current);
            return Ok(ControlFlow::Continue(newer));
        }
        if claim.take_doubt() {
            claim.rest_for(pace.busy);
            return Ok(ControlFlow::Break(RemainingWork::Retry(pace.busy)));
        }
        if head == *claim.head() {
            claim.rest_for(pace.current);
        }
        Ok(ControlFlow::Break(RemainingWork::Nothing))
    }

    /// The head to build: `seen_head` if the store keeps heads. Else the current head of the source, which it records.
    async fn choose_head(&self, (repo, branch): &RepoBranch, seen_head: CommitSha) -> Result<CommitSha, UpkeepError> {
        let source = self.builder.source();
        if source.keeps_heads_in_store(repo) {
            return Ok(seen_head);
        }
        let head = source.head(repo, branch).await?;
        let recent = source.recent_commits(repo, &head, RECENT_COMMITS).await?;
        record_head(self.builder.store(), repo, branch, &FetchedHead::of(&head, &recent)).await?;
        Ok(head)
    }

    /// The head of the branch, if it is no longer `built`. Callers that saw it meanwhile learned that its graph is in
    /// progress, so they do not request it again.
    async fn newer_head(&self, (repo, branch): &RepoBranch, built: &CommitSha) -> Option<CommitSha> {
        match stored_head(repo, branch).run(self.builder.store()).await {
            Ok(head) => head.filter(|head| head != built),
            Err(error) => {
                tracing::debug!(%error, %repo, %branch, "could not check whether the branch has moved");
                None
            }
        }
    }
}
