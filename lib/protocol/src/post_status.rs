//! `POST /api/post_status`.

use std::collections::BTreeMap;

use crate::error::{ErrorBody, ErrorCode};
use crate::intents::{AgentSession, ToolCall};
use crate::locks::{InterfacePromise, LockStatus, OtherLock, OwnLock, is_zero};
use crate::orchestration::Orchestration;
use crate::schema::{self, AgentId, Branch, CommitId, CommitSha, IntentId, Message};
use crate::waiting::Membership;

wire! {
    /// The request, as sent.
    #[derive(Default)]
    pub struct PostRequest {
        repo_url,
        /// The branch that the work is for.
        pub branch: required Branch as String,
        work_branch,
        /// The files.
        #[serde(alias = "symbols")]
        #[schema(schema_with = schema::file_paths, required = true)]
        pub file_paths: Option<Vec<String>>,
        /// READING and WRITING claim all of the files or none, and renew; OPEN releases.
        pub status: required LockStatus as LockStatus,
        /// The caller's work and its reason, in one sentence: other agents and people see it.
        pub message: required Message as String,
        /// The commit that the working copy is at: `git rev-parse HEAD`.
        pub agent_head: required CommitId as String,
        base_head,
        /// With WRITING: `keeps` if the interface of the files stays as it is, so that others that keep theirs may write the neighbors.
        /// A new claim that omits the field may change it; a renewal keeps the earlier declaration.
        pub interface: Option<InterfacePromise>,
        /// The files whose interface changes; `interface` is about the others.
        #[schema(schema_with = schema::interface_changes)]
        pub interface_changes: Option<Vec<String>>,
        /// With OPEN, the commit that was pushed. Required if the caller holds any of the files for writing, unless `abandon` is true.
        pub new_repo_head: optional CommitId as String,
        /// The intent that the work belongs to; if omitted, the one that the caller has selected.
        pub intent_id: optional IntentId as String,
        /// With WRITING, the tool call that the claim is for: a turn of the intent's budget.
        pub tool_call: Option<ToolCall>,
        /// The agent's data about itself, for the ledger.
        pub session: Option<AgentSession>,
        agent_id,
        /// With READING and WRITING: another agent of yours, whose locks on these files become the caller's, with new fencing tokens. It is the
        /// lead of the calling agent, or a writer below it: `LEAD::WRITER` takes over the files that it needs from `LEAD`, and `LEAD` the
        /// remaining ones from an ended `LEAD::WRITER`.
        pub take_over: optional AgentId as String,
        /// With OPEN: release without a push, for discarded work. `["*"]` in `file_paths` then means everything that this
        /// agent holds on the branch; a file of that name is `./*`.
        pub abandon: Option<bool>,
        /// With READING and WRITING: while others' locks block the claim, wait up to this time for its turn; the server may have a
        /// lower limit.
        #[schema(minimum = 0, maximum = 20)]
        pub wait_seconds: optional u32 as u32,
        /// With OPEN: force-release others' locks on these files, with `message` as the reason. It takes a person who owns the repository: a
        /// request without `agent_id`, of a login with `admin` or `maintain` at GitHub, or of `COORD_APPROVERS`. The next call of each holder is STOP.
        pub force: Option<bool>,
        /// Fields of the sent request that this type does not have.
        #[serde(skip)]
        #[schema(ignore)]
        pub unknown_fields: Vec<String>,
    }

    /// The response. A refusal has the fields of the error too.
    pub struct PostResponse {
        /// Whether the claim or the release was carried out.
        pub success: bool,
        /// Files that import the released files.
        pub orphaned_dependencies: Vec<String>,
        /// Their number, if not all are listed; a lower bound if they are too many to be counted.
        pub orphaned_dependencies_total: maybe u64,
        /// The next step.
        pub orchestration: Orchestration,
        /// Newest known commit of the branch; `null` if it could not be read.
        pub repo_head: nullable CommitSha as String,
        /// The reference that `repo_head` was read from: `refs/remotes/REMOTE/BRANCH` in a clone that fetches, `refs/heads/BRANCH`
        /// on GitHub and in a clone whose own branch counts. `null` if only the store knows the head.
        pub repo_head_ref: nullable String,
        /// The caller's locks on the requested files; absent in a refusal, which changes nothing.
        pub locks: maybe BTreeMap<String, OwnLock>,
        /// Others' locks that block the request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub conflicting_locks: BTreeMap<String, OtherLock>,
        /// Number of locks that are left out of `conflicting_locks`, if there are very many.
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
        /// Why it was refused.
        #[serde(flatten)]
        #[schema(ignore)]
        pub error: Option<ErrorBody>,
    }
}

impl PostResponse {
    /// A response that has only a command.
    pub fn new(success: bool, orchestration: Orchestration) -> Self {
        PostResponse {
            success,
            orphaned_dependencies: Vec::new(),
            orphaned_dependencies_total: None,
            orchestration,
            repo_head: None,
            repo_head_ref: None,
            locks: success.then(BTreeMap::new),
            conflicting_locks: BTreeMap::new(),
            locks_omitted: 0,
            your_teams: Vec::new(),
            warnings: Vec::new(),
            error: None,
        }
    }

    /// A refusal by the rules.
    pub fn refusal(code: ErrorCode, orchestration: Orchestration) -> Self {
        let error = ErrorBody {
            error: code,
            message: String::new(),
            field: None,
        };
        PostResponse {
            error: Some(error),
            ..PostResponse::new(false, orchestration)
        }
    }
}
