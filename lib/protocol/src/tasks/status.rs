//! Priority and status of a task.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Priority of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskPriority {
    /// First.
    High,
    /// Between them.
    #[default]
    Normal,
    /// Last.
    Low,
}

/// Status of a task, which only goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Nobody has claimed it yet.
    Pending,
    /// It was claimed.
    InProgress,
    /// It is done.
    Completed,
}

impl TaskStatus {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
        }
    }
}
