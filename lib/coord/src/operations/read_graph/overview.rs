//! The store's overview of a branch, without the graph itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::{Branch, RepoId};
use crate::operations::lock_views::locks_on_branch;
use crate::state::Read;
use crate::state::builds::{GraphHash, graph_hash};
use crate::state::locks::{LiveLocks, live_locks};
use coord_protocol::OtherLock;

pub(crate) struct Overview {
    /// The commit of the graph; `None` without a graph.
    pub(crate) version: Option<String>,
    /// Unix seconds.
    pub(crate) generated_at: Option<i64>,
    /// Why the newest build failed, if it did.
    pub(crate) failure: Option<String>,
    /// The progress of the current build.
    pub(crate) progress: Option<BuildProgress>,
    pub(crate) locks: BTreeMap<String, OtherLock>,
    /// Whether to record in the store that the graph is in use, so that it is kept; once a day.
    pub(crate) is_to_be_kept: bool,
}

const DAY: i64 = 86_400;

/// Progress of a build, as its builder has reported it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
pub(crate) struct BuildProgress {
    /// Files of the tree.
    files: u64,
    /// Files that have to be read, as far as known.
    wanted: u64,
    /// Files read.
    scanned: u64,
}

impl Overview {
    /// Reads the overview of a branch.
    pub(crate) fn of(repo: &RepoId, branch: &Branch) -> Read<(GraphHash, LiveLocks)> {
        graph_hash(repo, branch).and(live_locks(repo))
    }

    /// The overview in what the store has of the graph and of the repository's locks.
    pub(crate) fn new(branch: &Branch, graph: GraphHash, locks: LiveLocks) -> Self {
        let LiveLocks { now, mut entries } = locks;
        entries.retain(|entry| entry.branch == branch.as_str());
        // A builder that died sends no more reports, so its lease expires.
        let is_building = graph.lease_until.is_some_and(|until| until > now);
        Overview {
            is_to_be_kept: graph.version.is_some() && (now - graph.asked_at.unwrap_or(0)).abs() >= DAY,
            progress: graph
                .progress
                .filter(|_| is_building)
                .and_then(|json| serde_json::from_str(&json).ok()),
            version: graph.version,
            generated_at: graph.generated_at,
            failure: graph.failure,
            locks: locks_on_branch(&entries),
        }
    }
}
