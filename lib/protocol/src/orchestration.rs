//! The command that a response gives an agent: the next step.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::{self, AgentId, CommitSha, IntentId};

/// The next step of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// Bring the working copy up to date.
    Pull,
    /// Publish the commits.
    Push,
    /// Wait, then repeat the request.
    Wait,
    /// Work on another task first.
    SwitchTask,
    /// Do not go on.
    Stop,
    /// Go on.
    Proceed,
}

impl Action {
    /// The shell command for the action, where there is one.
    pub fn command(self) -> Option<&'static str> {
        match self {
            Action::Pull => Some("git pull --rebase"),
            Action::Push => Some("git push"),
            Action::Wait => Some("sleep 5"),
            Action::SwitchTask | Action::Stop | Action::Proceed => None,
        }
    }
}

/// The result of `check_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// No lock blocks these files.
    Ok,
    /// The working copy is behind.
    Stale,
    /// Someone else's lock blocks the request, or an intent refuses it.
    Conflict,
    /// The state is unavailable.
    Offline,
}

/// `type` of an orchestration command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Kind {
    /// `orchestration_command`
    #[default]
    #[serde(rename = "orchestration_command")]
    Command,
}

wire! {
    /// The command as agents get it.
    pub struct Orchestration {
        /// Always `orchestration_command`.
        #[serde(rename = "type")]
        #[schema(schema_with = schema::orchestration_command)]
        pub kind: Kind,
        /// The command.
        pub action: Action,
        /// The shell command for it, or `null`.
        #[schema(schema_with = schema::command)]
        pub command: nullable Cow<'static, str>,
        /// Why, in one sentence.
        pub reason: String,
        /// Details of PULL, PUSH, WAIT and some others.
        pub metadata: maybe Metadata,
    }

    /// Details of a command.
    #[derive(Default)]
    pub struct Metadata {
        /// Head of the branch.
        pub remote_head: maybe CommitSha as String,
        /// Login of the holder of the first blocking lock.
        pub lock_owner: maybe String,
        /// The agent of that holder, if it sent an `agent_id`.
        pub lock_owner_agent: maybe AgentId as String,
        /// The files whose locks block the request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 1)]
        pub conflicts: Vec<String>,
        /// The intent that the request cites, or that the caller has selected.
        pub intent_id: maybe IntentId as String,
        /// The intent that owns a file of the request.
        pub owner_intent: maybe IntentId as String,
        /// The task that the command is about.
        pub task_id: maybe String,
        /// Handle of its owner, or of the member for whom it is reserved.
        pub task_owner: maybe String,
        /// With WAIT and SWITCH_TASK, ready tasks of the caller's teams whose files are free.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 1, max_items = 3)]
        pub suggested_tasks: Vec<SuggestedTask>,
        /// With WAIT and SWITCH_TASK, files near the requested ones for which a claim would be granted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 1, max_items = 5)]
        pub free: Vec<String>,
        /// With PUSH, the files whose changes are not on the branch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 1)]
        pub unpushed: Vec<String>,
        /// With WAIT for locks, the claim's ticket in the queue. Repeating the same claim within 30 seconds keeps it.
        pub ticket: maybe String,
        /// Its position among the claims for any of the files, from 1.
        #[schema(minimum = 1)]
        pub position: maybe u64,
        /// The first of the claims that were refused before it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 1, max_items = 8)]
        pub before: Vec<ClaimBefore>,
        /// When the last of the current blocking locks ends, unless it is renewed; Unix seconds.
        #[schema(minimum = 0)]
        pub expected_by: maybe i64,
        /// Seconds until the first blocking lock expires, or until the rate limit allows a request.
        #[schema(minimum = 1)]
        pub retry_after: maybe i64,
    }

    /// An earlier claim that also waits.
    pub struct ClaimBefore {
        /// Verified login.
        pub user: String,
        /// The agent.
        pub agent_id: maybe AgentId as String,
        /// Its purpose.
        pub message: String,
        /// When it began to wait, Unix seconds.
        #[schema(minimum = 0)]
        pub since: i64,
    }

    /// A task that the caller could do instead.
    pub struct SuggestedTask {
        /// Its id.
        pub id: String,
        /// Its title.
        pub title: String,
        /// Its team.
        pub team: String,
        /// Handle of its creator.
        pub created_by: String,
        /// Verified login of its creator.
        pub login: maybe String,
    }
}

impl Orchestration {
    /// A command with the shell command of `action`.
    pub fn new(action: Action, reason: impl Into<String>) -> Self {
        Orchestration {
            kind: Kind::Command,
            action,
            command: action.command().map(Cow::Borrowed),
            reason: reason.into(),
            metadata: None,
        }
    }

    /// Whether the shell command runs until the wait is over, so that agents run it in the background. Only clients add
    /// such a command; no server sends one.
    pub fn is_for_background(&self) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        self.action == Action::Wait && command.contains("coord wait ")
    }

    /// Replaces the shell command.
    #[must_use]
    pub fn with_command(mut self, command: String) -> Self {
        self.command = Some(Cow::Owned(command));
        self
    }

    /// Replaces the metadata.
    #[must_use]
    pub fn with(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }
}
