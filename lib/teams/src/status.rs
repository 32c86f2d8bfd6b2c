//! Statuses of a task and the ways between them; priorities.

use std::fmt;

/// Where a task stands. It only goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Nobody has begun.
    Pending,
    /// Claimed at least once.
    InProgress,
    /// Done.
    Completed,
}

/// `VALID_TRANSITIONS` of the document: from each status, where to.
pub const VALID_TRANSITIONS: [(Status, &[Status]); 3] = [
    (Status::Pending, &[Status::InProgress]),
    (Status::InProgress, &[Status::Completed]),
    (Status::Completed, &[]),
];

impl Status {
    /// Every status, in order.
    pub const ALL: [Status; 3] = [Status::Pending, Status::InProgress, Status::Completed];

    /// As files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
        }
    }

    /// Whether a task may go from here to `to` in one step. The same status again is no step.
    pub fn may_become(self, to: Status) -> bool {
        VALID_TRANSITIONS
            .iter()
            .any(|(from, targets)| *from == self && targets.contains(&to))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// How urgent a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Before all others.
    High,
    /// Where nothing is said.
    #[default]
    Normal,
    /// After all others.
    Low,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

    /// As files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_goes_one_step_forward_and_nowhere_else() {
        for (from, was) in Status::ALL.iter().enumerate() {
            for (to, becomes) in Status::ALL.iter().enumerate() {
                assert_eq!(was.may_become(*becomes), to == from + 1, "{was} -> {becomes}");
            }
        }
    }
}
