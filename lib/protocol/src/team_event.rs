//! Events of teams: their tasks, messages and members.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::AgentId;

/// Tasks that were added at once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TasksCreated {
    /// The team.
    pub team: String,
    /// Handle of the creator.
    pub handle: String,
    /// Verified login of the creator.
    pub user: String,
    /// The ids: 20 at most, of 1 KiB together.
    #[schema(min_items = 1, max_items = 20)]
    pub tasks: Vec<String>,
    /// Number of tasks.
    #[schema(minimum = 1)]
    pub task_count: u32,
    /// When it happened, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
}

wire! {
    /// A task that has changed.
    pub struct TaskChange {
        /// The team.
        pub team: String,
        /// The task's id.
        pub task: String,
        /// Its title.
        pub title: String,
        /// Handle of the member that changed it; for a claim that ended, of its owner.
        pub handle: maybe String,
        /// Verified login of that member.
        pub user: maybe String,
        /// Fencing token of the newest claim.
        #[schema(minimum = 1)]
        pub token: maybe i64,
        /// When the claim expires unless it is renewed, Unix milliseconds.
        #[schema(minimum = 0)]
        pub expiry_ms: maybe i64,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}

/// Tasks whose dependencies are met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TasksUnblocked {
    /// The team.
    pub team: String,
    /// The task on which they depended.
    pub task: String,
    /// The ids: 100 at most, of 4 KiB together.
    #[schema(min_items = 1, max_items = 100)]
    pub tasks: Vec<String>,
    /// Number of tasks.
    #[schema(minimum = 1)]
    pub task_count: u32,
    /// When it happened, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
}

wire! {
    /// A message, without its text.
    pub struct MessageSent {
        /// The team.
        pub team: String,
        /// Number of the message in the team.
        #[schema(minimum = 1)]
        pub number: u64,
        /// Its type.
        pub message_type: MessageType,
        /// Handle of the sender; absent for a message of Coord itself.
        pub from: maybe String,
        /// Handle of the recipient, the first of several, or `broadcast`.
        pub to: String,
        /// The recipients, none for a broadcast: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub recipients: maybe Vec<String>,
        /// Number of recipients, 0 for a broadcast.
        pub recipient_count: u32,
        /// The task that it is about.
        pub task: maybe String,
        /// When it was sent, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    /// A text.
    Plain,
    /// The sender has nothing to do.
    Idle,
    /// A task is kept for the recipient.
    TaskAssignment,
    /// The recipient is asked to stop.
    ShutdownRequest,
    /// The sender stops.
    ShutdownApproved,
    /// The sender goes on; the text says why.
    ShutdownRejected,
}

impl MessageType {
    /// The spelling on the wire and in scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            MessageType::Plain => "plain",
            MessageType::Idle => "idle",
            MessageType::TaskAssignment => "task_assignment",
            MessageType::ShutdownRequest => "shutdown_request",
            MessageType::ShutdownApproved => "shutdown_approved",
            MessageType::ShutdownRejected => "shutdown_rejected",
        }
    }
}

/// A change of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamChangeKind {
    /// It was created.
    Created,
    /// A member joined.
    Joined,
    /// Another agent of the same login has the handle now.
    TakenOver,
    /// A member left.
    Left,
    /// Another member leads.
    HandedOver,
    /// It takes no more changes.
    Closed,
    /// It was deleted.
    Deleted,
}

wire! {
    /// A team that has changed.
    pub struct TeamChange {
        /// The team.
        pub team: String,
        /// The change.
        pub change: TeamChangeKind,
        /// Handle of the member that it is about.
        pub handle: String,
        /// Verified login of the caller.
        pub user: String,
        /// The agent of the caller.
        pub agent_id: maybe AgentId as String,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}

/// The state of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShutdownState {
    /// It is asked for.
    Requested,
    /// A member of several approved.
    Approved,
    /// A member rejected it.
    RejectedBy,
    /// It ended with a rejection.
    Rejected,
    /// The leader ended it without an answer.
    Forced,
    /// The team is closed.
    Closed,
}

wire! {
    /// A shutdown that has changed.
    pub struct ShutdownChange {
        /// The team.
        pub team: String,
        /// Id of the shutdown.
        pub shutdown: String,
        /// Its state.
        pub state: ShutdownState,
        /// Handle of the member that is asked to stop; absent for the team.
        pub target: maybe String,
        /// Handle of the member that acted.
        pub handle: String,
        /// Verified login of the caller.
        pub user: String,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}
