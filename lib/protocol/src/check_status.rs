//! `POST /api/check_status`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ErrorBody;
use crate::locks::{InterfacePromise, LockMode, OtherLock, OwnLock, is_zero};
use crate::orchestration::{Orchestration, Status};
use crate::schema::{self, AgentId, Branch, CommitId, CommitSha, IntentId, RepoUrl};
use crate::waiting::Membership;

/// The request, as sent.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct CheckRequest {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The branch that the work is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Branch, required = true)]
    pub branch: Option<String>,
    /// The branch that the caller commits to, where it is another one: OPEN then wants the work there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub work_branch: Option<String>,
    /// The files.
    #[serde(alias = "symbols", skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::file_paths, required = true)]
    pub file_paths: Option<Vec<String>>,
    /// The commit that the working copy is at: `git rev-parse HEAD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = CommitId, required = true)]
    pub agent_head: Option<String>,
    /// The newest commit of the remote branch that the working copy contains (`git merge-base HEAD origin/BRANCH`):
    /// proves that unpushed commits are not behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CommitId>)]
    pub base_head: Option<String>,
    /// The intended access; WRITING by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<LockMode>,
    /// With WRITING: `keeps` if the interface of the files stays as it is. Without it, it may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfacePromise>,
    /// The files whose interface changes; `interface` is about the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::interface_changes)]
    pub interface_changes: Option<Vec<String>>,
    /// The intent that the work belongs to; where it is left out, the one that the caller has selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentId>)]
    pub intent_id: Option<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
    /// Fields that were sent and that it does not have.
    #[serde(skip)]
    #[schema(ignore)]
    pub unknown_fields: Vec<String>,
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
