//! The working copy that an agent, or its command, works in, and who works there.

use coord::domain::AgentId;
use coord_git::WorkingCopy;

use crate::agent::seen_content::SeenContent;
use crate::agent::tree_state::TreeState;

use super::caller::{Caller, find};

/// A working copy, and who works in it.
pub(super) struct Home {
    pub(super) working_copy: WorkingCopy,
    /// Who works.
    pub(super) holder: AgentId,
}

impl Home {
    /// Where the agent works, or its command; `None` where it works in no working copy.
    ///
    /// # Errors
    /// A sentence, when it cannot be told who works.
    pub(super) fn of(caller: &Caller<'_>) -> Result<Option<Home>, String> {
        let Some(working_copy) = find(&caller.command_folder()) else {
            return Ok(None);
        };
        let holder = caller.holder(&working_copy).map_err(|error| format!("{error:#}"))?;
        Ok(Some(Home { working_copy, holder }))
    }

    /// Remembers the working copy as it is before a command that may change it.
    pub(super) async fn begin_command(&self) {
        let Home { working_copy, holder } = self;
        SeenContent::change(working_copy, holder, |seen| seen.begin_command(working_copy.root()));
        let kept = match TreeState::now(working_copy).await {
            Some(state) => state.keep(working_copy, holder),
            None => {
                TreeState::forget(working_copy, holder);
                Ok(())
            }
        };
        if let Err(error) = kept {
            tracing::debug!(%error, "the state of the working copy cannot be kept");
        }
    }
}
