//! The sentences that files and callers depend on, to the letter.

use crate::status::Status;

/// The title of a task without one.
pub const UNTITLED: &str = "Untitled Task";
/// The recipient of a message to all.
pub const BROADCAST: &str = "broadcast";
/// Part of each warning about dependencies. A cascade removes only such warnings.
pub const DEPENDENCY_WARNING: &str = "dependencies are not met";

/// The warning about a claim before the dependencies are completed.
pub fn dependencies_not_met(task: &str) -> String {
    format!("Warning: Task {task} dependencies are not met. Proceed with caution.")
}

/// The warning on a task that lost its owner.
pub fn reassigned(owner: &str) -> String {
    format!("Reassigned: previous owner {owner} terminated")
}

pub fn no_dependency(task: &str) -> String {
    format!("Dependency task {task} does not exist")
}

pub fn no_blocked(task: &str) -> String {
    format!("Blocked task {task} does not exist")
}

/// `ring` begins and ends with the same task.
pub fn circular<'a>(ring: impl IntoIterator<Item = &'a str>) -> String {
    let ring: Vec<_> = ring.into_iter().collect();
    format!("Circular dependency detected: {}", ring.join(" -> "))
}

pub fn invalid_transition(from: Status, to: Status) -> String {
    format!("Invalid status transition: {from} -> {to}")
}

pub fn shutdown_requested(handle: &str) -> String {
    format!("Agent {handle} requests team shutdown")
}
