//! Statuses of a task and the transitions between them; priorities.

use std::fmt;

/// The status of a task. It only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Pending,
    /// Claimed at least once.
    InProgress,
    Completed,
}

/// `VALID_TRANSITIONS` of the document: from each status, the next ones.
pub const VALID_TRANSITIONS: [(Status, &[Status]); 3] = [
    (Status::Pending, &[Status::InProgress]),
    (Status::InProgress, &[Status::Completed]),
    (Status::Completed, &[]),
];

impl Status {
    /// Every status, in order.
    pub const ALL: [Status; 3] = [Status::Pending, Status::InProgress, Status::Completed];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
        }
    }

    /// Whether a task may go from this status to `to` in one step. Staying is not a step.
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
    High,
    #[default]
    Normal,
    Low,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

    /// The word in files.
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
