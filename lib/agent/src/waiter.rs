//! The process that waits for a session whose turn has ended. It has a separate file beside the notes, because the hook at the end of the
//! turn changes these at the same time.

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;

use super::session_notes;
use crate::private_folder;

/// More than a number has.
const MOST_BYTES: u64 = 32;

fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    session_notes::path(working_copy, agent_id).with_extension("waiter")
}

/// The number of the process that waits for `agent_id`.
pub fn get(working_copy: &WorkingCopy, agent_id: &AgentId) -> Option<u32> {
    let text = private_folder::read(&path(working_copy, agent_id), MOST_BYTES).ok()?;
    std::str::from_utf8(&text).ok()?.parse().ok()
}

/// The process `number` waits, and no other one. Where that cannot be noted, none does.
pub fn set(working_copy: &WorkingCopy, agent_id: &AgentId, number: u32) {
    let path = path(working_copy, agent_id);
    let parents = path.make_parents(PRIVATE_MODE);
    let noted = parents.and_then(|_| path.write(number.to_string().as_bytes(), FILE_MODE));
    if let Err(error) = noted {
        tracing::debug!(%error, "the process that waits is not noted");
    }
}

/// None waits any more.
pub fn clear(working_copy: &WorkingCopy, agent_id: &AgentId) {
    if let Err(error) = path(working_copy, agent_id).remove() {
        tracing::debug!(%error, "a process goes on waiting");
    }
}
