//! `POST /api/check_status`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ErrorBody;
use crate::locks::{InterfacePromise, LockMode, OtherLock, OwnLock, is_zero};
use crate::orchestration::{Orchestration, Status};
use crate::schema::{self, Branch, CommitId, CommitSha, IntentId};
use crate::waiting::Membership;

wire! {
    /// The request, as sent.
    #[derive(Default)]
    pub struct CheckRequest {
        repo_url,
        /// The branch that the work is for.
        pub branch: required Branch as String,
        work_branch,
        /// The files.
        #[serde(alias = "symbols")]
        #[schema(schema_with = schema::file_paths, required = true)]
        pub file_paths: Option<Vec<String>>,
        /// The commit that the working copy is at: `git rev-parse HEAD`.
        pub agent_head: required CommitId as String,
        base_head,
        /// The intended access; WRITING by default.
        pub intent: Option<LockMode>,
        /// With WRITING: `keeps` if the interface of the files stays as it is. Without it, it may change.
        pub interface: Option<InterfacePromise>,
        /// The files whose interface changes; `interface` is about the others.
        #[schema(schema_with = schema::interface_changes)]
        pub interface_changes: Option<Vec<String>>,
        /// The intent that the work belongs to; if omitted, the one that the caller has selected.
        pub intent_id: optional IntentId as String,
        agent_id,
        /// Fields of the sent request that this type does not have.
        #[serde(skip)]
        #[schema(ignore)]
        pub unknown_fields: Vec<String>,
    }
}

/// The response. With OFFLINE, it has the fields of the error too.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CheckResponse {
    /// The result of the check.
    pub status: Status,
    /// Newest known commit of the branch; `null` if it could not be read.
    #[schema(value_type = Option<CommitSha>, required = true)]
    pub repo_head: Option<String>,
    /// The reference that `repo_head` was read from: `refs/remotes/REMOTE/BRANCH` in a clone that fetches, `refs/heads/BRANCH`
    /// on GitHub and in a clone whose own branch counts. `null` if only the store knows the head.
    #[schema(required = true)]
    pub repo_head_ref: Option<String>,
    /// Others' locks that concern the request, by file path: on the files themselves, and on files that import them or that
    /// they import.
    pub locks: BTreeMap<String, OtherLock>,
    /// The caller's own locks among the files, by file path.
    pub held: BTreeMap<String, OwnLock>,
    /// Number of locks that are left out of `locks`, if there are very many.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 1)]
    pub locks_omitted: u64,
    /// The caller's teams, and pending items in them; absent if it is in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub your_teams: Vec<Membership>,
    /// Sentences that begin with a code and a colon.
    #[schema(schema_with = schema::warnings)]
    pub warnings: Vec<String>,
    /// The next step.
    pub orchestration: Orchestration,
    /// The cause of OFFLINE.
    #[serde(flatten)]
    #[schema(ignore)]
    pub error: Option<ErrorBody>,
}
