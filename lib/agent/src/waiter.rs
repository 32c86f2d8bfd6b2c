//! The process that waits for a session whose turn has ended. It has a file beside the notes, because the hook at the
//! end of the turn changes the notes at the same time.

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;

use super::session_notes;
use crate::private_folder;

/// More bytes than a number has.
const MAX_BYTES: u64 = 32;

fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    session_notes::path(working_copy, agent_id).with_extension("waiter")
}

/// The id of the process that waits for `agent_id`.
pub fn get(working_copy: &WorkingCopy, agent_id: &AgentId) -> Option<u32> {
    let text = private_folder::read(&path(working_copy, agent_id), MAX_BYTES).ok()?;
    std::str::from_utf8(&text).ok()?.parse().ok()
}

/// Makes `process` the only process that waits. If that cannot be noted, no process waits.
pub fn set(working_copy: &WorkingCopy, agent_id: &AgentId, process: u32) {
    let path = path(working_copy, agent_id);
    let parents = path.create_parents(PRIVATE_MODE);
    let noted = parents.and_then(|_| path.write(process.to_string().as_bytes(), FILE_MODE));
    if let Err(error) = noted {
        tracing::debug!(%error, "the process that waits is not noted");
    }
}

/// Stops the waiting process.
pub fn clear(working_copy: &WorkingCopy, agent_id: &AgentId) {
    if let Err(error) = path(working_copy, agent_id).remove() {
        tracing::debug!(%error, "a process keeps waiting");
    }
}
