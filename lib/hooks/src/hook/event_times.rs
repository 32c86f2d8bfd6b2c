//! When each hook was last called: the times of files in git's folder, `coord/hooks/AGENT/EVENT`, for `coord status` and
//! `coord doctor`.

use coord_agent::local_server;
use coord_agent::session_notes::touch;
use coord_files::RootedPath;
use coord_git::WorkingCopy;

use super::agents::Agent;

/// The file whose modification time is that of the last `event` of `agent`.
pub fn mark(working_copy: &WorkingCopy, agent: Agent, event: &str) -> RootedPath {
    local_server::file(working_copy, "hooks").join(agent.name()).join(event)
}

/// Notes that `event` of `agent` arrived now.
pub(super) fn note(working_copy: &WorkingCopy, agent: Agent, event: &str) {
    if let Err(error) = touch(&mark(working_copy, agent, event)) {
        tracing::debug!(%error, "cannot note that the hook was called");
    }
}
