//! The intents of the repository, as far as a session knows them. A repository without any is asked about once a
//! session.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientError, ErrorCode, IntentStatus, IntentsView, PostResponse};

/// Asks for the intents, notes them, and returns the text for the model: of the selected intent, or of those that can be
/// selected.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn read_context(
    client: &Client,
    working_copy: &WorkingCopy,
    repo_url: &str,
    holder: &AgentId,
) -> Result<Option<String>, ClientError> {
    let noted = SessionNotes::read(working_copy, holder).intent;
    if let Some(intent) = noted
        && let Some(context) = selected(client, repo_url, &intent).await?
    {
        return Ok(Some(context));
    }
    let listed = match client.intents(repo_url, IntentsView::Context).await {
        Ok(listed) => listed,
        // A server of before intents.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => {
            SessionNotes::change(working_copy, holder, |notes| notes.has_intents = Some(false));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    SessionNotes::change(working_copy, holder, |notes| {
        notes.has_intents = Some(!listed.intents.is_empty() || listed.is_required);
        notes.requires_intent = listed.is_required;
        notes.intent.clone_from(&listed.selected);
    });
    if let Some(intent) = &listed.selected
        && let Some(context) = selected(client, repo_url, intent).await?
    {
        return Ok(Some(context));
    }
    Ok(listed.context.filter(|_| !listed.intents.is_empty()))
}

/// Whether the repository has intents. The server is asked once a session; without its answer, as if there were none.
pub(super) async fn repository_has_intents(connection: Option<&Connection>, work: &Work, holder: &AgentId) -> bool {
    let noted = || SessionNotes::read(&work.working_copy, holder).has_intents;
    if let (None, Some(connection)) = (noted(), connection)
        && let Err(error) = read_context(&connection.client, &work.working_copy, &work.repo_url(), holder).await
    {
        tracing::debug!(%error, "the intents are not known");
    }
    noted() == Some(true)
}

/// The text about `intent`; `None` where it is not active any more.
async fn selected(client: &Client, repo_url: &str, intent: &str) -> Result<Option<String>, ClientError> {
    if !is_id(intent) {
        return Ok(None);
    }
    let response = match client.intent(repo_url, intent, IntentsView::Context).await {
        Ok(response) => response,
        Err(ClientError::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_active = |status| matches!(status, IntentStatus::InProgress | IntentStatus::Blocked);
    let is_active = response.intent.is_some_and(|intent| is_active(intent.status));
    Ok(response.context.filter(|_| is_active))
}

/// Whether `intent` is an id, and can name no other path.
pub(super) fn is_id(intent: &str) -> bool {
    coord_intents::intent::valid_id(intent)
}

/// Notes the intent in the response to a claim.
pub(super) fn note(notes: &mut SessionNotes, response: &PostResponse) {
    let metadata = response.orchestration.metadata.as_ref();
    note_code(
        notes,
        metadata.and_then(|metadata| metadata.intent_id.as_deref()),
        response.error.as_ref().map(|error| error.error),
    );
}

/// Notes an answer that names `intent`, or refuses with `code`.
pub(super) fn note_code(notes: &mut SessionNotes, intent: Option<&str>, code: Option<ErrorCode>) {
    match code {
        Some(ErrorCode::IntentRequired) => {
            notes.has_intents = Some(true);
            notes.requires_intent = true;
            notes.intent = None;
        }
        Some(ErrorCode::IntentNotActive | ErrorCode::IntentBlocked) => {
            notes.has_intents = Some(true);
            notes.intent = None;
        }
        Some(ErrorCode::FileOwned) => notes.has_intents = Some(true),
        _ if intent.is_some() => {
            notes.has_intents = Some(true);
            notes.intent = intent.map(str::to_owned);
        }
        _ => {}
    }
}
