//! The store's overview of a branch, without the graph itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::{Branch, RepoId};
use crate::error::ApiError;
use crate::operations::live_locks;
use crate::operations::lock_views::locks_on_branch;
use crate::state;
use crate::store::{Request, StoreError, Value};
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

/// How far a build is, as its builder has reported.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
pub(crate) struct BuildProgress {
    /// Files of the tree.
    files: u64,
    /// Files that have to be read, as far as is known.
    wanted: u64,
    /// Files read.
    scanned: u64,
}

impl Overview {
    /// The store requests whose replies [`Overview::read`] takes.
    pub(crate) fn requests(repo: &RepoId, branch: &Branch) -> Vec<Request> {
        let mut requests = vec![Request::command([
            "HMGET",
            &state::builds::keys::graph(repo, branch),
            "version",
            "generated_at",
            "failure",
            "progress",
            "lease_until",
            "asked_at",
        ])];
        requests.extend(live_locks::requests(repo));
        requests
    }

    /// The overview in the store's replies.
    pub(crate) fn read(branch: &Branch, replies: &[Value]) -> Result<Self, ApiError> {
        let malformed = || StoreError::Malformed("the overview of a graph".to_owned());
        if let Some(Value::Error(error)) = replies.iter().find(|reply| matches!(reply, Value::Error(_))) {
            return Err(StoreError::Failed(error.clone()).into());
        }
        let [graph, locks, time] = replies else {
            return Err(malformed().into());
        };
        let field = |index: usize| graph.as_array().and_then(|values| values.get(index)?.as_str());
        let (entries, now) = live_locks::read(locks, time, |entry| entry.branch == branch.as_str())?;
        // A builder that died sends no more reports, so its lease expires.
        let is_building = field(4)
            .and_then(|text| text.parse().ok())
            .is_some_and(|until: i64| until > now);
        let asked_at = field(5).and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Overview {
            is_to_be_kept: field(0).is_some() && (now - asked_at).abs() >= DAY,
            version: field(0).filter(|version| !version.is_empty()).map(str::to_owned),
            generated_at: field(1).and_then(|text| text.parse().ok()),
            failure: field(2).map(str::to_owned),
            progress: field(3)
                .filter(|_| is_building)
                .and_then(|json| serde_json::from_str(json).ok()),
            locks: locks_on_branch(&entries),
        })
    }
}
