//! The sentences that files and callers depend on, to the letter.

use crate::status::Status;

/// The title of a task without one.
pub const UNTITLED: &str = "Untitled Task";
/// The recipient of a message to all.
pub const BROADCAST: &str = "broadcast";
/// Part of each warning about dependencies; a cascade removes such warnings alone.
pub const DEPENDENCY_WARNING: &str = "dependencies are not met";

/// The warning of a claim before its time.
pub fn dependencies_not_met(task: &str) -> String {
    format!("Warning: Task {task} dependencies are not met. Proceed with caution.")
}

/// The warning of a task that was taken from its owner.
pub fn reassigned(owner: &str) -> String {
    format!("Reassigned: previous owner {owner} terminated")
}

/// A dependency that is no task.
pub fn no_dependency(task: &str) -> String {
    format!("Dependency task {task} does not exist")
}

/// A blocked task that is no task.
pub fn no_blocked(task: &str) -> String {
    format!("Blocked task {task} does not exist")
}

/// A ring, which begins and ends with the same task.
pub fn circular<'a>(ring: impl IntoIterator<Item = &'a str>) -> String {
    let ring: Vec<_> = ring.into_iter().collect();
    format!("Circular dependency detected: {}", ring.join(" -> "))
}

/// A step that no status may take.
pub fn invalid_transition(from: Status, to: Status) -> String {
    format!("Invalid status transition: {from} -> {to}")
}

/// A claim of a task that cannot be claimed.
pub fn not_available(task: &str, status: Status) -> String {
    format!("Task {task} is not available (status: {status})")
}

/// No such task.
pub fn no_task(task: &str, team: &str) -> String {
    format!("Task {task} not found in team {team}")
}

/// A deletion under a dependent.
pub fn depended_on(task: &str, dependent: &str) -> String {
    format!("Cannot delete task {task} because task {dependent} depends on it")
}

/// A message without a recipient.
pub fn no_recipient(recipient: &str, team: &str) -> String {
    format!("Recipient \"{recipient}\" is not a member of team \"{team}\"")
}

/// A second member of the handle.
pub fn member_exists(handle: &str, team: &str) -> String {
    format!("Agent \"{handle}\" is already a member of team \"{team}\"")
}

/// The leader's message about a request.
pub fn shutdown_requested(handle: &str) -> String {
    format!("Agent {handle} requests team shutdown")
}

/// The message about an approval.
pub fn shutdown_approved(handle: &str) -> String {
    format!("Agent {handle} approved team shutdown")
}
