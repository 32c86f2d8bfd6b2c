//! If each change has to cite an intent, only tools that read may run before one is selected. Also decides which tools
//! change something, and which acts are reserved for people.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;

use super::caller::{Caller, LIMIT};
use super::event::Tool;
use super::session_working_copy::SessionWorkingCopy;
use super::tool_settings::{self, ToolSettings};
use super::{intents, reason};

/// Whether the tool may change something. For a tool that the table of agents' tools knows, that is `by_table`. For
/// another tool, the repository's settings decide.
///
/// # Errors
/// A sentence, when the tool may change something and the repository's file is damaged. A person has to fix it.
pub(super) fn may_change(caller: &Caller<'_>, by_table: bool) -> Result<bool, String> {
    if !by_table {
        return Ok(false);
    }
    let Some(working_copy) = caller.working_copy() else {
        return Ok(true);
    };
    match ToolSettings::read(working_copy.root()) {
        Ok(settings) if caller.call.tool == Tool::Unknown => {
            Ok(settings.changes(&caller.call.tool_name).unwrap_or(true))
        }
        Ok(_) => Ok(true),
        Err(damage) => Err(format!(
            "STOP: {damage}. Next: ask your user to fix or remove {}.",
            tool_settings::FILE
        )),
    }
}

/// Why a tool that may change something must not run yet. `None` if an intent is selected, or none is needed.
///
/// # Errors
/// A sentence, when the server does not answer.
pub(super) async fn refusal(caller: &Caller<'_>, home: &SessionWorkingCopy) -> Result<Option<String>, String> {
    let (working_copy, holder) = (&home.working_copy, &home.holder);
    let is_missing = || {
        let notes = SessionNotes::read(working_copy, holder);
        notes.requires_intent && notes.intent.is_none()
    };
    if !is_missing() {
        return Ok(None);
    }
    // The agent may have selected an intent with a tool that no hook saw.
    let connection = Connection::open(caller.args, working_copy, Some(holder), LIMIT)
        .map_err(|error| reason::unreachable(&error))?;
    let repo_url = caller.args.repo_url(working_copy);
    let response = intents::fetch_context(&connection.client, working_copy, &repo_url, holder).await;
    response.map_err(|error| reason::failure(&error))?;
    Ok(is_missing().then(|| {
        format!(
            "State Violation: {} may change something, and this session has selected no intent. You must cite a valid \
             active Intent ID. Next: {}.",
            caller.call.tool_name,
            reason::SELECT_INTENT
        )
    }))
}

/// The refusal of an act that is reserved for people.
pub(super) fn refuse_person_act(act: &str) -> String {
    format!(
        "STOP: `{act}` is reserved for people; an agent must not do it. Next: ask your user to do it in their own \
         terminal."
    )
}
