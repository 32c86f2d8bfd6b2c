//! Before an intent is selected, only reading tools may run, if each change has to cite one. Which tools change something, and
//! which acts are a person's.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;

use super::caller::{Caller, LIMIT};
use super::event::Tool;
use super::session_copy::SessionCopy;
use super::tool_settings::{self, ToolSettings};
use super::{intents, reason};

/// Whether the tool may change something: as the table says, `so_far`, or for a tool that it has not, as the repository says.
///
/// # Errors A sentence, when the tool may change something and the repository's file is damaged. A person has to fix
/// it.
pub(super) fn changes(caller: &Caller<'_>, so_far: bool) -> Result<bool, String> {
    if !so_far {
        return Ok(false);
    }
    let Some(working_copy) = caller.working_copy() else {
        return Ok(so_far);
    };
    match ToolSettings::read(working_copy.root()) {
        Ok(settings) if caller.call.tool == Tool::Unknown => {
            Ok(settings.changes(&caller.call.tool_name).unwrap_or(so_far))
        }
        Ok(_) => Ok(so_far),
        Err(damage) => Err(format!(
            "STOP: {damage}. Next: ask your user to fix or remove {}.",
            tool_settings::FILE
        )),
    }
}

/// Why a tool that may change something must not run yet; `None` where an intent is selected, or none is needed.
///
/// # Errors
/// A sentence, when the server gives no answer.
pub(super) async fn refusal(caller: &Caller<'_>, home: &SessionCopy) -> Result<Option<String>, String> {
    let (working_copy, holder) = (&home.working_copy, &home.holder);
    let is_missing = || {
        let notes = SessionNotes::read(working_copy, holder);
        notes.requires_intent && notes.intent.is_none()
    };
    if !is_missing() {
        return Ok(None);
    }
    // The agent may have selected one by a tool that no hook saw.
    let opened = Connection::open(caller.args, working_copy, Some(holder), LIMIT);
    let connection = opened.map_err(|error| reason::unreachable(&error))?;
    let repo_url = caller.args.repo_url(working_copy);
    let response = intents::read_context(&connection.client, working_copy, &repo_url, holder).await;
    response.map_err(|error| reason::failure(&error))?;
    Ok(is_missing().then(|| {
        format!(
            "State Violation: {} may change something, and this session has selected no intent. You must cite a valid active Intent \
             ID. Next: {}.",
            caller.call.tool_name,
            reason::SELECT
        )
    }))
}

/// The refusal of an act that is a person's.
pub(super) fn persons_act(act: &str) -> String {
    format!(
        "STOP: `{act}` is reserved for people; an agent must not do it. Next: ask your user to do it in their own terminal."
    )
}
