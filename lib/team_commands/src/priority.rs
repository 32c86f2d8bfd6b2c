//! The urgency of a task, as an option.

use clap::ValueEnum;
use coord_protocol::tasks::TaskPriority;

/// Urgency of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Priority {
    /// First
    High,
    /// Between them
    Normal,
    /// Last
    Low,
}

impl Priority {
    /// As requests name it.
    pub fn wire_priority(self) -> TaskPriority {
        match self {
            Priority::High => TaskPriority::High,
            Priority::Normal => TaskPriority::Normal,
            Priority::Low => TaskPriority::Low,
        }
    }
}
