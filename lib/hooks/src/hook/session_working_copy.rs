//! The working copy in which an agent or its command works, and the holder there.

use coord_agent::seen_content::SeenContent;
use coord_agent::tree_state::TreeState;
use coord_domain::AgentId;
use coord_git::WorkingCopy;

use super::caller::{Caller, find};

/// A working copy, and the holder that works in it.
pub(super) struct SessionWorkingCopy {
    pub(super) working_copy: WorkingCopy,
    pub(super) holder: AgentId,
}

impl SessionWorkingCopy {
    /// The working copy of the call's command, or else of the agent. `None` if its folder is in no working copy.
    ///
    /// # Errors
    /// A sentence, when the agent is unknown.
    pub(super) fn of(caller: &Caller<'_>) -> Result<Option<SessionWorkingCopy>, String> {
        let Some(working_copy) = find(&caller.command_folder()) else {
            return Ok(None);
        };
        let holder = caller.holder(&working_copy).map_err(|error| format!("{error:#}"))?;
        Ok(Some(SessionWorkingCopy { working_copy, holder }))
    }

    /// Stores the state of the working copy before a command that may change it.
    pub(super) async fn begin_command(&self) {
        let SessionWorkingCopy { working_copy, holder } = self;
        SeenContent::change(working_copy, holder, |seen| seen.begin_command(working_copy.root()));
        let stored = match TreeState::now(working_copy).await {
            Some(state) => state.store(working_copy, holder),
            None => {
                TreeState::forget(working_copy, holder);
                Ok(())
            }
        };
        if let Err(error) = stored {
            tracing::debug!(%error, "the state of the working copy cannot be stored");
        }
    }
}
