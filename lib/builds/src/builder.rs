//! The builder of graphs in a process: one graph at a time, each from the previous build of its branch.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::error::BuildError;
use super::job::{Job, LastBuild};
use super::leased_build::build_and_publish;
use super::recent_builds::RecentBuilds;
use super::schedule::RepoBranch;
use coord_domain::CommitSha;
use coord_graph::Limits;
use coord_sources::Source;
use coord_state::builds::BuildLease;
use coord_store::Store;

/// Builds graphs into a store.
pub(super) struct GraphBuilder {
    store: Arc<dyn Store>,
    source: Arc<dyn Source>,
    /// The name that holds the lease on a build.
    name: String,
    limits: Limits,
    recent: Mutex<RecentBuilds<LastBuild>>,
}

/// The permit to build in this process.
pub(super) struct BuildPermit<'a> {
    builder: &'a GraphBuilder,
    recent: MutexGuard<'a, RecentBuilds<LastBuild>>,
}

impl GraphBuilder {
    /// No other process may have the name `name`. At most `max_builds` builds stay in memory.
    pub fn new(
        store: Arc<dyn Store>,
        source: Arc<dyn Source>,
        name: String,
        limits: Limits,
        max_builds: usize,
    ) -> Self {
        GraphBuilder {
            store,
            source,
            name,
            limits,
            recent: Mutex::new(RecentBuilds::new(max_builds)),
        }
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The name that holds the lease on a build.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// Waits for the permit to build in this process.
    pub(super) async fn begin(&self) -> BuildPermit<'_> {
        BuildPermit {
            builder: self,
            recent: self.recent.lock().await,
        }
    }

    /// Drops the last build of a branch from memory, after the build in progress has ended.
    pub(super) async fn forget(&self, branch: &RepoBranch) {
        self.recent.lock().await.take(branch);
    }

    /// Number of builds in memory.
    pub(super) async fn builds_in_memory(&self) -> usize {
        self.recent.lock().await.len()
    }
}

impl BuildPermit<'_> {
    /// Builds and publishes the graph of `branch` at `commit`. Stops at `end_by`, if given.
    pub(super) async fn build(
        &mut self,
        (repo, branch): &RepoBranch,
        commit: &CommitSha,
        end_by: Option<Instant>,
    ) -> Result<BuildLease, BuildError> {
        let GraphBuilder {
            store,
            source,
            name,
            limits,
            ..
        } = self.builder;
        let job = Job {
            repo,
            branch,
            commit,
            builder: name,
            limits: *limits,
        };
        let key = (repo.clone(), branch.clone());
        let mut last = self.recent.take(&key);
        let lease = build_and_publish(Arc::clone(store), &**source, job, &mut last, end_by).await;
        if let Some(last) = last {
            let bytes = last.bytes();
            self.recent.put(key, last, bytes);
        }
        lease
    }
}

/// A unique name for a builder, even if many processes with the same id start at the same instant.
pub(super) fn random_name() -> String {
    // The standard library seeds each state from the system's random numbers.
    let number = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", number(), number())
}
