//! The urgency of a task, as an option.

use clap::ValueEnum;
use coord_protocol::tasks::TaskPriority;

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
    /// The priority in requests.
    pub fn wire_priority(self) -> TaskPriority {
        match self {
            Priority::High => TaskPriority::High,
            Priority::Normal => TaskPriority::Normal,
            Priority::Low => TaskPriority::Low,
        }
    }
}
