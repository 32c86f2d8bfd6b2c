//! When each hook was last called: the times of the files `coord/hooks/AGENT/EVENT` in git's folder, for `coord status`
//! and `coord doctor`.

use coord_agent::local_server;
use coord_agent::session_notes::touch;
use coord_git::WorkingCopy;

use super::agents::Agent;

/// Records that `event` of `agent` arrived now.
pub(super) fn record(working_copy: &WorkingCopy, agent: Agent, event: &str) {
    let file = local_server::file(working_copy, "hooks").join(agent.name()).join(event);
    if let Err(error) = touch(&file) {
        tracing::debug!(%error, "cannot note that the hook was called");
    }
}
