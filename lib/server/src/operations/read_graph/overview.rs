//! The store's overview of a branch, without the graph itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::Object;

use crate::operations::lock_views::{locks_on_branch, pending_views};
use coord_domain::{Branch, NeighborPolicy, RepoId};
use coord_protocol::schema::one_of;
use coord_protocol::{OtherLock, PendingChange};
use coord_settings::LockConfig;
use coord_settings::policy::file::PendingPolicy;
use coord_settings::policy::{Policy, PolicyText};
use coord_state::Read;
use coord_state::builds::{GraphHash, graph_hash};
use coord_state::locks::{LiveLocks, PendingChanges, live_locks, pending_changes};

pub struct Overview {
    /// The commit of the graph; `None` without a graph.
    pub version: Option<String>,
    /// Unix seconds.
    pub generated_at: Option<i64>,
    /// Why the newest build failed, if it did.
    pub failure: Option<String>,
    /// The progress of the current build.
    pub progress: Option<BuildProgress>,
    /// The lock rules of the branch.
    pub policy: PolicyView,
    pub locks: BTreeMap<String, OtherLock>,
    /// Changes on work branches that are for this branch.
    pub pending: Vec<PendingChange>,
    /// Whether to record in the store that the graph is in use, so that the store keeps it. True once a day.
    pub(super) is_touch_due: bool,
}

const DAY: i64 = 86_400;

/// The rules of locking on the branch: those of its `.coord.toml`, and where it has none those of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Policy)]
pub struct PolicyView {
    /// Seconds until a lock expires, unless it is renewed.
    #[schema(minimum = 1, maximum = 86_400)]
    ttl_seconds: u32,
    /// The effect of a neighbor's WRITING lock, held by someone else, on a claim to write.
    #[schema(schema_with = neighbors_schema)]
    neighbors: NeighborPolicy,
    /// `block` if someone else's pending change of a file refuses a claim to write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pending: Option<PendingPolicy>,
    /// Patterns of files that several may write at once; absent if these are the lockfiles of tools, and the files that
    /// `.gitattributes` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_items = 64)]
    shared: Option<Vec<String>>,
    /// Patterns of files without locks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 64)]
    ignore: Vec<String>,
    /// The error in the file at the head, if the last good one is used instead: file, line, column and a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

fn neighbors_schema() -> Object {
    let names = NeighborPolicy::ALL.map(NeighborPolicy::as_str);
    one_of(
        &names,
        "The effect of a neighbor's WRITING lock, held by someone else, on a claim to write",
    )
}

impl PolicyView {
    fn new(stored: Option<&str>, operator: &LockConfig) -> Self {
        let policy = Policy::of(stored.map(PolicyText::from_stored).unwrap_or_default());
        PolicyView {
            ttl_seconds: policy.ttl_seconds(operator),
            neighbors: policy.neighbors(operator),
            pending: Some(policy.file().pending).filter(|pending| *pending == PendingPolicy::Block),
            shared: policy.file().shared.clone(),
            ignore: policy.file().ignore.clone(),
            problem: policy.problem().map(str::to_owned),
        }
    }
}

/// Progress of a build, as its builder has reported it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
pub struct BuildProgress {
    /// Files of the tree.
    files: u64,
    /// Files that have to be read, as far as known.
    wanted: u64,
    /// Files read.
    scanned: u64,
}

/// The stored state of the graph and of the repository's locks and pending changes.
pub type StoredGraphState = (GraphHash, (LiveLocks, PendingChanges));

impl Overview {
    /// Reads the stored state of a branch.
    pub(super) fn read(repo: &RepoId, branch: &Branch) -> Read<StoredGraphState> {
        let locks = live_locks(repo).and(pending_changes(repo));
        graph_hash(repo, branch).and(locks)
    }

    pub(super) fn new(branch: &Branch, stored: StoredGraphState, operator: &LockConfig) -> Self {
        let (graph, (LiveLocks { now, mut entries }, pending)) = stored;
        entries.retain(|entry| entry.branch == branch.as_str());
        // A builder that died sends no more reports, so its lease expires.
        let is_building = graph.lease_until.is_some_and(|until| until > now);
        Overview {
            is_touch_due: graph.version.is_some() && (now - graph.asked_at.unwrap_or(0)).abs() >= DAY,
            progress: graph
                .progress
                .filter(|_| is_building)
                .and_then(|json| serde_json::from_str(&json).ok()),
            policy: PolicyView::new(graph.policy.as_deref(), operator),
            version: graph.version,
            generated_at: graph.generated_at,
            failure: graph.failure,
            locks: locks_on_branch(&entries),
            pending: pending_views(pending, |change| change.branch == branch.as_str()),
        }
    }
}
